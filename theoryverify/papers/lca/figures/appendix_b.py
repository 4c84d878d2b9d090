"""The figure ``lca.appendix_b``: only drawing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from theoryverify.figures import Figure, Table, style
from theoryverify.papers.lca.experiments import appendix_b as experiments

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

LOOKS = {
    "full": style.Series(style.BLUE, "-", "o"),
    "injected once": style.Series(style.VERMILION, (0, (5, 1.5)), "s"),
    "self-attention": style.Series(style.GREEN, (0, (3, 1, 1, 1)), "^"),
    "both": style.Series(style.PURPLE, (0, (1.2, 1.2)), "D"),
}
NAMES = {
    "full": "whole model",
    "injected once": "X injected once",
    "self-attention": "self-attention for cross-attention",
    "both": "both ablations",
}
_OLS: dict[str, Any] = {
    "color": style.GREY,
    "linestyle": (0, (7, 1.5, 1.2, 1.5)),
    "linewidth": 1.0,
}


def _against_depth(axis: Axes, tables: Mapping[str, Table]) -> None:
    from matplotlib.ticker import MaxNLocator

    for number, (arm, look) in enumerate(LOOKS.items()):
        best = tables["best"].where(arm=arm)
        axis.plot(best.numbers("T"), best.numbers("excess"), **look.line(), linewidth=1.1)
        for method, face in (("literal", "white"), ("in law", look.color)):
            rows = tables["trained"].where(arm=arm, method=method)
            mean = rows.numbers("excess")
            ends = [mean - rows.numbers("excess_lower"), rows.numbers("excess_upper") - mean]
            axis.errorbar(
                rows.numbers("T") + 0.13 * (number - 1.5),  # side by side
                mean,
                yerr=np.array(ends),
                **look.points(),
                markersize=4.5,
                markerfacecolor=face,
                markeredgewidth=0.9,
                elinewidth=0.9,
                capsize=1.8,
                zorder=4,
            )
    (floor,) = tables["floor"].numbers("ols")
    axis.axhline(floor, **_OLS)
    depths = tables["best"].numbers("T")
    axis.set(
        yscale="log",
        xlim=(0.5, float(np.max(depths)) + 0.5),
        ylim=(1e-8, 0.3),
        xlabel="depth $T$",
        ylabel=r"excess over the Bayes risk",
        title="(a) best scalars (lines), trained (marks)",
    )
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))


def _residuals(axis: Axes, table: Table) -> None:
    axis.axvspan(2, 5, color=style.PALE, linewidth=0, zorder=0)
    axis.axhline(0, color=style.GREY, linewidth=0.6, zorder=1)
    for arm, look in LOOKS.items():
        rows = table.where(arm=arm)
        axis.plot(rows.numbers("s"), rows.numbers("residual"), **look.line(), linewidth=1.2)
    axis.set(
        xlim=(1, 5.5),
        ylim=(-0.2, 0.3),
        xlabel=r"eigenvalue $s$ of $\Sigma_x$",
        ylabel=r"what is left, $1-s\,p_T(s)$",
        title=rf"(b) at $T={experiments.SHOWN_DEPTH}$",
    )
    axis.annotate(r"support of $Z$", (3.5, 0.26), ha="center", fontsize=9)


def _legend(canvas: Canvas, context: int) -> None:
    from matplotlib.lines import Line2D

    def line(label: str, **look: Any) -> Line2D:
        return Line2D([], [], label=label, **look)

    mark: dict[str, Any] = {"color": style.BLACK, "marker": "o", "linestyle": "none"}
    handles: list[Any] = [
        line(NAMES[arm], **look.both(), linewidth=1.1) for arm, look in LOOKS.items()
    ]
    handles += [
        line(
            rf"trained, literal, $L_{{\mathrm{{te}}}}={context}$", markerfacecolor="white", **mark
        ),
        line(r"trained, in law, $L_{\mathrm{te}}=10^9$", **mark),
        line(rf"OLS floor at $L_{{\mathrm{{te}}}}={context}$", **_OLS),
    ]
    canvas.legend(handles=handles, loc="outside lower center", ncols=2, handlelength=2.2)


def draw_appendix_b(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    left, right = canvas.subplots(1, 2, width_ratios=(5, 4))
    _against_depth(left, tables)
    _residuals(right, tables["residual"])
    (context,) = tables["floor"].column("L")
    _legend(canvas, int(str(context)))


APPENDIX_B = Figure(
    "lca.appendix_b",
    "Appendix B on synthetic data: the linear model with parts taken out",
    "(a) Excess risk over the Bayes risk, in units of E[ζ²], against depth, of LCA_T with two scalars "
    "and of three ablations: X injected in the first layer only (F_0 = αX, then no S_t); "
    "self-attention F Fᵀ F/L in place of attention to X; both. Lines: the least excess over the two "
    "scalars at L = ∞. Marks: trained literal models, measured at a finite context (hollow; the floor "
    "of least squares there is the dash-dotted line) and, exactly in law, at L = 10^9 (full), shifted "
    "sideways a little, with 99% intervals. (b) The residual 1 - s p_T(s) that the best scalars leave "
    "along an eigenvalue s: the prediction is Bayes where it is 0 on the support of Z. Only the whole "
    "model falls geometrically with depth; each part that is taken out leaves a shape that does not "
    "tend to 1/s.",
    experiments.appendix_b_data,
    draw_appendix_b,
    (7.2, 4.0),
    needs=("torch", "scipy"),
)
