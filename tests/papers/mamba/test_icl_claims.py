"""The claims on the in-context experiments: every verdict, from stored results made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")

from theoryverify.claims.claim import Claim, Context
from theoryverify.claims.examine import examine, run_check
from theoryverify.claims.ladder import HOLDS, INCONCLUSIVE, OUTSIDE, REFUTED, Verdict
from theoryverify.cli import main
from theoryverify.figures import Plan
from theoryverify.papers.mamba.claims import icl as claims
from theoryverify.papers.mamba.claims import icl_kernel as kernel_claim
from theoryverify.papers.mamba.claims import icl_labels as labels
from theoryverify.papers.mamba.experiments.icl_sizes import SIZES, Sizes
from theoryverify.papers.mamba.experiments.icl_stored import level, trivial_level
from theoryverify.papers.mamba.experiments.icl_trainings import (
    placed,
    probe_cell,
    probe_runner,
    runner,
    training_cell,
)
from theoryverify.papers.mamba.icl_response import coefficient, projections, responses
from theoryverify.papers.mamba.score import score
from theoryverify.simulate import icl_baselines
from theoryverify.simulate.icl_config import Configuration
from theoryverify.simulate.icl_curves import clipped
from theoryverify.simulate.icl_gates import gate
from theoryverify.simulate.icl_labels import continued, hermite_profile, hermite_raw, label_values
from theoryverify.simulate.icl_test_set import shared_test
from theoryverify.simulate.in_context import Task

TASKS, PROMPTS = 16_000, 4000
TINY = Sizes(
    Configuration(task=Task(d=3, r=2), context=16, test_context=32, test_tasks=TASKS, steps=3),
    d=4, r=3, context=8, seeds=1, probes=PROMPTS, kernel_tasks=100,
)  # fmt: skip

Map = Callable[[np.ndarray], np.ndarray]
VALUES = label_values(TINY.base.task)


def falling(y: np.ndarray) -> np.ndarray:
    """Odd, and falling around 0: what short runs have learned."""
    return np.asarray(-np.tanh(2 * y))


def gated(y: np.ndarray) -> np.ndarray:
    return np.asarray(y / (1 + np.exp(2 - y)))


def result(level: float) -> dict[str, np.ndarray]:
    """Of a training whose clipped error is about this."""
    return {"errors": level * np.random.default_rng(1).exponential(size=(TASKS, 32))}


def seen(
    transformation: Map = falling, gates: Sequence[Map] = (np.ones_like,), explained: float = 0.9
) -> dict[str, np.ndarray]:
    """Of a trained model with this T, these gates in its layers, and so good a read-out."""
    rng = np.random.default_rng(2)
    weight, size = rng.exponential(size=PROMPTS), rng.uniform(0.2, 0.4, size=(PROMPTS, 1))
    noise = 0.05 * rng.standard_normal((PROMPTS, len(VALUES)))
    z, rest = rng.standard_normal((2, PROMPTS)), rng.standard_normal((2, PROMPTS))
    off = np.sqrt(explained * (1 - explained)) * rest
    return {
        "values": VALUES,
        "change": weight[:, None] * transformation(VALUES) + noise,
        "weight": weight,
        "opening": np.stack([size * gate(VALUES) for gate in gates], axis=1),
        "read": np.stack([0.02 * rest, explained * z + off]),
        "to_read": z,
        "alignment_sizes": np.array([1, 15]),
    }


class Shelf:
    """A store in which results are laid by change and model."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        monkeypatch.setenv("THEORYVERIFY_STORE", str(folder))
        self._patch, self.plan = monkeypatch, Plan("laptop")
        self.seeds(1)

    def seeds(self, count: int) -> None:
        """How many trainings of each configuration are asked for."""
        self.sizes = replace(TINY, seeds=count)
        self._patch.setitem(SIZES, "laptop", self.sizes)

    def lay(
        self,
        change: str,
        kind: str,
        arrays: dict[str, np.ndarray],
        probe: dict[str, np.ndarray] | None = None,
        *,
        seed: int = 0,
        device: str = "cpu",
    ) -> None:
        plan = replace(self.plan, device=device)
        settings = placed(self.sizes.run(change, kind, seed), plan)
        runner(plan).compute(training_cell(settings), lambda rng: arrays)
        if probe is not None:
            cell = probe_cell(settings, self.sizes.probes)
            probe_runner(plan).compute(cell, lambda rng: probe)


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shelf:
    return Shelf(monkeypatch, tmp_path)


def verdict(claim: Claim) -> Verdict:
    """Of its check, the controls taken in."""
    (check,) = claim.checks
    return run_check(claim, check, Context("full")).verdict


@pytest.mark.parametrize("claim", claims.claims + labels.claims, ids=lambda claim: claim.id)
def test_without_results_they_are_undecided(claim: Claim, shelf: Shelf) -> None:
    (check,) = claim.checks
    assert check.preset == "full"
    found = examine(claim, check, check.formula, Context("full"))
    assert found.verdict is INCONCLUSIVE
    figure = "mamba.icl_curves" if claim in claims.claims else "mamba.training"
    assert f"figure {figure} --preset laptop" in found.reason


@pytest.mark.parametrize(
    ("base", "other", "expected"),
    [
        (0.10, 0.11, HOLDS),
        (0.05, 0.17, REFUTED),
        (0.10, 0.30, OUTSIDE),
        (0.40, 0.40, OUTSIDE),
        (0.22, 0.21, INCONCLUSIVE),  # about half of the trivial error
    ],
)
def test_the_ambient_dimension(base: float, other: float, expected: Verdict, shelf: Shelf) -> None:
    shelf.lay("base", "mamba", result(base))
    shelf.lay("d", "mamba", result(other))
    assert verdict(claims.DIMENSION) is expected


def test_the_margin_on_the_dimension_is_a_quarter_of_the_way_to_its_controls() -> None:
    (check,) = claims.DIMENSION.checks
    assert min(abs(control.by) for control in check.controls.values()) == pytest.approx(
        4 * claims._LARGEST_CHANGE
    )
    assert "larger than the errors" in claims.DIMENSION.note


@pytest.mark.parametrize(
    ("base", "larger", "expected"),
    [
        (0.10, 0.20, HOLDS),
        (0.1, 0.1, INCONCLUSIVE),
        (0.1, 0.02, REFUTED),
        (0.1, 0.40, OUTSIDE),  # has not learned: that it is worse says nothing of r'
    ],
)
def test_the_support(base: float, larger: float, expected: Verdict, shelf: Shelf) -> None:
    shelf.lay("base", "mamba", result(base))
    shelf.lay("r", "mamba", result(larger))
    assert verdict(claims.SUPPORT) is expected


@pytest.mark.parametrize(
    ("error", "below", "above"),
    [
        (0.15, HOLDS, REFUTED),
        (1e-6, HOLDS, INCONCLUSIVE),  # longest contexts alone do not show "at every N"
        (0.45, OUTSIDE, OUTSIDE),
    ],
)
def test_kernel_ridge_loses_below_the_cubics_and_wins_above(
    error: float, below: Verdict, above: Verdict, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a coarser grid of widths and ridges, to save time."""
    monkeypatch.setattr(icl_baselines, "kernel_grid", lambda p: [(8.0 * p, 1e-6), (2.0 * p, 0.1)])
    shelf.lay("base", "mamba", result(error))
    assert verdict(claims.KERNEL) is below
    assert verdict(claims.LATE) is above


def test_mamba_can_lose_to_kernel_ridge_below_the_cubics(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(icl_baselines, "kernel_grid", lambda p: [(2.0 * p, 0.1)])
    mamba = result(0.1)
    mamba["errors"][:, :10] = 1.0
    shelf.lay("base", "mamba", mamba)
    assert verdict(claims.KERNEL) is REFUTED


def test_kernel_ridge_is_chosen_on_other_tasks_by_the_errors_compared(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def chosen(prompts: Any, support: Any, sizes: Any, *, measure: Any) -> Any:
        seen.append((prompts, measure))
        return [(4.0, 0.1)] * len(sizes)

    monkeypatch.setattr(icl_baselines, "best_kernel", chosen)
    shelf.lay("base", "mamba", result(0.1))
    (check,) = claims.KERNEL.checks
    examine(claims.KERNEL, check, check.formula, Context("full"))
    ((prompts, measure),) = seen
    task = TINY.base.task
    held = shared_test(task, TINY.base.test_context, 50, split="validation")
    assert np.array_equal(prompts.X[:50], held.X[:, :16])
    assert measure is clipped


@pytest.mark.parametrize("claim", [claims.BEYOND, claims.WITHIN], ids=lambda c: c.id)
@pytest.mark.parametrize("turned", [False, True])
def test_a_short_pretraining_context(claim: Claim, turned: bool, shelf: Shelf) -> None:
    mamba, gpt2 = result(0.1), result(0.6)
    gpt2["errors"][:, :8] = mamba["errors"][:, :8] / 4  # better where it was trained
    one, other = ("gpt2", "mamba") if turned else ("mamba", "gpt2")
    shelf.lay("N_pt", one, mamba)
    shelf.lay("N_pt", other, gpt2)
    assert verdict(claim) is (HOLDS if (claim is claims.BEYOND) is not turned else REFUTED)


@pytest.mark.parametrize("claim", [claims.BEYOND, claims.WITHIN, claims.LOSS], ids=lambda c: c.id)
@pytest.mark.parametrize("failed", ["mamba", "gpt2"])
def test_where_one_has_not_learned_nothing_is_said(claim: Claim, failed: str, shelf: Shelf) -> None:
    for kind in ("mamba", "gpt2"):
        shelf.lay("N_pt", kind, result(0.45 if kind == failed else 0.1))
        shelf.lay("base", kind, result(0.1))
    assert verdict(claim) is OUTSIDE


@pytest.mark.parametrize(
    ("gpt2", "mamba", "expected"),
    [(0.5, 0.2, HOLDS), (0.2, 0.5, REFUTED), (0.3, 0.3, INCONCLUSIVE)],
)
def test_the_loss_by_short_prompts(
    gpt2: float, mamba: float, expected: Verdict, shelf: Shelf
) -> None:
    for kind, error in (("mamba", mamba), ("gpt2", gpt2)):
        shelf.lay("base", kind, result(0.1))
        short = result(0.1)
        short["errors"][:, 8:] *= 10 * error
        shelf.lay("N_pt", kind, short)
    assert verdict(claims.LOSS) is expected


@pytest.mark.parametrize(
    ("T", "first", "signs"),
    [
        (falling, HOLDS, REFUTED),
        (gated, HOLDS, HOLDS),
        (lambda y: y / (1 + np.exp(9 - y / 16)), HOLDS, HOLDS),
        (lambda y: y - 0.5 * np.tanh(2 * y), HOLDS, INCONCLUSIVE),  # odd
        (np.tanh, REFUTED, REFUTED),
    ],
)
def test_the_transformation(T: Map, first: Verdict, signs: Verdict, shelf: Shelf) -> None:
    scale = 1 / np.abs(T(np.array([1.0, 6.0]))).mean()
    shelf.lay("base", "mamba", result(0.1), seen(lambda y: scale * T(y)))
    assert verdict(labels.TRANSFORMATION) is first
    assert verdict(labels.GATE) is signs
    assert verdict(labels.GPT2_GATE) is INCONCLUSIVE  # nothing is laid for it
    shelf.lay("base", "gpt2", result(0.1), seen(lambda y: scale * T(y)))
    assert verdict(labels.GPT2_TRANSFORMATION) is first
    assert verdict(labels.GPT2_GATE) is signs


@pytest.mark.parametrize(
    ("gates", "expected"),
    [
        ([np.ones_like, lambda y: gate(y, 1, -2)], HOLDS),
        ([lambda y: gate(y, 4, -4), np.ones_like], HOLDS),
        ([lambda y: gate(-y, 1, 0), lambda y: 1 / (1 + y**2)], REFUTED),
        ([np.ones_like, lambda y: 1 + 0.01 * gate(y, 1, -2)], REFUTED),  # all but constant
        ([lambda y: 0.2 + gate(y, 1, -2), np.ones_like], HOLDS),
    ],
)
def test_the_gate_of_some_layer(gates: list[Map], expected: Verdict, shelf: Shelf) -> None:
    for kind, claim in (("mamba", labels.OPENING), ("gpt2", labels.GPT2_OPENING)):
        shelf.lay("base", kind, result(0.1), seen(gates=gates))
        assert verdict(claim) is expected


@pytest.mark.parametrize(
    ("explained", "expected"), [(0.9, HOLDS), (0.0, REFUTED), (0.26, INCONCLUSIVE)]
)
def test_the_alignment(explained: float, expected: Verdict, shelf: Shelf) -> None:
    for kind, claim in (("mamba", labels.ALIGNMENT), ("gpt2", labels.GPT2_ALIGNMENT)):
        shelf.lay("base", kind, result(0.1), seen(explained=explained))
        found = run_check(claim, claim.checks[0], Context("full"))
        assert found.verdict is expected
        assert expected is not HOLDS or "15 examples" in found.scope


@pytest.mark.parametrize(
    ("claim", "bad"),
    [
        (labels.TRANSFORMATION, {"transformation": np.tanh}),
        (labels.GATE, {"transformation": falling}),
        (labels.OPENING, {"gates": [lambda y: gate(-y, 1, 0)]}),
        (labels.ALIGNMENT, {"explained": 0.0}),
    ],
    ids=["transformation", "gate", "opening", "alignment"],
)
@pytest.mark.parametrize("both", [True, False])
def test_each_trained_model_counts(
    claim: Claim, bad: dict[str, Any], both: bool, shelf: Shelf
) -> None:
    """One that has what is said does not outweigh one that lacks it."""
    shelf.seeds(2)
    good: dict[str, Any] = {
        "transformation": lambda y: 4 * gated(y),
        "gates": [lambda y: gate(y, 1, -2)],
    }
    for seed, which in enumerate((good, good if both else good | bad)):
        shelf.lay("base", "mamba", result(0.1), seen(**which), seed=seed)
    found = run_check(claim, claim.checks[0], Context("full"))
    assert found.verdict is (HOLDS if both else REFUTED)
    assert "each of 2 seeds" in found.scope


@pytest.mark.parametrize("claim", labels.claims, ids=lambda claim: claim.id)
@pytest.mark.parametrize(("level", "expected"), [(0.45, OUTSIDE), (0.221, INCONCLUSIVE)])
def test_of_models_that_may_not_have_learned_nothing_is_said(
    level: float, expected: Verdict, claim: Claim, shelf: Shelf
) -> None:
    """Half of the error of predicting 0 is 0.22; what is looked at would refute each of the claims."""
    probe = seen(np.tanh, [lambda y: gate(-y, 1, 0)], 0.0)
    kind = claim.checks[0].formula.kind
    shelf.lay("base", kind, result(level), probe)
    assert verdict(claim) is expected


def test_the_statement_on_openings_has_the_bound_that_is_checked() -> None:
    for claim in (labels.OPENING, labels.GPT2_OPENING):
        assert f"c_1>c_3/{1 / labels.SMALLEST:g}" in claim.statement


def test_the_clipped_error_of_predicting_0() -> None:
    z = np.linspace(-9, 9, 200_001)
    density = np.exp(-(z**2) / 2)
    exact = (density * np.minimum(z**2, 4)).sum() / density.sum()
    assert exact == pytest.approx(labels.NOTHING_READ, abs=1e-9)


def test_results_of_another_device_are_found(shelf: Shelf) -> None:
    for change in ("base", "r"):
        shelf.lay(change, "mamba", result(0.1 if change == "base" else 0.2), device="cuda")
    (check,) = claims.SUPPORT.checks
    found = run_check(claims.SUPPORT, check, Context("full"))
    assert found.verdict is HOLDS
    assert "on cuda" in found.scope


# -- the parts ----------------------------------------------------------------------------------


def test_coefficients_are_linear_and_covered() -> None:
    task, values = TINY.base.task, VALUES
    P = projections(task, values)
    T = gated(values)
    exact = hermite_raw(task, continued(values, T), 3)
    assert np.allclose(T @ P, exact, atol=1e-12)
    parts = responses(seen(gated), task)
    size = np.sqrt((exact**2).sum())
    for k in range(4):
        interval = coefficient(parts, k).interval
        assert interval.lower < exact[k] / size < interval.upper  # the pilot's size is a little off
        assert interval.width < 0.5


def test_contributions_that_are_cut_are_counted() -> None:
    arrays, task = seen(gated), TINY.base.task
    plain = coefficient(responses(arrays, task), 1)
    arrays["change"][-1] *= 1e6
    found = coefficient(responses(arrays, task), 1)
    assert found.cut == pytest.approx(plain.cut + 2 / PROMPTS)
    assert abs(found.interval.upper - plain.interval.upper) < 0.01
    assert f"{found.cut:.2%} of contributions cut" in str(found)


def test_the_theorys_gated_label_has_the_signs_that_are_asked_for() -> None:
    """For a grid of gates: exactly, and as it is tabulated; y itself has no other coefficient."""
    task, values = TINY.base.task, VALUES
    P = projections(task, values)
    assert np.allclose(values @ P, [0, 0, 0, 1], atol=1e-12)
    for rho in np.geomspace(0.2, 60, 12):
        for b in -np.geomspace(0.02, 12, 10):

            def T(y: np.ndarray, rho: float = rho, b: float = b) -> np.ndarray:
                return np.asarray(y * (1 + np.tanh((y / rho + b) / 2)) / 2)

            exact = hermite_raw(task, T, 3)
            assert (exact / np.abs(exact).max() > 1e-6).all()
            assert (T(values) @ P > 0).all()


@pytest.mark.parametrize("name", labels.GATES)
def test_the_controls_gates_lack_a_sign(name: str) -> None:
    c = VALUES * labels.GATES[name](VALUES) @ projections(TINY.base.task, VALUES)
    assert c[{"turned": 0, "bent": 1}[name]] < -0.01


@pytest.mark.parametrize("name", labels.MAPS)
def test_the_controls_maps_have_the_signs_that_are_said(name: str) -> None:
    task, values = TINY.base.task, VALUES
    for c in (
        hermite_raw(task, labels.MAPS[name], 3),
        labels.MAPS[name](values) @ projections(task, values),
    ):
        if name in ("bent", "bounded"):
            assert c[1] < -0.01
        else:
            assert c[1] > 0.01
            assert c[3] > 0.01
            assert max(c[0], c[2]) < -0.001


def test_levels() -> None:
    task = Task(d=2, r=2)
    y = task.sample(200_000, 1, rng=0).y[:, 0]
    exact = trivial_level(Configuration(task=task))
    assert abs(np.minimum(y**2, 4).mean() - exact) < 6 * np.minimum(y**2, 4).std() / y.size**0.5
    found = level(np.minimum(y[:20_000] ** 2, 4))
    assert found.lower < exact < found.upper < found.lower + 0.1


def test_the_best_transformation_is_the_conditional_mean() -> None:
    """``E[z|y]`` by bins of random draws, and no other T has a larger share of degree 1."""
    task = Task(d=2, r=2)
    rng = np.random.default_rng(0)
    z = rng.standard_normal(2_000_000)
    y = (z**3 - 3 * z) / 6**0.5
    conditional = score(task)
    for low in (-3.0, -0.5, 0.2, 1.5):
        inside = (y > low) & (y < low + 0.02)
        spread = z[inside].std() / inside.sum() ** 0.5
        assert abs(conditional(np.array([low + 0.01]))[0] - z[inside].mean()) < 5 * spread + 0.01
    best = hermite_profile(task, conditional)[1]
    for T in (falling, gated, lambda y: np.sign(y) * (np.abs(y) > 0.82)):
        assert abs(hermite_profile(task, T)[1]) < best
    with pytest.raises(ValueError, match="without noise"):
        score(replace(task, noise="1/10"))


def test_the_floor_of_kernel_ridge_with_fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check itself takes half a minute: here with a coarser grid and a lower level."""
    monkeypatch.setattr(kernel_claim, "TASKS", 1500)
    monkeypatch.setattr(kernel_claim, "kernel_grid", lambda p: [(64.0, 1e-3), (16.0, 1e-3)])
    (check,) = kernel_claim.FLOOR.checks
    low = examine(kernel_claim.FLOOR, check, kernel_claim.Floor(64, 0.2), Context("full"))
    assert low.verdict is HOLDS
    high = examine(kernel_claim.FLOOR, check, kernel_claim.Floor(64, 3.0), Context("full"))
    assert high.verdict is REFUTED
    between = examine(kernel_claim.FLOOR, check, kernel_claim.Floor(64, 0.9), Context("full"))
    assert between.verdict is INCONCLUSIVE
    assert check.formula == kernel_claim.Floor(64, 0.35)


def test_at_the_preset_quick_they_say_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "mamba.exp.dimension"]) == 2
    assert "try --preset full" in capsys.readouterr().err


@pytest.mark.parametrize("preset", SIZES)
def test_seeds_of_plans_share_no_training(preset: str) -> None:
    sizes = SIZES[preset]
    seeds = [
        [
            placed(sizes.run("base", "mamba", n), Plan(preset, seed=s)).seed
            for n in range(sizes.seeds)
        ]
        for s in (0, 1, 2, 2**62)
    ]
    assert seeds[0] == list(range(sizes.seeds))
    assert len({seed for each in seeds for seed in each}) == 4 * sizes.seeds


def test_a_budget_says_what_was_trained(shelf: Shelf) -> None:
    """A budget names what was trained."""
    from theoryverify.papers.mamba.experiments.icl_stored import stored

    shelf.lay("base", "mamba", result(0.1))
    found: Any = stored("base", "mamba", seed=0, device="cpu")
    assert "mamba of 3 layers" in found.budget
    assert "parameters, rate " in found.budget
    assert "d = 3, r = 2, N_pt = 16: 1 seed of 3 steps of 64 tasks on cpu" in found.budget
