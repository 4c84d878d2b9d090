"""The figure ``lca.limits``: only drawing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from theoryverify.figures import Figure, Table, style
from theoryverify.papers.lca.experiments import limits as experiments

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_TOP = 1e3
_BIAS: dict[str, Any] = {"color": style.BLACK, "linestyle": "-", "linewidth": 1.2}
_LEAST: dict[str, Any] = {"linestyle": (0, (1, 1)), "linewidth": 1.5}
_BOUND: dict[str, Any] = {"color": style.BLACK, "linestyle": (0, (5, 2)), "linewidth": 0.9}


def _looks(table: Table) -> list[tuple[int, style.Series]]:
    contexts = [int(str(L)) for L in table.where(kind="simulated").distinct("L")]
    return list(zip(contexts, style.SERIES, strict=False))


def _simulated(axis: Axes, table: Table, L: int, look: style.Series) -> None:
    """Means with intervals, hollow where no bound of the tail backs them; none above the frame."""
    for reliable in (True, False):
        rows = table.where(kind="simulated", L=L, reliable=reliable)
        mean = rows.numbers("excess")
        low, high = (rows.numbers(f"excess_{end}") for end in ("lower", "upper"))
        seen = mean < _TOP
        axis.errorbar(
            rows.numbers("T")[seen],
            mean[seen],
            yerr=np.array([mean - low, high - mean])[:, seen],
            **look.points(),
            markersize=4,
            markerfacecolor=look.color if reliable else "white",
            markeredgewidth=0.9,
            elinewidth=0.9,
            capsize=1.8,
            zorder=4,
        )


def _depth_axis(axis: Axes, last: float) -> None:
    axis.set(xscale="log", yscale="log", xlim=(0.9, 1.15 * last), xlabel="depth $T$")
    ticks = [t for t in (1, 2, 4, 8, 16, 32, 64) if t <= last]
    axis.set_xticks(ticks, [str(t) for t in ticks])
    axis.xaxis.minorticks_off()


def _scalar(axis: Axes, table: Table) -> None:
    bias = table.where(kind="bias")
    axis.plot(bias.numbers("T"), bias.numbers("excess"), **_BIAS)
    for L, look in _looks(table):
        exact = table.where(kind="exact", L=L)
        axis.plot(exact.numbers("T"), exact.numbers("excess"), **look.line(), linewidth=1.0)
        _simulated(axis, table, L, look)
    _depth_axis(axis, float(np.max(bias.numbers("T"))))
    axis.set(
        ylabel=r"excess over the Bayes risk",
        title=r"(a) $d=1$, $\alpha=\alpha^{*}$",
        ylim=(1e-6, _TOP),
    )


def _many(axis: Axes, table: Table, bias: Table) -> None:
    axis.plot(bias.numbers("T"), bias.numbers("excess"), **_BIAS)
    bound = table.where(kind="bound (H.5)")
    axis.plot(bound.numbers("T"), bound.numbers("excess"), **_BOUND)
    for L, look in _looks(table):
        exact = table.where(kind="exact", L=L)
        axis.plot(exact.numbers("T"), exact.numbers("excess"), **look.line(), linewidth=1.0)
        least = table.where(kind="at least", L=L)
        axis.plot(least.numbers("T"), least.numbers("excess"), color=look.color, **_LEAST)
        _simulated(axis, table, L, look)
    _depth_axis(axis, float(np.max(table.numbers("T"))))
    axis.set(title=rf"(b) $d={experiments.DIM}$, $\alpha=\alpha^{{*}}$", ylim=(1e-6, _TOP))


def _minimiser(axis: Axes, table: Table) -> None:
    limit = table.where(L=None)
    lowest = min(0.05, 0.9 * float(np.min(table.numbers("alpha"))))
    axis.plot(limit.numbers("T"), limit.numbers("alpha"), **_BIAS)
    for number, L in enumerate(table.distinct("L")[1:]):
        look = style.SERIES[number + 1]
        rows = table.where(L=L)
        axis.plot(rows.numbers("T"), rows.numbers("alpha"), **look.both(), linewidth=1.0)
    _depth_axis(axis, float(np.max(limit.numbers("T"))))
    axis.set(
        ylabel=r"minimiser $\alpha_{T,L}^{*}$",
        title=r"(c) $d=1$: the best step",
        ylim=(lowest, 0.4),
    )
    ticks = [t for t in (0.02, 0.05, 0.1, 0.2, 0.3, 0.4) if t >= lowest]
    axis.set_yticks(ticks, [str(t) for t in ticks])
    axis.yaxis.minorticks_off()


def _legend(canvas: Canvas, table: Table) -> None:
    from matplotlib.lines import Line2D

    def line(label: str, **look: Any) -> Line2D:
        return Line2D([], [], label=label, **look)

    handles: list[Any] = [
        line(f"$L={L}$" if L < 1000 else rf"$L=10^{len(str(L)) - 1}$", **look.both(), linewidth=1.0)
        for L, look in _looks(table)
    ]
    handles += [
        line(r"$L=\infty$: bias; (c) $\alpha_T^{*}$", **_BIAS),
        line("certified lower bound of the mean", color=style.GREY, **_LEAST),
        line(r"bound (H.5) for $L=10^4$", **_BOUND),
        line(
            "hollow: tail not bounded",
            color=style.GREY,
            marker="o",
            markerfacecolor="white",
            linestyle="none",
        ),
    ]
    canvas.legend(handles=handles, loc="outside lower center", ncols=4, handlelength=1.8)


def draw_limits(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    a, b, c = canvas.subplots(1, 3)
    _scalar(a, tables["scalar"])
    _many(b, tables["many"], tables["scalar"].where(kind="bias"))
    _minimiser(c, tables["minimiser"])
    _legend(canvas, tables["many"])


LIMITS = Figure(
    "lca.limits",
    "Depth and context length do not commute: the finite-context risk against depth",
    "Excess risk over the Bayes risk, in units of E[ζ²], of the one-parameter model at α = α* = "
    "2/(Zmin+Zmax). Lines are exact means, marks simulated ones with their 99% intervals. At a fixed "
    "context L the risk falls with the bias, stays at the noise of order d/L, and then explodes, at "
    "a depth proportional to L, because Σ̂ has an unbounded spectrum. (a) d = 1, exact at every "
    "depth. Where the mean is carried by prompts that the sample does not show, the marks stay below "
    "the line; they are hollow where no bound of the tail backs their interval, and left out above "
    "the frame. (b) d = 10. Exact means to T = 8; dotted, a certified lower bound of the mean, drawn "
    "where it exceeds the floor of least squares. Dashed: the bound (H.5), which holds with high "
    "probability over the context, not in the mean. (c) The step that minimises the mean risk at "
    "d = 1: it tends to 2/7 with depth only at L = ∞; at every finite context it falls like 1/T, "
    "which is early stopping.",
    experiments.limits_data,
    draw_limits,
    (7.4, 3.7),
)
