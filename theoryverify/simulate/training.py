"""Stochastic gradient descent on prompts, literally: fresh prompts, one query each, every step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from theoryverify.errors import InputError
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import positive_integer
from theoryverify.simulate.prompts import sample_prompts

if TYPE_CHECKING:
    from theoryverify.models.lca import Stack


@dataclass(frozen=True)
class Training:
    """What a training run did.

    Attributes
    ----------
    parameters : dict of str to ndarray (steps+1, ...)
        Each trained parameter at every step, the start first.
    losses : ndarray (steps,)
        Mean of ``(y_q - ŷ_q)²`` over each batch, before its step.
    average : dict of str to ndarray
        Means over the last half of the run (Polyak and Ruppert): what is judged, because the last
        iterate alone still carries the noise of the last batches.
    """

    parameters: dict[str, np.ndarray]
    losses: np.ndarray
    average: dict[str, np.ndarray]


def train(
    model: Stack,
    law: Law,
    *,
    context: int,
    steps: int,
    batch: int,
    rate: float,
    optimizer: Literal["sgd", "adam"] = "sgd",
    clip: float = 1.0,
    zeta: Literal["normal", "one"] = "normal",
    rng: np.random.Generator | int | None = None,
) -> Training:
    """Train a stack on ``E(y_q - ŷ_q)²`` by steps on fresh prompts. The model is changed.

    Parameters
    ----------
    model : Stack
        Its trainable parameters; the frozen readout stays.
    law : Law
        Of Z; directions isotropic.
    context, steps, batch : int
        L_tr, the number of steps, prompts a step.
    rate : float
        Step size.
    optimizer : {"sgd", "adam"}
    clip : float
        The norm at which a gradient is clipped; the risk is a polynomial of high degree.
    zeta : {"normal", "one"}
        The law of ζ.
    rng : Generator, int or None

    Raises
    ------
    InputError
        For sizes below 1, a rate or a clip that is not positive, an unknown optimizer, or a batch
        that does not fit into memory.
    FloatingPointError
        If the loss or a parameter is not finite: a diverged run is no result.
    """
    import torch

    from theoryverify.models.precision import require_memory

    steps, batch = positive_integer(steps, "steps"), positive_integer(batch, "batch")
    context = positive_integer(context, "context")
    for name, value in (("rate", rate), ("clip", clip)):
        if not 0 < value < math.inf:
            raise InputError(f"{name} = {value} must be positive and finite")
    if optimizer not in ("sgd", "adam"):
        raise InputError(f"optimizer {optimizer!r} is unknown; choose 'sgd' or 'adam'")
    trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
    first = next(iter(trained.values()))
    d, depth = model.weights.d, model.weights.depth
    require_memory(
        3 * batch * d * context * (depth + 3),
        first.dtype,
        f"a batch of {batch} prompts of {d} x {context} and its gradient",
        first.device,
    )
    kind = torch.optim.SGD if optimizer == "sgd" else torch.optim.Adam
    stepper = kind(trained.values(), lr=rate)
    generator = np.random.default_rng(rng)
    history = {name: [p.detach().cpu().double().numpy().copy()] for name, p in trained.items()}
    losses = np.empty(steps)
    for step in range(steps):
        prompts = sample_prompts(law, d, context, batch, zeta=zeta, rng=generator)
        X, y, x_q, y_q = (
            torch.from_numpy(array).to(first.device, first.dtype)
            for array in (prompts.X, prompts.y, prompts.x_q, prompts.y_q)
        )
        stepper.zero_grad()
        loss = ((y_q - model(X, y, x_q)) ** 2).mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(trained.values()), clip)
        stepper.step()
        losses[step] = loss.item()
        for name, p in trained.items():
            history[name].append(p.detach().cpu().double().numpy().copy())
        if not math.isfinite(losses[step]) or not all(
            np.isfinite(values[-1]).all() for values in history.values()
        ):
            raise FloatingPointError(f"training diverged at step {step}: loss {losses[step]}")
    parameters = {name: np.stack(values) for name, values in history.items()}
    half = (steps + 1) // 2
    average = {name: values[-half:].mean(axis=0) for name, values in parameters.items()}
    return Training(parameters, losses, average)
