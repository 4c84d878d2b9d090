"""Cells of the in-context experiments that look at trained models."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from theoryverify.papers.mamba.experiments.cells_icl import model
from theoryverify.simulate.icl_config import Configuration
from theoryverify.simulate.icl_labels import label_values
from theoryverify.simulate.icl_test_set import shown_sizes
from theoryverify.simulate.store import Arrays

CODE = (
    "theoryverify.papers.mamba.experiments.cells_icl_probe",
    "theoryverify.simulate.icl_probe",
)


def probed(
    settings: Configuration,
    probes: int,
    device: str,
    folder: Path | None,
    rng: np.random.Generator,
) -> Arrays:
    """What the trained model does with labels, and how well ``⟨β,x⟩`` can be read from it.

    Returns
    -------
    dict of ndarray
        ``values`` (V,), ``opening`` (probes, layers, V), ``change`` (probes, V), ``weight`` (probes,);
        ``alignment`` (layers + 1, sizes), R² at ``alignment_sizes``; ``read`` (2, sizes, tasks), the
        read-outs before the first and after the last layer, of ``to_read`` (sizes, tasks).
    """
    from theoryverify.simulate import icl_probe as probe

    net = model(settings, device, folder, None).model
    values = label_values(settings.task)
    response = probe.label_response(
        net, settings.task, settings.context, prompts=probes, values=values, rng=rng
    )
    sizes = shown_sizes(settings.context, 8)
    seen, unseen = (
        settings.task.sample(n, settings.context, rng=rng) for n in alignment_tasks(probes)
    )
    reading = probe.alignment(net, seen, unseen, sizes)
    return {
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
