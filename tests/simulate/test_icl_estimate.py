"""The time that a training will take."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from theoryverify.errors import InputError  # noqa: E402
from theoryverify.simulate import icl_estimate as estimate  # noqa: E402
from theoryverify.simulate.icl_config import Configuration, Model  # noqa: E402
from theoryverify.simulate.in_context import Task  # noqa: E402

torch.set_num_threads(1)

SMALL = Configuration(
    task=Task(d=2, r=1),
    model=Model(width=8, layers=1, states=4, heads=2),
    context=8,
    steps=60,
    batch=16,
    observe_every=60,
    test_context=10,
    test_tasks=20,
)


def test_the_median_step_is_taken_and_the_first_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a clock that only the drawing of batches moves: by 9 s, then by 1, 4 and 2 s."""
    now, sizes = [0.0], []
    honest = estimate.batches

    def slow(task: Task, context: int, size: int) -> Any:
        draw, spent = honest(task, context, size), iter([9.0, 1.0, 4.0, 2.0])

        def batch(step: int, rng: np.random.Generator) -> Any:
            now[0] += next(spent)
            sizes.append(size)
            return draw(step, rng)

        return batch

    monkeypatch.setattr(estimate, "batches", slow)
    monkeypatch.setattr(estimate, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    assert estimate.step_seconds(SMALL) == pytest.approx(2.0 * 8)
    assert sizes == [2] * 4


def test_only_what_is_left_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "step_seconds", lambda *_, **__: 0.5)
    assert estimate.estimated_seconds(SMALL, done=20) == 20
    assert estimate.estimated_seconds(SMALL, done=60) == 0
    assert estimate.estimated_seconds(SMALL, done=99) == 0


def test_small_steps_are_timed_whole_and_large_ones_by_an_eighth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    timed: list[int] = []

    def times(overhead: float, each: float) -> None:
        def of(settings: Configuration, size: int, place: torch.device) -> float:
            timed.append(size)
            return overhead + each * size

        monkeypatch.setattr(estimate, "_timed", of)

    times(0.01, 0.001)
    assert estimate.step_seconds(SMALL) == pytest.approx(0.026)
    assert timed == [2, 16]
    times(0.0, 0.5)
    assert estimate.step_seconds(SMALL) == pytest.approx(8.0)
    assert timed == [2, 16, 2]
    assert estimate.step_seconds(replace(SMALL, batch=1)) == pytest.approx(0.5)


def test_threads_are_put_back() -> None:
    before = torch.get_num_threads()
    estimate.step_seconds(SMALL, threads=2)
    assert torch.get_num_threads() == before


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="GiB"):
        estimate.step_seconds(replace(SMALL, batch=10**9))
    with pytest.raises(InputError, match="cuda:77"):
        estimate.step_seconds(SMALL, device="cuda:77")


def test_spans() -> None:
    assert estimate.span(0.2) == "a second or two"
    assert estimate.span(30) == "30 seconds"
    assert estimate.span(7_300) == "2.0 hours"
    assert estimate.span(86_400) == "24.0 hours"
    assert estimate.span(200_000) == "2.3 days"
