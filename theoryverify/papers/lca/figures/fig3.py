"""The figure ``lca.fig3``: only drawing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from theoryverify.figures import Figure, Table, style
from theoryverify.papers.lca.experiments import cells_fig3 as cells
from theoryverify.papers.lca.experiments import fig3 as experiments
from theoryverify.papers.lca.experiments.fig3 import EXACT, KINDS, START, TIED, TIED_LIMIT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_LOOKS = dict(zip(KINDS, style.SERIES, strict=False))
_NAMES = {
    "scalar": "untied scalar, trained",
    "diagonal": "diagonal, trained",
    "full": "full matrix, trained",
}
_SHIFT = {"scalar": -0.22, "diagonal": 0.0, "full": 0.22}
_DASH: dict[str, Any] = {"at": "-", "half": (0, (4, 1.6))}
_LENGTHS = {cells.CONTEXT: style.BLACK, None: style.PURPLE}
_FACE = "white"
_STARTED = "#C4C4C4"


def _bars(axis: Axes, table: Table, columns: tuple[str, str, str], sign: int = 1) -> None:
    """Mean and range over the seeds of each kind; hollow where training started at half."""
    for kind, look in _LOOKS.items():
        for start in table.where(kind=kind).distinct("start"):
            rows = table.where(kind=kind, start=start)
            low, mid, high = (sign * rows.numbers(name) for name in columns)
            axis.errorbar(
                rows.numbers("layer") + _SHIFT[kind],
                mid,
                yerr=[abs(mid - low), abs(high - mid)],
                **look.points(),
                markersize=3.4,
                markerfacecolor=look.color if start == "at" else _FACE,
                markeredgewidth=0.9,
                elinewidth=0.8,
            )


def _layers(axis: Axes, title: str, label: str = "") -> None:
    axis.set(xlabel="layer $t$", xlim=(0.4, cells.DEPTH + 0.6), title=title, ylabel=label)
    axis.set_xticks(range(1, cells.DEPTH + 1))


def _references(axis: Axes, tables: Mapping[str, Table]) -> None:
    for mark, dash, text in (
        ("alpha_limit", "-", r"$\alpha^{*}=2/(\underline{Z}+\overline{Z})$"),
        ("untied_limit", (0, (1.2, 1.2)), r"$1/\sqrt{\underline{Z}\,\overline{Z}}$"),
    ):
        (value,) = tables["marks"].where(mark=mark).numbers("value")
        axis.axhline(value, color=style.GREY, linestyle=dash, linewidth=0.9, zorder=0, label=text)


def _traces(axis: Axes, tables: Mapping[str, Table], optimizer: str, name: str, sign: int) -> None:
    layers = tables["layers"].where(optimizer=optimizer)
    for start in layers.distinct("start"):
        for kind, color, width in ((START, _STARTED, 3.5), (EXACT, style.BLACK, 1.1)):
            rows = layers.where(kind=kind, start=start)
            if rows.rows:
                axis.hlines(
                    sign * rows.numbers(f"{name}_mean"),
                    rows.numbers("layer") - 0.42,
                    rows.numbers("layer") + 0.42,
                    color=color,
                    linewidth=width,
                    zorder=1,
                )
    _bars(axis, layers, (f"{name}_low", f"{name}_mean", f"{name}_high"), sign)
    _references(axis, tables)


def _whitening(axis: Axes, tables: Mapping[str, Table], optimizer: str) -> None:
    table = tables["whitening"]
    for start in ("at", "half"):
        rows = table.where(optimizer=optimizer, kind=EXACT, start=start)
        axis.plot(rows.numbers("layer"), rows.numbers("mean"), color=style.BLACK, linewidth=1.1)
    for name, dash in ((TIED, "-"), (TIED_LIMIT, (0, (1.2, 1.2)))):
        rows = table.where(kind=name)
        axis.plot(
            rows.numbers("layer"), rows.numbers("mean"), color=style.GREY, linestyle=dash,
            linewidth=0.9, zorder=0,
        )  # fmt: skip
    _bars(axis, table.where(optimizer=optimizer), ("low", "mean", "high"))
    _best(axis, tables, "best_whitening", cells.DEPTH)
    axis.set_yscale("log")


def _flow(axis: Axes, tables: Mapping[str, Table], column: str) -> None:
    """One column of the exact flow against its time, from both starts, at both lengths."""
    for context, color in _LENGTHS.items():
        for start, dash in _DASH.items():
            rows = tables["flow"].where(start=start, context=context)
            keep = rows.numbers("time") > 0
            axis.plot(
                rows.numbers("time")[keep],
                rows.numbers(column)[keep],
                color=color,
                linestyle=dash,
                linewidth=1.2,
            )
    axis.set(xscale="log", xlabel="time of the gradient flow", xlim=(0.1, 1e8))
    axis.axvspan(
        0.1, tables["course"].numbers("time").max(), color=style.PALE, linewidth=0, zorder=0
    )
    style.decades(axis)


def _best(axis: Axes, tables: Mapping[str, Table], mark: str, place: float = 1e8) -> None:
    """The value at the optimum of each length."""
    for context, color in _LENGTHS.items():
        (value,) = tables["marks"].where(mark=mark, context=context).numbers("value")
        axis.plot(
            place, value, marker="*", markersize=9, color=color, markeredgecolor="black",
            markeredgewidth=0.5, linestyle="none", clip_on=False, zorder=5,
        )  # fmt: skip


def _course(axis: Axes, tables: Mapping[str, Table]) -> None:
    """The mean trace while training, on the flow's own time."""
    for kind, look in _LOOKS.items():
        for start in _DASH:
            rows = tables["course"].where(kind=kind, start=start)
            keep = rows.numbers("time") > 0.1
            axis.plot(
                rows.numbers("time")[keep][::2],
                rows.numbers("mean")[keep][::2],
                **look.points(),
                markersize=2.4,
                markerfacecolor=look.color if start == "at" else _FACE,
                markeredgewidth=0.7,
            )


def draw_fig3(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    axes = canvas.subplots(4, 2)
    for row, (optimizer, named) in enumerate((("sgd", "plain descent"), ("adam", "Adam"))):
        for axis, letter, name, sign, label in (
            (axes[row, 0], "ac"[row], "alpha", 1, r"$\widehat{\alpha}_t=\mathrm{tr}\,W^S_t/d$"),
            (axes[row, 1], "bd"[row], "beta", -1, r"$-\widehat{\beta}_t=-\mathrm{tr}\,W^V_t/d$"),
        ):
            _traces(axis, tables, optimizer, name, sign)
            what = "skip" if name == "alpha" else "attention"
            _layers(axis, f"({letter}) {what} traces after {named}", label)
        axis = axes[2, row]
        _whitening(axis, tables, optimizer)
        label = r"$\Vert XF_t^{\top}/L-I\Vert_F/\sqrt{d}$" if row == 0 else ""
        _layers(axis, f"({'ef'[row]}) whitening error after {named}", label)
        _share(axes[row])
    _share(axes[2])
    mean, white = axes[3]
    _flow(mean, tables, "alpha_mean")
    _course(mean, tables)
    _references(mean, tables)
    _best(mean, tables, "best_mean_trace")
    mean.set(ylabel=r"mean of $\widehat{\alpha}_t$ over layers", title="(g) exact flow: mean trace")
    _flow(white, tables, "whitening")
    _best(white, tables, "best_whitening")
    white.set(
        yscale="log",
        ylabel=r"$\Vert XF_T^{\top}/L-I\Vert_F/\sqrt{d}$",
        title="(h) exact flow: whitening error",
    )
    _legend(canvas, axes[0, 0])


def _share(axes: Any) -> None:
    """One range for both panels of a row."""
    low = min(axis.get_ylim()[0] for axis in axes)
    high = max(axis.get_ylim()[1] for axis in axes)
    for axis in axes:
        axis.set_ylim(low, high)


def _legend(canvas: Canvas, axis: Axes) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    def line(color: str, dash: Any, label: str) -> Line2D:
        return Line2D([], [], color=color, linestyle=dash, linewidth=1.2, label=label)

    marks = [Line2D([], [], **look.points(), label=_NAMES[kind]) for kind, look in _LOOKS.items()]
    lines, labels = axis.get_legend_handles_labels()
    named = [
        handle for handle, label in zip(lines, labels, strict=True) if not label.startswith("_")
    ]
    canvas.legend(
        handles=[
            *marks,
            *named,
            Line2D([], [], color=_STARTED, linewidth=3.5, label="where training started"),
            line(style.BLACK, "-", rf"exact descent, $L={cells.CONTEXT}$"),
            line(style.PURPLE, "-", r"exact descent, $L=\infty$"),
            line(style.GREY, _DASH["half"], r"(hollow, dashed) from $\frac{1}{2}\alpha^{*}$"),
            Line2D([], [], marker="*", markersize=9, color="white", markeredgecolor="black",
                   linestyle="none", label=f"at the optimum for $T={cells.DEPTH}$"),
            Patch(facecolor=style.PALE, label="as long as plain descent"),
        ],
        loc="outside lower center",
        ncols=3,
    )  # fmt: skip


FIG3 = Figure(
    "lca.fig3",
    "Untied layers: the traces stay where they start, until training is long enough to leave",
    "Traces of untied scalar, diagonal and full-matrix layers, trained from (α*, -α*) plus noise "
    "as in the paper (filled) and from half of it plus noise (hollow). Marks are means over "
    "seeds, bars least and greatest. (a), (b) α_t = tr W^S_t/d and -β_t = -tr W^V_t/d across "
    "layers after plain stochastic gradient descent: pale bars are where training started, black "
    "ticks descent on the exact loss from there. W^V_1 acts on F_0 = 0 and is never trained. Grey "
    "lines: α* = 2/(Zmin+Zmax), and 1/√(Zmin Zmax), where the mean trace of the best untied stack "
    "at L = ∞ tends with depth, for a support without gaps. (c), (d) The same after Adam, which "
    "does not wait for large gradients. (e), (f) The whitening error after each layer; black: "
    "descent on the exact loss; grey: the tied stack at (α*, -α*), exact at this L (line) and at "
    "L = ∞ (dotted); stars: the best stack of this depth. (g), (h) The gradient flow of the exact "
    "loss from the two starts without noise, at the L of training and at L = ∞; stars are the "
    "optimum, small marks the training of (a). Plain descent leaves the traces near their start, "
    "at (α*, -α*) or not. Later, and sooner with Adam, they leave: at L = ∞ for the best untied "
    "stack, whose mean trace is not α*; at the L of training for weights whose mean trace is "
    "negative and which do not whiten: that is what the least risk at a finite context asks for.",
    experiments.fig3_data,
    draw_fig3,
    (7.2, 10.4),
    needs=("torch", "scipy"),
)
