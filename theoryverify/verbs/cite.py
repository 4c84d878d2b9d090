"""``theoryverify cite``: BibTeX of the papers, theorems, methods and libraries that a run used."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from theoryverify.claims.paper import Command, Outcome
from theoryverify.errors import InputError

if TYPE_CHECKING:
    from theoryverify.claims.references import Reference, Used


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names",
        nargs="*",
        metavar="ID or PAPER",
        help="claims or papers; without one, the files of --papers, or all papers",
    )
    parser.add_argument(
        "--from",
        dest="report",
        metavar="REPORT.json",
        help="what this run used, with the theorems that it took as given",
    )


def _run(args: argparse.Namespace) -> Outcome:
    from theoryverify.claims.references import OWN, Used, cited, without_reference
    from theoryverify.claims.registry import select
    from theoryverify.claims.stored import read_report

    names = [name.strip() for name in args.names]
    if args.report:
        if names:
            raise InputError("name claims, or a report with --from, not both")
        used = Used.by(read_report(Path(args.report)))
    else:
        claims, _ = select(names)
        rungs = frozenset(check.rung for claim in claims.values() for check in claim.checks)
        used = Used(frozenset(claims), rungs)
    found = cited(OWN, used)
    for name in sorted(used.papers):
        found += cited(_references(name), used)
    found = list({reference.key: reference for reference in found}.values())
    # "lca.G.4 (only certified)" is a claim that ran, and no fact to cite.
    facts = [fact for fact in used.facts if fact.partition(" (")[0] not in used.claims]
    bare = without_reference(facts, found)
    document = {
        "references": [{"key": r.key, "used_for": r.used_for, "bibtex": r.bibtex()} for r in found],
        "without_reference": bare,
    }
    return Outcome(document, _text(found, bare, used, bool(args.report)))


def _references(name: str) -> tuple[Reference, ...]:
    """Those that a paper names; for one that names none, itself."""
    from theoryverify.claims.discovery import papers
    from theoryverify.claims.references import Reference

    paper = papers().get(name)
    if paper is None:
        return ()
    listed = tuple(paper.load("references"))
    for reference in listed:
        if not isinstance(reference, Reference):
            raise InputError(f"{reference!r} in the references of {name!r} is no Reference")
    fields = {"title": paper.title, "howpublished": paper.source}
    return listed or (Reference(name, "misc", fields, "the paper", always=True),)


def _text(found: list[Reference], bare: list[str], used: Used, ran: bool) -> str:
    parts = [f"% {reference.used_for}\n{reference.bibtex()}" for reference in found]
    if bare:
        lines = "\n".join(f"%   {' '.join(fact.split())}" for fact in bare)
        parts.append(f"% taken as given, without a reference of its own:\n{lines}")
    if not ran:
        parts.append("% name a report with --from to cite the theorems that its run took as given")
    return "\n\n".join(parts)


COMMAND = Command("cite", "BibTeX of what the checks rest on", _configure, _run)
