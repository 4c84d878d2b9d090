"""All figures of all papers."""

from __future__ import annotations

from collections.abc import Sequence

from theoryverify.claims.discovery import each
from theoryverify.claims.paper import Outcome
from theoryverify.errors import InputError
from theoryverify.figures.figure import Figure


def figures() -> dict[str, Figure]:
    """The figures by name, in the papers' order.

    Raises
    ------
    InputError
        If a paper lists something else, or two figures have one name.
    """
    found: dict[str, Figure] = {}
    for paper, listed in each("figures"):
        for figure in listed:
            if not isinstance(figure, Figure):
                raise InputError(f"{figure!r} in the figures of paper {paper.name!r} is no Figure")
            if figure.name.partition(".")[0] != paper.name:
                raise InputError(f"figure {figure.name} stands in paper {paper.name!r}")
            if figure.name in found:
                raise InputError(f"two figures are called {figure.name}")
            found[figure.name] = figure
    return found


def figure_list() -> Outcome:
    """What ``figure --list`` shows."""
    found = figures()
    width = max((len(name) for name in found), default=0)
    text = "\n".join(f"{name:<{width}}  {figure.title}" for name, figure in found.items())
    return Outcome({"figures": [{"name": f.name, "title": f.title} for f in found.values()]}, text)


def selected(names: Sequence[str], *, everything: bool) -> list[Figure]:
    """The named figures, each once.

    Raises
    ------
    InputError
        For an unknown name, no name at all, or names beside ``everything``.
    """
    known = figures()
    if everything and names:
        raise InputError(f"--all draws every figure; leave out {' '.join(names)}")
    if everything:
        return list(known.values())
    if not names:
        raise InputError(f"name a figure or give --all; known: {', '.join(known)}")
    for name in names:
        if name not in known:
            raise InputError(f"figure {name!r} is unknown; known: {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)]
