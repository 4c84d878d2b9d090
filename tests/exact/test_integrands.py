"""Integrands: the one shape of the one-parameter theory, and what the integrator may be given."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from flint import acb, arb, fmpq_poly
from hypothesis import given
from hypothesis import strategies as st

from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure, accuracy, ball, precision
from theoryverify.exact.evaluate import BALL, EXACT, FLOAT64, mpmath_arithmetic
from theoryverify.exact.integrands import LinearPower, Z, as_function, like, require_rational
from theoryverify.exact.rationals import rational, to_fmpq

small = st.fractions(-4, 4, max_denominator=12)
polynomials = st.lists(small, min_size=1, max_size=4).map(tuple)


@given(polynomials, small, small, st.integers(0, 9), st.integers(0, 2), st.fractions(1, 5))
def test_it_is_the_function_that_it_says(
    polynomial: tuple[Fraction, ...],
    constant: Fraction,
    slope: Fraction,
    exponent: int,
    pole: int,
    z: Fraction,
) -> None:
    function = LinearPower(polynomial, constant, slope, exponent, pole)
    value = (
        sum(c * z**k for k, c in enumerate(polynomial))
        * (constant + slope * z) ** exponent
        / z**pole
    )
    assert function(z) == value
    with precision(80):
        assert Enclosure.of(function(ball(z))).contains(value)
        assert Enclosure.of(function(acb(ball(z))).real).contains(value)
    assert math.isclose(function(np.array([float(z)]))[0], value, rel_tol=1e-9, abs_tol=1e-6)
    with mpmath.workdps(40):
        high = function(mpmath.mpf(z.numerator) / z.denominator)
        assert abs(high - mpmath.mpf(value.numerator) / value.denominator) < 1e-25


@given(
    polynomials,
    small,
    small.filter(lambda s: s != 0),
    st.integers(0, 9),
    small,
    small,
)
def test_the_antiderivative_is_one(
    polynomial: tuple[Fraction, ...],
    constant: Fraction,
    slope: Fraction,
    exponent: int,
    start: Fraction,
    stop: Fraction,
) -> None:
    line = fmpq_poly([to_fmpq(constant), to_fmpq(slope)])
    primitive = (fmpq_poly([to_fmpq(c) for c in polynomial]) * line**exponent).integral()
    value = rational(primitive(to_fmpq(stop)) - primitive(to_fmpq(start)))
    with precision(120):
        function = LinearPower(tuple(map(ball, polynomial)), ball(constant), ball(slope), exponent)
        found = function.antiderivative(ball(stop)) - function.antiderivative(ball(start))
    assert Enclosure.of(found).contains(value)
    assert found.rad() < arb("1e-15")


def test_balls_around_the_zero_of_the_base() -> None:
    found = LinearPower((1,), 1, -ball("1/2"), 4)(arb(2, 1))
    assert found.is_finite()
    assert found.contains(0)
    assert found.contains(arb(1) / 16)


def test_depths_far_beyond_floats() -> None:
    depth = 10**6
    with precision(128):
        function = LinearPower((ball(-1), ball(1)), 1, -ball("2/7"), 2 * depth - 1)
        value = function(ball(2))
        assert accuracy(value) > 90
        assert value.log().overlaps((arb(3) / 7).log() * (2 * depth - 1))
        assert accuracy(function.antiderivative(ball(2))) > 90


@pytest.mark.parametrize(
    "arguments",
    [
        ((Fraction(1),), 0, 1, -1),
        ((Fraction(1),), 0, 1, -3),  # its antiderivative would cross the pole
        ((Fraction(1),), 0, 1, 2, -1),
        ((), 0, 1, 2),
    ],
)
def test_negative_exponents_are_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(InputError, match="at least 0"):
        LinearPower(*arguments)


def test_a_pole_has_no_elementary_antiderivative() -> None:
    with pytest.raises(InputError, match="pole"):
        LinearPower((1,), 1, -1, 3, pole=1).antiderivative(arb(2))


def test_fractions_become_numbers_of_the_other_kind() -> None:
    half = Fraction(1, 2)
    assert like(half, Fraction(3)) is half
    assert like(half, arb(3)) == arb(0.5)
    assert like(half, np.ones(2)).tolist() == [0.5, 0.5]
    assert like(7, arb(3)) == 7


# -- what is a function of Z -------------------------------------------------------------------


@pytest.mark.parametrize(
    "integrand",
    [
        (Z - 1) / Z * (1 - Z / 3) ** 4,
        lambda z: (z - 1) / z * (1 - z / 3) ** 4,
        LinearPower((-1, 1), 1, Fraction(-1, 3), 4, pole=1),
    ],
    ids=["sympy", "function", "LinearPower"],
)
def test_three_spellings_of_one_function(integrand: Any) -> None:
    value = Fraction(3, 5) * Fraction(1, 6) ** 4
    assert as_function(integrand, EXACT)(Fraction(5, 2), False) == value
    with precision(64):
        assert Enclosure.of(as_function(integrand, BALL)(ball("5/2"), False)).contains(value)
    assert math.isclose(as_function(integrand, FLOAT64)(np.float64(2.5), False), value)
    found = as_function(integrand, mpmath_arithmetic())(mpmath.mpf("2.5"), False)
    assert math.isclose(found, value)


def test_strangers_are_refused() -> None:
    with pytest.raises(InputError, match=r"free symbols \['a'\]"):
        as_function(sympy.Symbol("a") * Z, BALL)
    for stranger in ("Z + 1", 3.0, None):
        with pytest.raises(InputError, match="cannot take the expectation"):
            as_function(stranger, BALL)


@pytest.mark.parametrize(
    "function",
    [
        lambda z: 3,
        lambda z: -z + 2 * z - z * 2 - (1 - z) + +z,
        lambda z: 1 / z + z / 3,
        lambda z: (z - 1) ** 7 / z**2,
        lambda z: arb(2) * z - z * arb(2) + acb(1) / z,
        lambda z: Fraction(1, 2) * z,
        LinearPower((-1, 1), 1, Fraction(-1, 3), 4, pole=1),
    ],
)
def test_arithmetic_is_accepted(function: Callable[[Any], Any]) -> None:
    require_rational(function)


@pytest.mark.parametrize(
    "function",
    [
        abs,
        math.sqrt,
        np.abs,
        lambda z: z.sqrt(),
        lambda z: z**0.5,
        lambda z: z ** Fraction(1, 2),
        lambda z: 2**z,
        lambda z: z.real * z,
        lambda z: z if z > 3 else 0,
        lambda z: z if z == 3 else 0,
        lambda z: z if z != 3 else 0,
        lambda z: z or 1,
        lambda z: {z: 1}[z],
        lambda z: max(z, 1),
        lambda z: int(z),
    ],
)
def test_anything_else_is_not(function: Callable[[Any], Any]) -> None:
    with pytest.raises(InputError, match="is not arithmetic"):
        require_rational(function)
