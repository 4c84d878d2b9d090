"""The best slope that a finite context allows: a reference line below OLS and every LCA.

Let ζ = 1 and m have a uniform direction and ``|m|² = Z-1``, Z from a known law. The labels are then
``u`` itself, and ``x_i = u_i m + μ_i`` is a regression of x on u: ``h = Xu`` and ``|u|²`` are
sufficient, and the posterior of m has the density ``prior(m) exp(m·h - |m|²|u|²/2)``. At a given
``r = |m|`` it is von Mises-Fisher on the sphere with concentration ``κ = r|h|``, so with
``A(κ) = I_{d/2}(κ)/I_{d/2-1}(κ)`` only a quadrature over Z is left:

    E[m | context] = ĥ E[r A(κ)],   E[(m·ĥ)² | context] = E[r²(1 - (d-1)A(κ)/κ)],
    posterior of Z ∝ prior · exp(-r²|u|²/2) κ^{1-d/2} I_{d/2-1}(κ).

Among slopes that depend on the context, ``E[(ŵ-w)ᵀΣ_x(ŵ-w)]`` is least at
``ŵ = (I + E[mmᵀ|context])⁻¹ E[m|context]`` (as ``Σ_x w = m``), which lies along ĥ. A learner who
does not know ζ can only do worse. SciPy is needed for the Bessel functions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.balls import precision
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Discrete, Law
from theoryverify.exact.rationals import positive_integer
from theoryverify.papers.lca import assumptions

Floats = NDArray[np.float64]

MAX_DIM, MAX_CONTEXT = 1000, 10**6
_BLOCK = 256
_NODES_A_WIDTH = 5


@dataclass(frozen=True)
class BayesReference:
    """Mean excess risks over the same prompts, in units of ``ζ²``, with standard errors.

    ``bayes`` is the best slope given the context, ``ols`` the least squares (infinite for
    ``L <= d + 1``, then exact: ``E[1/Z] d/(L-d-1)`` otherwise, no sampling).
    """

    bayes: float
    bayes_error: float
    ols: float
    prompts: int


def bayes_reference(
    law: Law,
    *,
    dim: int,
    context: int,
    prompts: int,
    rng: np.random.Generator | int | None = None,
) -> BayesReference:
    """The excess risk of the best slope at finite context, averaged over prompts.

    Parameters
    ----------
    law : Law
        Of Z, meeting Assumption 6.1; the direction of m is uniform.
    dim, context : int
        d up to 1000, L up to 10^6.
    prompts : int
        Up to 10^6.
    rng : Generator, int or None

    Raises
    ------
    InputError
        For sizes out of range, or without SciPy.
    UndecidedError
        If a Bessel function leaves float64.
    """
    law = assumptions.require(law)
    dim = positive_integer(dim, "dim", most=MAX_DIM)
    context = positive_integer(context, "context", most=MAX_CONTEXT)
    prompts = positive_integer(prompts, "prompts", least=2, most=10**6)
    generator = np.random.default_rng(rng)
    nodes, masses = _prior_rule(law, context)
    parts = []
    for start in range(0, prompts, _BLOCK):
        z = law.sample(min(_BLOCK, prompts - start), rng=generator)
        square_u = 2 * generator.standard_gamma(context / 2, size=z.size)
        # h = |u|² m + |u| g: its part along m, and its length across.
        along = square_u * np.sqrt(z - 1) + np.sqrt(square_u) * generator.standard_normal(z.size)
        across = np.sqrt(square_u * 2 * generator.standard_gamma((dim - 1) / 2, size=z.size))
        size = np.hypot(along, across)
        length = best_slope(nodes, masses, dim, square_u, size)
        toward = length * along / size - np.sqrt(z - 1) / z  # (ŵ-w)·m̂
        parts.append(z * toward**2 + (length * across / size) ** 2)
    excess = np.concatenate(parts)
    with precision(64):
        bayes_risk = float(law.expect(1 / Z).mid())
    ols = bayes_risk * dim / (context - dim - 1) if context > dim + 1 else math.inf
    error = float(excess.std(ddof=1)) / math.sqrt(prompts)
    return BayesReference(float(excess.mean()), error, ols, prompts)


def best_slope(nodes: Floats, masses: Floats, dim: int, square_u: Floats, size: Floats) -> Floats:
    """The length of the best slope along ĥ.

    Parameters
    ----------
    nodes, masses : ndarray, shape (k,)
        A rule for the law of Z.
    dim : int
    square_u, size : ndarray, shape (n,)
        ``|u|²`` and ``|h|``.
    """
    bessel = _bessel()
    order = dim / 2 - 1
    r = np.sqrt(nodes - 1)[:, None]
    kappa = np.maximum(r * size, 1e-12)
    low, high = bessel(order, kappa), bessel(order + 1, kappa)  # times e^{-κ}
    with np.errstate(divide="ignore"):
        log_weight = np.log(masses)[:, None] - r**2 * square_u / 2 + kappa
        log_weight += np.log(low) - order * np.log(kappa)
    log_weight -= np.max(log_weight, axis=0)
    weight = np.exp(log_weight)
    if not np.all(np.isfinite(weight)):
        raise UndecidedError(f"a Bessel function of order {order} left float64")
    weight /= weight.sum(axis=0)
    ratio = np.divide(high, low, out=np.zeros_like(low), where=low > 0)
    mean = np.sum(weight * r * ratio, axis=0)
    along = np.sum(weight * r**2 * (1 - (dim - 1) * ratio / kappa), axis=0)
    return np.asarray(mean / (1 + along))


def _prior_rule(law: Law, context: int) -> tuple[Floats, Floats]:
    """Cells much narrower than the posterior (``2r/√L``), each as its mass at its mean."""
    if isinstance(law, Discrete):
        return (
            np.array([float(z) for z in law.atoms]),
            np.array([float(p) for p in law.atoms.values()]),
        )
    width = 2 * math.sqrt(float(law.lower) - 1 + 1 / context) / math.sqrt(context)
    count = min(max(math.ceil(_NODES_A_WIDTH * float(law.upper - law.lower) / width), 24), 2000)
    step = (law.upper - law.lower) / count
    masses, means = [], []
    with precision(64):
        for k in range(count):
            cell = (None if k == 0 else law.lower + k * step, law.lower + (k + 1) * step)
            masses.append(float(law.expect(sympy.Integer(1), on=cell).mid()))
            means.append(float(law.expect(Z, on=cell).mid()))
    mass = np.array(masses)
    kept = mass > 0
    return np.array(means)[kept] / mass[kept], mass[kept] / mass[kept].sum()


def _bessel() -> Any:
    try:
        from scipy.special import ive
    except ImportError as error:
        raise InputError(
            "the finite-context Bayes rule needs SciPy: pip install 'theoryverify[simulate]'"
        ) from error
    return ive
