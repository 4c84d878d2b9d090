"""How fast a link grows, proved from its expression: square-integrability and tail bounds.

On the ray ``z >= start`` an expression is bounded by an :class:`Envelope`
``C (1+z)^n exp(az + qz²)``. With Gaussian weight the exponent of such a bound is concave, so that
the tangent at ``R`` bounds the whole tail beyond ``R``. Rules that cannot bound an expression say
so with :class:`UnboundedError`; that is a lack of proof, not a proof that the link grows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt

from flint import arb

from theoryverify.exact.link_tree import Call, HermiteCall, Node, Number, Power, Product, Sum, add
from theoryverify.exact.normal_form import normal_form
from theoryverify.exact.surds import Surds, TooHardError

_NONE = arb(0)
_QUARTER = Surds.of(Fraction(1, 4))
_FARTHEST_START = 1_000_000
_BOUNDED = {"sin": (-1, 1), "cos": (-1, 1), "tanh": (-1, 1), "erf": (-1, 1), "sign": (-1, 1)}


class UnboundedError(ArithmeticError):
    """No rule bounds this expression."""


@dataclass(frozen=True)
class Envelope:
    """``|f(z)| <= C (1+z)^n exp(az + qz²)`` for ``z >= start``; C, a, q are exact balls."""

    C: arb
    n: int = 0
    a: arb = _NONE
    q: arb = _NONE

    def __add__(self, other: Envelope) -> Envelope:
        return Envelope(
            _up(self.C + other.C),
            max(self.n, other.n),
            _max(self.a, other.a),
            _max(self.q, other.q),
        )

    def __mul__(self, other: Envelope) -> Envelope:
        return Envelope(
            _up(self.C * other.C), self.n + other.n, _up(self.a + other.a), _up(self.q + other.q)
        )

    def __pow__(self, exponent: Fraction) -> Envelope:
        size = arb(exponent.numerator) / exponent.denominator
        constant = _up(_max(self.C, arb(1)).log() * size)
        return Envelope(
            _up(constant.exp()),
            ceil(self.n * exponent),
            _up(self.a * size),
            _up(self.q * size),
        )


@dataclass(frozen=True)
class Quadratic:
    """``f(z) <= qz² + az + c`` for ``z >= start``."""

    q: arb = _NONE
    a: arb = _NONE
    c: arb = _NONE

    def __add__(self, other: Quadratic) -> Quadratic:
        return Quadratic(_up(self.q + other.q), _up(self.a + other.a), _up(self.c + other.c))


class Ray:
    """Bounds of expressions on ``z >= start``; asking for a bound may move ``start`` up."""

    def __init__(self) -> None:
        self.start = 1

    def envelope(self, node: Node) -> Envelope:
        """A bound of the absolute value.

        Raises
        ------
        UnboundedError
            Where no rule gives one.
        """
        polynomial = _real_polynomial(node)
        if polynomial is not None:
            size = sum((abs(c.real) for c in polynomial.coefficients()), arb(0))
            return Envelope(_up(size), max(polynomial.degree, 0))
        match node:
            case Sum(terms):
                total = self.envelope(terms[0])
                for term in terms[1:]:
                    total = total + self.envelope(term)
                return total
            case Product(factors):
                total = self.envelope(factors[0])
                for factor in factors[1:]:
                    total = total * self.envelope(factor)
                return total
            case Power(base, exponent):
                return self._power(base, exponent)
            case Call("exp", argument):
                bound = self.upper(argument)
                return Envelope(_up(bound.c.exp()), 0, bound.a, bound.q)
            case Call("abs" | "relu", argument):
                return self.envelope(argument)
            case Call("log", argument):
                return self._logarithm(argument)
            case Call(_, _):
                return Envelope(arb(1))
            case HermiteCall(k, argument):
                # |He_k(u)| <= (u² + k)^{k/2} <= (√k (1 + |u|))^k
                inner = self.envelope(argument) + Envelope(arb(1))
                return (inner * Envelope(arb(isqrt(max(k - 1, 0)) + 1))) ** Fraction(k)
            case _:
                raise UnboundedError

    def _power(self, base: Node, exponent: Fraction) -> Envelope:
        if exponent >= 0:
            return self.envelope(base) ** exponent
        if isinstance(base, Call) and base.name == "exp":
            inner = add(base.argument)
            bound = self.upper(_scaled(inner, exponent))
            return Envelope(_up(bound.c.exp()), 0, bound.a, bound.q)
        least = self.distance_from_zero(base)
        return Envelope(_up(1 / least)) ** -exponent

    def _logarithm(self, argument: Node) -> Envelope:
        low = self.range(argument)[0]
        if low is None or not low > 0:
            raise UnboundedError
        above = self.envelope(argument)
        slopes = abs(above.a) + abs(above.q) + above.n
        size = abs(low.log()) + abs(_max(above.C, arb(1)).log()) + slopes
        return Envelope(_up(size), 2)

    def upper(self, node: Node) -> Quadratic:
        """A quadratic upper bound.

        Raises
        ------
        UnboundedError
            Where no rule gives one.
        """
        polynomial = _real_polynomial(node)
        if polynomial is not None:
            return _upper_of_polynomial(polynomial)
        if isinstance(node, Sum):
            plain = [t for t in node.terms if _real_polynomial(t) is not None]
            total = self.upper(add(*plain)) if plain else Quadratic()
            for term in node.terms:
                if _real_polynomial(term) is None:
                    total = total + self.upper(term)
            return total
        high = self.range(node)[1]
        if high is not None:
            return Quadratic(c=_up(high))
        bound = self.envelope(node)
        if bound.n > 2 or bound.a > 0 or bound.q > 0:
            raise UnboundedError
        if bound.n == 2:
            return Quadratic(bound.C, _up(2 * bound.C), bound.C)
        return Quadratic(a=bound.C if bound.n else arb(0), c=bound.C)

    def distance_from_zero(self, node: Node) -> arb:
        """A positive lower bound of the absolute value.

        Raises
        ------
        UnboundedError
            Where no rule gives one.
        """
        low, high = self.range(node)
        if low is not None and low > 0:
            return low
        if high is not None and high < 0:
            return -high
        raise UnboundedError

    def explodes(self, node: Node) -> bool:
        """Whether the expression is shown to stay above a multiple of ``exp(z²/4)``."""
        match node:
            case Call("exp", argument):
                return self._beyond_quadratic(argument)
            case Sum(terms):
                return self._one_and_others_bounded(terms, self.explodes)
            case Product((Number(), factor)):
                return self.explodes(factor)
            case _:
                return False

    def _beyond_quadratic(self, node: Node) -> bool:
        polynomial = _real_polynomial(node)
        if polynomial is not None:
            enough = polynomial.degree > 2 or (
                polynomial.degree == 2 and (polynomial[2] - _QUARTER).real_sign() > 0
            )
            return enough and polynomial.leading.real_sign() > 0
        match node:
            case Call("exp", argument):
                inner = _real_polynomial(argument)
                return inner is not None and inner.degree > 0 and inner.leading.real_sign() > 0
            case Sum(terms):
                return self._one_and_others_bounded(terms, self._beyond_quadratic)
            case Product((Number(value), factor)):
                # Faster than any quadratic, a positive multiple is so too.
                return value >= 1 and self._beyond_quadratic(factor)
            case _:
                return False

    def _one_and_others_bounded(
        self, terms: tuple[Node, ...], grows: Callable[[Node], bool]
    ) -> bool:
        fast = [t for t in terms if grows(t)]
        others = [t for t in terms if t not in fast]
        return bool(fast) and all(self.range(t)[0] is not None for t in others)

    def range(self, node: Node) -> tuple[arb | None, arb | None]:
        """Lower and upper bounds of the values; ``None`` where there is none."""
        polynomial = _real_polynomial(node)
        if polynomial is not None:
            return self._polynomial_range(polynomial)
        match node:
            case Sum(terms):
                ranges = [self.range(t) for t in terms]
                return _total([r[0] for r in ranges]), _total([r[1] for r in ranges])
            case Product((Number(value), *rest)):
                factor = Product(tuple(rest)) if len(rest) > 1 else rest[0]
                low, high = self.range(factor)
                scaled = [
                    None if x is None else x * value.numerator / value.denominator
                    for x in (low, high)
                ]
                return (scaled[0], scaled[1]) if value > 0 else (scaled[1], scaled[0])
            case Power(base, exponent):
                return self._power_range(base, exponent)
            case Call("exp", argument):
                low, high = self.range(argument)
                return arb(0) if low is None else low.exp(), None if high is None else high.exp()
            case Call("logistic", _):
                return arb(0), arb(1)
            case Call("abs", argument):
                low, high = self.range(argument)
                top = None if low is None or high is None else _max(abs(low), abs(high))
                return arb(0), top
            case Call("relu", argument):
                high = self.range(argument)[1]
                return arb(0), None if high is None else _max(high, arb(0))
            case Call(name, _) if name in _BOUNDED:
                ends = _BOUNDED[name]
                return arb(ends[0]), arb(ends[1])
            case _:
                return None, None

    def _power_range(self, base: Node, exponent: Fraction) -> tuple[arb | None, arb | None]:
        even = exponent.denominator > 1 or exponent.numerator % 2 == 0
        low, high = self.range(base)
        size = arb(exponent.numerator) / exponent.denominator
        if low is not None and low > 0:
            ends = low**size, None if high is None else high**size
            inverse = arb(0) if high is None else high**size, low**size
            return ends if exponent > 0 else inverse
        if not even:
            return None, None
        top = None
        if exponent > 0 and low is not None and high is not None:
            top = _max(abs(low), abs(high)) ** size
        return arb(0), top

    def _polynomial_range(self, polynomial: Surds) -> tuple[arb | None, arb | None]:
        coefficients = [c.real for c in polynomial.coefficients()]
        if len(coefficients) <= 1:
            value = coefficients[0] if coefficients else arb(0)
            return value, value
        # Beyond `start` the leading term is at least twice all others together.
        leading = coefficients.pop()
        others = sum((abs(c) for c in coefficients), arb(0))
        edge = _up(2 * others / abs(leading))
        if not edge < _FARTHEST_START:
            return None, None
        self.start = max(self.start, int(edge.ceil().unique_fmpz()))
        edge = abs(leading) * arb(self.start) ** len(coefficients) / 2
        return (edge, None) if leading > 0 else (None, -edge)


def tail(bound: Envelope, k: int, start: int) -> arb:
    """An upper bound of ``∫_R^∞ |f(z) z^k| φ(z) dz`` for ``R = start``; infinite if none is found.

    With ``h(z) = log C + (n+k) log(1+z) + az - (1/2-q)z²``, concave, the integral of ``e^h`` is
    at most ``e^{h(R)}/(-h'(R))`` as soon as ``h'(R) < 0``.
    """
    R, degree = arb(start), bound.n + k
    slope = degree / (1 + R) + bound.a - (1 - 2 * bound.q) * R
    if not slope < 0 or not bound.q < arb(1) / 2:
        return arb("inf")
    height = degree * (1 + R).log() + bound.a * R - (arb(1) / 2 - bound.q) * R * R
    return _up(bound.C * height.exp() / (-slope) / (2 * arb.pi()).sqrt())


def _upper_of_polynomial(polynomial: Surds) -> Quadratic:
    coefficients = [c.real for c in polynomial.coefficients()]
    if len(coefficients) <= 3:
        c, a, q = [*coefficients, arb(0), arb(0), arb(0)][:3]
        return Quadratic(_up(q), _up(a), _up(c))
    leading = coefficients.pop()
    if not leading < 0:
        raise UnboundedError
    # Negative for z >= S/|leading| with S the sum of the other coefficients' sizes.
    others = sum((abs(c) for c in coefficients), arb(0))
    edge = _max(_up(others / -leading), arb(1))
    return Quadratic(c=_up(others * edge ** (len(coefficients) - 1)))


def _real_polynomial(node: Node) -> Surds | None:
    try:
        polynomial = normal_form(node).polynomial
    except TooHardError:
        return None
    return polynomial if polynomial is not None and polynomial.is_real else None


def _scaled(node: Node, factor: Fraction) -> Node:
    return Product((Number(factor), node))


def _total(values: list[arb | None]) -> arb | None:
    total = arb(0)
    for value in values:
        if value is None:
            return None
        total += value
    return total


def _max(left: arb, right: arb) -> arb:
    return left.max(right).upper()


def _up(value: arb) -> arb:
    return value.upper()
