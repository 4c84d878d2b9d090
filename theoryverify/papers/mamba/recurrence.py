"""The layer's recurrence and its closed form, in symbols: the induction over tokens.

The k-th token opens the gate by ``s_k = σ(u_k)`` and multiplies what was stored by ``1-s_k``. With
prefix products ``Q_k = Π_{i<=k} (1-s_i)`` a product over ``j < k <= L`` is ``Q_L/Q_j``, so gates with
symbolic indices are rational functions of a few symbols, and one step of the induction is an identity
of such. Source: arXiv 2510.12026, the one-layer Mamba and its gate ``G_{j,N+1}(Z)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

import sympy

from theoryverify.papers.mamba.theory import sigmoid

b = sympy.Symbol("b", real=True)
j, L = sympy.symbols("j L", integer=True, positive=True)
rest = sympy.Symbol("Q_N", positive=True)

Index: TypeAlias = sympy.Expr | int
Gate = Callable[[Index, Index], sympy.Expr]
"""``(j, L) -> G_{j,L}``: what is left of token j after token L."""


def opening(k: Index) -> sympy.Symbol:
    """``s_k``."""
    return sympy.Symbol(f"s[{k}]", positive=True)


def kept(k: Index) -> sympy.Expr:
    """``Q_k``, with ``Q_{k+1} = Q_k (1-s_{k+1})``; each symbolic base has a symbol of its own."""
    shift, base = sympy.sympify(k).as_coeff_Add()
    value: sympy.Expr = sympy.Symbol(f"Q[{base}]", positive=True)
    for step in range(int(shift)):
        value *= 1 - opening(base + step + 1)
    for step in range(0, int(shift), -1):
        value /= 1 - opening(base + step)
    return value


def gate(token: Index, last: Index) -> sympy.Expr:
    """``G_{j,L} = s_j Π_{k=j+1}^L (1-s_k) = s_j Q_L/Q_j``."""
    return opening(token) * kept(last) / kept(token)


def gate_sum() -> sympy.Expr:
    """``Σ_{j<=N} G_{j,N+1} = (1-σ(b)) (1 - Q_N)``, the query's gate being ``σ(b)``."""
    return (1 - sigmoid(b)) * (1 - rest)


def stored(count: int, values: Sequence[sympy.Expr]) -> sympy.Expr:
    """``h_count`` of one channel and one state by ``h_l = (1-s_l) h_{l-1} + s_l v_l``, ``h_0 = 0``."""
    h: sympy.Expr = sympy.Integer(0)
    for k in range(1, count + 1):
        h = (1 - opening(k)) * h + opening(k) * values[k - 1]
    return sympy.expand(h)


Matrix = list[list[Fraction]]


def rational_output(
    Z: Matrix, W_B: Matrix, W_C: Matrix, openings: Sequence[Fraction]
) -> list[Fraction]:
    """``o_L`` in all channels by the recurrence, in exact rationals."""
    width, states = len(Z[0]), len(W_B)
    h = [[Fraction(0)] * states for _ in range(width)]
    for token, s in zip(Z, openings, strict=True):
        B = [sum((w * z for w, z in zip(row, token, strict=True)), Fraction(0)) for row in W_B]
        h = [[(1 - s) * h[c][i] + s * token[c] * B[i] for i in range(states)] for c in range(width)]
    C = [sum((w * z for w, z in zip(row, Z[-1], strict=True)), Fraction(0)) for row in W_C]
    return [sum((h[c][i] * C[i] for i in range(states)), Fraction(0)) for c in range(width)]


def rational_closed_form(
    Z: Matrix, W_B: Matrix, W_C: Matrix, gates: Sequence[Fraction]
) -> list[Fraction]:
    """``Σ_j G_j z_j (z_jᵀ W_Bᵀ W_C z_L)`` in exact rationals, ``W_Bᵀ W_C`` formed first."""
    width = len(Z[0])
    product = [
        [
            sum((rb[p] * rc[q] for rb, rc in zip(W_B, W_C, strict=True)), Fraction(0))
            for q in range(width)
        ]
        for p in range(width)
    ]
    out = [Fraction(0)] * width
    for token, weight in zip(Z, gates, strict=True):
        score = sum(
            (token[p] * product[p][q] * Z[-1][q] for p in range(width) for q in range(width)),
            Fraction(0),
        )
        out = [total + weight * score * entry for total, entry in zip(out, token, strict=True)]
    return out
