"""The run in one line, in the form that badge services read (shields.io endpoint, version 1)."""

from __future__ import annotations

from typing import Any

from theoryverify.claims.results import Report

_COLOURS = {0: "brightgreen", 3: "yellow", 1: "red", 4: "critical"}


def badge(report: Report, label: str = "theorems") -> dict[str, Any]:
    """``{"schemaVersion": 1, "label": ..., "message": "93/93 as expected", "color": ...}``.

    Green only if every verdict is the expected one and every control was refuted.
    """
    fine = sum(claim.as_expected for claim in report.claims)
    message = f"{fine}/{len(report.claims)} as expected"
    code = report.exit_code
    if code == 4:
        message += ", a check broke"
    elif code and fine == len(report.claims):
        message += ", a control was not refuted"
    return {
        "schemaVersion": 1,
        "label": label,
        "message": message,
        "color": _COLOURS[code],
        "isError": code not in (0, 3),
    }
