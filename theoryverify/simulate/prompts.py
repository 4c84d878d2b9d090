"""Prompts of Section 3: ``x = u m + μ``, ``y = ζ u``, one task (m, ζ) a prompt. NumPy alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from theoryverify.errors import InputError
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import positive_integer

Array = npt.NDArray[np.float64]
_MAX_NUMBERS = 5 * 10**8  # 4 GB of float64


@dataclass(frozen=True)
class Prompts:
    """A batch of n prompts.

    Attributes
    ----------
    X : (n, d, L), y : (n, L)
        The contexts.
    x_q : (n, d), y_q : (n,)
        The queries.
    m : (n, d), zeta : (n,)
        The tasks.
    """

    X: Array
    y: Array
    x_q: Array
    y_q: Array
    m: Array
    zeta: Array

    @property
    def Z(self) -> Array:
        """``1 + |m|²``, of shape ``(n,)``."""
        return np.asarray(1 + (self.m**2).sum(axis=1))

    @property
    def weight(self) -> Array:
        """(3.3): ``w = ζ m/Z``, of shape ``(n, d)``."""
        return (self.zeta / self.Z)[:, None] * self.m

    def excess(self, slope: Array) -> Array:
        """``E[(⟨ŵ,x_q⟩ - ⟨w,x_q⟩)² | prompt] = (ŵ-w)ᵀ(I+mmᵀ)(ŵ-w)``: the query averaged exactly."""
        gap = slope - self.weight
        return np.asarray((gap**2).sum(axis=1) + (gap * self.m).sum(axis=1) ** 2)


def law_of_Z(law: object) -> Law:
    """The law itself, if it can be that of ``1 + |m|²``.

    Raises
    ------
    InputError
        If it is no law, or has mass below 1.
    """
    if not isinstance(law, Law):
        raise InputError(f"expected a law such as Uniform(2, 5), not {law!r}")
    if law.lower < 1:
        raise InputError(f"{law} has mass below 1, but Z = 1+|m|² is at least 1")
    return law


def sample_m(law: Law, d: int, n: int, *, rng: np.random.Generator) -> Array:
    """``m`` (n, d) with an isotropic direction and ``1+|m|² ~ law``."""
    direction = rng.standard_normal((n, d))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return np.asarray(np.sqrt(law.sample(n, rng=rng) - 1)[:, None] * direction)


def sample_prompts(
    law: Law,
    d: int,
    L: int,
    n: int,
    *,
    zeta: Literal["normal", "one"] = "normal",
    rng: np.random.Generator | int | None = None,
) -> Prompts:
    """Draw n prompts with isotropic m, ``1+|m|² ~ law``, and ζ ~ N(0,1) (or ζ = 1).

    Raises
    ------
    InputError
        For sizes below 1, a law with mass below 1, or a batch that would take more than 4 GB, before
        anything is drawn.
    """
    law = law_of_Z(law)
    d, L, n = (positive_integer(v, k) for v, k in ((d, "d"), (L, "L"), (n, "n")))
    if n * (d + 2) * (L + 1) > _MAX_NUMBERS:
        raise InputError(
            f"{n} prompts of {d} x {L} need {8 * n * (d + 2) * (L + 1) / 1e9:.1f} GB; "
            f"at most {8 * _MAX_NUMBERS / 1e9:.0f} GB are allowed: take smaller batches"
        )
    generator = np.random.default_rng(rng)
    m = sample_m(law, d, n, rng=generator)
    scale = generator.standard_normal(n) if zeta == "normal" else np.ones(n)
    u = generator.standard_normal((n, L + 1))
    x = m[:, :, None] * u[:, None, :] + generator.standard_normal((n, d, L + 1))
    y = scale[:, None] * u
    return Prompts(x[:, :, :L], y[:, :L], x[:, :, L], y[:, L], m, scale)
