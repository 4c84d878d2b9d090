"""Formal statements that a step rests on, to be written into a certificate.

A check may say, beside a step's name, what was decided in terms that an independent program can
decide again: ``examination.decide("T'", found == 17, by=equals(found, 17))``. Making a statement
costs nothing; its expressions are turned into trees only when a certificate is written
(:mod:`theoryverify.claims.certificate`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any


@dataclass(frozen=True)
class Statement:
    """What kind of thing is said (see ``docs/certificates.md``), and of what."""

    kind: str
    parts: Mapping[str, Any]


By = Statement | Iterable[Statement] | Callable[[], Any] | None
"""What a step rests on: statements, or a function that makes them when they are asked for."""


@dataclass(frozen=True)
class Mean:
    """``E[f(Z)]`` under a law, or under the standard normal law where there is none."""

    integrand: Any
    law: Any = None
    variable: str = "Z"


@dataclass(frozen=True)
class Evaluated:
    """An expression with numbers for its symbols, which the reader of a certificate puts in."""

    expression: Any
    values: Mapping[Any, Any]


@dataclass(frozen=True)
class Value:
    """A polynomial (``fmpq_poly``, or its coefficients from degree 0) at an exact point."""

    polynomial: Any
    point: Any


@lru_cache(maxsize=1)
def _expectation() -> Any:
    import sympy

    class Expectation(sympy.Dummy):  # type: ignore[misc]
        """A symbol that remembers which mean it stands for."""

        __slots__ = ("meaning",)

    return Expectation


def mean(law: Any, integrand: Any) -> Any:
    """``E[f(Z)]`` as a SymPy number that other expressions may hold; ``f`` an expression in Z."""
    symbol = _expectation()("E", real=True)
    symbol.meaning = Mean(integrand, law)
    return symbol


def gaussian(integrand: Any, variable: str = "z") -> Any:
    """``E[f(z)]``, z standard normal, ``f`` a polynomial expression in the variable."""
    symbol = mean(None, integrand)
    symbol.meaning = Mean(integrand, None, variable)
    return symbol


def chi_mean(context: int, integrand: Any, variable: str = "s") -> Any:
    """``E f(s)`` for ``s = χ²_L/L``, ``f`` a polynomial in the variable."""
    symbol = mean(context, integrand)
    symbol.meaning = Mean(integrand, context, variable)
    return symbol


class Traced:
    """A number that remembers how it was made by ``+ - * /``, for a certificate to retrace."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree

    @classmethod
    def of(cls, value: Any) -> Traced:
        return value if isinstance(value, Traced) else cls(str(Fraction(value)))

    def _joined(self, kind: str, first: Any, second: Any) -> Traced:
        left, right = Traced.of(first).tree, Traced.of(second).tree
        # A long sum stays flat: nesting is bounded where certificates are read.
        if isinstance(left, list) and left[0] == kind:
            return Traced([*left, right])
        return Traced([kind, left, right])

    def __add__(self, other: Any) -> Traced:
        return self._joined("+", self, other)

    def __radd__(self, other: Any) -> Traced:
        return self._joined("+", other, self)

    def __mul__(self, other: Any) -> Traced:
        return self._joined("*", self, other)

    def __rmul__(self, other: Any) -> Traced:
        return self._joined("*", other, self)

    def __sub__(self, other: Any) -> Traced:
        return self._joined("+", self, Traced(["*", "-1", Traced.of(other).tree]))

    def __rsub__(self, other: Any) -> Traced:
        return self._joined("+", Traced(["*", "-1", self.tree]), other)

    def __pow__(self, exponent: int) -> Traced:
        return Traced(["^", self.tree, str(exponent)])


def gaussian_over(integrand: Any, symbols: Iterable[Any]) -> Any:
    """The mean of a polynomial over several independent standard normal symbols."""
    for symbol in symbols:
        integrand = gaussian(integrand, symbol.name)
    return integrand


def expression_of(polynomial: Any) -> Any:
    """A polynomial over Q(√n), or an ``fmpq_poly``, as a SymPy expression in ``z``."""
    import sympy

    parts = polynomial.parts if hasattr(polynomial, "parts") else {1: polynomial}
    z = sympy.Symbol("z", real=True)
    return sympy.Add(
        *(
            sympy.Rational(int(c.p), int(c.q)) * sympy.sqrt(n) * z**k
            for n, part in parts.items()
            for k, c in enumerate(part.coeffs())
            if c != 0
        )
    )


def same(left: Any, right: Any) -> Statement:
    """``left = right`` for all values of their symbols."""
    return Statement("identity", {"left": left, "right": right})


def _comparison(op: str, left: Any, right: Any, given: Mapping[str, Any]) -> Statement:
    return Statement("compare", {"op": op, "left": left, "right": right, "given": dict(given)})


def less(left: Any, right: Any, **given: Any) -> Statement:
    """``left < right``, two numbers; ``given`` encloses symbols that stand in them."""
    return _comparison("<", left, right, given)


def at_most(left: Any, right: Any, **given: Any) -> Statement:
    """``left <= right``."""
    return _comparison("<=", left, right, given)


def equals(left: Any, right: Any) -> Statement:
    """``left = right``, exactly."""
    return _comparison("=", left, right, {})


def differs(left: Any, right: Any) -> Statement:
    """``left ≠ right``."""
    return _comparison("!=", left, right, {})


def within(number: Any, enclosure: Any, digits: int | None = None, **given: Any) -> Statement:
    """A number lies in an enclosure, which is widened to ``digits`` relative digits first."""
    return Statement(
        "within", {"number": number, "ends": enclosure, "digits": digits, "given": given}
    )


def nonnegative(expression: Any, symbols: Sequence[Any], *, strict: bool = False) -> Statement:
    """A polynomial has coefficients >= 0 in these symbols."""
    return Statement("nonnegative", {"tree": expression, "over": tuple(symbols), "strict": strict})


def degree(expression: Any, symbol: Any, most: int) -> Statement:
    """A polynomial in one symbol has at most this degree."""
    return Statement("degree", {"tree": expression, "symbol": symbol, "most": most})


def agree(number: Any, left: Any, right: Any, digits: int, **given: Any) -> Statement:
    """A number lies in the hull of two enclosures, widened to ``digits`` relative digits."""
    return within(number, (left, right), digits, **given)


def pair(depth: int, constant: Any, what: str) -> Statement:
    """``D + cP`` of the uniqueness theorem at one depth: ``what`` is ``identity`` (it is Q for
    ``c = 2T-4``), ``square`` (it is >= 0 on [-1,1]²) or ``ray`` (on (-∞,1]²)."""
    return Statement("pair", {"depth": depth, "constant": constant, "what": what})


def matrices(left: Any, right: Any) -> Statement:
    """Two matrix expressions, block matrices included, are equal for all matrices and sizes."""
    return Statement("matrices", {"left": left, "right": right})


def roots(polynomial: Any, lower: Any, upper: Any, count: int) -> Statement:
    """Distinct roots in ``(lower, upper]`` (``None``: infinite) of a polynomial, or coefficients."""
    return Statement(
        "roots", {"coefficients": polynomial, "lower": lower, "upper": upper, "count": count}
    )


def bernstein(rows: Sequence[Sequence[int]]) -> Statement:
    """``Σ rows[i][j] X^i r^j >= 0`` on the unit square."""
    return Statement("bernstein", {"rows": rows})


def derived(theorem: Any) -> Statement:
    """A theorem of :mod:`theoryverify.exact.facts`, with its derivation."""
    return Statement("theorem", {"theorem": theorem})
