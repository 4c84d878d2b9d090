"""SymPy expressions on other numbers: one definition of a formula, evaluated everywhere.

A formula is written once, in SymPy. :func:`compiled` turns it into a function on exact fractions,
balls, complex balls, mpmath numbers or NumPy arrays. Nothing is rewritten on the way: the value is
what the expression says, so numerically bad spellings show their loss of digits as a wide ball.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np
import sympy
from flint import acb, arb

from theoryverify.errors import InputError
from theoryverify.exact.balls import integer_power
from theoryverify.exact.rationals import shown, to_fmpq

Number = Any
Environment = Mapping[str, Number]


@dataclass(frozen=True)
class Arithmetic:
    """What :func:`compiled` needs of a number system beyond ``+`` and ``*``."""

    name: str
    constant: Callable[[Fraction], Number]
    power: Callable[[Number, int], Number]
    functions: Mapping[str, Callable[[Number, bool], Number]]
    pi: Callable[[], Number]


def _ball_power(base: arb | acb, exponent: int) -> arb | acb:
    if exponent < 0:
        return 1 / _ball_power(base, -exponent)
    return integer_power(base, exponent) if isinstance(base, arb) else base**exponent


def _ball_function(name: str) -> Callable[[arb | acb, bool], arb | acb]:
    def apply(value: arb | acb, analytic: bool) -> arb | acb:
        if isinstance(value, acb) and name in ("sqrt", "log"):
            return getattr(value, name)(analytic=analytic)
        return getattr(value, name)()

    return apply


def _exact_sqrt(value: Fraction, _: bool) -> Fraction:
    if value >= 0:
        root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
        if root * root == value:
            return root
    raise InputError(f"the square root of {shown(value)} is not rational")


def _plain(function: Callable[[Number], Number]) -> Callable[[Number, bool], Number]:
    """A function to which analyticity means nothing."""
    return lambda value, _: function(value)


_NAMES = ("sqrt", "log", "exp")

EXACT = Arithmetic(
    "exact", lambda q: q, lambda x, n: x**n, {"sqrt": _exact_sqrt}, lambda: _irrational("pi")
)
BALL = Arithmetic(
    "ball",
    lambda q: arb(to_fmpq(q)),
    _ball_power,
    {name: _ball_function(name) for name in _NAMES},
    arb.pi,
)
FLOAT64 = Arithmetic(
    "float64",
    float,
    lambda x, n: x**n,
    {name: _plain(getattr(np, name)) for name in _NAMES},
    lambda: np.pi,
)


def mpmath_arithmetic(context: Any = mpmath.mp) -> Arithmetic:
    """mpmath numbers of one context (``mpmath.mp.clone()`` keeps its own precision)."""
    return Arithmetic(
        "mpmath",
        lambda q: context.mpf(q.numerator) / q.denominator,
        lambda x, n: x**n,
        {name: _plain(getattr(context, name)) for name in _NAMES},
        lambda: context.pi,
    )


def _irrational(name: str) -> Number:
    raise InputError(f"{name} has no exact rational value")


def compiled(
    expression: sympy.Expr, arithmetic: Arithmetic
) -> Callable[[Environment, bool], Number]:
    """``evaluate(environment, analytic)`` for an expression, on numbers of one arithmetic.

    Parameters
    ----------
    expression : sympy.Expr
        Built from ``+ * **`` with integer or half-integer exponents, rationals, ``pi``, ``log``,
        ``exp``. Its free symbols are looked up by name in ``environment``.
    arithmetic : Arithmetic
        :data:`EXACT`, :data:`BALL`, :data:`FLOAT64` or :func:`mpmath_arithmetic`.

    Raises
    ------
    InputError
        For a node that is none of these, or an irrational value in exact arithmetic.
    """
    # An mpmath context is not part of the key, so only the shared arithmetics are cached.
    if arithmetic.name == "mpmath":
        return _build(expression, arithmetic)
    return _cached(expression, arithmetic.name)


@lru_cache(maxsize=1024)
def _cached(expression: sympy.Expr, name: str) -> Callable[[Environment, bool], Number]:
    return _build(expression, {"exact": EXACT, "ball": BALL, "float64": FLOAT64}[name])


def _build(node: sympy.Expr, on: Arithmetic) -> Callable[[Environment, bool], Number]:
    if node.is_Rational:
        value = Fraction(int(node.p), int(node.q))
        return lambda env, analytic: on.constant(value)
    if node is sympy.pi:
        return lambda env, analytic: on.pi()
    if node is sympy.E and "exp" in on.functions:
        return lambda env, analytic: on.functions["exp"](on.constant(Fraction(1)), False)
    if node.is_Symbol:
        name = node.name
        return lambda env, analytic: env[name]
    if node.is_Add or node.is_Mul:
        parts = [_build(part, on) for part in node.args]
        return _sum(parts) if node.is_Add else _product(parts)
    if node.is_Pow:
        return _power(node, on)
    name = {sympy.exp: "exp", sympy.log: "log"}.get(node.func, "")
    if name in on.functions and len(node.args) == 1:
        function, argument = on.functions[name], _build(node.args[0], on)
        return lambda env, analytic: function(argument(env, analytic), analytic)
    raise InputError(f"cannot evaluate {node} on {on.name} numbers")


def _sum(parts: list[Callable[[Environment, bool], Number]]) -> Callable[..., Number]:
    def evaluate(env: Environment, analytic: bool) -> Number:
        total = parts[0](env, analytic)
        for part in parts[1:]:
            total = total + part(env, analytic)
        return total

    return evaluate


def _product(parts: list[Callable[[Environment, bool], Number]]) -> Callable[..., Number]:
    def evaluate(env: Environment, analytic: bool) -> Number:
        total = parts[0](env, analytic)
        for part in parts[1:]:
            total = total * part(env, analytic)
        return total

    return evaluate


def _power(node: sympy.Pow, on: Arithmetic) -> Callable[[Environment, bool], Number]:
    base, exponent = _build(node.base, on), node.exp
    if exponent.is_Integer:
        power = int(exponent)
        return lambda env, analytic: on.power(base(env, analytic), power)
    if "exp" in on.functions and not exponent.is_Rational:
        # b^x = exp(x log b) for b > 0: the ends of a law and T in x^(1/2T) are such.
        up = _build(exponent, on)
        return lambda env, analytic: on.functions["exp"](
            up(env, analytic) * on.functions["log"](base(env, analytic), analytic), analytic
        )
    if exponent.is_Rational and exponent.q == 2:
        power = int(exponent.p)
        return lambda env, analytic: on.power(
            on.functions["sqrt"](base(env, analytic), analytic), power
        )
    if exponent.is_Rational and "exp" in on.functions:
        ratio = Fraction(int(exponent.p), int(exponent.q))
        return lambda env, analytic: on.functions["exp"](
            on.constant(ratio) * on.functions["log"](base(env, analytic), analytic), analytic
        )
    raise InputError(f"cannot evaluate {node} on {on.name} numbers")
