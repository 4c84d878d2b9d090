"""``pytest --theorems``: one test a check, selected by rung and paper."""

import pytest


def test_one_test_a_check(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess(
        "--theorems=lca.C.1,lca.C.2", "-v", "-p", "no:cacheprovider"
    )
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*lca.C.1/normal equations PASSED*", "*lca.C.2/means PASSED*"])


def test_selection_by_rung_and_paper(pytester: pytest.Pytester) -> None:
    listing = pytester.runpytest_subprocess(
        "--theorems=lca", "--collect-only", "-q", "-m", "proved"
    )
    text = "\n".join(listing.outlines)
    assert "lca.F.3/squeeze for all T" in text
    assert "bracket for all T" not in text
    both = pytester.runpytest_subprocess("--theorems=lca.E.2", "-m", "lca and certified", "-v")
    both.assert_outcomes(passed=1, deselected=1)


def test_own_tests_run_beside_the_theorems(pytester: pytest.Pytester) -> None:
    file = pytester.makepyfile("def test_mine():\n    assert True\n")
    pytester.runpytest_subprocess(str(file), "--theorems=lca.C.1").assert_outcomes(passed=2)
    pytester.runpytest_subprocess("--theorems=lca.C.1").assert_outcomes(passed=1)
    pytester.runpytest_subprocess(str(file)).assert_outcomes(passed=1)


def test_junit_carries_the_evidence(pytester: pytest.Pytester) -> None:
    pytester.runpytest_subprocess("--theorems=lca.C.1", "--junit-xml=j.xml")
    text = (pytester.path / "j.xml").read_text("utf-8")
    for part in (
        'name="rung" value="proved"',
        'name="controls" value="3/3"',
        'name="verdict" value="holds"',
    ):
        assert part in text


def test_unknown_papers_are_a_usage_error(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--theorems=nope")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --theorems=nope: paper 'nope' is unknown*"])


TROUBLED = """
import os
import sys
import time
from theoryverify.claims import PROVED, Claim, Paper

CLAIMS = [Claim(f"mine.{name}", "Lemma", "1=1") for name in ("loops", "exits", "leaves", "sound")]


def check(formula, context, examination):
    where = context.name.split("/")[0]
    while where == "mine.loops":
        time.sleep(1)
    if where == "mine.exits":
        os._exit(0)
    if where == "mine.leaves":
        sys.exit(0)
    examination.decide("formula = 1", formula == 1)
    return examination.evidence("always")


for claim in CLAIMS:
    claim.check("one", PROVED, formula=1, controls={"two": 2}, mutate=False, timeout=5)(check)
paper = Paper("mine", "My paper", "nowhere", claims=CLAIMS)
"""


def test_a_check_that_loops_or_ends_its_process_fails_alone(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(my_paper=TROUBLED)
    result = pytester.runpytest_subprocess("--theorems", "--papers=my_paper.py", "-v")
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(
        [
            "*mine.loops/one FAILED*",
            "*mine.sound/one PASSED*",
            "*no answer within 5 s*",
            "*its process ended with code 0*",
            "*its process ended with code 0*",
        ]
    )


def test_a_worker_finds_what_pytest_put_on_the_path(pytester: pytest.Pytester) -> None:
    (pytester.mkdir("src") / "my_formulas.py").write_text("ONE = 1\n")
    pytester.makeini("[pytest]\npythonpath = src\n")
    pytester.makepyfile(my_paper="import my_formulas\n" + TROUBLED)
    result = pytester.runpytest_subprocess("--theorems=mine.sound", "--papers=my_paper.py")
    result.assert_outcomes(passed=1)
