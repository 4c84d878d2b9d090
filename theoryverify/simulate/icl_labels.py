"""The labels at which a transformation is measured, and its Hermite coefficients from there.

For ``He_3/√6`` the density of ``y = g(z)`` is infinite at the two turning values ``±√(2/3)``, a fifth of
its mass lies within 0.18 of each on the inner side, and labels beyond 6 make 42% of ``E[y he_3] = 1``.
So labels are dense at the turning values of the link, on both sides, and reach into the tails.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from theoryverify.simulate.in_context import Task

Floats = NDArray[np.float64]
Transformation = Callable[[Floats], Floats]

_RANGE = 9.0
"""``z`` beyond has a probability of 1e-19."""
_REACH = 4.5
"""Labels go as far as ``g`` does for z up to this size; 7e-6 of all z are larger."""
_NEAR, _NEXT = 0.002, 0.05
"""Distances of the first two labels on each side of a turning value."""
_BETWEEN, _OUTSIDE = 11, 14


def label_values(task: Task) -> Floats:
    """Labels, ascending: for ``He_3/√6`` 39 of them, from -31.7 to 31.7.

    The turning values of the link (its median value if it has none) divide the range of labels. Between
    two of them labels stand as the cosines of equal steps do, outside at distances that grow by a
    factor; none is at a turning value itself, where a good transformation may jump.
    """
    z = np.linspace(-_REACH, _REACH, 20_001)
    y = np.asarray(task.family().g(z), dtype=np.float64)
    steps = np.sign(np.diff(y))
    turning = np.flatnonzero(steps[1:] * steps[:-1] < 0) + 1
    turns = sorted({round(float(v), 6) for v in y[turning]}) or [float(np.median(y))]
    found: list[float] = []
    for low, high in pairwise(turns):
        place = np.cos(np.linspace(np.pi, 0, _BETWEEN))
        found += list((low + high) / 2 + max((high - low) / 2 - _NEAR, 0) * place)
    for end, turn in ((y.min(), turns[0]), (y.max(), turns[-1])):
        far = abs(end - turn)
        if far > _NEXT:
            distances = [_NEAR, *np.geomspace(_NEXT, far, _OUTSIDE - 1)]
            found += [float(turn + math.copysign(x, end - turn)) for x in distances]
    return np.unique(found)


def label_masses(task: Task, values: Floats) -> Floats:
    """The probability that ``g(z)`` is nearest to each of the values, ascending."""
    z, weights = _nodes()
    y = np.asarray(task.family().g(z), dtype=np.float64)
    nearest = np.searchsorted((values[1:] + values[:-1]) / 2, y)
    return np.asarray(np.bincount(nearest, weights, len(values)), dtype=np.float64)


def continued(values: Floats, transformation: Floats) -> Transformation:
    """Linear between tabulated labels, and on from the last two: a T that is linear stays so."""
    steps = np.diff(transformation) / np.diff(values)
    first, last = float(values[0]), float(values[-1])
    return lambda y: np.asarray(
        np.interp(y, values, transformation)
        + steps[0] * np.minimum(y - first, 0)
        + steps[-1] * np.maximum(y - last, 0)
    )


def hermite_raw(task: Task, transformation: Transformation, most: int) -> Floats:
    """``E[T(g(z)) he_k(z)]`` for k = 0, ..., most, by the trapezoid rule; linear in T."""
    z, weights = _nodes()
    T = np.asarray(transformation(np.asarray(task.family().g(z), dtype=np.float64)))
    he, before, found = np.ones_like(z), np.zeros_like(z), []
    for k in range(most + 1):
        found.append(float((weights * T * he).sum()))
        he, before = (z * he - math.sqrt(k) * before) / math.sqrt(k + 1), he
    return np.array(found)


def hermite_profile(task: Task, transformation: Transformation, most: int = 4) -> Floats:
    """``E[T(g(z)) he_k(z)]/√E[T(g(z))²]`` for k = 0, ..., most.

    Normalised: what is compared is the shape of a transformation, not its size.
    """
    size, raw = root_mean_square(task, transformation), hermite_raw(task, transformation, most)
    return np.asarray(raw / size if size > 0 else np.zeros_like(raw))


def root_mean_square(task: Task, transformation: Transformation) -> float:
    """``√E[T(g(z))²]``."""
    z, weights = _nodes()
    T = np.asarray(transformation(np.asarray(task.family().g(z), dtype=np.float64)))
    return math.sqrt(float((weights * T**2).sum()))


def _nodes() -> tuple[Floats, Floats]:
    """Nodes and weights for N(0,1): the trapezoid rule, exact to round-off for smooth integrands."""
    z = np.linspace(-_RANGE, _RANGE, 4001)
    weights = np.exp(-(z**2) / 2)
    return z, weights / weights.sum()
