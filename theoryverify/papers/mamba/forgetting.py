"""Forgetting, in symbols: the factor F_N, its bounds for every N, and the recursion of the variance.

Given β the tokens are independent, so with ``μ = E[s]`` the expectation of what token j leaves after N
tokens is ``(1-σ(b)) E[s y φ] (1-μ)^{N-j}``, and

    E[N⁻¹ Mamba] = F_N · φ(x)ᵀ(γ∘E[Tφ]),    F_N = (1-σ(b)) (1-(1-μ)^N)/(N μ).

The stored sum obeys ``S_n = (1-s_n) S_{n-1} + s_n A_n``, ``A = y φ(x_n)ᵀ(γ∘φ(x))``, and so do its
moments. Source: arXiv 2510.12026, where the proof takes forgetting to be negligible.
"""

from __future__ import annotations

from functools import cache

import sympy

from theoryverify.exact.facts import Argument, Theorem, induction, nonnegative, positive
from theoryverify.papers.mamba.theory import sigmoid

b = sympy.Symbol("b", real=True)
mu = sympy.Symbol("mu", positive=True)
N = sympy.Symbol("N", integer=True, positive=True)
p, q = sympy.symbols("p q", positive=True)
m1, m2, h = sympy.symbols("m1 m2 h", real=True)
first, second = sympy.symbols("M1 M2", real=True)


def factor() -> sympy.Expr:
    """``F_N``."""
    return (1 - sigmoid(b)) * (1 - (1 - mu) ** N) / (N * mu)


def first_moment_step() -> sympy.Expr:
    """``E S_n`` from ``M1 = E S_{n-1}``, with ``p = E[1-s]``, ``m1 = E[sA]``."""
    return p * first + m1


def second_moment_step() -> sympy.Expr:
    """``E S_n²`` from ``M1, M2``, with ``q = E[(1-s)²]``, ``h = E[s(1-s)A]``, ``m2 = E[s²A²]``."""
    return q * second + 2 * h * first + m2


def first_moment() -> sympy.Expr:
    """``E S_N = m1 (1-p^N)/(1-p)``."""
    return m1 * (1 - p**N) / (1 - p)


def second_moment() -> sympy.Expr:
    """``E S_N²``: ``m2 (1-q^N)/(1-q) + 2 h m1/(1-p) [(1-q^N)/(1-q) - (p^N-q^N)/(p-q)]``."""
    geometric = (1 - q**N) / (1 - q)
    return m2 * geometric + 2 * h * m1 / (1 - p) * (geometric - (p**N - q**N) / (p - q))


# -- bounds for every N -------------------------------------------------------------------------

_RANGE = positive(mu), positive(1 - mu)  # 0 < μ < 1


@cache
def decreasing() -> Theorem:
    """``1 - (N+1) x^N + N x^{N+1} > 0`` for ``x = 1-μ``, N >= 1: the sign of ``F_N - F_{N+1}``."""

    def statement(n: sympy.Expr) -> sympy.Expr:
        return 1 - (n + 1) * (1 - mu) ** n + n * (1 - mu) ** (n + 1)

    start = Argument(*_RANGE)
    base = start.conclude(
        "N = 1", start.fact(statement(sympy.Integer(1)), lambda m: m**2, start.given[0])
    )
    argument = Argument(*_RANGE, nonnegative(N - 1), positive(statement(N)))
    low, high, size, before = argument.given
    power = argument.power(high, N)
    # D_{N+1} - D_N = (N+1) x^N (1-x)²
    step = argument.fact(
        statement(N + 1),
        lambda d, x, m, k: d + (k + 2) * x * m**2,
        before,
        power,
        low,
        size,
    )
    return induction("F_N decreases", N, 1, base, argument.conclude("N to N+1", step))


@cache
def few_are_forgotten() -> Theorem:
    """``1 - Nμ + N(N-1)μ²/2 - (1-μ)^N >= 0``: so ``F_N >= (1-σ(b))(1-(N-1)μ/2)``."""

    def statement(n: sympy.Expr) -> sympy.Expr:
        return 1 - n * mu + n * (n - 1) * mu**2 / 2 - (1 - mu) ** n

    start = Argument(*_RANGE)
    base = start.conclude(
        "N = 1", start.fact(statement(sympy.Integer(1)), lambda: sympy.Integer(0))
    )
    argument = Argument(*_RANGE, nonnegative(N - 1), nonnegative(statement(N)))
    low, high, size, before = argument.given
    # (1-μ) times the bound at N is the bound at N+1 less N(N-1)μ³/2.
    step = argument.fact(
        statement(N + 1),
        lambda d, x, m, k: d * x + (k + 1) * k * m**3 / 2,
        before,
        high,
        low,
        size,
    )
    return induction("F_N >= (1-σ(b))(1-(N-1)μ/2)", N, 1, base, argument.conclude("step", step))


@cache
def much_is_forgotten() -> Theorem:
    """``(1-μ)^N > 0``: so ``F_N < (1-σ(b))/(Nμ)``."""
    argument = Argument(*_RANGE)
    return argument.conclude("(1-μ)^N > 0", argument.power(argument.given[1], N))
