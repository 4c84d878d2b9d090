"""The suite's error is a sum of shares, and planned draws have the power that was planned."""

from __future__ import annotations

import numpy as np
import pytest

from theoryverify.budget import SHARE, SUITE_ERROR, ErrorBudget, draws_for
from theoryverify.errors import InputError
from theoryverify.stats import VarianceMean, equivalence


def test_the_budget_is_never_exceeded():
    budget = ErrorBudget()
    for index in range(round(SUITE_ERROR / SHARE)):
        assert budget.spend(f"test {index}") == SHARE
    assert budget.spend("test 3") == SHARE  # again, at no cost
    with pytest.raises(InputError, match="is left"):
        budget.spend("one more")
    with pytest.raises(InputError, match="already spent"):
        budget.spend("test 3", 2 * SHARE)


def test_a_share_larger_than_what_is_left_is_refused():
    budget = ErrorBudget(total=1e-6)
    budget.spend("most", 7e-7)
    with pytest.raises(InputError, match="3e-07 is left"):
        budget.spend("too much", 4e-7)
    budget.spend("the rest", 3e-7)


def test_shares_do_not_depend_on_the_order():
    names = ["a", "b", "c"]
    first, second = ErrorBudget(), ErrorBudget()
    assert [first.spend(n, 1e-7) for n in names] == [second.spend(n, 1e-7) for n in names[::-1]]
    assert first.left == second.left


def test_planned_draws_have_the_stated_power():
    """Skewed draws of variance 1 with kurtosis 9; error 1e-6, at most one miss in twenty."""
    slack, error = 0.1, 1e-6
    n = draws_for(slack, 1.0, error=error, miss=0.05)

    def verdict(draws, seed):
        return equivalence(
            lambda size, rng: rng.exponential(size=size),
            1.0,
            slack,
            budget=draws,
            sequence=VarianceMean(1.0, error=error, horizon=draws),
            rng=np.random.default_rng([5, seed]),
        ).verdict.value

    held = sum(verdict(n, seed) == "holds" for seed in range(40))
    assert held > 30  # at a power of 0.95, 30 or fewer of 40 has probability 6e-6
    assert verdict(n // 6, 0) == "inconclusive"


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: draws_for(0, 1), "slack = 0"),
        (lambda: draws_for(1, float("nan")), "deviation = nan"),
        (lambda: draws_for(1, 1, miss=1), "miss = 1"),
        (lambda: ErrorBudget().spend("x", 0), "error = 0"),
    ],
)
def test_bad_input(call, match):
    with pytest.raises(InputError, match=match):
        call()
