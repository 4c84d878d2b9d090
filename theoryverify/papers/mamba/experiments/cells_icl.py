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
        ``weight`` (probes,); ``alignment`` (layers + 1, sizes), R² at ``alignment_sizes``; ``read``
        (2, sizes, tasks), the read-outs before the first and after the last layer, of ``to_read``
        (sizes, tasks).
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
    reading = probe.alignment(found.model, seen, unseen, sizes)
    return results | {
        "values": values,
        "opening": response.opening.astype(np.float32),
        "change": response.change.astype(np.float32),
        "weight": response.weight.astype(np.float32),
        "alignment": reading.explained,
        "alignment_sizes": np.array(sizes),
        "read": reading.guess[[0, -1]].astype(np.float32),
        "to_read": reading.target.astype(np.float32),
    }


def alignment_tasks(probes: int) -> tuple[int, int]:
    """Tasks on which a read-out is fitted, and judged."""
    return min(4 * probes, 2000), min(2 * probes, 4000)
