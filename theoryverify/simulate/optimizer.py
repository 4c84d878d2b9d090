"""Settings of stochastic gradient descent, and the learning rate as a function of the step."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from theoryverify.errors import InputError

if TYPE_CHECKING:
    from torch.nn import Parameter
    from torch.optim import Optimizer as Stepper


@dataclass(frozen=True)
class Optimizer:
    """SGD, Adam or AdamW with warm-up, decay and clipping.

    The rate of step ``t`` of ``n`` (from 0) is ``rate (t+1)/warmup`` for ``t < warmup``; afterwards,
    with ``x = (t-warmup)/(n-warmup)``, it is ``rate (floor + (1-floor) c(x))`` where ``c`` is 1
    (constant), ``(1+cos πx)/2`` (cosine) or ``1-x`` (linear).

    Attributes
    ----------
    kind : {"sgd", "adam", "adamw"}
    rate : float
        The highest learning rate.
    warmup : int
        Steps of linear warm-up.
    decay : {"constant", "cosine", "linear"}
    floor : float
        The rate at the end, as a fraction of ``rate``.
    clip : float or None
        The Euclidean norm at which the whole gradient is clipped.
    weight_decay : float
        Decoupled for ``adamw``, an L2 penalty otherwise.
    momentum : float
        Of ``sgd``.
    betas : (float, float)
        Of Adam and AdamW.

    Raises
    ------
    InputError
        For an unknown kind or decay, or a number outside of its range.

    Examples
    --------
    >>> [Optimizer(rate=1, warmup=2, decay="linear").rate_at(t, 6) for t in range(6)]
    [0.5, 1.0, 1.0, 0.75, 0.5, 0.25]
    """

    kind: Literal["sgd", "adam", "adamw"] = "adamw"
    rate: float = 1e-3
    warmup: int = 0
    decay: Literal["constant", "cosine", "linear"] = "constant"
    floor: float = 0.0
    clip: float | None = 1.0
    weight_decay: float = 0.0
    momentum: float = 0.0
    betas: tuple[float, float] = (0.9, 0.999)

    def __post_init__(self) -> None:
        if self.kind not in ("sgd", "adam", "adamw"):
            raise InputError(f"optimizer {self.kind!r} is unknown; choose sgd, adam or adamw")
        if self.decay not in ("constant", "cosine", "linear"):
            raise InputError(f"decay {self.decay!r} is unknown; choose constant, cosine or linear")
        if not 0 < self.rate < math.inf:
            raise InputError(f"rate = {self.rate} must be positive and finite")
        if self.clip is not None and not 0 < self.clip < math.inf:
            raise InputError(f"clip = {self.clip} must be positive and finite, or None")
        if type(self.warmup) is not int or self.warmup < 0:
            raise InputError(f"warmup = {self.warmup!r} must be a whole number of steps, 0 or more")
        if not 0 <= self.floor <= 1:
            raise InputError(f"floor = {self.floor} must lie in [0, 1]")
        if not 0 <= self.weight_decay < math.inf:
            raise InputError(f"weight_decay = {self.weight_decay} must be finite and not negative")
        for name, value in (("momentum", self.momentum), *(("betas", b) for b in self.betas)):
            if not 0 <= value < 1:
                raise InputError(f"{name} = {value} must lie in [0, 1)")

    def rate_at(self, step: int, steps: int) -> float:
        """The learning rate of a step, from 0, of a run of ``steps``."""
        if step < self.warmup:
            return self.rate * (step + 1) / self.warmup
        x = (step - self.warmup) / max(steps - self.warmup, 1)
        shape = {"constant": 1.0, "cosine": (1 + math.cos(math.pi * x)) / 2, "linear": 1 - x}
        return self.rate * (self.floor + (1 - self.floor) * shape[self.decay])

    def of(self, parameters: Iterable[Parameter]) -> Stepper:
        """Torch's optimiser of these parameters."""
        import torch

        options: dict[str, Any] = {"lr": self.rate, "weight_decay": self.weight_decay}
        if self.kind == "sgd":
            return torch.optim.SGD(parameters, momentum=self.momentum, **options)
        kind = torch.optim.Adam if self.kind == "adam" else torch.optim.AdamW
        return kind(parameters, betas=self.betas, **options)

    def configuration(self) -> dict[str, Any]:
        """As plain JSON."""
        return {**asdict(self), "betas": list(self.betas)}
