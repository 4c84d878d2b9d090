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

if TYPE_CHECKING:
    from theoryverify.papers.mamba.experiments.icl_stored import Stored

PLACE = "experiments"
NOTE = (
    f"{NUMBERING} The experiments were read second-hand; sizes here are those of our preset `laptop`, "
    "not the paper's. Needs what `theoryverify figure mamba.icl_curves mamba.training --preset laptop` "
    "stored."
)
ERROR = (
    f"{NOTE} R is the mean of squared errors clipped at {CLIP:g} over tasks, over the context sizes "
    "(where none are given: from 3/4 of N_pt to below N_pt) and over the seeds of the training. The "
    "trained models are fixed, only the tasks are random. Ranges of sizes and margins are ours, chosen "
    "while the experiment was made and not registered beforehand."
)
OPPOSITE = "At this size the trained models say the opposite; nothing is said of the paper's size."

LEARNED, REST = SHARE / 2, SHARE / 2
"""What a claim spends on whether the models have learned, and on what it says."""


def trained_models(
    changes: Sequence[tuple[str, str]], context: Context, *, probed: bool = False
) -> list[Stored]:
    """Runs by change and model; with ``probed`` also what was seen of the trained models.

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
        runs.stored(change, kind, seed=context.seed, device=context.device, probed=probed)
        for change, kind in changes
    ]


def require_learned(trained: Sequence[Stored], examination: Examination) -> None:
    """Notes that they have learned, each interval right but for its part of :data:`LEARNED`.

    Raises
    ------
    HypothesisError
        If one has not.
    UndecidedError
        If that cannot be told of one: then nothing is refuted either.
    """
    from theoryverify.papers.mamba.experiments.icl_stored import trivial_level

    error, open_ = LEARNED / len(trained), ""
    for run in trained:
        learned, half = run.learned(error), trivial_level(run.settings) / 2
        shown = f"error in {run.level(error)}, half of that of predicting 0 is {half:.3f}"
        if learned is False:
            raise HypothesisError("has learned", f"{run.budget}: {shown}")
        if learned is None:
            open_ = open_ or f"whether it has learned is open: {run.budget}: {shown}"
        examination.lemma(f"has learned: {run.budget}", learned, shown)
    if open_:
        raise UndecidedError(open_)


def scope(trained: Sequence[Stored], sizes: Sequence[int] | None = None) -> str:
    parts = [run.budget for run in trained]
    if sizes is not None:
        parts.append(f"{sizes[0]} to {sizes[-1]} examples")
    return "; ".join(
        [*parts, f"errors clipped at {CLIP:g}, mean over sizes and seeds, trained models fixed"]
    )
