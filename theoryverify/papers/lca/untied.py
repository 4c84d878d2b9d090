"""Untied layers: the best polynomial of degree T, its steps, its rate.

With a step ``α_t`` and a mixing weight ``β_t`` of its own in each layer, ``1 - (gain of the stack)``
ranges over all polynomials ``π`` of degree ``T`` with ``π(0) = 1``. The least excess risk is the
Christoffel function ``min E[Wπ²] = E[W] λ_T(0)``. Its minimiser is orthogonal to all lower degrees
under ``WZ dP`` and so has T simple zeros ``z_t`` inside the support's hull; ``β_t = -α_t`` and
``α_t = 1/z_t`` realise it. The mean step is ``-π'(0)/T``.

Where the moments of Z are rational, π is exact; elsewhere it is enclosed, with the precision raised
until the digits asked for are there.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy
from flint import acb_poly, arb, ctx, fmpq, fmpq_poly

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.balls import Enclosure, accuracy, ball, bits_for, precision
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Law
from theoryverify.exact.orthogonal import monic_orthogonal
from theoryverify.exact.rationals import positive_integer, rational, to_fmpq
from theoryverify.papers.lca import assumptions, theory
from theoryverify.papers.lca.weight_moments import weight_moments

MAX_DEPTH = 200
_RAISES = 8


@dataclass(frozen=True)
class UntiedOptimum:
    """The best untied stack of one depth.

    Attributes
    ----------
    law : Law
    depth : int
    polynomial : tuple of Fraction or None
        The coefficients of π from degree 0 up, ``π(0) = 1``; ``None`` where only enclosed.
    excess : Enclosure
        ``min E[Wπ²]``, in units of ``E[ζ²]``.
    mean_step : Enclosure
        ``(1/T) Σ α_t = -π'(0)/T``.
    steps : tuple of Enclosure
        ``α_t = 1/z_t``, the largest first.
    """

    law: Law
    depth: int
    polynomial: tuple[Fraction, ...] | None
    excess: Enclosure
    mean_step: Enclosure
    steps: tuple[Enclosure, ...]

    @property
    def exact_mean_step(self) -> Fraction | None:
        """The mean step as a rational, where π is exact."""
        return None if self.polynomial is None else -self.polynomial[1] / self.depth


def untied_optimum(law: Law, depth: int, digits: int = 20) -> UntiedOptimum:
    """The minimum of ``E[W(1 - gain)²]`` over all untied stacks of ``depth`` layers.

    Parameters
    ----------
    law : Law
        The law of Z, meeting Assumption 6.1.
    depth : int
        T, from 1 to 200; below the number of atoms if there are finitely many, or equal to it.
    digits : int
        Relative digits of the enclosures.

    Raises
    ------
    HypothesisError
        If the law breaks Assumption 6.1.
    InputError
        For a depth out of range.
    UndecidedError
        If the precision could not be raised far enough.

    Examples
    --------
    >>> from theoryverify.exact.laws import Discrete
    >>> best = untied_optimum(Discrete({2: "1/2", 5: "1/2"}), 2)
    >>> print(best.excess, best.exact_mean_step)  # two atoms: two steps are enough
    0 7/20
    """
    law = assumptions.require(law)
    depth = positive_integer(depth, "depth", most=MAX_DEPTH)
    digits = positive_integer(digits, "digits", most=500)
    return _optimum(law, depth, digits)


@lru_cache(maxsize=256)
def _optimum(law: Law, depth: int, digits: int) -> UntiedOptimum:
    exact = _exact_moments(law, 2 * depth)
    normal = None if exact is None else _normalised(monic_orthogonal(exact, depth))
    for attempt in range(_RAISES):
        # Moments grow like Z_upper^k and cancel down to the excess, geometrically in T.
        with precision((bits_for(digits) + 64 + 12 * depth) << attempt):
            try:
                found = _enclosed(law, depth, digits, exact, normal)
            except UndecidedError:
                continue
            if found is not None:
                return found
    raise UndecidedError(f"the untied optimum of {law} at T = {depth} was not enclosed")


def _enclosed(
    law: Law, depth: int, digits: int, exact: list[fmpq] | None, normal: list[fmpq] | None
) -> UntiedOptimum | None:
    """At the current precision; ``None`` if digits are missing."""
    moments = [arb(m) for m in exact] if exact is not None else _ball_moments(law, 2 * depth)
    coefficients = (
        [arb(c) for c in normal] if normal is not None
        else _normalised(monic_orthogonal(moments, depth))
    )  # fmt: skip
    # E[Wπ²] = E[Wπ]: π - 1 is Z times a polynomial of lower degree, to which π is orthogonal.
    excess = law.expect(theory.signal_share())
    for coefficient, moment in zip(coefficients[1:], moments, strict=False):
        excess += coefficient * moment
    mean = -coefficients[1] / depth
    # Every α_t is above 1/Z_upper, so an absolute tolerance below it gives relative digits.
    tolerance = arb(2) ** -(bits_for(digits) + 8) / ball(law.upper)
    found = _inverse_zeros(coefficients, tolerance)
    steps = sorted(found, key=lambda step: -float(step.mid()))
    exact_zero = exact is not None and _vanishes(law, normal)
    enough = bits_for(digits)
    short = [step for step in (mean, *steps) if accuracy(step) < enough]
    if short or (accuracy(excess) < enough and not exact_zero):
        return None
    return UntiedOptimum(
        law, depth,
        None if normal is None else tuple(rational(c) for c in normal),
        Enclosure.of(arb(0) if exact_zero else excess),
        Enclosure.of(mean), tuple(Enclosure.of(step) for step in steps),
    )  # fmt: skip


def _exact_moments(law: Law, count: int) -> list[fmpq] | None:
    found = weight_moments(law, count)
    return None if found is None else [to_fmpq(moment) for moment in found]


def _ball_moments(law: Law, count: int) -> list[arb]:
    return [law.expect(sympy.cancel(theory.signal_share() * Z) * Z**k) for k in range(count)]


def _normalised(monic: list[Any]) -> list[Any]:
    """Divided by its value at 0, which is not 0: all zeros are positive."""
    return [entry / monic[0] for entry in monic]


def _inverse_zeros(coefficients: list[arb], tolerance: arb) -> list[arb]:
    """The zeros of the reversed polynomial; they are real because the zeros of π are."""
    try:
        roots = acb_poly(list(reversed(coefficients))).roots(tol=tolerance, maxprec=16 * ctx.prec)
    except ValueError as error:
        raise UndecidedError("the zeros were not isolated") from error
    if len(roots) != len(coefficients) - 1:
        raise UndecidedError("the zeros were not isolated")
    return [root.real for root in roots]


def _vanishes(law: Law, normal: list[fmpq] | None) -> bool:
    """Whether π is zero at every atom of a discrete law: then the excess is exactly 0."""
    atoms = getattr(law, "atoms", None)
    if atoms is None or normal is None or len(atoms) != len(normal) - 1:
        return False
    polynomial = fmpq_poly(normal)
    return all(polynomial(to_fmpq(point)) == 0 for point in atoms)


# -- rates --------------------------------------------------------------------------------------


def chebyshev_ratio(law: Law, digits: int = 30) -> Enclosure:
    """``ρ = (√Z_upper - √Z_lower)/(√Z_upper + √Z_lower)``; the tied stack has ``(b-a)/(b+a)``."""
    with precision(bits_for(digits) + 32):
        low, high = ball(law.lower).sqrt(), ball(law.upper).sqrt()
        return Enclosure.of((high - low) / (high + low))


def chebyshev_value(law: Law, depth: int) -> Fraction:
    """``T_T(x₀)`` at ``x₀ = (b+a)/(b-a)``, exactly: ``(ρ^T + ρ^{-T})/2``."""
    point = (law.upper + law.lower) / (law.upper - law.lower)
    before, now = Fraction(1), point
    for _ in range(depth - 1):
        before, now = now, 2 * point * now - before
    return now if depth else before


def legendre_sum(law: Law, depth: int) -> Fraction:
    """``Σ_{k<=T} (2k+1) P_k(x₀)²`` exactly, at ``x₀ = (b+a)/(b-a)``.

    Its inverse is the least of ``∫π²/(b-a)`` over ``π(0) = 1`` of degree T.
    """
    point = (law.upper + law.lower) / (law.upper - law.lower)
    before, now, total = Fraction(0), Fraction(1), Fraction(1)
    for k in range(depth):
        before, now = now, ((2 * k + 1) * point * now - k * before) / (k + 1)
        total += (2 * k + 3) * now**2
    return total


def mean_limit(law: Law, digits: int = 30) -> Enclosure:
    """``1/√(Z_lower Z_upper)``: the limit of the mean step where the zeros fill ``[a,b]``."""
    if law.degenerate:
        raise InputError(f"{law} is a point mass")
    with precision(bits_for(digits) + 32):
        return Enclosure.of(1 / (ball(law.lower) * ball(law.upper)).sqrt())
