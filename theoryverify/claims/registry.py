"""Which papers there are, and their claims, validated.

Papers are found through the entry-point group ``theoryverify.papers``, the built-in ones included.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.metadata import entry_points

from theoryverify.claims.claim import Claim
from theoryverify.claims.paper import Paper
from theoryverify.errors import InputError

GROUP = "theoryverify.papers"


@lru_cache(maxsize=1)
def papers() -> dict[str, Paper]:
    """All installed papers by name, in the order of their names.

    Raises
    ------
    InputError
        If an entry point does not import or is not a :class:`Paper`; the message names it.
    """
    found: dict[str, Paper] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            paper = point.load()
        except Exception as error:
            raise InputError(
                f"paper {point.name!r} ({point.value}) does not import: "
                f"{type(error).__name__}: {error}"
            ) from error
        if not isinstance(paper, Paper):
            raise InputError(f"entry point {point.name!r} ({point.value}) is not a Paper")
        if paper.name in found:
            raise InputError(f"two papers are called {paper.name!r}")
        found[paper.name] = paper
    return found


def paper_named(name: str) -> Paper:
    known = papers()
    if name not in known:
        raise InputError(f"paper {name!r} is unknown; known: {', '.join(known) or 'none'}")
    return known[name]


def claims_of(selected: Iterable[Paper]) -> dict[str, Claim]:
    """All claims of some papers by id, in the papers' order.

    Raises
    ------
    InputError
        For two claims of one id, an unknown dependency or a cycle.
    """
    found: dict[str, Claim] = {}
    for paper in selected:
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
    for claim in found.values():
        for other in claim.depends_on:
            if other not in found:
                raise InputError(f"claim {claim.id} depends on {other!r}, which does not exist")
    _refuse_cycles(found)
    return found


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

    Returns
    -------
    claims : dict
        Every claim involved, dependencies first where they were not asked for.
    asked : set
        Ids that were asked for.
    """
    if not names:
        names = list(papers())
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
            raise InputError(f"claim {name!r} is unknown; `theoryverify list` shows them all")
    wanted = set(asked)
    frontier = list(asked)
    while frontier:
        for other in everything[frontier.pop()].depends_on:
            if other not in wanted:
                wanted.add(other)
                frontier.append(other)
    return {key: claim for key, claim in everything.items() if key in wanted}, asked
