"""Prompts of single-index tasks: ``y = g(⟨β,x⟩) ± τ`` with β on the sphere of an unknown support.

``x ~ N(0, I_d)``, the link g is common to all tasks, β is uniform on the unit sphere of r coordinates
I, the same for all tasks. Source: arXiv 2510.12026, section 2 (data).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from theoryverify.errors import InputError
from theoryverify.exact.links import Link, link
from theoryverify.exact.rationals import Exact, positive_integer, rational

Floats = NDArray[np.float64]

_AT_ONCE = 2**22
"""Numbers of X at a time: 32 MB."""


@dataclass(frozen=True)
class Prompts:
    """n contexts of N examples, and Q queries for each.

    Attributes
    ----------
    X : ndarray (n, N, d)
    y : ndarray (n, N)
    x_q : ndarray (n, Q, d)
    y_q : ndarray (n, Q)
        Labels of the queries, with their noise.
    target : ndarray (n, Q)
        ``g(⟨β,x_q⟩)``: the labels without it.
    beta : ndarray (n, d)
    """

    X: Floats
    y: Floats
    x_q: Floats
    y_q: Floats
    target: Floats
    beta: Floats


@dataclass(frozen=True)
class TaskFamily:
    """The law of a task and its prompts.

    Parameters
    ----------
    g : str or Link
    d : int
    support : sequence of int
        The r coordinates on which β lives.
    noise : exact number
        τ

    Raises
    ------
    InputError
        For ``d < 1``, an empty support, indices that repeat or exceed d, or τ < 0.

    Examples
    --------
    >>> family = TaskFamily("He3(z)/sqrt(6)", 8, (1, 4))
    >>> prompts = family.sample(5, 20, queries=3, rng=0)
    >>> prompts.X.shape, prompts.y_q.shape
    ((5, 20, 8), (5, 3))
    """

    g: Link
    d: int
    support: tuple[int, ...]
    noise: Fraction

    def __init__(self, g: str | Link, d: int, support: Iterable[int], noise: Exact = 0) -> None:
        d = positive_integer(d, "d", most=10**6)
        try:
            indices = tuple(support)
        except TypeError:
            raise InputError(f"support = {support!r} must be a list of indices") from None
        good = all(type(i) is int and 0 <= i < d for i in indices)
        if not good or not indices or len(set(indices)) != len(indices):
            raise InputError(f"support = {list(indices)} must be distinct indices in 0..{d - 1}")
        tau = rational(noise, "noise")
        if not 0 <= tau <= sys.float_info.max:
            raise InputError(f"noise = {noise} must not be negative, nor beyond float64")
        for name, value in (("g", link(g)), ("d", d), ("support", indices), ("noise", tau)):
            object.__setattr__(self, name, value)

    @classmethod
    def random(
        cls, g: str | Link, d: int, r: int, noise: Exact = 0, *, rng: np.random.Generator | int
    ) -> TaskFamily:
        """A family with r of the d coordinates drawn at random.

        Raises
        ------
        InputError
            For ``r > d`` and numbers out of range.
        """
        d, r = positive_integer(d, "d", most=10**6), positive_integer(r, "r")
        if r > d:
            raise InputError(f"d = {d} is less than r = {r}: the support has r of d coordinates")
        drawn = np.random.default_rng(rng).choice(d, r, replace=False)
        return cls(g, d, sorted(map(int, drawn)), noise)

    @property
    def r(self) -> int:
        return len(self.support)

    def sample(
        self,
        prompts: int,
        tokens: int,
        *,
        queries: int = 1,
        rng: np.random.Generator | int | None = None,
    ) -> Prompts:
        """Fresh tasks with a prompt each, in float64.

        Raises
        ------
        InputError
            For sizes below 1, or labels that are not finite.
        """
        n, N = positive_integer(prompts, "n"), positive_integer(tokens, "N")
        Q = positive_integer(queries, "Q")
        generator = np.random.default_rng(rng)
        beta = np.zeros((n, self.d))
        inside = generator.standard_normal((n, self.r))
        beta[:, self.support] = inside / np.linalg.norm(inside, axis=1, keepdims=True)
        X = generator.standard_normal((n, N, self.d))
        x_q = generator.standard_normal((n, Q, self.d))
        clean, target = (self._labels((x @ beta[:, :, None])[..., 0]) for x in (X, x_q))
        return Prompts(
            X,
            self._noisy(clean, generator),
            x_q,
            self._noisy(target, generator),
            target,
            beta,
        )

    def batches(
        self,
        prompts: int,
        tokens: int,
        *,
        queries: int = 1,
        rng: np.random.Generator | int | None = None,
    ) -> Iterator[Prompts]:
        """The same number of prompts in pieces that fit into the memory of any machine."""
        generator = np.random.default_rng(rng)
        size = max(1, _AT_ONCE // (tokens * self.d))
        for start in range(0, positive_integer(prompts, "n"), size):
            yield self.sample(min(size, prompts - start), tokens, queries=queries, rng=generator)

    def _labels(self, z: Floats) -> Floats:
        y = np.asarray(self.g(z), dtype=np.float64)
        if not np.isfinite(y).all():
            raise InputError(f"the link {self.g} gives labels that are not finite")
        return y

    def _noisy(self, y: Floats, rng: np.random.Generator) -> Floats:
        return y + float(self.noise) * rng.choice((-1.0, 1.0), y.shape) if self.noise else y
