"""The figure ``lca.stationary``: only drawing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from theoryverify.figures import Figure, Table, style
from theoryverify.papers.lca.experiments import stationary as experiments
from theoryverify.papers.lca.experiments.alpha_star import UNIFORM
from theoryverify.papers.lca.experiments.stationary import RARE

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


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
