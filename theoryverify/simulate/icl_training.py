"""Training of Mamba and GPT-2 in context, on :func:`theoryverify.simulate.loop.fit`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from theoryverify.errors import InputError
from theoryverify.models.gpt2 import GPT2
from theoryverify.models.mamba import Mamba
from theoryverify.models.precision import require_device, require_memory
from theoryverify.models.sequence import Regressor
from theoryverify.seeds import named_rng
from theoryverify.simulate.icl_config import Configuration
from theoryverify.simulate.in_context import as_tokens, batches, prefix_loss
from theoryverify.simulate.loop import Begin, Run, fit

if TYPE_CHECKING:
    from numpy.typing import NDArray

VALIDATION_TASKS = 256
_PIECE = 2**18  # tokens times width in one pass of a test


@dataclass(frozen=True)
class Trained:
    """A model and how it came about.

    Attributes
    ----------
    model : Regressor
    run : Run
        ``observed`` has ``errors`` (k, 256, N/4): squared ones of the last quarter of the positions, on
        256 validation tasks that are the same throughout, and for every model and seed.
    """

    model: Regressor
    run: Run


def build(settings: Configuration, device: str | torch.device = "cpu") -> Regressor:
    """The model at its start: a function of the configuration's seed."""
    of, rng = settings.model, named_rng(settings.seed, "model")
    backbone: Mamba | GPT2
    if of.kind == "mamba":
        backbone = Mamba(of.width, of.layers, states=of.states, rng=rng)
    else:
        # Rows from N_pt on are never trained; they are there so that one can look what happens.
        backbone = GPT2(of.width, of.layers, of.heads, positions=settings.test_context, rng=rng)
    return Regressor(2 * settings.task.d + 1, backbone, rng=rng).to(device)


def train_in_context(
    settings: Configuration,
    *,
    device: str = "cpu",
    folder: str | os.PathLike[str] | None = None,
    progress: str | None = None,
    begin: Begin | None = None,
) -> Trained:
    """Train on fresh tasks at every step; the loss is the mean over all prefixes.

    Parameters
    ----------
    settings : Configuration
    device : str
    folder : path, optional
        For checkpoints: a run that was killed goes on from there, bit for bit on one device, and a
        finished one is only read.
    progress : str, optional
        A label.
    begin : callable, optional
        See :func:`theoryverify.simulate.loop.fit`.

    Raises
    ------
    InputError
        For a device that is not there, too little memory, bfloat16 on a CPU, and all that
        :func:`theoryverify.simulate.loop.fit` refuses in a checkpoint.
    TrainingDiverged
        If a loss, a gradient or a parameter is not finite.
    """
    place = require_device(device)
    require_fits(settings, place)
    model = build(settings, place)
    # One validation set for all models of one task and length: seeds and models are compared on it.
    held = settings.task.sample(
        VALIDATION_TASKS, settings.context, rng=named_rng(0, f"validation {settings.task}")
    )
    tokens, labels = as_tokens(held.X, held.y), held.y

    def observe(done: int) -> dict[str, NDArray[np.float64]]:
        return {"errors": last_quarter((predictions(model, tokens) - labels) ** 2)}

    run = fit(
        model,
        batches(settings.task, settings.context, settings.batch, settings.curriculum),
        prefix_loss,
        steps=settings.steps,
        optimizer=settings.optimizer,
        seed=settings.seed,
        observe=observe,
        observe_every=settings.observe_every,
        configuration={"what": "in-context", **_deciding(settings)},
        folder=folder,
        checkpoint_every=settings.checkpoint_every,
        precision="bfloat16" if settings.precision == "bfloat16" else "full",
        compiled=settings.compiled,
        progress=progress,
        begin=begin,
    )
    return Trained(model, run)


def _deciding(settings: Configuration) -> dict[str, Any]:
    """What decides the weights, beside what ``fit`` knows: not how they are saved or tested."""
    whole = settings.json()
    known = ("steps", "seed", "optimizer", "precision", "observe_every")
    for name in (*known, "checkpoint_every", "test_tasks"):
        del whole[name]
    if settings.model.kind == "mamba":  # it has no table of positions
        del whole["test_context"]
    return whole


def predictions(model: Regressor, tokens: NDArray[np.float64]) -> NDArray[np.float64]:
    """``ŷ_t`` from t-1 examples, for every t: (n, N, 2d+1) to (n, N), in pieces."""
    parameter = next(model.parameters())
    size = max(1, _PIECE // (tokens.shape[1] * int(model.backbone.width)))  # type: ignore[arg-type]
    found = []
    with torch.no_grad():
        for start in range(0, len(tokens), size):
            piece = torch.from_numpy(tokens[start : start + size]).to(parameter)
            found.append(model(piece).double().cpu().numpy())
    return np.concatenate(found)


def require_fits(settings: Configuration, place: torch.device) -> None:
    """Refuse a step that does not fit on the device.

    Raises
    ------
    InputError
    """
    if settings.precision == "bfloat16" and place.type != "cuda":
        raise InputError(
            f"precision 'bfloat16' is for CUDA, and the device is {place}: write 'full'"
        )
    of, N = settings.model, settings.context
    # x, y, tokens and copies of them; the validation set is held in float64
    tokens = (2 * VALIDATION_TASKS + settings.batch) * N * (4 * settings.task.d + 8)
    require_memory(tokens, torch.float64, "a batch and the validation set", "cpu")
    # Measured: about 40 numbers a channel, token and layer are alive.
    alive = 40 * settings.batch * N * of.width * of.layers
    weights = 12 * of.width**2 * of.layers + 2 * (settings.task.d + 1) * of.width
    if of.kind == "mamba":  # every sixteenth state is kept; A, and the maps to B and C
        alive += 2 * settings.batch * of.layers * of.states * (of.width * -(-N // 16) + N)
        alive += 2 * min(VALIDATION_TASKS, _PIECE // (N * of.width)) * of.width * of.states
        weights += 6 * of.width * of.states * of.layers
    else:
        weights += settings.test_context * of.width
    # beside the weights their gradients and two moments
    require_memory(alive + 4 * weights, torch.float32, "a training step", place)


def last_quarter(errors: NDArray[np.float64]) -> NDArray[np.float64]:
    """The last quarter of the positions (..., N): the longest contexts."""
    return errors[..., -max(1, errors.shape[-1] // 4) :]
