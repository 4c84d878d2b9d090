"""``theoryverify derive``: a derivation, recomputed and printed step by step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import sympy

from theoryverify.claims.discovery import each
from theoryverify.claims.examination import outcome
from theoryverify.claims.paper import Derivation, DerivationStep, Outcome, Paper
from theoryverify.claims.registry import require_claims
from theoryverify.claims.told import told
from theoryverify.errors import InputError

BROKE = 4
"""Exit code of a derivation with a step that was not decided, as of a check that broke."""


class DerivationFailed(Exception):
    """A step of a derivation does not hold, or could not be taken."""


def derivations() -> dict[str, Derivation]:
    """All derivations of all papers, in order."""
    return {d.name: d for _, d in _with_papers()}


def _with_papers() -> Iterator[tuple[Paper, Derivation]]:
    for paper, found in each("derivations"):
        for derivation in found:
            yield paper, derivation


def derivation_list() -> Outcome:
    found = derivations()
    width = max((len(name) for name in found), default=0)
    text = "\n".join(f"{name:<{width}}  {d.title}" for name, d in found.items())
    rows = [{"name": name, "title": d.title} for name, d in found.items()]
    return Outcome({"derivations": rows}, text)


def derivation_named(name: str) -> Derivation:
    """One derivation.

    Raises
    ------
    InputError
        If there is none of that name, or it names a claim that its paper does not have.
    """
    found = {derivation.name: (paper, derivation) for paper, derivation in _with_papers()}
    if name not in found:
        raise InputError(f"derivation {name!r} is unknown; known: {', '.join(found)}")
    paper, derivation = found[name]
    require_claims(paper, derivation.claims, f"derivation {name!r}")
    return derivation


def derive(name: str, *, latex: bool = False) -> Outcome:
    """Run one derivation; every asserted step is decided again, up to one that fails.

    Raises
    ------
    InputError
        If there is no derivation of that name.
    """
    derivation = derivation_named(name)
    lines, rows, broken = [derivation.title, ""], [], None
    try:
        for number, step in enumerate(decided_steps(derivation), 1):
            lines.append(f"{number:2d}. {'✓' if step.holds else ' '} {step.text}")
            if step.formula is not None:
                lines.append("        " + shown(step.formula, latex=latex))
            rows.append(
                {
                    "text": step.text,
                    "formula": None if step.formula is None else shown(step.formula),
                    "latex": None if step.formula is None else shown(step.formula, latex=True),
                    "holds": step.holds,
                }
            )
    except DerivationFailed as failed:
        broken = str(failed)
        lines.append(f"    ! {broken}")
    document = {"name": name, "title": derivation.title, "steps": rows, "broken": broken}
    return Outcome(document, "\n".join(lines), BROKE if broken else 0)


def decided_steps(derivation: Derivation) -> Iterator[DerivationStep]:
    """The steps one by one, each decided again.

    Raises
    ------
    DerivationFailed
        In one line, for whatever a step raises, and for one that does not hold.
    """
    done = 0
    try:
        for step in derivation.steps():
            if not isinstance(step, DerivationStep):
                raise InputError(f"{step!r} is no DerivationStep")
            holds = outcome(step.text, step.holds)
            if holds is False:
                raise AssertionError(f"{step.text}: whether it holds is {holds}")
            yield replace(step, holds=holds)
            done += 1
    except (Exception, SystemExit) as error:
        raise DerivationFailed(f"step {done + 1}: {told(error, derivation.steps)}") from error


_GREEK = {
    "alpha": "α",
    "beta": "β",
    "zeta": "ζ",
    "epsilon": "ε",
    "omega": "ω",
    "rho": "ρ",
    "sigma": "σ",
    "kappa": "κ",
}


def shown(formula: Any, *, latex: bool = False) -> str:
    """LaTeX to paste, or one line of text; an equation whose sides look the same is shown once."""
    if isinstance(formula, sympy.Equality):
        left, right = shown(formula.lhs, latex=latex), shown(formula.rhs, latex=latex)
        return right if left == right else f"{left} = {right}"
    if latex:
        return str(sympy.latex(formula))
    return re.sub(r"[a-z]+", lambda word: _GREEK.get(word.group(), word.group()), str(formula))
