"""Statistics that may judge a theorem: intervals that are valid for the tails at hand.

A t-test assumes what a polynomial of Gaussians does not have. Here every interval names what it is
given about the law (bounds, a variance, a kurtosis) and is valid for every law that has it, at every
look at once, so that a test may stop as soon as it knows. A test is by *equivalence*: ``holds`` when
the interval lies inside ``expected ± margin``, ``refuted`` when it is disjoint from it.

The probability of a wrong verdict is stated, and summed over the suite by :class:`ErrorBudget`.
NumPy alone; sums are float64 whatever comes in.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import NormalDist
from threading import Lock
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theoryverify.errors import InputError
from theoryverify.exact.rationals import positive_integer

Floats = NDArray[np.float64]
Draw = Callable[[int, np.random.Generator], ArrayLike]
Judgement = Literal["holds", "refuted", "inconclusive"]

SUITE_ERROR = 1e-6
"""The probability of any wrong verdict in the whole suite is at most this."""

SHARE = 1e-9
"""What one statistical test spends of it: a thousand tests fit."""


class BoundError(ArithmeticError):
    """A draw lies outside the bounds that were certified for it, or is not finite."""


# -- the error budget ----------------------------------------------------------------------------


@dataclass
class ErrorBudget:
    """A sum of error probabilities that must not exceed ``total`` (a union bound).

    Shares are fixed beforehand and by name, so what a test spends depends neither on which other
    tests run nor on their order; spending the same name twice counts once.
    """

    total: float = SUITE_ERROR
    spent: dict[str, float] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def spend(self, name: str, error: float = SHARE) -> float:
        """Reserve ``error`` for the test ``name`` and return it.

        Raises
        ------
        InputError
            If the budget does not have it, or the name was given another share before.
        """
        _probability(error, "error")
        with self._lock:
            if self.spent.get(name, error) != error:
                raise InputError(f"{name!r} has already spent {self.spent[name]}, not {error}")
            rest = self.total - math.fsum(self.spent.values()) + self.spent.get(name, 0.0)
            # Sums of equal shares may exceed the total by rounding alone.
            if error > rest * (1 + 1e-9):
                raise InputError(f"{name!r} asks for an error of {error}; {max(rest, 0):.3g} is left")
            self.spent[name] = error
        return error


def family_error(per_test: float, tests: int) -> float:
    """The probability that any of ``tests`` independent tests at ``per_test`` is wrong.

    Examples
    --------
    >>> round(family_error(0.05, 20), 12)
    0.641514077591
    """
    _probability(per_test, "per_test")
    return -math.expm1(positive_integer(tests, "tests") * math.log1p(-per_test))


def normal_threshold(
    tests: int, family: float = SUITE_ERROR, *, method: Literal["bonferroni", "sidak"] = "bonferroni"
) -> float:
    """The two-sided ``|z|`` at which ``tests`` normal statistics keep the family-wise error.

    For exactly normal statistics only. ``"sidak"`` needs independent ones, ``"bonferroni"`` nothing.

    Examples
    --------
    >>> round(normal_threshold(200), 10), round(normal_threshold(200, method="sidak"), 10)
    (5.8471721451, 5.8471720623)
    """
    tests = positive_integer(tests, "tests")
    _probability(family, "family")
    if method == "bonferroni":
        each = family / tests
    elif method == "sidak":
        each = -math.expm1(math.log1p(-family) / tests)
    else:
        raise InputError(f"method {method!r} is unknown; choose 'bonferroni' or 'sidak'")
    return -NormalDist().inv_cdf(each / 2)


# -- accumulation --------------------------------------------------------------------------------


class Moments:
    """Running count, mean and variance by Welford's and Chan's updates, in float64.

    A float32 sum stops growing at 2^24; whatever type comes in, nothing is summed in it.

    Examples
    --------
    >>> seen = Moments()
    >>> for _ in range(4):
    ...     seen.update(np.ones(2**20, dtype=np.float32))
    >>> seen.count, seen.mean, seen.variance
    (4194304, 1.0, 0.0)
    """

    __slots__ = ("_squares", "count", "mean")

    def __init__(self) -> None:
        self.count, self.mean, self._squares = 0, 0.0, 0.0

    def update(self, values: ArrayLike) -> None:
        """Add one number or an array of them; a value that is not finite is refused."""
        if isinstance(values, (int, float, np.floating)):
            value = float(values)
            if not math.isfinite(value):
                raise BoundError(f"the value {value} is not finite")
            self.count += 1
            step = value - self.mean
            self.mean += step / self.count
            self._squares += step * (value - self.mean)
            return
        batch = _finite(values)
        if batch.size == 0:
            return
        mean = float(batch.mean())
        squares = float(((batch - mean) ** 2).sum())
        total, step = self.count + batch.size, mean - self.mean
        self._squares += squares + step * step * self.count * batch.size / total
        self.mean += step * batch.size / total
        self.count = total

    @property
    def variance(self) -> float:
        """Unbiased; 0 for fewer than two values."""
        return self._squares / (self.count - 1) if self.count > 1 else 0.0

    @property
    def total(self) -> float:
        return self.mean * self.count


# -- intervals -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Interval:
    """An interval for a mean; the probability that *any* look of the run misses is ``error``."""

    lower: float
    upper: float
    error: float
    count: int

    @property
    def radius(self) -> float:
        return (self.upper - self.lower) / 2


class Sequence(ABC):
    """Intervals that are valid at all looks at once. Feed batches, read :attr:`interval`."""

    @abstractmethod
    def update(self, values: ArrayLike) -> Interval:
        """Add a batch of independent draws."""


class Tails(ABC):
    """What is known of the law of a draw."""

    @abstractmethod
    def sequence(self, error: float, budget: int) -> Sequence:
        """A run of intervals for up to ``budget`` draws that misses with probability <= ``error``."""


@dataclass(frozen=True)
class Bounded(Tails):
    """Draws that certainly lie in ``[lower, upper]``; with ``clip``, draws are clipped to it.

    Parameters
    ----------
    lower, upper : float
    clip_bias : float or None
        ``None``: a draw outside is an error. A number: draws are clipped, and
        ``|E X - E clip(X)| <= clip_bias`` has been shown; the interval is widened by it.

    Notes
    -----
    The predictable plug-in empirical-Bernstein confidence sequence (Waudby-Smith and Ramdas 2024,
    Theorem 2; the supermartingale is that of Fan, Grama and Liu 2015). For ``X`` in [0,1] and any
    predictable ``λ`` in [0,1) and ``μ̂``, ``Π exp(λ(X-μ) - (X-μ̂)² ψ(λ))`` with
    ``ψ(λ) = -log(1-λ)-λ`` is a nonnegative supermartingale, so Ville's inequality holds at all looks.
    """

    lower: float
    upper: float
    clip_bias: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.lower) and math.isfinite(self.upper) and self.lower < self.upper):
            raise InputError(f"bounds [{self.lower}, {self.upper}] must be finite and increasing")
        if self.clip_bias is not None and not 0 <= self.clip_bias < math.inf:
            raise InputError(f"clip_bias = {self.clip_bias} must be finite and at least 0")

    def sequence(self, error: float, budget: int) -> Sequence:
        return _EmpiricalBernstein(self, _probability(error, "error"), budget)


class _EmpiricalBernstein(Sequence):
    def __init__(self, tails: Bounded, error: float, budget: int) -> None:
        self._tails, self._error, self._budget = tails, error, budget
        self._seen = Moments()
        self._weight = self._weighted = self._penalty = 0.0

    def update(self, values: ArrayLike) -> Interval:
        tails = self._tails
        batch = _finite(values)
        if tails.clip_bias is not None:
            batch = np.clip(batch, tails.lower, tails.upper)
        elif batch.size and not (tails.lower <= batch.min() and batch.max() <= tails.upper):
            raise BoundError(
                f"a draw lies in [{batch.min()}, {batch.max()}], outside the certified "
                f"[{tails.lower}, {tails.upper}]"
            )
        span = tails.upper - tails.lower
        unit = (batch - tails.lower) / span
        before = self._seen.count
        total = before + unit.size
        # λ and μ̂ depend on earlier batches alone, which is what "predictable" asks.
        spread = self._seen.variance + 1 / before**2 if before > 1 else 0.25
        guess = self._seen.mean if before else 0.5
        level = math.log(2 / self._error)
        # Early bets that are tuned to early looks cost the later ones their width.
        horizon = max(total, self._budget / 4)
        bet = min(0.75, math.sqrt(2 * level / (spread * horizon)))
        self._weight += bet * unit.size
        self._weighted += bet * float(unit.sum())
        self._penalty += float(((unit - guess) ** 2).sum()) * (-math.log1p(-bet) - bet)
        self._seen.update(unit)
        centre = self._weighted / self._weight
        radius = (level + self._penalty) / self._weight
        bias = tails.clip_bias or 0.0
        return Interval(
            tails.lower + span * max(centre - radius, 0.0) - bias,
            tails.lower + span * min(centre + radius, 1.0) + bias,
            self._error,
            total,
        )


@dataclass(frozen=True)
class FiniteVariance(Tails):
    """Draws with variance at most ``variance``, and nothing else known.

    Notes
    -----
    Median of means at doubling sample sizes. A block of b draws errs by more than ``√3 σ/√b`` to one
    side with probability at most 1/4 (Cantelli), so the median of k blocks does with probability at
    most ``P(Bin(k, 1/4) >= k/2)``; k is the least that meets the error left to the look.
    """

    variance: float

    def __post_init__(self) -> None:
        if not 0 < self.variance < math.inf:
            raise InputError(f"variance = {self.variance} must be positive and finite")

    def sequence(self, error: float, budget: int) -> Sequence:
        return _MedianOfMeans(_probability(error, "error"), variance=self.variance)


@dataclass(frozen=True)
class FiniteKurtosis(Tails):
    """Draws with ``E(X-μ)⁴ <= kurtosis · Var(X)²``; the variance itself is not known.

    Notes
    -----
    Half of each error buys an upper bound of the variance: the median of means of ``(X-Y)²/2`` over
    pairs, whose variance is at most ``(kurtosis+1)/2 · Var(X)²``. The rest is as for
    :class:`FiniteVariance`.
    """

    kurtosis: float

    def __post_init__(self) -> None:
        if not 1 <= self.kurtosis < math.inf:
            raise InputError(f"kurtosis = {self.kurtosis} must be at least 1 and finite")

    def sequence(self, error: float, budget: int) -> Sequence:
        return _MedianOfMeans(_probability(error, "error"), kurtosis=self.kurtosis)


class _MedianOfMeans(Sequence):
    def __init__(
        self, error: float, variance: float | None = None, kurtosis: float | None = None
    ) -> None:
        self._error, self._variance, self._kurtosis = error, variance, kurtosis
        self._values: list[Floats] = []
        self._look = 0
        self._last = Interval(-math.inf, math.inf, error, 0)

    def update(self, values: ArrayLike) -> Interval:
        self._values.append(_finite(values))
        data = np.concatenate(self._values)
        self._look += 1
        # Σ 6/(π²j²) = 1 over all looks.
        error = self._error * 6 / (math.pi * self._look) ** 2
        variance: float | None = self._variance
        if self._kurtosis is not None:
            variance, error = _variance_bound(data, self._kurtosis, error / 2), error / 2
        found = median_of_means(data, error)
        self._last = Interval(-math.inf, math.inf, self._error, data.size)
        if found is not None and variance is not None:
            centre, block = found
            radius = math.sqrt(3 * variance / block)
            self._last = Interval(centre - radius, centre + radius, self._error, data.size)
        return self._last


def median_of_means(values: Floats, error: float) -> tuple[float, int] | None:
    """The median of block means and the size of a block, or ``None`` for too few values.

    With probability ``1 - error`` it errs by at most ``√(3 Var/block)``.
    """
    blocks = _blocks(error / 2)
    size = values.size // blocks
    if size < 1:
        return None
    return float(np.median(values[: blocks * size].reshape(blocks, size).mean(axis=1))), size


def _blocks(error: float) -> int:
    """The least odd k with ``P(Bin(k, 1/4) >= k/2) <= error``."""
    blocks = 1
    while _binomial_tail(blocks) > error:
        blocks += 2
    return blocks


def _binomial_tail(blocks: int) -> float:
    least = (blocks + 1) // 2
    return math.fsum(
        math.exp(
            math.lgamma(blocks + 1) - math.lgamma(k + 1) - math.lgamma(blocks - k + 1)
            + k * math.log(0.25) + (blocks - k) * math.log(0.75)
        )
        for k in range(least, blocks + 1)
    )


def _variance_bound(values: Floats, kurtosis: float, error: float) -> float | None:
    pairs = values[: values.size // 2 * 2].reshape(-1, 2)
    found = median_of_means((pairs[:, 0] - pairs[:, 1]) ** 2 / 2, error)
    if found is None:
        return None
    centre, block = found
    ratio = math.sqrt(3 * (kurtosis + 1) / 2 / block)
    return centre / (1 - ratio) if ratio < 1 else None


# -- equivalence ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Equivalence:
    """What a test found.

    Attributes
    ----------
    verdict : "holds", "refuted" or "inconclusive"
    interval : Interval
        For the mean, at the end.
    expected, margin : float
    error : float
        Probability of a wrong ``holds`` or ``refuted``.
    detectable : float
        A mean this far from ``expected`` would have been refuted by an interval of this width.
    """

    verdict: Judgement
    interval: Interval
    expected: float
    margin: float
    error: float

    @property
    def detectable(self) -> float:
        return self.margin + 2 * self.interval.radius

    def __str__(self) -> str:
        low, high = self.expected - self.margin, self.expected + self.margin
        return (
            f"{self.verdict}: mean in [{self.interval.lower:.6g}, {self.interval.upper:.6g}] after "
            f"{self.interval.count} draws, against [{low:.6g}, {high:.6g}]; error {self.error:.1e}"
        )


def equivalence(
    draw: Draw,
    expected: float,
    margin: float,
    tails: Tails,
    *,
    budget: int,
    error: float = SHARE,
    rng: np.random.Generator | int | None = None,
    first: int = 256,
) -> Equivalence:
    """Test whether ``|E X - expected| <= margin``, drawing until the interval decides.

    Parameters
    ----------
    draw : callable
        ``draw(n, rng)`` returns n independent draws, each from the same law.
    expected, margin : float
        The margin includes every bias that has been computed; it is positive.
    tails : Tails
        What is known of the law of a draw.
    budget : int
        The most draws; ``inconclusive`` when they are spent.
    error : float
        Bound of the probability of a wrong ``holds`` or ``refuted``, over all looks.
    rng : Generator, int or None
        As for ``numpy.random.default_rng``.
    first : int
        The first look; each look doubles the number of draws.

    Returns
    -------
    Equivalence

    Raises
    ------
    BoundError
        If a draw breaks the stated bounds or is not finite: a broken model, never a verdict.
    InputError
        For a margin or a budget out of range, or a draw of the wrong size.

    Examples
    --------
    >>> test = equivalence(lambda n, rng: rng.uniform(size=n), 0.5, 0.05, Bounded(0, 1),
    ...                    budget=10**5, rng=0)
    >>> test.verdict
    'holds'
    """
    if not (math.isfinite(expected) and 0 < margin < math.inf):
        raise InputError(f"expected = {expected} must be finite and margin = {margin} positive")
    budget = positive_integer(budget, "budget")
    first = min(positive_integer(first, "first"), budget)
    generator = np.random.default_rng(rng)
    run = tails.sequence(error, budget)
    seen, wanted = 0, first
    while True:
        values = np.asarray(draw(wanted - seen, generator))
        if values.shape != (wanted - seen,):
            raise InputError(f"draw({wanted - seen}) returned an array of shape {values.shape}")
        interval = run.update(values)
        seen = wanted
        verdict = _judge(interval, expected, margin)
        if verdict != "inconclusive" or seen >= budget:
            return Equivalence(verdict, interval, expected, margin, error)
        wanted = min(2 * seen, budget)


def _judge(interval: Interval, expected: float, margin: float) -> Judgement:
    low, high = expected - margin, expected + margin
    if low <= interval.lower and interval.upper <= high:
        return "holds"
    if interval.lower > high or interval.upper < low:
        return "refuted"
    return "inconclusive"


def samples_for(
    slack: float, deviation: float, span: float, *, error: float = SHARE, miss: float = 0.01
) -> int:
    """How many bounded draws decide with probability ``1 - miss``: the power of :func:`equivalence`.

    Parameters
    ----------
    slack : float
        The margin less the distance of the true mean from ``expected`` (or, for a refutation, that
        distance less the margin).
    deviation, span : float
        Standard deviation of a draw, and ``upper - lower``.
    error, miss : float

    Notes
    -----
    The width of the empirical-Bernstein interval with its last bet, ``σ√(2ℓ/n) + cℓ·span/n`` with
    ``ℓ = log(2/error)``, times 3/2 for the earlier bets, plus the fluctuation of the mean. A plan,
    not a bound: the measured power is a test of this package.
    """
    for name, value in (("slack", slack), ("deviation", deviation), ("span", span)):
        if not 0 < value < math.inf:
            raise InputError(f"{name} = {value} must be positive and finite")
    level, z = math.log(2 / _probability(error, "error")), -NormalDist().inv_cdf(miss)
    root = deviation * (1.5 * math.sqrt(2 * level) + z)
    # slack √n² - root √n - 3 level span = 0
    n = ((root + math.sqrt(root**2 + 12 * slack * level * span)) / (2 * slack)) ** 2
    return math.ceil(n)


def _probability(value: float, name: str) -> float:
    if not 0 < value < 1:
        raise InputError(f"{name} = {value} must lie strictly between 0 and 1")
    return value


def _finite(values: ArrayLike) -> Floats:
    batch = np.asarray(values, dtype=np.float64).ravel()
    if not np.all(np.isfinite(batch)):
        raise BoundError("a draw is not finite")
    return batch
