"""Linear cross-attention with layer normalisation of the queries: Figure 4's second model.

``A_{t-1} = W^V X Xᵀ W^{K⊤} W^Q LN(F_{t-1})/L``, with ``LN`` by columns over the d coordinates: mean 0,
variance 1, no affine part, and ``LN(0) = 0``. Nothing is added to the variance, so ``LN(cF) = LN(F)``
for ``c > 0``, and with scalar weights the state is homogeneous: ``F_T`` at ``(cα, cβ)`` is ``c`` times
that at ``(α, β)``. At ``α = 0`` it jumps: ``LN(αX) = sign(α) LN(X)``.
"""

from __future__ import annotations

import torch
from torch import Tensor

from theoryverify.models.lca import LCA, Layer


def layer_norm(F: Tensor) -> Tensor:
    """Columns of F (..., d, L) with mean 0 and variance 1; a constant column becomes 0."""
    centred = F - F.mean(dim=-2, keepdim=True)
    size = centred.square().mean(dim=-2, keepdim=True).sqrt()
    return torch.where(size > 0, centred / size, torch.zeros_like(F))


class NormedLCA(LCA):
    """LCA_T whose queries are normalised states."""

    def attention(self, X: Tensor, F: Tensor, layer: Layer) -> Tensor:
        return super().attention(X, layer_norm(F), layer)

    def slope(self, X: Tensor, y: Tensor) -> Tensor:
        """ŵ = (1/L) F y, which the frozen readout (E.1) makes of the last state: (n, d)."""
        return torch.einsum("ndl,nl->nd", self.states(X)[-1], y) / X.shape[-1]
