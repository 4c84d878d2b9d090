"""Exact real points: where a link breaks, and the real roots of polynomials.

A point is a number with square roots, or "the i-th real root" of an irreducible polynomial. Both
names are unique, so that equal points look equal and different points are told apart by balls of
growing precision.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key, lru_cache

from flint import arb, ctx, fmpq, fmpz, fmpz_poly

from theoryverify.exact.balls import midpoint, precision
from theoryverify.exact.surds import Surds, TooHardError

_MAX_DEGREE = 60


@dataclass(frozen=True)
class Point:
    """A real number.

    Parameters
    ----------
    value : Surds, optional
        The number, where it has square roots only.
    polynomial : tuple of int
        Otherwise an irreducible primitive polynomial with positive leading coefficient, lowest
        coefficient first, and
    index : int
        which of its real roots, counted from the left, the point is.
    """

    value: Surds | None
    polynomial: tuple[int, ...] = ()
    index: int = 0

    def ball(self) -> arb:
        """A ball around the point at the current precision."""
        if self.value is not None:
            return self.value.number().real
        return _real_roots(self.polynomial, ctx.prec)[self.index]

    def reflect(self) -> Point:
        """The point ``-x``."""
        if self.value is not None:
            return Point(-self.value)
        sign = -1 if len(self.polynomial) % 2 == 0 else 1
        mirrored = tuple(c * sign * (-1) ** i for i, c in enumerate(self.polynomial))
        count = len(_real_roots(self.polynomial, 64))
        return Point(None, mirrored, count - 1 - self.index)

    def compare(self, other: Point) -> int:
        """-1, 0 or 1 as the point lies left of, at, or right of the other one."""
        if self == other:
            return 0
        bits = 64
        while True:
            with precision(bits):
                left, right = self.ball(), other.ball()
                if left < right:
                    return -1
                if left > right:
                    return 1
            bits *= 2

    def __str__(self) -> str:
        if self.value is not None:
            return str(self.value)
        with precision(64):
            return f"{self.ball().mid().str(10, radius=False)}..."


ORIGIN = Point(Surds({}))


def ordered(points: Iterable[Point]) -> list[Point]:
    """The different points among the given ones, from left to right."""
    return sorted(set(points), key=cmp_to_key(Point.compare))


def real_roots(polynomial: Surds) -> list[tuple[Point, int]]:
    """The real roots with their multiplicities, from left to right.

    Raises
    ------
    TooHardError
        For polynomials of high degree, or whose coefficients have square roots and whose roots
        are therefore not expressed here.
    """
    if polynomial.degree > _MAX_DEGREE:
        raise TooHardError(f"roots of a polynomial of degree {polynomial.degree}")
    monic = polynomial * polynomial.leading.inverse()
    if not monic.is_rational:
        return [(p, 1) for p in ordered(_few_roots(monic))]
    roots: dict[Point, int] = {}
    _, factors = monic.parts[1].numer().factor()
    for factor, multiplicity in factors:
        for point in _rational_roots(factor):
            roots[point] = int(multiplicity)
    return [(p, roots[p]) for p in ordered(roots)]


def _few_roots(monic: Surds) -> list[Point]:
    if monic.degree == 1:
        return [Point(-monic[0])]
    if monic.degree == 2:
        return _quadratic(monic[1], monic[0])
    raise TooHardError(f"roots of {monic}")


def _quadratic(b: Surds, c: Surds) -> list[Point]:
    """The different roots of ``z² + bz + c``; double ones only occur for perfect squares."""
    half = Surds.of(Fraction(1, 2))
    discriminant = b * b - Surds.of(4) * c
    if discriminant.is_zero:
        raise TooHardError("a double root that is not rational")
    if discriminant.real_sign() < 0:
        return []
    value = discriminant.as_fraction()
    if value is None:
        raise TooHardError("a root of a root")
    root = Surds.root(value)
    return [Point(half * (-b - root)), Point(half * (-b + root))]


def _rational_roots(factor: fmpz_poly) -> list[Point]:
    degree = int(factor.degree())
    leading = factor[degree]
    if degree == 1:
        return [Point(Surds.of(-fmpq(factor[0], leading)))]
    if degree == 2:
        try:
            return _quadratic(
                Surds.of(fmpq(factor[1], leading)), Surds.of(fmpq(factor[0], leading))
            )
        except TooHardError:
            pass
    sign = 1 if leading > 0 else -1
    coefficients = tuple(sign * int(c) for c in factor.coeffs())
    count = len(_real_roots(coefficients, 64))
    return [Point(None, coefficients, index) for index in range(count)]


@lru_cache(maxsize=512)
def _real_roots(coefficients: tuple[int, ...], bits: int) -> list[arb]:
    """The real roots of a squarefree polynomial; FLINT isolates them and marks the real ones."""
    with precision(bits):
        roots = fmpz_poly([fmpz(c) for c in coefficients]).complex_roots()
        real = [root.real for root, _ in roots if root.imag.is_zero()]
        return sorted(real, key=midpoint)
