"""Intervals cover, tests decide with the stated error and power, sums do not saturate.

Coverage is measured at a large error (0.1), where a wrong interval shows. Each such test fails a
right implementation with probability below 1e-6 over seeds (a binomial tail); seeds are fixed.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theoryverify.errors import InputError
from theoryverify.stats import (
    Bounded,
    BoundError,
    ErrorBudget,
    FiniteKurtosis,
    FiniteVariance,
    Moments,
    equivalence,
    family_error,
    median_of_means,
    normal_threshold,
    samples_for,
)

SKEWED = 0.02  # P(X = 1): mean 0.02, the hard case for an interval that looks at the sample


def bernoulli(p):
    return lambda n, rng: (rng.uniform(size=n) < p).astype(float)


def pareto(n, rng):
    """Variance 1, fourth moment infinite: t = 3.5 degrees of freedom."""
    return rng.standard_t(3.5, n) / math.sqrt(3.5 / 1.5)


def misses(tails, draw, mean, error, runs=600, looks=(64, 64, 128, 256, 512)):
    """How many runs had *any* look whose interval misses the mean."""
    count = 0
    for seed in range(runs):
        rng = np.random.default_rng([7, seed])
        run, missed = tails.sequence(error, sum(looks)), False
        for size in looks:
            interval = run.update(draw(size, rng))
            missed |= not interval.lower <= mean <= interval.upper
        count += missed
    return count


@pytest.mark.parametrize(("tails", "draw", "mean"), [
    (Bounded(0, 1), bernoulli(0.5), 0.5),
    (Bounded(0, 1), bernoulli(SKEWED), SKEWED),
    (Bounded(-1, 3), lambda n, rng: rng.uniform(-1, 1, n), 0.0),
    (FiniteVariance(1.0), pareto, 0.0),
    (FiniteKurtosis(3.0), lambda n, rng: rng.standard_normal(n), 0.0),
    (FiniteKurtosis(9.0), lambda n, rng: rng.exponential(size=n), 1.0),
], ids=["coin", "rare", "uniform", "student", "normal", "exponential"])
def test_coverage_over_all_looks(tails, draw, mean):
    error, runs = 0.1, 600
    # Binomial: mean 60, and 102 or more has probability 1e-7.
    assert misses(tails, draw, mean, error, runs) <= 102


def test_an_interval_that_is_too_short_would_be_seen():
    """The same measurement on 0.4 times the true length: the test of the test."""
    count, runs = 0, 400
    for seed in range(runs):
        rng = np.random.default_rng([8, seed])
        interval = Bounded(0, 1).sequence(0.1, 512).update(bernoulli(0.5)(512, rng))
        centre = (interval.lower + interval.upper) / 2
        count += abs(centre - 0.5) > 0.4 * interval.radius
    assert count > 102 * runs / 600


def test_the_median_of_means_covers_at_one_look():
    """One-sided misses of √(3 Var/block), for a law with an infinite fourth moment."""
    count = 0
    for seed in range(1000):
        centre, block = median_of_means(pareto(240, np.random.default_rng([9, seed])), 0.2)
        count += abs(centre) > math.sqrt(3 / block)
    assert count <= 270  # Binomial(1000, 0.2): 270 has probability 5e-8


def test_the_radius_follows_the_deviation_and_not_the_span():
    """Within 1.8 times the normal width at the same error, where Hoeffding's is 17 times it."""
    rng, n = np.random.default_rng(3), 2**17
    run = Bounded(0, 1).sequence(1e-9, n)
    for size in [256, *[2**k for k in range(8, 17)]]:
        interval = run.update(0.5 + 0.05 * rng.uniform(-1, 1, size))
    normal = 0.05 / math.sqrt(3) * math.sqrt(2 * math.log(2e9) / n)
    assert interval.count == n
    assert normal < interval.radius < 1.8 * normal


@pytest.mark.parametrize(("p", "expected"), [
    (0.3, "holds"), (0.305, "holds"), (0.36, "refuted"), (0.24, "refuted"), (0.329, "inconclusive"),
])
def test_equivalence_decides(p, expected):
    result = equivalence(bernoulli(p), 0.3, 0.03, Bounded(0, 1), budget=40_000, rng=5)
    assert result.verdict == expected
    assert result.error == 1e-9
    assert (result.interval.count == 40_000) == (expected == "inconclusive")
    assert expected in str(result)


def test_heavy_tails_are_decided_too():
    for tails in (FiniteVariance(1.0), FiniteKurtosis(9.0)):
        draw = pareto if isinstance(tails, FiniteVariance) else (
            lambda n, rng: rng.exponential(size=n) - 1)
        assert equivalence(draw, 0, 0.2, tails, budget=2**16, rng=1).verdict == "holds"
        assert equivalence(draw, 0.6, 0.2, tails, budget=2**16, rng=1).verdict == "refuted"


def test_false_alarms_stay_below_the_stated_error():
    """At error 0.1, with the true mean just outside (inside) the margin: wrong verdicts are rare."""
    wrong = 0
    for seed in range(400):
        outside = equivalence(bernoulli(0.3), 0.2499, 0.05, Bounded(0, 1), budget=4000, error=0.1,
                              rng=[1, seed])
        inside = equivalence(bernoulli(0.3), 0.2501, 0.05, Bounded(0, 1), budget=4000, error=0.1,
                             rng=[2, seed])
        wrong += (outside.verdict == "holds") + (inside.verdict == "refuted")
    assert wrong <= 130  # of 800 at 0.1: mean at most 80, and 130 has probability 2e-8


def test_the_planned_number_of_draws_has_the_stated_power():
    slack, p = 0.01, 0.1
    n = samples_for(slack, math.sqrt(p * (1 - p)), 1, error=1e-6, miss=0.05)
    decided = sum(
        equivalence(bernoulli(p), p, slack, Bounded(0, 1), budget=n, error=1e-6,
                    rng=[3, seed]).verdict == "holds"
        for seed in range(40)
    )
    # At a power of 0.95, 30 or fewer of 40 has probability 6e-6.
    assert decided > 30
    fewer = equivalence(bernoulli(p), p, slack, Bounded(0, 1), budget=n // 8, error=1e-6, rng=3)
    assert fewer.verdict == "inconclusive"


def test_clipping_widens_the_interval_by_its_bias():
    draws = np.full(1000, 0.5)
    plain = Bounded(0, 1).sequence(0.01, 1000).update(draws)
    clipped = Bounded(0, 1, clip_bias=0.125).sequence(0.01, 1000).update(draws)
    assert clipped.lower == plain.lower - 0.125
    assert clipped.upper == plain.upper + 0.125
    outliers = np.concatenate([draws, [1e30]])
    assert Bounded(0, 1, clip_bias=0.0).sequence(0.01, 1000).update(outliers).upper < 0.6
    with pytest.raises(BoundError, match="outside the certified"):
        Bounded(0, 1).sequence(0.01, 1000).update(outliers)


def test_nan_is_an_error_and_never_a_verdict():
    def broken(n, rng):
        values = rng.uniform(size=n)
        values[0] = math.nan
        return values

    for tails in (Bounded(0, 1), Bounded(0, 1, clip_bias=0.1), FiniteVariance(1), FiniteKurtosis(3)):
        with pytest.raises(BoundError, match="not finite"):
            equivalence(broken, 0.5, 0.5, tails, budget=1000, rng=0)


# -- F31: accumulation ---------------------------------------------------------------------------


def test_sums_of_float32_do_not_saturate():
    seen = Moments()
    ones = np.ones(2**16, dtype=np.float32)
    for _ in range(2**9):
        seen.update(ones)
    assert (seen.count, seen.mean, seen.total) == (2**25, 1.0, 2.0**25)
    # One by one from just below the point where a float32 accumulator stops.
    for _ in range(1000):
        seen.update(np.float32(1))
    assert seen.total == 2.0**25 + 1000


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60), st.integers(1, 59))
def test_moments_do_not_depend_on_the_batches(values, cut):
    whole, parts, single = Moments(), Moments(), Moments()
    whole.update(values)
    parts.update(values[:cut])
    parts.update(values[cut:])
    for value in values:
        single.update(value)
    scale = max(map(abs, values)) + 1
    for other in (parts, single):
        assert other.count == whole.count
        assert abs(other.mean - np.mean(values)) <= 1e-12 * scale
        assert abs(other.variance - np.var(values, ddof=1)) <= 1e-10 * scale**2


# -- F42: families of tests ----------------------------------------------------------------------


def test_family_thresholds():
    assert normal_threshold(200, 1e-6) == pytest.approx(5.847172145099800854, rel=1e-12)
    assert normal_threshold(200, 1e-6, method="sidak") == pytest.approx(5.84717206231285, rel=1e-12)
    assert family_error(0.05, 20) == pytest.approx(0.6415140775914578, rel=1e-13)
    assert family_error(0.02, 10) == pytest.approx(0.1829271931124531, rel=1e-13)


def test_the_budget_is_never_exceeded():
    budget = ErrorBudget(total=1e-6)
    for index in range(1000):
        assert budget.spend(f"test {index}") == 1e-9
    assert budget.spend("test 3") == 1e-9  # again, at no cost
    with pytest.raises(InputError, match="is left"):
        budget.spend("one more")
    with pytest.raises(InputError, match="already spent"):
        budget.spend("test 3", 2e-9)


@pytest.mark.parametrize(("call", "match"), [
    (lambda: Bounded(1, 1), "increasing"), (lambda: Bounded(0, math.inf), "finite"),
    (lambda: FiniteVariance(math.nan), "variance = nan"), (lambda: FiniteKurtosis(0.5), "at least 1"),
    (lambda: equivalence(bernoulli(0.5), 0.5, 0, Bounded(0, 1), budget=10), "margin = 0"),
    (lambda: equivalence(bernoulli(0.5), 0.5, 0.1, Bounded(0, 1), budget=0), "budget = 0"),
    (lambda: equivalence(bernoulli(0.5), math.nan, 0.1, Bounded(0, 1), budget=9), "expected = nan"),
    (lambda: equivalence(lambda n, rng: np.zeros((n, 1)), 0, 1, Bounded(0, 1), budget=9), "shape"),
    (lambda: Bounded(0, 1).sequence(1.5, 10), "error = 1.5"),
    (lambda: normal_threshold(0), "tests = 0"), (lambda: samples_for(0, 1, 1), "slack = 0"),
    (lambda: ErrorBudget().spend("x", 0), "error = 0"),
])
def test_bad_input(call, match):
    with pytest.raises(InputError, match=match):
        call()
