"""Whether a checkpoint fits the run that would go on from it, and what goes where."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from theoryverify.errors import InputError
from theoryverify.simulate.checkpoint import Checkpoint, CheckpointWarning
from theoryverify.simulate.sealed import differences

if TYPE_CHECKING:
    from theoryverify.simulate.loop import Trainer

GROUPS = ("model", "optimizer", "history", "observed")
"""First parts of the names of a checkpoint's tensors."""


def restore(trainer: Trainer, found: Checkpoint) -> None:
    """Put a checkpoint's tensors where they belong; all are looked at before any is used.

    Raises
    ------
    InputError
        If anything in it cannot be what this run has written.
    """
    groups: dict[str, dict[str, Tensor]] = {}
    for name, tensor in found.tensors.items():
        kind, _, rest = name.partition("/")
        groups.setdefault(kind, {})[rest] = tensor

    def refuse(why: str) -> InputError:
        return InputError(f"checkpoint {found.path} does not fit: {why}")

    if unknown := groups.keys() - GROUPS:
        raise refuse(f"it has tensors of {sorted(unknown)}; known are {', '.join(GROUPS)}")
    if not 0 < found.step <= trainer.steps:
        raise refuse(f"it is of step {found.step}, and the run has {trainer.steps}")
    model, there = groups.get("model", {}), trainer.model.state_dict()
    if model.keys() != there.keys():
        raise refuse(f"its tensors {sorted(model.keys() ^ there.keys())[:3]} are not the model's")
    for name, tensor in there.items():
        if (own := _form(model[name])) != _form(tensor):
            raise refuse(f"{name} is {own}, the model's {_form(tensor)}")
    if wrong := [name for name in trainer.trained if not model[name].isfinite().all()]:
        raise refuse(f"{wrong[0]} is not finite")
    places = {name: index for index, name in enumerate(trainer.trained)}
    state: dict[int, dict[str, Tensor]] = {}
    for label, tensor in groups.get("optimizer", {}).items():
        key, _, name = label.partition("/")
        if name not in places:
            raise refuse(f"the optimizer's state of {name!r}, which is not trained")
        state.setdefault(places[name], {})[key] = tensor
    unused = found.state.get("unused", [])
    for name, wanted in _optimizer_state(trainer).items():
        kept = state.get(places[name], {})
        if not kept and isinstance(unused, list) and name in unused:
            continue
        if kept.keys() != wanted.keys():
            raise refuse(f"the optimizer's state of {name} is {sorted(kept)}, not {sorted(wanted)}")
        for key, tensor in wanted.items():
            if (own := _form(kept[key])) != _form(tensor):
                raise refuse(f"the optimizer's {key} of {name} is {own}, not {_form(tensor)}")
        # Adam counts the steps of each parameter, and sums squares; infinite ones it outlives.
        if "step" in kept and not 0 < float(kept["step"]) <= found.step:
            raise refuse(f"the optimizer has made {float(kept['step']):g} steps of {found.step}")
        if "exp_avg_sq" in kept and not (kept["exp_avg_sq"] >= 0).all():
            raise refuse(f"the optimizer's exp_avg_sq of {name} is negative or NaN")
    history = groups.get("history", {})
    if history.keys() != {"losses", "norms"}:
        raise refuse(f"its history is {sorted(history)}, not losses and norms")
    for name, values in history.items():
        if values.shape != (found.step,) or not values.isfinite().all():
            raise refuse(f"its {name} are not {found.step} finite numbers")
        if values.dtype != torch.float64:
            raise refuse(f"its {name} are {values.dtype}, not float64")
    noted_at = trainer.noted_until(found.step)
    if found.state.get("observed_at") != noted_at:
        raise refuse(f"'observed_at' is not what it should be after {found.step} steps")
    observed = groups.get("observed", {})
    if bool(observed) != bool(noted_at):
        raise refuse("what it observed is missing" if noted_at else "it observed what is not asked")
    if any(values.dim() == 0 or len(values) != len(noted_at) for values in observed.values()):
        raise refuse(f"what it observed is not {len(noted_at)} long")
    if any(values.dtype != torch.float64 for values in observed.values()):
        raise refuse("what it observed is not float64")

    _note_surroundings(trainer, found)
    trainer.model.load_state_dict(model)
    settings = trainer.stepper.state_dict()["param_groups"]
    trainer.stepper.load_state_dict({"state": state, "param_groups": settings})
    trainer.losses[: found.step] = history["losses"].numpy()
    trainer.norms[: found.step] = history["norms"].numpy()
    trainer.noted_at = noted_at
    trainer.noted = {name: list(values.numpy()) for name, values in observed.items()}


def _form(tensor: Tensor) -> str:
    return f"{tensor.dtype} {tuple(tensor.shape)}"


def _note_surroundings(trainer: Trainer, found: Checkpoint) -> None:
    there, here = found.state.get("on"), trainer.on()
    if isinstance(there, dict) and there != here and found.step < trainer.steps:
        changed = "; ".join(differences(there, here))
        warnings.warn(
            f"{found.path} was written elsewhere ({changed}): the run goes on, but perhaps not as it "
            "would have, bit for bit",
            CheckpointWarning,
            stacklevel=4,
        )


def _optimizer_state(trainer: Trainer) -> dict[str, dict[str, Tensor]]:
    """What the optimizer keeps of each parameter: seen in a step of zeros."""
    zeros = {
        name: nn.Parameter(torch.zeros_like(p, device="cpu")) for name, p in trainer.trained.items()
    }
    for p in zeros.values():
        p.grad = torch.zeros_like(p)
    stepper = trainer.settings.of(zeros.values())
    stepper.step()
    return {
        name: {k: v for k, v in stepper.state.get(p, {}).items() if isinstance(v, Tensor)}
        for name, p in zeros.items()
    }
