"""The site: its menu, the pages generated from a run, and what they escape."""

from __future__ import annotations

import importlib
import importlib.util
import json
import pkgutil
import re
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree as ET

import pytest

from tests.report import samples
from theoryverify.claims.claim import Claim, Context
from theoryverify.claims.discovery import papers
from theoryverify.claims.examination import Examination
from theoryverify.claims.examine import run_check
from theoryverify.claims.ladder import (
    CERTIFIED,
    HOLDS,
    OUTSIDE,
    SIMULATED,
    Evidence,
    Hypothesis,
)
from theoryverify.claims.paper import Paper
from theoryverify.claims.registry import own_claims
from theoryverify.claims.results import Report
from theoryverify.stats import BoundedMean, equivalence

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    spec = importlib.util.spec_from_file_location("paper_pages", ROOT / "docs" / "paper_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_menu_names_pages_that_exist() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"([\w/.-]+\.(?:md|css))", text))
    written = {
        str(path.relative_to(ROOT / "docs"))
        for path in (ROOT / "docs").rglob("*.md")
        if "examples" not in path.parts
    }
    assert {name for name in named if name.endswith(".md")} == written
    assert all((ROOT / "docs" / name).exists() for name in named)


WRITTEN = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / folder / "README.md" for folder in ("figures", "benchmarks")),
]


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_resolves(page: Path) -> None:
    text = page.read_text("utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"https?:|#", target):
            assert (page.parent / target.partition("#")[0]).exists(), target


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.stem)
def test_no_page_of_the_site_links_to_what_the_site_leaves_out(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s#]+)", page.read_text("utf-8")):
        if not re.match("https?:", target) and "examples" not in page.parts:
            path = (page.parent / target).resolve().relative_to(ROOT / "docs")
            assert "examples" not in path.parts, target
            assert path.suffix != ".py", target


def test_nothing_is_installed_from_an_index_that_does_not_have_it() -> None:
    """An extra of what is installed already is; the tool itself comes from a checkout."""
    files = [
        ROOT / "docs" / "tutorial.md",
        *(ROOT / "docs" / "ci").iterdir(),
        *(path for path in (ROOT / "docs" / "examples").rglob("*.*") if path.suffix != ".pyc"),
        *(ROOT / "theoryverify" / "scaffold" / "templates").iterdir(),
    ]
    texts = [file.read_text("utf-8") for file in files if file.is_file()]
    commands = [line for text in texts for line in re.findall(r"pip install[^`\n]*", text)]
    assert len(commands) >= 7
    for line in commands:
        asked = line.partition("&&")[0]
        rest = re.sub(r"theoryverify(\[\w+\])? @ git\+\S+", "", asked)
        assert "theoryverify" not in rest, line


def test_every_path_that_the_readme_names_exists() -> None:
    text = (ROOT / "README.md").read_text("utf-8").partition("<!-- statements -->")[0]
    names = set(
        re.findall(r"\b(?:docs|figures|benchmarks|derivations|theoryverify)/[\w./-]*\w", text)
    )
    assert "theoryverify/certify.py" in names
    assert [name for name in sorted(names) if not (ROOT / name).exists()] == []


def reference() -> dict[str, object]:
    """What docs/api.md documents: modules, classes, functions, constants."""
    names = re.findall(r"^::: (\S+)$", (ROOT / "docs" / "api.md").read_text("utf-8"), re.M)
    assert len(names) == len(set(names)) > 15
    return {name: pkgutil.resolve_name(name) for name in names}


def test_every_name_of_the_reference_exists_and_has_a_text() -> None:
    for name, thing in reference().items():
        constant = not (isinstance(thing, ModuleType) or callable(thing))
        assert constant or thing.__doc__, name


def test_the_guide_counts_its_ways_and_each_has_a_test() -> None:
    text = (ROOT / "docs" / "guide.md").read_text("utf-8")
    ways = re.findall(r"^(\d+)\. \*\*", text, re.M)
    tests = (ROOT / "tests" / "claims" / "test_fooling.py").read_text("utf-8")
    assert ways == re.findall(r"^def test_(\d+)_", tests, re.M) == [str(k) for k in range(1, 12)]
    assert "## Eleven ways" in text


@pytest.mark.parametrize("cases", [None, (1, 2)], ids=["no case", "two cases"])
def test_what_design_says_of_draws_and_hypotheses(cases: tuple[int, ...] | None) -> None:
    """Draws are a formula's own, for all its cases and calls; hypotheses look at cases alone."""
    drawn: dict[str, list[float]] = {"formula": [], "control": []}
    never = Hypothesis("never", "0=1", lambda case: "no case meets it")
    words = Hypothesis("words", "0=1")
    for hypothesis, verdict in ((never, OUTSIDE if cases else HOLDS), (words, HOLDS)):
        claim = Claim("toy.draws", "Lemma 1", "?", hypotheses=(hypothesis,))

        @claim.check(
            "draw", SIMULATED, formula="formula", controls={"control": "control"},
            cases=cases, mutate=False,
        )  # fmt: skip
        def draw(formula: str, examination: Examination, context: Context) -> Evidence:
            drawn[formula] += [float(context.rng().random()) for _ in range(2)]
            examination.decide("is the formula", formula == "formula")
            return examination.evidence("")

        assert run_check(claim, claim.checks[0], Context()).verdict is verdict
    assert len(set(drawn["formula"])) == len(set(drawn["control"])) == 1
    assert set(drawn["formula"]) != set(drawn["control"])


def test_what_the_guide_says_of_errors_and_closeness_is_not_looked_at() -> None:
    """Forty draws, an error of 0.9, a control a million times off: it is believed."""
    claim = Claim("toy.careless", "Lemma 1", "?")

    @claim.check("draw", SIMULATED, formula=0.0, controls={"far": 1e6}, mutate=False)
    def draw(mean: float, examination: Examination, context: Context) -> Evidence:
        found = equivalence(
            lambda size, rng: rng.choice((-1.0, 1.0), size), mean, 0.9, budget=40,
            sequence=BoundedMean(-1, 1, error=0.9), rng=context.rng(),
        )  # fmt: skip
        examination.decide("mean", found.verdict.decided, str(found))
        return examination.evidence("")

    assert run_check(claim, claim.checks[0], Context()).verdict is HOLDS


@pytest.mark.parametrize(
    "file",
    [
        *WRITTEN,
        *(ROOT / "theoryverify" / "scaffold" / "templates").iterdir(),
        *(ROOT / "docs" / "examples").rglob("*.py"),
    ],
    ids=lambda file: str(file.relative_to(ROOT)),
)
def test_what_examples_import_is_in_the_reference(file: Path) -> None:
    """By itself, with its module, or as a value of its class, as PROVED is of Rung."""
    documented = reference()
    imports = re.findall(
        r"^[ >]*from (theoryverify[\w.]*) import (\([^)]*\)|.*)$", file.read_text("utf-8"), re.M
    )
    for module, listed in imports:
        for name in re.findall(r"\w+", listed):
            thing = getattr(importlib.import_module(module), name)
            known = any(thing is entry or type(thing) is entry for entry in documented.values())
            assert known or module in documented, f"{module}.{name}"


def test_a_page_lists_every_statement_with_its_standing(pages: ModuleType) -> None:
    paper = papers()["mamba"]
    name = next(claim.id for claim in own_claims(paper).values() if claim.checks)
    result = samples.claim(name, samples.check(name, rung=CERTIFIED))
    text = pages.paper_page(paper, Report((result,), "quick", 4, {"theoryverify": "9"}))
    headings = re.findall(r"^## (.*)$", text, re.M)
    assert headings == list(own_claims(paper))
    assert "preset quick, seed 4, theoryverify 9" in text
    assert text.count("✓ holds") == 1
    assert "[ ] certified given" in text
    for claim in own_claims(paper).values():
        if claim.not_checked:
            assert "not checked: " in text
    assert "No run is at hand" in pages.paper_page(paper, None)
    for line in text.splitlines():
        if line.startswith("<p>"):
            ET.fromstring(line.replace("<br>", "<br/>"))


def test_a_page_escapes_what_comes_from_a_paper(pages: ModuleType) -> None:
    claim = Claim(
        "toy.A",
        samples.HOSTILE,
        samples.HOSTILE,
        title=samples.HOSTILE,
        not_checked=samples.HOSTILE,
    )
    text = pages.paper_page(Paper("toy", samples.HOSTILE, samples.HOSTILE, claims=(claim,)), None)
    assert not re.search(r"<(script|img|style)", text)


def test_the_report_of_a_run_is_found(
    pages: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.json"
    monkeypatch.setenv("THEORYVERIFY_REPORT", str(path))
    assert pages.stored_report() is None
    path.write_text(json.dumps(samples.plain().to_json()), encoding="utf-8")
    assert pages.stored_report().preset == "quick"
