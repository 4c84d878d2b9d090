"""One layer of attention with an MLP, pretrained in two stages: the rows beside the Mamba.

* **Linear** attention on an MLP's embedding: ``f = Σ_kl Γ_kl (N⁻¹Σ_j y_j h_k(x_j)) h_l(x_q)``,
  ``h_k(x) = ReLU(⟨w_k,x⟩ + b_k)``. Stage I: one step on w at a diagonal Γ of random signs; Stage II:
  fresh b, ridge for Γ. After Oko, Song, Suzuki, Wu (NeurIPS 2024, arXiv 2411.02544).
* **Softmax** attention with the label in the score and an MLP head:
  ``s = Σ_j softmax_j(y_j/ρ + ⟨x_j, Γx_q⟩) y_j``, ``f = Σ_k u_k ReLU(v_k s + a_k)``. Stage I: one step
  on Γ with f = ReLU(s); Stage II: ridge for u. After Nishikawa, Song, Oko, Wu, Suzuki (ICML 2025).

Both were read second-hand; starts and step sizes are ours, in the spirit of
:mod:`theoryverify.simulate.mamba_algorithm`, and both see as many prompts as the Mamba does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from theoryverify.errors import InputError
from theoryverify.models.precision import require_device
from theoryverify.simulate.icl_prompts import Floats, Prompts, TaskFamily
from theoryverify.simulate.mamba_algorithm import (
    PENALTIES,
    Head,
    Setting,
    fit_head,
    random_neurons,
)
from theoryverify.simulate.ridge import ridge

_HIDDEN = 24  # neurons of the embedding: Γ has their square


def _tensors(prompts: Prompts, tokens: int | None, place: torch.device) -> tuple[Tensor, ...]:
    parts = (prompts.X[:, :tokens], prompts.y[:, :tokens], prompts.x_q, prompts.y_q)
    return tuple(torch.from_numpy(np.ascontiguousarray(a)).to(place) for a in parts)


# -- linear attention ---------------------------------------------------------------------------


@dataclass(frozen=True)
class LinearAttention:
    """``w`` (m, d), ``bias`` (m,), ``Gamma`` (m, m)."""

    w: Tensor
    bias: Tensor
    Gamma: Tensor

    def predict(self, prompts: Prompts, tokens: int | None = None) -> Floats:
        """Predictions (n, Q) from the first ``tokens`` examples."""
        X, y, x_q, _ = _tensors(prompts, tokens, self.w.device)
        keys, queries = _keys(X, y, self.w, self.bias), _hidden(x_q, self.w, self.bias)
        return np.asarray((queries @ (keys @ self.Gamma).unsqueeze(-1)).squeeze(-1).cpu().numpy())


def _hidden(x: Tensor, w: Tensor, bias: Tensor) -> Tensor:
    return torch.relu(x @ w.mT + bias)


def _keys(X: Tensor, y: Tensor, w: Tensor, bias: Tensor) -> Tensor:
    """``N⁻¹ Σ_j y_j h(x_j)``: (n, m)."""
    return (y.unsqueeze(1) @ _hidden(X, w, bias)).squeeze(1) / X.shape[1]


def train_linear_attention(
    family: TaskFamily,
    setting: Setting,
    *,
    device: str = "cpu",
    rng: np.random.Generator | int | None = None,
) -> LinearAttention:
    """Both stages on as many prompts as ``setting`` gives the Mamba."""
    generator, place = np.random.default_rng(rng), require_device(device)
    one, two, neurons = generator.spawn(3)
    m, d = _HIDDEN, family.d
    rows = neurons.standard_normal((m, d))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    w = torch.from_numpy(rows).to(place).requires_grad_()
    signs = torch.from_numpy(neurons.choice((-1.0, 1.0), m)).to(place)
    zero = torch.zeros(m, dtype=torch.float64, device=place)
    step = torch.zeros(m, d, dtype=torch.float64, device=place)
    for prompts in family.batches(
        setting.stage_one, setting.tokens, queries=setting.queries, rng=one
    ):
        X, y, x_q, y_q = _tensors(prompts, None, place)
        out = _hidden(x_q, w, zero) @ (signs * _keys(X, y, w, zero)).unsqueeze(-1)
        error = out.squeeze(-1) / m - y_q
        step -= torch.autograd.grad((error**2).sum(), w)[0]
    size = float((step**2).sum(1).mean().sqrt())
    if not size > 0:
        raise InputError("the step on the embedding is 0: nothing was learned")
    w = step / size  # rows of length 1 in the mean
    bias = torch.from_numpy(neurons.uniform(-1, 1, m)).to(place)
    products, targets = [], []
    for prompts in family.batches(
        setting.stage_two, setting.tokens, queries=setting.queries, rng=two
    ):
        X, y, x_q, y_q = _tensors(prompts, None, place)
        pairs = _keys(X, y, w, bias)[:, None, :, None] * _hidden(x_q, w, bias)[:, :, None, :]
        products.append(pairs.flatten(2))
        targets.append(y_q)
    whole, labels = torch.cat(products), torch.cat(targets)
    kept = max(1, len(whole) - len(whole) // 5)
    held, truth = whole[kept:].flatten(0, 1), labels[kept:].flatten()

    def error_of(penalty: float) -> float:
        found = ridge(whole[:kept].flatten(0, 1), labels[:kept].flatten(), penalty)
        return float(((held @ found - truth) ** 2).mean())

    best = min(PENALTIES, key=error_of) if setting.penalty is None else setting.penalty
    gamma = ridge(whole.flatten(0, 1), labels.flatten(), best)
    return LinearAttention(w, bias, gamma.reshape(m, m))


# -- softmax attention --------------------------------------------------------------------------


@dataclass(frozen=True)
class SoftmaxAttention:
    """``Gamma`` (d, d), a head, and the scale ρ of the label in the score."""

    Gamma: Tensor
    head: Head
    rho: float

    def predict(self, prompts: Prompts, tokens: int | None = None) -> Floats:
        """Predictions (n, Q) from the first ``tokens`` examples."""
        X, y, x_q, _ = _tensors(prompts, tokens, self.Gamma.device)
        return np.asarray(self.head(softmax_feature(X, y, x_q, self.Gamma, self.rho)).cpu().numpy())


def softmax_feature(X: Tensor, y: Tensor, x_q: Tensor, Gamma: Tensor, rho: float) -> Tensor:
    """``Σ_j softmax_j(y_j/ρ + ⟨x_j, Γx_q⟩) y_j``: (n, Q)."""
    scores = y.unsqueeze(1) / rho + x_q @ Gamma.mT @ X.mT
    return (torch.softmax(scores, dim=-1) @ y.unsqueeze(-1)).squeeze(-1)


def train_softmax_attention(
    family: TaskFamily,
    setting: Setting,
    *,
    scale: float = 1.0,
    device: str = "cpu",
    rng: np.random.Generator | int | None = None,
) -> SoftmaxAttention:
    """Both stages; Γ starts at ``I/√d``, and the step is scaled to the spectral norm ``scale``."""
    generator, place = np.random.default_rng(rng), require_device(device)
    one, two, neurons = generator.spawn(3)
    rho, d = float(setting.gate.rho), family.d
    start = torch.eye(d, dtype=torch.float64, device=place) / math.sqrt(d)
    Gamma, step = start.requires_grad_(), torch.zeros_like(start)
    for prompts in family.batches(
        setting.stage_one, setting.tokens, queries=setting.queries, rng=one
    ):
        X, y, x_q, y_q = _tensors(prompts, None, place)
        error = torch.relu(softmax_feature(X, y, x_q, Gamma, rho)) - y_q
        step -= torch.autograd.grad((error**2).sum(), Gamma)[0]
    size = float(torch.linalg.matrix_norm(step, 2))
    if not size > 0:
        raise InputError("the step on Γ is 0: nothing was learned")
    learned = step.detach() * (scale / size)
    features, targets = [], []
    for prompts in family.batches(
        setting.stage_two, setting.tokens, queries=setting.queries, rng=two
    ):
        X, y, x_q, y_q = _tensors(prompts, None, place)
        features.append(softmax_feature(X, y, x_q, learned, rho))
        targets.append(y_q)
    s, y_all = torch.cat(features), torch.cat(targets)
    v, a = random_neurons(setting.width, place, neurons)
    # Softmax averages labels: biases cover the features' range, as for the Mamba's features.
    reach = max(float(np.quantile(s.abs().cpu().numpy(), 0.99)), 1e-300)
    head, _ = fit_head(s / reach, y_all, v, a, setting.penalty)
    return SoftmaxAttention(learned, Head(head.u, head.v / reach, head.a), rho)
