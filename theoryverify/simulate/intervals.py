"""Intervals for the error of a predictor over tasks, when errors are polynomials of Gaussians.

Squared errors have tails so heavy that a mean of a hundred tasks and its standard error say little.
The tasks are split into groups; the median of the group means (median of means) is the estimate, and two
of their order statistics are the interval: for independent groups they miss the *median of a group
mean* with a probability that is a binomial tail, whatever the law.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from theoryverify.errors import InputError
from theoryverify.exact.rationals import positive_integer


@dataclass(frozen=True)
class GroupedMean:
    """Median of means, and an interval for the median of a group's mean."""

    value: float
    lower: float
    upper: float
    error: float


def median_of_means(values: ArrayLike, *, groups: int = 20, error: float = 0.05) -> GroupedMean:
    """The median of the means of ``groups`` groups, with its interval.

    Parameters
    ----------
    values : array_like (n,)
        Independent, one for each task; groups are of equal size, and what is left over joins the last.
    groups : int
    error : float
        The probability that the interval misses the median is at most this.

    Raises
    ------
    InputError
        For fewer values than groups, too few groups for the error, or values that are not finite.

    Examples
    --------
    >>> found = median_of_means(range(100), groups=10)
    >>> found.lower, found.value, found.upper
    (14.5, 49.5, 84.5)
    """
    draws = np.asarray(values, dtype=np.float64).ravel()
    k = positive_integer(groups, "groups")
    if len(draws) < k:
        raise InputError(f"{len(draws)} values cannot be split into {k} groups")
    if not np.isfinite(draws).all():
        raise InputError("values must be finite numbers")
    if not 0 < error < 1:
        raise InputError(f"error = {error} must lie strictly between 0 and 1")
    size = len(draws) // k
    cuts = np.arange(size, size * k, size)
    means = np.sort([part.mean() for part in np.split(draws, cuts)])
    rank, tail = 0, 2.0 ** (1 - k)  # P(all group means on one side of the median)
    missed = tail
    if tail > error:
        raise InputError(f"{k} groups cannot give an error of {error}: at least {tail:.2g}")
    while 2 * (rank + 1) < k:
        tail += 2 * comb(k, rank + 1) / 2.0**k
        if tail > error:
            break
        rank, missed = rank + 1, tail
    return GroupedMean(float(np.median(means)), float(means[rank]), float(means[-1 - rank]), missed)
