"""The command line. Heavy modules are imported by the verb that needs them, when it runs.

A verb returns an :class:`~theoryverify.claims.paper.Outcome`; this module alone decides whether its
text or its JSON document is printed, and turns bad input into one line and exit code 2.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from theoryverify.claims.paper import Command, Outcome
from theoryverify.errors import InputError, UndecidedError

DESCRIPTION = "Checks the theory in machine-learning papers by machine."
EPILOG = (
    "exit codes of check: 0 every verdict is the expected one and every control refuted; 1 not so; "
    "3 only inconclusive ones stand between; 2 bad input; 4 a check broke"
)


class _Parser(argparse.ArgumentParser):
    """One line on standard error instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message} (see `{self.prog} --help`)")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        args = _parser().parse_args(_protect_minus(arguments))
        outcome: Outcome = args.run(args)
    except InputError as error:
        print(f"theoryverify: {_one_line(error)}", file=sys.stderr)
        return 2
    except UndecidedError as error:
        print(f"theoryverify: undecided: {_one_line(error)}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("theoryverify: interrupted", file=sys.stderr)
        return 130
    try:
        if args.json:
            print(json.dumps(outcome.document, indent=2, ensure_ascii=False))
        elif outcome.text:
            print(outcome.text)
        sys.stdout.flush()
    except BrokenPipeError:  # `theoryverify list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return outcome.exit_code


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _protect_minus(arguments: list[str]) -> list[str]:
    """Let values begin with a minus: ``--b -2``, ``--beta -1/2``, ``exponent -z**3``.

    The only short option is ``-h``; every other argument with a single leading minus is a value,
    which a leading space tells argparse. Values are stripped where they are read.
    """
    return [f" {item}" if re.match(r"-[^-]", item) and item != "-h" else item for item in arguments]


def _parser() -> argparse.ArgumentParser:
    from theoryverify.claims.registry import papers

    parser = _Parser(prog="theoryverify", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"theoryverify {_version()}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for command in _CORE:
        _add(verbs, command)
    for paper in papers().values():
        for command in paper.load("commands"):
            _add(verbs, command, paper.name)
    return parser


def _add(verbs: argparse._SubParsersAction, command: Command, paper: str = "") -> None:  # type: ignore[type-arg]
    if command.name in verbs.choices:
        raise InputError(f"paper {paper!r} adds a second verb {command.name!r}")
    text = command.help + (f" ({paper})" if paper else "")
    verb = verbs.add_parser(command.name, help=text, description=text[0].upper() + text[1:] + ".")
    command.configure(verb)
    verb.add_argument("--json", action="store_true", help="print one JSON document")
    verb.set_defaults(run=command.run)


def _version() -> str:
    from importlib.metadata import version

    return version("theoryverify")


# -- list --------------------------------------------------------------------------------------


def _configure_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--paper", metavar="P", help="only this paper")
    parser.add_argument(
        "--from",
        dest="report",
        metavar="REPORT.json",
        help="show each statement's standing in this report",
    )


def _list(args: argparse.Namespace) -> Outcome:
    from theoryverify.claims.listing import listing, listing_text, read_standing

    standing = read_standing(Path(args.report)) if args.report else {}
    rows = listing(args.paper, standing)
    return Outcome({"claims": rows}, listing_text(rows))


# -- check -------------------------------------------------------------------------------------


def _configure_check(parser: argparse.ArgumentParser) -> None:
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


def _check(args: argparse.Namespace) -> Outcome:
    from theoryverify.claims.claim import Context
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
    context = Context(args.preset, seed, _device(args.device))
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
    return Outcome(document, "", report.exit_code)


def _device(name: str) -> str:
    """``cpu``, or a CUDA device that is really there."""
    if name == "cpu":
        return name
    if not re.fullmatch(r"cuda(:\d+)?", name):
        raise InputError(f"device {name!r} is unknown; write cpu, cuda or cuda:N")
    try:
        import torch
    except ImportError as error:
        raise InputError(
            f"device {name!r} needs Torch: pip install 'theoryverify[simulate]'"
        ) from error
    count = torch.cuda.device_count()
    if int(name.partition(":")[2] or 0) >= count:
        raise InputError(f"device {name!r} is not there; this machine has {count} CUDA devices")
    return name


# -- derive ------------------------------------------------------------------------------------


def _configure_derive(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME")
    parser.add_argument(
        "--list", action="store_true", dest="list_all", help="the derivations there are"
    )
    parser.add_argument("--latex", action="store_true", help="formulas in LaTeX")


def _derive(args: argparse.Namespace) -> Outcome:
    from theoryverify.claims.derive import derivation_list, derive

    if args.list_all or args.name is None:
        return derivation_list()
    return derive(args.name.strip(), latex=args.latex)


# -- figure ------------------------------------------------------------------------------------


def _configure_figure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--all", action="store_true", help="every figure")
    parser.add_argument(
        "--list", action="store_true", dest="list_all", help="the figures there are"
    )
    parser.add_argument("--preset", choices=("quick", "laptop", "paper"), default="quick")
    parser.add_argument("--device", default="cpu", metavar="D", help="cpu or cuda")
    parser.add_argument(
        "--out",
        default="out/figures",
        metavar="DIR",
        help="folder for PNG, PDF, CSV and caption (out/figures)",
    )


def _figure(args: argparse.Namespace) -> Outcome:
    from theoryverify.figures.catalogue import figure_list, selected
    from theoryverify.figures.figure import Plan
    from theoryverify.figures.render import render, require_matplotlib
    from theoryverify.report.files import writable_folder, write_bytes

    if args.list_all:
        return figure_list()
    chosen = selected([name.strip() for name in args.names], everything=args.all)
    plan = Plan(args.preset, _device(args.device))
    require_matplotlib()
    folder = writable_folder(Path(args.out))
    rows = []
    for figure in chosen:
        files = render(figure, figure.data(plan), plan)
        for name, content in files.items():
            write_bytes(folder / name, content)
        rows.append(
            {
                "name": figure.name,
                "title": figure.title,
                "files": [str(folder / name) for name in files],
            }
        )
        print(f"{figure.name}: written", file=sys.stderr)
    document = {"preset": plan.preset, "device": plan.device, "figures": rows}
    return Outcome(document, "\n".join(file for row in rows for file in row["files"]))


_CORE = (
    Command("list", "every statement: covered by checks, or not and why", _configure_list, _list),
    Command("check", "run checks and show the verdicts", _configure_check, _check),
    Command("derive", "print a derivation step by step", _configure_derive, _derive),
    Command("figure", "draw figures, with the data behind them", _configure_figure, _figure),
)
