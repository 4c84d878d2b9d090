"""Gates ``σ(y/ρ+b)`` fitted to what a trained layer does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def gate(y: Floats, rho: Floats | float, b: Floats | float) -> Floats:
    """The theory's gate ``σ(y/ρ+b)``."""
    return np.asarray(0.5 * (1 + np.tanh((y / rho + b) / 2)))


@dataclass(frozen=True)
class GateFit:
    """``low + (high - low) σ(h(y)/ρ + b)``, h(y) = y or |y|, by least squares.

    Attributes
    ----------
    rho, b, low, high : float
    even : bool
        Whether h is |y|.
    explained : float
        R² under the masses.
    """

    rho: float
    b: float
    low: float
    high: float
    even: bool
    explained: float

    def __call__(self, y: Floats) -> Floats:
        h = np.abs(y) if self.even else y
        return np.asarray(self.low + (self.high - self.low) * gate(h, self.rho, self.b))


def fit_gate(values: Floats, opening: Floats, masses: Floats, *, even: bool = False) -> GateFit:
    """The gate of least squares over a grid of ``ρ > 0`` and b; low and high are then linear.

    Parameters
    ----------
    values, opening, masses : ndarray (V,)
        Labels, what a layer does at them, and how much each counts (they sum to 1).
    even : bool
        A gate of |y|.

    Notes
    -----
    ``high < low`` is a gate that closes as y grows. A constant opening has ``explained = 0``.
    """
    rho, b, means, units, norms = _gates(tuple(map(float, values)), tuple(map(float, masses)), even)
    mean = float(masses @ opening)
    target = np.sqrt(masses) * (opening - mean)
    along = units @ target
    best = int((along**2).argmax())
    total = float((target**2).sum())
    bent = norms[best] > 0 and total > (1e-12 * mean) ** 2  # beyond round-off
    slope = float(along[best] / norms[best]) if bent else 0.0
    low = mean - slope * float(means[best])
    explained = float(along[best] ** 2) / total if bent else 0.0
    i, j = divmod(best, len(b))
    return GateFit(float(rho[i]), float(b[j]), low, low + slope, even, min(explained, 1.0))


@lru_cache(maxsize=8)
def _gates(
    values: tuple[float, ...], masses: tuple[float, ...], even: bool
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """ρ, b and, for each pair of them, the gate's mean, its weighted deviation over its norm, the norm.

    A gate that is constant on the values has norm 0 and points nowhere.
    """
    h, weights = np.array(values), np.array(masses)
    rho, b = np.geomspace(0.1, 30, 40), np.linspace(-12, 12, 97)
    s = gate(np.abs(h) if even else h, rho[:, None, None], b[:, None]).reshape(-1, len(h))
    means = s @ weights
    centred = np.sqrt(weights) * (s - means[:, None])
    norms = np.sqrt((centred**2).sum(axis=1))
    norms[norms < 1e-6] = 0.0
    units = np.divide(centred, norms[:, None], out=np.zeros_like(centred), where=norms[:, None] > 0)
    return rho, b, means, units, norms
