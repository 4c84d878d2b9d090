"""Monic orthogonal polynomials against known families and in balls."""

from fractions import Fraction

import pytest
from flint import arb, fmpq

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.balls import precision
from theoryverify.exact.orthogonal import monic_orthogonal


def moments_of_interval(count: int) -> list[fmpq]:
    return [fmpq(1, k + 1) for k in range(count)]


def test_legendre_on_the_unit_interval() -> None:
    assert monic_orthogonal(moments_of_interval(6), 3) == [
        fmpq(-1, 20), fmpq(3, 5), fmpq(-3, 2), fmpq(1)
    ]  # fmt: skip


def test_orthogonality() -> None:
    moments = moments_of_interval(20)
    p = monic_orthogonal(moments, 10)
    for power in range(10):
        assert sum(c * moments[power + i] for i, c in enumerate(p)) == 0


def test_balls_contain_the_exact_coefficients() -> None:
    exact = monic_orthogonal(moments_of_interval(16), 8)
    with precision(200):
        balls = monic_orthogonal([arb(m) for m in moments_of_interval(16)], 8)
        assert all(b.contains(arb(e)) for b, e in zip(balls, exact, strict=True))
    with precision(10), pytest.raises(UndecidedError):
        monic_orthogonal([arb(m) for m in moments_of_interval(16)], 8)


def test_too_few_points_or_moments() -> None:
    two = [fmpq(int(Fraction(2) ** k + Fraction(3) ** k)) for k in range(8)]
    assert monic_orthogonal(two, 2) == [6, -5, 1]
    with pytest.raises(InputError, match="2 points"):
        monic_orthogonal(two, 3)
    with pytest.raises(InputError, match="moments"):
        monic_orthogonal(two, 5)
