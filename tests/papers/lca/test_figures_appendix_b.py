"""``lca.appendix_b``: the arms' best scalars, training, and the picture."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import pytest

from tests.figure_checks import assert_captioned, assert_tidy, axes_of, canvas_of
from theoryverify.errors import InputError
from theoryverify.exact.laws import TwoPoint
from theoryverify.figures import Plan, Table
from theoryverify.models.ablations import ARMS, state
from theoryverify.papers.lca.experiments import appendix_b as experiments
from theoryverify.papers.lca.experiments import cells_appendix_b as cells
from theoryverify.papers.lca.figures.appendix_b import APPENDIX_B, LOOKS
from theoryverify.papers.lca.laws import UNIFORM
from theoryverify.papers.lca.loss import excess_loss
from theoryverify.papers.lca.two import beta_star
from theoryverify.simulate.two_sample import law_distance

pytest.importorskip("matplotlib")
torch = pytest.importorskip("torch")

SMALL = experiments.Sizes((1, 2, 5), 25, 2, (2,), 16, 8, 6, 32, 40, 60)


@lru_cache
def tables() -> Mapping[str, Table]:
    return experiments.appendix_b_tables(Plan(), SMALL)


def test_the_whole_arm_is_the_loss_and_its_search_finds_the_certified_minimum() -> None:
    for alpha, beta, depth in (("0.28", "-0.35", 6), ("0.1", "0.05", 4)):
        exact = excess_loss(UNIFORM, alpha, beta, depth=depth, digits=12).excess
        seen = cells.infinite_excess("full", UNIFORM, depth, float(alpha), float(beta))
        assert float(seen) == pytest.approx(float(exact), rel=1e-9)
    found = cells.best_scalars("full", UNIFORM, 3, 25, 2)
    assert float(found["excess"]) == pytest.approx(float(beta_star(UNIFORM, 3).loss), rel=1e-6)


@pytest.mark.parametrize("arm", list(ARMS)[1:])
def test_no_grid_point_is_better_than_the_best_scalars(arm: str) -> None:
    (best,) = tables()["best"].where(arm=arm, T=5).numbers("excess")
    a, b = np.meshgrid(np.linspace(0.02, 1.5, 150), np.linspace(-2.5, -0.01, 150))
    assert best <= np.min(cells.infinite_excess(arm, UNIFORM, 5, a, b))
    alpha, beta = (tables()["best"].where(arm=arm, T=5).numbers(n)[0] for n in ("alpha", "beta"))
    again = cells.infinite_excess(arm, UNIFORM, 5, alpha, beta)
    assert float(again) == pytest.approx(best, rel=1e-9)


def test_only_the_whole_model_falls_far() -> None:
    best = tables()["best"].where(T=5)
    assert best.where(arm="full").numbers("excess")[0] == pytest.approx(1.0274394935e-5, rel=1e-9)
    for arm in list(ARMS)[1:]:
        assert best.where(arm=arm).numbers("excess")[0] > 5e-4


def test_known_values() -> None:
    """One layer is the floor of one layer; without injection, or with one cubic layer, two scalars
    make a straight line of T = 2's loss."""
    best = tables()["best"]
    floor, line = 0.0366750191998430484, 2.03893660757557774e-3
    assert best.where(arm="full", T=1).numbers("excess")[0] == pytest.approx(floor, rel=1e-12)
    for arm, depth in (("injected once", 1), ("both", 1), ("self-attention", 2)):
        assert best.where(arm=arm, T=depth).numbers("excess")[0] == pytest.approx(line, rel=1e-6)


@pytest.mark.parametrize("arm", ARMS)
def test_in_law_is_the_literal_arm(arm: str) -> None:
    recipe = cells.Recipe(arm, 3, 3, 8, 8, 4, 0.05)
    weights = {"alpha": np.array(0.25), "beta": np.array(-0.12)}
    from theoryverify.models.ablations import ablated
    from theoryverify.simulate.exact_law import sample_factor
    from theoryverify.simulate.monte_carlo import ExcessDraws, torch_slope

    model = ablated(ARMS[arm], 3, 3, 0.25, -0.12)
    draws = ExcessDraws(torch_slope(model, context=12), UNIFORM, 3, 12)
    literal = draws(20_000, np.random.default_rng(1))
    factor = sample_factor(UNIFORM.sample(20_000, rng=2), 3, 12, rng=3)
    values, vectors = np.linalg.eigh(factor.covariance)
    p = state(ARMS[arm], values, 0.25, -0.12, 3)
    w = np.einsum("nij,nj,nkj,nk->ni", vectors, p, vectors, factor.correlation, optimize=True)
    assert law_distance(np.log(literal), np.log(factor.judged(w).excess)).seen < 0.025
    mean = cells.measured_in_law(recipe, weights, UNIFORM, 12, 20_000, np.random.default_rng(4))
    same = cells.measured_literally(
        recipe, weights, UNIFORM, 12, 20_000, "cpu", np.random.default_rng(5)
    )
    gap = abs(mean["excess"][0] - same["excess"][0])
    assert gap <= 2 * sum(float(f["excess"][2] - f["excess"][1]) for f in (mean, same))


def test_training_moves_the_scalars() -> None:
    trained = tables()["trained"]
    assert len(trained.rows) == 4 * 2
    for arm in ARMS:
        rows = trained.where(arm=arm)
        start = 0.1 if ARMS[arm].injection else 0.3
        assert abs(rows.numbers("alpha")[0] - start) > 0.01
        assert rows.column("method") == ["literal", "in law"]
        assert rows.column("prompts") == [40, 60]
        assert np.all(rows.numbers("excess_lower") < rows.numbers("excess"))
        assert np.all(rows.numbers("excess") < rows.numbers("excess_upper"))


def test_bad_input() -> None:
    with pytest.raises(InputError, match="arm 'none'"):
        cells.Recipe("none", 2, 3, 8, 8, 4, 0.1)
    with pytest.raises(InputError, match="not a uniform law"):
        cells.infinite_excess("full", TwoPoint(2, 5, "1/2"), 2, 0.1, -0.1)
    recipe = cells.Recipe("full", 2, 3, 8, 8, 4, 0.1)
    with pytest.raises(InputError, match="cuda:7"):
        cells.trained(recipe, UNIFORM, "cuda:7", np.random.default_rng(0))


def test_picture() -> None:
    canvas = canvas_of(APPENDIX_B, tables())
    assert axes_of(canvas) == [
        ("depth $T$", "excess over the Bayes risk", "linear", "log"),
        (r"eigenvalue $s$ of $\Sigma_x$", r"what is left, $1-s\,p_T(s)$", "linear", "linear"),
    ]
    left, right = canvas.axes
    for arm in ARMS:
        drawn = tables()["best"].where(arm=arm).numbers("excess")
        assert any(np.array_equal(line.get_ydata(), drawn) for line in left.lines)
    assert len(left.containers) == 8
    assert all(bar.has_yerr for bar in left.containers)
    residual = tables()["residual"].where(arm="full").numbers("residual")
    assert any(np.array_equal(line.get_ydata(), residual) for line in right.lines)
    for part in ("color", "linestyle", "marker"):
        assert len({getattr(look, part) for look in LOOKS.values()}) == 4
    assert_tidy(canvas)
    assert_captioned(APPENDIX_B, tables())
