"""TeX to MathML that a browser shows without scripts, and that can carry nothing else.

The converter's tree is rebuilt from a list of allowed elements and attributes, and serialised here:
its own text form undoes the escaping of ``<``, which a statement from a paper must not be able to use.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from markupsafe import Markup

# fmt: off
_ELEMENTS = frozenset({
    "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "msup", "msub", "msubsup", "munder",
    "mover", "munderover", "mfrac", "msqrt", "mroot", "mtable", "mtr", "mtd", "mstyle",
    "mpadded", "mphantom", "menclose", "ms",
})
_ATTRIBUTES = frozenset({
    "display", "mathvariant", "stretchy", "fence", "form", "separator", "largeop",
    "movablelimits", "minsize", "maxsize", "accent", "accentunder", "linethickness",
    "displaystyle", "scriptlevel", "width", "height", "depth", "lspace", "rspace",
    "columnalign", "rowspacing", "columnspacing", "notation",
})
# fmt: on
_ALPHABETS = {
    "double-struck": ("DOUBLE-STRUCK",),
    "bold": ("BOLD",),
    "italic": ("ITALIC",),
    "bold-italic": ("BOLD ITALIC",),
    "script": ("SCRIPT",),
    "bold-script": ("BOLD SCRIPT",),
    "fraktur": ("FRAKTUR", "BLACK-LETTER"),
    "sans-serif": ("SANS-SERIF",),
    "monospace": ("MONOSPACE",),
}
_VALUE = re.compile(r"[\w.%+\- ]{0,40}")
_ENTITY = re.compile(r"&#x([0-9A-Fa-f]{1,6});")
_UNKNOWN = re.compile(r"\\(?:[A-Za-z]+|[{}])")
_SIZED_BRACES = re.compile(r"\\[bB]igg?[lr]?\s*(?=\\[{}])")
_SPELLINGS = {r"\arg": r"\operatorname{arg}", r"\argmin": r"\operatorname{argmin}"}
_OPERATOR = re.compile(r"\\operatorname(\*?)\{([^{}]*)\}")
_LONGEST = 20_000
_INVISIBLE = dict.fromkeys([*range(0x20), 0x7F, *range(0xFDD0, 0xFDF0), 0xFFFE, 0xFFFF], " ")


@dataclass(frozen=True)
class Formula:
    """TeX in a form for the page.

    Attributes
    ----------
    html : Markup
        A ``<math>`` element, or the escaped TeX in ``<code>``.
    warning : str
        Why it is shown as text; empty if it was converted.
    """

    html: Markup
    warning: str = ""


def formula(tex: str, *, display: bool = True) -> Formula:
    """Convert TeX; what does not convert is shown as text, with a warning."""
    try:
        if len(tex) > _LONGEST:
            raise _NotConverted(f"it has more than {_LONGEST} characters")
        tree = _converted(_prepared(tex.translate(_INVISIBLE)), display)
        return Formula(Markup(ET.tostring(tree, encoding="unicode", short_empty_elements=False)))
    except _NotConverted as error:
        reason = str(error)
    text = Markup('<code class="tex">{}</code>').format(tex)
    return Formula(text, f"this TeX could not be set as mathematics: {reason}")


class _NotConverted(Exception):
    pass


def _prepared(tex: str) -> str:
    """Spellings that the converter does not know, in ones that it does."""
    tex = _SIZED_BRACES.sub("", tex)  # a browser stretches braces by itself
    tex = _OPERATOR.sub(_operator, tex)
    return re.sub(r"\\[A-Za-z]+", lambda m: _SPELLINGS.get(m[0], m[0]), tex)


def _operator(match: re.Match[str]) -> str:
    """An operator of several words, ``ess inf``, or with a star, in upright letters."""
    words = [word for word in re.split(r"\\[,;: ]|[\s~]+", match[2]) if word]
    if not match[1] and len(words) == 1:
        return match[0]
    return r"\,".join(rf"\mathrm{{{word}}}" for word in words) + r"\,"


def _converted(tex: str, display: bool) -> ET.Element:
    from latex2mathml.converter import convert_to_element

    try:
        found = convert_to_element(tex, display="block" if display else "inline")
    except RecursionError as error:
        raise _NotConverted("it is nested too deeply") from error
    except Exception as error:  # whatever the converter does not like must not stop the page
        raise _NotConverted(type(error).__name__) from error
    tree = _allowed(found)
    seen = _UNKNOWN.search(" ".join(tree.itertext()))
    if seen:
        raise _NotConverted(f"{seen[0]} is not known")
    return tree


def _allowed(node: ET.Element) -> ET.Element:
    if node.tag not in _ELEMENTS:
        raise _NotConverted(f"it needs <{node.tag}>")
    kept = ET.Element(node.tag)
    for name, value in node.attrib.items():
        if name in _ATTRIBUTES and _VALUE.fullmatch(value):
            kept.set(name, value)
    if node.text:
        kept.text = _ENTITY.sub(_character, node.text)
        if kept.get("mathvariant") in _ALPHABETS:  # browsers know "normal" alone (MathML Core)
            names = _ALPHABETS[kept.attrib.pop("mathvariant")]
            kept.text = "".join(_styled(letter, names) for letter in kept.text)
    kept.extend(_allowed(child) for child in node)
    return kept


def _character(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise _NotConverted(f"U+{code:X} is no character")
    return chr(code).translate(_INVISIBLE)


def _styled(letter: str, alphabets: tuple[str, ...]) -> str:
    """The letter of a mathematical alphabet: 𝔼 for E in double-struck."""
    plain = unicodedata.name(letter, "").replace("LATIN ", "").replace("GREEK ", "")
    plain = plain.replace(" LETTER", "")
    for alphabet in alphabets:
        for name in (f"MATHEMATICAL {alphabet} {plain}", f"{alphabet} {plain}"):
            try:
                return unicodedata.lookup(name)
            except KeyError:
                continue
    return letter
