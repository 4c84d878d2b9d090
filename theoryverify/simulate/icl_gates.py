"""Gates fitted to what a trained layer does, and Hermite coefficients of label transformations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from theoryverify.simulate.in_context import Task

Floats = NDArray[np.float64]

_RANGE = 9.0
"""``z`` beyond has a probability of 1e-19."""


@dataclass(frozen=True)
class GateFit:
    """``low + (high - low) σ(h(y)/ρ + b)``, h(y) = y or |y|, by least squares.

    Attributes
    ----------
    rho, b, low, high : float
    even : bool
        Whether h is |y|.
    explained : float
        R², every value with equal weight.
    """

    rho: float
    b: float
    low: float
    high: float
    even: bool
    explained: float

    def __call__(self, y: Floats) -> Floats:
        h = np.abs(y) if self.even else y
        return np.asarray(self.low + (self.high - self.low) * _sigmoid(h / self.rho + self.b))


def fit_gate(values: Floats, opening: Floats, *, even: bool = False) -> GateFit:
    """The gate of least squares over a grid of ``ρ > 0`` and b; low and high are then linear.

    ``high < low`` is a gate that closes as y grows. A constant opening has ``explained = 0``.
    """
    rho, b, means, units, spreads = _gates(tuple(map(float, values)), even)
    target = opening - opening.mean()
    along = units @ target
    best = int((along**2).argmax())
    total = float((target**2).sum())
    slope = float(along[best] / spreads[best]) if spreads[best] > 0 else 0.0
    low = float(opening.mean() - slope * means[best])
    explained = float(along[best] ** 2) / total if total > 0 else 0.0
    i, j = divmod(best, len(b))
    return GateFit(float(rho[i]), float(b[j]), low, low + slope, even, min(explained, 1.0))


@lru_cache(maxsize=8)
def _gates(values: tuple[float, ...], even: bool) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """ρ, b and, for each pair of them, the gate's mean, the centred gate over its norm, and the norm.

    A gate that is constant on the values has norm 0 and points nowhere.
    """
    h = np.abs(values) if even else np.array(values)
    rho, b = np.geomspace(0.1, 30, 40), np.linspace(-12, 12, 97)
    s = _sigmoid(h / rho[:, None, None] + b[:, None]).reshape(-1, len(h))
    means = s.mean(axis=1)
    centred = s - means[:, None]
    norms = np.sqrt((centred**2).sum(axis=1))
    norms[norms < 1e-6] = 0.0
    units = np.divide(centred, norms[:, None], out=np.zeros_like(centred), where=norms[:, None] > 0)
    return rho, b, means, units, norms


def hermite_raw(task: Task, transformation: Callable[[Floats], Floats], most: int) -> Floats:
    """``E[T(g(z)) he_k(z)]`` for k = 0, ..., most, by the trapezoid rule; linear in T."""
    z, weights = _nodes()
    T = np.asarray(transformation(np.asarray(task.family().g(z), dtype=np.float64)))
    he, before, found = np.ones_like(z), np.zeros_like(z), []
    for k in range(most + 1):
        found.append(float((weights * T * he).sum()))
        he, before = (z * he - math.sqrt(k) * before) / math.sqrt(k + 1), he
    return np.array(found)


def hermite_profile(
    task: Task, transformation: Callable[[Floats], Floats], most: int = 4
) -> Floats:
    """``E[T(g(z)) he_k(z)]/√E[T(g(z))²]`` for k = 0, ..., most.

    Normalised: what is compared is the shape of a transformation, not its size.
    """
    size, raw = root_mean_square(task, transformation), hermite_raw(task, transformation, most)
    return np.asarray(raw / size if size > 0 else np.zeros_like(raw))


def root_mean_square(task: Task, transformation: Callable[[Floats], Floats]) -> float:
    """``√E[T(g(z))²]``."""
    z, weights = _nodes()
    T = np.asarray(transformation(np.asarray(task.family().g(z), dtype=np.float64)))
    return math.sqrt(float((weights * T**2).sum()))


def tabulated(values: Floats, transformation: Floats) -> Callable[[Floats], Floats]:
    """Linear between tabulated labels, constant beyond."""
    return lambda y: np.asarray(np.interp(y, values, transformation))


def _nodes() -> tuple[Floats, Floats]:
    """Nodes and weights for N(0,1): the trapezoid rule, exact to round-off for smooth integrands."""
    z = np.linspace(-_RANGE, _RANGE, 4001)
    weights = np.exp(-(z**2) / 2)
    return z, weights / weights.sum()


def _sigmoid(u: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(u / 2)))
