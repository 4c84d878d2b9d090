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
"""Labels beyond are rare: 1.4% of He_3/√6 are larger in size."""
POOR = 0.5
"""Gates that explain less of an opening are drawn hollow."""


def draw(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    axes = canvas.subplots(4, 2)
    _training(axes[0, 0], *(tables[t].where(measure=MEASURE) for t in ("training", "seeds")))
    _alignments(axes[0, 1], tables["alignment"])
    for column, (name, above, below) in enumerate((("Mamba", "c", "e"), ("GPT-2", "d", "f"))):
        _openings(axes[1, column], tables["opening"].where(model=name), name, above)
        title = f"({below}) {name}: gates fitted to ({above}), times $y$"
        _gates(axes[2, column], tables["gates"], name, title)
    _responses(axes[3, 0], tables["response"])
    _profiles(axes[3, 1], tables["profile"])
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
        style.band(axis, x, own.numbers("lower") / level, own.numbers("upper") / level, look.color)
    axis.axhline(1, color=style.BLACK, linewidth=0.7, linestyle=(0, (1, 2)))
    axis.set(
        title="(a) validation",
        xlabel="step",
        ylabel="error / error of predicting 0",
        ylim=(0, 1.3),
    )
    axis.legend(loc="upper right", ncols=2)


def _dark(number: int, count: int) -> float:
    """Opacity of a layer: later ones are darker."""
    return 0.35 + 0.65 * (number + 1) / count


def _openings(axis: Axes, rows: Table, name: str, letter: str) -> None:
    look = LOOKS[name]
    layers = rows.distinct("layer")
    for number, layer in enumerate(layers):
        for place, seed in enumerate(rows.distinct("seed")):
            own = rows.where(layer=layer, seed=seed)
            y = own.numbers("y")
            inside = np.abs(y) <= SHOWN
            last = number == len(layers) - 1
            axis.plot(
                y[inside],
                own.numbers("opening")[inside],
                **look.line(),
                alpha=_dark(number, len(layers)),
                linewidth=1.5 if last else 0.9,
                label="" if place else f"layer {layer}",
            )
            style.band(
                axis,
                y[inside],
                own.numbers("lower")[inside],
                own.numbers("upper")[inside],
                look.color,
                alpha=0.12,
            )
    axis.set(
        title=f"({letter}) {name}: how far layers open",
        xlabel="label $y$ in a token",
        ylabel="opening / its mean",
        xlim=(-SHOWN, SHOWN),
    )
    low, high = axis.get_ylim()
    axis.set_ylim(low, high + 0.2 * (high - low))
    axis.legend(loc="upper center", ncols=len(layers), fontsize=7.5)


def _gates(axis: Axes, rows: Table, name: str, title: str) -> None:
    """Layers stand side by side, later ones darker; seeds on one place."""
    look = LOOKS[name]
    own = rows.where(transformation=name)
    layers = own.distinct("layer")
    theory = [t for t in rows.distinct("transformation") if t not in LOOKS]
    places = len(layers) + len(theory)
    label = f"layers 1 to {len(layers)}" if len(layers) > 1 else "the layer"
    for number, layer in enumerate(layers):
        for seed in own.distinct("seed"):
            marks = own.where(layer=layer, seed=seed)
            poor = marks.numbers("explained")[0] < POOR
            last = number == len(layers) - 1 and seed == own.distinct("seed")[0]
            _coefficients(
                axis,
                marks,
                0.8 * ((number + 0.5) / places - 0.5),
                color=look.color,
                marker=look.marker,
                alpha=_dark(number, len(layers)),
                markerfacecolor="white" if poor else look.color,
                label=label if last else "",
            )
    for number, gate in enumerate(theory):
        color, text, mark = MAPS[str(gate)]
        shift = 0.8 * ((len(layers) + number + 0.5) / places - 0.5)
        known = rows.where(transformation=gate)
        _coefficients(axis, known, shift, color=color, marker=mark, label=text)
    _finish_coefficients(axis, rows, title)


def _responses(axis: Axes, rows: Table) -> None:
    for name, (color, label, _) in MAPS.items():
        look = LOOKS.get(name)
        whole = rows.where(transformation=name)
        for number, seed in enumerate(whole.distinct("seed")):
            own = whole.where(seed=seed)
            y = own.numbers("y")
            inside = np.abs(y) <= SHOWN
            axis.plot(
                y[inside],
                own.numbers("T")[inside],
                color=color,
                linestyle=look.linestyle if look else DASHES[name],
                linewidth=1.3 if look else 0.9,
                label="" if number else label,
            )
            if look:
                style.band(
                    axis,
                    y[inside],
                    own.numbers("lower")[inside],
                    own.numbers("upper")[inside],
                    color,
                )
    axis.axhline(0, color=style.BLACK, linewidth=0.6)
    axis.set(
        title="(g) what is done to a label",
        xlabel="label $y$ of an example",
        ylabel=r"$T(y)\,/\,\sqrt{\mathrm{E}[T^2]}$",
        xlim=(-SHOWN, SHOWN),
        ylim=(-3, 5.2),
    )
    axis.legend(loc="upper center", ncols=3, fontsize=7.5, columnspacing=0.9, handlelength=1.8)


def _profiles(axis: Axes, rows: Table) -> None:
    for number, (name, (color, label, mark)) in enumerate(MAPS.items()):
        whole = rows.where(transformation=name)
        shift = 0.12 * (number - 2.5)
        for place, seed in enumerate(whole.distinct("seed")):
            own = whole.where(seed=seed)
            text = "" if place else label
            _coefficients(axis, own, shift, color=color, marker=mark, label=text)
    _finish_coefficients(axis, rows, "(h) coefficients of (g)")


def _coefficients(axis: Axes, own: Table, shift: float, **look: Any) -> None:
    c = own.numbers("coefficient")
    low = np.nan_to_num(c - own.numbers("lower"))
    high = np.nan_to_num(own.numbers("upper") - c)
    axis.errorbar(
        own.numbers("k") + shift, c, yerr=np.maximum([low, high], 0), markersize=4,
        linestyle="none", elinewidth=0.9, capsize=1.8, **look,
    )  # fmt: skip


def _finish_coefficients(axis: Axes, rows: Table, title: str) -> None:
    axis.axhline(0, color=style.BLACK, linewidth=0.6)
    axis.set(
        title=title,
        xlabel="degree $k$",
        ylabel=r"$\mathrm{E}[T\,\mathrm{he}_k]\,/\sqrt{\mathrm{E}[T^2]}$",
        ylim=(-1.1, 1.75),
        yticks=[-1, -0.5, 0, 0.5, 1],
    )
    axis.set_xticks(sorted(set(rows.numbers("k").astype(int))))
    axis.legend(loc="upper center", ncols=3, fontsize=7.5, columnspacing=0.9, handletextpad=0.2)


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
            style.band(axis, x, own.numbers("lower"), own.numbers("upper"), look.color)
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
    "layer, on unseen tasks. (c, d) How far each layer opens to a token, against the label in "
    "it: for Mamba the mean of 1-exp(ΔA), for GPT-2 the attention of later positions; the theory's gate "
    "σ(y/ρ+b) rises from left to right. (e, f) Normalised Hermite coefficients of y times the gate "
    "low + (high-low)σ(y/ρ+b) that fits a layer best, labels counted as often as they are drawn; layers "
    "stand from left to right, later ones darker, and marks are hollow where the gate explains less than "
    "half of the opening's variance. Beside them two gates of the theory. (g) The label transformation "
    "T, measured from what the change of one label does to later predictions, over its root mean square; "
    "with it those of two gates of the theory, y itself (no transformation), and E[z|y], which has the "
    "largest coefficient of degree 1. (h) The coefficients of (g). In (c) to (h) trainings are drawn one "
    "by one. Shades and bars are intervals.",
    experiments.training_data,
    draw,
    (7.2, 10.6),
    needs=("torch", "safetensors"),
)
