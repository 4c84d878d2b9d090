"""One layer of linear self-attention on prompts of any length: only its Gram matrix is drawn.

(4.2) reads the context ``z_i = (x_i; y_i)`` through ``(1/L) Σ z_i z_iᵀ`` alone, and adds the query's own
token. With Bartlett's factor (:mod:`theoryverify.simulate.exact_law`) that matrix costs about d²/2
random numbers for any L, exactly in law.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import positive_integer
from theoryverify.simulate.exact_law import sample_factor
from theoryverify.simulate.prompts import law_of_Z, sample_m

if TYPE_CHECKING:
    from theoryverify.models.attention import LSA, SA

Floats = NDArray[np.float64]


def sample_tasks(law: Law, d: int, n: int, *, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """``m`` (n, d) with an isotropic direction and ``1+|m|² ~ law``, and ``ζ ~ N(0,1)`` (n,)."""
    return sample_m(law, d, n, rng=rng), rng.standard_normal(n)


def sample_gram(m: Floats, zeta: Floats, context: int, *, rng: np.random.Generator) -> Floats:
    """``(1/L) Σ_{i<=L} z_i z_iᵀ``, ``z = (x; y)``, of one prompt a task: (n, d+1, d+1).

    Parameters
    ----------
    m : (n, d), zeta : (n,)
        The tasks.
    context : int
        L, up to 10^15.
    """
    n, d = m.shape
    size = np.linalg.norm(m, axis=1)
    factor = sample_factor(1 + size**2, d, context, rng=rng)
    # The factor has m along the first axis; a reflection takes that axis to m, and the noise of x is
    # isotropic.
    axis = np.zeros(d)
    axis[0] = 1
    normal = axis - m / np.maximum(size, 1e-300)[:, None]
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    turn = np.eye(d) - 2 * normal[:, :, None] * normal[:, None, :]
    gram = np.empty((n, d + 1, d + 1))
    gram[:, :d, :d] = turn @ factor.covariance @ turn
    gram[:, :d, d] = zeta[:, None] * (turn @ factor.correlation[:, :, None])[:, :, 0]
    gram[:, d, :d] = gram[:, :d, d]
    gram[:, d, d] = zeta**2 * factor.size_u**2 / context
    return gram


def lsa_errors(layer: LSA, law: Law, context: int, n: int, *, rng: np.random.Generator) -> Floats:
    """``ŷ_q - ⟨w, x_q⟩`` of (4.2) on n fresh prompts, exactly in law: (n,).

    Parameters
    ----------
    layer : LSA
    law : Law
        Of Z = 1+|m|²; directions isotropic, ζ ~ N(0,1).
    context, n : int
        L, up to 10^15, and the number of prompts.
    """
    law, n = law_of_Z(law), positive_integer(n, "n")
    out, inner = (_array(w) for w in (layer.W_PV, layer.W_KQ))
    d = len(out) - 1
    m, zeta = sample_tasks(law, d, n, rng=rng)
    gram = sample_gram(m, zeta, context, rng=rng)
    x_q = rng.standard_normal((n, 1)) * m + rng.standard_normal((n, d))
    query = np.concatenate([x_q, np.zeros((n, 1))], axis=1)
    seen = query @ inner.T  # W^KQ e_q
    # Eᵀ runs over the query's token as well.
    read = (gram @ seen[:, :, None])[:, :, 0] + query * (query * seen).sum(1)[:, None] / context
    target = zeta / (1 + (m**2).sum(1)) * (m * x_q).sum(1)
    return np.asarray(read @ out[-1] - target)


def limit_excess(layer: LSA | SA, m: Floats, zeta: Floats) -> Floats:
    """The excess risk of a layer at infinite context, task by task, the query averaged out: (n,).

    Proposition D.2 and D.4: attention then reads ``Σ_h P_h Σ K_h e_q`` with ``Σ`` the covariance of
    ``(x; y)``, for softmax by Gaussian tilting; the prediction is affine in the query.
    """
    from theoryverify.models.attention import SA

    n, d = m.shape
    sigma = np.empty((n, d + 1, d + 1))
    sigma[:, :d, :d] = np.eye(d) + m[:, :, None] * m[:, None, :]
    sigma[:, :d, d] = zeta[:, None] * m
    sigma[:, d, :d] = sigma[:, :d, d]
    sigma[:, d, d] = zeta**2
    if isinstance(layer, SA):
        W_Q, W_K, W_V, W_P, r = (
            _array(w) for w in (layer.W_Q, layer.W_K, layer.W_V, layer.W_P, layer.r)
        )
        slope = np.tile(r[:d], (n, 1))
        constant = float(layer.r_0.detach())
        for h in range(len(W_Q)):
            slope = slope + (r @ W_P[h] @ W_V[h]) @ sigma @ (W_K[h].T @ W_Q[h])[:, :d]
    else:
        slope = _array(layer.W_PV)[-1] @ sigma @ _array(layer.W_KQ)[:, :d]
        constant = 0.0
    gap = slope - (zeta / (1 + (m**2).sum(1)))[:, None] * m
    return np.asarray((gap**2).sum(1) + (gap * m).sum(1) ** 2 + constant**2)


def _array(weight: object) -> Floats:
    return np.asarray(weight.detach().cpu().double().numpy())  # type: ignore[attr-defined]
