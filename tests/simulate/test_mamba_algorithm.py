"""Algorithm 1: its gradient, its stages, what it learns and what it cannot, bad input."""

import math
from dataclasses import replace

import numpy as np
import pytest

from theoryverify.errors import InputError
from theoryverify.exact.gate import Gate, OutsideClaimWarning
from theoryverify.simulate.icl_prompts import TaskFamily

torch = pytest.importorskip("torch")

from theoryverify.models.mamba_layer import embed, embedding_dimension, supported_gamma  # noqa: E402
from theoryverify.simulate import mamba_algorithm as algorithm  # noqa: E402
from theoryverify.simulate.mamba_algorithm import (  # noqa: E402
    PRESETS,
    Setting,
    initial_gamma,
    recovery,
    stage_one_gradient,
    train,
)

HE2, HE3 = "He2(z)/sqrt(2)", "He3(z)/sqrt(6)"
SMALL = Setting(Gate(4, -3), tokens=20, stage_one=6, stage_two=8, queries=3, width=7)


def phi(x: np.ndarray) -> np.ndarray:
    return embed(torch.from_numpy(x)).numpy()


def literal_gradient(prompts, gate, start, kink):
    """``mean (y-f) 1{M>0} S_α φ_α(x_q)``, prompt by prompt and token by token."""
    rho, b = float(gate.rho), float(gate.b)
    total, count = 0.0, 0
    for X, y, x_q, y_q in zip(prompts.X, prompts.y, prompts.x_q, prompts.y_q, strict=True):
        s = 1 / (1 + np.exp(-(y / rho + b)))
        S = np.zeros(phi(X).shape[1])
        for value, opening, key in zip(y, s, phi(X), strict=True):
            S = (1 - opening) * S + opening * value * key
        S *= (1 - 1 / (1 + math.exp(-b))) / len(y)
        for query, label in zip(phi(x_q), y_q, strict=True):
            M = float((start * S * query).sum())
            f, slope = (max(M, 0.0), float(M > 0)) if kink else (M, 1.0)
            total = total + (label - f) * slope * S * query
            count += 1
    return total / count


@pytest.mark.parametrize("head", ["kink", "linear"])
@pytest.mark.parametrize("noise", [0, "1/2"])
def test_stage_one_is_the_gradient_written_out(head, noise):
    family = TaskFamily(HE3, 4, (1, 3), noise)
    setting = replace(SMALL, head=head)
    found = stage_one_gradient(family, setting, rng=np.random.default_rng(5))
    prompts = family.sample(6, 20, queries=3, rng=np.random.default_rng(5))
    expected = literal_gradient(prompts, setting.gate, np.ones(15), head == "kink")
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-10, atol=1e-14)


def test_stage_one_in_pieces_is_a_full_batch(monkeypatch):
    family = TaskFamily(HE2, 3, (0,))
    whole = stage_one_gradient(family, SMALL, rng=np.random.default_rng(1))
    sizes = []
    plain = TaskFamily.sample

    def spy(self, prompts, *args, **kwargs):
        sizes.append(prompts)
        return plain(self, prompts, *args, **kwargs)

    monkeypatch.setattr(TaskFamily, "sample", spy)
    monkeypatch.setattr("theoryverify.simulate.icl_prompts._AT_ONCE", 20 * 3 * 4)
    parts = stage_one_gradient(family, SMALL, rng=np.random.default_rng(1))
    assert sizes == [4, 2]
    assert parts.shape == whole.shape == (embedding_dimension(3),)
    assert not torch.equal(parts, whole)  # other draws, the same law


def test_the_head_spread_is_a_mean_of_neurons():
    family = TaskFamily(HE2, 3, (0,))
    found = stage_one_gradient(family, replace(SMALL, head="spread"), rng=np.random.default_rng(2))
    rng = np.random.default_rng(2)
    v, a = rng.choice((-1.0, 1.0), 64), rng.uniform(-1, 1, 64)
    prompts = family.sample(6, 20, queries=3, rng=rng)
    gamma = torch.ones(10, dtype=torch.float64, requires_grad=True)
    M = algorithm.prompt_feature(gamma, prompts, SMALL.gate)
    f = torch.relu(M[..., None] * torch.from_numpy(v) + torch.from_numpy(a)).mean(-1)
    loss = ((f - torch.from_numpy(prompts.y_q)) ** 2).mean() / 2
    np.testing.assert_allclose(found, -torch.autograd.grad(loss, gamma)[0], rtol=1e-10)


def test_steps_and_decay():
    """``γ* = γ^(0) - η(∂L + λ_1 γ^(0))``; with λ_1 = 1/η, the default, γ^(0) is gone."""
    family, eta = TaskFamily(HE2, 3, (0,)), 0.5
    (one, _, _) = np.random.default_rng(3).spawn(3)
    step = stage_one_gradient(family, SMALL, rng=one)
    for decay, kept in ((None, 0.0), (0.0, 1.0), (1.0, 0.5), (2.0, 0.0)):
        model = train(family, replace(SMALL, eta=eta, decay=decay), rng=3)
        expected = eta * step + kept * initial_gamma(3, "all ones")
        torch.testing.assert_close(model.gamma, expected, rtol=1e-12, atol=0)
    scaled = train(family, SMALL, rng=3).gamma
    torch.testing.assert_close(scaled / scaled.abs().max(), step / step.abs().max())


def test_stage_two_is_ridge():
    family = TaskFamily(HE2, 3, (0, 2))
    model = train(family, replace(SMALL, penalty=1e-2), rng=4)
    (_, two, _) = np.random.default_rng(4).spawn(3)
    prompts = family.sample(8, 20, queries=3, rng=two)
    hidden = model.head.hidden(torch.from_numpy(model.feature(prompts))).flatten(0, 1).numpy()
    y, n = prompts.y_q.ravel(), prompts.y_q.size
    u = np.linalg.solve(hidden.T @ hidden + n * 1e-2 * np.eye(7), hidden.T @ y)
    np.testing.assert_allclose(model.head.u, u, rtol=1e-9)
    assert model.penalty == 1e-2
    assert set(np.unique(model.head.v)) <= {-1.0, 1.0}
    assert model.head.a.abs().max() <= 1
    features = model.feature(prompts)
    assert 0.9 <= np.quantile(np.abs(features), 0.99) <= 1.1
    np.testing.assert_allclose(model.predict(prompts), (hidden @ u).reshape(8, 3), rtol=1e-9)


@pytest.mark.parametrize("noise", [0, "1/4"])
def test_it_learns_he_2_and_finds_its_support(noise):
    """Not a theorem at these sizes: fixed seeds, a wide gap. The error of predicting 0 is 1."""
    family = TaskFamily.random(HE2, 12, 2, noise, rng=1)
    setting = Setting(Gate(4, -6), tokens=256, stage_one=400, stage_two=100)
    model = train(family, setting, rng=2)
    for kind in ("diagonal", "pair"):
        found = recovery(model.gamma, family.support, kind)
        assert found.separated
        assert found.ratio > 10
    assert found.inside.size == 1
    assert found.outside.size == 65
    prompts = family.sample(60, 256, queries=32, rng=3)
    ones = train(family, setting, gamma=initial_gamma(12, "all ones"), rng=2)
    oracle = train(family, setting, gamma=supported_gamma(12, family.support), rng=2)
    errors = [
        float(np.median(((m.predict(prompts) - prompts.target) ** 2).mean(1)))
        for m in (model, oracle, ones)
    ]
    assert errors[0] < 0.4
    assert errors[0] < 2 * errors[1]
    assert errors[2] > 1.5 * errors[0]
    shorter = float(np.median(((model.predict(prompts, 16) - prompts.target) ** 2).mean(1)))
    assert shorter > errors[0]


def test_the_same_seed_gives_the_same_model_and_other_widths_share_stage_one():
    family = TaskFamily(HE2, 3, (0,))
    one, two = (train(family, SMALL, rng=8) for _ in range(2))
    assert torch.equal(one.head.u, two.head.u)
    wide = train(family, replace(SMALL, width=30), rng=8)
    assert torch.equal(one.gamma, wide.gamma)


def test_presets_are_one_algorithm_at_three_sizes():
    assert list(PRESETS) == ["quick", "laptop", "paper"]
    sizes = [(s.tokens, s.stage_one, s.stage_two, s.width) for s in PRESETS.values()]
    assert sizes == sorted(sizes)
    assert {(s.start, s.head) for s in PRESETS.values()} == {("all ones", "kink")}


def test_a_flat_gate_is_warned_of():
    with pytest.warns(OutsideClaimWarning, match="is odd"):
        train(TaskFamily(HE3, 3, (0,)), replace(SMALL, gate=Gate(4, 0)), rng=1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: replace(SMALL, tokens=0), "N = 0"),
        (lambda: replace(SMALL, stage_one=0), "T_1 = 0"),
        (lambda: replace(SMALL, stage_two=-1), "T_2 = -1"),
        (lambda: replace(SMALL, width=0), "width = 0"),
        (lambda: replace(SMALL, queries=True), "queries"),
        (lambda: replace(SMALL, start="zeros"), "start 'zeros' is unknown; choose all ones"),
        (lambda: replace(SMALL, head="tanh"), "head 'tanh' is unknown; choose kink"),
        (lambda: replace(SMALL, eta=0.0), "eta = 0.0"),
        (lambda: replace(SMALL, penalty=float("nan")), "penalty = nan"),
        (lambda: replace(SMALL, eta=1.0, decay=-1.0), "decay = -1.0"),
        (lambda: replace(SMALL, decay=1.0), "needs a step eta"),
        (lambda: initial_gamma(3, "ones"), "start 'ones' is unknown"),
        (lambda: TaskFamily.random(HE2, 3, 5, rng=0), "d = 3 is less than r = 5"),
        (lambda: TaskFamily(HE2, 3, ()), "support = "),
        (lambda: TaskFamily(HE2, 3, (0, 0)), "distinct indices in 0..2"),
        (lambda: TaskFamily(HE2, 3, (3,)), "distinct indices in 0..2"),
        (lambda: TaskFamily(HE2, 3, (0,), -1), "noise = -1"),
        (lambda: TaskFamily(HE2, 0, (0,)), "d = 0"),
        (lambda: TaskFamily(HE2, 3, 1), "must be a list of indices"),
        (lambda: TaskFamily(HE2, 3, (0,)).sample(0, 5), "n = 0"),
        (lambda: TaskFamily(HE2, 3, (0,)).sample(5, 0), "N = 0"),
        (lambda: TaskFamily("exp(1000*z)", 3, (0,)).sample(5, 9, rng=0), "not finite"),
        (lambda: train(TaskFamily(HE2, 3, (0,)), SMALL, device="cuda:9", rng=0), "cuda:9"),
        (lambda: train(TaskFamily(HE2, 3, (0,)), SMALL, gamma=torch.ones(7)), "7 entries"),
        (
            lambda: train(
                TaskFamily(HE2, 3, (0,)), SMALL, gamma=torch.zeros(10, dtype=torch.float64)
            ),
            "nothing was learned",
        ),
        (lambda: recovery(torch.ones(10), [0], "cubic"), "kind 'cubic'"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()
