"""Trainings of the in-context experiments: shared by figures and claims, each done once and stored."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from theoryverify.figures import Plan
from theoryverify.figures import cells as figure_cells
from theoryverify.figures.cells import Cells, Work
from theoryverify.papers.mamba.experiments import cells_icl as cells
from theoryverify.papers.mamba.experiments.icl_sizes import CHANGES, Sizes
from theoryverify.simulate.icl_config import Configuration
from theoryverify.simulate.sealed import JSON
from theoryverify.simulate.store import Arrays

RUNS = "mamba.icl"
"""Trainings are shared by two figures and by claims, under one name in the store."""


def training_name(settings: Configuration) -> str:
    """Of a run's folder of checkpoints."""
    return figure_cells.training_name(f"icl-{settings.model.kind}", settings.json(), cells.CODE)


def training_cell(settings: Configuration, probes: int) -> dict[str, JSON]:
    """The address of a training in the store."""
    return {"what": "train", "run": settings.json(), "probes": probes}


def runner(plan: Plan) -> Cells:
    """Of the trainings."""
    return Cells(RUNS, plan, cells.CODE)


def trainings(
    plan: Plan, sizes: Sizes, changes: Sequence[str] = CHANGES
) -> dict[tuple[str, str], list[Arrays]]:
    """By change and model, one entry a seed; what is stored is not trained again.

    Beyond ``quick`` a training has checkpoints beside the store, so that it goes on where it stopped.
    """
    of = runner(plan)
    work: list[tuple[tuple[str, str], Work]] = []
    asked: list[tuple[Configuration, dict[str, JSON]]] = []
    for change, kind, seed, run in sizes.runs(changes):
        settings = placed(run, plan)
        folder: Path | None = None
        if of.folder is not None:
            folder = checkpoints(of.folder, settings)
        label = None if plan.preset == "quick" else f"{change} {kind} seed {seed}"
        probes = sizes.probes_of(change)
        function = partial(cells.trained, settings, probes, plan.device, folder, label)
        cell = training_cell(settings, probes)
        asked.append((settings, cell))
        work.append(((change, kind), (cell, function)))
    if plan.preset != "quick":
        announce(plan, [settings for settings, cell in asked if of.stored(cell) is None])
    of.ahead([each for _, each in work])
    found: dict[tuple[str, str], list[Arrays]] = {}
    for which, each in work:
        found.setdefault(which, []).append(of.compute(*each))
    return found


def announce(plan: Plan, missing: Sequence[Configuration]) -> None:
    """Say how long these trainings will take, on standard error; nothing if there are none."""
    if not missing:
        return
    from theoryverify.simulate.checkpoint import steps_done
    from theoryverify.simulate.icl_estimate import span, step_seconds

    folder = runner(plan).folder
    threads = 1 if plan.jobs > 1 or plan.cluster else None  # as the workers have
    known: dict[str, float] = {}
    seconds = 0.0
    for settings in missing:
        key = f"{settings.model} {settings.context}"  # d and r hardly count
        if key not in known:
            known[key] = step_seconds(settings, device=plan.device, threads=threads)
        done = 0 if folder is None else steps_done(checkpoints(folder, settings))
        seconds += known[key] * (settings.steps - done)
    at_a_time = min(plan.jobs, len(missing))
    what = "training" if len(missing) == 1 else "trainings"
    print(
        f"{RUNS}: {len(missing)} {what} to do, about {span(seconds / at_a_time)} here, {at_a_time} "
        f"at a time (a few steps timed on {plan.device}); testing and probing come on top",
        file=sys.stderr,
    )


def checkpoints(store: Path, settings: Configuration) -> Path:
    """Of a training, beside the store."""
    return store / "training" / training_name(settings)


def placed(run: Configuration, plan: Plan) -> Configuration:
    """With the plan's seed; in full precision on a CPU."""
    settings = replace(run, seed=run.seed + plan.seed)
    if settings.precision == "bfloat16" and plan.device == "cpu":
        settings = replace(settings, precision="full", compiled=False)
    return settings
