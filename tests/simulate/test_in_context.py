"""Tasks as token sequences, the loss over prefixes, the curriculum; configurations are read strictly."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from theoryverify.errors import InputError  # noqa: E402
from theoryverify.simulate.icl_config import (  # noqa: E402
    PRESETS,
    Configuration,
    configuration,
    read,
    with_model,
)
from theoryverify.simulate.in_context import (  # noqa: E402
    Curriculum,
    Task,
    as_tokens,
    batches,
    prefix_loss,
)

torch.set_num_threads(1)

# -- prompts ------------------------------------------------------------------------------------


def test_labels_are_the_link_of_the_projection_on_a_fixed_support() -> None:
    task = Task(d=5, r=2)
    found = task.sample(40, 7, rng=0)
    z = np.einsum("nkd,nd->nk", found.X, found.beta)
    assert np.allclose(found.y, (z**3 - 3 * z) / 6**0.5, atol=1e-12)
    assert np.allclose((found.beta**2).sum(1), 1)
    assert (found.beta[:, 2:] == 0).all()
    assert np.abs(found.beta[:, :2]).min() > 0


def test_a_support_per_task_is_uniform_over_the_coordinates() -> None:
    task = Task(d=4, r=1, support="per task")
    found = task.sample(4000, 3, rng=1)
    z = np.einsum("nkd,nd->nk", found.X, found.beta)
    assert np.allclose(found.y, (z**3 - 3 * z) / 6**0.5, atol=1e-12)
    counts = (found.beta != 0).sum(axis=0)
    assert counts.sum() == 4000
    assert np.abs(counts - 1000).max() < 6 * np.sqrt(4000 * 0.25 * 0.75)
    # the inputs stay standard normal, whatever the permutation
    assert abs(found.X.var() - 1) < 6 * np.sqrt(2 / found.X.size)


def test_noise_is_two_valued() -> None:
    clean = Task(d=2, r=2).sample(30, 5, rng=3)
    noisy = Task(d=2, r=2, noise="1/4").sample(30, 5, rng=3)
    assert np.array_equal(clean.X, noisy.X)
    assert np.allclose(np.abs(noisy.y - clean.y), 0.25)


def test_tokens_hold_the_query_and_the_example_before() -> None:
    found = Task(d=3, r=2).sample(4, 6, rng=0)
    z = as_tokens(found.X, found.y)
    assert z.shape == (4, 6, 7)
    assert np.array_equal(z[:, :, :3], found.X)
    assert np.array_equal(z[:, 1:, 3:6], found.X[:, :-1])
    assert np.array_equal(z[:, 1:, 6], found.y[:, :-1])
    assert (z[:, 0, 3:] == 0).all()


def test_no_token_up_to_the_query_holds_its_label() -> None:
    """Changing y_t changes only tokens after t: a causal model cannot cheat."""
    found = Task(d=2, r=2).sample(3, 5, rng=0)
    y = found.y.copy()
    y[:, 2] += 1
    changed = as_tokens(found.X, y) != as_tokens(found.X, found.y)
    assert changed.any(axis=(0, 2)).tolist() == [False, False, False, True, False]


def test_the_loss_is_the_mean_over_all_prefixes() -> None:
    z, y = torch.zeros(2, 3, 5), torch.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]])

    class Ones(torch.nn.Module):
        def forward(self, z: Any) -> Any:
            return torch.ones(z.shape[:2])

    assert prefix_loss(Ones(), z, y).item() == pytest.approx((0 + 1 + 4 + 1 + 0 + 1) / 6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"r": 3, "d": 2}, "r = 3 is larger than d = 2"),
        ({"d": 0}, "d"),
        ({"support": "random"}, "'random'"),
        ({"g": "import os"}, "import"),
        ({"noise": "-1"}, "negative"),
    ],
)
def test_bad_tasks(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Task(**change)


# -- curriculum ---------------------------------------------------------------------------------


def test_the_curriculum_grows_and_pads() -> None:
    plan = Curriculum(d=2, context=5, every=10, d_step=1, context_step=4)
    assert [plan.at(t, 4, 12) for t in (0, 9, 10, 20, 500)] == [
        (2, 5), (2, 5), (3, 9), (4, 12), (4, 12),
    ]  # fmt: skip
    draw = batches(Task(d=4, r=2), 12, 8, plan)
    tokens, labels = draw(10, np.random.default_rng(0))
    assert tokens.shape == (8, 9, 9)
    assert labels.shape == (8, 9)
    assert tokens.dtype == np.float32
    assert (tokens[:, :, 3] == 0).all()  # the fourth coordinate of the query, and of the example
    assert (tokens[:, :, 7] == 0).all()
    assert np.abs(tokens[:, :, 2]).min() > 0


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (Curriculum(d=1, context=5, every=10), "between r = 2 and d = 4"),
        (Curriculum(d=5, context=5, every=10), "between r = 2 and d = 4"),
        (Curriculum(d=2, context=13, every=10), "longer than context = 12"),
    ],
)
def test_bad_curricula(plan: Curriculum, message: str) -> None:
    with pytest.raises(InputError, match=message):
        batches(Task(d=4, r=2), 12, 8, plan)
    with pytest.raises(InputError, match=message):
        Configuration(task=Task(d=4, r=2), context=12, curriculum=plan)


# -- configurations -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("kind", ["mamba", "gpt2"])
def test_presets_are_read_back(name: str, kind: str, tmp_path: Path) -> None:
    settings = with_model(PRESETS[name], kind)
    path = tmp_path / "run.json"
    path.write_text(json.dumps(settings.json()))
    assert read(path) == settings


def test_the_paper_preset_has_the_papers_sizes() -> None:
    mamba, gpt2 = PRESETS["paper"], with_model(PRESETS["paper"], "gpt2")
    assert (mamba.task.d, mamba.task.r, mamba.context) == (32, 8, 64)
    assert (mamba.model.layers, mamba.model.width) == (12, 256)
    assert (gpt2.model.layers, gpt2.model.width) == (6, 256)


def test_toml(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text(
        'steps = 7\n[task]\nd = 8\nr = 3\n[model]\nkind = "gpt2"\n[optimizer]\nrate = 1\n'
        "[curriculum]\nd = 4\ncontext = 8\nevery = 2\n"
    )
    found = read(path)
    assert (found.steps, found.task.d, found.task.r, found.model.kind) == (7, 8, 3, "gpt2")
    assert found.optimizer.rate == 1.0
    assert found.curriculum == Curriculum(4, 8, 2)
    assert found.batch == Configuration().batch  # a default


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"stps": 3}, "unknown key 'stps'; known here: task, model, optimizer, context, steps"),
        ({"task": {"dim": 3}}, "unknown key 'task.dim'; known here: g, d, r, noise, support"),
        ({"optimizer": {"lr": 0.1}}, "unknown key 'optimizer.lr'"),
        ({"task": {"d": 2.0}}, "task.d = 2.0 must be a whole number"),
        ({"task": {"d": True}}, "task.d = True must be a whole number"),
        ({"task": 3}, "task must be a table"),
        ({"steps": "10"}, "steps = '10' must be a whole number"),
        ({"steps": 0}, "steps"),
        ({"compiled": 1}, "compiled = 1 must be true or false"),
        ({"optimizer": {"rate": float("nan")}}, "optimizer.rate = nan must be a finite number"),
        ({"optimizer": {"rate": -1.0}}, "must be positive"),
        ({"optimizer": {"betas": [0.9]}}, "must be a list of 2 numbers"),
        ({"model": {"kind": "rnn"}}, "model.kind 'rnn' is unknown"),
        ({"model": {"kind": "gpt2", "heads": 5}}, "do not divide"),
        ({"context": 1}, "no example before the query"),
        ({"context": 65}, "test_context = 64 must be at least context = 65"),
        ({"precision": "half"}, "precision 'half'"),
        ({"curriculum": {"d": 2}}, "curriculum.context is missing"),
        ([], "must be a table of named values"),
    ],
)
def test_bad_configurations(document: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        configuration(document)


def test_bad_files(tmp_path: Path) -> None:
    broken, binary = tmp_path / "a.json", tmp_path / "b.toml"
    broken.write_text("{")
    binary.write_bytes(b"\xff\xfe\x00")
    for path, message in (
        (broken, "no JSON"),
        (binary, "UTF-8"),
        (tmp_path / "none.json", "cannot read"),
        (tmp_path / "a.yaml", "must end in .json or .toml"),
    ):
        with pytest.raises(InputError, match=message):
            read(path)


def test_gpt2_gets_half_of_the_papers_layers_and_a_lower_rate() -> None:
    quick = PRESETS["quick"]
    other = with_model(quick, "gpt2")
    assert replace(other, model=quick.model, optimizer=quick.optimizer) == quick
    assert other.optimizer.rate < quick.optimizer.rate
    with pytest.raises(InputError, match="'bert'"):
        with_model(quick, "bert")
