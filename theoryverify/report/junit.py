"""The run as JUnit XML: one test case a check, its evidence as properties."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from theoryverify.claims.ladder import ERROR, INCONCLUSIVE
from theoryverify.claims.results import CheckResult, ClaimResult, Report

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: Report) -> str:
    """A JUnit document. A check fails where its claim's verdict is not the expected one, or where
    a control was accepted; it is skipped where it is inconclusive."""
    root = ET.Element("testsuites", name="theoryverify")
    papers: dict[str, list[ClaimResult]] = {}
    for claim in report.claims:
        papers.setdefault(claim.paper, []).append(claim)
    for paper, claims in papers.items():
        checks = [(claim, check) for claim in claims for check in claim.checks]
        suite = ET.SubElement(
            root,
            "testsuite",
            name=paper,
            tests=str(len(checks)),
            time=f"{sum(check.seconds for _, check in checks):.3f}",
        )
        counts = {"failures": 0, "errors": 0, "skipped": 0}
        for claim, check in checks:
            kind = _add_case(suite, claim, check)
            if kind:
                counts[kind] += 1
        for name, count in counts.items():
            suite.set(name, str(count))
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _add_case(suite: ET.Element, claim: ClaimResult, check: CheckResult) -> str:
    case = ET.SubElement(
        suite,
        "testcase",
        classname=_clean(claim.id),
        name=_clean(check.name),
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
    ):
        ET.SubElement(properties, "property", name=name, value=_clean(str(value)))
    why = _clean(check.why or claim.reason)
    if check.verdict is ERROR or any(c.verdict is ERROR for c in check.controls):
        ET.SubElement(case, "error", message=why)
        return "errors"
    accepted = [c for c in check.controls if c.verdict not in ("refuted", INCONCLUSIVE)]
    if check.verdict is INCONCLUSIVE and not accepted:
        ET.SubElement(case, "skipped", message=f"inconclusive: {why}")
        return "skipped"
    if accepted or not claim.as_expected:
        ET.SubElement(case, "failure", message=why or f"{claim.verdict}, expected {claim.expected}")
        return "failures"
    return ""


def _clean(text: str) -> str:
    return _NOT_XML.sub("?", text)
