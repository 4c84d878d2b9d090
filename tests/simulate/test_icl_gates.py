"""Gates fitted to openings, against what they were made from and another solver."""

from __future__ import annotations

import numpy as np
import pytest

from theoryverify.simulate import icl_gates as gates

VALUES = np.sinh(np.linspace(-1, 1, 25) * np.arcsinh(12)) / 2
MASSES = np.random.default_rng(1).dirichlet(np.ones(25))


def test_a_gate_is_found_again() -> None:
    y = VALUES
    exact = gates.GateFit(1.0, -2.0, 0.2, 0.7, False, 1.0)
    grid = gates.fit_gate(y, exact(y), MASSES)
    assert grid.explained > 0.999
    assert np.abs(grid(y) - exact(y)).max() < 0.02
    assert gates.fit_gate(y, exact(y), MASSES, even=True).explained < 0.8
    bell = np.abs(y) / (1 + np.abs(y))
    assert gates.fit_gate(y, bell, MASSES, even=True).explained > 0.98
    assert gates.fit_gate(y, bell, MASSES).explained < 0.5
    assert gates.fit_gate(y, np.full_like(y, 0.3), MASSES).explained == 0


def test_the_fit_is_the_best_of_the_grid() -> None:
    """Least squares for each (ρ, b) by an independent solver."""
    rng = np.random.default_rng(0)
    opening = 0.3 + 0.2 * np.tanh(VALUES - 1) + 0.05 * rng.standard_normal(25)
    best = np.inf
    for rho in np.geomspace(0.1, 30, 40):
        for b in np.linspace(-12, 12, 97):
            gate = 1 / (1 + np.exp(-(VALUES / rho + b)))
            A = np.sqrt(MASSES)[:, None] * np.stack([np.ones(25), gate], axis=1)
            target = np.sqrt(MASSES) * opening
            rest = target - A @ np.linalg.lstsq(A, target, rcond=None)[0]
            best = min(best, float((rest**2).sum()))
    fit = gates.fit_gate(VALUES, opening, MASSES)
    assert MASSES @ (fit(VALUES) - opening) ** 2 == pytest.approx(best, rel=1e-6)
    spread = MASSES @ (opening - MASSES @ opening) ** 2
    assert fit.explained == pytest.approx(1 - best / spread)
