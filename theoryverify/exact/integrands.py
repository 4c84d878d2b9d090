"""Functions of a scalar that laws take expectations of.

Any meromorphic ``f(z)`` written with ``+ - * /`` and integer powers will do. Two kinds carry more
structure: a SymPy expression in ``Z``, and :class:`LinearPower`, ``p(z) (c + s z)^n / z^j``, the
only shape that the one-parameter theory of the cross-attention stack needs and whose integral
against a uniform law is elementary.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy
from flint import arb

from theoryverify.errors import InputError
from theoryverify.exact.balls import integer_power
from theoryverify.exact.evaluate import Arithmetic, compiled

Z = sympy.Symbol("Z", positive=True)
"""The symbol for the random scalar in expressions that laws integrate."""


@dataclass(frozen=True)
class LinearPower:
    """``z -> (p_0 + p_1 z + ...) (constant + slope z)^exponent / z^pole``.

    Attributes
    ----------
    polynomial : tuple
        Coefficients from degree 0 up, as numbers of the backend (exact ones for every backend).
    constant, slope
        The linear base.
    exponent : int
        At least 0.
    pole : int
        The power of ``1/z``, at least 0.
    """

    polynomial: tuple[Any, ...]
    constant: Any
    slope: Any
    exponent: int
    pole: int = 0

    def __post_init__(self) -> None:
        # A negative exponent would carry the antiderivative across its own pole.
        if self.exponent < 0 or self.pole < 0 or not self.polynomial:
            raise InputError(
                "a LinearPower needs a coefficient, and an exponent and a pole of at least 0"
            )

    def __call__(self, z: Any) -> Any:
        value = like(self.polynomial[-1], z)
        for coefficient in reversed(self.polynomial[:-1]):
            value = value * z + like(coefficient, z)
        base = like(self.constant, z) + like(self.slope, z) * z
        raised = (
            integer_power(base, self.exponent) if isinstance(base, arb) else base**self.exponent
        )
        return value * raised / z**self.pole if self.pole else value * raised

    def antiderivative(self, z: arb) -> arb:
        """The elementary antiderivative for ``pole = 0``, by the substitution ``u = c + s z``.

        Written in powers of ``u`` alone, so that nothing of size ``z^{2T}`` appears and cancels.
        """
        if self.pole:
            raise InputError("a LinearPower with a pole has no elementary antiderivative here")
        u = self.constant + self.slope * z
        # p(z) = p((u - c)/s) = sum a_i u^i by Horner's rule on polynomials in u.
        shifted: list[arb] = []
        for coefficient in reversed(self.polynomial):
            scaled = [entry / self.slope for entry in shifted]
            shifted = [-self.constant * entry for entry in scaled] + [arb(0)]
            for index, entry in enumerate(scaled):
                shifted[index + 1] += entry
            shifted[0] += coefficient
        total = arb(0)
        for power, entry in reversed([*enumerate(shifted, self.exponent + 1)]):
            total = total * u + entry / power
        return total * integer_power(u, self.exponent + 1) / self.slope


def like(value: Any, z: Any) -> Any:
    """An exact fraction as a number of the kind of ``z``; other numbers pass through."""
    if isinstance(value, Fraction) and not isinstance(z, Fraction):
        return (value.numerator + 0 * z) / value.denominator
    return value


class _Indeterminate:
    """A number of which nothing is known but ``+ - * /`` and integer powers.

    What can be evaluated here is a rational function: it cannot have looked at a size, a sign or a
    real part, nor taken a root.
    """

    def _arithmetic(self, *_: Any) -> _Indeterminate:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _arithmetic
    __truediv__ = __rtruediv__ = __neg__ = __pos__ = _arithmetic

    def __pow__(self, exponent: Any) -> Any:
        return self if isinstance(exponent, int) else NotImplemented

    def _refuse(self, *_: Any) -> Any:
        raise TypeError("a generic number has no sign and no truth value")

    __eq__ = __ne__ = __bool__ = _refuse
    __hash__ = None  # type: ignore[assignment]


def require_rational(function: Callable[[Any], Any]) -> None:
    """Refuse a Python function that is not built with ``+ - * /`` and integer powers alone.

    A complex integrator takes what it is given for analytic: of ``abs`` or a square root it would
    return a small ball around a wrong number.

    Raises
    ------
    InputError
        With the operation that is not arithmetic.
    """
    try:
        function(_Indeterminate())
    except (TypeError, AttributeError) as error:
        raise InputError(
            f"the integrand {function!r} is not arithmetic ({error}); write it with + - * / and "
            "integer powers alone, or as a SymPy expression in Z"
        ) from error


def as_function(integrand: Any, arithmetic: Arithmetic) -> Callable[[Any, bool], Any]:
    """``f(z, analytic)`` on the numbers of one arithmetic, from any kind of integrand."""
    if isinstance(integrand, sympy.Expr):
        unknown = {symbol.name for symbol in integrand.free_symbols} - {Z.name}
        if unknown:
            raise InputError(f"the integrand {integrand} has free symbols {sorted(unknown)}")
        evaluate = compiled(integrand, arithmetic)
        return lambda z, analytic: evaluate({Z.name: z}, analytic)
    if not callable(integrand):
        raise InputError(
            f"cannot take the expectation of {integrand!r}; give a function, or a SymPy expression "
            "in Z"
        )
    return lambda z, analytic: integrand(z)
