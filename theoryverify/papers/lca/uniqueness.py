"""The pair kernel of ``F_T'``: the polynomials P, D and Q of the uniqueness theorem.

With ``t = -β``, ``x = 1-tz``, ``y = 1-tz'`` the derivative of ``F_T(β) = min_α ℓ(α,β)`` is a
positive factor times ``t³ E E'(z-z')² zz' P(x,y)``, and the derivative of ``t^{-c}`` times that
mean is ``-t^{-c-1} E E'(z-z')² zz' (D+cP)``. The theorem rests on one identity,

    D + (2T-4) P = Q = T h_{T-2} B + (T-1) h_{T-1} C,

and on ``Q > 0``. Everything here is a closed form in which T is a symbol: ``x^T`` and ``y^T`` are
handled as symbols of their own by :mod:`theoryverify.exact.identities`. The divisions by ``x-y``
and ``1-x`` are exact: :data:`RECURSIONS` are the sums that the closed forms stand for.
"""

from __future__ import annotations

import sympy

from theoryverify.papers.lca.theory import T

x, y = sympy.symbols("x y", real=True)
t = sympy.Symbol("t", positive=True)
z, z_prime = sympy.symbols("z z'", positive=True)


def S(x: sympy.Expr, depth: sympy.Expr = T) -> sympy.Expr:
    """``S(x) = 1 + x + ... + x^{T-1}``, for ``x ≠ 1``."""
    return (1 - x**depth) / (1 - x)


def h(order: sympy.Expr, x: sympy.Expr = x, y: sympy.Expr = y) -> sympy.Expr:
    """``h_n = Σ_{i<=n} x^i y^{n-i}``, for ``x ≠ y``."""
    return (x ** (order + 1) - y ** (order + 1)) / (x - y)


def G(x: sympy.Expr, depth: sympy.Expr = T) -> sympy.Expr:
    """``G = x^{T-1}/S(x)``."""
    return x ** (depth - 1) / S(x, depth)


def R(x: sympy.Expr, depth: sympy.Expr = T) -> sympy.Expr:
    """``R = x^{T-2}/S(x)``."""
    return x ** (depth - 2) / S(x, depth)


def crossed(
    power: sympy.Expr, x: sympy.Expr = x, y: sympy.Expr = y, depth: sympy.Expr = T
) -> sympy.Expr:
    """``x^k S(y) - y^k S(x)``: ``B`` and ``C`` times ``x-y`` for ``k = T-1`` and ``T-2``."""
    return x**power * S(y, depth) - y**power * S(x, depth)


def B(x: sympy.Expr = x, y: sympy.Expr = y, depth: sympy.Expr = T) -> sympy.Expr:
    """``B = Σ_{j<=T-2} (xy)^j h_{T-2-j} = [x^{T-1}S(y) - y^{T-1}S(x)]/(x-y)``."""
    return crossed(depth - 1, x, y, depth) / (x - y)


def C(x: sympy.Expr = x, y: sympy.Expr = y, depth: sympy.Expr = T) -> sympy.Expr:
    """``C = Σ_{j<=T-3} (xy)^j h_{T-3-j} - (xy)^{T-2} = [x^{T-2}S(y) - y^{T-2}S(x)]/(x-y)``."""
    return crossed(depth - 2, x, y, depth) / (x - y)


def P(x: sympy.Expr = x, y: sympy.Expr = y, depth: sympy.Expr = T) -> sympy.Expr:
    """``P = h_{T-1} B``, a polynomial with nonnegative coefficients."""
    return h(depth - 1, x, y) * B(x, y, depth)


def D(depth: sympy.Expr = T) -> sympy.Expr:
    """``D = (1-x) ∂P/∂x + (1-y) ∂P/∂y``."""
    kernel = P(x, y, depth)
    return (1 - x) * sympy.diff(kernel, x) + (1 - y) * sympy.diff(kernel, y)


def Q(x: sympy.Expr = x, y: sympy.Expr = y, depth: sympy.Expr = T) -> sympy.Expr:
    """``Q = T h_{T-2} B + (T-1) h_{T-1} C``."""
    first = depth * h(depth - 2, x, y) * B(x, y, depth)
    return first + (depth - 1) * h(depth - 1, x, y) * C(x, y, depth)


def numerator(x: sympy.Expr = x, y: sympy.Expr = y, depth: sympy.Expr = T) -> sympy.Expr:
    """``N = (x-y)² Q``, without the divisions by ``x-y``."""
    first = (x ** (depth - 1) - y ** (depth - 1)) * crossed(depth - 1, x, y, depth)
    second = (x**depth - y**depth) * crossed(depth - 2, x, y, depth)
    return depth * first + (depth - 1) * second


def exponent(depth: sympy.Expr = T) -> sympy.Expr:
    """``c_T = 2T-4``: ``t^{-c_T} E E'(z-z')² zz' P`` is strictly decreasing."""
    return 2 * depth - 4


RECURSIONS: tuple[tuple[str, sympy.Expr, sympy.Expr], ...] = (
    ("h_0 = 1", h(sympy.Integer(0)), sympy.Integer(1)),
    ("h_{n+1} = x^{n+1} + y h_n", h(T + 1), x ** (T + 1) + y * h(T)),
    ("S_1 = 1", S(x, sympy.Integer(1)), sympy.Integer(1)),
    ("S_{T+1} = S_T + x^T", S(x, T + 1), S(x) + x**T),
    ("B_1 = 0", B(depth=sympy.Integer(1)), sympy.Integer(0)),
    ("B_{T+1} = h_{T-1} + xy B_T", B(depth=T + 1), h(T - 1) + x * y * B()),
    ("C_2 = -1", C(depth=sympy.Integer(2)), sympy.Integer(-1)),
    ("C_{T+1} = h_{T-2} + xy C_T", C(depth=T + 1), h(T - 2) + x * y * C()),
)
"""The sums ``h, S, B, C`` in recursive form beside their closed forms: ``(name, left, right)``."""


def paired_mean(
    expression: sympy.Expr,
    first: tuple[sympy.Symbol, sympy.Symbol],
    second: tuple[sympy.Symbol, sympy.Symbol],
    moments: dict[tuple[int, int], sympy.Expr],
) -> sympy.Expr:
    """``E E'`` of a polynomial in ``(v, w)`` and an independent copy ``(v', w')``.

    Each monomial ``v^i w^j v'^k w'^n`` becomes ``moments[i, j] moments[k, n]``.
    """
    total = sympy.Integer(0)
    for (i, j, k, n), coefficient in sympy.Poly(expression, *first, *second).terms():
        total += coefficient * moments[i, j] * moments[k, n]
    return total
