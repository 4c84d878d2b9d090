"""``theoryverify new``: the start of a paper of one's own."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from theoryverify.claims.paper import Command, Outcome


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="letters a to z, digits and _: my_paper")
    parser.add_argument("--in", dest="parent", default=".", metavar="DIR", help="where (here)")


def _run(args: argparse.Namespace) -> Outcome:
    from theoryverify.claims.discovery import papers
    from theoryverify.scaffold import create

    name = args.name.strip()
    written = create(name, Path(args.parent), taken=papers())
    lines = [*map(str, written), "", "Check it:", f"  cd {shlex.quote(str(written[0].parent))}"]
    lines.append(f"  theoryverify check --papers {name}.py")
    return Outcome({"files": [str(path) for path in written]}, "\n".join(lines))


COMMAND = Command("new", "write the start of a paper of your own", _configure, _run)
