"""Untied layers with free ``W^S_t, W^V_t`` and ``W^K = W^Q = I``: scalars, diagonals, or matrices.

The less-restricted parametrisations of Section 7 of arXiv 2602.04872 (Figure 3), as weights of the
literal stack; and what the frozen readout sees of the stack, without its ``d x L`` states.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn

from theoryverify.errors import InputError
from theoryverify.models.lca import Layer, Weights

Kind = Literal["scalar", "diagonal", "full"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class UntiedWeights(Weights):
    """``W^S_t``, ``W^V_t`` free in each layer.

    Parameters
    ----------
    S, V : Tensor, shapes (T,), (T, d), or (T, d, d)
        Multiples of the identity, diagonals, or matrices; both of one shape.
    d : int
        The dimension; needed for scalars, checked otherwise.

    Raises
    ------
    InputError
        For shapes that differ or fit no parametrisation.
    """

    def __init__(self, S: Tensor, V: Tensor, d: int) -> None:
        if S.shape != V.shape or tuple(S.shape[1:]) not in ((), (d,), (d, d)):
            raise InputError(
                f"S and V of shapes {tuple(S.shape)}, {tuple(V.shape)} must both be (T,), "
                f"(T, {d}) or (T, {d}, {d})"
            )
        super().__init__(d, S.shape[0])
        self.S, self.V = nn.Parameter(S.clone()), nn.Parameter(V.clone())

    @property
    def kind(self) -> Kind:
        return KINDS[self.S.ndim - 1]

    @classmethod
    def around(
        cls,
        kind: str,
        alpha: np.ndarray,
        beta: np.ndarray,
        d: int,
        *,
        noise: float = 0.0,
        rng: np.random.Generator | int | None = None,
    ) -> UntiedWeights:
        """``α_t I`` and ``β_t I``, plus ``noise/√d`` times Gaussian entries where the kind has more
        than one entry a layer.

        Parameters
        ----------
        alpha, beta : ndarray, shape (T,)
        """
        if kind not in KINDS:
            raise InputError(f"kind {kind!r} is unknown; choose {', '.join(KINDS)}")
        generator = np.random.default_rng(rng)
        unit = {"scalar": np.ones(()), "diagonal": np.ones(d), "full": np.eye(d)}[kind]
        made = []
        for centre in (np.asarray(alpha, float), np.asarray(beta, float)):
            value = np.multiply.outer(centre, unit)
            if kind != "scalar":
                value = value + noise / d**0.5 * generator.standard_normal(value.shape)
            made.append(torch.from_numpy(value))
        return cls(made[0], made[1], d)

    def layer(self, t: int) -> Layer:
        identity = torch.eye(self.d, dtype=self.S.dtype, device=self.S.device)
        if self.kind == "scalar":
            return Layer(self.S[t] * identity, self.V[t] * identity, identity, identity)
        if self.kind == "diagonal":
            return Layer(torch.diag(self.S[t]), torch.diag(self.V[t]), identity, identity)
        return Layer(self.S[t], self.V[t], identity, identity)

    def traces(self) -> tuple[np.ndarray, np.ndarray]:
        """``α̂_t = tr W^S_t/d`` and ``β̂_t = tr W^V_t/d``, each (T,)."""
        return _traces(self.S), _traces(self.V)

    def slope(self, covariance: Tensor, correlation: Tensor) -> Tensor:
        """ŵ of linear cross-attention under the frozen readout, (n, d).

        ``ŵ_t = F_t y/L`` obeys ``ŵ_t = ŵ_{t-1} + W^V_t Σ̂ ŵ_{t-1} + W^S_t Xy/L``, ``ŵ_0 = 0``: (5.2)
        and (5.5) applied to the labels. So the prompt enters through two moments.

        Parameters
        ----------
        covariance : Tensor (n, d, d)
            ``Σ̂ = XXᵀ/L``.
        correlation : Tensor (n, d)
            ``Xy/L``.
        """
        w = _times(self.S[0], correlation)
        for t in range(1, self.depth):
            mixed = torch.einsum("nij,nj->ni", covariance, w)
            w = w + _times(self.V[t], mixed) + _times(self.S[t], correlation)
        return w

    def gains(self, covariance: Tensor) -> list[Tensor]:
        """``XF_tᵀ/L`` for t = 1..T, each (n, d, d): the transpose of ``G_t Σ̂`` with ``F_t = G_t X``."""
        G = torch.zeros_like(covariance)
        found = []
        for t in range(self.depth):
            W = self.layer(t)
            G = G + W.W_V @ covariance @ G + W.W_S
            found.append((G @ covariance).mT)
        return found


def _times(weight: Tensor, vectors: Tensor) -> Tensor:
    """A scalar, a diagonal or a matrix times each row of (n, d)."""
    return vectors @ weight.mT if weight.ndim == 2 else weight * vectors


def _traces(weight: Tensor) -> np.ndarray:
    values = weight.detach().cpu().double().numpy()
    if values.ndim == 3:
        return np.asarray(np.trace(values, axis1=1, axis2=2) / values.shape[1])
    return np.asarray(values if values.ndim == 1 else values.mean(axis=1))
