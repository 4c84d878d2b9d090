"""Links cut at their kinks and jumps, so that on each piece no ``abs``, ``sign``, ``relu`` is left.

The argument of an innermost such function is given its sign between its roots, exactly; the
function then becomes ``±u``, ``±1`` or ``0`` there. Arguments whose roots are not found exactly
(``abs(sin(z))``) stay as they are: they are integrated by bisection, and proofs look elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from theoryverify.errors import InputError
from theoryverify.exact.forms import Form
from theoryverify.exact.link_tree import (
    Call,
    HermiteCall,
    Node,
    Number,
    Power,
    Product,
    Sum,
    Variable,
    add,
    multiply,
    negate,
    power,
)
from theoryverify.exact.normal_form import normal_form, vanishes
from theoryverify.exact.points import Point, ordered, real_roots
from theoryverify.exact.surds import Surds, TooHardError

_KINKS = ("abs", "sign", "relu")
_MAX_PIECES = 200


@dataclass(frozen=True)
class Piece:
    """A link between two neighbouring break points; ``None`` stands for an infinite end."""

    lower: Point | None
    upper: Point | None
    node: Node

    @cached_property
    def form(self) -> Form | None:
        """The normal form, or ``None`` where it is too large or too hard."""
        try:
            return normal_form(self.node)
        except TooHardError:
            return None

    def cut(self, points: list[Point]) -> list[Piece]:
        """The piece cut at those of the points that lie inside it."""
        inside = [p for p in ordered(points) if self.contains(p)]
        ends = [self.lower, *inside, self.upper]
        return [Piece(a, b, self.node) for a, b in pairwise(ends)]

    def contains(self, point: Point) -> bool:
        """Whether a point lies strictly inside."""
        return (self.lower is None or point.compare(self.lower) > 0) and (
            self.upper is None or point.compare(self.upper) < 0
        )

    def sign_of(self, argument: Node) -> int | None:
        """The constant sign of an expression inside the piece, if it is known to have one."""
        pattern = sign_pattern(argument)
        if pattern is None or any(self.contains(p) for p in pattern.changes):
            return None
        end = self.upper
        flips = 0 if end is None else sum(p.compare(end) >= 0 for p in pattern.changes)
        return -pattern.last if flips % 2 else pattern.last


@dataclass(frozen=True)
class SignPattern:
    """Where a function changes sign, and its sign to the right of all that."""

    last: int
    changes: tuple[Point, ...]

    def __mul__(self, other: SignPattern) -> SignPattern:
        changes = set(self.changes) ^ set(other.changes)
        return SignPattern(self.last * other.last, tuple(ordered(changes)))


_POSITIVE = SignPattern(1, ())


def sign_pattern(node: Node) -> SignPattern | None:
    """The sign of an expression on the whole line, where it is found exactly."""
    match node:
        case Call("exp" | "logistic", _):
            return _POSITIVE
        case Call("tanh" | "erf", argument):
            return sign_pattern(argument)
        case Power(base, exponent):
            if exponent.denominator > 1 or exponent.numerator % 2 == 0:
                return _POSITIVE
            return sign_pattern(base)
        case Product(factors):
            total = _POSITIVE
            for factor in factors:
                part = sign_pattern(factor)
                if part is None:
                    return None
                total = total * part
            return total
        case _:
            try:
                return _pattern_of_form(normal_form(node))
            except TooHardError:
                return None


def _pattern_of_form(form: Form) -> SignPattern | None:
    if not form.terms:
        return SignPattern(0, ())
    if any(not p.is_real for p, _ in form.terms) or not form.is_plain:
        return None
    if len(form.terms) == 1:
        (polynomial,) = form.terms.values()
        return _pattern_of_polynomial(polynomial)
    if len(form.terms) == 2:
        ((p, _), a), ((q, _), b) = form.terms.items()
        if a.is_constant and (a + b).is_zero:  # a(e^P - e^Q) has the sign of a(P - Q)
            return _pattern_of_polynomial(a * (p - q))
    return None


def _pattern_of_polynomial(polynomial: Surds) -> SignPattern:
    changes = [p for p, multiplicity in real_roots(polynomial) if multiplicity % 2]
    return SignPattern(polynomial.leading.real_sign(), tuple(changes))


def split(node: Node) -> tuple[Piece, ...]:
    """The pieces of a link from left to right, as few as can be proved enough."""
    pending, done = [Piece(None, None, node)], []
    stubborn: set[Node] = set()
    while pending:
        piece = pending.pop()
        kink = next(_innermost(piece.node, stubborn), None)
        if kink is None:
            done.append(piece)
            continue
        pattern = sign_pattern(kink.argument)
        if pattern is None:
            stubborn.add(kink)
            pending.append(piece)
            continue
        if len(pending) + len(done) > _MAX_PIECES:
            raise InputError(f"the link breaks at more than {_MAX_PIECES} points")
        for part in reversed(piece.cut(list(pattern.changes))):
            sign = part.sign_of(kink.argument)
            smooth = _replace(part.node, kink, _resolved(kink, sign or 0))
            pending.append(Piece(part.lower, part.upper, smooth))
    return tuple(_merged(done))


def _innermost(node: Node, but: set[Node]) -> Iterator[Call]:
    for child in children(node):
        yield from _innermost(child, but)
    if isinstance(node, Call) and node.name in _KINKS and node not in but:
        yield node


def children(node: Node) -> tuple[Node, ...]:
    """The expressions that an expression is made of."""
    match node:
        case Sum(terms):
            return terms
        case Product(factors):
            return factors
        case Power(base, _):
            return (base,)
        case Call(_, argument) | HermiteCall(_, argument):
            return (argument,)
        case Number() | Variable():
            return ()


def _resolved(kink: Call, sign: int) -> Node:
    if kink.name == "sign":
        return Number(Fraction(sign))
    if sign == 0 or (sign < 0 and kink.name == "relu"):
        return Number(Fraction(0))
    return kink.argument if sign > 0 else negate(kink.argument)


def _replace(node: Node, old: Node, new: Node) -> Node:
    if node == old:
        return new
    match node:
        case Sum(terms):
            return add(*(_replace(t, old, new) for t in terms))
        case Product(factors):
            return multiply(*(_replace(f, old, new) for f in factors))
        case Power(base, exponent):
            return power(_replace(base, old, new), exponent)
        case Call(name, argument):
            return Call(name, _replace(argument, old, new))
        case HermiteCall(order, argument):
            return HermiteCall(order, _replace(argument, old, new))
        case _:
            return node


def reflected(node: Node) -> Node:
    """The expression with ``-z`` for ``z``."""
    return _replace(node, Variable(), negate(Variable()))


def _merged(pieces: list[Piece]) -> list[Piece]:
    """Without the break points at which nothing breaks."""
    kept: list[Piece] = []
    for piece in pieces:
        last = kept[-1] if kept else None
        if last is not None and _same(last, piece):
            kept[-1] = Piece(last.lower, piece.upper, last.node)
        else:
            kept.append(piece)
    return kept


def _same(left: Piece, right: Piece) -> bool:
    if left.node == right.node:
        return True
    if left.form is None or right.form is None:
        return False
    try:
        return vanishes(left.form - right.form)
    except TooHardError:
        return False
