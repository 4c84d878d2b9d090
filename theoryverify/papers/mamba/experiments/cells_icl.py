"""Cells of the in-context experiments that train: a model is trained, tested and probed.

What needs no training is in ``cells_icl_baselines``, so that a change there leaves trainings valid.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from theoryverify.simulate.icl_config import Configuration
from theoryverify.simulate.icl_test_set import sequence_errors, shared_test, shown_sizes
from theoryverify.simulate.store import Arrays

CODE = (
    "theoryverify.papers.mamba.experiments.cells_icl",
    "theoryverify.simulate.icl_training",
    "theoryverify.simulate.icl_probe",
)
VALUES = 25
"""Labels at which a response is measured."""


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
    prompts = shared_test(settings.task, settings.test_context, settings.test_tasks)
    values = probe.label_values(VALUES)
    results: Arrays = {
        "errors": sequence_errors(found.model, prompts).astype(np.float32),
        "observed_at": found.run.observed_at,
        "observed": found.run.observed["errors"].astype(np.float32),
    }
    if not probes:
        return results
    response = probe.label_response(
        found.model, settings.task, settings.context, prompts=probes, values=values, rng=rng
    )
    sizes = shown_sizes(settings.context, 8)
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
