"""Whole runs in worker processes: time limits, crashes, inherited verdicts, exit codes."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.claims import toy
from theoryverify.claims import Evidence, Examination, discovery, registry, runner
from theoryverify.claims.claim import Claim, Context
from theoryverify.claims.examine import run_check
from theoryverify.claims.ladder import ERROR, HOLDS, INCONCLUSIVE, OUTSIDE, PROVED, REFUTED, Rung
from theoryverify.claims.paper import Paper
from theoryverify.claims.results import Report
from theoryverify.claims.runner import Workers, run, runs
from theoryverify.cli import main
from theoryverify.errors import InputError
from theoryverify.report.junit import junit

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def toy_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the toy paper as an entry point, for this process and for workers."""
    info = tmp_path / "toy-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[theoryverify.papers]\ntoy = tests.claims.toy:paper\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT}")
    discovery.discover.cache_clear()
    yield
    discovery.discover.cache_clear()


def claims(*names: str) -> dict[str, Claim]:
    return registry.select(names)[0]


def verdicts(report: Report) -> dict[str, object]:
    return {claim.id: claim.verdict for claim in report.claims}


def test_a_whole_paper() -> None:
    report = run(claims("toy"), Context(), jobs=2)
    found = {claim.id: claim for claim in report.claims}
    assert found["toy.square"].verdict is HOLDS
    assert found["toy.square"].rung is PROVED
    assert found["toy.wrong"].verdict is REFUTED
    assert found["toy.wrong"].as_expected
    assert found["toy.broken"].verdict is ERROR
    assert found["toy.slow"].verdict is ERROR
    assert "no answer within 1 s" in found["toy.slow"].reason
    assert found["toy.dying"].verdict is ERROR
    assert "code 7" in found["toy.dying"].reason
    # Own verdict and inherited verdict.
    resting = found["toy.rests-on-wrong"]
    assert (resting.own_verdict, resting.verdict) == (HOLDS, OUTSIDE)
    assert "rests on toy.wrong, which is refuted" in resting.reason
    assert found["toy.rests-on-undecided"].verdict is INCONCLUSIVE
    assert report.exit_code == 4

    document = ET.fromstring(junit(report).split("\n", 1)[1])
    suite = document.find("testsuite")
    assert suite is not None
    assert suite.get("tests") == "10"
    assert suite.get("errors") == "3"
    names = {case.get("classname") for case in suite.iter("testcase")}
    assert names == set(found)


def test_results_do_not_depend_on_jobs_or_company() -> None:
    alone = run(claims("toy.noisy"), Context(seed=3), jobs=1)
    crowd = run(claims("toy.noisy", "toy.square", "toy.undecided"), Context(seed=3), jobs=3)
    scopes = [
        next(c for c in report.claims if c.id == "toy.noisy").checks[0].scope
        for report in (alone, crowd)
    ]
    assert scopes[0] == scopes[1]
    assert scopes[0].startswith("drew ")
    other = run(claims("toy.noisy"), Context(seed=4), jobs=1)
    assert other.claims[0].checks[0].scope != scopes[0]


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (("toy.square", "toy.wrong"), 0),
        (("toy.square", "toy.undecided"), 3),
        (("toy.rests-on-wrong",), 1),
        (("toy.undecided", "toy.rests-on-wrong"), 1),
        (("toy.broken", "toy.rests-on-wrong"), 4),
    ],
)
def test_exit_codes(names: tuple[str, ...], code: int) -> None:
    assert run(claims(*names), Context(), jobs=2).exit_code == code


def test_a_check_that_asks_for_too_much_memory_fails_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("THEORYVERIFY_MEMORY_MB", "2500")
    report = run(claims("toy.greedy", "toy.square"), Context(), jobs=1)
    found = {claim.id: claim for claim in report.claims}
    assert found["toy.greedy"].verdict is ERROR
    assert "MemoryError" in found["toy.greedy"].reason
    assert found["toy.square"].verdict is HOLDS


def test_dependencies_come_along() -> None:
    found, asked = registry.select(["toy.rests-on-wrong"])
    assert list(found) == ["toy.wrong", "toy.rests-on-wrong"]
    assert asked == {"toy.rests-on-wrong"}


def test_one_rung_only() -> None:
    report = run(claims("toy.square", "toy.undecided"), Context(), rung=Rung.CERTIFIED, jobs=1)
    assert list(verdicts(report)) == ["toy.undecided"]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ([toy.square(), toy.square()], "two claims have the id"),
        ([toy.square(depends_on=("toy.none",))], "does not exist"),
        (
            [toy.square(depends_on=("toy.b",)), toy.square("toy.b", depends_on=("toy.square",))],
            "cycle: toy.square -> toy.b -> toy.square",
        ),
        ([toy.square("other.square")], "stands in paper 'toy'"),
        ([Claim("toy.empty", "p", "s")], "no check and no reason"),
        (["text"], "is no Claim"),
    ],
)
def test_papers_that_contradict_themselves(bad: list[object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        registry.claims_of([Paper("toy", "t", "s", claims=bad)])


def test_unknown_names() -> None:
    with pytest.raises(InputError, match=r"paper 'nope' is unknown; known: .*lca"):
        claims("nope")
    with pytest.raises(InputError, match=r"claim 'toy.nope' is unknown"):
        claims("toy.nope")


def test_a_paper_that_does_not_import_leaves_the_others_standing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    info = tmp_path / "bad-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bad\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[theoryverify.papers]\nbad = no_such_module:paper\n")
    discovery.discover.cache_clear()
    assert str(tmp_path) in sys.path
    assert {"lca", "mamba", "toy"} <= set(discovery.papers())
    with pytest.raises(InputError, match=r"paper 'bad' .* does not import: ModuleNotFoundError"):
        claims("bad")
    assert main(["check", "toy.square"]) == 0
    assert "left out: paper 'bad'" in capfd.readouterr().err
    assert main(["check", "bad"]) == 2
    capfd.readouterr()
    (tmp_path / "no_such_module.py").write_text("import sys; sys.exit(0)\n")
    discovery.discover.cache_clear()
    assert main(["check", "bad"]) == 2
    assert "does not import: it ends the program (sys.exit(0))" in capfd.readouterr().err
    assert main(["check", "toy.square"]) == 0


def test_a_paper_with_unreadable_claims_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(
        discovery.papers(),
        "twice",
        Paper("twice", "t", "s", claims=[toy.square("twice.a"), toy.square("twice.a")]),
    )
    assert main(["list"]) == 0
    out, err = capfd.readouterr()
    assert "toy.square" in out
    assert err == "theoryverify: left out: paper 'twice': two claims have the id twice.a\n"


def test_a_claim_may_rest_on_another_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    resting = toy.square("mine.a", depends_on=("toy.wrong",))
    monkeypatch.setitem(discovery.papers(), "mine", Paper("mine", "t", "s", claims=[resting]))
    found, asked = registry.select(["mine"])
    assert set(found) == {"toy.wrong", "mine.a"}
    assert asked == {"mine.a"}


# -- what a claim takes as given ------------------------------------------------------------------


def _claim(name: str, rung: Rung, *rests_on: str, **check: object) -> Claim:
    """A claim that holds, on one rung."""
    made = Claim(name, "Lemma", "1=1", depends_on=rests_on)

    @made.check("one", rung, formula=1, controls={"two": 2}, mutate=False, **check)  # type: ignore[arg-type]
    def one(formula: int, examination: Examination) -> Evidence:
        examination.decide("formula = 1", formula == 1)
        examination.assume(f"a fact of {name}")
        return examination.evidence("always")

    return made


def _given(*made: Claim, rung: Rung | None = None) -> dict[str, tuple[str, ...]]:
    """What each claim takes as given, but for the facts that the checks name."""
    tasks = [(c, k) for c in made for k in c.checks if runs(k, "quick", rung)]
    results = {(c.id, k.name): run_check(c, k, Context()) for c, k in tasks}
    concluded = runner._conclude({claim.id: claim for claim in made}, results)
    assert all(claim.verdict is HOLDS for claim in concluded.values())
    for name, claim in concluded.items():
        assert f"a fact of {name}" in claim.assumes
    return {
        name: tuple(text for text in claim.assumes if not text.startswith("a fact of"))
        for name, claim in concluded.items()
    }


def test_what_rests_on_a_lower_rung_is_given() -> None:
    found = _given(
        _claim("a.low", Rung.SIMULATED),
        _claim("a.middle", Rung.CERTIFIED, "a.low"),
        _claim("a.high", Rung.PROVED, "a.middle"),
        _claim("a.top", Rung.PROVED, "a.high"),
        _claim("a.floor", Rung.SIMULATED, "a.top"),
    )
    assert found["a.middle"] == ("a.low (only simulated)",)
    assert found["a.high"] == ("a.middle (only certified)", "a.low (only simulated)")
    assert found["a.top"] == found["a.high"]  # however far below it stands
    assert found["a.low"] == found["a.floor"] == ()  # nothing stands lower


def test_what_rests_on_what_did_not_run_is_given() -> None:
    claims = (
        _claim("a.full", Rung.PROVED, preset="full"),
        _claim("a.low", Rung.SIMULATED, "a.full"),
        _claim("a.high", Rung.PROVED, "a.full"),
        _claim("a.top", Rung.PROVED, "a.low"),
    )
    found = _given(*claims)
    assert list(found) == ["a.low", "a.high", "a.top"]
    assert found["a.high"] == found["a.low"] == ("a.full (1=1), not run",)
    assert found["a.top"] == ("a.low (only simulated)", "a.full (1=1), not run")
    proved = _given(*claims, rung=Rung.PROVED)
    assert proved == {"a.high": ("a.full (1=1), not run",), "a.top": ("a.low (1=1), not run",)}


def test_a_claim_that_is_not_checked_is_given() -> None:
    cited = Claim("a.cited", "Lemma", "1=1", not_checked="cited")
    assert _given(cited, _claim("a.high", Rung.PROVED, "a.cited"))["a.high"] == ("a.cited (1=1)",)


def test_workers_serve_one_run_after_another_and_are_replaced() -> None:
    found = registry.own_claims(discovery.papers()["toy"])

    def verdict(workers: Workers, name: str) -> object:
        task = (found[name], found[name].checks[0])
        (result,) = workers.run([task], Context()).values()
        return result.verdict

    with Workers(1) as workers:
        names = ("toy.square", "toy.dying", "toy.square", "toy.slow", "toy.square")
        assert [verdict(workers, name) for name in names] == [HOLDS, ERROR, HOLDS, ERROR, HOLDS]


def test_a_run_that_was_interrupted_answers_no_other() -> None:
    """Its workers are ended: what they would still say is of another check."""
    found = registry.own_claims(discovery.papers()["toy"])
    tasks = [(found[name], found[name].checks[0]) for name in ("toy.slow", "toy.square")]

    def stop(name: str, done: int, total: int, result: object) -> None:
        if result is not None:
            raise KeyboardInterrupt

    with Workers(2) as workers:
        with pytest.raises(KeyboardInterrupt):
            workers.run(tasks[::-1], Context(), stop)
        assert all(worker.task is None for worker in workers._workers)
        (result,) = workers.run(tasks[1:], Context()).values()
        assert (result.claim, result.verdict) == ("toy.square", HOLDS)


@pytest.mark.parametrize("line", ["", "hello\n", "[1]\n", "{}\n", "null\n"])
def test_what_is_no_result(line: str) -> None:
    assert runner._answer(line, claims("toy.square")["toy.square"]) is None


def test_a_worker_that_closes_its_output_and_goes_on_is_ended() -> None:
    with Workers(1) as workers:
        deaf = runner._Worker.start()
        assert workers._dismiss(deaf, patience=0.1) == -signal.SIGKILL
