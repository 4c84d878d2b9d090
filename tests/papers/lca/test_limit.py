"""Theorem F.3's bracket contains α*_T, shrinks with T, and closes on the limit."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theoryverify.errors import HypothesisError
from theoryverify.exact.densities import Ball, ScaledBeta, Uniform
from theoryverify.exact.laws import Discrete, Law, Mixture, TwoPoint
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.limit import limit_bracket

LAWS = [
    Uniform(2, 5),
    TwoPoint(2, 5, "1/3"),
    Ball(4, 5),
    ScaledBeta(2, 5, "1/2", 3),
    Mixture([("1/2", Discrete({2: 1})), ("1/2", Uniform(2, 5))]),
    Mixture([("1/3", Uniform(2, 4)), ("2/3", Discrete({5: 1}))]),
]


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_the_bracket_holds_for_all_larger_depths(law: Law) -> None:
    for start in (1, 10, 1000):
        bracket = limit_bracket(law, start).enclosure
        assert bracket.contains(2 / (law.lower + law.upper))
        for depth in (start, start + 1, 3 * start):
            assert alpha_star(law, depth, 12).enclosure.within(bracket)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_it_closes_on_the_limit(law: Law) -> None:
    widths = []
    for depth in (10**2, 10**4, 10**6):
        bracket = limit_bracket(law, depth).enclosure
        widths.append(bracket.upper - bracket.lower)
    assert widths[0] > 20 * widths[1] > 400 * widths[2]
    assert widths[2] < Fraction(1, 10**4)


@given(st.fractions("0.01", 1, max_denominator=100), st.integers(1, 200))
def test_every_epsilon_is_valid(epsilon: Fraction, depth: int) -> None:
    law = Uniform(2, 5)
    bracket = limit_bracket(law, depth, epsilon=epsilon).enclosure
    assert alpha_star(law, depth, 12).enclosure.within(bracket)


def test_it_refuses_what_the_theorem_does_not_cover() -> None:
    with pytest.raises(HypothesisError):
        limit_bracket(Discrete({2: 1}), 5)
