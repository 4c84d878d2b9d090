"""Sweeps: the cells of an experiment, on one core or many machines, into the store one by one.

A cell has a name and a configuration; its random numbers depend on the experiment, the seed and the
name alone. So one worker, four, and a cluster give the same results, and a sweep that was stopped
computes only what is missing. Cells that take little time travel together. What a dying worker ran
runs again, each cell alone on a worker, so that one that kills its workers is found out.
"""

from __future__ import annotations

import contextlib
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from theoryverify.errors import InputError, SweepFailed
from theoryverify.exact.rationals import positive_integer
from theoryverify.progress import Progress
from theoryverify.simulate.batches import Function, Outcome, Task, find, identity
from theoryverify.simulate.code import MACHINERY
from theoryverify.simulate.pools import Lost, Pool, cluster, processes
from theoryverify.simulate.sealed import JSON, plain
from theoryverify.simulate.store import Arrays, Store

_BATCH_SECONDS = 0.5
_LARGEST_BATCH = 200
_WRITERS = 8
_RETRIES = 3
"""So many workers may die of a cell that is all they have."""


@dataclass(frozen=True)
class Cell:
    """One point of an experiment's grid.

    Attributes
    ----------
    name : str
        Of its own within the experiment; it seeds the cell's generator.
    configuration : mapping
        Plain JSON: what decides the result.
    arguments : tuple
        More of what the function is given, such as arrays that the configuration already decides:
        they are sent to the worker, and are no part of the address.
    """

    name: str
    configuration: Mapping[str, JSON]
    arguments: tuple[Any, ...] = ()


def sweep(
    experiment: str,
    cells: Sequence[Cell],
    function: Function | str,
    *,
    store: Store,
    seed: int = 0,
    code: Sequence[str] = (),
    jobs: int = 1,
    address: str | None = None,
    show: bool = True,
) -> dict[str, Arrays]:
    """Compute the cells that are not stored; return the arrays of all, by name.

    Parameters
    ----------
    experiment : str
        Its name, part of every address in the store and of every seed.
    cells : sequence of Cell
    function : callable or str
        ``function(configuration, rng, *arguments) -> {name: array}``, at the top of a module that
        workers can import (or ``"package.module:name"``). It depends on nothing else.
    store : Store
        Results are written there one by one as they arrive. Two sweeps may share it.
    seed : int
        Not negative.
    code : sequence of str, optional
        Modules that decide the results, beside the function's own; with all that they import.
    jobs : int
        Worker processes on this machine, one thread each.
    address : str, optional
        ``tcp://HOST:PORT`` of a Dask scheduler, instead of processes here.
    show : bool
        Progress on standard error, and what is left if it is stopped.

    Returns
    -------
    dict of str to dict of str to ndarray
        In the order of ``cells``.

    Raises
    ------
    InputError
        Before anything is computed: two cells of one name, a configuration that is no plain JSON, a
        function that workers cannot import, a store that cannot be written to, a scheduler that does
        not answer, workers of another version. Later: a scheduler that dies, a full disk, or a cell
        that raises an ``InputError``. What was computed until then is stored.
    SweepFailed
        If cells raise anything else or keep losing their workers, once all others are done.
    """
    run = _Sweep.of(experiment, cells, function, store, seed, tuple(code))
    jobs = positive_integer(jobs, "jobs", most=1024)
    found = {name: arrays for name in run.waiting if (arrays := run.get(name)) is not None}
    run.waiting = deque(name for name in run.waiting if name not in found)
    total = len(cells)
    if run.waiting:
        store.require_writable()
        place = processes(jobs) if address is None else cluster(address, run.code)
        with (
            _what_is_left(run, show=show),
            place as pool,
            Progress(experiment, total, done=len(found), unit="cells", show=show) as progress,
            ThreadPoolExecutor(_WRITERS) as writers,
        ):
            for outcomes in run.drive(pool):
                # The disk makes a writer wait, not the processor: several wait together.
                good = [outcome for outcome in outcomes if outcome.arrays is not None]
                for outcome, arrays in zip(good, writers.map(run.put, good), strict=True):
                    found[outcome.cell] = arrays
                progress(len(found), f"{len(run.failures)} failed" if run.failures else "")
    if run.failures:
        bad = next((f for f in run.failures.values() if f.bad_input), None)
        if bad is not None:
            raise InputError(f"{experiment}, cell {bad.cell!r}: {bad.error.partition(': ')[2]}")
        raise SweepFailed(experiment, {name: f.trace for name, f in run.failures.items()})
    return {cell.name: found[cell.name] for cell in cells}


def missing(
    experiment: str,
    cells: Sequence[Cell],
    function: Function | str,
    *,
    store: Store,
    seed: int = 0,
    code: Sequence[str] = (),
) -> list[str]:
    """The names of the cells that :func:`sweep` would compute."""
    run = _Sweep.of(experiment, cells, function, store, seed, tuple(code))
    return [name for name in run.waiting if run.get(name) is None]


def address_of(
    experiment: str, function: str, seed: int, cell: str, configuration: Mapping[str, JSON]
) -> dict[str, JSON]:
    """The configuration under which a cell is stored."""
    return {
        "experiment": experiment,
        "function": function,
        "seed": seed,
        "cell": cell,
        "configuration": configuration,
    }


def modules_of(function: str, code: Sequence[str]) -> tuple[str, ...]:
    """The modules under which a cell is stored: the function's, the seeds', and those given."""
    module = function.partition(":")[0]
    kept = () if module in MACHINERY else (module,)
    return (*kept, "theoryverify.seeds", *code)


@dataclass
class _Sweep:
    experiment: str
    cells: dict[str, dict[str, Any]]
    arguments: dict[str, tuple[Any, ...]]
    function: str
    store: Store
    seed: int
    code: tuple[str, ...]
    waiting: deque[str]
    failures: dict[str, Outcome] = field(default_factory=dict)
    _suspects: deque[str] = field(default_factory=deque)
    _deaths: dict[str, int] = field(default_factory=dict)
    _seconds: float = 0.0
    _computed: int = 0

    @classmethod
    def of(
        cls,
        experiment: str,
        cells: Sequence[Cell],
        function: Function | str,
        store: Store,
        seed: int,
        code: tuple[str, ...],
    ) -> _Sweep:
        name = function if isinstance(function, str) else _name(function)
        find(name)
        if type(seed) is not int or seed < 0:
            raise InputError(f"seed = {seed!r} must be an integer, 0 or more")
        settings: dict[str, dict[str, Any]] = {}
        for cell in cells:
            if cell.name in settings:
                raise InputError(f"two cells of {experiment} are called {cell.name!r}")
            settings[cell.name] = plain(cell.configuration, f"cell {cell.name!r}")
        more = {cell.name: cell.arguments for cell in cells}
        modules = modules_of(name, code)
        return cls(experiment, settings, more, name, store, seed, modules, deque(settings))

    # -- the store ------------------------------------------------------------------------------

    def _address(self, name: str) -> dict[str, JSON]:
        return address_of(self.experiment, self.function, self.seed, name, self.cells[name])

    def get(self, name: str) -> Arrays | None:
        return self.store.get(self._address(name), code=self.code)

    def has(self, name: str) -> bool:
        return self.store.has(self._address(name), code=self.code)

    def put(self, outcome: Outcome) -> Arrays:
        assert outcome.arrays is not None
        about: dict[str, JSON] = {"seconds": round(outcome.seconds, 6)}
        return self.store.put(
            self._address(outcome.cell), outcome.arrays, code=self.code, about=about
        )

    # -- running --------------------------------------------------------------------------------

    def drive(self, pool: Pool) -> Iterator[list[Outcome]]:
        """Keep every worker busy, with a batch in reserve, until nothing is left."""
        stamp = identity(self.code)
        running: dict[Any, tuple[str, ...]] = {}
        while self.waiting or self._suspects or running:
            while self._may_start(len(running), pool.workers):
                names = self._batch(pool.workers)
                cells = tuple((name, self.cells[name], self.arguments[name]) for name in names)
                task = Task(self.experiment, self.seed, self.function, self.code, stamp, cells)
                running[pool.submit(task)] = names
            for done in pool.wait(list(running)):
                names = running.pop(done)
                try:
                    outcomes = pool.result(done)
                except Lost as lost:
                    self._lost(names, str(lost))
                    continue
                self._seconds += sum(outcome.seconds for outcome in outcomes)
                self._computed += len(outcomes)
                for outcome in outcomes:
                    if outcome.arrays is None:
                        self.failures[outcome.cell] = outcome
                yield outcomes

    def _may_start(self, running: int, workers: int) -> bool:
        # Suspects come last, and no more of them than there are workers.
        return running < 2 * workers if self.waiting else bool(self._suspects) and running < workers

    def _batch(self, workers: int) -> tuple[str, ...]:
        """As many cells as take half a second, but no more than leaves all workers some."""
        if not self.waiting:
            return (self._suspects.popleft(),)
        size = 1
        if self._computed:
            mean = max(self._seconds / self._computed, 1e-6)
            size = min(int(_BATCH_SECONDS / mean), _LARGEST_BATCH, len(self.waiting) // workers)
        return tuple(self.waiting.popleft() for _ in range(max(size, 1)))

    def _lost(self, names: tuple[str, ...], why: str) -> None:
        for name in names:
            # The first time there may have been other cells in the process.
            deaths = self._deaths[name] = self._deaths.get(name, -1) + 1
            if deaths < _RETRIES:
                self._suspects.append(name)
            else:
                text = f"its worker died {deaths} times while it ran alone: {why}"
                self.failures[name] = Outcome(name, None, 0.0, text, text)


def _name(function: Function) -> str:
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    if not module or module == "__main__" or not name.isidentifier():
        raise InputError(
            f"{function!r} cannot be imported by workers; define it at the top of a module"
        )
    return f"{module}:{name}"


@contextlib.contextmanager
def _what_is_left(run: _Sweep, *, show: bool) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        # Counted anew: what was being written when it stopped is there, or it is not.
        total, stored = len(run.cells), sum(map(run.has, run.cells))
        left = (
            f"{stored} of {total} cells of {run.experiment} are stored, {total - stored} are left; "
            "run it again to go on"
        )
        if isinstance(error, InputError):
            raise InputError(f"{error}; {left}") from error
        if show:
            print(left, file=sys.stderr)
        raise
