"""Which papers there are: installed ones, and files named with ``--papers``.

Installed papers stand in the entry-point group ``theoryverify.papers``, the built-in ones included.
A paper that breaks is left out and remembered with its reason; it does not take the others down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from theoryverify.claims.paper import Paper
from theoryverify.claims.paper_files import (
    as_options,
    imported_files,
    make_importable,
    name_files,
    named_files,
    paper_of,
)
from theoryverify.claims.told import described
from theoryverify.errors import InputError

GROUP = "theoryverify.papers"


@dataclass(frozen=True)
class Found:
    """Papers by name, and why each of the others is left out."""

    papers: dict[str, Paper] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    from_files: list[str] = field(default_factory=list)


@lru_cache(maxsize=1)
def discover() -> Found:
    """All papers, in the order of their names; those from files last."""
    found = Found()
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            _admit(found, point.load(), f"entry point {point.name!r} ({point.value})")
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # sys.exit too
            found.broken[point.name] = f"({point.value}) does not import: {described(error)}"
    make_importable(named_files())
    for file in named_files():
        try:
            paper = paper_of(file)
            _admit(found, paper, str(file))
            found.from_files.append(paper.name)
        except InputError as error:
            found.broken[str(file)] = str(error)
    return found


def _admit(found: Found, paper: object, where: str) -> None:
    if not isinstance(paper, Paper):
        raise InputError(f"{where} is not a Paper")
    if paper.name in found.papers:
        raise InputError(f"two papers are called {paper.name!r}")
    found.papers[paper.name] = paper


def papers() -> dict[str, Paper]:
    """All papers that import, by name."""
    return discover().papers


def paper_named(name: str) -> Paper:
    """One paper.

    Raises
    ------
    InputError
        If there is none of that name, or why it is left out.
    """
    found = discover()
    if name in found.broken:
        raise InputError(f"paper {name!r} {found.broken[name]}")
    if name not in found.papers:
        known = ", ".join(found.papers) or "none"
        raise InputError(
            f"paper {name!r} is unknown; known: {known} (a file of your own: --papers FILE)"
        )
    return found.papers[name]


def unknown_claim(name: str) -> InputError:
    """That a paper has no claim of that name, with the command that lists those it has."""
    paper = name.partition(".")[0]
    command = f"theoryverify list{options_for(paper)} --paper {paper}"
    return InputError(f"claim {name!r} is unknown; `{command}` shows them all")


def options_for(paper: str) -> str:
    """What a command needs beside the paper's name: nothing, or the files that were named."""
    return as_options() if paper in discover().from_files else ""


def each(what: str) -> Iterator[tuple[Paper, Sequence[Any]]]:
    """One of the five lists of every paper; a paper whose list breaks is left out."""
    for paper in papers().values():
        try:
            items = paper.load(what)
        except InputError as error:
            leave_out(paper, error)
            continue
        yield paper, items


def leave_out(paper: Paper, error: InputError) -> None:
    """Remember why a paper is not among the results."""
    discover().broken.setdefault(paper.name, str(error))


# -- files -------------------------------------------------------------------------------------


def use_files(paths: Sequence[str]) -> None:
    """Add papers from Python files, here and in every worker process.

    Parameters
    ----------
    paths : sequence of str
        Files ``my_paper.py``, or folders with an ``__init__.py``, that define ``paper``. They may
        import each other, in any order, and what lies beside them.

    Raises
    ------
    InputError
        If one does not exist, does not import, or defines no ``paper``.
    """
    files = imported_files(paths)
    if files:
        name_files(files)
    discover.cache_clear()
    for path, reason in discover().broken.items():
        if Path(path) in files:
            raise InputError(f"{path}: {reason}")
