"""The laws of Z that the certified checks look at: each kind of end, smooth, singular and atomic."""

from __future__ import annotations

from theoryverify.claims.ladder import Hypothesis
from theoryverify.exact.densities import Ball, ScaledBeta, Shell, Uniform
from theoryverify.exact.laws import Discrete, Law, Mixture, TwoPoint
from theoryverify.papers.lca import assumptions

UNIFORM = Uniform(2, 5)
ATOMS = Discrete({2: "1/4", 3: "1/4", 5: "1/2"})
TWO_POINT = TwoPoint("3/2", 4, "9/10")
MIXED = Mixture([("1/2", Discrete({2: 1})), ("1/2", UNIFORM)])

LAWS: tuple[Law, ...] = (
    UNIFORM,
    Uniform("1.5", 3),
    TWO_POINT,
    ATOMS,
    ScaledBeta(2, 5, "1/2", "5/2"),
    Ball(4, 5),
    Shell(7, 2, 5),
    MIXED,
)

POINT_MASS = Discrete({2: 1})
ATOM_AT_ONE = Discrete({1: "1/2", 3: "1/2"})


def law_of(case: object) -> object:
    """The law of Z that a case is, or has."""
    return getattr(case, "law", case)


ASSUMPTION_6_1 = Hypothesis(
    "Assumption 6.1",
    r"\mathbb P(m=0)=0,\quad \operatorname{ess\,inf}\|m\|^2<\operatorname{ess\,sup}\|m\|^2<\infty",
    lambda case: assumptions.failure(law) if isinstance(law := law_of(case), Law) else None,
)
