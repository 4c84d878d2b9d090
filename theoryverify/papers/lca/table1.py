"""The comparison behind Table 1: effects with intervals that respect what the data have in common.

Ten thousand test pairs are no ten thousand independent trials: the official test split has 300 clips of
six speakers, and a run is one draw of a seed. So intervals come from resampling seeds and clusters of
pairs (clips, or speakers) together, the same for all arms: differences are paired. With five seeds and
six speakers percentiles are too short (measured: 95% ones cover 85 to 87%), so they are widened as
Student's t is against the normal law (they then cover 98% and more).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from theoryverify.errors import InputError

Array = npt.NDArray[np.float64]

RESAMPLES = 4000
LEVEL = 0.95
LEAST_CLUSTERS = 3
"""With fewer there is no interval."""

EFFECTS: dict[str, dict[str, float]] = {
    "full - no injection": {"full": 1, "no injection": -1},
    "full - no cross-attention": {"full": 1, "no cross-attention": -1},
    "full - neither": {"full": 1, "neither": -1},
    "full - bidirectional": {"full": 1, "bidirectional": -1},
    "full - no injection, matched": {"full": 1, "no injection, matched": -1},
    "injection where it acts: self-attention": {"no cross-attention": 1, "neither": -1},
    "injection where it acts: mean read-out": {"full, mean": 1, "no injection, mean": -1},
    "injection (2 x 2)": {
        "full": 0.5, "no cross-attention": 0.5, "no injection": -0.5, "neither": -0.5,
    },
    "cross-attention (2 x 2)": {
        "full": 0.5, "no injection": 0.5, "no cross-attention": -0.5, "neither": -0.5,
    },
    "interaction (2 x 2)": {
        "full": 1, "neither": 1, "no injection": -1, "no cross-attention": -1,
    },
}  # fmt: skip
"""Contrasts of accuracies. The first is 0 but for rounding, which training amplifies: both arms are one
class of functions and begin with the same weights. It is the comparison's own negative control."""


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds and pairs, with its interval; NaN with fewer than three seeds or clusters."""

    value: float
    lower: float
    upper: float


def cluster_bootstrap(
    correct: Mapping[str, Array],
    clusters: npt.NDArray[np.integer],
    contrasts: Mapping[str, Mapping[str, float]],
    *,
    rng: np.random.Generator | int,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> dict[str, Estimate]:
    """Contrasts of accuracies with intervals from resampling seeds and clusters.

    Parameters
    ----------
    correct : mapping of str to ndarray (seeds, pairs)
        1 where a run answered rightly. Seeds and pairs are the same for all arms.
    clusters : ndarray of int (pairs,)
        Which pairs share a clip, or a speaker.
    contrasts : mapping
        From names to coefficients of arms.

    Returns
    -------
    dict
        Percentiles, their distance from the value times ``√(n/(n-1)) t_{n-1}/z`` with n the fewer of
        seeds and clusters. Descriptive, pointwise.

    Raises
    ------
    InputError
        If shapes do not fit, there are no answers, one is no number from 0 to 1, or a contrast names
        an arm that is not there.
    """
    shapes = {array.shape for array in correct.values()}
    if len(shapes) != 1 or next(iter(shapes))[1:] != clusters.shape:
        raise InputError(f"answers of shapes {shapes} and clusters of shape {clusters.shape}")
    for arm, array in correct.items():
        if not array.size:
            raise InputError(f"arm {arm!r} has no answers: its shape is {array.shape}")
        if not np.all((array >= 0) & (array <= 1)):
            raise InputError(f"answers of arm {arm!r} must lie between 0 and 1")
    for name, coefficients in contrasts.items():
        if strange := sorted(set(coefficients) - set(correct)):
            known = ", ".join(map(repr, correct))
            raise InputError(f"contrast {name!r} names the arm {strange[0]!r}; there are {known}")
    generator = np.random.default_rng(rng)
    names, place = np.unique(clusters, return_inverse=True)
    sizes = np.bincount(place).astype(np.float64)
    sums = {  # (seeds, clusters)
        arm: np.stack([np.bincount(place, row, len(names)) for row in rows])
        for arm, rows in correct.items()
    }
    seeds = next(iter(shapes))[0]
    wider = _widening(min(seeds, len(names)), level)
    seed_weights = generator.multinomial(seeds, np.full(seeds, 1 / seeds), resamples) / seeds
    weights = generator.multinomial(len(names), np.full(len(names), 1 / len(names)), resamples)
    total = weights @ sizes
    drawn = {
        arm: np.einsum("bs,sc,bc->b", seed_weights, table, weights, optimize=True) / total
        for arm, table in sums.items()
    }
    found = {}
    for name, coefficients in contrasts.items():
        value = sum(c * float(correct[arm].mean()) for arm, c in coefficients.items())
        spread = sum(c * drawn[arm] for arm, c in coefficients.items())
        low, high = (
            value + wider * (float(end) - value)
            for end in np.quantile(spread, [(1 - level) / 2, (1 + level) / 2])
        )
        found[name] = Estimate(float(value), low, high)
    return found


def _widening(n: int, level: float) -> float:
    """``√(n/(n-1)) t_{n-1}/z``: what a resampled mean of n draws lacks."""
    from scipy.stats import norm, t

    if n < LEAST_CLUSTERS:
        return math.nan
    upper = (1 + level) / 2
    return float(math.sqrt(n / (n - 1)) * t.ppf(upper, n - 1) / norm.ppf(upper))


def markdown(rows: Sequence[tuple[str, ...]], header: Sequence[str]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(header) + " |", "| " + " | ".join("---" for _ in header) + " |"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def latex(rows: Sequence[tuple[str, ...]], header: Sequence[str]) -> str:
    """A table in LaTeX, with booktabs' rules."""

    def escaped(text: str) -> str:
        return text.replace("&", r"\&").replace("%", r"\%").replace(" x ", r" $\times$ ")

    body = [" & ".join(map(escaped, row)) + r" \\" for row in rows]
    head = " & ".join(map(escaped, header)) + r" \\"
    return "\n".join(
        [rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}", r"\toprule", head, r"\midrule", *body,
         r"\bottomrule", r"\end{tabular}"]
    ) + "\n"  # fmt: skip
