"""The run as JUnit XML: one test case a check, its evidence as properties."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from theoryverify.claims.ladder import ERROR, INCONCLUSIVE, REFUTED
from theoryverify.claims.results import CheckResult, ClaimResult, Report
from theoryverify.report.commands import rerun
from theoryverify.report.text import clean


def junit(report: Report) -> str:
    """A JUnit document. A check fails where its claim's verdict is not the expected one, or where
    a control was accepted; it is skipped where it is inconclusive.

    GitHub's actions show the message and the text of a failure, GitLab the text alone: both say what
    was found. The counts stand on the root too, where some readers look.
    """
    root = ET.Element("testsuites", name="theoryverify")
    papers: dict[str, list[ClaimResult]] = {}
    for claim in report.claims:
        papers.setdefault(claim.paper, []).append(claim)
    total = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for paper, claims in papers.items():
        suite = ET.SubElement(root, "testsuite", name=clean(paper))
        counts = dict.fromkeys(total, 0)
        for claim in claims:
            for check in claim.checks:
                counts["tests"] += 1
                kind = _add_case(suite, claim, check, report)
                if kind:
                    counts[kind] += 1
        _set_counts(suite, counts, [check for claim in claims for check in claim.checks])
        for name, count in counts.items():
            total[name] += count
    _set_counts(root, total, [check for claim in report.claims for check in claim.checks])
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _set_counts(suite: ET.Element, counts: dict[str, int], checks: list[CheckResult]) -> None:
    for name, count in counts.items():
        suite.set(name, str(count))
    suite.set("time", f"{sum(check.seconds for check in checks):.3f}")


def _add_case(suite: ET.Element, claim: ClaimResult, check: CheckResult, report: Report) -> str:
    """Add a test case; says which count it belongs to, if any."""
    case = ET.SubElement(
        suite,
        "testcase",
        classname=clean(claim.id),
        name=clean(check.name),
        time=f"{check.seconds:.3f}",
    )
    properties = ET.SubElement(case, "properties")
    for name, value in (
        ("rung", check.rung),
        ("verdict", check.verdict),
        ("claim_verdict", claim.verdict),
        ("expected", claim.expected),
        ("scope", check.scope),
        ("place", claim.place),
        (
            "controls",
            f"{sum(c.verdict == 'refuted' for c in check.controls)}/{len(check.controls)}",
        ),
        ("mutants", str(check.mutants)),
        *(("assumes", fact) for fact in check.assumes),
        *(("claim_given", fact) for fact in claim.assumes),
    ):
        ET.SubElement(properties, "property", name=name, value=clean(str(value)))
    kind, message = _outcome(claim, check)
    if kind:
        element = {"errors": "error", "failures": "failure", "skipped": "skipped"}[kind]
        found = ET.SubElement(case, element, message=clean(message))
        if kind != "skipped":
            found.set("type", str(check.verdict))
        found.text = clean(_details(claim, check, message, report))
    return kind


def _outcome(claim: ClaimResult, check: CheckResult) -> tuple[str, str]:
    why = check.why or claim.reason
    if check.verdict is ERROR or any(c.verdict is ERROR for c in check.controls):
        return "errors", why
    accepted = [c for c in check.controls if c.verdict not in (REFUTED, INCONCLUSIVE)]
    if check.verdict is INCONCLUSIVE and not accepted:
        return "skipped", f"inconclusive: {why}"
    if accepted or not claim.as_expected:
        return "failures", why or f"{claim.verdict}, expected {claim.expected}"
    return "", ""


def _details(claim: ClaimResult, check: CheckResult, message: str, report: Report) -> str:
    """A few lines for a reader who has nothing but this file."""
    lines = [
        f"{claim.id} ({claim.place}): {claim.verdict}, expected {claim.expected}",
        claim.title,
        f"check {check.name!r} ({check.rung}): {check.verdict}. {message}",
    ]
    lines += [
        f"step {step['name']}: {step['shown']}" for step in check.steps if step["holds"] is not True
    ]
    lines += [
        f"control {control.name!r} came out {control.verdict}: {control.reason}"
        for control in check.controls
        if control.verdict is not REFUTED
    ]
    lines.append(f"again: {rerun(claim.id, report)}")
    return "\n".join(lines)
