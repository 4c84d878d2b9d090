"""Each narrated script runs from any folder, asserts its steps, and opens as a notebook."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from theoryverify.claims.discovery import papers

SCRIPTS = sorted((Path(__file__).parents[1] / "derivations").glob("*.py"))


@pytest.mark.parametrize("paper", ["lca", "mamba", "zfb"])
def test_every_derivation_has_its_script(paper: str) -> None:
    scripts = {script.stem for script in SCRIPTS}
    listed = [derivation.name for derivation in papers()[paper].load("derivations")]
    assert [name for name in listed if not {name, f"{paper}_{name}"} & scripts] == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script(script: Path, tmp_path: Path) -> None:
    text = script.read_text("utf-8")
    assert text.startswith("# %% [markdown]\n# # ")
    assert text.count("# %%") >= 4
    assert "assert_" in text
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


MINE = """
import sys
import sympy
from theoryverify.claims import PROVED, Claim, Derivation, DerivationStep, Paper
from theoryverify.claims.steps import asserted

x = sympy.Symbol("x")
ONE = Claim("mine.1", "Lemma 1", "1=1")


@ONE.check("one", PROVED, formula=1, controls={{"two": 2}}, mutate=False)
def one(formula, examination):
    examination.decide("formula = 1", formula == 1)
    return examination.evidence("always")


def steps():
    yield asserted("a square", (x + 1) ** 2, x**2 + 2 * x + 1)
    {second}


paper = Paper("mine", "My paper", "nowhere", claims=[ONE], derivations=[{listed}])
"""
SOUND = 'Derivation("mine_one", "Mine", steps, ("mine.1",))'
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A verb on a paper of one's own with this second step, and this list of derivations."""

    def call(
        *arguments: str, second: str = "", listed: str = SOUND
    ) -> subprocess.CompletedProcess[str]:
        (tmp_path / "mine.py").write_text(MINE.format(second=second, listed=listed), "utf-8")
        return subprocess.run(
            [sys.executable, "-m", "theoryverify", *arguments, "--papers", "mine.py"],
            cwd=tmp_path, capture_output=True, text=True,
        )  # fmt: skip

    return call


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ('yield asserted("a cube", x**3, x**2)', "AssertionError: a cube: "),
        ('yield DerivationStep("off", x, False)', "off: whether it holds is False"),
        ("yield x.nothing", "has no attribute 'nothing' (mine.py, line 19)"),
        ("yield 'text'", "'text' is no DerivationStep"),
        ("sys.exit(0)", "it ends the program (sys.exit(0)) (mine.py, line 19)"),
    ],
)
def test_a_false_step_ends_a_derivation_in_one_line(
    run: Run, tmp_path: Path, second: str, words: str
) -> None:
    done = run("derive", "mine_one", second=second)
    assert (done.returncode, done.stderr) == (4, "")
    lines = done.stdout.splitlines()
    assert " 1. ✓ a square" in lines
    assert lines[-1].startswith("    ! step 2: ")
    assert words in lines[-1]
    document = json.loads(run("derive", "mine_one", "--json", second=second).stdout)
    assert [step["text"] for step in document["steps"]] == ["a square"]
    assert words in document["broken"]
    done = run("derive", "mine_one", "--notebook", "n.ipynb", second=second)
    assert (done.returncode, done.stderr) == (4, "")
    assert words in done.stdout
    assert not (tmp_path / "n.ipynb").exists()


def test_a_sound_derivation_says_so(run: Run, tmp_path: Path) -> None:
    document = json.loads(run("derive", "mine_one", "--json").stdout)
    assert document["broken"] is None
    assert run("derive", "mine_one", "--notebook", "n.ipynb").returncode == 0
    assert (tmp_path / "n.ipynb").exists()


def test_a_derivation_of_a_claim_that_is_not_there(run: Run) -> None:
    done = run("derive", "mine_one", listed=SOUND.replace("mine.1", "mine.2"))
    assert done.returncode == 2
    assert (
        "derivation 'mine_one' speaks of claim 'mine.2', which paper 'mine' has not" in done.stderr
    )


def test_a_derivation_that_is_none(run: Run, tmp_path: Path) -> None:
    words = "'d' in the derivations of paper 'mine' is no Derivation"
    assert words in run("derive", "--list", listed="'d'").stderr
    assert run("check", "--html", "page", listed="'d'").returncode == 0
    page = (tmp_path / "page" / "index.html").read_text("utf-8")
    assert f"step 1: {words}" in page.replace("&#39;", "'")


def test_the_page_says_how_to_run_a_derivation_again(run: Run, tmp_path: Path) -> None:
    false = "yield asserted('a cube', x**3, x**2)"
    assert run("check", "--html", "page", second=false).returncode == 0
    page = (tmp_path / "page" / "index.html").read_text("utf-8")
    assert "It broke: step 2: AssertionError: a cube" in page
    assert "a square" in page  # what came before it
    command = "theoryverify derive --papers mine.py mine_one"
    assert command in page
    assert run(*command.split()[1:]).returncode == 0  # the file is whole again
