"""``mamba.forgetting``: the factor F_N and signal-to-noise against the bias, enclosed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from theoryverify.exact.gate import Gate
from theoryverify.exact.links import link
from theoryverify.figures import Data, Plan, Table
from theoryverify.figures.cells import Cells
from theoryverify.papers.mamba.finite_feature import FeatureWeights, feature_share
from theoryverify.papers.mamba.links import HE2, HE3
from theoryverify.papers.mamba.population import Population
from theoryverify.simulate.mamba_law import SymmetricGamma, sample_features
from theoryverify.stats import VarianceMean

RHO, SUPPORT = 8, 8
LINKS = ((HE2, 2), (HE3, 1))
"""Links with their generative exponents; the factor is shown for the first."""
ERROR = 0.01
"""Of an interval around a simulated mark."""


@dataclass(frozen=True)
class Sizes:
    """Steps of the grid over b for the links, context lengths, biases and prompts of the simulation."""

    steps: tuple[Fraction, Fraction]
    tokens: tuple[int, ...]
    marks: tuple[int, ...]
    prompts: int


SIZES = {
    "quick": Sizes((Fraction(1), Fraction(1)), (64, 256, 1024, 4096), (-8, -6, -4, -2), 4000),
    "laptop": Sizes(
        (Fraction(1, 4), Fraction(1, 4)),
        (64, 256, 1024, 4096, 16_384),
        (-10, -8, -6, -4, -2),
        40_000,
    ),
    "paper": Sizes(
        (Fraction(1, 8), Fraction(1, 8)),
        (64, 256, 1024, 4096, 16_384, 65_536),
        (-10, -8, -6, -4, -2),
        100_000,
    ),
}
LOWEST = -16


def forgetting_data(plan: Plan) -> Data:
    sizes = SIZES[plan.preset]
    return Data(
        forgetting_tables(plan, sizes),
        f"Lines: enclosures by rigorous quadrature at steps of {sizes.steps[0]} in b, ρ = {RHO}, "
        f"r = {SUPPORT}. Marks: means over {sizes.prompts} prompts of the layer with γ on the "
        "constant coordinate, drawn exactly in law; 99% intervals from the exact variance "
        "(Catoni).",
    )


def forgetting_tables(plan: Plan, sizes: Sizes) -> dict[str, Table]:
    runner = Cells("mamba.forgetting", plan, ("theoryverify.papers.mamba.experiments.forgetting",))
    names = ("link", "b", "N", "value", "lower", "upper")
    curves = list(_curves(runner, sizes))
    return {
        "factor": Table.of(names, [row[1:] for row in curves if row[0] == "factor"]),
        "ratio": Table.of(names, [row[1:] for row in curves if row[0] == "ratio"]),
        "marks": Table.of(names, _marks(runner, sizes)),
        "best": Table.of(("link", "N", "b"), _best(curves)),
    }


def _curves(runner: Cells, sizes: Sizes) -> Iterator[tuple[Any, ...]]:
    for (text, k), step in zip(LINKS, sizes.steps, strict=True):
        for index in range(int(-LOWEST / step) + 1):
            b = LOWEST + index * step
            found = runner.compute(
                {"what": "curve", "link": text, "b": str(b), "N": list(sizes.tokens)},
                lambda rng, text=text, k=k, b=b: _curve(text, k, b, sizes.tokens),  # type: ignore[misc]
            )
            for kind in ("factor", "ratio"):
                if kind == "factor" and text != LINKS[0][0]:
                    continue
                for N, row in zip(sizes.tokens, found[kind], strict=True):
                    yield (kind, text, float(b), N, *map(float, row))


def _curve(text: str, k: int, b: Fraction, tokens: Sequence[int]) -> dict[str, Any]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # b = 0 with an odd link is shown on purpose
        at = Population(text, Gate(RHO, b), digits=9)
    factor = [at.forgetting_factor(N) for N in tokens]
    ratio = [at.signal_to_noise(SUPPORT, N).ratio(k) for N in tokens]
    return {
        name: np.array([(float(e), float(e.lower), float(e.upper)) for e in found])
        for name, found in (("factor", factor), ("ratio", ratio))
    }


def _marks(runner: Cells, sizes: Sizes) -> Iterator[tuple[Any, ...]]:
    text = LINKS[0][0]
    for b in sizes.marks:
        for N in sizes.tokens[:3]:
            found = runner.compute(
                {"what": "mark", "link": text, "b": b, "N": N, "prompts": sizes.prompts},
                lambda rng, b=b, N=N: _mark(text, b, N, sizes.prompts, rng),  # type: ignore[misc]
            )
            yield (text, float(b), N, *map(float, found["factor"]))


def _mark(text: str, b: int, N: int, prompts: int, rng: np.random.Generator) -> dict[str, Any]:
    """``F_N`` as the mean of ``N⁻¹ΣG y`` over ``c_0``."""
    gate = Gate(RHO, b)
    at = Population(text, gate, digits=9)
    only = FeatureWeights.of(1, 0, 0, 0, 0, 0)
    variance = float(feature_share(at, only, 1, N, ge=1).variance.upper)
    zero = np.zeros(1)
    gamma = SymmetricGamma(1, 1.0, zero, np.zeros((1, 1)), zero, 0.0, 0.0)
    sequence = VarianceMean(variance, error=ERROR, horizon=prompts)
    values = sample_features(gamma, link(text), gate, N, prompts, rng=rng).feature[:, 0]
    sequence.update(values)
    scale = float(at.coefficient(0))
    interval = sequence.interval
    middle = (interval.lower + interval.upper) / 2
    return {"factor": np.array([middle, interval.lower, interval.upper]) / scale}


def _best(curves: Sequence[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """The bias of the grid with the largest ratio, for each link and length."""
    for text, _ in LINKS:
        for N in dict.fromkeys(row[3] for row in curves):
            rows = [r for r in curves if r[0] == "ratio" and r[1] == text and r[3] == N]
            best = max(rows, key=lambda row: float(row[4]))
            yield (text, N, best[2])
