"""``lca.training_time``: the data drawn, labels and axes."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from tests.figure_checks import assert_captioned, assert_tidy, axes_of, canvas_of, enclosed
from theoryverify.figures import Table
from theoryverify.papers.lca.experiments import training_time as experiments
from theoryverify.papers.lca.figures.training_time import TRAINING_TIME

pytest.importorskip("matplotlib")


@lru_cache
def training_time_tables() -> Mapping[str, Table]:
    return {"time": experiments.training_time_table(experiments.TRAINING_LAWS, (1, 4, 32))}


def test_training_times() -> None:
    table = training_time_tables()["time"]
    known = {4: "13.22453904437996", 32: "298012460797000000000"}
    for depth, value in known.items():
        rows = table.where(law="uniform(2,5)", T=depth)
        assert enclosed(rows, "time", value, str(Fraction(value) / 10**9))
    late = table.where(T=32).numbers("ratio_lower")
    assert np.all(np.abs(late - 1) < 0.06)
    for low, high in zip(table.numbers("time_lower"), table.numbers("time_upper"), strict=True):
        assert low <= high <= low * (1 + 1e-8)


def test_picture() -> None:
    canvas = canvas_of(TRAINING_TIME, training_time_tables())
    assert axes_of(canvas) == [
        ("depth $T$", "time $t$ from $\\alpha_0=0.02$ to $0.99\\,\\alpha_T^{*}$", "linear", "log"),
        ("depth $T$", "certified / leading term", "log", "linear"),
    ]
    assert_tidy(canvas)
    assert_captioned(TRAINING_TIME, training_time_tables())
