"""Deciding identities and inequalities between formulas, exactly.

An identity of rational expressions, in which integer powers may carry a symbolic exponent such as
``(1+βZ)^(T+1)``, is decided by arithmetic in a polynomial ring over QQ: each power with a symbolic
exponent becomes ``base^integer`` times a new symbol. If the difference vanishes there, the identity
holds at all values where both sides are defined; if not, an exact rational point where both sides
differ is looked for, among the values that the symbols' declared assumptions allow, and only such a
point refutes it. Nothing rests on SymPy's heuristics for simplification.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import sympy
from sympy.polys.polyerrors import BasePolynomialError

from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure, ball, precision, sign
from theoryverify.exact.evaluate import BALL, EXACT, compiled
from theoryverify.exact.rationals import rational, shown

_POINTS = 40
_CORNERS = (sympy.Rational(1, 7), sympy.Integer(1), sympy.Integer(9))


@dataclass(frozen=True)
class Decision:
    """What is known of a statement: ``holds`` is ``True``, ``False`` or ``None`` (undecided)."""

    holds: bool | None
    reason: str
    witness: dict[str, str] = field(default_factory=dict)
    kind: str = field(default="", compare=False)
    """For what a certificate can say: which kind of statement this is, and its parts."""
    parts: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)


def decide_identity(left: sympy.Expr, right: sympy.Expr) -> Decision:
    """Whether ``left == right`` as functions of their free symbols, wherever both are defined.

    Symbols stand for real numbers, or for what they are declared to be; where a positive integer
    ``T`` occurs in an exponent the identity is decided for all ``T`` at once. Of rounded numbers
    nothing is decided: an equality of floats is one of roundings.

    Raises
    ------
    InputError
        For something that is no expression, or two different symbols of one name.
    """
    left, right = as_expression(left), as_expression(right)
    symbols = left.free_symbols | right.free_symbols
    if len({symbol.name for symbol in symbols}) < len(symbols):
        names = sorted(symbol.name for symbol in symbols)
        raise InputError(
            f"two different symbols have one name, among {', '.join(names)}: declare it once"
        )
    if rounded := _rounded(left, right):
        return Decision(None, rounded)
    if _normal_form(left - right) == 0:
        return Decision(
            True,
            "the difference is the zero element of a rational function field",
            kind="identity",
            parts={"left": left, "right": right},
        )
    witness = _differing_point(left, right)
    if witness is not None:
        values, l_value, r_value = witness
        shown = {symbol.name: str(value) for symbol, value in values.items()}
        shown |= {"left": l_value, "right": r_value}
        return Decision(False, "both sides differ at an exact point", shown)
    return Decision(None, "neither a proof nor a point of difference was found")


def as_expression(value: object) -> sympy.Expr:
    """A SymPy expression, or a number as one.

    Raises
    ------
    InputError
        For anything else. Text is refused too, since SymPy would run it as code.
    """
    try:
        expression = sympy.sympify(value, strict=True)
    except sympy.SympifyError as error:
        raise _no_expression(value) from error
    if not isinstance(expression, sympy.Expr):
        raise _no_expression(value)
    return expression


def exact_expression(value: object) -> sympy.Expr:
    """As :func:`as_expression`, where rounded numbers are refused too.

    Raises
    ------
    InputError
        For anything else.
    """
    expression = as_expression(value)
    if rounded := _rounded(expression):
        raise InputError(rounded)
    return expression


def _rounded(*expressions: sympy.Expr) -> str:
    """What to say of the first rounded number in them; nothing if there is none."""
    for expression in expressions:
        for number in sorted(expression.atoms(sympy.Float)):
            return (
                f"{expression} holds the rounded number {number}; "
                "write it as a fraction, such as Rational(1, 3)"
            )
    return ""


def _no_expression(value: object) -> InputError:
    return InputError(
        f"{value!r} is not a SymPy expression; allowed are expressions and numbers, not text"
    )


def _normal_form(expression: sympy.Expr) -> sympy.Expr:
    """Zero if the expression vanishes as a rational function of its symbols and of its powers with
    symbolic exponents; else something that does not."""
    expanded = sympy.expand_power_exp(sympy.expand_power_base(expression, force=False))
    replaced, table = _abstract_powers(expanded)
    numerator, denominator = sympy.fraction(sympy.together(replaced))
    signs = [symbol for (base, unit), symbol in table.items() if base == -1 and unit.is_integer]

    def reduced(part: sympy.Expr) -> sympy.Expr:
        for symbol in signs:
            if part.has(symbol) and part.is_polynomial(symbol):  # ((-1)^T)^2 = 1
                part = sympy.expand(sympy.rem(part, symbol**2 - 1, symbol))
        return part

    numerator = reduced(sympy.expand(numerator))
    if numerator == 0 and reduced(denominator) == 0:
        return sympy.nan
    return numerator


def _abstract_powers(
    expression: sympy.Expr,
) -> tuple[sympy.Expr, dict[tuple[sympy.Expr, sympy.Expr], sympy.Symbol]]:
    """Write ``b^(n T + k)`` as ``(b^T)^n b^k`` with a new symbol for each canonical ``b^T``.

    Only sums, products and powers are entered: inside a derivative or a finite sum the base may
    hold a bound variable.
    """
    table: dict[tuple[sympy.Expr, sympy.Expr], sympy.Symbol] = {}
    prefix = "_p"
    while any(symbol.name.startswith(prefix) for symbol in expression.free_symbols):
        prefix = "_" + prefix

    def walk(node: sympy.Expr) -> sympy.Expr:
        if node.is_Add or node.is_Mul:
            return node.func(*map(walk, node.args))
        if not node.is_Pow:
            return node
        base, exponent = map(walk, node.args)
        return replace(base, exponent) if exponent.free_symbols else base**exponent

    def replace(base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
        base = sympy.factor(base) if base.free_symbols else base
        if not exponent.is_integer:
            return split(base, exponent)
        # (xy)^n = x^n y^n for integer n, whatever the signs.
        return sympy.Mul(*[split(part, exponent) for part in sympy.Mul.make_args(base)])

    def split(base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
        if base.is_Pow and exponent.is_integer:
            return split(base.base, sympy.expand(base.exp * exponent))
        # A base is fixed up to sign, so that (1-x)^{2T} and (x-1)^{2T} share a symbol.
        sign_factor = sympy.Integer(1)
        if base.could_extract_minus_sign() and base != -1 and exponent.is_integer:
            base, sign_factor = -base, split(sympy.Integer(-1), exponent)
        result = sign_factor
        for term in sympy.Add.make_args(sympy.expand(exponent)):
            coefficient, unit = term.as_coeff_Mul()
            if unit == 1:
                result *= base**coefficient
                continue
            power, unit = coefficient.p, unit / coefficient.q
            known = base**unit
            if known.is_Integer:  # 1^T, or (-1)^k for a symbol k declared even
                result *= known**power
                continue
            if base == -1 and unit.is_integer:
                power %= 2
            key = (base, unit)
            if key not in table:
                table[key] = sympy.Symbol(
                    f"{prefix}{len(table)}", positive=_is_positive(base, unit)
                )
            result *= table[key] ** power
        return result

    return walk(expression), table


def _is_positive(base: sympy.Expr, exponent: sympy.Expr) -> bool | None:
    """``True`` if the power is known to be positive, else ``None``: it is never known not to be."""
    return True if base.is_positive and exponent.is_extended_real is not False else None


def _differing_point(
    left: sympy.Expr, right: sympy.Expr
) -> tuple[dict[sympy.Symbol, sympy.Rational], str, str] | None:
    """A rational point where both sides certainly differ: exactly, or by disjoint balls."""
    symbols = sorted(left.free_symbols | right.free_symbols, key=lambda symbol: symbol.name)
    generator = random.Random(0)
    for _ in range(_POINTS):
        values = {symbol: _draw(symbol, generator) for symbol in symbols}
        if None in values.values():  # a symbol that is never rational
            return None
        # Integers go in first: they may stand in exponents.
        whole = {symbol: value for symbol, value in values.items() if symbol.is_integer}
        rest = {s.name: rational(v) for s, v in values.items() if s not in whole}
        sides = left.subs(whole), right.subs(whole)
        if any(side.has(sympy.zoo, sympy.nan) for side in sides):
            continue
        shown = _exactly_different(sides, rest) or _surely_different(sides, rest)
        if shown is not None:
            return values, *shown
    return None


def _exactly_different(
    sides: tuple[sympy.Expr, sympy.Expr], at: dict[str, Fraction]
) -> tuple[str, str] | None:
    try:
        left, right = (compiled(side, EXACT)(at, False) for side in sides)
    except (InputError, ZeroDivisionError):
        return None
    return (shown(left), shown(right)) if left != right else None


def _surely_different(
    sides: tuple[sympy.Expr, sympy.Expr], at: dict[str, Fraction]
) -> tuple[str, str] | None:
    with precision(256):
        balls = {name: ball(value) for name, value in at.items()}
        try:
            left, right = (compiled(side, BALL)(balls, False) for side in sides)
        except (InputError, ZeroDivisionError):
            return None
        if sign(left - right) in (None, 0):
            return None
        return str(Enclosure.of(left)), str(Enclosure.of(right))


def _draw(symbol: sympy.Symbol, generator: random.Random) -> sympy.Rational | None:
    """A small rational value that the declared assumptions of the symbol allow, if any does."""
    if symbol.is_integer:
        value = sympy.Integer(generator.randint(1, 5))
    else:
        value = sympy.Rational(generator.randint(1, 12), generator.randint(1, 7))
        if not (symbol.is_positive or symbol.is_nonnegative):
            value *= generator.choice([-1, 1])
    candidates = (value, -value, 2 * value, 2 * value + 1, sympy.Integer(0))
    return next((entry for entry in candidates if _allows(symbol, entry)), None)


def _allows(symbol: sympy.Symbol, value: sympy.Rational) -> bool:
    return all(getattr(value, f"is_{fact}") is true for fact, true in symbol.assumptions0.items())


def decide_nonnegative(
    expression: sympy.Expr, nonnegative: Sequence[sympy.Symbol], *, strict: bool = False
) -> Decision:
    """Whether a polynomial over QQ is >= 0 wherever the given symbols are >= 0.

    With ``strict``: whether it is > 0 wherever they are all > 0.

    The certificate is the simplest there is: every coefficient of the expanded polynomial is
    nonnegative (and one is positive, for the strict form with all symbols positive). It is a
    sufficient condition; a point with a negative value refutes. Of rounded numbers nothing is
    decided.

    Raises
    ------
    InputError
        For something that is no expression, or a symbol that is not declared nonnegative: nothing
        would be shown where it is negative.
    """
    expression = as_expression(expression)
    for symbol in nonnegative:
        if not (isinstance(symbol, sympy.Symbol) and symbol.is_nonnegative):
            raise InputError(
                f"{symbol!r} is not declared nonnegative, and nothing would be shown where it is "
                f"negative; declare it so: Symbol({str(symbol)!r}, nonnegative=True)"
            )
    if rounded := _rounded(expression):
        return Decision(None, rounded)
    try:
        # With a generator of its own, SymPy does not take the free symbols for nonnegative.
        poly = sympy.Poly(expression, *nonnegative, sympy.Dummy(), domain=sympy.QQ)
    except BasePolynomialError:
        names = ", ".join(symbol.name for symbol in nonnegative)
        return Decision(None, f"{expression} is not a polynomial over QQ in {names or 'nothing'}")
    coefficients = poly.coeffs()
    if all(entry >= 0 for entry in coefficients) and (
        not strict or any(entry > 0 for entry in coefficients)
    ):
        return Decision(
            True,
            f"all {len(coefficients)} coefficients of {poly.as_expr()} are >= 0",
            kind="nonnegative",
            parts={"tree": expression, "over": tuple(nonnegative), "strict": strict},
        )
    for values in itertools.product(_CORNERS, repeat=len(nonnegative)):
        point = dict(zip(nonnegative, values, strict=True))
        if not all(_allows(symbol, value) for symbol, value in point.items()):
            continue
        value = poly.as_expr().subs(point)
        if value < 0 or (strict and value == 0):
            witness = {symbol.name: str(entry) for symbol, entry in point.items()}
            how = "negative" if value < 0 else "zero"
            return Decision(False, f"{how} at an exact point", witness | {"value": str(value)})
    return Decision(None, "a coefficient is negative, but no point of failure was found")
