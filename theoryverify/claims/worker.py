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


MEMORY = "THEORYVERIFY_MEMORY_MB"
"""Address space of a worker; by default as much as the machine has memory."""


def limit_memory(device: str) -> None:
    """Let a check that asks for more memory than there is fail alone, as a ``MemoryError``.

    Without a limit the operating system would choose what to kill. CUDA reserves address space far
    beyond its use, so there is none on a GPU; nor on systems without such limits.
    """
    try:
        import resource
    except ImportError:
        return
    if device != "cpu":
        return
    named = os.environ.get(MEMORY, "")
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit = int(named) * 2**20 if named.isdigit() else pages
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


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
        limit_memory(task["device"])
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
