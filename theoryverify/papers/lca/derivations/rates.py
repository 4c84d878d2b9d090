"""The rates of α*_T and β*_T, step by step: Laplace's method at the two ends of the support."""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from theoryverify.claims.paper import Derivation, DerivationStep
from theoryverify.claims.steps import asserted
from theoryverify.papers.lca import rate_theory
from theoryverify.papers.lca.rate_theory import (
    Lambda,
    c_1,
    c_2,
    g_a,
    g_b,
    mean_W,
    parity,
    pi_a,
    pi_b,
    root,
    tau_a,
    tau_b,
)
from theoryverify.papers.lca.theory import T, a, alpha, alpha_limit, b, contraction


def rates() -> Iterator[DerivationStep]:
    """Two terms for α*_T; the shift that two parameters and the parity of T add to β*_T."""
    s, rho, kappa, theta = sympy.symbols("s_ rho kappa theta", positive=True)
    n = sympy.Symbol("n", integer=True, positive=True)
    yield DerivationStep("WZ dP = Σ C_i s^{k+i} ds at each end, g_i = C_iΓ(k+i+1); atoms: k = -1")
    term = s ** (kappa + 1) * (1 - s / rho) ** n
    yield asserted(
        "d/ds s^{κ+1}(1-s/ρ)^n: Euler's Beta integral by induction on n",
        sympy.diff(term, s),
        (kappa + 1) * s**kappa * (1 - s / rho) ** n
        - n / rho * s ** (kappa + 1) * (1 - s / rho) ** (n - 1),
    )
    yield DerivationStep(
        "so each half of E[WZ|1-αZ|^n] is q^n ρ^{k+1} Γ(N)/Γ(N+k+1) Σ g_iρ^i/(N+k+1)_i"
    )
    w = (b - a) / 2
    place = (alpha_limit() / alpha - 1) / contraction()
    yield asserted("with θ = (α*/α-1)/r: ρ_a = 1/α-a = w(1+θ)", 1 / alpha - a, w * (1 + place))
    yield asserted("ρ_b = b-1/α = w(1-θ)", b - 1 / alpha, w * (1 - place))
    yield DerivationStep(
        "the two halves balance; Λ, their log ratio at α*, is", rate_theory.log_ratio(), True
    )
    first, second = rate_theory.balance()
    at = dict(zip((c_1, c_2), rate_theory.relative_terms(), strict=True))
    yield DerivationStep("the balance at α = α*(1+c₁/2T+c₂/(2T)²), order 1/2T", first, True)
    yield asserted("zero at c₁ = rΛ/2", first.subs(at), sympy.Integer(0))
    yield DerivationStep("order 1/(2T)²", second, True)
    yield asserted("zero at c₂", second.subs(at), sympy.Integer(0))
    yield DerivationStep("c₂", at[c_2], True)
    slope = T * sympy.diff((T * rate_theory.first_order()).subs(Lambda, rate_theory.log_ratio()), T)
    yield asserted(
        "T d/dT of T(α*_T-α*): a logarithm iff k_a ≠ k_b", slope,
        (rate_theory.k_b - rate_theory.k_a) * (b - a) / (2 * (a + b) ** 2),
    )  # fmt: skip
    yield DerivationStep(
        "two parameters: E[W](P_a-P_b) = (p_a-sp_b)(m_a+sm_b)(1+O(r^T)), s = (-1)^T"
    )
    t = 1 / ((a + b) / 2 + w * theta)
    yield asserted(
        "dt/dθ at θ = 0, t = -β",
        sympy.diff(t, theta).subs(theta, 0),
        -alpha_limit() * contraction(),
    )
    for sign in (1, -1):
        # Halves at T over P_b, where P_a = P_b: p_a = √(g_a)τ_a, p_b = √(g_b)τ_b, in units of √P.
        p_a, p_b = sympy.sqrt(g_a) * tau_a, sympy.sqrt(g_b) * tau_b
        quotient = (p_a - sign * p_b) * (p_a / a + sign * p_b / b) / mean_W
        yield asserted(
            f"densities, s = {sign}: β*_T + α*_T", rate_theory.two_parameter_shift().subs(parity, sign),
            alpha_limit() * contraction() / (4 * T) * quotient,
        )  # fmt: skip
    yield DerivationStep(
        "atoms at both ends: the quotient is of order one; x = ((tb-1)/(1-ta))^T solves",
        rate_theory.atoms_balance(),
        True,
    )
    for sign in (1, -1):
        pair = rate_theory.atoms_balance().subs(pi_b, 1 - pi_a) / (pi_a * (1 - pi_a))
        yield asserted(
            f"two atoms alone, s = {sign}",
            pair.subs(parity, sign),
            (root - sign) * (b * root + sign * a),
        )
    yield DerivationStep("so for even T x = 1 and β*_T = -2/(a+b); for odd T x = a/b")


derivations = (
    Derivation(
        "lca_rates",
        "Rates of alpha*_T and beta*_T by the law's end exponents",
        rates,
        ("lca.F.3.ends", "lca.F.3.log", "lca.6.3.rate", "lca.6.3.rate.atoms"),
    ),
)
