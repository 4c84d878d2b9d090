"""One formula on five kinds of numbers: exact, ball, complex ball, mpmath, float64."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from flint import acb, arb
from hypothesis import assume, given
from hypothesis import strategies as st

from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure, accuracy, ball, precision
from theoryverify.exact.evaluate import BALL, EXACT, FLOAT64, compiled, mpmath_arithmetic
from theoryverify.exact.rationals import rational

x, y = sympy.symbols("x y", positive=True)
numbers = st.fractions(-9, 9, max_denominator=9)
positive = st.fractions(Fraction(1, 9), 9, max_denominator=9)


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> sympy.Expr:
    """Random rational expressions in x and y with integer powers."""
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        value = draw(numbers)
        return draw(st.sampled_from([x, y, sympy.Rational(value.numerator, value.denominator)]))
    left, right = draw(expressions(depth - 1)), draw(expressions(depth - 1))
    kind = draw(st.sampled_from("+-*/^"))
    if kind == "^":
        return left ** draw(st.integers(-3, 3)) if left != 0 else left
    if kind == "/":
        return left / right if right != 0 else left
    return {"+": left + right, "-": left - right, "*": left * right}[kind]


@given(expressions(), positive, positive)
def test_all_arithmetics_agree_with_sympy(
    expression: sympy.Expr, at_x: Fraction, at_y: Fraction
) -> None:
    assume(not expression.has(sympy.zoo, sympy.nan))
    substituted = expression.subs({x: sympy.Rational(at_x), y: sympy.Rational(at_y)})
    assume(substituted.is_Rational)
    try:
        value = compiled(expression, EXACT)({"x": at_x, "y": at_y}, False)
    except ZeroDivisionError:
        assume(False)
    assert value == rational(substituted)
    with precision(200):
        found = compiled(expression, BALL)({"x": ball(at_x), "y": ball(at_y)}, False)
        assert found.overlaps(ball(value)) or not found.is_finite()
        on_plane = compiled(expression, BALL)({"x": acb(ball(at_x)), "y": acb(ball(at_y))}, False)
        assert not found.is_finite() or acb(on_plane).real.overlaps(found)
    context = mpmath.mp.clone()
    context.dps = 60
    digits = mpmath_arithmetic(context)
    high = compiled(expression, digits)(
        {"x": digits.constant(at_x), "y": digits.constant(at_y)}, False
    )
    assert abs(high - digits.constant(value)) <= context.mpf(10) ** -25 * (1 + abs(high))


TRANSCENDENTAL = [
    sympy.sqrt(x) * y,
    x ** sympy.Rational(-3, 2) + sympy.sqrt(2),
    sympy.exp(-x * y) + sympy.log(x + 1),
    sympy.pi * x + sympy.E**2,
    sympy.E * x,
    x**y,
    (1 + x) ** (1 / (2 * y + 7)),
    x ** sympy.Rational(1, 3),
]


@pytest.mark.parametrize("expression", TRANSCENDENTAL, ids=str)
def test_functions_of_irrational_value(expression: sympy.Expr) -> None:
    at = {"x": Fraction(7, 3), "y": Fraction(5, 4)}
    reference = expression.subs({x: sympy.Rational(7, 3), y: sympy.Rational(5, 4)}).evalf(60)
    with precision(100):
        found = compiled(expression, BALL)({k: ball(v) for k, v in at.items()}, False)
        assert accuracy(found) >= 90
    with precision(250):
        assert found.overlaps(arb(str(reference), "1e-55"))
    context = mpmath.mp.clone()
    context.dps = 50
    digits = mpmath_arithmetic(context)
    high = compiled(expression, digits)({k: digits.constant(v) for k, v in at.items()}, False)
    assert abs(high - context.mpf(str(reference))) <= context.mpf(10) ** -47 * abs(high)
    low = compiled(expression, FLOAT64)({k: np.array([float(v)]) for k, v in at.items()}, False)
    assert np.allclose(low, float(reference), rtol=1e-14, atol=0)
    with pytest.raises(InputError, match=r"rational value|not rational|cannot evaluate"):
        compiled(expression, EXACT)(at, False)


def test_rational_roots_are_exact() -> None:
    at = {"x": Fraction(49, 9)}
    assert compiled(sympy.sqrt(x), EXACT)(at, False) == Fraction(7, 3)
    assert compiled(x ** sympy.Rational(-3, 2), EXACT)(at, False) == Fraction(27, 343)
    huge = Fraction(10**400 + 1) ** 2
    assert compiled(sympy.sqrt(x), EXACT)({"x": huge}, False) == 10**400 + 1
    for value in (Fraction(-4), Fraction(2), huge + 1):
        with pytest.raises(InputError, match="is not rational"):
            compiled(sympy.sqrt(x), EXACT)({"x": value}, False)


@pytest.mark.parametrize(
    "expression",
    [
        sympy.Float("0.1") * x,
        sympy.I * x,
        sympy.sin(x),
        abs(sympy.Symbol("u")),
        sympy.oo,
        sympy.zoo,
        sympy.nan,
        sympy.Max(x, 1),
        sympy.EulerGamma,
    ],
    ids=str,
)
@pytest.mark.parametrize("arithmetic", [EXACT, BALL, FLOAT64], ids=lambda a: a.name)
def test_what_is_not_understood_is_refused(expression: sympy.Expr, arithmetic: Any) -> None:
    with pytest.raises(InputError, match="cannot evaluate"):
        compiled(expression, arithmetic)


def test_roots_and_logarithms_know_their_cuts() -> None:
    across = acb(arb(-1), arb(0, 1))
    for expression in (sympy.sqrt(x), sympy.log(x), x ** sympy.Rational(1, 3), x**y):
        at = {"x": across, "y": acb(arb(1) / 3)}
        assert not acb(compiled(expression, BALL)(at, True)).is_finite()
        assert acb(compiled(expression, BALL)(at, False)).is_finite()
    right_half = acb(arb(3, 1), arb(0, 1))
    assert compiled(sympy.sqrt(x), BALL)({"x": right_half}, True).is_finite()


def test_real_balls_have_no_complex_roots() -> None:
    for expression in (sympy.sqrt(x), sympy.log(x), x ** sympy.Rational(1, 3)):
        assert not compiled(expression, BALL)({"x": arb(-2)}, False).is_finite()


def test_powers_of_balls_around_zero() -> None:
    found = compiled((1 - x / 2) ** 4, BALL)({"x": arb(2, 1)}, False)
    assert found.is_finite()
    assert found.contains(0)
    assert not compiled(1 / (2 - x) ** 2, BALL)({"x": arb(2, 1)}, False).is_finite()


def test_the_cache_keeps_no_precision() -> None:
    expression = x / 3 + sympy.pi
    for bits in (53, 200, 80):
        with precision(bits):
            found = compiled(expression, BALL)({"x": arb(1)}, False)
            assert bits - 8 <= accuracy(found) <= bits + 8
    for dps in (15, 60):
        context = mpmath.mp.clone()
        context.dps = dps
        found = compiled(expression, mpmath_arithmetic(context))({"x": context.mpf(1)}, False)
        assert abs(found - context.mpf(1) / 3 - context.pi) < context.mpf(10) ** (1 - dps)


@pytest.mark.parametrize(
    ("beta", "value"),
    [
        ("1e-18", "28.000000000000000336"),
        ("-1e-12", "27.999999999664000000002"),
        ("1e-10", "28.0000000336000000224"),
    ],
)
def test_a_spelling_that_cancels_is_wide_but_never_wrong(beta: str, value: str) -> None:
    """Open case F24: ``((1+βZ)^T - 1)/β`` near β = 0, taken literally (Z = 4, T = 7)."""
    literal = ((1 + x * 4) ** 7 - 1) / x
    exact = compiled(literal, EXACT)({"x": Fraction(beta)}, False)
    assert abs(exact - Fraction(value)) <= Fraction(1, 10**18)
    with precision(53):
        wide = compiled(literal, BALL)({"x": ball(beta)}, False)
    with precision(160):
        narrow = compiled(literal, BALL)({"x": ball(beta)}, False)
    assert Enclosure.of(wide).contains(exact)
    assert Enclosure.of(narrow).contains(exact)
    assert Enclosure.of(wide).digits <= 9
    assert Enclosure.of(narrow).digits >= 28


def test_a_removable_point_is_no_value() -> None:
    literal = ((1 + x * 4) ** 7 - 1) / x
    with pytest.raises(ZeroDivisionError):
        compiled(literal, EXACT)({"x": Fraction(0)}, False)
    assert not compiled(literal, BALL)({"x": arb(0)}, False).is_finite()
