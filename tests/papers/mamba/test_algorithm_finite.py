"""Exact moments of the feature at a finite context, blocks of Stage I in law, the head's norm."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from theoryverify.claims import HOLDS, Context, Verdict
from theoryverify.claims.examine import examine
from theoryverify.errors import InputError
from theoryverify.exact.gate import Gate
from theoryverify.papers.mamba import head
from theoryverify.papers.mamba.claims import finite
from theoryverify.papers.mamba.claims import head as head_claims
from theoryverify.papers.mamba.finite_feature import (
    INDICATOR,
    ONES,
    FeatureWeights,
    feature_share,
    half_length,
    kind_moments,
)
from theoryverify.papers.mamba.links import HE2, HE3
from theoryverify.papers.mamba.one_step import one_step_feature
from theoryverify.papers.mamba.population import Population
from theoryverify.papers.mamba.stage_one import StageOne
from theoryverify.simulate.mamba_law import SymmetricGamma, sample_features
from theoryverify.simulate.mamba_stage_law import BLOCKS, sample_stage_one
from theoryverify.stats import VarianceMean

BOUNDED = "sin(2*z)+cos(z)"
"""A link without heavy tails, neither even nor odd."""


# -- the feature --------------------------------------------------------------------------------


def test_the_indicator_is_signal_to_noise_again():
    """Two programs: kinds with β averaged; and |φ_I(x)|² with the query averaged."""
    at = Population(HE3, Gate(4, -2, "1/2"))
    for N in (1, 30, 1000):
        known = at.signal_to_noise(5, N)
        found = feature_share(at, INDICATOR, 5, N, ge=1)
        total = float(known.noise) + sum(map(float, known.signal[1:]))
        assert float(found.variance) == pytest.approx(total, rel=1e-12)
        assert float(found.covariance) ** 2 == pytest.approx(float(known.signal[1]), rel=1e-12)
        again = feature_share(at, INDICATOR, 5, N, ge=2)
        assert float(again.covariance) ** 2 == pytest.approx(float(known.signal[2]), rel=1e-12)


def test_moments_of_the_kinds():
    """Against Gauss-Hermite over x and angles over β, r = 2, p = 1, weighted by He_k(z)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(10)
    weights = weights / weights.sum()
    x1, x2 = np.meshgrid(nodes, nodes, indexing="ij")
    mass = np.outer(weights, weights)
    angles = 2 * np.pi * (np.arange(16) + 0.3) / 16
    kinds = (
        np.ones_like(x1),
        x1**2 + x2**2,
        ((x1**2 - 1) ** 2 + (x2**2 - 1) ** 2) / 2,
        (x1 * x2) ** 2,
        np.ones_like(x1),
        1 + x1**2 + x2**2,
    )
    polynomials = kind_moments(2, 1)
    for power in (0, 2, 4):
        for literal, polynomial in zip(kinds, polynomials, strict=True):
            direct = np.mean(
                [
                    (mass * literal * (x1 * np.cos(t) + x2 * np.sin(t)) ** power).sum()
                    for t in angles
                ]
            )
            coefficients = [float(c.p) / float(c.q) for c in polynomial.coeffs()]
            ours = sum(
                c * float((weights * nodes ** (k + power)).sum())
                for k, c in enumerate(coefficients)
            )
            assert ours == pytest.approx(direct, rel=1e-12)


@pytest.mark.parametrize(("ge", "outside"), [(1, 0.0), (2, 0.5)])
def test_moments_are_those_of_simulated_features(ge, outside):
    """Weights of four and two values, noise, d > r; a bounded link, so that 10⁵ draws say it to 3%.

    Five standard errors at a relative one of less than 0.006.
    """
    gate, N, r, d = Gate(1, "-1", "1/4"), 12, 3, 5
    at = Population(BOUNDED, gate, digits=9)
    values = (0.5, -1.0, 1.5, 0.75, outside, outside)
    weights = FeatureWeights.of("1/2", -1, "3/2", "3/4", str(outside), str(outside))
    found = feature_share(at, weights, r, N, ge=ge, d=d)
    square = np.full((r, r), values[3])
    np.fill_diagonal(square, values[2])
    gamma = SymmetricGamma(
        d, values[0], np.full(r, values[1]), square, np.full(r, outside), outside, outside
    )
    draws = sample_features(gamma, BOUNDED, gate, N, 100_000, queries=4, rng=1)
    he = draws.z if ge == 1 else (draws.z**2 - 1) / math.sqrt(2)
    assert draws.feature.mean() == pytest.approx(float(found.mean), rel=0.03)
    assert draws.feature.var() == pytest.approx(float(found.variance), rel=0.03)
    assert (draws.feature * he).mean() == pytest.approx(float(found.covariance), rel=0.03)


def test_the_share_tends_to_that_without_noise():
    step = StageOne(Population(HE2, Gate(4, -40)))
    weights = FeatureWeights.trained(step.gradient(8))
    found = feature_share(step.population, weights, 8, 10**12, ge=2).share
    assert float(found) == pytest.approx(float(one_step_feature(step, 8).share), abs=1e-6)


def test_off_the_support_costs_d_squared():
    at = Population(HE2, Gate(4, -30))
    shares = [float(feature_share(at, ONES, 2, 10**4, ge=2, d=d).share) for d in (500, 5000)]
    noise = [1 / s - 1 for s in shares]
    assert 85 < noise[1] / noise[0] < 100  # towards 100


def test_half_length():
    at = Population(HE2, Gate(4, -20))
    N = half_length(at, INDICATOR, 4, ge=2, level=0.5)
    assert N is not None
    near, below = (
        float(feature_share(at, INDICATOR, 4, n, ge=2).share) for n in (N, int(0.97 * N))
    )
    assert below < 0.5 <= near
    flat = Population(HE3, Gate(8, -4))
    assert half_length(flat, INDICATOR, 4, ge=1, level=0.5) is None


# -- Stage I in law -----------------------------------------------------------------------------


def test_blocks_add_up_to_the_output():
    start = (0.5, -1.0, 2.0)
    draws = sample_stage_one(HE2, Gate(4, -2), 7, 3, 10, 50, start=start, rng=2)
    weights = (start[0], start[1], start[2], start[1], start[2])
    total = sum(w * draws.sums[name] for w, name in zip(weights, BLOCKS, strict=True))
    np.testing.assert_allclose(draws.output, total, rtol=1e-9, atol=1e-15)
    assert [draws.sizes[name] for name in BLOCKS] == [1, 3, 6, 4, 10 + 12]
    assert sum(draws.sizes.values()) == 36  # d~


def test_blocks_are_those_of_the_gradient():
    """The mean coordinate of each block against Algorithm 1's gradient, at a bounded link."""
    pytest.importorskip("torch")
    from theoryverify.models.mamba_layer import blocks
    from theoryverify.simulate.icl_prompts import TaskFamily
    from theoryverify.simulate.mamba_algorithm import Setting, stage_one_gradient

    gate = Gate(2, -2)
    family = TaskFamily(BOUNDED, 4, (0, 2))
    setting = Setting(gate, tokens=8, stage_one=20_000, stage_two=1, queries=8)
    parts = blocks(stage_one_gradient(family, setting, rng=np.random.default_rng(3)))
    draws = sample_stage_one(BOUNDED, gate, 4, 2, 8, 150_000, rng=4)
    own = np.maximum(draws.output, 0)  # the gradient has the model's own output too
    means = {
        name: (draws.mean_coordinate(name) - own * draws.sums[name] / draws.sizes[name])
        for name in BLOCKS
    }
    literal = {
        "constant": float(parts.constant),
        "linear": float(parts.linear[[0, 2]].mean()),
        "square": float((parts.diagonal[[0, 2]].sum() + parts.pair[0, 2]) / 3),
    }
    for name, value in literal.items():
        error = means[name].std() / math.sqrt(len(own))
        assert abs(means[name].mean() - value) <= 8 * error, name


def test_a_linear_head_shows_the_support_by_its_own_output():
    """``-∂L/∂γ_i = -E S_i²`` for E[gz] = 0: he_2's linear coordinates, on and off the support."""
    pytest.importorskip("torch")
    from theoryverify.models.mamba_layer import blocks
    from theoryverify.simulate.icl_prompts import TaskFamily
    from theoryverify.simulate.mamba_algorithm import Setting, stage_one_gradient

    gate, N = Gate(4, -2), 8
    setting = Setting(gate, N, stage_one=40_000, stage_two=1, queries=16, head="linear")
    family = TaskFamily(HE2, 4, (0, 1))
    linear = blocks(stage_one_gradient(family, setting, rng=np.random.default_rng(9))).linear
    at = Population(HE2, gate)
    on, off = (
        float(feature_share(at, FeatureWeights.of(*w), 2, N, ge=1, d=4).variance) / 2
        for w in ((0, 1, 0, 0, 0, 0), (0, 0, 0, 0, 1, 0))
    )
    assert on > 2 * off
    assert float(linear[:2].mean()) == pytest.approx(-on, rel=0.15)
    assert float(linear[2:].mean()) == pytest.approx(-off, rel=0.15)


def test_the_second_moment_bound_holds():
    step = finite.Step(HE2, "4", "-2", 6, 2, 16, 50_000)
    for block in ("linear", "outside linear"):
        draws = sample_stage_one(HE2, Gate(4, -2), 6, 2, 16, 50_000, blocks=(block,), rng=5)
        seen = float((draws.mean_coordinate(block) ** 2).mean())
        assert seen < 1.2 * step.second_moment(block)
    # Off the support without the indicator it is an equality.
    whole = float(((draws.label * draws.sums["outside linear"] / 4) ** 2).mean())
    assert whole == pytest.approx(step.second_moment("outside linear"), rel=0.3)


def test_measured_coverage_of_stage_one():
    """The interval of the claims, error 5%, on 300 samples of 400 prompts: misses of the mean of all."""
    step = finite.Step("z", "1", "-2", 4, 1, 16, 400)
    draws = sample_stage_one("z", Gate(1, -2), 4, 1, 16, 120_000, blocks=("outside linear",), rng=6)
    values = draws.mean_coordinate("outside linear")
    misses = 0
    for part in np.split(values, 300):
        sequence = VarianceMean(step.second_moment("outside linear"), error=0.05, horizon=400)
        sequence.update(part)
        misses += not sequence.interval.lower <= values.mean() <= sequence.interval.upper
    assert misses <= 40  # P(Bin(300, 0.05) > 40) < 1e-7


# -- the head -----------------------------------------------------------------------------------


def test_the_kernel_is_the_mean_over_neurons():
    rng = np.random.default_rng(7)
    s = np.array([-1.3, -0.2, 0.0, 0.5, 1.7])
    v, a = rng.choice((-1.0, 1.0), 10**6), rng.uniform(-1, 1, 10**6)
    hidden = np.maximum(v * s[:, None] + a, 0)
    np.testing.assert_allclose(
        hidden @ hidden.T / 10**6, head.head_kernel(s[:, None], s), atol=0.02
    )


def test_least_norm_is_what_wide_heads_need():
    target = head.Target.of(HE3, 1, 8)
    best = head.least_norm(target, 0.1)
    found = [
        head.finite_head(target, 10_000, best.penalty, np.random.default_rng(k)) for k in range(3)
    ]
    assert np.mean([f.norm for f in found]) == pytest.approx(best.norm, rel=0.05)
    assert np.mean([f.error for f in found]) == pytest.approx(0.1, rel=0.1)


def test_least_norm_against_the_spline():
    """For a target affine in s nothing is bent: the norm is that of the affine part, ~ r^ge."""
    norms = [head.least_norm(head.Target.of("z", 1, r), 0.01).norm for r in (16, 32)]
    assert math.log2(norms[1] / norms[0]) == pytest.approx(1, abs=0.02)


def test_slopes_of_intervals():
    found = head.slope((1, 2, 4), np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 4.0]))
    assert found.value == found.lower == found.upper == pytest.approx(1)
    wide = head.slope((1, 4), np.array([1.0, 2.0]), np.array([2.0, 8.0]))
    assert (wide.lower, wide.upper) == pytest.approx((0, 1.5))


@pytest.mark.parametrize(("n", "error", "place"), [(5, 0.07, 0), (12, 0.05, 2)])
def test_median_bounds_cover(n, error, place):
    """P(miss) = 2^{1-n} Σ_{i<=place} C(n,i): 1/16 and 79/2048; 4000 repetitions, 5.5 standard errors."""
    draws = np.random.default_rng(8).standard_normal((4000, n))
    low, high = head.median_bounds(draws**3, error)
    ordered = np.sort(draws**3, axis=1)
    np.testing.assert_array_equal(low, ordered[:, place])
    np.testing.assert_array_equal(high, ordered[:, n - 1 - place])
    exact = sum(math.comb(n, i) for i in range(place + 1)) / 2 ** (n - 1)
    assert exact <= error < exact + math.comb(n, place + 1) / 2 ** (n - 1)
    missed = float(((low > 0) | (high < 0)).mean())
    assert missed == pytest.approx(exact, abs=0.021)


def test_the_margin_on_random_heads_is_a_quarter_of_the_way_to_the_nearest_control():
    """An exponent that is off by 1/20 still holds; half of the way to a control it is refuted."""
    name = "random heads"
    assert verdict_of(head_claims.NORM, name, lambda ge: 1.45 * ge) is HOLDS
    assert verdict_of(head_claims.NORM, name, lambda ge: 1.25 * ge) is Verdict.REFUTED
    assert verdict_of(head_claims.NORM, name, lambda ge: 1.75 * ge) is Verdict.REFUTED


# -- claims -------------------------------------------------------------------------------------


def verdict_of(claim, name, formula, case=None):
    """What a check says of another formula, at its own cases or at one."""
    check = next(check for check in claim.checks if check.name == name)
    if case is not None:
        check = replace(check, cases=(case,))
    return examine(claim, check, formula, Context()).verdict


def test_the_excess_on_the_support_is_in_inverse_proportion_to_its_size():
    case = finite._OWN[0]
    excess = {r: float(finite._own_excess(case, r)) for r in (2, 3, 8, 32)}
    assert excess[2] == pytest.approx(7.596, abs=0.001)
    assert excess[8] == pytest.approx(1.899, abs=0.001)  # 2.9 times as much, not more than 4
    assert excess[32] == pytest.approx(excess[2] / 16, rel=1e-9)
    name = "exact second moments"
    for wrong in (lambda r: Fraction(1, r + 1), lambda r: Fraction(1, 2)):
        assert verdict_of(finite.OWN_OUTPUT, name, (Fraction(6), wrong), case) is Verdict.REFUTED


def test_a_low_share_is_not_taken_for_the_feature():
    """0.0074 is the true R² of a gate that forgets: the table holds of it, the statement does not."""
    low = (HE3, "8", "-4", 1, 8, 12)
    table, level = "R² at finite N, enclosed", "R² at the longest contexts"
    assert verdict_of(finite.FEATURE, table, {low: "0.007"}) is HOLDS
    assert verdict_of(finite.FEATURE, level, ((low,), Fraction(4, 5))) is Verdict.REFUTED
    assert verdict_of(finite.FEATURE, level, ((low,), Fraction(7, 1000))) is HOLDS


def test_a_fixed_bias_is_refuted_by_all_lengths_together():
    name = "he_3 at N up to 2^40"
    reached = (HE3, "8", "-4", 1, Fraction(7, 1000))
    assert verdict_of(finite.FIXED, name, reached) is HOLDS


def test_claims_and_what_is_not_checked():
    from theoryverify.papers.mamba.claims import claims

    named = {claim.id: claim for claim in claims}
    for name in ("E", "E.bias", "E.own-output", "C.1", "C.1.length", "G"):
        assert named[f"mamba.{name}"].checks
        assert named[f"mamba.{name}"].expected is HOLDS
    for name in ("C.1.fixed-bias", "G.sharp", "G.width"):
        assert named[f"mamba.{name}"].expected is Verdict.REFUTED
    for name in ("main", "main.pretraining"):
        assert named[f"mamba.{name}"].not_checked
    assert {check.preset for check in named["mamba.E"].checks} == {"quick", "full"}


@pytest.mark.parametrize("claim", [finite.BIAS, finite.STANDS_OUT], ids=lambda claim: claim.id)
def test_what_only_the_preset_full_looks_at_is_named_in_the_statement(claim):
    assert {check.preset for check in claim.checks} == {"quick", "full"}
    for check in claim.checks:
        if claim is finite.STANDS_OUT:
            assert f"{check.formula:g}" in claim.statement
        else:
            assert f"{16 * check.formula(16):.3f}" in claim.statement
            assert f"{finite._MARGIN:g}" in claim.statement
    assert "preset full" in claim.statement


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda at: feature_share(at, ONES, 3, 10, ge=1, d=2), "d = 2 is less than r = 3"),
        (lambda at: feature_share(at, ONES, 3, 0, ge=1), "N = 0"),
        (lambda at: feature_share(at, ONES, 0, 5, ge=1), "r = 0"),
        (lambda at: feature_share(at, ONES, 3, 5, ge=3), "ge = 3"),
        (lambda at: FeatureWeights.of(1, 2), "2 weights; needed are six"),
        (lambda at: sample_stage_one(HE2, Gate(4, -2), 3, 3, 5, 5), "d = 3 must exceed r = 3"),
        (
            lambda at: sample_stage_one(HE2, Gate(4, -2), 4, 3, 5, 5, blocks=("cubic",)),
            "block 'cubic' is unknown",
        ),
        (lambda at: head.Target.of(HE3, 3, 4), "ge = 3"),
        (lambda at: head.Target.of(HE3, 1, 0), "r = 0"),
        (lambda at: head.least_norm(head.Target.of(HE3, 1, 4), 2.0), "error = 2.0"),
        (lambda at: head.median_bounds(np.zeros((2, 8)), 1e-9), "8 draws are too few"),
        (
            lambda at: sample_stage_one(HE2, Gate(4, -2), 4, 3, 5, 5, blocks=()).mean_coordinate(
                "linear"
            ),
            "block 'linear'",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call(Population(HE2, Gate(4, -2)))
