"""Papers in files of the user's own: their import, and the options that name them again."""

from __future__ import annotations

import importlib.util
import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from theoryverify.claims.paper import Paper
from theoryverify.claims.told import described, last_frame
from theoryverify.errors import InputError

VARIABLE = "THEORYVERIFY_PAPERS"
"""Paths of paper files, separated like ``PATH``: so worker processes find what the user named."""


def named_files() -> list[Path]:
    """The files that the user named, here or to the process that started this one."""
    return [Path(path) for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]


def name_files(files: Iterable[Path]) -> None:
    """Add to them."""
    every = dict.fromkeys([*named_files(), *files])
    os.environ[VARIABLE] = os.pathsep.join(map(str, every))


def as_options() -> str:
    """`` --papers mine.py`` for each file, for a command that works from the working folder."""
    here = Path.cwd()
    files = [
        file.relative_to(here) if file.is_relative_to(here) else file for file in named_files()
    ]
    return "".join(f" --papers {shlex.quote(str(file))}" for file in files)


def make_importable(files: Iterable[Path]) -> None:
    """Let papers import what lies beside them, and each other.

    Their folders come last on the path: a file there must hide neither the standard library nor
    what is installed.
    """
    for folder in dict.fromkeys(str(file.parent) for file in files):
        if folder not in sys.path:
            sys.path.append(folder)


def imported_files(paths: Sequence[str]) -> list[Path]:
    """The files that hold papers, after each has been imported.

    Raises
    ------
    InputError
        If one does not exist, does not import, or defines no ``paper``; or if two would be given the
        same module, though each has its own beside it.
    """
    files = [Path(path).resolve() for path in paths]
    for file, written in zip(files, paths, strict=True):
        if os.pathsep in str(file):
            raise InputError(f"paper file {written!r}: its path must not contain {os.pathsep!r}")
    make_importable(files)
    before = set(sys.modules)
    for file in files:
        paper_of(file)
    _refuse_twins(list(dict.fromkeys(file.parent for file in files)), set(sys.modules) - before)
    return files


def _refuse_twins(folders: Sequence[Path], modules: Iterable[str]) -> None:
    for name in sorted(modules):
        files = [folder / f"{name}.py" for folder in folders]
        there = [str(file) for file in files if file.is_file()]
        if len(there) > 1:
            raise InputError(
                f"two papers have a module {name!r} beside them, and only the first would be imported; "
                f"rename one: {', '.join(there)}"
            )


def paper_of(path: Path) -> Paper:
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
        if isinstance(error, KeyboardInterrupt):
            raise
        frame = last_frame(error, {str(source)})
        raise InputError(
            f"paper file {str(source)!r} does not import: {described(error)}"
            + (f" (line {frame.lineno})" if frame else "")
        ) from error
    return module
