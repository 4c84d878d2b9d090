"""``theoryverify derive``: a derivation, step by step."""

from __future__ import annotations

import argparse
import json

from theoryverify.claims.paper import Command, Outcome
from theoryverify.errors import InputError


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME")
    parser.add_argument(
        "--list", action="store_true", dest="list_all", help="the derivations there are"
    )
    parser.add_argument("--latex", action="store_true", help="formulas in LaTeX")
    parser.add_argument(
        "--notebook", metavar="FILE", help="write it as a Jupyter notebook (nbformat 4)"
    )


def _run(args: argparse.Namespace) -> Outcome:
    from theoryverify.claims.derive import (
        BROKE,
        DerivationFailed,
        derivation_list,
        derivation_named,
        derive,
    )

    if args.list_all or args.name is None:
        if args.notebook:
            raise InputError("--notebook needs the NAME of a derivation")
        return derivation_list()
    name = args.name.strip()
    if not args.notebook:
        return derive(name, latex=args.latex)
    from theoryverify.files import write_text
    from theoryverify.report.notebook import notebook
    from theoryverify.report.outputs import writable_file

    derivation = derivation_named(name)
    path = writable_file(args.notebook)
    try:
        document = notebook(derivation)
    except DerivationFailed as failed:
        return Outcome({"name": name, "broken": str(failed)}, f"{name}, {failed}", BROKE)
    write_text(path, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    return Outcome({"name": name, "notebook": str(path)}, f"notebook: {path}")


COMMAND = Command("derive", "print a derivation step by step", _configure, _run)
