"""Training a single layer of linear or softmax self-attention on fresh prompts, and its errors.

Every step draws new prompts, so it is stochastic gradient descent on the population risk itself. The
query's label is replaced by its mean given the prompt, ``⟨w, x_q⟩``: the gradients have the same
mean and less noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theoryverify.errors import InputError
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import positive_integer
from theoryverify.simulate.prompts import Prompts, sample_prompts

if TYPE_CHECKING:
    from torch import Tensor

    from theoryverify.models.attention import LSA, SA, SoftmaxPredictor

    OneLayer = LSA | SA | SoftmaxPredictor


def train_layer(
    layer: OneLayer,
    law: Law,
    d: int,
    *,
    context: int,
    steps: int,
    batch: int,
    rate: float,
    rng: np.random.Generator | int | None = None,
    device: str = "cpu",
) -> np.ndarray:
    """Minimise ``E(ŷ_q - ⟨w, x_q⟩)²`` of a layer by Adam, ζ ~ N(0, 1). The layer is changed.

    The rate falls from ``rate`` to 0 along half a cosine, which averages the noise out.

    Parameters
    ----------
    layer : LSA, SA or SoftmaxPredictor
    law : Law
        Of Z; directions isotropic.
    d, context, steps, batch : int
        Dimension of the tokens, L, number of steps, prompts a step.
    rate : float
    rng : Generator, int or None
    device : str

    Returns
    -------
    ndarray (steps,)
        The loss of each batch, before its step.

    Raises
    ------
    InputError
        For sizes below 1, a rate that is not positive, a device that is not there, or a batch that
        does not fit into memory; before anything is drawn.
    FloatingPointError
        If the loss is not finite: a diverged run is no result.
    """
    import torch

    from theoryverify.models.precision import (
        matmul_precision_guard,
        require_device,
        require_memory,
    )

    sizes = {"d": d, "context": context, "steps": steps, "batch": batch}
    for name, value in sizes.items():
        positive_integer(value, name)
    if not 0 < rate < np.inf:
        raise InputError(f"rate = {rate} must be positive and finite")
    place = require_device(device)
    matmul_precision_guard(place, torch.float64)
    what = f"a batch of {batch} prompts of {d} x {context} and its gradient"
    require_memory(16 * batch * (d + 1) * context, torch.float64, what, place)
    layer.to(place)
    generator = np.random.default_rng(rng)
    optimizer = torch.optim.Adam(layer.parameters(), lr=rate)
    losses = np.empty(steps)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate * (1 + np.cos(np.pi * step / steps)) / 2
        prompts = sample_prompts(law, d, context, batch, rng=generator)
        loss: Any = (layer_errors(layer, prompts) ** 2).mean()
        losses[step] = loss.item()
        if not np.isfinite(losses[step]):
            raise FloatingPointError(f"training diverged at step {step}: loss {losses[step]}")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses


def layer_errors(layer: OneLayer, prompts: Prompts) -> Tensor:
    """``ŷ_q - ⟨w, x_q⟩`` of each prompt: (n,), on the layer's device.

    Its mean square is the excess risk: ``y_q - ⟨w, x_q⟩`` is independent of all that ŷ_q sees.
    """
    import torch

    from theoryverify.models.attention import SoftmaxPredictor, embed

    like = next(layer.parameters())
    X, y, x_q, w = (
        torch.from_numpy(array).to(like.device, like.dtype)
        for array in (prompts.X, prompts.y, prompts.x_q, prompts.weight)
    )
    if isinstance(layer, SoftmaxPredictor):
        predicted = layer.predict(X, y, x_q)
    else:
        predicted = layer.predict(embed(X, y, x_q))
    return predicted - (w * x_q).sum(1)
