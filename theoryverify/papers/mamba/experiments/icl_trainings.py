"""Trainings of the in-context experiments: shared by figures and claims, each done once and stored."""

from __future__ import annotations

import heapq
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from theoryverify.figures import Plan
from theoryverify.figures import cells as figure_cells
from theoryverify.figures.cells import Cells, Work
from theoryverify.papers.mamba.experiments import cells_icl as cells
from theoryverify.papers.mamba.experiments import cells_icl_probe
from theoryverify.papers.mamba.experiments.icl_sizes import CHANGES, SIZES, Sizes
from theoryverify.seeds import MOST_SEED
from theoryverify.simulate.icl_config import Configuration
from theoryverify.simulate.sealed import JSON
from theoryverify.simulate.store import Arrays

RUNS = "mamba.icl"
"""Trainings are shared by two figures and by claims, under one name in the store."""


def training_name(settings: Configuration) -> str:
    """Of a run's folder of checkpoints."""
    return figure_cells.training_name(f"icl-{settings.model.kind}", settings.json(), cells.CODE)


def training_cell(settings: Configuration) -> dict[str, JSON]:
    """The address of a training in the store."""
    return {"what": "train", "run": settings.json()}


def probe_cell(settings: Configuration, probes: int) -> dict[str, JSON]:
    """The address of what was seen of a trained model."""
    return {"what": "probe", "run": settings.json(), "probes": probes}


def runner(plan: Plan) -> Cells:
    """Of the trainings."""
    return Cells(RUNS, plan, cells.CODE)


def probe_runner(plan: Plan) -> Cells:
    """Of looks at trained models."""
    return Cells(RUNS, plan, cells_icl_probe.CODE)


def trainings(
    plan: Plan, sizes: Sizes, changes: Sequence[str] = CHANGES
) -> dict[tuple[str, str], list[Arrays]]:
    """By change and model, one entry a seed; what is stored is not trained again.

    Beyond ``quick`` a training has checkpoints beside the store, so that it goes on where it stopped.
    """
    of = runner(plan)
    work: list[tuple[tuple[str, str], Configuration, Work]] = []
    for change, kind, seed, run in sizes.runs(changes):
        settings = placed(run, plan)
        label = None if plan.preset == "quick" else f"{change} {kind} seed {seed}"
        folder = checkpoints(of, settings)
        function = partial(cells.trained, settings, plan.device, folder, label)
        work.append(((change, kind), settings, (training_cell(settings), function)))
    if plan.preset != "quick":
        announce(plan, [settings for _, settings, (at, _) in work if of.stored(at) is None])
    of.ahead([each for *_, each in work])
    return _by((which, of.compute(*each)) for which, _, each in work)


def probes(plan: Plan, sizes: Sizes) -> dict[tuple[str, str], list[Arrays]]:
    """What was seen of the trained models of the base, by change and model, one entry a seed.

    They must be trained: see :func:`trainings`.
    """
    of = probe_runner(plan)
    work: list[tuple[tuple[str, str], Work]] = []
    for change, kind, _, run in sizes.runs(("base",)):
        settings = placed(run, plan)
        folder = checkpoints(runner(plan), settings)
        function = partial(cells_icl_probe.probed, settings, sizes.probes, plan.device, folder)
        work.append(((change, kind), (probe_cell(settings, sizes.probes), function)))
    of.ahead([each for _, each in work])
    return _by((which, of.compute(*each)) for which, each in work)


def _by(pairs: Iterable[tuple[tuple[str, str], Arrays]]) -> dict[tuple[str, str], list[Arrays]]:
    found: dict[tuple[str, str], list[Arrays]] = {}
    for which, arrays in pairs:
        found.setdefault(which, []).append(arrays)
    return found


def announce(plan: Plan, missing: Sequence[Configuration]) -> None:
    """Say how long these trainings will take, on standard error; nothing if there are none."""
    if not missing:
        return
    what = f"{RUNS}: {len(missing)} training{'s' if len(missing) > 1 else ''} to do"
    if plan.cluster:  # whose machines are not known here
        print(what, file=sys.stderr)
        return
    from theoryverify.simulate.checkpoint import steps_done
    from theoryverify.simulate.icl_estimate import span, step_seconds

    # processes on a CPU have one thread each; on a GPU they only take turns
    at_a_time = min(plan.jobs, len(missing)) if plan.device == "cpu" else 1
    threads = 1 if plan.jobs > 1 else None
    known: dict[str, float] = {}
    ends = [0.0] * at_a_time
    for settings in missing:
        key = f"{settings.model} {settings.context}"  # d and r hardly count
        if key not in known:
            known[key] = step_seconds(settings, device=plan.device, threads=threads)
        folder = checkpoints(runner(plan), settings)
        done = 0 if folder is None else steps_done(folder)
        heapq.heapreplace(ends, ends[0] + known[key] * (settings.steps - done))
    if max(ends) == 0:  # trained, and only to be tested
        return
    print(
        f"{what}, about {span(max(ends))} here, {at_a_time} at a time (a few steps timed on "
        f"{plan.device}); testing and probing come on top",
        file=sys.stderr,
    )


def checkpoints(of: Cells, settings: Configuration) -> Path | None:
    """Of a training, beside the store; None where nothing is kept."""
    return None if of.folder is None else of.folder / "training" / training_name(settings)


def placed(run: Configuration, plan: Plan) -> Configuration:
    """With the plan's seed; in full precision on a CPU.

    A plan takes as many seeds as it has trainings of a configuration, so that two plans share none.
    """
    taken = plan.seed * SIZES[plan.preset].seeds
    settings = replace(run, seed=(run.seed + taken) % (MOST_SEED + 1))
    if settings.precision == "bfloat16" and plan.device == "cpu":
        settings = replace(settings, precision="full", compiled=False)
    return settings
