"""Cells of the in-context experiments that train: a model is trained and tested.

What looks at trained models is in ``cells_icl_probe`` and what needs no training in
``cells_icl_baselines``, so that a change there leaves trainings valid.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from theoryverify.simulate.icl_config import Configuration
from theoryverify.simulate.icl_test_set import sequence_errors, shared_test
from theoryverify.simulate.store import Arrays

if TYPE_CHECKING:
    from theoryverify.simulate.icl_training import Trained

CODE = (
    "theoryverify.papers.mamba.experiments.cells_icl",
    "theoryverify.simulate.icl_training",
)


@lru_cache(maxsize=8)
def model(settings: Configuration, device: str, folder: Path | None, label: str | None) -> Trained:
    """A trained model; with a folder of checkpoints a finished run is only read.

    A process keeps the last few, so that without a folder and a label (the preset ``quick``) a model
    that is tested and probed is trained once.
    """
    from theoryverify.simulate.icl_training import train_in_context

    return train_in_context(settings, device=device, folder=folder, progress=label)


def trained(
    settings: Configuration,
    device: str,
    folder: Path | None,
    label: str | None,
    rng: np.random.Generator,
) -> Arrays:
    """Train, then test on the shared test set. ``rng`` is not used: the settings have a seed.

    Returns
    -------
    dict of ndarray
        ``errors`` (n, N_test), squared; ``observed_at`` (k,) and ``observed`` (k, 256, N_pt/4), on
        validation tasks.
    """
    found = model(settings, device, folder, label)
    prompts = shared_test(settings.task, settings.test_context, settings.test_tasks)
    return {
        "errors": sequence_errors(found.model, prompts).astype(np.float32),
        "observed_at": found.run.observed_at,
        "observed": found.run.observed["errors"].astype(np.float32),
    }
