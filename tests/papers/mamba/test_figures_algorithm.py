"""The four figures of the one-layer theory: the data drawn, labels and axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from tests.figure_checks import assert_captioned, assert_tidy, axes_of, canvas_of
from theoryverify.errors import InputError
from theoryverify.exact.gate import Gate
from theoryverify.figures import Figure, Plan, Table
from theoryverify.papers.mamba.experiments import cells_sample_complexity as cells
from theoryverify.papers.mamba.experiments import forgetting
from theoryverify.papers.mamba.experiments import sample_complexity as complexity
from theoryverify.papers.mamba.experiments import support_recovery as support
from theoryverify.papers.mamba.experiments import test_time_feature as feature
from theoryverify.papers.mamba.figures import (
    FORGETTING,
    SAMPLE_COMPLEXITY,
    SUPPORT_RECOVERY,
    TEST_TIME_FEATURE,
    figures,
)
from theoryverify.papers.mamba.links import HE2, HE3, HE4, MIX
from theoryverify.papers.mamba.one_step import one_step_feature
from theoryverify.papers.mamba.population import Population

pytest.importorskip("matplotlib")
pytest.importorskip("torch")

B_STEP = Fraction(4)


@lru_cache
def forgetting_tables() -> Mapping[str, Table]:
    sizes = forgetting.Sizes((B_STEP, B_STEP), (64, 1024), (-4,), 2000)
    return forgetting.forgetting_tables(Plan(), sizes)


@lru_cache
def feature_tables() -> Mapping[str, Table]:
    sizes = feature.Sizes(60, (8, 32, 128), (6, 10, 20, 40), (64,), 200)
    return feature.test_time_feature_tables(Plan(), sizes)


@lru_cache
def support_tables() -> Mapping[str, Table]:
    sizes = support.Sizes(6, 2, -4, (16, 64), (16, 64, 256), 3, (8, 32), 20_000, queries=16)
    return support.support_recovery_tables(Plan(), sizes)


@lru_cache
def complexity_tables() -> Mapping[str, Table]:
    bench = cells.Bench(6, 4, -5, 64, 60, 40, (16, 64), 20, 3, queries=4, test_queries=8)
    sizes = complexity.Sizes(bench, ((HE2, 2), (HE3, 2)), (1, 2), (256, 512, 1024))
    return complexity.sample_complexity_tables(Plan(), sizes)


def test_forgetting() -> None:
    tables = forgetting_tables()
    factor = tables["factor"]
    at = Population(HE2, Gate(forgetting.RHO, -4), digits=9)
    (value,) = factor.where(b=-4.0, N=1024).numbers("value")
    assert value == pytest.approx(float(at.forgetting_factor(1024)), rel=1e-8)
    for N in (64, 1024):
        rows = factor.where(N=N)
        assert np.all(np.diff(rows.numbers("b")) > 0)
        assert np.all(np.diff(rows.numbers("value")) < 0)  # less is left with a larger bias
        assert np.all(rows.numbers("lower") <= rows.numbers("value"))
    for row in tables["marks"].rows:
        (exact,) = factor.where(b=row[1], N=row[2]).numbers("value")
        assert float(str(row[4])) <= exact <= float(str(row[5]))
    ratio = tables["ratio"].where(link=HE3, N=64)
    inside = ratio.numbers("b")[np.argmax(ratio.numbers("value"))]
    assert -16 < inside < 0
    assert tables["best"].where(link=HE3, N=64).numbers("b") == [inside]
    assert tables["best"].where(link=HE3, N=1024).numbers("b")[0] <= inside


def test_test_time_feature() -> None:
    tables = feature_tables()
    share = tables["share"]
    for text, sizes in ((HE3, (0.432, 0.916, 0.994)), (MIX, (0.0, 0.007, 0.097))):
        np.testing.assert_allclose(share.where(link=text).numbers("share"), sizes, atol=6e-4)
    assert share.where(link=HE4, r=8).numbers("share")[0] == pytest.approx(0.962, abs=6e-4)
    cloud = tables["cloud"].where(link=HE3)
    z, f = cloud.numbers("z"), cloud.numbers("feature")
    # The slope of the feature on z is 1 in these units; 60 points, R² = 0.916.
    assert np.polyfit(z, f, 1)[0] == pytest.approx(1, abs=0.3)
    bad = tables["cloud"].where(link=MIX)
    assert np.corrcoef(bad.numbers("z"), bad.numbers("feature"))[0, 1] ** 2 < 0.3
    assert np.corrcoef(bad.numbers("z") ** 2, bad.numbers("feature"))[0, 1] ** 2 > 0.9
    finite, limit = tables["finite"], tables["limit"]
    for text, rho, b, _, r in feature.FINITE:
        rows = finite.where(link=text, rho=rho, b=b, r=r)
        (top,) = limit.where(link=text, rho=rho, b=b, r=r).numbers("share")
        assert np.all(rows.numbers("upper") <= top + 1e-9)
        assert top == pytest.approx(float(one_step_feature(feature._step(text, rho, b), r).share))
    saturated = finite.where(link=HE3, rho="8").numbers("share")
    assert np.all(saturated < 0.01)
    assert len(tables["marks"].rows) == 2


def test_support_recovery() -> None:
    tables = support_tables()
    tasks = tables["tasks"]
    assert len(tasks.rows) == 2 * 3 * 3
    for N in (16, 64):
        last = tasks.where(N=N, T_1=256)
        assert np.median(last.numbers("on")) > 10 * np.median(last.numbers("off"))
    starts = tables["starts"]
    for name in ("linear only", "linear head"):
        assert np.all(np.abs(starts.where(start=name).numbers("factor")) < 1e-10)
    assert np.all(np.abs(starts.where(start="all ones").numbers("factor")) > 0.1)
    bias = tables["bias"]
    scaled = bias.numbers("N") * bias.numbers("lower")
    assert np.all(scaled > 0.01)


def test_sample_complexity() -> None:
    tables = complexity_tables()
    errors = tables["errors"]
    for text in (HE2, HE3):
        assert errors.where(link=text, r=2).distinct("method") == list(cells.METHODS)
    assert errors.where(r=1).distinct("method") == [cells.MAMBA]
    low, value, high = (errors.numbers(name) for name in ("lower", "error", "upper"))
    assert np.all(low <= value)
    assert np.all(value <= high)
    exact = errors.where(link=HE2, r=2, method=cells.DEGREE_TWO, N=64).numbers("error")
    assert exact[0] < 0.01  # 28 features, 64 examples, no noise
    for name, ge in (("he_2", 2), ("he_3", 1)):
        row = tables["exponents"].where(link=name, weights="trained")
        assert row.numbers("last")[0] == pytest.approx(2 * ge, abs=0.1)
        assert row.numbers("theory") == [3 * ge]


def test_all_methods_see_the_same_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = cells.Bench(4, 4, -5, 16, 8, 8, (8,), 12, 3, queries=2)
    seen = []

    def spy(method, family, bench, device, rng):  # type: ignore[no-untyped-def]
        def predict(prompts, lengths):  # type: ignore[no-untyped-def]
            seen.append((family.support, prompts.X.sum()))
            return [np.zeros_like(prompts.target)]

        return predict

    monkeypatch.setattr(cells, "predictor", spy)
    for number, method in enumerate(cells.METHODS):
        found = cells.errors(method, HE2, 2, bench, 0, "cpu", np.random.default_rng(number))
        assert found["error"].shape == (1, 3)
    assert len(set(seen)) == 1
    cells.errors(
        cells.MAMBA, HE2, 2, replace(bench, noise="1/2"), 0, "cpu", np.random.default_rng(0)
    )
    assert len(set(seen)) == 2


def test_bad_input() -> None:
    bench = cells.Bench(4, 4, -5, 16, 8, 8, (8,), 12, 3)
    with pytest.raises(InputError, match="method 'GPT' is unknown; choose one of Mamba"):
        cells.errors("GPT", HE2, 2, bench, 0, "cpu", np.random.default_rng(0))
    with pytest.raises(InputError, match="d = 4 is less than r = 5"):
        cells.errors(cells.MAMBA, HE2, 5, bench, 0, "cpu", np.random.default_rng(0))


R2, N = "$R^2$ with $z^{\\mathrm{ge}}$", "examples in the prompt $N$"
PICTURES = (
    (
        FORGETTING,
        forgetting_tables,
        [
            ("bias $b$", "$F_N$", "linear", "linear"),
            ("bias $b$", "signal to noise", "linear", "log"),
            ("bias $b$", "signal to noise", "linear", "log"),
        ],
    ),
    (
        TEST_TIME_FEATURE,
        feature_tables,
        [
            (r"$z=\langle\beta,x\rangle$", r"$(\mathrm{feature}-P_1)\,r/P_2$", "linear", "linear"),
            (r"$z=\langle\beta,x\rangle$", r"$(\mathrm{feature}-P_1)\,r/P_2$", "linear", "linear"),
            ("support $r$", R2, "log", "linear"),
            (N, R2, "log", "linear"),
        ],
    ),
    (
        SUPPORT_RECOVERY,
        support_tables,
        [
            ("tasks $T_1$", r"size of $\partial L/\partial\gamma_{ii}$, relative", "log", "log"),
            (r"$|E[g\,1\{M>0\}\,\mathrm{he}_{ge}]|$", "", "linear", "linear"),
            ("context $N$", r"$N\cdot E[y\,1\{M>0\}S_\alpha\varphi_\alpha]$", "log", "linear"),
        ],
    ),
    (
        SAMPLE_COMPLEXITY,
        complexity_tables,
        [
            (N, "test error", "log", "log"),
            (N, "test error", "log", "log"),
            (N, "test error", "log", "log"),
            ("support $r$", "$N$", "log", "log"),
        ],
    ),
)


@pytest.mark.parametrize(("figure", "tables", "axes"), PICTURES, ids=[p[0].name for p in PICTURES])
def test_picture(figure: Figure, tables: object, axes: list[tuple[str, str, str, str]]) -> None:
    found = tables()  # type: ignore[operator]
    canvas = canvas_of(figure, found)
    assert axes_of(canvas) == axes
    assert_tidy(canvas, labels_beside=True)
    assert_captioned(figure, found)


def test_all_presets_and_scripts_are_there() -> None:
    from pathlib import Path

    for module in (forgetting, feature, support, complexity):
        assert list(module.SIZES) == ["quick", "laptop", "paper"]
    folder = Path(__file__).parents[3] / "figures"
    for figure in (FORGETTING, SUPPORT_RECOVERY, TEST_TIME_FEATURE, SAMPLE_COMPLEXITY):
        assert figure in figures
        assert (folder / f"{figure.name.replace('.', '_')}.py").exists()
        picture = folder / "gallery" / f"{figure.name}.png"
        assert 10_000 < picture.stat().st_size < 300_000
