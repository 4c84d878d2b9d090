"""The run as Markdown, for the summary page of a CI job."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Sequence

from theoryverify.claims.ladder import REFUTED
from theoryverify.claims.results import ClaimResult, Report
from theoryverify.report.compare import Change
from theoryverify.report.text import clean

LIMIT = 1024 * 1000
"""Bytes; GitHub shows no summary above 1024 kB."""
_CUT = "\n*The rest is left out: a job summary has a limit. The whole stands in report.json.*\n"
_SIGNS = {"holds": "✅", "refuted": "❌", "inconclusive": "❔", "outside": "⭕", "error": "⚠️"}


def markdown(report: Report, since: Sequence[Change] | None = None, limit: int = LIMIT) -> str:
    """A headline, what is not as expected, what changed, and a table of all claims.

    Everything that comes from a paper is escaped: it can start no HTML, link or table cell.
    """
    lines = [_headline(report), ""]
    wrong = [claim for claim in report.claims if not claim.as_expected]
    loose = [
        (claim, check, control)
        for claim in report.claims
        for check in claim.checks
        for control in check.controls
        if control.verdict is not REFUTED
    ]
    if wrong or loose:
        lines += ["### Not as expected", ""]
        lines += [
            f"- {_SIGNS[claim.verdict]} `{_code(claim.id)}` ({escape(claim.place)}): "
            f"**{claim.verdict}**, expected {claim.expected}. {escape(claim.reason)}"
            for claim in wrong
        ]
        lines += [
            f"- ⚠️ `{_code(claim.id)}`, check {escape(check.name)}: control "
            f"{escape(control.name)} came out **{control.verdict}**. {escape(control.reason)}"
            for claim, check, control in loose
        ]
        lines.append("")
    if since is not None:
        lines += ["### Since the earlier report", ""]
        lines += [
            f"- **{change.kind}** `{_code(change.claim)}`: {escape(change.text)}"
            for change in since
        ] or ["No verdict, rung, control or assumption changed."]
        lines.append("")
    for paper in dict.fromkeys(claim.paper for claim in report.claims):
        lines += _table(paper, [claim for claim in report.claims if claim.paper == paper])
    facts = dict.fromkeys(fact for claim in report.claims for fact in claim.assumes)
    if facts:
        lines += ["<details><summary>Given</summary>", ""]
        lines += [f"- {escape(fact)}" for fact in facts]
        lines += ["", "</details>", ""]
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    lines += [escape(f"Preset {report.preset}, seed {report.seed}; {versions}."), ""]
    return _within([clean(line) for line in lines], limit)


def _headline(report: Report) -> str:
    checks = [check for claim in report.claims for check in claim.checks]
    controls = [control for check in checks for control in check.controls]
    tried = sum(check.mutants.tried for check in checks)
    killed = sum(check.mutants.killed for check in checks)
    fine = sum(claim.as_expected for claim in report.claims)
    sign = {0: "✅", 3: "❔"}.get(report.exit_code, "❌")
    lines = [f"## {sign} theoryverify: {fine} of {len(report.claims)} claims as expected"]
    if controls:
        refuted = sum(control.verdict is REFUTED for control in controls)
        mutants = f", {killed} of {tried} mutants killed" if tried else ""
        lines.append(f"{refuted} of {len(controls)} controls refuted{mutants}.")
    return "\n\n".join(lines)


def _table(paper: str, claims: Sequence[ClaimResult]) -> list[str]:
    tally = Counter(str(claim.verdict) for claim in claims)
    counts = ", ".join(f"{verdict} {count}" for verdict, count in tally.items())
    lines = [f"<details><summary>{escape(paper)}: {counts}</summary>", ""]
    lines += [
        "| claim | statement | place | verdict | rung | controls |",
        "| - | - | - | - | - | - |",
    ]
    for claim in claims:
        controls = [control for check in claim.checks for control in check.controls]
        refuted = (
            f"{sum(c.verdict is REFUTED for c in controls)}/{len(controls)}" if controls else ""
        )
        rung = f"{claim.rung}{' given' if claim.assumes else ''}" if claim.rung else ""
        verdict = f"{_SIGNS[claim.verdict]} {claim.verdict}"
        if claim.verdict is not claim.expected:
            verdict += f", expected {claim.expected}"
        cells = (f"`{_code(claim.id)}`", escape(claim.title), escape(claim.place), verdict)
        lines.append(f"| {' | '.join((*cells, rung, refuted))} |")
    return [*lines, "", "</details>", ""]


def escape(text: str) -> str:
    """Text that Markdown shows as it is: no HTML, links, emphasis, table cells or line breaks."""
    text = html.escape(" ".join(text.split()), quote=False)
    text = re.sub(r"([\\`*_\[\]{}()#+!~$|@])", r"\\\1", text)
    return text.replace("://", "&#58;//").replace("www.", "www&#46;")


def _code(text: str) -> str:
    return re.sub(r"[`|\s]", "", text)


def _within(lines: Sequence[str], limit: int) -> str:
    whole = "\n".join(lines)
    if len(whole.encode("utf-8")) <= limit:
        return whole
    room = limit - len(_CUT.encode("utf-8")) - 32
    kept, open_folds = [], 0
    for line in "\n".join(lines).split("\n"):
        room -= len(line.encode("utf-8")) + 1
        if room < 0:
            break
        open_folds += line.startswith("<details>") - line.startswith("</details>")
        kept.append(line)
    closing = ["", "</details>"] if open_folds else []
    return "\n".join([*kept, *closing, _CUT])
