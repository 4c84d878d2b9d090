"""The page's structure, read with the standard library: links, ids, escaping, contrast, policy."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from itertools import pairwise
from urllib.parse import unquote

import pytest

from tests.report import samples
from tests.report.outline import Outline
from theoryverify.claims.discovery import papers
from theoryverify.claims.results import Report
from theoryverify.report.html import page
from theoryverify.report.html.marks import RUNGS, VERDICTS
from theoryverify.report.html.view import counterexamples

REPORTS = {f.__name__: f() for f in (samples.plain, samples.troubled, samples.hostile)}
PAGES = {name: page(report) for name, report in REPORTS.items()}


@pytest.fixture(params=list(PAGES))
def outline(request: pytest.FixtureRequest) -> Outline:
    return Outline.of(PAGES[request.param])


def test_elements_nest_and_ids_are_unique(outline: Outline) -> None:
    assert outline.problems == []
    assert len(outline.ids) == len(set(outline.ids))


def test_every_link_leads_to_an_id_of_the_page(outline: Outline) -> None:
    links = [item.attrs["href"] for item in outline.all("a")]
    assert links
    for link in links:
        assert link.startswith("#")
        assert unquote(link[1:]) in outline.ids


def test_nothing_is_loaded_from_anywhere(outline: Outline) -> None:
    for item in outline.elements:
        assert item.tag not in {"img", "link", "iframe", "object", "embed", "base", "form"}
        for name, value in item.attrs.items():
            assert name not in {"src", "srcset", "style", "action", "xlink:href", "xmlns"}
            assert not name.startswith("on")
            assert not re.match(r"\s*(https?:|//|data:|javascript:)", value), (name, value)
    assert len(outline.all("script")) == len(outline.all("style")) == 1


@pytest.mark.parametrize("name", list(PAGES))
def test_the_policy_allows_this_style_and_script_and_nothing_else(name: str) -> None:
    outline = Outline.of(PAGES[name])
    policy = next(
        item.attrs["content"]
        for item in outline.all("meta")
        if item.attrs.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "http" not in policy
    for kind in ("style", "script"):
        text = outline.all(kind)[0].text
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
        assert "url(" not in text
        assert "@import" not in text


def test_what_comes_from_a_paper_is_text() -> None:
    """Markup in every place a paper can write to is shown letter by letter."""
    outline = Outline.of(PAGES["hostile"])
    assert [item.parents for item in outline.all("script")] == [("html", "body")]
    shown = samples.HOSTILE.replace("\x00", "?").replace("\x0b", "?")
    article = outline.all("article")[0]
    assert article.text.count(shown) >= 12
    assert "49" not in article.text  # a template in the text is not run
    assert "\x00" not in PAGES["hostile"]


def test_landmarks_and_the_skip_link() -> None:
    outline = Outline.of(PAGES["plain"])
    for tag in ("main", "nav", "header", "footer", "h1"):
        assert outline.all(tag)
    assert len(outline.all("main")) == len(outline.all("h1")) == 1
    first = outline.all("a")[0]
    assert first.attrs["href"] == "#main"
    assert outline.all("html")[0].attrs["lang"] == "en"
    for field in outline.all("input") + outline.all("select"):
        assert "label" in field.parents
    levels = [int(item.tag[1]) for item in outline.elements if re.fullmatch(r"h[1-6]", item.tag)]
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_every_claim_has_a_node_an_article_and_a_row() -> None:
    outline = Outline.of(PAGES["plain"])
    nodes = {item.attrs["data-id"]: item for item in outline.all("a", "node")}
    articles = {item.attrs["id"]: item for item in outline.all("article")}
    for claim in REPORTS["plain"].claims:
        node, article = nodes[claim.id], articles[f"claim-{claim.id}"]
        assert f"v-{claim.verdict}" in node.attrs["class"]
        assert f"r-{claim.rung or 'none'}" in node.attrs["class"]
        assert str(claim.verdict) in node.attrs["aria-label"]
        assert VERDICTS[claim.verdict] in node.text
        if claim.rung:
            assert RUNGS[claim.rung] in node.text
        for part in (claim.id, claim.title, claim.place, *claim.assumes, claim.note):
            assert part in article.text
        assert f"theoryverify check {claim.id} --preset quick --seed 0" in article.text
        for check in claim.checks:
            assert check.name in article.text
            for control in check.controls:
                assert control.reason in article.text
            for step in check.steps:
                assert step["name"] in article.text
            for name, why in check.mutants.refuted:
                assert name in article.text
                assert why in article.text
    assert len(outline.all("math")) >= 2 * len(REPORTS["plain"].claims)


def test_relations_between_claims() -> None:
    outline = Outline.of(PAGES["plain"])
    articles = {item.attrs["id"]: item.text for item in outline.all("article")}
    assert re.search(r"Carries\s+toy\.B .{0,20}\s+toy\.C ", articles["claim-toy.A"])
    assert re.search(r"Counterexamples\s+toy\.C\.atom ", articles["claim-toy.C"])
    assert "other.X" in articles["claim-toy.C"]  # named, though it is not on the page
    edges = {
        (p.attrs["data-from"], p.attrs["data-to"])
        for p in outline.all("path")
        if "data-to" in p.attrs
    }
    assert ("toy.A", "toy.B") in edges
    assert ("other.X", "toy.C") not in edges


def test_counterexamples_are_those_below_that_say_so() -> None:
    report = samples.plain()
    named = {claim.id: counterexamples(claim, report.claims) for claim in report.claims}
    assert named["toy.C"] == ("toy.C.atom",)
    assert named["toy.A"] == ()


def test_what_is_not_as_expected_stands_out() -> None:
    outline = Outline.of(PAGES["troubled"])
    wrong = {item.attrs["data-id"] for item in outline.all("a", "unexpected")}
    assert wrong == {"toy.A", "toy.B", "toy.C", "toy.D"}
    text = outline.all("body")[0].text
    assert "refuted, expected holds" in " ".join(text.split())
    assert "holds, not refuted" in " ".join(text.split())


def test_long_evidence_is_folded_and_pictured() -> None:
    outline = Outline.of(PAGES["plain"])
    article = next(a for a in outline.all("article") if a.attrs["id"] == "claim-toy.C")
    assert "5 more steps" in article.text
    assert "step 13" in article.text
    plots = outline.all("svg", "plot")
    assert [("inside" in p.attrs["class"], "apart" in p.attrs["class"]) for p in plots[:2]] == [
        (True, False),
        (False, True),
    ]


# -- colours -----------------------------------------------------------------------------------


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def themes() -> dict[str, dict[str, str]]:
    style = Outline.of(PAGES["plain"]).all("style")[0].text
    light, system, dark = re.findall(r":root[^{]*\{([^}]*--page[^}]*)\}", style)
    read = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", part)) for part in (light, system, dark)]
    assert read[1] == read[2]  # the system's dark and the reader's dark
    return {"light": read[0], "dark": read[2]}


def test_contrast_reference_values() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_the_contrast_that_wcag_asks_for(theme: str) -> None:
    colour = themes()[theme]
    for text in ("text", "muted", "link"):
        for ground in ("page", "panel", "raised"):
            assert contrast(colour[text], colour[ground]) >= 4.5, (text, ground)
    for name in (*RUNGS, "holds", "refuted", "inconclusive", "outside", "error"):
        assert contrast(colour[name], colour[f"{name}-tint"]) >= 4.5, name
        if name != "error":
            assert contrast(colour["text"], colour[f"{name}-tint"]) >= 4.5, name
    for name in ("refuted", "inconclusive"):  # used on plain ground too
        assert contrast(colour[name], colour["raised"]) >= 4.5, name
    for name in ("focus", "muted"):  # outlines of controls
        assert contrast(colour[name], colour["page"]) >= 3, name


def test_no_two_signs_are_alike() -> None:
    assert len({*VERDICTS.values(), *RUNGS.values()}) == len(VERDICTS) + len(RUNGS)


# -- papers ------------------------------------------------------------------------------------


def test_statements_without_checks_and_derivations_of_an_installed_paper() -> None:
    """Of a paper that was run whole: what is not checked, and its derivations."""
    paper = papers()["mamba"]
    claims = [claim for claim in paper.load("claims") if claim.checks]
    whole = Report(
        tuple(samples.claim(claim.id, depends_on=tuple(claim.depends_on)) for claim in claims),
        "quick",
        0,
        {},
    )
    outline = Outline.of(page(whole))
    unchecked = [claim for claim in paper.load("claims") if not claim.checks]
    articles = {item.attrs["id"]: item for item in outline.all("article")}
    for claim in unchecked:
        assert claim.not_checked in articles[f"claim-{claim.id}"].text
    for derivation in paper.load("derivations"):
        assert f"derivation-{derivation.name}" in outline.ids
    assert "could not be set" not in outline.all("body")[0].text
    part = Outline.of(page(replace(whole, claims=whole.claims[:1])))
    assert len(part.all("article")) == 1


def test_a_derivation_names_claims_that_exist() -> None:
    for paper in papers().values():
        known = {claim.id for claim in paper.load("claims")}
        for derivation in paper.load("derivations"):
            assert set(derivation.claims) <= known, derivation.name


def test_the_page_of_a_report_is_a_function_of_it() -> None:
    assert page(REPORTS["plain"]) == PAGES["plain"]
