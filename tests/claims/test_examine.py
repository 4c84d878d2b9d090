"""One check: its verdict, its controls, its cases, its mutants."""

import pytest
import sympy

from tests.claims import toy
from theoryverify.claims.claim import Claim, Context
from theoryverify.claims.examination import Examination
from theoryverify.claims.examine import examine, run_check
from theoryverify.claims.ladder import ERROR, HOLDS, INCONCLUSIVE, OUTSIDE, REFUTED, Evidence
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
