"""Figures: the data drawn, axes and labels, the same bytes on a rerun, clear errors. No pixels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from math import exp, factorial, log10, pi, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from theoryverify.cli import main
from theoryverify.errors import InputError
from theoryverify.exact.balls import precision
from theoryverify.exact.densities import Uniform
from theoryverify.figures import Data, Figure, Plan, Table, catalogue
from theoryverify.figures.render import caption, drawn, picture, render
from theoryverify.papers.lca import experiments, rate
from theoryverify.papers.lca.figures import ALPHA_STAR, LANDSCAPE, STATIONARY, TRAINING_TIME
from theoryverify.papers.lca.laws import MIXED
from theoryverify.papers.lca.loss import excess_loss
from theoryverify.papers.mamba import experiments as mamba
from theoryverify.papers.mamba.figures import DEGENERATE_GATE
from theoryverify.papers.mamba.links import HE3, HE4, HE5
from theoryverify.report.files import write_bytes

pytest.importorskip("matplotlib")

NAMES = [
    "lca.alpha_star",
    "lca.training_time",
    "lca.stationary",
    "lca.landscape",
    "mamba.degenerate_gate",
]


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


# -- the data drawn -----------------------------------------------------------------------------


def enclosed(table: Table, name: str, value: str, slack: str = "0") -> bool:
    (low,), (high,) = table.column(f"{name}_lower"), table.column(f"{name}_upper")
    room = Fraction(slack)
    return Fraction(str(low)) - room <= Fraction(value) <= Fraction(str(high)) + room


@lru_cache
def alpha_star_tables() -> Mapping[str, Table]:
    depths = (1, 10, 100, 10_000)
    return {
        "values": experiments.alpha_star_table(experiments.ALPHA_STAR_LAWS, depths),
        "bracket": experiments.bracket_table(experiments.UNIFORM, depths),
    }


@lru_cache
def training_time_tables() -> Mapping[str, Table]:
    return {"time": experiments.training_time_table(experiments.TRAINING_LAWS, (1, 4, 32))}


@lru_cache
def stationary_tables() -> Mapping[str, Table]:
    return experiments.stationary_tables(experiments.STATIONARY_DEPTHS, 20)


@lru_cache
def landscape_tables() -> Mapping[str, Table]:
    return experiments.landscape_tables(experiments.LANDSCAPE_DEPTHS, 31)


@lru_cache
def gate_tables() -> Mapping[str, Table]:
    bs = [-8 + Fraction(16, 8) * (i + Fraction(7, 16)) for i in range(8)]
    return mamba.degenerate_gate_tables(mamba.LINKS, ("1/8", "1/2", 4, 32), bs, 6)


def test_alpha_star_values() -> None:
    rows = alpha_star_tables()["values"].where(law="uniform(2,5)")
    for depth, value in (
        (1, "0.263157894736842105263158"),
        (10, "0.281797528706249389808383"),
        (10_000, "0.28571004230603616363"),
    ):
        assert enclosed(rows.where(T=depth), "alpha_star", value)
        assert enclosed(
            rows.where(T=depth), "scaled_gap", str(depth * (Fraction(value) - Fraction(2, 7)))
        )
    shell = alpha_star_tables()["values"].where(law="shell(8,2,5)", T=100)
    assert enclosed(shell, "alpha_star", "0.284038358904990838666042")


def test_bracket_holds_from_its_depth_on() -> None:
    values = alpha_star_tables()["values"].where(law="uniform(2,5)")
    bracket = alpha_star_tables()["bracket"]
    for depth, low, high in zip(
        bracket.column("T"),
        bracket.numbers("bracket_lower"),
        bracket.numbers("bracket_upper"),
        strict=True,
    ):
        later = values.numbers("alpha_star_lower")[values.numbers("T") >= depth]
        assert np.all((low < later) & (later < high))


def test_first_order_is_approached_by_every_law() -> None:
    for law in alpha_star_tables()["values"].distinct("law"):
        rows = alpha_star_tables()["values"].where(law=law)
        error = np.abs(rows.numbers("scaled_gap_lower") - rows.numbers("first_order_lower"))
        assert error[-1] < 1e-3
        assert error[-1] < error[-2] / 20  # T grows by 100; log(T)²/T falls by 25


def test_first_order_agrees_with_the_formula_for_uniform_laws() -> None:
    from theoryverify.papers.lca import theory

    formula = theory.uniform_first_order() - theory.alpha_limit()
    exact = (theory.T * formula).subs({theory.a: 2, theory.b: 5}).evalf(20)
    assert abs(float(rate.first_order_gap(Uniform(2, 5), 7)) - float(exact)) < 1e-12
    moving = rate.first_order_gap(Uniform(1, 5), 10), rate.first_order_gap(Uniform(1, 5), 1000)
    assert float(moving[0]) != pytest.approx(float(moving[1]))
    with pytest.raises(InputError, match="upper end"):
        rate.first_order_gap(MIXED, 10)


def test_training_times() -> None:
    table = training_time_tables()["time"]
    known = {4: "13.22453904437996", 32: "298012460797000000000"}
    for depth, value in known.items():
        rows = table.where(law="uniform(2,5)", T=depth)
        assert enclosed(rows, "time", value, str(Fraction(value) / 10**9))
    late = table.where(T=32).numbers("ratio_lower")
    assert np.all(np.abs(late - 1) < 0.06)
    for low, high in zip(table.numbers("time_lower"), table.numbers("time_upper"), strict=True):
        assert low <= high <= low * (1 + 1e-8)


def test_stationary_points() -> None:
    points = stationary_tables()["points"]
    uniform = points.where(law="uniform(2,5)")
    assert uniform.column("T") == [2, 3, 5, 10]
    assert all(uniform.column("inside_window"))
    for depth, beta in (
        (2, "-0.275"),
        (3, "-0.27233800481532657661359"),
        (10, "-0.28212926058379541929157"),
    ):
        assert enclosed(uniform.where(T=depth), "beta", beta)
    rare = points.where(law=repr(experiments.RARE))
    assert rare.column("T") == [2, 3, 6, 15, 22]
    assert rare.column("outside_window") == [True, True, True, True, False]
    assert rare.column("inside_window") == [False, False, False, False, True]
    assert enclosed(rare.where(T=2), "beta", "-0.37756", "1e-5")
    assert enclosed(rare.where(T=15), "beta", "-0.1045", "1e-4")


def test_curves_have_their_minimum_at_the_stationary_points() -> None:
    curves, points = stationary_tables()["curves"], stationary_tables()["points"]
    for law, depth in {(row[0], row[1]) for row in points.rows}:
        least = np.min(curves.where(law=law, T=depth).numbers("F_upper"))
        assert points.where(law=law, T=depth).numbers("F_lower")[0] <= least
    flat = curves.where(law="uniform(2,5)", T=1)
    assert flat.distinct("F_lower") == ["0.0366750191"]


def test_the_sign_of_one_minus_m_limits_what_is_examined() -> None:
    law = experiments.RARE
    assert experiments.signal_positive(law, 15, Fraction(9, 20))  # odd
    assert not experiments.signal_positive(law, 22, Fraction(9, 20))
    end = experiments.certified_range(law, 22, Fraction(9, 20))
    assert 2 / law.upper < end < Fraction(9, 20)
    weights = {z: float(w) * (float(z) - 1) / float(z) for z, w in law.atoms.items()}
    m = sum(w * (1 - float(end) * float(z)) ** 22 for z, w in weights.items())
    assert m < sum(weights.values())


def test_landscape_is_the_loss() -> None:
    table = landscape_tables()["loss"]
    assert len(table.rows) == 2 * 31 * 31
    for depth in (3, 10):
        rows = table.where(T=depth).rows
        for row in rows[:: len(rows) // 12]:
            alpha, beta = (Fraction(round(x * 300), 300) for x in (row[1], row[2]))  # type: ignore[arg-type]
            exact = excess_loss(experiments.UNIFORM, alpha, beta, depth=depth, digits=15).excess
            assert row[3] - 1e-9 <= log10(float(exact)) <= row[4] + 1e-9  # type: ignore[operator]
    best = landscape_tables()["minimiser"]
    assert enclosed(best.where(T=3), "loss", "4.86949255924464351e-4")
    assert enclosed(best.where(T=10), "beta", "-0.28212926058379541929157")


def test_landscape_has_no_hole_at_beta_zero() -> None:
    with precision(128):
        A, B, mean = experiments.quadratic(experiments.UNIFORM, Fraction(0), 4)
        loss = A / 100 - 2 * B / 10 + mean
    near = excess_loss(experiments.UNIFORM, "0.1", 0, depth=4, digits=15).excess
    assert abs(float(loss.mid()) - float(near)) < 1e-12


def gated(link: Callable[[Any], Any], k: int, rho: float, b: float) -> float:
    """``E[g σ(g/ρ+b) He_k]`` by the trapezoid rule."""
    z = np.linspace(-12, 12, 20_001)
    hermite = {1: z, 2: z**2 - 1}[k]
    g = link(z)
    gate = 1 / (1 + np.exp(np.clip(-(g / rho + b), -700, 700)))
    return float(np.sum(g * gate * hermite * np.exp(-(z**2) / 2)) * (z[1] - z[0]) / sqrt(2 * pi))


def test_zeros_of_the_gate_lie_between_opposite_signs() -> None:
    he5 = lambda z: (z**5 - 10 * z**3 + 15 * z) / sqrt(factorial(5))  # noqa: E731
    zeros = gate_tables()["zeros"].where(link=HE5)
    off_axis = [row for row in zeros.where(along="b", rho_lower=0.5).rows if abs(row[5]) > 1]  # type: ignore[arg-type]
    assert len(off_axis) == 2
    for row in off_axis:
        low, high = (gated(he5, 1, 0.5, float(b)) for b in row[5:7])  # type: ignore[arg-type]
        assert low * high < 0
    assert len(zeros.where(along="rho").rows) >= 2
    for row in zeros.where(along="rho").rows:
        low, high = (gated(he5, 1, float(rho), float(row[5])) for rho in row[3:5])  # type: ignore[arg-type]
        assert low * high < 0


def test_what_is_known_of_the_map() -> None:
    signs, zeros = gate_tables()["signs"], gate_tables()["zeros"]
    assert signs.where(link=HE4).distinct("sign") == [1]
    assert zeros.where(link=HE4).rows == ()
    for link in (HE3, HE5):
        assert len(zeros.where(link=link, along="proved").rows) == 1
    assert len(zeros.where(along="proved").rows) == 2
    for row in zeros.where(link=HE3, along="b").rows:
        assert row[5] < 0 < row[6]  # type: ignore[operator]
    (row,) = zeros.where(link=mamba.TILTED, along="b", rho_lower=4.0).rows
    assert row[5] <= -2 <= row[6]  # type: ignore[operator]
    assert signs.distinct("k") == [1, 2]


# -- pictures -----------------------------------------------------------------------------------

PICTURES: dict[str, tuple[Figure, Callable[[], Mapping[str, Table]]]] = {
    "lca.alpha_star": (ALPHA_STAR, alpha_star_tables),
    "lca.training_time": (TRAINING_TIME, training_time_tables),
    "lca.stationary": (STATIONARY, stationary_tables),
    "lca.landscape": (LANDSCAPE, landscape_tables),
    "mamba.degenerate_gate": (DEGENERATE_GATE, gate_tables),
}


@lru_cache
def canvas_of(name: str) -> Any:
    figure, tables = PICTURES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a missing glyph, a layout that does not fit
        return drawn(figure, Data(tables(), ""))


AXES = {
    "lca.alpha_star": [
        ("depth $T$", r"minimiser $\alpha_T^{*}$", "log", "linear"),
        ("depth $T$", r"$T\,(\alpha_T^{*}-\alpha^{*})$", "log", "linear"),
    ],
    "lca.training_time": [
        ("depth $T$", r"time $t$ from $\alpha_0=0.02$ to $0.99\,\alpha_T^{*}$", "linear", "log"),
        ("depth $T$", "certified / leading term", "log", "linear"),
    ],
    "lca.stationary": [
        (r"$\beta$", r"$F_T(\beta)=\min_\alpha\,\ell(\alpha,\beta)$", "linear", "log"),
        (r"$\beta$", "", "linear", "log"),
    ],
    "lca.landscape": [
        (r"$\alpha$", r"$\beta$", "linear", "linear"),
        (r"$\alpha$", "", "linear", "linear"),
        ("", r"$\log_{10}\,\ell(\alpha,\beta)$", "linear", "function"),
    ],
    "mamba.degenerate_gate": [
        ("", "bias $b$", "log", "linear"),
        ("", "", "log", "linear"),
        ("", "", "log", "linear"),
        (r"scale $\rho$", "bias $b$", "log", "linear"),
        (r"scale $\rho$", "", "log", "linear"),
        (r"scale $\rho$", "", "log", "linear"),
    ],
}


@pytest.mark.parametrize("name", NAMES)
def test_axes(name: str) -> None:
    found = [
        (axis.get_xlabel(), axis.get_ylabel(), axis.get_xscale(), axis.get_yscale())
        for axis in canvas_of(name).axes
    ]
    assert found == AXES[name]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_clipped_and_no_legends_overlap(name: str) -> None:
    canvas = canvas_of(name)
    page = canvas.bbox
    boxes = [axis.get_tightbbox() for axis in canvas.axes]  # ticks, labels, titles
    boxes += [text.get_window_extent() for axis in canvas.axes for text in axis.texts]
    boxes += [legend.get_window_extent() for legend in canvas.legends]
    for box in boxes:
        assert page.x0 <= box.x0 < box.x1 <= page.x1
        assert page.y0 <= box.y0 < box.y1 <= page.y1
    for axis in canvas.axes:
        for text in axis.texts:
            assert text.get_window_extent().x1 <= axis.get_window_extent().x1
    for legend in canvas.legends:
        for axis in canvas.axes:
            assert not legend.get_window_extent().overlaps(axis.get_tightbbox())
    for axis, other in ((a, b) for a in canvas.axes for b in canvas.axes if a is not b):
        assert not axis.get_window_extent().overlaps(other.get_tightbbox())


def test_lines_drawn_are_the_columns() -> None:
    left, right = canvas_of("lca.alpha_star").axes
    rows = alpha_star_tables()["values"].where(law="ball(4,5)")
    drawn_lines = [line.get_ydata() for line in left.lines]
    assert any(np.array_equal(y, rows.numbers("alpha_star_lower")) for y in drawn_lines)
    drawn_lines = [line.get_ydata() for line in right.lines]
    for column in ("scaled_gap_lower", "first_order_lower"):
        assert any(np.array_equal(y, rows.numbers(column)) for y in drawn_lines)


def test_stationary_dots_are_hollow_outside_the_window() -> None:
    _, axis = canvas_of("lca.stationary").axes
    dots = [line for line in axis.lines if line.get_marker() == "o"]
    faces = [line.get_markerfacecolor() for line in dots]
    assert faces[:4] == ["white"] * 4
    assert faces[4] == dots[4].get_color()


def test_series_differ_by_more_than_colour() -> None:
    from theoryverify.figures.style import SERIES

    for part in ("color", "linestyle", "marker"):
        assert len({getattr(series, part) for series in SERIES}) == len(SERIES)


@pytest.mark.parametrize("name", NAMES)
def test_captions(name: str) -> None:
    figure, tables = PICTURES[name]
    text = caption(figure, Data(tables(), "By hand."), Plan("laptop"))
    assert text.startswith(figure.title)
    assert "Preset: laptop." in text
    assert "By hand." in text
    assert f"{name}." in text
    assert max(map(len, text.splitlines())) <= 100


# -- bytes --------------------------------------------------------------------------------------


def test_bytes_do_not_depend_on_the_users_settings() -> None:
    import matplotlib as mpl

    figure, tables = PICTURES["lca.stationary"]
    data = Data(tables(), "setup")
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


def test_bytes_do_not_depend_on_the_process(tmp_path: Path) -> None:
    script = (
        "import hashlib\n"
        "from tests.test_figures import demo\n"
        "from theoryverify.figures import Plan\n"
        "from theoryverify.figures.render import render\n"
        "files = render(demo, demo.data(Plan()), Plan())\n"
        "print({n: hashlib.sha256(c).hexdigest() for n, c in files.items()})\n"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[1],
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


def test_png_resolution() -> None:
    canvas = canvas_of("lca.stationary")
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
        (["lca.nope"], "figure 'lca.nope' is unknown; known: lca.alpha_star"),
        ([], "--all"),
        (["lca.stationary", "--all"], "leave out lca.stationary"),
        (["lca.stationary", "--preset", "huge"], "huge"),
        (["lca.stationary", "--device", "tpu"], "device 'tpu'"),
        (["lca.stationary", "--device", "cuda:99"], "cuda:99"),
        (["lca.stationary", "--out", "/proc/nowhere"], "/proc/nowhere"),
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
        monkeypatch.setattr(catalogue, "papers", lambda paper=paper: {"other": paper})
        with pytest.raises(InputError, match=words):
            catalogue.figures()


# -- the gallery --------------------------------------------------------------------------------

FOLDER = Path(__file__).parents[1] / "figures"


def test_gallery_shows_every_figure_and_stays_small() -> None:
    text = (FOLDER / "README.md").read_text("utf-8")
    for name in NAMES:
        assert f"gallery/{name}.png" in text
        assert (FOLDER / "gallery" / f"{name}.png").stat().st_size < 150_000
        script = FOLDER / f"{name.replace('.', '_')}.py"
        assert f'"{name}"' in script.read_text("utf-8")
    assert sum(p.stat().st_size for p in FOLDER.rglob("*") if p.is_file()) < 600_000


def test_scripts_run(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(FOLDER / "lca_stationary.py"), "--out", "/proc/nowhere"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert "/proc/nowhere" in done.stderr
