"""``theoryverify figure``: figures, with the data behind them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from theoryverify.claims.paper import Command, Outcome
from theoryverify.verbs.options import device


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
    from theoryverify.figures.render import render, require_installed
    from theoryverify.files import writable_folder, write_bytes

    if args.list_all:
        return figure_list()
    chosen = selected([name.strip() for name in args.names], everything=args.all)
    seed = positive_integer(args.seed, "seed", least=0, most=2**63)
    jobs = positive_integer(args.jobs, "jobs", most=1024)
    plan = Plan(args.preset, device(args.device), seed, args.store, jobs, args.cluster)
    require_installed(chosen)
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
    document = {"preset": plan.preset, "device": plan.device, "seed": plan.seed, "figures": rows}
    return Outcome(document, "\n".join(file for row in rows for file in row["files"]))


COMMAND = Command("figure", "draw figures, with the data behind them", _configure, _run)
