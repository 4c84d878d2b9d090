"""Batched literal models against a Python loop over prompts, and against a loop over tokens.

The first peer is what is usually written: the same Torch modules, one prompt at a time. The second is
the equations (5.2)-(5.5) token by token in NumPy. Agreement of all slopes is asserted first. One thread.
"""

from __future__ import annotations

import numpy as np
import torch
from timing import median_time, report

from theoryverify import Uniform
from theoryverify.models.lca import CA, LCA, Stack
from theoryverify.simulate.monte_carlo import torch_slope
from theoryverify.simulate.prompts import sample_prompts

PROMPTS, DIMENSION, CONTEXT, DEPTH = 256, 5, 128, 6
ALPHA = 0.2


def one_by_one(model: Stack, X: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.cat([model.slope(X[i : i + 1], y[i : i + 1]) for i in range(len(X))])


def token_by_token(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The linear stack's slope of one prompt."""
    d, L = X.shape
    F = np.zeros((d, L))
    for _ in range(DEPTH):
        new = np.empty_like(F)
        for i in range(L):
            attended = np.zeros(d)
            for j in range(L):
                attended -= ALPHA * X[:, j] * (X[:, j] @ F[:, i]) / L
            new[:, i] = F[:, i] + attended + ALPHA * X[:, i]
        F = new
    return F @ y / L


def main() -> None:
    torch.set_num_threads(1)
    prompts = sample_prompts(Uniform(2, 5), DIMENSION, CONTEXT, PROMPTS, zeta="one", rng=0)
    X, y = torch.from_numpy(prompts.X), torch.from_numpy(prompts.y)
    print(f"{PROMPTS} prompts, d = {DIMENSION}, L = {CONTEXT}, T = {DEPTH}, float64, one thread")
    for kind in (LCA, CA):
        model = kind.one_parameter(DIMENSION, DEPTH, ALPHA)
        slopes = torch_slope(model, context=CONTEXT)
        t_batch, batch = median_time(lambda s=slopes: s(prompts.X, prompts.y), runs=3)
        with torch.no_grad():
            t_loop, loop = median_time(lambda m=model: one_by_one(m, X, y), runs=3)
        assert np.allclose(batch, loop.numpy(), rtol=1e-10, atol=1e-12), kind
        report(f"{kind.__name__}: batch", t_batch, t_loop, "loop over prompts")
        if kind is LCA:
            t_tokens, slope = median_time(
                lambda: token_by_token(prompts.X[0], prompts.y[0]), runs=1
            )
            assert np.allclose(slope, batch[0], rtol=1e-10)
            report("LCA: batch, per prompt", t_batch / PROMPTS, t_tokens, "loop over tokens")


if __name__ == "__main__":
    main()
