"""The theory's one-layer Mamba of arXiv 2510.12026 (sections 2 and 3): three forms of one function.

Tokens ``z_j = [φ(x_j); y_j]``, the query last with an empty label, ``z_{N+1} = [φ(x_q); 0]``. With
``A = -I``, ``Δ_l = softplus(u_l)``, ``u_l = wᵀz_l + b`` and zero-order hold,

    h_l = (1-σ(u_l)) h_{l-1} + σ(u_l) z_l ⊗ W_B z_l,     o_l = h_l W_C z_l,

which is ``o_L = Σ_j G_{j,L} z_j z_jᵀ W_Bᵀ W_C z_L`` with ``G_{j,L} = σ(u_j) Π_{k=j+1}^{L} (1-σ(u_k))``.
The paper sets ``W_Bᵀ W_C = diag(γ, 0)`` and ``w = (0, 1/ρ)``; what the head reads is the label channel

    f = N⁻¹ (1-σ(b)) Σ_{j≤N} s_j Π_{k=j+1}^{N} (1-s_k) y_j φ(x_j)ᵀ(γ∘φ(x_q)),    s_j = σ(y_j/ρ + b).

:func:`recurrence` and :func:`closed_form` take any ``W_B, W_C, w``; :meth:`MambaLayer.forward` never
builds φ: it needs ``Σ G y``, ``Σ G y x`` and ``XᵀDX`` alone. That all are equal is the claim
``mamba.T2``. Tokens are rows here, ``X`` of shape (n, N, d), and a batch is a leading dimension.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid, softplus

from theoryverify.errors import InputError
from theoryverify.models.precision import require_device, require_memory

_CHUNK = 2**17  # numbers of X that are scaled and multiplied at a time: they stay in the cache
_LEAST = 256  # tokens at a time, so that a matrix product has enough to do

# -- the embedding ------------------------------------------------------------------------------


def embedding_dimension(d: int) -> int:
    """``d~ = (d+1)(d+2)/2``: one constant, d linear, d diagonal and d(d-1)/2 mixed entries."""
    if isinstance(d, bool) or not isinstance(d, int) or d < 1:
        raise InputError(f"d = {d!r} must be an integer at least 1")
    return (d + 1) * (d + 2) // 2


def input_dimension(size: int) -> int:
    """The ``d`` with ``(d+1)(d+2)/2 = size``.

    Raises
    ------
    InputError
        If there is none: γ has the wrong length.
    """
    d = (math.isqrt(8 * size + 1) - 3) // 2 if size >= 3 else 0
    if d < 1 or embedding_dimension(d) != size:
        raise InputError(
            f"γ has {size} entries; it needs (d+1)(d+2)/2 of them: 3, 6, 10, ... for d = 1, 2, 3, ..."
        )
    return d


def embed(x: Tensor) -> Tensor:
    """``φ(x) = [1; x_i; (x_i²-1)/√2; x_i x_j (i < j)]``: (..., d) to (..., d~)."""
    d = x.shape[-1]
    i, j = torch.triu_indices(d, d, 1, device=x.device)
    return torch.cat(
        [torch.ones_like(x[..., :1]), x, (x**2 - 1) / math.sqrt(2), x[..., i] * x[..., j]], dim=-1
    )


class Blocks(NamedTuple):
    """γ by the kind of coordinate. ``pair`` is symmetric with an empty diagonal."""

    constant: Tensor  # ()
    linear: Tensor  # (d,)
    diagonal: Tensor  # (d,)
    pair: Tensor  # (d, d)


def blocks(gamma: Tensor) -> Blocks:
    """A vector γ (d~,) in the order of :func:`embed`, as :class:`Blocks`; differentiable."""
    if gamma.ndim != 1:
        raise InputError(f"γ must be a vector; got the shape {tuple(gamma.shape)}")
    d = input_dimension(len(gamma))
    i, j = torch.triu_indices(d, d, 1, device=gamma.device)
    upper = gamma.new_zeros(d, d).index_put((i, j), gamma[1 + 2 * d :])
    return Blocks(gamma[0], gamma[1 : 1 + d], gamma[1 + d : 1 + 2 * d], upper + upper.mT)


def supported_gamma(
    d: int,
    support: Sequence[int],
    *,
    constant: float = 1.0,
    linear: float = 1.0,
    diagonal: float = 1.0,
    pair: float = 1.0,
    outside: float = 0.0,
    dtype: torch.dtype = torch.float64,
) -> Tensor:
    """γ (d~,) with one value for each kind of coordinate on the support, another one off it.

    A coordinate is on the support if all its indices are; the constant always is. The defaults
    give the indicator of the support.

    Raises
    ------
    InputError
        For indices that repeat or lie outside ``0, ..., d-1``.
    """
    size = embedding_dimension(d)
    inside = torch.zeros(d, dtype=torch.bool)
    for index in support:
        if isinstance(index, bool) or not 0 <= index < d or inside[index]:
            raise InputError(f"support = {list(support)} must be distinct indices in 0..{d - 1}")
        inside[index] = True
    i, j = torch.triu_indices(d, d, 1)
    gamma = torch.full((size,), float(outside), dtype=dtype)
    gamma[0] = constant
    gamma[1 : 1 + d][inside] = linear
    gamma[1 + d : 1 + 2 * d][inside] = diagonal
    gamma[1 + 2 * d :][inside[i] & inside[j]] = pair
    return gamma


# -- any one-layer selective state-space model with A = -I ---------------------------------------

Discretisation = Callable[[Tensor], tuple[Tensor, Tensor]]
"""From the step Δ to ``(Ā, B̄/B)``."""


def zero_order_hold(step: Tensor) -> tuple[Tensor, Tensor]:
    """``Ā = e^{-Δ}``, ``B̄ = (1-e^{-Δ})B``: the input is held for the time Δ."""
    return torch.exp(-step), -torch.expm1(-step)


def recurrence(
    Z: Tensor,
    W_B: Tensor,
    W_C: Tensor,
    w: Tensor,
    b: float,
    *,
    channels: slice = slice(None),
    discretise: Discretisation = zero_order_hold,
) -> Tensor:
    """``o_L`` by the recurrence over ``h_l``, token by token.

    Parameters
    ----------
    Z : Tensor (n, L, D)
    W_B, W_C : Tensor (S, D)
    w : Tensor (D,)
    b : float
    channels : slice
        Of the D channels; each has a state of its own, of S numbers.
    discretise : callable
        Zero-order hold unless another is to be looked at.

    Returns
    -------
    Tensor (n, number of channels)
    """
    decay, drive = discretise(softplus(Z @ w + b))  # (n, L) each
    B, C = Z @ W_B.mT, Z[:, -1] @ W_C.mT  # (n, L, S), (n, S)
    inputs = drive.unsqueeze(-1) * Z[..., channels]  # (n, L, channels)
    h = Z.new_zeros(len(Z), inputs.shape[-1], B.shape[-1])
    for a_l, x_l, B_l in zip(decay.unbind(1), inputs.unbind(1), B.unbind(1), strict=True):
        h = a_l[:, None, None] * h + x_l[:, :, None] * B_l[:, None, :]
    return (h @ C.unsqueeze(-1)).squeeze(-1)


def log_gates(u: Tensor) -> Tensor:
    """``log G_{j,L} = log σ(u_j) + Σ_{k>j} log(1-σ(u_k))``: (n, L) to (n, L), in float64.

    Sums of logarithms, so nothing underflows, whatever L; in float64 whatever the type of u, since
    an error in a sum of L logarithms is a relative error of the gate.
    """
    u = u.double()
    closing = logsigmoid(-u)
    after = closing.flip(-1).cumsum(-1).flip(-1)  # Σ_{k>=j}
    after = torch.cat([after[..., 1:], torch.zeros_like(after[..., :1])], dim=-1)
    return logsigmoid(u) + after


def closed_form(
    Z: Tensor,
    W_B: Tensor,
    W_C: Tensor,
    w: Tensor,
    b: float,
    *,
    channels: slice = slice(None),
    gates: Callable[[Tensor], Tensor] = log_gates,
) -> Tensor:
    """``o_L = Σ_{j<=L} G_{j,L} z_j z_jᵀ W_Bᵀ W_C z_L``; parameters and shapes of :func:`recurrence`."""
    G = gates(Z @ w + b).exp().to(Z.dtype)  # (n, L)
    key = (Z[:, -1] @ W_C.mT) @ W_B  # (n, D)
    scores = (Z @ key.unsqueeze(-1)).squeeze(-1)  # (n, L)
    return ((G * scores).unsqueeze(1) @ Z[..., channels]).squeeze(1)


# -- the paper's layer --------------------------------------------------------------------------


class Moments(NamedTuple):
    """What a context says to every query: ``N⁻¹Σ G y``, ``N⁻¹Σ G y x``, ``N⁻¹Σ G y x xᵀ``."""

    constant: Tensor  # (n,)
    linear: Tensor  # (n, d)
    square: Tensor  # (n, d, d)


def label_gates(y: Tensor, rho: float, b: float) -> Tensor:
    """``log G_{j,N+1}`` of the context tokens: (n, N) to (n, N), in float64.

    ``log s_j + Σ_{j<k<=N} log(1-s_k) + log(1-σ(b))``; the last factor is the query's, whose label is 0.
    """
    query = logsigmoid(torch.tensor(-b, dtype=torch.float64, device=y.device))
    return log_gates(y.double() / rho + b) + query


def context_moments(X: Tensor, y: Tensor, *, rho: float, b: float) -> Moments:
    """Three sums over the context, without φ: ``O(N d²)`` operations, ``O(N d + d²)`` memory.

    Parameters
    ----------
    X : Tensor (n, N, d)
    y : Tensor (n, N)
        Finite.
    rho, b : float
        The gate is ``σ(y/ρ + b)``; ``ρ > 0``.

    Raises
    ------
    InputError
        For other shapes, N = 0, labels that are not finite, or a bad gate.
    """
    check_gate(rho, b)
    _check_context(X, y)
    n, N, d = X.shape
    logs = label_gates(y, rho, b)
    # The largest gate is taken out, so that a strongly negative b costs float32 no digits. Gates so
    # far below it that products with them would be subnormal are 0: they are slow, and far below
    # round-off. Of a long context under an open gate only the end is left.
    top = logs.max(dim=-1, keepdim=True).values
    relative = logs - top
    gates = torch.where(relative > _least_log(X.dtype), relative, -math.inf).exp()
    weights = (gates * y.double()).to(X.dtype)  # (n, N), signed: no square root
    first = int((gates > 0).any(dim=0).double().argmax())
    X, weights = X[:, first:], weights[:, first:]
    linear = (weights.unsqueeze(1) @ X).squeeze(1)
    square = X.new_zeros(n, d, d)
    step = max(_LEAST, _CHUNK // (n * d))
    for start in range(0, X.shape[1], step):
        part = X[:, start : start + step]
        # In place: a second d x d matrix is not made, and no gradient needs the sum so far.
        square.baddbmm_((part * weights[:, start : start + step, None]).mT, part)
    scale = (top.squeeze(-1).exp() / N).to(X.dtype)  # (n,)
    return Moments(weights.sum(-1) * scale, linear * scale[:, None], square * scale[:, None, None])


def _least_log(dtype: torch.dtype) -> float:
    """``e^x`` leaves room for products: x is 30 above the logarithm of the least normal number."""
    return math.log(torch.finfo(dtype).tiny) + 30


def feature(moments: Moments, x_q: Tensor, gamma: Tensor) -> Tensor:
    """``f(X, y, x_q; γ)`` from the moments of the context: x_q (n, Q, d) to (n, Q).

    ``Σ_α γ_α S_α φ_α(x_q)`` with ``S_diag = (square_ii - constant)/√2``, ``S_pair = square_ij``: a
    quadratic polynomial in ``x_q``.
    """
    constant, linear, square = moments
    if x_q.ndim != 3 or x_q.shape[0] != len(linear) or x_q.shape[2] != linear.shape[1]:
        raise InputError(
            f"expected queries of shape ({len(linear)}, Q, {linear.shape[1]}); got {tuple(x_q.shape)}"
        )
    parts = blocks(gamma)
    if len(parts.linear) != linear.shape[1]:
        raise InputError(
            f"γ has {len(gamma)} entries, for d = {len(parts.linear)}, but the tokens have "
            f"d = {linear.shape[1]}: {embedding_dimension(linear.shape[1])} are needed"
        )
    own = parts.diagonal * (torch.diagonal(square, dim1=1, dim2=2) - constant[:, None]) / 2
    matrix = parts.pair * square / 2 + torch.diag_embed(own)
    curved = ((x_q @ matrix) * x_q).sum(-1) - own.sum(-1, keepdim=True)
    straight = (x_q @ (parts.linear * linear).unsqueeze(-1)).squeeze(-1)
    return (parts.constant * constant)[:, None] + straight + curved


class MambaLayer(nn.Module):
    """``f(X, y, x_q; γ) = N⁻¹ Mamba(Z; γ)[d~+1, N+1]`` with the gate on the label.

    Parameters
    ----------
    gamma : Tensor ((d+1)(d+2)/2,)
        It becomes a parameter; the order is that of :func:`embed`.
    rho : float
        Scale of the gate, positive.
    b : float
        Its bias.
    device : torch.device or str, optional
        Default: that of ``gamma``.

    Raises
    ------
    InputError
        For γ of a wrong length or type, ``ρ <= 0``, numbers that are not finite, or no such device.

    Examples
    --------
    >>> generator = torch.Generator().manual_seed(0)
    >>> X = torch.randn(2, 9, 3, dtype=torch.float64, generator=generator)
    >>> layer = MambaLayer(supported_gamma(3, [0, 1]), rho=4.0, b=-2.0)
    >>> slow = layer.literal(X, X[..., 0], X[:, :5])
    >>> bool(torch.allclose(layer(X, X[..., 0], X[:, :5]), slow, rtol=1e-12))
    True
    """

    def __init__(
        self, gamma: Tensor, *, rho: float, b: float, device: torch.device | str | None = None
    ) -> None:
        super().__init__()
        check_gate(rho, b)
        if gamma.dtype not in (torch.float32, torch.float64):
            raise InputError(f"γ is of type {gamma.dtype}; choose torch.float32 or torch.float64")
        if gamma.ndim != 1:
            raise InputError(f"γ must be a vector; got the shape {tuple(gamma.shape)}")
        self.d = input_dimension(len(gamma))
        self.rho, self.b = float(rho), float(b)
        place = gamma.device if device is None else require_device(device)
        self.gamma = nn.Parameter(gamma.detach().clone().to(place))

    def moments(self, X: Tensor, y: Tensor) -> Moments:
        """:func:`context_moments` at this layer's gate."""
        return context_moments(X, y, rho=self.rho, b=self.b)

    def forward(self, X: Tensor, y: Tensor, x_q: Tensor) -> Tensor:
        """The fast form: X (n, N, d), y (n, N), x_q (n, Q, d) to (n, Q)."""
        self._check(X, y, x_q)
        return feature(self.moments(X, y), x_q, self.gamma)

    def literal(
        self, X: Tensor, y: Tensor, x_q: Tensor, *, discretise: Discretisation = zero_order_hold
    ) -> Tensor:
        """The recurrence, with φ and full matrices ``W_B = I``, ``W_C = diag(γ, 0)``."""
        Z, W_B, W_C, w = self._whole(X, y, x_q)
        out = recurrence(Z, W_B, W_C, w, self.b, channels=slice(-1, None), discretise=discretise)
        return out.reshape(x_q.shape[:2]) / X.shape[1]

    def closed(
        self,
        X: Tensor,
        y: Tensor,
        x_q: Tensor,
        *,
        gates: Callable[[Tensor], Tensor] = log_gates,
    ) -> Tensor:
        """The sum over ``G_j``, with φ and the same matrices."""
        Z, W_B, W_C, w = self._whole(X, y, x_q)
        out = closed_form(Z, W_B, W_C, w, self.b, channels=slice(-1, None), gates=gates)
        return out.reshape(x_q.shape[:2]) / X.shape[1]

    def _check(self, X: Tensor, y: Tensor, x_q: Tensor) -> None:
        _check_context(X, y)
        for name, tensor in (("X", X), ("x_q", x_q)):
            if (tensor.dtype, tensor.device) != (self.gamma.dtype, self.gamma.device):
                raise InputError(
                    f"{name} is {tensor.dtype} on {tensor.device}, γ {self.gamma.dtype} on "
                    f"{self.gamma.device}: move one of them with .to(...)"
                )
        if X.shape[2] != self.d or x_q.ndim != 3 or x_q.shape[::2] != X.shape[::2]:
            raise InputError(
                f"expected X of shape (n, N, {self.d}) and x_q (n, Q, {self.d}); got "
                f"{tuple(X.shape)} and {tuple(x_q.shape)}"
            )

    def _whole(self, X: Tensor, y: Tensor, x_q: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """All tokens (n·Q, N+1, d~+1), one sequence a query, and ``W_B, W_C, w``."""
        self._check(X, y, x_q)
        (n, Q, _), N, D = x_q.shape, X.shape[1], len(self.gamma) + 1
        require_memory(3 * n * Q * (N + 1) * D + 2 * D**2, X.dtype, "building φ", X.device)
        context = torch.cat([embed(X), y.unsqueeze(-1)], dim=-1)  # (n, N, D)
        query = torch.cat([embed(x_q), torch.zeros_like(x_q[..., :1])], dim=-1)  # (n, Q, D)
        repeated = context.unsqueeze(1).expand(n, Q, N, D)
        Z = torch.cat([repeated, query.unsqueeze(2)], dim=2).reshape(n * Q, N + 1, D)
        eye = torch.eye(D, dtype=X.dtype, device=X.device)
        w = X.new_zeros(D)
        w[-1] = 1 / self.rho
        diagonal = torch.cat([self.gamma, self.gamma.new_zeros(1)])
        return Z, eye, torch.diag(diagonal), w


def check_gate(rho: float, b: float) -> None:
    """Refuse a gate ``σ(y/ρ + b)`` without a positive finite ρ and a finite b."""
    if not (math.isfinite(rho) and rho > 0):
        raise InputError(f"rho = {rho} must be positive and finite")
    if not math.isfinite(b):
        raise InputError(f"b = {b} must be finite")


def _check_context(X: Tensor, y: Tensor) -> None:
    if X.ndim != 3 or y.shape != X.shape[:2]:
        raise InputError(
            f"expected X of shape (n, N, d) and y (n, N); got {tuple(X.shape)} and {tuple(y.shape)}"
        )
    if 0 in X.shape:
        raise InputError(f"an empty context: n, N and d must be at least 1, got {tuple(X.shape)}")
    if X.dtype not in (torch.float32, torch.float64) or y.dtype != X.dtype:
        raise InputError(f"X and y must both be float32 or float64; got {X.dtype} and {y.dtype}")
    if not bool(torch.isfinite(y).all()):
        raise InputError("labels must be finite; y holds NaN or an infinity")
