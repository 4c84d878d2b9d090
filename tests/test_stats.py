"""Confidence sequences cover, equivalence tests err as rarely as they say, sums do not stop."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from theoryverify.claims import HOLDS, INCONCLUSIVE, REFUTED
from theoryverify.errors import InputError
from theoryverify.stats import (
    BoundedMean,
    Interval,
    KurtosisMean,
    Moments,
    Sequence,
    VarianceMean,
    bonferroni,
    equivalence,
    family_error,
    normal_threshold,
    power,
    sidak,
)
from theoryverify.testing import TheoremViolation, assert_equivalent

# -- streaming ----------------------------------------------------------------------------------


def test_two_to_the_25_float32_ones() -> None:
    moments = Moments()
    chunk = np.ones(2**18, dtype=np.float32)
    for _ in range(2**7):
        moments.update(chunk)
    assert moments.count == moments.sum == 33554432
    assert moments.mean == 1.0
    assert moments.variance == 0.0


def test_one_by_one_and_beside_a_large_mean() -> None:
    moments = Moments()
    values = 1e9 + np.arange(1000) / 1000
    for value in values:
        moments.update(np.float64(value))
    assert math.isclose(moments.variance, np.arange(1000).var(ddof=1) / 1e6, rel_tol=1e-6)
    assert math.isclose(moments.sum, math.fsum(values), rel_tol=1e-16)
    moments = Moments()
    for value in (1.0, 1e100, 1.0, -1e100):
        moments.update(value)
    assert moments.sum == 2.0


def test_nan_is_refused() -> None:
    for taker in (Moments(), BoundedMean(0, 1, error=0.1), VarianceMean(1, error=0.1)):
        with pytest.raises(InputError, match="nan"):
            taker.update([0.5, math.nan])


# -- budgets ------------------------------------------------------------------------------------


def test_thresholds_of_a_family() -> None:
    """200 checks at a family error of 1e-6, to 12 digits (mpmath's erfinv, SciPy's isf)."""
    assert abs(normal_threshold(bonferroni(1e-6, 200)) - 5.847172145099800854) < 5e-13
    assert abs(normal_threshold(sidak(1e-6, 200)) - 5.84717206231285) < 5e-13
    assert abs(family_error(0.05, 20) - 0.6415140775914578) < 1e-14
    assert abs(family_error(0.02, 10) - 0.1829271931124531) < 1e-14
    assert math.isclose(family_error(sidak(1e-6, 200), 200), 1e-6, rel_tol=1e-13)


@pytest.mark.parametrize(("error", "checks"), [(0, 1), (1, 1), (math.nan, 1), (0.1, 0), (0.1, 1.5)])
def test_bad_budgets(error: float, checks: int) -> None:
    with pytest.raises(InputError, match=r"error|checks"):
        bonferroni(error, checks)


# -- coverage -----------------------------------------------------------------------------------

_LOOKS = (50, 100, 200, 400, 800, 1600)


def _bernoulli(n: int, rng: np.random.Generator) -> np.ndarray:
    return (rng.random(n) < 0.03).astype(float)


def _heavy(n: int, rng: np.random.Generator) -> np.ndarray:
    return (rng.standard_t(4.5, n)) / math.sqrt(4.5 / 2.5)


def _hermite(n: int, rng: np.random.Generator) -> np.ndarray:
    z = rng.standard_normal(n)
    return (z**3 - 3 * z) ** 2 / 6


@pytest.mark.parametrize(
    ("make", "draw", "mean"),
    [
        (lambda e: BoundedMean(0, 1, error=e, horizon=1600), _bernoulli, 0.03),
        (lambda e: BoundedMean(-3, 5, error=e), lambda n, g: g.choice([-3, 5.0], n), 1),
        (lambda e: VarianceMean(1, error=e, horizon=1600), _heavy, 0),
        # E (He_3/√6)⁴ - 1 = 92: the statistic whose t-values are below -3 in 9% of all samples.
        (lambda e: VarianceMean(92, error=e, horizon=1600), _hermite, 1),
        (lambda e: KurtosisMean(3, error=e, horizon=1600), lambda n, g: g.standard_normal(n), 0),
    ],
    ids=["Bernoulli", "two points", "Student", "Hermite", "Gaussian"],
)
def test_measured_coverage_at_all_looks(make, draw, mean: float) -> None:
    """At error 0.2, 400 runs miss more than 0.2·400 + 3.1·8 = 104 times with probability 1e-3,
    were the error attained; a sequence that is off by a constant misses nearly always."""
    rng = np.random.default_rng(0)
    missed, runs, finite = 0, 400, 0
    for _ in range(runs):
        sequence: Sequence = make(0.2)
        bad = False
        for start, end in zip((0, *_LOOKS), _LOOKS, strict=False):
            sequence.update(draw(end - start, rng))
            bad |= not sequence.interval.lower <= mean <= sequence.interval.upper
        missed += bad
        finite += math.isfinite(sequence.interval.width)
    assert missed <= 104
    assert finite == runs


def test_intervals_that_are_too_short_would_be_seen() -> None:
    """The control of the test above: a quarter of the width misses far more often."""
    rng = np.random.default_rng(0)
    missed = 0
    for _ in range(400):
        sequence = VarianceMean(1, error=0.2, horizon=1600)
        bad = False
        for start, end in zip((0, *_LOOKS), _LOOKS, strict=False):
            sequence.update(rng.standard_normal(end - start))
            found = sequence.interval
            bad |= abs(found.lower + found.upper) / 2 > found.width / 8
        missed += bad
    assert missed > 104


def test_catoni_covers_for_unbounded_kurtosis_where_a_t_test_does_not() -> None:
    rng = np.random.default_rng(1)
    below, missed = 0, 0
    for _ in range(2000):
        x = _hermite(1000, rng)
        below += (x.mean() - 1) / (x.std(ddof=1) / math.sqrt(1000)) < -3
    for _ in range(200):
        sequence = VarianceMean(92, error=2 * 0.00135, horizon=1000)
        sequence.update(_hermite(1000, rng))
        missed += not sequence.interval.lower <= 1 <= sequence.interval.upper
    assert below > 100  # 5%, against 0.135% for a Gaussian
    assert missed <= 5  # P(Binomial(200, 0.0027) > 5) < 1e-4


def test_width_is_as_announced() -> None:
    rng = np.random.default_rng(2)
    for samples in (1000, 8000, 16000, 64000):
        sequence = VarianceMean(1, error=1e-6, horizon=16000)
        sequence.update(rng.standard_normal(samples))
        announced = 2 * sequence.radius(samples)
        assert 0.8 * announced <= sequence.interval.width <= 1.15 * announced
    best = math.sqrt(2 * math.log(2e6) / 16000)
    assert VarianceMean(1, error=1e-6, horizon=16000).radius(16000) <= 1.12 * best


def test_chunks_do_not_matter() -> None:
    x = np.random.default_rng(3).random(5000)
    for make in (
        lambda: BoundedMean(0, 1, error=1e-3),
        lambda: VarianceMean(1 / 12, error=1e-3),
        lambda: KurtosisMean(2, error=1e-3),
    ):
        whole, pieces = make(), make()
        whole.update(x)
        for part in np.array_split(x, 37):
            pieces.update(part)
        assert math.isclose(whole.interval.lower, pieces.interval.lower, rel_tol=1e-9)
        assert math.isclose(whole.interval.upper, pieces.interval.upper, rel_tol=1e-9)


def test_bounds_and_clipping() -> None:
    with pytest.raises(InputError, match=r"2\.0, outside \[0, 1\]"):
        BoundedMean(0, 1, error=0.1).update([0.5, 2.0])
    # P(x > c) = e^{-c}: clipping an exponential at c takes e^{-c} from its mean 1.
    sequence = BoundedMean(0, 8, error=1e-6, clip=True, bias=(0, math.exp(-8)))
    sequence.update(np.random.default_rng(4).exponential(size=20_000))
    assert sequence.interval.lower <= 1 <= sequence.interval.upper
    assert sequence.interval.width < 0.15
    one_sided = BoundedMean(0, 8, error=1e-6, clip=True, bias=(0, math.inf))
    one_sided.update(np.random.default_rng(4).exponential(size=20_000))
    assert one_sided.interval.lower > 0.9
    assert one_sided.interval.upper == math.inf


@pytest.mark.parametrize(
    "call",
    [
        lambda: BoundedMean(1, 0, error=0.1),
        lambda: BoundedMean(0, math.inf, error=0.1),
        lambda: BoundedMean(0, 1, error=2),
        lambda: BoundedMean(0, 1, error=0.1, bias=(-1, 0)),
        lambda: VarianceMean(0, error=0.1),
        lambda: VarianceMean(math.nan, error=0.1),
        lambda: VarianceMean(1, error=0.1, horizon=0),
        lambda: KurtosisMean(0.5, error=0.1),
    ],
)
def test_bad_sequences(call) -> None:
    with pytest.raises(InputError):
        call()


# -- equivalence --------------------------------------------------------------------------------


def _test(mean: float, expected: float, margin, budget: int = 40_000, seed: int = 5):
    return equivalence(
        lambda n, rng: mean + rng.standard_normal(n),
        expected,
        margin,
        sequence=VarianceMean(1, error=1e-6, horizon=budget),
        budget=budget,
        rng=np.random.default_rng(seed),
    )


def test_three_verdicts() -> None:
    assert _test(0, 0, 0.1).verdict is HOLDS
    assert _test(0.3, 0, 0.1).verdict is REFUTED
    undecided = _test(0.1, 0, 0.1)
    assert undecided.verdict is INCONCLUSIVE
    assert undecided.samples == 40_000
    assert _test(5, 0, 0.1).samples < 6000  # what is plain is seen early
    assert _test(5, 0, (0.1, math.inf)).verdict is HOLDS
    assert _test(-5, 0, (0.1, math.inf)).verdict is REFUTED


def test_power_is_what_it_says() -> None:
    stated = power(1, 0.1, error=1e-6, budget=40_000)
    assert stated.resolves < 0.1
    for seed in range(20):  # each may fail with probability 1e-6
        assert _test(0, 0, 1.1 * stated.resolves, seed=seed).verdict is HOLDS
        assert _test(1.1 * stated.detects, 0, 0.1, seed=seed).verdict is REFUTED


def test_false_alarms_are_rarer_than_stated() -> None:
    """A mean on the edge of the margin: a wrong verdict needs a missed mean. 300 runs at error
    0.1 give more than 0.1·300 + 3.1·5.2 = 46 with probability 1e-3 at most."""
    wrong = 0
    for seed in range(300):
        found = equivalence(
            lambda n, rng: (rng.random(n) < 0.2501).astype(float),
            0.2,
            0.05,
            sequence=BoundedMean(0, 1, error=0.1, horizon=2000),
            budget=2000,
            rng=np.random.default_rng(seed),
            batch=100,
        )
        wrong += found.verdict is HOLDS
    assert wrong <= 46


def test_equivalence_bad_input() -> None:
    rng = np.random.default_rng(0)
    fresh = BoundedMean(0, 1, error=0.1)
    with pytest.raises(InputError, match="margin"):
        equivalence(lambda n, g: g.random(n), 0, 0, sequence=fresh, budget=10, rng=rng)
    with pytest.raises(InputError, match="budget"):
        equivalence(lambda n, g: g.random(n), 0, 1, sequence=fresh, budget=0, rng=rng)
    with pytest.raises(InputError, match=r"shape \(\)"):
        equivalence(lambda n, g: g.random(), 0, 1, sequence=fresh, budget=10, rng=rng)
    fresh.update([0.5])
    with pytest.raises(InputError, match="fresh"):
        equivalence(lambda n, g: g.random(n), 0, 1, sequence=fresh, budget=10, rng=rng)


# -- the assertion ------------------------------------------------------------------------------


def test_assert_equivalent() -> None:
    assert_equivalent(lambda n, rng: rng.standard_normal(n) ** 2, 1, 0.1, rng=0)
    assert_equivalent(lambda rng, n: rng.random(n), 0.5, 0.02, rng=np.random.default_rng(1))
    assert_equivalent(lambda rng: rng.random(), 0.5, 0.05, rng=1, bounds=(0, 1))
    assert_equivalent(lambda n: np.ones(n), 1, 1e-9, rng=1)
    with pytest.raises(TheoremViolation, match="not within the margin"):
        assert_equivalent(lambda n, rng: rng.random(n), 0.6, 0.02, rng=2)
    with pytest.raises(TheoremViolation, match="not decided within the budget"):
        assert_equivalent(lambda n, rng: rng.random(n), 0.5, 1e-4, rng=3, budget=20_000)
    with pytest.raises(TheoremViolation, match="nan"):
        assert_equivalent(lambda n, rng: np.full(n, math.nan), 0.5, 1, rng=3)
    with pytest.raises(InputError, match="margin"):
        assert_equivalent(lambda n, rng: rng.random(n), 0.5, -1, rng=3)
    with pytest.raises(InputError, match="not both"):
        assert_equivalent(lambda n, rng: rng.random(n), 0.5, 1, rng=3, bounds=(0, 1), variance=1)


def test_stats_import_neither_torch_nor_scipy() -> None:
    code = (
        "import sys, theoryverify.stats; sys.exit('torch' in sys.modules or 'scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_interval_says_on_which_side_of_a_number_the_mean_is() -> None:
    found = Interval(1.0, 2.0)
    assert [found.above(x) for x in (0.5, 1.0, 1.5, 2.0, 2.5)] == [True, None, None, None, False]
    assert [found.below(x) for x in (0.5, 1.0, 1.5, 2.0, 2.5)] == [False, None, None, None, True]
