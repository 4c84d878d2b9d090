"""Training a single layer of linear or softmax self-attention on fresh prompts, and its errors.

Every step draws new prompts, so it is stochastic gradient descent on the population risk itself. The
query's label is replaced by its mean given the prompt, ``⟨w, x_q⟩``: the gradients have the same
mean and less noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    TrainingDiverged
        A ``FloatingPointError``: the loss is not finite. A diverged run is no result.
    """
    import torch

    from theoryverify.models.precision import (
        matmul_precision_guard,
        require_device,
        require_memory,
    )
    from theoryverify.simulate.loop import fit
    from theoryverify.simulate.optimizer import Optimizer

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

    def prompts(step: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        found = sample_prompts(law, d, context, batch, rng=rng)
        return found.X, found.y, found.x_q, found.weight

    def loss(trained: OneLayer, *prompt: Tensor) -> Tensor:
        return (_errors(trained, *prompt) ** 2).mean()

    run = fit(
        layer,
        prompts,
        loss,
        steps=steps,
        optimizer=Optimizer("adam", rate, decay="cosine", clip=None),
        seed=int(np.random.default_rng(rng).integers(2**63)),
    )
    return run.losses


def layer_errors(layer: OneLayer, prompts: Prompts) -> Tensor:
    """``ŷ_q - ⟨w, x_q⟩`` of each prompt: (n,), on the layer's device.

    Its mean square is the excess risk: ``y_q - ⟨w, x_q⟩`` is independent of all that ŷ_q sees.
    """
    import torch

    like = next(layer.parameters())
    return _errors(
        layer,
        *(
            torch.from_numpy(array).to(like.device, like.dtype)
            for array in (prompts.X, prompts.y, prompts.x_q, prompts.weight)
        ),
    )


def _errors(layer: OneLayer, X: Tensor, y: Tensor, x_q: Tensor, w: Tensor) -> Tensor:
    from theoryverify.models.attention import SoftmaxPredictor, embed

    if isinstance(layer, SoftmaxPredictor):
        predicted = layer.predict(X, y, x_q)
    else:
        predicted = layer.predict(embed(X, y, x_q))
    return predicted - (w * x_q).sum(1)
