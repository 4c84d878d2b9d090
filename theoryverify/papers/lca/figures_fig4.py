"""The figure ``lca.fig4``: only drawing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from theoryverify.figures import Figure, Table, style
from theoryverify.papers.lca import experiments_fig4 as experiments

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


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


FIG4 = Figure(
    "lca.fig4",
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
