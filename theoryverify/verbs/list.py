"""``theoryverify list``: every statement, covered or not."""

from __future__ import annotations

import argparse
from pathlib import Path

from theoryverify.claims.paper import Command, Outcome


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--paper", metavar="P", help="only this paper")
    parser.add_argument(
        "--from",
        dest="report",
        metavar="REPORT.json",
        help="show each statement's standing in this report",
    )


def _run(args: argparse.Namespace) -> Outcome:
    from theoryverify.claims.listing import listing, listing_text, read_standing

    standing = read_standing(Path(args.report)) if args.report else {}
    rows = listing(args.paper, standing)
    return Outcome({"claims": rows}, listing_text(rows))


COMMAND = Command("list", "every statement: covered by checks, or not and why", _configure, _run)
