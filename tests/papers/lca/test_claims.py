"""Every check of the paper comes out as its claim expects, and refutes each of its controls."""

import pytest

from theoryverify.claims.claim import Check, Claim, Context
from theoryverify.claims.discovery import paper_named
from theoryverify.claims.examine import run_check
from theoryverify.claims.ladder import REFUTED
from theoryverify.claims.registry import claims_of

CLAIMS = claims_of([paper_named("lca")])
CHECKS = [
    (claim, check) for claim in CLAIMS.values() for check in claim.checks if check.preset == "quick"
]


@pytest.mark.parametrize(
    ("claim", "check"), CHECKS, ids=[f"{claim.id}/{check.name}" for claim, check in CHECKS]
)
def test_check(claim: Claim, check: Check) -> None:
    result = run_check(claim, check, Context())
    if "theoryverify[simulate]" in result.why:
        pytest.skip(result.why)
    assert result.verdict is claim.expected, result.why
    for control in result.controls:
        assert control.verdict is REFUTED, (control.name, control.reason)
    if result.mutants.tried >= 10:
        # Survivors are those that state the same thing: a positive factor of a stationarity
        # condition, a shift of T in a first-order expansion.
        assert result.mutants.killed >= 0.9 * result.mutants.tried, result.mutants.survived


def test_every_statement_is_covered_or_says_why_not() -> None:
    for claim in CLAIMS.values():
        assert bool(claim.checks) != bool(claim.not_checked), claim.id


def test_each_law_kind_is_looked_at() -> None:
    cases = {type(case).__name__ for _, check in CHECKS for case in check.cases}
    assert {"Uniform", "TwoPoint", "Discrete", "ScaledBeta", "Ball", "Shell", "Mixture"} <= cases
