"""Every check of the paper comes out as its claim expects, and refutes each of its controls."""

import pytest

from theoryverify.claims.claim import Check, Claim, Context
from theoryverify.claims.discovery import paper_named
from theoryverify.claims.examine import examine, run_check
from theoryverify.claims.ladder import HOLDS, OUTSIDE, REFUTED
from theoryverify.claims.registry import claims_of
from theoryverify.papers.mamba.claims.gate import BIAS, D, Gated
from theoryverify.papers.mamba.links import HE3, HE4

CLAIMS = claims_of([paper_named("mamba")])
CHECKS = [
    (claim, check) for claim in CLAIMS.values() for check in claim.checks if check.preset == "quick"
]


@pytest.mark.parametrize(
    ("claim", "check"), CHECKS, ids=[f"{claim.id}/{check.name}" for claim, check in CHECKS]
)
def test_check(claim: Claim, check: Check) -> None:
    result = run_check(claim, check, Context())
    assert result.verdict is claim.expected, result.why
    for control in result.controls:
        assert control.verdict is REFUTED, (control.name, control.reason)
    assert result.mutants.killed == result.mutants.tried, result.mutants.survived


def test_every_statement_is_covered_or_says_why_not() -> None:
    for claim in CLAIMS.values():
        assert bool(claim.checks) != bool(claim.not_checked), claim.id


def test_counterexamples_are_declared() -> None:
    refuted = {claim.id for claim in CLAIMS.values() if claim.expected is REFUTED}
    assert refuted == {
        "mamba.A.threshold",
        "mamba.C.every-link",
        "mamba.D.any-bias",
        "mamba.D.any-scale",
        "mamba.D.nonzero-bias",
        "mamba.D.law.any-scale",
        "mamba.T1.euler",
        "mamba.T17.function-of-z",
        "mamba.T7.more-negative",
        "mamba.E.gate-alone",
        "mamba.C.1.small-r",
        "mamba.C.1.indicator",
        "mamba.C.1.fixed-bias",
        "mamba.G.sharp",
        "mamba.G.width",
        "mamba.law.three-to-two",
        "mamba.exp.kernel.every",
        "mamba.exp.context",
        "mamba.exp.context.within",
        "mamba.exp.context.loss",
        "mamba.exp.gate",
        "mamba.exp.gpt2.gate",
        "mamba.exp.gpt2.opening",
        "mamba.exp.opening",
    }


def test_the_hypothesis_on_the_bias_is_tested_and_can_be_dropped() -> None:
    assert BIAS.failure(Gated(HE3, "0")) is not None
    assert BIAS.failure(Gated(HE3, "-1")) is None
    assert BIAS.failure(Gated(HE4, "0")) is None
    flat = Check(
        "flat",
        D.checks[1].rung,
        D.checks[1].function,
        D.checks[1].formula,
        {},
        (Gated(HE3, "0", "4"),),
    )
    assert examine(D, flat, flat.formula, Context()).verdict is OUTSIDE
    assert examine(D, flat, flat.formula, Context(), without=["bias"]).verdict is REFUTED
    assert D.expected is HOLDS
