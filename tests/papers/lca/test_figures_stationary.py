"""``lca.stationary``: the data drawn, labels and axes."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from tests.figure_checks import assert_captioned, assert_tidy, axes_of, canvas_of, enclosed
from theoryverify.figures import Table
from theoryverify.papers.lca.experiments import stationary as experiments
from theoryverify.papers.lca.figures.stationary import STATIONARY

pytest.importorskip("matplotlib")


@lru_cache
def stationary_tables() -> Mapping[str, Table]:
    return experiments.stationary_tables(experiments.STATIONARY_DEPTHS, 20)


def test_stationary_points() -> None:
    points = stationary_tables()["points"]
    uniform = points.where(law="uniform(2,5)")
    assert uniform.column("T") == [2, 3, 5, 10]
    assert all(uniform.column("inside_window"))
    for depth, beta in (
        (2, "-0.275"),
        (3, "-0.27233800481532657661359"),
        (10, "-0.28212926058379541929157"),
    ):
        assert enclosed(uniform.where(T=depth), "beta", beta)
    rare = points.where(law=repr(experiments.RARE))
    assert rare.column("T") == [2, 3, 6, 15, 22]
    assert rare.column("outside_window") == [True, True, True, True, False]
    assert rare.column("inside_window") == [False, False, False, False, True]
    assert enclosed(rare.where(T=2), "beta", "-0.37756", "1e-5")
    assert enclosed(rare.where(T=15), "beta", "-0.1045", "1e-4")


def test_curves_have_their_minimum_at_the_stationary_points() -> None:
    curves, points = stationary_tables()["curves"], stationary_tables()["points"]
    for law, depth in {(row[0], row[1]) for row in points.rows}:
        least = np.min(curves.where(law=law, T=depth).numbers("F_upper"))
        assert points.where(law=law, T=depth).numbers("F_lower")[0] <= least
    flat = curves.where(law="uniform(2,5)", T=1)
    assert flat.distinct("F_lower") == ["0.0366750191"]


def test_the_sign_of_one_minus_m_limits_what_is_examined() -> None:
    law = experiments.RARE
    assert experiments.signal_positive(law, 15, Fraction(9, 20))  # odd
    assert not experiments.signal_positive(law, 22, Fraction(9, 20))
    end = experiments.certified_range(law, 22, Fraction(9, 20))
    assert 2 / law.upper < end < Fraction(9, 20)
    weights = {z: float(w) * (float(z) - 1) / float(z) for z, w in law.atoms.items()}
    m = sum(w * (1 - float(end) * float(z)) ** 22 for z, w in weights.items())
    assert m < sum(weights.values())


def test_stationary_dots_are_hollow_outside_the_window() -> None:
    _, axis = canvas_of(STATIONARY, stationary_tables()).axes
    dots = [line for line in axis.lines if line.get_marker() == "o"]
    faces = [line.get_markerfacecolor() for line in dots]
    assert faces[:4] == ["white"] * 4
    assert faces[4] == dots[4].get_color()


def test_picture() -> None:
    canvas = canvas_of(STATIONARY, stationary_tables())
    assert axes_of(canvas) == [
        ("$\\beta$", "$F_T(\\beta)=\\min_\\alpha\\,\\ell(\\alpha,\\beta)$", "linear", "log"),
        ("$\\beta$", "", "linear", "log"),
    ]
    assert_tidy(canvas)
    assert_captioned(STATIONARY, stationary_tables())
