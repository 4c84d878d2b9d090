"""Assertions for your own tests: they decide exactly, or with a stated error, or refuse to.

Each raises :class:`TheoremViolation` (an ``AssertionError``) if the statement is false *or* could
not be decided; the message says which.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import sympy
from flint import arb

from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure, ball, precision
from theoryverify.exact.identities import as_expression, decide_identity

if TYPE_CHECKING:
    import numpy as np

_BITS = 256
_BATCH = 10_000
_HORIZON = 40_000


class TheoremViolation(AssertionError):
    """A mathematical statement is false, or was not decided."""


def assert_identity(
    left: sympy.Expr, right: sympy.Expr, assuming: Sequence[sympy.Basic] = ()
) -> None:
    """Assert that two SymPy expressions are equal for all values of their symbols.

    Parameters
    ----------
    left, right : sympy.Expr
        Rational in their symbols; exponents may contain integer symbols. Numbers are allowed, text
        is not.
    assuming : sequence
        ``sympy.Eq(symbol, expression)`` substitutes; ``symbol > 0`` makes a symbol positive.

    Raises
    ------
    TheoremViolation
        With an exact point where the two sides differ, or saying that none was found either.
    InputError
        For a side that is no expression, or an assumption of another form.

    Examples
    --------
    >>> x, y = sympy.symbols("x y")
    >>> assert_identity((x + y)**2, x**2 + 2*x*y + y**2)
    """
    left, right = as_expression(left), as_expression(right)
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


def assert_equivalent(
    draw: Callable[..., Any],
    expected: Any,
    margin: float,
    *,
    error: float = 1e-6,
    rng: np.random.Generator | int,
    bounds: tuple[float, float] | None = None,
    variance: float | None = None,
    kurtosis: float = 50.0,
    budget: int = 1_000_000,
) -> None:
    """Assert that the mean of random draws is within ``margin`` of ``expected``.

    Draws are taken until a confidence sequence for the mean lies inside the margin or clear of it.

    Parameters
    ----------
    draw : callable
        ``draw(n, rng)`` returns n independent draws; it may take one of the two alone, or both in
        the other order, if they are called ``n``/``size`` and ``rng``/``generator``.
    expected : number or Enclosure
    margin : float
        Positive.
    error : float
        The probability that it passes where the mean lies outside the margin, or says that the
        mean lies outside where it does not.
    rng : Generator or int
    bounds : (float, float), optional
        All draws lie between; the error then holds without any further assumption.
    variance : float, optional
        A bound of the variance; likewise.
    kurtosis : float
        Without either, the error holds for draws with ``E(x-μ)⁴ <= kurtosis · Var(x)²``.
    budget : int
        The largest number of draws.

    Raises
    ------
    TheoremViolation
        If the mean lies outside the margin, or the budget was spent before it was decided; or a
        draw is not finite.
    InputError
        For arguments out of range.

    Examples
    --------
    >>> assert_equivalent(lambda n, rng: rng.standard_normal(n) ** 2, 1, 0.1, rng=0)
    """
    import numpy as np

    from theoryverify import stats

    if bounds is not None and variance is not None:
        raise InputError("give bounds or a variance, not both")
    if bounds is not None:
        sequence: stats.Sequence = stats.BoundedMean(*bounds, error=error, horizon=_HORIZON)
    elif variance is not None:
        sequence = stats.VarianceMean(variance, error=error, horizon=_HORIZON)
    else:
        sequence = stats.KurtosisMean(kurtosis, error=error, horizon=_HORIZON)
    ordered = _draw_in_order(draw)

    def checked(size: int, generator: np.random.Generator) -> Any:
        values = np.asarray(ordered(size, generator), dtype=np.float64)
        values = np.broadcast_to(values, (size,)) if values.size == 1 == size else values
        if not np.isfinite(values).all():
            raise TheoremViolation(f"a draw is {values[~np.isfinite(values)][0]}: it has no mean")
        return values

    found = stats.equivalence(
        checked,
        float(expected),
        margin,
        sequence=sequence,
        budget=budget,
        rng=np.random.default_rng(rng),
        batch=_BATCH,
    )
    if found.verdict.value != "holds":
        how = (
            "is not within the margin"
            if found.verdict.value == "refuted"
            else "was not decided within the budget"
        )
        raise TheoremViolation(f"E[draw] = {expected} ± {margin} {how}: {found}")


def _draw_in_order(draw: Callable[..., Any]) -> Callable[[int, Any], Any]:
    """``draw`` as a function of (n, rng), by the names of its parameters."""
    generators = {"rng", "generator", "random_state"}
    try:
        parameters = inspect.signature(draw).parameters.values()
    except (TypeError, ValueError):
        return draw
    names = [
        p.name
        for p in parameters
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    if len(names) == 2:
        return (lambda n, rng: draw(rng, n)) if names[0] in generators else draw
    if len(names) == 1 and names[0] not in generators:
        return lambda n, rng: draw(n)
    if len(names) == 1:
        import numpy as np

        return lambda n, rng: np.array([draw(rng) for _ in range(n)], dtype=np.float64)
    raise InputError(f"draw must take (n, rng); it takes {names}")


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
