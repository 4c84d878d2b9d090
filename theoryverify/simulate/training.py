"""Stochastic gradient descent on prompts, literally: fresh prompts, one query each, every step."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from theoryverify.errors import InputError
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import positive_integer
from theoryverify.simulate.prompts import sample_prompts

if TYPE_CHECKING:
    from torch import Tensor

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
    folder: str | os.PathLike[str] | None = None,
    checkpoint_every: int = 100,
    progress: str | None = None,
) -> Training:
    """Train a stack on ``E(y_q - ŷ_q)²`` by steps on fresh prompts. The model is changed.

    It runs on :func:`theoryverify.simulate.loop.fit`. One number is drawn from ``rng``; the prompts
    of a step are a function of it and of the step.

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
    folder : path, optional
        For checkpoints: a killed run goes on from there, bit for bit, given the same seed.
    checkpoint_every : int
        Steps between two of them.
    progress : str, optional
        A label: show the progress under it.

    Raises
    ------
    InputError
        For sizes below 1, a rate or a clip that is not positive, an unknown optimizer, a batch
        that does not fit into memory, or what :func:`~theoryverify.simulate.loop.fit` refuses in a
        checkpoint.
    TrainingDiverged
        A ``FloatingPointError``: the loss or a parameter is not finite. A diverged run is no result.
    """
    from theoryverify.models.precision import require_memory
    from theoryverify.simulate.loop import fit
    from theoryverify.simulate.optimizer import Optimizer

    steps, batch = positive_integer(steps, "steps"), positive_integer(batch, "batch")
    context = positive_integer(context, "context")
    if optimizer not in ("sgd", "adam"):
        raise InputError(f"optimizer {optimizer!r} is unknown; choose 'sgd' or 'adam'")
    settings = Optimizer(optimizer, rate, clip=clip)
    trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
    first = next(iter(trained.values()))
    d, depth = model.weights.d, model.weights.depth
    require_memory(
        3 * batch * d * context * (depth + 3),
        first.dtype,
        f"a batch of {batch} prompts of {d} x {context} and its gradient",
        first.device,
    )

    def prompts(step: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        found = sample_prompts(law, d, context, batch, zeta=zeta, rng=rng)
        return found.X, found.y, found.x_q, found.y_q

    def loss(stack: Stack, X: Tensor, y: Tensor, x_q: Tensor, y_q: Tensor) -> Tensor:
        error: Tensor = y_q - stack(X, y, x_q)
        return (error**2).mean()

    run = fit(
        model,
        prompts,
        loss,
        steps=steps,
        optimizer=settings,
        seed=int(np.random.default_rng(rng).integers(2**63)),
        observe=lambda done: {
            name: p.detach().cpu().double().numpy() for name, p in trained.items()
        },
        configuration={
            "what": "LCA",
            "stack": type(model).__name__,
            "law": repr(law),
            "context": context,
            "batch": batch,
            "zeta": zeta,
        },
        folder=folder,
        checkpoint_every=checkpoint_every,
        progress=progress,
    )
    half = (steps + 1) // 2
    average = {name: values[-half:].mean(axis=0) for name, values in run.observed.items()}
    return Training(run.observed, run.losses, average)
