"""GPT-2 (Radford et al. 2019) on continuous embeddings: pre-norm Transformer blocks, causal.

    x_t    = embedding_t + p_t                      a learned table of positions
    x     += W_P softmax(Q Kᵀ/√(width/heads) + mask) V      Q, K, V = W_A LayerNorm(x), by heads
    x     += W_2 GELU(W_1 LayerNorm(x))             inner width 4 · width, GELU by tanh

and a last LayerNorm. No dropout: prompts are fresh at every step. Parameters carry the names that
they have in the published checkpoints, where matrices are transposed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

from theoryverify.errors import InputError
from theoryverify.exact.rationals import positive_integer
from theoryverify.models.sequence import blank, check_tokens, torch_generator


class KeysValues(NamedTuple):
    """What one block remembers of the past."""

    keys: Tensor  # (b, heads, past, width/heads)
    values: Tensor


class Attention(nn.Module):
    """Causal self-attention; with a past, its keys and values come first."""

    def __init__(self, width: int, heads: int, *, dtype: torch.dtype) -> None:
        super().__init__()
        self.heads = heads
        self.c_attn = blank(nn.Linear, width, 3 * width, dtype=dtype)
        self.c_proj = blank(nn.Linear, width, width, dtype=dtype)

    def forward(self, x: Tensor, past: KeysValues | None) -> tuple[Tensor, KeysValues]:
        b, l, width = x.shape  # noqa: E741
        qkv = self.c_attn(x).view(b, l, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)  # (b, heads, l, width/heads) each
        mask = None
        if past is not None:
            before = past.keys.shape[2]
            k, v = torch.cat([past.keys, k], dim=2), torch.cat([past.values, v], dim=2)
            mask = torch.ones(l, before + l, dtype=torch.bool, device=x.device).tril(before)
        out = scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
        return self.c_proj(out.transpose(1, 2).reshape(b, l, width)), KeysValues(k, v)


class MLP(nn.Module):
    """``W_2 GELU(W_1 x)``."""

    def __init__(self, width: int, *, dtype: torch.dtype) -> None:
        super().__init__()
        self.c_fc = blank(nn.Linear, width, 4 * width, dtype=dtype)
        self.c_proj = blank(nn.Linear, 4 * width, width, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.c_proj(gelu(self.c_fc(x), approximate="tanh"))
        return out


class Block(nn.Module):
    """``x += Attention(LayerNorm(x))``, then ``x += MLP(LayerNorm(x))``."""

    def __init__(self, width: int, heads: int, *, dtype: torch.dtype) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(width, dtype=dtype)
        self.attn = Attention(width, heads, dtype=dtype)
        self.ln_2 = nn.LayerNorm(width, dtype=dtype)
        self.mlp = MLP(width, dtype=dtype)

    def forward(self, x: Tensor, past: KeysValues | None) -> tuple[Tensor, KeysValues]:
        out, now = self.attn(self.ln_1(x), past)
        x = x + out
        return x + self.mlp(self.ln_2(x)), now


class GPT2(nn.Module):
    """A GPT-2: embeddings (b, l, width) to (b, l, width), causally, ``l`` up to ``positions``.

    Parameters
    ----------
    width, layers, heads : int
        ``heads`` divides ``width``.
    positions : int
        Rows of the table of positions: no sequence can be longer.
    rng : Generator, int or None
        Weights start as published: N(0, 0.02²), those that write into the residual (``c_proj``)
        N(0, 0.02²/(2·layers)), biases 0.
    dtype : torch.dtype

    Raises
    ------
    InputError
        For a size that is not a positive integer, or heads that do not divide the width.
    """

    def __init__(
        self,
        width: int,
        layers: int,
        heads: int,
        *,
        positions: int,
        rng: np.random.Generator | int | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.width, self.positions = width, positions
        for name, value in (("width", width), ("layers", layers), ("positions", positions)):
            positive_integer(value, name)
        if width % positive_integer(heads, "heads"):
            divisors = ", ".join(str(h) for h in range(1, width + 1) if width % h == 0)
            raise InputError(
                f"{heads} heads do not divide the width {width} evenly; choose one of {divisors}"
            )
        self.wpe = blank(nn.Embedding, positions, width, dtype=dtype)
        self.h = nn.ModuleList(Block(width, heads, dtype=dtype) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width, dtype=dtype)
        generator = torch_generator(rng)
        for name, parameter in self.named_parameters():
            if name.endswith("c_proj.weight"):
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * layers), generator=generator)
            elif parameter.ndim == 2:
                nn.init.normal_(parameter, std=0.02, generator=generator)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, x: Tensor) -> Tensor:
        """(b, l, width) to (b, l, width)."""
        return self.extend(x, None)[0]

    def extend(
        self, x: Tensor, state: tuple[KeysValues, ...] | None = None
    ) -> tuple[Tensor, tuple[KeysValues, ...]]:
        """The outputs (b, l, width) after what ``state`` has seen, and the state after them.

        The state holds all keys and values, so it grows with the length.
        """
        check_tokens(x, self.width, self.wpe.weight)
        if state is not None and (len(state) != len(self.h) or len(state[0].keys) != len(x)):
            raise InputError(
                f"a state of {len(state)} layers and batch {len(state[0].keys) if state else 0} "
                f"cannot go on with {tuple(x.shape)} through {len(self.h)} layers"
            )
        before = 0 if state is None else state[0].keys.shape[2]
        after = before + x.shape[1]
        if after > self.positions:
            raise InputError(
                f"{tuple(x.shape)} ends at position {after}, and the table of positions has "
                f"{self.positions}: shorten the sequence or give the model more positions"
            )
        x = x + self.wpe.weight[before:after]
        seen = []
        for index, block in enumerate(self.h):
            x, now = block(x, None if state is None else state[index])
            seen.append(now)
        return self.ln_f(x), tuple(seen)
