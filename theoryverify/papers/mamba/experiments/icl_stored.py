"""Stored runs of the in-context experiments, and what they say with intervals for any tails."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryverify.budget import SHARE
from theoryverify.errors import UndecidedError
from theoryverify.figures import Plan
from theoryverify.papers.mamba.experiments.icl_sizes import SIZES, Sizes
from theoryverify.papers.mamba.experiments.icl_trainings import placed, runner, training_cell
from theoryverify.simulate.icl_config import Configuration
from theoryverify.simulate.icl_curves import CLIP, trivial_levels
from theoryverify.simulate.store import Arrays
from theoryverify.stats import BoundedMean, Interval

Floats = NDArray[np.float64]

_DEVICES = ("cpu", "cuda")


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
    """

    settings: Configuration
    runs: list[Arrays]
    device: str

    @property
    def budget(self) -> str:
        """At which training the verdict was reached."""
        from theoryverify.simulate.icl_training import build  # imports Torch

        s = self.settings
        size = sum(p.numel() for p in build(s).parameters())
        return (
            f"{s.model.kind} of {s.model.layers} layers, {size} parameters, rate {s.optimizer.rate:g}, "
            f"d = {s.task.d}, r = {s.task.r}, N_pt = {s.context}: {len(self.runs)} seeds of {s.steps} "
            f"steps of {s.batch} tasks on {self.device}"
        )

    @property
    def learned(self) -> bool | None:
        """Whether the error at the longest contexts it was trained for is below half of the trivial one.

        None where the interval (of half of a test's share of the error) does not say.
        """
        found, half = self.level(SHARE / 2), trivial_level(self.settings) / 2
        return True if found.upper < half else False if found.lower > half else None

    def level(self, error: float) -> Interval:
        """Of the clipped error at the longest contexts it was trained for."""
        return level(self.errors(late(self.settings.context)), error=error)

    def errors(self, sizes: Iterable[int]) -> Floats:
        """Clipped squared errors (n,): means over seeds and over these context sizes."""
        places = list(sizes)
        parts = [np.minimum(run["errors"][:, places], CLIP).mean(axis=1) for run in self.runs]
        return np.asarray(np.mean(parts, axis=0, dtype=np.float64))


def stored(change: str, kind: str, *, seed: int, device: str, preset: str = "laptop") -> Stored:
    """What an earlier run of the figures has left, on this device or else on another one.

    Raises
    ------
    UndecidedError
        If no device has all seeds: the check is then inconclusive.
    """
    sizes: Sizes = SIZES[preset]
    for place in dict.fromkeys((device, *_DEVICES)):
        plan = Plan(preset, place, seed)
        of = runner(plan)
        settings = [placed(sizes.run(change, kind, n), plan) for n in range(sizes.seeds)]
        found = [of.stored(training_cell(each, sizes.probes_of(change))) for each in settings]
        runs = [arrays for arrays in found if arrays is not None]
        if len(runs) == sizes.seeds:
            return Stored(settings[0], runs, place)
    raise UndecidedError(
        f"no stored result of {kind} ({change}) for each of {sizes.seeds} seeds: run `theoryverify "
        f"figure mamba.icl_curves --preset {preset}` first (an hour and a half on two cores)"
    )


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
