"""The derivations of the one-layer model: its closed form, forgetting, one gradient step."""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from theoryverify.claims.paper import Derivation, DerivationStep
from theoryverify.exact.identities import decide_identity
from theoryverify.papers.mamba import recurrence, theory
from theoryverify.papers.mamba.recurrence import L, gate, j, opening, rest
from theoryverify.papers.mamba.theory import u


def asserted(text: str, left: sympy.Expr, right: sympy.Expr) -> DerivationStep:
    """A step ``left = right``, decided exactly."""
    decision = decide_identity(left, right)
    if decision.holds is not True:
        raise AssertionError(f"{text}: {decision.reason} {decision.witness}")
    return DerivationStep(text, sympy.Eq(left, right, evaluate=False), True)


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


derivations = (
    Derivation(
        "mamba_closed_form",
        "The layer's recurrence and its closed form",
        closed_form,
        ("mamba.T1", "mamba.T2", "mamba.T3"),
    ),
)
