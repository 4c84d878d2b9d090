"""The derivations of the one-layer model: its closed form, forgetting, one gradient step."""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from theoryverify.claims.paper import Derivation, DerivationStep
from theoryverify.claims.steps import asserted
from theoryverify.exact.identities import decide_identity
from theoryverify.papers.mamba import forgetting, one_step, recurrence, theory
from theoryverify.papers.mamba.recurrence import L, gate, j, opening, rest
from theoryverify.papers.mamba.theory import u


def closed_form() -> Iterator[DerivationStep]:
    """From the recurrence over h_l to the gates G_j, by induction on the number of tokens."""
    decay, drive = theory.zero_order_hold(theory.softplus(u))
    yield asserted("zero-order hold, A = -I, Δ = softplus(u): Ā", decay, 1 - theory.sigmoid())
    yield asserted("and B̄/B; with s = σ(u)", drive, theory.sigmoid())
    yield DerivationStep(
        "so h_l = (1-s_l) h_{l-1} + s_l z_l ⊗ W_B z_l. Claim: h_L = Σ_{j<=L} G_{j,L} z_j ⊗ W_B z_j "
        "with G_{j,L} = s_j Q_L/Q_j, Q_k = Π_{i<=k}(1-s_i). For L = 0 both sides are 0"
    )
    new = L + 1
    yield asserted("L to L+1, an old token", gate(j, new), (1 - opening(new)) * gate(j, L))
    yield asserted("L to L+1, the new token", gate(new, new), opening(new))
    yield DerivationStep(
        "read out by W_C z_L: o_L = Σ_j G_{j,L} z_j z_jᵀ W_Bᵀ W_C z_L, for every L, W_B, W_C"
    )
    query, s = 1 - theory.sigmoid(recurrence.b), opening(L + 1)
    total = recurrence.gate_sum()
    yield asserted(
        "the query (label 0) closes by 1-σ(b), so Σ_{j<=N} G_{j,N+1} = (1-σ(b))(1-Q_N): N to N+1",
        (1 - s) * total + query * s,
        total.subs(rest, rest * (1 - s)),
    )
    euler = theory.softplus(u)
    differs = decide_identity(euler, theory.sigmoid()).holds is False
    if not differs:
        raise AssertionError("Euler's step is not told from zero-order hold")
    yield DerivationStep(
        "Euler's B̄ = ΔB would give softplus(u_j) in place of σ(u_j): another gate",
        sympy.Ne(euler, theory.sigmoid(), evaluate=False),
        True,
    )
    for count in (2, 3):
        values = sympy.symbols(f"v1:{count + 1}")
        literal = recurrence.stored(count, values)
        ours = sum((gate(k, count) * v for k, v in enumerate(values, 1)), start=sympy.Integer(0))
        yield asserted(f"multiplied out at L = {count}", literal, ours)


def forgetting_steps() -> Iterator[DerivationStep]:
    """What N tokens leave of the first ones, on average and in the square."""
    N, mu, b = forgetting.N, forgetting.mu, forgetting.b
    factor, scale = forgetting.factor(), 1 - theory.sigmoid(forgetting.b)
    yield DerivationStep(
        "tokens are independent given β, so E[G_{j,N+1} y_j φ(x_j)] = (1-σ(b)) (1-μ)^{N-j} E[Tφ], "
        "μ = E[s]; the mean over j is F_N E[Tφ], F_N = (1-σ(b)) (1-(1-μ)^N)/(Nμ)"
    )
    yield asserted("N = 1", factor.subs(N, 1), scale)
    yield asserted(
        "one token more, (N+1) F_{N+1}",
        (N + 1) * factor.subs(N, N + 1),
        (1 - mu) * N * factor + scale,
    )
    for theorem, text, left, multiple in (
        (forgetting.decreasing(), "F_N - F_{N+1}", factor - factor.subs(N, N + 1), N + 1),
        (
            forgetting.few_are_forgotten(),
            "F_N - (1-σ(b))(1-(N-1)μ/2)",
            factor - scale * (1 - (N - 1) * mu / 2),
            sympy.Integer(1),
        ),
        (forgetting.much_is_forgotten(), "(1-σ(b))/(Nμ) - F_N", scale / (N * mu) - factor, 1),
    ):
        yield asserted(
            f"{text} is a positive multiple of what induction shows: {theorem.conclusion}",
            left,
            scale * theorem.expression / (multiple * N * mu),
        )
    one, two = forgetting.first_moment(), forgetting.second_moment()
    last = {forgetting.first: one, forgetting.second: two}
    yield DerivationStep(
        "S_n = (1-s_n) S_{n-1} + s_n A_n: E S_n = p E S_{n-1} + m1, "
        "E S_n² = q E S_{n-1}² + 2h E S_{n-1} + m2"
    )
    for text, closed, step in (
        ("E S_{N+1}", one, forgetting.first_moment_step()),
        ("E S_{N+1}²", two, forgetting.second_moment_step()),
    ):
        yield asserted(text, closed.subs(N, N + 1), step.subs(last, simultaneous=True))
    yield DerivationStep(f"so Var f = ((1-σ({b}))/N)² (E S_N² - (E S_N)²)")


def in_law_steps() -> Iterator[DerivationStep]:
    """p coordinates off the support are three numbers, and two random ones a token."""
    t, x2, q2, x, q = sympy.symbols("t x2 q2 x q", real=True)
    p = sympy.Symbol("p", integer=True, nonnegative=True)
    kernel = (t**2 - x2 - q2 + p) / 2
    more = {t: t + x * q, x2: x2 + x**2, q2: q2 + q**2, p: p + 1}
    yield DerivationStep(
        "off the support let γ be one constant, equal on diagonal and pairs. Claim: "
        "Σ(x_i²-1)(q_i²-1)/2 + Σ_{i<j} x_i x_j q_i q_j = (⟨x,q⟩² - |x|² - |q|² + p)/2"
    )
    yield asserted("p = 0", kernel.subs({t: 0, x2: 0, q2: 0, p: 0}), sympy.Integer(0))
    yield asserted(
        "p to p + 1: a diagonal entry, and a pair with each older coordinate",
        kernel.subs(more, simultaneous=True),
        kernel + (x**2 - 1) * (q**2 - 1) / 2 + x * q * t,
    )
    g, c, s = sympy.symbols("G c s", real=True)  # G ~ N(0,1), c ~ χ²_{p-1}, s = |q|²
    split = kernel.subs({t: sympy.Symbol("root_s", positive=True) * g, x2: g**2 + c, q2: s})
    split = split.subs(sympy.Symbol("root_s", positive=True) ** 2, s)
    yield asserted(
        "given the query ⟨x,q⟩ = |q|G and |x|² = G² + c, c ~ χ²_{p-1}, independent of the support",
        sympy.expand(split),
        sympy.expand(((s - 1) * (g**2 - 1) - (c - (p - 1))) / 2),
    )
    yield asserted(
        "its mean over G and c is 0, as E G² = 1 and E c = p - 1",
        sympy.expand(((s - 1) * (g**2 - 1) - (c - (p - 1))) / 2).subs({g: 1, c: p - 1}),
        sympy.Integer(0),
    )
    yield DerivationStep("so r + 2 random numbers a token, whatever d")


def stage_one_steps() -> Iterator[DerivationStep]:
    """From the population gradient to P_1 + P_2 (z/r)^ge and its remainder."""
    names = ("constant", "linear", "diagonal", "pair")
    start, eta, slope = sympy.symbols("gamma0 eta dL", positive=True)
    yield asserted(
        "a step with λ_1 = 1/η leaves nothing of γ^(0)",
        start - eta * (slope + start / eta),
        -eta * slope,
    )
    weights = theory.one_step_weights()
    yield DerivationStep(
        "-∂L/∂γ_α = F E_β[E[Tφ_α] E[hφ_α]], h = (g - ReLU(M)) 1{M>0}, both factors as in "
        "E[Tφ] = (c_0, c_1β_i, c_2β_i², √2c_2β_iβ_j); off the support β_i = 0"
    )
    second, fourth, mixed = theory.sphere_moments()
    moments = (sympy.Integer(1), second, fourth, 2 * mixed)
    factors = (theory.c0 * theory.K0, theory.c1 * theory.K1, *(theory.c2 * theory.K2,) * 2)
    for name, weight, moment, factor in zip(names, weights, moments, factors, strict=True):
        yield asserted(f"{name} coordinates", weight, factor * moment)
    feature = theory.test_time_feature()
    yield asserted(
        "ge = 1: the feature is P_1 + P_2 z/r + s(z² + S/2 - 3/2)",
        feature,
        one_step.stated_feature(1) + one_step.remainder(1),
    )
    yield asserted(
        "even g, c_1 = 0: it is P_1 + P_2 (z/r)² + s(S-1)/2",
        feature.subs(theory.c1, 0),
        one_step.stated_feature(2) + one_step.remainder(2),
    )
    r = theory.r
    yield asserted(
        "so R² with z² is 1 -", 1 - one_step.share_even(), 3 * (r - 1) / ((r + 2) * (4 * r + 23))
    )


derivations = (
    Derivation(
        "mamba_closed_form",
        "The layer's recurrence and its closed form",
        closed_form,
        ("mamba.T1", "mamba.T2", "mamba.T3"),
    ),
    Derivation(
        "mamba_forgetting",
        "What N tokens leave of the first ones",
        forgetting_steps,
        ("mamba.T6", "mamba.T7"),
    ),
    Derivation(
        "mamba_stage_one",
        "One gradient step, and the feature it makes",
        stage_one_steps,
        ("mamba.E.gradient", "mamba.C.1.remainder", "mamba.C.1.share"),
    ),
    Derivation(
        "mamba_in_law", "The layer in any dimension, exactly in law", in_law_steps, ("mamba.law",)
    ),
)
