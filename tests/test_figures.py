"""Figures: the data drawn, axes and labels, the same bytes on a rerun, clear errors. No pixels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.figure_checks import canvas_of
from theoryverify.cli import main
from theoryverify.errors import InputError
from theoryverify.figures import Data, Figure, Plan, Table, catalogue
from theoryverify.figures.render import picture, render
from theoryverify.files import write_bytes
from theoryverify.papers.lca.experiments import stationary
from theoryverify.papers.lca.experiments.alpha_star import UNIFORM
from theoryverify.papers.lca.figures.stationary import STATIONARY

pytest.importorskip("matplotlib")

NAMES = list(catalogue.figures())


# -- tables -------------------------------------------------------------------------------------


def test_table() -> None:
    table = Table.of(("law", "T", "x"), [("a", 1, "0.5"), ("b", 2, None), ("a", 3, 0.1)])
    assert table.distinct("law") == ["a", "b"]
    assert table.where(law="a", T=3).rows == (("a", 3, 0.1),)
    assert np.isnan(table.numbers("x")[1])
    assert table.csv() == "law,T,x\na,1,0.5\nb,2,\na,3,0.1\n"
    with pytest.raises(InputError, match="no column 'y'"):
        table.column("y")
    with pytest.raises(InputError, match="row 0 has 1 cells"):
        Table.of(("a", "b"), [(1,)])
    with pytest.raises(InputError, match="one name"):
        Table.of(("a", "a"), [])


def test_plan() -> None:
    assert Plan("laptop").choose(1, 2, 3) == 2
    with pytest.raises(InputError, match="'huge'"):
        Plan("huge")


# -- pictures -----------------------------------------------------------------------------------


def test_series_differ_by_more_than_colour() -> None:
    from theoryverify.figures.style import SERIES

    for part in ("color", "linestyle", "marker"):
        assert len({getattr(series, part) for series in SERIES}) == len(SERIES)


# -- bytes --------------------------------------------------------------------------------------


def test_bytes_do_not_depend_on_the_users_settings() -> None:
    import matplotlib as mpl

    figure = STATIONARY
    data = Data(stationary.stationary_tables({UNIFORM: (2,), stationary.RARE: (2,)}, 10), "setup")
    first = render(figure, data, Plan())
    with mpl.rc_context({"font.size": 20, "axes.facecolor": "red", "lines.linewidth": 9}):
        assert render(figure, data, Plan()) == first
    assert set(first) == {
        "lca.stationary.png",
        "lca.stationary.pdf",
        "lca.stationary.curves.csv",
        "lca.stationary.points.csv",
        "lca.stationary.windows.csv",
        "lca.stationary.txt",
    }
    for name, content in first.items():
        assert b"CreationDate" not in content, name
        assert b"atplotlib" not in content, name


def test_bytes_do_not_depend_on_the_process() -> None:
    """Another process, with other hashes: a picture, a PDF, CSV."""
    script = (
        "import hashlib\n"
        "from theoryverify.figures import Data, Figure, Plan, Table\n"
        "from theoryverify.figures.render import render\n"
        "table = Table.of(('x', 'y'), [(1, 2.5), (3, 2.718281828459045)])\n"
        "def draw(canvas, tables):\n"
        "    canvas.subplots().plot(*tables['points'].rows)\n"
        "figure = Figure('demo.points', 't', 'c', lambda plan: Data({'points': table}, 's'), draw)\n"
        "files = render(figure, figure.data(Plan()), Plan())\n"
        "print({n: hashlib.sha256(c).hexdigest() for n, c in files.items()})\n"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1
    assert seen.pop().count(":") == 4  # PNG, PDF, CSV, caption


def test_png_resolution() -> None:
    tables = stationary.stationary_tables({UNIFORM: (2,), stationary.RARE: (2,)}, 10)
    canvas = canvas_of(STATIONARY, tables)
    header = picture(canvas, "png")[16:24]
    width, height = int.from_bytes(header[:4], "big"), int.from_bytes(header[4:], "big")
    assert (width, height) == tuple(round(200 * side) for side in STATIONARY.size)


# -- the command --------------------------------------------------------------------------------


def _demo_data(plan: Plan) -> Data:
    return Data(
        {"points": Table.of(("x", "y"), [(1, 2.5), (3, exp(1))])}, f"two {plan.device} points"
    )


def _demo_draw(canvas: Any, tables: Mapping[str, Table]) -> None:
    axis = canvas.subplots()
    axis.plot(tables["points"].numbers("x"), tables["points"].numbers("y"))
    axis.set(xlabel="$x$", ylabel=r"$\alpha^{*}$")


demo = Figure("demo.points", "Two points", "A line through two points.", _demo_data, _demo_draw)


@pytest.fixture
def only_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "figures", lambda: {"demo.points": demo})


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "figure", "--list", "--json")
    assert code == 0
    rows = json.loads(out)["figures"]
    assert [row["name"] for row in rows] == NAMES
    assert {
        "lca.fig2",
        "lca.fig4",
        "lca.alpha_star",
        "lca.training_time",
        "lca.stationary",
        "lca.limits",
        "lca.appendix_b",
        "mamba.degenerate_gate",
    } <= set(NAMES)
    assert all(row["title"] for row in rows)
    code, out, _ = run(capsys, "figure", "--list")
    assert [line.split()[0] for line in out.splitlines()] == NAMES


@pytest.mark.usefixtures("only_demo")
def test_files_are_written_and_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    code, out, err = run(
        capsys, "figure", "--all", "--preset", "laptop", "--out", str(folder), "--json"
    )
    assert code == 0
    assert err == "demo.points: written\n"
    found = json.loads(out)
    assert found["preset"] == "laptop"
    (figure,) = found["figures"]
    assert figure["name"] == "demo.points"
    names = {Path(file).name for file in figure["files"]}
    assert names == {f"demo.points.{ending}" for ending in ("png", "pdf", "csv", "txt")}
    assert {path.name for path in folder.iterdir()} == names
    assert (folder / "demo.points.csv").read_text() == f"x,y\n1,2.5\n3,{exp(1)!r}\n"
    assert "two cpu points" in (folder / "demo.points.txt").read_text()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, out, _ = run(
        capsys, "figure", "demo.points", "demo.points", "--preset", "laptop", "--out", str(folder)
    )
    assert code == 0
    assert len(out.splitlines()) == 4
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lca.nope"], "figure 'lca.nope' is unknown; known: lca.fig"),
        ([], "--all"),
        (["lca.stationary", "--all"], "leave out lca.stationary"),
        (["lca.stationary", "--preset", "huge"], "huge"),
        (["lca.stationary", "--device", "tpu"], "device 'tpu'"),
        (["lca.stationary", "--device", "cuda:99"], "cuda:99"),
        (["lca.stationary", "--seed", "-1"], "seed"),
        (["lca.stationary", "--seed", "half"], "half"),
        (["lca.stationary", "--out", "/proc/nowhere"], "/proc/nowhere"),
        (["lca.stationary", "--cluster", "foo"], "cluster 'foo' is no address"),
        (["lca.stationary", "--store", __file__], "is not a folder"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    code, out, err = run(capsys, "figure", *arguments)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert words in err


def test_a_missing_extra_is_named_before_anything_is_computed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in [key for key in sys.modules if key.startswith("matplotlib")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = run(capsys, "figure", "--all", "--preset", "paper", "--out", str(tmp_path))
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert 'pip install "theoryverify[figures]"' in err
    assert list(tmp_path.iterdir()) == []
    assert run(capsys, "figure", "--list")[0] == 0


def test_what_a_figure_needs_is_named_before_anything_is_computed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def data(plan: Plan) -> Data:
        raise AssertionError("computed")

    hungry = Figure("demo.hungry", "t", "c", data, _demo_draw, needs=("no_such_module",))
    monkeypatch.setattr(catalogue, "figures", lambda: {"demo.points": demo, "demo.hungry": hungry})
    code, out, err = run(capsys, "figure", "--all", "--out", str(tmp_path))
    assert (code, out) == (2, "")
    assert "demo.hungry needs no_such_module" in err
    assert 'pip install "theoryverify[simulate,figures]"' in err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_a_refused_figure_made_goes_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def data(plan: Plan) -> Data:
        raise InputError("no data")

    monkeypatch.setattr(
        catalogue, "figures", lambda: {"demo.none": Figure("demo.none", "t", "c", data, _demo_draw)}
    )
    mine, kept = tmp_path / "mine", tmp_path / "kept"
    mine.mkdir()
    kept.mkdir()
    (kept / "other.txt").write_text("mine")
    for out in ("new/deep", "mine", "kept/new"):
        code, _, err = run(
            capsys,
            "figure",
            "--all",
            "--out",
            str(tmp_path / out),
            "--store",
            str(tmp_path / "store"),
        )
        assert (code, err) == (2, "theoryverify: no data\n")
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")} == {
        "mine",
        "kept",
        "kept/other.txt",
    }


def test_a_store_that_is_a_file_is_refused_before_anything_is_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("scipy")
    file = tmp_path / "FILE"
    file.write_text("")
    code, out, err = run(
        capsys, "figure", "lca.table1", "--store", str(file), "--out", str(tmp_path / "out")
    )
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["FILE"]


@pytest.mark.usefixtures("only_demo")
def test_the_seed_is_in_the_document_and_the_caption(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, _ = run(capsys, "figure", "--all", "--seed", "7", "--json", "--out", str(tmp_path))
    assert code == 0
    assert json.loads(out)["seed"] == 7
    assert "Seed of what is simulated: 7." in (tmp_path / "demo.points.txt").read_text("utf-8")


def test_seeds_and_names_give_independent_generators() -> None:
    draws = {Plan(seed=seed).rng(name).random() for seed in (0, 1) for name in ("a", "b")}
    assert len(draws) == 4
    assert Plan(seed=1).rng("b").random() in draws


def test_listing_and_importing_figures_load_no_matplotlib() -> None:
    script = (
        "import sys\nfrom theoryverify.cli import main\nmain(['figure', '--list'])\n"
        "print('matplotlib' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "False"


def test_a_crash_while_writing_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.png"
    write_bytes(file, b"old")

    def crash(source: str, target: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(file, b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
    assert file.read_bytes() == b"old"


def test_a_wrong_list_of_figures_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from theoryverify.claims.paper import Paper

    for figures, words in (
        ([1], "is no Figure"),
        ([demo], "stands in paper"),
    ):
        paper = Paper("other", "t", "s", figures=figures)
        listed = [(paper, paper.load("figures"))]
        monkeypatch.setattr(catalogue, "each", lambda _, listed=listed: iter(listed))
        with pytest.raises(InputError, match=words):
            catalogue.figures()


# -- the gallery --------------------------------------------------------------------------------

FOLDER = Path(__file__).parents[1] / "figures"


def test_gallery_shows_every_figure_and_stays_small() -> None:
    text = (FOLDER / "README.md").read_text("utf-8")
    for name in NAMES:
        assert f"gallery/{name}.png" in text
        assert (FOLDER / "gallery" / f"{name}.png").stat().st_size < 300_000
        script = FOLDER / f"{name.replace('.', '_')}.py"
        assert f'"{name}"' in script.read_text("utf-8")
    assert sum(p.stat().st_size for p in FOLDER.rglob("*") if p.is_file()) < 2_500_000


def test_scripts_run(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(FOLDER / "lca_stationary.py"), "--out", "/proc/nowhere"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert "/proc/nowhere" in done.stderr


# -- a figure in a file of the user's own ---------------------------------------------------------

MINE = """
import sys
from theoryverify.claims import Paper
from theoryverify.figures import Data, Figure, Table


def data(plan):
    return {data}


def draw(canvas, tables):
    {draw}


FIGURE = Figure("mine.line", "A line", "It rises.", data, draw)
paper = Paper("mine", "My paper", "nowhere", figures=[FIGURE])
"""
SOUND = 'Data({"line": Table.of(("x",), [(1,), (2,)])}, "By hand.")'


@pytest.mark.parametrize(
    ("data", "draw", "words"),
    [
        ("[1, 2]", "pass", "figure mine.line: its data must be a Data, not [1, 2]"),
        ("plan.nothing", "pass", "has no attribute 'nothing' (mine.py, line 8)"),
        (
            SOUND,
            "1 / 0",
            "figure mine.line: ZeroDivisionError: division by zero (mine.py, line 12)",
        ),
        (SOUND, "sys.exit(0)", "it ends the program (sys.exit(0)) (mine.py, line 12)"),
        (SOUND, "tables['none']", "figure mine.line: KeyError: 'none' (mine.py, line 12)"),
    ],
)
def test_a_figure_that_breaks_is_told_in_one_line(
    tmp_path: Path, data: str, draw: str, words: str
) -> None:
    def figure(data: str, draw: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "mine.py").write_text(MINE.format(data=data, draw=draw), "utf-8")
        return subprocess.run(
            [sys.executable, "-m", "theoryverify", "figure", "mine.line", "--papers", "mine.py"],
            cwd=tmp_path, capture_output=True, text=True,
        )  # fmt: skip

    done = figure(data, draw)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert figure(SOUND, "canvas.subplots().plot(tables['line'].numbers('x'))").returncode == 0
