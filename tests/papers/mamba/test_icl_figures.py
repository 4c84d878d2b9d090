"""``mamba.icl_curves`` and ``mamba.training``: the tables, the pictures, and that trainings are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")
pytest.importorskip("matplotlib")

from tests.figure_checks import assert_captioned, assert_tidy, axes_of, canvas_of
from theoryverify.figures import Plan, Table
from theoryverify.papers.mamba.experiments import cells_icl, icl, icl_trainings
from theoryverify.papers.mamba.experiments import training as base_training
from theoryverify.papers.mamba.experiments.icl_sizes import CHANGES, SIZES, Sizes
from theoryverify.papers.mamba.figures.icl_curves import ICL_CURVES, LOOKS
from theoryverify.papers.mamba.figures.training import TRAINING
from theoryverify.simulate import icl_estimate, icl_training
from theoryverify.simulate.icl_config import Configuration, Model
from theoryverify.simulate.icl_labels import hermite_profile, label_masses, label_values

_QUICK = SIZES["quick"]
TINY = Sizes(
    replace(
        _QUICK.base, model=Model("mamba", width=8, layers=1, states=4), steps=4, batch=4,
        context=12, test_context=18, test_tasks=40, observe_every=2,
    ),
    d=3, r=2, context=8, seeds=2, probes=12, kernel_tasks=25,
)  # fmt: skip


@pytest.fixture(scope="module")
def curves() -> Mapping[str, Table]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(icl, "CLASSICAL", (3, 40))
        patch.setattr(icl, "KERNEL_SIZES", [8, 16, 32])
        patch.setattr(icl, "_BAND_DRAWS", 30)
        return icl.icl_tables(Plan(), TINY)


@pytest.fixture(scope="module")
def training() -> Mapping[str, Table]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base_training, "_DRAWS", 30)
        return base_training.training_tables(Plan(), TINY)


# -- curves -------------------------------------------------------------------------------------


def test_every_method_meets_every_change(curves: Mapping[str, Table]) -> None:
    table = curves["curves"]
    methods = {"Mamba", "GPT-2", "kernel ridge", "kernel ridge, oracle", "one-layer theory"}
    assert set(table.distinct("change")) == set(CHANGES)
    for change, d, r, N in (
        ("base", 2, 1, 12),
        ("d", 3, 1, 12),
        ("r", 2, 2, 12),
        ("N_pt", 2, 1, 8),
    ):
        rows = table.where(change=change)
        assert (rows.distinct("d"), rows.distinct("r")) == ([d], [r])
        assert rows.distinct("N_pt") == [N]
        assert set(rows.distinct("method")) == methods | {"support and link known"}
        for measure in ("mean", "clipped", "trimmed", "median"):
            own = rows.where(measure=measure, method="Mamba")
            sizes = own.numbers("examples")
            assert sizes[0] == 1
            assert sizes[-1] == 17  # beyond N_pt
            assert N - 1 in sizes
            assert (own.numbers("lower") <= own.numbers("error")).all()
            assert (own.numbers("error") <= own.numbers("upper")).all()


def test_measures_are_ordered(curves: Mapping[str, Table]) -> None:
    by = {
        m: curves["curves"].where(measure=m).numbers("error")
        for m in ("mean", "clipped", "trimmed")
    }
    assert (by["clipped"] <= by["mean"] + 1e-12).all()
    assert (by["trimmed"] <= by["mean"] + 1e-12).all()


def test_who_knows_more_does_better(curves: Mapping[str, Table]) -> None:
    rows = curves["curves"].where(change="base", measure="median", examples=17)
    known = rows.where(method="support and link known").numbers("error")[0]
    assert known < 1e-10
    mean = curves["curves"].where(change="r", measure="mean")
    tuned = mean.where(method="kernel ridge, oracle").numbers("error")
    assert (tuned <= mean.where(method="kernel ridge").numbers("error") + 1e-12).all()


def test_the_kernel_alone_at_another_r(curves: Mapping[str, Table]) -> None:
    rows = curves["kernel"].where(measure="median", method="kernel ridge, oracle")
    assert rows.distinct("r") == [3]
    assert rows.column("examples") == [8, 16, 32]
    assert rows.numbers("error")[-1] < rows.numbers("error")[0]


def test_the_picture_of_curves(curves: Mapping[str, Table]) -> None:
    canvas = canvas_of(ICL_CURVES, curves)
    assert [axis.get_title(loc="left") for axis in canvas.axes] == [
        "(a) $d=2$ (solid), 3 (dashed)",
        "(b) $r=1$ (solid), 2 (dashed)",
        r"(c) $N_{\mathrm{pt}}=12$ (solid), 8 (dashed)",
    ]
    assert {labels[0] for labels in axes_of(canvas)} == {"examples in context"}
    assert all(axis.get_ylim() == (0, 1.3) for axis in canvas.axes)
    (legend,) = canvas.legends
    assert [text.get_text() for text in legend.get_texts()] == list(LOOKS)
    assert canvas.get_suptitle() == "preset quick: 4 steps of 4 tasks, 2 seeds"
    assert_tidy(canvas)
    assert_captioned(ICL_CURVES, curves)


# -- training -----------------------------------------------------------------------------------


def test_tables_of_training(training: Mapping[str, Table]) -> None:
    steps = training["training"].where(model="Mamba", measure="median").column("step")
    assert steps == [0, 2, 4]
    opening = training["opening"]
    for name in ("Mamba", "GPT-2"):
        rows = opening.where(model=name, seed=1, layer=1)
        masses = label_masses(TINY.base.task, rows.numbers("y"))
        assert masses @ rows.numbers("opening") == pytest.approx(1)
        assert (rows.numbers("lower") <= rows.numbers("upper")).all()
    profile = training["profile"]
    assert profile.where(transformation="y").numbers("coefficient") == pytest.approx(
        [0, 0, 0, 1, 0], abs=1e-9
    )
    best = profile.where(transformation="E[z|y]", k=1).numbers("coefficient")[0]
    assert np.abs(profile.where(k=1).numbers("coefficient")).max() == pytest.approx(best)
    assert training["alignment"].where(model="Mamba").distinct("layer") == [0, 1]
    fits = training["fits"].where(model="Mamba", seed=0, layer=1)
    assert fits.column("gate") == ["σ(y/ρ+b)", "σ(|y|/ρ+b)"]
    response = training["response"]
    assert response.where(transformation="y", y=3.0).numbers("T")[0] == pytest.approx(3)
    assert (response.numbers("lower") <= response.numbers("upper"))[:50].all()


def test_fitted_gates_stand_beside_the_theorys(training: Mapping[str, Table]) -> None:
    gates = training["gates"]
    assert set(gates.distinct("transformation")) == {"Mamba", "GPT-2", *base_training.THEORY}
    assert gates.where(transformation="y σ(y-2)").numbers("coefficient") == pytest.approx(
        training["profile"].where(transformation="y σ(y-2)").numbers("coefficient")
    )
    own = gates.where(transformation="GPT-2", seed=1, layer=1)
    assert own.column("k") == [0, 1, 2, 3, 4]
    assert (own.numbers("lower") <= own.numbers("upper")).all()


def test_a_layer_with_the_theorys_gate_has_its_coefficients() -> None:
    values = label_values(TINY.base.task)
    run = {
        "values": values,
        "opening": np.tile(0.1 / (1 + np.exp(2 - values)), (6, 1, 1)),
        "change": np.tile(values, (6, 1)),
        "weight": np.ones(6),
    }
    task = TINY.base.task
    rows = list(base_training._gates(base_training.Seen.of(("Mamba", 1), run, task), task))
    exact = hermite_profile(TINY.base.task, base_training.THEORY["y σ(y-2)"], 4)
    assert [row[:3] for row in rows] == [("Mamba", 1, 1)] * 5
    assert all(row[3] > 0.999 for row in rows)
    assert [row[5] for row in rows] == pytest.approx(exact, abs=0.03)
    assert all(row[6] == pytest.approx(row[7]) == pytest.approx(row[5]) for row in rows)


def test_the_picture_of_training(training: Mapping[str, Table]) -> None:
    canvas = canvas_of(TRAINING, training)
    assert [axis.get_xlabel() for axis in canvas.axes] == [
        "step", "examples in context", *2 * ["label $y$ in a token"], *2 * ["degree $k$"],
        "label $y$ of an example", "degree $k$",
    ]  # fmt: skip
    assert_tidy(canvas, labels_beside=True)
    assert_captioned(TRAINING, training)


# -- what is kept -------------------------------------------------------------------------------


def test_trainings_are_shared_and_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beyond ``quick`` a run is stored, with checkpoints beside, and not trained again."""
    plan = Plan("laptop", store=str(tmp_path))
    first = icl_trainings.trainings(plan, TINY, ("base",))
    assert "mamba.icl: 4 trainings to do, about" in capsys.readouterr().err
    folders = list((tmp_path / "training").iterdir())
    assert len(folders) == 4  # two models, two seeds
    assert all((folder / "step-000000004").is_dir() for folder in folders)

    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(cells_icl, "trained", never)
    again = icl_trainings.trainings(plan, TINY, ("base",))
    assert "to do" not in capsys.readouterr().err
    for key, runs in first.items():
        for one, two in zip(runs, again[key], strict=True):
            assert np.array_equal(one["errors"], two["errors"])


def test_a_model_that_is_tested_and_probed_is_trained_once(monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[object] = []
    honest = icl_training.train_in_context

    def count(settings: Configuration, **how: Any) -> icl_training.Trained:
        trained.append(settings)
        return honest(settings, **how)

    monkeypatch.setattr(icl_training, "train_in_context", count)
    cells_icl.model.cache_clear()
    sizes = replace(TINY, seeds=1)
    icl_trainings.trainings(Plan(), sizes, ("base",))
    icl_trainings.probes(Plan(), sizes)
    assert len(trained) == len(set(trained)) == 2  # Mamba and GPT-2


def test_what_is_left_of_trainings_is_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Steps done are not counted; with two processes it takes half of the time."""
    plan, (*_, run) = Plan("laptop", store=str(tmp_path), jobs=2), TINY.runs()[0]
    asked: list[int | None] = []

    def timed(settings: object, *, device: str, threads: int | None) -> float:
        asked.append(threads)
        return 100.0

    monkeypatch.setattr(icl_estimate, "step_seconds", timed)
    icl_trainings.announce(plan, [run, replace(run, seed=1)])
    assert "2 trainings to do, about 6.7 minutes here, 2 at a time" in capsys.readouterr().err
    assert asked == [1]
    icl_trainings.announce(plan, [replace(run, seed=seed) for seed in range(3)])
    assert "3 trainings to do, about 13.3 minutes here, 2 at a time" in capsys.readouterr().err
    folder = icl_trainings.checkpoints(icl_trainings.runner(plan), run)
    assert folder is not None
    (folder / "step-000000003").mkdir(parents=True)
    icl_trainings.announce(plan, [run])
    assert "1 training to do, about 100 seconds here, 1 at a time" in capsys.readouterr().err
    (folder / "step-000000004").mkdir()
    icl_trainings.announce(plan, [run])
    assert capsys.readouterr().err == ""
    # on a GPU processes take turns; of a cluster nothing is known
    icl_trainings.announce(
        replace(plan, device="cuda"), [replace(run, seed=seed) for seed in (1, 2)]
    )
    assert "about 13.3 minutes here, 1 at a time" in capsys.readouterr().err
    icl_trainings.announce(replace(plan, jobs=1, cluster="tcp://host:1"), [run])
    assert capsys.readouterr().err == "mamba.icl: 1 training to do\n"


def test_a_checkpoint_of_other_code_is_another_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    from theoryverify.simulate import code

    name = icl_trainings.training_name(TINY.base)
    assert name == icl_trainings.training_name(TINY.base)
    assert name != icl_trainings.training_name(replace(TINY.base, seed=1))
    monkeypatch.setattr(code, "fingerprint", lambda modules: {"theoryverify.models.mamba": "0"})
    assert icl_trainings.training_name(TINY.base) != name


def test_seeds_are_shown_one_by_one(
    curves: Mapping[str, Table], training: Mapping[str, Table]
) -> None:
    """The band's value is their mean."""
    chosen = {"change": "base", "method": "GPT-2", "measure": "clipped", "examples": 11}
    single = curves["seeds"].where(**chosen).numbers("error")
    assert len(single) == 2
    assert single.mean() == pytest.approx(curves["curves"].where(**chosen).numbers("error")[0])
    at = {"model": "Mamba", "measure": "mean", "step": 4}
    single = training["seeds"].where(**at).numbers("error")
    assert single.mean() == pytest.approx(training["training"].where(**at).numbers("error")[0])


@pytest.mark.parametrize("preset", SIZES)
def test_every_run_of_every_preset_can_be_made(preset: str) -> None:
    sizes = SIZES[preset]
    runs = sizes.runs()
    assert len(runs) == 2 * len(CHANGES) * sizes.seeds
    assert len({str(run) for *_, run in runs}) == len(runs)
    for change, kind, _, run in runs:
        assert run.model.kind == kind
        assert (run.task.d, run.task.r, run.context) == (
            sizes.d if change == "d" else sizes.base.task.d,
            sizes.r if change == "r" else sizes.base.task.r,
            sizes.context if change == "N_pt" else sizes.base.context,
        )
    with pytest.raises(ValueError, match="'N'"):
        sizes.run("N", "mamba", 0)


def test_seeds_differ_and_the_plan_moves_them() -> None:
    runs = icl_trainings.trainings(Plan(), TINY, ("base",))["base", "mamba"]
    assert not np.array_equal(runs[0]["errors"], runs[1]["errors"])
    moved = icl_trainings.trainings(Plan(seed=1), TINY, ("base",))["base", "mamba"]
    assert np.array_equal(moved[0]["errors"], runs[1]["errors"])
