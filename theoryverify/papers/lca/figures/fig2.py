"""The figure ``lca.fig2``: only drawing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from theoryverify.figures import Figure, Table, style
from theoryverify.papers.lca.experiments import fig2 as experiments

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

LOOKS = {
    "LSA": style.Series(style.PURPLE, "-", "D"),
    "SA": style.Series(style.ORANGE, "-", "P"),
    "LCA1": style.Series(style.BLUE, "-", "o"),
    "LCA2": style.Series(style.VERMILION, (0, (5, 1.5)), "s"),
    "CA": style.Series(style.GREEN, "-", "^"),
}
NAMES = {
    "LSA": "LSA",
    "SA": "softmax SA",
    "LCA1": r"LCA$_T$, one parameter",
    "LCA2": r"LCA$_T$, two parameters",
    "CA": r"softmax CA$_T$",
}
FLOOR: dict[str, Any] = {"color": style.BLACK, "linestyle": (0, (1.2, 1.2)), "linewidth": 1.1}
OLS: dict[str, Any] = {"color": style.GREY, "linestyle": (0, (7, 1.5, 1.2, 1.5)), "linewidth": 1.0}
RULE: dict[str, Any] = {"color": style.GREY, "linestyle": "-", "linewidth": 0.9}
BIAS: dict[str, Any] = {"color": style.BLACK, "linestyle": "-", "linewidth": 1.2}
LEAST: dict[str, Any] = {"color": style.GREY, "linestyle": (0, (1, 1)), "linewidth": 1.8}
THRESHOLD: dict[str, Any] = {"color": style.GREY, "linestyle": (0, (3, 2)), "linewidth": 1.1}
_SHORT = style.Series(style.GREY, "-", "v")
_EXACT_UP_TO = 8
INFINITY = 3e10
"""Where "L = ∞" stands on the axis."""


def _points(axis: Axes, rows: Table, x: str, look: style.Series, *, shift: float = 0.0) -> None:
    """Means with their intervals; hollow where the interval is not backed by a bound of the tail."""
    for reliable in (True, False):
        some = rows.where(reliable=reliable)
        mean = some.numbers("excess") + shift
        ends = [
            mean - some.numbers("excess_lower") - shift,
            some.numbers("excess_upper") + shift - mean,
        ]
        axis.errorbar(
            some.numbers(x),
            mean,
            yerr=np.array(ends),
            **look.points(),
            markersize=4,
            markerfacecolor=look.color if reliable else "white",
            markeredgewidth=0.9,
            elinewidth=0.9,
            capsize=1.8,
            zorder=4,
        )


def _test_error(axis: Axes, tables: Mapping[str, Table]) -> None:
    """(a): the whole error at the contexts of literal models, above the Bayes risk."""
    (bayes,) = tables["bayes"].numbers("bayes_risk")
    (floor,) = tables["bayes"].numbers("best_layer")
    risk = tables["risk"].where(method="literal")
    for model, depth in (("LSA", 1), ("SA", 1), ("CA", 5), ("LCA2", 2), ("LCA1", 5)):
        rows, look = risk.where(model=model, T=depth), LOOKS[model]
        _points(axis, rows, "L", look, shift=bayes)
        axis.plot(rows.numbers("L"), rows.numbers("excess") + bayes, **look.line(), linewidth=0.8)
    axis.axhline(bayes, color=style.BLACK, linewidth=1.2)
    axis.axhline(bayes + floor, **FLOOR)
    last = float(np.max(risk.numbers("L")))
    axis.annotate(
        "Bayes risk", (last, bayes), (0, -3), textcoords="offset points", ha="right", va="top"
    )
    axis.set(
        xscale="log",
        xlabel=r"context length $L_{\mathrm{te}}$",
        ylabel=r"test error $E(y_q-\hat y_q)^2/E\zeta^2$",
        title="(a) test error",
        ylim=(bayes - 0.02, bayes + 1.05 * float(np.max(risk.numbers("excess_upper")))),
    )
    ticks = [L for L in (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192) if last >= L]
    ticks = ticks if len(ticks) < 7 else ticks[::2]
    axis.set_xticks(ticks, [str(t) for t in ticks])
    axis.minorticks_off()


def _excess(axis: Axes, tables: Mapping[str, Table]) -> None:
    """(b): the same less the Bayes risk, to L = 10^9 and at infinity."""
    (floor,) = tables["bayes"].numbers("best_layer")
    theory, risk, limits = tables["theory"], tables["risk"], tables["trained"]
    shown = [("LSA", 1), ("SA", 1), ("LCA2", 2), ("LCA1", 5), ("LCA1", 8), ("CA", 5)]
    labels: list[tuple[float, int, str]] = []
    for model, depth in shown:
        look = LOOKS[model]
        rows = risk.where(model=model, T=depth)
        exact = theory.where(kind=model, T=depth)
        axis.plot(exact.numbers("L"), exact.numbers("excess"), **look.line(), linewidth=1.0)
        in_law, literal = rows.where(method="in law"), rows.where(method="literal")
        _points(axis, in_law, "L", look)
        # Where both were measured the literal model is a bar, so that neither hides the other.
        _points(axis, literal, "L", style.Series(look.color, "-", "_") if in_law.rows else look)
        at = limits.where(model=model, T=depth)
        axis.plot(INFINITY, at.numbers("limit_excess"), **look.points(), markersize=4)
        if model not in ("LSA", "SA"):
            labels.append((at.numbers("limit_excess")[0], depth, look.color))
    height = 0.0
    for value, depth, color in sorted(labels):
        height = max(value, 1.9 * height)  # labels apart, even where the values are not
        axis.annotate(
            f"$T={depth}$",
            (INFINITY, height),
            (5, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=color,
            annotation_clip=False,
        )
    axis.axhline(floor, **FLOOR)
    ols, rule = theory.where(kind="OLS"), theory.where(kind="Bayes rule")
    axis.plot(ols.numbers("L"), ols.numbers("excess"), **OLS)
    axis.plot(rule.numbers("L"), rule.numbers("excess"), **RULE)
    style.band(
        axis,
        rule.numbers("L"),
        rule.numbers("excess_lower"),
        rule.numbers("excess_upper"),
        style.GREY,
        alpha=0.3,
    )
    top = max(float(np.max(x)) for x in (risk.numbers("excess"), limits.numbers("limit_excess")))
    axis.set(
        xscale="log",
        yscale="log",
        xlim=(20, 2 * INFINITY),
        ylim=(0.3 * float(np.min(limits.numbers("limit_excess"))), 1.5 * top),
        xlabel=r"context length $L_{\mathrm{te}}$",
        ylabel="excess over the Bayes risk",
        title=r"(b) less the Bayes risk, to $L_{\mathrm{te}}=10^9$ and $\infty$",
    )
    powers = (2, 4, 6, 8)
    axis.set_xticks(
        [*(10.0**k for k in powers), INFINITY], [*(f"$10^{k}$" for k in powers), r"$\infty$"]
    )
    axis.minorticks_off()


def _depth(axis: Axes, tables: Mapping[str, Table]) -> None:
    """(c): against depth, at a short and a long context."""
    table = tables["depth"]
    contexts = [int(str(L)) for L in table.where(kind="simulated").distinct("L")]
    (floor,) = tables["bayes"].numbers("best_layer")
    bias = table.where(kind="bias")
    axis.plot(bias.numbers("T"), bias.numbers("excess"), **BIAS)
    axis.axhline(floor, **FLOOR)
    least = table.where(kind="at least")
    late = least.numbers("T") >= _EXACT_UP_TO
    axis.plot(least.numbers("T")[late], least.numbers("excess")[late], **LEAST)
    for L, look in zip(contexts, (_SHORT, LOOKS["LCA1"]), strict=True):
        exact = table.where(kind="exact", L=L)
        axis.plot(exact.numbers("T"), exact.numbers("excess"), **look.line(), linewidth=1.0)
        simulated = table.where(kind="simulated", L=L)
        _points(axis, simulated, "T", look)
        beside = 10 if experiments.SHORT == L else 20
        axis.annotate(
            rf"$L_{{\mathrm{{te}}}}={L}$",
            (beside, float(np.interp(beside, simulated.numbers("T"), simulated.numbers("excess")))),
            (0, -5),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=8,
            color=look.color,
        )
    for model in ("LCA2", "CA"):
        _points(axis, table.where(kind=model), "T", LOOKS[model])
    axis.set(
        yscale="log",
        xlim=(0, 25),
        ylim=(1e-7, 10),
        xlabel="depth $T$",
        ylabel="excess over the Bayes risk",
        title=r"(c) against depth, at $\alpha_T^{*}$ or trained",
    )
    axis.annotate("bias", (5.0, 1e-6), fontsize=8, ha="right")


def _map(axis: Axes, tables: Mapping[str, Table]) -> None:
    """(d): where depth helps, where it does not, and where it destroys."""
    table = tables["map"]
    boom, enough = table.where(kind="explodes"), table.where(kind="enough")
    line = table.where(kind="threshold")
    L = boom.numbers("L")
    axis.fill_between(L, boom.numbers("T"), 1e5, color=style.PALE, linewidth=0, zorder=0)
    axis.plot(L, boom.numbers("T"), marker=".", color=style.BLACK, linewidth=1.1)
    axis.plot(line.numbers("L"), line.numbers("T"), **THRESHOLD)
    axis.step(enough.numbers("L"), enough.numbers("T"), color=style.BLUE, where="post")
    axis.set(
        xscale="log",
        yscale="log",
        xlim=(16, experiments.MAP_END),
        ylim=(1, 3e3),
        xlabel=r"context length $L_{\mathrm{te}}$",
        ylabel="depth $T$",
        title=r"(d) where depth helps, and where it destroys",
    )
    axis.annotate("risk explodes", (22, 500), fontsize=9)
    axis.annotate("noise of the context", (1.5e3, 22), fontsize=9)
    axis.annotate("bias", (1.2e4, 1.5), fontsize=9, color=style.BLUE)


def _legend(canvas: Canvas, ratio: float) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    def line(label: str, **look: Any) -> Line2D:
        return Line2D([], [], label=label, **look)

    handles: list[Any] = [
        line(NAMES[model], **look.both(), linewidth=1.0) for model, look in LOOKS.items()
    ]
    handles += [
        line("literal model; others in law", color=style.GREY, marker="_", linestyle="none"),
        line(
            "hollow: tail not bounded",
            color=style.GREY,
            marker="o",
            markerfacecolor="white",
            linestyle="none",
        ),
        line("floor of one layer", **FLOOR),
        line(r"OLS, $E[1/Z]\,d/(L-d-1)$", **OLS),
        line("finite-context Bayes rule", **RULE),
        line(r"bias $R_T(\alpha_T^{*})$, $L=\infty$", **BIAS),
        line("certified lower bound of the mean", **LEAST),
        Patch(facecolor=style.PALE, label="mean excess certified above $E[W]$"),
        line(rf"threshold ${ratio:.3f}\,L$ as $L\to\infty$", **THRESHOLD),
        line("bias meets the OLS floor", color=style.BLUE),
    ]
    canvas.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=8.5)


def draw_fig2(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    (a, b), (c, d) = canvas.subplots(2, 2)
    _test_error(a, tables)
    _excess(b, tables)
    _depth(c, tables)
    _map(d, tables)
    line = tables["map"].where(kind="threshold")
    _legend(canvas, line.numbers("T")[0] / line.numbers("L")[0])


FIG2 = Figure(
    "lca.fig2",
    "Test error of trained attention models against context length and depth",
    "In units of E[ζ²]. (a) Mean squared error of literal models on fresh prompts against the length "
    "of their context: LSA, softmax SA and softmax CA_5, LCA_2 with two parameters, LCA_5 with one. "
    "The solid line is the Bayes risk E[1/Z], the dotted one that plus the least excess risk that a "
    "layer of attention, linear or softmax, has at infinite context. (b) The same less the Bayes "
    "risk, to contexts of 10^9, for depths 2, 5 and 8. Bars are literal models; full marks LSA and "
    "LCA drawn exactly in law; lines through them are exact means. At ∞ stands each trained model's "
    "limit: exact for LCA_T and softmax CA_T (which have one limit), by Propositions D.2 and D.4 for "
    "LSA and SA. (c) Excess risk against depth for α = α*_T, β = -α (circles, triangles down) and for "
    "trained two-parameter LCA_T and softmax CA_T at the longer context. Lines through the marks are "
    "exact means, known to T = 8; beyond, the dotted grey curve is a certified lower bound of the "
    "mean at the shorter context: there the mean is carried by prompts that a sample does not show. "
    "Hollow marks say so: their interval is not backed by a bound of the tail. The black curve is the "
    "bias R_T(α*_T), all that is left at L = ∞. (d) For α = α*: above the marks the expected excess "
    "is certified to exceed E[W], what predicting 0 costs, for every d; the dashed line is the depth "
    "beyond which it grows exponentially as L → ∞; below the stairs the bias exceeds the floor of "
    "least squares, so that another layer helps.",
    experiments.fig2_data,
    draw_fig2,
    (7.2, 6.6),
    needs=("torch", "scipy"),
)
