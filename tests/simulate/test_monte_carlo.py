"""The literal model on random prompts, judged by equivalence; controls at three times the margin.

Every test of a mean has an error of 1e-9 for any law with the stated variance; seeds are fixed.
"""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from theoryverify.errors import HypothesisError, InputError  # noqa: E402
from theoryverify.exact.densities import Ball, Uniform  # noqa: E402
from theoryverify.exact.laws import TwoPoint  # noqa: E402
from theoryverify.models.lca import CA, LCA  # noqa: E402
from theoryverify.papers.lca.alpha_star import alpha_star  # noqa: E402
from theoryverify.papers.lca.loss import excess_loss  # noqa: E402
from theoryverify.papers.lca.simulated import (  # noqa: E402
    literal_draws,
    plan_risk,
    simulated_risk,
)
from theoryverify.papers.lca.wishart import mean_excess  # noqa: E402
from theoryverify.simulate.monte_carlo import ExcessDraws, torch_slope  # noqa: E402
from theoryverify.simulate.prompts import sample_prompts  # noqa: E402
from theoryverify.simulate.training import train  # noqa: E402
from theoryverify.stats import VarianceMean, equivalence  # noqa: E402

torch.set_num_threads(1)

U25 = Uniform(2, 5)
CASES = [
    (U25, 3, 512, 2, "0.27", None),
    (U25, 4, 1024, 5, "0.28", None),
    (U25, 5, 256, 3, "2/7", None),
    (TwoPoint(2, 5), 3, 256, 3, "0.3", "-0.25"),
    (Ball(4, 3), 3, 256, 1, "0.35", None),
    (U25, 3, 256, 4, "0.1", "0.05"),
]


def at(case):
    law, d, L, depth, alpha, beta = case
    return law, {"dim": d, "context": L, "depth": depth, "alpha": alpha, "beta": beta}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_risk_is_the_formula_within_a_computed_margin(case):
    law, where = at(case)
    result = simulated_risk(law, **where, rng=[1, CASES.index(case)])
    assert result.plan.bias < result.plan.margin <= 3 * result.plan.bias + 1e-3
    assert result.test.verdict.value == "holds", str(result.test)
    for sense in (1, -1):
        wrong = result.plan.infinite + 3 * sense * result.plan.margin
        control = simulated_risk(
            law, **where, rng=[2, CASES.index(case)], formula=lambda *_, wrong=wrong: wrong
        )
        assert control.test.verdict.value == "refuted", str(control.test)


def test_the_exact_finite_mean_is_met_far_below_the_bias():
    """A third of the bias away it would be refuted: the bias is seen, and is the computed one."""
    law, where = at(CASES[2])
    plan = plan_risk(law, **where)
    margin = plan.bias / 12
    for shift, verdict in ((0.0, "holds"), (plan.bias / 3, "refuted")):
        test = equivalence(
            literal_draws(law, **where),
            plan.finite + shift,
            margin,
            budget=200_000,
            sequence=VarianceMean(plan.variance, error=1e-9, horizon=100_000),
            rng=np.random.default_rng(4),
        )
        assert test.verdict.value == verdict, str(test)


def test_the_planned_variance_is_that_of_the_draws():
    """Kurtosis about 12: the sample variance of 30,000 draws has a relative deviation of 2%."""
    where = {"dim": 2, "context": 64, "depth": 1, "alpha": "0.25", "beta": None}
    sample = literal_draws(U25, **where)(30_000, np.random.default_rng(5))
    kurtosis = ((sample - sample.mean()) ** 4).mean() / sample.var() ** 2
    assert kurtosis < 40
    assert sample.var() == pytest.approx(plan_risk(U25, **where).variance, rel=0.15)


def test_draws_do_not_depend_on_labels_scale_and_average_the_query():
    """Predictions are linear in ζ, and the excess is the query's average exactly."""
    rng = np.random.default_rng(6)
    prompts = sample_prompts(U25, 3, 40, 50, zeta="normal", rng=rng)
    slope = torch_slope(LCA.one_parameter(3, 3, 0.2), context=40)
    whole = slope(prompts.X, prompts.y)
    unit = slope(prompts.X, prompts.y / prompts.zeta[:, None])
    assert np.allclose(whole, prompts.zeta[:, None] * unit, rtol=1e-10)
    queries = rng.standard_normal((50, 3, 40_000)) + (
        prompts.m[:, :, None] * rng.standard_normal((50, 1, 40_000))
    )
    seen = (np.einsum("nd,ndk->nk", whole - prompts.weight, queries) ** 2).mean(axis=1)
    assert np.allclose(seen, prompts.excess(whole), rtol=0.06)


def test_chunks_do_not_change_the_law_and_the_control_keeps_the_mean():
    draws = ExcessDraws(
        torch_slope(LCA.one_parameter(2, 2, 0.3), context=30),
        U25,
        2,
        30,
        control=lambda z: 10 * z,
        control_mean=35.0,
    )
    plain = ExcessDraws(draws.slope, U25, 2, 30)
    left, right = draws(3000, np.random.default_rng(1)), plain(3000, np.random.default_rng(1))
    z = 3.5 - (left - right) / 10
    assert np.isin(np.floor(z + 1e-9), [2, 3, 4]).all()
    assert abs((left - right).mean()) < 6 * 10 * np.sqrt(0.75 / 3000)


def test_float32_and_a_device_that_is_not_there():
    prompts = sample_prompts(U25, 3, 40, 5, rng=0)
    model = LCA.one_parameter(3, 3, 0.2)
    high = torch_slope(model, context=40)(prompts.X, prompts.y)
    low = torch_slope(LCA.one_parameter(3, 3, 0.2), context=40, dtype=torch.float32)(
        prompts.X, prompts.y
    )
    assert np.allclose(high, low, rtol=1e-4, atol=1e-5)
    with pytest.raises(InputError, match="choose one of cpu"):
        torch_slope(model, device="cuda:99", context=40)


def test_memory_is_estimated_before_work(monkeypatch):
    monkeypatch.setattr("theoryverify.memory.free_memory", lambda: 10**6)
    with pytest.raises(InputError, match="GiB are free"):
        torch_slope(CA.one_parameter(3, 2, 0.1), context=4096)
    with pytest.raises(InputError, match="GiB are free"):
        train(LCA.one_parameter(3, 2, 0.1), U25, context=4096, steps=1, batch=64, rate=0.1)


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"dim": 0}, InputError, "dim = 0"),
        ({"depth": 6}, InputError, "depth = 6"),
        ({"context": -1}, InputError, "context = -1"),
        ({"law": TwoPoint(1, 2)}, HypothesisError, "6.1"),
    ],
)
def test_bad_input(change, error, match):
    call = {"law": U25, "dim": 2, "context": 8, "depth": 2, "alpha": "0.3", **change}
    with pytest.raises(error, match=match):
        simulated_risk(**call)


# -- training ------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_trained_by_sgd_the_model_reaches_the_flows_loss(depth):
    """``ℓ(α_trained) <= ℓ(α*_T) + bias``: the minimiser of the risk at finite L_tr does no better.

    The start is outside by a factor, and so is a run that is too short.
    """
    d, L = 4, 512
    star = alpha_star(U25, depth).enclosure.lower.limit_denominator(10**9)
    best = float(excess_loss(U25, star, depth=depth).excess)
    allowed = float(mean_excess(U25, dim=d, context=L, depth=depth, alpha=star)) - best

    def gap(alpha):
        exact = str(round(float(alpha), 12))
        return float(excess_loss(U25, exact, depth=depth).excess) - best

    result = train(
        LCA.one_parameter(d, depth, 0.05),
        U25,
        context=L,
        steps=200,
        batch=48,
        rate=0.02,
        rng=[depth, 1],
    )
    trace = result.parameters["weights.alpha"]
    assert gap(result.average["weights.alpha"]) <= allowed
    assert gap(trace[0]) > 20 * allowed
    assert gap(trace[2]) > 2 * allowed
    assert result.losses.shape == (200,)
    assert len(trace) == 201


def test_training_does_not_touch_the_readout_and_is_reproducible():
    runs = []
    for _ in range(2):
        model = LCA.two_parameter(2, 2, 0.1, -0.1)
        runs.append(
            train(model, U25, context=16, steps=3, batch=4, rate=0.01, optimizer="adam", rng=3)
        )
        assert torch.equal(model.readout.W_KQ, LCA.two_parameter(2, 2, 0, 0).readout.W_KQ)
    assert set(runs[0].parameters) == {"weights.alpha", "weights._beta"}
    for name, values in runs[0].parameters.items():
        assert np.array_equal(values, runs[1].parameters[name])


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"steps": 0}, "steps = 0"),
        ({"batch": 0}, "batch = 0"),
        ({"rate": -1}, "rate = -1"),
        ({"optimizer": "lbfgs"}, "'sgd' or 'adam'"),
        ({"clip": 0}, "clip = 0"),
    ],
)
def test_bad_training_input(change, match):
    call = {"context": 8, "steps": 1, "batch": 1, "rate": 0.1, **change}
    with pytest.raises(InputError, match=match):
        train(LCA.one_parameter(2, 1, 0.1), U25, **call)


def test_a_diverged_run_is_no_result():
    model = LCA.one_parameter(2, 40, 1e12)
    with pytest.raises(FloatingPointError, match="diverged"):
        train(model, U25, context=8, steps=5, batch=2, rate=0.1, clip=1e30, rng=0)
