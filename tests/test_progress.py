"""Progress: a bar on a terminal, rare lines elsewhere, nothing when it is not wanted."""

from __future__ import annotations

import io
from typing import Any

import pytest

from theoryverify import progress as module
from theoryverify.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    class Clock:
        now = 0.0

        def monotonic(self) -> float:
            return self.now

    found = Clock()
    monkeypatch.setattr(module, "time", found)
    return found


def test_a_line_a_minute_where_there_is_no_terminal(clock: Any) -> None:
    out = io.StringIO()
    with Progress("training", 7200, done=1200, stream=out) as progress:
        for done in range(1201, 1500):
            clock.now += 0.5
            progress(done, "loss 0.25")
    # 2 steps a second of this run, whatever was done before: 4680 are left after 120 of 300.
    assert out.getvalue().splitlines() == [
        "training: 1320 of 7200 steps, 2 steps/s, 0:49:00 left, loss 0.25",
        "training: 1440 of 7200 steps, 2 steps/s, 0:48:00 left, loss 0.25",
    ]


def test_a_bar_on_a_terminal(clock: Any) -> None:
    out = Terminal()
    with Progress("sweep", 100, unit="cells", stream=out) as progress:
        clock.now += 10
        progress(50, "1 failed")
    text = out.getvalue()
    for part in ("sweep", "50/100", "5 cells/s", "0:00:10 left", "1 failed"):
        assert part in text


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_nothing_if_it_is_not_wanted(clock: Any, stream: io.StringIO) -> None:
    with Progress("sweep", 100, stream=stream, show=False) as progress:
        clock.now += 1000
        progress(50)
    assert stream.getvalue() == ""
