"""Assertions for your own tests: they decide exactly, or refuse to.

Each raises :class:`TheoremViolation` (an ``AssertionError``) if the statement is false *or* could
not be decided; the message says which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import sympy
from flint import arb

from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure, ball, precision
from theoryverify.exact.identities import decide_identity

_BITS = 256


class TheoremViolation(AssertionError):
    """A mathematical statement is false, or was not decided."""


def assert_identity(
    left: sympy.Expr, right: sympy.Expr, assuming: Sequence[sympy.Basic] = ()
) -> None:
    """Assert that two SymPy expressions are equal for all values of their symbols.

    Parameters
    ----------
    left, right : sympy.Expr
        Rational in their symbols; exponents may contain integer symbols.
    assuming : sequence
        ``sympy.Eq(symbol, expression)`` substitutes; ``symbol > 0`` makes a symbol positive.

    Raises
    ------
    TheoremViolation
        With an exact point where the two sides differ, or saying that none was found either.
    InputError
        For an assumption of another form.

    Examples
    --------
    >>> x, y = sympy.symbols("x y")
    >>> assert_identity((x + y)**2, x**2 + 2*x*y + y**2)
    """
    left, right = sympy.sympify(left), sympy.sympify(right)
    for condition in assuming:
        substitution = _substitution(condition)
        left, right = left.subs(substitution), right.subs(substitution)
    decision = decide_identity(left, right)
    if decision.holds is not True:
        at = ", ".join(f"{name} = {value}" for name, value in decision.witness.items())
        raise TheoremViolation(f"{left} = {right}: {decision.reason}" + (f": {at}" if at else ""))


def _substitution(condition: sympy.Basic) -> dict[sympy.Symbol, sympy.Expr]:
    if isinstance(condition, sympy.Equality) and condition.lhs.is_Symbol:
        return {condition.lhs: condition.rhs}
    if isinstance(condition, sympy.StrictGreaterThan) and condition.rhs == 0:
        symbol = condition.lhs
        if symbol.is_Symbol:
            return {symbol: sympy.Symbol(symbol.name, positive=True, integer=symbol.is_integer)}
    raise InputError(f"cannot assume {condition}; write Eq(symbol, expression) or symbol > 0")


def assert_enclosed(value: Any, within: Any) -> None:
    """Assert that a number provably lies in an interval, ends included.

    Parameters
    ----------
    value : Enclosure, arb, exact number, or an object with an ``enclosure``
        The whole enclosure must lie inside.
    within : Enclosure or pair of exact numbers

    Raises
    ------
    TheoremViolation
        If it lies outside, sticks out, or is not finite.
    """
    inner = _enclosure(value)
    outer = within if isinstance(within, Enclosure) else _interval(within)
    if inner.within(outer):
        return
    how = "sticks out of" if inner.overlaps(outer) else "lies outside"
    raise TheoremViolation(f"{inner} {how} {outer}")


def assert_converges(
    sequence: Iterable[tuple[int, Any]], limit: Any, bound: Callable[[int], Any]
) -> None:
    """Assert ``|x_n - limit| <= bound(n)`` for each given term, with bounds that decrease.

    It speaks for the given terms alone: no finite test proves a limit.

    Parameters
    ----------
    sequence : iterable of (n, value)
        ``n`` increasing; values enclosed or exact.
    limit : exact number or Enclosure
    bound : callable
        From ``n`` to an exact number or an enclosure.

    Examples
    --------
    >>> from fractions import Fraction
    >>> assert_converges([(n, Fraction(n, n + 1)) for n in (1, 10, 100)], 1,
    ...                  lambda n: Fraction(1, n))
    """
    before: Enclosure | None = None
    count = 0
    for n, value in sequence:
        count += 1
        allowed = _enclosure(bound(n))
        with precision(_BITS):
            distance = Enclosure.of(abs(_enclosure(value).ball() - _enclosure(limit).ball()))
        beyond = distance.greater_than(allowed)
        if beyond is not False:
            how = "exceeds" if beyond else "is not decided against"
            raise TheoremViolation(f"n = {n}: |x_n - limit| = {distance} {how} {allowed}")
        if before is not None and allowed.less_than(before) is not True:
            raise TheoremViolation(f"the bound does not decrease at n = {n}: {before}, {allowed}")
        before = allowed
    if count < 2:
        raise InputError(f"a sequence of {count} terms shows no convergence; give at least 2")


def _enclosure(value: Any) -> Enclosure:
    value = getattr(value, "enclosure", value)
    if isinstance(value, Enclosure):
        return value
    with precision(_BITS):
        number = value if isinstance(value, arb) else ball(value)
        if not number.is_finite():
            raise TheoremViolation(f"{number} is not finite")
        return Enclosure.of(number)


def _interval(ends: Any) -> Enclosure:
    low, high = ends
    with precision(_BITS):
        return Enclosure(ball(low).lower(), ball(high).upper())
