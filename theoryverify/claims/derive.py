"""``theoryverify derive``: a derivation, recomputed and printed step by step."""

from __future__ import annotations

import re
from typing import Any

import sympy

from theoryverify.claims.discovery import each
from theoryverify.claims.paper import Derivation, Outcome
from theoryverify.errors import InputError


def derivations() -> dict[str, Derivation]:
    """All derivations of all papers, in order."""
    return {d.name: d for _, found in each("derivations") for d in found}


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
        If there is none of that name.
    """
    found = derivations()
    if name not in found:
        raise InputError(f"derivation {name!r} is unknown; known: {', '.join(found)}")
    return found[name]


def derive(name: str, *, latex: bool = False) -> Outcome:
    """Run one derivation; every asserted step is decided again.

    Raises
    ------
    InputError
        If there is no derivation of that name.
    """
    derivation = derivation_named(name)
    lines, rows = [derivation.title, ""], []
    for number, step in enumerate(derivation.steps(), 1):
        mark = {True: "✓", False: "✗", None: " "}[step.holds]
        lines.append(f"{number:2d}. {mark} {step.text}")
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
    document = {"name": name, "title": derivation.title, "steps": rows}
    return Outcome(document, "\n".join(lines))


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
