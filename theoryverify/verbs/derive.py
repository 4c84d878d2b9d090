"""``theoryverify derive``: a derivation, step by step."""

from __future__ import annotations

import argparse

from theoryverify.claims.paper import Command, Outcome


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME")
    parser.add_argument(
        "--list", action="store_true", dest="list_all", help="the derivations there are"
    )
    parser.add_argument("--latex", action="store_true", help="formulas in LaTeX")


def _run(args: argparse.Namespace) -> Outcome:
    from theoryverify.claims.derive import derivation_list, derive

    if args.list_all or args.name is None:
        return derivation_list()
    return derive(args.name.strip(), latex=args.latex)


COMMAND = Command("derive", "print a derivation step by step", _configure, _run)
