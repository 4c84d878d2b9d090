"""Sweeps: the same results wherever they run, and nothing computed twice or lost."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("joblib")

from theoryverify import files as writers
from theoryverify.errors import InputError, SweepFailed
from theoryverify.simulate import pools
from theoryverify.simulate.batches import Outcome, Task, cell_rng, identity, run
from theoryverify.simulate.pools import Lost
from theoryverify.simulate.store import Store, StoreWarning
from theoryverify.simulate.sweep import Cell, _Sweep, missing, sweep

TOYS = '''
import os, pathlib, signal, time
import numpy as np

def draw(configuration, rng):
    """Numbers that depend on the seed, and what it was told."""
    log(configuration)
    return {"x": rng.standard_normal(4) * configuration["scale"], "n": configuration["n"]}

def slow(configuration, rng):
    """Later cells do not end while there is a file called hold."""
    time.sleep(0.05)
    while configuration["n"] >= 20 and pathlib.Path(configuration["folder"], "hold").exists():
        time.sleep(0.05)
    return draw(configuration, rng)

def fails(configuration, rng):
    if configuration["n"] == 3 and not pathlib.Path(configuration["folder"], "mended").exists():
        raise ZeroDivisionError("three")
    return draw(configuration, rng)

def scalar(configuration, rng):
    return 0.5

def silent(configuration, rng):
    pass

def refuses(configuration, rng):
    from theoryverify.errors import InputError, SweepFailed
    raise InputError("scale = 1 is not allowed")

def dies_once(configuration, rng):
    """The worker is killed in the middle of a cell, the first time."""
    flag = pathlib.Path(configuration["folder"], "died")
    if configuration["n"] == 3 and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return draw(configuration, rng)

def dies_always(configuration, rng):
    if configuration["n"] == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return draw(configuration, rng)

def sleeps(configuration, rng):
    """Long enough to be killed in it, the first time, in whichever worker is asked."""
    folder = pathlib.Path(configuration["folder"])
    mark = folder / f"inside-{os.getpid()}"
    if configuration["n"] == 3 and not (folder / "killed").exists():
        mark.touch()
        time.sleep(60)
    return draw(configuration, rng)

def threads(configuration, rng):
    return {"threads": int(os.environ["OMP_NUM_THREADS"]), "pid": os.getpid()}

def scaled(configuration, rng, scale, names):
    return {"x": rng.standard_normal(4) * scale, "n": configuration["n"] + len(names)}

def log(configuration):
    pathlib.Path(configuration["folder"], f"log-{configuration['n']}").open("a").write("x")
'''


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A user's module of cell functions, which workers can import."""
    import importlib

    from theoryverify.simulate import code

    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "toys_of_sweep.py").write_text(TOYS)
    monkeypatch.syspath_prepend(tmp_path / "modules")
    sys.modules.pop("toys_of_sweep", None)
    for cached in (code._closure, code._examine, code.source_file):
        cached.cache_clear()
    yield importlib.import_module("toys_of_sweep")
    sys.modules.pop("toys_of_sweep", None)


def grid(folder: Path, count: int = 8, scale: float = 1.5) -> list[Cell]:
    return [Cell(f"n={n}", {"n": n, "scale": scale, "folder": str(folder)}) for n in range(count)]


def expected(cells: list[Cell], experiment: str = "toy", seed: int = 0) -> dict[str, Any]:
    return {
        cell.name: cell_rng(experiment, seed, cell.name).standard_normal(4)
        * cell.configuration["scale"]
        for cell in cells
    }


def assert_right(found: dict[str, Any], cells: list[Cell], seed: int = 0) -> None:
    wanted = expected(cells, seed=seed)
    assert list(found) == [cell.name for cell in cells]
    for n, (name, arrays) in enumerate(found.items()):
        assert arrays["x"].tobytes() == wanted[name].tobytes()
        assert arrays["n"] == n


def calls(folder: Path) -> dict[int, int]:
    return {int(p.name[4:]): p.stat().st_size for p in folder.glob("log-*")}


# -- processes of this machine ------------------------------------------------------------------


def test_one_worker_and_four_give_the_same_bytes(toys: Any, tmp_path: Path) -> None:
    cells = grid(tmp_path, 12)
    for jobs in (1, 4):
        store = Store(tmp_path / f"store-{jobs}")
        found = sweep("toy", cells, toys.draw, store=store, jobs=jobs, show=False)
        assert_right(found, cells)
    assert calls(tmp_path) == dict.fromkeys(range(12), 2)
    some = sweep(
        "toy", cells[5:3:-1], toys.draw, store=Store(tmp_path / "some"), jobs=2, show=False
    )
    assert some["n=5"]["x"].tobytes() == found["n=5"]["x"].tobytes()
    other = sweep("toy", cells, toys.draw, store=Store(tmp_path / "s"), seed=1, show=False)
    assert not np.array_equal(other["n=5"]["x"], found["n=5"]["x"])


def test_arguments_are_sent_and_are_no_part_of_the_address(toys: Any, tmp_path: Path) -> None:
    store, plain = Store(tmp_path / "store"), grid(tmp_path, 3)
    cells = [replace(cell, arguments=(np.array(1.5), {"a"} - {"a"})) for cell in plain]
    assert_right(sweep("toy", cells, toys.scaled, store=store, show=False), cells)
    assert missing("toy", plain, toys.scaled, store=store) == []


def test_arguments_that_cannot_be_sent(toys: Any, tmp_path: Path) -> None:
    from flint import arb

    cells = [replace(cell, arguments=(arb(1), "")) for cell in grid(tmp_path, 3)]
    with pytest.raises(InputError, match=r"cannot be sent to a worker: .*; 0 of 3 cells of toy"):
        sweep("toy", cells, toys.scaled, store=Store(tmp_path / "store"), show=False)


def test_workers_run_one_thread(toys: Any, tmp_path: Path) -> None:
    found = sweep("toy", grid(tmp_path, 2), toys.threads, store=Store(tmp_path / "s"), show=False)
    assert {int(arrays["threads"]) for arrays in found.values()} == {1}
    assert os.getpid() not in {int(arrays["pid"]) for arrays in found.values()}


def test_reruns_compute_only_what_is_missing(toys: Any, tmp_path: Path) -> None:
    cells, store = grid(tmp_path), Store(tmp_path / "store")
    settings: dict[str, Any] = {"store": store, "show": False}
    sweep("toy", cells[:5], toys.draw, **settings)
    assert missing("toy", cells, toys.draw, store=store) == ["n=5", "n=6", "n=7"]
    assert_right(sweep("toy", cells, toys.draw, **settings), cells)
    assert_right(sweep("toy", cells, toys.draw, **settings), cells)
    assert calls(tmp_path) == dict.fromkeys(range(8), 1)
    entry = next((tmp_path / "store").glob("??/*/0.npy"))
    entry.write_bytes(entry.read_bytes()[:-1])
    with pytest.warns(StoreWarning, match="is damaged"):
        assert_right(sweep("toy", cells, toys.draw, **settings), cells)
    assert sorted(calls(tmp_path).values()) == [1] * 7 + [2]


def test_a_cell_that_fails_does_not_stop_the_others(
    toys: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells, store = grid(tmp_path), Store(tmp_path / "store")
    with pytest.raises(SweepFailed, match="1 cells failed, the first of them 'n=3': Zero") as error:
        sweep("toy", cells, toys.fails, store=store, jobs=2)
    assert "in fails" in error.value.failures["n=3"]
    assert missing("toy", cells, toys.fails, store=store) == ["n=3"]
    (tmp_path / "mended").touch()
    assert_right(sweep("toy", cells, toys.fails, store=store, show=False), cells)
    assert calls(tmp_path) == dict.fromkeys(range(8), 1)
    with pytest.raises(InputError, match="cell 'n=0': scale = 1 is not allowed"):
        sweep("toy", cells, toys.refuses, store=store, show=False)
    for function, what in ((toys.scalar, "0.5"), (toys.silent, "None")):
        with pytest.raises(InputError, match=rf"must return arrays by name, not {what}"):
            sweep("toy", cells, function, store=store, show=False)


def test_a_worker_killed_in_the_middle_of_a_cell_is_replaced(toys: Any, tmp_path: Path) -> None:
    cells = grid(tmp_path)
    found = sweep("toy", cells, toys.dies_once, store=Store(tmp_path / "s"), jobs=2, show=False)
    assert (tmp_path / "died").exists()
    assert_right(found, cells)


def test_a_cell_that_always_kills_its_worker_is_found(
    toys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("theoryverify.simulate.sweep._RETRIES", 1)
    cells, store = grid(tmp_path), Store(tmp_path / "store")
    with pytest.raises(SweepFailed, match=r"1 cells failed.*'n=3': its worker died 1 times"):
        sweep("toy", cells, toys.dies_always, store=store, jobs=2, show=False)
    assert missing("toy", cells, toys.dies_always, store=store) == ["n=3"]


SCRIPT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored if the tests run in the background
from theoryverify.simulate.store import Store
from theoryverify.simulate.sweep import Cell, sweep
folder, store = sys.argv[1:3]
cells = [Cell(f"n={n}", {"n": n, "scale": 1.5, "folder": folder}) for n in range(int(sys.argv[3]))]
sweep("toy", cells, "toys_of_sweep:slow", store=Store(store), jobs=2)
print("done")
"""


LONG = 60
"""Cells of which the first twenty come to an end while there is a file called ``hold``."""


def script(folder: Path, store: Path, count: int = 30) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(folder / "modules")}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder), str(store), str(count)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_sweep_that_is_killed_goes_on_where_it_was(toys: Any, tmp_path: Path, how: Any) -> None:
    store, cells = Store(tmp_path / "store"), grid(tmp_path, LONG)
    (tmp_path / "hold").touch()
    process = script(tmp_path, store.root, LONG)
    while len(list(store.keys())) < 4:
        assert process.poll() is None
        time.sleep(0.01)
    if how == signal.SIGINT:  # as from a keyboard, which reaches all of them
        os.killpg(process.pid, how)
    else:
        process.send_signal(how)
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    stored = LONG - len(missing("toy", cells, toys.slow, store=store))
    assert 4 <= stored < LONG
    if how == signal.SIGINT:
        assert "Process" not in errors  # no traces of workers
        assert f"{stored} of {LONG} cells of toy are stored, {LONG - stored} are left" in errors
    (tmp_path / "hold").unlink()
    before = calls(tmp_path)
    assert_right(sweep("toy", cells, toys.slow, store=store, jobs=2, show=False), cells)
    again = sum(calls(tmp_path).values()) - sum(before.values())
    assert again == LONG - stored


def test_two_sweeps_on_one_store(toys: Any, tmp_path: Path) -> None:
    both = [script(tmp_path, tmp_path / "store") for _ in range(2)]
    for process in both:
        out, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        assert out == "done\n"
    cells = grid(tmp_path, 30)
    before = calls(tmp_path)
    store = Store(tmp_path / "store")
    assert_right(sweep("toy", cells, toys.slow, store=store, show=False), cells)
    assert calls(tmp_path) == before


def test_a_full_disk_says_what_is_stored(
    toys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells, store = grid(tmp_path), Store(tmp_path / "store")
    sweep("toy", cells[:3], toys.draw, store=store, show=False)

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(writers.os, "fsync", full)
        with pytest.raises(InputError, match="No space left on device; 3 of 8 cells of toy are"):
            sweep("toy", cells, toys.draw, store=store, show=False)
    assert_right(sweep("toy", cells, toys.draw, store=store, show=False), cells)


def test_bad_input(toys: Any, tmp_path: Path) -> None:
    cells, store = grid(tmp_path), Store(tmp_path / "store")
    call: dict[str, Any] = {"cells": cells, "function": toys.draw, "store": store, "show": False}
    for change, match in (
        ({"cells": [*cells, cells[2]]}, "two cells of toy are called 'n=2'"),
        ({"cells": [Cell("x", {"a": np.zeros(2)})]}, r"cell 'x'.a = .* is a ndarray"),
        ({"function": lambda c, rng: {}}, "define it at the top of a module"),
        ({"function": "toys_of_sweep:nothing"}, "toys_of_sweep:nothing is not there"),
        ({"function": "nowhere:f"}, "nowhere:f is not there"),
        ({"function": "toys_of_sweep:np"}, "is no function"),
        ({"jobs": 0}, "jobs = 0"),
        ({"seed": -1}, "seed = -1"),
        ({"code": ("toys_of_nothing",)}, "no source file"),
        ({"store": Store("/proc/nowhere")}, "cannot write to folder"),
        ({"address": "localhost"}, "write tcp://HOST:PORT"),
    ):
        with pytest.raises(InputError, match=match):
            sweep("toy", **(call | change))
    assert calls(tmp_path) == {}
    assert sweep("toy", [], toys.draw, store=store) == {}


# -- the order of things, without processes -----------------------------------------------------


@dataclass(eq=False)
class Running:
    task: Task
    lost: bool = False


class FakePool:
    """Workers that compute nothing; cells in ``deadly`` kill theirs, with all that it has."""

    def __init__(self, workers: int = 2, deadly: Collection[str] = (), seconds: float = 0) -> None:
        self.workers = workers
        self.tasks: list[tuple[str, ...]] = []
        self.most = 0
        self._deadly, self._seconds = deadly, seconds
        self._queues: list[list[Running]] = [[] for _ in range(workers)]

    def submit(self, task: Task) -> Any:
        self.tasks.append(tuple(name for name, *_ in task.cells))
        queue = min(self._queues, key=len)
        queue.append(Running(task))
        self.most = max(self.most, sum(map(len, self._queues)))
        return queue[-1]

    def wait(self, running: Collection[Any]) -> Collection[Any]:
        queue = max(self._queues, key=len)
        if any(name in self._deadly for name, *_ in queue[0].task.cells):
            done = list(queue)
            queue.clear()
            for one in done:
                one.lost = True
            return done
        return [queue.pop(0)]

    def result(self, done: Any) -> list[Outcome]:
        if done.lost:
            raise Lost("gone")
        return [Outcome(name, {"x": np.zeros(1)}, self._seconds) for name, *_ in done.task.cells]


def driven(toys: Any, tmp_path: Path, pool: FakePool, count: int) -> _Sweep:
    state = _Sweep.of("toy", grid(tmp_path, count), toys.draw, Store(tmp_path), 0, ())
    done = [outcome.cell for outcomes in state.drive(pool) for outcome in outcomes]
    assert len(set(done)) == len(done)
    assert set(done) | set(state.failures) == set(state.cells)
    return state


def test_small_cells_travel_in_batches_and_long_ones_alone(toys: Any, tmp_path: Path) -> None:
    short, long = FakePool(seconds=0.001), FakePool(seconds=10)
    driven(toys, tmp_path, short, 1000)
    driven(toys, tmp_path, long, 20)
    assert len(short.tasks) < 30
    assert max(map(len, short.tasks)) <= 200
    assert len(short.tasks[-1]) == 1  # no worker waits long for the other one
    assert len(long.tasks) == 20
    assert short.most == long.most == 4


def test_the_deadly_cells_and_no_others_are_given_up(toys: Any, tmp_path: Path) -> None:
    pool = FakePool(workers=3, deadly={"n=7", "n=20"}, seconds=0.1)
    state = driven(toys, tmp_path, pool, 40)
    assert set(state.failures) == {"n=7", "n=20"}
    assert "while it ran alone" in state.failures["n=7"].error


def test_a_worker_refuses_other_code(toys: Any, tmp_path: Path) -> None:
    code = ("toys_of_sweep",)
    task = Task("toy", 0, "toys_of_sweep:draw", code, identity(code), (("a", {}, ()),))
    (outcome,) = run(task)
    assert outcome.error.startswith("KeyError")
    with pytest.raises(pools.OtherCode, match=r"runs theoryverify .* started with 0\.0 \(code x\)"):
        run(replace(task, identity="0.0 (code x)"))


# -- a real cluster on loopback -----------------------------------------------------------------


class Loopback:
    """A Dask scheduler and workers as processes of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._all: list[subprocess.Popen[str]] = []
        self.scheduler = self._start("dask_scheduler", "--port=0", "--no-dashboard")
        self.address = self._address(self.scheduler, r"Scheduler at: *(tcp://\S+)")

    def worker(self, *options: str, modules: str = "modules") -> subprocess.Popen[str]:
        nanny = ("--no-nanny", "--no-dashboard", "--nthreads", "1")
        process = self._start(
            "dask_worker", self.address, *nanny, *options, modules=self._folder / modules
        )
        self._address(process, r"Registered to: *(tcp://\S+)")
        return process

    def _start(self, what: str, *options: str, modules: Path | None = None) -> Any:
        log = self._folder / f"log-of-process-{len(self._all)}"
        environment = os.environ | {
            "PYTHONPATH": str(modules or ""),
            "OMP_NUM_THREADS": "1",
            "DASK_DISTRIBUTED__WORKER__LIFETIME__RESTART": "False",
        }
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{what}", "--host=127.0.0.1", *options],
            env=environment,
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=log.open("w"),
            text=True,
            start_new_session=True,
        )
        process.log = log  # type: ignore[attr-defined]
        self._all.append(process)
        return process

    def _address(self, process: Any, pattern: str) -> str:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            found = re.search(pattern, process.log.read_text())
            if found:
                return found[1]
            assert process.poll() is None, process.log.read_text()
            time.sleep(0.02)
        raise AssertionError(process.log.read_text())

    def close(self) -> None:
        for process in self._all:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()


@pytest.fixture
def loopback(toys: Any, tmp_path: Path) -> Iterator[Loopback]:
    pytest.importorskip("distributed")
    cluster = Loopback(tmp_path)
    yield cluster
    cluster.close()


def in_background(function: Callable[[], Any]) -> Any:
    from concurrent.futures import ThreadPoolExecutor

    executor = ThreadPoolExecutor(1)
    future = executor.submit(function)
    executor.shutdown(wait=False)
    return future


def test_a_cluster_gives_the_same_and_survives_a_killed_worker(
    toys: Any, loopback: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells, store = grid(tmp_path, 20), Store(tmp_path / "store")
    workers = {process.pid: process for process in (loopback.worker(), loopback.worker())}
    settings: dict[str, Any] = {"store": store, "address": loopback.address, "show": False}
    sweeping = in_background(lambda: sweep("toy", cells, toys.sleeps, **settings))
    while not (inside := list(tmp_path.glob("inside-*"))):
        assert not sweeping.done(), sweeping.exception()
        time.sleep(0.01)
    (tmp_path / "killed").touch()
    workers[int(inside[0].name[7:])].send_signal(signal.SIGKILL)
    assert_right(sweeping.result(timeout=60), cells)
    local = sweep("toy", cells, toys.sleeps, store=Store(tmp_path / "local"), show=False)
    assert_right(local, cells)

    # Workers that do not fit are refused, and named, with both versions.
    other = tmp_path / "other"
    (other / "theoryverify-9.9.dist-info").mkdir(parents=True)
    (other / "theoryverify-9.9.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: theoryverify\nVersion: 9.9\n"
    )
    (tmp_path / "absent").mkdir()
    (tmp_path / "changed").mkdir()
    (tmp_path / "changed" / "toys_of_sweep.py").write_text(TOYS.replace("time.sleep(60)", "pass"))
    more = grid(tmp_path, 22)
    for options, modules, match in (
        ((), "other", r"runs theoryverify 9\.9, and this is theoryverify \d"),
        ((), "absent", r"cannot read the code .*'toys_of_sweep' has no source.* PYTHONPATH"),
        ((), "changed", r"runs theoryverify .*code (\w+)\), and .*code (?!\1).*other source"),
        (("--nthreads", "2"), "modules", "run 2 tasks in one process"),
    ):
        wrong = loopback.worker(*options, modules=modules)
        with pytest.raises(InputError, match=match):
            sweep("toy", more, toys.sleeps, **settings)
        wrong.kill()
        wrong.wait()
    assert len(list(store.keys())) == 20

    # What is stored is there without any worker; a scheduler that dies says what is left.
    monkeypatch.setattr(pools, "_GONE_AFTER", 1.0)
    slow = grid(tmp_path, 200)
    sweeping = in_background(lambda: sweep("toy", slow, toys.slow, **settings))
    while len(list(store.keys())) < 25:
        assert not sweeping.done(), sweeping.exception()
        time.sleep(0.01)
    loopback.scheduler.kill()
    with pytest.raises(InputError, match=r"scheduler at tcp.* is gone .*of 200 cells of toy are"):
        sweeping.result(timeout=60)
    assert 0 < len(missing("toy", slow, toys.slow, store=store)) < 200
    assert_right(sweep("toy", cells, toys.sleeps, **settings), cells)
    with pytest.raises(InputError, match="no Dask scheduler answers at tcp"):
        sweep("toy", slow, toys.slow, **settings)


def test_a_scheduler_without_workers(
    toys: Any, loopback: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "_GONE_AFTER", 0.5)
    with pytest.raises(InputError, match="has no workers; 0 of 8 cells of toy are stored"):
        sweep(
            "toy",
            grid(tmp_path),
            toys.draw,
            store=Store(tmp_path / "store"),
            address=loopback.address,
            show=False,
        )


# -- more to show -------------------------------------------------------------------------------


def test_nothing_heavy_is_imported() -> None:
    code = textwrap.dedent(
        """
        import sys
        import theoryverify.simulate.sweep
        sys.exit(bool({"torch", "joblib", "distributed", "dask"} & set(sys.modules)))
        """
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_failures_are_one_line_on_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from theoryverify import cli
    from theoryverify.claims.paper import Command
    from theoryverify.errors import TrainingDiverged

    for error, line in (
        (TrainingDiverged(7, "loss nan", "run/step-000000005"), "the last good checkpoint is run/"),
        (SweepFailed("toy", {"n=3": "Traceback\n  in f\nZeroDivisionError: three"}), "'n=3': Zero"),
    ):

        def run(args: Any, error: Exception = error) -> Any:
            raise error

        monkeypatch.setattr(cli, "CORE", (Command("train", "train", lambda p: None, run),))
        assert cli.main(["train"]) == 1
        out, errors = capsys.readouterr()
        assert out == ""
        assert errors.count("\n") == 1
        assert line in errors
