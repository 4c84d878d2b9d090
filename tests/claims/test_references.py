"""``cite``: BibTeX that parses, triggers that exist, and what a run used."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.report import samples
from theoryverify.claims.discovery import papers
from theoryverify.claims.ladder import CERTIFIED, PROVED, SIMULATED
from theoryverify.claims.references import OWN, Reference, Used, cited, without_reference
from theoryverify.claims.registry import own_claims
from theoryverify.cli import main
from theoryverify.errors import InputError

ROOT = Path(__file__).parents[2]
ALL = [*OWN, *(r for paper in papers().values() for r in paper.load("references"))]


def entries(text: str) -> dict[str, dict[str, str]]:
    """A small BibTeX reader: ``@kind{key, name = {value}, ...}`` with balanced braces."""
    found: dict[str, dict[str, str]] = {}
    text = re.sub(r"^%.*$", "", text, flags=re.M)
    at = 0
    while match := re.compile(r"\s*@(\w+)\{([^,\s]+),").match(text, at):
        at, fields = match.end(), {"kind": match[1]}
        while name := re.compile(r"\s*(\w+)\s*=\s*\{").match(text, at):
            depth, start = 1, name.end()
            at = start
            while depth:
                depth += {"{": 1, "}": -1}.get(text[at], 0)
                at += 1
            fields[name[1]] = text[start : at - 1]
            at += text[at] == ","
        end = re.compile(r"\s*\}").match(text, at)
        assert end, text[at : at + 40]
        at = end.end()
        assert match[2] not in found
        found[match[2]] = fields
    assert not text[at:].strip()
    return found


def test_every_entry_parses_and_keys_differ() -> None:
    found = entries("\n".join(reference.bibtex() for reference in ALL))
    assert len(found) == len(ALL)
    for fields in found.values():
        assert fields["title"]
        if fields["kind"] == "article":
            assert {"author", "journal", "volume", "year"} <= set(fields)
        if fields["kind"] in {"incollection", "inproceedings"}:
            assert {"author", "booktitle", "year"} <= set(fields)


def test_every_reference_can_be_triggered_by_something_that_exists() -> None:
    for paper in papers().values():
        known = own_claims(paper)
        folder = ROOT / "theoryverify" / "papers" / paper.name
        source = "\n".join(
            file.read_text(encoding="utf-8")
            for file in folder.rglob("*.py")
            if file.name != "references.py"
        )
        for reference in paper.load("references"):
            assert reference.always or reference.claims or reference.facts or reference.rungs
            assert set(reference.claims) <= set(known), reference.key
            for word in reference.facts:
                assert word in source, (reference.key, word)


def test_what_a_run_used_is_cited_and_nothing_else() -> None:
    fact = Reference("fact", "misc", {"title": "t"}, "a fact", facts=("Davidson-Szarek",))
    claim = Reference("claim", "misc", {"title": "t"}, "a claim", claims=("toy.A",))
    rung = Reference("rung", "misc", {"title": "t"}, "a rung", rungs=(SIMULATED,))
    both = (fact, claim, rung)

    def keys(used: Used) -> list[str]:
        return [reference.key for reference in cited(both, used)]

    assert keys(Used(frozenset({"toy.B"}), frozenset({PROVED}))) == []
    assert keys(Used(frozenset({"toy.A"}), frozenset({PROVED}))) == ["claim"]
    assert keys(Used(frozenset({"toy.B"}), frozenset({SIMULATED, CERTIFIED}))) == ["rung"]
    facts = ("Davidson-Szarek: singular values", "strong law")
    assert keys(Used(frozenset(), frozenset(), facts)) == ["fact"]
    assert without_reference(facts, both) == ["strong law"]


def test_the_rungs_of_a_report_decide_the_libraries() -> None:
    used = Used.by(samples.plain())
    keys = {reference.key for reference in cited(OWN, used)}
    assert {"theoryverify", "johansson2017arb", "paszke2019pytorch"} <= keys
    proved = replace(samples.plain(), claims=samples.plain().claims[:2])
    keys = {reference.key for reference in cited(OWN, Used.by(proved))}
    assert "paszke2019pytorch" not in keys
    assert "meurer2017sympy" in keys


@pytest.mark.parametrize("value", ["a } b", "} @misc{x, y = {z", "{{}", "ok {Kept}"])
def test_a_title_cannot_end_its_entry(value: str) -> None:
    (fields,) = entries(Reference("k", "misc", {"title": value, "year": "1"}, "").bibtex()).values()
    assert fields["year"] == "1"
    if "Kept" in value:
        assert fields["title"] == value


def test_a_key_is_a_key() -> None:
    with pytest.raises(InputError, match="may have letters"):
        Reference("a,b", "misc", {}, "")


def test_cite_of_claims(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cite", "mamba.A"]) == 0
    found = entries(capsys.readouterr().out)
    assert {"theoryverify", "oh2025mamba", "benarous2021online"} <= set(found)
    assert "damian2024computational" not in found
    assert "barnfield2026lca" not in found


def test_cite_of_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fact = "Davidson-Szarek: singular values of a standard Gaussian d x L matrix, for d > 1"
    claim = samples.claim("lca.H.3", assumes=(fact, "a strong law"))
    path = tmp_path / "report.json"
    path.write_text(json.dumps(replace(samples.plain(), claims=(claim,)).to_json()))
    assert main(["cite", "--from", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    keys = [row["key"] for row in document["references"]]
    assert "davidson2001local" in keys
    assert "lojasiewicz1984sur" not in keys
    assert document["without_reference"] == ["a strong law"]
    assert main(["cite", "--from", str(path)]) == 0
    shown = capsys.readouterr().out
    assert set(entries(shown)) == set(keys)
    assert "%   a strong law" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lca", "--from", "r.json"], "not both"),
        (["--from", "r.json"], "cannot read"),
        (["nope"], "'nope'"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cite", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
