"""Deciding identities and inequalities between formulas, exactly.

An identity of rational expressions, in which integer powers may carry a symbolic exponent such as
``(1+βZ)^(T+1)``, is decided by arithmetic in a polynomial ring over QQ: each power with a symbolic
exponent becomes ``base^integer`` times a new symbol. If the difference vanishes there, the identity
holds for all values; if not, an exact rational point where both sides differ is looked for, and
only such a point refutes it. Nothing rests on SymPy's heuristics for simplification.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import sympy

from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure, ball, precision, sign
from theoryverify.exact.evaluate import BALL, EXACT, compiled
from theoryverify.exact.rationals import rational

_POINTS = 40


@dataclass(frozen=True)
class Decision:
    """What is known of a statement: ``holds`` is ``True``, ``False`` or ``None`` (undecided)."""

    holds: bool | None
    reason: str
    witness: dict[str, str] = field(default_factory=dict)


def decide_identity(left: sympy.Expr, right: sympy.Expr) -> Decision:
    """Whether ``left == right`` as functions of their free symbols.

    Symbols declared integer stand for integers; where a positive integer ``T`` occurs in an
    exponent the identity is decided for all ``T`` at once.
    """
    left, right = sympy.sympify(left), sympy.sympify(right)
    if _normal_form(left - right) == 0:
        return Decision(True, "the difference is the zero element of a rational function field")
    witness = _differing_point(left, right)
    if witness is not None:
        values, l_value, r_value = witness
        shown = {symbol.name: str(value) for symbol, value in values.items()}
        shown |= {"left": l_value, "right": r_value}
        return Decision(False, "both sides differ at an exact point", shown)
    return Decision(None, "neither a proof nor a point of difference was found")


def _normal_form(expression: sympy.Expr) -> sympy.Expr:
    """The expression in a rational function field, powers with symbolic exponents as new symbols."""
    expanded = sympy.expand_power_exp(sympy.expand_power_base(expression, force=False))
    replaced, table = _abstract_powers(expanded)
    numerator, _ = sympy.fraction(sympy.together(replaced))
    numerator = sympy.expand(numerator)
    for (base, _), symbol in table.items():
        if base == -1 and numerator.has(symbol):  # ((-1)^T)^2 = 1
            numerator = sympy.expand(sympy.rem(numerator, symbol**2 - 1, symbol))
    return sympy.Integer(0) if numerator == 0 else numerator


def _abstract_powers(
    expression: sympy.Expr,
) -> tuple[sympy.Expr, dict[tuple[sympy.Expr, sympy.Expr], sympy.Symbol]]:
    """Write ``b^(n T + k)`` as ``(b^T)^n b^k`` with a new symbol for each canonical ``b^T``."""
    table: dict[tuple[sympy.Expr, sympy.Expr], sympy.Symbol] = {}

    def replace(base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
        base = sympy.factor(base) if base.free_symbols else base
        if not exponent.is_integer:
            return _split(base, exponent)
        # (xy)^n = x^n y^n for integer n, whatever the signs.
        return sympy.Mul(*[_split(part, exponent) for part in sympy.Mul.make_args(base)])

    def _split(base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
        if base.is_Pow and exponent.is_integer:
            return _split(base.base, sympy.expand(base.exp * exponent))
        # A base is fixed up to sign, so that (1-x)^{2T} and (x-1)^{2T} share a symbol.
        sign_factor = sympy.Integer(1)
        if base.could_extract_minus_sign() and base != -1 and exponent.is_integer:
            base, sign_factor = -base, _split(sympy.Integer(-1), exponent)
        result = sign_factor
        for term in sympy.Add.make_args(sympy.expand(exponent)):
            coefficient, symbolic = term.as_coeff_Mul()
            if symbolic == 1:
                result *= base**coefficient
            elif coefficient.is_Integer:
                if base == -1:
                    coefficient = coefficient % 2
                    if coefficient == 0:
                        continue
                key = (base, symbolic)
                if key not in table:
                    table[key] = sympy.Symbol(f"_p{len(table)}", positive=base.is_positive)
                result *= table[key] ** coefficient
            else:
                raise InputError(f"cannot decide an identity with the exponent {exponent}")
        return result

    replaced = expression.replace(
        lambda node: node.is_Pow and bool(node.exp.free_symbols),
        lambda node: replace(node.base, node.exp),
    )
    return replaced, table


def _differing_point(
    left: sympy.Expr, right: sympy.Expr
) -> tuple[dict[sympy.Symbol, sympy.Rational], str, str] | None:
    """A rational point where both sides certainly differ: exactly, or by disjoint balls."""
    symbols = sorted(left.free_symbols | right.free_symbols, key=lambda symbol: symbol.name)
    generator = random.Random(0)
    for _ in range(_POINTS):
        values = {symbol: _draw(symbol, generator) for symbol in symbols}
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
    return (str(left), str(right)) if left != right else None


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


def _draw(symbol: sympy.Symbol, generator: random.Random) -> sympy.Rational:
    if symbol.is_integer:
        return sympy.Integer(generator.randint(1, 5))
    value = sympy.Rational(generator.randint(1, 12), generator.randint(1, 7))
    if symbol.is_positive or symbol.is_nonnegative:
        return value
    return value * generator.choice([-1, 1])


def decide_nonnegative(
    expression: sympy.Expr, nonnegative: Sequence[sympy.Symbol], *, strict: bool = False
) -> Decision:
    """Whether a polynomial is >= 0 (or > 0) wherever the given symbols are >= 0 (or > 0).

    The certificate is the simplest there is: every coefficient of the expanded polynomial is
    nonnegative (and one is positive, for the strict form with all symbols positive). It is a
    sufficient condition; a point with a negative value refutes.
    """
    poly = sympy.Poly(sympy.expand(expression), *nonnegative)
    coefficients = poly.coeffs()
    if all(entry.is_number and entry >= 0 for entry in coefficients) and (
        not strict or any(entry > 0 for entry in coefficients)
    ):
        return Decision(True, f"all {len(coefficients)} coefficients of {poly.as_expr()} are >= 0")
    for values in itertools.product([Fraction(1, 7), Fraction(1), Fraction(9)], repeat=len(nonnegative)):
        point = {
            symbol: sympy.Rational(value.numerator, value.denominator)
            for symbol, value in zip(nonnegative, values, strict=True)
        }
        value = poly.as_expr().subs(point)
        if value.is_number and (value < 0 or (strict and value == 0)):
            shown = {symbol.name: str(entry) for symbol, entry in point.items()}
            return Decision(False, "negative at an exact point", shown | {"value": str(value)})
    return Decision(None, "a coefficient is negative, but no point of failure was found")


def all_hold(decisions: Iterable[Decision]) -> bool | None:
    """Three-valued conjunction."""
    verdicts = [decision.holds for decision in decisions]
    if any(verdict is False for verdict in verdicts):
        return False
    return None if any(verdict is None for verdict in verdicts) else True
