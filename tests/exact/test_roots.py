"""Roots: an enclosure rests on two certified signs, a count on Sturm's theorem."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq, fmpq_poly
from hypothesis import example, given
from hypothesis import strategies as st

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.balls import ball, integer_power, sign
from theoryverify.exact.rationals import to_fmpq
from theoryverify.exact.roots import (
    Slope,
    algebraic_root,
    decreasing_root,
    evaluate,
    sturm_chain,
    sturm_count,
)

# -- decreasing functions ----------------------------------------------------------------------

targets = st.fractions(Fraction(1, 50), 50, max_denominator=1000)


def power_below(target: Fraction, power: int) -> Callable[[arb], arb]:
    """``target - x^power``, with the root ``target^(1/power)``."""
    return lambda x: ball(target) - integer_power(x, power)


def newton(f: Callable[[arb], arb], power: int) -> Callable[[arb], Slope]:
    return lambda x: Slope(f(x), -power * integer_power(x, power - 1))


@given(targets, st.integers(1, 9), st.integers(1, 120), st.fractions(0, 60) | st.none())
@example(Fraction(1, 4), 2, 30, None)  # the root 1/2 is met exactly
@example(Fraction(4), 2, 50, Fraction(2))
def test_the_root_is_between_the_ends(
    target: Fraction, power: int, digits: int, start: Fraction | None
) -> None:
    f = power_below(target, power)
    before = ctx.prec
    found = decreasing_root(
        lambda x: sign(f(x)), newton(f, power), Fraction(0), Fraction(51), digits, start
    )
    assert ctx.prec == before
    assert found.lower**power < target < found.upper**power
    assert found.upper - found.lower <= found.upper / 10**digits
    assert found.digits >= digits


SHAPES: dict[str, Callable[[arb], Slope]] = {
    "no derivative": lambda x: Slope(2 - x**2),
    "wrong derivative": lambda x: Slope(2 - x**2, arb(1)),
    "derivative around zero": lambda x: Slope(2 - x**2, arb(0, 1)),
    "derivative not finite": lambda x: Slope(2 - x**2, arb("nan")),
    "another function": lambda x: Slope(3 - x, arb(-1)),
    "a constant": lambda x: Slope(arb(7), arb("1e-30")),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_bad_proposal_costs_time_but_never_truth(name: str) -> None:
    found = decreasing_root(lambda x: sign(2 - x * x), SHAPES[name], Fraction(1), Fraction(2), 25)
    assert found.lower**2 < 2 < found.upper**2
    assert found.digits >= 25


def test_signs_that_need_more_precision_than_the_digits() -> None:
    """The value cancels 200 bits: only ever more precision decides."""

    def f(x: arb) -> arb:
        return (2 - x * x) + arb(2) ** 200 * (arb.pi() - arb.pi())

    found = decreasing_root(
        lambda x: sign(f(x)), lambda x: Slope(f(x), -2 * x), Fraction(1), Fraction(2), 10
    )
    assert found.lower**2 < 2 < found.upper**2


@pytest.mark.parametrize(
    "decide",
    [lambda x: None, lambda x: 1, lambda x: -1, lambda x: sign(x * x - 2)],
    ids=["never", "always above", "always below", "increasing"],
)
def test_no_sign_change_is_no_root(decide: Callable[[arb], int | None]) -> None:
    with pytest.raises(UndecidedError, match="no sign change was certified near"):
        decreasing_root(decide, lambda x: Slope(2 - x * x, -2 * x), Fraction(1), Fraction(2), 20)


def test_a_shape_that_is_not_finite() -> None:
    with pytest.raises(UndecidedError):
        decreasing_root(
            lambda x: sign(2 - x * x), lambda x: Slope(arb("nan")), Fraction(1), Fraction(2), 20
        )


# -- Sturm -------------------------------------------------------------------------------------

small = st.fractions(-4, 4, max_denominator=3)
# Quadratics without a real root, and one with two irrational ones.
EXTRAS = (fmpq_poly([1]), fmpq_poly([1, 0, 1]), fmpq_poly([3, 2, 1]), fmpq_poly([5, 1, 2]))
ROOT2 = fmpq_poly([-2, 0, 1])


def with_roots(roots: list[tuple[Fraction, int]], scale: Fraction) -> fmpq_poly:
    poly = fmpq_poly([to_fmpq(scale)])
    for root, multiplicity in roots:
        poly *= fmpq_poly([-to_fmpq(root), fmpq(1)]) ** multiplicity
    return poly


@given(
    st.lists(st.tuples(small, st.integers(1, 3)), max_size=4),
    st.fractions(-9, 9).filter(lambda s: s != 0),
    st.sampled_from(EXTRAS),
    st.booleans(),
    small,
    small,
)
@example([(Fraction(1), 2)], Fraction(-1), EXTRAS[0], False, Fraction(1), Fraction(1))
@example(
    [(Fraction(1), 2), (Fraction(2), 1)], Fraction(1), EXTRAS[0], False, Fraction(1), Fraction(2)
)
@example([(Fraction(0), 3)], Fraction(1), EXTRAS[1], True, Fraction(0), Fraction(2))
def test_roots_are_counted_once_and_half_open(
    roots: list[tuple[Fraction, int]],
    scale: Fraction,
    extra: fmpq_poly,
    irrational: bool,
    one: Fraction,
    two: Fraction,
) -> None:
    low, high = min(one, two), max(one, two)
    poly = with_roots(roots, scale) * extra * (ROOT2 if irrational else 1)
    expected = len({root for root, _ in roots if low < root <= high})
    if irrational:  # ±√2 against the ends, exactly

        def below(end: Fraction, sense: int) -> bool:
            return sense * end > 0 and end * end > 2 if sense > 0 else end > 0 or end * end < 2

        expected += (not below(low, 1)) and below(high, 1)
        expected += (not below(low, -1)) and below(high, -1)
    assert sturm_count(poly, low, high) == expected


def test_the_ends_of_an_interval() -> None:
    poly = with_roots([(Fraction(1), 1), (Fraction(2), 2)], Fraction(-3))
    assert sturm_count(poly, Fraction(1), Fraction(2)) == 1
    assert sturm_count(poly, Fraction(0), Fraction(2)) == 2
    assert sturm_count(poly, Fraction(2), Fraction(9)) == 0
    assert sturm_count(poly, Fraction(2), Fraction(2)) == 0
    assert sturm_count(fmpq_poly([5]), Fraction(0), Fraction(2)) == 0
    with pytest.raises(InputError, match="zero polynomial"):
        sturm_count(fmpq_poly([]), Fraction(0), Fraction(1))
    with pytest.raises(InputError, match="no interval from 2 to 1"):
        sturm_count(poly, Fraction(2), Fraction(1))


def test_the_chain_is_sturms() -> None:
    """``x^2 - 2``: derivative ``x``, then a positive constant."""
    chain = sturm_chain(ROOT2 * ROOT2 * 7)
    assert [list(map(int, member.coeffs())) for member in chain] == [[-2, 0, 1], [0, 1], [1]]
    assert evaluate(ROOT2, Fraction(1, 2)) == Fraction(-7, 4)


# -- algebraic numbers -------------------------------------------------------------------------


@given(
    st.integers(2, 60).filter(lambda n: int(n**0.5) ** 2 != n),
    st.fractions(Fraction(17, 2), 30, max_denominator=7),
    st.integers(1, 60),
    st.booleans(),
)
def test_square_roots(number: int, other: Fraction, digits: int, negative: bool) -> None:
    poly = fmpq_poly([-number, 0, 1]) * with_roots([(other, 2)], Fraction(2, 3)) * EXTRAS[2]
    ends = (Fraction(-8), Fraction(-1)) if negative else (Fraction(1), Fraction(8))
    root = algebraic_root(poly, *ends)
    assert root.degree == 2
    assert root.rational_value() is None
    found = root.enclosure(digits)
    inner, outer = sorted((abs(found.lower), abs(found.upper)))
    assert inner**2 < number < outer**2
    assert (found.sign() == -1) is negative
    assert found.digits >= digits


@pytest.mark.parametrize("value", [Fraction(0), Fraction(1, 3), Fraction(-7, 5), Fraction(1, 2)])
def test_rational_roots(value: Fraction) -> None:
    """Zero too, whose relative digits bisection would seek for ever."""
    poly = with_roots([(value, 3)], Fraction(2)) * ROOT2
    root = algebraic_root(poly, Fraction(-141, 100), Fraction(1))
    assert root.rational_value() == value
    assert root.degree == 1
    assert root.enclosure(40).contains(value)
    assert root.enclosure(40).digits >= 40


def test_there_must_be_one_root_inside() -> None:
    poly = with_roots([(Fraction(1), 1), (Fraction(2), 1)], Fraction(1))
    for ends, count in (((0, 3), 2), ((1, 2), 0), ((3, 4), 0), ((0, 1), 0)):
        with pytest.raises(
            UndecidedError, match=rf"{count} roots in \({ends[0]}, {ends[1]}\), not one"
        ):
            algebraic_root(poly, Fraction(ends[0]), Fraction(ends[1]))
    assert algebraic_root(poly, Fraction(1), Fraction(3)).rational_value() == 2
