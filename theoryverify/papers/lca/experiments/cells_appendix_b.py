"""Appendix B's cells: an ablated stack is trained, measured, and its best two scalars are sought."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from theoryverify.errors import InputError
from theoryverify.exact.laws import Law
from theoryverify.models.ablations import ARMS, ablated, state
from theoryverify.papers.lca.experiments.cells_fig2 import summary
from theoryverify.simulate.sealed import JSON
from theoryverify.simulate.store import Arrays

Floats = npt.NDArray[np.float64]

_NODES = 48
_BLOCK = 4096


@dataclass(frozen=True)
class Recipe:
    """How an arm is trained, from ``(start, -0.1)``."""

    arm: str
    depth: int
    dim: int
    context: int
    batch: int
    steps: int
    rate: float

    def __post_init__(self) -> None:
        if self.arm not in ARMS:
            raise InputError(f"arm {self.arm!r} is unknown; choose one of {', '.join(ARMS)}")

    def json(self) -> dict[str, JSON]:
        return dict(vars(self))

    @property
    def start(self) -> float:
        """α_0: 0.1, and 0.3 where X enters only once."""
        return 0.1 if ARMS[self.arm].injection else 0.3


def trained(recipe: Recipe, law: Law, device: str, rng: np.random.Generator) -> Arrays:
    """``alpha`` and ``beta`` after Adam on fresh prompts (means of the last half), ``losses``."""
    from theoryverify.models.precision import require_device
    from theoryverify.simulate.training import train

    model = ablated(ARMS[recipe.arm], recipe.dim, recipe.depth, recipe.start, -0.1)
    run = train(
        model.to(require_device(device)),
        law,
        context=recipe.context,
        steps=recipe.steps,
        batch=recipe.batch,
        rate=recipe.rate,
        optimizer="adam",
        rng=rng,
    )
    alpha, beta = (float(run.average[f"weights.{name}"]) for name in ("alpha", "_beta"))
    return {"alpha": np.array(alpha), "beta": np.array(beta), "losses": run.losses}


def measured_literally(
    recipe: Recipe,
    weights: Arrays,
    law: Law,
    context: int,
    prompts: int,
    device: str,
    rng: np.random.Generator,
) -> Arrays:
    """Excess risk of the literal arm on fresh prompts: mean and 99% interval."""
    from theoryverify.simulate.monte_carlo import ExcessDraws, torch_slope

    model = ablated(ARMS[recipe.arm], recipe.dim, recipe.depth, *_scalars(weights))
    draws = ExcessDraws(
        torch_slope(model, device=device, context=context), law, recipe.dim, context
    )
    return summary(draws(prompts, rng))


def measured_in_law(
    recipe: Recipe,
    weights: Arrays,
    law: Law,
    context: int,
    prompts: int,
    rng: np.random.Generator,
) -> Arrays:
    """The same from Bartlett's factor, exactly in law for any L: ``ŵ = p_T(Σ̂) Xy/L``."""
    from theoryverify.simulate.exact_law import sample_factor

    alpha, beta = _scalars(weights)
    parts = []
    for begin in range(0, prompts, _BLOCK):
        z = law.sample(min(_BLOCK, prompts - begin), rng=rng)
        factor = sample_factor(z, recipe.dim, context, rng=rng)
        values, vectors = np.linalg.eigh(factor.covariance)
        inside = np.einsum("nij,ni->nj", vectors, factor.correlation)
        seen = state(ARMS[recipe.arm], values, alpha, beta, recipe.depth) * inside
        parts.append(factor.judged(np.einsum("nij,nj->ni", vectors, seen)).excess)
    return summary(np.concatenate(parts))


def _scalars(weights: Arrays) -> tuple[float, float]:
    return float(weights["alpha"]), float(weights["beta"])


# -- infinite context -----------------------------------------------------------------------------


def infinite_excess(arm: str, law: Law, depth: int, alpha: Any, beta: Any) -> Any:
    """``E[W(1 - Z p_T(Z))²]`` in float64, α and β numbers or arrays; ``inf`` where it overflows."""
    z, mass = _rule(law)
    alpha, beta = np.asarray(alpha)[..., None], np.asarray(beta)[..., None]
    with np.errstate(all="ignore"):
        residual = 1 - z * state(ARMS[arm], z, alpha, beta, depth)
        total = (mass * (z - 1) / z * residual**2).sum(axis=-1)
    return np.where(np.isfinite(total), total, np.inf)


def _rule(law: Law) -> tuple[Floats, Floats]:
    """Gauss and Legendre's rule for a uniform law: exact to degree 95."""
    from theoryverify.exact.densities import Uniform

    if not isinstance(law, Uniform):
        raise InputError(f"{law!r} is not a uniform law")
    x, w = np.polynomial.legendre.leggauss(_NODES)
    low, high = float(law.lower), float(law.upper)
    return (low + high) / 2 + (high - low) / 2 * x, w / 2


def best_scalars(
    arm: str, law: Law, depth: int, size: int, starts: int, rng: np.random.Generator | None = None
) -> Arrays:
    """The least excess at infinite context that a search over ``α > 0 > β`` finds.

    A logarithmic grid of ``size`` by ``size``, then Nelder and Mead's method from the ``starts``
    lowest of the points that are not above their neighbours: best points alone lie all in one valley,
    and there are many. An upper bound of the minimum, and no more. Nothing is random: ``rng`` is
    ignored.
    """
    from scipy.ndimage import minimum_filter
    from scipy.optimize import minimize

    alpha, beta = np.meshgrid(
        np.geomspace(0.005, 3, size), -np.geomspace(0.001, 20, size), indexing="ij"
    )
    level = infinite_excess(arm, law, depth, alpha, beta)
    low = np.flatnonzero(np.isfinite(level) & (level == minimum_filter(level, 3, mode="nearest")))
    logs = np.log(np.stack([alpha.ravel(), -beta.ravel()], axis=1))
    found = [
        minimize(
            lambda v: float(infinite_excess(arm, law, depth, np.exp(v[0]), -np.exp(v[1]))),
            logs[place],
            method="Nelder-Mead",
            options={"xatol": 1e-8, "fatol": 1e-16, "maxiter": 300},
        )
        for place in low[np.argsort(level.ravel()[low], kind="stable")][:starts]
    ]
    best = min(found, key=lambda run: float(run.fun))
    at = np.exp(best.x)
    return {"excess": np.array(best.fun), "alpha": np.array(at[0]), "beta": np.array(-at[1])}
