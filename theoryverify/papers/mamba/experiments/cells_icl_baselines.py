"""Cells of the in-context experiments that need no training: kernels, oracle, one layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theoryverify.exact.gate import Gate
from theoryverify.simulate.icl_baselines import best_kernel, chosen_kernel_errors, oracle_errors
from theoryverify.simulate.icl_curves import clipped
from theoryverify.simulate.icl_test_set import query_at, shared_test
from theoryverify.simulate.in_context import Task
from theoryverify.simulate.store import Arrays

CODE = ("theoryverify.papers.mamba.experiments.cells_icl_baselines",)
THEORY_GATE = Gate(4, -3)


def kernels(
    task: Task, tokens: int, tasks: int, sizes: Sequence[int], rng: np.random.Generator
) -> Arrays:
    """Kernel ridge on the support, chosen by validation and by oracle: errors (tasks, sizes) each.

    The choice is by the clipped error, which is what is drawn.

    ``rng`` is not used: validation and test sets are those that all methods share.
    """
    test = shared_test(task, tokens, tasks)
    held = shared_test(task, tokens, tasks, split="validation")
    support = range(task.r)
    chosen = {
        "validated": best_kernel(held, support, sizes, measure=clipped),
        "oracle": best_kernel(test, support, sizes, measure=clipped),
    }
    found: dict[str, Any] = {}
    for how, choices in chosen.items():
        found[how] = chosen_kernel_errors(test, support, choices, sizes)
        found[f"{how}_choice"] = np.array(choices)
    return found


def oracle(
    task: Task, tokens: int, tasks: int, sizes: Sequence[int], rng: np.random.Generator
) -> Arrays:
    """Least squares over the sphere, support and link known: errors (tasks, sizes)."""
    test = shared_test(task, tokens, tasks)
    return {"errors": oracle_errors(test, task, sizes, rng=rng)}


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
    test = shared_test(task, tokens, tasks)
    found = np.empty((tasks, len(sizes)))
    for place, k in enumerate(sizes):
        guess = model.predict(query_at(test, k), k)[:, 0]
        found[:, place] = (guess - test.y[:, k]) ** 2
    return {"errors": found}
