"""How much of the test-time feature is ``⟨β,x⟩^ge`` at a finite context, by exact moments.

Over contexts, tasks and queries, with φ orthonormal over the query and γ of one value on each kind of
coordinate (constant, linear, diagonal, pair on the support; two values off it),

    E f² = Σ_α γ_α² E S_α²,    S_α = N⁻¹ Σ_j G_j y_j φ_α(x_j),

and each ``Σ_α E S_α²`` over a kind follows the recursion of the variance (``mamba.T7``) with the moments

    Σ_α E[T²φ_α² | z]:  1;  z²+r-1;  (Q-2L+r)/2;  (L_2-Q)/2,
    L = z²+r-1,  L_2 = z⁴+2(r-1)z²+r²-1,  Q = Bz⁴+6(1-B)z²+3(r-2+B),  B = E Σβ_i⁴ = 3/(r+2),

and with ``Σ_α E[S y φ_α]`` products ``c_k d_k`` times 1, 1, B, 1-B. The covariance with ``he_ge(z)`` is
``F_N γ c`` (ge = 1) or ``F_N c_2 (B γ_diag + (1-B) γ_pair)`` (ge = 2). So the share

    R² = Cov(f, he_ge)²/Var f

is enclosed for every N, with forgetting, off-support noise and label noise. Ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import factorial

from flint import arb, fmpq, fmpq_poly

from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure, ball, bits_for, precision
from theoryverify.exact.hermite import raw_coefficients
from theoryverify.exact.rationals import Exact, positive_integer, rational
from theoryverify.exact.surds import Surds
from theoryverify.papers.mamba.population import Population, stored_moments
from theoryverify.papers.mamba.stage_one import Coordinates

_LONGEST = 10**15


@dataclass(frozen=True)
class FeatureWeights:
    """γ by kinds: on the support, and off it (linear, and square with the mixed pairs)."""

    constant: Enclosure
    linear: Enclosure
    diagonal: Enclosure
    pair: Enclosure
    outside_linear: Enclosure
    outside_square: Enclosure

    @classmethod
    def of(cls, *values: Exact) -> FeatureWeights:
        """From six exact numbers."""
        names = ("constant", "linear", "diagonal", "pair", "outside_linear", "outside_square")
        if len(values) != len(names):
            raise InputError(f"{len(values)} weights; needed are six: {', '.join(names)}")
        return cls(*[Enclosure.exactly(rational(v, n)) for v, n in zip(values, names, strict=True)])

    @classmethod
    def trained(cls, step: Coordinates) -> FeatureWeights:
        """Stage I's population weights, 0 off the support."""
        zero = Enclosure.exactly(0)
        return cls(step.constant, step.linear, step.diagonal, step.pair, zero, zero)


INDICATOR = FeatureWeights.of(1, 1, 1, 1, 0, 0)
ONES = FeatureWeights.of(1, 1, 1, 1, 1, 1)


@dataclass(frozen=True)
class FeatureShare:
    """Moments of f over contexts, tasks and queries.

    Attributes
    ----------
    mean, variance : Enclosure
    covariance : Enclosure
        With the orthonormal ``he_ge(z)``.
    share : Enclosure
        ``R²`` of f with ``he_ge(z)``.
    """

    mean: Enclosure
    variance: Enclosure
    covariance: Enclosure
    share: Enclosure


def kind_moments(r: int, p: int) -> tuple[fmpq_poly, ...]:
    """``Σ_α E[φ_α² | z]`` over constant, linear, diagonal, pair, linear off, square off the support.

    β averaged over the sphere; p = d - r. Polynomials in z.
    """
    B = fmpq(3, r + 2)
    z2 = fmpq_poly([0, 0, 1])
    length = z2 + (r - 1)
    squared = z2 * z2 + 2 * (r - 1) * z2 + (r * r - 1)
    fourth = B * z2 * z2 + 6 * (1 - B) * z2 + 3 * (r - 2 + B)
    return (
        fmpq_poly([1]),
        length,
        (fourth - 2 * length + r) / 2,
        (squared - fourth) / 2,
        fmpq_poly([p]),
        fmpq_poly([fmpq(p * (p + 1), 2)]) + p * length,
    )


def feature_share(
    population: Population,
    weights: FeatureWeights,
    r: int,
    tokens: int,
    *,
    ge: int,
    d: int | None = None,
) -> FeatureShare:
    """The share of the feature that is ``he_ge(⟨β,x⟩)``, enclosed.

    Parameters
    ----------
    population : Population
        Link, gate and label noise.
    weights : FeatureWeights
    r : int
    tokens : int
        N
    ge : int
        1 or 2.
    d : int, optional
        The dimension; default r, nothing off the support.

    Raises
    ------
    InputError
        For d < r, ge other than 1 or 2, sizes below 1.

    Examples
    --------
    >>> from theoryverify.exact.gate import Gate
    >>> at = Population("He2(z)/sqrt(2)", Gate(4, -8))
    >>> [round(float(feature_share(at, INDICATOR, 4, N, ge=2).share), 3) for N in (64, 1024)]
    [0.096, 0.628]
    """
    r, N = positive_integer(r, "r"), positive_integer(tokens, "N", most=_LONGEST)
    d = r if d is None else positive_integer(d, "d", most=10**9)
    if d < r:
        raise InputError(f"d = {d} is less than r = {r}")
    if ge not in (1, 2):
        raise InputError(f"ge = {ge!r}: a polynomial link has generative exponent 1 or 2")
    B = Fraction(3, r + 2)
    # Σ_α E[Tφ_α] E[y s(1-s) φ_α] over a kind is c_k d_k times this; 0 off the support.
    kinds = [(0, Fraction(1)), (1, Fraction(1)), (2, B), (2, 1 - B), (0, Fraction(0))]
    kinds.append(kinds[-1])
    first = [population.coefficient(k) for k in range(3)]
    mixed = [population.moment(k, labels=1, openings=1, closings=1) for k in range(3)]
    squares = [_second_moment(population, polynomial) for polynomial in kind_moments(r, d - r)]
    known, forgotten = population.forgetting, population.forgetting_factor(N)
    with precision(bits_for(population.digits + 20)):
        c = [value.ball() for value in first]
        cross = [c[k] * value.ball() / arb(factorial(k)).sqrt() for k, value in enumerate(mixed)]
        gamma = [
            w.ball()
            for w in (
                weights.constant,
                weights.linear,
                weights.diagonal,
                weights.pair,
                weights.outside_linear,
                weights.outside_square,
            )
        ]
        scale, factor = known.query.ball() / N, forgotten.ball()
        total = arb(0)
        for weight, (k, share), square in zip(gamma, kinds, squares, strict=True):
            _, second = stored_moments(known, arb(0), cross[k] * ball(share), square.ball(), N)
            total += weight * weight * second * scale * scale
        mean = gamma[0] * factor * c[0]
        variance = total - mean * mean
        direction = gamma[1] if ge == 1 else ball(B) * gamma[2] + ball(1 - B) * gamma[3]
        covariance = factor * c[ge] * direction
        values = (mean, variance, covariance, covariance * covariance / variance)
        return FeatureShare(*(Enclosure.of(value) for value in values))


def half_length(
    population: Population, weights: FeatureWeights, r: int, *, ge: int, level: float
) -> int | None:
    """The least N with ``R² >= level``, to one part in 100, by bisection.

    Right while nothing is forgotten, where R² grows with N. None if R² is below the level at every
    length that is tried, up to 10^15.
    """

    def reached(tokens: int) -> bool:
        return float(feature_share(population, weights, r, tokens, ge=ge).share) >= level

    low, high = 1, 2
    while not reached(high):
        low, high = high, 4 * high
        if high > _LONGEST:
            return None
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def _second_moment(population: Population, polynomial: fmpq_poly) -> Enclosure:
    """``E[T² P(z)]``."""
    parts = [
        (a, population.moment(k, labels=2, openings=2))
        for k, a in enumerate(_hermite(polynomial))
        if a
    ]
    with precision(bits_for(population.digits + 20)):
        return Enclosure.of(sum((ball(a) * m.ball() for a, m in parts), arb(0)))


def _hermite(polynomial: fmpq_poly) -> Sequence[Fraction]:
    """The ``a_k`` with ``P(z) = Σ_k a_k He_k(z)``."""
    raw = raw_coefficients(Surds.of(polynomial))
    return [
        (raw[k].as_fraction() or Fraction(0)) / factorial(k)
        for k in range(int(polynomial.degree()) + 1)
    ]
