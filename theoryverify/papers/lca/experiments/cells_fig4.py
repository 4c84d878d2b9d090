"""Figure 4's simulated cell: the loss of the layer-normalised model along rays of (α, β).

The model is homogeneous (:mod:`theoryverify.models.layer_norm`), so on the ray ``(α, β) = ρ(cos θ, sin
θ)`` the loss is a parabola, ``ρ² a(θ) - 2ρ b(θ) + c`` with ``a = E[ŵᵀΣ_xŵ]``, ``b = E[ŵᵀΣ_xw]``,
``c = E[W]`` and ``ŵ`` at ``ρ = 1``: a curve of angles gives the loss for all α > 0. All three are
averaged over the same prompts, so that each estimate of the loss is a mean of squares.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from theoryverify.exact.laws import Law
from theoryverify.simulate.store import Arrays

Floats = npt.NDArray[np.float64]

GROUPS = 32
"""Means over that many groups of prompts are kept, for standard errors and the bootstrap."""
_CHUNK = 2**19


def angles(count: int) -> Floats:
    """From -π/2 to π/2 (at the ends the limit α → 0+), denser towards 0, where the minimum is."""
    u = np.linspace(-1, 1, count)
    return np.asarray(np.pi / 2 * np.sign(u) * np.abs(u) ** 1.5)


def rays(
    law: Law,
    dim: int,
    context: int,
    depth: int,
    theta: Floats,
    prompts: int,
    device: str,
    rng: np.random.Generator,
) -> Arrays:
    """``a`` and ``b``, shape (groups, angles), and ``c`` (groups,); ζ = 1.

    The number of prompts is rounded down to a multiple of the number of groups.
    Float32 on the device, averages in float64.
    """
    import torch

    from theoryverify.models.layer_norm import NormedLCA
    from theoryverify.models.precision import matmul_precision_guard, require_device
    from theoryverify.simulate.prompts import sample_prompts

    place = require_device(device)
    matmul_precision_guard(place, torch.float32)
    models = [
        NormedLCA.two_parameter(
            dim, depth, float(np.cos(t)), float(np.sin(t)), dtype=torch.float32
        ).to(place)
        for t in theta
    ]
    prompts -= prompts % GROUPS
    size = max(1, _CHUNK // (dim * context))
    parts: list[Floats] = []
    for begin in range(0, prompts, size):
        batch = sample_prompts(law, dim, context, min(size, prompts - begin), zeta="one", rng=rng)
        X, y = (torch.from_numpy(v).to(place, torch.float32) for v in (batch.X, batch.y))
        weight, found = batch.weight, np.empty((len(batch.m), 2 * len(theta) + 1))
        for k, model in enumerate(models):
            with torch.no_grad():
                slope = model.slope(X, y).cpu().double().numpy()
            along = (slope * batch.m).sum(1)
            found[:, 2 * k] = (slope**2).sum(1) + along**2
            found[:, 2 * k + 1] = (slope * weight).sum(1) + along * (weight * batch.m).sum(1)
        found[:, -1] = 1 - 1 / batch.Z
        parts.append(found)
    means = np.concatenate(parts).reshape(GROUPS, prompts // GROUPS, -1).mean(axis=1)
    return {"a": means[:, :-1:2], "b": means[:, 1:-1:2], "c": means[:, -1]}
