"""A sweep of 10^4 tiny cells: what the machinery costs beside the cells themselves.

``cd benchmarks && python bench_sweep.py [CELLS] [--jobs N] [--cluster tcp://HOST:PORT] [--folder DIR]``;
workers of a cluster need ``benchmarks`` on their PYTHONPATH. A cell takes about a tenth of a
millisecond, so that nearly all of the time measured is the machinery's. The peer is a plain loop in
this process that stores nothing. The rerun reads and verifies every entry; then a tenth of the
entries is taken away, and only those are computed again. The results of the loop and of the sweeps
are compared to the last bit.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from typing import Any

import numpy as np

from theoryverify.simulate.batches import cell_rng
from theoryverify.simulate.store import Store
from theoryverify.simulate.sweep import Cell, missing, sweep


def cell(configuration: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """The mean of a product of Gaussians: as small as an experiment can be."""
    x = rng.standard_normal((configuration["prompts"], 4))
    return {"mean": (configuration["alpha"] * x).prod(axis=1).mean()}


def grid(count: int) -> list[Cell]:
    return [Cell(f"alpha={n}", {"alpha": n / count, "prompts": 100}) for n in range(count)]


def timed(label: str, function: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = function()
    seconds = time.perf_counter() - start
    print(f"{label:42s} {seconds:8.2f} s", flush=True)
    return seconds, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cells", nargs="?", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cluster")
    parser.add_argument("--folder", help="where the store is made; a temporary folder by default")
    args = parser.parse_args()
    cells = grid(args.cells)
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        store = Store(folder)
        settings: dict[str, Any] = {"store": store}
        run = settings | {"jobs": args.jobs, "address": args.cluster}
        # A function of __main__ cannot be sent; as a module it can.
        function = "bench_sweep:cell"
        plain, wanted = timed(
            "a plain loop, nothing stored",
            lambda: {
                c.name: cell(dict(c.configuration), cell_rng("bench", 0, c.name)) for c in cells
            },
        )
        first, found = timed("the sweep", lambda: sweep("bench", cells, function, **run))
        again, second = timed(
            "again: all is stored", lambda: sweep("bench", cells, function, **run)
        )
        for name, arrays in wanted.items():
            for other in (found, second):
                assert other[name]["mean"].tobytes() == arrays["mean"].tobytes()
        entries = list(store.root.glob("??/*"))
        for entry in entries[::10]:
            entry.rename(store.root / f"taken-{entry.name}")
        gone = len(missing("bench", cells, function, **settings))
        assert gone == len(entries[::10])
        timed(f"a tenth removed: {gone} computed", lambda: sweep("bench", cells, function, **run))
        size = sum(os.path.getsize(p) for e in store.root.glob("??/*") for p in e.iterdir())
        count = len(cells)
        print(
            f"\nof a cell, in ms: itself {1e3 * plain / count:.3f}, first run {1e3 * first / count:.2f}, "
            f"read again {1e3 * again / count:.2f}; {size / count / 1024:.1f} KiB"
        )


if __name__ == "__main__":
    main()
