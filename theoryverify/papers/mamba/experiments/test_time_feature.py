"""``mamba.test_time_feature``: the feature after one step against z, where it is one and where not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from theoryverify.exact.gate import Gate
from theoryverify.figures import Data, Plan, Table
from theoryverify.figures.cells import Cells
from theoryverify.papers.mamba.finite_feature import FeatureWeights, feature_share
from theoryverify.papers.mamba.links import HE2, HE3, HE4, MIX
from theoryverify.papers.mamba.one_step import one_step_feature
from theoryverify.papers.mamba.population import Population
from theoryverify.papers.mamba.stage_one import StageOne
from theoryverify.simulate.intervals import median_of_means
from theoryverify.simulate.mamba_law import SymmetricGamma, sample_features

GATES = {HE3: ("24", "-9"), HE4: ("60", "-9"), MIX: ("16", "-9")}
"""The dossier's gates for the infinite context."""
CLOUD, CLOUD_R = (HE3, MIX), 32
FINITE = (
    (HE2, "4", "-16", 2, 8),
    (HE2, "4", "-4", 2, 8),
    (HE3, "100", "-24", 1, 128),
    (HE3, "8", "-4", 1, 8),
)
"""Links, gates, ge and r for R² against N."""
_QUERIES, _GROUPS = 16, 20


@dataclass(frozen=True)
class Sizes:
    """Points of a cloud, sizes r, logarithms of N; lengths and prompts of the simulation."""

    points: int
    sizes: tuple[int, ...]
    logs: tuple[int, ...]
    marks: tuple[int, ...]
    prompts: int


SIZES = {
    "quick": Sizes(400, (4, 8, 16, 32, 64, 128, 256, 512), (*range(6, 41, 2),), (64, 512), 1000),
    "laptop": Sizes(
        1000, tuple(2**k for k in range(2, 14)), (*range(6, 41),), (64, 256, 1024, 4096), 10_000
    ),
    "paper": Sizes(
        1000, tuple(2**k for k in range(2, 14)), (*range(6, 41),), (64, 256, 1024, 4096), 100_000
    ),
}


def test_time_feature_data(plan: Plan) -> Data:
    sizes = SIZES[plan.preset]
    return Data(
        test_time_feature_tables(plan, sizes),
        f"(a), (b) {sizes.points} random tasks and queries, r = {CLOUD_R}, at the population γ* "
        "and an infinite context, where nothing else is random; (c) enclosed; (d) lines from "
        f"exact moments of the context, enclosed; marks: {sizes.prompts} prompts of {_QUERIES} "
        f"queries drawn exactly in law, the median of {_GROUPS} groups with a 95% interval for "
        "it.",
    )


def test_time_feature_tables(plan: Plan, sizes: Sizes) -> dict[str, Table]:
    name = "mamba.test_time_feature"
    runner = Cells(name, plan, ("theoryverify.papers.mamba.experiments.test_time_feature",))
    return {
        "cloud": Table.of(("link", "z", "feature", "stated", "share"), _cloud(plan, sizes)),
        "share": Table.of(("link", "r", "share", "lower", "upper"), _shares(sizes)),
        "finite": Table.of(
            ("link", "rho", "b", "r", "N", "share", "lower", "upper"), _finite(runner, sizes)
        ),
        "limit": Table.of(
            ("link", "rho", "b", "r", "share"),
            [
                (text, rho, b, r, float(one_step_feature(_step(text, rho, b), r).share))
                for text, rho, b, _, r in FINITE
            ],
        ),
        "marks": Table.of(
            ("link", "rho", "b", "r", "N", "share", "lower", "upper"), _marks(runner, sizes)
        ),
    }


@lru_cache(maxsize=16)
def _step(text: str, rho: str, b: str) -> StageOne:
    return StageOne(Population(text, Gate(rho, b)))


def _cloud(plan: Plan, sizes: Sizes) -> Iterator[tuple[Any, ...]]:
    """The feature in units in which ``P_1 + P_2 z/r`` is z."""
    for text in CLOUD:
        rng, r = plan.rng(f"mamba.test_time_feature {text}"), CLOUD_R
        step = _step(text, *GATES[text])
        found = one_step_feature(step, r)
        c = [float(value) for value in step.context_factors]
        K = [float(step.query_factor(k).total) for k in range(3)]
        beta = rng.standard_normal((sizes.points, r))
        beta /= np.linalg.norm(beta, axis=1, keepdims=True)
        x = rng.standard_normal((sizes.points, r))
        z, S = (beta * x).sum(1), ((beta * x) ** 2).sum(1)
        s = np.sqrt(2) * c[2] ** 2 * K[2] / (r * (r + 2))
        feature = c[1] ** 2 * K[1] * z / r + s * (z**2 + S / 2 - 1.5)
        unit = float(found.P_2) / r
        for at, value in zip(z, feature / unit, strict=True):
            yield (text, float(at), float(value), float(at), float(found.share))


def _shares(sizes: Sizes) -> Iterator[tuple[Any, ...]]:
    for text, gate in GATES.items():
        for r in sizes.sizes:
            share = one_step_feature(_step(text, *gate), r).share
            yield (text, r, float(share), float(share.lower), float(share.upper))


def _finite(runner: Cells, sizes: Sizes) -> Iterator[tuple[Any, ...]]:
    for text, rho, b, ge, r in FINITE:
        found = runner.compute(
            {"what": "finite", "link": text, "rho": rho, "b": b, "r": r, "logs": list(sizes.logs)},
            lambda rng, t=text, p=rho, b=b, ge=ge, r=r: _curve(t, p, b, ge, r, sizes.logs),  # type: ignore[misc]
        )
        for log_tokens, row in zip(sizes.logs, found["share"], strict=True):
            yield (text, rho, b, r, 2**log_tokens, *map(float, row))


def _curve(
    text: str, rho: str, b: str, ge: int, r: int, logs: tuple[int, ...]
) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    step = _step(text, rho, b)
    weights = FeatureWeights.trained(step.gradient(r))
    found = [feature_share(step.population, weights, r, 2**k, ge=ge).share for k in logs]
    return {"share": np.array([(float(e), float(e.lower), float(e.upper)) for e in found])}


def _marks(runner: Cells, sizes: Sizes) -> Iterator[tuple[Any, ...]]:
    """Simulated for the links of degree 2: beyond, R² is decided by events too rare to be drawn."""
    for text, rho, b, _, r in FINITE:
        if text != HE2:
            continue
        for N in sizes.marks:
            found = runner.compute(
                {"what": "mark", "link": text, "rho": rho, "b": b, "N": N, "n": sizes.prompts},
                lambda rng, t=text, p=rho, b=b, r=r, N=N: _mark(t, p, b, r, N, sizes.prompts, rng),  # type: ignore[misc]
            )
            yield (text, rho, b, r, N, *map(float, found["share"]))


def _mark(
    text: str, rho: str, b: str, r: int, N: int, prompts: int, rng: np.random.Generator
) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    """``Cov(f, he_2)²/Var f`` of each group of prompts."""
    step = _step(text, rho, b)
    w = step.gradient(r)
    square = np.full((r, r), float(w.pair))
    np.fill_diagonal(square, float(w.diagonal))
    zero = np.zeros(r)
    gamma = SymmetricGamma(r, float(w.constant), zero + float(w.linear), square, zero, 0.0, 0.0)
    draws = sample_features(gamma, text, Gate(rho, b), N, prompts, queries=_QUERIES, rng=rng)
    he = (draws.z**2 - 1) / np.sqrt(2)
    shares = [
        (f * h).mean() ** 2 / f.var()
        for f, h in zip(
            np.array_split(draws.feature, _GROUPS), np.array_split(he, _GROUPS), strict=True
        )
    ]
    found = median_of_means(shares, groups=_GROUPS)
    return {"share": np.array([found.value, found.lower, found.upper])}
