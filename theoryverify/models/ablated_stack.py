"""The literal stack of :mod:`theoryverify.models.ablations`, in Torch."""

from __future__ import annotations

import torch
from torch import Tensor

from theoryverify.models.ablations import Parts
from theoryverify.models.lca import LCA, Layer, Weights


class AblatedLCA(LCA):
    """LCA_T without injection after the first layer, or with self-attention, or both."""

    def __init__(self, weights: Weights, parts: Parts) -> None:
        super().__init__(weights)
        self.parts = parts

    def attention(self, X: Tensor, F: Tensor, layer: Layer) -> Tensor:
        return super().attention(X if self.parts.cross else F, F, layer)

    def states(self, X: Tensor) -> list[Tensor]:
        """``F_0, ..., F_T``; without injection ``F_0 = W^S X``."""
        if self.parts.injection:
            return super().states(X)
        F = self.weights.layer(0).W_S @ X
        states = [F]
        for t in range(self.weights.depth):
            F = F + self.attention(X, F, self.weights.layer(t))
            states.append(F)
        return states

    def slope(self, X: Tensor, y: Tensor) -> Tensor:
        """ŵ = (1/L) F y, which the frozen readout (E.1) makes of the last state: (n, d)."""
        return torch.einsum("ndl,nl->nd", self.states(X)[-1], y) / X.shape[-1]
