"""End series against the law's own moments near its ends, and Laplace's method against quadrature."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from theoryverify.errors import InputError
from theoryverify.exact.balls import ball, precision
from theoryverify.exact.densities import Ball, ScaledBeta, Shell, Uniform
from theoryverify.exact.ends import end_series
from theoryverify.exact.integrands import LinearPower
from theoryverify.exact.laws import Discrete, Law, Mixture

WEIGHT = (Fraction(-1), Fraction(1))
MIXED = Mixture([("1/2", Discrete({2: 1})), ("1/2", Uniform(2, 5))])
LAWS = (
    Uniform(2, 5),
    Ball(4, 5),
    Shell(7, 2, 5),
    ScaledBeta(2, 5, "1/2", "5/2"),
    ScaledBeta(1, 5, 2, 3),
    MIXED,
    Discrete({2: "1/4", 3: "1/4", 5: "1/2"}),
)


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("side", ["lower", "upper"])
def test_laplace_sum_approaches_the_integral(law: Law, side: str) -> None:
    """``Γ(N)/Γ(N+k+1) ρ^{k+1} Σ g_i ρ^i/(N+k+1)_i`` against the certified half of the integral."""
    errors = []
    split = (law.lower + law.upper) / 2
    for n in (100, 400):
        with precision(200):
            end = end_series(law, side, WEIGHT, 3)  # type: ignore[arg-type]
            rho = (law.upper - law.lower) / 2
            anchor = law.lower if side == "lower" else law.upper
            sense = 1 if side == "lower" else -1
            # |1 - (z-anchor)/ρ|^n, which is 1 at the end and 0 at the middle.
            integrand = LinearPower(WEIGHT, ball(1 + sense * anchor / rho), ball(-sense / rho), n)
            # The lower end itself may be an atom, and (low, high] would leave it out.
            on = (None, split) if side == "lower" else (split, None)
            value = law.expect(integrand, on=on)
            N, k = ball(n + 1), ball(end.exponent)
            total, factor = ball(0), ball(1)
            for i, mass in enumerate(end.masses):
                total += mass * factor
                factor = factor * ball(rho) / (N + k + 1 + i)
            front = (N.gamma() / (N + k + 1).gamma()) * (ball(rho).log() * (k + 1)).exp()
            errors.append(abs(float((front * total / value - 1).mid())))
    # Three terms leave O(n⁻³): quadrupling n divides by about 64.
    assert errors[1] < 1e-15 or errors[1] < errors[0] / 40
    assert errors[0] < 1e-3


def test_exponents_and_masses() -> None:
    with precision(100):
        ball4 = end_series(Ball(4, 5), "lower", WEIGHT)
        assert ball4.exponent == 2
        assert ball4.finite
        assert float(ball4.mass) == pytest.approx(0.25)
        arcsine = end_series(ScaledBeta(0, 1, "1/2", "1/2"), "lower", terms=3)
        assert arcsine.exponent == Fraction(-1, 2)
        assert not arcsine.finite
        # s^{-1/2}(1-s)^{-1/2}/π = π⁻¹(s^{-1/2} + s^{1/2}/2 + 3/8 s^{3/2} + ...).
        wanted = [1, mpmath.mpf(1) / 2, mpmath.mpf(3) / 8]
        for i, (mass, c) in enumerate(zip(arcsine.masses, wanted, strict=True)):
            assert float(mass) == pytest.approx(float(c * mpmath.gamma(i + 0.5) / mpmath.pi))


def test_an_atom_comes_before_the_density_beside_it() -> None:
    with precision(100):
        series = end_series(MIXED, "lower", WEIGHT, 3)
        # (1/2)·1 at z = 2; then (z-1)/6 = 1/6 + s/6.
        assert series.exponent == -1
        assert [float(m) for m in series.masses] == pytest.approx([1 / 2, 1 / 6, 1 / 6])


def test_incommensurable_powers_cut_the_series() -> None:
    law = Mixture([("1/2", Uniform(2, 5)), ("1/2", ScaledBeta(2, 5, "3/2", 1))])
    with precision(100):
        assert len(end_series(law, "lower", terms=3).masses) == 1
        assert len(end_series(law, "upper", terms=3).masses) == 3


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: end_series(Uniform(2, 5), "lower", (Fraction(0),)), "zero polynomial"),
        (lambda: end_series(Uniform(2, 5), "lower", terms=0), "out of range"),
        (lambda: end_series(Discrete({1: "1/2", 2: "1/2"}), "lower", WEIGHT), "vanishes at 1"),
    ],
)
def test_bad_input(call, match: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=match):
        call()
