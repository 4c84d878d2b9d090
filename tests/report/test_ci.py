"""What a CI job reads: JUnit, the Markdown summary, the badge, and what changed since a report."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.report import samples
from theoryverify.claims.ladder import (
    CERTIFIED,
    COMPUTED,
    HOLDS,
    INCONCLUSIVE,
    OUTSIDE,
    PROVED,
    REFUTED,
    Rung,
    Verdict,
)
from theoryverify.claims.results import ClaimResult, Report
from theoryverify.claims.stored import read_report
from theoryverify.cli import main
from theoryverify.errors import InputError
from theoryverify.report.badge import badge
from theoryverify.report.commands import rerun
from theoryverify.report.compare import changes, changes_text, lost, require_comparable
from theoryverify.report.junit import junit
from theoryverify.report.summary import LIMIT, escape, markdown

# -- JUnit -------------------------------------------------------------------------------------


def test_junit_counts_stand_on_the_suites_and_on_the_root() -> None:
    root = ET.fromstring(junit(samples.troubled()))
    assert dict(root.attrib) | {"time": ""} == {
        "name": "theoryverify",
        "tests": "4",
        "failures": "2",
        "errors": "1",
        "skipped": "1",
        "time": "",
    }
    suite = root.find("testsuite")
    assert suite is not None
    assert {k: suite.get(k) for k in ("tests", "failures", "errors", "skipped")} == {
        k: root.get(k) for k in ("tests", "failures", "errors", "skipped")
    }
    assert float(root.get("time", "nan")) == pytest.approx(1.0)


def test_a_junit_failure_says_what_was_found_and_how_to_run_it_again() -> None:
    root = ET.fromstring(junit(samples.troubled()))
    cases = {case.get("classname"): case for case in root.iter("testcase")}
    failure = cases["toy.D"].find("failure")
    assert failure is not None
    assert failure.get("type") == "refuted"
    for part in (
        "toy.D (Theorem 1): refuted, expected holds",
        "step left = right: 0.2784[51, 52]",
        "again: theoryverify check toy.D --preset quick --seed 7",
    ):
        assert part in (failure.text or "")
    accepted = cases["toy.B"].find("failure")
    assert accepted is not None
    assert "control 'twice' came out holds" in (accepted.text or "")
    skipped = cases["toy.A"].find("skipped")
    assert skipped is not None
    assert (skipped.get("message") or "").startswith("inconclusive: ")
    assert cases["toy.C"].find("error") is not None


def test_junit_of_what_is_expected_has_no_failure() -> None:
    root = ET.fromstring(junit(samples.plain()))
    assert root.get("failures") == root.get("errors") == root.get("skipped") == "0"
    assert not list(root.iter("failure"))


def test_junit_of_hostile_text_is_xml() -> None:
    root = ET.fromstring(junit(samples.hostile()))
    name = next(root.iter("testcase")).get("name")
    assert name == samples.HOSTILE.replace("\x00", "?").replace("\x0b", "?")


# -- the summary -------------------------------------------------------------------------------


def test_the_summary_names_what_is_not_as_expected() -> None:
    text = markdown(samples.troubled())
    assert text.startswith("## ❌ theoryverify: 0 of 4 claims as expected")
    assert "`toy.D` (Theorem 1): **refuted**, expected holds." in text
    assert "control twice came out **holds**" in text
    fine = markdown(samples.plain())
    assert fine.startswith("## ✅ theoryverify: 5 of 5 claims as expected")
    assert "Not as expected" not in fine
    assert "5 of 10 mutants killed" in fine


def test_every_row_of_the_summary_has_six_cells() -> None:
    for report in (samples.plain(), samples.hostile()):
        rows = [line for line in markdown(report).splitlines() if line.startswith("|")]
        assert len(rows) == len(report.claims) + 2
        for row in rows:
            assert len(re.findall(r"(?<!\\)\|", row)) == 7


@pytest.mark.parametrize(
    "text",
    [
        samples.HOSTILE,
        "[click](javascript:alert(1))",
        "![x](https://example.org/x.png)",
        "https://example.org www.example.org",
        "a | b\n\n# heading\n- item",
        "`code` **bold** _em_ ~~gone~~ $x$",
    ],
)
def test_no_markdown_in_a_statement_is_live(text: str) -> None:
    shown = escape(text)
    assert "\n" not in shown
    assert not re.search(r"<|(?<!\\)[\[\]()`*_|$~]|://|www\.", shown)


def test_a_long_summary_is_cut_below_the_limit() -> None:
    claims = tuple(samples.claim(f"toy.A{i}", title="é" * 400) for i in range(3000))
    report = replace(samples.plain(), claims=claims)
    text = markdown(report)
    assert len(text.encode()) <= LIMIT == 1_024_000
    assert "The rest is left out" in text
    assert text.count("<details>") == text.count("</details>")
    assert "left out" not in markdown(samples.plain())


# -- the badge ---------------------------------------------------------------------------------


def test_the_badge_is_green_only_if_all_is_well() -> None:
    assert badge(samples.plain()) == {
        "schemaVersion": 1,
        "label": "theorems",
        "message": "5/5 as expected",
        "color": "brightgreen",
        "isError": False,
    }
    bad = badge(samples.troubled())
    assert bad["color"] == "critical"
    assert bad["message"] == "0/4 as expected, a check broke"
    undecided = replace(samples.troubled(), claims=samples.troubled().claims[:1])
    assert badge(undecided)["color"] == "yellow"
    loose = samples.claim("toy.A", samples.check("toy.A", control=HOLDS), verdict=INCONCLUSIVE)
    loose = replace(loose, expected=INCONCLUSIVE)
    found = badge(replace(samples.plain(), claims=(loose,)))
    assert found["color"] == "red"
    assert found["message"] == "1/1 as expected, a control was not refuted"


# -- since -------------------------------------------------------------------------------------


def report_of(*claims: ClaimResult) -> Report:
    return replace(samples.plain(), claims=claims)


def one(
    verdict: Verdict = HOLDS, rungs: tuple[Rung, ...] = (PROVED, CERTIFIED), **changes: object
) -> ClaimResult:
    expected = changes.pop("expected", HOLDS)
    found = verdict if verdict in (HOLDS, REFUTED, INCONCLUSIVE) else HOLDS
    checks = tuple(samples.check("toy.A", str(r), r, found=found) for r in rungs)
    return samples.claim("toy.A", *checks, verdict=verdict, expected=expected, **changes)  # type: ignore[arg-type]


CASES: list[tuple[str, ClaimResult, ClaimResult, list[tuple[str, str]]]] = [
    ("nothing", one(), one(), []),
    (
        "a verdict lost",
        one(),
        one(INCONCLUSIVE),
        [
            ("lost", "verdict was holds, is inconclusive"),
            ("lost", "rung proved no longer reached"),
            ("lost", "rung certified no longer reached"),
        ],
    ),
    ("refuted now", one(), one(REFUTED), [("lost", "verdict was holds, is refuted")]),
    (
        "refuted, as is expected now",
        one(),
        one(REFUTED, expected=REFUTED),
        [
            ("changed", "expected was holds, is refuted"),
            ("changed", "verdict was holds, is refuted"),
        ],
    ),
    ("a rung lost", one(), one(rungs=(CERTIFIED,)), [("lost", "rung proved no longer reached")]),
    (
        "a lower rung lost",
        one(rungs=(PROVED, COMPUTED)),
        one(rungs=(PROVED,)),
        [("lost", "rung computed no longer reached")],
    ),
    ("a rung gained", one(rungs=(CERTIFIED,)), one(), [("gained", "rung proved reached")]),
    (
        "a verdict gained",
        one(INCONCLUSIVE, (PROVED,)),
        one(rungs=(PROVED,)),
        [("gained", "verdict was inconclusive, is holds"), ("gained", "rung proved reached")],
    ),
    ("outside now", one(), one(OUTSIDE), [("lost", "verdict was holds, is outside")]),
    (
        "an assumption more",
        one(assumes=()),
        one(assumes=("a lemma",)),
        [("changed", "now given: a lemma")],
    ),
    (
        "another statement",
        one(),
        one(statement="x"),
        [("changed", "its statement reads differently")],
    ),
]


@pytest.mark.parametrize(("name", "old", "new", "expected"), CASES, ids=[c[0] for c in CASES])
def test_what_changed(
    name: str, old: ClaimResult, new: ClaimResult, expected: list[tuple[str, str]]
) -> None:
    found = changes(report_of(old), report_of(new))
    assert [change.kind for change in found] == [kind for kind, _ in expected]
    for change, (_, text) in zip(found, expected, strict=True):
        assert change.text.startswith(text)
    assert lost(found) is any(kind == "lost" for kind, _ in expected)
    assert changes_text(found, "r.json").count("\n") == len(expected)


def test_a_control_that_is_no_longer_refuted_is_lost() -> None:
    loose = one()
    check = replace(
        loose.checks[0], controls=(replace(loose.checks[0].controls[0], verdict=HOLDS),)
    )
    new = replace(loose, checks=(check, *loose.checks[1:]))
    found = changes(report_of(one()), report_of(new))
    assert ("lost", "control proved/twice was refuted, is holds") in [
        (c.kind, c.text) for c in found
    ]
    assert lost(found)
    assert not lost(changes(report_of(new), report_of(one())))


def test_claims_that_are_new_gone_or_not_run() -> None:
    old = report_of(one(), samples.claim("toy.B"), samples.claim("toy.C"))
    new = report_of(one(), samples.claim("toy.D"))
    found = changes(old, new, gone=frozenset({"toy.B"}))
    assert [(c.claim, c.kind) for c in found] == [("toy.B", "lost"), ("toy.D", "gained")]


def test_reports_of_other_presets_or_rungs_are_not_compared() -> None:
    old = samples.plain()
    require_comparable(old, "quick", None, {})
    with pytest.raises(InputError, match="preset 'quick' and this run of 'full'"):
        require_comparable(old, "full", None, {})
    with pytest.raises(InputError, match="every rung and this run only rung proved"):
        require_comparable(old, "quick", PROVED, {})
    with pytest.raises(InputError, match="own parameters and this run at depth 3"):
        require_comparable(old, "quick", None, {"depth": "3"})


def test_the_command_says_how_the_claim_was_run() -> None:
    report = replace(
        samples.plain(), seed=3, rung=PROVED, parameters={"law": "uniform(2,5)", "b": "-2"}
    )
    words = shlex.split(rerun("lca.F.3", report))
    assert words[:3] == ["theoryverify", "check", "lca.F.3"]
    options = dict(zip(words[3::2], words[4::2], strict=True))
    assert options == {
        "--preset": "quick",
        "--seed": "3",
        "--rung": "proved",
        "--law": "uniform(2,5)",
        "--b": "-2",
    }


# -- reports on disk ---------------------------------------------------------------------------


@pytest.mark.parametrize("make", [samples.plain, samples.troubled, samples.hostile])
def test_a_report_comes_back_from_json_as_it_was(make: object, tmp_path: Path) -> None:
    report = make()  # type: ignore[operator]
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report.to_json()), encoding="utf-8")
    back = read_report(path)
    assert back.to_json() == report.to_json()
    assert back.exit_code == report.exit_code


def test_a_report_without_the_newer_keys_is_read(tmp_path: Path) -> None:
    document = samples.plain().to_json()
    del document["only_rung"]
    for claim in document["claims"]:
        for key in ("hypotheses", "depends_on", "note"):
            del claim[key]
        for check in claim["checks"]:
            del check["mutants"]["refuted"]
    path = tmp_path / "report.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert [c.id for c in read_report(path).claims] == [c.id for c in samples.plain().claims]


def _without(document: dict, *path: object) -> dict:
    at = document
    for key in path[:-1]:
        at = at[key]
    del at[path[-1]]
    return document


def _with(document: dict, value: object, *path: object) -> dict:
    at = document
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return document


BAD = {
    "not json": ("{", "is not a JSON report"),
    "a list": ("[]", "is not a report"),
    "other json": ('{"claims": []}', "has no 'format'"),
    "another version": ('{"format": 2}', "report of format 2; this version reads format 1"),
    "a version in words": ('{"format": "1"}', "format '1'"),
    "deep": ("[" * 100_000, "is not a JSON report"),
    "no claims": ('{"format": 1}', "'claims' is missing"),
}
DAMAGED = {
    "no seed": (_without, ("seed",), "'seed' is missing"),
    "no verdict": (_without, ("claims", 0, "verdict"), "'verdict' is missing"),
    "odd verdict": (_with, ("true", "claims", 0, "verdict"), "'true' is not a valid"),
    "text that is none": (_with, (7, "claims", 0, "title"), "the title of a claim is 7"),
    "steps": (_with, (None, "claims", 0, "checks", 0, "steps"), "not a whole report"),
    "time": (_with, ("x", "claims", 0, "checks", 0, "seconds"), "the time of toy.A/identity"),
    "two ids": (_with, ("toy.A", "claims", 1, "id"), "two claims have the id toy.A"),
}


@pytest.mark.parametrize("name", list(BAD))
def test_what_is_no_report_is_refused(name: str, tmp_path: Path) -> None:
    text, message = BAD[name]
    path = tmp_path / "report.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(message)):
        read_report(path)


@pytest.mark.parametrize("name", list(DAMAGED))
def test_a_damaged_report_is_refused(name: str, tmp_path: Path) -> None:
    change, arguments, message = DAMAGED[name]
    path = tmp_path / "report.json"
    path.write_text(json.dumps(change(samples.plain().to_json(), *arguments)), encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(message)):
        read_report(path)


# -- the command -------------------------------------------------------------------------------


def test_check_writes_every_file_and_compares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    step = tmp_path / "step.md"
    step.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(step))
    folder = tmp_path / "out"
    arguments = ["check", "lca.C.1", "--jobs", "1"]
    files = ["--report", f"{folder}", "--html", f"{folder}", "--summary", f"{folder}/summary.md"]
    assert main([*arguments, *files, "--badge", f"{folder}/badge.json"]) == 0
    shown = capsys.readouterr().out
    for name in ("report.json", "junit.xml", "index.html", "summary.md", "badge.json"):
        assert str(folder / name) in shown
        assert (folder / name).stat().st_size > 50
    assert step.read_text() == "before\n" + (folder / "summary.md").read_text()

    earlier = folder / "report.json"
    assert main([*arguments, "--since", str(earlier)]) == 0
    assert "no verdict, rung, control or assumption changed" in capsys.readouterr().out
    document = json.loads(earlier.read_text())
    better = json.loads(earlier.read_text())
    better["claims"][0]["checks"].append(better["claims"][0]["checks"][0] | {"rung": "certified"})
    earlier.write_text(json.dumps(better))
    assert main([*arguments, "--since", str(earlier), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [change["kind"] for change in found["since"]] == ["lost"]
    document["claims"][0]["id"] = "lca.renamed"
    earlier.write_text(json.dumps(document))
    assert main([*arguments, "--since", str(earlier)]) == 1
    assert "lca.renamed: the claim is gone" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--html", "{file}/page", "cannot write to folder"),
        ("--summary", "{folder}", "it is a folder"),
        ("--badge", "{file}/badge.json", "cannot write to folder"),
        ("--since", "{folder}/none.json", "cannot read"),
        ("--since", "{file}", "is not a JSON report"),
        ("--since", "{old}", "report of format 0; this version reads format 1"),
    ],
)
def test_bad_output_options_stop_before_the_run(
    option: str,
    value: str,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(*args: object, **kwargs: object) -> Report:
        raise AssertionError("a check ran")

    monkeypatch.setattr("theoryverify.claims.runner.run", never)
    (tmp_path / "file").write_text("x")
    (tmp_path / "old").write_text('{"format": 0}')
    value = value.format(file=tmp_path / "file", folder=tmp_path, old=tmp_path / "old")
    assert main(["check", "lca.C.1", option, value]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error


def test_report_renders_a_stored_report_without_running_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def never(*args: object, **kwargs: object) -> Report:
        raise AssertionError("a check ran")

    monkeypatch.setattr("theoryverify.claims.runner.run", never)
    path, old = tmp_path / "report.json", tmp_path / "old.json"
    path.write_text(json.dumps(samples.plain().to_json()), encoding="utf-8")
    old.write_text(json.dumps(samples.plain().to_json()), encoding="utf-8")
    assert main(["report", str(path), "--html", str(tmp_path / "page"), "--since", str(old)]) == 0
    shown = capsys.readouterr().out
    assert "5 of 5 claims as expected" in shown
    assert "no verdict, rung, control or assumption changed" in shown
    assert "toy.C.atom" in (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    path.write_text(json.dumps(samples.troubled().to_json()), encoding="utf-8")
    assert main(["report", str(path), "--json"]) == 4
    assert json.loads(capsys.readouterr().out)["claims"][0]["id"] == "toy.A"
    assert main(["report", str(tmp_path / "none.json")]) == 2


DOCS = Path(__file__).parents[2] / "docs" / "ci"


@pytest.mark.parametrize("name", ["github.yml", "gitlab.yml", "README.md"])
def test_the_workflows_use_options_that_exist(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (DOCS / name).read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    known = set(re.findall(r"--[a-z]+", capsys.readouterr().out))
    used = set(re.findall(r"(?<![\w-])--[a-z]+", text)) - {"--from"}  # that is an option of list
    assert {"--report", "--html", "--since", "--summary", "--badge", "--preset"} <= used
    assert used <= known


@pytest.mark.parametrize("name", ["github.yml", "gitlab.yml"])
def test_the_workflows_are_yaml(name: str) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    document = yaml.safe_load((DOCS / name).read_text(encoding="utf-8"))
    assert document
