"""Cells of the in-context experiments: a model is trained, tested and probed; kernels and oracles run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from theoryverify.exact.gate import Gate
from theoryverify.simulate import icl_curves as curves
from theoryverify.simulate.icl_config import Configuration
from theoryverify.simulate.in_context import Task
from theoryverify.simulate.store import Arrays

CODE = (
    "theoryverify.papers.mamba.experiments.cells_icl",
    "theoryverify.simulate.icl_training",
    "theoryverify.simulate.icl_probe",
)
VALUES = 25
"""Labels at which a response is measured."""
THEORY_GATE = Gate(4, -3)


def trained(
    settings: Configuration,
    probes: int,
    device: str,
    folder: Path | None,
    label: str | None,
    rng: np.random.Generator,
) -> Arrays:
    """Train, then test on the shared test set, and probe (not with ``probes = 0``).

    Returns
    -------
    dict of ndarray
        ``errors`` (n, N_test), squared; ``observed_at`` (k,) and ``observed`` (k, 256, N_pt/4), on
        validation tasks; ``values`` (V,), ``opening`` (probes, layers, V), ``change`` (probes, V),
        ``weight`` (probes,); ``alignment`` (layers + 1, sizes) at ``alignment_sizes``.
    """
    from theoryverify.simulate import icl_probe as probe
    from theoryverify.simulate.icl_training import train_in_context

    found = train_in_context(settings, device=device, folder=folder, progress=label)
    prompts = curves.shared_test(settings.task, settings.test_context, settings.test_tasks)
    values = probe.label_values(VALUES)
    results: Arrays = {
        "errors": curves.sequence_errors(found.model, prompts).astype(np.float32),
        "observed_at": found.run.observed_at,
        "observed": found.run.observed["errors"].astype(np.float32),
    }
    if not probes:
        return results
    response = probe.label_response(
        found.model, settings.task, settings.context, prompts=probes, values=values, rng=rng
    )
    sizes = curves.shown_sizes(settings.context, 8)
    seen, unseen = (
        settings.task.sample(n, settings.context, rng=rng) for n in alignment_tasks(probes)
    )
    return results | {
        "values": values,
        "opening": response.opening.astype(np.float32),
        "change": response.change.astype(np.float32),
        "weight": response.weight.astype(np.float32),
        "alignment": probe.alignment(found.model, seen, unseen, sizes),
        "alignment_sizes": np.array(sizes),
    }


def alignment_tasks(probes: int) -> tuple[int, int]:
    """Tasks on which a read-out is fitted, and judged."""
    return min(4 * probes, 2000), min(2 * probes, 1000)


def trivial(task: Task, tokens: int, tasks: int) -> Arrays:
    """Errors (n, 1) of predicting 0, at the last position."""
    prompts = curves.shared_test(task, tokens, tasks)
    return {"errors": curves.trivial_errors(prompts)[:, -1:]}


def kernels(
    task: Task, tokens: int, tasks: int, sizes: Sequence[int], rng: np.random.Generator
) -> Arrays:
    """Kernel ridge on the support, chosen by validation and by oracle: errors (tasks, sizes) each.

    ``rng`` is not used: validation and test sets are those that all methods share.
    """
    test = curves.shared_test(task, tokens, tasks)
    held = curves.shared_test(task, tokens, tasks, split="validation")
    support = range(task.r)
    chosen = {
        "validated": curves.best_kernel(held, support, sizes),
        "oracle": curves.best_kernel(test, support, sizes),
    }
    found: dict[str, Any] = {}
    for how, choices in chosen.items():
        found[how] = curves.chosen_kernel_errors(test, support, choices, sizes)
        found[f"{how}_choice"] = np.array(choices)
    return found


def oracle(
    task: Task, tokens: int, tasks: int, sizes: Sequence[int], rng: np.random.Generator
) -> Arrays:
    """Least squares over the sphere, support and link known: errors (tasks, sizes)."""
    test = curves.shared_test(task, tokens, tasks)
    return {"errors": curves.oracle_errors(test, task, sizes, rng=rng)}


def theory(
    task: Task,
    tokens: int,
    tasks: int,
    context: int,
    stages: int,
    sizes: Sequence[int],
    rng: np.random.Generator,
) -> Arrays:
    """Algorithm 1's one-layer Mamba, pretrained at N_pt: errors (tasks, sizes)."""
    from theoryverify.simulate.mamba_algorithm import Setting, train

    setting = Setting(THEORY_GATE, context, stage_one=4 * stages, stage_two=stages, width=200)
    model = train(task.family(), setting, rng=rng)
    test = curves.shared_test(task, tokens, tasks)
    found = np.empty((tasks, len(sizes)))
    for place, k in enumerate(sizes):
        guess = model.predict(curves.query_at(test, k), k)[:, 0]
        found[:, place] = (guess - test.y[:, k]) ** 2
    return {"errors": found}
