"""The picture of ``mamba.degenerate_gate``; its tables come from ``experiments``."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from theoryverify.figures import Figure, Table, style
from theoryverify.papers.mamba.experiments import degenerate_gate as experiments
from theoryverify.papers.mamba.experiments.degenerate_gate import B_MAX, TILTED
from theoryverify.papers.mamba.links import CANCELLING, HE3, HE4, HE5, MIX

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_NAMES = {
    HE3: r"$\mathrm{he}_3$",
    HE4: r"$\mathrm{he}_4$",
    HE5: r"$\mathrm{he}_5$",
    MIX: r"$(\mathrm{he}_2+\mathrm{he}_3)/\sqrt{2}$",
    CANCELLING: r"$\mathrm{he}_2+\mathrm{he}_3-\frac{\sqrt{3}}{2}\mathrm{he}_4$",
    TILTED: r"$-\varepsilon\,\mathrm{he}_1+\delta\,(\mathrm{he}_2+\mathrm{he}_3)$",
}


def draw_degenerate_gate(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    signs, zeros = tables["signs"], tables["zeros"]
    links = signs.distinct("link")
    axes = canvas.subplots(2, -(-len(links) // 2), sharex=True, sharey=True, squeeze=False)
    colours = {1: "#FBF0D9", -1: "#A8C8E4", None: "white"}
    for number, (axis, link) in enumerate(zip(axes.flat, links, strict=False)):
        rows, marks = signs.where(link=link), zeros.where(link=link)
        exact, (k,) = marks.where(along="proved"), rows.distinct("k")
        marks = Table(marks.columns, tuple(row for row in marks.rows if row not in exact.rows))
        edges = _edges(np.unique(rows.numbers("rho")))
        for rho, left, right in zip(rows.distinct("rho"), edges, edges[1:], strict=False):
            column, cuts = rows.where(rho=rho), marks.where(along="b", rho_lower=rho)
            for low, high, sign in _spans(column, cuts):
                axis.fill_between([left, right], low, high, color=colours[sign], linewidth=0)
        for low, high in zip(exact.numbers("rho_lower"), exact.numbers("rho_upper"), strict=True):
            axis.plot([low, high], [0, 0], color=style.BLACK, linewidth=1)
        if marks.rows:
            axis.plot(
                np.sqrt(marks.numbers("rho_lower") * marks.numbers("rho_upper")),
                (marks.numbers("b_lower") + marks.numbers("b_upper")) / 2,
                marker="o",
                markersize=2.4,
                color=style.BLACK,
                linestyle="none",
                clip_on=False,
                zorder=3,
            )
        else:
            axis.text(
                *(0.5, 0.5, "no change of sign\non the grid"),
                transform=axis.transAxes,
                ha="center",
                va="center",
                fontsize=9,
            )
        if link == TILTED:
            axis.plot(
                4,
                -2,
                marker="o",
                markersize=8,
                markerfacecolor="none",
                color=style.VERMILION,
                linestyle="none",
            )
            axis.annotate(r"$(4,{-}2)$", (4, -2), (6, 5), textcoords="offset points", fontsize=9)
        axis.set(
            xscale="log",
            title=f"({'abcdef'[number]}) {_NAMES[str(link)]}, $k={k}$",
            xlim=(edges[0], edges[-1]),
            ylim=(-B_MAX, B_MAX),
            yticks=range(-B_MAX, B_MAX + 1, 4),
        )
        axis.set_xticks([1 / 8, 1 / 2, 2, 8, 32], ["1/8", "1/2", "2", "8", "32"])
        axis.minorticks_off()
    for axis in axes[-1]:
        axis.set_xlabel(r"scale $\rho$")
    for axis in axes[:, 0]:
        axis.set_ylabel("bias $b$")
    canvas.legend(
        handles=[
            Patch(facecolor=colours[1], edgecolor=style.GREY, linewidth=0.5, label="$c_k>0$"),
            Patch(facecolor=colours[-1], edgecolor=style.GREY, linewidth=0.5, label="$c_k<0$"),
            Line2D(
                [],
                [],
                marker="o",
                markersize=3,
                color=style.BLACK,
                linestyle="none",
                label="$c_k=0$, certified",
            ),
            Line2D(
                [], [], color=style.BLACK, linewidth=1, label="$c_k=0$ for every $\\rho$, proved"
            ),
        ],
        loc="outside lower center",
        ncols=4,
    )


def _edges(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Borders of columns around increasing values on a logarithmic axis."""
    inner = np.sqrt(values[1:] * values[:-1])
    return np.concatenate([values[:1], inner, values[-1:]])


def _spans(column: Table, cuts: Table) -> list[tuple[float, float, int | None]]:
    """Runs of one sign at one ρ, from cut to cut."""
    places = sorted((cuts.numbers("b_lower") + cuts.numbers("b_upper")) / 2)
    ends = [-B_MAX, *places, B_MAX]
    b, sign = column.numbers("b"), column.column("sign")
    spans = []
    for low, high in pairwise(ends):
        inside = {s for at, s in zip(b, sign, strict=True) if low < at < high and s is not None}
        spans.append((low, high, int(inside.pop()) if len(inside) == 1 else None))
    return spans


DEGENERATE_GATE = Figure(
    "mamba.degenerate_gate",
    "Where the gate does not lower the information exponent to the generative one",
    "The sign of c_k(ρ,b) = E[g σ(g/ρ+b) he_k], k the generative exponent ge of the link g, over "
    "the scale ρ and the bias b of the gate. Dots and the line b = 0 are zeros of c_k: there the "
    "gated link has another information exponent ie than k, and the claim ie = ge fails. (a), (b) "
    "For odd links c_1 = 0 at b = 0 for every ρ; he_5 has more zeros, at b away from 0, once ρ "
    "is below about 1.3. (c) An even link: no change of sign was found. (d) A sum of two "
    "neighbours, (he_2+he_3)/√2. (e) A link whose leading order is 2, so that the curve tends to "
    "b = 0, where σ'' vanishes. (f) -ε he_1 + δ(he_2+he_3) with ε = 0.3436483738229945 and 2δ² = "
    "1-ε²: to 15 digits the ε whose curve passes the point (4,-2).",
    experiments.degenerate_gate_data,
    draw_degenerate_gate,
    (7.2, 5.2),
)
