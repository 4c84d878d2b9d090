"""Summaries and bands of errors against context size.

Labels are polynomials of Gaussians, so beside the mean there are robust summaries: the mean of errors
clipped at :data:`CLIP`, a trimmed mean and the median.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryverify.errors import InputError
from theoryverify.simulate.icl_prompts import Prompts
from theoryverify.simulate.icl_test_set import shown_sizes, trivial_errors
from theoryverify.simulate.in_context import Task

Floats = NDArray[np.float64]

CLIP = 4.0
"""Errors above are counted as this much: the mean of what is bounded has an interval for any tail."""
TRIM = 0.05
"""The trimmed mean leaves out the largest errors: so large a share of them."""


def clipped(errors: Floats) -> Floats:
    """``mean min(e, CLIP)`` over the first axis."""
    return np.asarray(np.minimum(errors, CLIP).mean(axis=0))


def trimmed(errors: Floats) -> Floats:
    """The mean over the first axis without the largest 5%."""
    keep = max(1, round(len(errors) * (1 - TRIM)))
    return np.asarray(np.partition(errors, keep - 1, axis=0)[:keep].mean(axis=0))


MEASURES: dict[str, Callable[[Floats], Floats]] = {
    "mean": lambda errors: np.asarray(errors.mean(axis=0)),
    "clipped": clipped,
    "trimmed": trimmed,
    "median": lambda errors: np.asarray(np.median(errors, axis=0)),
}


def band(
    errors: Floats,
    measure: str,
    *,
    draws: int = 300,
    level: float = 0.95,
    averaged: bool = False,
    rng: np.random.Generator | int = 0,
) -> tuple[Floats, Floats, Floats]:
    """Value, lower and upper end of a bootstrap band over tasks, for these trained models.

    Seeds are not drawn: with two or three the ends of such a band would be the best and the worst of
    them, and cover nothing. They are to be shown one by one.

    Parameters
    ----------
    errors : ndarray (seeds, n, k)
        The same n tasks for each seed of the training.
    measure : str
        One of :data:`MEASURES`; of the n errors, then the mean over seeds.
    level : float
        Pointwise and by percentiles: a description, no test.
    averaged : bool
        Of the mean over the k columns, taken within each draw; then k = 1 in what is returned.

    Returns
    -------
    tuple of ndarray (k,)
    """
    if measure not in MEASURES:
        raise InputError(f"measure {measure!r} is unknown; choose {', '.join(MEASURES)}")
    of = MEASURES[measure]
    generator = np.random.default_rng(rng)
    n = errors.shape[1]

    def value(tasks: NDArray[np.int64]) -> Floats:
        found = np.mean([of(each[tasks]) for each in errors], axis=0)
        return np.asarray(found.mean(keepdims=True) if averaged else found)

    whole = value(np.arange(n))
    samples = np.stack([value(np.asarray(generator.integers(n, size=n))) for _ in range(draws)])
    low, high = np.quantile(samples, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return whole, low, high


def trivial_levels(task: Task) -> dict[str, float]:
    """Each measure of ``y²``, ``y = g(z) ± τ``: what the prediction 0 has, without the noise of a sample.

    By a dense grid of z with Gaussian weights (both signs of τ); the mean and the clipped mean to about
    1e-8, the median and the trimmed mean to about 1e-3 of their values.
    """
    z = np.linspace(-9, 9, 200_001)
    weights = np.tile(np.exp(-(z**2) / 2), 2)
    family = task.family()
    g, tau = np.asarray(family.g(z), dtype=np.float64), float(Fraction(task.noise))
    e = np.concatenate([g - tau, g + tau]) ** 2
    order = np.argsort(e)
    e, weights = e[order], weights[order] / weights.sum()
    below = weights.cumsum()
    kept = below <= 1 - TRIM
    return {
        "mean": float(weights @ e),
        "clipped": float(weights @ np.minimum(e, CLIP)),
        "trimmed": float(weights[kept] @ e[kept] / weights[kept].sum()),
        "median": float(e[np.searchsorted(below, 0.5)]),
    }


def summary(errors: Floats, prompts: Prompts, context: int) -> dict[str, Any]:
    """What ``train`` reports: each measure at a few context sizes, and of the prediction 0."""
    tokens = errors.shape[1]
    sizes = sorted({*shown_sizes(tokens, 8), context - 1})
    zero = trivial_errors(prompts).reshape(-1, 1)
    return {
        "curve": [
            {
                "examples": k,
                **{name: float(of(errors[:, [k]])[0]) for name, of in MEASURES.items()},
            }
            for k in sizes
        ],
        "trivial": {name: float(of(zero)[0]) for name, of in MEASURES.items()},
    }
