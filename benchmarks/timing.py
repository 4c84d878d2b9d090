"""Shared by the benchmarks: a median time, and one line of output."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def median_time(function: Callable[[], Any], runs: int = 7) -> tuple[float, Any]:
    """The median wall time of ``function()`` in seconds, and its last result."""
    times, result = [], None
    for _ in range(runs):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return statistics.median(times), result


def report(what: str, ours: float, theirs: float, peer: str) -> None:
    print(
        f"{what:44s} {1e3 * ours:10.3f} ms   {peer}: {1e3 * theirs:10.1f} ms   "
        f"ratio {theirs / ours:8.1f}"
    )
