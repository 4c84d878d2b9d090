"""The README says what is true now."""

import doctest
import importlib.util
import re
from pathlib import Path

import pytest

from theoryverify.claims.discovery import each
from theoryverify.cli import main
from theoryverify.verbs import CORE

ROOT = Path(__file__).parents[1]


def test_the_table_of_statements_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("table", ROOT / "docs" / "statement_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = module.README.read_text("utf-8")
    assert module.updated(text) == text, "run: python docs/statement_table.py"


def test_each_command_it_shows_is_there(capsys: object) -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    verbs = set(re.findall(r"^    theoryverify ([a-z-]+)", text, flags=re.MULTILINE))
    assert {"list", "check", "alpha-star", "loss", "derive"} <= verbs
    for verb in verbs:
        with pytest.raises(SystemExit) as done:
            main([verb, "--help"])
        assert done.value.code == 0, verb


def test_each_exit_code_is_there_with_each_verb_that_has_it() -> None:
    rows = dict(re.findall(r"^\| (\d+) \| (.*) \|$", (ROOT / "README.md").read_text("utf-8"), re.M))
    assert list(rows) == ["0", "1", "2", "3", "4", "130"]
    named = {code: set(re.findall(r"`([a-z][a-z-]*)`", text)) for code, text in rows.items()}
    assert named["4"] == {"check", "derive", "report"}
    assert named["1"] == {"check", "report", "falsify", "train", "figure"}
    everything = set().union(*named.values())
    others = {"list", "derive", "new", "data", "cite", "lsa-risk"}  # 0, 2 or 130
    assert everything | others == {
        command.name for command in (*CORE, *(c for _, found in each("commands") for c in found))
    }


def test_its_python_example() -> None:
    examples = doctest.DocTestParser().get_doctest(
        (ROOT / "README.md").read_text("utf-8"), {}, "README", None, 0
    )
    assert len(examples.examples) >= 2
    runner = doctest.DocTestRunner()
    assert runner.run(examples).failed == 0
