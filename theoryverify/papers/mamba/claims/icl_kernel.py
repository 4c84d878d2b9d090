"""How well kernel ridge does at the paper's r = 8: what is said of it second-hand is out of reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theoryverify.budget import SHARE
from theoryverify.claims import Claim
from theoryverify.claims.claim import Context
from theoryverify.claims.examination import Examination
from theoryverify.claims.ladder import SIMULATED, Evidence
from theoryverify.errors import UndecidedError
from theoryverify.papers.mamba.claims.exponents import NUMBERING
from theoryverify.simulate.icl_baselines import kernel_errors, kernel_grid
from theoryverify.simulate.in_context import Task
from theoryverify.stats import BoundedMean

R = 8
CUT = 20.0
"""Errors above are counted as this much, in the statement: that only lowers a mean."""
TASKS = 12_000
_BLOCK = 500

FLOOR = Claim(
    "mamba.exp.kernel.floor",
    "experiments: kernel ridge fed the intrinsic coordinates",
    r"r=8,\ N=64:\quad \min_{(\ell,\lambda)\text{ of a grid}}"
    r"\mathbb E\min\{(\hat y_{\mathrm{kernel}}-y)^2,20\}>0.35",
    title="kernel ridge on the 8 coordinates of the support stays above 0.35 at 64 examples, for every "
    "width and ridge of a grid",
    note=f"{NUMBERING} An error near 0.35 at N = 64 was reported second-hand. The minimum is over a "
    "grid of widths and ridges, the best one chosen in hindsight; errors are cut at 20, so the mean of "
    "those that are not is above 0.35 all the more. In 400 tasks it was about 0.6 at 64 examples and "
    "0.3 at 128; from 192 on it is below 0.01: the cubics (165 of them) are interpolated.",
)


@dataclass(frozen=True)
class Floor:
    """That every choice of the grid has a larger mean of cut errors than this from so many examples."""

    examples: int
    level: float


@FLOOR.check(
    "grid",
    SIMULATED,
    formula=Floor(64, 0.35),
    controls={"from 256 examples": Floor(256, 0.35), "above 1": Floor(64, 1.0)},
    mutate=False,
    timeout=900,
    preset="full",
)
def floor(stated: Floor, examination: Examination, context: Context) -> Evidence:
    """Each choice has an interval of its own share of the error; one that is below refutes."""
    task = Task(d=R, r=R)
    grid = sorted(kernel_grid(R), key=lambda choice: (-choice[0], choice[1]))
    for choice in grid:
        sequence = BoundedMean(0.0, CUT, error=SHARE / len(grid), horizon=TASKS)
        rng = context.rng()  # the same tasks for every choice
        while sequence.count < TASKS:
            prompts = task.sample(_BLOCK, stated.examples + 1, rng=rng)
            errors = kernel_errors(prompts, range(R), choice, [stated.examples])[:, 0]
            if not np.isfinite(errors).all():
                raise UndecidedError(f"K + λI has no Cholesky factor at ℓ² = {choice[0]:g}")
            sequence.update(np.minimum(errors, CUT))
            found = sequence.interval
            above = found.above(stated.level)
            if above is not None:
                break
        examination.decide(
            f"ℓ² = {choice[0]:g}, λ = {choice[1]:g}", above, f"{found}, {sequence.count} tasks"
        )
        if above is False:
            break
    return examination.evidence(
        f"r = {R}, noiseless, {len(grid)} choices of width and ridge; mean of errors cut at {CUT:g}"
    )


claims = (FLOOR,)
