"""Mamba (Gu and Dao, arXiv 2312.00752, section 3.4 and Figure 3) on continuous embeddings.

One layer, with ``e = expand · width`` channels and ``n`` states a channel:

    (u, z) = W_in RMSNorm(x)                        split in two, e channels each
    u_t    = SiLU(Σ_j w_j ∘ u_{t-k+1+j} + w)        causal, depthwise, kernel of k
    (δ, B, C)_t = W_x u_t                           rank, n, n numbers
    Δ_t    = softplus(W_Δ δ_t + b_Δ)
    h_t    = exp(Δ_t A) h_{t-1} + Δ_t B_t u_t       A = -exp(A_log)
    y_t    = C_tᵀ h_t + D u_t
    x_t   += W_out (y_t ∘ SiLU(z_t))

and a last RMSNorm. Parameters carry the names that they have in the published checkpoints.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d, linear, pad, rms_norm, silu, softplus

from theoryverify.errors import InputError
from theoryverify.exact.rationals import positive_integer
from theoryverify.models.selective_scan import selective_scan, selective_scan_from
from theoryverify.models.sequence import blank, check_tokens, torch_generator, working_dtype


class LayerState(NamedTuple):
    """What one layer remembers: the last inputs of its convolution, and the scan's state."""

    window: Tensor  # (b, k-1, e)
    h: Tensor  # (b, e, n)


class RMSNorm(nn.Module):
    """``x / √(mean(x²) + ε) ∘ w``, over the last axis."""

    def __init__(self, width: int, *, epsilon: float = 1e-5, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width, dtype=dtype))
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        x = x.to(self.weight.dtype)  # under autocast the residual may be shorter
        return rms_norm(x, (x.shape[-1],), self.weight, self.epsilon)


class Mixer(nn.Module):
    """All of a layer but its norm and residual."""

    def __init__(
        self, width: int, e: int, n: int, k: int, rank: int, *, dtype: torch.dtype
    ) -> None:
        super().__init__()
        self.sizes = [rank, n, n]
        self.in_proj = blank(nn.Linear, width, 2 * e, bias=False, dtype=dtype)
        self.conv1d = blank(nn.Conv1d, e, e, k, groups=e, dtype=dtype)
        self.x_proj = blank(nn.Linear, e, rank + 2 * n, bias=False, dtype=dtype)
        self.dt_proj = blank(nn.Linear, rank, e, dtype=dtype)
        self.A_log = nn.Parameter(torch.arange(1, n + 1, dtype=dtype).log().repeat(e, 1))
        self.D = nn.Parameter(torch.ones(e, dtype=dtype))
        self.out_proj = blank(nn.Linear, e, width, bias=False, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        u, z = self.in_proj(x).chunk(2, dim=-1)  # (b, l, e) each
        u = self.convolve(pad(u, (0, 0, self.conv1d.kernel_size[0] - 1, 0)))
        y = selective_scan(u, *self.parameters_of(u))
        out: Tensor = self.out_proj(y * silu(z))
        return out

    def extend(self, x: Tensor, state: LayerState | None) -> tuple[Tensor, LayerState]:
        u, z = self.in_proj(x).chunk(2, dim=-1)
        past = self.conv1d.kernel_size[0] - 1
        window = u.new_zeros(len(u), past, u.shape[2]) if state is None else state.window
        u = torch.cat([window, u], dim=1)  # (b, k-1+l, e)
        window = u[:, u.shape[1] - past :]
        u = self.convolve(u)
        y, h = selective_scan_from(None if state is None else state.h, u, *self.parameters_of(u))
        return self.out_proj(y * silu(z)), LayerState(window, h)

    def convolve(self, u: Tensor) -> Tensor:
        """(b, k-1+l, e) to (b, l, e)."""
        # As a two-dimensional convolution of height 1: channels come last in memory, and Torch's
        # conv1d reorders them (its backward pass took 4 times as long on a CPU).
        image, kernel = u.mT.unsqueeze(2), self.conv1d.weight.unsqueeze(2)  # (b, e, 1, k-1+l)
        out = conv2d(image, kernel, self.conv1d.bias, groups=u.shape[2])
        return silu(out.squeeze(2).mT)

    def parameters_of(self, u: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Δ (b, l, e), A (e, n), B and C (b, l, n), D (e,)."""
        work = working_dtype(u.dtype)
        step, B, C = self.x_proj(u).split(self.sizes, dim=-1)
        # b_Δ is about -5, Δ's digits sit in small differences: add in float32 at least
        step = linear(step, self.dt_proj.weight).to(work) + self.dt_proj.bias.to(work)
        return softplus(step), -torch.exp(self.A_log.to(work)), B, C, self.D


class Layer(nn.Module):
    """``x + Mixer(RMSNorm(x))``."""

    def __init__(self, width: int, mixer: Mixer, *, dtype: torch.dtype) -> None:
        super().__init__()
        self.norm = RMSNorm(width, dtype=dtype)
        self.mixer = mixer

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.mixer(self.norm(x))
        return x + out

    def extend(self, x: Tensor, state: LayerState | None) -> tuple[Tensor, LayerState]:
        out, state = self.mixer.extend(self.norm(x), state)
        return x + out, state


class Mamba(nn.Module):
    """A stack of Mamba layers: embeddings (b, l, width) to (b, l, width), causally.

    Parameters
    ----------
    width, layers : int
    states : int
        n, of each channel.
    kernel : int
        k, of the convolution.
    expand : int
        ``e/width``.
    rank : int, optional
        Of W_Δ; by default ``⌈width/16⌉``.
    rng : Generator, int or None
        Weights start as published: linear maps and convolution uniform within ``±1/√inputs``,
        W_out then divided by ``√layers``; ``A = -(1..n)``, ``D = 1``; b_Δ such that
        ``softplus(b_Δ)`` is log-uniform in [1e-3, 1e-1].
    dtype : torch.dtype

    Raises
    ------
    InputError
        For a size that is not a positive integer.
    """

    def __init__(
        self,
        width: int,
        layers: int,
        *,
        states: int = 16,
        kernel: int = 4,
        expand: int = 2,
        rank: int | None = None,
        rng: np.random.Generator | int | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.width = positive_integer(width, "width")
        layers, states = positive_integer(layers, "layers"), positive_integer(states, "states")
        kernel, e = positive_integer(kernel, "kernel"), positive_integer(expand, "expand") * width
        rank = math.ceil(width / 16) if rank is None else positive_integer(rank, "rank")
        mixers = [Mixer(width, e, states, kernel, rank, dtype=dtype) for _ in range(layers)]
        self.layers = nn.ModuleList(Layer(width, mixer, dtype=dtype) for mixer in mixers)
        self.norm_f = RMSNorm(width, dtype=dtype)
        generator = torch_generator(rng)
        for mixer in mixers:
            _start(mixer, layers, generator)

    def forward(self, x: Tensor) -> Tensor:
        """(b, l, width) to (b, l, width)."""
        check_tokens(x, self.width, self.norm_f.weight)
        for layer in self.layers:
            x = layer(x)
        out: Tensor = self.norm_f(x)
        return out

    def extend(
        self, x: Tensor, state: tuple[LayerState, ...] | None = None
    ) -> tuple[Tensor, tuple[LayerState, ...]]:
        """The outputs (b, l, width) after what ``state`` has seen, and the state after them.

        The state has the same size at any length. One token at a time this is the recurrence.
        """
        check_tokens(x, self.width, self.norm_f.weight)
        if state is not None and (
            len(state) != len(self.layers) or len(state[0].h) != len(x) or len(x) < 1
        ):
            raise InputError(
                f"a state of {len(state)} layers and batch {len(state[0].h) if state else 0} cannot "
                f"go on with {tuple(x.shape)} through {len(self.layers)} layers"
            )
        after = []
        for index, layer in enumerate(self.layers):
            x, new = layer.extend(x, None if state is None else state[index])  # type: ignore[operator]
            after.append(new)
        return self.norm_f(x), tuple(after)


@torch.no_grad()
def _start(mixer: Mixer, layers: int, generator: torch.Generator) -> None:
    for map_ in (mixer.in_proj, mixer.x_proj, mixer.dt_proj, mixer.out_proj):
        bound = map_.in_features**-0.5
        map_.weight.uniform_(-bound, bound, generator=generator)
    mixer.out_proj.weight /= math.sqrt(layers)
    bound = mixer.conv1d.kernel_size[0] ** -0.5
    for parameter in mixer.conv1d.parameters():
        parameter.uniform_(-bound, bound, generator=generator)
    step = torch.empty_like(mixer.dt_proj.bias, dtype=torch.float64)
    step.uniform_(math.log(1e-3), math.log(1e-1), generator=generator).exp_()
    mixer.dt_proj.bias.copy_(step + torch.log(-torch.expm1(-step)))  # softplus⁻¹
