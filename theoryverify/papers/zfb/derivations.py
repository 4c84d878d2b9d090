"""The derivation that ``theoryverify derive zfb_limit`` prints."""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from theoryverify.claims.paper import Derivation, DerivationStep
from theoryverify.claims.steps import asserted
from theoryverify.papers.zfb import theory
from theoryverify.papers.zfb.theory import N, V, delta, lam, lam_j, u


def limit() -> Iterator[DerivationStep]:
    """From the loss to the limit of gradient flow, for every σ > 0."""
    g = theory.gamma()
    yield DerivationStep("ŷ_q = u wᵀ Σ̂ V x_q, with Σ̂ the mean of N matrices x xᵀ")
    yield asserted("E[(Σ̂²)_ii] = Γ_i λ_i, by Isserlis' pairings", theory.second_moment(), g * lam)
    entry = theory.loss_entry()
    yield DerivationStep("so ℓ(u,V) is a sum over the entries of V, in the eigenbasis of Λ", entry)
    yield asserted(
        "the flow of V: entries are uncoupled",
        -sympy.diff(entry, V),
        -(u**2) * g * lam * lam_j * V + delta * u * lam**2,
    )
    yield asserted(
        "ℓ depends on uV alone, so u² - ‖V‖² is conserved",
        u * sympy.diff(entry, u),
        V * sympy.diff(entry, V),
    )
    diagonal = entry.subs(theory.ON_DIAGONAL)
    yield asserted(
        "complete the square: on the diagonal the minimum is at uV = 1/Γ",
        diagonal + lam**2 / (2 * g),
        g * lam**2 * (u * V - 1 / g) ** 2 / 2,
    )
    yield DerivationStep("‖∇ℓ‖² >= 2u² min(Γ_iλ_iλ_j)(ℓ - min ℓ), and u stays above some u_0 > 0")
    t = sympy.Symbol("t", positive=True)
    yield asserted(
        "with t = tr Γ⁻², uV = Γ⁻¹ and u² = ‖V‖² give u = t^{1/4}",
        (t ** sympy.Rational(1, 4)) ** 2,
        t / (t ** sympy.Rational(1, 4)) ** 2,
    )
    yield asserted(
        "what is left at length M = N: Σ λ_i - λ_i²/Γ_i",
        theory.variance_term(theory.tau, sympy.Integer(1)) / N + theory.bias_term(1) / N**2,
        lam - lam**2 / g,
    )


derivations = (
    Derivation("zfb_limit", "Where gradient flow takes one layer of linear attention", limit),
)
