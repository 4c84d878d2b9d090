"""Shared by the sequence models' tests: inputs, distances, and gradients by name."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    """The same numbers in every dtype."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)


def perturb(model: nn.Module, size: float) -> None:
    """Move all parameters away from where they start: biases from 0, norms from 1."""
    with torch.no_grad():
        for seed, parameter in enumerate(model.parameters()):
            parameter += size * normal(*parameter.shape, seed=seed)


def distance(x: Tensor, y: Tensor) -> float:
    """Largest difference in units of the largest entry of ``y``; NaN where there is one."""
    return ((x - y).abs().max() / (y.abs().max() or 1)).item()


def outputs_and_gradients(
    model: nn.Module, call: Callable[[Tensor], Tensor], x: Tensor, weights: Tensor
) -> dict[str, Tensor]:
    """``y`` and the gradients of ``Σ weights y`` in ``x`` and in every parameter that enters."""
    model.zero_grad()
    x = x.clone().requires_grad_()
    y = call(x)
    (y * weights).sum().backward()
    named = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
    return {"y": y.detach(), "x": x.grad, **named}
