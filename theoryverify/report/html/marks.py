"""The signs that stand beside every colour, so that colour alone never carries a meaning."""

from __future__ import annotations

from theoryverify.claims.ladder import Rung, Verdict

VERDICTS: dict[str, str] = {
    Verdict.HOLDS: "✓",
    Verdict.REFUTED: "✗",
    Verdict.INCONCLUSIVE: "?",
    Verdict.OUTSIDE: "○",
    Verdict.ERROR: "!",
    "unchecked": "–",
}
RUNGS: dict[str, str] = {
    Rung.PROVED: "∀",
    Rung.CERTIFIED: "[ ]",
    Rung.COMPUTED: "≈",
    Rung.SIMULATED: "±",
}
MEANINGS: dict[str, str] = {
    Rung.PROVED: "decided symbolically, for all parameters",
    Rung.CERTIFIED: "ball arithmetic or exact rationals, at stated parameters",
    Rung.COMPUTED: "high precision, two methods agreeing",
    Rung.SIMULATED: "the full model on random data, within a margin",
    Verdict.HOLDS: "every check of it holds",
    Verdict.REFUTED: "a check shows it false",
    Verdict.INCONCLUSIVE: "undecided",
    Verdict.OUTSIDE: "asked where its hypotheses are not met",
    Verdict.ERROR: "a check broke, which refutes nothing",
    "unchecked": "no check covers it",
}
