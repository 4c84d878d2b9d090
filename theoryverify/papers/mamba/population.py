"""The layer's mean and variance over contexts, enclosed: coefficients, forgetting, signal and noise.

For a context of N tokens of one task β, with ``c_k = E[T(y) he_k(z)]``, ``T(y) = y σ(y/ρ+b)`` averaged
over the label noise, and γ the indicator of the support,

    E[f | x_q] = F_N (c_0 + c_1 z + c_2 he_2(z)),    z = ⟨β, x_q⟩.

Every number is an enclosure by rigorous quadrature. Source: arXiv 2510.12026 (expectation over the
context; forgetting); the variance is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import factorial

from flint import arb, fmpq_poly

from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure, ball, bits_for, precision
from theoryverify.exact.gate import Gate
from theoryverify.exact.hermite import hermite_coefficient
from theoryverify.exact.links import Link, link
from theoryverify.exact.rationals import Exact, positive_integer, rational
from theoryverify.papers.mamba.token_moments import (
    INDICATOR,
    KernelMoments,
    Weights,
    kernel_moments,
    squared_length_moment,
)

_LONGEST = 10**15


@lru_cache(maxsize=4096)
def _moment(
    gate: Gate, g: Link, labels: int, openings: int, closings: int, k: int, digits: int
) -> Enclosure:
    weighted = gate.weighted(g, labels=labels, openings=openings, closings=closings)
    return hermite_coefficient(weighted, k, norm="raw", digits=digits).enclosure


@dataclass(frozen=True)
class Forgetting:
    """``p = E[1-s] = 1-μ``, ``1-q`` with ``q = E[(1-s)²]``, ``p-q = E[s(1-s)]``, ``1-σ(b)``."""

    mu: Enclosure
    between: Enclosure
    query: Enclosure


@dataclass(frozen=True)
class Spread:
    """Mean and variance of the feature ``f = N⁻¹ Mamba`` over contexts."""

    mean: Enclosure
    variance: Enclosure


@dataclass(frozen=True)
class SignalToNoise:
    """Squared signal and variance of ``f``, both averaged over the query; γ the indicator.

    Attributes
    ----------
    signal : tuple of Enclosure
        ``F_N² c_k²`` for k = 0, 1, 2.
    noise : Enclosure
        ``E_q Var(f | x_q)``.
    """

    signal: tuple[Enclosure, Enclosure, Enclosure]
    noise: Enclosure

    def ratio(self, k: int) -> Enclosure:
        """``F_N² c_k²/E_q Var(f | x_q)``."""
        with precision(_bits(self.noise)):
            return Enclosure.of(self.signal[k].ball() / self.noise.ball())


class Population:
    """Population quantities of a gated link.

    Parameters
    ----------
    g : str or Link
        The link ``g_*``.
    gate : Gate
        With its label noise ``±τ``.
    digits : int
        Correct decimal digits of the integrals.

    Raises
    ------
    InputError
        For a bad link or number of digits.

    Warns
    -----
    OutsideClaimWarning
        For b = 0 and an odd link: there the gate does not lower the exponent (``mamba.D.any-bias``).

    Examples
    --------
    >>> at = Population("He3(z)/sqrt(6)", Gate(4, -2))
    >>> print(at.coefficient(1), at.forgetting_factor(20))
    0.031750997244147262691[73, 83] 0.33562293443250361408[78, 89]
    """

    def __init__(self, g: str | Link, gate: Gate, *, digits: int = 15) -> None:
        self.link, self.gate = link(g), gate
        self.digits = positive_integer(digits, "digits", most=1000)
        gate.warn_if_flat(self.link)

    def moment(self, k: int, *, labels: int = 0, openings: int = 0, closings: int = 0) -> Enclosure:
        """``E[y^i s^j (1-s)^l He_k(z)]``, ``s = σ(y/ρ+b)``; raw, not orthonormal."""
        k = positive_integer(k, "k", least=0)
        return _moment(self.gate, self.link, labels, openings, closings, k, self.digits)

    def coefficient(self, k: int) -> Enclosure:
        """``c_k = E[T(y) he_k(z)]``, orthonormal."""
        value = self.moment(k, labels=1, openings=1)
        with precision(_bits(value)):
            return Enclosure.of(value.ball() / arb(factorial(k)).sqrt())

    @property
    def forgetting(self) -> Forgetting:
        b = self.gate.b
        with precision(bits_for(self.digits + 5)):
            query = Enclosure.of(1 / (1 + ball(b).exp()))
        return Forgetting(self.moment(0, openings=1), self.moment(0, openings=1, closings=1), query)

    def forgetting_factor(self, tokens: int) -> Enclosure:
        """``F_N = (1-σ(b)) (1-(1-μ)^N)/(Nμ)``, without cancellation for small ``Nμ``.

        Raises
        ------
        InputError
            For N < 1.
        """
        N = _tokens(tokens)
        known = self.forgetting
        with precision(bits_for(self.digits + 20)):
            mu, query = known.mu.ball(), known.query.ball()
            return Enclosure.of(query * _lost(-mu, N) / (N * mu))

    def feature(self, z: Exact, tokens: int | None = None) -> Enclosure:
        """``F_N (c_0 + c_1 z + c_2 he_2(z))``; without ``tokens`` the value where nothing is
        forgotten, ``F = 1``."""
        at = rational(z, "z")
        known = [self.coefficient(k) for k in range(3)]
        factor = None if tokens is None else self.forgetting_factor(tokens)
        with precision(bits_for(self.digits + 20)):
            c0, c1, c2 = (c.ball() for c in known)
            value = c0 + c1 * ball(at) + c2 * ball(at * at - 1) / arb(2).sqrt()
            return Enclosure.of(value if factor is None else value * factor.ball())

    def spread(
        self,
        beta: Sequence[Exact],
        x_q: Sequence[Exact],
        tokens: int,
        weights: Weights = INDICATOR,
    ) -> Spread:
        """Mean and variance of the feature at one query, for a γ of any four values on the support.

        Parameters
        ----------
        beta, x_q : sequence of exact numbers
            In the r coordinates of the support; ``|β| = 1`` exactly.
        tokens : int
            N
        weights : Weights
        """
        N = _tokens(tokens)
        kernel = kernel_moments(beta, x_q, weights)
        m1 = self._integral(kernel.hermite(1), labels=1, openings=1)
        h = self._integral(kernel.hermite(1), labels=1, openings=1, closings=1)
        m2 = self._integral(kernel.hermite(2), labels=2, openings=2)
        known = self.forgetting
        with precision(bits_for(self.digits + 20)):
            first, second = stored_moments(known, m1.ball(), h.ball() * m1.ball(), m2.ball(), N)
            scale = known.query.ball() / N
            return Spread(Enclosure.of(first * scale), Enclosure.of((second - first**2) * scale**2))

    def signal_to_noise(self, r: int, tokens: int) -> SignalToNoise:
        """Signal and noise averaged over queries ``x_q ~ N(0, I)``, γ the indicator of r coordinates.

        Averages over the query are exact: φ is orthonormal, so ``E_q κ² = |φ_I(x)|²`` and
        ``E_q E[wκ]E[w'κ] = Σ_{k<=2} E[w he_k] E[w' he_k]``.
        """
        N = _tokens(tokens)
        lengths = KernelMoments(fmpq_poly(), squared_length_moment(r)).hermite(2)
        m2 = self._integral(lengths, labels=2, openings=2)
        known = self.forgetting
        kinds = [
            (
                self.moment(k, labels=1, openings=1),
                self.moment(k, labels=1, openings=1, closings=1),
            )
            for k in range(3)
        ]
        with precision(bits_for(self.digits + 20)):
            mu = known.mu.ball()
            scale = known.query.ball() / N
            each = [(c.ball(), d.ball(), factorial(k)) for k, (c, d) in enumerate(kinds)]
            cross = sum((c * d / size for c, d, size in each), arb(0))
            _, second = stored_moments(known, arb(0), cross, m2.ball(), N)
            lost = _lost(-mu, N) / mu
            squares = [c * c / size * (lost * scale) ** 2 for c, _, size in each]
            noise = Enclosure.of(second * scale**2 - sum(squares, arb(0)))
            one, two, three = (Enclosure.of(square) for square in squares)
        return SignalToNoise((one, two, three), noise)

    def _integral(self, hermite: list[Fraction], **kind: int) -> Enclosure:
        """``E[w(y) Σ_k a_k He_k(z)]``."""
        values = [(a, self.moment(k, **kind)) for k, a in enumerate(hermite) if a]
        with precision(bits_for(self.digits + 20)):
            return Enclosure.of(sum((ball(a) * v.ball() for a, v in values), arb(0)))


def stored_moments(known: Forgetting, m1: arb, h_m1: arb, m2: arb, tokens: int) -> tuple[arb, arb]:
    """``E S_N`` and ``E S_N²`` in closed form, at the current precision.

    ``h_m1`` is the product ``h·m1``. With ``μ = 1-p`` and ``p-q = E[s(1-s)]`` given, nothing cancels
    but ``(1-q^N)/(1-q) - (p^N-q^N)/(p-q)``, to which the working precision adds 20 digits.
    """
    mu, between = known.mu.ball(), known.between.ball()
    less = mu + between  # 1-q, as (1-s)² = 1 - s - s(1-s)
    p, q = 1 - mu, 1 - less
    geometric = _lost(-less, tokens) / less
    mixed = (p**tokens - q**tokens) / between
    return m1 * _lost(-mu, tokens) / mu, m2 * geometric + 2 * h_m1 / mu * (geometric - mixed)


def _lost(change: arb, tokens: int) -> arb:
    """``1 - (1+change)^N``, to all its digits where that is small."""
    return -(tokens * change.log1p()).expm1()


def _tokens(value: int) -> int:
    try:
        return positive_integer(value, "N", most=_LONGEST)
    except InputError as error:
        raise InputError(f"a context of {value!r} tokens: {error}") from None


def _bits(value: Enclosure) -> int:
    return bits_for(min(max(value.digits, 15), 1000) + 20)
