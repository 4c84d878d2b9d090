"""The tables behind ``mamba.training``: what the base's training does, and what it has learned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

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
    seen = {NAMES[kind]: each for (_, kind), each in probes(plan, sizes).items()}
    task = sizes.base.task
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
            [row for at, run in _each(seen) for row in _openings(at, run, task)],
        ),
        "fits": Table.of(
            ("model", "seed", "layer", "gate", "rho", "b", "low", "high", "explained"),
            [row for at, run in _each(seen) for row in _fits(at, run, task)],
        ),
        "gates": Table.of(
            ("transformation", "seed", "layer", "explained", "k", "coefficient", "lower", "upper"),
            [row for at, run in _each(seen) for row in _gates(at, run, task)]
            + [
                (gate, None, None, None, *row)
                for gate, T in THEORY.items()
                for row in _coefficients(hermite_profile(task, T, PROFILE))
            ],
        ),
        "response": Table.of(
            ("transformation", "seed", "y", "T", "lower", "upper"),
            [row for at, run in _each(seen) for row in _responses(at, run, task)]
            + [row for known in _known(task).items() for row in _on_grid(*known, task)],
        ),
        "profile": Table.of(
            ("transformation", "seed", "k", "coefficient", "lower", "upper"),
            [row for at, run in _each(seen) for row in _profiles(at, run, task)]
            + [
                (name, None, *row)
                for name, T in _known(task).items()
                for row in _coefficients(hermite_profile(task, T, PROFILE))
            ],
        ),
        "alignment": Table.of(
            ("model", "layer", "examples", "explained", "lower", "upper"),
            [row for name, each in seen.items() for row in _alignments(name, each)],
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


At = tuple[str, int]
"""A model and a seed."""


def _each(seen: dict[str, list[Arrays]]) -> list[tuple[At, Arrays]]:
    """Trained models one by one: what a layer does is its own, so there is no mean over seeds."""
    return [((name, seed), run) for name, each in seen.items() for seed, run in enumerate(each)]


def resampled(run: Arrays, statistic: Callable[[Arrays], Floats]) -> tuple[Floats, Floats, Floats]:
    """A statistic of a run, and its interval by a bootstrap over prompts."""
    rng, draws = np.random.default_rng(0), []
    for _ in range(_DRAWS):
        prompts = rng.integers(len(run["weight"]), size=len(run["weight"]))
        drawn = {name: run[name][prompts] for name in ("opening", "change", "weight")}
        draws.append(statistic({"values": run["values"]} | drawn))
    low, high = np.quantile(draws, _LEVEL, axis=0)
    return statistic(run), low, high


def _mean_opening(run: Arrays) -> Floats:
    """(layers, V)"""
    return np.asarray(run["opening"].mean(axis=0, dtype=np.float64))


def _openings(at: At, run: Arrays, task: Task) -> Iterator[tuple[Cell, ...]]:
    """Over the mean of a layer, y as it is drawn: so that only the shape is left."""
    masses = label_masses(task, run["values"])

    def shape(some: Arrays) -> Floats:
        opening = _mean_opening(some)
        return np.asarray(opening / (opening @ masses)[:, None])

    found = resampled(run, shape)
    for layer, place in np.ndindex(found[0].shape):
        y = float(run["values"][place])
        yield (*at, layer + 1, y, *(float(a[layer, place]) for a in found))


def _fits(at: At, run: Arrays, task: Task) -> Iterator[tuple[Cell, ...]]:
    masses = label_masses(task, run["values"])
    for layer, opening in enumerate(_mean_opening(run)):
        for even, form in FORMS.items():
            fit = fit_gate(run["values"], opening, masses, even=even)
            yield (*at, layer + 1, form, fit.rho, fit.b, fit.low, fit.high, fit.explained)


def _gates(at: At, run: Arrays, task: Task) -> Iterator[tuple[Cell, ...]]:
    """Of ``y·fit(y)`` for each layer, a gate of the theory's form; fitted anew on drawn prompts."""
    masses = label_masses(task, run["values"])

    def profile(some: Arrays) -> Floats:
        rows = []
        for opening in _mean_opening(some):
            fit = fit_gate(run["values"], opening, masses)
            rows.append(hermite_profile(task, partial(_gated, fit), PROFILE))
        return np.stack(rows)

    found = resampled(run, profile)
    for layer, opening in enumerate(_mean_opening(run)):
        explained = fit_gate(run["values"], opening, masses).explained
        for row in _coefficients(*(a[layer] for a in found)):
            yield (*at, layer + 1, explained, *row)


def _gated(gate: GateFit, y: Floats) -> Floats:
    return y * gate(y)


def transformation(run: Arrays) -> Floats:
    """``T̂`` (V,)"""
    change = run["change"].mean(axis=0, dtype=np.float64)
    return np.asarray(change / run["weight"].mean(dtype=np.float64))


def _responses(at: At, run: Arrays, task: Task) -> Iterator[tuple[Cell, ...]]:
    """``T̂/√E[T̂(g(z))²]`` at the labels that were put in."""

    def shape(some: Arrays) -> Floats:
        T = transformation(some)
        return T / root_mean_square(task, continued(run["values"], T))

    for y, *row in zip(run["values"], *resampled(run, shape), strict=True):
        yield (*at, float(y), *(float(x) for x in row))


def _on_grid(name: str, T: Transformation, task: Task) -> Iterator[tuple[Cell, ...]]:
    for y, value in zip(_GRID, T(_GRID) / root_mean_square(task, T), strict=True):
        yield (name, None, float(y), float(value), None, None)


def _profiles(at: At, run: Arrays, task: Task) -> Iterator[tuple[Cell, ...]]:
    def profile(some: Arrays) -> Floats:
        return hermite_profile(task, continued(run["values"], transformation(some)), PROFILE)

    for row in _coefficients(*resampled(run, profile)):
        yield (*at, *row)


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
