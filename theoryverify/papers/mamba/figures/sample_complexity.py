"""The picture of ``mamba.sample_complexity``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from theoryverify.figures import Figure, Table, style
from theoryverify.figures.style import Series
from theoryverify.papers.mamba.experiments import cells_sample_complexity as cells
from theoryverify.papers.mamba.experiments import sample_complexity as experiments
from theoryverify.papers.mamba.links import HE2, HE3

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_NAMES = {HE2: r"$\mathrm{he}_2$ (ie = ge = 2)", HE3: r"$\mathrm{he}_3$ (ie = 3, ge = 1)"}
_KINDS = {"trained": r"$\gamma^*$", "indicator": "support known"}
_LINKS = {"he_2": r"$\mathrm{he}_2$", "he_3": r"$\mathrm{he}_3$"}
LOOKS = dict(
    zip(
        cells.METHODS,
        (
            *style.SERIES,
            Series(style.SKY, (0, (4, 1, 1, 1, 1, 1)), "X"),
            Series(style.GREY, (0, (1, 1)), "*"),
        ),
        strict=True,
    )
)
_TOP, _FLOOR = 2.5, 0.01
_BANDS = (cells.MAMBA, cells.KERNEL, cells.KERNEL_R)
"""Bands of all rows would hide the lines; the table has them."""


def _rows(axis: Axes, table: Table, letter: str, link: str, r: int) -> None:
    for method, look in LOOKS.items():
        rows = table.where(link=link, r=r, method=method)
        N, error = rows.numbers("N"), np.maximum(rows.numbers("error"), _FLOOR / 3)
        axis.plot(N, error, **look.both(), label=method)
        if method not in _BANDS:
            continue
        low, high = (np.maximum(rows.numbers(e), _FLOOR / 3) for e in ("lower", "upper"))
        style.band(axis, N, low, high, look.color, alpha=0.12)
    axis.axhline(1, color=style.GREY, linewidth=0.8)
    axis.set(title=f"({letter}) {_NAMES[link]}, $r={r}$")
    _length_axis(axis)
    axis.set_ylim(_FLOOR, _TOP)


def _length_axis(axis: Axes) -> None:
    axis.set(xlabel="examples in the prompt $N$", ylabel="test error", xscale="log", yscale="log")
    axis.set_xscale("log", base=2)


def draw_sample_complexity(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    (first, second), (third, fourth) = canvas.subplots(2, 2)
    errors = tables["errors"]
    shown = [
        (link, r)
        for link in errors.distinct("link")
        for r in errors.where(link=link, method=cells.KERNEL).distinct("r")
    ]
    for axis, letter, (link, r) in zip((first, second), "ab", shown, strict=True):
        _rows(axis, errors, letter, str(link), int(str(r)))
    link = str(shown[0][0])
    own = errors.where(link=link, method=cells.MAMBA)
    for r, look in zip(sorted(map(int, map(str, own.distinct("r")))), style.SERIES, strict=False):
        rows = own.where(r=r)
        N = rows.numbers("N")
        third.plot(N, rows.numbers("error"), **look.both(), label=f"$r={r}$")
        style.band(third, N, rows.numbers("lower"), rows.numbers("upper"), look.color, alpha=0.12)
    third.set_title(f"(c) {cells.MAMBA}, {_NAMES[link].partition(' ')[0]}")
    _length_axis(third)
    third.set_ylim(0.05, 40)
    third.legend(loc="upper right", ncols=3)
    _growth(fourth, tables["growth"], tables["exponents"])
    handles, labels = first.get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=3, title="(a), (b)")


def _growth(axis: Axes, growth: Table, exponents: Table) -> None:
    looks = iter(style.SERIES)
    for name in growth.distinct("link"):
        for kind in growth.distinct("weights"):
            rows, look = growth.where(link=name, weights=kind), next(looks)
            (last,) = exponents.where(link=name, weights=kind).numbers("last")
            label = f"{_LINKS[str(name)]}, {_KINDS[str(kind)]}: $r^{{{last:.2f}}}$"
            r, N = rows.numbers("r"), rows.numbers("N")
            axis.plot(r, N, **look.both(), label=label)
            if kind == "trained":
                (theory,) = exponents.where(link=name, weights=kind).numbers("theory")
                guide = N[0] * 2 * (r / r[0]) ** theory
                axis.plot(r, guide, color=look.color, linewidth=0.7, linestyle=":")
                axis.annotate(
                    f"$r^{{{theory:.0f}}}$",
                    (r[len(r) // 2], guide[len(r) // 2]),
                    (-4, 4),
                    textcoords="offset points",
                    ha="right",
                    color=look.color,
                    fontsize=9,
                )
    axis.set(
        title="(d) examples for half of $R^2$",
        xlabel="support $r$",
        ylabel="$N$",
        xscale="log",
        yscale="log",
    )
    axis.set_xscale("log", base=2)
    axis.set_ylim(top=axis.get_ylim()[1] * 3e5)
    axis.legend(loc="upper left", fontsize=8, ncols=2, columnspacing=0.8)


SAMPLE_COMPLEXITY = Figure(
    "mamba.sample_complexity",
    "Test error of one-layer models and kernels against the length of the prompt",
    "(a), (b) Squared error of the prediction above the noise (1 is that of predicting 0) on "
    "the same test tasks. Mamba by Algorithm 1 (Stage I finds γ), with γ = 1 and with the "
    "indicator of the support; one layer of linear or softmax attention with an MLP, pretrained "
    "on as many prompts; kernel ridge on all d coordinates and on the r of the support, and "
    "ridge on the features of degree 2, which are not pretrained. Bands, for three rows, are "
    "intervals. (c) The Mamba for several sizes r of the support. (d) The least N at which the "
    "feature's R² is half of what it is without noise, with the slope between the last two r; "
    "dotted: r^{3ge}, the main theorem's N_test as reconstructed, which is enough, not needed.",
    experiments.sample_complexity_data,
    draw_sample_complexity,
    (7.6, 7.2),
    ("torch",),
)
