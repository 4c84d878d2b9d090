"""Real roots, enclosed: of a decreasing function by its signs, of a polynomial over QQ by Sturm."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq_poly, fmpz_poly

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.balls import Enclosure, ball, bits_for, midpoint, precision
from theoryverify.exact.rationals import rational, shown, to_fmpq

_MAX_STEPS = 400


@dataclass(frozen=True)
class Slope:
    """The value of a decreasing function at a point, and its derivative if known (heuristic)."""

    value: arb
    derivative: arb | None = None


def decreasing_root(
    sign_at: Callable[[arb], int | None],
    shape: Callable[[arb], Slope],
    lower: Fraction,
    upper: Fraction,
    digits: int,
    start: Fraction | None = None,
) -> Enclosure:
    """Enclose the root of a function that is positive left of it and negative right of it.

    Newton's method on ``shape`` (any function with the same root; nothing rigorous is asked of it)
    proposes a point; the enclosure then rests only on ``sign_at`` at two exact points around it.

    Parameters
    ----------
    sign_at : callable
        The certified sign of the function at an exact point, at the current precision; ``None`` if
        the ball contains zero.
    shape : callable
        A function with the same root, close to linear near it, and its derivative.
    lower, upper : Fraction
        Where the sign is known to be + and - (the root lies strictly between).
    digits : int
        Relative digits of the enclosure.
    start : Fraction, optional
        A first guess.

    Raises
    ------
    UndecidedError
        If the signs stay undecided at sixteen times the working precision.
    """
    bits = bits_for(digits) + 24
    guess = start if start is not None and lower < start < upper else (lower + upper) / 2
    low, high = lower, upper
    working = 64
    while True:
        with precision(working):
            guess, low, high = _newton(sign_at, shape, guess, low, high)
        if working >= bits:
            break
        working = min(2 * working, bits)
    for extra in (0, 64, bits, 3 * bits, 15 * bits):
        with precision(bits + extra):
            radius = abs(guess) / 10**digits / 4
            left, right = ball(guess - radius).mid(), ball(guess + radius).mid()
            if sign_at(left) == 1 and sign_at(right) == -1:
                return Enclosure(left, right)
            guess, low, high = _newton(sign_at, shape, guess, low, high)
    raise UndecidedError(f"no sign change was certified near {shown(guess)}")


def _newton(
    sign_at: Callable[[arb], int | None],
    shape: Callable[[arb], Slope],
    guess: Fraction,
    low: Fraction,
    high: Fraction,
) -> tuple[Fraction, Fraction, Fraction]:
    """Bracketed Newton steps at the current precision, until they no longer move."""
    previous = None
    for _ in range(_MAX_STEPS):
        point = ball(guess).mid()
        at, side = shape(point), sign_at(point)
        if side is None or side == 0 or not at.value.is_finite():
            break
        low, high = (guess, high) if side > 0 else (low, guess)
        step = _step(at)
        proposal = guess + step if step is not None else None
        if proposal is None or not low < proposal < high:
            proposal = (low + high) / 2
        proposal = midpoint(ball(proposal))
        moved = abs(proposal - guess)
        if moved == 0 or (previous is not None and moved <= abs(guess) / _one_ulp()):
            return proposal, low, high
        previous, guess = moved, proposal
    return guess, low, high


def _step(at: Slope) -> Fraction | None:
    if at.derivative is None or not at.derivative.is_finite() or at.derivative.contains(0):
        return None
    quotient = -at.value / at.derivative
    return midpoint(quotient) if quotient.is_finite() else None


def _one_ulp() -> int:
    from flint import ctx

    return int(1 << max(ctx.prec - 12, 8))


# -- polynomials over QQ -----------------------------------------------------------------------


def sturm_count(polynomial: fmpq_poly, lower: Fraction, upper: Fraction) -> int:
    """The number of distinct real roots in the half-open interval ``(lower, upper]``, exactly.

    Sturm's theorem, with the polynomial's squarefree part and primitive integer remainders.

    Raises
    ------
    InputError
        For the zero polynomial, or ``lower > upper``.
    """
    if lower > upper:
        raise InputError(f"there is no interval from {shown(lower)} to {shown(upper)}")
    if polynomial.degree() < 0:
        raise InputError("the zero polynomial has no isolated roots")
    chain = sturm_chain(polynomial)
    return _variations(chain, lower) - _variations(chain, upper)


def sturm_chain(polynomial: fmpq_poly) -> list[fmpz_poly]:
    """The Sturm sequence of the squarefree part, each member scaled by a positive rational."""
    square_free = _primitive(polynomial // polynomial.gcd(polynomial.derivative()))
    chain = [square_free, _primitive(fmpq_poly(square_free).derivative())]
    while chain[-1].degree() > 0:
        remainder = fmpq_poly(chain[-2]) % fmpq_poly(chain[-1])
        if remainder.degree() < 0:
            break
        chain.append(_primitive(-remainder))
    return chain


def _primitive(polynomial: fmpq_poly) -> fmpz_poly:
    """A positive multiple with coprime integer coefficients."""
    numerator = polynomial.numer()
    content = numerator.content()
    return (
        numerator if content == 0 else fmpz_poly([entry // content for entry in numerator.coeffs()])
    )


def _variations(chain: list[fmpz_poly], point: Fraction) -> int:
    signs = [value for value in (evaluate(p, point) for p in chain) if value != 0]
    return sum(1 for x, y in itertools.pairwise(signs) if (x > 0) != (y > 0))


def evaluate(polynomial: fmpz_poly | fmpq_poly, point: Fraction) -> Fraction:
    """The exact value at a rational point."""
    return rational(fmpq_poly(polynomial)(to_fmpq(point)))


@dataclass(frozen=True)
class AlgebraicNumber:
    """The only root of an integer polynomial in ``(lower, upper)``: exact, of any degree."""

    polynomial: fmpz_poly
    lower: Fraction
    upper: Fraction

    @property
    def degree(self) -> int:
        return int(self.polynomial.degree())

    def enclosure(self, digits: int) -> Enclosure:
        """By exact rational bisection: no rounding anywhere."""
        low, high = self.lower, self.upper
        value = self.rational_value()
        if value is not None:  # zero, for one, has no relative digits to stop at
            low = high = value
        rising = evaluate(self.polynomial, low) < 0
        while high - low > abs(high) / 10**digits / 2:
            middle = (low + high) / 2
            value = evaluate(self.polynomial, middle)
            if value == 0:
                low = high = middle
            elif (value < 0) == rising:
                low = middle
            else:
                high = middle
        with precision(bits_for(digits) + 32):
            return Enclosure(arb(to_fmpq(low)).lower(), arb(to_fmpq(high)).upper())

    def rational_value(self) -> Fraction | None:
        """The number itself where the polynomial is linear."""
        if self.degree != 1:
            return None
        c, m = (int(entry) for entry in self.polynomial.coeffs())
        return Fraction(-c, m)


def algebraic_root(polynomial: fmpq_poly, lower: Fraction, upper: Fraction) -> AlgebraicNumber:
    """The root in ``(lower, upper)`` as an exact number, its uniqueness counted by Sturm.

    The polynomial is reduced to its irreducible factor with that root, so the degree is the true
    degree of the number over QQ.

    Raises
    ------
    UndecidedError
        If there is not exactly one root there.
    """
    count = sturm_count(polynomial, lower, upper) - (evaluate(polynomial, upper) == 0)
    if count != 1:
        raise UndecidedError(f"{count} roots in ({shown(lower)}, {shown(upper)}), not one")
    for factor, _ in _primitive(polynomial).factor()[1]:
        inside = sturm_count(fmpq_poly(factor), lower, upper) - (evaluate(factor, upper) == 0)
        if inside == 1:
            return AlgebraicNumber(factor, lower, upper)
    raise UndecidedError("no irreducible factor carries the root")
