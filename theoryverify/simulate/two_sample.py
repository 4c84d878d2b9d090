"""Whether two samples have one law, with a stated probability of error for any law.

The Dvoretzky-Kiefer-Wolfowitz inequality with Massart's constant holds for every law and every n:
``P(sup|F_n - F| > ε) <= 2e^{-2nε²}``. So the distance of two empirical distribution functions is
within ``ε_n + ε_m`` of the true distance, but for a probability that is chosen beforehand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theoryverify.errors import InputError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Distance:
    """The Kolmogorov-Smirnov distance of two laws lies in ``[seen - radius, seen + radius]``.

    Except with probability ``error``.
    """

    seen: float
    radius: float
    error: float

    def within(self, margin: float) -> bool | None:
        """Whether the true distance is at most ``margin``: ``None`` where the samples cannot say."""
        if self.seen + self.radius <= margin:
            return True
        return False if self.seen - self.radius > margin else None


def law_distance(left: Floats, right: Floats, *, error: float = 1e-9) -> Distance:
    """The distance of the laws behind two samples.

    Parameters
    ----------
    left, right : ndarray, shapes (n,) and (m,)
    error : float
        Probability that the true distance lies outside the returned interval, in (0, 1).

    Raises
    ------
    InputError
        For empty samples, values that are not finite (NaN has no rank), or ``error`` out of range.
    """
    if not 0 < error < 1:
        raise InputError(f"error = {error} must lie strictly between 0 and 1")
    samples = []
    for name, sample in (("left", left), ("right", right)):
        values = np.sort(np.asarray(sample, dtype=np.float64).ravel())
        if values.size == 0 or not np.all(np.isfinite(values)):
            raise InputError(f"the {name} sample is empty or holds values that are not finite")
        samples.append(values)
    first, second = samples
    points = np.concatenate(samples)
    gap = np.searchsorted(first, points, side="right") / first.size
    gap -= np.searchsorted(second, points, side="right") / second.size
    # Each sample may be off with probability error/2.
    radius = sum(math.sqrt(math.log(4 / error) / (2 * s.size)) for s in samples)
    return Distance(float(np.max(np.abs(gap))), radius, error)
