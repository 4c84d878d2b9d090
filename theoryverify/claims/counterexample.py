"""What a search found, as a paper file of its own: a claim that is expected to be refuted.

The file names the search it came from and writes the case out, so ``theoryverify check --papers
FILE`` decides it again from nothing. Beside the counterexample stands the same statement at a case
where it holds: a judge that refuted whatever it saw would fail there.
"""

from __future__ import annotations

import re
import shlex
import sys
import textwrap
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import singledispatch
from typing import Any

from theoryverify.claims.discovery import options_for
from theoryverify.claims.search import Found, Outcome, Search
from theoryverify.errors import InputError
from theoryverify.exact.densities import Uniform
from theoryverify.exact.laws import Discrete

Imports = set[tuple[str, str]]
"""Pairs of module and name."""


@singledispatch
def as_source(value: Any, imports: Imports) -> str:
    """The Python expression that makes ``value`` again; what it needs is added to ``imports``.

    Dataclasses, laws with exact parameters, tuples, fractions and literals are known; others can be
    registered.

    Raises
    ------
    InputError
        For anything else.
    """
    if is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        imports.add((kind.__module__, kind.__qualname__))
        inside = [f"{f.name}={as_source(getattr(value, f.name), imports)}" for f in fields(value)]
        return f"{kind.__qualname__}({', '.join(inside)})"
    if value is None or isinstance(value, (bool, int, str)):
        return repr(value)
    raise InputError(f"a {type(value).__name__} cannot be written out as source: {value!r}")


@as_source.register
def _(value: Fraction, imports: Imports) -> str:
    imports.add(("fractions", "Fraction"))
    if value.denominator == 1:
        return f"Fraction({value.numerator})"
    return f"Fraction({value.numerator}, {value.denominator})"


@as_source.register
def _(value: tuple, imports: Imports) -> str:  # type: ignore[type-arg]
    inside = ", ".join(as_source(entry, imports) for entry in value)
    return f"({inside},)" if len(value) == 1 else f"({inside})"


@as_source.register
def _(value: Discrete, imports: Imports) -> str:
    imports.add(("theoryverify.exact.laws", "Discrete"))
    atoms = ", ".join(f"{_exact(z)}: {_exact(w)}" for z, w in value.atoms.items())
    return f"Discrete({{{atoms}}})"


@as_source.register
def _(value: Uniform, imports: Imports) -> str:
    imports.add(("theoryverify.exact.densities", "Uniform"))
    return f"Uniform({_exact(value.lower)}, {_exact(value.upper)})"


def _exact(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f'"{value.numerator}/{value.denominator}"'


def paper_name(search: Search) -> str:
    """The name of the paper that the file defines: ``found-lca-6-3``."""
    return "found-" + re.sub(r"[^\w-]", "-", search.claim)


def command(outcome: Outcome) -> str:
    """The command that finds it again, from the same folder."""
    search = outcome.search
    dropped = "".join(f" --without {shlex.quote(name)}" for name in outcome.without)
    budget = "" if outcome.budget == search.budget else f" --budget {outcome.budget}"
    files = options_for(_paper(search))
    return f"theoryverify falsify {search.claim}{dropped}{budget} --seed {outcome.seed}{files}"


def check_command(search: Search, file: str) -> str:
    """The command that decides the found file again, from the same folder.

    A file that was found in a paper of the user's own imports it, so that is named too; the name of
    the found paper then keeps the other's claims out of the run.
    """
    files = options_for(_paper(search))
    name = f" {paper_name(search)}" if files else ""
    return f"theoryverify check{files} --papers {shlex.quote(file)}{name}"


def _paper(search: Search) -> str:
    return search.claim.partition(".")[0]


def counterexample_source(outcome: Outcome, file: str = "THIS_FILE") -> str:
    """The text of the paper file for what was found; it says how to check ``file``, itself.

    Raises
    ------
    InputError
        If nothing was found, or the search is not bound to a name at the top of its module.
    """
    found, search = outcome.found, outcome.search
    if found is None:
        raise InputError("nothing was found that could be written")
    module, attribute = _home(search)
    imports: Imports = {
        ("theoryverify.claims", "REFUTED"),
        ("theoryverify.claims", "Paper"),
        (module, attribute),
    }
    case = as_source(found.case, imports)
    name = paper_name(search)
    lines = [
        '"""' + _docstring(outcome, found, file) + '"""',
        "",
        "{imports}",
        "",
        f"CASE = {case}",
        "",
        f"COUNTEREXAMPLE = {attribute}.statement_claim(",
        f'    "{name}.counterexample",',
        "    CASE,",
        f"    without={outcome.without!r},",
        "    expected=REFUTED,",
        f"    place={f'{search.claim}, searched: a counterexample'!r},",
        f"    title={_title(search, found)!r},",
        ")",
    ]
    if found.holds_at is not None:
        lines += [
            "",
            "# The same judge where the statement holds: it does not refute whatever it sees.",
            f"ELSEWHERE = {attribute}.statement_claim(",
            f'    "{name}.elsewhere",',
            f"    {as_source(found.holds_at, imports)},",
            f"    place={f'{search.claim}, at another case'!r},",
            f"    title={f'it holds at {found.holds_at}'!r},",
            ")",
        ]
    claims = "COUNTEREXAMPLE" + (", ELSEWHERE" if found.holds_at is not None else "")
    lines += [
        "",
        "paper = Paper(",
        f'    name="{name}",',
        f"    title={f'A counterexample to {search.claim}'!r},",
        f"    source={command(outcome)!r},",
        f"    claims=[{claims}],",
        ")",
    ]
    return "\n".join(lines).replace("{imports}", "\n".join(_import_lines(imports)), 1) + "\n"


def _title(search: Search, found: Found) -> str:
    return f"{search.claim} fails at {found.shown}"


def _docstring(outcome: Outcome, found: Found, file: str) -> str:
    text = [
        f"A counterexample to a statement of {outcome.search.claim}, found by a search.",
        "",
        f"Searched: {outcome.search.statement}.",
        f"Found:    {found.shown}",
        f"Why:      {found.why}",
    ]
    text += [f"It breaks {reason}" for reason in found.breaks]
    if outcome.without and not found.breaks:
        text.append("It meets every hypothesis, also the one that was dropped.")
    text += [
        "",
        "Found by the first command, decided again by the second:",
        "",
        f"    {command(outcome)}",
        f"    {check_command(outcome.search, file)}",
        "",
    ]
    wrapped = [part for line in text for part in (_wrapped(line) or [""])]
    return "\n".join(wrapped).replace("\\", "\\\\").replace('"""', "'''")


def _wrapped(line: str) -> list[str]:
    if line.startswith("    "):
        return [line]
    return textwrap.wrap(line, 96, subsequent_indent="    ", break_long_words=False)


def _home(search: Search) -> tuple[str, str]:
    """The module and the name at its top that the search is bound to."""
    module = search.judge.__module__
    for name, value in vars(sys.modules[module]).items():
        if value is search:
            return module, name
    raise InputError(
        f"the search {search.claim}/{search.name} has no name at the top of {module}: "
        "a file cannot import it"
    )


def _import_lines(imports: Iterable[tuple[str, str]]) -> list[str]:
    modules: dict[str, list[str]] = {}
    for module, name in sorted(imports):
        modules.setdefault(module, []).append(name.partition(".")[0])
    standard = [m for m in modules if m.partition(".")[0] in sys.stdlib_module_names]
    groups = [standard, [m for m in modules if m not in standard]]
    lines: list[str] = []
    for group in filter(None, groups):
        lines += [""] if lines else []
        for module in group:
            names = sorted(modules[module], key=lambda name: (not name.isupper(), name))
            lines.append(f"from {module} import {', '.join(names)}")
    return lines


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """One search as plain data."""
    found, search = outcome.found, outcome.search
    return {
        "claim": search.claim,
        "search": search.name,
        "statement": search.statement,
        "domain": str(search.space),
        "hypotheses": [h.name for h in search.kept(outcome.without)],
        "without": list(outcome.without),
        "seed": outcome.seed,
        "trials": outcome.trials,
        "shrinking": outcome.shrinking,
        "rejected": outcome.rejected,
        "void": outcome.void,
        "unconfirmed": outcome.unconfirmed,
        "nearest": None
        if outcome.nearest is None
        else {
            "case": str(outcome.nearest),
            "margin": outcome.nearest_margin,
            "verdict": outcome.nearest_verdict,
        },
        "found": None if found is None else _found_json(search, found),
    }


def _found_json(search: Search, found: Found) -> dict[str, Any]:
    return {
        "case": found.shown,
        "source": as_source(found.case, set()),
        "first": found.first,
        "rung": str(search.rung),
        "verdict": str(found.result.verdict),
        "reason": found.why,
        "scope": found.result.scope,
        "assumes": list(found.result.assumes),
        "controls": [{"name": c.name, "verdict": str(c.verdict)} for c in found.result.controls],
        "breaks": list(found.breaks),
        "margin": found.margin,
        "size": search.space.size(found.case),
        "holds_at": None if found.holds_at is None else str(found.holds_at),
    }


__all__ = [
    "as_source",
    "check_command",
    "command",
    "counterexample_source",
    "outcome_json",
    "paper_name",
]
