"""Appendix H: the finite-context bound (H.1)-(H.5), its event, and where it admits α*.

One parameter, ``M = I - αΣ̂``. On ``G_δ = {(1-δ)²Σ_x ⪯ Σ̂ ⪯ (1+δ)²Σ_x}``, ``δ = √(d/L) + t < 1``,
which has probability at least ``1 - 2e^{-Lt²/2}`` (Davidson-Szarek, for the Gaussian matrix
Σ_x^{-1/2}X),

    E[(ŷ_q - ⟨w,x_q⟩)² | X, m, ζ] <= ((1+δ)/(1-δ))² ρ^{2T} ζ²W + (ζ²/Z)(d/L)(1+ρ^T)²/(1-δ)²,
    ρ = max{|1-α(1-δ)²|, |1-α(1+δ)²Z̄|} < 1   if and only if   0 < α < 2/((1+δ)²Z̄).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import sympy
from flint import arb

from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure, ball, bits_for, precision
from theoryverify.exact.evaluate import BALL, compiled
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import Exact, positive_integer, rational, shown
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.finite import L, d
from theoryverify.papers.lca.theory import T, b

delta, rho = sympy.symbols("delta rho", positive=True)


def lower_end() -> sympy.Expr:
    """The least eigenvalue of ``Σ̂`` on the event: that of ``Σ_x`` is 1."""
    return (1 - delta) ** 2


def upper_end() -> sympy.Expr:
    """The largest: that of ``Σ_x`` is ``Z <= Z̄``."""
    return (1 + delta) ** 2 * b


def bias_bound() -> sympy.Expr:
    """``((1+δ)/(1-δ))² ρ^{2T} W``, in units of ζ²."""
    return ((1 + delta) / (1 - delta)) ** 2 * rho ** (2 * T) * theory.signal_share()


def noise_bound() -> sympy.Expr:
    """``(1/Z)(d/L)(1+ρ^T)²/(1-δ)²``, in units of ζ²."""
    return theory.noise_share() * d / L * (1 + rho**T) ** 2 / (1 - delta) ** 2


@dataclass(frozen=True)
class AppendixH:
    """The bound at one point, in units of ``E[ζ²]``.

    Attributes
    ----------
    delta, rho, window : Enclosure
        ``δ``, ``ρ_δ``, and the window's end ``2/((1+δ)²Z̄)``.
    bias, noise : Enclosure
        The two terms, averaged over the law of Z.
    admissible : bool or None
        Whether ``0 < α < window``; ``None`` if α is not told from the end.
    failure : Enclosure
        ``2e^{-Lt²/2}``, at least the probability of missing the event.
    """

    delta: Enclosure
    rho: Enclosure
    window: Enclosure
    bias: Enclosure
    noise: Enclosure
    admissible: bool | None
    failure: Enclosure


def appendix_h(
    law: Law,
    *,
    dim: int,
    context: int,
    depth: int,
    alpha: Exact,
    t: Exact,
    top: Exact | None = None,
    digits: int = 20,
) -> AppendixH:
    """Evaluate (H.3)-(H.5) for a law of Z.

    Parameters
    ----------
    law : Law
        Of Z. A point mass is allowed.
    dim, context, depth : int
        d, L, T.
    alpha, t : exact numbers
        The step, and the slack of the event, positive.
    top : exact number, optional
        ``Z̄``, by default the end of the law's support.
    digits : int

    Raises
    ------
    InputError
        If ``δ = √(d/L) + t`` is not below 1 (the event says nothing then), or a size is no
        positive integer.
    """
    dim, context = positive_integer(dim, "dim"), positive_integer(context, "context")
    depth, digits = positive_integer(depth, "depth"), positive_integer(digits, "digits", most=2000)
    step, slack = rational(alpha, "alpha"), rational(t, "t")
    highest = law.upper if top is None else rational(top, "top")
    if highest < law.upper:
        raise InputError(
            f"top = {shown(highest)} is below the end {shown(law.upper)} of the support of {law}"
        )
    if slack <= 0:
        raise InputError(f"t = {slack} must be positive")
    with precision(bits_for(digits) + 2 * depth.bit_length() + 48):
        size = ball(Fraction(dim, context)).sqrt() + ball(slack)
        if not size < 1:
            raise InputError(
                f"δ = √(d/L) + t = {float(size.mid()):.6g} must be below 1: "
                f"d = {dim} and t = {slack} need a context above L = {_least_context(dim, slack)}"
            )
        at = {"delta": size, "b": ball(highest), "d": arb(dim), "L": arb(context)}
        low, high = (compiled(end(), BALL)(at, False) for end in (lower_end, upper_end))
        at["rho"] = abs(1 - ball(step) * low).max(abs(1 - ball(step) * high))
        window = 2 / high
        inside = step > 0 and ball(step) < window
        outside = step <= 0 or ball(step) > window
        values = []
        for bound, share in ((bias_bound, theory.signal_share), (noise_bound, theory.noise_share)):
            factor = sympy.cancel(bound() / share()).subs(T, depth)
            values.append(compiled(factor, BALL)(at, False) * law.expect(share()))
        failure = 2 * (-(ball(slack) ** 2) * context / 2).exp()
        return AppendixH(
            Enclosure.of(size),
            Enclosure.of(at["rho"]),
            Enclosure.of(window),
            Enclosure.of(values[0]),
            Enclosure.of(values[1]),
            True if inside else (False if outside else None),
            Enclosure.of(failure),
        )


def _least_context(dim: int, slack: Fraction) -> str:
    return "any L" if slack >= 1 else str(math.floor(dim / (1 - slack) ** 2))


def least_admissible_context(law: Law, dim: int) -> int:
    """The least L for which (H.4) admits ``α* = 2/(Z̲+Z̄)`` with some t > 0.

    ``(1+δ)²Z̄ < Z̲+Z̄`` needs ``δ < √(1+Z̲/Z̄) - 1``, so ``L > d/(√(1+Z̲/Z̄) - 1)²``.

    Raises
    ------
    InputError
        If ``dim`` is no positive integer.

    Examples
    --------
    >>> from theoryverify.exact.densities import Uniform
    >>> least_admissible_context(Uniform(2, 5), 5)
    149
    """
    dim = positive_integer(dim, "dim")
    for bits in (128, 1024, 8192):
        with precision(bits):
            bound = dim / ((1 + ball(law.lower / law.upper)).sqrt() - 1) ** 2
            low, high = (int(end.floor().unique_fmpz()) for end in (bound.lower(), bound.upper()))
        if low == high:
            break
    return high + 1
