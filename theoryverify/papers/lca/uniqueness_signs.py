"""Signs of P and of ``w = 1 - x^T``, for every depth: where F_T' can vanish, and where it cannot.

Every function returns a checked :class:`Theorem`. ``ξ`` and ``η`` stand for ``-y`` and ``-x``.
"""

from __future__ import annotations

from functools import lru_cache

import sympy

from theoryverify.exact.facts import Argument, Theorem, induction, nonnegative, positive
from theoryverify.papers.lca.uniqueness import B, P, x, y
from theoryverify.papers.lca.uniqueness_lemmas import (
    EVEN,
    M3_G,
    M4_G,
    M4_R,
    ODD,
    ONE,
    B_positive,
    T,
    eta,
    h_positive,
    m,
    n,
    negative_pair,
    power_below_one,
    powers,
    xi,
)

k = sympy.Symbol("k", integer=True, nonnegative=True)  # so that 0^{k+1} = 0


@lru_cache
def right_of_zero() -> Theorem:
    """``0 < y < x < 1``, ``T >= 2``: ``P > 0``."""
    argument = Argument(positive(y), positive(x - y), positive(1 - x), nonnegative(T - 2))
    low, gap, room, bound = argument.given
    argument.fact(1 - y, lambda r, g: r + g, room, gap)
    order = argument.fact(T - 1, lambda k: k + 1, bound)
    fact = argument.fact(
        P(x, y, T), lambda a, b: a * b,
        argument.use(h_positive(), {n: T - 1}, low, gap, order),
        argument.use(B_positive(), {n: T}, low, gap, room, bound),
    )  # fmt: skip
    return argument.conclude("P > 0 for 0 < y < x < 1", fact)


@lru_cache
def from_zero() -> Theorem:
    """``y = 0 < x < 1``, T = k+2: ``P = x^{2T-3} > 0``."""
    argument = Argument(positive(x), positive(1 - x), nonnegative(k))
    base, *_ = argument.given
    fact = argument.fact(
        P(x, sympy.Integer(0), k + 2), lambda p: p, argument.power(base, 2 * k + 1)
    )
    return argument.conclude("P > 0 for 0 = y < x < 1", fact)


@lru_cache
def to_zero() -> Theorem:
    """``x = 0``, ``y = -ξ < 0``, T = k+2: ``-P = ξ^{2T-3} > 0``."""
    argument = Argument(positive(xi), nonnegative(k))
    base, _ = argument.given
    argument.fact(1 + xi, lambda p: 1 + p, base)
    fact = argument.fact(
        -P(sympy.Integer(0), -xi, k + 2), lambda p: p, argument.power(base, 2 * k + 1)
    )
    return argument.conclude("P < 0 for y < x = 0", fact)


@lru_cache
def left_of_zero_even() -> Theorem:
    """``x = -η``, ``y = -ξ``, ``0 < η < ξ`` of any size, T even >= 2: ``-P > 0``."""
    argument = Argument(positive(eta), positive(xi - eta), nonnegative(m - 1))
    low, gap, bound = argument.given
    high = argument.fact(xi, lambda low, g: low + g, low, gap)
    for point, base in ((xi, high), (eta, low)):
        argument.fact(1 + point, lambda p: 1 + p, base)
    order = argument.fact(EVEN - 1, lambda k: 2 * k + 1, bound)
    fact = argument.fact(
        -P(-eta, -xi, EVEN), lambda e, p, q, u, g: e * p * q * u / g**2,
        argument.use(powers(), {x: xi, y: eta, n: EVEN}, low, gap, order),
        argument.power(high, EVEN - 1), argument.power(low, EVEN - 1),
        argument.use(M3_G(), {}, low, gap, bound),
        gap,
    )  # fmt: skip
    return argument.conclude("P < 0 for y < x < 0, T even", fact)


@lru_cache
def left_of_zero_odd() -> Theorem:
    """``x = -η``, ``y = -ξ``, ``0 < η < ξ <= 1``, T odd >= 3: ``-P > 0``."""
    argument, (low, gap, bound, room) = negative_pair(nonnegative(1 - xi))
    high = argument.fact(xi, lambda low, g: low + g, low, gap)
    rise = argument.use(M4_R(), {}, low, gap, bound, room)
    order = argument.fact(ODD - 1, lambda k: 2 * k + 2, bound)
    fact = argument.fact(
        -P(-eta, -xi, ODD),
        lambda e, u, p, q, a, b, g: e * u * (1 + p) * (1 + q) / ((1 + a) * (1 + b) * g**2),
        argument.use(powers(), {x: xi, y: eta, n: ODD}, low, gap, order),
        argument.use(M4_G(), {}, low, gap, bound, rise),
        argument.power(high, ODD), argument.power(low, ODD), high, low, gap,
    )  # fmt: skip
    return argument.conclude("P < 0 for y < x < 0, T odd", fact)


@lru_cache
def beyond_one() -> Theorem:
    """``1 < y < x``, ``T >= 2``: ``P > 0`` (β > 0), with B by induction as on (0,1)."""
    given = positive(y - 1), positive(x - y)
    base = Argument(*given)
    step = Argument(*given, nonnegative(n - 2), positive(B(x, y, n)))
    final = Argument(*given, nonnegative(T - 2))
    lows = []
    for argument in (base, step, final):
        above, gap, *_ = argument.given
        argument.fact(x - 1, lambda a, g: a + g, above, gap)
        lows.append(argument.fact(y, lambda a: 1 + a, above))
    start = base.fact(B(x, y, sympy.Integer(2)), lambda: ONE)
    _, gap, bound, before = step.given
    order = step.fact(n - 1, lambda k: k + 1, bound)
    after = step.fact(
        B(x, y, n + 1), lambda a, low, g, e: a + (low + g) * low * e,
        step.use(h_positive(), {n: n - 1}, lows[1], gap, order), lows[1], gap, before,
    )  # fmt: skip
    term = induction("B > 0", n, 2, base.conclude("T = 2", start), step.conclude("n+1", after))
    above, gap, bound = final.given
    order = final.fact(T - 1, lambda k: k + 1, bound)
    fact = final.fact(
        P(x, y, T), lambda a, b: a * b,
        final.use(h_positive(), {n: T - 1}, lows[2], gap, order),
        final.use(term, {n: T}, above, gap, bound),
    )  # fmt: skip
    return final.conclude("P > 0 for 1 < y < x", fact)


@lru_cache
def w_right() -> Theorem:
    """``0 < x < 1``, ``n >= 1``: ``w = 1 - x^n > 0`` (at ``x = 0``, ``w = 1``)."""
    return power_below_one()


@lru_cache
def w_left_even() -> Theorem:
    """``x = -ξ``, ``0 < ξ < 1``, T even: ``w = 1 - ξ^T > 0``."""
    argument = Argument(positive(xi), positive(1 - xi), nonnegative(m - 1))
    low, gap, bound = argument.given
    order = argument.fact(EVEN - 1, lambda k: 2 * k + 1, bound)
    short = argument.use(power_below_one(), {x: xi, n: EVEN}, low, gap, order)
    return argument.conclude("w > 0, T even", argument.fact(1 - (-xi) ** EVEN, lambda p: p, short))


@lru_cache
def w_left_odd() -> Theorem:
    """``x = -ξ`` of any size, T odd: ``w = 1 + ξ^T > 0``."""
    argument = Argument(positive(xi))
    power = argument.power(argument.given[0], ODD)
    fact = argument.fact(1 - (-xi) ** ODD, lambda p: 1 + p, power)
    return argument.conclude("w > 0, T odd", fact)


def theorems() -> tuple[Theorem, ...]:
    """All of them."""
    return (
        right_of_zero(), from_zero(), to_zero(), left_of_zero_even(), left_of_zero_odd(),
        beyond_one(), w_right(), w_left_even(), w_left_odd(),
    )  # fmt: skip
