"""``--papers FILE``: a paper in a file of the user's own."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from theoryverify.claims import discovery, paper_files
from theoryverify.cli import main

PAPER = """
import sympy
from theoryverify.claims import PROVED, Claim, Paper

x = sympy.Symbol("x")
SQUARE = Claim("{name}.1", "Lemma 1", "(x+1)^2=x^2+2x+1")


@SQUARE.check("expand", PROVED, formula=x**2 + 2 * x + 1, controls={{"without 2x": x**2 + 1}})
def expand(formula, examination):
    examination.identity("square", (x + 1) ** 2, formula)
    return examination.evidence("every x")


paper = Paper("{name}", "My paper", "nowhere", claims=[SQUARE])
"""


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(paper_files.VARIABLE, "")
    monkeypatch.setattr(sys, "path", list(sys.path))
    modules = set(sys.modules)
    yield
    for name in set(sys.modules) - modules:
        if name.startswith("my_"):
            del sys.modules[name]
    os.environ[paper_files.VARIABLE] = ""
    discovery.discover.cache_clear()


def write(folder: Path, text: str, name: str = "my_paper.py") -> str:
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return str(file)


def test_check_runs_the_paper_of_a_file(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, PAPER.format(name="mine"))
    assert main(["check", "--papers", file]) == 0  # in worker processes too
    out = capfd.readouterr().out
    assert "mine.1" in out
    assert "lca" not in out
    for named in ([], ["mine"], ["--paper", "mine"]):
        assert main(["list", f"--papers={file}", *named]) == 0
        assert "1 of 1 statements are covered" in capfd.readouterr().out


def test_a_package_is_a_paper_too(tmp_path: Path) -> None:
    write(tmp_path / "my_package", PAPER.format(name="packed"), "__init__.py")
    assert main(["check", "--papers", str(tmp_path / "my_package")]) == 0


def test_two_files(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    one = write(tmp_path, PAPER.format(name="one"), "my_one.py")
    two = write(tmp_path, PAPER.format(name="two"), "my_two.py")
    assert main(["check", "--papers", one, "--papers", two]) == 0
    out = capfd.readouterr().out
    assert "one.1" in out
    assert "two.1" in out


BESIDE = "from my_formulas import STATED\n" + PAPER.replace(
    "formula=x**2 + 2 * x + 1", "formula=STATED"
)


def test_a_paper_imports_what_lies_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the worker processes too, wherever one stands and however the tool was started."""
    monkeypatch.setenv(
        "PYTHONSAFEPATH", "1"
    )  # as the console script: the working folder is not there
    file = write(tmp_path, BESIDE.format(name="mine"))
    formulas = "import sympy\n\nx = sympy.Symbol('x')\nSTATED = x**2 + 2 * x + 1\n"
    write(tmp_path, formulas, "my_formulas.py")
    assert main(["check", "--papers", file]) == 0


def test_what_lies_beside_a_paper_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    for name in ("wave.py", "sympy.py", "theoryverify.py"):  # none of them is a paper
        write(tmp_path, "raise RuntimeError('the wrong one')\n", name)
    file = write(tmp_path, "import wave\n" + PAPER.format(name="mine"))
    assert main(["check", "--papers", file]) == 0


def test_two_papers_that_would_share_a_module_by_mistake(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    files = []
    for name in ("one", "two"):
        files += ["--papers", write(tmp_path / name, BESIDE.format(name=name), f"my_{name}.py")]
        write(tmp_path / name, "STATED = 1", "my_formulas.py")
    assert main(["check", *files]) == 2
    err = capfd.readouterr().err
    assert "two papers have a module 'my_formulas' beside them" in err
    assert err.count("\n") == 1


def test_papers_import_each_other_in_any_order(tmp_path: Path) -> None:
    first = write(tmp_path / "a", PAPER.format(name="one"), "my_first.py")
    text = "from my_first import x as _\n" + PAPER.format(name="two")
    second = write(tmp_path / "b", text, "my_second.py")
    assert main(["list", "--papers", second, "--papers", first]) == 0


def test_a_hint_names_the_file_again(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, PAPER.format(name="mine"))
    assert main(["check", "my_paper.py"]) == 2
    assert "known: lca, mamba, zfb (a file of your own: --papers FILE)" in capfd.readouterr().err
    monkeypatch.chdir(tmp_path)
    for verb in ("check", "falsify"):
        assert main([verb, "mine.9", "--papers", file]) == 2
        err = capfd.readouterr().err
        assert "`theoryverify list --papers my_paper.py --paper mine` shows them all" in err
    assert main(["list", "--papers", "my_paper.py", "--paper", "mine"]) == 0  # as it says
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert main(["check", "mine.9", "--papers", file]) == 2
    assert f"--papers {file} --paper mine" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import no_such_module", "does not import: ModuleNotFoundError: No module"),
        ("import sys; sys.exit(0)", "does not import: it ends the program (sys.exit(0)) (line 1)"),
        ("paper = 1/0", "ZeroDivisionError: division by zero (line 1)"),
        ("x = 1", "defines no `paper = Paper(...)`"),
        (PAPER.format(name="mine").replace("Lemma 1", " "), "claim mine.1 names no place"),
        (
            PAPER.format(name="mine").replace('{"without 2x": x**2 + 1}', "{}"),
            "check mine.1/expand has no negative control",
        ),
        (PAPER.format(name="lca"), "two papers are called 'lca'"),
        (
            PAPER.format(name="mine").replace("[SQUARE]", "[SQUARE, SQUARE]"),
            "two claims have the id mine.1",
        ),
        (
            PAPER.format(name="mine").replace('2x+1")', "2x+1\", depends_on=('mine.1',))"),
            "cycle: mine.1 -> mine.1",
        ),
        (
            PAPER.format(name="mine").replace('2x+1")', "2x+1\", depends_on=('mine.2',))"),
            "depends on 'mine.2', which does not exist",
        ),
    ],
)
def test_broken_files(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    assert main(["check", "--papers", write(tmp_path, text)]) == 2
    err = capfd.readouterr().err
    assert words in err
    assert err.count("\n") == 1


def test_an_accepted_control_is_an_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = PAPER.format(name="mine").replace("x**2 + 1}", "2 * x + x**2 + 1}")
    assert main(["check", "--papers", write(tmp_path, text)]) != 0
    assert "without 2x" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("name", "words"),
    [("my_none.py", "does not exist"), ("my-paper.py", "called like a module")],
)
def test_bad_names(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, words: str
) -> None:
    if "-" in name:
        write(tmp_path, PAPER.format(name="mine"), name)
    assert main(["check", "--papers", str(tmp_path / name)]) == 2
    assert words in capfd.readouterr().err


def test_a_file_must_not_hide_a_module(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, PAPER.format(name="mine"), "json.py")
    assert main(["check", "--papers", file]) == 2
    err = capfd.readouterr().err
    assert "has the name of another module" in err
    assert json.__file__ in err


def test_a_folder_of_the_same_name_is_no_module(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """``theoryverify new my_thesis``, then ``python -m theoryverify`` from where one stands."""
    (tmp_path / "my_thesis").mkdir()
    file = write(tmp_path / "my_thesis", PAPER.format(name="thesis"), "my_thesis.py")
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["check", "--papers", file]) == 0
    assert main(["check", "--papers", str(tmp_path / "my_thesis")]) == 2
    assert "has no __init__.py; name the paper's file in it" in capfd.readouterr().err


def test_pytest(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(my_paper=PAPER.format(name="mine"))
    result = pytester.runpytest_subprocess("--theorems", "--papers=my_paper.py", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*mine.1/expand PASSED*"])


@pytest.mark.parametrize("leave", ["sys.exit(0)", "raise SystemExit", "pytest.skip('no', 1)"])
@pytest.mark.parametrize("verb", [("check",), ("list",), ("falsify", "mine.1"), ("derive", "x")])
def test_a_file_that_ends_the_program_does_not_pass(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], verb: tuple[str, ...], leave: str
) -> None:
    """Let through, it would end with code 0, and a CI job would be green with nothing checked."""
    file = write(tmp_path, f"import pytest\nimport sys\n{leave}\n" + PAPER.format(name="mine"))
    assert main([*verb, "--papers", file]) == 2
    err = capfd.readouterr().err
    assert "does not import: " in err
    assert "(line 3)" in err
    assert err.count("\n") == 1


def test_an_interrupt_stays_one(tmp_path: Path) -> None:
    assert main(["list", "--papers", write(tmp_path, "raise KeyboardInterrupt")]) == 130


def test_a_list_that_ends_the_program_is_bad_input(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "import sys; sys.exit(0)", "my_claims.py")
    lazy = 'from theoryverify.claims import Paper\npaper = Paper("mine", "t", "s", "my_claims:c")'
    assert main(["check", "--papers", write(tmp_path, lazy)]) == 2
    assert "(my_claims:c) do not import: it ends the program" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ("[]", "there is no claim in mine"),
        ("[SQUARE]", "no statement of mine has a check"),
        ("[FULL]", "no check at the preset quick in mine; try --preset full"),
    ],
)
def test_nothing_to_run_says_why(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], claims: str, words: str
) -> None:
    text = PAPER.format(name="mine")
    full = text.replace("SQUARE", "FULL").replace("mine.1", "mine.2")
    full = full.replace('"expand", PROVED,', '"expand", PROVED, preset="full",')
    bare = text.partition("@SQUARE")[0].replace('2x+1")', '2x+1", not_checked="open")')
    paper = f'paper = Paper("mine", "My paper", "nowhere", claims={claims})\n'
    file = write(tmp_path, full.partition("paper =")[0] + bare + paper)
    assert main(["check", "mine", "--papers", file]) == 2
    assert words in capfd.readouterr().err


def test_the_page_and_junit_say_how_to_run_it_again(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = PAPER.format(name="mine").replace("x**2 + 2 * x + 1,", "x**2 + x + 1,")
    write(tmp_path, text)
    monkeypatch.chdir(tmp_path)
    outputs = ["--html", "page", "--junit", "j.xml"]
    assert main(["check", "--papers", "my_paper.py", *outputs]) == 1
    command = "theoryverify check --papers my_paper.py mine.1 --preset quick --seed 0"
    assert command in (tmp_path / "page" / "index.html").read_text("utf-8")
    assert f"again: {command}" in (tmp_path / "j.xml").read_text("utf-8")
    capfd.readouterr()
    assert main(command.split()[1:]) == 1  # as they say
    assert "mine.1" in capfd.readouterr().out


RESTING = """
from theoryverify.claims import CERTIFIED, PROVED, Claim, Paper

LOW, LATE = Claim("mine.low", "Lemma 1", "1=1"), Claim("mine.late", "Lemma 2", "2=2")
HIGH = Claim("mine.high", "Theorem", "3=3", depends_on=("mine.low", "mine.late"))


def one(formula, examination):
    examination.decide("formula = 1", formula == 1)
    return examination.evidence("always")


for claim, rung, preset in ((LOW, CERTIFIED, "quick"), (LATE, PROVED, "full"), (HIGH, PROVED, "quick")):
    claim.check("one", rung, formula=1, controls={"two": 2}, mutate=False, preset=preset)(one)
paper = Paper("mine", "My paper", "nowhere", claims=[LOW, LATE, HIGH])
"""


def test_what_a_claim_rests_on_is_said_wherever_its_rung_is(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file, lower = write(tmp_path, RESTING), "mine.low (only certified)"
    out = tmp_path / "out"
    outputs = ["--report", str(out), "--html", str(out), "--summary", str(out / "s.md")]
    assert main(["check", "--papers", file, *outputs]) == 0
    shown = capfd.readouterr().out
    assert f"mine.high: proved given {lower}; mine.late (2=2), not run" in shown
    assert "mine.low: " not in shown
    assert "1 claim not run (no check at the preset quick): mine.late" in shown
    document = json.loads((out / "report.json").read_text("utf-8"))
    assert document["not_run"] == ["mine.late"]
    given = {claim["id"]: claim["assumes"] for claim in document["claims"]}
    assert given == {"mine.low": [], "mine.high": [lower, "mine.late (2=2), not run"]}
    junit = (out / "junit.xml").read_text("utf-8")
    assert junit.count(f'name="claim_given" value="{lower}"') == 1
    page = (out / "index.html").read_text("utf-8")
    assert page.count(f"<li>{lower}</li>") == 1
    assert "not run: no check at the preset quick" in page
    assert "mine.low \\(only certified\\)" in (out / "s.md").read_text("utf-8")
    assert main(["list", "--papers", file, "--from", str(out / "report.json")]) == 0
    assert "[holds, proved given]" in capfd.readouterr().out
    assert main(["cite", "--papers", file, "--from", str(out / "report.json")]) == 0
    bare = capfd.readouterr().out
    assert lower not in bare
    assert "mine.late" in bare
    assert main(["check", "mine.high", "--papers", file, "--rung", "proved"]) == 0
    shown = capfd.readouterr().out
    assert "mine.high: proved given mine.low (1=1), not run; mine.late (2=2), not run" in shown
    assert main(["check", "mine.high", "--papers", file, "--preset", "full"]) == 0
    shown = capfd.readouterr().out
    assert f"mine.high: proved given {lower}\n" in shown
    assert "not run" not in shown
