"""Stable rewritings of the loss, on any numbers: fractions, balls, mpmath, NumPy, Torch.

The definition is ``theory.loss_integrand``. Evaluated as it stands it divides by β and subtracts
``αS`` from 1, which loses every digit where training ends. Each function here is the same function
of (Z, α, β, T), proved so in the claim ``lca.kernels``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy
from flint import arb

from theoryverify.exact.balls import integer_power
from theoryverify.exact.integrands import LinearPower, Z
from theoryverify.exact.rationals import rational
from theoryverify.papers.lca import theory


def power(base: Any, exponent: int) -> Any:
    """``base**exponent`` without FLINT's NaN at balls that contain zero."""
    return integer_power(base, exponent) if isinstance(base, arb) else base**exponent


def geometric_sum(ratio: Any, depth: int) -> tuple[Any, Any]:
    """``(G, G')`` for ``G(q) = Σ_{k<T} q^k``, in O(log T) products and no division.

    With ``P = q^k``: ``G_{2k} = G_k (1+P)`` and ``G_{k+1} = 1 + q G_k``, and their derivatives. So
    the removable point of ``S_T(Z,β) = Z G(1+βZ)`` at β = 0 never appears.
    """
    total, slope = 1 + 0 * ratio, 0 * ratio
    raised, raised_slope = ratio, 1 + 0 * ratio
    count = 1
    for bit in bin(depth)[3:]:
        total, slope = total * (1 + raised), slope * (1 + raised) + total * raised_slope
        raised, raised_slope = raised * raised, 2 * raised * raised_slope
        count *= 2
        if bit == "1":
            total, slope = 1 + ratio * total, total + ratio * slope
            raised, raised_slope = ratio * raised, raised + ratio * raised_slope
            count += 1
    return total, slope


def S(z: Any, beta: Any, depth: int) -> tuple[Any, Any]:
    """``S_T(Z,β) = Z G(1+βZ)`` and ``∂S/∂β = Z² G'(1+βZ)``."""
    total, slope = geometric_sum(1 + beta * z, depth)
    return z * total, z * z * slope


def residual(z: Any, alpha: Any, beta: Any, depth: int, *, form: str) -> Any:
    """``1 - αS_T(Z,β)`` in the spelling that does not cancel (see :func:`residual_form`).

    ``"tied"``: ``(1-αZ)^T``; ``"mixed"``: ``κ + (1-κ)(1+βZ)^T``, ``κ = 1 + α/β``;
    ``"sum"``: ``1 - αZ G(1+βZ)``.
    """
    if form == "tied":
        return power(1 - alpha * z, depth)
    if form == "mixed":
        kappa = (alpha + beta) / beta
        return kappa + (1 - kappa) * power(1 + beta * z, depth)
    return 1 - alpha * S(z, beta, depth)[0]


def residual_form(alpha: Fraction, beta: Fraction) -> str:
    """Which spelling of the residual keeps its digits: ``κ`` small needs ``|α+β| <= |β|``."""
    if alpha == -beta:
        return "tied"
    return "mixed" if abs(alpha + beta) <= abs(beta) else "sum"


@dataclass(frozen=True)
class LossIntegrands:
    """The functions of Z whose expectations are the loss and its gradient at one point.

    ``excess``: ``W ρ²``; ``d_alpha``: ``-2W S ρ``; ``d_beta``: ``-2αW (∂S/∂β) ρ``, with
    ``ρ = 1 - αS``. For the one-parameter model ``d_alpha`` is ``R_T'`` and ``d_beta`` is ``None``.
    """

    excess: Any
    d_alpha: Any
    d_beta: Any | None


@lru_cache(maxsize=8)
def weight_polynomial(setting: theory.Setting = theory.PAPER) -> tuple[Fraction, ...]:
    """``WZ`` as coefficients from degree 0 up: ``(-1, 1)`` in the paper."""
    poly = sympy.Poly(sympy.cancel(theory.signal_share(setting) * Z), Z)
    return tuple(rational(entry) for entry in reversed(poly.all_coeffs()))


def tied_integrands(alpha: Any, depth: int) -> LossIntegrands:
    """``R_T`` and ``R_T'`` as :class:`LinearPower`, whose integrals laws know best."""
    weight = weight_polynomial()
    slope = tuple(-2 * depth * entry for entry in weight)
    return LossIntegrands(
        LinearPower(weight, 1, -alpha, 2 * depth, pole=1),
        LinearPower(slope, 1, -alpha, 2 * depth - 1),
        None,
    )


def untied_integrands(alpha: Any, beta: Any, depth: int, form: str) -> LossIntegrands:
    """The two-parameter loss at ``(α, β)``; ``form`` from :func:`residual_form`."""

    def w(z: Any) -> Any:
        return LinearPower(weight_polynomial(), 1, 0, 0, pole=1)(z)

    def rho(z: Any) -> Any:
        return residual(z, alpha, beta, depth, form=form)

    return LossIntegrands(
        lambda z: w(z) * rho(z) ** 2,
        lambda z: -2 * w(z) * S(z, beta, depth)[0] * rho(z),
        lambda z: -2 * alpha * w(z) * S(z, beta, depth)[1] * rho(z),
    )
