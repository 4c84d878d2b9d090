"""Evaluating links with whatever arithmetic is at hand.

A backend says how a rational number is made and which functions there are; ``+ - * **`` are those
of its numbers. Rooms above add theirs with :func:`register_backend` (the models register
``"torch"``), so that nothing here imports them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from theoryverify.errors import InputError
from theoryverify.exact.link_tree import (
    Call,
    HermiteCall,
    Node,
    Number,
    Power,
    Product,
    Sum,
    Variable,
)


@dataclass(frozen=True)
class Backend:
    """An arithmetic for links.

    Parameters
    ----------
    number : callable
        ``number(fraction, z)``: a constant that combines with the argument ``z``.
    functions : mapping
        ``exp log sin cos tanh erf abs sign relu logistic`` of one argument, ``root(u, index)``,
        and ``hermite(k, u)`` if there is a better way than the recurrence.
    argument : callable
        Turns what the user passed into a number of the backend.
    whole : callable
        ``whole(value, z)``: a value that does not depend on ``z``, in the shape of ``z``.
    """

    number: Callable[[Fraction, Any], Any]
    functions: Mapping[str, Callable[..., Any]]
    argument: Callable[[Any], Any] = lambda z: z
    whole: Callable[[Any, Any], Any] = lambda value, z: value


_BACKENDS: dict[str, Callable[[], Backend]] = {}


def register_backend(name: str, make: Callable[[], Backend]) -> None:
    """Make ``link(..., backend=name)`` work; ``make`` is called at the first use."""
    _BACKENDS[name] = make


def evaluate_node(node: Node, z: Any, backend: str) -> Any:
    """The value of an expression at ``z``.

    Raises
    ------
    InputError
        For a backend that is not registered.
    """
    if backend not in _BACKENDS:
        known = ", ".join(sorted(_BACKENDS))
        raise InputError(f"unknown backend {backend!r}; registered are {known}")
    chosen = _BACKENDS[backend]()
    at = chosen.argument(z)
    return chosen.whole(_value(node, at, chosen), at)


def _value(node: Node, z: Any, backend: Backend) -> Any:
    match node:
        case Number(value):
            return backend.number(value, z)
        case Variable():
            return z
        case Sum(terms):
            total = _value(terms[0], z, backend)
            for term in terms[1:]:
                total = total + _value(term, z, backend)
            return total
        case Product(factors):
            product = _value(factors[0], z, backend)
            for factor in factors[1:]:
                product = product * _value(factor, z, backend)
            return product
        case Power(base, exponent):
            value = _value(base, z, backend)
            if exponent.denominator > 1:
                value = backend.functions["root"](value, exponent.denominator)
            return value**exponent.numerator
        case Call(name, argument):
            return backend.functions[name](_value(argument, z, backend))
        case HermiteCall(order, argument):
            u = _value(argument, z, backend)
            if "hermite" in backend.functions:
                return backend.functions["hermite"](order, u)
            before, value = 0 * u, 0 * u + 1
            for n in range(order):
                before, value = value, u * value - n * before
            return value


def _float64() -> Backend:
    import numpy as np

    erf = np.vectorize(math.erf, otypes=[np.float64])

    def logistic(u: Any) -> Any:
        e = np.exp(-np.abs(u))
        return np.where(u >= 0, 1, e) / (1 + e)

    def number(value: Fraction, z: Any) -> float:
        try:
            return float(value)
        except OverflowError:
            raise InputError("the link has a constant beyond float64; use mpmath") from None

    return Backend(
        number=number,
        functions={
            "exp": np.exp,
            "log": np.log,
            "sin": np.sin,
            "cos": np.cos,
            "tanh": np.tanh,
            "erf": erf,
            "abs": np.abs,
            "sign": np.sign,
            "relu": lambda u: np.maximum(u, 0),
            "logistic": logistic,
            "root": lambda u, index: np.sqrt(u) if index == 2 else np.power(u, 1 / index),
        },
        argument=lambda z: np.asarray(z, dtype=np.float64),
        whole=lambda value, z: value if np.shape(value) == z.shape else np.full(z.shape, value),
    )


def _mpmath() -> Backend:
    import mpmath

    return Backend(
        number=lambda value, z: mpmath.mpf(value.numerator) / value.denominator,
        functions={
            "exp": mpmath.exp,
            "log": mpmath.log,
            "sin": mpmath.sin,
            "cos": mpmath.cos,
            "tanh": mpmath.tanh,
            "erf": mpmath.erf,
            "abs": abs,
            "sign": mpmath.sign,
            "relu": lambda u: max(u, mpmath.mpf(0)),
            "logistic": lambda u: 1 / (1 + mpmath.exp(-u)),
            "root": mpmath.root,
        },
        argument=mpmath.mpmathify,
    )


def _exact() -> Backend:
    import sympy

    from theoryverify.exact.rationals import rational

    def argument(z: Any) -> Any:
        if isinstance(z, sympy.Basic):
            return z
        value = rational(z, "z")
        return sympy.Rational(value.numerator, value.denominator)

    return Backend(
        number=lambda value, z: sympy.Rational(value.numerator, value.denominator),
        functions={
            "exp": sympy.exp,
            "log": sympy.log,
            "sin": sympy.sin,
            "cos": sympy.cos,
            "tanh": sympy.tanh,
            "erf": sympy.erf,
            "abs": sympy.Abs,
            "sign": sympy.sign,
            "relu": lambda u: sympy.Max(0, u),
            "logistic": lambda u: 1 / (1 + sympy.exp(-u)),
            "root": sympy.root,
            "hermite": lambda k, u: sympy.expand(sympy.hermite_prob(k, u)),
        },
        argument=argument,
    )


register_backend("float64", _float64)
register_backend("mpmath", _mpmath)
register_backend("exact", _exact)
