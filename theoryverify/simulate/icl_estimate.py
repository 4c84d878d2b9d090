"""How long a training will take here, from a few of its steps."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from theoryverify.models.precision import require_device
from theoryverify.simulate.icl_config import Configuration
from theoryverify.simulate.icl_training import build, require_fits
from theoryverify.simulate.in_context import batches, prefix_loss
from theoryverify.simulate.loop import fit
from theoryverify.simulate.processes import longest, place

_SHARE = 8
_QUICK = 0.5
_TIMED = 3


def step_seconds(
    settings: Configuration, *, device: str = "cpu", threads: int | None = None
) -> float:
    """The median time of a step, in seconds.

    On a CPU an eighth of the batch is timed first. If that takes half a second, a step is as good as
    proportional to its batch and eight times as long; else the whole batch is timed, because small
    steps are mostly overhead. Steps are those of full prompts, not compiled: a curriculum and a
    compiled run are faster. Of several processes each must call this, and the slowest counts.

    Parameters
    ----------
    settings : Configuration
    device : str
    threads : int, optional
        Of Torch on a CPU; None for as many as it has now.

    Raises
    ------
    InputError
        For a device that is not there, or a step that does not fit.
    """
    at = require_device(device)
    require_fits(settings, at)
    world = place()[1]
    small = max(1, settings.batch // _SHARE // world) * world
    with _threads(threads):
        if at.type == "cpu" and small < settings.batch:
            found = _timed(settings, small, at)
            if found > _QUICK:
                return found * settings.batch / small
        return _timed(settings, settings.batch, at)


def estimated_seconds(
    settings: Configuration, *, done: int = 0, device: str = "cpu", threads: int | None = None
) -> float:
    """How long the steps after ``done`` will take; see :func:`step_seconds`."""
    left = max(0, settings.steps - done)
    return left * step_seconds(settings, device=device, threads=threads) if left else 0.0


def _timed(settings: Configuration, size: int, at: torch.device) -> float:
    """The median of a few steps, after one that builds kernels and fills caches."""
    draw = batches(settings.task, settings.context, size)
    marks: list[float] = []

    def batch(step: int, rng: np.random.Generator) -> Sequence[NDArray[np.float32]]:
        mark()
        return draw(step, rng)

    def mark() -> None:
        if at.type == "cuda":
            torch.cuda.synchronize(at)
        marks.append(time.perf_counter())

    small = replace(settings, batch=size, curriculum=None)
    fit(
        build(small, at),
        batch,
        prefix_loss,
        steps=1 + _TIMED,
        optimizer=small.optimizer,
        seed=0,
        precision="bfloat16" if small.precision == "bfloat16" else "full",
    )
    mark()
    return longest(float(np.median(np.diff(marks)[1:])), at)


@contextlib.contextmanager
def _threads(count: int | None) -> Iterator[None]:
    before = torch.get_num_threads()
    if count is not None:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def span(seconds: float) -> str:
    """``2.5 hours``, in the largest unit of which there are two or more."""
    for size, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {name}"
    return f"{seconds:.0f} seconds" if seconds >= 2 else "a second or two"
