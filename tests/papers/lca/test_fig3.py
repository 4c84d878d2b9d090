"""``lca.fig3``: what is trained and drawn, beside exact descent from the same weights."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from tests.figure_checks import assert_captioned, assert_tidy, axes_of, canvas_of
from theoryverify.figures import Plan, Table
from theoryverify.papers.lca.experiments import cells_fig3 as cells
from theoryverify.papers.lca.experiments import fig3 as experiments
from theoryverify.papers.lca.figures.fig3 import FIG3
from theoryverify.papers.lca.untied_context import context_form, descend

for module in ("matplotlib", "torch", "scipy"):
    pytest.importorskip(module)
from theoryverify.models.untied import UntiedWeights  # noqa: E402

SIZES = experiments.Sizes(2, 32, 100, steps=20, rate=0.02, adam_steps=20, adam_rate=3e-3)
TINY = experiments.Sizes(1, 8, 10, steps=3, rate=0.02, adam_steps=3, adam_rate=3e-3)
LIMIT = 2 / 7


@lru_cache
def runs() -> list[experiments.Run]:
    return experiments.trained_runs(Plan(), SIZES)


@lru_cache
def tables() -> Mapping[str, Table]:
    return {
        **experiments.training_tables(runs(), SIZES),
        "flow": experiments.flow_table(),
        "marks": experiments.marks_table(),
    }


def test_every_parametrisation_starts_at_the_same_traces() -> None:
    for start, centre in (("at", LIMIT), ("half", LIMIT / 2)):
        alpha, beta = cells.start_at(start, 1)
        assert np.abs(alpha - centre).max() < 6 * cells.NOISE
        for run in runs():
            if (run.start, run.seed) != (start, 1):
                continue
            # A diagonal's trace is off by 0.02/d times a standard normal number.
            slack = 1e-12 if run.kind == "scalar" else 7 * cells.NOISE / cells.DIM
            assert np.abs(run.alpha[0] - alpha).max() <= slack
            assert np.abs(run.beta[0] - beta).max() <= slack


def test_the_untrained_weight_is_not_trained() -> None:
    for run in runs():
        assert np.ptp(run.beta[:, 0]) == 0  # F_0 = 0
        assert np.ptp(run.alpha[:, 0]) > 0


def test_runs_are_reproducible() -> None:
    one, two = (experiments.trained_runs(Plan(), TINY) for _ in range(2))
    other = experiments.trained_runs(Plan(seed=5), TINY)
    assert all(np.array_equal(a.alpha, b.alpha) for a, b in zip(one, two, strict=True))
    assert not any(np.array_equal(a.alpha, b.alpha) for a, b in zip(one, other, strict=True))


def test_a_stored_run_is_not_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(store=str(tmp_path))
    one = experiments.trained_runs(plan, TINY)
    monkeypatch.setattr(UntiedWeights, "around", None)
    two = experiments.trained_runs(plan, TINY)
    for a, b in zip(one, two, strict=True):
        assert (a.optimizer, a.kind, a.start, a.seed) == (b.optimizer, b.kind, b.start, b.seed)
        for part in ("times", "alpha", "beta", "whitening"):
            assert np.array_equal(getattr(a, part), getattr(b, part))


def test_exact_descent_starts_where_training_starts() -> None:
    form = context_form(cells.LAW, cells.DIM, cells.CONTEXT, cells.DEPTH)
    begun = [cells.start_at("half", seed) for seed in range(2)]
    ended = [descend(form, *at, rate=SIZES.rate, steps=SIZES.steps) for at in begun]
    rows = tables()["layers"].where(optimizer="sgd", start="half")
    exact, start = rows.where(kind=experiments.EXACT), rows.where(kind=experiments.START)
    for name, side in (("alpha", 0), ("beta", 1)):
        mean = np.mean([at[side] for at in ended], axis=0)
        assert np.array_equal(exact.numbers(f"{name}_mean"), mean)
        assert np.array_equal(
            start.numbers(f"{name}_mean"), np.mean([at[side] for at in begun], axis=0)
        )
    assert not tables()["layers"].where(optimizer="adam", kind=experiments.EXACT).rows
    raw = tables()["runs"].where(optimizer="adam", kind="full", start="half", seed=0)
    assert np.array_equal(raw.numbers("alpha_start"), begun[0][0])


def test_training_follows_exact_descent_and_not_the_other_start() -> None:
    """Descriptive: twenty steps of noise are far below the distance of the starts."""
    layers = tables()["layers"].where(optimizer="sgd")
    exact = layers.where(kind=experiments.EXACT, start="at").numbers("alpha_mean")
    for kind in experiments.KINDS:
        near = layers.where(kind=kind, start="at").numbers("alpha_mean")
        far = layers.where(kind=kind, start="half").numbers("alpha_mean")
        assert np.abs(near - exact).max() < 0.03 < np.abs(far - exact).min()


def test_bands_are_the_range_of_the_seeds() -> None:
    for kind in experiments.KINDS:
        one = {"optimizer": "adam", "kind": kind, "start": "at", "layer": 3}
        raw = tables()["runs"].where(**one).numbers("alpha")
        (row,) = tables()["layers"].where(**one).rows
        assert row[4:7] == (raw.min(), raw.mean(), raw.max())
    for low, mid, high in zip(
        *(tables()["whitening"].numbers(c) for c in ("low", "mean", "high")), strict=True
    ):
        assert low <= mid + 1e-15
        assert mid <= high + 1e-15


def test_whitening_of_the_tied_stack() -> None:
    rows = tables()["whitening"].where(kind=experiments.TIED_LIMIT).numbers("mean")
    d, e_z = cells.DIM, 1 - LIMIT * 3.5
    second = (e_z**2 + LIMIT**2 * 0.75) / d + (d - 1) / d * (1 - LIMIT) ** 2  # Var Z = 3/4
    assert rows[0] == pytest.approx(second**0.5, rel=1e-12)
    finite = tables()["whitening"].where(kind=experiments.TIED).numbers("mean")
    assert np.all(finite > rows)


def test_flow_ends_at_the_certified_optimum_and_leaves_late() -> None:
    flow, marks = tables()["flow"], tables()["marks"]
    for context in (cells.CONTEXT, None):
        for start in cells.STARTS:
            rows = flow.where(start=start, context=context)
            assert np.all(np.diff(rows.numbers("excess")) <= 1e-15)
            for column, mark in (("excess", "best_excess"), ("alpha_mean", "best_mean_trace")):
                (best,) = marks.where(mark=mark, context=context).numbers("value")
                assert rows.numbers(column)[-1] == pytest.approx(best, rel=2e-2)
    early = flow.where(start="half", context=None)
    assert early.numbers("alpha_mean")[early.numbers("time") <= 10].max() < 0.16


def test_marks() -> None:
    values = {row[:2]: row[2] for row in tables()["marks"].rows}
    assert values["alpha_limit", None] == LIMIT
    assert values["untied_limit", None] == pytest.approx(10**-0.5)
    assert values["best_mean_trace", 1024] < 0 < LIMIT < values["best_mean_trace", None]
    assert values["best_whitening", 1024] > 0.6 > 0.05 > values["best_whitening", None]


WHITE = r"$\Vert XF_{}^{{\top}}/L-I\Vert_F/\sqrt{{d}}$"
FLOW = "time of the gradient flow"
SKIP = ("layer $t$", r"$\widehat{\alpha}_t=\mathrm{tr}\,W^S_t/d$", "linear", "linear")
MIX = ("layer $t$", r"$-\widehat{\beta}_t=-\mathrm{tr}\,W^V_t/d$", "linear", "linear")
AXES = [
    *(SKIP, MIX) * 2,
    ("layer $t$", WHITE.format("t"), "linear", "log"),
    ("layer $t$", "", "linear", "log"),
    (FLOW, r"mean of $\widehat{\alpha}_t$ over layers", "log", "linear"),
    (FLOW, WHITE.format("T"), "log", "log"),
]


def test_picture() -> None:
    canvas = canvas_of(FIG3, tables())
    assert axes_of(canvas) == AXES
    assert_tidy(canvas)
    assert_captioned(FIG3, tables())
    rows = tables()["flow"].where(start="at", context=None)
    wanted = rows.numbers("alpha_mean")[1:]
    assert any(np.array_equal(line.get_ydata(), wanted) for line in canvas.axes[6].lines)
    for axis, optimizer in ((canvas.axes[1], "sgd"), (canvas.axes[3], "adam")):
        kinds = tables()["layers"].where(optimizer=optimizer, kind="full", start="half")
        marks = [line for line in axis.lines if line.get_marker() == "^"]
        assert any(np.array_equal(line.get_ydata(), -kinds.numbers("beta_mean")) for line in marks)
        assert axis.get_ylim() == canvas.axes[0 if optimizer == "sgd" else 2].get_ylim()
