"""The population gradient of Stage I, coordinate by coordinate, and the weights after one step.

Stage I takes one gradient step on ``L = ½E(f-y)²`` with ``f = ReLU(M)``, ``M`` the layer's output at
γ^(0). With the context replaced by its mean, and one value of γ^(0) for each degree of φ,

    M(z) = F (γ_0 c_0 + γ_1 c_1 z + γ_2 c_2 he_2(z))

depends on the query through ``z = ⟨β,x⟩`` alone, and with the query factors

    K_k = E[(g(z) - ReLU(M(z))) 1{M(z) > 0} he_k(z)]

the gradient ``-∂L/∂γ_α`` is, on the support, ``F c_0 K_0``, ``F c_1 K_1/r``, ``3 F c_2 K_2/(r(r+2))``
(diagonal) and ``2 F c_2 K_2/(r(r+2))`` (pairs); off it, 0. The set ``M > 0`` is found from enclosed
roots, and over it a polynomial times φ is integrated in closed form. The noise ±τ enters through c_k.
Sources: arXiv 2510.12026, Algorithm 1 and the lemma on Stage I; reconstructed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from flint import arb

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.balls import Enclosure, ball, bits_for, precision, sign
from theoryverify.exact.rationals import Exact, positive_integer, rational
from theoryverify.exact.surds import Surds, hermite, root_factorial
from theoryverify.papers.mamba.population import Population

Interval = tuple[arb | None, arb | None]
"""Ends as balls; ``None`` is an infinite end."""


@dataclass(frozen=True)
class Start:
    """γ^(0): one value for each degree of the embedding, on and off the support alike."""

    constant: Exact = 1
    linear: Exact = 1
    quadratic: Exact = 1


ALL_ONES = Start()
NO_CONSTANT = Start(0, 1, 1)
LINEAR_ONLY = Start(0, 1, 0)
CONSTANT_AND_LINEAR = Start(1, 1, 0)
QUADRATIC_ONLY = Start(0, 0, 1)

STARTS = {
    "all ones": ALL_ONES,
    "no constant": NO_CONSTANT,
    "linear only": LINEAR_ONLY,
    "constant and linear": CONSTANT_AND_LINEAR,
    "quadratic only": QUADRATIC_ONLY,
}


@dataclass(frozen=True)
class QueryFactor:
    """``K_k = label - own``.

    Attributes
    ----------
    label : Enclosure
        ``E[g 1{M>0} he_k]``: the raw label through the rectifier's jump.
    own : Enclosure
        ``E[ReLU(M) he_k]``: the model's own output, of the size of the gate.
    total : Enclosure
    """

    label: Enclosure
    own: Enclosure
    total: Enclosure


@dataclass(frozen=True)
class Coordinates:
    """One number for each kind of coordinate on the support; off it everything is 0."""

    constant: Enclosure
    linear: Enclosure
    diagonal: Enclosure
    pair: Enclosure


class StageOne:
    """One gradient step on the population loss.

    Parameters
    ----------
    population : Population
        Of a polynomial link.
    start : Start
        γ^(0).
    tokens : int, optional
        N; without it nothing is forgotten, ``F = 1``.

    Raises
    ------
    InputError
        For a link that is not a polynomial, or a bad N.
    UndecidedError
        If the sign of a coefficient of M, or of its discriminant, cannot be told: then it is not
        known where M is positive.

    Examples
    --------
    >>> from theoryverify.exact.gate import Gate
    >>> step = StageOne(Population("He4(z)/sqrt(24)", Gate(60, -9)))
    >>> round(float(step.query_factor(2).total), 6)
    0.140987
    """

    def __init__(
        self, population: Population, start: Start = ALL_ONES, tokens: int | None = None
    ) -> None:
        if population.link.polynomial is None:
            raise InputError(f"Stage I needs a polynomial link, not {population.link}")
        self.population = population
        self.start = [
            rational(value, name)
            for name, value in (
                ("constant", start.constant),
                ("linear", start.linear),
                ("quadratic", start.quadratic),
            )
        ]
        self.tokens = None if tokens is None else positive_integer(tokens, "N")
        self.bits = bits_for(population.digits + 30)

    @cached_property
    def factor(self) -> Enclosure:
        """``F_N``, or 1."""
        if self.tokens is None:
            return Enclosure.exactly(1)
        return self.population.forgetting_factor(self.tokens)

    @cached_property
    def context_factors(self) -> tuple[Enclosure, Enclosure, Enclosure]:
        """``c_0, c_1, c_2``."""
        one, two, three = (self.population.coefficient(k) for k in range(3))
        return one, two, three

    def output(self) -> list[arb]:
        """The coefficients of ``M(z)``, lowest first, at the current precision."""
        c = [
            ball(weight) * value.ball()
            for weight, value in zip(self.start, self.context_factors, strict=True)
        ]
        factor, bent = self.factor.ball(), c[2] / arb(2).sqrt()
        return [factor * (c[0] - bent), factor * c[1], factor * bent]

    def query_factor(self, k: int) -> QueryFactor:
        """``K_k``, its part from the label and its part from the model's own output."""
        polynomial = self.population.link.polynomial
        assert polynomial is not None
        weight = orthonormal(positive_integer(k, "k", least=0, most=200))
        with precision(self.bits):
            output = self.output()
            if k % 2 and self.population.link.parity == "even" and output[1].is_zero():
                nothing = Enclosure.exactly(0)  # an odd integrand over a symmetric set
                return QueryFactor(nothing, nothing, nothing)
            where = positive_set(output)
            label = [c.real for c in (polynomial * weight).coefficients()]
            own = _product(output, [c.real for c in weight.coefficients()])
            first, second = (gaussian_integral(part, where) for part in (label, own))
            return QueryFactor(
                Enclosure.of(first), Enclosure.of(second), Enclosure.of(first - second)
            )

    def gradient(self, r: int, *, eta: Exact = 1) -> Coordinates:
        """``-η ∂L/∂γ_α`` on the support: the weights γ* after a step with ``λ_1 = 1/η``.

        Parameters
        ----------
        r : int
            The size of the support.
        eta : exact number
            The step; ``λ_1 = 1/η`` cancels γ^(0) itself.
        """
        r, step = positive_integer(r, "r"), rational(eta, "eta")
        factors = [self.query_factor(k).total for k in range(3)]
        with precision(self.bits):
            scale = ball(step) * self.factor.ball()
            zero, one, two = (
                scale * c.ball() * K.ball()
                for c, K in zip(self.context_factors, factors, strict=True)
            )
            fourth = arb(r * (r + 2))
            return Coordinates(
                *(Enclosure.of(v) for v in (zero, one / r, 3 * two / fourth, 2 * two / fourth))
            )


def orthonormal(k: int) -> Surds:
    """``he_k = He_k/√(k!)``."""
    return hermite(k) * root_factorial(k).inverse()


def positive_set(quadratic: Sequence[arb]) -> list[Interval]:
    """Where ``q_0 + q_1 z + q_2 z²`` is positive, up to its zeros.

    Raises
    ------
    UndecidedError
        If a sign that matters is not decided by the balls.
    """
    low, middle, high = quadratic
    if high.is_zero():
        if middle.is_zero():
            return [(None, None)] if _sign(low, "the constant of M") > 0 else []
        end = -low / middle
        return [(end, None)] if _sign(middle, "the slope of M") > 0 else [(None, end)]
    upward = _sign(high, "the curvature of M") > 0
    inside = middle * middle - 4 * low * high
    if _sign(inside, "the discriminant of M") <= 0:
        return [(None, None)] if upward else []
    # The root of larger size without cancellation; the other one from the product of the roots.
    root = inside.sqrt()
    if middle.is_zero():
        ends = [-root / (2 * high), root / (2 * high)]
    else:
        far = -(middle + root if _sign(middle, "the slope of M") > 0 else middle - root) / 2
        ends = [far / high, low / far]
    left, right = ends if ends[0] < ends[1] else ends[::-1]
    return [(None, left), (right, None)] if upward else [(left, right)]


def _sign(value: arb, what: str) -> int:
    decided = sign(value)
    if decided is None:
        raise UndecidedError(f"the sign of {what} is not decided: {Enclosure.of(value)}")
    return decided


def gaussian_integral(coefficients: Sequence[arb], where: Sequence[Interval]) -> arb:
    """``E[P(z); z in the intervals]`` by ``∫ z^n φ = -z^{n-1}φ + (n-1)∫ z^{n-2}φ``."""
    total = arb(0)
    for left, right in where:
        moments: list[arb] = []
        for n in range(len(coefficients)):
            if n == 0:
                value = _below(right, 1) - _below(left, 0)
            else:
                value = _boundary(left, n - 1) - _boundary(right, n - 1)
                if n > 1:
                    value += (n - 1) * moments[n - 2]
            moments.append(value)
        total += sum((c * m for c, m in zip(coefficients, moments, strict=True)), arb(0))
    return total


def _below(end: arb | None, infinite: int) -> arb:
    """``P(z < end)``."""
    return arb(infinite) if end is None else (-end / arb(2).sqrt()).erfc() / 2


def _boundary(end: arb | None, power: int) -> arb:
    """``end^power φ(end)``."""
    if end is None:
        return arb(0)
    result = (-end * end / 2).exp() / (2 * arb.pi()).sqrt()
    for _ in range(power):
        result *= end
    return result


def _product(left: Sequence[arb], right: Sequence[arb]) -> list[arb]:
    result = [arb(0)] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, c in enumerate(right):
            result[i + j] += a * c
    return result
