"""The figure ``mamba.training``: only drawing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from theoryverify.figures import Figure, Table, style
from theoryverify.papers.mamba.experiments import training as experiments
from theoryverify.papers.mamba.figures.icl_curves import say_budget

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

MEASURE = "clipped"
LOOKS = {
    "Mamba": style.Series(style.BLUE, "-", "o"),
    "GPT-2": style.Series(style.VERMILION, (0, (5, 1.5)), "s"),
}
MAPS = {
    "Mamba": (style.BLUE, "Mamba", "o"),
    "GPT-2": (style.VERMILION, "GPT-2", "s"),
    "y σ(y/4-3)": (style.GREEN, r"$y\,\sigma(y/4-3)$", "^"),
    "y σ(y-2)": (style.SKY, r"$y\,\sigma(y-2)$", "v"),
    "y": (style.GREY, "$y$", "D"),
    "E[z|y]": (style.BLACK, r"$\mathrm{E}[z\,|\,y]$", "P"),
}
"""Label transformations: colour, name and mark."""
DASHES = {"y σ(y/4-3)": (0, (4, 1)), "y σ(y-2)": (0, (2, 1)), "y": "-", "E[z|y]": (0, (1, 1))}
SHOWN = 3.0
"""Labels beyond are rare: 2% of He_3/√6 are larger in size."""


def draw(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    axes = canvas.subplots(3, 2)
    _training(axes[0, 0], *(tables[t].where(measure=MEASURE) for t in ("training", "seeds")))
    _alignments(axes[0, 1], tables["alignment"])
    _openings(axes[1, 0], tables["opening"])
    _gates(axes[1, 1], tables["gates"])
    _responses(axes[2, 0], tables["response"])
    _profiles(axes[2, 1], tables["profile"])
    say_budget(canvas, tables["budget"])


def _training(axis: Axes, rows: Table, single: Table) -> None:
    for name, look in LOOKS.items():
        own = rows.where(model=name)
        level = own.numbers("trivial")
        x = own.numbers("step")
        axis.plot(x, own.numbers("error") / level, **look.line(), label=name)
        seeds = single.where(model=name).distinct("seed")
        for seed in seeds if len(seeds) > 1 else ():
            alone = single.where(model=name, seed=seed)
            heights = alone.numbers("error") / alone.numbers("trivial")
            axis.plot(alone.numbers("step"), heights, color=look.color, linewidth=0.5, alpha=0.7)
        axis.fill_between(
            x,
            own.numbers("lower") / level,
            own.numbers("upper") / level,
            color=look.color,
            alpha=0.15,
            linewidth=0,
        )
    axis.axhline(1, color=style.BLACK, linewidth=0.7, linestyle=(0, (1, 2)))
    axis.set(
        title="(a) validation",
        xlabel="step",
        ylabel="error / error of predicting 0",
        ylim=(0, 1.3),
    )
    axis.legend(loc="lower left")


def _openings(axis: Axes, rows: Table) -> None:
    for name, look in LOOKS.items():
        layers = rows.where(model=name).distinct("layer")
        for number, layer in enumerate(layers):
            own = rows.where(model=name, layer=layer)
            y = own.numbers("y")
            inside = np.abs(y) <= SHOWN
            last = number == len(layers) - 1
            axis.plot(
                y[inside],
                own.numbers("opening")[inside],
                **look.line(),
                alpha=0.35 + 0.65 * (number + 1) / len(layers),
                linewidth=1.5 if last else 0.9,
            )
            axis.fill_between(
                y[inside],
                own.numbers("lower")[inside],
                own.numbers("upper")[inside],
                color=look.color,
                alpha=0.12,
                linewidth=0,
            )
            edge = own.numbers("opening")[inside][-1]
            axis.annotate(
                str(layer), (y[inside][-1], edge), (3, -3), textcoords="offset points",
                fontsize=7.5, color=look.color,
            )  # fmt: skip
    axis.set(
        title="(c) how far each layer opens",
        xlabel="label $y$ in a token",
        ylabel="opening / its mean over $y$",
        xlim=(-SHOWN, SHOWN * 1.08),
    )


def _gates(axis: Axes, rows: Table) -> None:
    """Layers of a model are marks side by side, later ones darker."""
    series: list[tuple[Table, str, str, str, float]] = []
    for name, look in LOOKS.items():
        layers = rows.where(model=name).distinct("layer")
        label = f"{name}, layers 1 to {len(layers)}" if len(layers) > 1 else f"{name}, its layer"
        for number, layer in enumerate(layers):
            dark = 0.35 + 0.65 * (number + 1) / len(layers)
            last = number == len(layers) - 1
            own = rows.where(model=name, layer=layer)
            series.append((own, look.color, look.marker, label if last else "", dark))
    for gate in rows.where(model="theory").distinct("gate"):
        color, label, mark = MAPS[str(gate)]
        series.append((rows.where(model="theory", gate=gate), color, mark, label, 1.0))
    for number, (own, color, mark, label, dark) in enumerate(series):
        shift = 0.8 * ((number + 0.5) / len(series) - 0.5)
        _coefficients(axis, own, shift, color=color, marker=mark, label=label, alpha=dark)
    _finish_coefficients(axis, rows, "(d) gates fitted to (c), times $y$", ncols=2)


def _responses(axis: Axes, rows: Table) -> None:
    for name, (color, label, _) in MAPS.items():
        own = rows.where(transformation=name)
        y = own.numbers("y")
        inside = np.abs(y) <= SHOWN
        look = LOOKS.get(name)
        measured = look is not None
        style_of = look.both() if look else {"color": color, "linestyle": DASHES[name]}
        axis.plot(
            y[inside],
            own.numbers("T")[inside],
            **style_of,
            markersize=2.6,
            linewidth=1.3 if measured else 0.9,
            label=label,
        )
        if measured:
            axis.fill_between(
                y[inside],
                own.numbers("lower")[inside],
                own.numbers("upper")[inside],
                color=color,
                alpha=0.15,
                linewidth=0,
            )
    axis.axhline(0, color=style.BLACK, linewidth=0.6)
    axis.set(
        title="(e) what is done to a label",
        xlabel="label $y$ of an example",
        ylabel=r"$T(y)\,/\,\sqrt{\mathrm{E}[T^2]}$",
        xlim=(-SHOWN, SHOWN),
        ylim=(-3, 5.2),
    )
    axis.legend(loc="upper center", ncols=3, fontsize=7.5, columnspacing=0.9, handlelength=1.8)


def _profiles(axis: Axes, rows: Table) -> None:
    for number, (name, (color, label, mark)) in enumerate(MAPS.items()):
        own = rows.where(transformation=name)
        shift = 0.12 * (number - 2.5)
        _coefficients(axis, own, shift, color=color, marker=mark, label=label)
    _finish_coefficients(axis, rows, "(f) coefficients of (e)", ncols=3)


def _coefficients(axis: Axes, own: Table, shift: float, **look: Any) -> None:
    c = own.numbers("coefficient")
    low = np.nan_to_num(c - own.numbers("lower"))
    high = np.nan_to_num(own.numbers("upper") - c)
    axis.errorbar(
        own.numbers("k") + shift, c, yerr=np.maximum([low, high], 0), markersize=4,
        linestyle="none", elinewidth=0.9, capsize=1.8, **look,
    )  # fmt: skip


def _finish_coefficients(axis: Axes, rows: Table, title: str, ncols: int) -> None:
    axis.axhline(0, color=style.BLACK, linewidth=0.6)
    axis.set(
        title=title,
        xlabel="degree $k$",
        ylabel=r"$\mathrm{E}[T\,\mathrm{he}_k]\,/\sqrt{\mathrm{E}[T^2]}$",
        ylim=(-1.1, 1.75),
        yticks=[-1, -0.5, 0, 0.5, 1],
    )
    axis.set_xticks(sorted(set(rows.numbers("k").astype(int))))
    axis.legend(loc="upper center", ncols=ncols, fontsize=7.5, columnspacing=0.9, handletextpad=0.2)


def _alignments(axis: Axes, rows: Table) -> None:
    for name, look in LOOKS.items():
        layers = rows.where(model=name).distinct("layer")
        for layer in (layers[0], layers[-1]):
            own = rows.where(model=name, layer=layer)
            x = own.numbers("examples")
            face = look.color if layer == layers[-1] else "white"
            axis.plot(
                x, own.numbers("explained"), **look.both(), markersize=3.2, markerfacecolor=face,
                label=f"{name}, " + ("last layer" if layer == layers[-1] else "input"),
            )  # fmt: skip
            axis.fill_between(
                x,
                own.numbers("lower"),
                own.numbers("upper"),
                color=look.color,
                alpha=0.15,
                linewidth=0,
            )
    axis.set(
        title=r"(b) alignment with $\langle\beta,x\rangle$",
        xlabel="examples in context",
        ylabel="$R^2$ of a linear read-out",
        ylim=(-0.15, 1.3),
        yticks=[0, 0.25, 0.5, 0.75, 1],
    )
    axis.set_xscale("log", base=2)
    ticks = [2**i for i in range(9) if 2**i <= rows.numbers("examples").max()]
    axis.set_xticks(ticks, [str(t) for t in ticks])
    axis.minorticks_off()
    axis.legend(loc="upper left", ncols=2, fontsize=7.5)


TRAINING = Figure(
    "mamba.training",
    "What training in context teaches Mamba and GPT-2, beside the theory's gate",
    "(a) Error at the longest contexts while training, over that of predicting 0 (dotted). (b) How well "
    "⟨β,x⟩ of the query is read linearly from the residual stream before the first and after the last "
    "layer, on unseen tasks. (c) How far each layer (numbers) opens to a token, against the label in it: "
    "for Mamba the mean of 1-exp(ΔA), for GPT-2 the attention of later positions; the theory's gate "
    "σ(y/ρ+b) rises from left to right. (d) Normalised Hermite coefficients of y times the best gate for "
    "(c), for each layer from left to right (later ones darker), and of two gates of the theory. "
    "(e) The label transformation T, measured from what the change of one label does to later "
    "predictions, over its root mean square; with it those of two gates of the theory, y itself (no "
    "transformation), and E[z|y], which has the largest coefficient of degree 1. (f) The coefficients "
    "of (e). Shades and bars are intervals.",
    experiments.training_data,
    draw,
    (7.2, 8.2),
    needs=("torch", "safetensors"),
)
