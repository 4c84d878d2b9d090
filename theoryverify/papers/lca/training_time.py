"""How long gradient flow on R_T takes: certified, and its exponential law.

``dα/dt = -R_T'(α)`` and R_T is convex, so the speed ``|R_T'|`` decreases all the way to α*_T, and
``t = ∫ dα/|R_T'|``. With ``n = 2T-1``, for complex ``h``

    |R_T'(m+h) - R_T'(m)| <= 2T (E[WZ (|1-mZ| + |h|Z)^n] - E[WZ |1-mZ|^n]),

the difference of two expectations of one sign each: the majorant that :mod:`theoryverify.passage`
asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure, arb, ball, bits_for, midpoint, precision
from theoryverify.exact.ends import end_series
from theoryverify.exact.integrands import LinearPower
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import Exact, decimal, positive_integer, rational
from theoryverify.papers.lca import assumptions, theory
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.kernels import tied_integrands, weight_polynomial
from theoryverify.passage import Speed, arrival, passage_time

MAX_DEPTH = 100_000


@dataclass(frozen=True)
class TrainingTime:
    """The time from ``alpha0`` to ``level·α*_T``.

    Attributes
    ----------
    enclosure : Enclosure
        Contains the time, in the flow's own time (loss in units of ``E[ζ²]``).
    target : Enclosure
        Contains ``level·α*_T``.
    """

    law: Law
    depth: int
    alpha0: Fraction
    level: Fraction
    target: Enclosure
    enclosure: Enclosure


def speed(law: Law, depth: int, direction: int) -> Speed:
    """``f(α) = direction · (-R_T'(α))``, positive on the way to α*_T."""
    power = 2 * depth - 1

    def at(alpha: arb) -> arb:
        return -direction * law.expect(tied_integrands(alpha, depth).d_alpha)

    def variation(middle: arb, radius: arb) -> arb:
        # The split is at a rational number near 1/m. Left of it |q| >= q and right of it |q| >= -q
        # bound the second expectation from below whatever its error; in the first one a radius
        # larger by more than twice that error covers the wrong sign of a tiny q.
        slack = abs(middle) * arb(2) ** -48
        return (
            2
            * depth
            * (
                _absolute(law, middle, radius + slack, power)
                - _absolute(law, middle, arb(0), power)
            )
        )

    return Speed(at, variation)


def _absolute(law: Law, middle: arb, radius: arb, power: int) -> arb:
    """``E[WZ (q + radius Z)^n; q > 0] + E[WZ (-q + radius Z)^n; q <= 0]``, ``q = 1-mZ``."""
    weight = weight_polynomial()
    below = LinearPower(weight, 1, -(middle - radius), power)
    above = LinearPower(weight, -1, middle + radius, power)
    if not middle > 0:
        return law.expect(below)
    zero = midpoint(1 / middle)
    return law.expect(below, on=(None, zero)) + law.expect(above, on=(zero, None))


def time_between(law: Law, depth: int, alpha0: Exact, alpha1: Exact, digits: int = 15) -> Enclosure:
    """Enclose the time that the flow takes from ``alpha0`` to ``alpha1``.

    Raises
    ------
    InputError
        If ``alpha1`` is not strictly between ``alpha0`` and α*_T: the flow never gets there.
    """
    law, depth = _check(law, depth)
    begin, end = rational(alpha0, "alpha0"), rational(alpha1, "alpha1")
    direction = _direction(law, depth, begin, end)
    return passage_time(speed(law, depth, direction), begin, end, digits)


def time_to_level(
    law: Law, depth: int, alpha0: Exact = "0.02", level: Exact = "0.99", digits: int = 15
) -> TrainingTime:
    """Enclose the time from ``alpha0`` to ``level·α*_T``.

    Parameters
    ----------
    law : Law
        Meeting Assumption 6.1.
    depth : int
        T, from 1 to 100 000.
    alpha0 : exact number
        Any start.
    level : exact number
        F; below 1 for a start below α*_T, above 1 for one above it.
    digits : int
        Relative digits of the time.

    Raises
    ------
    InputError
        If the flow never reaches that level from that start.

    Examples
    --------
    >>> from theoryverify.exact.densities import Uniform
    >>> print(time_to_level(Uniform(2, 5), depth=4, digits=12).enclosure)
    13.2245390443[798, 801]
    """
    law, depth = _check(law, depth)
    begin, factor = rational(alpha0, "alpha0"), rational(level, "level")
    if factor == 1:
        raise InputError("level = 1 is α*_T itself, which the flow reaches in no finite time")
    # The level inherits the enclosure of α*_T, whose relative error grows 2T-fold in the time.
    star = alpha_star(law, depth, digits + len(str(depth)) + 6).enclosure
    ends = (factor * star.lower, factor * star.upper)
    near, far = ends if begin < ends[0] else (ends[1], ends[0])
    direction = _direction(law, depth, begin, far)
    motion = speed(law, depth, direction)
    first = passage_time(motion, begin, near, digits + 1)
    with precision(bits_for(digits) + 32):
        slack = abs(ball(far) - ball(near)) / motion.at(ball(far))
        total = Enclosure.of(first.ball() + arb(0).union(slack.upper()))
        target = Enclosure.of(ball(ends[0]).union(ball(ends[1])))
    return TrainingTime(law, depth, begin, factor, target, total)


def position_after(law: Law, depth: int, alpha0: Exact, time: Exact, digits: int = 20) -> Enclosure:
    """Enclose α(t) for the flow from ``alpha0``, by inverting the passage time.

    Examples
    --------
    >>> from theoryverify.exact.laws import TwoPoint
    >>> law = TwoPoint("3/2", 4, "9/10")
    >>> position_after(law, 1, "0.1", 1, digits=12).contains("0.3929446762431972675")
    True
    """
    law, depth = _check(law, depth)
    begin, moment = rational(alpha0, "alpha0"), rational(time, "time")
    star = alpha_star(law, depth, digits + 10).enclosure
    direction = 1 if begin < star.lower else -1
    # A little before the rest point, so that the speed there is certified positive.
    gap = abs(star.lower) / Fraction(10) ** (digits + 8)
    rest = star.lower - gap if direction > 0 else star.upper + gap
    if (rest - begin) * direction <= 0:
        raise InputError(f"alpha0 = {begin} is α*_T to {digits} digits; the flow rests there")
    return arrival(speed(law, depth, direction), begin, rest, moment, digits)


def predicted_time(law: Law, depth: int, level: Exact, digits: int = 15) -> Enclosure:
    """The leading term of :func:`time_to_level` for a level below 1, as T grows.

    Near ``α₁ = level·α*_T`` only the lower end of the support counts: with ``q = 1-α₁a`` and
    ``WZ dP ~ C s^k ds`` there, ``-R_T'(α₁) ~ 2T CΓ(k+1) (q/(2Tα₁))^{k+1} q^{2T-1}``, which falls by
    ``e`` over ``q/(2Ta)``. Hence

        t ~ (2Tα₁/q)^{k+1} q^{2-2T} / (4T² a CΓ(k+1)),

    of order ``T^{k-1} (1-α₁a)^{-2T}``: for a density that is positive at its lower end (k = 0)
    ``C(level)·(1-α₁a)^{-2T}/T``.
    """
    law, depth = _check(law, depth)
    factor = rational(level, "level")
    if not 0 < factor < 1:
        raise InputError(f"level = {factor} must lie strictly between 0 and 1")
    star = alpha_star(law, depth, digits + len(str(depth)) + 6).enclosure
    with precision(bits_for(digits) + 64):
        end = end_series(law, "lower", weight_polynomial(), 1)
        a = ball(law.lower)
        alpha1 = ball(factor) * star.ball()
        q = 1 - alpha1 * a
        ratio = 2 * depth * alpha1 / q
        laplace = (ratio.log() * ball(end.exponent + 1)).exp()
        return Enclosure.of(laplace * q ** (2 - 2 * depth) / (4 * depth**2 * a * end.mass))


def relaxation_time(law: Law, depth: int, digits: int = 15) -> Enclosure:
    """``1/R_T''(α*_T)``: the time constant of the last approach, of order ``r^{-2T} T^{κ-1}``.

    ``κ = (Z̄ k_a + Z̲ k_b)/(Z̲ + Z̄)`` where ``(z-1)P(dz)`` is of order ``|z-end|^k dz`` at either end:
    ``κ = 0`` for a density that is positive at both, if ``Z̲ > 1`` (claim lca.training-time.relaxation).
    """
    law, depth = _check(law, depth)
    star = alpha_star(law, depth, digits + len(str(depth)) + 6).enclosure
    integrand = _hessian_integrand(star, depth, digits)
    with precision(bits_for(digits) + 64):
        return Enclosure.of(1 / law.expect(integrand))


def _hessian_integrand(star: Enclosure, depth: int, digits: int) -> LinearPower:
    with precision(bits_for(digits) + 64):
        return hessian_integrand(star.ball(), depth)


def hessian_integrand(alpha: object, depth: int) -> LinearPower:
    """``R_T''(α) = 2T(2T-1) E[WZ² (1-αZ)^{2T-2}]``: the function under the expectation."""
    factor = 2 * depth * (2 * depth - 1)
    weight = (Fraction(0), *(factor * entry for entry in weight_polynomial()))
    return LinearPower(weight, 1, -alpha, 2 * depth - 2)  # type: ignore[operator]


def _check(law: object, depth: object) -> tuple[Law, int]:
    return assumptions.require(law), positive_integer(depth, "depth", most=MAX_DEPTH)


def _direction(law: Law, depth: int, begin: Fraction, end: Fraction) -> int:
    """+1 or -1 if ``end`` lies strictly between ``begin`` and α*_T, or equals ``begin``."""
    star = alpha_star(law, depth, 12).enclosure
    for direction in (1, -1):
        ahead = (end - begin) * direction >= 0
        # Before the enclosure of α*_T, or before α*_T by the certified sign of R_T'.
        if ahead and (end < star.lower if direction > 0 else end > star.upper):
            return direction
        if ahead and star.lower <= end <= star.upper and begin != end:
            finer = alpha_star(law, depth, 60).enclosure
            if end < finer.lower if direction > 0 else end > finer.upper:
                return direction
    raise InputError(
        f"the flow from {decimal(begin)} goes to α*_T = {star} and never passes {decimal(end)}"
    )


__all__ = [
    "TrainingTime",
    "hessian_integrand",
    "position_after",
    "predicted_time",
    "relaxation_time",
    "speed",
    "theory",
    "time_between",
    "time_to_level",
]
