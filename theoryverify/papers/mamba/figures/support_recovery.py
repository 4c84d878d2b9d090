"""The picture of ``mamba.support_recovery``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from theoryverify.figures import Figure, Table, style
from theoryverify.papers.mamba.experiments import support_recovery as experiments
from theoryverify.papers.mamba.links import HE3, HE4, HE5

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_NAMES = {HE3: r"$\mathrm{he}_3$", HE5: r"$\mathrm{he}_5$", HE4: r"$\mathrm{he}_4$"}


def _tasks(axis: Axes, table: Table) -> None:
    for N, look in zip(table.distinct("N"), style.SERIES, strict=False):
        rows = table.where(N=N)
        tasks = np.array(rows.distinct("T_1"), dtype=float)
        for which in ("on", "off"):
            runs = np.array([rows.where(T_1=t).numbers(which) for t in rows.distinct("T_1")])
            middle = np.median(runs, 1)
            if which == "off":
                axis.plot(tasks, middle, **look.both(), label=f"$N={N}$")
                style.band(axis, tasks, runs.min(1), runs.max(1), look.color)
            else:
                axis.plot(tasks, middle, **look.both(), markerfacecolor="white", linewidth=0.8)
    axis.set(
        title=r"(a) $\mathrm{he}_2$: tasks",
        xlabel="tasks $T_1$",
        ylabel=r"size of $\partial L/\partial\gamma_{ii}$, relative",
        xscale="log",
        yscale="log",
    )
    axis.legend(loc="upper right", bbox_to_anchor=(1, 0.84))


def _starts(axis: Axes, table: Table) -> None:
    names = table.distinct("start")
    for link, look in zip(table.distinct("link"), style.SERIES, strict=False):
        rows = table.where(link=link)
        # Where the enclosure holds 0 to twelve digits, the factor is drawn at 0.
        size = np.abs(rows.numbers("factor"))
        places = np.arange(len(names))
        axis.plot(size, places, **look.points(), label=_NAMES[str(link)])
    axis.axvline(0, color=style.GREY, linewidth=0.8)
    axis.set_yticks(range(len(names)), [str(n) for n in names])
    axis.invert_yaxis()
    axis.set(
        title="(b) what a start sees of the label", xlabel=r"$|E[g\,1\{M>0\}\,\mathrm{he}_{ge}]|$"
    )
    axis.legend(
        loc="center right", bbox_to_anchor=(1.04, 0.59), labelspacing=0.2, handletextpad=0.1
    )


def _bias(axis: Axes, table: Table) -> None:
    N, value = table.numbers("N"), table.numbers("value")
    error = np.array([value - table.numbers("lower"), table.numbers("upper") - value])
    look, top = style.SERIES[0], float(np.max(N * table.numbers("upper")))
    axis.errorbar(N, N * value, yerr=N * error, **look.points(), elinewidth=1, capsize=2)
    axis.axhline(0, color=style.GREY, linewidth=0.8)
    axis.set(
        title="(c) mean off the support",
        xlabel="context $N$",
        ylabel=r"$N\cdot E[y\,1\{M>0\}S_\alpha\varphi_\alpha]$",
        xscale="log",
        ylim=(-0.1 * top, 1.1 * top),
    )
    axis.set_xscale("log", base=2)


def draw_support_recovery(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    first, second, third = canvas.subplots(1, 3)
    _tasks(first, tables["tasks"])
    _starts(second, tables["starts"])
    _bias(third, tables["bias"])


SUPPORT_RECOVERY = Figure(
    "mamba.support_recovery",
    "Stage I finds the support, but for a bias of order 1/N, and only from some starts",
    "(a) Root mean square of the gradient's diagonal coordinates, hollow on the support and "
    "filled off it, in units of the population value on it, against the number of tasks, for "
    "contexts of N examples. Off the support the bias of finite N is left, which more tasks do "
    "not remove. (b) The query factor's part that knows the label, E[g 1{M>0} he_ge], for links "
    "with ie > ge and several γ^(0), and for a head without a kink; at 0 the step sees nothing "
    "of the label, and what is left is the model's own output, of the size of the gate "
    "(mamba.E.own-output). (c) The label's part of the mean of -∂L/∂γ_α off the support, times N: "
    "not 0, and of order 1/N.",
    experiments.support_recovery_data,
    draw_support_recovery,
    (9.0, 3.4),
    ("torch",),
)
