"""The one training loop: steps on fresh batches, resumed bit for bit after a kill at any moment.

All randomness of step ``t`` is a function of ``(seed, t)``: the batch comes from a NumPy generator
spawned for the step, and Torch's generators (dropout) are seeded for it and put back afterwards. So
a checkpoint needs to hold no generator, and a resumed run equals the uninterrupted one bit for bit
on one device with one number of threads.

Under ``torchrun`` each process takes its share of the same global batch, and gradients are averaged
(DistributedDataParallel); see :mod:`theoryverify.simulate.processes`.
"""

from __future__ import annotations

import contextlib
import math
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from theoryverify.errors import InputError, TrainingDiverged
from theoryverify.exact.rationals import positive_integer
from theoryverify.models.precision import matmul_precision_guard, require_memory
from theoryverify.progress import Progress
from theoryverify.simulate.checkpoint import Checkpoints
from theoryverify.simulate.optimizer import Optimizer
from theoryverify.simulate.processes import RefusedElsewhere, agree, place
from theoryverify.simulate.restore import restore
from theoryverify.simulate.sealed import JSON, plain

Batch = Callable[[int, np.random.Generator], Sequence[Tensor | npt.NDArray[Any]]]
"""From a step and its generator to arrays whose first dimension is the batch."""
Loss = Callable[..., Tensor]
"""``loss(model, *batch)``: a mean over the batch."""
Observe = Callable[[int], Mapping[str, npt.ArrayLike]]
"""What to note after so many steps."""
Begin = Callable[[int], None]
"""What to do first, knowing from which step the run goes on."""


@dataclass(frozen=True)
class Run:
    """What a training run did.

    Attributes
    ----------
    losses : ndarray (steps,)
        The loss of each batch, before its step; under several processes their mean.
    norms : ndarray (steps,)
        The norm of each gradient, before clipping.
    observed_at : ndarray (k,)
        After how many steps something was noted: 0, every so many steps, and the last.
    observed : dict of str to ndarray (k, ...)
        What was noted.
    resumed_from : int
        The step from which this process went on; 0 for a new run.
    """

    losses: npt.NDArray[np.float64]
    norms: npt.NDArray[np.float64]
    observed_at: npt.NDArray[np.int64]
    observed: dict[str, npt.NDArray[np.float64]]
    resumed_from: int


class _Objective(nn.Module):
    """The loss as a module, so that DistributedDataParallel and compile see all of it."""

    def __init__(self, model: nn.Module, loss: Loss) -> None:
        super().__init__()
        self.model = model
        self._loss = loss

    def forward(self, *batch: Tensor) -> Tensor:
        return self._loss(self.model, *batch)


def step_rng(seed: int, step: int) -> np.random.Generator:
    """The generator of a step: a function of the seed and the step alone."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(step,)))


def fit(
    model: nn.Module,
    batch: Batch,
    loss: Loss,
    *,
    steps: int,
    optimizer: Optimizer,
    seed: int,
    observe: Observe | None = None,
    observe_every: int = 1,
    configuration: Mapping[str, JSON] | None = None,
    folder: str | os.PathLike[str] | None = None,
    checkpoint_every: int = 100,
    precision: Literal["full", "bfloat16"] = "full",
    compiled: bool = False,
    progress: str | None = None,
    begin: Begin | None = None,
) -> Run:
    """Train a model. It is changed; afterwards it is what ``steps`` steps made of it.

    Parameters
    ----------
    model : Module
        On its device, in its dtype; parameters without gradient stay.
    batch : callable
        ``batch(step, rng)`` gives arrays or tensors whose first dimension is the global batch.
        Floating ones are brought to the model's dtype, all to its device. It must draw from ``rng``
        alone.
    loss : callable
        ``loss(model, *batch)``: a scalar, a mean over the batch.
    steps : int
    optimizer : Optimizer
    seed : int
        Not negative.
    observe : callable, optional
        ``observe(done)`` gives numbers or arrays to note; called before the first step, after every
        ``observe_every`` and after the last. It must change neither the model nor rely on other
        random numbers than its own.
    configuration : mapping, optional
        What ``batch``, ``loss`` and ``observe`` depend on: a checkpoint of another configuration is
        refused. Steps, seed, optimizer, precision and the parameters' shapes are added.
    folder : path, optional
        For checkpoints: if there is one the run goes on from it, and if it is finished nothing is
        computed. Without a folder nothing is written.
    checkpoint_every : int
        Steps between two checkpoints; one more is written at the end.
    precision : {"full", "bfloat16"}
        ``bfloat16`` runs the loss under autocast; parameters keep their dtype.
    compiled : bool
        Through ``torch.compile``; then no bitwise promise is made.
    progress : str, optional
        A label: show rate, loss and time left on standard error.
    begin : callable, optional
        ``begin(done)`` is called once, in every process, when nothing is refused and before
        anything is computed.

    Raises
    ------
    InputError
        For settings outside their range, a batch that the processes cannot share, a checkpoint of
        another run, format or shape, or one that is damaged without an older one, a folder that
        cannot be written to or another process uses, a full disk. Older checkpoints stay whole.
    TrainingDiverged
        If a loss, a gradient or a parameter is not finite; a ``FloatingPointError`` that names the
        last good checkpoint.
    """
    steps = positive_integer(steps, "steps")
    observe_every = positive_integer(observe_every, "observe_every")
    checkpoint_every = positive_integer(checkpoint_every, "checkpoint_every")
    if type(seed) is not int or seed < 0:
        raise InputError(f"seed = {seed!r} must be an integer, 0 or more")
    if precision not in ("full", "bfloat16"):
        raise InputError(f"precision {precision!r} is unknown; choose 'full' or 'bfloat16'")
    trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
    if not trained:
        raise InputError("the model has no trainable parameter")
    first = next(iter(trained.values()))
    if precision == "full" and first.dtype in (torch.float32, torch.float64):
        matmul_precision_guard(first.device, first.dtype)
    whole: dict[str, JSON] = {
        "run": plain(configuration or {}),
        "steps": steps,
        "seed": seed,
        "optimizer": optimizer.configuration(),
        "precision": precision,
        "observe_every": observe_every if observe else None,
        "model": {
            name: [str(value.dtype).removeprefix("torch."), *value.shape]
            for name, value in model.state_dict().items()
        },
    }
    require_memory(2 * steps, torch.float64, f"a history of {steps} steps", "cpu")
    every = observe_every if observe else None
    trainer = Trainer(model, trained, loss, optimizer, steps, every, compiled, precision)
    agree(whole, trainer.device)
    checkpoints = None if folder is None else Checkpoints(Path(folder), whole)
    with contextlib.ExitStack() as stack:
        start = trainer.resume(checkpoints, stack)
        if begin is not None:
            begin(start)
        trainer.wrap()
        if trainer.world > 1:  # advice on speed, from each process, about a dimension of size 1
            stack.enter_context(warnings.catch_warnings())
            warnings.filterwarnings("ignore", "Grad strides do not match", UserWarning)
        shown = progress is not None and trainer.rank == 0
        bar = stack.enter_context(Progress(progress or "", steps, done=start, show=shown))
        stack.enter_context(_own_randomness(first.device))
        stack.callback(model.train, model.training)
        model.train()
        if observe and start == 0:
            trainer.note(0, observe)
        for step in range(start, steps):
            _seed_torch(seed, step, trainer.rank, first.device)
            value = trainer.step(step, batch(step, step_rng(seed, step)), checkpoints)
            done = step + 1
            last = done == steps
            if observe and (done % observe_every == 0 or last):
                trainer.note(done, observe)
            if checkpoints is not None and (done % checkpoint_every == 0 or last):
                trainer.save(done, checkpoints)
            bar(done, f"loss {value:.4g}")
    return trainer.run(start)


class Trainer:
    """The state of a run: model, optimiser and history."""

    def __init__(
        self,
        model: nn.Module,
        trained: dict[str, nn.Parameter],
        loss: Loss,
        optimizer: Optimizer,
        steps: int,
        observe_every: int | None,
        compiled: bool,
        precision: str,
    ) -> None:
        self.model, self.trained, self.settings, self.steps = model, trained, optimizer, steps
        self._observe_every = observe_every
        self.device = next(iter(trained.values())).device
        self.dtype = next(iter(trained.values())).dtype
        self.objective: Any = _Objective(model, loss)
        self.stepper = optimizer.of(trained.values())
        self.losses = np.zeros(steps)
        self.norms = np.zeros(steps)
        self.noted_at: list[int] = []
        self.noted: dict[str, list[npt.NDArray[np.float64]]] = {}
        self.rank, self.world = place()
        self._compiled = compiled
        self._autocast = precision == "bfloat16"

    def wrap(self) -> None:
        if self.world > 1:
            ids = [self.device] if self.device.type == "cuda" else None
            self.objective = nn.parallel.DistributedDataParallel(self.objective, device_ids=ids)
        if self._compiled:
            self.objective = torch.compile(self.objective)

    # -- one step -------------------------------------------------------------------------------

    def step(
        self,
        step: int,
        arrays: Sequence[Tensor | npt.NDArray[Any]],
        checkpoints: Checkpoints | None,
    ) -> float:
        for group in self.stepper.param_groups:
            group["lr"] = self.settings.rate_at(step, self.steps)
        share = [self._share(array) for array in arrays]
        self.stepper.zero_grad()
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self._autocast):
            loss = self.objective(*share)
        loss.backward()
        parameters = list(self.trained.values())
        gradients = [p.grad for p in parameters if p.grad is not None]
        norm = nn.utils.get_total_norm(gradients)
        value, size = self._mean(loss), norm.item()
        if not (math.isfinite(value) and math.isfinite(size)):
            last = checkpoints.path() if checkpoints else None
            what = f"loss {value}, norm of the gradient {size}"
            raise TrainingDiverged(step, what, None if last is None else str(last))
        if self.settings.clip is not None:
            nn.utils.clip_grads_with_norm_(parameters, self.settings.clip, norm)
        self.stepper.step()
        if not math.isfinite(nn.utils.get_total_norm(parameters, math.inf).item()):
            last = checkpoints.path() if checkpoints else None
            what = f"a parameter is not finite after a step at loss {value}"
            raise TrainingDiverged(step, what, None if last is None else str(last))
        self.losses[step], self.norms[step] = value, size
        return value

    def _share(self, array: Tensor | npt.NDArray[Any]) -> Tensor:
        tensor = torch.as_tensor(array)
        if self.world > 1:
            count = tensor.shape[0]
            if count % self.world:
                raise InputError(f"{self.world} processes cannot share a batch of {count} equally")
            size = count // self.world
            tensor = tensor[self.rank * size : (self.rank + 1) * size]
        dtype = self.dtype if tensor.is_floating_point() else tensor.dtype
        return tensor.to(self.device, dtype)

    def _mean(self, loss: Tensor) -> float:
        value = loss.detach().double()
        if self.world > 1:
            torch.distributed.all_reduce(value)
            value = value / self.world
        return float(value)

    # -- history --------------------------------------------------------------------------------

    def noted_until(self, done: int) -> list[int]:
        """After which steps something has been noted, of a run that has made so many."""
        if self._observe_every is None:
            return []
        found = list(range(0, done + 1, self._observe_every))
        return found if done < self.steps or found[-1] == done else [*found, done]

    def note(self, done: int, observe: Observe) -> None:
        if self.rank > 0:
            return
        found = {k: np.array(v, dtype=np.float64) for k, v in observe(done).items()}
        self.model.train()
        if self.noted and found.keys() != self.noted.keys():
            raise InputError(
                f"observe gave {sorted(found)} after {done} steps and {sorted(self.noted)} before"
            )
        for name, before in self.noted.items():
            if found[name].shape != before[-1].shape:
                raise InputError(
                    f"observe gave {name} of shape {found[name].shape} after {done} steps and "
                    f"{before[-1].shape} before"
                )
        self.noted_at.append(done)
        for name, value in found.items():
            self.noted.setdefault(name, []).append(value)

    def run(self, start: int) -> Run:
        noted = {name: np.stack(values) for name, values in self.noted.items()}
        return Run(self.losses, self.norms, np.array(self.noted_at, dtype=np.int64), noted, start)

    # -- checkpoints ----------------------------------------------------------------------------

    def on(self) -> dict[str, JSON]:
        """What the last bits depend on, beside versions."""
        return {
            "device": self.device.type,
            "threads": torch.get_num_threads(),
            "processes": self.world,
        }

    def save(self, done: int, checkpoints: Checkpoints) -> None:
        if self.rank > 0:
            return
        tensors = {f"model/{name}": value for name, value in self.model.state_dict().items()}
        for name, p in self.trained.items():
            for key, value in self.stepper.state.get(p, {}).items():
                if isinstance(value, Tensor):
                    tensors[f"optimizer/{key}/{name}"] = value
        tensors["history/losses"] = torch.from_numpy(self.losses[:done])
        tensors["history/norms"] = torch.from_numpy(self.norms[:done])
        for name, values in self.noted.items():
            tensors[f"observed/{name}"] = torch.from_numpy(np.stack(values))
        state: dict[str, JSON] = {"observed_at": list(self.noted_at), "on": self.on()}
        # The optimizer keeps nothing of a parameter that has had no gradient.
        if unused := [name for name, p in self.trained.items() if p not in self.stepper.state]:
            state["unused"] = list(unused)
        checkpoints.save(done, tensors, state)

    def resume(self, checkpoints: Checkpoints | None, stack: contextlib.ExitStack) -> int:
        """Take up the newest checkpoint, locked until the run ends; returns the steps it has done."""
        if checkpoints is None:
            return 0
        found, refusal = None, None
        if self.rank == 0:
            try:
                stack.enter_context(checkpoints.locked())
                found = checkpoints.latest()
                if found is not None:
                    restore(self, found)
            except InputError as error:
                refusal = error
        if self.world > 1:
            # The first process alone repairs and refuses; the others read what it has chosen.
            chosen = -1 if refusal else found.step if found else 0
            step = torch.tensor([chosen], device=self.device)
            torch.distributed.broadcast(step, 0)
            if self.rank > 0 and int(step) < 0:
                raise RefusedElsewhere("the first process has refused the checkpoints")
            if self.rank > 0 and int(step) > 0:
                found = checkpoints.latest()
                if found is None or found.step != int(step):
                    raise InputError(
                        f"process {self.rank} does not see checkpoint {int(step)} in "
                        f"{checkpoints.folder}; all processes need the same folder"
                    )
                restore(self, found)
        if refusal is not None:
            raise refusal
        return found.step if found else 0


# -- randomness ---------------------------------------------------------------------------------


@contextlib.contextmanager
def _own_randomness(device: torch.device) -> Iterator[None]:
    """Torch's global generators as they were, once the run is over."""
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        yield


def _seed_torch(seed: int, step: int, rank: int, device: torch.device) -> None:
    """Dropout and the like: also a function of the step, another one in every process."""
    words = np.random.SeedSequence(seed, spawn_key=(step, 1 + rank)).generate_state(1, np.uint64)
    value = int(words[0] >> np.uint64(1))
    torch.default_generator.manual_seed(value)
    if device.type == "cuda":
        with torch.cuda.device(device):
            torch.cuda.manual_seed(value)
