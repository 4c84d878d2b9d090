"""The law of the gated coefficients for large ``ρ``, with its remainder bounded.

By Taylor's theorem with Lagrange's remainder, for a polynomial ``g`` and every ``K``::

    c_p = Σ_{j<K} σ^{(j)}(b)/(j! ρ^j) E[g^{j+1} he_p] + R_K,
    |R_K| <= sup|σ^{(K)}| / (K! ρ^K) · √E[g^{2K+2}].

The series diverges (the moments grow like factorials), so ``K`` is chosen once and ``ρ`` made
large. Derivatives of ``σ`` are polynomials in ``s = σ(b)``, ``D_{j+1} = D_j' s(1-s)``; for
rational ``b != 0`` the number ``s`` is transcendental, so that ``σ^{(j)}(b) != 0`` for every j.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import factorial

from flint import arb, fmpq, fmpq_poly

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.balls import Enclosure, ball, hull, precision
from theoryverify.exact.hermite import raw_coefficients, to_digits
from theoryverify.exact.links import Link, link
from theoryverify.exact.rationals import Exact, positive_integer, rational
from theoryverify.exact.surds import Surds, root_factorial

_MOST_POWERS = 80
_EXTRA_TERMS = 8
_BITS = 128


@lru_cache(maxsize=64)
def sigmoid_derivative(order: int) -> fmpq_poly:
    """``σ^{(order)}`` as a polynomial in ``s = σ``, from ``σ' = σ(1-σ)``."""
    if order == 0:
        return fmpq_poly([0, 1])
    return sigmoid_derivative(order - 1).derivative() * fmpq_poly([0, 1, -1])


def sigmoid_derivative_vanishes(order: int, b: Exact) -> bool:
    """Whether ``σ^{(order)}(b) = 0`` for a rational ``b``: for ``b = 0`` and even orders > 0."""
    at_zero: fmpq = sigmoid_derivative(order)(fmpq(1, 2))
    return rational(b, "b") == 0 and at_zero == 0


def sigmoid_derivative_ball(order: int, b: Exact) -> arb:
    """A ball around ``σ^{(order)}(b)``, at the current precision."""
    s = 1 / (1 + (-ball(rational(b, "b"))).exp())
    # s(1-s) is factored out: it is tiny for b far from 0.
    if order == 0:
        return s
    rest, _ = divmod(sigmoid_derivative(order), fmpq_poly([0, 1, -1]))
    value = arb(0)
    for coefficient in reversed(rest.coeffs()):
        value = value * s + arb(coefficient)
    return s * (1 / (1 + ball(rational(b, "b")).exp())) * value


@lru_cache(maxsize=64)
def sigmoid_derivative_bound(order: int) -> arb:
    """An upper bound, as sharp as its balls, of ``sup |σ^{(order)}|`` over the real line."""
    if order == 0:
        return arb(1)
    with precision(_BITS):
        polynomial = sigmoid_derivative(order)
        largest = arb(0)
        for root, _ in polynomial.derivative().complex_roots():
            point = root.real
            inside = hull([arb(0), arb(1)])
            if root.imag.contains(0) and point.overlaps(inside):
                value = arb(0)
                for coefficient in reversed(polynomial.coeffs()):
                    value = value * point + arb(coefficient)
                largest = largest.max(abs(value))
        return largest.upper()


@dataclass(frozen=True)
class GateLaw:
    """The leading term of ``c_p`` for large ``ρ``.

    Parameters
    ----------
    link : Link
        The polynomial link ``g``.
    p : int
        Which coefficient.
    b : Fraction
        The bias.
    k : int
        The least ``k >= 0`` with ``E[g^{k+1} he_p] != 0``.
    effective : int
        The least one at which ``σ^{(k)}(b) != 0`` too; they differ only at ``b = 0``.
    moment : Surds
        ``E[g^{effective+1} he_p]``, exactly.
    """

    link: Link
    p: int
    b: Fraction
    k: int
    effective: int
    moment: Surds

    def __str__(self) -> str:
        k = self.effective
        scale = ("", "/rho")[k] if k < 2 else f"/({factorial(k)}*rho**{k})"
        return f"c_{self.p} ~ sigma^({k})({self.b}){scale} * ({self.moment})"

    def leading(self, rho: Exact, *, digits: int = 30) -> Enclosure:
        """``σ^{(k)}(b)/(k! ρ^k) E[g^{k+1} he_p]`` with ``k = effective``."""
        scale = _positive(rho)
        return Enclosure.of(to_digits(lambda bits: self._term(self.effective, scale), digits))

    def remainder(self, rho: Exact, terms: int = 1) -> Enclosure:
        """``[0, B]`` with ``|c_p - leading| <= B``.

        Parameters
        ----------
        rho : Exact
        terms : int
            How many orders from the leading one on are used before Lagrange's remainder.
        """
        terms = positive_integer(terms, "terms")
        with precision(_BITS):
            bound = self._remainder(_positive(rho), self.effective + terms)
            return Enclosure(arb(0), bound.upper())

    def valid_from(self, fraction: Exact = "1/10") -> int:
        """An integer ``ρ_0`` with ``|c_p - leading| <= fraction·|leading|`` for every ``ρ >= ρ_0``.

        The quotient is a sum of negative powers of ``ρ``, so it falls with ``ρ``.

        Raises
        ------
        UndecidedError
            If none is found below ``10^12``.
        """
        limit = rational(fraction, "fraction")
        with precision(_BITS):
            best = min(self._valid_from(limit, extra) for extra in range(1, _EXTRA_TERMS))
        if best > 10**12:
            raise UndecidedError(f"the remainder of {self} is not bounded below rho = 10^12")
        return best

    def _valid_from(self, limit: Fraction, extra: int) -> int:
        low, high = 0, 1
        while not self._within(high, limit, extra):
            low, high = high, 2 * high
            if high > 10**13:
                return high
        while high - low > max(1, high // 1000):
            middle = (low + high) // 2
            low, high = (low, middle) if self._within(middle, limit, extra) else (middle, high)
        return high

    def _within(self, rho: int, limit: Fraction, extra: int) -> bool:
        scale = Fraction(rho)
        rest = self._remainder(scale, self.effective + extra)
        return bool(rest <= abs(self._term(self.effective, scale)) * ball(limit))

    def _term(self, k: int, rho: Fraction) -> arb:
        moment = _moment(_polynomial(self.link), k + 1, self.p).number().real
        return sigmoid_derivative_ball(k, self.b) * moment / (factorial(k) * ball(rho) ** k)

    def _remainder(self, rho: Fraction, order: int) -> arb:
        total = arb(0)
        for k in range(self.effective + 1, order):
            total += abs(self._term(k, rho))
        square = _moment(_polynomial(self.link), 2 * order + 2, 0).number().real
        last = sigmoid_derivative_bound(order) * square.sqrt()
        return total + last / (factorial(order) * ball(rho) ** order)


def gate_law(g: str | Link, p: int, b: Exact) -> GateLaw:
    """The leading law of ``c_p = E[g σ(g/ρ+b) he_p]`` as ``ρ → ∞``, for a polynomial ``g``.

    Parameters
    ----------
    g : str or Link
        A polynomial that is not constant.
    p : int
    b : Exact
        The bias.

    Raises
    ------
    InputError
        If ``g`` is not a polynomial, or all ``E[g^j he_p]`` vanish as far as is looked, as for
        odd ``p`` and even ``g``.

    Examples
    --------
    >>> print(gate_law("He3(z)/sqrt(6)", 1, -3))
    c_1 ~ sigma^(2)(-3)/(2*rho**2) * (9*sqrt(6))
    """
    g = link(g)
    p = positive_integer(p, "p", least=0, most=100)
    bias = rational(b, "b")
    polynomial = _polynomial(g)
    first: int | None = None
    if polynomial.degree > 0 and not (p % 2 and g.parity == "even"):
        for k in range(_MOST_POWERS):
            if k and (k + 1) * polynomial.degree > 4_000:
                break
            moment = _moment(polynomial, k + 1, p)
            if moment.is_zero:
                continue
            first = k if first is None else first
            if not sigmoid_derivative_vanishes(k, bias):
                return GateLaw(g, p, bias, first, k, moment)
    raise InputError(
        f"no power of the link '{g.text[:60]}' correlates with he_{p}"
        + ("" if first is None else f" through a gate with b = {bias}")
    )


@lru_cache(maxsize=512)
def _moment(polynomial: Surds, power: int, p: int) -> Surds:
    """``E[g^power he_p]``, exactly."""
    raw = raw_coefficients(_power(polynomial, power))[p]
    return raw * root_factorial(p).inverse()


@lru_cache(maxsize=256)
def _power(polynomial: Surds, power: int) -> Surds:
    return polynomial if power == 1 else _power(polynomial, power - 1) * polynomial


def _polynomial(g: Link) -> Surds:
    if g.polynomial is None:
        raise InputError(f"the law needs a polynomial link, not '{g.text[:60]}'")
    return g.polynomial


def _positive(rho: Exact) -> Fraction:
    value = rational(rho, "rho")
    if value <= 0:
        raise InputError(f"rho = {rho} must be positive")
    return value


__all__ = [
    "GateLaw",
    "gate_law",
    "sigmoid_derivative",
    "sigmoid_derivative_ball",
    "sigmoid_derivative_bound",
    "sigmoid_derivative_vanishes",
]
