"""``lca.alpha_star``: the data drawn, labels and axes."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from tests.figure_checks import assert_captioned, assert_tidy, axes_of, canvas_of, enclosed
from theoryverify.exact.densities import Uniform
from theoryverify.figures import Table
from theoryverify.papers.lca import rate
from theoryverify.papers.lca.experiments import alpha_star as experiments
from theoryverify.papers.lca.figures.alpha_star import ALPHA_STAR
from theoryverify.papers.lca.laws import MIXED

pytest.importorskip("matplotlib")


@lru_cache
def alpha_star_tables() -> Mapping[str, Table]:
    depths = (1, 10, 100, 10_000)
    return {
        "values": experiments.alpha_star_table(experiments.ALPHA_STAR_LAWS, depths),
        "bracket": experiments.bracket_table(experiments.UNIFORM, depths),
    }


def test_alpha_star_values() -> None:
    rows = alpha_star_tables()["values"].where(law="uniform(2,5)")
    for depth, value in (
        (1, "0.263157894736842105263158"),
        (10, "0.281797528706249389808383"),
        (10_000, "0.28571004230603616363"),
    ):
        assert enclosed(rows.where(T=depth), "alpha_star", value)
        assert enclosed(
            rows.where(T=depth), "scaled_gap", str(depth * (Fraction(value) - Fraction(2, 7)))
        )
    shell = alpha_star_tables()["values"].where(law="shell(8,2,5)", T=100)
    assert enclosed(shell, "alpha_star", "0.284038358904990838666042")


def test_bracket_holds_from_its_depth_on() -> None:
    values = alpha_star_tables()["values"].where(law="uniform(2,5)")
    bracket = alpha_star_tables()["bracket"]
    for depth, low, high in zip(
        bracket.numbers("T"),
        bracket.numbers("bracket_lower"),
        bracket.numbers("bracket_upper"),
        strict=True,
    ):
        later = values.numbers("alpha_star_lower")[values.numbers("T") >= depth]
        assert np.all((low < later) & (later < high))


def test_first_order_is_approached_by_every_law() -> None:
    for law in alpha_star_tables()["values"].distinct("law"):
        rows = alpha_star_tables()["values"].where(law=law)
        error = np.abs(rows.numbers("scaled_gap_lower") - rows.numbers("first_order_lower"))
        assert error[-1] < 1e-3
        assert error[-1] < error[-2] / 20  # T grows by 100; log(T)²/T falls by 25


def test_first_order_agrees_with_the_formula_for_uniform_laws() -> None:
    from theoryverify.papers.lca import theory

    formula = theory.uniform_first_order() - theory.alpha_limit()
    exact = (theory.T * formula).subs({theory.a: 2, theory.b: 5}).evalf(20)
    assert abs(float(rate.first_order_gap(Uniform(2, 5), 7)) - float(exact)) < 1e-12
    moving = rate.first_order_gap(Uniform(1, 5), 10), rate.first_order_gap(Uniform(1, 5), 1000)
    assert float(moving[0]) != pytest.approx(float(moving[1]))
    mixed = rate.first_order_gap(MIXED, 10), rate.first_order_gap(MIXED, 1000)
    assert float(mixed[0]) != pytest.approx(float(mixed[1]))


def test_lines_drawn_are_the_columns() -> None:
    left, right = canvas_of(ALPHA_STAR, alpha_star_tables()).axes
    rows = alpha_star_tables()["values"].where(law="ball(4,5)")
    drawn_lines = [line.get_ydata() for line in left.lines]
    assert any(np.array_equal(y, rows.numbers("alpha_star_lower")) for y in drawn_lines)
    drawn_lines = [line.get_ydata() for line in right.lines]
    for column in ("scaled_gap_lower", "first_order_lower"):
        assert any(np.array_equal(y, rows.numbers(column)) for y in drawn_lines)


def test_picture() -> None:
    canvas = canvas_of(ALPHA_STAR, alpha_star_tables())
    assert axes_of(canvas) == [
        ("depth $T$", "minimiser $\\alpha_T^{*}$", "log", "linear"),
        ("depth $T$", "$T\\,(\\alpha_T^{*}-\\alpha^{*})$", "log", "linear"),
    ]
    assert_tidy(canvas)
    assert_captioned(ALPHA_STAR, alpha_star_tables())
