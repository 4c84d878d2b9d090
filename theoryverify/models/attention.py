"""One layer of attention: (4.2) and (4.3) of arXiv 2602.04872, and the class (D.11).

Columns are tokens. A batch is a leading dimension. ``E_X = [X x_q; yᵀ 0]`` of shape
``(n, d+1, L+1)``: (x_i; y_i) in column i, the query with an empty label in the last.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from theoryverify.errors import InputError


def embed(F: Tensor, y: Tensor, x_q: Tensor) -> Tensor:
    """``E_F = [F x_q; yᵀ 0]``.

    Parameters
    ----------
    F : (n, d, L), y : (n, L), x_q : (n, d)

    Returns
    -------
    Tensor (n, d+1, L+1)
    """
    if F.ndim != 3 or y.shape != (F.shape[0], F.shape[2]) or x_q.shape != F.shape[:2]:
        raise InputError(
            f"expected F of shape (n, d, L), y (n, L), x_q (n, d); got {tuple(F.shape)}, "
            f"{tuple(y.shape)}, {tuple(x_q.shape)}"
        )
    top = torch.cat([F, x_q.unsqueeze(-1)], dim=2)  # (n, d, L+1)
    bottom = torch.cat([y, y.new_zeros(len(y), 1)], dim=1)  # (n, L+1)
    return torch.cat([top, bottom.unsqueeze(1)], dim=1)


class LSA(nn.Module):
    """(4.2): ``LSA(E;θ) = E + W^PV E (Eᵀ W^KQ E) / L``; the prediction is its last entry.

    Parameters
    ----------
    W_PV, W_KQ : Tensor (d+1, d+1)
        θ. They become parameters.
    """

    def __init__(self, W_PV: Tensor, W_KQ: Tensor) -> None:
        super().__init__()
        if W_PV.shape != W_KQ.shape or W_PV.ndim != 2 or W_PV.shape[0] != W_PV.shape[1]:
            raise InputError(
                f"W_PV and W_KQ must be square and alike; got {tuple(W_PV.shape)} and "
                f"{tuple(W_KQ.shape)}"
            )
        self.W_PV = nn.Parameter(W_PV.clone())
        self.W_KQ = nn.Parameter(W_KQ.clone())

    @classmethod
    def readout(cls, d: int, *, dtype: torch.dtype = torch.float64) -> LSA:
        """(E.1), frozen: ``W^PV = diag(0, 1)``, ``W^KQ = diag(I, 0)``."""
        last = torch.zeros(d + 1, dtype=dtype)
        last[-1] = 1
        module = cls(torch.diag(last), torch.diag(1 - last))
        module.requires_grad_(False)
        return module

    @classmethod
    def random(
        cls,
        d: int,
        *,
        generator: torch.Generator,
        scale: float = 1.0,
        dtype: torch.dtype = torch.float64,
    ) -> LSA:
        """Gaussian weights of standard deviation ``scale/√(d+1)``."""
        size = (2, d + 1, d + 1)
        weights = torch.randn(size, generator=generator, dtype=dtype) * scale / (d + 1) ** 0.5
        return cls(weights[0], weights[1])

    def forward(self, E: Tensor) -> Tensor:
        """(4.2), the whole output; its attention matrix has ``(L+1)²`` entries. (n, d+1, L+1)."""
        L = E.shape[-1] - 1
        return E + self.W_PV @ E @ (E.mT @ self.W_KQ @ E) / L

    def predict(self, E: Tensor) -> Tensor:
        """The entry ``(d+1, L+1)`` of :meth:`forward` alone, at a cost of order L. (n,)."""
        L = E.shape[-1] - 1
        e_q = E[..., -1:]  # (n, d+1, 1)
        out = e_q + self.W_PV @ (E @ (E.mT @ (self.W_KQ @ e_q))) / L
        return out[..., -1, 0]


class SA(nn.Module):
    """(4.3): ``SA(E) = E + Σ_h W^P_h W^V_h E softmax((W^K_h E)ᵀ (W^Q_h E))``, softmax by columns.

    Then an affine readout of the last column, ``ŷ_q = ⟨r, SA(E)_{·,L+1}⟩ + r_0``; by default the
    last entry.

    Parameters
    ----------
    W_Q, W_K, W_V, W_P : Tensor (H, d+1, d+1)
        One matrix a head.
    r : Tensor (d+1,), optional
    r_0 : float
    """

    def __init__(
        self,
        W_Q: Tensor,
        W_K: Tensor,
        W_V: Tensor,
        W_P: Tensor,
        r: Tensor | None = None,
        r_0: float = 0.0,
    ) -> None:
        super().__init__()
        shapes = {tuple(w.shape) for w in (W_Q, W_K, W_V, W_P)}
        if len(shapes) != 1 or W_Q.ndim != 3 or W_Q.shape[1] != W_Q.shape[2] or W_Q.shape[0] < 1:
            raise InputError(
                f"the weights must all be of shape (H, d+1, d+1), H >= 1; got {shapes}"
            )
        self.W_Q, self.W_K, self.W_V, self.W_P = (
            nn.Parameter(w.clone()) for w in (W_Q, W_K, W_V, W_P)
        )
        if r is None:
            r = torch.zeros_like(W_Q[0, 0])
            r[-1] = 1
        self.r = nn.Parameter(r.clone())
        self.r_0 = nn.Parameter(torch.as_tensor(r_0, dtype=W_Q.dtype, device=W_Q.device))

    @classmethod
    def random(
        cls,
        d: int,
        heads: int,
        *,
        generator: torch.Generator,
        scale: float = 1.0,
        dtype: torch.dtype = torch.float64,
    ) -> SA:
        """Gaussian weights of standard deviation ``scale/√(d+1)``."""
        size = (4, heads, d + 1, d + 1)
        weights = torch.randn(size, generator=generator, dtype=dtype) * scale / (d + 1) ** 0.5
        return cls(*weights)

    def forward(self, E: Tensor) -> Tensor:
        """(4.3): (n, d+1, L+1) to (n, d+1, L+1)."""
        heads = E.unsqueeze(1)  # (n, 1, d+1, L+1), against weights (H, d+1, d+1)
        Q, K, V = self.W_Q @ heads, self.W_K @ heads, self.W_V @ heads
        A = torch.softmax(K.mT @ Q, dim=-2)  # column by column: over keys
        return E + (self.W_P @ (V @ A)).sum(dim=1)

    def predict(self, E: Tensor) -> Tensor:
        """The affine readout of the last column of :meth:`forward`, at a cost of order L. (n,)."""
        heads, e_q = E.unsqueeze(1), E[..., -1:]
        Q, K, V = self.W_Q @ e_q.unsqueeze(1), self.W_K @ heads, self.W_V @ heads
        A = torch.softmax(K.mT @ Q, dim=-2)  # (n, H, L+1, 1)
        column = e_q + (self.W_P @ (V @ A)).sum(dim=1)
        return column[..., 0] @ self.r + self.r_0


class SoftmaxPredictor(nn.Module):
    """(D.11): ``ŷ_q = rᵀx_q + r_0 + Σ_h Σ_j softmax_j(s_hj) f_hj`` over the context ``j = 1..L``.

    (D.10): ``z_j = (x_j; y_j)``, ``s_hj = (K_h x_q + k_h)ᵀ z_j``, ``f_hj = c_hᵀ z_j + c_h0``.

    Parameters
    ----------
    K : Tensor (H, d+1, d), k : (H, d+1), c : (H, d+1), c_0 : (H,), r : (d,), r_0 : scalar
    """

    def __init__(
        self, K: Tensor, k: Tensor, c: Tensor, c_0: Tensor, r: Tensor, r_0: Tensor
    ) -> None:
        super().__init__()
        H, size, d = K.shape if K.ndim == 3 else (0, 0, 0)
        if H < 1 or size != d + 1 or k.shape != (H, size) or c.shape != (H, size):
            raise InputError(
                "expected K (H, d+1, d), k (H, d+1), c (H, d+1); got "
                f"{tuple(K.shape)}, {tuple(k.shape)}, {tuple(c.shape)}"
            )
        self.K, self.k, self.c, self.c_0, self.r, self.r_0 = (
            nn.Parameter(w.clone()) for w in (K, k, c, c_0, r, r_0)
        )

    @classmethod
    def random(
        cls,
        d: int,
        heads: int,
        *,
        generator: torch.Generator,
        scale: float = 1.0,
        dtype: torch.dtype = torch.float64,
    ) -> SoftmaxPredictor:
        """Gaussian weights of standard deviation ``scale/√(d+1)``."""
        sizes = ((heads, d + 1, d), (heads, d + 1), (heads, d + 1), (heads,), (d,), ())
        return cls(
            *(
                torch.randn(size, generator=generator, dtype=dtype) * scale / (d + 1) ** 0.5
                for size in sizes
            )
        )

    def predict(self, X: Tensor, y: Tensor, x_q: Tensor) -> Tensor:
        """X (n, d, L), y (n, L), x_q (n, d) to ŷ_q (n,)."""
        z = torch.cat([X, y.unsqueeze(1)], dim=1)  # (n, d+1, L)
        a = torch.einsum("hij,nj->nhi", self.K, x_q) + self.k  # (D.10)
        s = a @ z  # (n, H, L)
        f = self.c @ z + self.c_0[:, None]
        return x_q @ self.r + self.r_0 + (torch.softmax(s, dim=-1) * f).sum(dim=(1, 2))
