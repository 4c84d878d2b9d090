"""The claims on the limit in depth: where their hypotheses bite, and numbers by another route."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from theoryverify.claims.claim import Context
from theoryverify.claims.discovery import paper_named
from theoryverify.claims.examine import run_check
from theoryverify.claims.parameters import placed
from theoryverify.claims.registry import claims_of
from theoryverify.exact.densities import ScaledBeta, Uniform
from theoryverify.exact.laws import Discrete
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.claims import depth
from theoryverify.papers.lca.laws import ATOM_AT_ONE, POINT_MASS
from theoryverify.papers.lca.placed import Point

LITTLE = ScaledBeta(2, 5, "1/2", 200)


def test_the_rate_needs_epsilon_below_the_upper_end() -> None:
    """At ε = 21 > Z̄ = 20 all mass is within ε, so ℓ = 0, and the stated bound is too small."""
    law = Discrete({2: "0.5", 3: "0.499999", 20: "0.000001"})
    found = alpha_star(law, 1, 20)
    gap = abs(float(found.enclosure) - float(found.limit))

    def bound(eps: int) -> float:
        at = {"a": 2, "b": 20, "T": 1, "r": 9 / 11, "ell": 0, "epsilon": eps}
        return max(
            float(part.subs({s: at[s.name] for s in part.free_symbols})) for part in depth._RATE
        )

    assert gap == pytest.approx(0.28406, rel=1e-4)
    assert bound(21) < 0.084 < gap < bound(19)


@pytest.mark.parametrize("T", [1, 7, 10**4])
def test_the_logs_of_a_uniform_law_in_closed_form(T: int) -> None:
    mass = lambda low, high: high - low - log(high / low)  # noqa: E731
    upper, lower = (float(ell) for ell in depth._logs(Point(Uniform(2, 5), T)))
    assert upper == pytest.approx(log(mass(2, 5) / mass(5 - 1 / T, 5)), rel=1e-6)
    assert lower == pytest.approx(log(mass(2, 5) / mass(2, 2 + 1 / T)), rel=1e-6)


def test_enough_mass_near_the_ends() -> None:
    failure = depth.ENOUGH_MASS.failure
    assert failure(Point(Uniform(2, 5), 1)) is None
    assert failure(Point(LITTLE, 10**4)) is None
    assert "T = 5 is too small for beta(2,5,1/2,200)" in str(failure(Point(LITTLE, 5)))
    for law in (POINT_MASS, ATOM_AT_ONE, Uniform(-1, 2)):
        assert "Assumption 6.1" in str(failure(Point(law, 5)))
    assert failure(LITTLE) is None  # a law alone fixes no ε


def test_where_mass_is_wanting_no_check_of_the_rate_speaks() -> None:
    claim = claims_of([paper_named("lca")])["lca.F.3.rate"]
    given = {"law": str(LITTLE), "depth": "5"}
    here = placed(claim, given)
    assert [row["met"] for row in here.hypotheses()] == [True, False]
    results = [
        run_check(here.claim, check, Context(parameters=given)) for check in here.claim.checks
    ]
    assert [str(result.verdict) for result in results] == ["outside", "outside"]
    assert all("mass near the ends" in result.why for result in results)


def test_each_case_of_the_rate_meets_its_hypotheses() -> None:
    (check,) = (check for check in depth.RATE.checks if check.cases)
    for case in check.cases:
        assert all(hypothesis.failure(case) is None for hypothesis in depth.RATE.hypotheses), case
    assert {case.depth for case in check.cases} == {10**2, 10**6}


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_whitening_rate_by_matrices(d: int) -> None:
    """Layer by layer at ``Σ_x = I + mmᵀ``, Z = 2, for the support [2, 5]."""
    steps, best, r = 30, 2 / 7, 3 / 7
    m = np.ones((d, 1)) / np.sqrt(d)
    sigma, state = np.eye(d) + m @ m.T, np.zeros((d, d))
    for _ in range(steps):
        state = state + best * np.eye(d) - best * sigma @ state
    error = np.linalg.norm(sigma @ state - np.eye(d))
    if d == 1:  # no direction is orthogonal to m
        assert error == pytest.approx(r**steps, rel=1e-3)
    else:
        assert np.sqrt(d - 1) <= error / (1 - best) ** steps * (1 + 1e-9) <= np.sqrt(d)
