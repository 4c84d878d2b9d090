"""The cross-attention paper's theory: every formula, each derived from the one before.

arXiv 2602.04872. The only inputs are the variances of the setting (3.1); change one and every
formula below changes with it. Vectors and matrices are kept for *all* dimensions d at once: every
matrix that occurs is ``iso·I + spike·mmᵀ``, and those form a commutative algebra
(:class:`SpikedMatrix`).

Symbols: ``M = |m|²``, ``Z`` the eigenvalue of ``Σ_x`` on ``m`` (``1 + |m|²`` in the paper),
``T`` the depth, ``L`` the context length.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import sympy

from theoryverify.exact.integrands import Z

T = sympy.Symbol("T", integer=True, positive=True)
alpha, beta = sympy.symbols("alpha beta", real=True)
zeta = sympy.Symbol("zeta", real=True)
M = sympy.Symbol("M", positive=True)
a, b = sympy.symbols("a b", positive=True)
"""The ends of the support of Z: ``a = Z_lower``, ``b = Z_upper``."""


@dataclass(frozen=True)
class Setting:
    """(3.1): ``x = u m + μ``, ``y = ζ u``, ``u ~ N(0, variance_u)``, ``μ ~ N(0, variance_noise I)``."""

    variance_u: sympy.Expr = sympy.Integer(1)
    variance_noise: sympy.Expr = sympy.Integer(1)


PAPER = Setting()


@dataclass(frozen=True)
class SpikedMatrix:
    """``iso·I + spike·mmᵀ`` in any dimension, with ``M = mᵀm``.

    ``(p I + q mmᵀ)(p' I + q' mmᵀ) = pp' I + (pq' + qp' + qq'M) mmᵀ``; on ``m`` it acts as ``p + qM``.
    """

    iso: sympy.Expr
    spike: sympy.Expr

    def __matmul__(self, other: SpikedMatrix) -> SpikedMatrix:
        return SpikedMatrix(
            self.iso * other.iso,
            self.iso * other.spike + self.spike * other.iso + self.spike * other.spike * M,
        )

    @property
    def on_spike(self) -> sympy.Expr:
        """The eigenvalue on ``m``."""
        return self.iso + self.spike * M

    def inverse(self) -> SpikedMatrix:
        """Sherman-Morrison: ``(1/p)(I - q mmᵀ/(p + qM))``."""
        return SpikedMatrix(1 / self.iso, -self.spike / (self.iso * self.on_spike))


# -- (3.2)-(3.4), Lemma C.1: the joint law ------------------------------------------------------


def covariance_x(setting: Setting = PAPER) -> SpikedMatrix:
    """(3.4): ``Σ_x = E[(um+μ)(um+μ)ᵀ] = Var(μ) I + Var(u) mmᵀ``."""
    return SpikedMatrix(setting.variance_noise, setting.variance_u)


def covariance_xy(setting: Setting = PAPER) -> sympy.Expr:
    """(3.2): ``E[x y] = c m``; returns ``c = ζ Var(u)``."""
    return zeta * setting.variance_u


def variance_y(setting: Setting = PAPER) -> sympy.Expr:
    """(3.2): ``E[y²] = ζ² Var(u)``."""
    return zeta**2 * setting.variance_u


def regression_weight(setting: Setting = PAPER) -> sympy.Expr:
    """(3.3): ``w = Σ_x⁻¹ E[xy] = ω m``; returns ``ω`` (``ζ/(1+|m|²)`` in the paper)."""
    return sympy.cancel(covariance_xy(setting) * covariance_x(setting).inverse().on_spike)


def residual_variance(setting: Setting = PAPER) -> sympy.Expr:
    """(3.3): ``Var(y|x) = E[y²] - E[xy]ᵀ w`` (``ζ²/(1+|m|²)`` in the paper)."""
    return sympy.cancel(
        variance_y(setting) - covariance_xy(setting) * regression_weight(setting) * M
    )


def signal_variance(setting: Setting = PAPER) -> sympy.Expr:
    """``E[⟨w,x⟩² | m,ζ] = wᵀΣ_x w``."""
    return sympy.cancel(regression_weight(setting) ** 2 * M * covariance_x(setting).on_spike)


def in_terms_of_z(expression: sympy.Expr, setting: Setting = PAPER) -> sympy.Expr:
    """Write a function of ``M`` in terms of ``Z``, the eigenvalue of ``Σ_x`` on ``m``."""
    sigma = covariance_x(setting)
    return sympy.factor(sympy.cancel(expression.subs(M, (Z - sigma.iso) / sigma.spike)))


# -- (5.2)-(5.5), Lemma E.2: the stack ----------------------------------------------------------

s = sympy.Symbol("s", positive=True)
"""An eigenvalue of ``Σ̂``: every matrix of the stack is a polynomial in ``Σ̂``, so an identity in the
one variable ``s`` is an identity of matrices."""


def layer(state: sympy.Expr, eigenvalue: sympy.Expr = s) -> sympy.Expr:
    """(5.5) with the weight simplifications: ``F_t = F_{t-1} + αX + βΣ̂F_{t-1}``, as ``F_t = P_t(Σ̂)X``."""
    return state + alpha + beta * eigenvalue * state


def state_polynomial(eigenvalue: sympy.Expr = s, depth: sympy.Expr = T) -> sympy.Expr:
    """Lemma E.2: ``F_T = P_T(Σ̂)X`` with ``P_T(s) = α Σ_{k<T} (1+βs)^k = α((1+βs)^T - 1)/(βs)``."""
    return alpha * ((1 + beta * eigenvalue) ** depth - 1) / (beta * eigenvalue)


def S(depth: sympy.Expr = T) -> sympy.Expr:
    """``S_T(Z,β) = ((1+βZ)^T - 1)/β``, and ``TZ`` at the removable point ``β = 0``."""
    return ((1 + beta * Z) ** depth - 1) / beta


def geometric_sum(ratio: sympy.Expr, depth: sympy.Expr = T) -> sympy.Expr:
    """``Σ_{k<T} q^k = (q^T - 1)/(q - 1)``; the kernels sum it without dividing."""
    return (ratio**depth - 1) / (ratio - 1)


# -- the population loss ------------------------------------------------------------------------


@lru_cache(maxsize=8)
def signal_share(setting: Setting = PAPER) -> sympy.Expr:
    """``W = E[⟨w,x⟩²|m,ζ]/ζ²`` in terms of Z: ``(Z-1)/Z`` in the paper."""
    return in_terms_of_z(signal_variance(setting) / zeta**2, setting)


@lru_cache(maxsize=8)
def noise_share(setting: Setting = PAPER) -> sympy.Expr:
    """``Var(y|x)/ζ²`` in terms of Z: ``1/Z`` in the paper. Its mean is the Bayes risk."""
    return in_terms_of_z(residual_variance(setting) / zeta**2, setting)


def predictor_gain(depth: sympy.Expr = T) -> sympy.Expr:
    """Infinite context: ``ŷ_q = g·⟨w,x_q⟩`` with ``g = Z P_T(Z) = αS_T(Z,β)``.

    ``(1/L)Fy → P_T(Σ_x) E[xy]`` and ``E[xy] = Σ_x w`` lies along ``m``, where ``Σ_x`` is ``Z``.
    """
    return sympy.cancel(Z * state_polynomial(Z, depth))


def loss_integrand(setting: Setting = PAPER, depth: sympy.Expr = T) -> sympy.Expr:
    """``ℓ(α,β) = E[W (1 - αS_T)²]``: the function of Z under the expectation, in units of ``E[ζ²]``."""
    return signal_share(setting) * (1 - alpha * S(depth)) ** 2


def tied(expression: sympy.Expr) -> sympy.Expr:
    """The one-parameter model, ``β = -α``."""
    return expression.subs(beta, -alpha)


def one_parameter_loss(setting: Setting = PAPER, depth: sympy.Expr = T) -> sympy.Expr:
    """``R_T(α) = E[W (1-αZ)^{2T}]``: the function of Z under the expectation."""
    return signal_share(setting) * (1 - alpha * Z) ** (2 * depth)


def stationarity(setting: Setting = PAPER, depth: sympy.Expr = T) -> sympy.Expr:
    """Lemma F.1: ``R_T'(α) = 0`` iff ``E[WZ (1-αZ)^{2T-1}] = 0``; ``WZ = Z-1`` in the paper."""
    return sympy.cancel(signal_share(setting) * Z) * (1 - alpha * Z) ** (2 * depth - 1)


def one_parameter_gradient(setting: Setting = PAPER, depth: sympy.Expr = T) -> sympy.Expr:
    """``R_T'(α) = -2T E[WZ (1-αZ)^{2T-1}]``: the function under the expectation."""
    return -2 * depth * stationarity(setting, depth)


def one_parameter_hessian(setting: Setting = PAPER, depth: sympy.Expr = T) -> sympy.Expr:
    """``R_T''(α) = 2T(2T-1) E[WZ² (1-αZ)^{2T-2}]``: the function under the expectation."""
    weight = sympy.cancel(signal_share(setting) * Z**2)
    return 2 * depth * (2 * depth - 1) * weight * (1 - alpha * Z) ** (2 * depth - 2)


def gradient(setting: Setting = PAPER, depth: sympy.Expr = T) -> tuple[sympy.Expr, sympy.Expr]:
    """``(∂_α, ∂_β)`` of the loss, under the expectation."""
    loss = loss_integrand(setting, depth)
    return sympy.diff(loss, alpha), sympy.diff(loss, beta)


def hessian(setting: Setting = PAPER, depth: sympy.Expr = T) -> sympy.Matrix:
    """The 2 x 2 Hessian of the loss, under the expectation."""
    return sympy.hessian(loss_integrand(setting, depth), (alpha, beta))


# -- Theorem F.3 and the limit of Theorem 6.2 ---------------------------------------------------


def alpha_limit() -> sympy.Expr:
    """``α* = 2/(Z_lower + Z_upper)``, where ``1-αa = αb-1``."""
    return 2 / (a + b)


def contraction() -> sympy.Expr:
    """``r = (b-a)/(b+a) = max_{[a,b]} |1 - α*z|``."""
    return (b - a) / (b + a)


def uniform_first_order(depth: sympy.Expr = T) -> sympy.Expr:
    """Uniform on [a,b], a > 1: ``α*_T = α*(1 - (b-a)/(4T(a+b)) log((b-1)/(a-1))) + O(T⁻²)``."""
    correction = (b - a) / (4 * depth * (a + b)) * sympy.log((b - 1) / (a - 1))
    return alpha_limit() * (1 - correction)
