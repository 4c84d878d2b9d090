"""Which code a result depends on, as hashes that comments and formatting do not change.

A stored result may be used again only if the code that made it is the same. What counts is the
closure of some modules under imports within their package: a changed callee changes the hash, which
hashing a function's own source would miss. Hashed is the syntax tree without docstrings, so that a
better comment does not throw hours of computing away.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from theoryverify.errors import InputError

PACKAGE = "theoryverify"
MACHINERY = frozenset(
    {
        "theoryverify.errors",
        "theoryverify.files",
        "theoryverify.progress",
        "theoryverify.figures",
        "theoryverify.figures.cells",
        "theoryverify.figures.figure",
        "theoryverify.figures.table",
        "theoryverify.simulate.batches",
        "theoryverify.simulate.code",
        "theoryverify.simulate.pools",
        "theoryverify.simulate.sealed",
        "theoryverify.simulate.store",
        "theoryverify.simulate.sweep",
    }
)
"""Modules that carry results about and cannot change them: not followed, not hashed."""

_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


def fingerprint(modules: Sequence[str]) -> dict[str, str]:
    """Hashes of modules and of all that they import within the package, sorted by name.

    Followed are imports anywhere in a module, also inside functions (that is how heavy modules are
    loaded here), of modules of this package and of the packages that the given modules belong to;
    and string constants that name such a module (lazy imports by name). Not followed: imports under
    ``if TYPE_CHECKING``, the modules in :data:`MACHINERY`, and other packages, whose versions are
    recorded beside a result.

    Parameters
    ----------
    modules : sequence of str
        Dotted names, such as ``"theoryverify.simulate.exact_law"``.

    Returns
    -------
    dict of str to str
        64 hexadecimal digits (SHA-256) by module.

    Raises
    ------
    InputError
        If a module has no source that can be read, or none is given.

    Examples
    --------
    >>> sorted(fingerprint(["theoryverify.memory"]))
    ['theoryverify.memory']
    """
    if isinstance(modules, str) or not modules:
        raise InputError(f"code = {modules!r} must be a nonempty sequence of names of modules")
    return dict(_closure(tuple(sorted(set(modules)))))


@lru_cache(maxsize=256)
def _closure(modules: tuple[str, ...]) -> dict[str, str]:
    """Found once a process: what was imported stays, whatever happens to its file."""
    tops = {name.partition(".")[0] for name in modules} | {PACKAGE}
    found: dict[str, str] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name in found or name in MACHINERY:
            continue
        path = source_file(name)
        if path is None:
            raise InputError(f"module {name!r} has no source file: its code cannot be told apart")
        digest, mentioned = _examine(path, name)
        found[name] = digest
        waiting += [
            other
            for other in mentioned
            if other.partition(".")[0] in tops and source_file(other) is not None
        ]
    return dict(sorted(found.items()))


@lru_cache(maxsize=4096)
def source_file(name: str) -> Path | None:
    """The file of a module, found without importing it; None if there is none."""
    top, *rest = name.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None or top == "__main__":
        return None
    if not rest:
        return _python(spec.origin)
    for root in spec.submodule_search_locations or ():
        folder = Path(root).joinpath(*rest)
        for candidate in (folder.with_suffix(".py"), folder / "__init__.py"):
            if candidate.is_file():
                return candidate
    return None


def _python(origin: str | None) -> Path | None:
    path = Path(origin or "")
    return path if path.suffix == ".py" and path.is_file() else None


@lru_cache(maxsize=4096)
def _examine(path: Path, name: str) -> tuple[str, tuple[str, ...]]:
    """The hash of a module, and every name in it that may be another one."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        raise InputError(f"cannot read the source of module {name!r}: {error}") from error
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    mentioned = tuple(dict.fromkeys(_mentioned(tree, package)))
    digest = hashlib.sha256()
    for part in _canonical(tree):
        digest.update(part.encode("utf-8", "surrogatepass"))
    return digest.hexdigest(), mentioned


def _mentioned(node: ast.AST, package: str) -> Iterator[str]:
    if isinstance(node, ast.If) and _names(node.test, "TYPE_CHECKING"):
        for otherwise in node.orelse:
            yield from _mentioned(otherwise, package)
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            parts = package.split(".")
            stem = ".".join(parts[: len(parts) - node.level + 1])
            base = f"{stem}.{base}" if base else stem
        yield base
        # ``from package import module`` looks like ``from module import function``.
        yield from (f"{base}.{alias.name}" for alias in node.names)
    elif (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and _DOTTED.fullmatch(node.value)
    ):
        yield node.value
    for child in ast.iter_child_nodes(node):
        yield from _mentioned(child, package)


def _names(test: ast.expr, what: str) -> bool:
    return (isinstance(test, ast.Name) and test.id == what) or (
        isinstance(test, ast.Attribute) and test.attr == what
    )


def _canonical(node: object) -> Iterator[str]:
    """The tree as text, the same for every version of Python that reads it alike.

    ``ast.dump`` is not: it began to leave out empty fields.
    """
    if isinstance(node, ast.AST):
        yield f"({type(node).__name__}"
        for field, value in ast.iter_fields(node):
            if field == "body" and isinstance(value, list) and _has_docstring(node):
                value = value[1:]
            if value is not None and value != []:
                yield f" {field}="
                yield from _canonical(value)
        yield ")"
    elif isinstance(node, list):
        yield "["
        for item in node:
            yield from _canonical(item)
            yield ","
        yield "]"
    else:
        yield f"{type(node).__name__}:{node!r}"


def _has_docstring(node: ast.AST) -> bool:
    if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    first = node.body[0] if node.body else None
    return (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
