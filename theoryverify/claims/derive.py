"""``theoryverify derive``: a derivation, recomputed and printed step by step."""

from __future__ import annotations

from typing import Any

import sympy

from theoryverify.claims.paper import Derivation, Outcome
from theoryverify.claims.registry import papers
from theoryverify.errors import InputError


def derivations() -> dict[str, Derivation]:
    """All derivations of all papers, in order."""
    return {d.name: d for paper in papers().values() for d in paper.load("derivations")}


def derivation_list() -> Outcome:
    found = derivations()
    width = max((len(name) for name in found), default=0)
    text = "\n".join(f"{name:<{width}}  {d.title}" for name, d in found.items())
    rows = [{"name": name, "title": d.title} for name, d in found.items()]
    return Outcome({"derivations": rows}, text)


def derive(name: str, *, latex: bool = False) -> Outcome:
    """Run one derivation; every asserted step is decided again.

    Raises
    ------
    InputError
        If there is no derivation of that name.
    """
    found = derivations()
    if name not in found:
        raise InputError(f"derivation {name!r} is unknown; known: {', '.join(found)}")
    derivation = found[name]
    lines, rows = [derivation.title, ""], []
    for number, step in enumerate(derivation.steps(), 1):
        mark = {True: "✓", False: "✗", None: " "}[step.holds]
        lines.append(f"{number:2d}. {mark} {step.text}")
        if step.formula is not None:
            lines.append("        " + _shown(step.formula, latex))
        rows.append(
            {
                "text": step.text,
                "formula": None if step.formula is None else _shown(step.formula, False),
                "latex": None if step.formula is None else _shown(step.formula, True),
                "holds": step.holds,
            }
        )
    document = {"name": name, "title": derivation.title, "steps": rows}
    return Outcome(document, "\n".join(lines))


def _shown(formula: Any, latex: bool) -> str:
    if latex:
        return str(sympy.latex(formula))
    if isinstance(formula, sympy.Equality):
        return f"{formula.lhs} = {formula.rhs}"
    return str(formula)
