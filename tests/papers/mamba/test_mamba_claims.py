"""Every check of the paper comes out as its claim expects, and refutes each of its controls."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
import sympy

from theoryverify.claims.claim import Check, Claim, Context
from theoryverify.claims.discovery import paper_named
from theoryverify.claims.examine import examine, run_check
from theoryverify.claims.ladder import HOLDS, INCONCLUSIVE, OUTSIDE, REFUTED, Verdict
from theoryverify.claims.registry import claims_of
from theoryverify.exact.balls import ball
from theoryverify.exact.gate import Gate
from theoryverify.papers.mamba import theory
from theoryverify.papers.mamba.claims import gate, stage_one
from theoryverify.papers.mamba.claims.gate import BIAS, D, Gated
from theoryverify.papers.mamba.links import HE3, HE4
from theoryverify.papers.mamba.population import Population

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


# -- statements that were once wider than their checks -------------------------------------------


def verdict_of(name: str, check: str, formula: object, case: object = None) -> Verdict:
    """What a check of the paper says of another formula, at its own cases or at one."""
    claim = CLAIMS[f"mamba.{name}"]
    found = next(each for each in claim.checks if each.name == check)
    if case is not None:
        found = replace(found, cases=(case,))
    return examine(claim, found, formula, Context()).verdict


def test_exponential_weights_diverge_by_the_sign_of_the_leading_coefficient() -> None:
    """The predicate of T9 at links with numbers, against the integral where it is finite."""
    ρ = gate._SCALE
    stated = gate._stated_divergence
    assert stated(4, sympy.Integer(-1)) is False
    assert stated(4, sympy.Integer(1)) is True
    assert stated(3, sympy.Integer(-1)) is True
    # 3(z²-1) at ρ = 3, 6 and 7: 3 >= ρ/2 up to 6.
    assert [
        gate._diverges(3 * (theory.z**2 - 1) / scale - theory.z**2 / 2) for scale in (3, 6, 7)
    ] == [True, True, False]
    assert stated(2, ρ / 2) is True
    name = "the leading term of g/ρ - z²/2"
    assert verdict_of("T9", name, lambda n, a: n >= 3) is REFUTED
    assert verdict_of("T9", name, lambda n, a: None) is INCONCLUSIVE


@pytest.mark.parametrize("factor", ["1.05", "0.95", "1.02"])
def test_the_law_is_compared_more_narrowly_than_a_twentieth(factor: str) -> None:
    def changed(*at: Any) -> Any:
        return gate._leading(*at) * ball(Fraction(factor))

    for link in (HE3, HE4):
        assert verdict_of("D.law", "enclosed and compared", changed, Gated(link, "-3")) is REFUTED


def test_the_law_is_left_further_and_further_behind() -> None:
    ratios = [gate._times_the_law(b) for b in (-10, -20, -30, -40, -60)]
    assert all(left.less_than(right.lower) for left, right in pairwise(ratios))
    name = "he_3 at ρ = 8, b from -10 to -60"
    assert verdict_of("D.law.any-scale", name, Fraction(64_000)) is HOLDS


def test_the_feature_without_the_factors_of_forgetting_has_no_limit() -> None:
    """What T17 divides out: of he_3 at ρ = 24, b = -9 nothing is left in long contexts."""
    at = Population(HE3, Gate(24, -9))
    factors = [float(at.forgetting_factor(N)) for N in (10**2, 10**4, 10**6, 10**9)]
    assert factors == pytest.approx([0.994, 0.574, 8.1e-3, 8.1e-6], rel=1e-3)
    for name in ("T17", "C.1.remainder"):
        claim = CLAIMS[f"mamba.{name}"]
        assert r"{\eta F_{N_{\mathrm{pt}}}F_N}" in claim.statement
        assert "mamba.T6" in claim.depends_on


def test_a_linear_head_leaves_the_stated_multiple_of_the_output() -> None:
    start = stage_one._CONSTANT
    for factor in (1, 1 - 1e-6):
        holds = verdict_of(
            "E.linear-head", "against the kink", (start, lambda F, g, c, f=factor: f * F * g * c)
        )
        assert holds is (HOLDS if factor == 1 else REFUTED)
