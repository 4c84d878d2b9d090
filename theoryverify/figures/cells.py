"""Experiments as independent cells: each has a configuration, and randomness of its own.

Beyond the preset ``quick`` a cell's arrays are kept in the store (``out/store`` or
THEORYVERIFY_STORE), so that a run that was stopped goes on where it was; each cell computed is a line
on standard error.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from theoryverify.figures.figure import Plan

if TYPE_CHECKING:
    from theoryverify.simulate.batches import Function
    from theoryverify.simulate.sealed import JSON
    from theoryverify.simulate.store import Arrays, Store


Work = tuple[Mapping[str, "JSON"], Callable[[np.random.Generator], "Arrays"]]
"""A cell's configuration and its function: what :meth:`Cells.compute` is given."""
_CALL = "theoryverify.figures.cells:call"


def call(
    configuration: Mapping[str, JSON],
    rng: np.random.Generator,
    function: Callable[[np.random.Generator], Arrays],
) -> Arrays:
    """A cell whose function was sent with it."""
    return function(rng)


def training_name(label: str, settings: JSON, code: Sequence[str]) -> str:
    """Of a folder of checkpoints: another one for each settings and each code.

    As in the store: a checkpoint of code that has changed since must not be taken for a run of today's.
    """
    import hashlib

    from theoryverify.simulate.code import fingerprint

    text = json.dumps([settings, fingerprint(code)], sort_keys=True)
    return f"{label}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


@dataclass
class Cells:
    """The cells of one figure.

    Parameters
    ----------
    name : str
        The figure's.
    plan : Plan
        Its seed, its preset and its device.
    code : sequence of str
        Modules whose source decides the results, for the store.
    """

    name: str
    plan: Plan
    code: Sequence[str]
    done: int = field(default=0, init=False)
    _store: Store | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.plan.keeps:
            from theoryverify.simulate.store import Store

            self._store = Store.open(self.plan.store)

    def compute(
        self,
        configuration: Mapping[str, JSON],
        function: Callable[[np.random.Generator], Arrays],
    ) -> Arrays:
        """The arrays that ``function(rng)`` gives, or gave in an earlier run.

        ``rng`` depends on the plan's seed, the figure's name and the configuration alone, so a result
        depends neither on the other cells nor on their order.
        """
        text, settings = self._cell(configuration)
        rng = self.plan.rng(f"{self.name} {text}")
        self.done += 1
        if self._store is None:
            return function(rng)
        from theoryverify.simulate.sweep import address_of, modules_of

        return self._store.compute(
            address_of(self.name, _CALL, self.plan.seed, text, settings),
            lambda: self._reported(text, function, rng),
            code=modules_of(_CALL, self.code),
        )

    def stored(self, configuration: Mapping[str, JSON]) -> Arrays | None:
        """What :meth:`compute` gave in an earlier run, or None: nothing is computed."""
        if self._store is None:
            return None
        from theoryverify.simulate.sweep import address_of, modules_of

        text, settings = self._cell(configuration)
        return self._store.get(
            address_of(self.name, _CALL, self.plan.seed, text, settings),
            code=modules_of(_CALL, self.code),
        )

    @property
    def folder(self) -> Path | None:
        """Where results are kept, for checkpoints beside them; None where nothing is kept."""
        return None if self._store is None else self._store.root

    def ahead(self, cells: Sequence[Work]) -> None:
        """Compute cells at the same time, on the processes or machines of the plan.

        Afterwards :meth:`compute` finds each in the store. For a plan with one process and no cluster
        this does nothing, and each cell is computed when it is asked for.

        Parameters
        ----------
        cells : sequence of (mapping, callable)
            What :meth:`compute` will be asked; the functions must be such that they can be sent to
            other processes (partials of functions at the top of a module, not closures).
        """
        if self._store is None or (self.plan.jobs == 1 and self.plan.cluster is None):
            return
        self._sweep(
            _CALL,
            {
                text: (settings, (function,))
                for configuration, function in cells
                for text, settings in [self._cell(configuration)]
            },
        )

    def grid(
        self, function: Function, configurations: Sequence[Mapping[str, JSON]]
    ) -> list[Arrays]:
        """The arrays of many cells, on as many processes or machines as the plan says.

        Parameters
        ----------
        function : callable
            ``function(configuration, rng)``, at the top of a module. It is given one of the
            configurations, with the plan's ``device`` added; ``rng`` is as in :meth:`compute`.
        configurations : sequence of mapping
            Plain JSON, all different.

        Returns
        -------
        list of dict of str to ndarray
            In the order of ``configurations``. They do not depend on where they were computed.
        """
        cells = dict(map(self._cell, configurations))
        if self._store is None:
            found = {}
            for name, settings in cells.items():
                arrays = function(settings, self.plan.rng(f"{self.name} {name}"))
                found[name] = {key: np.asarray(value) for key, value in arrays.items()}
            return list(found.values())
        return self._sweep(function, {name: (settings, ()) for name, settings in cells.items()})

    def _cell(self, configuration: Mapping[str, JSON]) -> tuple[str, dict[str, JSON]]:
        """A cell's name, which seeds it, and all that decides it."""
        name = json.dumps(configuration, sort_keys=True)
        return name, {**configuration, "device": self.plan.device}

    def _sweep(
        self,
        function: Function | str,
        cells: Mapping[str, tuple[dict[str, JSON], tuple[Any, ...]]],
    ) -> list[Arrays]:
        from theoryverify.simulate.sweep import Cell, sweep

        assert self._store is not None
        found = sweep(
            self.name,
            [Cell(name, settings, more) for name, (settings, more) in cells.items()],
            function,
            store=self._store,
            seed=self.plan.seed,
            code=self.code,
            jobs=self.plan.jobs,
            address=self.plan.cluster,
        )
        return list(found.values())

    def _reported(
        self,
        text: str,
        function: Callable[[np.random.Generator], Arrays],
        rng: np.random.Generator,
    ) -> Arrays:
        begin = time.monotonic()
        arrays = function(rng)
        seconds = time.monotonic() - begin
        print(f"{self.name}, cell {self.done}: {seconds:.1f} s  {text}", file=sys.stderr)
        return arrays
