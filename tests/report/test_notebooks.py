"""What claims, numbers, laws and reports show in a notebook, and derivations as notebooks."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from flint import arb

from tests.report import samples
from tests.report.outline import Outline
from theoryverify import Discrete, TwoPoint, Uniform
from theoryverify.claims.claim import Claim
from theoryverify.claims.derive import derivation_named, derivations
from theoryverify.claims.display import mathematics, tex_text
from theoryverify.claims.paper import Derivation, DerivationStep
from theoryverify.cli import main
from theoryverify.exact.balls import Enclosure
from theoryverify.report.notebook import notebook

HOSTILE = samples.HOSTILE


def shows(html: str) -> Outline:
    """The fragment, which nests and holds nothing that runs or loads."""
    outline = Outline.of(html)
    assert outline.problems == []
    tags = {item.tag for item in outline.elements}
    assert tags <= {"div", "p", "b", "span", "sub", "sup", "table", "tr", "th", "td", "code"}
    return outline


def text(html: str) -> str:
    return shows(f"<div>{html}</div>").elements[0].text


# -- numbers and laws --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        arb(2).sqrt(),
        -arb(2).sqrt(),
        arb(1) / 3 / arb(10) ** 40,
        arb(0, 1),
        arb("0.5"),
        arb(10) ** 30 / 7,
    ],
)
def test_an_enclosure_shows_both_ends(value: arb) -> None:
    enclosure = Enclosure.of(value)
    html = enclosure._repr_html_()
    shown = re.sub(r" · 10<sup>(-?\d+)</sup>", r"e\1", html)
    parts = re.search(r">([^<]*)<sub>(\d+)</sub><sup>(\d+)</sup>(e-?\d+)?<", shown)
    if parts:
        low, high = (Fraction(parts[1] + parts[i] + (parts[4] or "")) for i in (2, 3))
        assert low <= enclosure.lower <= enclosure.upper <= high
        assert high - low <= 100 * (enclosure.upper - enclosure.lower)
    title = shows(html).all("span")[0].attrs["title"].split(" to ")
    assert Fraction(title[0]) <= enclosure.lower <= enclosure.upper <= Fraction(title[1])
    latex = enclosure._repr_latex_()
    assert latex[0] == latex[-1] == "$"
    assert "e" not in latex
    assert latex.count("{") == latex.count("}")


def test_a_law_shows_support_and_mean() -> None:
    shown = text(Uniform(2, 5)._repr_html_())
    assert "uniform(2,5)" in shown
    assert "[2, 5]" in shown
    assert "7/2" in shown
    assert Uniform(2, 5)._repr_latex_() == r"$Z \sim \mathtt{uniform(2,5)},\ Z \in [2, 5]$"
    assert "8/3" in text(TwoPoint(2, 4, "2/3")._repr_html_())
    shows(Discrete({2: "1/4", 3: "1/4", 5: "1/2"})._repr_html_())


# -- claims and reports ------------------------------------------------------------------------


def test_a_claim_shows_its_statement_and_escapes_it() -> None:
    claim = Claim(
        "toy.A", HOSTILE, r"x \to \infty", title="a title", not_checked=HOSTILE, note=HOSTILE
    )
    shown = text(claim._repr_html_())
    assert shown.count(HOSTILE) == 3
    assert r"$\displaystyle x \to \infty$" in shown
    assert claim._repr_latex_() == r"$\displaystyle x \to \infty$"


def test_a_dollar_does_not_end_the_mathematics() -> None:
    assert mathematics(r"a $b \$c") == r"$\displaystyle a \$b \$c$"


@pytest.mark.parametrize("make", [samples.plain, samples.troubled, samples.hostile])
def test_a_report_shows_every_claim(make: Any) -> None:
    report = make()
    outline = shows(report._repr_html_())
    assert len(outline.all("tr")) == len(report.claims) + 1
    for claim, row in zip(report.claims, outline.all("tr")[1:], strict=True):
        for part in (claim.id, claim.title, claim.place, str(claim.verdict)):
            assert part in row.text
    for claim in report.claims:
        shows(claim._repr_html_())
        for check in claim.checks:
            assert str(check.verdict) in text(check._repr_html_())
    latex = report._repr_latex_()
    assert latex.count(" & ") == 3 * (len(report.claims) + 1)


def test_tex_text_prints_what_it_says() -> None:
    assert tex_text("a_b & 50% #1 {x} ~^\\") == (
        r"a\_b \& 50\% \#1 \{x\} \textasciitilde{}\textasciicircum{}\textbackslash{}"
    )


def test_a_long_report_is_cut() -> None:
    from dataclasses import replace

    report = replace(samples.plain(), claims=tuple(samples.claim(f"toy.A{i}") for i in range(250)))
    outline = shows(report._repr_html_())
    assert len(outline.all("tr")) == 201
    assert "and 50 more" in text(report._repr_html_())


def test_showing_imports_nothing_heavy() -> None:
    code = (
        "import sys; from theoryverify.claims.claim import Claim;"
        "Claim('a.b', 'p', 'x')._repr_html_();"
        "print([m for m in ('sympy', 'torch', 'matplotlib', 'jinja2', 'IPython') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# -- derivations -------------------------------------------------------------------------------


def test_a_notebook_runs_and_shows_what_it_stored() -> None:
    document = notebook(derivation_named("lca_limit"))
    space: dict[str, Any] = {}
    compared = 0
    for cell in document["cells"]:
        if cell["cell_type"] != "code":
            continue
        source = "".join(cell["source"])
        if cell["id"] == "load":
            exec(source, space)
            continue
        step = eval(source, space)
        data = cell["outputs"][0]["data"]
        assert "".join(data["text/latex"]) == step._repr_latex_()
        assert "".join(data["text/html"]) == step._repr_html_()
        compared += 1
    assert compared >= 5


@pytest.mark.parametrize("name", list(derivations())[:3])
def test_a_notebook_has_the_form_of_nbformat_4_5(name: str) -> None:
    document = json.loads(json.dumps(notebook(derivation_named(name))))
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    assert set(document) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    ids = [cell["id"] for cell in document["cells"]]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", item) for item in ids)
    counts = []
    for cell in document["cells"]:
        assert all(isinstance(line, str) for line in cell["source"])
        if cell["cell_type"] == "markdown":
            assert set(cell) == {"cell_type", "id", "metadata", "source"}
            continue
        assert set(cell) == {"cell_type", "execution_count", "id", "metadata", "outputs", "source"}
        counts.append(cell["execution_count"])
        for output in cell["outputs"]:
            assert set(output) == {"output_type", "execution_count", "metadata", "data"}
            assert output["execution_count"] == cell["execution_count"]
    assert counts == list(range(1, len(counts) + 1))
    try:
        import nbformat
    except ImportError:
        return
    nbformat.validate(document)


def test_text_of_a_derivation_is_no_markdown() -> None:
    def steps() -> Any:
        yield DerivationStep(f"*a* <b>[x](y) {HOSTILE}", HOSTILE, True)

    cells = notebook(Derivation("n", HOSTILE, steps))["cells"]
    markdown = "".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    assert "<" not in markdown
    assert r"\*a\*" in markdown
    shows("".join(cells[-1]["outputs"][0]["data"]["text/html"]))


def test_derive_writes_a_notebook(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "new" / "loss.ipynb"
    assert main(["derive", "lca_loss", "--notebook", str(path)]) == 0
    assert capsys.readouterr().out == f"notebook: {path}\n"
    document = json.loads(path.read_text(encoding="utf-8"))
    assert len(document["cells"]) > 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["derive", "--notebook", "x.ipynb"], "needs the NAME of a derivation"),
        (["derive", "--list", "--notebook", "x.ipynb"], "needs the NAME of a derivation"),
        (["derive", "nope", "--notebook", "x.ipynb"], "derivation 'nope' is unknown"),
        (["derive", "lca_loss", "--notebook", "{folder}"], "it is a folder"),
        (["derive", "lca_loss", "--notebook", "/proc/x/y.ipynb"], "cannot write to folder"),
    ],
)
def test_bad_input_to_derive_is_one_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([item.format(folder=tmp_path) for item in arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())
