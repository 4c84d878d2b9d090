"""Ridge regression by Cholesky: on the smaller side, and for all nested context lengths at once.

``argmin_u |Φu - y|²/n + λ|u|²`` is ``(ΦᵀΦ + nλI)⁻¹Φᵀy = Φᵀ(ΦΦᵀ + nλI)⁻¹y``: whichever matrix is
smaller. For a kernel matrix ``K + λI = LLᵀ`` the leading n x n block of L is the factor of the leading
block of K + λI, so predictions from the first n examples, for every n, are cumulative sums of
``(L⁻¹k_q)(L⁻¹y)``: one factorisation, not one a length.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from theoryverify.errors import InputError


def ridge(features: Tensor, targets: Tensor, penalty: float) -> Tensor:
    """``argmin_u |Φu - y|²/n + λ|u|²``.

    Parameters
    ----------
    features : Tensor (n, m)
    targets : Tensor (n,)
    penalty : float
        λ > 0.

    Returns
    -------
    Tensor (m,)

    Raises
    ------
    InputError
        For λ <= 0, other shapes, or entries that are not finite.
    """
    if features.ndim != 2 or targets.shape != features.shape[:1] or 0 in features.shape:
        raise InputError(
            f"expected features (n, m) and targets (n,); got {tuple(features.shape)} and "
            f"{tuple(targets.shape)}"
        )
    _check(penalty, features, targets)
    n, m = features.shape
    if m <= n:
        gram = features.mT @ features
        gram.diagonal().add_(n * penalty)
        return _solve(gram, features.mT @ targets)
    gram = features @ features.mT
    gram.diagonal().add_(n * penalty)
    return features.mT @ _solve(gram, targets)


def nested_ridge(
    kernel: Tensor, targets: Tensor, cross: Tensor, penalty: float, lengths: Sequence[int]
) -> Tensor:
    """Kernel ridge predictions from the first n examples, for each n of ``lengths``.

    Parameters
    ----------
    kernel : Tensor (..., N, N)
        Symmetric and positive semidefinite.
    targets : Tensor (..., N)
    cross : Tensor (..., N, Q)
        The kernel between examples and queries.
    penalty : float
        λ > 0, not scaled by n.
    lengths : sequence of int
        Each in 1..N.

    Returns
    -------
    Tensor (len(lengths), ..., Q)
        ``k_qᵀ(K_n + λI)⁻¹ y``.

    Raises
    ------
    InputError
        For λ <= 0, a length outside 1..N, or entries that are not finite.
    """
    N = kernel.shape[-1]
    for n in lengths:
        if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= N:
            raise InputError(f"length {n!r} must be an integer in 1..{N}")
    _check(penalty, kernel, targets)
    whole = kernel + penalty * torch.eye(N, dtype=kernel.dtype, device=kernel.device)
    lower = torch.linalg.cholesky(whole)
    both = torch.cat([targets.unsqueeze(-1), cross], dim=-1)
    solved = torch.linalg.solve_triangular(lower, both, upper=False)
    sums = (solved[..., :1] * solved[..., 1:]).cumsum(-2)
    return torch.stack([sums[..., n - 1, :] for n in lengths])


def _solve(gram: Tensor, right: Tensor) -> Tensor:
    return torch.cholesky_solve(right.unsqueeze(-1), torch.linalg.cholesky(gram)).squeeze(-1)


def _check(penalty: float, *tensors: Tensor) -> None:
    if not (math.isfinite(penalty) and penalty > 0):
        raise InputError(f"penalty = {penalty} must be positive and finite")
    if not all(bool(torch.isfinite(t).all()) for t in tensors):
        raise InputError("features and targets must be finite numbers")
