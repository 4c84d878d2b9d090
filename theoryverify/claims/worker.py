"""A worker process: reads one check a line from standard input, answers one result a line.

Run as ``python -m theoryverify.claims.worker``. Whatever a check prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from theoryverify.claims.claim import Check, Claim, Context
    from theoryverify.claims.ladder import Evidence


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a check that prints must not break the protocol
    from theoryverify.claims.claim import Context
    from theoryverify.claims.discovery import paper_named
    from theoryverify.claims.examine import run_check
    from theoryverify.claims.parameters import placed
    from theoryverify.claims.registry import own_claims

    for line in sys.stdin:
        task = json.loads(line)
        claims = own_claims(paper_named(task["paper"]))
        claim = claims[task["claim"]]
        if task["parameters"]:
            claim = placed(claim, task["parameters"]).claim
        check = next(check for check in claim.checks if check.name == task["check"])
        context = Context(
            task["preset"], task["seed"], task["device"], parameters=task["parameters"]
        )
        keep = partial(_certified, task, claim, check, context)
        result = run_check(claim, check, context, keep)
        answers.write(json.dumps(result.to_json() | {"raw_reason": result.reason}) + "\n")
        answers.flush()


def _certified(
    task: dict[str, Any], claim: Claim, check: Check, context: Context, evidence: Evidence
) -> None:
    """Write the certificate, where a folder for them was named."""
    if task.get("certificates"):
        from theoryverify.claims.certificate import write

        folder = Path(task["certificates"])
        write(folder, claim, check, evidence, context, task["versions"])


if __name__ == "__main__":
    main()
