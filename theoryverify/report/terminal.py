"""The run as a table on a terminal, or as plain text where there is none."""

from __future__ import annotations

import shutil
import sys
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from theoryverify.claims.ladder import ERROR, HOLDS, INCONCLUSIVE, OUTSIDE, REFUTED, Verdict
from theoryverify.claims.results import CheckResult, ClaimResult, Report

_STYLE = {
    HOLDS: "green",
    REFUTED: "red",
    INCONCLUSIVE: "yellow",
    OUTSIDE: "cyan",
    ERROR: "bold red",
}
_PLAIN_WIDTH = 160


def console(stream: TextIO | None = None) -> Console:
    """A console that is wide enough for the table where nobody sets a width."""
    stream = stream or sys.stdout
    width = None if stream.isatty() else max(shutil.get_terminal_size().columns, _PLAIN_WIDTH)
    return Console(file=stream, width=width, highlight=False)


def _verdict(verdict: Verdict, expected: Verdict) -> Text:
    text = Text(str(verdict), style=_STYLE[verdict])
    if verdict is expected and verdict is not HOLDS:
        text.append(" (as expected)", style="dim")
    elif verdict is not expected:
        text.append(f", not {expected}", style="bold red")
    return text


def show_report(report: Report, out: Console) -> None:
    """The verdicts: claim, place, verdict, best rung, scope, controls refuted, seconds."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, options in (
        ("claim", {"no_wrap": True}),
        ("statement", {"ratio": 3}),
        ("place", {"ratio": 2}),
        ("verdict", {"ratio": 1}),
        ("rung", {"no_wrap": True}),
        ("scope", {"ratio": 4}),
        ("controls", {"no_wrap": True, "justify": "right"}),
        ("mutants", {"no_wrap": True, "justify": "right"}),
        ("s", {"no_wrap": True, "justify": "right"}),
    ):
        table.add_column(name, **options)
    for claim in report.claims:
        table.add_row(
            Text(claim.id),
            Text(claim.title),
            Text(claim.place),
            _verdict(claim.verdict, claim.expected),
            "" if claim.rung is None else str(claim.rung) + (" given" if claim.assumes else ""),
            Text(_scope(claim)),
            _controls(claim.checks) or "-",
            _mutants(claim.checks) or "-",
            f"{claim.seconds:.1f}",
        )
    out.print(table)
    _show_assumptions(report, out)
    _show_reasons(report, out)
    out.print("\n" + summary(report))


def _scope(claim: ClaimResult) -> str:
    """The scope of the best check that counts."""
    counted = [check for check in claim.checks if check.verdict is claim.own_verdict]
    best = max(counted, key=lambda check: check.rung.height, default=None)
    return "" if best is None else best.scope


def _controls(checks: tuple[CheckResult, ...]) -> str:
    controls = [control for check in checks for control in check.controls]
    return f"{sum(c.verdict is REFUTED for c in controls)}/{len(controls)}" if controls else ""


def _mutants(checks: tuple[CheckResult, ...]) -> str:
    tried = sum(check.mutants.tried for check in checks)
    return f"{sum(check.mutants.killed for check in checks)}/{tried}" if tried else ""


def _show_assumptions(report: Report, out: Console) -> None:
    """The facts that checks assume, once for all claims; the claims that one rests on, by its own."""
    checks = [check for claim in report.claims for check in claim.checks]
    facts = list(dict.fromkeys(fact for check in checks for fact in check.assumes))
    lines = ["given: " + "; ".join(facts)] if facts else []
    for claim in report.claims:
        rests_on = [given for given in claim.assumes if given not in facts]
        if rests_on and claim.rung:
            lines.append(f"{claim.id}: {claim.rung} given {'; '.join(rests_on)}")
    if lines:
        out.print("\n" + "\n".join(lines), style="dim", markup=False)


def _show_reasons(report: Report, out: Console) -> None:
    for claim in report.claims:
        if claim.reason and (claim.verdict is not HOLDS or not claim.as_expected):
            out.print(f"{claim.id}: {claim.reason}", style="dim", markup=False)
        for check in claim.checks:
            for control in check.controls:
                if control.verdict is not REFUTED:
                    out.print(
                        f"{claim.id}/{check.name}: control {control.name!r} came out "
                        f"{control.verdict}: {control.reason}",
                        style="bold red",
                        markup=False,
                    )


def summary(report: Report) -> str:
    """One line: how many claims are as expected, controls refuted, mutants killed, if any were."""
    checks = tuple(check for claim in report.claims for check in claim.checks)
    fine = sum(claim.as_expected for claim in report.claims)
    parts = [f"{fine} of {len(report.claims)} claims as expected"]
    if controls := _controls(checks):
        parts.append(f"{controls} controls refuted")
    if mutants := _mutants(checks):
        parts.append(f"{mutants} mutants killed")
    return "; ".join([*parts, f"preset {report.preset}, seed {report.seed}"])


class Progress:
    """Which check runs now: one changing line on a terminal, one line a check elsewhere."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()

    def __call__(self, name: str, done: int, total: int, result: CheckResult | None) -> None:
        if self._live:
            columns = shutil.get_terminal_size().columns - 1
            state = name if result is None else f"{name}: {result.verdict}"
            line = f"[{done}/{total}] {state}"[:columns]
            self._stream.write("\r\x1b[2K" + line)
        elif result is not None:
            self._stream.write(
                f"[{done}/{total}] {name}: {result.verdict} ({result.rung}, "
                f"{result.seconds:.1f} s)\n"
            )
        self._stream.flush()

    def close(self) -> None:
        if self._live:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
