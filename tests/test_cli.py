"""The command line as scripts see it: JSON, exit codes, one line for bad input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from theoryverify.cli import main
from theoryverify.errors import (
    InputError,
    ProcessLost,
    SweepFailed,
    TrainingDiverged,
    UndecidedError,
)
from theoryverify.flow import FlowError


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    code, out, _ = run(capsys, *arguments, "--json")
    assert code == 0
    return json.loads(out)


def inside(value: str, enclosure: dict[str, str]) -> bool:
    return Fraction(enclosure["lower"]) <= Fraction(value) <= Fraction(enclosure["upper"])


def test_alpha_star(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(
        capsys, "alpha-star", "--law", "uniform(2,5)", "--depth", "5", "--digits", "20"
    )
    low, high = (Fraction(found["alpha_star"][end]) for end in ("lower", "upper"))
    assert low <= Fraction("0.278451831592292059370144") + Fraction(1, 10**23)
    assert high >= Fraction("0.278451831592292059370144") - Fraction(1, 10**23)
    assert high - low < Fraction(1, 10**20)
    assert found["limit"] == {"exact": "2/7"}
    assert found["rate"]["order"] == "1/T"
    assert inside("0.2857", found["rate"]["bracket_from_here_on"])


def test_ball_laws_have_a_logarithm_in_their_rate(capsys: pytest.CaptureFixture[str]) -> None:
    for law, order in (
        ("ball(2,5)", "log(T)/T"),
        ("uniform(1,5)", "log(T)/T"),
        ("shell(4,2,5)", "1/T"),
        ("two-point(2,5)", "1/T"),
    ):
        found = document(capsys, "alpha-star", "--law", law, "--depth", "3")
        assert found["rate"]["order"] == order


def test_loss_with_values_that_begin_with_a_minus(capsys: pytest.CaptureFixture[str]) -> None:
    for beta in ("-1/5", "-0.2", "-2e-1"):
        found = document(
            capsys,
            "loss",
            "--law",
            "uniform(2,5)",
            "--depth",
            "3",
            "--alpha",
            "0.3",
            "--beta",
            beta,
        )
        assert abs(
            Fraction(found["excess_loss"]["lower"]) - Fraction("0.13336232747051974017692")
        ) < Fraction(1, 10**22)
        assert len(found["gradient"]) == 2
    tied = document(capsys, "loss", "--law", "uniform(2,5)", "--depth", "3", "--alpha", "-1e-3")
    assert tied["beta"] == "1/1000"
    assert len(tied["gradient"]) == 1


def test_flow_with_one_parameter(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(
        capsys, "flow", "--law", "uniform(2,5)", "--depth", "4", "--level", "0.99", "--digits", "12"
    )
    assert found["arrived"] is True
    assert inside("0.27695923340886806705807", found["limit"]["alpha"])
    assert inside("-0.27695923340886806705807", found["limit"]["beta"])
    # ∫ dα/|R_T'| by mpmath's quadrature, nested, at 40 digits.
    assert inside("13.22453904437996318643", found["time_to_level"])
    assert {run["method"] for run in found["runs"]} == {"radau", "collocation"}


def test_flow_with_two_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(
        capsys,
        "flow",
        "--law",
        "uniform(2,5)",
        "--depth",
        "10",
        "--parameters",
        "2",
        "--beta0",
        "-1/5",
    )
    assert found["certified"] is True
    assert found["rests_on"] == ["lca.uniqueness.flow"]
    assert inside("-0.28212926058379541929157", found["limit"]["beta"])
    assert found["runs"][0]["error"] < 1e-9


def test_list_shows_every_statement(capsys: pytest.CaptureFixture[str]) -> None:
    rows = document(capsys, "list", "--paper", "lca")["claims"]
    assert {
        "id",
        "paper",
        "source",
        "statement",
        "hypotheses",
        "depends_on",
        "rungs",
        "coverage",
        "reason",
        "standing",
    } <= set(rows[0])
    by_id = {row["id"]: row for row in rows}
    assert by_id["lca.F.3"]["coverage"] == "covered"
    assert by_id["lca.F.3"]["rungs"] == ["proved", "certified"]
    unchecked = [row for row in rows if row["coverage"] == "not checked"]
    assert all(row["reason"] for row in unchecked)
    places = " ".join(row["source"] for row in rows)
    for place in (
        "4.1",
        "6.2",
        "6.3",
        "C.1",
        "C.2",
        "D.1",
        "D.2",
        "D.3",
        "D.4",
        "D.5",
        "E.1",
        "E.2",
        "F.1",
        "F.2",
        "F.3",
        "G.1",
        "G.10",
        "(H.5)",
    ):
        assert place in places


def test_list_takes_papers_and_claims(capsys: pytest.CaptureFixture[str]) -> None:
    def listed(*arguments: str) -> list[str]:
        return [row["id"] for row in document(capsys, "list", *arguments)["claims"]]

    lca, zfb = listed("lca"), listed("zfb")
    assert {name.partition(".")[0] for name in lca} == {"lca"}
    assert listed("--paper", "lca") == lca
    assert listed("lca", "zfb") == listed("--paper", "lca", "--paper", "zfb") == lca + zfb
    assert listed("zfb", "--paper", "zfb") == zfb
    assert listed("lca.F.3", "zfb.5.1") == ["lca.F.3", "zfb.5.1"]


def test_check_and_list_from(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report = tmp_path / "deep" / "report"
    code, out, err = run(
        capsys, "check", "lca.C.1", "--report", str(report), "--junit", str(tmp_path / "j.xml")
    )
    assert code == 0
    assert "1 of 1 claims as expected; 3/3 controls refuted" in out
    assert "lca.C.1/normal equations: holds" in err
    data = json.loads((report / "report.json").read_text("utf-8"))
    claim = data["claims"][0]
    assert {
        "id",
        "paper",
        "verdict",
        "own_verdict",
        "expected",
        "rung",
        "assumes",
        "checks",
    } <= set(claim)
    assert {"name", "rung", "verdict", "scope", "seconds", "controls"} <= set(claim["checks"][0])
    assert (report / "junit.xml").read_text("utf-8") == (tmp_path / "j.xml").read_text("utf-8")
    rows = document(capsys, "list", "--from", str(report / "report.json"))["claims"]
    standing = {row["id"]: row["standing"] for row in rows}
    assert standing["lca.C.1"] == "holds, proved given"
    assert standing["lca.F.3"] is None


def test_json_is_all_that_check_prints(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "check", "lca.F.3.needs-no-atom-at-1", "--rung", "proved")
    assert found["preset"] == "quick"
    assert found["seed"] == 0
    verdicts = {claim["id"]: claim["verdict"] for claim in found["claims"]}
    assert verdicts["lca.F.3.needs-no-atom-at-1"] == "holds"


@pytest.mark.parametrize(
    "name", ["lca_setting", "lca_loss", "lca_limit", "lca_one_layer", "lca_two_parameters"]
)
def test_derivations_print_only_asserted_steps(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    found = document(capsys, "derive", name)
    assert len(found["steps"]) >= 8
    assert all(step["holds"] is not False for step in found["steps"])
    assert sum(step["holds"] is True for step in found["steps"]) >= 4
    code, out, _ = run(capsys, "derive", name, "--latex")
    assert code == 0
    assert "\\" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["alpha-star", "--law", "uniform(2,5)", "--depth", "0"], "depth = 0"),
        (["alpha-star", "--law", "uniform(2,5)", "--depth", "1.5"], "depth = '1.5'"),
        (["alpha-star", "--law", "uniform(2,5)", "--depth", "-3"], "depth = -3"),
        (["alpha-star", "--law", "normal(0,1)", "--depth", "3"], "unbounded"),
        (["alpha-star", "--law", "cauchyish(1)", "--depth", "3"], "unknown"),
        (["alpha-star", "--law", "uniform(2)", "--depth", "3"], "uniform(LOW,HIGH)"),
        (["alpha-star", "--law", "uniform(5,2)", "--depth", "3"], "lower < upper"),
        (["alpha-star", "--law", "discrete(1:1/2,3:1/2)", "--depth", "3"], "atom at Z = 1"),
        (["alpha-star", "--law", "discrete(2:1)", "--depth", "3"], "Assumption 6.1"),
        (["alpha-star", "--law", "discrete(2:0.6,3:0.5)", "--depth", "3"], "sum to 11/10"),
        (["alpha-star", "--law", "discrete(2:-1,3:2)", "--depth", "3"], "must be positive"),
        (["alpha-star", "--law", "uniform(0.5,2)", "--depth", "3"], "below 1"),
        (["alpha-star", "--law", "empirical(/no/such/file)", "--depth", "3"], "/no/such/file"),
        (["alpha-star", "--depth", "3"], "--law"),
        (["alpha-star", "--law", "uniform(2,5)", "--depth", "3", "--digits", "0"], "digits = 0"),
        (["loss", "--law", "uniform(2,5)", "--depth", "3", "--alpha", "nan"], "alpha = 'nan'"),
        (["loss", "--law", "uniform(2,5)", "--depth", "3", "--alpha", "1/0"], "divides by zero"),
        (["flow", "--law", "uniform(2,5)", "--depth", "3", "--beta0", "-1/5"], "--parameters 2"),
        (["flow", "--law", "uniform(2,5)", "--depth", "3", "--level", "1"], "level = 1"),
        (
            ["flow", "--law", "uniform(2,5)", "--depth", "3", "--parameters", "2", "--beta0", "-1"],
            "outside the window",
        ),
        (["check", "nope"], "paper 'nope' is unknown"),
        (["check", "lca.nope"], "claim 'lca.nope' is unknown"),
        (["check", "lca", "--rung", "sworn"], "sworn"),
        (["check", "lca", "--seed", "x"], "seed"),
        (["check", "lca", "--jobs", "0"], "jobs = 0"),
        (["check", "lca", "--device", "tpu"], "device 'tpu'"),
        (["check", "lca", "--report", "/proc/nowhere"], "/proc/nowhere"),
        (["check", "lca", "--junit", "/"], "folder"),
        (["check", "lca", "--colour"], "--colour"),
        (["derive", "nope"], "lca_loss"),
        (["list", "nope"], "paper 'nope' is unknown"),
        (["list", "lca.nope"], "claim 'lca.nope' is unknown"),
        (["list", "--paper", "lca.F.3"], "paper 'lca.F.3' is unknown"),
        (["list", "--from", "/no/such.json"], "/no/such.json"),
        (["list", "--colour"], "see `theoryverify list --help`"),
        (["--colour", "list"], "--colour"),
        (["frobnicate"], "frobnicate"),
        ([], "VERB"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert words in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "lca.C.1"],
        ["falsify", "lca.F.3"],
        ["data", "prepare"],
        ["figure", "lca.stationary"],
        ["train", "quick"],
        ["risk", "--law", "uniform(2,5)", "--dim", "2", "--context", "3", "--depth", "1",
         "--alpha", "1/4", "--prompts", "2"],
    ],
    ids=lambda arguments: arguments[0],
)  # fmt: skip
def test_seeds_have_one_range(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    for seed in (2**62 + 1, -1):
        code, _, err = run(capsys, *arguments, "--seed", str(seed))
        assert code == 2
        assert err.count("\n") == 1
        assert f"seed = {seed}" in err
        assert str(2**62) in err


@pytest.mark.parametrize("gone", ["stdout", "stderr"])
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["check", "lca.C.1"], 0),
        (["list"], 0),
        (["--help"], 0),
        (["check", "lca.nope"], 2),
    ],
)
def test_a_closed_pipe_is_no_verdict(arguments: list[str], code: int, gone: str) -> None:
    """As in `theoryverify check lca.C.1 2>&1 | head -1`: the code is that of the run."""
    closed, other = os.pipe()
    os.close(closed)
    pipes: dict[str, int] = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    pipes[gone] = other
    done = subprocess.run(
        [sys.executable, "-m", "theoryverify", *arguments], text=True, check=False, **pipes
    )
    os.close(other)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in (done.stderr or "")
    if gone == "stdout" and code == 2:
        assert "lca.nope" in done.stderr
    if gone == "stderr" and code == 0:
        assert done.stdout


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (TrainingDiverged(3, "loss nan"), 1),
        (SweepFailed("toy", {"n=1": "ZeroDivisionError"}), 1),
        (ProcessLost("process 1 has lost another one"), 1),
        (InputError("no"), 2),
        (UndecidedError("wide"), 3),
        (KeyboardInterrupt(), 130),
    ],
    ids=lambda value: type(value).__name__,
)
def test_exit_codes_of_what_ends_a_verb(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
) -> None:
    def ended(*_: object) -> None:
        raise error

    monkeypatch.setattr("theoryverify.claims.listing.listing", ended)
    found, out, err = run(capsys, "list")
    assert (found, out) == (code, "")
    assert err.count("\n") == 1


def test_a_flow_that_does_not_arrive_is_undecided(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("scipy")

    def lost(*_: object) -> None:
        raise FlowError("the integrator failed")

    monkeypatch.setattr("theoryverify.papers.lca.flow_two._follow", lost)
    law = ["--law", "uniform(2,5)", "--depth", "10", "--parameters", "2"]
    code, out, err = run(capsys, "flow", *law, "--beta0", "-1/5")
    assert (code, out) == (3, "")
    assert "undecided: the integrator failed" in err


def test_reports_of_another_kind_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for text in ("", "[]", "{}", '{"format": 2, "claims": []}', '{"format": 1}', "\x00"):
        file = tmp_path / "report.json"
        file.write_text(text)
        code, _, err = run(capsys, "list", "--from", str(file))
        assert code == 2
        assert "report.json" in err


def test_empirical_laws_from_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "z.txt"
    file.write_text("# values of Z\n2, 2 5\n5 3.5\n")
    found = document(capsys, "alpha-star", "--law", f"empirical({file})", "--depth", "4")
    same = document(capsys, "alpha-star", "--law", "discrete(2:2/5,3.5:1/5,5:2/5)", "--depth", "4")
    assert found["alpha_star"] == same["alpha_star"]
    file.write_text("2\nthree\n")
    code, _, err = run(capsys, "alpha-star", "--law", f"empirical({file})", "--depth", "4")
    assert code == 2
    assert "line 2: 'three'" in err


def _modules_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"COLUMNS": "100"},
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "code",
    [
        "import theoryverify",
        "from theoryverify.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass",
        "import theoryverify.pytest_plugin",
    ],
)
def test_importing_and_help_load_nothing_heavy(code: str) -> None:
    loaded = _modules_after(code)
    assert not loaded & {"torch", "matplotlib", "sympy", "scipy", "numpy", "flint"}


def test_the_exact_part_loads_neither_torch_nor_matplotlib() -> None:
    loaded = _modules_after("from theoryverify import Uniform, alpha_star, excess_loss, TwoPoint")
    assert not loaded & {"torch", "matplotlib"}
    assert "flint" in loaded
