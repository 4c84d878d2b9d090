"""How long a scalar flow takes between two points, enclosed: ``t = ∫ dx/|v(x)|``.

A scalar flow *is* a quadrature, so a time such as 10^20 costs no more than a time of 1. The
integral is taken in pieces, backwards from the slow end, each recentred at its own midpoint ``m``:

* on the disc ``|h| <= 2η`` the speed stays away from zero, because its variation there is bounded
  by a majorant, ``|f(m+h) - f(m)| <= V``; so ``1/f`` is analytic on it and at most
  ``B = 1/(f(m) - V)``;
* the ellipse with foci ``m ± η`` and half-axes summing to ``ϱη``, ``ϱ = 2+√3``, lies in that disc,
  so the Chebyshev coefficients of ``1/f`` on the piece are at most ``2Bϱ^{-k}``, and G Gauss nodes,
  exact below degree 2G, err by at most ``4Bη (1 + 1/(4G²-1)) ϱ^{-2G}/(1-ϱ^{-2})``;
* the speed decreases towards the slow end ``e``, so what lies before a point ``x`` takes between
  ``|x-start|/f(start)`` and ``|x-start|/f(x)``: once that is negligible no piece is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import ctx

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.balls import Enclosure, arb, ball, bits_for, midpoint, precision
from theoryverify.exact.rationals import positive_integer

_LOG_RHO = math.log(2 + math.sqrt(3))
_MAX_PIECES = 20_000
_MAX_DIGITS = 200


@dataclass(frozen=True)
class Speed:
    """The speed of a scalar flow that slows down all the way.

    Attributes
    ----------
    at : callable
        ``x -> f(x) = |dx/dt|``, a ball at the current precision for a ball ``x``. On the stretch
        that is asked about, ``f`` is positive and decreases in the direction of motion.
    variation : callable
        ``(m, radius) -> V``: a ball whose upper end bounds ``|f(m+h) - f(m)|`` for every complex
        ``|h| <= radius``, ``f`` being analytic there.
    """

    at: Callable[[arb], arb]
    variation: Callable[[arb, arb], arb]


def passage_time(speed: Speed, start: Fraction, stop: Fraction, digits: int = 15) -> Enclosure:
    """Enclose ``∫ |dx| / f(x)`` from ``start`` to ``stop``.

    Parameters
    ----------
    speed : Speed
        Decreasing from ``start`` to ``stop``, where it is still positive.
    start, stop : Fraction
    digits : int
        Relative digits of the enclosure, from 1 to 200.

    Raises
    ------
    UndecidedError
        If the speed is not certified positive, or no piece satisfies the bounds.
    """
    digits = positive_integer(digits, "digits", most=_MAX_DIGITS)
    if start == stop:
        return Enclosure.exactly(0)
    failure: UndecidedError | None = None
    for extra in (32, 128, 512):
        try:
            with precision(bits_for(digits) + extra):
                return Enclosure.of(_integrate(speed, start, stop, digits))
        except UndecidedError as error:
            failure = error
    raise UndecidedError(f"no time from {float(start)} to {float(stop)}: {failure}")


def _integrate(speed: Speed, start: Fraction, stop: Fraction, digits: int) -> arb:
    direction = 1 if stop > start else -1
    fastest = _positive(speed.at(ball(start)), start)
    end, total = stop, arb(0)
    half = abs(stop - start) / 16
    negligible = arb(10) ** -digits / 4
    for _ in range(_MAX_PIECES):
        if end == start:
            return total
        left = ball(abs(end - start))
        rest = (left / _positive(speed.at(ball(end)), end)).upper()
        if rest <= (total * negligible).lower():
            return total + (left / fastest).lower().union(rest)
        half, piece = _piece(speed, start, end, direction, half, total, digits)
        total += piece
        reached = end - 2 * direction * half
        end = start if (start - reached) * direction >= 0 else reached
        half = half * 8 / 5
    raise UndecidedError(f"{_MAX_PIECES} pieces were not enough")


def _piece(
    speed: Speed,
    start: Fraction,
    end: Fraction,
    direction: int,
    half: Fraction,
    total: arb,
    digits: int,
) -> tuple[Fraction, arb]:
    """The widest acceptable piece that ends at ``end``, and the time spent on it."""
    half = min(_short(half), abs(end - start) / 2)
    for _ in range(200):
        middle = end - direction * half
        with precision(max(64, ctx.prec // 2)):  # the disc needs a yes or no, not digits
            centre = ball(middle)
            slow = speed.at(centre)
            spread = speed.variation(centre, 2 * ball(half))
            fits = bool(slow.is_finite() and spread.is_finite() and 2 * spread < slow)
            bound = (1 / (slow - spread)).upper() if fits else arb("nan")
        if fits:
            return half, _gauss(speed, middle, half, bound, total, digits)
        half = half / 2
    raise UndecidedError(f"the speed is not bounded away from 0 near {float(end)}")


def _gauss(
    speed: Speed, middle: Fraction, half: Fraction, bound: arb, total: arb, digits: int
) -> arb:
    width = ball(half)
    # Pieces that matter less need fewer digits. This only chooses G; the bound below is the proof.
    share = float((total / (2 * width * bound) + 1).log().mid()) / math.log(10)
    wanted = max(digits + 1.5 - share, 0)
    count = max(2, math.ceil((wanted * math.log(10) + math.log(8)) / (2 * _LOG_RHO)))
    centre, value = ball(middle), arb(0)
    for node, weight in _rule(count):
        x = centre + width * node
        value += weight / _positive(speed.at(x), middle)
    rho = 2 + arb(3).sqrt()
    error = 4 * bound * (1 + 1 / arb(4 * count**2 - 1)) * rho ** (-2 * count) / (1 - rho**-2)
    return width * (value + arb(0, error.upper()))


def _rule(count: int) -> list[tuple[arb, arb]]:
    return _rule_at(count, ctx.prec)


@lru_cache(maxsize=256)
def _rule_at(count: int, bits: int) -> list[tuple[arb, arb]]:
    return [arb.legendre_p_root(count, index, weight=True) for index in range(count)]


def _positive(value: arb, where: Fraction) -> arb:
    if not value > 0:
        raise UndecidedError(f"the speed at {float(where)} is not certified positive: {value}")
    return value


def _short(value: Fraction) -> Fraction:
    """A dyadic number just below a positive one, so that denominators do not grow."""
    shift = value.denominator.bit_length() - value.numerator.bit_length() + 24
    unit = Fraction(1, 1 << shift) if shift >= 0 else Fraction(1 << -shift)
    return (value / unit).__floor__() * unit


def arrival(
    speed: Speed, start: Fraction, rest: Fraction, time: Fraction, digits: int = 15
) -> Enclosure:
    """Where the flow is after ``time``: enclose ``x`` with ``passage_time(start, x) = time``.

    Parameters
    ----------
    speed : Speed
    start : Fraction
    rest : Fraction
        A point just before the rest point, up to which the speed is positive.
    time : Fraction
        Positive.
    digits : int
        Relative digits of the enclosure.

    Raises
    ------
    InputError
        If at ``time`` the flow cannot be told from ``rest`` with that many digits.
    UndecidedError
        If no two points around the answer could be certified.
    """
    if time <= 0:
        raise InputError(f"time = {time} must be positive")
    direction = 1 if rest > start else -1
    near, far = start, start
    gap = abs(rest - start)
    while True:  # halve the logarithm of the way that is left until the flow is behind
        gap = gap / 4
        if gap * Fraction(10) ** digits < abs(rest):
            raise InputError(
                f"after time {float(time)} the flow is {float(rest)} to {digits} digits; "
                "ask for more digits or an earlier time"
            )
        far = rest - direction * gap
        if passage_time(speed, start, far, 4).less_than(time) is False:
            break
        near = far
    guess = (near + far) / 2
    rough = 4
    for _ in range(200):
        elapsed = passage_time(speed, start, guess, rough)
        if elapsed.less_than(time):
            near = guess
        elif elapsed.less_than(time) is False:
            far = guess
        with precision(bits_for(digits) + 32):
            ratio = elapsed.ball() / ball(time)
            # Newton's step for log t(x) = log time, nearly linear in x; dt/dx = 1/f.
            jump = midpoint(ratio.log() * elapsed.ball() * speed.at(ball(guess)))
        tolerance = abs(guess) / Fraction(10) ** digits / 4
        if rough > digits and abs(jump) <= tolerance:
            low, high = guess - direction * tolerance, guess + direction * tolerance
            with precision(bits_for(digits) + 32):
                before = elapsed.ball() - passage_time(speed, low, guess, 4).ball()
                behind = elapsed.ball() + passage_time(speed, guess, high, 4).ball()
                if before < ball(time) < behind:
                    return Enclosure.of(ball(low).union(ball(high)))
        proposal = guess - direction * jump
        inside = min(near, far) < proposal < max(near, far)
        guess = _rounded(proposal if inside else (near + far) / 2, digits)
        if inside:  # Newton's method doubles the digits
            rough = min(2 * rough, digits + 3)
    raise UndecidedError(f"no position at time {float(time)} could be certified")


def _rounded(value: Fraction, digits: int) -> Fraction:
    with precision(bits_for(digits) + 32):
        return midpoint(ball(value))
