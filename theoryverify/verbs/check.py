"""``theoryverify check``: run checks and show the verdicts."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from theoryverify.claims.paper import Command, Outcome
from theoryverify.errors import InputError
from theoryverify.files import writable_folder
from theoryverify.report.outputs import Outputs, add_options
from theoryverify.verbs import parameters
from theoryverify.verbs.options import device, seed_number

if TYPE_CHECKING:
    from theoryverify.claims.claim import Claim, Context
    from theoryverify.claims.ladder import Rung

_NAMED = 8  # of the claims that did not run; the document has them all


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names",
        nargs="*",
        metavar="ID or PAPER",
        help="claims or papers; without one, the files of --papers, or all papers",
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
    from theoryverify.claims.runner import no_check_runs, run
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
        raise _nothing_ran(", ".join(args.names or discover().from_files), claims, context, rung)
    ran = {claim.id for claim in report.claims}
    left = [claim.id for claim in claims.values() if claim.checks and claim.id not in ran]
    document = report.to_json() | {"not_run": left} | parameters.document(given, placed)
    note = parameters.text(given, placed)
    if left:
        count = f"{len(left)} claim{'s' if len(left) > 1 else ''}"
        names = ", ".join(left[:_NAMED]) + (", and so on" if left[_NAMED:] else "")
        note = f"{count} not run ({no_check_runs(args.preset, rung)}): {names}\n{note}"
    code = outputs.conclude(report, document, quiet=args.json, note=note)
    # Asked for every paper, a paper that could not be read is bad input; the others have run.
    broken = not args.names and bool(discover().broken)
    return Outcome(document, "", 2 if broken else code)


def _nothing_ran(
    where: str, claims: dict[str, Claim], context: Context, rung: Rung | None
) -> InputError:
    """Why no check ran: there is none, or the preset or the rung leaves them out."""
    from theoryverify.claims.runner import no_check_runs, runs

    where = where or "any paper"
    if not claims:
        return InputError(f"there is no claim in {where}")
    if not any(claim.checks for claim in claims.values()):
        return InputError(f"no statement of {where} has a check; `theoryverify list` says why")
    fuller = any(runs(check, "full", rung) for claim in claims.values() for check in claim.checks)
    return InputError(
        f"{no_check_runs(context.preset, rung)} in {where}"
        + ("; try --preset full" if fuller else "")
    )


def _folder(name: str) -> Path:
    """The folder for certificates, with those of an earlier run taken out: they would mislead."""
    from theoryverify.claims.certificate import clear

    folder = writable_folder(Path(name))
    clear(folder)
    return folder


COMMAND = Command("check", "run checks and show the verdicts", _configure, _run)
