"""``lca.limits``: the exact numbers, the simulation beside them, labels and axes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import pytest

from tests.figure_checks import assert_captioned, assert_tidy, axes_of, canvas_of
from theoryverify.figures import Plan, Table
from theoryverify.papers.lca.experiments import limits as experiments
from theoryverify.papers.lca.explosion import excess_at_least
from theoryverify.papers.lca.figures.limits import LIMITS
from theoryverify.papers.lca.laws import UNIFORM

pytest.importorskip("matplotlib")

SMALL = experiments.Sizes(
    scalar_contexts=(50, 10**4),
    scalar_depths=(1, 2, 4, 20),
    prompts=4000,
    contexts=(30, 10**4),
    depths=(1, 2, 4, 8, 12),
    minimiser_contexts=(1000,),
    minimiser_depths=(5, 10, 20),
)


@lru_cache
def tables() -> Mapping[str, Table]:
    return experiments.limits_tables(Plan(), SMALL)


def test_exact_means_at_one_dimension() -> None:
    exact = tables()["scalar"].where(kind="exact")
    # The bias alone is 1.003e9 there.
    (value,) = exact.where(L=50, T=20).numbers("excess")
    assert value == pytest.approx(1.003096731883e9, rel=2e-3)
    for row in exact.rows:
        low, high = float(str(row[4])), float(str(row[5]))
        assert low <= float(str(row[3])) * (1 + 1e-12)
        assert high >= float(str(row[3])) * (1 - 1e-12)
        assert high - low <= 1e-7 * high


@pytest.mark.parametrize("name", ["scalar", "many"])
def test_simulated_means_agree_where_their_tail_is_bounded(name: str) -> None:
    table = tables()[name]
    compared = 0
    for row in table.where(kind="simulated", reliable=True).rows:
        exact = table.where(kind="exact", L=row[1], T=row[2])
        if exact.rows:
            _, _, _, mean, low, high, _ = (float(x) if i > 2 else 0.0 for i, x in enumerate(row))  # type: ignore[arg-type]
            # Twice the 99% interval: 5.15 standard errors.
            assert abs(mean - exact.numbers("excess")[0]) <= high - low
            compared += 1
    assert compared >= 4


def test_the_explosion_is_hollow_and_bounded_from_below() -> None:
    many = tables()["many"]
    assert many.where(kind="simulated", L=30, T=12).column("reliable") == [False]
    assert many.where(kind="simulated", L=10**4, T=12).column("reliable") == [True]
    (least,) = many.where(kind="at least", L=30, T=12).numbers("excess")
    assert least == pytest.approx(
        float(excess_at_least(UNIFORM, context=30, depth=12, alpha="2/7")), rel=1e-6
    )
    assert least > 1e3
    for L, depth in ((30, 8), (10**4, 8)):
        (exact,) = many.where(kind="exact", L=L, T=depth).numbers("excess")
        bound = many.where(kind="at least", L=L, T=depth)
        assert not bound.rows or bound.numbers("excess")[0] <= exact
    assert many.where(kind="at least", L=10**4).rows == ()


def test_the_bound_of_appendix_h_lies_above() -> None:
    many = tables()["many"]
    bound = many.where(kind="bound (H.5)")
    seen = many.where(kind="simulated", L=10**4)
    assert np.all(bound.numbers("excess") > seen.numbers("excess"))
    assert bound.numbers("excess")[-1] < 0.01


def test_minimisers_at_finite_context() -> None:
    rows = tables()["minimiser"].where(L=1000)
    known = (0.27249, 0.23985, 0.13857)
    np.testing.assert_allclose(rows.numbers("alpha"), known, atol=1.5e-5)
    widths = rows.numbers("alpha_upper") - rows.numbers("alpha_lower")
    assert np.all((widths > 0) & (widths < 1e-6))
    limit = tables()["minimiser"].where(L=None)
    np.testing.assert_allclose(limit.numbers("alpha")[:2], (0.2784518316, 0.2817975287), atol=1e-9)


def test_the_seed_decides() -> None:
    few = experiments.Sizes((50,), (1,), 100, (30,), (1,), (), ())
    first, second, other = (
        experiments.limits_tables(Plan(seed=seed), few)["many"] for seed in (0, 0, 1)
    )
    assert first == second
    assert first != other


def test_picture() -> None:
    canvas = canvas_of(LIMITS, tables())
    assert axes_of(canvas) == [
        ("depth $T$", "excess over the Bayes risk", "log", "log"),
        ("depth $T$", "", "log", "log"),
        ("depth $T$", r"minimiser $\alpha_{T,L}^{*}$", "log", "log"),
    ]
    exact = tables()["scalar"].where(kind="exact", L=50).numbers("excess")
    assert any(np.array_equal(line.get_ydata(), exact) for line in canvas.axes[0].lines)
    for axis in canvas.axes[:2]:
        means = [bar.lines[0] for bar in axis.containers]
        assert {line.get_markerfacecolor() for line in means} > {"white"}
        assert all(np.all(line.get_ydata() < 1e3) for line in means)
        assert all(bar.has_yerr for bar in axis.containers)
    assert_tidy(canvas)
    assert_captioned(LIMITS, tables())
