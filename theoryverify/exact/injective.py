"""Peeling injective functions off a link: they change neither σ(g) nor the generative exponent."""

from __future__ import annotations

from contextlib import suppress

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.balls import precision
from theoryverify.exact.link_tree import Call, Node, Number, Power, Product, Sum
from theoryverify.exact.links import Link
from theoryverify.exact.normal_form import normal_form
from theoryverify.exact.surds import TooHardError

_INJECTIVE = ("exp", "log", "tanh", "erf", "logistic")
_NONNEGATIVE = ("exp", "abs", "relu", "logistic")


def core(g: Link) -> Link:
    """The innermost link ``u`` with ``g = F(u)``, ``F`` injective where ``u`` takes its values."""
    inner, node = g, _peeled(g.node)
    while node is not None:
        with suppress(InputError, UndecidedError):  # not in L² by itself: look further in
            inner = Link(node)
        node = _peeled(node)
    return inner


def _peeled(node: Node) -> Node | None:
    match node:
        case Call(name, argument) if name in _INJECTIVE:
            return argument
        case Sum(terms):
            rest = [t for t in terms if not _is_number(t)]
            return rest[0] if len(rest) == 1 and len(terms) > 1 else None
        case Product(factors):
            rest = [f for f in factors if not _is_number(f)]
            numbers = [f for f in factors if _is_number(f)]
            if len(rest) == 1 and numbers and all(_is_nonzero(f) for f in numbers):
                return rest[0]
            return None
        case Power(base, exponent) if not _is_number(base):
            odd = exponent.denominator == 1 and exponent.numerator % 2 == 1
            # Even roots need a base that is not negative, and are injective there.
            if odd or exponent.denominator > 1 or _is_nonnegative(base):
                return base
            return None
        case _:
            return None


def _is_nonnegative(node: Node) -> bool:
    if isinstance(node, Power):
        return node.exponent.denominator > 1
    return isinstance(node, Call) and node.name in _NONNEGATIVE


def _is_number(node: Node) -> bool:
    if isinstance(node, Number):
        return True
    try:
        return normal_form(node).is_number
    except TooHardError:
        return False


def _is_nonzero(node: Node) -> bool:
    try:
        with precision(256):
            return not normal_form(node).number().contains(0)
    except TooHardError:
        return False
