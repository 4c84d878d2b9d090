"""Table 1's classifiers of a digit seen and heard: Appendix J of arXiv 2602.04872 (``lca``).

    X = [CLS; Φ_I(image) + P_I + M_I; Φ_A(sound) + P_A + M_A]          33 tokens of width 16
    F_0 = X
    A   = MHA(LN F, LN' K, LN' K),    K = X with cross-attention, K = F without
    F  += A + S,                      S = (W_I X_I + b_I; W_A X_A + b_A), 0 without injection
    F  += MLP(LN'' F)                                                  ten layers, pre-norm
    logits = W LN F[CLS] + b

The paper gives the sizes and the parameter counts, 4.36e4 with injection and 3.82e4 without; that the
injection is a linear map of each modality a layer, and the convolutions of Φ, are our choice. They give
these counts to three digits, as many other choices would.

With cross-attention a row of F is changed by itself and by X alone. So the logits, which read the row of
CLS, never see what is injected into other rows: "full" and "no injection" are one class of functions, and
the 5,440 numbers of the injection are idle (claim ``lca.J.injection``). The arms with a mean read-out,
which are ours, are the pair in which injection can act.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from theoryverify.errors import InputError
from theoryverify.exact.rationals import positive_integer
from theoryverify.seeds import named_rng

CLASSES = 10
TOKENS = 16
"""Of each modality: a 4 x 4 grid."""
_SMALL = 0.02
"""Standard deviation of the first positions, modalities and CLS."""


@dataclass(frozen=True)
class Shape:
    """Sizes that all five models share (the paper's by default)."""

    width: int = 16
    heads: int = 4
    layers: int = 10
    hidden: int = 32
    dropout: float = 0.1

    def __post_init__(self) -> None:
        for name in ("width", "heads", "layers", "hidden"):
            positive_integer(getattr(self, name), name)
        if self.width % self.heads:
            raise InputError(f"width = {self.width} is no multiple of heads = {self.heads}")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout = {self.dropout} must lie in [0, 1)")


PAPER = Shape()


class Tokenizer(nn.Module):
    """Φ: three convolutions, one of a single pixel, a pooling to 4 x 4; (n, 1, 28, 28) to (n, 16, w)."""

    def __init__(self, width: int) -> None:
        def block(inside: int, outside: int) -> list[nn.Module]:
            return [nn.Conv2d(inside, outside, 3, padding=1), nn.BatchNorm2d(outside), nn.GELU()]

        super().__init__()
        self.layers = nn.Sequential(
            *block(1, 8),
            nn.MaxPool2d(2),
            *block(8, 32),
            *block(32, width),
            nn.Conv2d(width, width, 1),
            nn.AdaptiveAvgPool2d(4),
        )

    def forward(self, picture: Tensor) -> Tensor:
        out: Tensor = self.layers(picture)  # (n, w, 4, 4)
        return out.flatten(2).mT


class Attention(nn.Module):
    """Multi-head attention of ``F`` to ``keys``; dropout stands on its output, not on its weights."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, F: Tensor, keys: Tensor) -> Tensor:
        def split(x: Tensor) -> Tensor:  # (n, tokens, w) to (n, heads, tokens, w/heads)
            return x.view(*x.shape[:-1], self.heads, -1).transpose(1, 2)

        A = scaled_dot_product_attention(
            split(self.query(F)), split(self.key(keys)), split(self.value(keys))
        )
        out: Tensor = self.out(A.transpose(1, 2).flatten(2))
        return out


class Layer(nn.Module):
    """Pre-norm attention to ``keys`` and an MLP, with something added between the two."""

    def __init__(self, shape: Shape, hidden: int) -> None:
        super().__init__()
        width = shape.width
        self.norm_query, self.norm_key, self.norm_mlp = (nn.LayerNorm(width) for _ in range(3))
        self.attention = Attention(width, shape.heads)
        self.mlp = nn.Sequential(
            nn.Linear(width, hidden), nn.GELU(), nn.Dropout(shape.dropout), nn.Linear(hidden, width)
        )
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, F: Tensor, keys: Tensor, added: Tensor | None = None) -> Tensor:
        F = F + self.dropout(self.attention(self.norm_query(F), self.norm_key(keys)))
        if added is not None:
            F = F + added
        out: Tensor = F + self.dropout(self.mlp(self.norm_mlp(F)))
        return out


class Embedding(nn.Module):
    """Both modalities as tokens with positions."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.image, self.sound = Tokenizer(width), Tokenizer(width)
        self.position = nn.Parameter(_SMALL * torch.randn(2, TOKENS, width))

    def forward(self, image: Tensor, sound: Tensor) -> tuple[Tensor, Tensor]:
        if image.shape != sound.shape or image.ndim != 3:
            raise InputError(
                f"expected image and sound of shape (n, 28, 28); got {tuple(image.shape)} and "
                f"{tuple(sound.shape)}"
            )
        return (
            self.image(image.unsqueeze(1)) + self.position[0],
            self.sound(sound.unsqueeze(1)) + self.position[1],
        )


class Injection(nn.Module):
    """S: the data again, through a linear map of each modality; nothing for CLS."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.of_image, self.of_sound = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, cls: Tensor, seen: Tensor, heard: Tensor) -> Tensor:
        return torch.cat([torch.zeros_like(cls), self.of_image(seen), self.of_sound(heard)], dim=1)


class Fusion(nn.Module):
    """The full model and its three ablations, by two switches.

    Parameters
    ----------
    cross : bool
        Whether keys and values come from the data X, or from the state F (self-attention).
    injection : bool
        Whether X is added again in every layer.
    mean : bool
        Whether the head reads the mean of all tokens (ours) or the one of CLS.
    hidden : int, optional
        Of the MLPs; wider ones give a model without injection the parameters of one with it.
    """

    def __init__(
        self,
        *,
        cross: bool = True,
        injection: bool = True,
        mean: bool = False,
        shape: Shape = PAPER,
        hidden: int | None = None,
    ) -> None:
        super().__init__()
        width, hidden = shape.width, shape.hidden if hidden is None else hidden
        self.cross, self.mean = cross, mean
        self.embedding = Embedding(width)
        self.modality = nn.Parameter(_SMALL * torch.randn(2, width))
        self.cls = nn.Parameter(_SMALL * torch.randn(width))
        self.layers = nn.ModuleList(Layer(shape, hidden) for _ in range(shape.layers))
        self.injection = nn.ModuleList(
            Injection(width) for _ in range(shape.layers if injection else 0)
        )
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, CLASSES)

    def forward(self, image: Tensor, sound: Tensor) -> Tensor:
        """Logits (n, 10) of pictures (n, 28, 28)."""
        seen, heard = self.embedding(image, sound)
        seen, heard = seen + self.modality[0], heard + self.modality[1]
        cls = self.cls.expand(len(seen), 1, -1)
        X = torch.cat([cls, seen, heard], dim=1)  # (n, 33, w)
        F = X
        for t, layer in enumerate(self.layers):
            S = self.injection[t](cls, seen, heard) if self.injection else None
            F = layer(F, X if self.cross else F, S)
        out: Tensor = self.head(self.norm(F.mean(dim=1) if self.mean else F[:, 0]))
        return out


class BiCrossAttention(nn.Module):
    """The usual baseline: two streams, each attending to the other in every layer; mean of all tokens."""

    def __init__(self, *, shape: Shape = PAPER) -> None:
        super().__init__()
        self.embedding = Embedding(shape.width)
        self.image_layers, self.sound_layers = (
            nn.ModuleList(Layer(shape, shape.hidden) for _ in range(shape.layers)) for _ in range(2)
        )
        self.norm, self.head = nn.LayerNorm(shape.width), nn.Linear(shape.width, CLASSES)

    def forward(self, image: Tensor, sound: Tensor) -> Tensor:
        """Logits (n, 10)."""
        U, V = self.embedding(image, sound)
        for of_image, of_sound in zip(self.image_layers, self.sound_layers, strict=True):
            U, V = of_image(U, V), of_sound(V, U)
        out: Tensor = self.head(self.norm(torch.cat([U, V], dim=1).mean(dim=1)))
        return out


ARMS = (
    "full",
    "no injection",
    "no cross-attention",
    "neither",
    "bidirectional",
    "no injection, matched",
    "full, mean",
    "no injection, mean",
)
"""Table 1's five models; one without injection of as many parameters as the full one, at the paper's
width; and two whose head reads the mean of all tokens."""

_MATCHED = 48


def build(arm: str, *, shape: Shape = PAPER, rng: np.random.Generator | int) -> nn.Module:
    """A model of Table 1, initialised from ``rng``; Torch's global generator is left as it was.

    Each part is drawn by its name: what two arms have in common they begin with in common.

    Raises
    ------
    InputError
        For an unknown arm.
    """
    if arm not in ARMS:
        raise InputError(f"arm {arm!r} is unknown; choose {', '.join(ARMS)}")
    seed = int(np.random.default_rng(rng).integers(2**63))
    with torch.random.fork_rng(devices=[]):
        model: nn.Module
        if arm == "bidirectional":
            model = BiCrossAttention(shape=shape)
        else:
            model = Fusion(
                cross=arm not in ("no cross-attention", "neither"),
                injection=arm in ("full", "no cross-attention", "full, mean"),
                mean=arm.endswith("mean"),
                shape=shape,
                hidden=_MATCHED * shape.hidden // 32 if arm.endswith("matched") else None,
            )
        for name, part in model.named_modules():
            torch.manual_seed(int(named_rng(seed, name).integers(2**63)))
            if hasattr(part, "reset_parameters"):
                part.reset_parameters()
            else:
                for own in part.parameters(recurse=False):
                    nn.init.normal_(own, std=_SMALL)
    return model


def parameters(model: nn.Module) -> int:
    """How many trainable numbers."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)
