"""The picture of ``mamba.forgetting``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from theoryverify.figures import Figure, Table, style
from theoryverify.papers.mamba.experiments import forgetting as experiments
from theoryverify.papers.mamba.links import HE2, HE3

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_TITLES = {
    HE2: r"$\mathrm{he}_2$, quadratic feature",
    HE3: r"$\mathrm{he}_3$, linear feature",
}


def draw_forgetting(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    first, *others = canvas.subplots(1, 3, sharex=True)
    factor, marks = tables["factor"], tables["marks"]
    lengths = factor.distinct("N")
    for N, look in zip(lengths, style.SERIES, strict=False):
        rows = factor.where(N=N)
        first.plot(rows.numbers("b"), rows.numbers("value"), **look.line(), label=f"$N={N}$")
        seen = marks.where(N=N)
        if seen.rows:
            value = seen.numbers("value")
            error = np.abs([seen.numbers("lower") - value, seen.numbers("upper") - value])
            first.errorbar(
                seen.numbers("b"), value, yerr=error, **look.points(), elinewidth=1, capsize=2
            )
    first.set(title="(a) what is left of the mean", ylabel="$F_N$", xlabel="bias $b$")
    first.set_ylim(0, 1.05)
    for axis, letter, link in zip(others, "bc", tables["ratio"].distinct("link"), strict=True):
        table = tables["ratio"].where(link=link)
        for N, look in zip(lengths, style.SERIES, strict=False):
            rows = table.where(N=N)
            b, ratio = rows.numbers("b"), rows.numbers("value")
            shown = ratio > 0
            axis.plot(b[shown], ratio[shown], **look.line())
            (best,) = tables["best"].where(link=link, N=N).numbers("b")
            axis.plot(best, ratio[b == best], **look.points(), markersize=6)
        axis.set(
            title=f"({letter}) {_TITLES[str(link)]}",
            xlabel="bias $b$",
            ylabel="signal to noise",
            yscale="log",
        )
        values = table.numbers("value")
        top, least = values.max(), values[values > 0].min()
        axis.set_ylim(max(top * 3e-6, least / 2), top * 3)
    canvas.legend(loc="outside lower center", ncols=len(lengths))


FORGETTING = Figure(
    "mamba.forgetting",
    "Forgetting: at a finite context the best bias is not minus infinity",
    "(a) The factor F_N = (1-σ(b))(1-(1-μ)^N)/(Nμ) by which forgetting shrinks the mean of the "
    "feature, against the bias b of the gate; lines are enclosed, marks are the layer on random "
    "prompts with 99% intervals. (b), (c) Signal to noise F_N² c_k²/E Var(f|x) of the feature "
    "of degree k, γ the indicator of the support. Large marks: the best bias on the grid. To "
    "its right only the last 1/μ examples are kept. To its left (b) is flat; in (c) a gate that "
    "opens on large labels alone makes noise of a few of them, the more the lower b.",
    experiments.forgetting_data,
    draw_forgetting,
    (8.2, 3.3),
)
