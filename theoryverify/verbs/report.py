"""``theoryverify report``: a stored report as a table, a page, a summary, without running anything."""

from __future__ import annotations

import argparse
from pathlib import Path

from theoryverify.claims.paper import Command, Outcome
from theoryverify.report.outputs import Outputs, add_options


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="REPORT.json", help="written by check --report")
    add_options(parser)


def _run(args: argparse.Namespace) -> Outcome:
    from theoryverify.claims.stored import read_report

    report = read_report(Path(args.file.strip()))
    outputs = Outputs.prepare(args, report.preset, report.rung, report.parameters)
    document = report.to_json()
    return Outcome(document, "", outputs.conclude(report, document, quiet=args.json))


COMMAND = Command(
    "report", "show a stored report, or write it as a page or a summary", _configure, _run
)
