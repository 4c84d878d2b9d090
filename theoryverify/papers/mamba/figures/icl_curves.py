"""The figure ``mamba.icl_curves``: only drawing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from theoryverify.figures import Figure, Table, style
from theoryverify.figures.table import Cell
from theoryverify.papers.mamba.experiments import icl as experiments

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

MEASURE = "clipped"
LOOKS = {
    "Mamba": style.Series(style.BLUE, "-", "o"),
    "GPT-2": style.Series(style.VERMILION, "-", "s"),
    "kernel ridge": style.Series(style.GREEN, "-", "^"),
    "kernel ridge, oracle": style.Series(style.GREEN, (0, (1.2, 1.2)), "v"),
    "one-layer theory": style.Series(style.PURPLE, "-", "D"),
    "support and link known": style.Series(style.GREY, "-", "P"),
}
PANELS = ("d", "r", "N_pt")
SYMBOLS = {"d": "d", "r": "r", "N_pt": r"N_{\mathrm{pt}}"}
_DASHED = (0, (4, 1.6))


def draw(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    axes = canvas.subplots(1, 3, sharey=True)
    for axis, change, letter in zip(axes, PANELS, "abc", strict=True):
        base, other = _panel(axis, tables, change)
        axis.set(
            title=f"({letter}) ${SYMBOLS[change]}={base}$ (solid), {other} (dashed)",
            xlabel="examples in context",
            ylim=(0, 1.3),
        )
        axis.set_xscale("log", base=2)
        axis.axhline(1, color=style.BLACK, linewidth=0.7, linestyle=(0, (1, 2)), zorder=1)
        ticks = [2**i for i in range(9) if 2**i <= axis.get_xlim()[1]]
        axis.set_xticks(ticks, [str(t) for t in ticks])
        axis.minorticks_off()
    axes[0].set_ylabel("error / error of predicting 0")
    canvas.legend(handles=_handles(), loc="outside lower center", ncols=3)
    say_budget(canvas, tables["budget"])


def say_budget(canvas: Canvas, budget: Table) -> None:
    """The preset, above the panels: what a picture shows depends on it."""
    ((preset, steps, batch, seeds),) = budget.rows
    plural = "s" if seeds != 1 else ""
    canvas.suptitle(
        f"preset {preset}: {steps} steps of {batch} tasks, {seeds} seed{plural}",
        fontsize=9,
        x=0.99,
        ha="right",
    )


def _panel(axis: Axes, tables: Mapping[str, Table], change: str) -> tuple[Cell, Cell]:
    """Draws the base and one change; returns the value of what was changed in both."""
    curves = tables["curves"].where(measure=MEASURE)
    values = []
    for which, dashed in (("base", False), (change, True)):
        rows = curves.where(change=which)
        values.append(rows.column(change)[0])
        for method, look in LOOKS.items():
            if method == "one-layer theory" and (dashed or change != "d"):
                continue  # one curve, drawn once
            if method != "kernel ridge, oracle":
                _curve(axis, rows.where(method=method), look, dashed=dashed)
                _thin(
                    axis, tables["seeds"].where(measure=MEASURE, change=which, method=method), look
                )
        if change == "N_pt" or not dashed:
            axis.axvline(
                rows.numbers("N_pt")[0] - 1,
                color=style.GREY,
                linewidth=0.8,
                linestyle=_DASHED if dashed else "-",
                zorder=0,
            )
    if change == "r":
        kernel = tables["kernel"].where(measure=MEASURE)
        for method in ("kernel ridge", "kernel ridge, oracle"):
            _curve(axis, kernel.where(method=method), LOOKS[method], marked=True)
        axis.annotate(
            f"$r={kernel.column('r')[0]}$",
            _middle(kernel),
            (7, 1),
            textcoords="offset points",
            fontsize=8,
            ha="left",
            color=style.GREEN,
        )
    return values[0], values[1]


def _middle(kernel: Table) -> tuple[float, float]:
    """Where the validated curve falls through a half."""
    rows = kernel.where(method="kernel ridge")
    x, y = rows.numbers("examples"), rows.numbers("error") / rows.numbers("trivial")
    return float(np.exp(np.interp(-0.5, -y, np.log(x)))), 0.5


def _curve(
    axis: Axes, rows: Table, look: style.Series, *, dashed: bool = False, marked: bool = False
) -> None:
    if not rows.rows:
        return
    level = rows.numbers("trivial")
    x = rows.numbers("examples")
    settings: dict[str, Any] = {"color": look.color, "linewidth": 1.2}
    settings["linestyle"] = look.linestyle if look.linestyle != "-" else _DASHED if dashed else "-"
    settings |= {"marker": look.marker, "markersize": 2.8}
    settings["markerfacecolor"] = "white" if dashed or marked else look.color
    axis.plot(x, rows.numbers("error") / level, **settings)
    style.band(axis, x, rows.numbers("lower") / level, rows.numbers("upper") / level, look.color)


def _thin(axis: Axes, rows: Table, look: style.Series) -> None:
    """The seeds one by one, if there are several."""
    seeds = rows.distinct("seed")
    for seed in seeds if len(seeds) > 1 else ():
        own = rows.where(seed=seed)
        heights = own.numbers("error") / own.numbers("trivial")
        axis.plot(own.numbers("examples"), heights, color=look.color, linewidth=0.5, alpha=0.7)


def _handles() -> list[Any]:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], **look.both(), markersize=3.5, label=method)
        for method, look in LOOKS.items()
    ]


ICL_CURVES = Figure(
    "mamba.icl_curves",
    "In-context error of trained models against the number of examples",
    "Squared error of the prediction from the first k examples of a prompt, over that of predicting "
    "0 (dotted at 1). Solid: the base; dashed: with another (a) ambient dimension d, (b) dimension r "
    "of the support, (c) context N_pt of pretraining. Vertical lines stand at the longest context "
    "seen in pretraining; to their right models extrapolate. Kernel ridge (Gaussian) is given the r "
    "coordinates of the support, its width and ridge chosen for each context size on tasks of their "
    "own; in (b) also at r = 8, and there once more chosen on the test tasks themselves (dotted), "
    "which no learner can. The one-layer theory is Algorithm 1 pretrained at N_pt with gate "
    "σ(y/4-3). Least squares over the sphere of the support, the link known, is what is possible. "
    "Shades are intervals over test tasks, thin lines single trainings.",
    experiments.icl_curves_data,
    draw,
    (7.2, 3.9),
    needs=("torch", "safetensors"),
)
