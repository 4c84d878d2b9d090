"""The command that runs a claim of a report again."""

from __future__ import annotations

import shlex

from theoryverify.claims.discovery import options_for
from theoryverify.claims.ladder import Rung
from theoryverify.claims.results import Report


def rerun(claim: str, report: Report, rung: Rung | None = None) -> str:
    """One line for a shell: the claim, with what it rests on, as it was run; or one rung of that.

    Single checks draw their random numbers from the seed and their own name, so they come out the
    same in this smaller run.
    """
    words = [claim, "--preset", report.preset, "--seed", str(report.seed)]
    if (only := rung or report.rung) is not None:
        words += ["--rung", str(only)]
    for name, value in report.parameters.items():
        words += [f"--{name}", value]
    return f"theoryverify check{options_for(claim.partition('.')[0])} {shlex.join(words)}"
