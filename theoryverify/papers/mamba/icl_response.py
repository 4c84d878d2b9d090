"""Hermite coefficients of a measured label transformation, judged with intervals for any tails."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryverify.budget import SHARE
from theoryverify.papers.mamba.experiments.icl_stored import Stored, mean_interval
from theoryverify.simulate.icl_gates import hermite_raw
from theoryverify.simulate.in_context import Task
from theoryverify.stats import Interval

Floats = NDArray[np.float64]
Transformation = Callable[[Floats], Floats]

DEGREES = (0, 1, 2, 3)
WIDEST = 6.0
"""Contributions beyond six standard deviations of the pilot are cut there."""


def continued(values: Floats, transformation: Floats) -> Transformation:
    """Linear between tabulated labels, and on from the last two: a T that is linear stays so.

    Constant beyond, even y itself would have ``c_1 < 0``, and the gated label at large ρ with it.
    """
    steps = np.diff(transformation) / np.diff(values)
    first, last = float(values[0]), float(values[-1])
    return lambda y: np.asarray(
        np.interp(y, values, transformation)
        + steps[0] * np.minimum(y - first, 0)
        + steps[-1] * np.maximum(y - last, 0)
    )


def projections(task: Task, values: Floats) -> Floats:
    """``P`` (V, degrees) with ``Σ_v T(v) P_{vk} = E[T(g(z)) he_k(z)]`` for T as :func:`continued`.

    So each coefficient is linear in the tabulated T, and a mean over prompts.
    """
    columns = [
        hermite_raw(task, continued(values, unit), max(DEGREES)) for unit in np.eye(len(values))
    ]
    return np.stack(columns)


@dataclass(frozen=True)
class Coefficient:
    """An interval for the mean of cut contributions, and which share of them was cut."""

    interval: Interval
    cut: float

    @property
    def positive(self) -> bool | None:
        return True if self.interval.lower > 0 else False if self.interval.upper < 0 else None

    def __str__(self) -> str:
        return f"{self.interval}, {self.cut:.2%} of contributions cut"


def responses(found: Stored, *, instead: Transformation | None = None) -> Floats:
    """What each prompt contributes to the coefficients of ``T̂`` (prompts, degrees): means over seeds.

    A prompt contributes ``Σ_v change(v) P_{vk}``. With ``instead`` its response is replaced by this
    transformation, times the prompt's own weight.
    """
    values = found.runs[0]["values"]
    change = np.asarray(np.mean([run["change"] for run in found.runs], axis=0, dtype=np.float64))
    if instead is not None:
        size = np.asarray(np.mean([run["weight"] for run in found.runs], axis=0))
        change = size[:, None] * instead(values)
    return change @ projections(found.settings.task, values)


def gated_labels(
    found: Stored, seed: int, layer: int, *, instead: Transformation | None = None
) -> Floats:
    """What each prompt contributes to the coefficients of ``y`` times a layer's opening.

    With ``instead`` the opening is replaced by this function of y, times the prompt's own mean of it.
    """
    run = found.runs[seed]
    values, opening = run["values"], run["opening"][:, layer].astype(np.float64)
    if instead is not None:
        opening = opening.mean(axis=1, keepdims=True) * instead(values)
    return np.asarray((values * opening) @ projections(found.settings.task, values))


def coefficient(parts: Floats, k: int, *, error: float = SHARE) -> Coefficient:
    """``c_k`` from contributions (prompts, degrees), large ones cut, in units of ``|c|`` of the pilot.

    The first half of the prompts is a pilot: it says where contributions are cut (:data:`WIDEST`). The
    second half gives an interval, but for ``error``, for the mean of cut contributions. That is not
    ``c_k`` itself: nothing is known of the tails, and the cut is part of what is claimed.
    """
    half = len(parts) // 2
    scale = math.sqrt(float((parts[:half].mean(axis=0) ** 2).sum())) or 1.0
    each = parts[:, k] / scale
    centre, reach = float(each[:half].mean()), WIDEST * float(each[:half].std()) + 1e-9
    rest = each[half:]
    return Coefficient(
        mean_interval(rest, centre - reach, centre + reach, error=error),
        float((np.abs(rest - centre) > reach).mean()),
    )
