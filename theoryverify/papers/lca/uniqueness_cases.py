"""The positivity lemma ``Q > 0``, case by case, each a checked :class:`Theorem` for every depth.

``Q`` is symmetric, so let ``x > y``. Then one of these holds, and for ``T >= 3`` the pair is in
the case named beside it (``ξ = -y``, and in (c), (d) ``η = -x``):

======================  =======================================================
``0 < y < x``           (a)
``y = 0`` or ``x = 0``  (b)
``y < x < 0``           (c) for even T, (d) for odd T
``y < 0 < x <= ξ``      (f) for even T, (e, near) for odd T
``y < 0 < ξ < x``       (g) for even T, (e, far) for odd T
======================  =======================================================

Cases (d) and (e) ask for ``ξ <= 1`` or ``ξ < 1``; (c) and (f) do not, and in (g) ``ξ < x < 1`` by
itself. So for even T the pair may lie anywhere below 1. ``T = 2`` has its own line.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import sympy

from theoryverify.exact.facts import Argument, Fact, Theorem, nonnegative, positive
from theoryverify.papers.lca.uniqueness import G, Q, R, S, x, y
from theoryverify.papers.lca.uniqueness_lemmas import (
    EVEN,
    M3_G,
    M3_R,
    M4_G,
    M4_R,
    ODD,
    B_positive,
    C_positive,
    T,
    bernoulli,
    eta,
    h_positive,
    m,
    n,
    negative_pair,
    power_below_one,
    powers,
    powers_weak,
    sum_above_one,
    sum_below_count,
    sum_positive,
    xi,
)

k = sympy.Symbol("k", integer=True, nonnegative=True)  # so that 0^{k+1} = 0
TWO = sympy.Integer(2)


@lru_cache
def depth_two() -> Theorem:
    """``T = 2``, ``y < x < 1``: ``Q = (1-x) + (1-y)``."""
    argument = Argument(positive(x - y), positive(1 - x))
    gap, room = argument.given
    below = argument.fact(1 - y, lambda g, r: g + r, gap, room)
    return argument.conclude("T = 2", argument.fact(Q(x, y, TWO), lambda a, b: a + b, room, below))


@lru_cache
def case_a() -> Theorem:
    """(a) ``0 < y < x < 1``, ``T >= 3``: in ``Q = T h_{T-2}B + (T-1)h_{T-1}C`` all are positive."""
    argument = Argument(positive(y), positive(x - y), positive(1 - x), nonnegative(T - 3))
    low, gap, room, bound = argument.given
    argument.fact(1 - y, lambda r, g: r + g, room, gap)
    two = argument.fact(T - 2, lambda k: k + 1, bound)
    one = argument.fact(T - 1, lambda k: k + 2, bound)
    fact = argument.fact(
        Q(x, y, T), lambda k, f, b, s, c: (k + 3) * f * b + (k + 2) * s * c,
        bound,
        argument.use(h_positive(), {n: T - 2}, low, gap, two),
        argument.use(B_positive(), {n: T}, low, gap, room, two),
        argument.use(h_positive(), {n: T - 1}, low, gap, one),
        argument.use(C_positive(), {n: T}, low, gap, room, bound),
    )  # fmt: skip
    return argument.conclude("case (a)", fact)


@lru_cache
def case_b() -> Theorem:
    """(b) ``y = 0 ≠ x < 1``, ``T = k+3``: ``Q = (2T-1)(x²)^{T-2}``."""
    argument = Argument(positive(x**2), positive(1 - x), nonnegative(k))
    square, _, bound = argument.given
    fact = argument.fact(
        Q(x, sympy.Integer(0), k + 3), lambda p, k: (2 * k + 5) * p,
        argument.power(square, k + 1), bound,
    )  # fmt: skip
    return argument.conclude("case (b)", fact)


@lru_cache
def case_c() -> Theorem:
    """(c) ``x = -η``, ``y = -ξ``, ``0 < η < ξ`` of any size, T even >= 4.

    ``N = T(ξ^{T-1}-η^{T-1})(ξη)^{T-1}[M3] + (T-1)(ξ^T-η^T)(ξη)^{T-2}[M3]``.
    """
    argument = Argument(positive(eta), positive(xi - eta), nonnegative(m - 2))
    low, gap, bound = argument.given
    high = argument.fact(xi, lambda low, g: low + g, low, gap)
    for point, base in ((xi, high), (eta, low)):
        argument.fact(1 + point, lambda p: 1 + p, base)
    more = argument.fact(m - 1, lambda k: k + 1, bound)
    odd = argument.fact(EVEN - 2, lambda k: 2 * k + 2, bound)
    even = argument.fact(EVEN - 1, lambda k: 2 * k + 3, bound)
    fact = argument.fact(
        Q(-eta, -xi, EVEN),
        lambda k, a, p, r, u, b, q, s, v, g: (
            (2 * k + 4) * a * p * r * u + (2 * k + 3) * b * q * s * v
        ) / g**2,
        bound,
        argument.use(powers(), {x: xi, y: eta, n: EVEN - 1}, low, gap, odd),
        argument.power(high, EVEN - 1), argument.power(low, EVEN - 1),
        argument.use(M3_G(), {}, low, gap, more),
        argument.use(powers(), {x: xi, y: eta, n: EVEN}, low, gap, even),
        argument.power(high, EVEN - 2), argument.power(low, EVEN - 2),
        argument.use(M3_R(), {}, low, gap, bound),
        gap,
    )  # fmt: skip
    return argument.conclude("case (c)", fact)


@lru_cache
def case_d() -> Theorem:
    """(d) ``x = -η``, ``y = -ξ``, ``0 < η < ξ <= 1``, T odd >= 3: :func:`both_negative` with M4."""
    argument, (low, gap, bound, room) = negative_pair(nonnegative(1 - xi))
    rise = argument.use(M4_R(), {}, low, gap, bound, room)
    fact = argument.use(both_negative(), {}, low, gap, bound, rise)
    return argument.conclude("case (d)", fact)


@lru_cache
def both_negative() -> Theorem:
    """``x = -η``, ``y = -ξ``, ``0 < η < ξ``, T odd >= 3, and ``|R(-ξ)| > |R(-η)|``.

    ``N/(S S') = T(ξ^{T-1}-η^{T-1})[M4: G] + (T-1)(ξ^T-η^T)[|R(-ξ)| - |R(-η)|]``.
    """
    argument, (low, gap, bound, rise) = negative_pair(positive(R(-eta, ODD) - R(-xi, ODD)))
    high = argument.fact(xi, lambda low, g: low + g, low, gap)
    sums = [
        argument.fact(S(-p, ODD), lambda q, p: (1 + q) / (1 + p), argument.power(f, ODD), f)
        for p, f in ((xi, high), (eta, low))
    ]
    even = argument.fact(ODD - 2, lambda k: 2 * k + 1, bound)
    odd = argument.fact(ODD - 1, lambda k: 2 * k + 2, bound)
    fact = argument.fact(
        Q(-eta, -xi, ODD),
        lambda k, s, r, a, u, b, v, g: (
            ((2 * k + 3) * a * u + (2 * k + 2) * b * v) * s * r / g**2
        ),
        bound, *sums,
        argument.use(powers(), {x: xi, y: eta, n: ODD - 1}, low, gap, even),
        argument.use(M4_G(), {}, low, gap, bound, rise),
        argument.use(powers(), {x: xi, y: eta, n: ODD}, low, gap, odd),
        rise, gap,
    )  # fmt: skip
    return argument.conclude("both negative, T odd", fact)


# -- one positive and one negative argument -----------------------------------------------------


@dataclass(frozen=True)
class _Mixed:
    """``0 < x < 1`` and ``y = -ξ``: what (e), (f) and (g) share."""

    argument: Argument
    x: Fact
    room: Fact
    xi: Fact
    gap: Fact
    bound: Fact

    @property
    def both(self) -> Fact:
        """``x + ξ > 0``, the difference of the two arguments."""
        return self.argument.fact(x + xi, lambda a, b: a + b, self.x, self.xi)

    def sum(self, theorem: Theorem, depth: sympy.Expr) -> Fact:
        """One of the theorems on ``S_n(x)``, at a depth of at least 1."""
        least = self.argument.fact(depth - 1, lambda k: 2 * k + (depth - 1 - EVEN + 2), self.bound)
        return self.argument.use(theorem, {n: depth}, self.x, self.room, least)


def _near(least: int, *more: sympy.Expr) -> _Mixed:
    """``x <= ξ``."""
    argument = Argument(
        positive(x), positive(1 - x), nonnegative(xi - x), nonnegative(m - least),
        *(positive(sign) for sign in more),
    )  # fmt: skip
    low, room, gap, bound, *_ = argument.given
    high = argument.fact(xi, lambda low, g: low + g, low, gap)
    argument.fact(1 + xi, lambda p: 1 + p, high)
    return _Mixed(argument, low, room, high, gap, bound)


def _far(least: int) -> _Mixed:
    """``ξ < x``."""
    argument = Argument(positive(xi), positive(x - xi), positive(1 - x), nonnegative(m - least))
    low, gap, room, bound = argument.given
    high = argument.fact(x, lambda low, g: low + g, low, gap)
    argument.fact(1 + xi, lambda p: 1 + p, low)
    return _Mixed(argument, high, room, low, gap, bound)


@lru_cache
def case_e_near() -> Theorem:
    """(e) ``0 < x <= ξ < 1``, ``y = -ξ``, T odd >= 3.

    With ``e = ξ^{T-1}-x^{T-1}``, ``d = 1-S(-ξ)`` and ``f = S(x)-1``, all ``>= 0``, the first
    product of N is ``T e (x^{T-1}(d+f) + e(1+f))`` and the second is positive.
    """
    mixed = _near(1, 1 - xi)
    argument, bound = mixed.argument, mixed.bound
    even = argument.fact(ODD - 1, lambda k: 2 * k + 2, bound)
    less = argument.fact(ODD - 2, lambda k: 2 * k + 1, bound)
    rest = argument.use(power_below_one(), {x: xi, n: ODD - 1}, mixed.xi, argument.given[-1], less)
    fact = argument.fact(
        Q(x, -xi, ODD),
        lambda k, e, p, d, f, a, b, c, s, q, w, g: (
            (2 * k + 3) * e * (p * (d + f) + e * (1 + f))
            + (2 * k + 2) * (a + b) * (c * s + q * w)
        ) / g**2,
        bound,
        argument.use(powers_weak(), {x: xi, y: x, n: ODD - 1}, mixed.x, mixed.gap, even),
        argument.power(mixed.x, ODD - 1),
        argument.fact(1 - S(-xi, ODD), lambda p, r: p * r / (1 + p), mixed.xi, rest),
        mixed.sum(sum_above_one(), ODD),
        argument.power(mixed.x, ODD),
        argument.power(mixed.xi, ODD),
        argument.power(mixed.x, ODD - 2),
        argument.fact(
            S(-xi, ODD), lambda q, p: (1 + q) / (1 + p), argument.power(mixed.xi, ODD), mixed.xi
        ),
        argument.power(mixed.xi, ODD - 2),
        mixed.sum(sum_positive(), ODD),
        mixed.both,
    )  # fmt: skip
    return argument.conclude("case (e), x <= ξ", fact)


@lru_cache
def case_e_far() -> Theorem:
    """(e) ``0 < ξ < x < 1``, ``y = -ξ``, T odd >= 3.

    The one term of N that may be negative is ``-T ξ(x^{T-1}-ξ^{T-1})`` beside
    ``(T-1)(x^T+ξ^T)``; with ``r = ξ/x`` their sum over ``x^T`` is
    ``[r^T-1-T(r-1)] + 2(T-1)r^T > 0`` by Bernoulli's inequality.
    """
    mixed = _far(1)
    argument, bound = mixed.argument, mixed.bound
    even = argument.fact(ODD - 1, lambda k: 2 * k + 2, bound)
    less = argument.fact(ODD - 2, lambda k: 2 * k + 1, bound)
    ratio = argument.fact(xi / x, lambda a, b: a / b, mixed.xi, mixed.x)
    bracket = argument.fact(
        (ODD - 1) * (x**ODD + xi**ODD) - ODD * xi * (x ** (ODD - 1) - xi ** (ODD - 1)),
        lambda p, e, k, q: p * e + (4 * k + 4) * q,
        argument.power(mixed.x, ODD),
        argument.use(bernoulli(), {x: xi / x, n: ODD}, ratio, even),
        bound,
        argument.power(mixed.xi, ODD),
    )  # fmt: skip
    fact = argument.fact(
        Q(x, -xi, ODD),
        lambda k, e, p, s, a, b, c, q, w, z, g: (
            ((2 * k + 3) * e * p * s + (2 * k + 2) * (a + b) * c * s + q * w * z) / g**2
        ),
        bound,
        argument.use(powers(), {y: xi, n: ODD - 1}, mixed.xi, mixed.gap, less),
        argument.power(mixed.x, ODD - 1),
        argument.fact(
            S(-xi, ODD), lambda q, p: (1 + q) / (1 + p), argument.power(mixed.xi, ODD), mixed.xi
        ),
        argument.power(mixed.x, ODD),
        argument.power(mixed.xi, ODD),
        argument.power(mixed.x, ODD - 2),
        argument.power(mixed.xi, ODD - 2),
        mixed.sum(sum_positive(), ODD),
        bracket,
        mixed.both,
    )  # fmt: skip
    return argument.conclude("case (e), x > ξ", fact)


@lru_cache
def case_f() -> Theorem:
    """(f) ``0 < x < 1``, ``x <= ξ`` of any size, ``y = -ξ``, T even >= 2.

    ``x^{T-1}S(-ξ) + ξ^{T-1}S(x) = ξ^{T-1}S_{T-1}(x) + x^{T-1}κ`` with
    ``κ = S(-ξ)+ξ^{T-1} = (1+ξ^{T-1})/(1+ξ)``; the second product of N is ``>= 0`` since
    ``S(-ξ) <= 1 <= S(x)``.
    """
    mixed = _near(1)
    argument, bound = mixed.argument, mixed.bound
    last = EVEN - 1
    some = argument.fact(EVEN - 2, lambda k: 2 * k, bound)
    even = argument.fact(EVEN, lambda k: 2 * k + 2, bound)
    fact = argument.fact(
        Q(x, -xi, EVEN),
        lambda k, a, b, s, c, e, p, f, d, o, g: (
            (2 * k + 2) * (a + b) * (b * s + a * c)
            + (2 * k + 1) * e * (p * f + d * (1 + f) + p * o)
        ) / g**2,
        bound,
        argument.power(mixed.x, last),
        argument.power(mixed.xi, last),
        mixed.sum(sum_positive(), last),
        argument.fact(
            S(-xi, EVEN) + xi**last, lambda q, p: (1 + q) / (1 + p),
            argument.power(mixed.xi, last), mixed.xi,
        ),
        argument.use(powers_weak(), {x: xi, y: x, n: EVEN}, mixed.x, mixed.gap, even),
        argument.power(mixed.x, EVEN - 2),
        mixed.sum(sum_above_one(), EVEN),
        argument.use(powers_weak(), {x: xi, y: x, n: EVEN - 2}, mixed.x, mixed.gap, some),
        argument.fact(
            1 - S(-xi, EVEN), lambda p, q: (p + q) / (1 + p),
            mixed.xi, argument.power(mixed.xi, EVEN),
        ),
        mixed.both,
    )  # fmt: skip
    return argument.conclude("case (f)", fact)


@lru_cache
def case_g() -> Theorem:
    """(g) ``0 < ξ < x < 1``, ``y = -ξ``, T even >= 2.

    With ``ρ = x/ξ > 1``, ``q = G(x)/|G(-ξ)|`` and ``K = (1+ρ^{1-T})/(1-ρ^{-T}) > 1``,

        N = S(x) ξ^{T-1} (x^T-ξ^T)/x · [T K (q+1) + (T-1)(q-ρ)]

    and ``q > (ρ-1)/2`` makes the bracket larger than ``(ρ+1)/2``. For that, with ``r = 1/ρ``,
    ``q (1+ξ) S(x) = ρ^{T-1}(1-ξ^T) > ρ^{T-1}(1-r^T) >= T(ρ-1)(1+r)/2 > (ρ-1)/2 (1+ξ) S(x)``.
    """
    mixed = _far(1)
    argument, bound, gap = mixed.argument, mixed.bound, mixed.gap
    last = EVEN - 1
    rho = x / xi
    ratio = argument.fact(rho - 1, lambda g, p: g / p, gap, mixed.xi)
    above = argument.fact(rho, lambda r: 1 + r, ratio)
    even = argument.fact(EVEN - 1, lambda k: 2 * k + 1, bound)
    S_x = mixed.sum(sum_positive(), EVEN)
    q = x**last * S(-xi, EVEN) / (xi**last * S(x, EVEN))
    argument.fact(1 - x**EVEN, lambda s, r: s * r, S_x, mixed.room)
    gain = argument.fact(
        (xi / x) ** EVEN - xi**EVEN, lambda p, r: r / p,
        argument.power(above, EVEN),
        argument.use(power_below_one(), {n: EVEN}, mixed.x, mixed.room, even),
    )  # fmt: skip
    squared = argument.power(above, TWO)
    bern = argument.use(bernoulli(), {x: rho**2, n: m}, squared, bound)
    q_gain = argument.fact(
        q - (rho - 1) / 2,
        lambda p, b, g, r, s, c, xi, o: (
            (b / (1 + r) + p * g + r / 2 * ((2 + r) * c + o * s) / (1 + r)) / (s * (1 + xi))
        ),
        argument.power(above, last), bern, gain, ratio, S_x,
        mixed.sum(sum_below_count(), EVEN),
        mixed.xi, mixed.room,
    )  # fmt: skip
    difference = argument.use(powers(), {y: xi, n: EVEN}, mixed.xi, gap, even)
    K = (x**last + xi**last) * x / (x**EVEN - xi**EVEN)
    K_gain = argument.fact(
        K - 1, lambda p, x, q, d: (p * x + q) / d,
        argument.power(mixed.xi, last), mixed.x, argument.power(mixed.xi, EVEN), difference,
    )  # fmt: skip
    fact = argument.fact(
        Q(x, -xi, EVEN),
        lambda k, r, e, c, d, s, p, x, g: (
            ((2 + r) / 2 + (4 * k + 3) * e + (2 * k + 2) * c * ((2 + r) / 2 + e))
            * d * s * p / x / g**2
        ),
        bound, ratio, q_gain, K_gain, difference, S_x,
        argument.power(mixed.xi, last), mixed.x, mixed.both,
    )  # fmt: skip
    return argument.conclude("case (g)", fact)


@lru_cache
def case_e_beyond() -> Theorem:
    """``0 < x < 1 <= ξ``, ``y = -ξ``, T odd >= 3, where ``G(-ξ) >= 1 > G(x)`` (corollary 6)."""
    argument = Argument(
        positive(x), positive(1 - x), nonnegative(xi - 1), nonnegative(m - 1),
        nonnegative(G(-xi, ODD) - 1),
    )  # fmt: skip
    low, room, more, bound, large = argument.given
    high = argument.fact(xi, lambda k: 1 + k, more)
    argument.fact(1 + xi, lambda p: 1 + p, high)
    argument.fact(1 + xi**ODD, lambda p: 1 + p, argument.power(high, ODD))
    mixed = _Mixed(argument, low, room, high, more, bound)
    argument.fact(1 - x**ODD, lambda s, r: s * r, mixed.sum(sum_positive(), ODD), room)
    least = argument.fact(ODD - 2, lambda k: 2 * k + 1, bound)
    short = argument.use(power_below_one(), {n: ODD - 1}, low, room, least)
    long = argument.use(
        powers_weak(), {x: xi, y: sympy.Integer(1), n: ODD - 1},
        argument.fact(sympy.Integer(1), lambda: sympy.Integer(1)), more,
        argument.fact(ODD - 1, lambda k: 2 * k + 2, bound),
    )  # fmt: skip
    fact = argument.fact(
        Q(x, -xi, ODD),
        lambda k, p, q, v, w, s, r, a, b, c, d, g: (
            (
                (2 * k + 3) * (p + q) * (v + w / s) * s * r
                + (2 * k + 2) * (a + b) * (c * r + d * s)
            )
            / g**2
        ),
        bound, long, short, large,
        # 1 - G(x) = S_{T-1}(x)/S_T(x)
        mixed.sum(sum_positive(), ODD - 1),
        mixed.sum(sum_positive(), ODD),
        argument.fact(
            S(-xi, ODD), lambda q, p: (1 + q) / (1 + p), argument.power(high, ODD), high
        ),
        argument.power(low, ODD), argument.power(high, ODD),
        argument.power(low, ODD - 2), argument.power(high, ODD - 2),
        mixed.both,
    )  # fmt: skip
    return argument.conclude("case (e), ξ >= 1", fact)
