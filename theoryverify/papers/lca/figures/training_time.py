"""The figure ``lca.training_time``: only drawing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from theoryverify.figures import Figure, Table, style
from theoryverify.papers.lca.experiments import training_time as experiments
from theoryverify.papers.lca.figures.laws import law_series

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def draw_training_time(canvas: Canvas, tables: Mapping[str, Table]) -> None:
    left, right = canvas.subplots(1, 2, width_ratios=(3, 2))
    handles: list[Any] = []
    for name, look, rows in law_series(tables["time"]):
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
    # Round powers of ten, about seven of them, however long the axis is.
    top = math.log10(max(tables["time"].numbers("time_lower")))
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100) if top / step < 8 or step == 100)
    left.set_yticks([10.0**power for power in range(0, math.ceil(top) + 1, step)])
    left.minorticks_off()
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
