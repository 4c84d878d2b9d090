"""What the sequence models share: their inputs' checks, seeding, and the read-in and readout.

A *backbone* maps embeddings (b, l, width) to (b, l, width) causally, ``backbone(x)``, and in pieces:
``backbone.extend(x, state)`` returns the outputs and the state to go on from, ``state=None`` to
start. Extending by pieces of any lengths, 1 among them, gives what one call on all of it gives.

>>> import torch
>>> from theoryverify.models.mamba import Mamba
>>> model = Regressor(3, Mamba(width=16, layers=2, rng=0), rng=1)
>>> z = torch.randn(4, 10, 3)                # 4 prompts of 10 tokens in R³
>>> y = model(z)                             # (4, 10): a prediction at each token
>>> first, state = model.extend(z[:, :7])
>>> rest, state = model.extend(z[:, 7:], state)
>>> torch.allclose(torch.cat([first, rest], dim=1), y, atol=1e-5)
True
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from theoryverify.errors import InputError
from theoryverify.exact.rationals import positive_integer


def torch_generator(rng: np.random.Generator | int | None) -> torch.Generator:
    """A Torch generator on the CPU, seeded by a draw from ``numpy.random.default_rng(rng)``."""
    seed = np.random.default_rng(rng).integers(2**63)
    return torch.Generator().manual_seed(int(seed))


M = TypeVar("M", bound=nn.Module)


def blank(kind: type[M], *sizes: int, **options: Any) -> M:
    """A module of Torch whose parameters are still to be set: it would draw global randomness."""
    module: M = nn.utils.skip_init(kind, *sizes, **options)  # type: ignore[no-untyped-call]
    return module


def working_dtype(dtype: torch.dtype) -> torch.dtype:
    """What to compute in where bfloat16 would lose too much: float64 for itself, else float32."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def check_tokens(x: Tensor, width: int, parameter: Tensor, what: str = "embeddings") -> None:
    """Refuse what is not (b, l, width), is empty, or differs from the weights in dtype or device.

    Under autocast any floating dtype will do.

    Raises
    ------
    InputError
    """
    shape = tuple(x.shape)
    if x.ndim != 3 or x.shape[2] != width:
        raise InputError(f"expected {what} of shape (b, l, {width}); got {shape}")
    if x.shape[0] < 1 or x.shape[1] < 1:
        raise InputError(f"{what} of shape {shape} are empty: a batch and a length of at least 1")
    if x.device != parameter.device:
        raise InputError(f"{what} {shape} are on {x.device}, the weights on {parameter.device}")
    mixed = torch.is_autocast_enabled(x.device.type) and x.is_floating_point()
    if x.dtype != parameter.dtype and not mixed:
        raise InputError(f"{what} {shape} are {x.dtype}, the weights {parameter.dtype}")


class Regressor(nn.Module):
    """Tokens in R^d_in to one number a position: linear read-in, backbone, linear readout.

    ``ŷ_t = ⟨r, backbone(W z_1 + w, ..., W z_t + w)_t⟩ + r_0``: with tokens ``z = (x, y)`` this is the
    in-context learner whose loss is over all prefixes.

    Parameters
    ----------
    d_in : int
    backbone : Mamba or GPT2
    rng : Generator, int or None
        ``W ~ N(0, 1/d_in)``, so that standard normal tokens start at unit variance, and
        ``r ~ N(0, 1/width)``; ``w`` and ``r_0`` start at 0.
    """

    def __init__(
        self, d_in: int, backbone: nn.Module, *, rng: np.random.Generator | int | None = None
    ) -> None:
        super().__init__()
        self.d_in = positive_integer(d_in, "d_in")
        width, parameter = int(backbone.width), next(backbone.parameters())  # type: ignore[arg-type]
        self.read_in = blank(nn.Linear, d_in, width, dtype=parameter.dtype)
        self.backbone = backbone
        self.readout = blank(nn.Linear, width, 1, dtype=parameter.dtype)
        generator = torch_generator(rng)
        for linear, size in ((self.read_in, d_in), (self.readout, width)):
            nn.init.normal_(linear.weight, std=size**-0.5, generator=generator)
            nn.init.zeros_(linear.bias)
        self.to(parameter.device)

    def forward(self, z: Tensor) -> Tensor:
        """(b, l, d_in) to (b, l)."""
        check_tokens(z, self.d_in, self.read_in.weight, "tokens")
        y: Tensor = self.readout(self.backbone(self.read_in(z)))
        return y.squeeze(-1)

    def extend(self, z: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        """The next predictions (b, l), and the state to go on from."""
        check_tokens(z, self.d_in, self.read_in.weight, "tokens")
        out, state = self.backbone.extend(self.read_in(z), state)  # type: ignore[operator]
        return self.readout(out).squeeze(-1), state
