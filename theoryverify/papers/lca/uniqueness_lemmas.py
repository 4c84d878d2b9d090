"""Lemmas on powers, sums and monotonicity (M1 to M4), each for every integer exponent at once.

Every function returns a :class:`Theorem` of :mod:`theoryverify.exact.facts`, so it is a proof that
has been checked. A negative argument is written ``-ξ``; even depths are ``2m`` and odd ones
``2m+1``, so that every sign is decided.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import sympy

from theoryverify.exact.facts import (
    Argument,
    Fact,
    Sign,
    Theorem,
    induction,
    nonnegative,
    positive,
)
from theoryverify.papers.lca.uniqueness import B, C, G, R, S, h, x, y

n, m, T = sympy.symbols("n m T", integer=True)  # no sign beyond what each theorem states
xi, eta = sympy.symbols("xi eta", real=True)
EVEN, ODD = 2 * m, 2 * m + 1
ONE = sympy.Integer(1)

# -- powers -------------------------------------------------------------------------------------


@lru_cache
def powers() -> Theorem:
    """``0 < y < x``, ``n >= 1``: ``x^n > y^n``."""
    base = Argument(positive(y), positive(x - y))
    step = Argument(positive(y), positive(x - y), nonnegative(n - 1), positive(x**n - y**n))
    return induction(
        "powers increase", n, 1,
        base.conclude("n = 1", base.given[1]), step.conclude("n+1", _next_power(step)),
    )  # fmt: skip


@lru_cache
def powers_weak() -> Theorem:
    """``0 < y <= x``, ``n >= 0``: ``x^n >= y^n``."""
    base = Argument(positive(y), nonnegative(x - y))
    nought = base.fact(x**0 - y**0, lambda: sympy.Integer(0))
    step = Argument(positive(y), nonnegative(x - y), nonnegative(n), nonnegative(x**n - y**n))
    return induction(
        "powers do not decrease", n, 0,
        base.conclude("n = 0", nought), step.conclude("n+1", _next_power(step)),
    )  # fmt: skip


def _next_power(step: Argument) -> Fact:
    """``x^{n+1} - y^{n+1} = (x-y) y^n + x (x^n - y^n)``."""
    low, gap, _, before = step.given
    return step.fact(
        x ** (n + 1) - y ** (n + 1), lambda g, p, low, e: g * p + (low + g) * e,
        gap, step.power(low, n), low, before,
    )  # fmt: skip


@lru_cache
def bernoulli() -> Theorem:
    """``x > 0``, ``n >= 1``: ``x^n >= 1 + n(x-1)``."""
    base = Argument(positive(x))
    nought = base.fact(x**1 - 1 - (x - 1), lambda: sympy.Integer(0))
    step = Argument(positive(x), nonnegative(n - 1), nonnegative(x**n - 1 - n * (x - 1)))
    ratio, bound, before = step.given
    after = step.fact(
        x ** (n + 1) - 1 - (n + 1) * (x - 1), lambda r, e, k, q: r * e + (k + 1) * q,
        ratio, before, bound, step.square(x - 1),
    )  # fmt: skip
    return induction(
        "Bernoulli's inequality", n, 1,
        base.conclude("n = 1", nought), step.conclude("n+1", after),
    )  # fmt: skip


def _in_unit_interval() -> Argument:
    return Argument(positive(x), positive(1 - x), nonnegative(n - 1))


@lru_cache
def power_below_one() -> Theorem:
    """``0 < x < 1``, ``n >= 1``: ``x^n < 1``."""
    argument = _in_unit_interval()
    return argument.conclude("x^n < 1", argument.use(powers(), {x: ONE, y: x}, *argument.given))


# -- the sum S ----------------------------------------------------------------------------------


@lru_cache
def sum_positive() -> Theorem:
    """``0 < x < 1``, ``n >= 1``: ``S_n(x) > 0``."""
    argument = _in_unit_interval()
    rest = argument.use(power_below_one(), {}, *argument.given)
    fact = argument.fact(S(x, n), lambda r, g: r / g, rest, argument.given[1])
    return argument.conclude("S > 0", fact)


@lru_cache
def sum_above_one() -> Theorem:
    """``0 < x < 1``, ``n >= 1``: ``S_n(x) >= 1``."""
    argument = _in_unit_interval()
    low, gap, _ = argument.given
    rest = argument.use(powers_weak(), {x: ONE, y: x, n: n - 1}, *argument.given)
    fact = argument.fact(S(x, n) - 1, lambda low, r, g: low * r / g, low, rest, gap)
    return argument.conclude("S >= 1", fact)


@lru_cache
def sum_below_count() -> Theorem:
    """``0 < x < 1``, ``n >= 1``: ``S_n(x) <= n``."""
    base = Argument(positive(x), positive(1 - x))
    nought = base.fact(1 - S(x, ONE), lambda: sympy.Integer(0))
    step = Argument(positive(x), positive(1 - x), nonnegative(n - 1), nonnegative(n - S(x, n)))
    *given, before = step.given
    rest = step.use(power_below_one(), {}, *given)
    after = step.fact(n + 1 - S(x, n + 1), lambda e, r: e + r, before, rest)
    return induction("S <= n", n, 1, base.conclude("n = 1", nought), step.conclude("n+1", after))


# -- two positive arguments: h, B, C, M1, M2 ----------------------------------------------------


@lru_cache
def h_positive() -> Theorem:
    """``0 < y < x``, ``n >= 0``: ``h_n(x,y) > 0``."""
    argument = Argument(positive(y), positive(x - y), nonnegative(n))
    top = argument.use(powers(), {n: n + 1}, *argument.given)
    fact = argument.fact(h(n), lambda e, g: e / g, top, argument.given[1])
    return argument.conclude("h > 0", fact)


def _by_induction(
    name: str, term: Callable[..., sympy.Expr], start: int, first: Callable[..., sympy.Expr]
) -> Theorem:
    """``term_n > 0`` by ``term_{n+1} = h_{n+1-start} + xy term_n`` from ``term_start = first``."""
    given = positive(y), positive(x - y), positive(1 - x)
    base, step = Argument(*given), Argument(*given, nonnegative(n - start), positive(term(n)))
    for argument in (base, step):  # 1-y is a denominator
        argument.fact(1 - y, lambda r, g: r + g, argument.given[2], argument.given[1])
    begun = base.fact(term(sympy.Integer(start)), first, *base.given)
    low, gap, _, bound, before = step.given
    order = n + 1 - start
    larger = step.fact(order, lambda k: k + 1, bound)
    added = step.use(h_positive(), {n: order}, low, gap, larger)
    after = step.fact(
        term(n + 1), lambda a, low, g, e: a + (low + g) * low * e, added, low, gap, before
    )
    return induction(name, n, start, base.conclude("start", begun), step.conclude("n+1", after))


@lru_cache
def B_positive() -> Theorem:
    """``0 < y < x < 1``, ``n >= 2``: ``B_n(x,y) > 0``; it starts at ``B_2 = 1``."""
    return _by_induction("B > 0", lambda k: B(x, y, k), 2, lambda low, g, r: ONE)


@lru_cache
def C_positive() -> Theorem:
    """``0 < y < x < 1``, ``n >= 3``: ``C_n(x,y) > 0``; it starts at ``C_3 = (1-x) + x(1-y)``."""
    return _by_induction(
        "C > 0", lambda k: C(x, y, k), 3, lambda low, g, r: r + (low + g) * (r + g)
    )


def _quotient_increases(
    name: str, quotient: Callable[..., sympy.Expr], least: int, term: Theorem
) -> Theorem:
    """``q(x) - q(y) = (x-y) term/(S(x)S(y))``."""
    argument = Argument(positive(y), positive(x - y), positive(1 - x), nonnegative(T - least))
    low, gap, room, bound = argument.given
    below = argument.fact(1 - y, lambda r, g: r + g, room, gap)
    high = argument.fact(x, lambda low, g: low + g, low, gap)
    depth = argument.fact(T - 1, lambda k: k + least - 1, bound)
    sums = []
    for point, above, under in ((x, high, room), (y, low, below)):
        sums.append(argument.use(sum_positive(), {x: point, n: T}, above, under, depth))
        argument.fact(1 - point**T, lambda s, r: s * r, sums[-1], under)
    middle = argument.use(term, {n: T}, low, gap, room, bound)
    fact = argument.fact(
        quotient(x, T) - quotient(y, T), lambda g, b, s, r: g * b / (s * r), gap, middle, *sums
    )
    return argument.conclude(name, fact)


@lru_cache
def M1() -> Theorem:
    """``0 < y < x < 1``, ``T >= 2``: ``G(x) > G(y)``."""
    return _quotient_increases("M1: G increases", G, 2, B_positive())


@lru_cache
def M2() -> Theorem:
    """``0 < y < x < 1``, ``T >= 3``: ``R(x) > R(y)``."""
    return _quotient_increases("M2: R increases", R, 3, C_positive())


# -- two negative arguments: M3 (even T), M4 (odd T) --------------------------------------------


def _even_pair(least: int) -> Argument:
    argument = Argument(positive(eta), positive(xi - eta), nonnegative(m - least))
    low, gap, _ = argument.given
    argument.fact(xi, lambda low, g: low + g, low, gap)
    argument.fact(1 + eta, lambda low: 1 + low, low)
    argument.fact(1 + xi, lambda low, g: 1 + low + g, low, gap)
    return argument


def _falls(
    argument: Argument, power: sympy.Expr, bound: Fact, rest: Callable[..., sympy.Expr]
) -> Fact:
    """``S(-η)/η^k > S(-ξ)/ξ^k`` with ``k = power >= 1``, ``S(-ξ) = (1-ξ^T)/(1+ξ)``, even T.

    ``S(-ξ)/ξ^k = ξ^{-k}/(1+ξ) - ξ^{T-k}/(1+ξ)``: the first falls, the second grows by
    ``rest/((1+ξ)(1+η))``.
    """
    low, gap, _ = argument.given
    high = argument.fact(xi, lambda low, g: low + g, low, gap)
    gain = argument.use(powers(), {x: xi, y: eta, n: power}, low, gap, bound)
    return argument.fact(
        S(-eta, EVEN) / eta**power - S(-xi, EVEN) / xi**power,
        lambda e, u, v, low, g: e * u * v / (1 + low)
        + (u * g + rest(low, g)) / ((1 + low) * (1 + low + g)),
        gain, argument.power(high, -power), argument.power(low, -power), low, gap,
    )  # fmt: skip


@lru_cache
def M3_G() -> Theorem:
    """T = 2m even, ``m >= 1``, ``0 < η < ξ`` (any size): ``S(-η)/η^{T-1} > S(-ξ)/ξ^{T-1}``."""
    argument = _even_pair(1)
    bound = argument.fact(EVEN - 2, lambda k: 2 * k, argument.given[2])
    fact = _falls(argument, EVEN - 1, bound, lambda low, g: g)
    return argument.conclude("M3: S(-ξ)/ξ^{T-1} falls", fact)


@lru_cache
def M3_R() -> Theorem:
    """T = 2m even, ``m >= 2``, ``0 < η < ξ`` (any size): ``S(-η)/η^{T-2} > S(-ξ)/ξ^{T-2}``."""
    argument = _even_pair(2)
    bound = argument.fact(EVEN - 3, lambda k: 2 * k + 1, argument.given[2])
    fact = _falls(argument, EVEN - 2, bound, lambda low, g: g * (2 * low + g + low * (low + g)))
    return argument.conclude("M3: S(-ξ)/ξ^{T-2} falls", fact)


def negative_pair(*more: Sign) -> tuple[Argument, tuple[Fact, ...]]:
    """``0 < η < ξ``, T = 2m+1 with ``m >= 1``, and more; the denominators of ``G(-ξ)`` are facts."""
    argument = Argument(positive(eta), positive(xi - eta), nonnegative(m - 1), *more)
    low, gap, *_ = argument.given
    high = argument.fact(xi, lambda low, g: low + g, low, gap)
    for point, fact in ((xi, high), (eta, low)):
        argument.fact(1 + point, lambda p: 1 + p, fact)
        argument.fact(1 + point**ODD, lambda p: 1 + p, argument.power(fact, ODD))
    return argument, argument.given


@lru_cache
def M4_R() -> Theorem:
    """T = 2m+1 odd, ``m >= 1``, ``0 < η < ξ <= 1``: ``|R(-ξ)| > |R(-η)|``, ``|R(-ξ)| = -R(-ξ)``.

    The difference is ``(ξ-η) J`` over a positive denominator with
    ``J = ξ^{T-3}(1-ξ²η^{T-1}) + ξ^{T-2}(1-ξη^{T-2}) + η^{T-2}(1-ηξ^{T-2}) + (η+ξη)h_{T-4}``.
    """
    argument, (low, gap, bound, room) = negative_pair(nonnegative(1 - xi))
    high = argument.fact(xi, lambda low, g: low + g, low, gap)
    below = argument.fact(1 - eta, lambda r, g: r + g, room, gap)
    last, last_but = ODD - 1, ODD - 2
    eta_last = argument.use(
        power_below_one(), {x: eta, n: last}, low, below,
        argument.fact(last - 1, lambda k: 2 * k + 1, bound),
    )  # fmt: skip
    order = argument.fact(last_but - 1, lambda k: 2 * k, bound)
    eta_last_but = argument.use(power_below_one(), {x: eta, n: last_but}, low, below, order)
    xi_last_but = argument.use(
        powers_weak(), {x: ONE, y: xi, n: last_but}, high, room,
        argument.fact(last_but, lambda k: 2 * k + 1, bound),
    )  # fmt: skip
    # 1 - uv = (1-u) + u(1-v)
    first = argument.fact(
        1 - xi**2 * eta**last, lambda p, u, q: p * (1 + u) + u**2 * q, room, high, eta_last
    )
    second = argument.fact(
        1 - xi * eta**last_but, lambda p, u, q: p + u * q, room, high, eta_last_but
    )
    third = argument.fact(
        1 - eta * xi**last_but, lambda p, u, q: p + u * q, below, low, xi_last_but
    )
    inner = argument.use(
        powers_weak(), {x: xi, y: eta, n: ODD - 3}, low, gap,
        argument.fact(ODD - 3, lambda k: 2 * k, bound),
    )  # fmt: skip
    fact = argument.fact(
        R(-eta, ODD) - R(-xi, ODD),
        lambda g, p, a, q, b, r, c, low, e, s, t: (
            (g * (p * a + q * b + r * c) + low * (1 + low + g) * e) / ((1 + s) * (1 + t))
        ),
        gap, argument.power(high, ODD - 3), first, argument.power(high, last_but), second,
        argument.power(low, last_but), third, low, inner,
        argument.power(high, ODD), argument.power(low, ODD),
    )  # fmt: skip
    return argument.conclude("M4: |R(-ξ)| increases", fact)


@lru_cache
def M4_G() -> Theorem:
    """T odd, ``m >= 1``, ``0 < η < ξ``: ``G(-ξ) > G(-η)`` if ``|R(-ξ)| > |R(-η)|``; ``G = ξ|R|``."""
    argument, (low, gap, _, rise) = negative_pair(positive(R(-eta, ODD) - R(-xi, ODD)))
    smaller = argument.fact(
        -R(-eta, ODD), lambda p, low, q: p * (1 + low) / (1 + q),
        argument.power(low, ODD - 2), low, argument.power(low, ODD),
    )  # fmt: skip
    fact = argument.fact(
        G(-xi, ODD) - G(-eta, ODD), lambda low, g, d, s: (low + g) * d + g * s,
        low, gap, rise, smaller,
    )  # fmt: skip
    return argument.conclude("M4: G(-ξ) increases", fact)
