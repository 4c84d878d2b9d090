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


def test_what_a_claim_rests_on_stands_under_the_facts_of_all() -> None:
    def shown(*assumes: str, **changes: object) -> str:
        claim = samples.claim("toy.A", assumes=assumes, **changes)
        out = io.StringIO()
        show_report(Report((claim,), "quick", 4, {}), console(out))
        return out.getvalue()

    text = shown("a strong law", "toy.B (only certified)")
    assert "\ngiven: a strong law\ntoy.A: proved given toy.B (only certified)\n\n1 of 1" in text
    assert "toy.A: " not in shown("a strong law")
    undecided = shown("toy.B (only certified)", verdict=OUTSIDE, rung=None)
    assert "given toy.B" not in undecided  # nothing was shown that could rest on it
