"""The prompts on which all in-context learners are tested, so that they can be compared task by task.

There is one set per task family and length. The error at context size k is ``(ŷ_{k+1} - y_{k+1})²`` from
the first k examples.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from theoryverify.exact.rationals import positive_integer
from theoryverify.seeds import named_rng
from theoryverify.simulate.icl_prompts import Prompts
from theoryverify.simulate.in_context import Task, as_tokens

if TYPE_CHECKING:
    from theoryverify.models.sequence import Regressor

Floats = NDArray[np.float64]

_BLOCK = 250


def shared_test(
    task: Task, tokens: int, tasks: int, *, seed: int = 0, split: str = "test"
) -> Prompts:
    """The prompts on which everything is tested (or validated), the same for every model.

    A set of fewer tasks is the beginning of one of more; sets of other tasks or lengths are others.
    """
    tasks = positive_integer(tasks, "tasks")
    blocks = [
        task.sample(_BLOCK, tokens, rng=named_rng(seed, f"{split} {task} {tokens} {start}"))
        for start in range(0, tasks, _BLOCK)
    ]
    names = [field.name for field in fields(Prompts)]
    return Prompts(*(np.concatenate([getattr(b, n) for b in blocks])[:tasks] for n in names))


def query_at(prompts: Prompts, k: int) -> Prompts:
    """The first k examples as context and example k+1 as the one query."""
    at = slice(k, k + 1)
    x_q, y_q = prompts.X[:, at], prompts.y[:, at]
    return Prompts(prompts.X[:, :k], prompts.y[:, :k], x_q, y_q, y_q, prompts.beta)


def sequence_errors(model: Regressor, prompts: Prompts) -> Floats:
    """Squared errors (n, N) of a trained model: column k is from k examples."""
    from theoryverify.simulate.icl_training import predictions

    return np.asarray((predictions(model, as_tokens(prompts.X, prompts.y)) - prompts.y) ** 2)


def trivial_errors(prompts: Prompts) -> Floats:
    """Those of the prediction 0, the mean of the labels."""
    return np.asarray(prompts.y**2)


def shown_sizes(tokens: int, most: int = 12) -> list[int]:
    """Context sizes from 1 to ``tokens - 1``, about evenly spaced on a logarithmic scale."""
    found = np.unique(np.round(np.geomspace(1, tokens - 1, most)).astype(int))
    return [int(k) for k in found]
