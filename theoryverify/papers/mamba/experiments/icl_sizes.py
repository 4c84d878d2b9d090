"""What the in-context experiments compute: runs around a base, one thing changed at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from theoryverify.errors import InputError
from theoryverify.simulate.icl_config import (
    KINDS,
    LAPTOP,
    PAPER,
    QUICK,
    Configuration,
    Model,
    with_model,
)
from theoryverify.simulate.in_context import Task

NAMES = {"mamba": "Mamba", "gpt2": "GPT-2"}
CHANGES = ("base", "d", "r", "N_pt")
"""The base, and one run with another d, r or N_pt."""


@dataclass(frozen=True)
class Sizes:
    """A preset.

    Attributes
    ----------
    base : Configuration
        Of Mamba.
    d, r, context : int
        What takes the place of the base's.
    seeds : int
        Trainings of each configuration.
    probes : int
        Prompts of a response; only the base's runs are probed.
    kernel_tasks : int
        For kernel ridge: tasks of the validation and of the test.
    """

    base: Configuration
    d: int
    r: int
    context: int
    seeds: int
    probes: int
    kernel_tasks: int

    def run(self, change: str, kind: str, seed: int) -> Configuration:
        """One configuration; those of GPT-2 have its own layers and rate."""
        changed = self.base
        if change == "d":
            changed = replace(changed, task=replace(changed.task, d=self.d))
        elif change == "r":
            plan = changed.curriculum
            changed = replace(
                changed,
                task=replace(changed.task, r=self.r),
                curriculum=plan and replace(plan, d=max(plan.d, self.r)),
            )
        elif change == "N_pt":
            changed = replace(changed, context=self.context, curriculum=None)
        elif change != "base":
            raise InputError(f"change {change!r} is unknown; choose {', '.join(CHANGES)}")
        return replace(with_model(changed, kind), seed=self.base.seed + seed)

    def runs(self, changes: Sequence[str] = CHANGES) -> list[tuple[str, str, int, Configuration]]:
        """(change, model, seed, configuration) of each training."""
        return [
            (change, kind, seed, self.run(change, kind, seed))
            for change in changes
            for kind in KINDS
            for seed in range(self.seeds)
        ]


_TINY = replace(
    QUICK,
    task=Task(d=2, r=1),
    model=Model("mamba", width=32, layers=2),
    optimizer=replace(QUICK.optimizer, rate=5e-3, warmup=30),
    context=16,
    steps=200,
    batch=32,
    observe_every=40,
    test_context=32,
    test_tasks=600,
)
SIZES = {
    "quick": Sizes(_TINY, d=4, r=2, context=8, seeds=1, probes=128, kernel_tasks=300),
    "laptop": Sizes(LAPTOP, d=8, r=3, context=16, seeds=2, probes=8000, kernel_tasks=1000),
    "paper": Sizes(
        PAPER,
        d=16,
        r=16,
        context=16,
        seeds=3,
        probes=8000,
        kernel_tasks=2000,
    ),
}
