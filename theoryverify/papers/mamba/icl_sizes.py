"""What the in-context experiments compute: runs around a base, one thing changed at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from theoryverify.simulate.icl_config import (
    KINDS,
    LAPTOP,
    PAPER,
    QUICK,
    Configuration,
    Model,
    with_model,
)
from theoryverify.simulate.in_context import Curriculum, Task

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
        Prompts of a response.
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
        base = self.base
        changed = {
            "base": base,
            "d": replace(base, task=replace(base.task, d=self.d)),
            "r": replace(base, task=replace(base.task, r=self.r)),
            "N_pt": replace(base, context=self.context, curriculum=None),
        }[change]
        return replace(with_model(changed, kind), seed=base.seed + seed)

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
_LAPTOP = replace(LAPTOP, task=Task(d=4, r=2), test_tasks=20_000)

SIZES = {
    "quick": Sizes(_TINY, d=4, r=2, context=8, seeds=1, probes=128, kernel_tasks=300),
    "laptop": Sizes(_LAPTOP, d=8, r=3, context=16, seeds=2, probes=8000, kernel_tasks=1000),
    "paper": Sizes(
        replace(PAPER, curriculum=Curriculum(d=8, context=16, every=2000)),
        d=16,
        r=16,
        context=16,
        seeds=3,
        probes=8000,
        kernel_tasks=2000,
    ),
}
