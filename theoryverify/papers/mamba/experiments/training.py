"""The tables behind ``mamba.training``: what the base's training does, and what it has learned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryverify.figures import Data, Plan, Table
from theoryverify.figures.table import Cell
from theoryverify.papers.mamba.experiments.cells_icl_probe import alignment_tasks
from theoryverify.papers.mamba.experiments.icl import budget
from theoryverify.papers.mamba.experiments.icl_sizes import NAMES, SIZES, Sizes
from theoryverify.papers.mamba.experiments.icl_trainings import probes, trainings
from theoryverify.papers.mamba.score import score
from theoryverify.simulate.icl_curves import MEASURES, band, trivial_levels
from theoryverify.simulate.icl_gates import GateFit, fit_gate, gate
from theoryverify.simulate.icl_labels import (
    Transformation,
    continued,
    hermite_profile,
    label_masses,
    root_mean_square,
)
from theoryverify.simulate.in_context import Task
from theoryverify.simulate.store import Arrays

Floats = NDArray[np.float64]

_DRAWS = 200
_LEVEL = (0.025, 0.975)
_TWO_POINTS = (
    " At r = 1 there are two tasks, β = ±1, and no small change of β: there T in (g) tells how labels "
    "count for one or the other, and its sign means nothing."
)
PROFILE = 4
"""Hermite coefficients up to this degree."""
FORMS = {False: "σ(y/ρ+b)", True: "σ(|y|/ρ+b)"}
"""Gates that are fitted to openings, by whether they are even."""
THEORY: dict[str, Transformation] = {
    "y σ(y/4-3)": lambda y: y * gate(y, 4, -3),
    "y σ(y-2)": lambda y: y * gate(y, 1, -2),
}
"""Two gated labels of the theory."""
_GRID = np.linspace(-3, 3, 241)


def training_data(plan: Plan) -> Data:
    sizes = SIZES[plan.preset]
    base = sizes.base
    seen, unseen = alignment_tasks(sizes.probes)
    return Data(
        training_tables(plan, sizes),
        f"The base of mamba.icl_curves: g = {base.task.g}, d = {base.task.d}, r = {base.task.r}, "
        f"N_pt = {base.context}, {base.model.layers} layers of Mamba and "
        f"{sizes.run('base', 'gpt2', 0).model.layers} of GPT-2, width {base.model.width}, "
        f"{base.steps} steps on {base.batch} fresh tasks, {sizes.seeds} seeds. (a): 256 validation "
        f"tasks, the last quarter of the positions. (b): read-outs fitted on {seen} tasks and judged on "
        f"{unseen} others, one for each size. (c) to (h): {sizes.probes} prompts a seed, one label "
        "replaced. Bands are 95% bootstrap intervals over tasks (a) or prompts (c to h; gates are fitted "
        "anew) for the models as trained; thin lines in (a) are the seeds one by one; (b) has their "
        "range." + (_TWO_POINTS if base.task.r == 1 else ""),
    )


def training_tables(plan: Plan, sizes: Sizes) -> dict[str, Table]:
    runs = {NAMES[kind]: each for (_, kind), each in trainings(plan, sizes, ("base",)).items()}
    probed = {NAMES[kind]: each for (_, kind), each in probes(plan, sizes).items()}
    task = sizes.base.task
    seen = [
        Seen.of((name, seed), run, task)
        for name, each in probed.items()
        for seed, run in enumerate(each)
    ]
    return {
        "budget": budget(plan, sizes),
        "training": Table.of(
            ("model", "step", "measure", "error", "lower", "upper", "trivial"),
            [row for name, each in runs.items() for row in _curve(name, each, sizes)],
        ),
        "seeds": Table.of(
            ("model", "seed", "step", "measure", "error", "trivial"),
            [row for name, each in runs.items() for row in _seeds(name, each, sizes)],
        ),
        "opening": Table.of(
            ("model", "seed", "layer", "y", "opening", "lower", "upper"),
            [row for each in seen for row in _openings(each)],
        ),
        "fits": Table.of(
            ("model", "seed", "layer", "gate", "rho", "b", "low", "high", "explained"),
            [row for each in seen for row in _fits(each)],
        ),
        "gates": Table.of(
            ("transformation", "seed", "layer", "explained", "k", "coefficient", "lower", "upper"),
            [row for each in seen for row in _gates(each, task)]
            + [
                (gate, None, None, None, *row)
                for gate, T in THEORY.items()
                for row in _coefficients(hermite_profile(task, T, PROFILE))
            ],
        ),
        "response": Table.of(
            ("transformation", "seed", "y", "T", "lower", "upper"),
            [row for each in seen for row in _responses(each, task)]
            + [row for known in _known(task).items() for row in _on_grid(*known, task)],
        ),
        "profile": Table.of(
            ("transformation", "seed", "k", "coefficient", "lower", "upper"),
            [row for each in seen for row in _profiles(each, task)]
            + [
                (name, None, *row)
                for name, T in _known(task).items()
                for row in _coefficients(hermite_profile(task, T, PROFILE))
            ],
        ),
        "alignment": Table.of(
            ("model", "layer", "examples", "explained", "lower", "upper"),
            [row for name, each in probed.items() for row in _alignments(name, each)],
        ),
    }


def _curve(name: str, runs: list[Arrays], sizes: Sizes) -> Iterator[tuple[Cell, ...]]:
    zero = trivial_levels(sizes.base.task)
    for place, step in enumerate(runs[0]["observed_at"]):
        errors = np.stack([run["observed"][place] for run in runs]).astype(np.float64)
        for measure in MEASURES:
            # positions of one task are not independent: tasks are resampled whole
            value, low, high = (
                float(x[0]) for x in band(errors, measure, draws=_DRAWS // 2, averaged=True)
            )
            yield (name, int(step), measure, value, low, high, zero[measure])


def _seeds(name: str, runs: list[Arrays], sizes: Sizes) -> Iterator[tuple[Cell, ...]]:
    """Each training alone."""
    zero = trivial_levels(sizes.base.task)
    for seed, run in enumerate(runs):
        for step, errors in zip(run["observed_at"], run["observed"], strict=True):
            for measure, of in MEASURES.items():
                value = float(of(errors.astype(np.float64)).mean())
                yield (name, seed, int(step), measure, value, zero[measure])


@dataclass(frozen=True)
class Means:
    """Over prompts.

    Attributes
    ----------
    opening : ndarray (layers, V)
    T : ndarray (V,)
        ``T̂``: the mean change over the mean weight.
    """

    opening: Floats
    T: Floats

    @classmethod
    def of(cls, run: Arrays, prompts: Any = slice(None)) -> Means:
        opening, change, weight = (run[name][prompts] for name in ("opening", "change", "weight"))
        return cls(
            opening.mean(axis=0, dtype=np.float64),
            change.mean(axis=0, dtype=np.float64) / weight.mean(dtype=np.float64),
        )


@dataclass(frozen=True)
class Seen:
    """One trained model, alone: what a layer does is its own, so there is no mean over seeds.

    Attributes
    ----------
    at : (str, int)
        Its name and seed.
    values, masses : ndarray (V,)
        The labels, and how often labels are near them.
    whole : Means
    drawn : list of Means
        A bootstrap over prompts.
    """

    at: tuple[str, int]
    values: Floats
    masses: Floats
    whole: Means
    drawn: list[Means]

    @classmethod
    def of(cls, at: tuple[str, int], run: Arrays, task: Task) -> Seen:
        rng, count = np.random.default_rng(0), len(run["weight"])
        drawn = [Means.of(run, rng.integers(count, size=count)) for _ in range(_DRAWS)]
        return cls(at, run["values"], label_masses(task, run["values"]), Means.of(run), drawn)

    def interval(self, statistic: Callable[[Means], Floats]) -> tuple[Floats, Floats, Floats]:
        """Of a statistic: its value and both ends."""
        low, high = np.quantile([statistic(means) for means in self.drawn], _LEVEL, axis=0)
        return statistic(self.whole), low, high

    def gate(self, opening: Floats, *, even: bool = False) -> GateFit:
        return fit_gate(self.values, opening, self.masses, even=even)


def _openings(seen: Seen) -> Iterator[tuple[Cell, ...]]:
    """Over the mean of a layer, y as it is drawn: so that only the shape is left."""
    found = seen.interval(lambda means: means.opening / (means.opening @ seen.masses)[:, None])
    for layer, place in np.ndindex(found[0].shape):
        y = float(seen.values[place])
        yield (*seen.at, layer + 1, y, *(float(a[layer, place]) for a in found))


def _fits(seen: Seen) -> Iterator[tuple[Cell, ...]]:
    for layer, opening in enumerate(seen.whole.opening, 1):
        for even, form in FORMS.items():
            fit = seen.gate(opening, even=even)
            yield (*seen.at, layer, form, fit.rho, fit.b, fit.low, fit.high, fit.explained)


def _gates(seen: Seen, task: Task) -> Iterator[tuple[Cell, ...]]:
    """Of ``y·fit(y)`` for each layer, a gate of the theory's form; fitted anew on drawn prompts."""

    def profile(means: Means) -> Floats:
        gated = [partial(_gated, seen.gate(opening)) for opening in means.opening]
        return np.stack([hermite_profile(task, T, PROFILE) for T in gated])

    found = seen.interval(profile)
    for layer, opening in enumerate(seen.whole.opening):
        explained = seen.gate(opening).explained
        for row in _coefficients(*(a[layer] for a in found)):
            yield (*seen.at, layer + 1, explained, *row)


def _gated(gate: GateFit, y: Floats) -> Floats:
    return y * gate(y)


def _responses(seen: Seen, task: Task) -> Iterator[tuple[Cell, ...]]:
    """``T̂/√E[T̂(g(z))²]`` at the labels that were put in."""

    def shape(means: Means) -> Floats:
        return means.T / root_mean_square(task, continued(seen.values, means.T))

    for y, *row in zip(seen.values, *seen.interval(shape), strict=True):
        yield (*seen.at, float(y), *(float(x) for x in row))


def _on_grid(name: str, T: Transformation, task: Task) -> Iterator[tuple[Cell, ...]]:
    for y, value in zip(_GRID, T(_GRID) / root_mean_square(task, T), strict=True):
        yield (name, None, float(y), float(value), None, None)


def _profiles(seen: Seen, task: Task) -> Iterator[tuple[Cell, ...]]:
    def profile(means: Means) -> Floats:
        return hermite_profile(task, continued(seen.values, means.T), PROFILE)

    for row in _coefficients(*seen.interval(profile)):
        yield (*seen.at, *row)


def _coefficients(
    c: Floats, low: Floats | None = None, high: Floats | None = None
) -> Iterator[tuple[Cell, ...]]:
    """(k, coefficient, lower, upper)"""
    for k, value in enumerate(c):
        ends = (None, None) if low is None or high is None else (float(low[k]), float(high[k]))
        yield (k, float(value), *ends)


def _known(task: Task) -> dict[str, Transformation]:
    """Transformations to compare with: none, those of two gates, and the one with the largest c_1."""
    return {"y": lambda y: y} | THEORY | {"E[z|y]": score(task)}


def _alignments(name: str, runs: list[Arrays]) -> Iterator[tuple[Cell, ...]]:
    every = np.stack([run["alignment"] for run in runs])
    mean, low, high = every.mean(axis=0), every.min(axis=0), every.max(axis=0)
    for layer in range(mean.shape[0]):
        for place, k in enumerate(runs[0]["alignment_sizes"]):
            at = (layer, place)
            yield (name, layer, int(k), *(float(a[at]) for a in (mean, low, high)))
