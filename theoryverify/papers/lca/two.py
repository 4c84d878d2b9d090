"""The two-parameter loss in β alone: ``F_T(β) = min_α ℓ(α,β)``, its stationary points, β*_T.

With ``μ(dz) = W dP/E[W]``, ``u = (1+βZ)^T``, ``m = E_μ u``, ``Q = E_μ u²`` (Appendix G):

    F_T = E[W](Q - m²)/(1 - 2m + Q),   α*(β) = -β(1-m)/(1 - 2m + Q),
    F_T' has the sign of  (1-m)·g,   g = E_μ[Zq^{2T-1}](1-m) - E_μ[Zq^{T-1}](m-Q),   q = 1+βZ.

On the window (-2/Z̄, 0) ``1-m > 0``, so stationary points are the zeros of g; by the claim
``lca.uniqueness`` there is at most one, it lies in ``(-1/Z̲, -1/Z̄)``, and g changes sign there.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import arb

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.balls import Enclosure, ball, bits_for, precision, sign
from theoryverify.exact.integrands import LinearPower
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import Exact, positive_integer, rational
from theoryverify.exact.roots import Slope, decreasing_root
from theoryverify.papers.lca import assumptions, theory
from theoryverify.papers.lca.alpha_star import MAX_DIGITS, alpha_star
from theoryverify.papers.lca.kernels import S, weight_polynomial

MAX_DEPTH = 10**6


@dataclass(frozen=True)
class Profile:
    """The loss as a function of β, at one β (all in units of ``E[ζ²]``).

    ``loss`` is ``F_T(β)``; ``alpha`` is ``α*(β) = B/A``; ``A = E[WS²]``, ``B = E[WS]``;
    ``log_derivative`` is ``G_T' = F_T'/(2T F_T)``, and ``None`` where ``F_T`` vanishes.
    """

    loss: Enclosure
    alpha: Enclosure
    A: Enclosure
    B: Enclosure
    log_derivative: Enclosure | None


@dataclass(frozen=True)
class BetaStar:
    """The minimiser of the two-parameter loss: ``β*_T``, ``α*_T = α*(β*_T)``, ``F_T(β*_T)``."""

    law: Law
    depth: int
    beta: Enclosure
    alpha: Enclosure
    loss: Enclosure


@dataclass(frozen=True)
class Moments:
    """Balls of ``E[W]``, ``m``, ``Q`` and the first two derivatives that g needs, at one β."""

    mean: arb
    m: arb
    Q: arb
    zq1: arb
    """``E_μ[Z q^{T-1}]``"""
    zq2: arb
    """``E_μ[Z q^{2T-1}]``"""


def moments(law: Law, beta: arb, depth: int) -> Moments:
    """The moments at a ball of β, at the current precision."""
    weight = weight_polynomial()
    mean = law.expect(theory.signal_share())

    def average(power: int, times_z: bool) -> arb:
        integrand = LinearPower(weight, 1, beta, power, pole=0 if times_z else 1)
        return law.expect(integrand) / mean

    return Moments(
        mean,
        average(depth, False),
        average(2 * depth, False),
        average(depth - 1, True),
        average(2 * depth - 1, True),
    )


def stationarity(at: Moments) -> arb:
    """``g``: on the window it has the sign of ``F_T'``."""
    return at.zq2 * (1 - at.m) - at.zq1 * (at.m - at.Q)


def vanishes(law: Law, beta: Fraction, depth: int) -> bool:
    """Whether ``F_T(β) = 0`` at ``β != 0``: whether ``(1+βZ)^T`` takes one value only.

    Real T-th powers agree for even T at opposite bases and nowhere else, so Z sits on two points,
    ``β = -2/(Z̲+Z̄)``.
    """
    ends = law.lower, law.upper
    return depth % 2 == 0 and beta * sum(ends) == -2 and sum(map(law.atom, ends)) == 1


def profile(law: Law, beta: Exact, depth: int, digits: int = 20) -> Profile:
    """Enclose ``F_T(β)``, ``α*(β)``, A, B and ``G_T'(β)`` at an exact ``β != 0``.

    Raises
    ------
    HypothesisError, InputError
        For a law outside Assumption 6.1, ``β = 0``, or a depth below 1.
    """
    law = assumptions.require(law)
    depth = positive_integer(depth, "depth", most=MAX_DEPTH)
    at_beta = rational(beta, "beta")
    if at_beta == 0:
        raise InputError("beta = 0 is a removable point of this form; give beta != 0")
    with precision(bits_for(digits) + 4 * depth.bit_length() + 64):
        value = ball(at_beta)
        at = moments(law, value, depth)
        zero = vanishes(law, at_beta, depth)
        spread = arb(0) if zero else at.Q - at.m**2
        distance = 1 - 2 * at.m + at.Q
        return Profile(
            loss=Enclosure.of(at.mean * spread / distance),
            alpha=Enclosure.of(-value * (1 - at.m) / distance),
            A=Enclosure.of(at.mean * distance / value**2),
            B=Enclosure.of(-at.mean * (1 - at.m) / value),
            log_derivative=None
            if zero
            else Enclosure.of((1 - at.m) * stationarity(at) / (distance * spread)),
        )


def beta_star(law: Law, depth: int, digits: int = 20) -> BetaStar:
    """Enclose the minimum of the two-parameter loss in the window ``(-2/Z̄, 0)``.

    Parameters
    ----------
    law : Law
        Meeting Assumption 6.1.
    depth : int
        T from 2 (at T = 1 the loss does not depend on β) to 10^6.

    Raises
    ------
    HypothesisError, InputError
        For a law outside Assumption 6.1 or a depth out of range.
    UndecidedError
        If the window holds no stationary point, or the signs stay undecided.

    Notes
    -----
    That the sign change found is the only one in the window rests on the claim ``lca.uniqueness``.
    """
    law = assumptions.require(law)
    if isinstance(depth, int) and depth == 1:
        raise InputError("depth = 1: the loss does not depend on beta there; take depth >= 2")
    depth = positive_integer(depth, "depth", least=2, most=MAX_DEPTH)
    return _enclosed(law, depth, positive_integer(digits, "digits", most=MAX_DIGITS))


def interior_sign(law: Law, depth: int) -> int | None:
    """The sign of ``F_T'`` at the window's end ``-2/Z̄``: negative iff a stationary point is inside."""
    for bits in (64, 256, 1024):
        with precision(bits + 4 * depth.bit_length()):
            try:
                found = sign(stationarity(moments(law, ball(-2 / law.upper), depth)))
            except UndecidedError:
                found = None
        if found is not None:
            return found
    return None


def loss_over(law: Law, beta: arb, depth: int) -> arb:
    """``F_T`` over a ball of β that may contain 0: ``E[W] - B²/A``, S summed without division."""

    def w(z: Any) -> Any:
        return LinearPower(weight_polynomial(), 1, 0, 0, pole=1)(z)

    A = law.expect(lambda z: w(z) * S(z, beta, depth)[0] ** 2)
    B = law.expect(lambda z: w(z) * S(z, beta, depth)[0])
    return law.expect(theory.signal_share()) - B**2 / A


def _slope(law: Law, t: arb, depth: int, at: Moments) -> arb:
    """``dg/dt = -dg/dβ``."""
    zz1 = _second(law, -t, depth - 2) / at.mean
    zz2 = _second(law, -t, 2 * depth - 2) / at.mean
    slope = (2 * depth - 1) * zz2 * (1 - at.m) - depth * at.zq2 * at.zq1
    slope -= (depth - 1) * zz1 * (at.m - at.Q) + at.zq1 * depth * (at.zq1 - 2 * at.zq2)
    return -slope


@lru_cache(maxsize=256)
def _enclosed(law: Law, depth: int, digits: int) -> BetaStar:
    right = min(1 / law.lower, 2 / law.upper)
    if right != 1 / law.lower and interior_sign(law, depth) != -1:
        raise UndecidedError(
            f"F_{depth} has no stationary point in (-2/Zmax, 0) for {law}: "
            "Theorem 6.3 speaks only for larger depths"
        )

    def sign_at(t: arb) -> int | None:
        try:
            return sign(stationarity(moments(law, -t, depth)))
        except UndecidedError:
            return None

    def shape(t: arb) -> Slope:
        try:
            at = moments(law, -t, depth)
            return Slope(stationarity(at), _slope(law, t, depth, at))
        except UndecidedError:
            return Slope(arb("nan"))

    start = alpha_star(law, depth, 12).enclosure.lower
    # Twice the digits, so that the loss, evaluated over the whole enclosure of β, has them too.
    finer = 2 * digits + 10
    t = decreasing_root(sign_at, shape, 1 / law.upper, right, finer, start=start)
    return _at(law, depth, t, finer)


def _second(law: Law, beta: arb, power: int) -> arb:
    """``E[W Z² q^power]``."""
    return law.expect(LinearPower((Fraction(0), *weight_polynomial()), 1, beta, power))


def _at(law: Law, depth: int, t: Enclosure, digits: int) -> BetaStar:
    with precision(bits_for(digits) + 4 * depth.bit_length() + 64):
        beta = -t.ball()
        at = moments(law, beta, depth)
        distance = 1 - 2 * at.m + at.Q
        alpha = -beta * (1 - at.m) / distance
        # Over the whole ball of β, so that the value at β*_T itself is inside.
        loss = at.mean * (at.Q - at.m**2) / distance
        return BetaStar(law, depth, Enclosure.of(beta), Enclosure.of(alpha), Enclosure.of(loss))
