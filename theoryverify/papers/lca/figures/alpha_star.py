"""The figure ``lca.alpha_star``: only drawing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from theoryverify.figures import Figure, Table, style
from theoryverify.papers.lca.experiments import alpha_star as experiments
from theoryverify.papers.lca.figures.laws import law_series

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def draw_alpha_star(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    left, right = canvas.subplots(1, 2)
    handles: list[Any] = []
    for name, look, rows in law_series(tables["values"]):
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
