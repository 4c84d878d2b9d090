"""The figure ``lca.fig4``: only drawing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from theoryverify.figures import Figure, Table, style
from theoryverify.papers.lca.experiments import fig4 as experiments

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

LEVELS = list(range(-5, 4))
_ARROW_AT = 0.35
_JUMP = 0.1


def _effects(shade: str, width: float) -> list[Any]:
    from matplotlib import patheffects

    return [patheffects.withStroke(linewidth=width, foreground=shade)]


def _level(axis: Axes, rows: Table, column: str) -> Any:
    alpha, beta = np.unique(rows.numbers("alpha")), np.unique(rows.numbers("beta"))
    level = rows.numbers(column).reshape(len(beta), len(alpha))
    image = axis.contourf(alpha, beta, level, levels=LEVELS, cmap=style.SEQUENTIAL, extend="both")
    axis.contour(
        alpha, beta, level, levels=LEVELS, colors="white", linewidths=0.35, linestyles="solid"
    )
    return image


def _flow(axis: Axes, rows: Table) -> None:
    """Flow lines with an arrow each."""
    for number in rows.distinct("line"):
        path = rows.where(line=number)
        alpha, beta = path.numbers("alpha"), path.numbers("beta")
        axis.plot(
            alpha, beta, color=style.VERMILION, linewidth=0.9, path_effects=_effects("white", 1.7)
        )
        axis.plot(alpha[0], beta[0], marker=".", markersize=5, color=style.VERMILION)
        length = np.concatenate([[0], np.cumsum(np.hypot(np.diff(alpha), np.diff(beta)))])
        place = _ARROW_AT * length[-1]
        at, toward = (
            (np.interp(s, length, alpha), np.interp(s, length, beta))
            for s in (place, place + 0.01 * length[-1])
        )
        axis.annotate(
            "",
            toward,
            at,
            arrowprops={
                "arrowstyle": "-|>",
                "color": style.VERMILION,
                "lw": 0.9,
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )


def _marks(axis: Axes, valley: Table, column: str) -> None:
    """The curve α*(β), broken where the best α jumps, and the line β = -α."""
    alpha, beta = valley.numbers(column), valley.numbers("beta")
    jumps = np.flatnonzero(np.abs(np.diff(alpha)) > _JUMP) + 1
    axis.plot(
        np.insert(alpha, jumps, np.nan),
        np.insert(beta, jumps, np.nan),
        color="white",
        linewidth=1.3,
        path_effects=_effects("black", 2.4),
    )
    axis.plot(
        [0, 0.5],
        [0, -0.5],
        color=style.BLACK,
        linestyle=(0, (4, 2)),
        linewidth=1.0,
        path_effects=_effects("white", 2.0),
    )
    axis.set(xlim=(0, 0.5), ylim=(-0.5, 0.1))


_STAR: dict[str, Any] = {
    "marker": "*",
    "markersize": 11,
    "color": "white",
    "markeredgecolor": style.BLACK,
    "linestyle": "none",
    "zorder": 5,
}


def _exact(axis: Axes, tables: Mapping[str, Table], depth: Any) -> Any:
    image = _level(axis, tables["loss"].where(T=depth), "log10_loss_lower")
    _flow(axis, tables["flow"].where(T=depth))
    _marks(axis, tables["valley"].where(T=depth), "alpha_lower")
    best = tables["minimiser"].where(T=depth)
    axis.plot(best.numbers("alpha_lower"), best.numbers("beta_lower"), **_STAR)
    return image


def _normed(axis: Axes, tables: Mapping[str, Table], depth: Any) -> None:
    _level(axis, tables["normed_loss"].where(T=depth), "log10_loss")
    valley = tables["normed_valley"].where(T=depth)
    axis.fill_betweenx(
        valley.numbers("beta"),
        valley.numbers("alpha_lower"),
        valley.numbers("alpha_upper"),
        color="white",
        alpha=0.45,
        linewidth=0,
    )
    _flow(axis, tables["normed_flow"].where(T=depth))
    _marks(axis, valley, "alpha")
    minima = tables["normed_minimiser"].where(T=depth)
    again, best = minima.where(kind="bootstrap"), minima.where(kind="estimate")
    axis.plot(
        again.numbers("alpha"),
        again.numbers("beta"),
        marker=".",
        markersize=2,
        color=style.BLACK,
        linestyle="none",
        zorder=4,
    )
    axis.plot(best.numbers("alpha"), best.numbers("beta"), **_STAR)


def draw_fig4(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    depths = tables["loss"].distinct("T")
    axes = canvas.subplots(2, len(depths), sharex=True, sharey=True)
    for number, depth in enumerate(depths):
        (loss,) = tables["minimiser"].where(T=depth).numbers("loss_lower")
        (seen,) = tables["normed_minimiser"].where(T=depth, kind="estimate").numbers("loss")
        image = _exact(axes[0, number], tables, depth)
        axes[0, number].set_title(f"({'ab'[number]}) $T={depth}$, exact: least {_power(loss)}")
        _normed(axes[1, number], tables, depth)
        axes[1, number].set_title(
            f"({'cd'[number]}) $T={depth}$, layer norm: least {_power(seen, 1)}"
        )
        axes[1, number].set_xlabel(r"$\alpha$")
    for row in axes:
        row[0].set_ylabel(r"$\beta$")
    bar = canvas.colorbar(image, ax=list(axes.ravel()))
    bar.set_label(r"$\log_{10}$ of the excess loss $\ell(\alpha,\beta)$")
    curve = Line2D([], [], color="white", linewidth=1.3, path_effects=_effects("black", 2.4))
    dot: dict[str, Any] = {"marker": ".", "markersize": 3, "color": "black", "linestyle": "none"}
    canvas.legend(
        handles=[
            curve,
            Line2D([], [], color=style.BLACK, linestyle=(0, (4, 2)), linewidth=1.0),
            Line2D([], [], **_STAR),
            Line2D([], [], color=style.VERMILION, linewidth=0.9, marker=".", markersize=5),
            Line2D([], [], **dot),
            Patch(facecolor="white", edgecolor=style.GREY, linewidth=0.4),
        ],
        labels=[
            r"$\alpha^{*}(\beta)$, best $\alpha$ at each $\beta$",
            r"$\beta=-\alpha$, one parameter",
            r"minimiser $(\alpha_T^{*},\beta_T^{*})$",
            "gradient flow, from the dots",
            "minimiser, bootstrap samples",
            r"99% band of $\alpha^{*}(\beta)$ with layer norm",
        ],
        loc="outside lower center",
        ncols=3,
    )


def _power(value: float, digits: int = 2) -> str:
    mantissa, _, power = f"{value:.{digits}e}".partition("e")
    return rf"${mantissa}\times10^{{{int(power)}}}$"


FIG4 = Figure(
    "lca.fig4",
    "Loss landscapes in (α, β), without and with layer normalisation",
    "log10 of the excess loss in units of E[ζ²], at T = 3 and T = 10; bands are powers of ten. "
    "(a, b) Without layer normalisation, exact at L = ∞: ℓ(α,β) = E[W(1-αS_T(Z,β))²]. (c, d) With "
    "layer normalisation of the states before the queries, simulated at a finite context, whose noise "
    "is part of the loss. White curves: the best α at each β, in (c, d) with a 99% band; dashed: the "
    "one-parameter model β = -α; stars: the minimisers, their loss above each panel, in (c, d) with "
    "those of bootstrap samples as dots. Orange: gradient flow, in the paper's time stretched so that "
    "it does not stall. Without layer normalisation every line ends at one minimiser, near β = -α, whose "
    "loss falls geometrically with depth (the lowest band holds everything below 10^-5; at T = 10 the "
    "valley is thinner than a line). With it the minimiser leaves β = -α, and its loss is not seen to "
    "fall with depth; at α = 0 the normalised model jumps, and a line that gets there ends.",
    experiments.fig4_data,
    draw_fig4,
    (7.2, 6.4),
    needs=("torch", "scipy"),
)
