"""Hermite coefficients of a measured label transformation, judged with intervals for any tails."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from theoryverify.budget import SHARE
from theoryverify.papers.mamba.experiments.icl_stored import Stored, mean_interval
from theoryverify.simulate.in_context import Task
from theoryverify.stats import Interval

Floats = NDArray[np.float64]

DEGREES = (0, 1, 2, 3, 4)
LEAST = 0.1
"""A coefficient below a tenth of the other one counts as none."""
_WIDEST = 6.0
"""Contributions beyond six standard deviations of the pilot are cut there."""


def projections(task: Task, values: Floats) -> Floats:
    """``P`` (V, degrees) with ``Σ_v T(v) P_{vk} = E[T(g(z)) he_k(z)]`` for T linear between values.

    So each coefficient is linear in the tabulated T, and a mean over prompts.
    """
    from theoryverify.simulate.icl_probe import hermite_raw, tabulated  # imports Torch

    columns = [
        hermite_raw(task, tabulated(values, unit), max(DEGREES)) for unit in np.eye(len(values))
    ]
    return np.stack(columns)


def combination(
    found: Stored, weights: Mapping[int, float], *, linear: bool = False, error: float = SHARE
) -> Interval:
    """``Σ_k w_k c_k`` of ``T̂``, in units of ``|c|`` of the pilot, covered but for ``error``.

    A prompt contributes ``Σ_k w_k Σ_v change(v) P_{vk}``. The first half of the prompts is a pilot: it
    says at what size contributions are cut. The second half gives an interval for the mean of what is
    left. Sizes of responses differ much between prompts, but all coefficients have them in common, so
    a combination is known far better than coefficients one by one. With ``linear`` the response of
    each prompt is replaced by one of the same weight that is linear in the label.
    """
    values = found.runs[0]["values"]
    change = np.asarray(np.mean([run["change"] for run in found.runs], axis=0, dtype=np.float64))
    if linear:
        size = np.asarray(np.mean([run["weight"] for run in found.runs], axis=0))
        change = size[:, None] * values
    parts = change @ projections(found.settings.task, values)  # (prompts, degrees)
    half = len(parts) // 2
    scale = math.sqrt(float((parts[:half].mean(axis=0) ** 2).sum())) or 1.0
    w = np.array([weights.get(k, 0.0) for k in DEGREES])
    each = parts @ w / scale
    centre, spread = float(each[:half].mean()), float(each[:half].std())
    reach = _WIDEST * spread + 1e-9
    return mean_interval(each[half:], centre - reach, centre + reach, error=error)


def is_large(
    found: Stored, k: int, sign: int, other: int, *, linear: bool = False, error: float = SHARE
) -> tuple[bool | None, str]:
    """Whether ``sign · c_k > |c_other|/10``, and the two intervals that decide it."""
    pair = [
        combination(found, {k: sign, other: side * LEAST}, linear=linear, error=error / 2)
        for side in (-1.0, 1.0)
    ]
    shown = " and ".join(map(str, pair))
    if all(interval.lower > 0 for interval in pair):
        return True, shown
    return (False if any(interval.upper < 0 for interval in pair) else None), shown
