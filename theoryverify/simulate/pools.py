"""Where the batches of a sweep run: processes of this machine, or the workers of a Dask cluster.

Both take tasks, give them back done, and say which were lost with a worker that died.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import logging
import math
import os
import pickle
import re
import signal
import threading
import time
from collections.abc import Collection, Iterator
from typing import Any, Protocol

from theoryverify.errors import InputError
from theoryverify.simulate.batches import ONE_THREAD, OtherCode, Outcome, Task, identity, run

_POLL = 2.0
_GONE_AFTER = 15.0
_NO_WORKERS = 60.0


class Lost(Exception):
    """The worker that ran a task died."""


class Pool(Protocol):
    """What a sweep needs of the place where it runs."""

    @property
    def workers(self) -> int:
        """How many tasks run at a time."""

    def submit(self, task: Task) -> Any:
        """Give a task to the worker that has least; returns what stands for it."""

    def wait(self, running: Collection[Any]) -> Collection[Any]:
        """Those that are finished, perhaps none yet."""

    def result(self, done: Any) -> list[Outcome]:
        """What came of it.

        Raises
        ------
        Lost
            If its worker died.
        """


# -- this machine -------------------------------------------------------------------------------


class Processes:
    """Worker processes of this machine (joblib's loky), one thread each.

    Each worker is a pool of one process, so that a death costs what that worker had, and a task that
    is started while some worker has nothing is alone in its process. Also a single worker is a
    process of its own: it runs with one thread, as all others do, and its death does not take the
    sweep with it.
    """

    def __init__(self, jobs: int) -> None:
        self._executors: list[Any] = [None] * jobs
        self._has: dict[Any, int] = {}

    @property
    def workers(self) -> int:
        return len(self._executors)

    def submit(self, task: Task) -> Any:
        loads = [0] * self.workers
        for worker in self._has.values():
            loads[worker] += 1
        worker = loads.index(min(loads))
        if self._executors[worker] is None:
            self._executors[worker] = self._start()
        try:
            future = self._executors[worker].submit(run, task)
        except concurrent.futures.BrokenExecutor:  # it died while it had nothing
            self._discard(worker)
            return self.submit(task)
        self._has[future] = worker
        return future

    def wait(self, running: Collection[Any]) -> Collection[Any]:
        done, _ = concurrent.futures.wait(
            running, timeout=_POLL, return_when=concurrent.futures.FIRST_COMPLETED
        )
        return done

    def result(self, done: Any) -> list[Outcome]:
        worker = self._has.pop(done)
        try:
            found: list[Outcome] = done.result()
            return found
        except concurrent.futures.BrokenExecutor as error:
            self._discard(worker)
            raise Lost(str(error).partition("\n")[0]) from error
        except OtherCode as error:
            raise InputError(f"{error}: the source was changed while the sweep ran") from error
        except pickle.PicklingError as error:
            raise _unsendable(error.__cause__ or error) from error

    def close(self) -> None:
        for worker in range(self.workers):
            self._discard(worker)

    def _start(self) -> Any:
        try:
            from joblib.externals.loky import ProcessPoolExecutor
        except ImportError as error:
            raise InputError(
                f'sweeps need joblib ({error}): pip install "theoryverify[simulate]"'
            ) from error
        return ProcessPoolExecutor(
            max_workers=1, env=ONE_THREAD, initializer=_follow, initargs=(os.getpid(),)
        )

    def _discard(self, worker: int) -> None:
        executor, self._executors[worker] = self._executors[worker], None
        if executor is not None:
            executor.shutdown(wait=False, kill_workers=True)


def _unsendable(why: BaseException) -> InputError:
    lines = [line for line in str(why).splitlines() if line.strip(' "')]
    return InputError(f"a cell cannot be sent to a worker: {lines[-1] if lines else why!r}")


def _follow(parent: int) -> None:
    """Let this worker end with its parent alone.

    If the parent is killed, a worker would wait for work forever; an interrupt from the keyboard
    reaches both, and the parent ends its workers when it has stored what they gave.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=watch, daemon=True).start()


@contextlib.contextmanager
def processes(jobs: int) -> Iterator[Processes]:
    """A pool of ``jobs`` worker processes, which end with the block."""
    pool = Processes(jobs)
    try:
        yield pool
    finally:
        pool.close()


# -- a cluster ----------------------------------------------------------------------------------


class Cluster:
    """The workers of a Dask scheduler. It retries what a dead worker ran, on another one."""

    def __init__(self, client: Any, address: str) -> None:
        self._client, self._address = client, address
        self._well = time.monotonic()
        self._staffed = time.monotonic()
        self._counted = (-math.inf, 1)

    @property
    def workers(self) -> int:
        when, count = self._counted
        now = time.monotonic()
        if now - when > _POLL:  # each time is a question to the scheduler
            count = max(len(self._threads()), 1)
            self._counted = (now, count)
        return count

    def submit(self, task: Task) -> Any:
        try:
            with self._watched():
                return self._client.submit(run, task, pure=False)
        except (TypeError, AttributeError, pickle.PicklingError) as error:
            raise _unsendable(error) from error

    def wait(self, running: Collection[Any]) -> Collection[Any]:
        deadline = time.monotonic() + _POLL
        while True:
            # Futures are told of their end; nothing is asked of a scheduler that may be gone.
            done = [future for future in running if future.status != "pending"]
            if done or time.monotonic() > deadline:
                break
            time.sleep(0.01)
        if not done:
            self._check()
        return done

    def result(self, done: Any) -> list[Outcome]:
        from distributed import KilledWorker

        if done.status in ("cancelled", "lost"):
            self._check(wait=True)
            raise Lost("the scheduler forgot it")
        with self._watched():
            try:
                found: list[Outcome] = done.result(timeout=_GONE_AFTER)
                return found
            except KilledWorker as error:
                raise Lost(str(error)) from error
            except OtherCode as error:
                raise InputError(f"{error}; start the workers anew from the same code") from error
            except (ImportError, AttributeError) as error:
                raise InputError(f"a worker of {self._address} has other code: {error}") from error

    def same_code(self, code: tuple[str, ...]) -> None:
        """Ask every worker for its version and code, and how many threads it has.

        Raises
        ------
        InputError
            Naming both versions, or how to start workers.
        """
        from importlib.metadata import version

        here = identity(code)
        if not self._threads():
            with contextlib.suppress(TimeoutError):
                self._client.wait_for_workers(1, timeout=_GONE_AFTER)
        threads = self._threads()
        if not threads:
            raise InputError(f"the scheduler at {self._address} has no workers")
        many = [count for count in threads.values() if count != 1]
        if many:
            raise InputError(
                f"{len(many)} of the {len(threads)} workers of {self._address} run {many[0]} tasks "
                "in one process; start them with `dask worker --nthreads 1`"
            )
        # First a question that every version of theoryverify can answer, and none at all too.
        plain = here.partition(" ")[0]
        found = self._client.run(version, "theoryverify", on_error="return")
        for worker, answer in found.items():
            if isinstance(answer, Exception):
                raise InputError(f"worker {worker} has no theoryverify: {answer}")
            if answer != plain:
                raise InputError(
                    f"worker {worker} runs theoryverify {answer}, and this is theoryverify {plain}; "
                    "results would mix versions"
                )
        for worker, answer in self._client.run(identity, code, on_error="return").items():
            if isinstance(answer, Exception):
                raise InputError(
                    f"worker {worker} cannot read the code of this sweep ({answer}); start workers "
                    "where they can import it, with its folder on PYTHONPATH"
                )
            if answer != here:
                raise InputError(
                    f"worker {worker} runs theoryverify {answer}, and this is theoryverify {here}; "
                    "the same version with other source"
                )

    def _threads(self) -> dict[str, int]:
        with self._watched():
            return dict(self._client.nthreads())

    def _check(self, *, wait: bool = False) -> None:
        """Is the scheduler there, and has it workers? A short break of the line is forgiven."""
        while True:
            now = time.monotonic()
            if self._client.status == "running":
                self._well = now
                break
            if self._client.status == "closed" or now - self._well > _GONE_AFTER:
                raise self._gone("it closed the connection")
            if not wait:
                return
            time.sleep(0.1)
        if self._threads():
            self._staffed = now
        elif now - self._staffed > _NO_WORKERS:
            raise InputError(f"all workers of the scheduler at {self._address} are gone")

    def _gone(self, why: object) -> InputError:
        return InputError(f"the scheduler at {self._address} is gone ({why})")

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        from distributed.client import FutureCancelledError

        try:
            yield
        except FutureCancelledError as error:
            raise self._gone("it cancelled what ran") from error
        except (OSError, TimeoutError) as error:
            raise self._gone(type(error).__name__) from error


def require_address(address: str) -> None:
    """Refuse what is no address of a scheduler.

    Raises
    ------
    InputError
        If it has another form.
    """
    if not re.fullmatch(r"(tcp|tls|ucx|ws|wss)://[^\s/]+:\d{1,5}", address):
        raise InputError(f"cluster {address!r} is no address; write tcp://HOST:PORT")


@contextlib.contextmanager
def cluster(address: str, code: tuple[str, ...]) -> Iterator[Cluster]:
    """The workers of a Dask scheduler, known to run the same code.

    Raises
    ------
    InputError
        For an address that is none, if nobody answers there or distributed is not installed, if
        there are no workers, or some of another version.
    """
    require_address(address)
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError(
            f'a cluster needs Dask ({error}): pip install "theoryverify[cluster]"'
        ) from error
    # Its messages about lost connections come with traces; ours say the same in a line.
    logger = logging.getLogger("distributed")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        try:
            client = Client(address, timeout=10, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise InputError(
                f"no Dask scheduler answers at {address} ({type(error).__name__}); start one with "
                "`dask scheduler` and workers with `dask worker --nthreads 1`"
            ) from error
        try:
            pool = Cluster(client, address)
            pool.same_code(code)
            yield pool
        finally:
            with contextlib.suppress(Exception):  # it may be gone
                client.close(timeout=2)
    finally:
        logger.setLevel(level)
