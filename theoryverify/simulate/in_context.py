"""Sequences of in-context learning: tasks as tokens, the loss over all prefixes, the curriculum.

The prompt ``(x_1, y_1), ..., (x_N, y_N)`` of one task becomes N tokens

    token_t = (x_t, x_{t-1}, y_{t-1})  in R^{2d+1},     (x_0, y_0) = 0,

so that a causal model sees at t the query x_t and, before it, t-1 whole examples, each in one token,
as in the paper's ``z_j = [x_j; y_j]``. One pass predicts y_t from t-1 examples for every t. (Garg et al.
2022 spread an example over two tokens; then the sequence is twice as long.) Source of the task: arXiv
2510.12026, section 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from theoryverify.errors import InputError
from theoryverify.exact.rationals import positive_integer
from theoryverify.simulate.icl_prompts import Prompts, TaskFamily

if TYPE_CHECKING:
    from torch import Tensor, nn

Floats = NDArray[np.float64]
SUPPORTS = ("fixed", "per task")


@dataclass(frozen=True)
class Task:
    """A family of tasks: ``y = g(⟨β,x⟩) ± τ``, β uniform on the unit sphere of r of the d coordinates.

    Attributes
    ----------
    g : str
        The link.
    d, r : int
    noise : str
        τ, an exact number as text.
    support : {"fixed", "per task"}
        The same r coordinates for all tasks, as in the paper: these can be learnt in pretraining.
        (Here they are the first ones; the models' starts treat all coordinates alike.) Or r
        coordinates drawn anew for each task.

    Raises
    ------
    InputError
        For ``r > d``, a link that cannot be read, or a number out of range.
    """

    g: str = "He3(z)/sqrt(6)"
    d: int = 2
    r: int = 2
    noise: str = "0"
    support: str = "fixed"

    def __post_init__(self) -> None:
        if self.support not in SUPPORTS:
            raise InputError(f"support {self.support!r} is unknown; choose {', '.join(SUPPORTS)}")
        self.family()

    def family(self, d: int | None = None) -> TaskFamily:
        """The law of one prompt, in dimension d; its support is the first r coordinates."""
        d = positive_integer(self.d if d is None else d, "d")
        if positive_integer(self.r, "r") > d:
            raise InputError(f"r = {self.r} is larger than d = {d}: β has r of the d coordinates")
        return TaskFamily(self.g, d, range(self.r), self.noise)

    def sample(
        self, prompts: int, tokens: int, *, rng: np.random.Generator | int, d: int | None = None
    ) -> Prompts:
        """Prompts of fresh tasks, with one query each; see :meth:`TaskFamily.sample`.

        With ``d`` below the task's own, the coordinates from d on are 0.
        """
        generator = np.random.default_rng(rng)
        size = self.d if d is None else d
        found = self.family(size).sample(prompts, tokens, rng=generator)
        X, x_q, beta = found.X, found.x_q, found.beta
        if self.support == "per task":
            # x is isotropic: to permute the coordinates of a task is to draw its support anew
            order = generator.permuted(np.tile(np.arange(size), (prompts, 1)), axis=1)
            X, x_q = (np.take_along_axis(a, order[:, None], axis=2) for a in (X, x_q))
            beta = np.take_along_axis(beta, order, axis=1)
        if size < self.d:
            room = self.d - size
            X, x_q = (np.pad(a, ((0, 0), (0, 0), (0, room))) for a in (X, x_q))
            beta = np.pad(beta, ((0, 0), (0, room)))
        return Prompts(X, found.y, x_q, found.y_q, found.target, beta)


def as_tokens(X: Floats, y: Floats) -> Floats:
    """``(x_t, x_{t-1}, y_{t-1})``: X (n, N, d) and y (n, N) to (n, N, 2d+1)."""
    n, N, d = X.shape
    z = np.zeros((n, N, 2 * d + 1))
    z[:, :, :d] = X
    z[:, 1:, d : 2 * d] = X[:, :-1]
    z[:, 1:, 2 * d] = y[:, :-1]
    return z


def prefix_loss(model: nn.Module, z: Tensor, y: Tensor) -> Tensor:
    """``mean_t (ŷ_t - y_t)²``, over all prefixes and the batch."""
    error: Tensor = (model(z) - y) ** 2
    return error.mean()


@dataclass(frozen=True)
class Curriculum:
    """Few coordinates and short contexts first (Garg et al. 2022).

    After every so many steps d grows by ``d_step`` and the context by ``context_step``, until they are
    the task's own.

    Attributes
    ----------
    d, context : int
        To begin with.
    every : int
        Steps.
    d_step, context_step : int

    Raises
    ------
    InputError
        For numbers below 1.
    """

    d: int
    context: int
    every: int
    d_step: int = 1
    context_step: int = 2

    def __post_init__(self) -> None:
        for name in ("d", "context", "every", "d_step", "context_step"):
            positive_integer(getattr(self, name), f"curriculum.{name}")

    def at(self, step: int, d: int, context: int) -> tuple[int, int]:
        """``(d, context)`` of a step, from 0."""
        times = step // self.every
        return (
            min(d, self.d + times * self.d_step),
            min(context, self.context + times * self.context_step),
        )


Batch = Callable[[int, np.random.Generator], tuple[NDArray[np.float32], NDArray[np.float32]]]


def batches(task: Task, context: int, size: int, curriculum: Curriculum | None = None) -> Batch:
    """``batch(step, rng)``: tokens (size, N, 2d+1) and labels (size, N) of fresh tasks, in float32.

    Raises
    ------
    InputError
        For a curriculum that begins below r or above what the task has.
    """
    if curriculum is not None:
        if not task.r <= curriculum.d <= task.d:
            raise InputError(
                f"curriculum.d = {curriculum.d} must lie between r = {task.r} and d = {task.d}: "
                "coordinates that β needs cannot be 0"
            )
        if curriculum.context > context:
            raise InputError(
                f"curriculum.context = {curriculum.context} is longer than context = {context}"
            )

    def batch(
        step: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        d, N = curriculum.at(step, task.d, context) if curriculum else (task.d, context)
        found = task.sample(size, N, rng=rng, d=d)
        return as_tokens(found.X, found.y).astype(np.float32), found.y.astype(np.float32)

    return batch
