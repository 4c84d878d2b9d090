"""Each room of the house imports only from rooms below it (docs/design.md, "The house")."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "theoryverify"

FLOORS = (
    ("_lazy", "certify", "errors"),
    ("budget", "files", "memory", "pipes", "progress", "seeds"),
    ("exact",),
    ("claims", "data", "models", "passage", "scaffold", "steppers"),
    ("flow", "pytest_plugin", "report", "simulate", "stats"),
    ("figures", "testing"),
    ("papers",),
    ("verbs",),
    ("cli",),
    ("__main__",),
)
"""From the ground up. A room knows none of its own floor; ``certify`` knows nothing at all."""

FACADE = "__init__"  # `from theoryverify import alpha_star`: names, imported when they are used


def rooms() -> dict[str, int]:
    return {room: floor for floor, there in enumerate(FLOORS) for room in there}


def modules() -> dict[str, Path]:
    """Every module by its dotted name inside the package."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if "templates" not in parts:
            found[".".join(parts).removesuffix(".__init__")] = path
    return found


def imported(source: str) -> Iterator[str]:
    """The dotted names that a module takes from the package, at its top or inside a function."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "relative imports hide the room"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            top, _, rest = name.partition(".")
            if top == "theoryverify":
                yield rest or FACADE


def offences(name: str, source: str) -> list[str]:
    """The imports of a module that lead to its own floor or above it."""
    floor, room = rooms(), name.partition(".")[0]
    return [
        target
        for target in imported(source)
        if (other := target.partition(".")[0]) != room
        and floor.get(other, len(FLOORS)) >= floor[room]
    ]


def test_every_module_is_in_a_room() -> None:
    found = {name.partition(".")[0] for name in modules()}
    assert found - {FACADE} == set(rooms())


def test_a_room_imports_only_from_below() -> None:
    found = {
        name: offences(name, path.read_text("utf-8"))
        for name, path in modules().items()
        if name != FACADE
    }
    assert {name: bad for name, bad in found.items() if bad} == {}


def test_a_paper_imports_no_other_paper() -> None:
    for name, path in modules().items():
        if name.startswith("papers."):
            paper = name.split(".")[1]
            for target in imported(path.read_text("utf-8")):
                parts = target.split(".")
                assert parts[0] != "papers" or parts[1] == paper, (name, target)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("exact.laws", "from theoryverify.claims.claim import Claim"),
        ("simulate.gram", "def f():\n    from theoryverify.papers.lca import assumptions"),
        ("models.lca", "import theoryverify.simulate.prompts"),
        ("stats", "from theoryverify import flow"),
        ("claims.runner", "from theoryverify import alpha_star"),
        ("certify", "from theoryverify.errors import InputError"),
    ],
)
def test_an_import_from_above_is_seen(name: str, source: str) -> None:
    assert offences(name, source)
