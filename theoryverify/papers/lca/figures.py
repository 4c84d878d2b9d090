"""The cross-attention paper's figures: only drawing; the tables come from ``experiments``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from theoryverify.figures import Figure, Table, style
from theoryverify.papers.lca import experiments
from theoryverify.papers.lca.experiments import (
    ATOMS,
    BALL,
    BETA,
    DISC,
    RARE,
    SHELL,
    UNIFORM,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_NAMES = {
    repr(UNIFORM): r"uniform on $[2,5]$",
    repr(ATOMS): r"atoms, $P(Z{=}2)=1/4$, $P(Z{=}5)=3/4$",
    repr(SHELL): r"shell: $m$ uniform in $\mathbb{R}^8$, $2\leq Z\leq 5$",
    repr(BETA): r"density $\propto(z-2)^{-1/2}$ on $[2,5]$",
    repr(BALL): r"ball: $m$ uniform in $\mathbb{R}^4$, $1\leq Z\leq 5$",
    repr(DISC): r"ball: $m$ uniform in $\mathbb{R}^2$, $1\leq Z\leq 5$",
}
_LOOKS = {
    repr(UNIFORM): style.SERIES[0],
    repr(ATOMS): style.SERIES[1],
    repr(SHELL): style.SERIES[2],
    repr(BETA): style.SERIES[3],
    repr(BALL): style.SERIES[4],
    repr(DISC): style.SERIES[4],
}


def _series(table: Table) -> list[tuple[str, style.Series, Table]]:
    """Each law's name, look and rows."""
    return [
        (_NAMES[str(law)], _LOOKS[str(law)], table.where(law=law)) for law in table.distinct("law")
    ]


def draw_alpha_star(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    left, right = canvas.subplots(1, 2)
    handles: list[Any] = []
    for name, look, rows in _series(tables["values"]):
        depths = rows.numbers("T")
        handles += left.plot(
            depths, rows.numbers("alpha_star_lower"), **look.both(), linewidth=0.9, label=name
        )
        right.plot(depths, rows.numbers("scaled_gap_lower"), **look.points())
        right.plot(depths, rows.numbers("first_order_lower"), **look.line(), linewidth=0.9)
    banded = tables["bracket"]
    band = left.fill_between(
        banded.numbers("T"),
        banded.numbers("bracket_lower"),
        banded.numbers("bracket_upper"),
        color=style.BLUE,
        alpha=0.15,
        linewidth=0,
        label=r"Theorem F.3 for the uniform law: all $\alpha_t^{*}$, $t\geq T$",
    )
    for limit, text in ((2 / 7, r"$\alpha^{*}=2/7$"), (1 / 3, r"$\alpha^{*}=1/3$")):
        left.axhline(limit, color=style.GREY, linewidth=0.6, zorder=0)
        left.annotate(
            text, (1e6, limit), (0, 2), textcoords="offset points", ha="right", va="bottom"
        )
    left.set(
        xscale="log",
        xlabel="depth $T$",
        ylabel=r"minimiser $\alpha_T^{*}$",
        ylim=(0.2, 0.36),
        title=r"(a) $\alpha_T^{*}$ and its limit",
    )
    right.axhline(0, color=style.GREY, linewidth=0.6, zorder=0)
    right.set(
        xscale="log",
        xlabel="depth $T$",
        ylabel=r"$T\,(\alpha_T^{*}-\alpha^{*})$",
        title="(b) rate: marks certified, lines first order",
        ylim=(-1.8, 0.4),
    )
    right.annotate(r"rate $\log(T)/T$", (2e4, -1.06), fontsize=9)
    right.annotate(r"rate $\log(T)/T$", (2e4, 0.24), fontsize=9, ha="right")
    right.annotate(r"three laws of rate $1/T$", (1e6, -0.22), fontsize=9, ha="right", va="top")
    for axis in (left, right):
        style.decades(axis)
    canvas.legend(handles=[*handles, band], loc="outside lower center", ncols=2)


ALPHA_STAR = Figure(
    "lca.alpha_star",
    "The one-parameter minimiser α*_T, certified from T = 1 to 10^6",
    "(a) The minimiser α*_T of R_T(α) = E[W(1-αZ)^(2T)] against depth for five laws of Z = "
    "1+|m|². Marks are certified values, joined to guide the eye. The band is the certified "
    "bracket of Theorem F.3 for the uniform law: at T it contains α*_t for every t >= T. Grey "
    "lines are the limits α* = 2/(Zmin+Zmax). (b) The gap times T. Marks are certified, lines are "
    "the first-order term. Flat lines mean a rate of 1/T, slanted ones log(T)/T: that happens "
    "when the law has different exponents at its two ends, as for a ball, where ess inf |m| = 0.",
    experiments.alpha_star_data,
    draw_alpha_star,
    (7.2, 4.0),
)


def draw_training_time(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    left, right = canvas.subplots(1, 2, width_ratios=(3, 2))
    handles: list[Any] = []
    for name, look, rows in _series(tables["time"]):
        depths = rows.numbers("T")
        left.plot(depths, rows.numbers("leading_lower"), **look.line(), linewidth=0.9)
        handles += left.plot(
            depths, rows.numbers("time_lower"), **look.both(), linewidth=0, label=name
        )
        right.plot(depths, rows.numbers("ratio_lower"), **look.both(), linewidth=0.9)
    left.set(
        yscale="log",
        xlabel="depth $T$",
        xlim=(0, None),
        ylabel=r"time $t$ from $\alpha_0=0.02$ to $0.99\,\alpha_T^{*}$",
        title="(a) training time: marks certified, lines leading term",
    )
    right.axhline(1, color=style.GREY, linewidth=0.6, zorder=0)
    right.set(
        xscale="log", xlabel="depth $T$", ylabel="certified / leading term", title="(b) their ratio"
    )
    ticks = [t for t in (1, 2, 4, 8, 16, 32, 64, 128, 256) if t <= max(depths)]
    right.set_xticks(ticks, [str(t) for t in ticks])
    right.minorticks_off()
    canvas.legend(handles=handles, loc="outside lower center", ncols=3, handlelength=1.2)


TRAINING_TIME = Figure(
    "lca.training_time",
    "How long gradient flow needs to reach 0.99 α*_T",
    "(a) The time that the flow dα/dt = -R_T'(α) takes from α_0 = 0.02 to 0.99 α*_T, in the "
    "flow's own time with the loss in units of E[ζ²]. Marks are certified values, lines the "
    "leading term as T → ∞, of order T^(k-1) (1-α_1 Zmin)^(-2T) with α_1 = 0.99 α*_T and k the "
    "exponent of the law of (Z-1) at its lower end. The time grows exponentially: convergence "
    "holds for every depth, but for Z uniform on [2,5] and T = 32 it takes more than 10^20. (b) "
    "Certified time over leading term.",
    experiments.training_time_data,
    draw_training_time,
    (7.2, 3.6),
)


def draw_stationary(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    axes = canvas.subplots(1, 2)
    titles = {
        repr(UNIFORM): r"(a) $Z$ uniform on $[2,5]$",
        repr(RARE): r"(b) $P(Z{=}20)=10^{-6}$, else $Z\in\{2,3\}$",
    }
    for axis, law in zip(axes, tables["windows"].distinct("law"), strict=True):
        curves, points = tables["curves"].where(law=law), tables["points"].where(law=law)
        (window,) = tables["windows"].where(law=law).numbers("window_from")
        (limit,) = tables["windows"].where(law=law).numbers("limit")
        axis.axvspan(window, 0, color=style.PALE, linewidth=0, zorder=0)
        axis.axvline(limit, color=style.GREY, linewidth=0.7, zorder=1)
        for number, depth in enumerate(curves.distinct("T")):
            rows, marks = curves.where(T=depth), points.where(T=depth)
            look = style.SERIES[(number - 1) % len(style.SERIES)]
            beta = np.append(rows.numbers("beta"), marks.numbers("beta_lower"))
            loss = np.append(rows.numbers("F_lower"), marks.numbers("F_lower"))
            rank = np.argsort(beta)
            line = style.Series(style.GREY, (0, (10, 3)), "").line() if depth == 1 else look.line()
            axis.plot(beta[rank], loss[rank], **line, linewidth=1.1, label=f"$T={depth}$")
            for x, y, inside in zip(
                marks.numbers("beta_lower"),
                marks.numbers("F_lower"),
                marks.column("inside_window"),
                strict=True,
            ):
                axis.plot(
                    x,
                    y,
                    marker="o",
                    markersize=5.5,
                    color=look.color,
                    linestyle="none",
                    markerfacecolor=look.color if inside else "white",
                    markeredgewidth=1.3,
                )
        axis.set(
            yscale="log",
            xlabel=r"$\beta$",
            title=titles[str(law)],
            xlim=(float(np.min(curves.numbers("beta"))), 0),
            ylim=(10.0 ** (np.floor(np.log10(np.min(points.numbers("F_lower")))) - 0.5), None),
        )
        axis.legend(loc="lower right" if law == repr(UNIFORM) else "lower left")
    axes[0].set_ylabel(r"$F_T(\beta)=\min_\alpha\,\ell(\alpha,\beta)$")
    dot: dict[str, Any] = {"marker": "o", "markersize": 5.5, "color": "black", "linestyle": "none"}
    canvas.legend(
        handles=[
            Line2D([], [], **dot, label="stationary, in the window"),
            Line2D([], [], **dot, markerfacecolor="white", label="stationary, outside"),
            Patch(facecolor=style.PALE, label=r"window $-2/\overline{Z}<\beta<0$"),
            Line2D([], [], color=style.GREY, linewidth=0.7, label=r"limit $-\alpha^{*}$"),
        ],
        loc="outside lower center",
        ncols=4,
        handlelength=1.6,
    )


STATIONARY = Figure(
    "lca.stationary",
    "The two-parameter loss in β alone, and its stationary points",
    "F_T(β) = min over α of the loss, against β. Dots are stationary points, filled inside the "
    "window -2/Zmax < β < 0 of Theorem 6.3 (shaded) and hollow outside; the thin vertical line is "
    "-α*, where β*_T tends. F_1 does not depend on β. (a) For Z uniform on [2,5] each depth has "
    "exactly one stationary point in the window. (b) For P(Z=2) = 0.5, P(Z=3) = 0.499999, P(Z=20) "
    "= 0.000001 the window is (-0.1, 0) and holds no stationary point at the depths 2, 3, 6 and "
    "15; the flow leaves the window there. At T = 22 there is one. So the depth from which on "
    "Theorem 6.3 speaks is not bounded over laws.",
    experiments.stationary_data,
    draw_stationary,
    (7.2, 3.5),
)


def draw_landscape(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    from matplotlib import patheffects

    depths = tables["loss"].distinct("T")
    axes = canvas.subplots(1, len(depths), sharey=True)
    halo, rim = (
        [patheffects.withStroke(linewidth=2.8, foreground=shade)] for shade in ("white", "black")
    )
    levels = list(range(-5, 4))
    image: Any = None
    for number, (axis, depth) in enumerate(zip(axes, depths, strict=True)):
        rows = tables["loss"].where(T=depth)
        alpha = np.unique(rows.numbers("alpha"))
        beta = np.unique(rows.numbers("beta"))
        level = rows.numbers("log10_loss_lower").reshape(len(beta), len(alpha))
        image = axis.contourf(
            alpha, beta, level, levels=levels, cmap=style.SEQUENTIAL, extend="both"
        )
        axis.contour(
            alpha, beta, level, levels=levels, colors="white", linewidths=0.35, linestyles="solid"
        )
        valley = tables["valley"].where(T=depth)
        axis.plot(
            valley.numbers("alpha_lower"),
            valley.numbers("beta"),
            color="white",
            linewidth=1.4,
            path_effects=rim,
            label=r"$\alpha^{*}(\beta)$, best $\alpha$ at each $\beta$",
        )
        axis.plot(
            [0, 0.5],
            [0, -0.5],
            color=style.BLACK,
            linestyle=(0, (4, 2)),
            linewidth=1.1,
            path_effects=halo,
            label=r"$\beta=-\alpha$, one parameter",
        )
        best = tables["minimiser"].where(T=depth)
        (loss,) = best.numbers("loss_lower")
        axis.plot(
            best.numbers("alpha_lower"),
            best.numbers("beta_lower"),
            marker="*",
            markersize=12,
            color="white",
            markeredgecolor=style.BLACK,
            linestyle="none",
            label=r"minimiser $(\alpha_T^{*},\beta_T^{*})$",
        )
        axis.set(
            xlim=(0, 0.5),
            ylim=(-0.5, 0.1),
            xlabel=r"$\alpha$",
            title=f"({'ab'[number]}) $T={depth}$, least loss {_power_of_ten(loss)}",
        )
    axes[0].set_ylabel(r"$\beta$")
    bar = canvas.colorbar(image, ax=list(axes))
    bar.set_label(r"$\log_{10}\,\ell(\alpha,\beta)$")
    handles, labels = axes[0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=3)


def _power_of_ten(value: float) -> str:
    mantissa, _, power = f"{value:.2e}".partition("e")
    return rf"${mantissa}\times10^{{{int(power)}}}$"


LANDSCAPE = Figure(
    "lca.landscape",
    "Landscape of the exact two-parameter loss, without layer normalisation",
    "log10 of the excess loss ℓ(α,β) = E[W(1-αS_T(Z,β))²] in units of E[ζ²] for Z uniform on "
    "[2,5], at T = 3 and T = 10. Bands are powers of ten. The curve α*(β) is the minimiser over α "
    "at each β, the dashed line β = -α the one-parameter model, the star the minimiser (α*_T, "
    "β*_T), and its loss stands above each panel. The lowest band holds everything below 10^-5: "
    "at T = 10 the valley is thinner than a line.",
    experiments.landscape_data,
    draw_landscape,
    (7.2, 4.0),
)

figures = (ALPHA_STAR, TRAINING_TIME, STATIONARY, LANDSCAPE)
