"""The simulated claims: cheap cases decide as they should, and say so when Torch is missing.

Errors are 1e-9 a verdict and seeds are fixed.
"""

from __future__ import annotations

import builtins
import math
from fractions import Fraction

import numpy as np
import pytest

from theoryverify.claims import HOLDS, INCONCLUSIVE, REFUTED, Check, Claim, Context
from theoryverify.claims.examine import examine
from theoryverify.papers.lca.claims import simulated
from theoryverify.papers.lca.laws import UNIFORM


def _check(claim: Claim, name: str) -> Check:
    return next(check for check in claim.checks if check.name == name)


def _verdict(claim: Claim, name: str, formula=None):
    check = _check(claim, name)
    formula = check.formula if formula is None else formula
    return examine(claim, check, formula, Context(seed=1, name="test")).verdict


def test_every_check_has_controls_and_a_stated_error() -> None:
    intervals = 0
    for claim in simulated.claims:
        for check in claim.checks:
            assert check.controls
            intervals += max(1, len(check.cases)) * (1 + len(check.controls))
    assert intervals < 100
    assert intervals * simulated.ERROR < 1e-7


def test_importing_the_claims_imports_no_torch() -> None:
    import subprocess
    import sys

    code = "import sys, theoryverify.papers.lca.claims.simulated; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_torch_every_check_is_inconclusive_and_says_what_to_install(monkeypatch) -> None:
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "torch" or name.startswith("torch."):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    for claim in simulated.claims:
        for check in claim.checks:
            found = examine(claim, check, check.formula, Context(name="test"))
            assert found.verdict is INCONCLUSIVE
            assert 'pip install "theoryverify[simulate]"' in found.reason


def test_margins_are_a_quarter_of_the_way_to_the_nearest_wrong_formula() -> None:
    for point in (*simulated._POINTS, *simulated._MORE_POINTS):
        margin = simulated._margin(point)
        right = simulated._value(simulated._LOSS, point)
        assert abs(right - simulated.spread(point).limit) < 1e-14
        distances = [
            abs(simulated._value(w, point) - right) for w in simulated._WRONG_LOSSES.values()
        ]
        assert math.isclose(4 * margin, min(distances))
        assert simulated.spread(point).bias < margin / 2


def test_the_bias_at_depth_one_is_the_known_formula() -> None:
    """(α²/L)(d-1+E[2Z²-Z]) with E Z = 7/2, E Z² = 13 for U[2,5]."""
    point = simulated._POINTS[0]
    assert point.law is UNIFORM
    expected = Fraction(1, 64) / 4096 * (2 - 1 + 26 - Fraction(7, 2))
    assert math.isclose(simulated.spread(point).bias, expected, rel_tol=1e-9)


def test_replayed_draws_are_the_same_for_every_reader() -> None:
    replay = simulated.Replay(lambda n, rng: rng.random(n))
    first, second = replay.reader(), replay.reader()
    rng = np.random.default_rng(0)
    a = [first(3, rng), first(2, rng)]
    b = [second(3, np.random.default_rng(9)), second(2, np.random.default_rng(9))]
    assert np.array_equal(np.concatenate(a), np.concatenate(b))


torch = pytest.importorskip("torch")
torch.set_num_threads(1)


def test_tilting() -> None:
    assert _verdict(simulated.TILTING, "literal attention") is HOLDS
    assert _verdict(simulated.TILTING, "literal attention", 4.0) is REFUTED


def test_softmax_does_not_follow_the_linear_model_down() -> None:
    assert simulated.SOFTMAX.expected is REFUTED
    assert _verdict(simulated.SOFTMAX, "literal softmax") is REFUTED
    # It is not refuted for want of trying: ten times the linear risk is not exceeded.
    assert _verdict(simulated.SOFTMAX, "literal softmax", Fraction(10)) is INCONCLUSIVE


@pytest.mark.parametrize("name", ["without W", "T+1 layers", "three margins below"])
def test_wrong_losses_are_refuted(name: str) -> None:
    point = simulated._POINTS[0]
    check = _check(simulated.LOSS, "literal model")
    for formula, verdict in ((check.formula, HOLDS), (check.controls[name], REFUTED)):
        examination = simulated.Examination()
        found = check.function(formula, point, examination, Context(seed=2))
        assert found.verdict is verdict


def test_a_run_that_does_not_arrive_is_inconclusive(monkeypatch) -> None:
    monkeypatch.setattr(simulated, "_trained_alpha", lambda *_: 0.2)
    assert _verdict(simulated.TRAINED, "trained on prompts") is INCONCLUSIVE
    wrong = simulated.Target(margins=-3)  # below the certified minimum: no run is needed for that
    assert _verdict(simulated.TRAINED, "trained on prompts", wrong) is REFUTED
