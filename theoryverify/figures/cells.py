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
from typing import TYPE_CHECKING

import numpy as np

from theoryverify.figures.figure import Plan

if TYPE_CHECKING:
    from theoryverify.simulate.batches import Function
    from theoryverify.simulate.sealed import JSON
    from theoryverify.simulate.store import Arrays, Store


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
        plan = self.plan
        if plan.preset != "quick" or plan.store or plan.cluster or plan.jobs > 1:
            from theoryverify.simulate.store import Store

            self._store = Store.open(plan.store)

    def compute(
        self,
        configuration: Mapping[str, JSON],
        function: Callable[[np.random.Generator], Arrays],
    ) -> Arrays:
        """The arrays that ``function(rng)`` gives, or gave in an earlier run.

        ``rng`` depends on the plan's seed, the figure's name and the configuration alone, so a result
        depends neither on the other cells nor on their order.
        """
        text = json.dumps(configuration, sort_keys=True)
        rng = self.plan.rng(f"{self.name} {text}")
        self.done += 1
        if self._store is None:
            return function(rng)
        whole: dict[str, JSON] = {
            "figure": self.name,
            "seed": self.plan.seed,
            "device": self.plan.device,
            "cell": configuration,
        }
        return self._store.compute(
            whole, lambda: self._reported(text, function, rng), code=self.code
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
        cells = {
            json.dumps(c, sort_keys=True): {**c, "device": self.plan.device} for c in configurations
        }
        if self._store is None:
            found = {}
            for name, settings in cells.items():
                arrays = function(settings, self.plan.rng(f"{self.name} {name}"))
                found[name] = {key: np.asarray(value) for key, value in arrays.items()}
            return list(found.values())
        from theoryverify.simulate.sweep import Cell, sweep

        found = sweep(
            self.name,
            [Cell(name, settings) for name, settings in cells.items()],
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
