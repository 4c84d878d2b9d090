"""Training of single layers: it learns, it is reproducible, and refuses bad input at once."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from theoryverify.errors import InputError  # noqa: E402
from theoryverify.exact.densities import Uniform  # noqa: E402
from theoryverify.models.attention import LSA, SA, SoftmaxPredictor, embed  # noqa: E402
from theoryverify.simulate.layers import layer_errors, train_layer  # noqa: E402
from theoryverify.simulate.prompts import sample_prompts  # noqa: E402

torch.set_num_threads(1)
LAW = Uniform(2, 5)


def _layers() -> list[LSA | SA | SoftmaxPredictor]:
    generator = torch.Generator().manual_seed(0)
    return [
        LSA.random(2, generator=generator, scale=0.5),
        SoftmaxPredictor.random(2, 2, generator=generator, scale=0.5),
        SA.random(2, 2, generator=generator, scale=0.5),
    ]


@pytest.mark.parametrize("which", [0, 1, 2], ids=["LSA", "softmax", "SA"])
def test_training_lowers_the_loss_and_is_reproducible(which: int) -> None:
    runs = []
    for _ in range(2):
        layer = _layers()[which]
        losses = train_layer(layer, LAW, 2, context=32, steps=60, batch=64, rate=0.03, rng=1)
        runs.append(losses)
    assert np.array_equal(*runs)
    assert losses.shape == (60,)
    assert losses[-20:].mean() < 0.8 * losses[:5].mean()


def test_errors_are_of_the_prediction_entry_by_entry() -> None:
    prompts = sample_prompts(LAW, 2, 5, 4, rng=2)
    layer = LSA.readout(2)
    found = layer_errors(layer, prompts).numpy()
    for i in range(4):
        slope = prompts.X[i] @ prompts.y[i] / 5
        wanted = slope @ prompts.x_q[i] - prompts.weight[i] @ prompts.x_q[i]
        assert abs(found[i] - wanted) < 1e-13
    whole = layer.predict(
        embed(*(torch.from_numpy(a) for a in (prompts.X, prompts.y, prompts.x_q)))
    )
    assert whole.shape == (4,)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"context": 0}, "context"),
        ({"steps": 0}, "steps"),
        ({"batch": -1}, "batch"),
        ({"rate": 0.0}, "rate"),
        ({"rate": float("nan")}, "rate"),
        ({"device": "cuda:77"}, "device"),
    ],
)
def test_bad_input(change: dict, match: str) -> None:
    sizes = {"context": 8, "steps": 1, "batch": 2, "rate": 0.1, "rng": 0}
    with pytest.raises(InputError, match=match):
        train_layer(_layers()[0], LAW, 2, **(sizes | change))


def test_a_diverged_run_is_no_result() -> None:
    layer = _layers()[0]
    with torch.no_grad():
        layer.W_PV.fill_(1e200)
    with pytest.raises(FloatingPointError, match="step 0"):
        train_layer(layer, LAW, 2, context=8, steps=2, batch=2, rate=0.1, rng=0)
