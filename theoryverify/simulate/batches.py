"""What a worker does with some cells of a sweep. It writes nothing and knows no store.

A task is plain data: the function is named, not sent, so that a worker runs its own code, and says
which that is.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import numpy.typing as npt

from theoryverify.errors import InputError
from theoryverify.seeds import named_rng
from theoryverify.simulate.code import fingerprint

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)
"""For the environment of a worker, before it imports anything."""

Function = Callable[..., Mapping[str, npt.ArrayLike]]
"""``function(configuration, rng, *arguments)``."""


@dataclass(frozen=True)
class Task:
    """Some cells to compute.

    Attributes
    ----------
    experiment, seed
        With a cell's name they seed its generator.
    function : str
        ``package.module:name``.
    code : tuple of str
        The modules that decide the results.
    identity : str
        What :func:`identity` must give where the task runs.
    cells : tuple
        Names, configurations, and more arguments.
    """

    experiment: str
    seed: int
    function: str
    code: tuple[str, ...]
    identity: str
    cells: tuple[tuple[str, dict[str, Any], tuple[Any, ...]], ...]


@dataclass(frozen=True)
class Outcome:
    """What came of one cell: arrays, or why there are none."""

    cell: str
    arrays: dict[str, npt.NDArray[Any]] | None
    seconds: float
    error: str = ""
    trace: str = ""
    bad_input: bool = False


class OtherCode(Exception):
    """A worker runs other code than the sweep was started with."""


def cell_rng(experiment: str, seed: int, cell: str) -> np.random.Generator:
    """The generator of a cell: a function of the experiment, the seed and the cell's name alone."""
    return named_rng(seed, f"{experiment} {cell}")


def identity(code: Sequence[str]) -> str:
    """The version of theoryverify and a hash of the code: ``0.1.0 (code 1a2b3c4d)``."""
    try:
        here = version("theoryverify")
    except PackageNotFoundError:
        here = "of unknown version"
    text = repr(sorted(fingerprint(code).items()))
    return f"{here} (code {hashlib.sha256(text.encode()).hexdigest()[:12]})"


def find(name: str) -> Function:
    """The function ``package.module:name``.

    Raises
    ------
    InputError
        If there is none.
    """
    module, _, attribute = name.partition(":")
    try:
        function = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(f"function {name} is not there: {error}") from error
    if not callable(function):
        raise InputError(f"{name} is no function")
    found: Function = function
    return found


def run(task: Task) -> list[Outcome]:
    """Compute cells one after another, on one thread; what fails does not stop the others.

    Raises
    ------
    OtherCode
        If this process runs other code than the task was made with.
    """
    os.environ.update(ONE_THREAD)
    here = identity(task.code)
    if here != task.identity:
        raise OtherCode(
            f"a worker runs theoryverify {here}, and the sweep was started with {task.identity}"
        )
    function = find(task.function)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    return [_outcome(task, function, *cell) for cell in task.cells]


def _outcome(
    task: Task, function: Function, name: str, settings: dict[str, Any], more: tuple[Any, ...]
) -> Outcome:
    start = time.perf_counter()
    try:
        found = function(settings, cell_rng(task.experiment, task.seed, name), *more)
        if not isinstance(found, Mapping):
            raise InputError(f"{task.function} must return arrays by name, not {found!r:.80}")
        arrays = {key: np.asarray(value) for key, value in found.items()}
        return Outcome(name, arrays, time.perf_counter() - start)
    except Exception as error:
        return Outcome(
            name,
            None,
            time.perf_counter() - start,
            f"{type(error).__name__}: {error}",
            traceback.format_exc(),
            isinstance(error, InputError),
        )
