"""Gates fitted to openings, and Hermite coefficients, against what they were made from."""

from __future__ import annotations

import numpy as np
import pytest

from theoryverify.exact.gate import Gate
from theoryverify.simulate import icl_gates as gates
from theoryverify.simulate.in_context import Task

TASK = Task(d=3, r=2)
VALUES = np.sinh(np.linspace(-1, 1, 25) * np.arcsinh(12)) / 2


def test_a_gate_is_found_again() -> None:
    y = VALUES
    exact = gates.GateFit(1.0, -2.0, 0.2, 0.7, False, 1.0)
    grid = gates.fit_gate(y, exact(y))
    assert grid.explained > 0.999
    assert np.abs(grid(y) - exact(y)).max() < 0.02
    assert gates.fit_gate(y, exact(y), even=True).explained < 0.8
    bell = np.abs(y) / (1 + np.abs(y))
    assert gates.fit_gate(y, bell, even=True).explained > 0.98
    assert gates.fit_gate(y, bell).explained < 0.5
    assert gates.fit_gate(y, np.full_like(y, 0.3)).explained == 0


def test_coefficients_are_the_exact_ones() -> None:
    gate = Gate(4, -2)
    raw = gates.hermite_raw(TASK, lambda y: y / (1 + np.exp(2 - y / 4)), 3)
    for k in range(4):
        exact = float(gate.coefficient(TASK.g, k).enclosure)
        assert raw[k] == pytest.approx(exact, rel=1e-10, abs=1e-14)
    assert np.allclose(gates.hermite_profile(TASK, lambda y: y), [0, 0, 0, 1, 0], atol=1e-12)


def test_the_fit_is_the_best_of_the_grid() -> None:
    """Least squares for each (ρ, b) by an independent solver."""
    rng = np.random.default_rng(0)
    opening = 0.3 + 0.2 * np.tanh(VALUES - 1) + 0.05 * rng.standard_normal(25)
    best = np.inf
    for rho in np.geomspace(0.1, 30, 40):
        for b in np.linspace(-12, 12, 97):
            gate = 1 / (1 + np.exp(-(VALUES / rho + b)))
            A = np.stack([np.ones(25), gate], axis=1)
            rest = opening - A @ np.linalg.lstsq(A, opening, rcond=None)[0]
            best = min(best, float((rest**2).sum()))
    fit = gates.fit_gate(VALUES, opening)
    found = float(((fit(VALUES) - opening) ** 2).sum())
    assert found == pytest.approx(best, rel=1e-6)
    assert fit.explained == pytest.approx(1 - best / ((opening - opening.mean()) ** 2).sum())
