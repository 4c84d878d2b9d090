"""What a trained in-context learner does with a label, and what it knows of ``⟨β,x⟩``.

The theory's layer multiplies an example's contribution by a gate on its label, ``σ(y/ρ+b)``; what
decides is the label transformation ``T(y) = y σ(y/ρ+b)`` and its Hermite coefficients
``E[T(g(z)) he_k(z)]`` (arXiv 2510.12026, section 3). Three things are measured of a full model:

* **opening**: how far a layer opens to a token, as a function of the label in it. For Mamba the mean
  over channels and states of ``1 - exp(Δ A)``, which in the theory's layer (A = -1) is ``σ(y/ρ+b)``;
  for GPT-2 the attention that later positions pay to the token, in units of uniform attention.
* **response**: how later predictions change with the label of one example. If f is a head on a feature
  ``Σ_j T(y_j) ⟨x_j,x_q⟩`` and equals ``g(⟨β,x_q⟩)``, then to first order ``δf ∝ T(y_j) w`` with
  ``w = g'(⟨β,x_q⟩) ⟨x_j,x_q⟩``. So ``T̂(v) = E[(f(y_j ← v) - f(y_j ← 0)) w]/E[w²]`` is the theory's T, up
  to the factor ``1/E[T z]``: so its degree-1 coefficient is positive. It asks nothing of the model's
  inside, and means the same for both. (At r = 1 β cannot change a little, and this does not apply.)
* **alignment**: how well ``⟨β,x⟩`` is read linearly from the residual stream, on tasks that the
  read-out has not seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import pad

from theoryverify.errors import InputError
from theoryverify.models.gpt2 import GPT2, Attention
from theoryverify.models.mamba import Mamba, Mixer
from theoryverify.simulate.in_context import Task, as_tokens

if TYPE_CHECKING:
    from theoryverify.models.sequence import Regressor
    from theoryverify.simulate.icl_prompts import Prompts

Floats = NDArray[np.float64]

_PIECE = 500
"""Prompts in one pass."""


@dataclass(frozen=True)
class Response:
    """How a model treats one label.

    Attributes
    ----------
    values : ndarray (V,)
    opening : ndarray (prompts, layers, V)
    change : ndarray (prompts, V)
        Mean over queries of ``(f(y_j ← v) - f(y_j ← 0)) w``.
    weight : ndarray (prompts,)
        Mean over queries of ``w²``.
    """

    values: Floats
    opening: Floats
    change: Floats
    weight: Floats

    @property
    def transformation(self) -> Floats:
        """``T̂`` at the values: a ratio of means over prompts."""
        return np.asarray(self.change.mean(axis=0) / self.weight.mean())


def label_response(
    model: Regressor, task: Task, context: int, *, prompts: int, values: Floats, rng: Any
) -> Response:
    """Put each value into the place of one example's label, and look.

    It is the label of an early example, at a quarter of the context; its x stays. All later tokens are
    queries but the next three, to which a convolution over four tokens carries it unchanged. ``w`` is
    clipped at ±4, so that no single query decides.

    Raises
    ------
    InputError
        For a context below 8, or a backbone that is neither of the two.
    """
    if context < 8:
        raise InputError(f"context = {context} is too short to change a label in; take 8 or more")
    found = task.sample(prompts, context, rng=rng)
    tokens = as_tokens(found.X, found.y)
    place = context // 4  # this token holds the label of the example before
    later = slice(place + 4, context)
    inner = found.X[:, later] * (found.beta != 0)[:, None]  # on the support
    along = (inner * found.X[:, place - 1, None]).sum(-1)
    w = np.clip(_slope(task, (found.X[:, later] * found.beta[:, None]).sum(-1)) * along, -4, 4)
    parameter = next(model.parameters())
    opened, changes = [], []
    for start in range(0, prompts, _PIECE):
        piece = slice(start, start + _PIECE)
        opens, predicted = [], []
        for v in (0.0, *values):
            changed = tokens[piece].copy()
            changed[:, place, -1] = v
            with torch.no_grad(), _Openings(model.backbone, place) as openings:
                out = model(torch.from_numpy(changed).to(parameter))[:, later]
            opens.append(openings.stacked())
            predicted.append(out.double().cpu().numpy())
        gaps = [((f - predicted[0]) * w[piece]).mean(axis=1) for f in predicted[1:]]
        changes.append(np.stack(gaps, axis=1))
        opened.append(np.stack(opens[1:], axis=2))
    return Response(values, np.concatenate(opened), np.concatenate(changes), (w**2).mean(axis=1))


def _slope(task: Task, z: Floats, step: float = 1e-5) -> Floats:
    g = task.family().g
    return np.asarray((g(z + step) - g(z - step)) / (2 * step), dtype=np.float64)


class _Openings:
    """Collects, in every layer, how far it opens to one token."""

    def __init__(self, backbone: nn.Module, place: int) -> None:
        self._place = place
        self._found: list[Tensor] = []
        self._hooks: list[Any] = []
        if isinstance(backbone, Mamba):
            self._parts: list[nn.Module] = [layer.mixer for layer in backbone.layers]  # type: ignore[misc]
            self._look: Callable[..., Tensor] = _scan_opening
        elif isinstance(backbone, GPT2):
            self._parts = [block.attn for block in backbone.h]  # type: ignore[misc]
            self._look = _attention_opening
        else:
            raise InputError(f"{type(backbone).__name__} is neither Mamba nor GPT2")

    def __enter__(self) -> _Openings:
        def look(part: nn.Module, inputs: tuple[Any, ...]) -> None:
            self._found.append(self._look(part, inputs[0], self._place))

        self._hooks = [part.register_forward_pre_hook(look) for part in self._parts]
        return self

    def __exit__(self, *_: object) -> None:
        for hook in self._hooks:
            hook.remove()

    def stacked(self) -> Floats:
        """(prompts, layers)"""
        return np.stack([x.double().cpu().numpy() for x in self._found], axis=1)


def _scan_opening(mixer: Mixer, x: Tensor, place: int) -> Tensor:
    """Mean over channels and states of ``1 - exp(Δ_t A)``: (b, l, width) to (b,)."""
    u, _ = mixer.in_proj(x).chunk(2, dim=-1)
    u = mixer.convolve(pad(u, (0, 0, mixer.conv1d.kernel_size[0] - 1, 0)))
    step, A, *_ = mixer.parameters_of(u[:, place : place + 1])
    mean: Tensor = torch.expm1(step[:, 0, :, None] * A).mean((1, 2))
    return -mean


def _attention_opening(attention: Attention, x: Tensor, place: int) -> Tensor:
    """Attention of later positions to the token, times how many they see: (b, l, width) to (b,)."""
    b, l, width = x.shape  # noqa: E741
    qkv = attention.c_attn(x).view(b, l, 3, attention.heads, width // attention.heads)
    q, k, _ = qkv.permute(2, 0, 3, 1, 4)
    scores = q[:, :, place + 1 :] @ k.mT / math.sqrt(k.shape[-1])  # (b, heads, later, l)
    later = torch.arange(place + 1, l, device=x.device)[:, None]
    hidden = torch.arange(l, device=x.device) > later
    weights = scores.masked_fill(hidden, -math.inf).softmax(-1)[..., place]
    mean: Tensor = (weights * (later[:, 0] + 1)).mean((1, 2))
    return mean


# -- alignment ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """``⟨β,x⟩`` of the query, as read linearly from the residual stream on tasks not seen before.

    Attributes
    ----------
    guess : ndarray (layers + 1, sizes, n)
        From the stream before the first layer, and after each.
    target : ndarray (sizes, n)
    """

    guess: Floats
    target: Floats

    @property
    def explained(self) -> Floats:
        """R² (layers + 1, sizes); it can be negative."""
        rest = ((self.guess - self.target) ** 2).mean(axis=-1)
        return np.asarray(1 - rest / self.target.var(axis=-1))


def alignment(
    model: Regressor, seen: Prompts, unseen: Prompts, sizes: Sequence[int], *, penalty: float = 1e-2
) -> Reading:
    """Read ``⟨β,x⟩`` after each of these numbers of examples.

    A read-out is fitted by ridge (λ = ``penalty`` times the mean square of a feature) on the tasks
    ``seen``, for each layer and size alone, and applied to the tasks ``unseen``.
    """
    (H, z), (H_new, z_new) = (
        (_streams(model, prompts, sizes), (prompts.X * prompts.beta[:, None]).sum(-1)[:, sizes].T)
        for prompts in (seen, unseen)
    )
    guess = np.empty((*H.shape[:2], z_new.shape[1]))
    for layer, place in np.ndindex(guess.shape[:2]):
        mean, level = H[layer, place].mean(0), z[place].mean()
        A = H[layer, place] - mean
        gram = A.T @ A
        gram += penalty * np.trace(gram) / len(gram) * np.eye(len(gram))
        w = np.linalg.solve(gram, A.T @ (z[place] - level))
        guess[layer, place] = (H_new[layer, place] - mean) @ w + level
    return Reading(guess, z_new)


def _streams(model: Regressor, prompts: Prompts, sizes: Sequence[int]) -> Floats:
    """The residual stream before and after each layer: (layers + 1, sizes, n, width)."""
    backbone = model.backbone
    layers = backbone.layers if isinstance(backbone, Mamba) else backbone.h
    tokens, places = as_tokens(prompts.X, prompts.y), list(sizes)
    kept: list[Tensor] = []

    def keep(_: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        if not kept:
            kept.append(inputs[0][:, places])
        kept.append((output[0] if isinstance(output, tuple) else output)[:, places])

    hooks = [layer.register_forward_hook(keep) for layer in layers]  # type: ignore[union-attr]
    parts = []
    try:
        parameter = next(model.parameters())
        for start in range(0, len(tokens), _PIECE):
            kept.clear()
            with torch.no_grad():
                model(torch.from_numpy(tokens[start : start + _PIECE]).to(parameter))
            parts.append(torch.stack(kept).double().cpu().numpy().swapaxes(1, 2))
    finally:
        for hook in hooks:
            hook.remove()
    return np.concatenate(parts, axis=2)
