"""Rigorous integrals of analytic functions, scaled so that no peak is missed for its size.

FLINT's integrator proves its error bound, but it stops at an *absolute* tolerance. An integrand
such as ``(1 - αz)^{2T}`` is of size ``10^{-700000}`` at T = 10^6, so it is first divided by its
own size (an exact power of two found by looking at a few points; a bad look costs time, never
correctness).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from flint import acb, arb, ctx

from theoryverify.errors import UndecidedError
from theoryverify.exact.balls import Enclosure, accuracy

Integrand = Callable[[acb, bool], acb]
"""``f(z, analytic)``: as for FLINT, where ``analytic`` is true ``f`` must return a non-finite
ball if it is not analytic on ``z``."""

_LOOKS = 33


def integrate(
    function: Integrand,
    lower: arb,
    upper: arb,
    *,
    points: Sequence[arb] = (),
    minimum_accuracy: int | None = None,
    effort: int | None = None,
) -> arb:
    """A ball around ``∫_lower^upper function(z) dz`` at the current precision.

    Parameters
    ----------
    function : callable
        Real on the path and analytic near it. See :data:`Integrand`.
    lower, upper : arb
        The ends.
    points : sequence of arb
        Increasing inner points at which to split: a peak, a zero, a change of scale.
    minimum_accuracy : int, optional
        Correct bits, relative to the integral or to the size of the integrand, below which the
        result is refused. Default: a quarter of the precision.
    effort : int, optional
        Evaluations for each piece beyond which the integrator settles for a wider ball.

    Raises
    ------
    UndecidedError
        If the ball is not finite or too wide.
    """
    wanted = ctx.prec // 4 if minimum_accuracy is None else minimum_accuracy
    ends = [lower, *points, upper]
    total, largest = arb(0), None
    for left, right in pairwise(ends):
        scale = _size(function, left, right)
        total += _integrate_piece(function, left, right, scale, effort)
        largest = scale if largest is None else max(largest, scale)
    if not total.is_finite():
        raise UndecidedError(f"the integral from {lower} to {upper} has no finite enclosure")
    # Where parts of opposite sign cancel, the radius is judged beside the integrand's size.
    small = bool(total.rad() <= arb(2) ** ((largest or 0) - wanted))
    if accuracy(total) < wanted and not small:
        raise UndecidedError(
            f"the integral from {lower} to {upper} is only known as {Enclosure.of(total)}"
        )
    return total


def _integrate_piece(
    function: Integrand, left: arb, right: arb, scale: int, effort: int | None
) -> arb:
    result = arb("nan")
    for _ in range(3):
        scaled = _scaled(function, arb(2) ** -scale)
        try:
            whole = acb.integral(scaled, acb(left), acb(right), eval_limit=effort)
        except SystemError as error:  # python-flint's wrapping of what the integrand raised
            raise error.__cause__ or error from None
        if whole.is_finite() and not whole.imag.contains(0):
            raise UndecidedError(f"the integrand is not real between {left} and {right}")
        result = whole.real * arb(2) ** scale
        # Where the integral is far below the looked-up size, the absolute tolerance was too lax.
        if not result.is_finite() or result.is_zero() or accuracy(result) >= ctx.prec // 2:
            return result
        finer = _exponent(abs(result).upper())
        if finer >= scale - 4:
            return result
        scale = finer
    return result


def _scaled(function: Integrand, factor: arb) -> Integrand:
    return lambda z, analytic: acb(function(z, analytic)) * factor


def _size(function: Integrand, left: arb, right: arb) -> int:
    """The binary exponent of the largest ``|f| * (right - left)`` over a few points."""
    width = right - left
    best: arb | None = None
    for index in range(_LOOKS):
        # Chebyshev-like spacing: most of our integrands live at the ends.
        offset = (1 - (arb(index) / (_LOOKS - 1)).cos_pi()) / 2
        value = abs(acb(function(acb((left + width * offset).mid()), False)).real)
        if value.is_finite() and (best is None or value.upper() > best):
            best = value.upper()
    if best is None or best.is_zero():
        return 0
    return _exponent((best * width.upper()).upper())


def _exponent(value: arb) -> int:
    if value.is_zero():
        return 0
    mantissa, exponent = value.mid().man_exp()
    return int(exponent) + abs(int(mantissa)).bit_length()
