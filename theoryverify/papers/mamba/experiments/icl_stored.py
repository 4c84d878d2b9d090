"""Stored runs of the in-context experiments, and what they say with intervals for any tails."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from theoryverify.budget import SHARE
from theoryverify.errors import UndecidedError
from theoryverify.figures import Plan
from theoryverify.figures.cells import Cells
from theoryverify.papers.mamba.experiments.icl_sizes import SIZES, Sizes
from theoryverify.papers.mamba.experiments.icl_trainings import (
    placed,
    probe_cell,
    probe_runner,
    runner,
    training_cell,
)
from theoryverify.simulate.icl_config import Configuration
from theoryverify.simulate.icl_curves import CLIP, trivial_levels
from theoryverify.simulate.sealed import JSON
from theoryverify.simulate.store import Arrays
from theoryverify.stats import BoundedMean, Interval

Floats = NDArray[np.float64]

_DEVICES = ("cpu", "cuda", *(f"cuda:{n}" for n in range(8)))


@dataclass(frozen=True)
class Stored:
    """The runs of one change and one model.

    Attributes
    ----------
    settings : Configuration
        Of the first seed.
    runs : list of dict
        One a seed.
    device : str
        Where they were trained.
    probes : list of dict
        What was seen of the trained models, one a seed; only of the base.
    """

    settings: Configuration
    runs: list[Arrays]
    device: str
    probes: list[Arrays] = field(default_factory=list)

    @property
    def budget(self) -> str:
        """At which training the verdict was reached."""
        from theoryverify.simulate.icl_training import build  # imports Torch

        s = self.settings
        size = sum(p.numel() for p in build(s).parameters())
        seeds = "1 seed" if len(self.runs) == 1 else f"{len(self.runs)} seeds"
        return (
            f"{s.model.kind} of {s.model.layers} layers, {size} parameters, rate {s.optimizer.rate:g}, "
            f"d = {s.task.d}, r = {s.task.r}, N_pt = {s.context}: {seeds} of {s.steps} "
            f"steps of {s.batch} tasks on {self.device}"
        )

    def each(self) -> list[Stored]:
        """The trained models one by one, with what was seen of them."""
        return [
            Stored(replace(self.settings, seed=self.settings.seed + n), [run], self.device, [seen])
            for n, (run, seen) in enumerate(zip(self.runs, self.probes, strict=True))
        ]

    def learned(self, error: float) -> bool | None:
        """Whether the error at the longest contexts it was trained for is below half of the trivial one.

        None where the interval, right but for ``error``, does not say.
        """
        return self.level(error).below(trivial_level(self.settings) / 2)

    def level(self, error: float) -> Interval:
        """Of the clipped error at the longest contexts it was trained for."""
        return level(self.errors(late(self.settings.context)), error=error)

    def errors(self, sizes: Iterable[int]) -> Floats:
        """Clipped squared errors (n,): means over seeds and over these context sizes."""
        places = list(sizes)
        parts = [np.minimum(run["errors"][:, places], CLIP).mean(axis=1) for run in self.runs]
        return np.asarray(np.mean(parts, axis=0, dtype=np.float64))


def stored(
    change: str, kind: str, *, seed: int, device: str, preset: str = "laptop", probed: bool = False
) -> Stored:
    """What an earlier run of the figures has left, on this device or else on another one.

    With ``probed`` also what was seen of the trained models.

    Raises
    ------
    UndecidedError
        If no device has all seeds: the check is then inconclusive.
    """
    sizes: Sizes = SIZES[preset]
    for place in dict.fromkeys((device, *_DEVICES)):
        plan = Plan(preset, place, seed)
        settings = [placed(sizes.run(change, kind, n), plan) for n in range(sizes.seeds)]
        runs = _all(runner(plan), [training_cell(each) for each in settings])
        seen = (
            _all(probe_runner(plan), [probe_cell(each, sizes.probes) for each in settings])
            if probed
            else []
        )
        if runs is not None and seen is not None:
            return Stored(settings[0], runs, place, seen)
    figure = "mamba.training" if probed else "mamba.icl_curves"
    raise UndecidedError(
        f"no stored result of {kind} ({change}) for each of {sizes.seeds} seeds: run `theoryverify "
        f"figure {figure} --preset {preset}` first (on two cores about half an hour for "
        "mamba.training, two hours for mamba.icl_curves)"
    )


def _all(of: Cells, cells: list[dict[str, JSON]]) -> list[Arrays] | None:
    """What is stored, if all is."""
    found = [arrays for cell in cells if (arrays := of.stored(cell)) is not None]
    return found if len(found) == len(cells) else None


def late(context: int) -> range:
    """Context sizes of the last quarter below ``context``."""
    return range(context - max(1, context // 4), context)


def mean_interval(values: Floats, low: float, high: float, *, error: float = SHARE) -> Interval:
    """Of the mean of independent draws in ``[low, high]``; values beyond are moved to the ends."""
    sequence = BoundedMean(low, high, error=error, horizon=len(values), clip=True)
    sequence.update(values)
    return sequence.interval


def level(values: Floats, *, error: float = SHARE) -> Interval:
    """Of a mean clipped error."""
    return mean_interval(values, 0.0, CLIP, error=error)


def difference(left: Interval, right: Interval) -> Interval:
    """Of ``left - right``, each covered but for its own error."""
    return Interval(left.lower - right.upper, left.upper - right.lower)


def trivial_level(settings: Configuration) -> float:
    """``E min(y², CLIP)``: the clipped error of predicting 0."""
    return trivial_levels(settings.task)["clipped"]
