"""The one grammar of link functions: text in, a small expression tree out, nothing evaluated.

::

    sum     = product (("+" | "-") product)*
    product = unary (("*" | "/") unary)*
    unary   = ("+" | "-") unary | power
    power   = atom ("**" unary)?                     exponents are rational constants
    atom    = number | "z" | name "(" sum ")" | "(" sum ")"
    name    = sqrt exp log sin cos tanh erf abs sign relu, or He0, He1, He2, ...

Numbers are exact: ``0.1`` is one tenth. The sizes of what an expression stands for (nesting,
degree, length of its coefficients) are bounded while it is read, so that a short hostile text
cannot ask for a long computation.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import lcm
from typing import NamedTuple, NoReturn

from theoryverify.errors import InputError
from theoryverify.exact.link_tree import (
    FUNCTIONS,
    Call,
    HermiteCall,
    Node,
    Number,
    Sum,
    Variable,
    add,
    digits,
    multiply,
    negate,
    power,
)
from theoryverify.exact.rationals import rational

MAX_CHARACTERS = 200_000
MAX_DEPTH = 60
MAX_DEGREE = 1_000
MAX_BITS = 100_000


class _Token(NamedTuple):
    kind: str
    text: str
    column: int


class _Sized(NamedTuple):
    """A node with bounds for the polynomials in it: degree, bits of numerators, denominator."""

    node: Node
    degree: int
    bits: int
    denominator: int = 1


_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*)|(?P<operator>\*\*|[-+*/()])|(?P<space>[ \t\n]+)"
)
_HERMITE = re.compile(r"He_?([0-9]{1,9})")
_HINTS = {
    "^": "write ** for a power",
    "Abs": "write abs",
    "Max": "write relu(u) for max(0, u)",
    "Heaviside": "write (1 + sign(u))/2",
    "x": "the variable is z",
    "I": "links are real",
}


def parse(text: str) -> Node:
    """The expression tree of a link.

    Parameters
    ----------
    text : str
        An expression in ``z``, for example ``"He3(z)/sqrt(6)"`` or ``"relu(z) - 1/2"``.

    Raises
    ------
    InputError
        Naming the column, for text outside the grammar or beyond its limits.
    """
    if not isinstance(text, str):
        raise InputError(f"a link is written as text, such as 'He3(z)/sqrt(6)', not {text!r}")
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"the link has {len(text)} characters; at most {MAX_CHARACTERS} are read")
    return _Reader(text).whole()


class _Reader:
    """Recursive descent; ``depth`` counts every construct that nests."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(self._scan())
        self.position = 0
        self.depth = 0

    def _scan(self) -> list[_Token]:
        tokens, start = [], 0
        while start < len(self.text):
            match = _TOKEN.match(self.text, start)
            if match is None:
                # Complained about only when reading gets there, after what may be wrong before.
                tokens.append(_Token("unknown", self.text[start], start + 1))
                break
            if match.lastgroup != "space":
                tokens.append(_Token(str(match.lastgroup), match.group(), start + 1))
            start = match.end()
        tokens.append(_Token("end", "", len(self.text) + 1))
        return tokens

    def fail(self, message: str, column: int) -> NoReturn:
        first = max(0, column - 31)
        shown = self.text[first : column + 29].replace("\n", " ")
        shown = ("..." if first else "") + shown + ("..." if column + 29 < len(self.text) else "")
        raise InputError(f"link {shown!r}, column {column}: {message}")

    @property
    def token(self) -> _Token:
        token = self.tokens[self.position]
        if token.kind == "unknown":
            hint = _HINTS.get(token.text, "it has no place in a link")
            self.fail(f"unexpected {token.text!r}: {hint}", token.column)
        return token

    def take(self, *texts: str) -> _Token | None:
        token = self.token
        if token.kind == "operator" and token.text in texts:
            self.position += 1
            return token
        return None

    def whole(self) -> Node:
        result = self.sum()
        if self.token.kind != "end":
            self.fail(f"unexpected {self.token.text!r}{self._missing_star()}", self.token.column)
        return result.node

    def _missing_star(self) -> str:
        follows = self.token.kind in ("number", "name") or self.token.text == "("
        return "; write * for a product" if follows else ""

    def sum(self) -> _Sized:
        terms = [self.product()]
        while sign := self.take("+", "-"):
            term = self.product()
            terms.append(term if sign.text == "+" else term._replace(node=negate(term.node)))
        if len(terms) == 1:
            return terms[0]
        common = lcm(*(t.denominator for t in terms))
        bits = max(t.bits + (common // t.denominator).bit_length() for t in terms)
        degree = max(t.degree for t in terms)
        node = add(*(t.node for t in terms))
        return self.limit(_Sized(node, degree, bits + len(terms).bit_length(), common))

    def product(self) -> _Sized:
        result = self.unary()
        while sign := self.take("*", "/"):
            factor = self.unary()
            node = factor.node
            if sign.text == "/":
                if _constant(node) == 0:
                    self.fail("division by zero", sign.column)
                node = power(node, Fraction(-1))
            result = self.limit(
                _Sized(
                    multiply(result.node, node),
                    result.degree + factor.degree,
                    result.bits + factor.bits,
                    result.denominator * factor.denominator,
                ),
                sign.column,
            )
        return result

    def unary(self) -> _Sized:
        sign = self.take("+", "-")
        if sign is None:
            return self.power()
        self.deeper(sign)
        inner = self.unary()
        self.depth -= 1
        return inner if sign.text == "+" else inner._replace(node=negate(inner.node))

    def power(self) -> _Sized:
        base = self.atom()
        star = self.take("**")
        if star is None:
            return base
        self.deeper(star)
        exponent = _constant(self.unary().node)
        self.depth -= 1
        if exponent is None:
            self.fail("an exponent must be a rational number; write exp(...) instead", star.column)
        if exponent <= 0 and _constant(base.node) == 0:
            self.fail(f"0**{exponent} is not a number", star.column)
        size = abs(exponent.numerator)
        if size > MAX_DEGREE or exponent.denominator > MAX_DEGREE:
            self.fail(f"the exponent {_short(exponent)} is beyond {MAX_DEGREE}", star.column)
        # Checked before it is worked out: the power of a number may be huge.
        bits = (base.bits + base.degree.bit_length() + 1) * max(size, 1)
        self.limit(_Sized(base.node, base.degree * size, bits), star.column)
        self.limit(_Sized(base.node, 0, base.denominator.bit_length() * size), star.column)
        node = power(base.node, exponent)
        return _Sized(node, base.degree * size, bits, base.denominator**size)

    def atom(self) -> _Sized:
        token = self.token
        self.position += 1
        if token.kind == "number":
            try:
                value = rational(token.text)
            except InputError as error:
                self.fail(str(error), token.column)
            sized = _Sized(Number(value), 0, value.numerator.bit_length(), value.denominator)
            return self.limit(sized, token.column)
        if token.kind == "name":
            return self.name(token)
        if token.text == "(":
            return self.parenthesis(token)
        self.position -= 1
        found = f"not {token.text!r}" if token.text else "but the link ends"
        self.fail(f"a number, z, a function or '(' must stand here, {found}", token.column)

    def name(self, token: _Token) -> _Sized:
        if token.text == "z":
            return _Sized(Variable(), 1, 1)
        order = _HERMITE.fullmatch(token.text)
        if order is None and token.text not in FUNCTIONS:
            hint = _HINTS.get(token.text, f"known are z, He0, He1, ..., {', '.join(FUNCTIONS)}")
            self.fail(f"unknown name {_short(token.text)!r}: {hint}", token.column)
        opening = self.take("(")
        if opening is None:
            self.fail(f"{token.text} needs an argument in parentheses", self.token.column)
        inner = self.parenthesis(opening)
        if order is not None:
            return self.hermite(int(order.group(1)), inner, token)
        if token.text == "sqrt":
            return inner._replace(node=power(inner.node, Fraction(1, 2)))
        return inner._replace(node=Call(token.text, inner.node))

    def hermite(self, k: int, inner: _Sized, token: _Token) -> _Sized:
        if k > MAX_DEGREE:
            self.fail(f"{_short(token.text)} is beyond He{MAX_DEGREE}", token.column)
        # The coefficients of He_k are below k!.
        bits = k * (inner.bits + inner.degree.bit_length() + k.bit_length()) + 1
        self.limit(_Sized(inner.node, k * inner.degree, bits), token.column)
        self.limit(_Sized(inner.node, 0, inner.denominator.bit_length() * k), token.column)
        node = HermiteCall(k, inner.node)
        return _Sized(node, k * inner.degree, bits, inner.denominator**k)

    def parenthesis(self, opening: _Token) -> _Sized:
        self.deeper(opening)
        inner = self.sum()
        self.depth -= 1
        if self.take(")") is None:
            found = f"{self.token.text!r} stands here" if self.token.text else "the link ends"
            self.fail(
                f"the '(' of column {opening.column} is not closed; {found}{self._missing_star()}",
                self.token.column,
            )
        return inner

    def deeper(self, token: _Token) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"nested more than {MAX_DEPTH} deep", token.column)

    def limit(self, sized: _Sized, column: int = 1) -> _Sized:
        if sized.degree > MAX_DEGREE:
            self.fail(f"the degree may reach {sized.degree}, beyond {MAX_DEGREE}", column)
        if max(sized.bits, sized.denominator.bit_length()) > MAX_BITS:
            self.fail(f"the coefficients may need more than {MAX_BITS} bits", column)
        return sized


def _constant(node: Node) -> Fraction | None:
    """The value of an expression of numbers alone that is plainly rational."""
    match node:
        case Number(value):
            return value
        case Sum(terms):
            total = Fraction(0)
            for term in terms:
                part = _constant(term)
                if part is None:
                    return None
                total += part
            return total
        case _:
            return None


def _short(value: object) -> str:
    text = digits(value) if isinstance(value, Fraction) else str(value)
    return text if len(text) <= 24 else text[:24] + "..."
