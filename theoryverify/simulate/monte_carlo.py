"""Literal models on random prompts: the excess risk of each prompt, the query averaged out exactly.

The model is linear in the query, so its d predictions for unit queries give ŵ, and
``E[(⟨ŵ,x_q⟩ - ⟨w,x_q⟩)² | prompt] = (ŵ-w)ᵀΣ_x(ŵ-w)``. It is linear in the labels too, so ζ = 1 gives
the excess in units of ζ². What is left to chance is the prompt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import positive_integer
from theoryverify.simulate.prompts import sample_prompts

if TYPE_CHECKING:
    import torch

    from theoryverify.models.lca import Stack

Array = npt.NDArray[np.float64]
Slope = Callable[[Array, Array], Array]
"""From X (n, d, L) and y (n, L) to ŵ (n, d)."""

_CHUNK = 2**22
"""Numbers of X at a time: 32 MB. Results do not depend on the memory of the machine."""

_SCORES = 2**20
"""Attention scores at a time: more than fit into a cache are slower than one prompt at a time."""


@dataclass(frozen=True)
class ExcessDraws:
    """``draw(n, rng)``: the excess risk of n independent prompts, in units of ``ζ²``.

    Parameters
    ----------
    slope : callable
        The model, as a map from contexts to slopes; see :func:`torch_slope`.
    law : Law
        Of Z; directions are isotropic.
    d, L : int
    control : callable, optional
        A function of Z (n,) with a mean that is known: it is subtracted prompt by prompt, and
        ``control_mean`` added. It changes the variance, never the mean.
    """

    slope: Slope
    law: Law
    d: int
    L: int
    control: Callable[[Array], Array] | None = None
    control_mean: float = 0.0

    def __call__(self, n: int, rng: np.random.Generator) -> Array:
        size = max(1, _CHUNK // (self.d * self.L))
        parts = []
        for start in range(0, positive_integer(n, "n"), size):
            prompts = sample_prompts(
                self.law, self.d, self.L, min(size, n - start), zeta="one", rng=rng
            )
            excess = prompts.excess(self.slope(prompts.X, prompts.y))
            if self.control is not None:
                excess = excess - self.control(prompts.Z) + self.control_mean
            parts.append(excess)
        return np.concatenate(parts)


def torch_slope(
    model: Stack, *, device: str = "cpu", dtype: torch.dtype | None = None, context: int
) -> Slope:
    """A Torch stack as a map on NumPy arrays, checked before it is used.

    Parameters
    ----------
    model : Stack
        Moved to the device.
    device : str
    dtype : torch.dtype, optional
        float64 by default; float32 only where the device multiplies in float32.
    context : int
        L, for the estimate of the memory.

    Raises
    ------
    InputError
        If the device is not there, rounds its matrix products, or has too little memory.
    """
    import torch

    from theoryverify.models.lca import CA
    from theoryverify.models.precision import (
        matmul_precision_guard,
        require_device,
        require_memory,
    )

    kind = dtype or torch.float64
    place = require_device(device)
    matmul_precision_guard(place, kind)
    d, depth = model.weights.d, model.weights.depth
    prompts = max(1, _CHUNK // (d * context))
    numbers = prompts * d * context * (depth + 6)
    part = prompts
    if isinstance(model, CA):
        part = max(1, _SCORES // context**2)
        numbers += 3 * part * context**2
    require_memory(numbers, kind, f"a batch of {prompts} prompts of {d} x {context}", place)
    moved = model.to(device=place, dtype=kind)

    def slope(X: Array, y: Array) -> Array:
        tokens, labels = (torch.from_numpy(a).to(place, kind) for a in (X, y))
        with torch.no_grad():
            found = [
                moved.slope(tokens[i : i + part], labels[i : i + part])
                for i in range(0, len(X), part)
            ]
        return np.asarray(torch.cat(found).cpu().double().numpy())

    return slope
