"""Shared by the benchmarks: a median time, and one line of output."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any


def median_time(function: Callable[[], Any], runs: int = 7) -> tuple[float, Any]:
    """The median wall time of ``function()`` in seconds, and its last result."""
    times, result = [], None
    for _ in range(runs):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return statistics.median(times), result


def interleaved(
    functions: Mapping[str, Callable[[], Any]], rounds: int
) -> dict[str, tuple[float, float, Any]]:
    """Least and median CPU time of each function in seconds, and its last result.

    All are called once unmeasured, then in turn, so that a busy spell of the machine meets all. CPU
    time of the whole process: for what runs in one thread it is the wall time of an idle machine.
    """
    results = {name: function() for name, function in functions.items()}
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            start = time.process_time()
            results[name] = function()
            times[name].append(time.process_time() - start)
    return {
        name: (min(seconds), statistics.median(seconds), results[name])
        for name, seconds in times.items()
    }


def report(what: str, ours: float, theirs: float, peer: str) -> None:
    print(
        f"{what:44s} {1e3 * ours:10.3f} ms   {peer}: {1e3 * theirs:10.1f} ms   "
        f"ratio {theirs / ours:8.1f}"
    )
