"""What needs no pretraining, each against a second way to compute it: kernel ridge and the oracle."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")

from theoryverify.errors import InputError
from theoryverify.simulate import icl_baselines as baselines
from theoryverify.simulate import icl_test_set as test_set
from theoryverify.simulate.icl_curves import clipped
from theoryverify.simulate.icl_kernels import KernelRidge, gaussian
from theoryverify.simulate.in_context import Task

TASK = Task(d=3, r=2)

# -- kernel ridge -------------------------------------------------------------------------------


@pytest.mark.parametrize("choice", [(1.0, 1e-6), (8.0, 0.1)])
def test_one_factor_serves_all_contexts(choice: tuple[float, float]) -> None:
    prompts = test_set.shared_test(Task(d=4, r=2, noise="1/10"), 12, 6)
    sizes = [1, 4, 11]
    ours = baselines.kernel_errors(prompts, (0, 1), choice, sizes)
    for place, k in enumerate(sizes):
        at = test_set.query_at(prompts, k)
        theirs = KernelRidge(gaussian(choice[0]), choice[1], (0, 1)).predict(at, [k])[0]
        assert np.allclose(ours[:, place], (theirs[:, 0] - at.y_q[:, 0]) ** 2, rtol=1e-6)


def test_no_example_predicts_zero() -> None:
    prompts = test_set.shared_test(TASK, 3, 5)
    assert np.allclose(
        baselines.kernel_errors(prompts, (0, 1), (1.0, 0.1), [0])[:, 0], prompts.y[:, 0] ** 2
    )


def test_the_oracle_choice_is_at_least_as_good_and_choices_are_used() -> None:
    test, held = (test_set.shared_test(TASK, 24, 60, split=s) for s in ("test", "validation"))
    sizes = [4, 23]
    by = {
        how: baselines.chosen_kernel_errors(
            test, (0, 1), baselines.best_kernel(p, (0, 1), sizes), sizes
        )
        for how, p in (("validated", held), ("oracle", test))
    }
    assert (by["oracle"].mean(axis=0) <= by["validated"].mean(axis=0)).all()
    two = [(2.0, 0.1), (8.0, 1e-3)]
    both = baselines.chosen_kernel_errors(test, (0, 1), two, sizes)
    for place in (0, 1):
        alone = baselines.kernel_errors(test, (0, 1), two[place], [sizes[place]])
        assert np.allclose(both[:, place], alone[:, 0], rtol=1e-9)


@pytest.mark.parametrize(("r", "size"), [(2, 7), (2, 24), (3, 31), (8, 192)])
def test_more_widths_and_ridges_change_little(r: int, size: int) -> None:
    """By a hundredth at most: 0.44 is the clipped error of predicting 0."""
    prompts = test_set.shared_test(Task(d=r, r=r), size + 1, 4000 // size, split="validation")

    def error(choice: tuple[float, float]) -> float:
        return float(clipped(baselines.kernel_errors(prompts, range(r), choice, [size]))[0])

    (choice,) = baselines.best_kernel(prompts, range(r), [size], measure=clipped)
    wider = [(r * w, lam) for w in (1 / 16, 1 / 4, 4, 32, 512) for lam in (1e-12, 1e-9, 1e-5, 0.01)]
    assert error(choice) < min(map(error, wider)) + 0.01
    if size >= math.comb(r + 3, 3):
        assert error(choice) < 0.01  # cubics are interpolated


def test_a_choice_is_the_best_by_the_measure_that_is_asked_for() -> None:
    prompts = test_set.shared_test(TASK, 10, 200, split="validation")
    for measure in (baselines.plain_mean, clipped):
        (choice,) = baselines.best_kernel(prompts, (0, 1), [9], measure=measure)
        found = {
            other: measure(baselines.kernel_errors(prompts, (0, 1), other, [9]))[0]
            for other in baselines.kernel_grid(2)
        }
        assert found[choice] == min(found.values())


def test_a_factorisation_that_fails_is_a_bad_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    prompts = test_set.shared_test(TASK, 30, 20)
    prompts.X[0, :15] = 100 * np.arange(15)[:, None]  # far apart: this one does not fail
    prompts.X[0, 15:] = -100 * np.arange(1, 16)[:, None]
    broken, good = (2e4, 1e-19), (8.0, 1e-3)
    errors = baselines.kernel_errors(prompts, (0, 1), broken, [5, 29])
    failed = np.asarray(np.isinf(errors).any(axis=1))
    assert failed[1:].all()
    assert not failed[0]  # it alone has a factor
    assert np.isinf(errors[failed]).all()
    monkeypatch.setattr(baselines, "kernel_grid", lambda p: [broken, good])
    assert baselines.best_kernel(prompts, (0, 1), [29]) == [good]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: baselines.kernel_errors(p, (0,), (1.0, 0.0), [1]), "λ = 0.0"),
        (lambda p: baselines.kernel_errors(p, (0,), (1.0, 0.1), [6]), "0..5"),
        (lambda p: baselines.kernel_errors(p, (0,), (1.0, 0.1), []), "no context size"),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call(test_set.shared_test(TASK, 6, 4))


# -- the oracle ---------------------------------------------------------------------------------


def test_least_squares_on_the_sphere_finds_the_task() -> None:
    prompts = test_set.shared_test(TASK, 13, 60)
    errors = baselines.oracle_errors(prompts, TASK, [0, 1, 12])
    assert np.median(errors[:, 2]) < 1e-12  # without noise it is found exactly
    assert np.median(errors[:, 1]) > 1e-3  # one example does not fix a direction
    assert np.array_equal(errors[:, 0], prompts.y[:, 0] ** 2)
    per_task = replace(TASK, support="per task")
    with pytest.raises(InputError, match="one support"):
        baselines.oracle_errors(test_set.shared_test(per_task, 4, 30), per_task, [2])


@pytest.mark.parametrize("noise", ["0", "1/10"])
def test_least_squares_starts_again_until_nothing_is_left(noise: str) -> None:
    """At r = 8 twelve starts miss the minimum of every third task."""
    task = Task(d=8, r=8, noise=noise)
    prompts = test_set.shared_test(task, 49, 30)
    errors = baselines.oracle_errors(prompts, task, [24, 48])
    missed = errors > (1e-6 if noise == "0" else 0.3)
    assert not missed.any()
    once = baselines.oracle_errors(prompts, task, [24, 48], rounds=1)
    assert (once[:, 0] > 0.01).sum() >= 2
