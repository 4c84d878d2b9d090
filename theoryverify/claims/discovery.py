"""Which papers there are: installed ones, and files named with ``--papers``.

Installed papers stand in the entry-point group ``theoryverify.papers``, the built-in ones included.
A paper that breaks is left out and remembered with its reason; it does not take the others down.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from theoryverify.claims.paper import Paper
from theoryverify.errors import InputError

GROUP = "theoryverify.papers"
VARIABLE = "THEORYVERIFY_PAPERS"
"""Paths of paper files, separated like ``PATH``: so worker processes find what the user named."""


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
        except Exception as error:
            found.broken[point.name] = f"({point.value}) does not import: {_described(error)}"
    for path in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        try:
            paper = _from_file(Path(path))
            _admit(found, paper, path)
            found.from_files.append(paper.name)
        except InputError as error:
            found.broken[path] = str(error)
    return found


def _admit(found: Found, paper: object, where: str) -> None:
    if not isinstance(paper, Paper):
        raise InputError(f"{where} is not a Paper")
    if paper.name in found.papers:
        raise InputError(f"two papers are called {paper.name!r}")
    found.papers[paper.name] = paper


def _described(error: BaseException) -> str:
    return str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"


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
        raise InputError(f"paper {name!r} is unknown; known: {known}")
    return found.papers[name]


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
        Files ``my_paper.py``, or folders with an ``__init__.py``, that define ``paper``.

    Raises
    ------
    InputError
        If one does not exist, does not import, or defines no ``paper``.
    """
    files = [Path(path).resolve() for path in paths]
    for file, written in zip(files, paths, strict=True):
        if os.pathsep in str(file):
            raise InputError(f"paper file {written!r}: its path must not contain {os.pathsep!r}")
        _from_file(file)
    if files:
        before = os.environ.get(VARIABLE, "").split(os.pathsep)
        every = dict.fromkeys([*filter(None, before), *map(str, files)])
        os.environ[VARIABLE] = os.pathsep.join(every)
    discover.cache_clear()
    for path, reason in discover().broken.items():
        if Path(path) in files:
            raise InputError(f"{path}: {reason}")


def _from_file(path: Path) -> Paper:
    """The ``paper`` that a file defines, imported under the file's own name."""
    source = path / "__init__.py" if path.is_dir() else path
    if path.is_dir() and not source.is_file():
        raise InputError(f"folder {str(path)!r} has no __init__.py; name the paper's file in it")
    if not source.is_file():
        raise InputError(f"paper file {str(path)!r} does not exist")
    name = path.stem
    if not (name.isidentifier() and (path.is_dir() or path.suffix == ".py")):
        raise InputError(f"paper file {str(path)!r} is not called like a module, my_paper.py")
    module = sys.modules.get(name)
    if module is None or Path(getattr(module, "__file__", None) or "") != source:
        module = _imported(name, source)
    if not isinstance(paper := getattr(module, "paper", None), Paper):
        raise InputError(f"paper file {str(path)!r} defines no `paper = Paper(...)`")
    return paper


def _imported(name: str, source: Path) -> Any:
    loaded = sys.modules.get(name)
    spec = None if loaded else importlib.util.find_spec(name)
    origin = loaded.__file__ or "loaded" if loaded else spec and spec.origin
    if origin and origin != str(
        source
    ):  # a mere folder of that name has no origin, and is no module
        raise InputError(
            f"paper file {str(source)!r} has the name of another module ({origin}); call it otherwise"
        )
    inside = [str(source.parent)] if source.name == "__init__.py" else None
    spec = importlib.util.spec_from_file_location(name, source, submodule_search_locations=inside)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if not isinstance(error, Exception):
            raise
        raise InputError(
            f"paper file {str(source)!r} does not import: {_described(error)}{_line(error, source)}"
        ) from error
    return module


def _line(error: BaseException, source: Path) -> str:
    """Where in the file it happened: its author wants the line, not our traceback."""
    place, line = error.__traceback__, 0
    while place is not None:
        if place.tb_frame.f_code.co_filename == str(source):
            line = place.tb_lineno
        place = place.tb_next
    return f" (line {line})" if line else ""
