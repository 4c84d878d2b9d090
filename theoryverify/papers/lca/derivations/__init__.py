"""The derivations that ``theoryverify derive`` prints: each step recomputed and asserted."""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from theoryverify.claims.paper import Derivation, DerivationStep
from theoryverify.claims.steps import asserted
from theoryverify.exact.integrands import Z
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.derivations import appendices, finite, rates, uniqueness
from theoryverify.papers.lca.theory import M, T, a, alpha, b, beta, zeta


def setting() -> Iterator[DerivationStep]:
    """(3.1) to (3.4): the joint law of a prompt, and the Bayes predictor."""
    sigma = theory.covariance_x()
    yield DerivationStep("(3.1) x = u m + μ, y = ζ u, with u ~ N(0,1) and μ ~ N(0,I) independent")
    yield DerivationStep(
        "(3.2) Σ_x = I·iso + mmᵀ·spike; its entries (iso, spike)",
        sympy.Tuple(sigma.iso, sigma.spike),
        True,
    )
    yield DerivationStep("(3.2) E[xy] = c m, with c", theory.covariance_xy(), True)
    yield asserted(
        "Σ_x Σ_x⁻¹ = I on the spike", sigma.on_spike * sigma.inverse().on_spike, sympy.Integer(1)
    )
    yield asserted("(3.3) w = Σ_x⁻¹E[xy] = ω m, with ω", theory.regression_weight(), zeta / (1 + M))
    yield asserted(
        "(3.3) Var(y|x) = E[y²] - E[xy]ᵀw", theory.residual_variance(), zeta**2 / (1 + M)
    )
    yield asserted("E⟨w,x⟩² = wᵀΣ_x w", theory.signal_variance(), zeta**2 * M / (1 + M))
    yield asserted("(3.4) the eigenvalue of Σ_x on m is Z = 1+|m|²", sigma.on_spike, 1 + M)
    yield asserted("W = E⟨w,x⟩²/ζ² in terms of Z", theory.signal_share(), (Z - 1) / Z)
    yield asserted(
        "the two shares sum to one: W + 1/Z",
        theory.signal_share() + theory.noise_share(),
        sympy.Integer(1),
    )


def loss() -> Iterator[DerivationStep]:
    """Lemma E.2 and Section 6: the stack in closed form, its loss, its gradients."""
    P = theory.state_polynomial()
    yield DerivationStep("(5.5) F_t = F_{t-1} + αX + βΣ̂F_{t-1}, F_0 = 0; write F_t = P_t(Σ̂)X")
    yield asserted("base: P_0 = 0", P.subs(T, 0), sympy.Integer(0))
    yield asserted("step: P_{T+1}(s) = (1+βs)P_T(s) + α", P.subs(T, T + 1), theory.layer(P))
    yield DerivationStep("hence Lemma E.2: P_T(s)", P, True)
    yield asserted(
        "L → ∞: ŷ_q = Z P_T(Z)⟨w,x_q⟩ = αS_T(Z,β)⟨w,x_q⟩",
        theory.predictor_gain(),
        alpha * theory.S(),
    )
    yield asserted(
        "S_T(Z,β) = Z Σ_{k<T}(1+βZ)^k: no pole at β = 0",
        theory.S(),
        Z * theory.geometric_sum(1 + beta * Z),
    )
    gain, share = theory.predictor_gain(), theory.signal_share()
    yield asserted(
        "E(y_q-ŷ_q)²/ζ² = 1 - 2g W + g² W splits into excess and Bayes risk",
        1 - 2 * gain * share + gain**2 * share,
        theory.loss_integrand() + theory.noise_share(),
    )
    yield DerivationStep("ℓ(α,β) = E of", theory.loss_integrand(), True)
    yield asserted(
        "β = -α: 1-αS_T = (1-αZ)^T, so R_T(α) = E of",
        theory.tied(theory.loss_integrand()),
        theory.one_parameter_loss(),
    )
    loss_ = theory.one_parameter_loss()
    yield asserted("R_T'(α) = E of", sympy.diff(loss_, alpha), theory.one_parameter_gradient())
    yield asserted("R_T''(α) = E of", sympy.diff(loss_, alpha, 2), theory.one_parameter_hessian())
    d_alpha, d_beta = theory.gradient()
    yield asserted(
        "∂ℓ/∂α = E of -2WS(1-αS)", d_alpha, -2 * share * theory.S() * (1 - alpha * theory.S())
    )
    yield asserted(
        "∂ℓ/∂β = E of -2αW(∂S/∂β)(1-αS)",
        d_beta,
        -2 * alpha * share * sympy.diff(theory.S(), beta) * (1 - alpha * theory.S()),
    )


def limit() -> Iterator[DerivationStep]:
    """Theorem F.3: α*_T → 2/(Z̲+Z̄), with an explicit bracket for every T."""
    r, best = theory.contraction(), theory.alpha_limit()
    eps = sympy.Symbol("epsilon", positive=True)
    K = sympy.Symbol("K", positive=True)
    yield asserted("at α* both ends weigh the same: 1-α*a", 1 - best * a, r)
    yield asserted("and α*b-1", best * b - 1, r)
    yield asserted(
        "on [a,b], (1-α*z)² <= r², since r² - (1-α*z)²",
        r**2 - (1 - best * Z) ** 2,
        best**2 * (Z - a) * (b - Z),
    )
    yield DerivationStep("so R_T(α*_T) <= R_T(α*) <= E[W] r^{2T}")
    yield DerivationStep("while R_T(α) >= E[W; Z >= b-ε](α(b-ε)-1)^{2T} where α(b-ε) > 1")
    yield DerivationStep(
        "hence α*_T <=",
        (1 + r * K ** (1 / (2 * T))) / (b - eps),
        True,
    )
    yield DerivationStep(
        "and, at the other end, α*_T >=",
        (1 - r * K ** (1 / (2 * T))) / (a + eps),
        True,
    )
    yield asserted("T → ∞, ε → 0: the upper end", (1 + r) / b, best)
    yield asserted("T → ∞, ε → 0: the lower end", (1 - r) / a, best)


derivations = (
    Derivation(
        "lca_setting", "The joint law of a prompt and the Bayes predictor", setting, ("lca.C.1",)
    ),
    Derivation(
        "lca_loss",
        "The stack in closed form, its population loss and gradients",
        loss,
        ("lca.E.2", "lca.loss", "lca.gradient"),
    ),
    *appendices.derivations[:2],
    Derivation(
        "lca_limit",
        "The limit of α*_T, squeezed for every depth",
        limit,
        ("lca.F.1", "lca.F.3", "lca.6.2.limit"),
    ),
    *appendices.derivations[2:],
    *finite.derivations,
    *uniqueness.derivations,
    *rates.derivations,
)
