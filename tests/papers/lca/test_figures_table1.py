"""``lca.table1`` and ``lca.avmnist``: the numbers in the tables, the pictures, the other files."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from tests.data_room.test_data import clips, some_digits
from tests.figure_checks import assert_tidy, axes_of, canvas_of
from theoryverify.data import prepared
from theoryverify.data.avmnist import pair
from theoryverify.errors import InputError
from theoryverify.figures import Data, Plan
from theoryverify.figures.render import render, require_installed
from theoryverify.papers.lca.experiments import table1 as experiments
from theoryverify.papers.lca.figures.table1 import AVMNIST, TABLE1
from theoryverify.papers.lca.table1 import EFFECTS

pytest.importorskip("matplotlib")
pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def made_up_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers with known accuracies: the analysis is examined, not the training."""
    from theoryverify.models.fusion import ARMS
    from theoryverify.simulate.classify import Answers

    pairs = pair(some_digits(), clips())
    monkeypatch.setattr(experiments, "the_data", lambda most: (pairs, prepared.digest(pairs)))
    skill = dict(zip(ARMS, (0.8, 0.7, 0.6, 0.5, 0.65, 0.75, 0.75, 0.7), strict=True))

    def runs(plan: Plan) -> dict[str, list[Answers]]:
        found = {}
        for arm in ARMS:
            each = []
            for seed in range(3):
                rng = np.random.default_rng(seed)  # paired: the same luck for all arms
                luck = rng.random(100)
                rates = np.array([0.1, skill[arm] - 0.2, skill[arm]])
                correct = luck < rates[:, None]
                each.append(Answers(np.zeros(4), np.array([0.1, 0.3, 0.2]), correct))
            found[arm] = each
        return found

    monkeypatch.setattr(experiments, "runs", runs)


def test_the_epoch_is_chosen_on_the_validation_split() -> None:
    data = experiments.table1_data(Plan())
    full = data.tables["accuracy"].where(arm="full")
    (accuracy,), (best,), (optimism,) = (
        full.numbers(name) for name in ("accuracy", "best_test_epoch", "optimism")
    )
    # Validation says epoch 1; the test split would say 2.
    assert accuracy == pytest.approx(0.6, abs=0.06)
    assert best == pytest.approx(0.8, abs=0.06)
    assert optimism == pytest.approx(best - accuracy)
    assert full.column("epochs") == ["1, 1, 1"]
    assert full.column("parameters") == [43610]
    assert full.column("paper") == [0.6385]


def test_effects_are_contrasts_of_the_accuracies() -> None:
    data = experiments.table1_data(Plan())
    accuracy = dict(
        zip(
            data.tables["accuracy"].column("arm"),
            data.tables["accuracy"].numbers("accuracy"),
            strict=True,
        )
    )
    for name, coefficients in EFFECTS.items():
        row = data.tables["effects"].where(effect=name)
        expected = sum(c * accuracy[arm] for arm, c in coefficients.items())
        assert row.numbers("difference")[0] == pytest.approx(expected)
        assert abs(sum(coefficients.values())) < 1e-12
        low, high = row.numbers("clip_lower")[0], row.numbers("clip_upper")[0]
        assert low <= expected <= high


def test_scipy_is_asked_for_before_anything_is_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    for figure in (TABLE1, AVMNIST):
        with pytest.raises(InputError, match=f"{figure.name} needs scipy"):
            require_installed([figure])


def test_pictures_and_files() -> None:
    data = experiments.table1_data(Plan())
    canvas = canvas_of(TABLE1, data.tables)
    assert_tidy(canvas, labels_beside=True)
    assert axes_of(canvas)[0][0] == "test accuracy (%)"
    files = render(TABLE1, data, Plan())
    assert files["lca.table1.md"].decode().splitlines()[2].startswith("| full | 43,610 | ")
    tex = files["lca.table1.tex"].decode()
    assert tex.count(r"\\") == 2 + len(data.tables["accuracy"].rows) + len(EFFECTS)
    for name in ("md", "tex"):
        assert "avMNIST-like" in files[f"lca.table1.{name}"].decode()
        assert "cross-attention (2" in files[f"lca.table1.{name}"].decode()
    assert r"(\%)" in tex
    caption = files["lca.table1.txt"].decode()
    assert "avMNIST-like" in caption
    assert "descriptive" in caption
    curves = experiments.avmnist_data(Plan())
    assert curves.tables["curves"].where(arm="full", epoch=0).numbers("mean")[0] < 0.2
    canvas = canvas_of(AVMNIST, curves.tables)
    assert axes_of(canvas)[0][:2] == ("epoch", "test accuracy (%)")
    line = str(curves.tables["pictures"].rows[0][3])
    assert len(bytes.fromhex(line)) == 28
    assert isinstance(curves, Data)
