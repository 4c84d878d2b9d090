"""One check: its verdict, its controls, its cases, its mutants."""

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy
from flint import arb

from tests.claims import toy
from theoryverify.claims.claim import Claim, Context
from theoryverify.claims.examination import Examination
from theoryverify.claims.examine import examine, run_check
from theoryverify.claims.ladder import (
    ERROR,
    HOLDS,
    INCONCLUSIVE,
    OUTSIDE,
    PROVED,
    REFUTED,
    Evidence,
    Hypothesis,
)
from theoryverify.claims.mutants import mutants
from theoryverify.claims.results import CheckResult
from theoryverify.errors import HypothesisError, InputError, UndecidedError
from theoryverify.exact.balls import Enclosure


def result_of(claim: Claim) -> CheckResult:
    return run_check(claim, claim.checks[0], Context())


def test_a_true_statement_holds_and_refutes_its_control() -> None:
    result = result_of(toy.square())
    assert result.verdict is HOLDS
    assert [control.verdict for control in result.controls] == [REFUTED]
    assert result.mutants.tried == result.mutants.killed >= 5


def test_a_false_statement_is_refuted_with_a_witness() -> None:
    result = result_of(toy.wrong())
    assert result.verdict is REFUTED
    assert "x = " in result.why


def test_a_check_that_accepts_its_control_does_not_count() -> None:
    result = result_of(toy.gullible())
    assert result.found is HOLDS
    assert result.verdict is INCONCLUSIVE
    assert "control 'anything' came out holds" in result.why
    assert result.mutants.killed == 0 < result.mutants.tried


def test_an_exception_is_an_error_and_never_a_refutation() -> None:
    result = result_of(toy.broken())
    assert result.verdict is ERROR
    assert "ZeroDivisionError: on purpose" in result.why
    assert result.controls[0].verdict is ERROR


def test_cases_outside_the_hypotheses_do_not_count() -> None:
    mixed = result_of(toy.cases("toy.cases", 3, -1, 5))
    assert mixed.verdict is HOLDS
    assert "3, 5" in mixed.scope
    assert "-1" not in mixed.scope
    outside = result_of(toy.cases("toy.cases", -1, -2))
    assert outside.verdict is OUTSIDE
    assert "positivity: -1 <= 0" in outside.why
    assert outside.controls == ()


def test_a_dropped_hypothesis_lets_the_case_in() -> None:
    claim = toy.cases("toy.cases", -1)
    evidence = examine(claim, claim.checks[0], 0, Context(), without={"positivity"})
    assert evidence.verdict is REFUTED
    assert evidence.reason.startswith("at -1")


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (UndecidedError("too wide"), INCONCLUSIVE),
        (HypothesisError("Assumption 1", "the law is a point mass"), OUTSIDE),
        (RuntimeError("bug"), ERROR),
        (AssertionError("lemma"), ERROR),
    ],
)
def test_what_exceptions_mean(error: Exception, verdict: object) -> None:
    claim = Claim("toy.raise", "x", "x")

    @claim.check("raise", "proved", formula=1, controls={"two": 2})  # type: ignore[arg-type]
    def check(formula: int) -> Evidence:
        raise error

    assert examine(claim, claim.checks[0], 1, Context()).verdict is verdict


def one_check(function: object, **more: Any) -> Claim:
    """A claim whose only check is this function, of formula 1 with the control 2."""
    hypotheses = more.pop("hypotheses", ())
    claim = Claim("toy.one", "p", "s", hypotheses=hypotheses)
    settings: dict[str, Any] = {"formula": 1, "controls": {"two": 2}} | more
    claim.check("one", PROVED, **settings)(function)  # type: ignore[arg-type]
    return claim


@pytest.mark.parametrize(
    ("failure", "verdict", "words"),
    [
        (lambda case: case > 0, ERROR, "predicate of hypothesis 'pos' must return None .*not True"),
        (lambda case: 1 // (case - 1), ERROR, "ZeroDivisionError.*test_examine.py, line "),
        (lambda case: "too small" if case < 2 else None, OUTSIDE, "pos: too small"),
    ],
)
def test_predicates_give_a_reason_or_none(failure: Any, verdict: object, words: str) -> None:
    def look(formula: int, case: int) -> Evidence:
        return Evidence(HOLDS if formula == 1 else REFUTED)

    claim = one_check(look, cases=(1,), hypotheses=(Hypothesis("pos", "n>0", failure),))
    found = examine(claim, claim.checks[0], 1, Context())
    assert found.verdict is verdict
    assert re.search(words, found.reason)


def test_an_error_is_placed_in_the_file_of_its_author() -> None:
    def identical(formula: int, examination: Examination) -> Evidence:
        examination.identity("sides", sympy.Integer(formula), "1")  # type: ignore[arg-type]
        return examination.evidence("all")

    line = identical.__code__.co_firstlineno + 1
    claim = one_check(identical)
    assert examine(claim, claim.checks[0], 1, Context()).reason.endswith(
        f"not text (test_examine.py, line {line})"
    )


def test_a_control_that_is_the_formula_is_called_so() -> None:
    claim = toy.square()
    (check,) = claim.checks
    same = replace(check, controls={"same": toy.x**2 + 2 * toy.x + 1})
    assert run_check(claim, same, Context()).controls[0].reason == "it is the formula itself"
    equal = replace(check, controls={"equal": (toy.x + 1) ** 2})
    assert run_check(claim, equal, Context()).controls[0].reason == "the check accepts it"


def test_a_verdict_given_as_text_counts_in_every_case() -> None:
    def small(formula: int, case: int) -> Evidence:
        return Evidence("holds" if case < 3 else "refuted", reason="too large")  # type: ignore[arg-type]

    claim = one_check(small, cases=(1, 2, 5))
    found = examine(claim, claim.checks[0], 1, Context())
    assert found.verdict is REFUTED
    assert found.reason == "at 5: too large"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (("hold",), "verdict must be one of holds, .*not 'hold'"),
        ((True,), "verdict must be one of"),
        ((HOLDS, 3), "scope of evidence must be text, not 3"),
        ((HOLDS, "", None), "reason of evidence must be text"),
        ((HOLDS, "", "", "a fact"), "tuple of texts, not 'a fact'"),
        ((HOLDS, "", "", (3,)), r"tuple of texts, not \(3,\)"),
    ],
)
def test_evidence_of_another_kind_is_refused(values: tuple[Any, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Evidence(*values)


def test_a_check_must_return_evidence() -> None:
    claim = Claim("toy.none", "x", "x")
    claim.check("none", "proved", formula=1, controls={"two": 2})(lambda formula: None)  # type: ignore
    assert examine(claim, claim.checks[0], 1, Context()).verdict is ERROR


def test_random_numbers_depend_on_the_name_and_seed_alone() -> None:
    def draw(name: str, seed: int = 0) -> int:
        return int(Context(seed=seed, name=name).rng().integers(2**62))

    assert draw("a") == draw("a")
    assert len({draw("a"), draw("b"), draw("a", 1)}) == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nodot", "p", "s"), "form paper.place"),
        (("toy.x", " ", "s"), "no place"),
        (("toy.x", "p", ""), "no statement"),
    ],
)
def test_claims_that_say_too_little(arguments: tuple[str, str, str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Claim(*arguments)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"expected": "refutd"}, "expected must be one of holds, refuted, .*not 'refutd'"),
        ({"hypotheses": toy.POSITIVE}, "hypotheses must be a tuple of Hypothesis objects"),
        ({"hypotheses": ("n>0",)}, "hypotheses must be a tuple of Hypothesis objects"),
        ({"depends_on": "toy.other"}, "depends_on must be a tuple of ids, not 'toy.other'"),
        ({"depends_on": (toy.POSITIVE,)}, "depends_on must be a tuple of ids"),
        ({"not_checked": True}, "not_checked must be text, not True"),
    ],
)
def test_claims_of_another_kind(more: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=f"claim toy.x: {words}"):
        Claim("toy.x", "p", "s", **more)
    assert Claim("toy.x", "p", "s", expected="refuted").expected is REFUTED  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"rung": "c"}, "rung must be one of proved, certified, computed, simulated, not 'c'"),
        ({"controls": [2]}, r"controls must map names to wrong formulas, not \[2\]"),
        ({"cases": {"a": 1}}, "cases must be a tuple of one or more, not {'a': 1}"),
        ({"cases": []}, r"cases must be a tuple of one or more, not \[\]"),
        ({"cases": "ab"}, "cases must be a tuple"),
        ({"timeout": "10"}, "timeout must be a number of seconds > 0, not '10'"),
        ({"timeout": 0}, "timeout must be a number of seconds > 0, not 0"),
        ({"timeout": math.nan}, "timeout must be a number of seconds > 0"),
        ({"preset": "fulll"}, "preset must be one of quick, full, not 'fulll'"),
        ({"at": lambda **values: 1}, "at must be an At"),
    ],
)
def test_checks_of_another_kind(more: dict[str, Any], words: str) -> None:
    settings: dict[str, Any] = {"rung": PROVED, "formula": 1, "controls": {"two": 2}} | more
    with pytest.raises(InputError, match=f"check toy.x/c: {words}"):
        Claim("toy.x", "p", "s").check("c", **settings)


def test_what_a_check_function_may_ask_for() -> None:
    for function, words in (
        (
            lambda formula, exam: None,
            "asks for 'exam'; after the formula it may ask for case, exam",
        ),
        (lambda: None, "must take the formula first"),
        (lambda case, examination: None, "must take the formula first"),
        (lambda formula, case: None, "asks for a case, and it has no cases"),
    ):
        with pytest.raises(InputError, match=words):
            one_check(function)
    own = one_check(lambda value, context, limit=3, *rest, **more: Evidence(HOLDS, str(limit)))
    assert examine(own, own.checks[0], 1, Context()).scope == "3"


def test_a_check_needs_a_control_and_a_name_of_its_own() -> None:
    claim = toy.square()
    with pytest.raises(InputError, match="no negative control"):
        claim.check("other", "proved", formula=1, controls={})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="two checks called"):
        claim.check("expand", "proved", formula=1, controls={"two": 2})  # type: ignore[arg-type]


# -- the notebook ------------------------------------------------------------------------------


def test_enclosures_hold_only_if_narrow_and_together() -> None:
    third = Enclosure.exactly("1/3", 30)
    for other, verdict in (
        (Enclosure.exactly("1/3", 25), HOLDS),
        (Enclosure.exactly("1/3", 4), INCONCLUSIVE),
        (Enclosure.exactly("0.3333333333333333333334", 30), REFUTED),
    ):
        examination = Examination()
        examination.equal("third", third, other, 20)
        assert examination.evidence("").verdict is verdict


@pytest.mark.parametrize("digits", [0, -1, 1.0, True, "3"])
def test_digits_are_counted(digits: Any) -> None:
    """Of no digit, [3, 4] and 3.2 would be one number."""
    wide, sharp = Enclosure(arb(3), arb(4)), Enclosure.exactly("3.2", 30)
    with pytest.raises(InputError, match="digits must be an integer >= 1"):
        Examination().equal("wide", wide, sharp, digits)


def test_only_enclosures_are_compared() -> None:
    third = Enclosure.exactly("1/3", 30)
    for left, right in ((third, 1 / 3), (1 / 3, third)):
        with pytest.raises(InputError, match="is not an Enclosure"):
            Examination().equal("third", left, right, 3)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="is not an Enclosure"):
            Examination().less("third", left, right)  # type: ignore[arg-type]


@pytest.mark.parametrize("outcome", [np.bool_(False), sympy.false, sympy.Integer(3) < 2])
def test_booleans_of_numpy_and_sympy_are_booleans(outcome: Any) -> None:
    examination = Examination()
    assert examination.decide("2 < 1", outcome) is False
    assert examination.evidence("").verdict is REFUTED
    with pytest.raises(AssertionError, match="lemma"):
        Examination().lemma("2 < 1", outcome)
    assert examination.decide("1 < 2", ~np.bool_(False)) is True


@pytest.mark.parametrize(
    "outcome", [0, 1, 0.0, "2 < 1", REFUTED, toy.x > 1, [], np.int64(0), np.array([False, False])]
)
def test_a_step_comes_to_true_false_or_none(outcome: Any) -> None:
    """Whatever is not ``False`` itself would not refute: it is refused, not taken for true."""
    for note in (Examination().decide, Examination().lemma):
        with pytest.raises(InputError, match="step '2 < 1': it must come to True, False or None"):
            note("2 < 1", outcome)


def test_steps_show_text() -> None:
    for note in (Examination().decide, Examination().lemma):
        with pytest.raises(InputError, match="what it shows must be text, not True"):
            note("2 < 1", None, True)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="its name must be text, not None"):
            note(None, True)  # type: ignore[arg-type]


def test_an_identity_of_floats_is_undecided() -> None:
    examination = Examination()
    examination.identity("a third", toy.x * (1 / 3), toy.x / 3)
    evidence = examination.evidence("every x")
    assert evidence.verdict is INCONCLUSIVE
    assert "rounded number" in evidence.reason


def test_one_undecided_step_holds_up_and_one_failed_step_refutes() -> None:
    examination = Examination()
    examination.decide("a", True)
    examination.decide("b", None, "too wide")
    assert examination.evidence("").verdict is INCONCLUSIVE
    examination.decide("c", False, "no")
    evidence = examination.evidence("")
    assert evidence.verdict is REFUTED
    assert evidence.reason == "c: no"


def test_nothing_examined_is_nothing_shown() -> None:
    assert Examination().evidence("all").verdict is INCONCLUSIVE


def test_a_failing_lemma_breaks_the_check_instead_of_refuting() -> None:
    with pytest.raises(AssertionError, match="lemma"):
        Examination().lemma("one is two", False)


# -- mutants -----------------------------------------------------------------------------------


def test_mutants_are_different_functions() -> None:
    y = sympy.Symbol("y", positive=True)
    n = sympy.Symbol("n", integer=True, positive=True)
    formula = (1 - y) ** (2 * n) / 3
    found = mutants(formula)
    names = [name for name, _ in found]
    assert any("exponent" in name for name in names)
    assert any("n -> n+1" in name for name in names)
    for _, mutant in found:
        assert sympy.simplify(mutant - formula) != 0


def test_equivalent_mutants_are_left_out() -> None:
    # The sign of x in x² is no change at all.
    found = mutants((0 - toy.x) ** 2)
    assert all(sympy.expand(mutant - toy.x**2) != 0 for _, mutant in found)


def test_the_selection_is_spread_and_stable() -> None:
    formula = sympy.expand((1 + toy.x) ** 30)
    assert len(mutants(formula, 10)) == 10
    assert mutants(formula, 10) == mutants(formula, 10)


def test_all_mutants_of_a_small_formula() -> None:
    x, y = sympy.symbols("x y")
    T = sympy.Symbol("T", integer=True, positive=True)
    formula = x + T * y**2
    wrong = {
        -formula,
        2 * formula,
        x + (T + 1) * y**2,
        -x + T * y**2,
        2 * x + T * y**2,
        x - T * y**2,
        x + 2 * T * y**2,
        x + T * y**3,
        x + T * y,
    }
    found = mutants(formula)
    assert {mutant for _, mutant in found} == wrong
    assert len(found) == len(wrong)
    assert mutants(formula, 3) == [found[0], found[3], found[6]]
    # In a tuple one entry changes at a time; the others stay, whatever they are.
    both = mutants((formula, "fixed", x), 100)
    first = [pair for name, pair in both if name.startswith("entry 1: ")]
    assert first == [(mutant, "fixed", x) for _, mutant in found]
    assert [pair for name, pair in both if name.startswith("entry 3: ")] == [
        (formula, "fixed", -x),
        (formula, "fixed", 2 * x),
    ]
    assert len(both) == len(first) + 2


def test_only_expressions_have_mutants() -> None:
    assert mutants(lambda value: value) == []
    assert len(mutants((toy.x, 3))) == len(mutants(toy.x))
