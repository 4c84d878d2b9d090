"""Algorithm 1: pretraining of the one-layer Mamba with a two-layer head, and prediction at test time.

    f(Z) = Σ_k u_k ReLU(v_k N⁻¹Mamba(Z; γ) + a_k)

* Stage I: one full-batch gradient step on ``L = 1/2 mean (f-y)²`` over T_1 tasks, from γ^(0),
  ``u = 1/m``: ``γ* = γ^(0) - η(∂L + λ_1 γ^(0))``, which is ``-η ∂L`` for ``λ_1 = 1/η``;
* Stage II: ``v ~ Unif{±1}``, ``a ~ Unif[-1,1]``, u by ridge on T_2 fresh tasks;
* test time: fresh tasks, nothing is trained.

Source: arXiv 2510.12026, Algorithm 1. It was read second-hand: γ^(0), v^(0), a^(0), η and λ_2 are not
known. The defaults work. From a linear start, or with a linear head, the step sees nothing of the label
of odd links with ie >= 3 (``mamba.E.linear-start``, ``mamba.E.linear-head``). η is such that the
features of Stage II are of size 1, and λ_2 is chosen on a fifth of the T_2 tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from theoryverify.errors import InputError
from theoryverify.exact.gate import Gate
from theoryverify.exact.rationals import positive_integer
from theoryverify.models.mamba_layer import (
    blocks,
    context_moments,
    embedding_dimension,
    feature,
    supported_gamma,
)
from theoryverify.models.precision import require_device
from theoryverify.simulate.icl_prompts import Floats, Prompts, TaskFamily
from theoryverify.simulate.ridge import ridge

STARTS: dict[str, tuple[float, float, float]] = {
    "all ones": (1, 1, 1),
    "no constant": (0, 1, 1),
    "quadratic only": (0, 0, 1),
    "constant and linear": (1, 1, 0),
    "linear only": (0, 1, 0),
}
"""γ^(0): its value on the constant, linear and quadratic coordinates."""

HEADS = ("kink", "spread", "linear")
"""The head of Stage I: ``ReLU(M)`` (v = 1, a = 0); v = ±1 and a uniform on [-1,1]; ``M`` itself."""

PENALTIES = tuple(10.0**-k for k in range(1, 9))
"""λ_2 is one of these."""

_SPREAD = 64  # neurons of the head "spread"


@dataclass(frozen=True)
class Setting:
    """Sizes and choices of Algorithm 1.

    Parameters
    ----------
    gate : Gate
        ρ and b; the label noise is the family's.
    tokens : int
        N of the pretraining prompts.
    stage_one, stage_two : int
        T_1 and T_2.
    queries : int
        Queries a prompt. The algorithm has one; more lower the variance of the step, not its mean.
    width : int
        m
    start : str
        γ^(0), one of :data:`STARTS`.
    head : str
        The head of Stage I, one of :data:`HEADS`.
    eta : float, optional
        Default: such that 99% of the features of Stage II lie in [-1, 1], where the biases are.
    decay : float, optional
        λ_1, default 1/η: then γ^(0) is gone after the step.
    penalty : float, optional
        λ_2, default chosen among :data:`PENALTIES`.

    Raises
    ------
    InputError
        For sizes below 1, an unknown start or head, or numbers that are not positive.
    """

    gate: Gate
    tokens: int
    stage_one: int
    stage_two: int
    queries: int = 16
    width: int = 200
    start: str = "all ones"
    head: str = "kink"
    eta: float | None = None
    decay: float | None = None
    penalty: float | None = None

    def __post_init__(self) -> None:
        for name, value in (
            ("N", self.tokens),
            ("T_1", self.stage_one),
            ("T_2", self.stage_two),
            ("queries", self.queries),
            ("width", self.width),
        ):
            positive_integer(value, name)
        if self.start not in STARTS:
            raise InputError(f"start {self.start!r} is unknown; choose {', '.join(STARTS)}")
        if self.head not in HEADS:
            raise InputError(f"head {self.head!r} is unknown; choose {', '.join(HEADS)}")
        for name, number in (("eta", self.eta), ("penalty", self.penalty)):
            if number is not None and not (0 < number < float("inf")):
                raise InputError(f"{name} = {number} must be positive and finite")
        if self.decay is not None and not (0 <= self.decay < float("inf")):
            raise InputError(f"decay = {self.decay} must be at least 0 and finite")
        if self.decay is not None and self.eta is None:
            raise InputError(f"decay = {self.decay} needs a step eta of one's own")


PRESETS = {
    "quick": Setting(Gate(4, -6), tokens=512, stage_one=400, stage_two=200),
    "laptop": Setting(Gate(4, -8), tokens=4096, stage_one=4000, stage_two=2000, width=1000),
    "paper": Setting(
        Gate(8, -10), tokens=32_768, stage_one=32_768, stage_two=32_768, queries=1, width=4096
    ),
}
"""``paper``: γ, one query a prompt and T_1 = N as the theory has them; the sizes are ours."""


@dataclass(frozen=True)
class Head:
    """``Σ_k u_k ReLU(v_k s + a_k)``: u, v, a of shape (m,)."""

    u: Tensor
    v: Tensor
    a: Tensor

    def __call__(self, s: Tensor) -> Tensor:
        return self.hidden(s) @ self.u

    def hidden(self, s: Tensor) -> Tensor:
        """ReLU(v s + a): s (...) to (..., m)."""
        return torch.relu(s.unsqueeze(-1) * self.v + self.a)


@dataclass(frozen=True)
class Trained:
    """A pretrained model.

    Attributes
    ----------
    gamma : Tensor ((d+1)(d+2)/2,)
    head : Head
    gate : Gate
    penalty : float
        The λ_2 taken.
    """

    gamma: Tensor
    head: Head
    gate: Gate
    penalty: float

    def feature(self, prompts: Prompts, tokens: int | None = None) -> Floats:
        """``N⁻¹ Mamba`` (n, Q) from the first ``tokens`` examples, default all."""
        return prompt_feature(self.gamma, prompts, self.gate, tokens).cpu().numpy()

    def predict(self, prompts: Prompts, tokens: int | None = None) -> Floats:
        """Predictions (n, Q)."""
        s = prompt_feature(self.gamma, prompts, self.gate, tokens)
        return np.asarray(self.head(s).cpu().numpy())


def initial_gamma(d: int, start: str) -> Tensor:
    """γ^(0): one value for each degree of φ, on and off the unknown support alike."""
    if start not in STARTS:
        raise InputError(f"start {start!r} is unknown; choose {', '.join(STARTS)}")
    constant, linear, quadratic = STARTS[start]
    return supported_gamma(
        d, range(d), constant=constant, linear=linear, diagonal=quadratic, pair=quadratic
    )


def prompt_feature(
    gamma: Tensor, prompts: Prompts, gate: Gate, tokens: int | None = None
) -> Tensor:
    """``N⁻¹ Mamba`` at the queries: (n, Q), on the device of γ and differentiable in it."""
    X, y, x_q = (
        torch.from_numpy(np.ascontiguousarray(a)).to(gamma.device)
        for a in (prompts.X[:, :tokens], prompts.y[:, :tokens], prompts.x_q)
    )
    moments = context_moments(X, y, rho=float(gate.rho), b=float(gate.b))
    return feature(moments, x_q, gamma)


def stage_one_gradient(
    family: TaskFamily, setting: Setting, *, device: str = "cpu", rng: np.random.Generator
) -> Tensor:
    """``-∂L/∂γ`` at γ^(0) over T_1 tasks: (d~,).

    Raises
    ------
    InputError
        If there is no such device.

    Warns
    -----
    OutsideClaimWarning
        For b = 0 and an odd link.
    """
    setting.gate.warn_if_flat(family.g)
    place = require_device(device)
    gamma = initial_gamma(family.d, setting.start).to(place).requires_grad_()
    head = _first_head(setting, place, rng)
    total = torch.zeros(embedding_dimension(family.d), dtype=torch.float64, device=place)
    count = setting.stage_one * setting.queries
    for prompts in family.batches(
        setting.stage_one, setting.tokens, queries=setting.queries, rng=rng
    ):
        out = prompt_feature(gamma, prompts, setting.gate)
        if setting.head != "linear":
            out = head(out)
        error = out - torch.from_numpy(prompts.y_q).to(place)
        total -= torch.autograd.grad((error**2).sum() / (2 * count), gamma)[0]
    return total


def _first_head(setting: Setting, place: torch.device, rng: np.random.Generator) -> Head:
    m = _SPREAD if setting.head == "spread" else 1
    u = torch.full((m,), 1 / m, dtype=torch.float64, device=place)
    if setting.head == "spread":
        return Head(u, *random_neurons(m, place, rng))
    return Head(u, torch.ones_like(u), torch.zeros_like(u))


def random_neurons(m: int, place: torch.device, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """``v ~ Unif{±1}^m``, ``a ~ Unif[-1,1]^m``."""
    v = rng.choice((-1.0, 1.0), m)
    a = rng.uniform(-1, 1, m)
    return torch.from_numpy(v).to(place), torch.from_numpy(a).to(place)


def train(
    family: TaskFamily,
    setting: Setting,
    *,
    gamma: Tensor | None = None,
    device: str = "cpu",
    rng: np.random.Generator | int | None = None,
) -> Trained:
    """Algorithm 1.

    Parameters
    ----------
    family : TaskFamily
    setting : Setting
    gamma : Tensor, optional
        Weights instead of Stage I's: the indicator of the support, say, or all ones. They are
        scaled like those of a step.
    device : str
    rng : Generator, int or None

    Raises
    ------
    InputError
        If there is no such device, γ has the wrong length, or γ* is 0.
    """
    generator = np.random.default_rng(rng)
    one, two, neurons = generator.spawn(3)
    place = require_device(device)
    if gamma is None:
        step = stage_one_gradient(family, setting, device=device, rng=one)
        if setting.eta is not None:
            start = initial_gamma(family.d, setting.start).to(place)
            kept = 1 - setting.eta * setting.decay if setting.decay is not None else 0.0
            step = setting.eta * step + kept * start
    else:
        step = gamma.detach().to(place)
    pairs = [
        (prompt_feature(step, prompts, setting.gate), torch.from_numpy(prompts.y_q).to(place))
        for prompts in family.batches(
            setting.stage_two, setting.tokens, queries=setting.queries, rng=two
        )
    ]
    s, y = (torch.cat(part) for part in zip(*pairs, strict=True))  # (T_2, Q) each
    if setting.eta is None:
        reach = float(np.quantile(s.abs().cpu().numpy(), 0.99))
        if not reach > 0:
            raise InputError("γ* is 0 on every prompt: nothing was learned")
        step, s = step / reach, s / reach
    v, a = random_neurons(setting.width, place, neurons)
    head, penalty = fit_head(s, y, v, a, setting.penalty)
    return Trained(step, head, setting.gate, penalty)


def fit_head(
    s: Tensor, y: Tensor, v: Tensor, a: Tensor, penalty: float | None = None
) -> tuple[Head, float]:
    """Stage II: u by ridge; λ_2 given, or the best of :data:`PENALTIES` on the last fifth of tasks.

    Parameters
    ----------
    s, y : Tensor (T, Q)
        Features and labels of T tasks.
    v, a : Tensor (m,)
    penalty : float, optional
    """
    empty = Head(torch.zeros_like(v), v, a)
    whole = empty.hidden(s).flatten(0, 1)
    if penalty is None:
        kept = max(1, len(s) - len(s) // 5)
        train_set, held = empty.hidden(s[:kept]).flatten(0, 1), empty.hidden(s[kept:])
        errors = [
            float(((held @ ridge(train_set, y[:kept].flatten(), p) - y[kept:]) ** 2).mean())
            for p in PENALTIES
        ]
        penalty = PENALTIES[int(np.argmin(errors))]
    return replace(empty, u=ridge(whole, y.flatten(), penalty)), penalty


# -- the support --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recovery:
    """How far the support stands out among coordinates of one kind.

    Attributes
    ----------
    inside, outside : ndarray
        ``|γ_α|`` on the support and off it.
    """

    inside: Floats
    outside: Floats

    @property
    def separated(self) -> bool:
        """Whether each coordinate on the support exceeds all others."""
        return bool(self.inside.min() > self.outside.max()) if self.outside.size else True

    @property
    def ratio(self) -> float:
        """Root mean squares, on over off the support."""
        off = float(np.sqrt((self.outside**2).mean())) if self.outside.size else 0.0
        return float(np.sqrt((self.inside**2).mean())) / off if off else float("inf")


def recovery(gamma: Tensor, support: Sequence[int], kind: str = "linear") -> Recovery:
    """Sizes of the coordinates of a kind, ``linear``, ``diagonal`` or ``pair``.

    A pair is on the support if both of its indices are.
    """
    parts = blocks(gamma.detach().cpu())
    inside = torch.zeros(len(parts.linear), dtype=torch.bool)
    inside[list(support)] = True
    if kind in ("linear", "diagonal"):
        values = getattr(parts, kind).abs()
        return Recovery(values[inside].numpy(), values[~inside].numpy())
    if kind != "pair":
        raise InputError(f"kind {kind!r} is unknown; choose linear, diagonal, pair")
    i, j = torch.triu_indices(len(inside), len(inside), 1)
    values, both = parts.pair[i, j].abs(), inside[i] & inside[j]
    return Recovery(values[both].numpy(), values[~both].numpy())
