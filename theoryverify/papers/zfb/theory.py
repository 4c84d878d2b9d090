r"""The paper's formulas, entry by entry in the eigenbasis of the covariance Λ.

Setting (sections 3.1 and 3.2): ``x_i, x_q ~ N(0,Λ)``, ``w ~ N(0,I_d)``, ``y_i = ⟨w,x_i⟩``; a prompt
of N examples and a query is embedded as ``E = [x_1 ... x_N x_q; y_1 ... y_N 0]``, and one layer of
linear self-attention predicts

    ŷ_q = [W^PV E Eᵀ W^KQ E / N]_{d+1, N+1} = u wᵀ Σ̂ V x_q,      Σ̂ = (1/N) Σ_i x_i x_iᵀ,

for ``W^PV = diag(0, u)`` and ``W^KQ = diag(V, 0)``, the blocks that gradient flow leaves (Lemma 5.2).

Everything that the theorems speak of is a sum over the entries ``(i, j)`` of V in the eigenbasis of
``Λ = diag(λ_1, ..., λ_d)``, and each term involves ``λ_i``, ``λ_j`` and ``τ = tr Λ`` alone. So the
statements are identities in these symbols, for every dimension at once.
"""

from __future__ import annotations

import sympy
from sympy import Rational, Symbol

lam = Symbol("lambda_i", positive=True)
lam_j = Symbol("lambda_j", positive=True)
tau = Symbol("tau", positive=True)
N = Symbol("N", positive=True, integer=True)
M = Symbol("M", positive=True, integer=True)
u = Symbol("u", real=True)
V = Symbol("V_ij", real=True)
delta = Symbol("delta", real=True)
"""1 on the diagonal (then ``λ_j = λ_i``), 0 off it."""

ON_DIAGONAL = {delta: 1, lam_j: lam}
OFF_DIAGONAL = {delta: 0}
"""What makes of a formula for entry (i, j) the one for ``i = j``, or for ``i ≠ j``."""


def gamma(eigenvalue: sympy.Expr = lam) -> sympy.Expr:
    """``Γ = (1+1/N)Λ + (1/N) tr(Λ) I`` on an eigenvector of Λ (Theorem 4.1)."""
    return (1 + 1 / N) * eigenvalue + tau / N


def gaussian_fourth(i: int, j: int, k: int, n: int, variances: dict[int, sympy.Expr]) -> sympy.Expr:
    """``E[x_i x_j x_k x_n]`` for independent centred Gaussians: the sum over three pairings."""

    def pair(a: int, b: int) -> sympy.Expr:
        return variances[a] if a == b else sympy.Integer(0)

    return pair(i, j) * pair(k, n) + pair(i, k) * pair(j, n) + pair(i, n) * pair(j, k)


def sample_square(same: bool) -> sympy.Expr:
    """``E[Σ̂_ac²]`` for ``a = c`` (eigenvalue λ_i) or ``a ≠ c`` (λ_i and λ_j).

    Of the ``N²`` pairs of examples, N are of one example with itself, the others independent.
    """
    variances = {0: lam, 1: lam if same else lam_j}
    a, c = (0, 0) if same else (0, 1)
    itself = gaussian_fourth(a, c, a, c, variances)
    mean = lam if same else sympy.Integer(0)
    return itself / N + (1 - 1 / N) * mean**2


def summed_over_others(term: sympy.Expr) -> sympy.Expr:
    """``Σ_{a≠i} term`` for a term linear in ``λ_j = λ_a``: the sum of the others is ``τ - λ_i``."""
    poly = sympy.Poly(term, lam_j)
    if poly.degree() > 1 or poly.nth(0) != 0:
        raise ValueError(f"{term} is not proportional to {lam_j}")
    return poly.nth(1) * (tau - lam)


def second_moment() -> sympy.Expr:
    """``E[(Σ̂²)_ii] = Σ_a E[Σ̂_ai²]``, from the pairings: it is ``Γ_i λ_i``."""
    return sympy.expand(sample_square(True) + summed_over_others(sample_square(False)))


def loss_entry(g: sympy.Expr | None = None) -> sympy.Expr:
    """What entry (i, j) adds to ``ℓ(u,V) = tr[½u²ΓΛVΛVᵀ - uΛ²Vᵀ]`` (Lemma 5.1, up to a constant)."""
    g = gamma() if g is None else g
    return Rational(1, 2) * u**2 * g * lam * lam_j * V**2 - delta * u * lam**2 * V


def limit_product(g: sympy.Expr | None = None) -> sympy.Expr:
    """``(uV)_ii = 1/Γ_i`` at the end of the flow (Theorem 4.1)."""
    return 1 / (gamma() if g is None else g)


def variance_term(a_norm: sympy.Expr, a: sympy.Expr) -> sympy.Expr:
    """Coordinate i of ``tr(SΓ⁻²Λ)``, S the covariance of ``y x`` (Theorem 4.2), for ``y = ⟨w,x⟩``.

    ``S_ii = λ_i Σ_k λ_k w_k² + λ_i² w_i²``; ``a_norm`` is ``Σ_k λ_k w_k²``, ``a`` is ``w_i²``.
    """
    return (lam * a_norm + lam**2 * a) * lam / gamma() ** 2


def bias_term(a: sympy.Expr) -> sympy.Expr:
    """Coordinate i of the bias of Theorem 4.2 without ``1/N²``; ``a = a_i²``, ``a = Λ⁻¹E[xy]``."""
    return a * (lam**3 + 2 * tau * lam**2 + tau**2 * lam) / gamma() ** 2
