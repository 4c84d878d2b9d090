"""Running one check: on the paper's formula, on its controls, on machine-made mutants."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import replace
from numbers import Number
from typing import Any

import sympy

from theoryverify.claims.claim import Check, Claim, Context
from theoryverify.claims.examination import Examination
from theoryverify.claims.ladder import (
    ERROR,
    HOLDS,
    INCONCLUSIVE,
    OUTSIDE,
    REFUTED,
    Evidence,
    merged,
)
from theoryverify.claims.mutants import mutants
from theoryverify.claims.results import CheckResult, ControlResult, MutantResult
from theoryverify.claims.told import place
from theoryverify.errors import HypothesisError, UndecidedError


def examine(
    claim: Claim,
    check: Check,
    formula: Any,
    context: Context,
    *,
    without: Collection[str] = (),
) -> Evidence:
    """What a check finds of a formula, over all its cases.

    ``without`` names hypotheses that are dropped: cases that break them are looked at all the same.
    A case that breaks a hypothesis that stands is ``outside``.
    """
    found: list[tuple[str, Evidence]] = []
    for case in check.cases or (None,):
        name = "" if case is None else str(case)
        evidence = _at(case, claim, check, formula, context, without)
        found.append((name, evidence))
        if evidence.verdict in (ERROR, REFUTED):
            break
    return merged(found)


def _at(
    case: Any, claim: Claim, check: Check, formula: Any, context: Context, without: Collection[str]
) -> Evidence:
    """What a check finds at one case; what is raised there is evidence too."""
    try:
        return _outside(claim, case, without) or _run(check, formula, case, context)
    except HypothesisError as error:
        return Evidence(OUTSIDE, "", str(error))
    except UndecidedError as error:
        return Evidence(INCONCLUSIVE, "", str(error))
    except Exception as error:  # a broken check must not take the run down, nor refute anything
        where = place(error, check.function, *(h.failure for h in claim.hypotheses))
        return Evidence(ERROR, "", f"{type(error).__name__}: {error}{where}")


def _outside(claim: Claim, case: Any, without: Collection[str]) -> Evidence | None:
    for hypothesis in claim.hypotheses:
        reason = None if case is None else hypothesis.failure(case)
        if reason is not None and hypothesis.name not in without:
            return Evidence(OUTSIDE, "", f"{hypothesis.name}: {reason}")
    return None


def _run(check: Check, formula: Any, case: Any, context: Context) -> Evidence:
    offered = {"case": case, "examination": Examination(), "context": context}
    wanted = {key: value for key, value in offered.items() if key in check.wants}
    evidence = check.function(formula, **wanted)
    if not isinstance(evidence, Evidence):
        return Evidence(ERROR, "", f"the check returned {evidence!r}, not Evidence")
    return evidence


def run_check(
    claim: Claim,
    check: Check,
    context: Context,
    keep: Callable[[Evidence], Any] = lambda evidence: None,
) -> CheckResult:
    """Run a check with all its controls and mutants; ``keep`` gets the formula's evidence."""
    start = time.perf_counter()
    base = f"{claim.id}/{check.name}"
    evidence = examine(claim, check, check.formula, replace(context, name=base))
    controls = []
    # A check that is outside its hypotheses did not look at the formula; nor would its controls.
    wrong_ones = {} if evidence.verdict is OUTSIDE else check.controls
    for name, wrong in wrong_ones.items():
        judged = examine(claim, check, wrong, replace(context, name=f"{base}/{name}"))
        if judged.verdict is not REFUTED and check.spare:
            own = replace(context, name=f"{base}/{name}", parameters={})
            judged = examine(claim, replace(check, cases=check.spare), wrong, own)
        controls.append(ControlResult(name, judged.verdict, _reason(judged, wrong, check.formula)))
    if all(control.verdict is REFUTED for control in controls):
        keep(evidence)  # a check with a control that stands may say nothing
    killed = _mutation(claim, check, context, base) if evidence.verdict is HOLDS else MutantResult()
    return CheckResult(
        claim.id,
        check.name,
        check.rung,
        evidence.verdict,
        evidence.scope,
        evidence.reason,
        evidence.assumes,
        tuple({"name": s.name, "holds": s.holds, "shown": s.shown} for s in evidence.steps),
        time.perf_counter() - start,
        tuple(controls),
        killed,
    )


def _reason(judged: Evidence, wrong: Any, formula: Any) -> str:
    """Why a control came out as it did; where it holds, the likeliest mistake."""
    if judged.verdict is not HOLDS:
        return judged.reason
    plain = sympy.Basic | Number | str
    same = isinstance(wrong, plain) and isinstance(formula, plain) and wrong == formula
    return "it is the formula itself" if same else "the check accepts it"


def _mutation(claim: Claim, check: Check, context: Context, base: str) -> MutantResult:
    if not check.mutate:
        return MutantResult()
    tried, survived, refuted = 0, [], []
    for name, mutant in mutants(check.formula):
        judged = examine(claim, check, mutant, replace(context, name=f"{base}/mutant {name}"))
        if judged.verdict is ERROR:
            continue  # not even a formula that the check can read
        tried += 1
        if judged.verdict is REFUTED:
            refuted.append((name, judged.reason))
        else:
            survived.append(f"{name} ({judged.verdict})")
    return MutantResult(tried, len(refuted), tuple(survived), tuple(refuted))
