"""The evidence ladder: claims, checks, verdicts, and running them. No mathematics, no Torch."""

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
