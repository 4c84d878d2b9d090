"""Error curves: every method on the same tasks, each against a second way to compute it; the probes."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from theoryverify.errors import InputError  # noqa: E402
from theoryverify.models.gpt2 import GPT2  # noqa: E402
from theoryverify.models.mamba import Mamba  # noqa: E402
from theoryverify.models.sequence import Regressor  # noqa: E402
from theoryverify.simulate import icl_curves as curves  # noqa: E402
from theoryverify.simulate import icl_probe as probe  # noqa: E402
from theoryverify.simulate import icl_test_set as test_set  # noqa: E402
from theoryverify.simulate.in_context import Task, as_tokens  # noqa: E402

torch.set_num_threads(1)

TASK = Task(d=3, r=2)


def model(kind: str, width: int = 8, layers: int = 2, d: int = 3) -> Regressor:
    if kind == "mamba":
        return Regressor(2 * d + 1, Mamba(width, layers, states=4, rng=0), rng=1)
    return Regressor(2 * d + 1, GPT2(width, layers, 2, positions=16, rng=0), rng=1)


# -- the shared test set ------------------------------------------------------------------------


def test_a_smaller_set_is_the_beginning_of_a_larger_one() -> None:
    small, large = test_set.shared_test(TASK, 6, 30), test_set.shared_test(TASK, 6, 260)
    assert np.array_equal(small.X, large.X[:30])
    assert np.array_equal(small.y, large.y[:30])
    assert not np.array_equal(large.X[:10], large.X[250:])
    other = test_set.shared_test(TASK, 6, 30, split="validation")
    assert not np.array_equal(small.X, other.X)


def test_the_query_at_k_sees_k_examples() -> None:
    prompts = test_set.shared_test(TASK, 6, 4)
    at = test_set.query_at(prompts, 2)
    assert at.X.shape == (4, 2, 3)
    assert np.array_equal(at.x_q[:, 0], prompts.X[:, 2])
    assert np.array_equal(at.y_q[:, 0], prompts.y[:, 2])


@pytest.mark.parametrize("kind", ["mamba", "gpt2"])
def test_errors_of_a_model_are_those_of_one_prompt_at_a_time(kind: str) -> None:
    prompts, net = test_set.shared_test(TASK, 7, 5), model(kind)
    errors = test_set.sequence_errors(net, prompts)
    assert errors.shape == (5, 7)
    for i, k in ((0, 3), (4, 6)):
        z = as_tokens(prompts.X[i : i + 1, : k + 1], prompts.y[i : i + 1, : k + 1])
        with torch.no_grad():
            y = net(torch.tensor(z, dtype=torch.float32))[0, k].item()
        assert errors[i, k] == pytest.approx((y - prompts.y[i, k]) ** 2, rel=1e-4, abs=1e-6)


# -- measures and bands -------------------------------------------------------------------------


def test_bad_input() -> None:
    with pytest.raises(InputError, match="'mode'"):
        curves.band(np.ones((1, 2, 3)), "mode")
    with pytest.raises(InputError, match="tasks"):
        test_set.shared_test(TASK, 6, 0)


@pytest.mark.parametrize("noise", ["0", "1/2"])
def test_the_trivial_levels_are_those_of_a_large_sample(noise: str) -> None:
    task = replace(TASK, noise=noise)
    found = curves.trivial_levels(task)
    y = task.sample(400_000, 1, rng=0).y
    assert found["mean"] == pytest.approx(1 + float(Fraction(noise)) ** 2, rel=1e-8)
    for name, of in curves.MEASURES.items():
        assert found[name] == pytest.approx(
            float(of(y**2)[0]), rel=0.03 if name == "mean" else 0.01
        )


def test_measures_by_hand() -> None:
    errors = np.concatenate([np.full(19, 1.0), [100.0]])[:, None]
    found = {name: float(of(errors)[0]) for name, of in curves.MEASURES.items()}
    assert found == {"mean": 5.95, "clipped": (19 + 4) / 20, "trimmed": 1.0, "median": 1.0}


def test_the_band_covers_the_mean_over_tasks_of_the_trained_models() -> None:
    """Over 200 data sets, two seeds with effects of their own, which stay; 95% nominal."""
    rng, hits = np.random.default_rng(5), 0
    seeds = np.array([0.5, 2.0])[:, None, None]
    for _ in range(200):
        errors = seeds * rng.exponential(size=(1, 80, 1))
        _, low, high = curves.band(errors, "mean", draws=80, rng=rng)
        hits += bool(low[0] <= seeds.mean() <= high[0])
        assert high[0] - low[0] < 1  # that of drawn seeds would be 1.5 wide
    assert hits >= 172


def test_an_averaged_band_is_of_the_average() -> None:
    """Independent columns average out within a draw; averaged ends of pointwise bands would not."""
    errors = np.random.default_rng(0).exponential(size=(1, 400, 25))
    _, low, high = curves.band(errors, "mean", draws=200)
    value, a, b = curves.band(errors, "mean", draws=200, averaged=True)
    assert value.tolist() == pytest.approx([errors.mean()])
    assert 0.1 < (b - a)[0] / (high - low).mean() < 0.35  # about 1/5


def test_bands_of_equal_errors_are_points() -> None:
    value, low, high = curves.band(np.ones((2, 30, 2)), "median", draws=20)
    assert value.tolist() == low.tolist() == high.tolist() == [1.0, 1.0]


# -- probes: labels -----------------------------------------------------------------------------


class Theory(torch.nn.Module):
    """The prediction ``g(z) + ε g'(z) Σ_j T(y_j)⟨x_j,x_q⟩`` to first order, for known β."""

    def __init__(self, beta: np.ndarray, transformation: Any) -> None:
        super().__init__()
        self.backbone = model("mamba").backbone
        self.read = torch.nn.Linear(7, 8)
        self.beta = torch.tensor(beta, dtype=torch.float32)
        self.transformation = transformation

    def forward(self, tokens: Any) -> Any:
        self.backbone(self.read(tokens))  # for its hooks
        x, before, y = tokens[..., :3], tokens[..., 3:6], tokens[..., 6]
        z = (x * self.beta[:, None]).sum(-1)
        inner = (x[:, :, :2] @ before[:, :, :2].mT) * self.transformation(y)[:, None]
        slope = (3 * z**2 - 3) / 6**0.5
        return slope * inner.tril().sum(-1)


@pytest.mark.parametrize("gate", [True, False])
def test_the_response_is_the_transformation(gate: bool) -> None:
    def T(y: Any) -> Any:
        return y * torch.sigmoid(y - 2) if gate else torch.tanh(y)

    beta = TASK.sample(400, 16, rng=3).beta
    values = np.sinh(np.linspace(-1, 1, 9) * np.arcsinh(12)) / 2
    found = probe.label_response(
        Theory(beta, T),  # type: ignore[arg-type]
        TASK, 16, prompts=400, values=values, rng=3,
    )  # fmt: skip
    shape = T(torch.tensor(values)).numpy()
    measured = found.transformation
    scale = (measured @ shape) / (shape @ shape)
    assert scale > 0.5  # w is clipped, so a little above 1
    assert np.allclose(measured, scale * shape, atol=1e-5)


@pytest.mark.parametrize("kind", ["mamba", "gpt2"])
def test_an_opening_changes_with_the_label_only_through_the_token(kind: str) -> None:
    net, values = model(kind), np.array([-2.0, 0.0, 3.0])
    found = probe.label_response(net, TASK, 8, prompts=5, values=values, rng=0)
    assert found.opening.shape == (5, 2, 3)
    assert (found.opening > 0).all()
    assert np.allclose(found.change[:, 1], 0)  # the label 0 is what others are compared with
    with torch.no_grad():  # no map from the label: nothing can change
        net.read_in.weight[:, 6] = 0
    blind = probe.label_response(net, TASK, 8, prompts=5, values=values, rng=0)
    assert np.allclose(blind.change, 0)
    assert np.allclose(blind.opening, blind.opening[:, :, :1])
    if kind == "mamba":
        assert (found.opening < 1).all()
    else:  # weights near the start are near uniform: each layer pays about 1/visible
        assert np.abs(found.opening - 1).max() < 0.2
    with pytest.raises(InputError, match="8 or more"):
        probe.label_response(net, TASK, 7, prompts=5, values=values, rng=0)


def test_the_opening_is_the_zero_order_hold() -> None:
    """Δ = softplus(u) and A = -1 give ``1 - exp(-Δ) = σ(u)``: the gate of the theory."""
    net = model("mamba", layers=1)
    mixer: Any = net.backbone.layers[0].mixer  # type: ignore[index, union-attr]
    with torch.no_grad():
        mixer.A_log.zero_()
        mixer.dt_proj.weight.zero_()
        mixer.dt_proj.bias.fill_(-1.5)
    found = probe.label_response(net, TASK, 8, prompts=3, values=np.array([1.0]), rng=0)
    assert np.allclose(found.opening, 1 / (1 + math.exp(1.5)), atol=1e-6)


# -- probes: alignment --------------------------------------------------------------------------


def test_alignment_is_one_for_a_coordinate_and_none_for_one_of_hidden_sign() -> None:
    task = Task(d=1, r=1)
    net = Regressor(3, Mamba(16, 1, states=4, rng=0), rng=1)
    hidden = [task.sample(n, 8, rng=n) for n in (500, 400)]
    open_ = [replace(p, beta=np.abs(p.beta)) for p in hidden]
    known = probe.alignment(net, *open_, [2, 7], penalty=1e-6)
    unknown = probe.alignment(net, *hidden, [2, 7])
    assert known.guess.shape == (2, 2, 400)
    assert np.array_equal(known.target, open_[1].X[:, [2, 7], 0].T)
    assert known.explained[0].min() > 0.99
    assert unknown.explained[0].max() < 0.1


def test_streams_do_not_depend_on_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    net = model("gpt2", layers=2)
    seen, unseen = TASK.sample(30, 8, rng=0), TASK.sample(20, 8, rng=1)
    whole = probe.alignment(net, seen, unseen, [1, 5])
    monkeypatch.setattr(probe, "_PIECE", 7)
    pieces = probe.alignment(net, seen, unseen, [1, 5])
    assert np.allclose(whole.guess, pieces.guess, atol=1e-5)
