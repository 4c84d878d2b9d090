"""The table on a terminal, and its last line."""

from __future__ import annotations

import io

import pytest

from tests.report import samples
from theoryverify.claims.ladder import OUTSIDE
from theoryverify.claims.results import CheckResult, MutantResult, Report
from theoryverify.report.html.view import summary_counts
from theoryverify.report.summary import markdown
from theoryverify.report.terminal import console, show_report

NOT_MUTATED = samples.check("toy.A", mutants=MutantResult())
OUT_OF_REACH = samples.check("toy.A", found=OUTSIDE, controls=(), mutants=MutantResult())


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (samples.check("toy.A"), "1/1 controls refuted; 1/2 mutants killed; "),
        (NOT_MUTATED, "1/1 controls refuted; "),
        (OUT_OF_REACH, ""),
    ],
)
def test_the_last_line_counts_only_what_there_was(check: CheckResult, words: str) -> None:
    report = Report((samples.claim("toy.A", check),), "quick", 4, {"theoryverify": "9"})
    out = io.StringIO()
    show_report(report, console(out))
    last = out.getvalue().splitlines()[-1]
    assert last == f"1 of 1 claims as expected; {words}preset quick, seed 4"


def test_no_controls_are_not_none_of_none() -> None:
    report = Report((samples.claim("toy.A", OUT_OF_REACH),), "quick", 4, {"theoryverify": "9"})
    assert "0 of 0" not in markdown(report)
    assert summary_counts(report)["controls refuted"] == "–"
