"""The stable spellings equal the definition, exactly, at random rationals and symbolically."""

from fractions import Fraction

import numpy as np
import pytest
import sympy
from flint import acb, arb
from hypothesis import given
from hypothesis import strategies as st

from theoryverify.exact.balls import precision
from theoryverify.exact.evaluate import EXACT, compiled
from theoryverify.papers.lca import kernels, theory
from theoryverify.papers.lca.theory import T, alpha

rationals = st.fractions(min_value=-3, max_value=3, max_denominator=20)
depths = st.integers(min_value=1, max_value=20)


def _definition(depth: int) -> object:
    return compiled((1 - alpha * theory.S()).subs(T, depth), EXACT)


@given(st.fractions(1, 6, max_denominator=20), rationals, rationals.filter(bool), depths)
def test_each_spelling_is_the_definition(
    z: Fraction, at_alpha: Fraction, at_beta: Fraction, depth: int
) -> None:
    expected = _definition(depth)({"Z": z, "alpha": at_alpha, "beta": at_beta}, False)
    for form in ("mixed", "sum"):
        assert kernels.residual(z, at_alpha, at_beta, depth, form=form) == expected


@given(st.fractions(1, 6, max_denominator=20), rationals.filter(bool), depths)
def test_the_tied_spelling(z: Fraction, at_alpha: Fraction, depth: int) -> None:
    expected = _definition(depth)({"Z": z, "alpha": at_alpha, "beta": -at_alpha}, False)
    assert kernels.residual(z, at_alpha, -at_alpha, depth, form="tied") == expected


@given(rationals, depths)
def test_the_geometric_sum_and_its_slope(ratio: Fraction, depth: int) -> None:
    total, slope = kernels.geometric_sum(ratio, depth)
    assert total == sum(ratio**k for k in range(depth))
    assert slope == sum((k * ratio ** (k - 1) for k in range(1, depth)), Fraction(0))


@pytest.mark.parametrize("kind", [float, np.float64, sympy.Rational, arb, acb])
def test_one_kernel_for_all_numbers(kind: type) -> None:
    z, at_beta = kind(3), kind(-1) / 8
    with precision(80):
        value = complex(kernels.S(z, at_beta, 6)[0]).real
    assert value == pytest.approx(((1 - 3 / 8) ** 6 - 1) * -8, rel=1e-14)


@pytest.mark.parametrize(
    ("at_beta", "expected"),
    [
        ("0", "28"),
        ("1e-18", "28.000000000000000336"),
        ("-1e-12", "27.999999999664000000002"),
        ("1e-10", "28.0000000336000000224"),
    ],
)
def test_no_digit_is_lost_at_beta_near_zero(at_beta: str, expected: str) -> None:
    value = kernels.S(Fraction(4), Fraction(at_beta), 7)[0]
    assert abs(value - Fraction(expected)) < Fraction(1, 10**17)
    if at_beta != "0":
        naive = ((1 + float(at_beta) * 4) ** 7 - 1) / float(at_beta)
        assert float(value) == pytest.approx(28, abs=1e-6)
        assert naive != float(value)  # the literal spelling does lose digits


def test_the_spelling_is_chosen_by_size() -> None:
    assert kernels.residual_form(Fraction(1, 4), Fraction(-1, 4)) == "tied"
    assert kernels.residual_form(Fraction(1, 4), Fraction(-1, 5)) == "mixed"
    assert kernels.residual_form(Fraction(1, 4), Fraction(0)) == "sum"
    assert kernels.residual_form(Fraction(1, 4), Fraction(1, 10**9)) == "sum"


def test_the_weight_comes_from_the_derivation() -> None:
    assert kernels.weight_polynomial() == (-1, 1)
    doubled = theory.Setting(variance_u=sympy.Integer(2))
    assert kernels.weight_polynomial(doubled) == (-2, 2)
