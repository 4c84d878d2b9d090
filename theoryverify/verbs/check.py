"""``theoryverify check``: run checks and show the verdicts."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from theoryverify.claims.paper import Command, Outcome
from theoryverify.errors import InputError
from theoryverify.verbs.options import device


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names",
        nargs="*",
        metavar="ID or PAPER",
        help="claims or papers; all papers if none is named",
    )
    parser.add_argument("--preset", choices=("quick", "full"), default="quick")
    parser.add_argument(
        "--rung",
        choices=("proved", "certified", "computed", "simulated"),
        help="run only the checks of this rung",
    )
    parser.add_argument("--seed", default="0", metavar="N", help="seed of all random checks (0)")
    parser.add_argument("--jobs", metavar="N", help="worker processes (one a core)")
    parser.add_argument("--device", default="cpu", metavar="D", help="cpu or cuda")
    parser.add_argument(
        "--report", metavar="DIR", help="write report.json and junit.xml into this folder"
    )
    parser.add_argument("--junit", metavar="FILE", help="write JUnit XML to this file")


def _run(args: argparse.Namespace) -> Outcome:
    from theoryverify.claims.claim import Context
    from theoryverify.claims.discovery import discover
    from theoryverify.claims.ladder import Rung
    from theoryverify.claims.registry import select
    from theoryverify.claims.runner import run
    from theoryverify.exact.rationals import positive_integer
    from theoryverify.report.files import writable_folder, write_text
    from theoryverify.report.junit import junit
    from theoryverify.report.terminal import Progress, console, show_report

    claims, _ = select([name.strip() for name in args.names])
    seed = positive_integer(args.seed, "seed", least=0, most=2**63)
    jobs = None if args.jobs is None else positive_integer(args.jobs, "jobs", most=256)
    folder = writable_folder(Path(args.report)) if args.report else None
    junit_file = Path(args.junit) if args.junit else None
    if junit_file is not None:
        if junit_file.is_dir():
            raise InputError(f"cannot write {junit_file}: it is a folder")
        writable_folder(junit_file.parent)
    context = Context(args.preset, seed, device(args.device))
    progress = Progress()
    try:
        report = run(
            claims,
            context,
            rung=Rung(args.rung) if args.rung else None,
            jobs=jobs,
            progress=progress,
        )
    finally:
        progress.close()
    if not report.claims:
        raise InputError(
            f"no check of rung {args.rung!r} in {', '.join(args.names) or 'any paper'}"
        )
    document = report.to_json()
    if folder is not None:
        write_text(
            folder / "report.json", json.dumps(document, indent=1, ensure_ascii=False) + "\n"
        )
        write_text(folder / "junit.xml", junit(report))
    if junit_file is not None:
        write_text(junit_file, junit(report))
    if not args.json:
        show_report(report, console())
        if folder is not None:
            print(f"report: {folder / 'report.json'}, {folder / 'junit.xml'}")
    # Asked for every paper, a paper that could not be read is bad input; the others have run.
    broken = not args.names and bool(discover().broken)
    return Outcome(document, "", 2 if broken else report.exit_code)


COMMAND = Command("check", "run checks and show the verdicts", _configure, _run)
