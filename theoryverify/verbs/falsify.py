"""``theoryverify falsify``: look for a counterexample to a claim."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theoryverify.claims.paper import Command, Outcome
from theoryverify.errors import InputError, UndecidedError
from theoryverify.verbs.options import seed_number

if TYPE_CHECKING:
    from theoryverify.claims import search


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("claim", nargs="?", metavar="CLAIM")
    parser.add_argument(
        "--list",
        action="store_true",
        dest="only_list",
        help="what can be searched of the claim, or of every claim, and how",
    )
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="HYPOTHESIS",
        help="drop this hypothesis (may be given again)",
    )
    parser.add_argument("--budget", metavar="N", help="cases to look at (the search's own)")
    parser.add_argument("--seed", default="0", metavar="N", help="seed of the search (0)")
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="where to write a counterexample, as a paper file "
        "(out/falsify/found_CLAIM.py, with _ for . and -)",
    )


def _run(args: argparse.Namespace) -> Outcome:
    from theoryverify.claims.search import falsify, searches_of
    from theoryverify.claims.told import told
    from theoryverify.exact.rationals import positive_integer

    if args.claim is None:
        return _listing(_every_search())
    claim = args.claim.strip()
    if args.only_list:
        return _listing(searches_of(claim))
    dropped = [name.strip() for name in args.without]
    seed = seed_number(args.seed)
    budget = None if args.budget is None else positive_integer(args.budget, "budget", most=10**8)
    chosen = searches_of(claim)
    able = [one for one in chosen if set(dropped) <= {h.name for h in one.hypotheses}]
    if not able:
        chosen[0].kept(dropped)  # refuses the name, before any work, and says which there are
        names = ", ".join(map(repr, dropped))
        raise InputError(f"no search of {claim} can drop all of {names} at once")
    chosen = able
    target = _target(args.out, claim)
    outcomes: list[search.Outcome] = []
    for one in chosen:
        try:
            outcomes.append(falsify(one, without=dropped, budget=budget, seed=seed))
        except (InputError, UndecidedError):
            raise
        except (Exception, SystemExit) as error:  # of the search's author: no verdict
            what = f"the search {claim}/{one.name} broke: {told(error, one.judge)}"
            raise UndecidedError(what) from error
        if outcomes[-1].found is not None:
            break
    return _shown(outcomes, target)


def _target(out: str | None, claim: str) -> Path:
    """Where the file would go, known to be writable before the search begins."""
    import re

    from theoryverify.files import writable_folder

    name = "found_" + re.sub(r"\W", "_", claim)
    target = Path(out) if out is not None else Path("out/falsify") / f"{name}.py"
    if target.suffix != ".py" or not target.stem.isidentifier():
        raise InputError(f"--out {str(target)!r} is not called like a module, found_it.py")
    if target.is_dir():
        raise InputError(f"cannot write {target}: it is a folder")
    if out is not None:
        writable_folder(target.parent)
    return target


def _shown(outcomes: list[search.Outcome], target: Path) -> Outcome:
    from theoryverify.claims.counterexample import counterexample_source, outcome_json
    from theoryverify.files import writable_folder, write_text

    rows: list[dict[str, Any]] = [outcome_json(outcome) for outcome in outcomes]
    last = outcomes[-1]
    file = None
    if last.found is not None:
        writable_folder(target.parent)
        file = str(target)
        write_text(target, counterexample_source(last, file))
    lines = [line for outcome in outcomes for line in _lines(outcome, str(target))]
    document = {
        "claim": last.search.claim,
        "found": last.found is not None,
        "file": file,
        "warning": _warning(last),
        "searches": rows,
    }
    return Outcome(document, "\n".join(lines), 1 if last.found is not None else 0)


def _lines(outcome: search.Outcome, file: str) -> list[str]:
    from theoryverify.claims.counterexample import check_command

    one, found = outcome.search, outcome.found
    kept = ", ".join(h.name for h in one.kept(outcome.without)) or "none"
    dropped = ", ".join(outcome.without) or "none"
    cases = "case" if outcome.trials == 1 else "cases"
    looked = f"{outcome.trials} {cases} looked at, seed {outcome.seed}"
    lines = [
        f"{one.claim} ({one.name})",
        f"  statement   {one.statement}",
        f"  domain      {one.space}",
        f"  hypotheses  kept: {kept}; dropped: {dropped}",
    ]
    if found is None:
        lines += [f"  result      nothing found: {looked}. This does not say that it holds."]
        if outcome.void or outcome.unconfirmed:
            lines += [
                f"              {outcome.void} could not be evaluated; {outcome.unconfirmed} looked "
                "like violations in floats and were not confirmed"
            ]
        if outcome.nearest is not None:
            lines += [
                f"  nearest     {outcome.nearest}: margin {outcome.nearest_margin:.3g}, "
                f"{outcome.nearest_verdict} when decided"
            ]
        return lines
    lines += [
        f"  result      counterexample: {found.shown}",
        f"              {found.result.verdict} ({one.rung}): {found.why}",
    ]
    lines += [f"  breaks      {reason}" for reason in found.breaks]
    if not found.breaks:
        lines.append("  breaks      no hypothesis of this search: the statement itself fails here")
    lines += [
        f"  first seen  {found.first}",
        f"  but holds   {found.holds_at or 'at no case that was seen'}",
        *([f"  WARNING     {warning}"] if (warning := _warning(outcome)) else ()),
        f"  looked      {looked}; {outcome.shrinking} more to make it smaller",
        f"  written     {file}   ({check_command(one, file)})",
    ]
    return lines


def _warning(outcome: search.Outcome) -> str | None:
    if outcome.found is None or outcome.found.holds_at is not None:
        return None
    return "the judge said `holds` at no case: one that refutes whatever it sees would do the same"


def _every_search() -> list[search.Search]:
    from theoryverify.claims.discovery import each, leave_out
    from theoryverify.claims.search import declared

    found: list[search.Search] = []
    for paper, _ in each("searches"):
        try:
            found += declared(paper)
        except InputError as error:
            leave_out(paper, error)
    return found


def _listing(searches: Sequence[search.Search]) -> Outcome:
    rows: list[dict[str, Any]] = [
        {
            "claim": one.claim,
            "search": one.name,
            "statement": one.statement,
            "hypotheses": [hypothesis.name for hypothesis in one.hypotheses],
            "domain": str(one.space),
            "rung": str(one.rung),
            "budget": one.budget,
        }
        for one in searches
    ]
    lines = []
    for row in rows:
        lines += [
            f"{row['claim']} ({row['search']}), {row['rung']}, {row['budget']} cases",
            f"  {row['statement']}",
            f"  can drop: {', '.join(map(repr, row['hypotheses'])) or 'nothing'}",
        ]
    return Outcome({"searches": rows}, "\n".join(lines))


COMMAND = Command("falsify", "look for a counterexample to a claim", _configure, _run)
