"""What needs no pretraining: kernel ridge on the support, and an oracle that knows support and link."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from theoryverify.errors import InputError
from theoryverify.exact.links import Link
from theoryverify.simulate.icl_prompts import Prompts
from theoryverify.simulate.in_context import Task

Floats = NDArray[np.float64]

_MEMORY = 2**22

# -- kernel ridge -------------------------------------------------------------------------------


_RIDGES = {
    1 / 4: (1e-3, 1e-1, 1.0),
    1: (1e-3, 1e-1, 1.0),
    4: (1e-6, 1e-3, 1e-1, 1.0),
    16: (1e-10, 1e-6, 1e-3, 1e-1),
    64: (1e-12, 1e-10, 1e-6),
    128: (1e-12, 1e-10, 1e-8),
}
"""λ by ``ℓ²/p``. A narrow kernel has no small eigenvalue, so that smaller λ change nothing. A wide one
has ``(p/ℓ²)³`` for cubics, which a large λ would leave out."""


def kernel_grid(p: int) -> list[tuple[float, float]]:
    """``(ℓ², λ)``, from near memory of single examples to near interpolation by polynomials."""
    return [(p * w, lam) for w, ridges in _RIDGES.items() for lam in ridges]


def kernel_errors(
    prompts: Prompts, support: Sequence[int], choice: tuple[float, float], sizes: Sequence[int]
) -> Floats:
    """Squared errors (n, len(sizes)) of Gaussian kernel ridge on the support, from k examples each.

    They are inf for a prompt whose ``K + λI`` is not positive definite in float64.

    One Cholesky factorisation of ``K + λI`` a prompt serves all k: with ``K + λI = LLᵀ`` and ``w = L⁻¹y``
    the prediction of y_{k+1} from k examples is ``Σ_{i<=k} L_{k+1,i} w_i``, since row k+1 of L is
    ``L_k⁻¹ k_{k+1}``.

    Parameters
    ----------
    prompts : Prompts
    support : sequence of int
        The coordinates it is given.
    choice : (float, float)
        ``(ℓ², λ)`` of ``exp(-|x-x'|²/2ℓ²)``; both positive.
    sizes : sequence of int
        In 0..N-1.

    Raises
    ------
    InputError
        For sizes out of range or a choice that is not positive.
    """
    width, ridge = choice
    if not (width > 0 and ridge > 0):
        raise InputError(f"ℓ² = {width} and λ = {ridge} must be positive")
    columns = _sizes(prompts, sizes)
    N = max(columns) + 1
    step = max(1, _MEMORY // N**2)
    found = []
    for start in range(0, len(prompts.X), step):
        x = prompts.X[start : start + step, :N, list(support)]
        y = prompts.y[start : start + step, :N]
        squares = (x**2).sum(-1)
        gaps = squares[:, :, None] + squares[:, None] - 2 * x @ x.transpose(0, 2, 1)
        K = np.exp(-np.maximum(gaps, 0) / (2 * width))
        K[:, np.arange(N), np.arange(N)] += ridge
        # With y as one more row, that row of the factor is (L⁻¹y)ᵀ, whatever the corner is.
        whole = np.zeros((len(x), N + 1, N + 1))
        whole[:, :N, :N] = K
        whole[:, N, :N] = y
        whole[:, N, N] = 1 + 2 * (y**2).sum(-1) / ridge  # more than yᵀ(K+λI)⁻¹y
        factor = _factors(whole)
        below = (np.tril(factor[:, :N, :N], -1) @ factor[:, N, :N, None])[..., 0]
        failed = np.isnan(factor[:, :1, 0])  # (n, 1)
        found.append(np.where(failed, np.inf, (below - y)[:, columns] ** 2))
    return np.concatenate(found)


def _factors(matrices: Floats) -> Floats:
    """Cholesky factors (n, m, m); NaN where there is none."""
    try:
        return np.asarray(np.linalg.cholesky(matrices), dtype=np.float64)
    except np.linalg.LinAlgError:
        found = np.full_like(matrices, np.nan)
        for i, matrix in enumerate(matrices):
            with suppress(np.linalg.LinAlgError):
                found[i] = np.linalg.cholesky(matrix)
        return found


def plain_mean(errors: Floats) -> Floats:
    """Over the first axis."""
    return np.asarray(errors.mean(axis=0))


def best_kernel(
    prompts: Prompts,
    support: Sequence[int],
    sizes: Sequence[int],
    *,
    measure: Callable[[Floats], Floats] = plain_mean,
) -> list[tuple[float, float]]:
    """For each size the choice of :func:`kernel_grid` with the least error on these prompts.

    On prompts of their own this is validation; on the test prompts it is an oracle that no learner has.

    Parameters
    ----------
    prompts, support, sizes
        As for :func:`kernel_errors`.
    measure : callable
        Of errors (n, k), over tasks: the one by which methods are compared.
    """
    grid = kernel_grid(len(support))
    errors = [measure(kernel_errors(prompts, support, choice, sizes)) for choice in grid]
    return [grid[int(i)] for i in np.argmin(errors, axis=0)]


def chosen_kernel_errors(
    prompts: Prompts,
    support: Sequence[int],
    choices: Sequence[tuple[float, float]],
    sizes: Sequence[int],
) -> Floats:
    """Errors (n, len(sizes)) with one choice for each size."""
    found = np.empty((len(prompts.X), len(sizes)))
    for choice in dict.fromkeys(choices):
        places = [i for i, other in enumerate(choices) if other == choice]
        found[:, places] = kernel_errors(prompts, support, choice, [sizes[i] for i in places])
    return found


# -- the oracle that knows support and link -----------------------------------------------------


def oracle_errors(
    prompts: Prompts,
    task: Task,
    sizes: Sequence[int],
    *,
    starts: int = 12,
    rounds: int = 20,
    rng: np.random.Generator | int = 0,
) -> Floats:
    """Errors (n, len(sizes)) of least squares over the unit sphere of the support, the link known.

    ``β̂ = argmin_{|β|=1} Σ_{i<=k} (y_i - g(⟨β,x_i⟩))²`` by Gauss and Newton's steps with a damping, from
    random starts; the prediction is ``g(⟨β̂,x_{k+1}⟩)``. The sum has other local minima, the more the
    larger r is. So a task gets ``starts`` new starts, up to ``rounds`` times, until the sum is as
    small as at the true β: ``kτ²``, to round-off. Sizes below r leave β undetermined: there the error
    may exceed that of predicting 0.
    """
    columns = _sizes(prompts, sizes)
    family = task.family()
    support = np.flatnonzero(np.abs(prompts.beta).max(axis=0) > 0)
    if len(support) != task.r:
        raise InputError("the oracle knows one support: 'per task' has another one for each task")
    X = prompts.X[:, :, support]
    generator = np.random.default_rng(rng)
    n = len(X)
    found = np.empty((n, len(columns)))
    for place, k in enumerate(columns):
        if k == 0:
            found[:, place] = prompts.y[:, 0] ** 2
            continue
        least, chosen = np.full(n, np.inf), np.zeros((n, task.r))
        open_ = np.arange(n)
        for _ in range(rounds):
            x, y = X[open_, :k], prompts.y[open_, :k]
            beta = generator.standard_normal((len(open_), starts, task.r))
            beta /= np.linalg.norm(beta, axis=2, keepdims=True)
            value, beta = _descended(family.g, x, y, beta)
            first = value.argmin(axis=1)
            lowest = value[np.arange(len(open_)), first]
            better = lowest < least[open_]
            at = open_[better]
            least[at] = lowest[better]
            chosen[at] = beta[better, first[better]]
            enough = k * float(family.noise) ** 2 + _ZERO * (y**2).sum(-1)
            open_ = open_[least[open_] > enough]
            if not len(open_):
                break
        z = (chosen * X[:, k]).sum(-1)
        found[:, place] = (family.g(z) - prompts.y[:, k]) ** 2
    return found


_ZERO = 1e-12
"""Of ``Σ y_i²``: what counts as round-off."""
_STEPS = 30


def _descended(g: Link, x: Floats, y: Floats, beta: Floats) -> tuple[Floats, Floats]:
    """Residuals (n, starts) and where they are: (n, starts, r), from these starts on."""
    n, starts, r = beta.shape
    h = 1e-5
    damping = np.full((n, starts, 1, 1), 0.1 * x.shape[1])
    value, best = np.full((n, starts), np.inf), beta
    for _ in range(_STEPS):
        z = beta @ x.transpose(0, 2, 1)  # (n, starts, k)
        loss = ((y[:, None] - g(z)) ** 2).sum(-1)
        better = loss < value
        best = np.where(better[..., None], beta, best)
        value = np.minimum(loss, value)
        damping = np.where(better[..., None, None], damping / 3, damping * 4)
        damping = np.clip(damping, 1e-8, 1e12)  # below r examples J is singular
        z = best @ x.transpose(0, 2, 1)
        gap = y[:, None] - g(z)
        slope = (g(z + h) - g(z - h)) / (2 * h)
        J = slope[..., None] * x[:, None]  # (n, starts, k, r)
        normal = J.transpose(0, 1, 3, 2) @ J + damping * np.eye(r)
        right = (J * gap[..., None]).sum(2)
        beta = best + np.linalg.solve(normal, right[..., None])[..., 0]
        beta /= np.linalg.norm(beta, axis=2, keepdims=True)
    return value, best


def _sizes(prompts: Prompts, sizes: Sequence[int]) -> list[int]:
    N = prompts.X.shape[1]
    for k in sizes:
        if isinstance(k, bool) or not isinstance(k, int) or not 0 <= k < N:
            raise InputError(f"context size {k!r} must be an integer in 0..{N - 1}")
    if not sizes:
        raise InputError("no context size is given")
    return list(sizes)
