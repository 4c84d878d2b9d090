"""The rates against closed forms and against the enclosures."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest
import sympy

from theoryverify.cli import main
from theoryverify.errors import HypothesisError, InputError
from theoryverify.exact.balls import ball, precision
from theoryverify.exact.densities import Ball, ScaledBeta, Shell, Uniform
from theoryverify.exact.law_grammar import parse_law
from theoryverify.exact.laws import Discrete, Law, Mixture, TwoPoint
from theoryverify.papers.lca import rate_theory
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.laws import LAWS, MIXED, POINT_MASS
from theoryverify.papers.lca.rate import (
    Rate,
    alpha_expansion,
    beta_expansion,
    evaluated,
    first_order_gap,
    within_for_all,
)
from theoryverify.papers.lca.two import beta_star

U25 = Uniform(2, 5)


def test_uniform_in_closed_form() -> None:
    """``l_0 = log((a-1)/(b-1))`` and ``l_1`` as elementary numbers."""
    found = alpha_expansion(U25, 1000)
    l0, l1 = math.log(1 / 4), (4 - 1 / 4) / 2
    first = 3 / 49 * l0 / 2000
    second = 3 / 49 * (l1 + l0**2 * 3 / 14) / 2000**2
    assert float(found.terms["first"]) == pytest.approx(first, rel=1e-13)
    assert float(found.terms["second"]) == pytest.approx(second, rel=1e-13)
    assert found.error == "O(1/T^3)"


def test_ball_in_closed_form() -> None:
    gap = float(first_order_gap(Ball(7, 5), 1000))
    assert gap == pytest.approx(-4 / 2 / 36 * (3.5 * math.log(4000) - math.lgamma(4.5)), rel=1e-13)


@pytest.mark.parametrize("law", [*LAWS, ScaledBeta(2, 5, 2, 2)], ids=str)
def test_alpha_error_is_of_third_order(law: Law) -> None:
    depth = 3000
    found = alpha_expansion(law, depth)
    with precision(200):
        error = float(abs(alpha_star(law, depth, 30).enclosure.ball() - found.value.ball()))
    assert error < 10 / depth**3
    assert found.terms.keys() == {"first", "second"}


def test_two_point_expansion_against_its_closed_form() -> None:
    """``(1+κ)/(b+κa)``, ``κ = e^{Λ/(2T-1)}``, expanded by SymPy."""
    law = TwoPoint(2, 5, "1/3")
    x, logarithm = sympy.symbols("x ell")
    kappa = sympy.exp(logarithm * x / (1 - x))
    series = sympy.series((1 + kappa) / (5 + 2 * kappa), x, 0, 3).removeO()
    value = series.subs(logarithm, sympy.log(sympy.Rational(1, 8))).subs(x, sympy.Rational(1, 200))
    found = float(alpha_expansion(law, 100).value)
    assert found == pytest.approx(float(value), rel=1e-15)


@pytest.mark.parametrize(
    ("law", "order"),
    [
        (U25, 3),
        (Shell(8, 2, 5), 3),
        (ScaledBeta(2, 5, "1/2", "1/2"), 2),
        (Discrete({2: "1/4", 3: "1/4", 5: "1/2"}), 2),
    ],
    ids=str,
)
def test_beta_error(law: Law, order: int) -> None:
    for depth in (1000, 1001):
        value = beta_expansion(law, depth).value
        with precision(160):
            error = float(abs(beta_star(law, depth, 10).beta.ball() - value.ball()))
        assert error < 3 / depth**order


def test_named_error_orders() -> None:
    assert beta_expansion(U25, 100).error == "O(1/T^3)"
    assert beta_expansion(Ball(4, 5), 100).error == "O(log(T)^3/T^3)"
    assert beta_expansion(ScaledBeta(2, 5, "1/2", "1/2"), 100).error == "O(1/T^2)"
    assert beta_expansion(MIXED, 100).error == "o(1/T)"
    assert alpha_expansion(Ball(4, 5), 100).error == "O(log(T)^3/T^3)"


def test_one_term_where_the_second_is_not_known() -> None:
    law = Mixture([("1/2", U25), ("1/2", ScaledBeta(2, 5, "3/2", 1))])
    assert alpha_expansion(law, 100).terms.keys() == {"first"}
    assert beta_expansion(law, 100).error == "o(1/T)"


@pytest.mark.parametrize(
    "law",
    [
        Mixture([("1/2", U25), ("1/2", ScaledBeta(2, 5, "5/2", 1))]),
        Mixture([("1/2", Discrete({2: 1})), ("1/2", ScaledBeta(2, 5, "3/2", 1))]),
    ],
    ids=str,
)
def test_a_power_between_the_terms_is_in_the_error(law: Law) -> None:
    """Beside ``s^k`` a ``s^{k+3/2}``: two terms are known, and the next one is no ``T^-3``."""
    assert alpha_expansion(law, 100).error == "O(1/T^(5/2))"
    errors = []
    for depth in (10**4, 10**6):
        found = alpha_expansion(law, depth)
        with precision(200):
            gap = alpha_star(law, depth, 40).enclosure.ball() - found.value.ball()
            errors.append(float(abs(gap)) * depth**2.5)
    assert 0.5 < errors[1] / errors[0] < 2


def test_every_depth() -> None:
    good = rate_theory.alpha_expansion()
    assert within_for_all(good, U25, 100, "0.03") is True
    # The constant is close to sharp: T³·error tends to 0.02421.
    assert within_for_all(good, U25, 100, "0.024") is None
    assert within_for_all(good * (1 + sympy.Rational(1, 10**9)), U25, 100, "0.03") is False
    assert within_for_all(good - rate_theory.second_order(), U25, 100, 10) is False
    with precision(160):
        error = alpha_star(U25, 100, 40).enclosure.ball() - evaluated(good, U25, 100)
        assert abs(error) * 10**6 < ball("0.03")
    with pytest.raises(InputError, match="one polynomial piece"):
        within_for_all(good, Ball(4, 5), 100, 1)
    with pytest.raises(InputError, match="one polynomial piece"):
        within_for_all(good, Shell(7, 2, 5), 100, 1)


def test_the_command_shows_both_terms(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["alpha-star", "--law", "beta(2,5,1/24,7/24)", "--depth", "1000"]
    assert main([*arguments, "--json"]) == 0
    rate = json.loads(capsys.readouterr().out)["rate"]
    assert rate["order"] == "log(T)/T"
    assert list(rate["expansion"]["terms"]) == ["first", "second"]
    assert rate["beta_expansion"]["error"] == "O(log(T)^3/T^(13/12))"
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "(first)" in out
    assert "(two parameters)" in out
    assert main(["alpha-star", "--law", "uniform(2,5)", "--depth", "1", "--json"]) == 0
    rate = json.loads(capsys.readouterr().out)["rate"]
    assert "beta_expansion" not in rate
    assert rate["minimum_in_window"] is None


def test_no_expansion_of_a_minimum_that_is_not_there() -> None:
    rare = Discrete({2: "0.5", 3: "0.499999", 20: "0.000001"})
    for depth, present in ((5, False), (40, True), (10**9, True)):
        rate = Rate.of(rare, depth)
        assert rate.minimum is present
        assert rate.to_json()["minimum_in_window"] is present
        assert (rate.beta is not None) is present
        assert ("none in (-2/Zmax, 0)" in "\n".join(rate.lines())) is not present
    assert Rate.of(U25, 1).minimum is None
    # Beyond 10^6 only Lemma G.6 tells, and its T' is larger still for this law.
    assert Rate.of(ScaledBeta(2, 5000, "1/2", 200), 10**7).minimum is None


def test_terms_that_mean_nothing_are_said_to() -> None:
    concentrated = ScaledBeta(2, 5, "1/2", 200)
    assert not alpha_expansion(concentrated, 5).in_range
    assert "T is too small" in str(alpha_expansion(concentrated, 5))
    assert not beta_expansion(concentrated, 5).in_range
    # The value is inside, but the first partial sum is negative.
    assert not alpha_expansion(Uniform(2, 10**9), 5).in_range
    for depth in (2, 1000):
        assert alpha_expansion(U25, depth).in_range
        assert beta_expansion(U25, depth).in_range
    assert "too small" not in str(beta_expansion(U25, 2))


def test_terms_within_the_inverse_ends_but_outside_the_certified_bounds() -> None:
    """α*_3 is below 0.128 for certain and ``-β*_3`` below ``2/Z̄``; both sums are 0.297."""
    wide = Uniform("1.05", 20)
    for found, sign in ((alpha_expansion(wide, 3), 1), (beta_expansion(wide, 3), -1)):
        assert 1 / wide.upper < sign * float(found.value) < 1 / wide.lower
        assert not found.in_range
        assert "T is too small" in str(found)
    assert alpha_expansion(wide, 3).bounds.upper < Fraction("0.13")
    low, high = beta_expansion(wide, 3).bounds.lower, beta_expansion(wide, 3).bounds.upper
    assert float(low) == pytest.approx(-0.1)
    assert float(high) == pytest.approx(-0.05)
    assert alpha_expansion(wide, 1000).in_range
    assert beta_expansion(wide, 1000).in_range


def test_terms_that_vanish() -> None:
    even = beta_expansion(TwoPoint(2, 5, "1/3"), 200)
    assert even.terms["first"].sign() == 0  # β*_T = -2/7
    assert beta_expansion(TwoPoint(2, 5, "1/3"), 201).terms["first"].sign() == 1
    between = Discrete({2: "1/4", 3: "1/4", 5: "1/2"})
    assert beta_expansion(between, 200).terms["first"].sign() is not None
    assert beta_expansion(between, 200).terms["first"].sign() != 0
    # Equal weights of WZ at both ends: the term is 0, which an enclosure cannot say.
    equal = alpha_expansion(TwoPoint(2, 5, "4/5"), 5)
    assert equal.terms["first"].contains(0)
    assert str(equal).startswith("±")


@pytest.mark.parametrize("law", ["beta(2,5,1/2,200)", "uniform(2,1000000000)"])
def test_the_bracket_lies_between_the_inverse_ends(
    law: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["alpha-star", "--law", law, "--depth", "5", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    bracket, star = found["rate"]["bracket_from_here_on"], found["alpha_star"]
    ends = parse_law(law)
    assert Fraction(bracket["lower"]) >= Fraction(99, 100) / ends.upper
    assert Fraction(bracket["upper"]) <= Fraction(101, 100) / ends.lower
    assert Fraction(bracket["lower"]) <= Fraction(star["lower"])
    assert Fraction(star["upper"]) <= Fraction(bracket["upper"])


def test_bad_input() -> None:
    with pytest.raises(HypothesisError):
        alpha_expansion(POINT_MASS, 10)
    with pytest.raises(InputError, match="depth"):
        beta_expansion(U25, 1)
