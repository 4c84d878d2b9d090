"""Searching: the spaces, the walk, what only floats believe, shrinking, and the file it writes."""

import json
import math
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from theoryverify.claims import CERTIFIED, Evidence, Examination, Hypothesis
from theoryverify.claims.claim import Context
from theoryverify.claims.counterexample import as_source, command, counterexample_source
from theoryverify.claims.law_spaces import DiscreteLaws, UniformLaws
from theoryverify.claims.runner import run_here
from theoryverify.claims.search import Search, falsify, search_named, searches_of
from theoryverify.claims.spaces import (
    Choice,
    Integers,
    ListOf,
    OneOf,
    Rationals,
    Record,
    Space,
    SparseVectors,
)
from theoryverify.cli import main
from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.densities import Uniform
from theoryverify.exact.laws import Discrete, TwoPoint


@dataclass(frozen=True)
class Pair:
    x: Fraction
    n: int


PLACES = Rationals(-3, 7, 50)
SPACES: list[Space] = [
    Integers(2, 9),
    Integers(1, 10**6),
    PLACES,
    Rationals("1/3", "1/2", 30),
    Choice((3, 5, 7)),
    ListOf(Integers(0, 5), 1, 4),
    Record(Pair, x=PLACES, n=Integers(1, 40)),
    SparseVectors((2, 4, 6), 9),
    OneOf((UniformLaws(PLACES), DiscreteLaws(PLACES))),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_every_move_stays_in_the_space_and_shrinking_ends(space: Space) -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        point = space.sample(rng)
        assert space.contains(point)
        for scale in (1.0, 0.1, 1e-4):
            assert space.contains(space.near(point, rng, scale))
        for candidate in space.smaller(point):
            assert space.contains(candidate)
        # Following smaller candidates as the walk does must come to an end.
        for _ in range(400):
            size = space.size(point)
            following = next((c for c in space.smaller(point) if space.size(c) < size), None)
            if following is None:
                break
            point = following
        else:
            pytest.fail("shrinking does not end")


def test_descent_reaches_simple_rationals_exactly() -> None:
    found = falsify(_search(lambda case: abs(float(case.x - Fraction(2, 3))) - 1e-9))
    assert found.found is not None
    assert found.found.case.x == Fraction(2, 3)


POSITIVE = Hypothesis("positivity", "x > 0", lambda c: None if c.x > 0 else f"{c.x} <= 0")
SMALL = Hypothesis("smallness", "n < 30", lambda c: None if c.n < 30 else f"{c.n} >= 30")


def _zero(wanted: Fraction, case: Pair, examination: Examination) -> Evidence:
    examination.decide("x differs from it", case.x != wanted, f"x = {case.x}")
    return examination.evidence("one pair")


def _search(margin: object, **more: object) -> Search:
    options: dict[str, object] = {
        "formula": Fraction(2, 3),
        "controls": {"x = x": None},
        "hypotheses": (),
        "judge": lambda wanted, case, examination: _zero(
            case.x if wanted is None else wanted, case, examination
        ),
    }
    return Search(
        "toy.x",
        "pairs",
        "x ≠ 2/3",
        Record(Pair, x=PLACES, n=Integers(1, 40)),
        margin,  # type: ignore[arg-type]
        rung=CERTIFIED,
        **(options | more),  # type: ignore[arg-type]
    )


def _below(formula: int, case: Pair, examination: Examination) -> Evidence:
    """The statement: 3x + n >= formula; exact."""
    examination.decide("3x + n", 3 * case.x + case.n >= formula, f"{3 * case.x + case.n}")
    return examination.evidence("one pair")


def test_a_judge_that_does_not_refute_its_controls_finds_nothing() -> None:
    idle = _search(
        lambda case: abs(float(case.x - Fraction(2, 3))) - 1e-9,
        controls={"x = 2/3 never refuted": Fraction(-100)},
    )
    with pytest.raises(UndecidedError, match=r"at Pair\(.*2/3 never refuted\): it may say nothing"):
        falsify(idle)


BELOW = Search(
    "toy.sum",
    "pairs",
    "3x + n >= 1",
    Record(Pair, x=PLACES, n=Integers(1, 40)),
    lambda case: float(3 * case.x + case.n - 1),
    _below,
    CERTIFIED,
    formula=1,
    controls={"3x + n >= 1000": 1000},
    hypotheses=(POSITIVE, SMALL),
    budget=400,
)


def test_with_its_hypotheses_nothing_is_found_and_the_domain_is_said() -> None:
    outcome = falsify(BELOW)
    assert outcome.found is None
    assert outcome.trials == 400
    assert outcome.rejected > 0  # about a third of the draws are not positive
    assert outcome.nearest.x > 0
    assert outcome.nearest_margin == pytest.approx(
        3 * float(outcome.nearest.x) + outcome.nearest.n - 1
    )
    assert outcome.nearest_verdict == "holds"


def test_without_a_hypothesis_the_smallest_violation_is_found() -> None:
    outcome = falsify(BELOW, without=["positivity"])
    found = outcome.found
    assert found is not None
    assert found.result.verdict == "refuted"
    assert [control.verdict for control in found.result.controls] == ["refuted"]
    assert 3 * found.case.x + found.case.n < 1
    assert found.case in (Pair(Fraction(-1), 1), Pair(Fraction(-1), 2))  # no smaller one fails
    assert found.breaks == (f"positivity: {found.case.x} <= 0",)
    assert POSITIVE.failure(found.holds_at) is None
    assert 3 * found.holds_at.x + found.holds_at.n >= 1


def test_a_hypothesis_that_was_not_needed_is_not_blamed() -> None:
    wrong = Search(
        "toy.sum", "pairs", "n >= 2", BELOW.space, lambda c: float(c.n - 2),
        lambda f, case, examination: (
            examination.decide("n", case.n >= f), examination.evidence("")
        )[1],
        CERTIFIED, formula=2, controls={"n >= 99": 99}, hypotheses=(POSITIVE, SMALL),
    )  # fmt: skip
    found = falsify(wrong, without=["smallness"]).found
    assert found is not None
    assert found.case.n == 1
    assert found.breaks == ()


def test_the_result_depends_on_seed_and_dropped_hypotheses_alone() -> None:
    first, second = (falsify(BELOW, without=["positivity"], seed=5) for _ in range(2))
    assert first.found is not None
    assert second.found is not None
    assert (first.found.first, first.trials) == (second.found.first, second.trials)
    other = falsify(BELOW, without=["positivity"], seed=6)
    assert other.found is not None
    assert (other.found.first, other.trials) != (first.found.first, first.trials)


def test_floats_alone_refute_nothing() -> None:
    """The margin calls everything a violation; the judge, exact, none of it."""
    alarm = _search(lambda case: -1.0, formula=Fraction(100), budget=60)
    outcome = falsify(alarm)
    assert outcome.found is None
    assert outcome.unconfirmed > 5


def test_what_cannot_be_evaluated_is_counted_and_is_no_violation() -> None:
    def margin(case: Pair) -> float:
        if case.n % 2:
            raise UndecidedError("too wide")
        return 1.0 if case.n < 20 else math.nan

    outcome = falsify(_search(margin), budget=50)
    assert outcome.found is None
    assert 0 < outcome.void < 50
    assert outcome.nearest.n % 2 == 0
    assert outcome.nearest.n < 20


def test_a_search_that_could_evaluate_nothing_says_so() -> None:
    """It looked at no case: "nothing found" would be read as if it had."""
    with pytest.raises(UndecidedError, match=r"none of 50 cases of toy.x/pairs .*margin is NaN"):
        falsify(_search(lambda case: math.nan), budget=50)

    def raising(case: Pair) -> float:
        raise UndecidedError("too wide")

    with pytest.raises(UndecidedError, match=r"none of 30 cases .* the first at Pair.*: too wide"):
        falsify(_search(raising), budget=30)


def test_a_judge_that_breaks_is_an_error_and_no_verdict() -> None:
    def judge(formula: object, case: Pair, examination: Examination) -> Evidence:
        raise ZeroDivisionError("on purpose")

    with pytest.raises(UndecidedError, match=r"broke at Pair.*on purpose"):
        falsify(_search(lambda case: -1.0, judge=judge), budget=20)


def test_a_bug_in_the_margin_is_not_hidden() -> None:
    with pytest.raises(AttributeError):
        falsify(_search(lambda case: case.nothing), budget=5)
    with pytest.raises(TypeError, match="a margin must be a number, not None"):
        falsify(_search(lambda case: None), budget=5)


def test_hypotheses_that_no_case_meets() -> None:
    never = Hypothesis("never", "0=1", lambda case: "no")
    with pytest.raises(UndecidedError, match="none of 500 cases drawn meets"):
        falsify(_search(lambda case: 1.0, hypotheses=(never,)), budget=5)


def test_bad_input() -> None:
    with pytest.raises(InputError, match=r"'foo' cannot be dropped.*'positivity', 'smallness'"):
        falsify(BELOW, without=["foo"])
    with pytest.raises(InputError, match="budget = 0"):
        falsify(BELOW, budget=0)
    with pytest.raises(InputError, match=r"claim 'lca.F.99' is unknown"):
        searches_of("lca.F.99")
    with pytest.raises(InputError, match=r"no search is declared for 'lca.F.1'.*lca.F.3"):
        searches_of("lca.F.1")
    with pytest.raises(InputError, match="has no search called 'x'"):
        search_named("lca.F.3", "x")
    with pytest.raises(InputError, match="no integer from 3 to 2"):
        Integers(3, 2)
    with pytest.raises(InputError, match="no interval"):
        Rationals(2, 2)


def test_a_record_of_fields_that_are_none() -> None:
    with pytest.raises(InputError, match=r"Pair.* cannot be built from x, m: .*'n'"):
        Record(Pair, x=PLACES, m=Integers(1, 2))
    with pytest.raises(InputError, match=r"field 'n' of a Record needs a Space, not 7"):
        Record(Pair, x=PLACES, n=7)  # type: ignore[arg-type]
    assert Record(dict, a=Integers(1, 2)).contains is not None  # `dict` tells nothing of itself


@pytest.mark.parametrize(
    "value",
    [
        Fraction(2, 3),
        (Fraction(1), 2, "a'b", None, True),
        (1,),
        Discrete({2: "1/4", "5/2": "3/4"}),
        TwoPoint(2, 5, "1/3"),
        Uniform("3/2", 4),
        Pair(Fraction(-1, 2), 3),
    ],
    ids=repr,
)
def test_source_makes_the_value_again(value: object) -> None:
    imports: set[tuple[str, str]] = set()
    text = as_source(value, imports)
    names = {"Pair": Pair, "Fraction": Fraction, "Discrete": Discrete, "Uniform": Uniform}
    assert {name for _, name in imports} <= set(names)
    again = eval(text, names)  # our own text
    same = again == value or (
        repr(again).partition("(")[2] == repr(value).partition("(")[2]
        or getattr(again, "atoms", 0) == getattr(value, "atoms", 1)
    )
    assert same
    with pytest.raises(InputError, match="cannot be written"):
        as_source(object(), set())


def example() -> str:
    """The paper of docs/falsify.md."""
    text = (Path(__file__).parents[2] / "docs" / "falsify.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    return next(block for block in blocks if "paper = Paper(" in block)


def test_a_paper_of_ones_own_is_searched_and_what_is_found_is_checked_again(tmp_path: Path) -> None:
    mine = tmp_path / "mine_euler.py"
    mine.write_text(example(), "utf-8")

    def call(*arguments: str) -> tuple[int, dict[str, object]]:
        done = subprocess.run(
            [sys.executable, "-m", "theoryverify", *arguments, "--json", "--papers", str(mine)],
            capture_output=True, text=True, cwd=tmp_path,
        )  # fmt: skip
        return done.returncode, json.loads(done.stdout)

    code, document = call("falsify", "mine.euler")
    assert (code, document["found"], document["file"]) == (0, False, None)
    assert not (tmp_path / "out").exists()
    code, document = call("falsify", "mine.euler", "--without", "small", "--out", "found_it.py")
    assert (code, document["found"], document["file"]) == (1, True, "found_it.py")
    row = document["searches"][0]  # type: ignore[index]
    assert row["found"]["case"] == "Case(n=40)"  # 40² + 40 + 41 = 41²
    assert row["found"]["breaks"] == ["small: n = 40"]
    code, document = call("check", "--papers", "found_it.py", "found-mine-euler")
    verdicts = {c["id"]: (c["verdict"], c["expected"]) for c in document["claims"]}  # type: ignore[attr-defined]
    assert verdicts == {
        "found-mine-euler.counterexample": ("refuted", "refuted"),
        "found-mine-euler.elsewhere": ("holds", "holds"),
    }
    assert code == 0


def test_the_printed_commands_work_as_they_stand(tmp_path: Path) -> None:
    """Without the working folder on the path, as the console script runs."""
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "mine_euler.py").write_text(example(), "utf-8")

    def call(command: str) -> subprocess.CompletedProcess[str]:
        program, *arguments = shlex.split(command)
        assert program == "theoryverify"
        return subprocess.run(
            [sys.executable, "-m", "theoryverify", *arguments], capture_output=True, text=True,
            cwd=tmp_path, env=os.environ | {"PYTHONSAFEPATH": "1"},
        )  # fmt: skip

    search = "theoryverify falsify mine.euler --without small --budget 900"
    found = call(f"{search} --papers 'a folder/mine_euler.py'")
    assert found.returncode == 1
    (check,) = re.findall(r"written .* \((theoryverify check .*)\)", found.stdout)
    assert check.endswith("--papers out/falsify/found_mine_euler.py found-mine-euler")
    text = (tmp_path / "out" / "falsify" / "found_mine_euler.py").read_text("utf-8")
    again, same_check = re.findall(r"^    (theoryverify .*)$", text, flags=re.MULTILINE)
    assert same_check == check
    assert call(again).stdout == found.stdout
    done = call(check)
    assert done.returncode == 0, done.stderr
    assert "2 of 2 claims as expected" in done.stdout


def test_the_command_that_finds_it_again() -> None:
    outcome = falsify(BELOW, without=["positivity"], seed=3)
    assert command(outcome) == "theoryverify falsify toy.sum --without positivity --seed 3"
    outcome = falsify(BELOW, without=["positivity"], budget=399)
    assert "--without positivity --budget 399 --seed 0" in command(outcome)


def test_a_search_without_a_name_of_its_own_cannot_be_written() -> None:
    outcome = falsify(_search(lambda case: float(case.x - Fraction(2, 3)) ** 2 - 1e-18))
    assert outcome.found is not None
    with pytest.raises(InputError, match="has no name at the top"):
        counterexample_source(outcome)
    with pytest.raises(InputError, match="nothing was found"):
        counterexample_source(falsify(BELOW, budget=5))


def test_the_written_file_runs_in_this_process(tmp_path: Path) -> None:
    outcome = falsify(BELOW, without=["positivity"])
    names: dict[str, object] = {}
    exec(compile(counterexample_source(outcome), "found", "exec"), names)  # our own text
    paper = names["paper"]
    results = run_here(paper.claims, Context())  # type: ignore[attr-defined]
    assert sorted(str(result.verdict) for result in results.values()) == ["holds", "refuted"]
    assert all(result.sound for result in results.values())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lca.nothing"], "claim 'lca.nothing' is unknown"),
        (["lca.F.3", "--budget", "0"], "budget = 0"),
        (["lca.F.3", "--budget", "1.5"], "not an integer"),
        (["lca.F.3", "--seed", "-1"], "seed = -1"),
        (["lca.F.3", "--without", "peace"], "'Assumption 6.1'"),
        (["lca.F.3", "--out", "a b.py"], "not called like a module"),
        (["lca.F.3", "--out", "/proc/nowhere/found.py"], "cannot write to folder"),
    ],
)
def test_bad_input_of_the_verb(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["falsify", *arguments]) == 2
    output = capsys.readouterr()
    assert words in output.err
    assert output.err.count("\n") == 1
    assert output.out == ""


def test_the_list_of_searches(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["falsify", "--list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["searches"]
    assert {"lca.4.1", "lca.F.3", "lca.6.3", "mamba.D", "mamba.even"} <= {r["claim"] for r in rows}
    assert all(row["domain"] and row["statement"] and row["budget"] > 0 for row in rows)


def test_the_list_of_one_claims_searches(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["falsify", "--list", "lca.6.3", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["searches"]
    assert [row["claim"] for row in rows] == ["lca.6.3"]
    assert main(["falsify", "--list", "lca.nothing"]) == 2


def test_the_help_names_the_file_that_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["falsify", "--help"])
    assert "out/falsify/found_CLAIM.py" in "".join(capsys.readouterr().out.split())


def test_one_case_is_one_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["falsify", "lca.F.3", "--budget", "1"]) == 0
    assert "nothing found: 1 case looked at, seed 0" in capsys.readouterr().out


BROKEN = """
import math
import sys
from theoryverify.claims import CERTIFIED, Claim, Evidence, Hypothesis, Paper
from theoryverify.claims.search import Search
from theoryverify.claims.spaces import Integers

ONE = Claim("mine.1", "Lemma 1", "n > 0", not_checked="no need")


def margin(case):
    return {margin}


def failure(case):
    return {failure}


def judge(formula, case, examination):
    examination.decide("n > formula", {decided}, f"n = {{case}}")
    return examination.evidence("one number")


SEARCH = Search(
    "{claim}", "numbers", "n > 0", Integers(1, 9), margin, judge, CERTIFIED,
    formula=0, controls={{"n > 100": 100}}, hypotheses=(Hypothesis("h", "n", failure),), budget=20,
)
paper = Paper("mine", "My paper", "nowhere", claims=[ONE], searches=[{searches}])
"""


def _falsify(folder: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    """``falsify`` on a paper of one's own that is wrong in one place."""
    sound = {
        "margin": "case",
        "failure": "None",
        "decided": "case > formula",
        "claim": "mine.1",
        "searches": "SEARCH",
    }
    (folder / "mine.py").write_text(BROKEN.format(**(sound | changes)), "utf-8")
    return subprocess.run(
        [sys.executable, "-m", "theoryverify", "falsify", "mine.1", "--papers", "mine.py"],
        capture_output=True, text=True, cwd=folder,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"margin": "None"}, "broke: TypeError: a margin must be a number, not None"),
        ({"margin": "case.nothing"}, "has no attribute 'nothing' (mine.py, line 12)"),
        ({"failure": "case.nothing"}, "has no attribute 'nothing' (mine.py, line 16)"),
        ({"margin": "sys.exit(0)"}, "broke: it ends the program (sys.exit(0)) (mine.py, line 12)"),
        ({"margin": "math.nan"}, "none of 20 cases of mine.1/numbers could be evaluated"),
    ],
    ids=lambda value: next(iter(value.items())) if isinstance(value, dict) else "",
)
def test_a_search_that_breaks_is_neither_a_verdict_nor_a_trace(
    tmp_path: Path, changes: dict[str, str], words: str
) -> None:
    done = _falsify(tmp_path, **changes)
    assert (done.returncode, done.stdout) == (3, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"searches": "'s'"}, "'s' in the searches of paper 'mine' is no Search"),
        ({"claim": "mine.2"}, "search 'numbers' speaks of claim 'mine.2', which paper 'mine' has"),
    ],
)
def test_searches_that_are_none(tmp_path: Path, changes: dict[str, str], words: str) -> None:
    done = _falsify(tmp_path, **changes)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_judge_that_always_refutes_is_said_to(tmp_path: Path) -> None:
    wrong = _falsify(tmp_path, margin="case - 5", decided="case > formula + 4")
    assert wrong.returncode == 1
    assert "WARNING" not in wrong.stdout
    always = _falsify(tmp_path, margin="case - 5", decided="False")
    assert always.returncode == 1
    assert "WARNING     the judge said `holds` at no case" in always.stdout
