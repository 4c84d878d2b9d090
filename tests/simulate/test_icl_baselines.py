"""What needs no pretraining, each against a second way to compute it: kernel ridge and the oracle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")

from theoryverify.errors import InputError
from theoryverify.simulate import icl_baselines as baselines
from theoryverify.simulate import icl_test_set as test_set
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
