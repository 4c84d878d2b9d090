"""``lca.fig4``: the data drawn, labels and axes."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from math import log10

import pytest

from tests.figure_checks import assert_captioned, assert_tidy, axes_of, canvas_of, enclosed
from theoryverify.exact.balls import precision
from theoryverify.figures import Table
from theoryverify.papers.lca import experiments_fig4 as experiments
from theoryverify.papers.lca.experiments_alpha_star import UNIFORM
from theoryverify.papers.lca.figures_fig4 import FIG4
from theoryverify.papers.lca.loss import excess_loss

pytest.importorskip("matplotlib")


@lru_cache
def landscape_tables() -> Mapping[str, Table]:
    return experiments.landscape_tables(experiments.LANDSCAPE_DEPTHS, 31)


def test_landscape_is_the_loss() -> None:
    table = landscape_tables()["loss"]
    assert len(table.rows) == 2 * 31 * 31
    for depth in (3, 10):
        rows = table.where(T=depth).rows
        for row in rows[:: len(rows) // 12]:
            alpha, beta = (Fraction(round(x * 300), 300) for x in (row[1], row[2]))  # type: ignore[arg-type]
            exact = excess_loss(UNIFORM, alpha, beta, depth=depth, digits=15).excess
            assert row[3] - 1e-9 <= log10(float(exact)) <= row[4] + 1e-9  # type: ignore[operator]
    best = landscape_tables()["minimiser"]
    assert enclosed(best.where(T=3), "loss", "4.86949255924464351e-4")
    assert enclosed(best.where(T=10), "beta", "-0.28212926058379541929157")


def test_landscape_has_no_hole_at_beta_zero() -> None:
    with precision(128):
        A, B, mean = experiments.quadratic(UNIFORM, Fraction(0), 4)
        loss = A / 100 - 2 * B / 10 + mean
    near = excess_loss(UNIFORM, "0.1", 0, depth=4, digits=15).excess
    assert abs(float(loss.mid()) - float(near)) < 1e-12


def test_picture() -> None:
    canvas = canvas_of(FIG4, landscape_tables())
    assert axes_of(canvas) == [
        ("$\\alpha$", "$\\beta$", "linear", "linear"),
        ("$\\alpha$", "", "linear", "linear"),
        ("", "$\\log_{10}\\,\\ell(\\alpha,\\beta)$", "linear", "function"),
    ]
    assert_tidy(canvas)
    assert_captioned(FIG4, landscape_tables())
