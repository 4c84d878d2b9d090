"""Untied weights: the slope and the gains are those of the literal stack, on literal prompts."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from theoryverify.errors import InputError  # noqa: E402
from theoryverify.exact.densities import Uniform  # noqa: E402
from theoryverify.models.lca import LCA, ScalarWeights  # noqa: E402
from theoryverify.models.untied import KINDS, UntiedWeights  # noqa: E402
from theoryverify.simulate.prompts import sample_prompts  # noqa: E402

D, T, L, N = 4, 3, 9, 6


def weights_of(kind: str) -> UntiedWeights:
    rng = np.random.default_rng(3)
    alpha, beta = rng.normal(0.3, 0.1, T), rng.normal(-0.2, 0.1, T)
    return UntiedWeights.around(kind, alpha, beta, D, noise=0.4, rng=rng)


def prompts_of():
    drawn = sample_prompts(Uniform(2, 5), D, L, N, rng=5)
    return torch.from_numpy(drawn.X), torch.from_numpy(drawn.y)


@pytest.mark.parametrize("kind", KINDS)
def test_slope_and_gains_are_those_of_the_literal_stack(kind: str) -> None:
    weights = weights_of(kind)
    assert weights.kind == kind
    X, y = prompts_of()
    covariance, correlation = X @ X.mT / L, (X @ y[:, :, None])[:, :, 0] / L
    literal = LCA(weights)
    with torch.no_grad():
        assert torch.allclose(weights.slope(covariance, correlation), literal.slope(X, y))
        states = literal.states(X)
        for gain, F in zip(weights.gains(covariance), states[1:], strict=True):
            assert torch.allclose(gain, X @ F.mT / L)
        wrong = weights.slope(covariance, 1.01 * correlation)
        assert not torch.allclose(wrong, literal.slope(X, y), rtol=1e-3)


def test_scalars_that_are_equal_in_all_layers_are_the_tied_stack() -> None:
    X, y = prompts_of()
    tied = LCA(ScalarWeights(D, T, 0.3, -0.2))
    for kind in KINDS:
        untied = LCA(UntiedWeights.around(kind, np.full(T, 0.3), np.full(T, -0.2), D))
        with torch.no_grad():
            assert torch.allclose(untied.slope(X, y), tied.slope(X, y))


@pytest.mark.parametrize("kind", KINDS)
def test_traces(kind: str) -> None:
    alpha, beta = np.array([0.1, 0.2, 0.4]), np.array([-0.3, -0.1, 0.2])
    weights = UntiedWeights.around(kind, alpha, beta, D)
    for found, wanted in zip(weights.traces(), (alpha, beta), strict=True):
        assert found == pytest.approx(wanted, abs=1e-15)


def test_bad_input() -> None:
    with pytest.raises(InputError, match="'tied' is unknown; choose scalar, diagonal, full"):
        UntiedWeights.around("tied", np.ones(T), np.ones(T), D)
    ones = torch.ones(T, D + 1)
    with pytest.raises(InputError, match=r"\(3, 5\)"):
        UntiedWeights(ones, ones, D)
    with pytest.raises(InputError, match="must both be"):
        UntiedWeights(torch.ones(T), torch.ones(T, D), D)
