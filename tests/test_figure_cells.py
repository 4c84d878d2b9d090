"""Cells of a figure: the same here, in worker processes and from the store."""

from __future__ import annotations

import os
import pickle
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("joblib")

from theoryverify.errors import InputError
from theoryverify.exact.densities import Uniform
from theoryverify.figures import Plan
from theoryverify.figures.cells import Cells, Work
from theoryverify.papers.lca.experiments.cells_fig2 import chain_risk

CODE = ("theoryverify.papers.lca.experiments.cells_fig2",)


def work() -> list[Work]:
    return [
        ({"T": T, "law": "U"}, partial(chain_risk, Uniform(2, 5), 4, 100, T, "2/7", None, 200))
        for T in (1, 2, 3)
    ]


def same(one: list[Any], two: list[Any]) -> bool:
    return all(
        a.keys() == b.keys() and all(a[k].tobytes() == b[k].tobytes() for k in a)
        for a, b in zip(one, two, strict=True)
    )


def never(rng: np.random.Generator) -> Any:
    raise AssertionError("this was stored")


def test_cells_ahead_are_those_computed_here(tmp_path: Path) -> None:
    here = [Cells("lca.x", Plan(seed=3), CODE).compute(*cell) for cell in work()]
    plan = Plan(seed=3, jobs=2, store=str(tmp_path / "store"))
    cells = Cells("lca.x", plan, CODE)
    cells.ahead(work())
    assert same([cells.compute(configuration, never) for configuration, _ in work()], here)
    again = Cells("lca.x", Plan("laptop", seed=3, store=str(tmp_path / "store")), CODE)
    assert same([again.compute(configuration, never) for configuration, _ in work()], here)
    other = Cells("lca.x", Plan(seed=4), CODE).compute(*work()[0])
    assert other["excess"].tobytes() != here[0]["excess"].tobytes()


def test_a_grid_is_the_same_with_and_without_processes(tmp_path: Path) -> None:
    settings = [{"n": n} for n in (3, 1, 2)]
    alone = Cells("lca.x", Plan(), CODE).grid(drawn, settings)
    assert [int(arrays["n"]) for arrays in alone] == [3, 1, 2]
    folder = str(tmp_path / "store")
    many = Cells("lca.x", Plan(jobs=2, store=folder), CODE).grid(drawn, settings)
    assert same(many, alone)
    assert same(Cells("lca.x", Plan(store=folder), CODE).grid(drawn, settings), alone)


def drawn(configuration: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    return {"x": rng.random(2), "n": configuration["n"], "cpu": configuration["device"] == "cpu"}


def test_quick_keeps_nothing_unless_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Cells("lca.x", Plan(), CODE).ahead(work())
    Cells("lca.x", Plan(), CODE).compute(*work()[0])
    assert not list(tmp_path.iterdir())
    Cells("lca.x", Plan(store="kept"), CODE).compute(*work()[0])
    assert os.listdir(tmp_path) == ["kept"]


def test_a_cluster_that_is_not_there(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    plan = Plan(store=str(tmp_path), cluster="127.0.0.1:8786")
    with pytest.raises(InputError, match="write tcp://HOST:PORT"):
        Cells("lca.x", plan, CODE).ahead(work())


@pytest.mark.parametrize(
    "law",
    ["uniform(2,5)", "two-point(2,5,1/3)", "beta(2,5,1/2,3)", "ball(4,5)", "shell(3,2,5)"],
)
def test_a_law_that_was_used_can_be_sent(law: str) -> None:
    from theoryverify.exact.law_grammar import parse_law

    used = parse_law(law)
    mean = float(used.expect(lambda z: z))
    assert float(used.expect(lambda z: z * z)) > mean**2
    there = pickle.loads(pickle.dumps(used))
    assert repr(there) == repr(used)
    assert float(there.expect(lambda z: z)) == mean
    assert np.array_equal(there.sample(3, rng=1), used.sample(3, rng=1))
