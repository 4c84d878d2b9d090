"""The Mamba paper's exact theory: gate, Hermite expansion, sphere moments, test-time feature.

arXiv 2510.12026. Conventions: ``He_k`` are monic probabilists' Hermite polynomials,
``he_k = He_k/√(k!)``, ``c_k = E[T(y) he_k(z)]`` for the gated label ``T(y) = y·σ(y/ρ+b)``.

Symbols: ``d`` the input dimension, ``r`` the dimension of the feature space, ``n`` an order,
``u`` a gate's argument, ``t`` a threshold.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy

d = sympy.Symbol("d", integer=True, positive=True)
r = sympy.Symbol("r", integer=True, positive=True)
n = sympy.Symbol("n", integer=True, positive=True)
u, t, z = sympy.symbols("u t z", real=True)
y = sympy.Symbol("y", real=True)
c0, c1, c2 = sympy.symbols("c0 c1 c2", real=True)
K0, K1, K2 = sympy.symbols("K0 K1 K2", real=True)


# -- the gate -----------------------------------------------------------------------------------


def sigmoid(argument: sympy.Expr = u) -> sympy.Expr:
    """``σ(u) = e^u/(1 + e^u)``."""
    return sympy.exp(argument) / (1 + sympy.exp(argument))


def softplus(argument: sympy.Expr = u) -> sympy.Expr:
    """``log(1 + e^u)``: the step size Δ of a selective state-space layer."""
    return sympy.log(1 + sympy.exp(argument))


def zero_order_hold(step: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
    """``h' = -h + B x`` with ``x`` held for a time Δ: ``h ← e^{-Δ} h + (∫_0^Δ e^{-s} ds) B x``."""
    s = sympy.Symbol("s", real=True)
    held = sympy.integrate(sympy.exp(-s), (s, 0, step))
    return sympy.exp(-step), held


def odd_part_of_gated(label: sympy.Expr = y) -> sympy.Expr:
    """The odd part in ``y`` of ``y·σ(y)``, the gated label without bias: ``y/2``."""
    return sympy.simplify((label * sigmoid(label) - (-label) * sigmoid(-label)) / 2)


# -- Hermite ------------------------------------------------------------------------------------


def raising(coefficients: dict[int, sympy.Expr]) -> dict[int, sympy.Expr]:
    """Multiplication by z in the basis ``He_{n+i}``: ``z He_m = He_{m+1} + m He_{m-1}``.

    ``coefficients`` maps offsets ``i`` to the factors of ``He_{n+i}``, for a symbolic ``n``.
    """
    total: dict[int, sympy.Expr] = {}
    for offset, factor in coefficients.items():
        total[offset + 1] = total.get(offset + 1, sympy.Integer(0)) + factor
        total[offset - 1] = total.get(offset - 1, sympy.Integer(0)) + (n + offset) * factor
    return {offset: sympy.expand(factor) for offset, factor in total.items()}


def second_moment_form() -> tuple[sympy.Expr, sympy.Expr]:
    """``E[he_n² He_2]`` and ``E[he_n he_{n+2} He_2]`` for every n, from the recurrence.

    ``He_2 He_n = z² He_n - He_n``; orthogonality leaves one term, and ``E[He_m²] = m!``.
    """
    square = raising(raising({0: sympy.Integer(1)}))
    diagonal = square[0] - 1
    # E[He_n He_{n+2} He_2]/√(n!(n+2)!) = (n+2)!/√(n!(n+2)!) = √((n+1)(n+2))
    beside = square[2] * sympy.sqrt((n + 1) * (n + 2))
    return sympy.expand(diagonal), beside


def pivot(previous: sympy.Expr, order: sympy.Expr = n) -> sympy.Expr:
    """One step of LDLᵀ of that form along one parity: ``d_n = 2n - n(n-1)/d_{n-2}``."""
    diagonal, beside = second_moment_form()
    return diagonal.subs(n, order) - (beside**2).subs(n, order - 2) / previous


# -- the embedding ------------------------------------------------------------------------------


def embedding_dimension() -> sympy.Expr:
    """``d~`` = one constant, d linear, d diagonal and d(d-1)/2 mixed entries."""
    return sympy.factor(1 + d + d + d * (d - 1) / 2)


def embedding(x: Sequence[sympy.Expr]) -> list[sympy.Expr]:
    """``φ(x) = [1; x_i; (x_i² - 1)/√2; x_i x_j (i < j)]``."""
    size = len(x)
    pairs = [x[i] * x[j] for i in range(size) for j in range(i + 1, size)]
    return [sympy.Integer(1), *x, *[(e**2 - 1) / sympy.sqrt(2) for e in x], *pairs]


def first_order_signal(beta: Sequence[sympy.Expr]) -> list[sympy.Expr]:
    """``E[T(y) φ(x) | β]``: ``c_0; c_1 β_i; c_2 β_i²; √2 c_2 β_i β_j``."""
    size = len(beta)
    pairs = [
        sympy.sqrt(2) * c2 * beta[i] * beta[j] for i in range(size) for j in range(i + 1, size)
    ]
    return [c0, *[c1 * e for e in beta], *[c2 * e**2 for e in beta], *pairs]


def ideal_feature() -> sympy.Expr:
    """Their product for the indicator of the support: ``c_0 + c_1 z + c_2 (z²-1)/√2``."""
    return c0 + c1 * z + c2 * (z**2 - 1) / sympy.sqrt(2)


# -- moments of the sphere ----------------------------------------------------------------------


def sphere_moments() -> tuple[sympy.Expr, sympy.Expr, sympy.Expr]:
    """``E β_i²``, ``E β_i⁴``, ``E β_i² β_j²`` for β uniform on the unit sphere of R^r.

    A Gaussian vector is ``Rβ`` with ``R`` independent of β; ``E R² = r`` and
    ``E R⁴ = r E x_1⁴ + r(r-1) E x_1² x_2² = r(r+2)``.
    """
    second = r
    fourth = sympy.factor(3 * r + r * (r - 1))
    return 1 / second, 3 / fourth, 1 / fourth


# -- one gradient step and the test-time feature ------------------------------------------------


def one_step_weights() -> tuple[sympy.Expr, sympy.Expr, sympy.Expr, sympy.Expr]:
    """``γ*`` on the support, up to a factor: constant, linear, diagonal, mixed entries.

    Each is (context factor ``c_k``) x (query factor ``K_k``) x (a moment of the sphere).
    """
    second, fourth, mixed = sphere_moments()
    return c0 * K0, c1 * K1 * second, c2 * K2 * fourth, 2 * c2 * K2 * mixed


def test_time_feature() -> sympy.Expr:
    """``φ(x)ᵀ(γ* ∘ E[T φ])`` in terms of ``z = ⟨β,x⟩`` and ``S = Σ β_i² x_i²``."""
    S = sympy.Symbol("S", real=True)
    scale = sympy.sqrt(2) * c2**2 * K2 / (r * (r + 2))
    return c0**2 * K0 + c1**2 * K1 * z / r + scale * (z**2 + S / 2 - sympy.Rational(3, 2))
