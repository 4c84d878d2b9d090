"""The claims of papers, validated, and the choice among them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from theoryverify.claims.claim import Claim
from theoryverify.claims.discovery import (
    discover,
    leave_out,
    paper_named,
    papers,
    unknown_claim,
)
from theoryverify.claims.paper import Paper
from theoryverify.errors import InputError


def own_claims(paper: Paper) -> dict[str, Claim]:
    """The claims of one paper by id, in its order.

    Raises
    ------
    InputError
        For something that is no claim, two claims of one id, or a claim that is neither checked
        nor said not to be.
    """
    found: dict[str, Claim] = {}
    for claim in paper.load("claims"):
        if not isinstance(claim, Claim):
            raise InputError(f"{claim!r} in the claims of paper {paper.name!r} is no Claim")
        if claim.paper != paper.name:
            raise InputError(f"claim {claim.id} stands in paper {paper.name!r}")
        if claim.id in found:
            raise InputError(f"two claims have the id {claim.id}")
        if not claim.checks and not claim.not_checked:
            raise InputError(f"claim {claim.id} has no check and no reason for that")
        found[claim.id] = claim
    return found


def require_claims(paper: Paper, names: Iterable[str], who: str) -> None:
    """Refuse a search or a derivation of claims that its paper does not have.

    Raises
    ------
    InputError
        Naming who speaks of the claim.
    """
    own = own_claims(paper)
    for name in names:
        if name not in own:
            raise InputError(f"{who} speaks of claim {name!r}, which paper {paper.name!r} has not")


def claims_of(selected: Iterable[Paper]) -> dict[str, Claim]:
    """All claims of some papers by id, and those of the papers that they rest on.

    Raises
    ------
    InputError
        For what :func:`own_claims` refuses, an unknown dependency or a cycle.
    """
    found: dict[str, Claim] = {}
    queue = {paper.name: paper for paper in selected}
    read: set[str] = set()
    while waiting := [paper for name, paper in queue.items() if name not in read]:
        for paper in waiting:
            read.add(paper.name)
            own = own_claims(paper)
            found |= own
            for other in {other for claim in own.values() for other in claim.depends_on}:
                name = other.partition(".")[0]
                if name in papers():
                    queue.setdefault(name, papers()[name])
    for claim in found.values():
        for other in claim.depends_on:
            if other not in found:
                raise InputError(f"claim {claim.id} depends on {other!r}, which does not exist")
    _refuse_cycles(found)
    return found


def sound_papers() -> list[Paper]:
    """The papers whose claims can be read; the others are left out, with the reason remembered."""
    sound = []
    for paper in list(papers().values()):
        try:
            claims_of([paper])
        except InputError as error:
            leave_out(paper, error)
        else:
            sound.append(paper)
    return sound


def _refuse_cycles(claims: dict[str, Claim]) -> None:
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            cycle = " -> ".join([*path[path.index(name) :], name])
            raise InputError(f"claims depend on each other in a cycle: {cycle}")
        if name not in done:
            for other in claims[name].depends_on:
                visit(other, (*path, name))
            done.add(name)

    for name in claims:
        visit(name, ())


def select(names: Sequence[str]) -> tuple[dict[str, Claim], set[str]]:
    """The claims that the named papers and ids stand for, with all that they depend on.

    Without a name: the papers of ``--papers FILE`` if there are any, else every paper.

    Returns
    -------
    claims : dict
        Every claim involved, dependencies first where they were not asked for.
    asked : set
        Ids that were asked for.
    """
    if not names:
        names = discover().from_files or [paper.name for paper in sound_papers()]
    chosen_papers: dict[str, Paper] = {}
    for name in names:
        paper = name.partition(".")[0]
        chosen_papers[paper] = paper_named(paper)
    everything = claims_of(chosen_papers.values())
    asked: set[str] = set()
    for name in names:
        if name in chosen_papers:
            asked |= {key for key in everything if everything[key].paper == name}
        elif name in everything:
            asked.add(name)
        else:
            raise unknown_claim(name)
    wanted = set(asked)
    frontier = list(asked)
    while frontier:
        for other in everything[frontier.pop()].depends_on:
            if other not in wanted:
                wanted.add(other)
                frontier.append(other)
    return {key: claim for key, claim in everything.items() if key in wanted}, asked
