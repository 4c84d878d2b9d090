"""The simulated landscape of the layer-normalised model, from its rays, with what is uncertain in it.

On a ray the loss is a parabola (:mod:`theoryverify.papers.lca.experiments.cells_fig4`); between the
simulated angles ``a`` and ``b`` are cubic splines of θ. The half plane α > 0 is all there is: at α = 0
the model jumps, since ``LN(αX) = sign(α) LN(X)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from theoryverify.flow import Jet

Floats = npt.NDArray[np.float64]

_FINE = 4001


@dataclass(frozen=True)
class Rays:
    """One estimate of the landscape.

    Attributes
    ----------
    theta, a, b : (K,)
        Angles from -π/2 to π/2, and the coefficients there.
    c : float
    """

    theta: Floats
    a: Floats
    b: Floats
    c: float

    @cached_property
    def _splines(self) -> tuple[Any, Any]:
        from scipy.interpolate import CubicSpline

        return CubicSpline(self.theta, self.a), CubicSpline(self.theta, self.b)

    def loss(self, alpha: Floats, beta: Floats) -> Floats:
        """``ρ² a - 2ρ b + c`` at points with α >= 0."""
        rho, theta = np.hypot(alpha, beta), np.arctan2(beta, alpha)
        a, b = self._splines
        return np.asarray((rho * a(theta) - 2 * b(theta)) * rho + self.c)

    def minimum(self) -> tuple[float, float, float]:
        """α, β and the loss at the minimum, on a fine grid of angles: ``ρ = b/a``, ``c - b²/a``."""
        fine = np.linspace(self.theta[0], self.theta[-1], _FINE)
        a, b = (spline(fine) for spline in self._splines)
        gain = np.where((b > 0) & (a > 0), b, 0.0)
        place = int(np.argmax(gain**2 / a))
        rho = gain[place] / a[place]
        loss = self.c - gain[place] ** 2 / a[place]
        return (
            float(rho * np.cos(fine[place])),
            float(rho * np.sin(fine[place])),
            float(loss),
        )

    def valley(self, betas: Floats, alphas: Floats) -> Floats:
        """For each β the best of the given α."""
        level = self.loss(alphas[None, :], betas[:, None])
        return np.asarray(alphas[np.argmin(level, axis=1)])

    def jet(self, x: Sequence[float]) -> Jet:
        """The loss in polar coordinates ``(ρ, θ)``, for the gradient flow."""
        rho, theta = x
        a, da, dda = (float(self._splines[0](theta, k)) for k in range(3))
        b, db, ddb = (float(self._splines[1](theta, k)) for k in range(3))
        mixed = 2 * rho * da - 2 * db
        return Jet(
            (rho * a - 2 * b) * rho + self.c,
            [2 * rho * a - 2 * b, (rho * da - 2 * db) * rho],
            [[2 * a, mixed], [mixed, (rho * dda - 2 * ddb) * rho]],
        )


def mean_rays(theta: Floats, groups: dict[str, Floats]) -> Rays:
    """The estimate from all groups of prompts."""
    return Rays(
        theta, groups["a"].mean(axis=0), groups["b"].mean(axis=0), float(groups["c"].mean())
    )


def bootstrapped(
    theta: Floats, groups: dict[str, Floats], count: int, rng: np.random.Generator
) -> list[Rays]:
    """The estimate again from groups drawn with replacement, ``count`` times."""
    size = len(groups["c"])
    result = []
    for _ in range(count):
        pick = rng.integers(size, size=size)
        result.append(mean_rays(theta, {name: values[pick] for name, values in groups.items()}))
    return result


def standard_error(theta: Floats, groups: dict[str, Floats], alpha: Floats, beta: Floats) -> Floats:
    """Of the loss at points, from the spread over groups."""
    parts = [
        Rays(theta, a, b, float(c)).loss(alpha, beta)
        for a, b, c in zip(groups["a"], groups["b"], groups["c"], strict=True)
    ]
    return np.asarray(np.std(parts, axis=0, ddof=1) / np.sqrt(len(parts)))
