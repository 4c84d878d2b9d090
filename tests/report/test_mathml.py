"""TeX to MathML: what is converted, what is shown as text, and that nothing else gets through."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.report.samples import HOSTILE
from theoryverify.claims.registry import own_claims, sound_papers
from theoryverify.report.html.mathml import _ATTRIBUTES, _ELEMENTS, formula


def parsed(tex: str) -> ET.Element:
    found = formula(tex)
    assert found.warning == "", found.warning
    return ET.fromstring(str(found.html))


def text(tex: str) -> str:
    return "".join(parsed(tex).itertext())


def test_a_fraction_with_bars_and_an_exponent() -> None:
    tree = parsed(r"\alpha^*_T \to \frac{2}{\underline Z + \overline Z}")
    assert tree.tag == "math"
    assert tree.get("display") == "block"
    top, bottom = tree.find(".//mfrac") or ()
    assert "".join(top.itertext()) == "2"
    assert "".join(bottom.itertext()).count("Z") == 2
    assert tree.find(".//msubsup") is not None
    assert "→" in "".join(tree.itertext())


@pytest.mark.parametrize(
    ("tex", "letter"),
    [
        (r"\mathbb E", "𝔼"),
        (r"\mathbb{P}", "ℙ"),
        (r"\mathcal N", "𝒩"),
        (r"\mathcal L", "ℒ"),
        (r"\mathfrak C", "ℭ"),
        (r"\mathbf x", "𝐱"),
        (r"\mathbf 1", "𝟏"),
        (r"\boldsymbol\beta", "𝜷"),
    ],
)
def test_alphabets_are_letters_since_browsers_know_no_variants(tex: str, letter: str) -> None:
    assert text(tex) == letter


def test_sized_braces_and_argmin() -> None:
    assert text(r"\Big\{x\Big\}") == "{x}"
    assert text(r"\arg\min_x") == "argminx"


def test_operators_of_several_words_are_upright() -> None:
    tree = parsed(r"\operatorname{ess\,inf}\|m\| < \operatorname*{ess sup}\|m\|")
    letters = [node for node in tree.iter("mi") if node.text and node.text in "essinfup"]
    assert "".join(node.text or "" for node in letters) == "essinfesssup"
    assert {node.get("mathvariant") for node in letters} == {"normal"}
    assert text(r"\operatorname{tr}A") == "trA"
    assert all((node.text or "").strip() for node in tree.iter("mo"))


def test_less_than_and_ampersand_stay_text() -> None:
    assert text(r"\text{a < b \& c}").replace("\u00a0", " ").startswith("a < b")
    assert "<b" not in str(formula(r"\text{a <b> c}").html).replace("</", "")


@pytest.mark.parametrize(
    ("tex", "reason"),
    [
        (r"\nosuchcommand{x}", r"\nosuchcommand is not known"),
        (r"\quadK_2", r"\quadK is not known"),
        ("{" * 5000, "nested too deeply"),
        ("x" * 30_000, "more than 20000 characters"),
        (r"x_{", ""),
    ],
)
def test_what_does_not_convert_is_text_with_a_warning(tex: str, reason: str) -> None:
    found = formula(tex)
    if reason:
        assert reason in found.warning
        assert "<math" not in found.html
        assert str(found.html).startswith('<code class="tex">')


PIECES = [
    *"<>&\"'\\{}_^$xX1 /;#=:()[]",
    r"\text{",
    r"\href",
    r"\unicode{x3c}",
    "&#x3c;",
    "]]>",
    "--",
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_no_text_makes_an_element_that_is_not_allowed(tex: str) -> None:
    html = str(formula(tex).html)
    tree = ET.fromstring(html)  # well formed, so nothing was left unescaped
    for node in tree.iter():
        assert node.tag in _ELEMENTS | {"code"}
        assert set(node.attrib) <= _ATTRIBUTES | {"class"}


@pytest.mark.parametrize(
    "tex",
    [
        HOSTILE,
        r"\text{" + HOSTILE + "}",
        r"\href{javascript:alert(1)}{x}",
        r"\unicode{x3C}script\unicode{x3E}alert(1)",
        r"&lt;script&gt; &#60;script&#62;",
        r"\style{background:url(https://example.org)}{x}",
    ],
)
def test_markup_in_a_statement_is_shown_not_run(tex: str) -> None:
    html = str(formula(tex).html)
    assert not re.search(r"<(script|img|a|style)\b", html)
    assert "href=" not in html
    assert "style=" not in html


def test_every_statement_of_every_paper_is_typeset() -> None:
    for paper in sound_papers():
        for claim in own_claims(paper).values():
            for tex in (claim.statement, *(h.statement for h in claim.hypotheses)):
                assert formula(tex).warning == "", (claim.id, tex)
