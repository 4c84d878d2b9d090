"""Formal statements that a step rests on, to be written into a certificate.

A check may say, beside a step's name, what was decided in terms that an independent program can
decide again: ``examination.decide("T'", found == 17, by=equals(found, 17))``. Making a statement
costs nothing; its expressions are turned into trees only when a certificate is written
(:mod:`theoryverify.claims.certificate`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
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


def mean(law: Any, integrand: Any) -> Any:
    """``E[f(Z)]`` as a SymPy number that other expressions may hold; ``f`` an expression in Z."""
    import sympy

    class Expectation(sympy.Dummy):  # type: ignore[misc]
        """A symbol that remembers which mean it stands for."""

        __slots__ = ("meaning",)

    symbol = Expectation("E", real=True)
    symbol.meaning = Mean(integrand, law)
    return symbol


def gaussian(integrand: Any, variable: str = "z") -> Any:
    """``E[f(z)]``, z standard normal, ``f`` a polynomial expression in the variable."""
    symbol = mean(None, integrand)
    symbol.meaning = Mean(integrand, None, variable)
    return symbol


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


def words(left: Any, right: Any, inverse: Mapping[str, str] | None = None) -> Statement:
    """Two polynomials in letters that do not commute; ``inverse`` pairs letters."""
    return Statement("words", {"left": left, "right": right, "inverse": dict(inverse or {})})
