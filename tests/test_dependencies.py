"""What the package imports is what it declares; what it declares is pinned for the tests."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

from theoryverify import cli

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
CALLED = {"flint": "python-flint", "sklearn": "scikit-learn"}  # modules by another name
RUNTIME = ("simulate", "cluster", "figures", "data")
EXTRAS = PROJECT["optional-dependencies"]
NEEDED = [*PROJECT["dependencies"], *(item for key in RUNTIME for item in EXTRAS[key])]
NEVER_NEEDED = {"mamba_ssm"}  # CUDA only, used where somebody has it
BY_THE_USER = {"pytest"}  # the plugin runs inside it


def names(requirements: list[str]) -> set[str]:
    found = {re.split(r"[\[<>=~! ]", item, maxsplit=1)[0].lower() for item in requirements}
    return found - {"theoryverify"}


def imported() -> set[str]:
    """Top-level modules that are imported anywhere in the package, also inside functions."""
    found = set()
    for path in (ROOT / "theoryverify").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"theoryverify"}


def test_every_import_is_declared_and_every_declaration_imported() -> None:
    used = {CALLED.get(name, name) for name in imported() - NEVER_NEEDED - BY_THE_USER}
    assert used == names(NEEDED)


def test_the_command_line_knows_the_extra_of_each_optional_module() -> None:
    own = {key: {CALLED.get(name, name) for name in names(EXTRAS[key])} for key in RUNTIME}
    for module, extra in cli.EXTRAS.items():
        assert CALLED.get(module, module) in own[extra]
    assert {CALLED.get(name, name) for name in cli.EXTRAS} == set().union(*own.values())


def test_a_missing_module_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert cli.main(["train", "quick", "--out", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert 'pip install "theoryverify[simulate]"' in err


def test_every_dependency_is_pinned() -> None:
    listed = names(
        [*PROJECT["dependencies"], *(item for extra in EXTRAS.values() for item in extra)]
    )
    pins = re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE)
    assert listed <= {pin.lower() for pin in pins}


def test_the_licence_of_every_dependency_is_in_the_notice() -> None:
    notice = re.sub(r"\s+", " ", (ROOT / "NOTICE").read_text("utf-8")).lower()
    spelled = {"torch": "pytorch", "distributed": "dask"}
    for name in names(NEEDED):
        assert spelled.get(name, name) in notice, name
