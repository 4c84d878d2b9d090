"""Lemmas 5.1 and 5.2: the prediction and its loss, and the blocks that stay zero."""

from __future__ import annotations

from fractions import Fraction

import sympy
from sympy import Matrix, Rational, Symbol

from theoryverify.claims import PROVED, Claim, Evidence, Examination
from theoryverify.papers.zfb import literal, theory
from theoryverify.papers.zfb.claims.hypotheses import GAUSSIAN
from theoryverify.papers.zfb.theory import (
    OFF_DIAGONAL,
    ON_DIAGONAL,
    N,
    V,
    delta,
    lam,
    lam_j,
    tau,
    u,
)

LOSS = Claim(
    "zfb.5.1",
    "Lemma 5.1",
    r"L(\theta)=\operatorname{tr}\left[\tfrac12u^2\Gamma\Lambda V\Lambda V^\top-u\Lambda^2V^\top"
    r"\right]+\tfrac12\operatorname{tr}\Lambda",
    title="the loss is tr[½u²ΓΛVΛVᵀ - uΛ²Vᵀ] + ½trΛ",
    hypotheses=(GAUSSIAN,),
    note="The statement as this project derives it; the lemma's place by the paper's contents.",
)


@LOSS.check(
    "Isserlis' pairings",
    PROVED,
    formula=theory.gamma(),
    controls={
        "(1+2/N)Λ": theory.gamma() + lam / N,
        "without the trace": (1 + 1 / N) * lam,
        "(N+1) for N": theory.gamma().subs(N, N + 1),
    },
)
def pairings(g: sympy.Expr, examination: Examination) -> Evidence:
    """Expand ``½E(u wᵀΣ̂Vx_q - wᵀx_q)²`` over w and x_q: ``½Σ_ab λ_b E[(uΣ̂V - I)_ab²]``."""
    # Entry V_cb meets Σ̂_ac for every a: λ_i stands for λ_c, λ_j for λ_b.
    quadratic = Rational(1, 2) * u**2 * lam_j * theory.second_moment() * V**2
    linear = -u * lam * lam * V  # -λ_b E[Σ̂_bb] V_bb
    claimed = theory.loss_entry(g)
    examination.identity("off the diagonal", quadratic, claimed.subs(OFF_DIAGONAL))
    on_diagonal = quadratic.subs(lam_j, lam) + linear
    examination.identity("on the diagonal", on_diagonal, claimed.subs(ON_DIAGONAL))
    return examination.evidence("every d, N, Λ, u, V")


_SMALL_CASES = (
    ((Fraction(1), Fraction(3)), 1),
    ((Fraction(2), Fraction(1, 2)), 2),
    ((Fraction(5),), 3),
)


@LOSS.check(
    "literal network",
    PROVED,
    formula=theory.gamma(),
    controls={
        "(1+2/N)Λ": theory.gamma() + lam / N,
        "without the trace": (1 + 1 / N) * lam,
    },
    cases=_SMALL_CASES,
)
def literal_network(
    g: sympy.Expr, case: tuple[tuple[Fraction, ...], int], examination: Examination
) -> Evidence:
    """Multiply out (3.3) as it is written and take exact moments."""
    spectrum, length = case
    d = len(spectrum)
    W = Matrix(d, d, lambda i, j: Rational(2 * i - 3 * j + 1, 5))
    scale = Rational(3, 7)
    W_PV, W_KQ = _weights(scale, W)
    claimed = sum(spectrum, Fraction(0)) / 2
    total = Rational(claimed.numerator, claimed.denominator)
    for i in range(d):
        for j in range(d):
            at = {
                lam: sympy.Rational(spectrum[i]),
                lam_j: sympy.Rational(spectrum[j]),
                tau: sympy.Rational(sum(spectrum)),
                N: length,
                u: scale,
                V: W[i, j],
                delta: int(i == j),
            }
            total += theory.loss_entry(g).subs(at)
    examination.identity("L(θ)", literal.loss(spectrum, length, W_PV, W_KQ), total)
    return examination.evidence(f"d = {d}, N = {length}, one (u, V)")


def _weights(
    scale: sympy.Expr, W: Matrix, p: Matrix | None = None, q: Matrix | None = None
) -> tuple[Matrix, Matrix]:
    """``W^PV = [0 0; pᵀ u]``, ``W^KQ = [V 0; qᵀ 0]``; what else there is does not matter."""
    d = W.shape[0]
    p = sympy.zeros(d, 1) if p is None else p
    q = sympy.zeros(d, 1) if q is None else q
    top = sympy.zeros(d, d + 1)
    value = top.col_join(p.T.row_join(Matrix([[scale]])))
    key = W.row_join(sympy.zeros(d, 1)).col_join(q.T.row_join(Matrix([[0]])))
    return value, key


BLOCKS = Claim(
    "zfb.5.2.blocks",
    "Lemma 5.2, the blocks that vanish",
    r"w^{PV}_{21}(0)=w^{KQ}_{21}(0)=0\ \Rightarrow\ w^{PV}_{21}(t)=w^{KQ}_{21}(t)=0",
    title="the blocks w₂₁ stay zero along the flow",
    hypotheses=(GAUSSIAN,),
)


@BLOCKS.check(
    "odd in w",
    PROVED,
    formula=-1,
    controls={"even in w": 1},
    mutate=False,
)
def odd_in_w(parity: int, examination: Examination) -> Evidence:
    """``ŷ(-w; p, q, u, V) = -ŷ(w; -p, -q, u, V)``, so the loss is even in (p, q): no gradient at 0.

    ``w -> -w`` keeps the law of the prompt and turns the sign of the target.
    """
    # ŷ = (pᵀ, u) [S, c; cᵀ, s] (V; qᵀ) x_q with S = EEᵀ's block of x, c that of xy, s of y².
    S, c, s, p, q = sympy.symbols("S c s p q")
    v = Symbol("v")

    def output(sign: int, p: sympy.Expr, q: sympy.Expr) -> sympy.Expr:
        return p * S * v + sign * p * c * q + sign * u * c * v + u * s * q

    turned = output(-1, p, q)
    examination.identity("ŷ under w -> -w", turned, parity * output(1, -p, -q))
    examination.assume("a gradient flow stays where the gradient is tangent (uniqueness of ODEs)")
    return examination.evidence(
        "every d, N: each of the four products of blocks is linear in its factors"
    )


@BLOCKS.check(
    "literal network",
    PROVED,
    formula=1,
    controls={"the gradient along u vanishes": 0},
    mutate=False,
)
def no_gradient(which: int, examination: Examination) -> Evidence:
    """The exact loss at ``(εp, εq)`` has no term linear in ε, while moving u does have one."""
    epsilon = Symbol("epsilon")
    W = Matrix([[1, Rational(1, 2)], [Rational(-1, 3), 2]])
    p, q = (Matrix(entries) * epsilon * which for entries in ([1, -2], [Rational(1, 2), 3]))
    scale = Rational(3, 7) + epsilon * (1 - which)
    value, key = _weights(scale, W, p, q)
    spectrum = (Fraction(1), Fraction(3))
    found = sympy.Poly(literal.loss(spectrum, 1, value, key), epsilon)
    examination.identity("dL/dε at ε = 0", found.nth(1), sympy.Integer(0))
    return examination.evidence("d = 2, N = 1, one direction (p, q)")


claims = (LOSS, BLOCKS)
