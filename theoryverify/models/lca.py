"""Multi-layer cross-attention: softmax CA_T, (5.1)-(5.4), and linear LCA_T, (5.5).

The context is kept as it is in the paper, ``d x L`` with tokens as columns. Keys and values come
from the raw ``X`` in every layer, queries from the state ``F``; the query token enters only in the
readout, so the states do not depend on it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from theoryverify.errors import InputError
from theoryverify.models.attention import LSA, embed


class Layer(NamedTuple):
    """The matrices of one layer, each (d, d)."""

    W_S: Tensor
    W_V: Tensor
    W_K: Tensor
    W_Q: Tensor


class Weights(nn.Module, ABC):
    """The weights ``γ`` of a stack: ``depth`` layers in dimension ``d``."""

    def __init__(self, d: int, depth: int) -> None:
        super().__init__()
        for name, value in (("dimension", d), ("depth", depth)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(f"{name} = {value!r} must be an integer at least 1")
        self.d, self.depth = d, depth

    @abstractmethod
    def layer(self, t: int) -> Layer:
        """The matrices that make ``F_{t+1}`` from ``F_t``, ``t = 0..T-1``."""


class GeneralWeights(Weights):
    """Free matrices: ``W_S, W_V, W_K, W_Q`` of shape (T, d, d), all parameters."""

    def __init__(self, W_S: Tensor, W_V: Tensor, W_K: Tensor, W_Q: Tensor) -> None:
        shapes = {tuple(w.shape) for w in (W_S, W_V, W_K, W_Q)}
        if len(shapes) != 1 or W_S.ndim != 3 or W_S.shape[1] != W_S.shape[2]:
            raise InputError(f"the weights must all be of shape (T, d, d); got {shapes}")
        super().__init__(W_S.shape[1], W_S.shape[0])
        self.W_S, self.W_V, self.W_K, self.W_Q = (
            nn.Parameter(w.clone()) for w in (W_S, W_V, W_K, W_Q)
        )

    @classmethod
    def random(
        cls,
        d: int,
        depth: int,
        *,
        generator: torch.Generator,
        scale: float = 1.0,
        dtype: torch.dtype = torch.float64,
    ) -> GeneralWeights:
        """Gaussian weights of standard deviation ``scale/√d``."""
        size = (4, depth, d, d)
        return cls(*(torch.randn(size, generator=generator, dtype=dtype) * scale / d**0.5))

    def layer(self, t: int) -> Layer:
        return Layer(self.W_S[t], self.W_V[t], self.W_K[t], self.W_Q[t])


class ScalarWeights(Weights):
    """Section 5's simplification ``W^K = W^Q = I``, ``W^S = αI``, ``W^V = βI``.

    One parameter where ``β = -α`` is tied, two where it is not; the same in all layers.

    Parameters
    ----------
    alpha, beta : float
        ``beta=None`` is the one-parameter model.
    """

    def __init__(
        self,
        d: int,
        depth: int,
        alpha: float,
        beta: float | None = None,
        *,
        dtype: torch.dtype = torch.float64,
    ) -> None:
        super().__init__(d, depth)
        self.alpha = nn.Parameter(torch.tensor(alpha, dtype=dtype))
        self._beta = None if beta is None else nn.Parameter(torch.tensor(beta, dtype=dtype))

    @property
    def beta(self) -> Tensor:
        return -self.alpha if self._beta is None else self._beta

    def layer(self, t: int) -> Layer:
        identity = torch.eye(self.d, dtype=self.alpha.dtype, device=self.alpha.device)
        return Layer(self.alpha * identity, self.beta * identity, identity, identity)


class Stack(nn.Module, ABC):
    """``F_0 = 0``, ``F_t = F_{t-1} + A_{t-1} + S_{t-1}`` (5.2), with the readout (5.1).

    Parameters
    ----------
    weights : Weights
    readout : LSA, optional
        Default: the frozen one, (E.1).
    """

    def __init__(self, weights: Weights, readout: LSA | None = None) -> None:
        super().__init__()
        self.weights = weights
        dtype = next(weights.parameters()).dtype
        self.readout = readout or LSA.readout(weights.d, dtype=dtype)

    @classmethod
    def one_parameter(
        cls, d: int, depth: int, alpha: float, *, dtype: torch.dtype = torch.float64
    ) -> Stack:
        """``W^S = -W^V = αI``."""
        return cls(ScalarWeights(d, depth, alpha, dtype=dtype))

    @classmethod
    def two_parameter(
        cls, d: int, depth: int, alpha: float, beta: float, *, dtype: torch.dtype = torch.float64
    ) -> Stack:
        """``W^S = αI``, ``W^V = βI``."""
        return cls(ScalarWeights(d, depth, alpha, beta, dtype=dtype))

    @abstractmethod
    def attention(self, X: Tensor, F: Tensor, layer: Layer) -> Tensor:
        """``A_{t-1}``, (n, d, L)."""

    def states(self, X: Tensor) -> list[Tensor]:
        """``F_0, ..., F_T``, each (n, d, L), from X (n, d, L)."""
        if X.ndim != 3 or X.shape[1] != self.weights.d or X.shape[2] < 1:
            raise InputError(
                f"expected X of shape (n, {self.weights.d}, L), L >= 1; got {tuple(X.shape)}"
            )
        F = torch.zeros_like(X)
        states = [F]
        for t in range(self.weights.depth):
            layer = self.weights.layer(t)
            S = layer.W_S @ X
            F = F + self.attention(X, F, layer) + S  # (5.2)
            states.append(F)
        return states

    def forward(self, X: Tensor, y: Tensor, x_q: Tensor) -> Tensor:
        """(5.1): ``ŷ_q = LSA(E_F; θ)_{d+1,L+1}``. X (n, d, L), y (n, L), x_q (n, d) to (n,)."""
        return self.readout.predict(embed(self.states(X)[-1], y, x_q))

    def slope(self, X: Tensor, y: Tensor) -> Tensor:
        """ŵ with ``ŷ_q = ⟨ŵ, x_q⟩`` for every query: (n, d).

        With the frozen readout the prediction is linear in the query, so d unit queries say all;
        the states are computed once.
        """
        F, (n, d, _) = self.states(X)[-1], X.shape
        units = torch.eye(d, dtype=X.dtype, device=X.device)
        columns = [self.readout.predict(embed(F, y, unit.expand(n, d))) for unit in units]
        return torch.stack(columns, dim=1)


class CA(Stack):
    """Softmax cross-attention CA_T."""

    def attention(self, X: Tensor, F: Tensor, layer: Layer) -> Tensor:
        V, K, Q = layer.W_V @ X, layer.W_K @ X, layer.W_Q @ F  # (5.4)
        return V @ torch.softmax(K.mT @ Q, dim=-2)  # (5.3), column by column: over keys


class LCA(Stack):
    """Linear cross-attention LCA_T."""

    def attention(self, X: Tensor, F: Tensor, layer: Layer) -> Tensor:
        L = X.shape[-1]
        return layer.W_V @ (X @ X.mT) @ layer.W_K.mT @ layer.W_Q @ F / L  # (5.5)
