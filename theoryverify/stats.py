"""Means of random draws: intervals that are valid at every sample size, and tests of equivalence.

Each :class:`Sequence` is a confidence sequence: but for a probability ``error`` its intervals cover
the mean *simultaneously* for all sample sizes, so one may look after every batch and stop at will.
What it needs to know of the tails is part of its name:

* :class:`BoundedMean`: draws in a known interval (empirical Bernstein; Waudby-Smith and Ramdas
  2024, Theorem 2), or clipped to it with a known bias;
* :class:`VarianceMean`: a known bound of the variance (Catoni's influence function; Wang and
  Ramdas 2023, Theorem 9). Nothing is asked of higher moments;
* :class:`KurtosisMean`: a known bound of the kurtosis. The variance is bounded from a pilot sample
  by the lower-tail inequality for nonnegative variables.

A bare t-test is not among them: the studentised mean of ``(He_3(z)/√6)²`` is below -3 in 9% of all
samples of size 1000.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from theoryverify.claims.ladder import HOLDS, INCONCLUSIVE, REFUTED, Verdict
from theoryverify.errors import InputError

Array = npt.NDArray[np.float64]
Draw = Callable[[int, np.random.Generator], npt.ArrayLike]

_EARLIEST = 16
"""Weights are flat up to ``horizon/16`` draws and fall like ``1/√i`` after that."""
_SHARE = 1 + math.log(_EARLIEST)


# -- streaming moments ------------------------------------------------------------------------


class Moments:
    """Count, sum, mean and variance of a stream, in float64 whatever the type of the chunks.

    Chunks are merged by Chan's form of Welford's update, and the sum is compensated (Neumaier): a
    plain float32 accumulator stops at 2^24.

    Examples
    --------
    >>> moments = Moments()
    >>> for _ in range(4):
    ...     moments.update(np.ones(2**20, dtype=np.float32))
    >>> moments.mean, moments.sum
    (1.0, 4194304.0)
    """

    def __init__(self) -> None:
        self.count = 0
        self._squares = 0.0
        self._sum = 0.0
        self._lost = 0.0

    def update(self, values: npt.ArrayLike) -> None:
        """Take in a chunk of any shape.

        Raises
        ------
        InputError
            If it holds a value that is not finite.
        """
        chunk = _finite(values)
        if chunk.size == 0:
            return
        total = float(chunk.sum())
        mean = total / chunk.size
        gap = mean - self.mean if self.count else 0.0
        count = self.count + chunk.size
        self._squares += float(((chunk - mean) ** 2).sum())
        self._squares += gap**2 * (self.count * chunk.size / count)
        self.count = count
        raised = self._sum + total
        larger, smaller = sorted((self._sum, total), key=abs, reverse=True)
        self._lost += (larger - raised) + smaller
        self._sum = raised

    @property
    def sum(self) -> float:
        return self._sum + self._lost

    @property
    def mean(self) -> float:
        """NaN for an empty stream."""
        return self.sum / self.count if self.count else math.nan

    @property
    def variance(self) -> float:
        """``Σ(x-x̄)²/(n-1)``; NaN below two values."""
        return self._squares / (self.count - 1) if self.count > 1 else math.nan


def _finite(values: npt.ArrayLike) -> Array:
    chunk = np.asarray(values, dtype=np.float64).ravel()
    good = np.isfinite(chunk)
    if not good.all():
        raise InputError(f"a draw is {chunk[~good][0]}; all must be finite numbers")
    return chunk


# -- error budgets ----------------------------------------------------------------------------


def bonferroni(error: float, checks: int) -> float:
    """The error each of ``checks`` checks may have: ``error/checks``, dependent or not."""
    _family(error, checks)
    return error / checks


def sidak(error: float, checks: int) -> float:
    """The same for independent checks: ``1-(1-error)^{1/checks}``, without cancellation."""
    _family(error, checks)
    return -math.expm1(math.log1p(-error) / checks)


def family_error(error: float, checks: int) -> float:
    """The probability that one of ``checks`` independent checks errs: ``1-(1-error)^checks``.

    Examples
    --------
    >>> round(family_error(0.05, 20), 12)
    0.641514077591
    """
    _family(error, checks)
    return -math.expm1(checks * math.log1p(-error))


def normal_threshold(error: float) -> float:
    """``z`` with ``P(|N(0,1)| > z) = error``, to double precision.

    Examples
    --------
    >>> round(normal_threshold(bonferroni(1e-6, 200)), 12)
    5.8471721451
    """
    _probability(error)
    import mpmath

    context = mpmath.MPContext()
    context.dps = 40 + max(0, math.ceil(-math.log10(error)))
    return float(context.sqrt(2) * context.erfinv(1 - context.mpf(error)))


def _probability(error: float) -> None:
    if not 0 < error < 1:
        raise InputError(f"error = {error} must lie strictly between 0 and 1")


def _family(error: float, checks: int) -> None:
    _probability(error)
    if isinstance(checks, bool) or not isinstance(checks, int) or checks < 1:
        raise InputError(f"checks = {checks!r} must be an integer at least 1")


# -- confidence sequences ---------------------------------------------------------------------


@dataclass(frozen=True)
class Interval:
    """Covers the mean, but for the error of its sequence; the ends may be infinite."""

    lower: float
    upper: float

    @property
    def width(self) -> float:
        return self.upper - self.lower

    def above(self, value: float) -> bool | None:
        """Whether the mean is larger than ``value``; None where the interval does not say."""
        return True if self.lower > value else False if self.upper < value else None

    def below(self, value: float) -> bool | None:
        """Whether it is smaller."""
        return True if self.upper < value else False if self.lower > value else None

    def __str__(self) -> str:
        return f"[{self.lower:.6g}, {self.upper:.6g}]"


EVERYTHING = Interval(-math.inf, math.inf)


class Sequence(ABC):
    """A confidence sequence: feed it with :meth:`update`, look at :attr:`interval` at any time.

    Parameters
    ----------
    error : float
        The probability that some interval, at whatever sample size, misses the mean.
    horizon : int
        The sample size at which it should be narrowest, relative to the best possible there. It
        is valid at all.
    """

    def __init__(self, error: float, horizon: int) -> None:
        _probability(error)
        if isinstance(horizon, bool) or not isinstance(horizon, int) or horizon < 1:
            raise InputError(f"horizon = {horizon!r} must be an integer at least 1")
        self.error, self.horizon = error, horizon
        self.count = 0
        self._log = math.log(2 / error)

    @abstractmethod
    def update(self, values: npt.ArrayLike) -> None:
        """Take in a chunk of independent draws, in the order in which they came."""

    @property
    @abstractmethod
    def interval(self) -> Interval:
        """Where the mean is."""

    def _clock(self, size: int) -> Array:
        """``c max(i, horizon/16)`` for the next draws: weights ``√(2 log(2/error)/(v clock))``."""
        index = np.arange(self.count + 1, self.count + size + 1, dtype=np.float64)
        return _SHARE * np.maximum(index, self.horizon / _EARLIEST)


class BoundedMean(Sequence):
    """Draws in ``[lower, upper]``: the predictable empirical-Bernstein confidence sequence.

    With x scaled to [0, 1] and ``ψ(λ) = -log(1-λ)-λ``, the interval is
    ``(Σλx ± (log(2/error) + Σψ(λ_i)(x_i-x̄_{i-1})²)) / Σλ``, with ``λ_i <= 1/2`` chosen from
    ``x_1..x_{i-1}``.

    Parameters
    ----------
    lower, upper : float
    clip : bool
        Draws outside are moved to the ends, and ``bias`` says what this may do to the mean.
        Without it a draw outside is an error.
    bias : (float, float)
        The mean of the draws lies in ``[mean of the clipped - bias[0], ... + bias[1]]``.
        ``(0, inf)`` for draws >= ``lower`` of which nothing else is known.
    """

    def __init__(
        self,
        lower: float,
        upper: float,
        *,
        error: float,
        horizon: int = 10_000,
        clip: bool = False,
        bias: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        super().__init__(error, horizon)
        if not (math.isfinite(lower) and math.isfinite(upper) and lower < upper):
            raise InputError(f"bounds [{lower}, {upper}] must be finite, lower < upper")
        if not (bias[0] >= 0 and bias[1] >= 0):
            raise InputError(f"bias = {bias} must be two numbers at least 0")
        self.lower, self.upper, self.clip, self.bias = lower, upper, clip, bias
        self._weights = self._weighted = self._penalty = 0.0
        self._sum = self._squares = 0.0

    def update(self, values: npt.ArrayLike) -> None:
        chunk = _finite(values)
        if (
            not self.clip
            and chunk.size
            and not (chunk.min() >= self.lower and chunk.max() <= self.upper)
        ):
            worst = chunk.min() if chunk.min() < self.lower else chunk.max()
            raise InputError(f"a draw is {worst}, outside [{self.lower}, {self.upper}]")
        x = (np.clip(chunk, self.lower, self.upper) - self.lower) / (self.upper - self.lower)
        before = np.arange(self.count, self.count + x.size, dtype=np.float64)
        sums = self._sum + np.concatenate([[0.0], np.cumsum(x)])
        mean = (0.5 + sums[:-1]) / (1 + before)  # of the earlier draws and 1/2
        deviations = (x - mean) ** 2
        squares = self._squares + np.concatenate([[0.0], np.cumsum(deviations)])
        variance = (0.25 + squares[:-1]) / (1 + before)
        rates = np.minimum(0.5, np.sqrt(2 * self._log / (variance * self._clock(x.size))))
        self._weights += float(rates.sum())
        self._weighted += float((rates * x).sum())
        self._penalty += float(((-np.log1p(-rates) - rates) * deviations).sum())
        self._sum, self._squares = float(sums[-1]), float(squares[-1])
        self.count += x.size

    @property
    def interval(self) -> Interval:
        if not self.count:
            return Interval(self.lower - self.bias[0], self.upper + self.bias[1])
        scale = self.upper - self.lower
        centre = self._weighted / self._weights
        radius = (self._log + self._penalty) / self._weights
        return Interval(
            self.lower + scale * max(0.0, centre - radius) - self.bias[0],
            self.lower + scale * min(1.0, centre + radius) + self.bias[1],
        )


class VarianceMean(Sequence):
    """Draws of variance at most ``variance``: Catoni's confidence sequence.

    ``{m : |Σ φ(λ_i(x_i-m))| <= v Σλ_i²/2 + log(2/error)}`` with
    ``φ(x) = sign(x) log(1+|x|+x²/2)``; the weights ``λ_i`` do not depend on the draws. At the
    horizon N the radius is about ``1.11 √(2 v log(2/error)/N)``, for any tails.

    Parameters
    ----------
    variance : float
        A bound of ``E(x-μ)²``; any second moment about a fixed point will do.
    """

    def __init__(self, variance: float, *, error: float, horizon: int = 10_000) -> None:
        super().__init__(error, horizon)
        if not (math.isfinite(variance) and variance > 0):
            raise InputError(f"variance = {variance} must be positive and finite")
        self.variance = variance
        self._draws: list[Array] = []
        self._rates: list[Array] = []

    def update(self, values: npt.ArrayLike) -> None:
        chunk = _finite(values)
        self._draws.append(chunk)
        self._rates.append(np.sqrt(2 * self._log / (self.variance * self._clock(chunk.size))))
        self.count += chunk.size

    def radius(self, samples: int) -> float:
        """About the half-width of the interval after that many draws: the leading term."""
        edge = min(samples, self.horizon / _EARLIEST)
        flat = 1 / math.sqrt(self.horizon / _EARLIEST)
        rates = edge * flat + 2 * (math.sqrt(samples) - math.sqrt(edge)) * (samples > edge)
        squares = edge * flat**2 + math.log(samples / edge)
        scale = 2 * self._log / (self.variance * _SHARE)
        return (self.variance * squares * scale / 2 + self._log) / (math.sqrt(scale) * rates)

    @property
    def interval(self) -> Interval:
        if not self.count:
            return EVERYTHING
        x, rates = np.concatenate(self._draws), np.concatenate(self._rates)
        self._draws, self._rates = [x], [rates]
        bound = self.variance * float((rates**2).sum()) / 2 + self._log
        centre = float((rates * x).sum() / rates.sum())
        reach = bound / float(rates.sum())

        def total(m: float) -> float:
            y = rates * (x - m)
            size = np.abs(y)
            return float(np.copysign(np.log1p(size + size**2 / 2), y).sum())

        # total falls in m; the end kept is the one outside the set.
        def crossing(level: float, sign: int) -> float:
            inner, outer = centre, centre + sign * reach
            while sign * (level - total(outer)) < 0:
                inner, outer = outer, outer + 2 * (outer - centre)
                if not math.isfinite(outer):
                    return outer
            if sign * (level - total(inner)) >= 0:  # heavy tails: the centre is outside
                inner, step = centre, reach
                while sign * (level - total(inner)) >= 0:
                    outer, inner, step = inner, inner - sign * step, 2 * step
            for _ in range(20):
                middle = (inner + outer) / 2
                if sign * (level - total(middle)) >= 0:
                    outer = middle
                else:
                    inner = middle
            return outer

        return Interval(crossing(bound, -1), crossing(-bound, 1))


class KurtosisMean(Sequence):
    """Draws with ``E(x-μ)⁴ <= kurtosis · Var(x)²``, of a variance that is not known.

    Half the error is spent on the variance: for independent ``s = (x-x')²/2``, with mean ``σ²`` and
    ``E s² <= (kurtosis+3)σ⁴/2``, ``P(mean of k <= σ²(1-t)) <= exp(-k t²/(kurtosis+3))`` (nonnegative
    variables have Gaussian lower tails). The pilot's 2k draws are not used again.

    Parameters
    ----------
    kurtosis : float
        At least 1; a Gaussian has 3.
    """

    def __init__(self, kurtosis: float, *, error: float, horizon: int = 10_000) -> None:
        super().__init__(error, horizon)
        if not (math.isfinite(kurtosis) and kurtosis >= 1):
            raise InputError(f"kurtosis = {kurtosis} must be finite and at least 1")
        self.kurtosis = kurtosis
        needed = (kurtosis + 3) * math.log(2 / error)
        pairs = max(math.ceil(4 * needed), horizon // 8)
        self.pilot = 2 * pairs
        self._slack = 1 / (1 - math.sqrt(needed / pairs))
        self._kept: list[Array] = []
        self._main: VarianceMean | None = None
        self._constant: float | None = None

    def update(self, values: npt.ArrayLike) -> None:
        chunk = _finite(values)
        self.count += chunk.size
        if self._main is None and self._constant is None:
            self._kept.append(chunk)
            if self.count < self.pilot:
                return
            everything = np.concatenate(self._kept)
            self._kept = []
            pilot, chunk = everything[: self.pilot], everything[self.pilot :]
            bound = self._slack * float(((pilot[::2] - pilot[1::2]) ** 2).mean()) / 2
            if bound == 0:
                self._constant = float(pilot[0])  # a bounded kurtosis leaves a constant alone
            else:
                horizon = max(1, self.horizon - self.pilot)
                self._main = VarianceMean(bound, error=self.error / 2, horizon=horizon)
        if self._main is not None and chunk.size:
            self._main.update(chunk)

    @property
    def interval(self) -> Interval:
        if self._constant is not None:
            return Interval(self._constant, self._constant)
        return EVERYTHING if self._main is None else self._main.interval


# -- equivalence ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Equivalence:
    """What a sequential test found.

    Attributes
    ----------
    verdict : Verdict
        ``holds`` where the interval lies in the region, ``refuted`` where they are disjoint,
        ``inconclusive`` where neither came about within the budget.
    interval : Interval
        For the mean, when it stopped.
    region : (float, float)
    samples : int
    error : float
        A bound of the probability of a wrong ``holds`` or a wrong ``refuted``.
    """

    verdict: Verdict
    interval: Interval
    region: tuple[float, float]
    samples: int
    error: float

    def __str__(self) -> str:
        low, high = self.region
        return (
            f"mean in {self.interval} (error {self.error:.0e}, n = {self.samples}), "
            f"allowed [{low:.6g}, {high:.6g}]"
        )


def equivalence(
    draw: Draw,
    expected: float,
    margin: float | tuple[float, float],
    *,
    sequence: Sequence,
    budget: int,
    rng: np.random.Generator,
    batch: int = 1000,
) -> Equivalence:
    """Decide whether ``E[draw]`` lies within ``margin`` of ``expected``, sampling until it is plain.

    Parameters
    ----------
    draw : callable
        ``draw(n, rng)`` gives n independent draws.
    expected : float
    margin : float or (float, float)
        Allowed below and above; one of the two may be ``inf``.
    sequence : Sequence
        A fresh one. It sets the error.
    budget : int
        The largest number of draws.
    batch : int
        The largest number of draws at a time.

    Raises
    ------
    InputError
        For a margin that is not positive, sizes below 1, a sequence already in use, or draws that
        are not finite or not as many as asked.

    Notes
    -----
    It looks whenever the sample has grown by a half, which costs nothing: the sequence covers the
    mean at all sizes at once.

    Examples
    --------
    >>> sequence = BoundedMean(0, 1, error=1e-6)
    >>> rng = np.random.default_rng(0)
    >>> equivalence(lambda n, rng: rng.random(n), 0.5, 0.05, sequence=sequence, budget=10**5,
    ...             rng=rng).verdict.value
    'holds'
    """
    below, above = margin if isinstance(margin, tuple) else (margin, margin)
    if not (below > 0 and above > 0) or not math.isfinite(expected):
        raise InputError(
            f"expected = {expected}, margin = {margin}: need a number and a margin > 0"
        )
    for name, value in (("budget", budget), ("batch", batch)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InputError(f"{name} = {value!r} must be an integer at least 1")
    if sequence.count:
        raise InputError(f"the sequence has taken in {sequence.count} draws; give a fresh one")
    region = (expected - below, expected + above)
    interval, look = sequence.interval, min(batch, budget)
    while True:
        while sequence.count < look:
            size = min(batch, look - sequence.count)
            values = np.asarray(draw(size, rng), dtype=np.float64)
            if values.shape != (size,):
                raise InputError(f"draw({size}, rng) has shape {values.shape}, not ({size},)")
            sequence.update(values)
        interval = sequence.interval
        verdict = _verdict(interval, region)
        if verdict is not INCONCLUSIVE or look >= budget:
            return Equivalence(verdict, interval, region, sequence.count, sequence.error)
        look = min(budget, look + max(1, look // 2))


def _verdict(interval: Interval, region: tuple[float, float]) -> Verdict:
    if region[0] <= interval.lower and interval.upper <= region[1]:
        return HOLDS
    if interval.upper < region[0] or interval.lower > region[1]:
        return REFUTED
    return INCONCLUSIVE


@dataclass(frozen=True)
class Power:
    """The three numbers that a sequential test should state (leading order in n).

    ``error``: of a wrong verdict; ``resolves``: a mean that is ``expected`` exactly comes out
    ``holds`` where the margin is at least this; ``detects``: a mean this far from ``expected``
    comes out ``refuted``; both but for a probability ``misses``.
    """

    error: float
    misses: float
    resolves: float
    detects: float


def power(variance: float, margin: float, *, error: float, budget: int) -> Power:
    """The power of :func:`equivalence` with :class:`VarianceMean` and this budget.

    Where the interval covers the mean and is at most ``2·radius`` wide, a mean at ``expected`` is
    accepted if ``2·radius <= margin``, and a mean beyond ``margin + 2·radius`` is refuted.
    """
    radius = VarianceMean(variance, error=error, horizon=budget).radius(budget)
    return Power(error, error, 2 * radius, margin + 2 * radius)
