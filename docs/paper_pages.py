"""One page a paper, every statement with its standing; a hook of MkDocs, which calls ``on_files``.

The standing is that of ``report/report.json`` where a run has left it (or the file that the variable
``THEORYVERIFY_REPORT`` names); without one, the pages say which checks there are.
"""

from __future__ import annotations

import os
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theoryverify.claims.discovery import papers
from theoryverify.claims.paper import Paper
from theoryverify.claims.registry import own_claims
from theoryverify.claims.results import ClaimResult, Report
from theoryverify.claims.stored import read_report
from theoryverify.report.html.marks import RUNGS, VERDICTS
from theoryverify.report.html.mathml import formula

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).parents[1]


def stored_report() -> Report | None:
    """The last run, if there is one."""
    path = Path(os.environ.get("THEORYVERIFY_REPORT", ROOT / "report" / "report.json"))
    return read_report(path) if path.exists() else None


def paper_page(paper: Paper, report: Report | None) -> str:
    """The page's Markdown; statements are MathML, and all text of a claim is escaped."""
    results = {} if report is None else {claim.id: claim for claim in report.claims}
    run = (
        "No run is at hand: the pages name the checks, not their outcome."
        if report is None
        else f"From a run of preset {report.preset}, seed {report.seed}, theoryverify "
        f"{report.versions.get('theoryverify', '')}."
    )
    parts = [f"# {escape(paper.title)}", f"{escape(paper.source)}. {run}"]
    for claim in own_claims(paper).values():
        parts += [
            f"## {escape(claim.id)}",
            f"<p><strong>{escape(claim.title)}</strong><br>{escape(claim.place)}</p>",
            f"<p>{formula(claim.statement).html}</p>",
            f"<p>{_standing(claim, results.get(claim.id))}</p>",
        ]
        if claim.hypotheses:
            names = ", ".join(hypothesis.name for hypothesis in claim.hypotheses)
            parts.append(f"<p>Under: {escape(names)}.</p>")
        if claim.note:
            parts.append(f"<p>{escape(claim.note)}</p>")
    return "\n\n".join(parts) + "\n"


def _standing(claim: Any, result: ClaimResult | None) -> str:
    if not claim.checks:
        return f"{VERDICTS['unchecked']} not checked: {escape(claim.not_checked)}"
    checks = ", ".join(f"{check.name} ({check.rung})" for check in claim.checks)
    if result is None:
        return f"Checks: {escape(checks)}."
    words = f"<strong>{VERDICTS[result.verdict]} {result.verdict}</strong>"
    if result.verdict is not result.expected:
        words += f", expected {result.expected}"
    if result.rung is not None:
        words += f", {RUNGS[result.rung]} {result.rung}{' given' if result.assumes else ''}"
    given = f" Given: {escape('; '.join(result.assumes))}." if result.assumes else ""
    return f"{words}. Checks: {escape(checks)}.{given}"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages to the site, and to its menu."""
    from mkdocs.structure.files import File

    report = stored_report()
    pages = []
    for paper in papers().values():
        address = f"papers/{paper.name}.md"
        files.append(File.generated(config, address, content=paper_page(paper, report)))
        pages.append({paper.name: address})
    if config.nav is not None:
        config.nav.append({"Papers": pages})
    return files
