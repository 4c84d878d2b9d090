"""``theoryverify new`` and the example repository, as a user runs them."""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from theoryverify.cli import main
from theoryverify.scaffold import create

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


def test_a_new_paper_is_green_and_its_controls_are_refuted(tmp_path: Path) -> None:
    assert main(["new", "my_new_paper", "--in", str(tmp_path)]) == 0
    folder = tmp_path / "my_new_paper"
    done = command(folder, "theoryverify", "check", "--papers", "my_new_paper.py", "--json")
    assert done.returncode == 0, done.stderr
    claims = json.loads(done.stdout)["claims"]
    assert [claim["rung"] for claim in claims] == ["proved", "certified", "simulated"]
    for claim in claims:
        assert claim["verdict"] == "holds"
        for check in claim["checks"]:
            assert len(check["controls"]) >= 2
            assert all(control["verdict"] == "refuted" for control in check["controls"])
    tests = command(folder, "pytest", "-q")
    assert "3 passed" in tests.stdout, tests.stdout
    theorems = command(folder, "pytest", "-q", "--theorems", "--papers=my_new_paper.py")
    assert "3 passed" in theorems.stdout, theorems.stdout
    assert "$" not in (folder / "my_new_paper.py").read_text().replace("$(", "")


def tutorial(part: str) -> list[str]:
    """The indented blocks of the tutorial before or from step 7, for a paper of another name."""
    text = (EXAMPLES.parent / "tutorial.md").read_text("utf-8")
    before, heading, after = text.partition("\n## 7. ")
    assert heading
    blocks = re.findall(
        r"(?:^    .*\n|^\n)+", {"before": before, "from": after}[part], re.MULTILINE
    )
    blocks = [textwrap.dedent(block).strip("\n") for block in blocks if block.strip()]
    return [block.replace("my_paper", "my_tutorial_paper") for block in blocks]


def is_python(block: str) -> bool:
    try:
        ast.parse(block)
    except SyntaxError:
        return False
    return True


def written(tmp_path: Path, *parts: str) -> Path:
    """The new paper with the code of these parts pasted into it as they say."""
    (file, *_) = create("my_tutorial_paper", tmp_path)
    source, start, end = file.read_text("utf-8").partition("paper = Paper(")
    assert end.count("claims=[FACTOR, AVERAGE, SIMULATION]") == 1
    code = [block for part in parts for block in tutorial(part) if is_python(block)]
    last = start + end.replace("SIMULATION]", "SIMULATION, FIXED]")
    if "paper = Paper(" not in code[-1]:
        code.append(last)
    file.write_text(source + "\n\n".join(code) + "\n", "utf-8")
    return file


def test_the_tutorial(tmp_path: Path) -> None:
    """Its code, pasted into the new paper as it says, runs."""
    file = written(tmp_path, "before")
    done = command(
        file.parent, "theoryverify", "check", "--papers", file.name, "my_tutorial_paper.4", "--json"
    )
    assert done.returncode == 0, done.stderr
    (claim,) = json.loads(done.stdout)["claims"]
    assert claim["verdict"] == "holds"
    assert [control["verdict"] for control in claim["checks"][0]["controls"]] == ["refuted"] * 2


def test_the_tutorials_derivation_figure_references_and_command(tmp_path: Path) -> None:
    """Step 7 says what to run; it is run as it stands."""
    pytest.importorskip("matplotlib")
    file = written(tmp_path, "before", "from")
    (lines,) = [block for block in tutorial("from") if not is_python(block)]

    def run(line: str) -> subprocess.CompletedProcess[str]:
        program, *arguments = shlex.split(line)
        assert program == "theoryverify"
        return command(file.parent, program, *arguments)

    derived, drawn, cited, answered = (run(line) for line in lines.splitlines())
    assert derived.returncode == 0, derived.stderr
    assert derived.stdout.count("✓") == 1
    assert drawn.returncode == 0, drawn.stderr
    (table,) = (file.parent / "out" / "figures").glob("*.csv")
    assert "1.0,1.0,0.5" in table.read_text("utf-8").splitlines()  # η = 1: v = σ²
    assert cited.returncode == 0, cited.stderr
    assert "{mandt2017stochastic," in cited.stdout
    assert "{me," in cited.stdout
    assert answered.stdout == "v = 1/3 σ²\n"  # η = 1/2: (1/2)/(3/2)
    document = run(f"{lines.splitlines()[-1]} --json").stdout
    assert json.loads(document) == {"variance": "1/3"}
    refused = run(lines.splitlines()[-1].replace("1/2", "2"))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "theoryverify: eta = 2 must lie between 0 and 2\n"
    other = command(file.parent, "theoryverify", "cite", "--papers", file.name, f"{file.stem}.1")
    assert "mandt2017stochastic" not in other.stdout  # it is claim 4 that uses it


def test_a_step_of_the_tutorials_derivation_that_is_wrong_is_not_shown(tmp_path: Path) -> None:
    file = written(tmp_path, "before", "from")
    text = file.read_text("utf-8")
    assert text.count("excess = (1 - eta) ** 2 *") == 1
    file.write_text(text.replace("excess = (1 - eta) ** 2 *", "excess = (1 - eta) *"), "utf-8")
    done = command(file.parent, "theoryverify", "derive", "--papers", file.name, "sgd_variance")
    assert done.returncode == 4
    assert "✓" not in done.stdout
    assert "what exceeds the stationary variance shrinks" in done.stdout  # the step that broke


def test_a_broken_formula_of_a_new_paper_is_found(tmp_path: Path) -> None:
    (file, *_) = create("my_broken_paper", tmp_path)
    text = file.read_text()
    assert text.count("BEST = mu**2 / (mu**2 + sigma**2 / n)") == 1
    file.write_text(text.replace("(mu**2 + sigma**2 / n)\n", "(mu**2 + sigma**2 * n)\n", 1))
    done = command(file.parent, "theoryverify", "check", "--papers", file.name, "my_broken_paper.1")
    assert done.returncode == 1
    assert "my_broken_paper.1" in done.stdout
    assert "refuted" in done.stdout


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("My-Paper", "cannot name a paper"),
        ("ünder", "'ünder' cannot name a paper; use letters a to z, digits and _, a letter first"),
        ("_x", "cannot name a paper"),
        ("2x", "cannot name a paper"),
        ("x²", "cannot name a paper"),
        ("", "cannot name a paper"),
        ("class", "'class' is a word of Python's grammar; choose another"),
        ("lca", "there is a paper 'lca' already; choose another"),
        ("json", "a module that exists already"),
        ("theoryverify", "a module that exists already"),
        ("there", "is there already; nothing was written"),
    ],
)
def test_bad_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, words: str
) -> None:
    (tmp_path / "there").mkdir()
    assert main(["new", name, "--in", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_the_command_that_it_prints_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parent = tmp_path / "my papers"
    parent.mkdir()
    assert main(["new", "my_paper_2", "--in", str(parent)]) == 0
    lines = capsys.readouterr().out.partition("Check it:\n")[2].splitlines()
    script = " && ".join(line.strip() for line in lines)
    assert "&& theoryverify check --papers my_paper_2.py" in script
    script = script.replace(
        "theoryverify check", f"{shlex.quote(sys.executable)} -m theoryverify list"
    )
    done = subprocess.run(script, shell=True, capture_output=True, text=True, check=False)
    assert "my_paper_2.1" in done.stdout, done.stderr


def test_the_readme_of_a_new_paper(tmp_path: Path) -> None:
    for name in ("my_x", "my_paper_of_a_longer_name"):
        text = next(file for file in create(name, tmp_path) if file.name == "README.md").read_text()
        assert "them does not count.\n" in text
        assert text.endswith("`docs/tutorial.md` in the checkout of theoryverify.\n")
        assert f"    theoryverify check --papers {name}.py {name}.1\n" in text


def test_the_commands_of_the_readme_of_a_new_paper(tmp_path: Path) -> None:
    file, *others = create("my_listed_paper", tmp_path)
    (readme,) = (path for path in others if path.name == "README.md")
    (line,) = re.findall(r"^    theoryverify (list .*)$", readme.read_text("utf-8"), re.M)
    done = command(file.parent, "theoryverify", *shlex.split(line), "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["claims"]
    assert [row["id"] for row in rows] == [f"my_listed_paper.{k}" for k in (1, 2, 3)]


def test_a_folder_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "my_paper", "--in", "/nonexistent"]) == 2
    assert "cannot write into /nonexistent" in capsys.readouterr().err


@pytest.mark.parametrize("name", [path.name for path in EXAMPLES.iterdir() if path.is_dir()])
def test_an_example_repository(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder)
    (paper,) = folder.glob("*.py")
    tests = command(folder, "pytest", "-q")
    assert tests.returncode == 0, tests.stdout
    theorems = command(
        folder, "pytest", "-q", "--theorems", f"--papers={paper.name}", "-m", "proved"
    )
    assert theorems.returncode == 0, theorems.stdout
    done = command(folder, "theoryverify", "check", "--papers", paper.name, "--json")
    assert done.returncode == 0, done.stderr
    found = {claim["id"]: claim["verdict"] for claim in json.loads(done.stdout)["claims"]}
    assert found["sgd.3"] == "refuted"
    assert found["sgd.4"] == "holds"
