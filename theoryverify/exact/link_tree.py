"""The expression trees of link functions, and how they are written down."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from theoryverify.exact.rationals import to_fmpq

FUNCTIONS = ("sqrt", "exp", "log", "sin", "cos", "tanh", "erf", "abs", "sign", "relu")


@dataclass(frozen=True, slots=True)
class Number:
    value: Fraction


@dataclass(frozen=True, slots=True)
class Variable:
    pass


@dataclass(frozen=True, slots=True)
class Sum:
    terms: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Product:
    factors: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Power:
    """``base**exponent``; division and ``sqrt`` are powers too."""

    base: Node
    exponent: Fraction


@dataclass(frozen=True, slots=True)
class Call:
    """A function of :data:`FUNCTIONS`, or ``logistic``, which only the gate introduces."""

    name: str
    argument: Node


@dataclass(frozen=True, slots=True)
class HermiteCall:
    """``He_order(argument)``, monic and probabilists'."""

    order: int
    argument: Node


Node = Number | Variable | Sum | Product | Power | Call | HermiteCall


def add(*terms: Node) -> Node:
    """A sum without nested sums and zeros."""
    flat: list[Node] = []
    for term in terms:
        flat += term.terms if isinstance(term, Sum) else (term,)
    kept = tuple(t for t in flat if t != Number(Fraction(0)))
    if len(kept) <= 1:
        return kept[0] if kept else Number(Fraction(0))
    return Sum(kept)


def multiply(*factors: Node) -> Node:
    """A product without nested products, with its numbers collected in front."""
    flat: list[Node] = []
    for factor in factors:
        flat += factor.factors if isinstance(factor, Product) else (factor,)
    number = Fraction(1)
    for factor in flat:
        if isinstance(factor, Number):
            number *= factor.value
    rest: list[Node] = [f for f in flat if not isinstance(f, Number)]
    if number == 0 or not rest:
        return Number(number)
    if number != 1:
        rest = [Number(number), *rest]
    return rest[0] if len(rest) == 1 else Product(tuple(rest))


def negate(node: Node) -> Node:
    return multiply(Number(Fraction(-1)), node)


def power(base: Node, exponent: Fraction) -> Node:
    """A power; those of numbers are worked out where the result is rational."""
    if exponent == 1:
        return base
    if exponent == 0:
        return Number(Fraction(1))
    if isinstance(base, Number) and exponent.denominator == 1 and base.value != 0:
        return Number(base.value ** int(exponent))
    return Power(base, exponent)


def render(node: Node) -> str:
    """The expression as text that :func:`parse` reads back to the same function."""
    match node:
        case Number(value):
            return digits(value)
        case Variable():
            return "z"
        case Sum(terms):
            shown = [render(t) for t in terms]
            return shown[0] + "".join(
                f" - {t[1:]}" if t.startswith("-") else f" + {t}" for t in shown[1:]
            )
        case Product(factors):
            return _quotient(factors)
        case Power(base, exponent) if exponent < 0:
            return _quotient((node,))
        case Power(base, exponent) if exponent == Fraction(1, 2):
            return f"sqrt({render(base)})"
        case Power(base, exponent):
            whole = exponent.denominator == 1
            return f"{_grouped(base)}**{exponent if whole else f'({exponent})'}"
        case Call(name, argument):
            return f"{name}({render(argument)})"
        case HermiteCall(order, argument):
            return f"He{order}({render(argument)})"


def _quotient(factors: tuple[Node, ...]) -> str:
    above, below, negative = [], [], False
    for factor in factors:
        match factor:
            case Number(value):
                negative ^= value < 0
                if abs(value.numerator) != 1:
                    above.append(digits(Fraction(abs(value.numerator))))
                if value.denominator != 1:
                    below.append(digits(Fraction(value.denominator)))
            case Power(base, exponent) if exponent < 0:
                below.append(_grouped(power(base, -exponent)))
            case _:
                above.append(_grouped(factor, but=Power))
    sign = "-" if negative else ""
    return sign + ("*".join(above) or "1") + "".join(f"/{text}" for text in below)


def _grouped(node: Node, but: type | None = None) -> str:
    """In parentheses unless it is an atom, or of the kind that needs none here."""
    text = render(node)
    atom = isinstance(node, (Variable, Call, HermiteCall)) or text.startswith("sqrt(")
    whole = isinstance(node, Number) and text.isdigit()
    return text if atom or whole or (but is not None and isinstance(node, but)) else f"({text})"


def digits(value: Fraction) -> str:
    """A rational as text."""
    # Python refuses to print integers of more than 4300 digits; FLINT does not.
    return str(to_fmpq(value))
