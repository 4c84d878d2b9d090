"""How far a long run is: a bar with rate and time left on a terminal, a line a minute elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_EVERY = 60.0


class Progress:
    """Progress on standard error.

    Parameters
    ----------
    what : str
        What is running.
    total : int
        How many units of work there are.
    done : int
        How many of them were done before: they do not count for the rate.
    unit : str
        Their name in the plural.
    show : bool
        Whether to show anything at all.

    Examples
    --------
    >>> from theoryverify.progress import Progress
    >>> with Progress("training", 100, unit="steps", show=False) as progress:
    ...     progress(10, "loss 0.5")
    """

    def __init__(
        self,
        what: str,
        total: int,
        *,
        done: int = 0,
        unit: str = "steps",
        show: bool = True,
        stream: TextIO | None = None,
    ) -> None:
        self._what, self._total, self._unit = what, total, unit
        self._stream = stream or sys.stderr
        self._show = show
        self._before = done
        self._start = self._last = time.monotonic()
        self._bar: Bar | None = None

    def __enter__(self) -> Progress:
        self._start = self._last = time.monotonic()
        if self._show and self._stream.isatty():
            self._bar = self._rich()
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int, note: str = "") -> None:
        """Say that ``done`` units are done, with a short note such as the loss."""
        if not self._show:
            return
        now = time.monotonic()
        if self._bar is not None:
            task = self._bar.tasks[0]
            self._bar.update(task.id, completed=done, state=self._state(done, now, note))
        elif now - self._last >= _EVERY:
            self._last = now
            line = f"{self._what}: {done} of {self._total} {self._unit}"
            self._stream.write(f"{line}, {self._state(done, now, note)}\n")
            self._stream.flush()

    def _state(self, done: int, now: float, note: str) -> str:
        """``12.3 steps/s, 0:01:40 left, loss 0.5``; the rate is that of this run."""
        parts = [note] if note else []
        elapsed, new = now - self._start, done - self._before
        if new > 0 and elapsed > 0:
            rate = new / elapsed
            left = round((self._total - done) / rate)
            parts = [
                f"{rate:.3g} {self._unit}/s",
                f"{left // 3600}:{left // 60 % 60:02d}:{left % 60:02d} left",
                *parts,
            ]
        return ", ".join(parts)

    def _rich(self) -> Bar:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bar

        bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}"),
            console=Console(file=self._stream),
            refresh_per_second=4,
        )
        bar.add_task(self._what, total=self._total, completed=self._before, state="")
        return bar
