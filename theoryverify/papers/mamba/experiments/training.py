"""The tables behind ``mamba.training``: what the base's training does, and what it has learned."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from theoryverify.figures import Data, Plan, Table
from theoryverify.figures.table import Cell
from theoryverify.papers.mamba.experiments.cells_icl import alignment_tasks
from theoryverify.papers.mamba.experiments.icl import budget
from theoryverify.papers.mamba.experiments.icl_sizes import NAMES, SIZES, Sizes
from theoryverify.papers.mamba.experiments.icl_trainings import trainings
from theoryverify.papers.mamba.score import score
from theoryverify.simulate.icl_curves import MEASURES, band, trivial_levels
from theoryverify.simulate.icl_gates import fit_gate, hermite_profile, root_mean_square, tabulated
from theoryverify.simulate.in_context import Task
from theoryverify.simulate.store import Arrays

Floats = NDArray[np.float64]

_DRAWS = 200
_LEVEL = (0.025, 0.975)
_TWO_POINTS = (
    " At r = 1 there are two tasks, β = ±1, and no small change of β: there T in (e) tells how labels "
    "count for one or the other, and its sign means nothing."
)
PROFILE = 4
"""Hermite coefficients up to this degree."""
FORMS = {False: "σ(y/ρ+b)", True: "σ(|y|/ρ+b)"}
"""Gates that are fitted to openings, by whether they are even."""
THEORY: dict[str, Callable[[Floats], Floats]] = {
    "y σ(y/4-3)": lambda y: y / (1 + np.exp(3 - y / 4)),
    "y σ(y-2)": lambda y: y / (1 + np.exp(2 - y)),
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
        f"{unseen} others, one for each size. (c) to (f): {sizes.probes} prompts a seed, one label "
        "replaced. Bands are 95% bootstrap intervals over tasks (a) or prompts (c to f; gates are fitted "
        "anew) for the models as trained, the seeds not drawn; thin lines in (a) are the seeds one by "
        "one; (b) has their range." + (_TWO_POINTS if base.task.r == 1 else ""),
    )


def training_tables(plan: Plan, sizes: Sizes) -> dict[str, Table]:
    found = trainings(plan, sizes, ("base",))
    runs = {NAMES[kind]: arrays for (_, kind), arrays in found.items()}
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
            ("model", "layer", "y", "opening", "lower", "upper"),
            [row for name, each in runs.items() for row in _openings(name, each)],
        ),
        "fits": Table.of(
            ("model", "layer", "gate", "rho", "b", "low", "high", "explained"),
            [row for name, each in runs.items() for row in _fits(name, each)],
        ),
        "gates": Table.of(
            ("model", "layer", "gate", "k", "coefficient", "lower", "upper"),
            [row for name, each in runs.items() for row in _gates(name, each, task)]
            + [
                ("theory", None, gate, k, float(c), None, None)
                for gate, T in THEORY.items()
                for k, c in enumerate(hermite_profile(task, T, PROFILE))
            ],
        ),
        "response": Table.of(
            ("transformation", "y", "T", "lower", "upper"), _responses(runs, task)
        ),
        "profile": Table.of(
            ("transformation", "k", "coefficient", "lower", "upper"), _profiles(runs, task)
        ),
        "alignment": Table.of(
            ("model", "layer", "examples", "explained", "lower", "upper"),
            [row for name, each in runs.items() for row in _alignments(name, each)],
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


def resampled(runs: list[Arrays]) -> Iterator[list[Arrays]]:
    """Bootstrap over prompts: all runs, with drawn prompts (each run has its own)."""
    rng = np.random.default_rng(0)
    for _ in range(_DRAWS):
        yield [_drawn(run, rng) for run in runs]


def _drawn(run: Arrays, rng: np.random.Generator) -> Arrays:
    prompts = rng.integers(len(run["weight"]), size=len(run["weight"]))
    return {"values": run["values"]} | {k: run[k][prompts] for k in ("opening", "change", "weight")}


def _openings(name: str, runs: list[Arrays]) -> Iterator[tuple[Cell, ...]]:
    values, mean = runs[0]["values"], _opening(runs)
    low, high = np.quantile([_opening(each) for each in resampled(runs)], _LEVEL, axis=0)
    for layer in range(len(mean)):
        for place, y in enumerate(values):
            at = (layer, place)
            yield (name, layer + 1, float(y), *(float(a[at]) for a in (mean, low, high)))


def _opening(runs: list[Arrays]) -> Floats:
    """(layers, V): over the mean of a layer, so that only the shape is left."""
    mean = _mean_opening(runs)
    return np.asarray(mean / mean.mean(axis=1, keepdims=True))


def _fits(name: str, runs: list[Arrays]) -> Iterator[tuple[Cell, ...]]:
    for layer, opening in enumerate(_mean_opening(runs)):
        for even, gate in FORMS.items():
            fit = fit_gate(runs[0]["values"], opening, even=even)
            yield (name, layer + 1, gate, fit.rho, fit.b, fit.low, fit.high, fit.explained)


def _gates(name: str, runs: list[Arrays], task: Task) -> Iterator[tuple[Cell, ...]]:
    """Of ``y·fit(y)`` for each layer, of the form that explains more; fitted anew on drawn prompts."""
    values, draws = runs[0]["values"], [_mean_opening(each) for each in resampled(runs)]
    for layer, opening in enumerate(_mean_opening(runs)):
        even = max(FORMS, key=lambda form: fit_gate(values, opening, even=form).explained)

        def profile(opening: Floats, even: bool = even) -> Floats:
            fit = fit_gate(values, opening, even=even)
            return hermite_profile(task, lambda y: y * fit(y), PROFILE)

        low, high = np.quantile([profile(drawn[layer]) for drawn in draws], _LEVEL, axis=0)
        for k, row in enumerate(zip(profile(opening), low, high, strict=True)):
            yield (name, layer + 1, f"y {FORMS[even]}", k, *(float(x) for x in row))


def _mean_opening(runs: list[Arrays]) -> Floats:
    """(layers, V), over prompts and seeds."""
    means = [run["opening"].mean(axis=0, dtype=np.float64) for run in runs]
    return np.asarray(np.mean(means, axis=0))


def transformation(runs: list[Arrays]) -> Floats:
    """``T̂`` (V,), the mean over seeds."""
    return np.asarray(
        np.mean(
            [
                run["change"].mean(axis=0, dtype=np.float64) / run["weight"].mean(dtype=np.float64)
                for run in runs
            ],
            axis=0,
        )
    )


def _responses(runs: dict[str, list[Arrays]], task: Task) -> Iterator[tuple[Cell, ...]]:
    """``T/√E[T(g(z))²]``: measured ones at the labels that were put in, known ones on a grid."""
    for name, each in runs.items():
        values = each[0]["values"]

        def shape(these: list[Arrays], values: Floats = values) -> Floats:
            T = transformation(these)
            return T / root_mean_square(task, tabulated(values, T))

        low, high = np.quantile([shape(some) for some in resampled(each)], _LEVEL, axis=0)
        for y, *row in zip(values, shape(each), low, high, strict=True):
            yield (name, float(y), *(float(x) for x in row))
    for name, known in _known(task).items():
        for y, T in zip(_GRID, known(_GRID) / root_mean_square(task, known), strict=True):
            yield (name, float(y), float(T), None, None)


def _profiles(runs: dict[str, list[Arrays]], task: Task) -> Iterator[tuple[Cell, ...]]:
    for name, each in runs.items():
        values = each[0]["values"]

        def profile(these: list[Arrays], values: Floats = values) -> Floats:
            return hermite_profile(task, tabulated(values, transformation(these)), PROFILE)

        low, high = np.quantile([profile(some) for some in resampled(each)], _LEVEL, axis=0)
        for k, row in enumerate(zip(profile(each), low, high, strict=True)):
            yield (name, k, *(float(x) for x in row))
    for name, known in _known(task).items():
        for k, c in enumerate(hermite_profile(task, known, PROFILE)):
            yield (name, k, float(c), None, None)


def _known(task: Task) -> dict[str, Callable[[Floats], Floats]]:
    """Transformations to compare with: none, those of two gates, and the one with the largest c_1."""
    return {"y": lambda y: y} | THEORY | {"E[z|y]": score(task)}


def _alignments(name: str, runs: list[Arrays]) -> Iterator[tuple[Cell, ...]]:
    every = np.stack([run["alignment"] for run in runs])
    mean, low, high = every.mean(axis=0), every.min(axis=0), every.max(axis=0)
    for layer in range(mean.shape[0]):
        for place, k in enumerate(runs[0]["alignment_sizes"]):
            at = (layer, place)
            yield (name, layer, int(k), *(float(a[at]) for a in (mean, low, high)))
