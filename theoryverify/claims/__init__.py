"""The evidence ladder: claims, checks, verdicts, and running them. No mathematics, no Torch."""

from typing import TYPE_CHECKING

from theoryverify._lazy import lazily

if TYPE_CHECKING:
    from theoryverify.claims.claim import Check, Claim, Context
    from theoryverify.claims.examination import Examination
    from theoryverify.claims.ladder import (
        CERTIFIED,
        COMPUTED,
        ERROR,
        HOLDS,
        INCONCLUSIVE,
        OUTSIDE,
        PROVED,
        REFUTED,
        SIMULATED,
        Evidence,
        Hypothesis,
        Rung,
        Step,
        Verdict,
    )
    from theoryverify.claims.paper import Command, Derivation, DerivationStep, Outcome, Paper

_MODULES = {
    "claim": (
        "Check",
        "Claim",
        "Context",
    ),
    "examination": ("Examination",),
    "ladder": (
        "CERTIFIED",
        "COMPUTED",
        "ERROR",
        "HOLDS",
        "INCONCLUSIVE",
        "OUTSIDE",
        "PROVED",
        "REFUTED",
        "SIMULATED",
        "Evidence",
        "Hypothesis",
        "Rung",
        "Step",
        "Verdict",
    ),
    "paper": (
        "Command",
        "Derivation",
        "DerivationStep",
        "Outcome",
        "Paper",
    ),
}

__getattr__ = lazily(
    __name__,
    {name: f"{__name__}.{module}" for module, names in _MODULES.items() for name in names},
)

__all__ = [
    "CERTIFIED",
    "COMPUTED",
    "ERROR",
    "HOLDS",
    "INCONCLUSIVE",
    "OUTSIDE",
    "PROVED",
    "REFUTED",
    "SIMULATED",
    "Check",
    "Claim",
    "Command",
    "Context",
    "Derivation",
    "DerivationStep",
    "Evidence",
    "Examination",
    "Hypothesis",
    "Outcome",
    "Paper",
    "Rung",
    "Step",
    "Verdict",
]
