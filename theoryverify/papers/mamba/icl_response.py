"""Hermite coefficients of a measured label transformation, judged with intervals for any tails."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryverify.budget import SHARE
from theoryverify.papers.mamba.experiments.icl_stored import mean_interval
from theoryverify.simulate.icl_labels import Transformation, continued, hermite_raw
from theoryverify.simulate.in_context import Task
from theoryverify.simulate.store import Arrays
from theoryverify.stats import Interval

Floats = NDArray[np.float64]
DEGREES = (0, 1, 2, 3)
WIDEST = 6.0
"""Contributions beyond six standard deviations of the pilot are cut there."""


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
        return self.interval.above(0)

    def __str__(self) -> str:
        return f"{self.interval}, {self.cut:.2%} of contributions cut"


def responses(run: Arrays, task: Task, *, instead: Transformation | None = None) -> Floats:
    """What each prompt contributes to the coefficients of ``T̂`` (prompts, degrees): ``change @ P``.

    With ``instead`` its response is replaced by this transformation, times the prompt's own weight.
    """
    values, change = run["values"], run["change"].astype(np.float64)
    if instead is not None:
        change = run["weight"].astype(np.float64)[:, None] * instead(values)
    return np.asarray(change @ projections(task, values))


def gated_labels(run: Arrays, task: Task, *, instead: Transformation | None = None) -> Floats:
    """What each prompt contributes to the coefficients of y times an opening (layers, prompts, degrees).

    With ``instead`` each opening is replaced by this function of y, the same for all prompts.
    """
    values, opening = run["values"], run["opening"].swapaxes(0, 1).astype(np.float64)
    if instead is not None:
        opening = np.broadcast_to(instead(values), opening.shape)
    return np.asarray((values * opening) @ projections(task, values))


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
