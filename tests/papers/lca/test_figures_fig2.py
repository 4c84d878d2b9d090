"""``lca.fig2``: trained models, floors, the explosion, and the picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from tests.figure_checks import assert_captioned, assert_tidy, axes_of, canvas_of
from theoryverify.errors import InputError
from theoryverify.figures import Plan, Table
from theoryverify.figures.cells import Cells
from theoryverify.papers.lca.experiments import cells_fig2 as cells
from theoryverify.papers.lca.experiments import fig2 as experiments
from theoryverify.papers.lca.experiments.sizes_fig2 import SIZES
from theoryverify.papers.lca.explosion import excess_at_least
from theoryverify.papers.lca.figures.fig2 import FIG2, LOOKS
from theoryverify.papers.lca.laws import UNIFORM
from theoryverify.papers.lca.loss import excess_loss
from theoryverify.papers.lca.wishart import mean_excess

pytest.importorskip("matplotlib")
torch = pytest.importorskip("torch")

SMALL = replace(
    SIZES["quick"],
    train_context=32,
    batch=8,
    steps=6,
    layer_steps=6,
    softmax_batch=4,
    softmax_steps=4,
    literal_contexts=(32, 64),
    literal_prompts=40,
    softmax_contexts=(32, 64),
    softmax_prompts=20,
    law_prompts=500,
    contexts=(32, 10**4, 10**9),
    bayes_contexts=(32, 256),
    bayes_prompts=100,
    depths=(1, 2, 5, 8, 12, 16),
    depth_context=64,
    map_contexts=(16, 64),
)


@lru_cache
def tables() -> Mapping[str, Table]:
    return experiments.fig2_tables(Plan(), SMALL)


def test_every_model_was_trained() -> None:
    trained = tables()["trained"]
    shown = [*experiments.SHOWN, ("CA", 2), ("CA", 5)]
    assert list(zip(trained.column("model"), trained.column("T"), strict=True)) == shown
    for row in trained.rows:
        if row[0] in cells.STACKS:
            assert abs(float(str(row[2])) - cells.START) > 1e-3
            assert (row[2] == str(row[3])[1:]) == (row[0] == "LCA1")
        else:
            assert row[2] is None


def test_training_lowers_the_loss_of_a_layer() -> None:
    recipe = cells.Recipe("LSA", 1, 4, 64, 64, 150, 0.03)
    weights = cells.trained(recipe, UNIFORM, "cpu", np.random.default_rng(0))
    assert weights["losses"][-30:].mean() < 0.4 * weights["losses"][:5].mean()
    again = cells.trained(recipe, UNIFORM, "cpu", np.random.default_rng(0))
    assert all(np.array_equal(weights[name], again[name]) for name in weights)


def test_stacks_have_their_exact_limit_and_mean() -> None:
    trained, theory = tables()["trained"], tables()["theory"]
    for model, depth in (("LCA1", 8), ("LCA2", 2), ("CA", 5)):
        (row,) = trained.where(model=model, T=depth).rows
        exact = excess_loss(UNIFORM, str(row[2]), str(row[3]), depth=depth, digits=12).excess
        assert row[4] == pytest.approx(float(exact), rel=1e-9)
    (row,) = trained.where(model="LCA2", T=2).rows
    for L in SMALL.contexts:
        exact = mean_excess(
            UNIFORM, dim=10, context=L, depth=2, alpha=str(row[2]), beta=str(row[3]), digits=9
        )
        (mean,) = theory.where(kind="LCA2", T=2, L=L).numbers("excess")
        assert mean == pytest.approx(float(exact), rel=1e-8)
        (seen,) = tables()["risk"].where(model="LCA2", T=2, L=L, method="in law").rows
        # Three times the 99% half-width: 7.7 standard errors.
        assert abs(float(str(seen[4])) - mean) <= 3 * (float(str(seen[6])) - float(str(seen[4])))


def test_layers_in_law_reach_their_limit() -> None:
    (limit,) = tables()["trained"].where(model="LSA").numbers("limit_excess")
    (row,) = tables()["risk"].where(model="LSA", L=10**9, method="in law").rows
    spread = 3 * (float(str(row[6])) - float(str(row[4])))
    assert abs(float(str(row[4])) - limit) <= spread


def test_every_simulated_point_has_its_interval() -> None:
    for name in ("risk", "depth"):
        table = tables()[name]
        simulated = np.array([n is not None for n in table.column("prompts")])
        low, mid, high = (table.numbers(f"excess{e}") for e in ("_lower", "", "_upper"))
        assert np.all((low < mid)[simulated])
        assert np.all((mid < high)[simulated])
    risk = tables()["risk"]
    assert set(risk.column("method")) == {"literal", "in law"}
    assert risk.where(model="CA", method="in law").rows == ()
    assert risk.where(model="LSA", method="literal").column("prompts") == [400, 400]


def test_floors() -> None:
    (row,) = tables()["bayes"].rows
    assert row == pytest.approx((0.305430243958051688, 0.0366750191998430484), rel=1e-12)
    ols = tables()["theory"].where(kind="OLS")
    expected = [0.305430243958 * 10 / (L - 11) for L in SMALL.contexts]
    np.testing.assert_allclose(ols.numbers("excess"), expected, rtol=1e-9)
    rule = tables()["theory"].where(kind="Bayes rule")
    assert rule.numbers("excess_upper")[0] < ols.numbers("excess")[0]


def test_depth() -> None:
    depth = tables()["depth"]
    bias = depth.where(kind="bias")
    assert bias.numbers("excess")[0] == pytest.approx(0.03667501919984, rel=1e-9)
    assert bias.where(T=5).numbers("excess")[0] == pytest.approx(1.03782938674e-5, rel=1e-9)
    assert np.all(np.diff(bias.numbers("excess")) < 0)
    for L in (experiments.SHORT, SMALL.depth_context):
        exact = depth.where(kind="exact", L=L)
        assert exact.column("T") == [1, 2, 5, 8]
        assert np.all(exact.numbers("excess") > bias.numbers("excess")[:4])
    least = depth.where(kind="at least")
    assert least.column("T") == [2, 8, 12, 16]
    exact = depth.where(kind="exact", L=experiments.SHORT, T=8)
    assert least.where(T=8).numbers("excess")[0] < exact.numbers("excess")[0]


def test_map_of_the_explosion() -> None:
    table = tables()["map"]
    law, step = UNIFORM, 2 / (UNIFORM.lower + UNIFORM.upper)
    for L, depth in zip(SMALL.map_contexts, table.where(kind="explodes").column("T"), strict=True):
        assert isinstance(depth, int)
        here, before = (
            float(excess_at_least(law, context=L, depth=T, alpha=step, digits=9))
            for T in (depth, depth - 2)
        )
        assert before <= 1 - 0.305430243958 < here
    line = table.where(kind="threshold")
    np.testing.assert_allclose(line.numbers("T") / line.numbers("L"), 0.11725, atol=1e-5)
    enough = table.where(kind="enough")
    assert np.all(np.diff(enough.numbers("T")) >= 0)
    L, depth = enough.numbers("L")[-1], int(enough.numbers("T")[-1])
    floor = 0.305430243958 * 10 / (L - 11)
    biases = [float(excess_loss(law, step, depth=T).excess) for T in (depth - 1, depth)]
    assert biases[1] <= floor < biases[0]


def test_bad_input() -> None:
    with pytest.raises(InputError, match="model 'GPT' is unknown; choose one of LSA"):
        cells.Recipe("GPT", 1, 3, 8, 8, 4, 0.1)
    with pytest.raises(InputError, match="cuda:7"):
        cells.trained(
            cells.Recipe("LCA1", 2, 3, 8, 8, 4, 0.1), UNIFORM, "cuda:7", np.random.default_rng(0)
        )


def test_cells_are_stored_and_a_damaged_one_is_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from theoryverify.simulate.store import StoreWarning

    monkeypatch.setenv("THEORYVERIFY_STORE", str(tmp_path / "store"))
    calls: list[float] = []

    def function(rng: np.random.Generator) -> dict[str, np.ndarray]:
        calls.append(float(rng.random()))
        return {"x": np.array(calls[-1])}

    def run() -> float:
        runner = Cells(
            "lca.fig2", Plan("laptop", seed=3), ("theoryverify.papers.lca.experiments.cells_fig2",)
        )
        return float(runner.compute({"L": 32}, function)["x"])

    first = run()
    assert run() == first
    assert len(calls) == 1
    assert "lca.fig2, cell 1" in capsys.readouterr().err
    (file,) = (tmp_path / "store").rglob("0.npy")
    file.write_bytes(file.read_bytes()[:-3])
    with pytest.warns(StoreWarning):
        assert run() == first
    assert len(calls) == 2
    quick = Cells("lca.fig2", Plan("quick", seed=3), ())
    assert float(quick.compute({"L": 32}, function)["x"]) == first


def test_picture() -> None:
    canvas = canvas_of(FIG2, tables())
    length, excess = r"context length $L_{\mathrm{te}}$", "excess over the Bayes risk"
    assert axes_of(canvas) == [
        (length, r"test error $E(y_q-\hat y_q)^2/E\zeta^2$", "log", "linear"),
        (length, excess, "log", "log"),
        ("depth $T$", excess, "linear", "log"),
        (length, "depth $T$", "log", "log"),
    ]
    for part in ("color", "marker"):
        assert len({getattr(look, part) for look in LOOKS.values()}) == len(LOOKS)
    theory = tables()["theory"].where(kind="LCA1", T=8).numbers("excess")
    assert any(np.array_equal(line.get_ydata(), theory) for line in canvas.axes[1].lines)
    for axis in canvas.axes[:3]:
        assert axis.containers
        assert all(bar.has_yerr for bar in axis.containers)
    assert_tidy(canvas, labels_beside=True)
    assert_captioned(FIG2, tables())
