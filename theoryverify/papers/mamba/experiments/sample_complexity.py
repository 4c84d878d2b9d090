"""``mamba.sample_complexity``: test error against the prompt's length and r, and how long it must be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from theoryverify.exact.gate import Gate
from theoryverify.figures import Data, Plan, Table
from theoryverify.figures.cells import Cells
from theoryverify.papers.mamba.experiments import cells_sample_complexity as cells
from theoryverify.papers.mamba.experiments.cells_sample_complexity import Bench
from theoryverify.papers.mamba.finite_feature import (
    INDICATOR,
    FeatureWeights,
    half_length,
)
from theoryverify.papers.mamba.links import HE2, HE3
from theoryverify.papers.mamba.one_step import one_step_feature
from theoryverify.papers.mamba.population import Population
from theoryverify.papers.mamba.stage_one import StageOne

GROWTH = {"he_2": (HE2, "4", "-36", 2), "he_3": (HE3, "200", "-30", 1)}
"""Links, gates and ge of the panel on exponents: so low a bias that nothing is forgotten."""


@dataclass(frozen=True)
class Sizes:
    """The bench; links with the r at which all rows are shown; r for the Mamba alone; exact r."""

    bench: Bench
    rows: tuple[tuple[str, int], ...]
    supports: tuple[int, ...]
    growth: tuple[int, ...]


SIZES = {
    "quick": Sizes(
        Bench(24, 4, -7, 512, 600, 150, (16, 32, 64, 128, 256, 512), 100, 10),
        ((HE2, 4), (HE3, 4)),
        (2, 4, 8),
        (32, 64, 128, 256, 512, 1024),
    ),
    "laptop": Sizes(
        Bench(32, 4, -9, 2048, 4000, 1000, (16, 32, 64, 128, 256, 512, 1024, 2048), 200, 20),
        ((HE2, 4), (HE3, 4)),
        (2, 4, 8, 16),
        tuple(2**k for k in range(5, 13)),
    ),
    "paper": Sizes(
        Bench(64, 4, -11, 8192, 50_000, 10_000, tuple(2**k for k in range(4, 14)), 200, 10),
        ((HE2, 8), (HE3, 8)),
        (2, 4, 8, 16, 32),
        tuple(2**k for k in range(5, 13)),
    ),
}


def sample_complexity_data(plan: Plan) -> Data:
    sizes = SIZES[plan.preset]
    bench = sizes.bench
    return Data(
        sample_complexity_tables(plan, sizes),
        f"d = {bench.d}, pretraining with N = {bench.tokens}, T_1 = {bench.stage_one}, T_2 = "
        f"{bench.stage_two} prompts of {bench.queries} queries (test: {bench.test_queries}), "
        f"gate ρ = {bench.rho}, b = {bench.b}; {bench.tasks} test tasks, the same for all rows; "
        "medians of ten groups of tasks, bands 95% intervals for the median; kernels tuned on "
        f"{bench.tuning} tasks of their own at N = {bench.lengths[-1]}. (d) from exact moments "
        "at the population γ*, enclosed; no simulation.",
    )


def sample_complexity_tables(plan: Plan, sizes: Sizes) -> dict[str, Table]:
    code = (
        "theoryverify.papers.mamba.experiments.cells_sample_complexity",
        "theoryverify.simulate.mamba_algorithm",
        "theoryverify.simulate.icl_attention",
        "theoryverify.simulate.icl_kernels",
    )
    runner = Cells("mamba.sample_complexity", plan, code)
    growth = list(_growth(sizes))
    return {
        "errors": Table.of(
            ("link", "r", "method", "N", "error", "lower", "upper"), _errors(runner, sizes)
        ),
        "growth": Table.of(("link", "weights", "r", "N"), growth),
        "exponents": Table.of(("link", "weights", "fitted", "last", "theory"), _exponents(growth)),
    }


def _errors(runner: Cells, sizes: Sizes) -> Iterator[tuple[Any, ...]]:
    wanted = [(text, r, method) for text, r in sizes.rows for method in cells.METHODS]
    more = [(sizes.rows[0][0], r, cells.MAMBA) for r in sizes.supports]
    plan = runner.plan
    for text, r, method in dict.fromkeys(wanted + more):
        found = runner.compute(
            {"link": text, "r": r, "method": method, **asdict(sizes.bench)},
            lambda rng, t=text, r=r, m=method: cells.errors(  # type: ignore[misc]
                m, t, r, sizes.bench, plan.seed, plan.device, rng
            ),
        )
        for N, row in zip(sizes.bench.lengths, found["error"], strict=True):
            yield (text, r, method, N, *map(float, row))


@lru_cache(maxsize=4)
def _step(text: str, rho: str, b: str) -> StageOne:
    return StageOne(Population(text, Gate(rho, b)))


def _growth(sizes: Sizes) -> Iterator[tuple[str, str, int, float]]:
    """The least N (a real power of two) with half of the R² that the feature has without noise."""
    for name, (text, rho, b, ge) in GROWTH.items():
        step = _step(text, rho, b)
        for r in sizes.growth:
            trained = FeatureWeights.trained(step.gradient(r))
            whole = float(one_step_feature(step, r).share)
            for kind, weights, top in (
                ("trained", trained, whole),
                ("indicator", INDICATOR, _indicator_share(step, ge)),
            ):
                N = half_length(step.population, weights, r, ge=ge, level=top / 2)
                if N is not None:
                    yield (name, kind, r, float(N))


def _indicator_share(step: StageOne, ge: int) -> float:
    _, one, two = (float(c) ** 2 for c in step.context_factors)
    return (one if ge == 1 else two) / (one + two)


def _exponents(growth: list[tuple[str, str, int, float]]) -> Iterator[tuple[Any, ...]]:
    for name, (_, _, _, ge) in GROWTH.items():
        for kind in ("trained", "indicator"):
            rows = [(r, N) for link, weights, r, N in growth if (link, weights) == (name, kind)]
            if len(rows) < 2:
                continue
            x, y = np.log(np.array(rows, dtype=float)).T
            fitted = float(np.polyfit(x, y, 1)[0])
            last = float((y[-1] - y[-2]) / (x[-1] - x[-2]))
            yield (name, kind, fitted, last, 3.0 * ge)
