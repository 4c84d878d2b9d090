"""What the statements on the in-context experiments share: stored runs, whether they have learned, scope.

Each verdict is about the trained models that are stored, over fresh tasks, and names the budget of
their training: that other budgets agree is not said. Where a model has not learned (its error is not
below half of that of predicting 0), nothing is said of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from theoryverify.budget import SHARE
from theoryverify.claims.claim import Context
from theoryverify.claims.examination import Examination
from theoryverify.errors import HypothesisError, UndecidedError
from theoryverify.papers.mamba.claims.exponents import NUMBERING
from theoryverify.simulate.icl_curves import CLIP
from theoryverify.stats import Interval

if TYPE_CHECKING:
    from theoryverify.papers.mamba.experiments.icl_stored import Stored

PLACE = "experiments"
NOTE = (
    f"{NUMBERING} The experiments were read second-hand; sizes here are those of our preset `laptop`, "
    "not the paper's. Needs stored results: `theoryverify figure mamba.icl_curves --preset laptop`."
)
ERROR = (
    f"{NOTE} R is the mean of squared errors clipped at {CLIP:g} over tasks, over the context sizes "
    "(where none are given: from 3/4 of N_pt to below N_pt) and over the seeds of the training. The "
    "trained models are fixed, only the tasks are random."
)
OPPOSITE = "At this size the trained models say the opposite; nothing is said of the paper's size."


def trained_models(changes: Sequence[tuple[str, str]], context: Context) -> list[Stored]:
    """Runs by change and model.

    Raises
    ------
    UndecidedError
        If there are none.
    """
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise UndecidedError('Torch is not there: pip install "theoryverify[simulate]"') from error
    from theoryverify.papers.mamba.experiments import icl_stored as runs

    return [
        runs.stored(change, kind, seed=context.seed, device=context.device)
        for change, kind in changes
    ]


def require_learned(trained: Sequence[Stored], examination: Examination) -> None:
    """Notes that they have learned.

    Raises
    ------
    HypothesisError
        If one has not.
    """
    from theoryverify.papers.mamba.experiments.icl_stored import trivial_level

    for run in trained:
        learned, half = run.learned, trivial_level(run.settings) / 2
        shown = f"error in {run.level(SHARE / 2)}, half of that of predicting 0 is {half:.3f}"
        if learned is False:
            raise HypothesisError("has learned", f"{run.budget}: {shown}")
        examination.lemma(f"has learned: {run.budget}", learned, shown)


def scope(trained: Sequence[Stored], sizes: Sequence[int] | None = None) -> str:
    parts = [run.budget for run in trained]
    if sizes is not None:
        parts.append(f"{sizes[0]} to {sizes[-1]} examples")
    return "; ".join(
        [*parts, f"errors clipped at {CLIP:g}, mean over sizes and seeds, trained models fixed"]
    )


def positive(found: Interval) -> bool | None:
    """Of a number that the interval covers."""
    return True if found.lower > 0 else False if found.upper < 0 else None
