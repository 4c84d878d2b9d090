"""``lca.table1`` and ``lca.avmnist``: only drawing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from theoryverify.figures import Figure, Table, style
from theoryverify.papers.lca.experiments import table1 as experiments

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


_LOOKS = (
    *style.SERIES,
    style.Series(style.SKY, (0, (5, 1.5)), "X"),
    style.Series(style.GREY, (0, (1.2, 1.2)), "<"),
)


def _forest(axis: Axes, rows: Table, name: str, value: str, colour: str) -> None:
    """One line a row: a thick interval by clip, a thin one by speaker."""
    places = np.arange(len(rows.rows))[::-1]
    for by, width, alpha in (("speaker", 1.0, 1.0), ("clip", 4.0, 0.45)):
        axis.hlines(
            places,
            100 * rows.numbers(f"{by}_lower"),
            100 * rows.numbers(f"{by}_upper"),
            color=colour,
            linewidth=width,
            alpha=alpha,
        )
    axis.plot(100 * rows.numbers(value), places, "o", color=colour, markersize=5)
    axis.set_yticks(places, [str(label) for label in rows.column(name)])
    axis.tick_params(axis="y", length=0)
    axis.set_ylim(-0.7, len(rows.rows) - 0.3)


def _title(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    """Which data these are, in the picture itself."""
    data, images, sounds, preset, epochs, seeds = tables["source"].rows[0]
    canvas.suptitle(
        f"{data}, not avMNIST: {images} and {sounds}; {preset}, {epochs} epochs, {seeds} seeds",
        fontsize=8,
        color=style.GREY,
    )


def draw_table1(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    from matplotlib.lines import Line2D

    left, right = canvas.subplots(1, 2, width_ratios=(1, 1.15))
    _title(canvas, tables)
    accuracy, effects = tables["accuracy"], tables["effects"]
    _forest(left, accuracy, "arm", "accuracy", style.BLUE)
    places = np.arange(len(accuracy.rows))[::-1]
    left.plot(
        100 * accuracy.numbers("best_test_epoch"), places, "x", color=style.VERMILION, markersize=6
    )
    left.set(xlabel="test accuracy (%)", title="(a) models")
    _forest(right, effects, "effect", "difference", style.BLUE)
    right.axvline(0, color=style.GREY, linewidth=0.8)
    right.set(xlabel="difference (percentage points)", title="(b) effects, paired")
    canvas.legend(
        handles=[
            Line2D([], [], color=style.BLUE, marker="o", linestyle="none", label="mean over seeds"),
            Line2D([], [], color=style.BLUE, linewidth=4, alpha=0.45, label="95% by clip"),
            Line2D([], [], color=style.BLUE, linewidth=1, label="95% by speaker"),
            Line2D(
                [], [], color=style.VERMILION, marker="x", linestyle="none", label="best test epoch"
            ),
        ],
        loc="outside lower center",
        ncols=4,
    )


def draw_avmnist(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    from matplotlib.ticker import MaxNLocator

    _title(canvas, tables)
    halves = canvas.add_gridspec(2, 1, height_ratios=(1.35, 1))
    bottom = canvas.add_subfigure(halves[1])
    axis = canvas.add_subfigure(halves[0]).subplots()
    curves = tables["curves"]
    for look, arm in zip(_LOOKS, curves.distinct("arm"), strict=True):
        rows = curves.where(arm=arm)
        epoch = rows.numbers("epoch")
        style.band(
            axis,
            epoch,
            100 * rows.numbers("lowest"),
            100 * rows.numbers("highest"),
            look.color,
            alpha=0.1,
        )
        axis.plot(epoch, 100 * rows.numbers("mean"), **look.line(), label=str(arm))
    axis.axhline(10, color=style.GREY, linewidth=0.8, linestyle=":")
    axis.set(xlabel="epoch", ylabel="test accuracy (%)", xlim=(0, None))
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    pictures = tables["pictures"]
    digits, kinds = pictures.distinct("digit"), pictures.distinct("kind")
    grid = bottom.add_gridspec(1, len(digits))
    for column, digit in enumerate(digits):
        block = bottom.add_subfigure(grid[column])
        cells = np.asarray(block.subplots(2, 2)).ravel()
        for cell, kind in zip(cells, kinds, strict=True):
            lines = pictures.where(digit=digit, kind=kind).column("bytes")
            cell.imshow([list(bytes.fromhex(str(line))) for line in lines], cmap="gray")
            cell.set_xticks([])
            cell.set_yticks([])
            cell.set_title(str(kind), fontsize=6.5, pad=2)


_ABOUT = (
    "Five classifiers of a digit seen and heard, both corrupted; one without injection whose wider MLPs "
    "give it the full model's parameters; and two (ours) whose head reads the mean of all tokens. As the "
    "paper is read here, with cross-attention the row of CLS never sees what is injected elsewhere: "
    "'full' and 'no injection' are one class of functions, and their difference is a control, 0 but for "
    "rounding. Injection can act under self-attention and under the mean read-out."
)

TABLE1 = Figure(
    "lca.table1",
    "Table 1 again, with intervals",
    f"{_ABOUT} (a) Test accuracy at the epoch that is best on the validation split; crosses: at the "
    "epoch that is best on the test split, as the paper reports, which is too good. (b) Differences, "
    "with the same seeds and the same pairs on both sides; the two mechanisms as a 2 x 2 design. An "
    "interval that contains 0 shows nothing. The data are avMNIST-like, not avMNIST.",
    experiments.table1_data,
    draw_table1,
    (8.8, 4.4),
    needs=("torch", "scipy"),
)

AVMNIST = Figure(
    "lca.avmnist",
    "Learning curves on avMNIST-like data, and what is seen and heard",
    f"{_ABOUT} Above: test accuracy against the epoch, dotted: chance. Below: pairs of a digit, clean "
    "and corrupted; spectrograms have time to the right and frequency upward.",
    experiments.avmnist_data,
    draw_avmnist,
    (7.4, 5.6),
    needs=("torch", "scipy"),
)
