"""Stochastic gradient descent of untied stacks on fresh prompts at any context length.

The stack sees a prompt through ``Σ̂`` and ``Xy/L`` alone, so these are drawn, exactly in law
(:func:`theoryverify.simulate.exact_law.sample_factor`), and turned by a random reflection, since
diagonal weights know directions. The query is averaged out: the loss of a prompt is
``(ŵ-w)ᵀΣ_x(ŵ-w)``, the conditional mean of ``(y_q-ŷ_q)²`` less the Bayes risk, so its gradient has
the mean of the sampled loss's and less noise. ζ = 1: the loss is proportional to ``ζ²``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from theoryverify.errors import InputError
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import positive_integer
from theoryverify.simulate.exact_law import sample_factor

if TYPE_CHECKING:
    from torch import Tensor

    from theoryverify.models.untied import UntiedWeights
    from theoryverify.simulate.loop import Run

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Moments:
    """What linear cross-attention sees of n prompts with ζ = 1.

    Attributes
    ----------
    covariance : ndarray (n, d, d)
        ``Σ̂ = XXᵀ/L``.
    correlation : ndarray (n, d)
        ``Xy/L``.
    m : ndarray (n, d)
    """

    covariance: Floats
    correlation: Floats
    m: Floats


def sample_moments(
    law: Law, d: int, L: int, n: int, *, rng: np.random.Generator | int | None = None
) -> Moments:
    """Draw them for isotropic m with ``1+|m|² ~ law``, exact in law for any L.

    The factor K of ``Σ̂ = KKᵀ/L`` comes with m along the first axis. Given m, what is left of its law
    is invariant under rotations that fix m, so the reflection that takes the first axis to a uniform
    direction makes the law isotropic.
    """
    generator = np.random.default_rng(rng)
    z = law.sample(positive_integer(n, "n"), rng=generator)
    factor = sample_factor(z, d, L, rng=generator)
    mirror = generator.standard_normal((n, d))
    mirror /= np.linalg.norm(mirror, axis=1, keepdims=True)
    turned = mirror.copy()
    turned[:, 0] -= 1  # H = I - 2vvᵀ/|v|² with v = mirror - e_0 takes e_0 to mirror
    square = (turned**2).sum(axis=1)
    square[square == 0] = 1

    def reflect(rows: Floats) -> Floats:
        shares = np.einsum("nd,ndk->nk", turned, rows) * (2 / square)[:, None]
        return np.asarray(rows - turned[:, :, None] * shares[:, None, :])

    K = reflect(factor.matrix)
    return Moments(
        K @ K.transpose(0, 2, 1) / L,
        K[:, :, 0] * (factor.size_u / L)[:, None],
        np.sqrt(z - 1)[:, None] * mirror,
    )


def train_untied(
    weights: UntiedWeights,
    law: Law,
    *,
    context: int,
    steps: int,
    batch: int,
    rate: float,
    optimizer: Literal["sgd", "adam"] = "sgd",
    noted: int = 20,
    rng: np.random.Generator | int | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Run:
    """Plain gradient descent, or Adam, on fresh prompts; the weights are changed.

    It runs on :func:`theoryverify.simulate.loop.fit`. One number is drawn from ``rng``; the prompts
    of a step are a function of it and of the step.

    Parameters
    ----------
    weights : UntiedWeights
        On any device.
    context, steps, batch : int
        L, the number of steps, prompts a step.
    rate : float
        Step size for the *traces*. The gradient in ``W = αI`` is ``∂ℓ/∂α`` spread over the diagonal,
        ``∂ℓ/∂W = (∂ℓ/∂α) I/d``, so the step for diagonals and matrices is ``d`` times the rate and
        the traces of all three kinds move alike: ``rate · steps`` is the time of the gradient flow.
        Adam, which does not see the size of a gradient, takes the rate as it is.
    optimizer : {"sgd", "adam"}
    noted : int
        About how often the traces are noted.
    folder : path, optional
        For checkpoints.

    Returns
    -------
    Run
        ``losses`` are mean excess risks; ``observed`` holds the traces ``alpha`` and ``beta``, each
        (k, T).

    Raises
    ------
    InputError
        For sizes below 1 or a rate that is not positive.
    TrainingDiverged
        A ``FloatingPointError``: the loss or a weight is not finite. A diverged run is no result.
    """
    from theoryverify.simulate.loop import fit
    from theoryverify.simulate.optimizer import Optimizer

    sizes = {"steps": steps, "batch": batch, "context": context, "noted": noted}
    for name, value in sizes.items():
        positive_integer(value, name)
    if optimizer not in ("sgd", "adam"):
        raise InputError(f"optimizer {optimizer!r} is unknown; choose 'sgd' or 'adam'")
    settings = Optimizer(optimizer, rate, clip=None)  # refuses a bad rate by the caller's number
    if optimizer == "sgd" and weights.kind != "scalar":
        settings = replace(settings, rate=rate * weights.d)

    def drawn(_: int, generator: np.random.Generator) -> tuple[Floats, Floats, Floats]:
        found = sample_moments(law, weights.d, context, batch, rng=generator)
        return found.covariance, found.correlation, found.m

    def traces(_: int) -> dict[str, Floats]:
        alpha, beta = weights.traces()
        return {"alpha": alpha, "beta": beta}

    return fit(
        weights,
        drawn,
        mean_excess,
        steps=steps,
        optimizer=settings,
        seed=int(np.random.default_rng(rng).integers(2**62)),
        observe=traces,
        observe_every=max(1, steps // noted),
        configuration={"law": repr(law), "d": weights.d, "context": context, "batch": batch},
        folder=folder,
    )


def mean_excess(
    weights: UntiedWeights, covariance: Tensor, correlation: Tensor, m: Tensor
) -> Tensor:
    """The mean of ``(ŵ-w)ᵀ(I+mmᵀ)(ŵ-w)``, ``w = m/(1+|m|²)``, as a scalar that has a gradient."""
    gap = weights.slope(covariance, correlation) - m / (1 + (m**2).sum(1, keepdim=True))
    return ((gap**2).sum(1) + (gap * m).sum(1) ** 2).mean()
