"""Gradient-flow lines over (α, β), for both landscapes of Figure 4."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from theoryverify.exact.densities import Uniform
from theoryverify.flow import Coordinates, FlowResult, Jet, Status, gradient_flow, log_loss_clock

_NODES = 48
STARTS = ((0.03, 0.05), (0.3, 0.06), (0.47, -0.05), (0.47, -0.3), (0.3, -0.47), (0.04, -0.4))
"""(α, β), around the edge of the picture."""

POLAR = Coordinates(
    lambda x: [x[0] * math.cos(x[1]), x[0] * math.sin(x[1])],
    lambda x: [
        [math.cos(x[1]), -x[0] * math.sin(x[1])],
        [math.sin(x[1]), x[0] * math.cos(x[1])],
    ],
)


class ExactLoss:
    """``ℓ(α,β) = E[W(1-αS)²]`` with two derivatives, in float64.

    For a uniform law by Gauss and Legendre's rule, exact but for the factor 1/Z.
    """

    def __init__(self, law: Uniform, depth: int) -> None:
        x, w = np.polynomial.legendre.leggauss(_NODES)
        low, high = float(law.lower), float(law.upper)
        self.z = (low + high) / 2 + (high - low) / 2 * x
        self.mass = w / 2 * (self.z - 1) / self.z
        self.depth = depth

    def __call__(self, x: Sequence[float]) -> Jet:
        alpha, beta = x
        q = 1 + beta * self.z
        # S = Z Σ q^k and its derivatives in β.
        S, first, second = (np.zeros_like(q) for _ in range(3))
        for k in range(self.depth):
            S += q**k
            first += k * q ** max(k - 1, 0)
            second += k * (k - 1) * q ** max(k - 2, 0)
        S, first, second = S * self.z, first * self.z**2, second * self.z**3
        rho = 1 - alpha * S

        def mean(values: Any) -> float:
            return float((self.mass * values).sum())

        mixed = -2 * mean(first * rho) + 2 * alpha * mean(S * first)
        return Jet(
            mean(rho**2),
            [-2 * mean(S * rho), -2 * alpha * mean(first * rho)],
            [
                [2 * mean(S**2), mixed],
                [mixed, -2 * alpha * mean(second * rho) + 2 * alpha**2 * mean(first**2)],
            ],
        )


def line(
    loss: Callable[[Sequence[float]], Jet], start: tuple[float, float]
) -> list[tuple[float, float]]:
    """The flow of ``-∇ℓ`` from a point to a minimum, in the clock ``ds = ℓ dt``, in which it does not
    stall.

    Raises
    ------
    FlowError
        If it does not arrive.
    """
    run = _run(loss, list(start), None).require(Status.CONVERGED)
    return [(float(alpha), float(beta)) for alpha, beta in run.parameters]


def half_plane_line(
    loss: Callable[[Sequence[float]], Jet], start: tuple[float, float]
) -> list[tuple[float, float]]:
    """The same for a loss in polar coordinates that is defined for α > 0: the line may end at α = 0.

    What the integrator did beyond that edge is dropped.
    """
    run = _run(loss, [math.hypot(*start), math.atan2(start[1], start[0])], POLAR)
    path: list[tuple[float, float]] = []
    for alpha, beta in run.parameters:
        if alpha <= 0:
            before = path[-1]
            share = before[0] / (before[0] - alpha)
            return [*path, (0.0, before[1] + share * (beta - before[1]))]
        path.append((float(alpha), float(beta)))
    run.require(Status.CONVERGED)
    return path


def _run(
    loss: Callable[[Sequence[float]], Jet], begin: list[float], coordinates: Coordinates | None
) -> FlowResult:
    return gradient_flow(
        loss,
        begin,
        clock=log_loss_clock(),
        coordinates=coordinates,
        tolerance=1e-6,
        close=1e-6,
        max_steps=2000,
    )
