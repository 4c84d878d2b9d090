"""Output whose reader may go: ``theoryverify check lca 2>&1 | head``."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO


class _Dropping:
    """A stream that goes on into nothing once its reader has gone."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            self._drop()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._drop()

    def _drop(self) -> None:
        # What is buffered goes the same way: it would fail again when the interpreter ends.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def readers_may_go() -> Iterator[None]:
    """Within this a closed pipe stops nothing: what is printed into it is dropped.

    Otherwise a run would end where its reader went, with an exit code that reads as a verdict.
    """
    before = sys.stdout, sys.stderr
    # A process that was started without one of them has None there.
    sys.stdout, sys.stderr = (stream and _Dropping(stream) for stream in before)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        sys.stdout, sys.stderr = before
