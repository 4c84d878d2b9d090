"""The command line. Heavy modules are imported by the verb that needs them, when it runs.

A verb returns an :class:`~theoryverify.claims.paper.Outcome`; this module alone decides whether its
text or its JSON document is printed, and turns bad input into one line and exit code 2.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from theoryverify.claims.discovery import discover, each, leave_out, use_files
from theoryverify.claims.paper import Command, Outcome
from theoryverify.errors import (
    InputError,
    ProcessLost,
    SweepFailed,
    TrainingDiverged,
    UndecidedError,
)
from theoryverify.pipes import readers_may_go
from theoryverify.verbs import CORE

DESCRIPTION = "Checks the theory in machine-learning papers by machine."
EPILOG = (
    "exit codes of check: 0 every verdict is the expected one and every control refuted; 1 not so; "
    "3 only inconclusive ones stand between; 2 bad input; 4 a check broke"
)


EXTRAS = {
    "torch": "simulate",
    "scipy": "simulate",
    "safetensors": "simulate",
    "joblib": "simulate",
    "distributed": "cluster",
    "matplotlib": "figures",
    "sklearn": "data",
}
"""Modules that may be absent, and the extra that brings each."""


class _Parser(argparse.ArgumentParser):
    """One line on standard error instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message} (see `{self.prog} --help`)")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    warnings.formatwarning = _plain_warning
    with readers_may_go():
        return _main(list(sys.argv[1:] if argv is None else argv))


def _main(argv: list[str]) -> int:
    try:
        args = _parsed(_protect_minus(_take_papers(argv)))
        outcome: Outcome = args.run(args)
    except InputError as error:
        print(f"theoryverify: {_one_line(error)}", file=sys.stderr)
        return 2
    except UndecidedError as error:
        print(f"theoryverify: undecided: {_one_line(error)}", file=sys.stderr)
        return 3
    except (TrainingDiverged, SweepFailed, ProcessLost) as error:
        print(f"theoryverify: {_one_line(error)}", file=sys.stderr)
        return 1
    except ModuleNotFoundError as error:
        if (extra := EXTRAS.get((error.name or "").partition(".")[0])) is None:
            raise
        print(
            f"theoryverify: {error.name} is not installed and is needed here: "
            f'pip install "theoryverify[{extra}]"',
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt as stop:
        how = f"; {stop}" if str(stop) else ""  # what a verb knows of going on
        print(f"theoryverify: interrupted{how}", file=sys.stderr)
        return 130
    for name, reason in discover().broken.items():
        print(f"theoryverify: left out: paper {name!r}: {_one_line(reason)}", file=sys.stderr)
    if args.json:
        print(json.dumps(outcome.document, indent=2, ensure_ascii=False))
    elif outcome.text:
        print(outcome.text)
    return outcome.exit_code


def _parsed(arguments: list[str]) -> argparse.Namespace:
    """What the verb is given; what it does not know is refused with the verb's own help."""
    args, unknown = _parser().parse_known_args(arguments)
    if unknown:
        raise InputError(
            f"unrecognized arguments: {' '.join(unknown)} (see `theoryverify {args.verb} --help`)"
        )
    return args


_honest_format = warnings.formatwarning


def _plain_warning(message: Any, category: type[Warning], *where: Any, **more: Any) -> str:
    """A warning of ours is for the user: in a line, and without the place in our source."""
    if category.__module__.partition(".")[0] == "theoryverify":
        return f"theoryverify: {_one_line(message)}\n"
    return _honest_format(message, category, *where, **more)


def _one_line(error: object) -> str:
    return " ".join(str(error).split())


def _protect_minus(arguments: list[str]) -> list[str]:
    """Let values begin with a minus: ``--b -2``, ``--beta -1/2``, ``exponent -z**3``.

    The only short option is ``-h``; every other argument with a single leading minus is a value,
    which a leading space tells argparse. Values are stripped where they are read.
    """
    return [f" {item}" if re.match(r"-[^-]", item) and item != "-h" else item for item in arguments]


def _take_papers(arguments: list[str]) -> list[str]:
    """Read ``--papers FILE`` before all else: a paper file may bring verbs of its own."""
    parser = _Parser(add_help=False, allow_abbrev=False, prog="theoryverify")
    _add_papers(parser)
    known, rest = parser.parse_known_args(arguments)
    if known.papers:
        use_files(known.papers)
    return rest


def _add_papers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--papers",
        action="append",
        metavar="FILE",
        help="a paper of your own, my_paper.py (may be given again)",
    )


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="theoryverify", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"theoryverify {_version()}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for command in CORE:
        _add_papers(_add(verbs, command))
    for paper, commands in each("commands"):
        for command in commands:
            if command.name in verbs.choices:
                leave_out(paper, InputError(f"its verb {command.name!r} is taken"))
            else:
                _add(verbs, command, paper.name)
    return parser


def _add(
    verbs: argparse._SubParsersAction,  # type: ignore[type-arg]
    command: Command,
    paper: str = "",
) -> argparse.ArgumentParser:
    text = command.help + (f" ({paper})" if paper else "")
    verb: argparse.ArgumentParser = verbs.add_parser(
        command.name, help=text, description=text[0].upper() + text[1:] + "."
    )
    command.configure(verb)
    verb.add_argument("--json", action="store_true", help="print one JSON document")
    verb.set_defaults(run=command.run)
    return verb


def _version() -> str:
    from importlib.metadata import version

    return version("theoryverify")
