"""``theoryverify list``: every statement, covered or not, with its standing in a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from theoryverify.claims.discovery import papers
from theoryverify.claims.registry import select
from theoryverify.claims.stored import read_report


def listing(names: Sequence[str], standing: dict[str, str]) -> list[dict[str, Any]]:
    """One row a claim, in the order of the papers, for the names that :func:`select` takes."""
    claims, asked = select(names)
    rows = []
    for claim in claims.values():
        if claim.id not in asked:  # one on which these rest
            continue
        rows.append(
            {
                "id": claim.id,
                "paper": claim.paper,
                "source": f"{papers()[claim.paper].source}, {claim.place}",
                "title": claim.title,
                "statement": claim.statement,
                "hypotheses": [hypothesis.name for hypothesis in claim.hypotheses],
                "depends_on": list(claim.depends_on),
                "rungs": [str(rung) for rung in claim.rungs],
                "coverage": "covered" if claim.checks else "not checked",
                "reason": claim.not_checked,
                "expected": str(claim.expected),
                "standing": standing.get(claim.id),
            }
        )
    return rows


def listing_text(rows: list[dict[str, Any]]) -> str:
    """The rows as aligned columns."""
    lines = []
    width = max((len(row["id"]) for row in rows), default=0)
    for row in rows:
        state = row["standing"] or ", ".join(row["rungs"]) or f"not checked: {row['reason']}"
        lines.append(
            f"{row['id']:<{width}}  {row['title']}\n{'':<{width}}  {row['source']}  [{state}]"
        )
    covered = sum(row["coverage"] == "covered" for row in rows)
    lines.append(f"{covered} of {len(rows)} statements are covered by checks")
    return "\n".join(lines)


def read_standing(path: Path) -> dict[str, str]:
    """From a claim's id to its verdict and rung in a report.

    Raises
    ------
    InputError
        If the file is missing, is no report, or is of another format version.
    """
    return {
        claim.id: str(claim.verdict)
        + (f", {claim.rung}{' given' if claim.assumes else ''}" if claim.rung else "")
        for claim in read_report(path).claims
    }
