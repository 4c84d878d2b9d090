"""Ablated and layer-normalised stacks against loops over tokens, and their algebra."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

from theoryverify.errors import InputError
from theoryverify.exact.densities import Uniform
from theoryverify.models.ablations import ARMS, Parts, ablated, state
from theoryverify.simulate.prompts import sample_prompts

torch = pytest.importorskip("torch")
from theoryverify.models.layer_norm import NormedLCA, layer_norm  # noqa: E402
from theoryverify.models.lca import LCA, Stack  # noqa: E402

PROMPTS = sample_prompts(Uniform(2, 5), 3, 7, 4, zeta="one", rng=0)
ALPHA, BETA, DEPTH = 0.2, -0.15, 3


def looped(parts: Parts, X: np.ndarray) -> np.ndarray:
    """(5.2) one token at a time, with parts left out."""
    d, L = X.shape
    F = np.zeros((d, L)) if parts.injection else ALPHA * X
    for _ in range(DEPTH):
        keys = X if parts.cross else F
        new = np.empty_like(F)
        for i in range(L):
            read = sum(keys[:, j] * (keys[:, j] @ F[:, i]) for j in range(L)) / L
            new[:, i] = F[:, i] + BETA * read + (ALPHA * X[:, i] if parts.injection else 0)
        F = new
    return F


@pytest.mark.parametrize("arm", ARMS)
def test_ablations_are_loops_over_tokens(arm: str) -> None:
    model = ablated(ARMS[arm], 3, DEPTH, ALPHA, BETA)
    states = model.states(torch.from_numpy(PROMPTS.X))
    assert len(states) == DEPTH + 1
    for found, X in zip(states[-1].detach().numpy(), PROMPTS.X, strict=True):
        np.testing.assert_allclose(found, looped(ARMS[arm], X), rtol=1e-12)


@pytest.mark.parametrize("arm", ARMS)
def test_their_states_are_polynomials_of_the_covariance(arm: str) -> None:
    X = torch.from_numpy(PROMPTS.X)
    F = ablated(ARMS[arm], 3, DEPTH, ALPHA, BETA).states(X)[-1].detach().numpy()
    for found, x in zip(F, PROMPTS.X, strict=True):
        values, vectors = np.linalg.eigh(x @ x.T / x.shape[1])
        p = state(ARMS[arm], values, ALPHA, BETA, DEPTH)
        np.testing.assert_allclose(found, (vectors * p) @ vectors.T @ x, rtol=1e-11)


def test_the_polynomials_by_hand() -> None:
    s, a, b = sympy.symbols("s a b")
    assert sympy.expand(state(ARMS["full"], s, a, b, 2) - (2 * a + a * b * s)) == 0
    assert sympy.expand(state(ARMS["injected once"], s, a, b, 2) - a * (1 + b * s) ** 2) == 0
    assert sympy.expand(state(ARMS["self-attention"], s, a, b, 2) - (2 * a + b * s * a**3)) == 0
    assert sympy.expand(state(ARMS["both"], s, a, b, 1) - (a + b * s * a**3)) == 0
    with pytest.raises(InputError, match="depth"):
        state(ARMS["full"], s, a, b, 0)


def test_the_whole_model_is_lca() -> None:
    X = torch.from_numpy(PROMPTS.X)
    full = ablated(ARMS["full"], 3, DEPTH, ALPHA, BETA)
    assert torch.equal(full.states(X)[-1], LCA.two_parameter(3, DEPTH, ALPHA, BETA).states(X)[-1])


@pytest.mark.parametrize(
    "model",
    [
        ablated(ARMS["both"], 3, DEPTH, ALPHA, BETA),
        NormedLCA.two_parameter(3, DEPTH, ALPHA, BETA),
    ],
)
def test_the_short_slope_is_the_readout_of_unit_queries(model: Stack) -> None:
    X, y = (torch.from_numpy(v) for v in (PROMPTS.X, PROMPTS.y))
    torch.testing.assert_close(model.slope(X, y), Stack.slope(model, X, y))


def normed_loop(X: np.ndarray) -> np.ndarray:
    d, L = X.shape
    F = np.zeros((d, L))
    for _ in range(DEPTH):
        new = np.empty_like(F)
        for i in range(L):
            f = F[:, i]
            query = (f - f.mean()) / f.std() if np.any(f) else f
            read = sum(X[:, j] * (X[:, j] @ query) for j in range(L)) / L
            new[:, i] = f + BETA * read + ALPHA * X[:, i]
        F = new
    return F


def test_layer_norm_is_a_loop_over_tokens() -> None:
    model = NormedLCA.two_parameter(3, DEPTH, ALPHA, BETA)
    F = model.states(torch.from_numpy(PROMPTS.X))[-1].detach().numpy()
    for found, X in zip(F, PROMPTS.X, strict=True):
        np.testing.assert_allclose(found, normed_loop(X), rtol=1e-10)


def test_layer_norm_is_homogeneous_and_jumps_at_zero() -> None:
    X, y = (torch.from_numpy(v) for v in (PROMPTS.X, PROMPTS.y))

    def slope(alpha: float, beta: float) -> Any:
        return NormedLCA.two_parameter(3, DEPTH, alpha, beta).slope(X, y)

    torch.testing.assert_close(slope(3 * ALPHA, 3 * BETA), 3 * slope(ALPHA, BETA))
    torch.testing.assert_close(slope(-ALPHA, BETA), -slope(ALPHA, BETA))
    right, left = slope(1e-12, BETA), slope(-1e-12, BETA)
    assert float((right - left).detach().abs().max()) > 0.01


def test_layer_norm_of_constant_columns_is_zero() -> None:
    F = torch.tensor([[1.0, 2.0], [1.0, 4.0]])
    torch.testing.assert_close(layer_norm(F), torch.tensor([[0.0, -1.0], [0.0, 1.0]]))
