"""When the expected risk explodes with depth at a fixed context.

The spectrum of ``Σ̂`` is unbounded, so ``(1-αs)^{2T}`` is large on rare events. On the spike
``m̂ᵀΣ̂m̂ = Z s`` with ``s ~ χ²_L/L``, whose large deviations cost ``I(s) = (s - 1 - log s)/2`` per
unit of L. With ``g = αZ̄ < 2``, ``E[(1-gs)^{2T}]`` at ``T = τL`` grows exponentially in L as soon as

    2τ log(gs-1) > I(s) for some s > 2/g,   that is   τ > min_{s>2/g} (s-1-log s)/(4 log(gs-1)).

The second moment has ``(1-gs)^{4T}``, so its threshold is half of that.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure, ball, bits_for, precision, sign
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import Exact, positive_integer, rational
from theoryverify.exact.roots import Slope, decreasing_root
from theoryverify.papers.lca.finite_scalar import MAX_SCALAR_DEPTH, scalar_mean


@dataclass(frozen=True)
class Threshold:
    """``T/L`` beyond which the mean, and the second moment, of the bias explode.

    ``at`` is the size ``s = χ²_L/L`` of the events that carry them.
    """

    mean: Enclosure
    second: Enclosure
    at: Enclosure


def explosion_threshold(gain: Exact, digits: int = 15) -> Threshold:
    """Enclose ``min_{s>2/g} (s-1-log s)/(4 log(gs-1))`` for ``g = αZ̄`` in (1, 2).

    The quotient of a convex function by a positive concave one is quasiconvex, so the only sign
    change of its derivative's numerator is the minimum.

    Raises
    ------
    InputError
        Unless ``1 < g < 2``: for ``g >= 2`` already the typical spectrum explodes.

    Examples
    --------
    >>> round(float(explosion_threshold("10/7").mean), 6)
    0.11725
    """
    g = rational(gain, "gain")
    if not 1 < g < 2:
        raise InputError(f"gain αZ̄ = {g} must lie between 1 and 2")
    digits = positive_integer(digits, "digits", most=200)

    def slope(s: arb) -> arb:
        """``N'D - ND'``, ``N = s-1-log s``, ``D = log(gs-1)``; negative left of the minimum."""
        at = ball(g) * s - 1
        return (1 - 1 / s) * at.log() - (s - 1 - s.log()) * ball(g) / at

    upper = 4 / g
    with precision(128):
        while sign(slope(ball(upper))) != 1:
            upper *= 2
    place = decreasing_root(
        lambda s: sign(-slope(s)), lambda s: Slope(-slope(s)), 2 / g, upper, digits + 4
    )
    with precision(2 * bits_for(digits) + 64):
        s = place.ball()
        value = (s - 1 - s.log()) / (4 * (ball(g) * s - 1).log())
        return Threshold(Enclosure.of(value), Enclosure.of(value / 2), place)


def excess_at_least(
    law: Law, *, context: int, depth: int, alpha: Exact, digits: int = 15
) -> Enclosure:
    """A lower bound of the one-parameter expected excess risk, the same for every d.

    For a unit vector x and an even power n, Jensen's inequality in the spectral measure gives
    ``xᵀMⁿx >= (xᵀMx)ⁿ``, and ``m̂ᵀΣ̂m̂ = Z s`` has the law it has at d = 1. With ``w = m/Z``,

        ‖Σ_x^{1/2}M^T w‖² = |M^T w|² + (m·M^T w)²,
        |M^T w|² >= (W/Z)(1-αZs)^{2T},   and for even T (m·M^T w)² >= W²(1-αZs)^{2T};

    the two add up to ``W(1-αZs)^{2T}``, the d = 1 bias; for odd T at least ``1/Z̄`` of it is left.

    Raises
    ------
    InputError
        For sizes out of range; the depth goes up to 1000.
    """
    depth = positive_integer(depth, "depth", most=MAX_SCALAR_DEPTH)
    found, _ = scalar_mean(law, context=context, depth=depth, alpha=alpha, digits=digits)
    if depth % 2 == 0:
        return found
    with precision(bits_for(digits) + 32):
        return Enclosure.of(found.ball() / ball(Fraction(law.upper)))
