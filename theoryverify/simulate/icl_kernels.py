"""In-context learners that are not pretrained: kernel ridge on the d or the r coordinates, degree 2.

They see one prompt at a time. All nested context lengths share one Cholesky factorisation
(:func:`theoryverify.simulate.ridge.nested_ridge`). Bandwidth and ridge are chosen on tasks of their own,
at the longest context.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from theoryverify.errors import InputError
from theoryverify.simulate.icl_prompts import Floats, Prompts
from theoryverify.simulate.ridge import nested_ridge

Kernel = Callable[[Tensor, Tensor], Tensor]
"""From x (N, p) and x' (M, p) to (N, M)."""


def gaussian(squared_width: float) -> Kernel:
    """``exp(-|x-x'|²/(2ℓ²))``."""
    if not 0 < squared_width < float("inf"):
        raise InputError(f"ℓ² = {squared_width} must be positive and finite")

    def kernel(x: Tensor, other: Tensor) -> Tensor:
        squares = (x**2).sum(-1)[:, None] + (other**2).sum(-1) - 2 * x @ other.mT
        return torch.exp(-squares.clamp(min=0) / (2 * squared_width))

    return kernel


def degree_two(x: Tensor, other: Tensor) -> Tensor:
    """``φ(x)ᵀφ(x')`` for the embedding of degree 2: ``1 + t + (t² - |x|² - |x'|² + p)/2``, t = ⟨x,x'⟩."""
    inner = x @ other.mT
    lengths = (x**2).sum(-1)[:, None] + (other**2).sum(-1)
    return 1 + inner + (inner**2 - lengths + x.shape[-1]) / 2


@dataclass(frozen=True)
class KernelRidge:
    """Kernel ridge regression in context.

    Attributes
    ----------
    kernel : callable
    penalty : float
        λ, not scaled by the number of examples.
    support : sequence of int or None
        The coordinates it sees; None: all.
    """

    kernel: Kernel
    penalty: float
    support: tuple[int, ...] | None = None

    def predict(self, prompts: Prompts, lengths: Sequence[int]) -> Floats:
        """Predictions (len(lengths), n, Q) from the first examples of each context.

        Raises
        ------
        InputError
            For a length outside 1..N.
        """
        found = []
        keep = slice(None) if self.support is None else list(self.support)
        longest = max(lengths)
        if longest > prompts.X.shape[1]:
            raise InputError(f"length {longest} exceeds the context of {prompts.X.shape[1]}")
        for X, y, x_q in zip(prompts.X, prompts.y, prompts.x_q, strict=True):
            x, queries = (torch.from_numpy(a[:, keep].copy()) for a in (X[:longest], x_q))
            found.append(
                nested_ridge(
                    self.kernel(x, x),
                    torch.from_numpy(y[:longest].copy()),
                    self.kernel(x, queries),
                    self.penalty,
                    lengths,
                ).numpy()
            )
        return np.stack(found, axis=1)


PENALTIES = (1e-3, 1e-1, 1.0, 10.0)
WIDTHS = (1.0, 3.0)
"""ℓ² in units of the number of coordinates."""


def tuned_gaussian(
    prompts: Prompts, support: Sequence[int] | None = None, *, length: int | None = None
) -> KernelRidge:
    """The Gaussian kernel of the width and ridge that predict these prompts best."""
    seen = None if support is None else tuple(support)
    p = prompts.X.shape[2] if seen is None else len(seen)
    choices = [KernelRidge(gaussian(w * p), lam, seen) for w in WIDTHS for lam in PENALTIES]
    return _best(choices, prompts, length)


def tuned_degree_two(prompts: Prompts, *, length: int | None = None) -> KernelRidge:
    """Ridge on the features of degree 2, its λ chosen on these prompts."""
    choices = [KernelRidge(degree_two, lam) for lam in (*PENALTIES, 100.0)]
    return _best(choices, prompts, length)


def _best(choices: list[KernelRidge], prompts: Prompts, length: int | None) -> KernelRidge:
    at = [prompts.X.shape[1] if length is None else length]
    errors = [float(((c.predict(prompts, at)[0] - prompts.y_q) ** 2).mean()) for c in choices]
    return choices[int(np.argmin(errors))]
