"""Searching Theorem F.3: a law at which α*_T does not tend to 2/(Z̲+Z̄)."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log, log1p

import sympy

from theoryverify.claims import CERTIFIED, Evidence, Examination
from theoryverify.claims.law_spaces import DiscreteLaws, UniformLaws
from theoryverify.claims.search import Search
from theoryverify.claims.spaces import OneOf, Rationals
from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure, ball, precision
from theoryverify.exact.evaluate import BALL, compiled
from theoryverify.exact.laws import Discrete, Law
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.claims.depth import F3
from theoryverify.papers.lca.laws import ASSUMPTION_6_1
from theoryverify.papers.lca.limit import limit_bracket

_SHALLOW, _DEEP = 10**3, 10**6
_ROUNDING = 1e-9


def alpha_star_float(law: Law, depth: int) -> float:
    """α*_T by bisection of ``E[(Z-1)(1-αZ)^{2T-1}]`` in logarithms; no bound on the error."""
    power = 2 * depth - 1
    low, high = 1 / float(law.upper), 1 / float(law.lower)
    for _ in range(60):
        middle = (low + high) / 2
        if _log_ratio(law, middle, power) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _log_ratio(law: Law, alpha: float, power: int) -> float:
    """``log P - log N`` for the parts of the mean where ``1-αZ`` is positive and negative."""
    positive: list[float] = []
    negative: list[float] = []
    if isinstance(law, Discrete):
        for z, weight in law.atoms.items():
            share, base = float(weight) * (float(z) - 1), 1 - alpha * float(z)
            if share > 0 and base != 0:
                side = positive if base > 0 else negative
                side.append(log(share) + power * log(abs(base)))
    else:  # uniform: the antiderivative in u = 1-αz, from u = 0 to each end
        for end, side in ((law.lower, positive), (law.upper, negative)):
            u = 1 - alpha * float(end)
            value = (1 - alpha - u) / (power + 1) + u / ((power + 1) * (power + 2))
            if u != 0 and value > 0:
                side.append(log(value) + (power + 1) * log(abs(u)))
    return _log_sum(positive) - _log_sum(negative)


def _log_sum(logs: list[float]) -> float:
    if not logs:
        return -1e300
    top = max(logs)
    return top + log1p(sum(exp(entry - top) for entry in logs) - 1)


def limit_margin(law: Law) -> float:
    """Half, less the ratio of ``|α*_T - α*|`` at T = 10⁶ to that at T = 10³ (relative to α*).

    Where the limit is α* the distance falls like log T/T, so the ratio is far below a half.
    """
    limit = 2 / float(law.lower + law.upper)
    if law.degenerate:
        raise InputError("a point mass: nothing to tend to")
    shallow, deep = (abs(alpha_star_float(law, T) / limit - 1) for T in (_SHALLOW, _DEEP))
    return 0.5 - max(deep - _ROUNDING, 0) / max(shallow, 1000 * _ROUNDING)


def limit_for_every_depth(
    limit: sympy.Expr, case: Law, examination: Examination, depth: int = 10**6
) -> Evidence:
    """The stated limit against a bracket of α*_T for *every* ``T >= depth`` (module ``limit``).

    An atom at Z = 1 leaves no trace in the loss (``W = 0`` there), so the bracket is that of the law
    without it; a law with a single atom besides has ``α*_T = 1/z`` for every T.
    """
    with precision(128):
        values = {"a": ball(case.lower), "b": ball(case.upper)}
        stated = Enclosure.of(compiled(limit, BALL)(values, False))
    seen = _without_atom_at_one(case)
    if seen.degenerate:
        exact = 1 / seen.lower
        examination.decide(
            "the limit of α*_T, which is one number for every T",
            stated.contains(exact),
            f"claimed {stated}, found {exact}",
        )
        return examination.evidence("every T")
    found = limit_bracket(seen, depth).enclosure
    inside = None if stated.overlaps(found) and not stated.within(found) else stated.within(found)
    examination.decide(
        f"the limit of α*_T, in an interval that holds α*_T for every T >= {depth}",
        inside,
        f"claimed {stated}, found {found}",
    )
    return examination.evidence(f"every T >= {depth}")


def _without_atom_at_one(law: Law) -> Law:
    if not isinstance(law, Discrete) or law.atom(Fraction(1)) == 0:
        return law
    rest = {z: w for z, w in law.atoms.items() if z != 1}
    if not rest:
        raise InputError(f"{law} has no mass above 1")
    total = sum(rest.values())
    return Discrete({z: w / total for z, w in rest.items()})


_PLACES = Rationals(1, 20, 100)

LIMIT = Search(
    F3.id,
    "the limit",
    "a law of Z: α*_T tends to 2/(Z̲+Z̄)",
    OneOf((DiscreteLaws(_PLACES, least=2, most=4, rarest=10**6), UniformLaws(_PLACES))),
    limit_margin,
    limit_for_every_depth,
    CERTIFIED,
    formula=theory.alpha_limit(),
    controls={"1/(Z̲+Z̄)": theory.alpha_limit() / 2, "2/Z̲": 2 / theory.a},
    hypotheses=(ASSUMPTION_6_1,),
    budget=2000,
)

searches = [LIMIT]
