"""Derivations of Appendices D, E and G, printed by ``theoryverify derive``."""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from theoryverify.claims.paper import Derivation, DerivationStep
from theoryverify.claims.steps import asserted
from theoryverify.exact.integrands import Z
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.theory import M, T, a, alpha, b, beta, s, zeta


def one_layer() -> Iterator[DerivationStep]:
    """Theorem 4.1, Appendix D: one layer of attention, and by how much it fails."""
    gain = sympy.Symbol("s", real=True)
    share = theory.signal_share()
    yield DerivationStep(
        "(D.6) E_X Eᵀ_X/L → Γ = [[Σ_x, ζm], [ζmᵀ, ζ²]], so ŷ_q → (pᵀ,q) Γ W^KQ (x_q; 0)"
    )
    yield DerivationStep("hence ŵ = Aᵀ(I+mmᵀ)p + ζ(qAᵀ+bpᵀ)m + ζ²qb (claim lca.D.2)")
    yield DerivationStep(
        "(D.12) softmax heads tilt a Gaussian: the same class (claims lca.D.3, lca.D.4)"
    )
    yield asserted(
        "ŵ = w for ζ-almost all ζ needs Bᵀm = ω m/ζ, with ω/ζ",
        theory.regression_weight() / zeta,
        1 / (1 + M),
    )
    yield DerivationStep(
        "so 1/(1+|m|²) is one of at most d eigenvalues of a fixed matrix: probability 0"
    )
    literal = (gain - theory.regression_weight() / zeta) ** 2 * M * theory.covariance_x().on_spike
    yield asserted(
        "the best layer is ŵ = ζ s m; its excess is E of",
        theory.in_terms_of_z(sympy.together(literal)),
        share * (1 - gain * Z) ** 2,
    )
    yield asserted(
        "which is the depth-one stack's loss",
        theory.one_parameter_loss(depth=sympy.Integer(1)).subs(alpha, gain),
        share * (1 - gain * Z) ** 2,
    )
    first, second, mean = sympy.symbols("E1 E2 EW", positive=True)
    risk = mean - 2 * gain * first + gain**2 * second
    yield asserted(
        "with E1 = E[WZ], E2 = E[WZ²]: least at s = E1/E2, excess",
        risk.subs(gain, first / second),
        mean - first**2 / second,
    )


def context() -> Iterator[DerivationStep]:
    """Lemma E.1 and (6.1): the limits in the context length and in depth."""
    P = theory.state_polynomial()
    target = sympy.Symbol("Xy", real=True)
    stack = theory.tied(P) * target
    yield asserted(
        "β = -α: one layer is one step of gradient descent, ŵ_T",
        stack.subs(T, T + 1),
        stack - alpha * (s * stack - target),
    )
    yield asserted("(1/L)XF_Tᵀ = Σ̂P_T(Σ̂)", s * P, alpha / beta * ((1 + beta * s) ** T - 1))
    yield asserted(
        "tied: its distance from I has eigenvalues", theory.tied(s * P) - 1, -((1 - alpha * s) ** T)
    )
    yield asserted("on m^⊥, at α*: the rate 1-α*", 1 - theory.alpha_limit(), (a + b - 2) / (a + b))
    yield asserted(
        "it is not faster than the risk's r, and slower if Z̲ > 1: the difference",
        1 - theory.alpha_limit() - theory.contraction(),
        2 * (a - 1) / (a + b),
    )


def two_parameters() -> Iterator[DerivationStep]:
    """Appendix G: the loss in β alone, and its stationary points."""
    A, B, mean, m, Q = sympy.symbols("A B EW m Q", positive=True)
    quadratic = mean - 2 * alpha * B + alpha**2 * A
    yield DerivationStep("ℓ(α,β) = E[W] - 2αB + α²A, A = E[WS²], B = E[WS]", quadratic, True)
    yield asserted(
        "(G.2) α*(β) = B/A: ∂ℓ/∂α there",
        sympy.diff(quadratic, alpha).subs(alpha, B / A),
        sympy.Integer(0),
    )
    yield asserted("F_T = min_α ℓ", quadratic.subs(alpha, B / A), mean - B**2 / A)
    moments = {A: mean * (1 - 2 * m + Q) / beta**2, B: mean * (m - 1) / beta}
    yield asserted(
        "(G.3) with u = (1+βZ)^T, m = E_μu, Q = E_μu²: F_T",
        (mean - B**2 / A).subs(moments),
        mean * (Q - m**2) / (1 - 2 * m + Q),
    )
    yield asserted("and α*(β)", (B / A).subs(moments), -beta * (1 - m) / (1 - 2 * m + Q))
    yield asserted("ℓ = A(α-α*)² + F_T", quadratic, A * (alpha - B / A) ** 2 + mean - B**2 / A)
    u = (1 + beta * Z) ** T
    yield asserted("m' = E_μ of", sympy.diff(u, beta), T * Z * (1 + beta * Z) ** (T - 1))
    yield asserted("Q' = E_μ of", sympy.diff(u**2, beta), 2 * T * Z * (1 + beta * Z) ** (2 * T - 1))
    yield DerivationStep("F_T' = E[W](1-m)(Q'(1-m) - 2m'(m-Q))/D² (claim lca.G.stationary)")
    ends = -2 / (a + b)
    yield asserted("two atoms, β = -2/(a+b): opposite bases", 1 + ends * a, -(1 + ends * b))


derivations = (
    Derivation(
        "lca_one_layer",
        "Theorem 4.1 and Appendix D: one layer, and by how much it fails",
        one_layer,
        ("lca.4.1", "lca.4.1.excess", "lca.D.2", "lca.D.3"),
    ),
    Derivation(
        "lca_context",
        "Appendix E and (6.1): limits in context and depth",
        context,
        ("lca.E.1", "lca.E.1.limit", "lca.6.1"),
    ),
    Derivation(
        "lca_two_parameters",
        "Appendix G: the loss in beta alone",
        two_parameters,
        ("lca.G.profile", "lca.G.stationary"),
    ),
)
