"""The picture of ``mamba.test_time_feature``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from theoryverify.figures import Figure, Table, style
from theoryverify.papers.mamba.experiments import test_time_feature as experiments
from theoryverify.papers.mamba.links import HE2, HE3, HE4, MIX

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

NAMES = {
    HE2: r"$\mathrm{he}_2$",
    HE3: r"$\mathrm{he}_3$",
    HE4: r"$\mathrm{he}_4$",
    MIX: r"$(\mathrm{he}_2+\mathrm{he}_3)/\sqrt{2}$",
}


def _cloud(axis: Axes, table: Table, letter: str, link: str) -> None:
    z, feature = table.numbers("z"), table.numbers("feature")
    axis.plot(z, feature, color=style.BLUE, marker="o", markersize=2, linestyle="none")
    ends = np.array([-3.2, 3.2])
    axis.plot(ends, ends, color=style.VERMILION, linestyle=(0, (5, 1.5)))
    (share,) = table.distinct("share")
    axis.text(0.04, 0.96, f"$R^2={share:.3f}$", transform=axis.transAxes, va="top", fontsize=9)
    axis.set(title=f"({letter}) {NAMES[link]}, $r={experiments.CLOUD_R}$", xlim=(-3.4, 3.4))
    axis.set_xlabel(r"$z=\langle\beta,x\rangle$")
    axis.set_ylabel(r"$(\mathrm{feature}-P_1)\,r/P_2$")


def draw_test_time_feature(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    (first, second), (third, fourth) = canvas.subplots(2, 2)
    for axis, letter, link in zip((first, second), "ab", experiments.CLOUD, strict=True):
        _cloud(axis, tables["cloud"].where(link=link), letter, link)
    places = {HE3: (19, 0.72), HE4: (5, 0.88), MIX: (5, 0.05)}
    for name, look in zip(tables["share"].distinct("link"), style.SERIES, strict=False):
        rows = tables["share"].where(link=name)
        third.plot(rows.numbers("r"), rows.numbers("share"), **look.both())
        third.text(*places[str(name)], NAMES[str(name)], color=look.color, fontsize=10)
    third.set(
        title=r"(c) infinite context",
        xlabel="support $r$",
        ylabel="$R^2$ with $z^{\\mathrm{ge}}$",
        xscale="log",
        ylim=(-0.03, 1.03),
    )
    third.set_xscale("log", base=2)
    finite, limits, marks = tables["finite"], tables["limit"], tables["marks"]
    for (link, rho, b, _, r), look in zip(experiments.FINITE, style.SERIES, strict=False):
        at: dict[str, str | int] = {"link": link, "rho": rho, "b": b, "r": r}
        rows = finite.where(**at)
        label = rf"{NAMES[link]}, $\rho={rho}$, $b={b}$, $r={r}$"
        fourth.plot(rows.numbers("N"), rows.numbers("share"), **look.line(), label=label)
        (limit,) = limits.where(**at).numbers("share")
        last = finite.numbers("N").max()
        fourth.plot(2 * last, limit, **look.points(), clip_on=False)
        seen = marks.where(**at)
        if seen.rows:
            value = seen.numbers("share")
            error = np.array([value - seen.numbers("lower"), seen.numbers("upper") - value])
            fourth.errorbar(
                seen.numbers("N"), value, yerr=error, **look.points(), elinewidth=1, capsize=2
            )
    fourth.set(
        title="(d) finite context; marks at the right: no noise",
        xlabel="examples in the prompt $N$",
        ylabel="$R^2$ with $z^{\\mathrm{ge}}$",
        xscale="log",
        ylim=(-0.03, 1.03),
    )
    style.decades(fourth)
    fourth.set_xticks([10.0**k for k in (2, 4, 6, 8, 10, 12)])
    canvas.legend(
        *fourth.get_legend_handles_labels(), loc="outside lower center", ncols=2, title="(d)"
    )


TEST_TIME_FEATURE = Figure(
    "mamba.test_time_feature",
    "The feature after one gradient step: where it is P_1 + P_2 (<β,x>/r)^ge and where it is not",
    "(a), (b) The feature of random tasks β and queries x against z = <β,x>, in units in which "
    "Lemma C.1's P_1 + P_2 z/r is the dashed line: good for he_3, while for (he_2+he_3)/√2 a z² "
    "term swamps it. (c) R² of the feature with z^ge against the size r of the support. (d) R² "
    "against the number N of examples, with the noise of the context and forgetting: at a fixed "
    "bias longer contexts do not help, since only the last 1/μ examples are kept; at b = -24 "
    "he_3 needs more than 10^9. The marks for he_2 are medians over groups of prompts and lie "
    "above the lines: rare prompts carry much of the variance.",
    experiments.test_time_feature_data,
    draw_test_time_feature,
    (7.4, 6.6),
)
