"""``mamba.support_recovery``: Stage I on random prompts, against tasks, starts and context lengths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from theoryverify.exact.gate import Gate
from theoryverify.figures import Data, Plan, Table
from theoryverify.figures.cells import Cells
from theoryverify.papers.mamba.finite_feature import FeatureWeights, feature_share
from theoryverify.papers.mamba.links import HE2, HE3, HE4, HE5
from theoryverify.papers.mamba.population import Population
from theoryverify.papers.mamba.stage_one import STARTS, StageOne, Start

ERROR = 0.01
"""Of the intervals of panel (c)."""
LINK = HE2
FACTORS = {HE3: ("24", "-9", 1), HE5: ("200", "-9", 1), HE4: ("60", "-9", 2)}
"""Links with ie > ge, their gates and ge: panel (b)."""
BIAS_LINK, BIAS_GATE, BIAS_D, BIAS_R = "z", ("1", "-2"), 4, 1


@dataclass(frozen=True)
class Sizes:
    """Panel (a): d, r, b, contexts, T_1, repeats, queries; (c): contexts, prompts."""

    d: int
    r: int
    b: int
    contexts: tuple[int, ...]
    tasks: tuple[int, ...]
    repeats: int
    lengths: tuple[int, ...]
    draws: int
    queries: int = 64


SIZES = {
    "quick": Sizes(
        16, 2, -4, (16, 64, 256), (32, 64, 128, 256, 512, 1024, 2048), 5, (4, 8, 16, 32, 64), 30_000
    ),
    "laptop": Sizes(
        32, 4, -5, (64, 256, 1024), tuple(2**k for k in range(6, 15)), 10,
        (4, 8, 16, 32, 64, 128, 256), 300_000,
    ),
    "paper": Sizes(
        64, 8, -6, (256, 1024, 4096), tuple(2**k for k in range(6, 16)), 10,
        (4, 8, 16, 32, 64, 128, 256, 512), 10**6,
    ),
}  # fmt: skip


def support_recovery_data(plan: Plan) -> Data:
    sizes = SIZES[plan.preset]
    return Data(
        support_recovery_tables(plan, sizes),
        f"(a) {sizes.repeats} pretrainings, d = {sizes.d}, r = {sizes.r}, ρ = 4, b = {sizes.b}, "
        f"{sizes.queries} queries a prompt; lines are medians, bands all of them. (b) enclosed, "
        f"nothing forgotten. (c) {sizes.draws} prompts of one query, exactly in law, g = z, ρ = "
        f"1, b = -2, d = {BIAS_D}, r = {BIAS_R}; 99% intervals from the exact second moment.",
    )


def support_recovery_tables(plan: Plan, sizes: Sizes) -> dict[str, Table]:
    name = "mamba.support_recovery"
    code = (
        "theoryverify.papers.mamba.experiments.support_recovery",
        "theoryverify.simulate.mamba_algorithm",
        "theoryverify.simulate.mamba_stage_law",
    )
    runner = Cells(name, plan, code)
    return {
        "tasks": Table.of(
            ("link", "N", "T_1", "run", "on", "off", "separated"), _tasks(runner, sizes)
        ),
        "starts": Table.of(("link", "start", "factor", "lower", "upper"), _factors()),
        "bias": Table.of(("N", "value", "lower", "upper"), _bias(runner, sizes)),
    }


def _tasks(runner: Cells, sizes: Sizes) -> Iterator[tuple[Any, ...]]:
    for N in sizes.contexts:
        for run in range(sizes.repeats):
            found = runner.compute(
                {
                    "what": "tasks",
                    "N": N,
                    "run": run,
                    "d": sizes.d,
                    "r": sizes.r,
                    "b": sizes.b,
                    "T": list(sizes.tasks),
                    "Q": sizes.queries,
                },
                lambda rng, N=N: _growing(sizes, N, runner.plan.device, rng),  # type: ignore[misc]
            )
            for tasks, (on, off), separated in zip(
                sizes.tasks, found["sizes"], found["separated"], strict=True
            ):
                yield (LINK, N, tasks, run, float(on), float(off), bool(separated))


def _growing(sizes: Sizes, N: int, device: str, rng: np.random.Generator) -> dict[str, Any]:
    """One run: diagonal coordinates over the first T_1 tasks, in units of the population's."""
    from theoryverify.simulate.icl_prompts import TaskFamily
    from theoryverify.simulate.mamba_algorithm import Setting, recovery, stage_one_gradient

    family = TaskFamily.random(LINK, sizes.d, sizes.r, rng=rng)
    setting = Setting(Gate(4, sizes.b), N, 1, 1, queries=sizes.queries)
    unit = float(StageOne(Population(LINK, setting.gate), tokens=N).gradient(sizes.r).diagonal)
    total: Any = 0.0
    before, ends, separated = 0, [], []
    for tasks in sizes.tasks:
        more = replace(setting, stage_one=tasks - before)
        total = total + (tasks - before) * stage_one_gradient(family, more, device=device, rng=rng)
        before = tasks
        found = recovery(total / tasks, family.support, "diagonal")
        ends.append([_rms(found.inside) / unit, _rms(found.outside) / unit])
        separated.append(found.separated)
    return {"sizes": np.array(ends), "separated": np.array(separated)}


def _rms(values: Any) -> float:
    return float(np.sqrt((values**2).mean()))


def _factors() -> Iterator[tuple[Any, ...]]:
    """The label's part ``E[g 1{M>0} he_ge]`` of the query factor, enclosed, for each start."""
    for text, (rho, b, ge) in FACTORS.items():
        at = Population(text, Gate(rho, b))
        for name, start in STARTS.items():
            label = StageOne(at, start).query_factor(ge).label
            yield (text, name, float(label), float(label.lower), float(label.upper))
        # A linear head is the rectifier without a kink: the raw coefficient of the link.
        raw = StageOne(at, Start(1000, 0, 1)).query_factor(ge).label
        yield (text, "linear head", float(raw), float(raw.lower), float(raw.upper))


def _bias(runner: Cells, sizes: Sizes) -> Iterator[tuple[Any, ...]]:
    for N in sizes.lengths:
        found = runner.compute(
            {"what": "bias", "N": N, "draws": sizes.draws},
            lambda rng, N=N: _mean_off(N, sizes.draws, rng),  # type: ignore[misc]
        )
        yield (N, *map(float, found["mean"]))


def _mean_off(N: int, draws: int, rng: np.random.Generator) -> dict[str, Any]:
    from theoryverify.simulate.mamba_stage_law import sample_stage_one
    from theoryverify.stats import VarianceMean

    gate = Gate(*BIAS_GATE)
    at = Population(BIAS_LINK, gate, digits=9)
    only = FeatureWeights.of(0, 0, 0, 0, 1, 0)
    spread = feature_share(at, only, BIAS_R, N, ge=1, d=BIAS_D).variance
    variance = float(at.moment(0, labels=2).upper) * float(spread.upper) / (BIAS_D - BIAS_R) ** 2
    found = sample_stage_one(
        BIAS_LINK, gate, BIAS_D, BIAS_R, N, draws, blocks=("outside linear",), rng=rng
    )
    sequence = VarianceMean(variance, error=ERROR, horizon=draws)
    sequence.update(found.mean_coordinate("outside linear"))
    ends = sequence.interval
    return {"mean": np.array([(ends.lower + ends.upper) / 2, ends.lower, ends.upper])}
