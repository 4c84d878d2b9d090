"""``theoryverify check``: run checks and show the verdicts."""

from __future__ import annotations

import argparse
from pathlib import Path

from theoryverify.claims.paper import Command, Outcome
from theoryverify.errors import InputError
from theoryverify.files import writable_folder
from theoryverify.report.outputs import Outputs, add_options
from theoryverify.verbs import parameters
from theoryverify.verbs.options import device, seed_number


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
        "--certificates",
        metavar="DIR",
        help="write what certify.py needs to re-verify every proved and certified check",
    )
    add_options(parser)
    parameters.configure(parser)


def _run(args: argparse.Namespace) -> Outcome:
    from theoryverify.claims.claim import Context
    from theoryverify.claims.discovery import discover
    from theoryverify.claims.ladder import Rung
    from theoryverify.claims.registry import select
    from theoryverify.claims.runner import run
    from theoryverify.exact.rationals import positive_integer
    from theoryverify.report.terminal import Progress

    claims, asked = select([name.strip() for name in args.names])
    given = parameters.given(args)
    claims, placed = parameters.place(args, claims, asked, given)
    seed = seed_number(args.seed)
    jobs = None if args.jobs is None else positive_integer(args.jobs, "jobs", most=256)
    rung = Rung(args.rung) if args.rung else None
    outputs = Outputs.prepare(args, args.preset, rung, given)
    certificates = None if args.certificates is None else _folder(args.certificates)
    context = Context(args.preset, seed, device(args.device), parameters=given)
    progress = Progress()
    try:
        report = run(
            claims, context, rung=rung, jobs=jobs, certificates=certificates, progress=progress
        )
    finally:
        progress.close()
    if not report.claims:
        where = ", ".join(args.names) or "any paper"
        if args.rung is None and args.preset == "quick":
            raise InputError(f"no check of {where} runs at the preset quick; try --preset full")
        raise InputError(f"no check of rung {args.rung!r} in {where}")
    document = report.to_json() | parameters.document(given, placed)
    note = parameters.text(given, placed)
    code = outputs.conclude(report, document, quiet=args.json, note=note)
    # Asked for every paper, a paper that could not be read is bad input; the others have run.
    broken = not args.names and bool(discover().broken)
    return Outcome(document, "", 2 if broken else code)


def _folder(name: str) -> Path:
    """The folder for certificates, with those of an earlier run taken out: they would mislead."""
    from theoryverify.claims.certificate import clear

    folder = writable_folder(Path(name))
    clear(folder)
    return folder


COMMAND = Command("check", "run checks and show the verdicts", _configure, _run)
