"""``theoryverify figure``: figures, with the data behind them."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theoryverify.claims.paper import Command, Outcome
from theoryverify.errors import (
    InputError,
    ProcessLost,
    SweepFailed,
    TrainingDiverged,
    UndecidedError,
)
from theoryverify.verbs.options import device, seed_number

if TYPE_CHECKING:
    from theoryverify.figures.figure import Figure, Plan

MEANT = (InputError, ProcessLost, SweepFailed, TrainingDiverged, UndecidedError)
"""What the command line says in a line of its own."""


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--all", action="store_true", help="every figure")
    parser.add_argument(
        "--list", action="store_true", dest="list_all", help="the figures there are"
    )
    parser.add_argument("--preset", choices=("quick", "laptop", "paper"), default="quick")
    parser.add_argument("--device", default="cpu", metavar="D", help="cpu or cuda")
    parser.add_argument("--seed", default="0", metavar="N", help="of what is simulated (0)")
    parser.add_argument(
        "--store",
        metavar="DIR",
        help="folder for what is computed, from which a stopped run goes on (out/store or "
        "THEORYVERIFY_STORE; none for quick)",
    )
    parser.add_argument("--jobs", default="1", metavar="N", help="worker processes (1)")
    parser.add_argument(
        "--cluster", metavar="tcp://HOST:PORT", help="a Dask scheduler, instead of processes here"
    )
    parser.add_argument(
        "--out",
        default="out/figures",
        metavar="DIR",
        help="folder for PNG, PDF, CSV and caption (out/figures)",
    )


def _run(args: argparse.Namespace) -> Outcome:
    from theoryverify.exact.rationals import positive_integer
    from theoryverify.figures.catalogue import figure_list, selected
    from theoryverify.figures.figure import Plan
    from theoryverify.figures.render import require_installed

    if args.list_all:
        return figure_list()
    chosen = selected([name.strip() for name in args.names], everything=args.all)
    seed = seed_number(args.seed)
    jobs = positive_integer(args.jobs, "jobs", most=1024)
    plan = Plan(args.preset, device(args.device), seed, args.store, jobs, args.cluster)
    if plan.cluster is not None:
        from theoryverify.simulate.pools import require_address

        require_address(plan.cluster)
    require_installed(chosen)
    with _folders(Path(args.out), plan) as folder:
        rows = [_written(figure, plan, folder) for figure in chosen]
    document = {"preset": plan.preset, "device": plan.device, "seed": plan.seed, "figures": rows}
    return Outcome(document, "\n".join(file for row in rows for file in row["files"]))


@contextlib.contextmanager
def _folders(out: Path, plan: Plan) -> Iterator[Path]:
    """The folder for figures and that of the store: known to take files, and gone if left empty."""
    from theoryverify.files import folder_for_a_while

    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(folder_for_a_while(out))
        if plan.keeps:
            from theoryverify.simulate.store import Store

            stack.enter_context(folder_for_a_while(Store.open(plan.store).root))
        yield folder


@contextlib.contextmanager
def _told(figure: Figure, what: str) -> Iterator[None]:
    """Say in one line what a figure of the user's file raises; what a command may raise stays."""
    from theoryverify.claims.discovery import options_for
    from theoryverify.claims.told import told

    try:
        yield
    except (*MEANT, ModuleNotFoundError):
        raise
    except (Exception, SystemExit) as error:
        if not options_for(figure.name.partition(".")[0]):
            raise  # an installed paper's: a fault to trace
        raise InputError(f"figure {figure.name}: {told(error, getattr(figure, what))}") from error


def _written(figure: Figure, plan: Plan, folder: Path) -> dict[str, Any]:
    from theoryverify.figures.figure import Data
    from theoryverify.figures.render import render
    from theoryverify.files import write_bytes

    with _told(figure, "data"):
        data = figure.data(plan)
    if not isinstance(data, Data):
        raise InputError(f"figure {figure.name}: its data must be a Data, not {data!r:.80}")
    with _told(figure, "draw"):
        files = render(figure, data, plan)
    for name, content in files.items():
        write_bytes(folder / name, content)
    print(f"{figure.name}: written", file=sys.stderr)
    return {
        "name": figure.name,
        "title": figure.title,
        "files": [str(folder / name) for name in files],
    }


COMMAND = Command("figure", "draw figures, with the data behind them", _configure, _run)
