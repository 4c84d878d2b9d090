"""How α*_T and β*_T approach their limits: the formulas, for all end exponents at once.

Near its ends let ``WZ dP`` be ``Σ C_i s^{k+i} ds`` with masses ``g = C_0 Γ(k+1)``, ``g' = C_1 Γ(k+2)``
(:mod:`theoryverify.exact.ends`; an atom has ``k = -1``). With ``N = 2T``, ``y = 1/α``, ``ρ_a = y-a``,
``ρ_b = b-y`` and ``w = (b-a)/2`` the two halves of ``E[WZ(1-αZ)^{2T-1}] = 0`` balance where

    (N+k_a) log(ρ_a/w) - (N+k_b) log(ρ_b/w) + Λ
        + [k_b(k_b+1) - k_a(k_a+1)]/(2N) + (γ_a ρ_a/w - γ_b ρ_b/w)/N = O(N⁻²),
    Λ = log(g_a/g_b) + (k_b-k_a) log(4T/(b-a)),        γ = w g'/g.

Two parameters: with ``s = (-1)^T`` the stationarity of F_T at ``β = -t`` is, but for a factor
``1 + O(r^T)``,

    E[W] (P_a - P_b) = (p_a - s p_b)(m_a + s m_b),

where ``P``, ``p`` are the halves of ``E[WZ|1-tZ|^n]`` for ``n = 2T-1``, ``T-1`` and ``m`` those of
``E[W|1-tZ|^T]``. The right side is smaller than ``P`` by ``T^{-(k+1)}``: it shifts the optimum by a
term that depends on the parity of T, of order ``T^{-(k+2)}``; for atoms it has the order of the
first term itself.
"""

from __future__ import annotations

from functools import lru_cache

import sympy

from theoryverify.papers.lca.theory import T, a, alpha_limit, b, contraction

k_a, k_b = sympy.symbols("k_a k_b", real=True)
"""The end exponents of ``WZ dP``."""
Lambda = sympy.Symbol("Lambda", real=True)
gamma_a, gamma_b = sympy.symbols("gamma_a gamma_b", real=True)
g_a, g_b = sympy.symbols("g_a g_b", positive=True)
mean_W = sympy.Symbol("E_W", positive=True)
tau_a, tau_b = sympy.symbols("tau_a tau_b", positive=True)
"""``τ = ((b-a)/T)^{(k+1)/2}``, so that fractional powers stay out of the formulas."""
parity = sympy.Symbol("s", real=True)
"""``(-1)^T``."""
root = sympy.Symbol("x", positive=True)


def log_ratio() -> sympy.Expr:
    """``Λ``: the log of the two ends' weights at the limit α*."""
    return sympy.log(g_a / g_b) + (k_b - k_a) * sympy.log(4 * T / (b - a))


x, c_1, c_2 = sympy.symbols("x c_1 c_2", positive=True)


@lru_cache(maxsize=1)
def balance() -> tuple[sympy.Expr, sympy.Expr]:
    """The balance at ``α = α*(1 + c_1 x + c_2 x²)``, ``x = 1/N``, times x: its orders x and x².

    ``ρ_a/w = 1+θ`` and ``ρ_b/w = 1-θ`` with ``θ = (α*/α - 1)/r``; at fixed Λ all is analytic in x.
    """
    theta = (1 / (1 + c_1 * x + c_2 * x**2) - 1) / contraction()
    phi = (1 + k_a * x) * sympy.log(1 + theta) - (1 + k_b * x) * sympy.log(1 - theta) + x * Lambda
    phi += x**2 * ((k_b * (k_b + 1) - k_a * (k_a + 1)) / 2 + gamma_a - gamma_b)
    first, second = (sympy.diff(phi, x, n).subs(x, 0) / n for n in (1, 2))
    return sympy.cancel(first), sympy.cancel(second)


def relative_terms() -> tuple[sympy.Expr, sympy.Expr]:
    """``(c_1, c_2)`` of ``α*_T = α*(1 + c_1/(2T) + c_2/(2T)² + ...)``, at fixed Λ.

    ``c_1 = rΛ/2``, ``c_2 = r²Λ²/4 + (r/2)(γ_a - γ_b - (k_a(k_a+1)-k_b(k_b+1))/2 - (k_a+k_b)Λ/2)``.
    """
    r = contraction()
    inner = gamma_a - gamma_b - (k_a * (k_a + 1) - k_b * (k_b + 1)) / 2 - (k_a + k_b) * Lambda / 2
    return r * Lambda / 2, r**2 * Lambda**2 / 4 + r / 2 * inner


def first_order() -> sympy.Expr:
    """``α* c_1/(2T) = (b-a)/(a+b)² · Λ/(2T)``."""
    return alpha_limit() * relative_terms()[0] / (2 * T)


def second_order() -> sympy.Expr:
    """``α* c_2/(2T)²``."""
    return alpha_limit() * relative_terms()[1] / (2 * T) ** 2


def alpha_expansion() -> sympy.Expr:
    """``α*_T`` up to ``O(log³T/T³)``, without the logarithm where ``k_a = k_b``."""
    return alpha_limit() + first_order() + second_order()


def two_parameter_shift() -> sympy.Expr:
    """``β*_T + α*_T`` (one-parameter α*_T) to leading order, both end exponents above -1.

    ``(b-a)/(a+b)² · [g_aτ_a²/a - g_bτ_b²/b - s(1/a-1/b)√(g_ag_b) τ_aτ_b] / (2T E[W])``
    """
    ends = g_a * tau_a**2 / a - g_b * tau_b**2 / b
    cross = parity * (1 / a - 1 / b) * sympy.sqrt(g_a * g_b) * tau_a * tau_b
    return (b - a) / (a + b) ** 2 * (ends - cross) / (2 * T * mean_W)


pi_a, pi_b = sympy.symbols("pi_a pi_b", positive=True)
"""μ-masses of atoms at the ends, ``μ(dz) = W dP/E[W]``."""


def atoms_balance() -> sympy.Expr:
    """Atoms at both ends: ``b B x² - s(b-a) C x - a A``, zero at ``x = ((tb-1)/(1-ta))^T``.

    ``A = π_a(1-π_a)``, ``B = π_b(1-π_b)``, ``C = π_aπ_b``.
    """
    spread_a, spread_b = pi_a * (1 - pi_a), pi_b * (1 - pi_b)
    return b * spread_b * root**2 - parity * (b - a) * pi_a * pi_b * root - a * spread_a


def atoms_root() -> sympy.Expr:
    """The positive root of :func:`atoms_balance`."""
    A, B, C = a * pi_a * (1 - pi_a), b * pi_b * (1 - pi_b), parity * (b - a) * pi_a * pi_b
    return (C + sympy.sqrt(C**2 + 4 * A * B)) / (2 * B)
