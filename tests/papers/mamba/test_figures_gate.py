"""``mamba.degenerate_gate``: the data drawn, labels and axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from math import factorial, pi, sqrt
from typing import Any

import numpy as np
import pytest

from tests.figure_checks import assert_captioned, assert_tidy, axes_of, canvas_of
from theoryverify.figures import Table
from theoryverify.papers.mamba.experiments import degenerate_gate as mamba
from theoryverify.papers.mamba.figures import DEGENERATE_GATE
from theoryverify.papers.mamba.links import HE3, HE4, HE5

pytest.importorskip("matplotlib")


@lru_cache
def gate_tables() -> Mapping[str, Table]:
    bs = [-8 + Fraction(16, 8) * (i + Fraction(7, 16)) for i in range(8)]
    return mamba.degenerate_gate_tables(mamba.LINKS, ("1/8", "1/2", 4, 32), bs, 6)


def gated(link: Callable[[Any], Any], k: int, rho: float, b: float) -> float:
    """``E[g σ(g/ρ+b) He_k]`` by the trapezoid rule."""
    z = np.linspace(-12, 12, 20_001)
    hermite = {1: z, 2: z**2 - 1}[k]
    g = link(z)
    gate = 1 / (1 + np.exp(np.clip(-(g / rho + b), -700, 700)))
    return float(np.sum(g * gate * hermite * np.exp(-(z**2) / 2)) * (z[1] - z[0]) / sqrt(2 * pi))


def test_zeros_of_the_gate_lie_between_opposite_signs() -> None:
    he5 = lambda z: (z**5 - 10 * z**3 + 15 * z) / sqrt(factorial(5))  # noqa: E731
    zeros = gate_tables()["zeros"].where(link=HE5)
    off_axis = [row for row in zeros.where(along="b", rho_lower=0.5).rows if abs(row[5]) > 1]  # type: ignore[arg-type]
    assert len(off_axis) == 2
    for row in off_axis:
        low, high = (gated(he5, 1, 0.5, float(b)) for b in row[5:7])  # type: ignore[arg-type]
        assert low * high < 0
    assert len(zeros.where(along="rho").rows) >= 2
    for row in zeros.where(along="rho").rows:
        low, high = (gated(he5, 1, float(rho), float(row[5])) for rho in row[3:5])  # type: ignore[arg-type]
        assert low * high < 0


def test_what_is_known_of_the_map() -> None:
    signs, zeros = gate_tables()["signs"], gate_tables()["zeros"]
    assert signs.where(link=HE4).distinct("sign") == [1]
    assert zeros.where(link=HE4).rows == ()
    for link in (HE3, HE5):
        assert len(zeros.where(link=link, along="proved").rows) == 1
    assert len(zeros.where(along="proved").rows) == 2
    for row in zeros.where(link=HE3, along="b").rows:
        assert row[5] < 0 < row[6]  # type: ignore[operator]
    (row,) = zeros.where(link=mamba.TILTED, along="b", rho_lower=4.0).rows
    assert row[5] <= -2 <= row[6]  # type: ignore[operator]
    assert signs.distinct("k") == [1, 2]


def test_picture() -> None:
    canvas = canvas_of(DEGENERATE_GATE, gate_tables())
    assert axes_of(canvas) == [
        ("", "bias $b$", "log", "linear"),
        ("", "", "log", "linear"),
        ("", "", "log", "linear"),
        ("scale $\\rho$", "bias $b$", "log", "linear"),
        ("scale $\\rho$", "", "log", "linear"),
        ("scale $\\rho$", "", "log", "linear"),
    ]
    assert_tidy(canvas)
    assert_captioned(DEGENERATE_GATE, gate_tables())
