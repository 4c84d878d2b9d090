"""Where a coefficient of the gated link vanishes, by certified changes of sign.

The claim ``ie(g·σ(g/ρ+b)) = ge(g)`` fails exactly where ``c_ge(ρ, b) = 0``. Here the coefficient is
evaluated for a polynomial with ball coefficients and ball ``ρ`` and ``b``, quickly enough for a
map: between two parameters with certified opposite signs there is a zero, by continuity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import isqrt

from flint import acb, acb_poly, arb, ctx

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.ball_functions import hermite_function, logistic
from theoryverify.exact.balls import Enclosure, ball, bits_for, midpoint, precision, sign
from theoryverify.exact.growth import Envelope, tail
from theoryverify.exact.links import Link, link
from theoryverify.exact.rationals import Exact, positive_integer, rational

_MAP_BITS = (30, 64, 160)
_MOST_POINTS = 1_000


def logistic_slope(u: acb) -> acb:
    """``σ' = σ(1-σ)``."""
    return logistic(u) * logistic(-u)


def gated_ball(
    coefficients: Sequence[arb],
    rho: arb,
    b: arb,
    k: int,
    *,
    gate: Callable[[acb], acb] = logistic,
) -> arb:
    """A ball around ``E[g σ(g/ρ+b) He_k]`` at the current precision.

    Parameters
    ----------
    coefficients : sequence of arb
        Those of the polynomial ``g``, lowest first.
    rho, b : arb
        Balls; the result holds for everything in them.
    k : int
    gate : callable
        In place of ``σ``: meromorphic, and between -1 and 1 on the real line. With
        :func:`logistic_slope` the result is ``∂/∂b``.
    """
    size = sum((abs(c).upper() for c in coefficients), arb(0)).upper()
    bound = Envelope(size, len(coefficients) - 1)
    R, target = max(isqrt(4 * k + 2) + 1, 4), arb(2) ** -ctx.prec
    while not 2 * tail(bound, k, R) < target:
        R += 1
    g, weight = acb_poly(list(coefficients)), hermite_function(k)
    slope, shift = acb(1 / rho), acb(b)

    def integrand(z: acb, analytic: bool) -> acb:
        y = g(z)
        return y * gate(y * slope + shift) * weight(z) * (-z * z / 2).exp()

    total = (
        acb.integral(integrand, acb(-R), acb(0)).real + acb.integral(integrand, acb(0), acb(R)).real
    )
    return total / (2 * arb.pi()).sqrt() + arb(0, (2 * tail(bound, k, R)).upper())


@dataclass(frozen=True)
class Crossing:
    """A zero of the coefficient between two values of ``b``, at one ``ρ``."""

    rho: Fraction
    b_lower: Fraction
    b_upper: Fraction


@dataclass(frozen=True)
class ZeroSet:
    """Signs of a gated coefficient on a grid, and the zeros between them.

    Parameters
    ----------
    link : str
    k : int
        Order of the coefficient.
    rhos, bs : tuple of Fraction
        The grid, increasing.
    signs : tuple of tuple
        ``signs[i][j]`` at ``(rhos[i], bs[j])``: -1 or 1, certified, or ``None``.
    crossings : tuple of Crossing
        Brackets with certified opposite signs at their ends.
    """

    link: str
    k: int
    rhos: tuple[Fraction, ...]
    bs: tuple[Fraction, ...]
    signs: tuple[tuple[int | None, ...], ...]
    crossings: tuple[Crossing, ...]


def zero_set(
    g: str | Link, k: int, rhos: Sequence[Exact], bs: Sequence[Exact], *, refine: int = 0
) -> ZeroSet:
    """The signs of ``E[g σ(g/ρ+b) He_k]`` on a grid, and brackets of its zeros along ``b``.

    Parameters
    ----------
    g : str or Link
        A polynomial.
    k : int
        Order of the coefficient: the generative exponent of ``g``, to see where the claim fails.
    rhos, bs : sequence of Exact
        Values of ``ρ > 0`` and ``b``.
    refine : int
        How often each bracket is halved.

    Raises
    ------
    InputError
        For a link that is not a polynomial, or a bad grid.
    """
    g = link(g)
    if g.polynomial is None or g.polynomial.degree < 1:
        raise InputError(f"the map needs a polynomial link, not '{g.text[:60]}'")
    k = positive_integer(k, "k", least=0, most=100)
    scales, biases = _grid(rhos, "rho"), _grid(bs, "b")
    if scales[0] <= 0:
        raise InputError(f"rho = {scales[0]} must be positive")
    polynomial = g.polynomial

    def sign_at(rho: Fraction, b: Fraction) -> int | None:
        for bits in _MAP_BITS:
            with precision(bits):
                coefficients = [c.real for c in polynomial.coefficients()]
                decided = sign(gated_ball(coefficients, ball(rho), ball(b), k))
            if decided is not None:
                return decided
        return None

    signs = tuple(tuple(sign_at(rho, b) for b in biases) for rho in scales)
    crossings = []
    for rho, row in zip(scales, signs, strict=True):
        known = [(b, s) for b, s in zip(biases, row, strict=True) if s]
        for (left, before), (right, after) in pairwise(known):
            if before != after:
                ends = _halved(partial(sign_at, rho), left, right, before, refine)
                crossings.append(Crossing(rho, *ends))
    return ZeroSet(g.text, k, scales, biases, signs, tuple(crossings))


def _grid(values: Sequence[Exact], name: str) -> tuple[Fraction, ...]:
    grid = tuple(sorted(rational(v, name) for v in values))
    if not 1 <= len(grid) <= _MOST_POINTS:
        raise InputError(f"{len(grid)} values of {name}; between 1 and {_MOST_POINTS} are taken")
    return grid


def _halved(
    sign_at: Callable[[Fraction], int | None],
    left: Fraction,
    right: Fraction,
    at_left: int,
    steps: int,
) -> tuple[Fraction, Fraction]:
    for _ in range(steps):
        middle = (left + right) / 2
        decided = sign_at(middle)
        if not decided:
            break
        left, right = (middle, right) if decided == at_left else (left, middle)
    return left, right


def certified_root(
    function: Callable[[arb], arb], lower: Exact, upper: Exact, *, digits: int = 15
) -> Enclosure:
    """A zero of a continuous function between two points, certified by its signs.

    Parameters
    ----------
    function : callable
        Takes an exact ball and gives a ball at the current precision.
    lower, upper : Exact
        Where its signs are opposite.
    digits : int
        Digits after the point to which the zero is enclosed.

    Returns
    -------
    Enclosure
        With certified opposite signs at its ends.

    Raises
    ------
    UndecidedError
        If the signs at the ends are not opposite, or not decided near the zero.
    """
    left, right = rational(lower, "lower"), rational(upper, "upper")
    width = Fraction(1, 10**digits)
    with precision(bits_for(digits) + 40):
        values = [function(ball(x)) for x in (left, right)]
        signs = [sign(v) for v in values]
        if signs[0] is None or signs[1] is None or signs[0] * signs[1] >= 0:
            raise UndecidedError(f"no certified change of sign between {left} and {right}")
        heights = [midpoint(v) for v in values]
        while right - left > width:
            # Regula falsi (Illinois), kept off the ends so that the bracket closes on both sides.
            guess = left + (right - left) * heights[0] / (heights[0] - heights[1])
            step = max(width / 3, (right - left) / 1000)
            point = _rounded(min(max(guess, left + step), right - step), width)
            value = function(ball(point))
            decided = sign(value)
            if decided is None:
                raise UndecidedError(f"the sign at {float(point)} is not decided")
            if decided == signs[0]:
                left, heights = point, [midpoint(value), heights[1] / 2]
            else:
                right, heights = point, [heights[0] / 2, midpoint(value)]
        return Enclosure(ball(left).lower(), ball(right).upper())


def _rounded(value: Fraction, width: Fraction) -> Fraction:
    """A nearby fraction with few digits, so that fractions do not grow from step to step."""
    scale = 8 / width
    return Fraction(round(value * scale), int(scale))
