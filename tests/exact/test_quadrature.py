"""Rigorous integrals: right values inside, small radii, and refusals where nothing is proved."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest
from flint import acb, arb, ctx, fmpq_poly
from hypothesis import given
from hypothesis import strategies as st

from theoryverify.errors import UndecidedError
from theoryverify.exact.balls import accuracy, ball, precision
from theoryverify.exact.quadrature import integrate
from theoryverify.exact.rationals import rational, to_fmpq

ends = st.fractions(-5, 5, max_denominator=50)


def contains(found: arb, value: Fraction) -> bool:
    with precision(2000):
        return bool((found - ball(value)).contains(0))


def near(found: arb, value: mpmath.mpf, digits: int) -> bool:
    """Whether an ``mpf`` lies in the ball, given its own error of ``digits`` relative digits."""
    with precision(2000):
        point = arb(
            mpmath.nstr(value, digits + 5), abs(arb(mpmath.nstr(value, 5))) / arb(10) ** digits
        )
        return bool(found.overlaps(point))


@given(st.lists(st.fractions(max_denominator=99), min_size=1, max_size=6), ends, ends)
def test_polynomials(coefficients: list[Fraction], a: Fraction, b: Fraction) -> None:
    low, high = min(a, b), max(a, b) + 1
    poly = fmpq_poly([to_fmpq(c) for c in coefficients])
    primitive = poly.integral()
    value = rational(primitive(to_fmpq(high)) - primitive(to_fmpq(low)))

    def f(z: acb, _: bool) -> acb:
        total = acb(0)
        for c in reversed(coefficients):
            total = total * z + ball(c)
        return total

    with precision(100):
        found = integrate(f, ball(low), ball(high))
    assert contains(found, value)
    assert (
        found.rad() <= arb("1e-20") * (1 + sum(map(abs, map(ball, coefficients)), arb(0))) * 10**6
    )


FUNCTIONS: dict[str, tuple[Callable[..., acb], Callable[..., mpmath.mpf], int, int]] = {
    "peak": (
        lambda z, _: (-200 * (z - 1) ** 2).exp(),
        lambda z: mpmath.exp(-200 * (z - 1) ** 2),
        0,
        3,
    ),
    "oscillating": (lambda z, _: (30 * z).cos(), lambda z: mpmath.cos(30 * z), 0, 2),
    "rational": (lambda z, _: 1 / (1 + 25 * z * z), lambda z: 1 / (1 + 25 * z * z), -1, 1),
    "singular end": (lambda z, a: z.sqrt(analytic=a), mpmath.sqrt, 0, 1),
    "logarithm": (lambda z, a: z.log(analytic=a), mpmath.log, 1, 2),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_balls_contain_the_value_at_twice_the_precision_and_shrink(name: str) -> None:
    function, plain, low, high = FUNCTIONS[name]
    with mpmath.workdps(60):
        value = mpmath.quad(plain, mpmath.linspace(low, high, 9))
    found = []
    for bits in (64, 100):
        with precision(bits):
            found.append(integrate(function, ball(low), ball(high)))
            assert accuracy(found[-1]) >= bits // 2
    assert all(near(one, value, 50) for one in found)
    assert found[1].rad() * 2**20 < found[0].rad()


def test_inexact_ends() -> None:
    with precision(80):
        found = integrate(lambda z, _: z.cos(), arb(0), arb.pi() / 2)
    assert contains(found, Fraction(1))
    assert found.rad() < arb("1e-20")


def test_the_size_of_the_integrand_does_not_matter() -> None:
    """``∫ (1-z/4)^{2T} dz = 4(1-z/4)^{2T+1}/(2T+1)``, of size 10^-250000 at T = 10^6."""
    depth = 10**6
    with precision(100):
        found = integrate(lambda z, _: (1 - z / 4) ** (2 * depth), arb(1), arb(3))
        value = (
            4
            * ((arb(3) / 4) ** (2 * depth + 1) - (arb(1) / 4) ** (2 * depth + 1))
            / (2 * depth + 1)
        )
        assert accuracy(found) >= 50
        assert found.overlaps(value)
        assert value < arb(10) ** -249000


def test_a_peak_that_no_look_sees() -> None:
    """The size is guessed at 33 points; a wrong guess may cost time or a refusal, not truth."""

    def bell(sharpness: int) -> Callable[..., acb]:
        return lambda z, _: (-sharpness * (z - arb("0.31234567")) ** 2).exp()

    with precision(64):
        found = integrate(bell(10**6), arb(0), arb(1))
        assert found.overlaps((arb.pi() / 10**6).sqrt())
        assert accuracy(found) >= 16
        with pytest.raises(UndecidedError, match="is only known as"):
            integrate(bell(10**10), arb(0), arb(1))


def test_an_integral_far_below_the_size_of_its_integrand() -> None:
    """``∫_0^1 exp(-10^30 z) dz = 10^-30``: the tolerance must follow."""
    with precision(64):
        found = integrate(lambda z, _: (-(10**30) * z).exp(), arb(0), arb(1))
        assert found.overlaps(arb(10) ** -30)
        assert accuracy(found) >= 32


def test_inner_points_change_nothing_but_the_radius() -> None:
    with precision(80):
        whole = integrate(lambda z, _: z.exp(), arb(0), arb(2))
        parts = integrate(lambda z, _: z.exp(), arb(0), arb(2), points=[arb("0.3"), arb(1)])
        assert whole.overlaps(parts)
        assert parts.overlaps(arb(2).exp() - 1)


def test_zero_by_cancellation_is_accepted() -> None:
    with precision(64):
        found = integrate(lambda z, _: z**3, arb(-1), arb(1))
    assert found.contains(0)
    assert found.rad() < arb("1e-12")
    assert integrate(lambda z, _: 0 * z, arb(0), arb(1)).contains(0)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda z, _: 1 / z, "no finite enclosure"),
        (lambda z, _: 1 / (z + 1), "no finite enclosure"),
        (lambda z, _: acb("nan"), "no finite enclosure"),
        (lambda z, a: z.sqrt(analytic=a), "is not real between"),
    ],
    ids=["pole inside", "pole at the end", "nan", "complex"],
)
def test_refused(function: Callable[..., acb], why: str) -> None:
    for least in (None, -(10**6)):  # however little is asked for
        with precision(64), pytest.raises(UndecidedError, match=why):
            integrate(function, arb(-1), arb(1), minimum_accuracy=least)


def test_a_kink_hidden_in_a_root_is_not_integrated_over() -> None:
    """``sqrt(z^2) = |z|`` is not analytic at 0; with the flag passed on the ball is wide but right."""
    with precision(64):
        found = integrate(
            lambda z, a: (z * z).sqrt(analytic=a), arb(-1), arb(2), minimum_accuracy=2
        )
    assert contains(found, Fraction(5, 2))


def test_wide_balls_are_refused_unless_asked_for() -> None:
    def f(z: acb, _: bool) -> acb:
        return (2000 * z).cos() + 1

    with precision(64):
        with pytest.raises(UndecidedError, match="is only known as"):
            integrate(f, arb(0), arb(1), effort=10)
        wide = integrate(f, arb(0), arb(1), effort=10, minimum_accuracy=-(10**6))
        narrow = integrate(f, arb(0), arb(1))
    assert wide.contains(narrow)
    assert accuracy(narrow) >= 32 > accuracy(wide)


def test_an_error_in_the_integrand_comes_out_as_it_is() -> None:
    def f(z: acb, _: bool) -> acb:
        if not z.is_exact():
            raise KeyError("x")
        return z

    before = ctx.prec
    with pytest.raises(KeyError), precision(64):
        integrate(f, arb(0), arb(1))
    with pytest.raises(ZeroDivisionError):
        integrate(lambda z, _: z if z.is_exact() else 1 // 0, arb(0), arb(1))
    assert ctx.prec == before
