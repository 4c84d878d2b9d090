"""``E[z | g(z)]``: the label transformation with the largest degree-1 coefficient for its size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from theoryverify.errors import InputError
from theoryverify.simulate.in_context import Task

Floats = NDArray[np.float64]

_REACH, _NODES = 9.0, 20_001


def score(task: Task) -> Callable[[Floats], Floats]:
    """``y ↦ E[z | g(z) = y]`` for a polynomial link without noise.

    Among all T with ``E[T²] = 1`` it maximises ``E[T(g(z)) z]`` (Cauchy and Schwarz), and the maximum is
    ``√E[E[z|y]²]``. The preimages of y are found as sign changes of ``g - y`` on a fine grid; each counts
    with the density ``φ(z)/|g'(z)|``.

    Raises
    ------
    InputError
        With label noise: then no single y has a preimage.
    """
    family = task.family()
    if family.noise:
        raise InputError(f"noise = {family.noise}: E[z|y] is computed without noise only")
    z = np.linspace(-_REACH, _REACH, _NODES)
    g = np.asarray(family.g(z), dtype=np.float64)
    slopes = np.abs(np.diff(g)) / (z[1] - z[0])
    density = np.exp(-(((z[1:] + z[:-1]) / 2) ** 2) / 2) / np.maximum(slopes, 1e-12)

    def conditional(y: Floats) -> Floats:
        found = np.zeros(np.shape(y))
        for place, value in np.ndenumerate(np.asarray(y, dtype=np.float64)):
            hit = np.flatnonzero((g[1:] > value) != (g[:-1] > value))
            if hit.size:
                weights = density[hit]
                found[place] = (weights * z[hit]).sum() / weights.sum()
        return found

    return conditional
