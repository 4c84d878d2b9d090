"""``theoryverify list``: every statement, covered or not."""

from __future__ import annotations

import argparse
from pathlib import Path

from theoryverify.claims.paper import Command, Outcome


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names",
        nargs="*",
        metavar="ID or PAPER",
        help="claims or papers; without one, the files of --papers, or all papers",
    )
    parser.add_argument(
        "--paper",
        action="append",
        default=[],
        metavar="P",
        help="a paper, by another way (may be given again)",
    )
    parser.add_argument(
        "--from",
        dest="report",
        metavar="REPORT.json",
        help="show each statement's standing in this report",
    )


def _run(args: argparse.Namespace) -> Outcome:
    from theoryverify.claims.discovery import paper_named
    from theoryverify.claims.listing import listing, listing_text, read_standing

    standing = read_standing(Path(args.report)) if args.report else {}
    named = [paper_named(name.strip()).name for name in args.paper]
    rows = listing([*(name.strip() for name in args.names), *named], standing)
    return Outcome({"claims": rows}, listing_text(rows))


COMMAND = Command("list", "every statement: covered by checks, or not and why", _configure, _run)
