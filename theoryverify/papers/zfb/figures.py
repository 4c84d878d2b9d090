"""The paper's figure: only drawing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from theoryverify.figures import Figure, Table, style
from theoryverify.papers.zfb import experiments

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_LOOKS = ((style.BLUE, "o"), (style.VERMILION, "s"), (style.GREEN, "^"))


def draw_risk(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    axis = canvas.subplots()
    for (colour, marker), n in zip(_LOOKS, tables["theory"].distinct("N"), strict=True):
        line, points = tables["theory"].where(N=n), tables["simulated"].where(N=n)
        axis.plot(line.numbers("M"), line.numbers("risk"), color=colour, label=f"$N={n}$")
        (level,) = tables["floor"].where(N=n).numbers("risk")
        axis.axhline(level, color=colour, linestyle="--", linewidth=0.8)
        low, high = points.numbers("lower"), points.numbers("upper")
        axis.errorbar(
            points.numbers("M"),
            (low + high) / 2,
            (high - low) / 2,
            color=colour,
            marker=marker,
            markersize=4,
            linestyle="none",
            capsize=2,
        )
    (level,) = tables["random"].numbers("risk")
    axis.axhline(
        level,
        color=style.BLACK,
        linestyle=":",
        label="$\\lambda\\sim\\mathrm{Exp}(1)$ anew each prompt, $N,M\\to\\infty$",
    )
    axis.set(
        xscale="log",
        yscale="log",
        xlabel="test length $M$",
        ylabel=r"risk$\,/\,\mathrm{tr}\,\Lambda$",
    )
    axis.legend()


RISK = Figure(
    "zfb.risk",
    "The trained layer's risk at test length M",
    "Risk E(ŷ_q - y_q)² divided by that of predicting 0, against the number M of examples in the test "
    "prompt, for layers trained at N examples. It falls like 1/M to a floor of order 1/N². Trained over "
    "random covariances, a third of the signal is never learned.",
    experiments.risk_data,
    draw_risk,
    (5.2, 3.6),
    needs=("torch",),
)

figures = (RISK,)
