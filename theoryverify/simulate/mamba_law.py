"""The one-layer Mamba's feature in any dimension from the support alone: a reduction exact in law.

Labels see the r coordinates I of the support. Off it let γ be constant, and equal on diagonal and pair
coordinates. The kernel of p = d - r further coordinates is then a function of three numbers,

    Σ_i (x_i²-1)(q_i²-1)/2 + Σ_{i<j} x_i x_j q_i q_j = (⟨x,q⟩² - |x|² - |q|² + p)/2,

and given the query ``⟨x,q⟩ = |q| G``, ``|x|² = G² + χ²_{p-1}`` with ``G ~ N(0,1)`` independent of all.
So a token costs r + 2 random numbers, whatever d. For Q queries, G becomes their Q directions, with
the triangular factor of their Gram matrix (Bartlett), and χ² has p - Q degrees of freedom. On the
support γ is free. Proved in ``derivations/mamba_in_law.py`` and the claim ``mamba.law``; NumPy alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theoryverify.errors import InputError
from theoryverify.exact.gate import Gate
from theoryverify.exact.links import Link, link
from theoryverify.exact.rationals import positive_integer

Floats = NDArray[np.float64]

MAX_SIZE = 10**15
"""Largest d: degrees of freedom must be exact in float64."""

_AT_ONCE = 2**22  # random numbers in memory at a time


@dataclass(frozen=True)
class SymmetricGamma:
    """A γ that is free on the support, and symmetric off it.

    Attributes
    ----------
    d : int
    constant : float
    linear : ndarray (r,)
    square : ndarray (r, r)
        Symmetric: diagonal coordinates on its diagonal, pairs off it.
    mixed : ndarray (r,)
        For pairs of a support coordinate i and any other one: one value for each i.
    outside_linear : float
        For the linear coordinates off the support.
    outside_square : float
        For the diagonal and the pair coordinates off the support.
    """

    d: int
    constant: float
    linear: Floats
    square: Floats
    mixed: Floats
    outside_linear: float
    outside_square: float

    def __post_init__(self) -> None:
        r = len(self.linear)
        positive_integer(self.d, "d", most=MAX_SIZE)
        if not 1 <= r <= self.d:
            raise InputError(f"a support of r = {r} coordinates in dimension d = {self.d}")
        if self.square.shape != (r, r) or self.mixed.shape != (r,):
            raise InputError(
                f"γ needs a square part ({r}, {r}) and a mixed part ({r},); got "
                f"{self.square.shape} and {self.mixed.shape}"
            )
        if not np.array_equal(self.square, self.square.T):
            raise InputError("the square part of γ must be symmetric")

    @property
    def r(self) -> int:
        return len(self.linear)

    @classmethod
    def two_values(cls, d: int, r: int, *, inside: float = 1.0, outside: float) -> SymmetricGamma:
        """``inside`` on the support, ``outside`` off it: γ^(0) = 1, or the indicator."""
        r = positive_integer(r, "r")
        return cls(
            d,
            inside,
            np.full(r, float(inside)),
            np.full((r, r), float(inside)),
            np.full(r, float(outside)),
            outside,
            outside,
        )

    @classmethod
    def of_vector(cls, gamma: ArrayLike, support: Sequence[int]) -> SymmetricGamma:
        """From the vector γ (d~,) in the order of φ: constant, linear, diagonal, pairs i < j.

        Raises
        ------
        InputError
            For a wrong length or support, or where the symmetry is broken, naming two coordinates
            that differ: then the feature depends on more than the reduction keeps.
        """
        values = np.asarray(gamma, dtype=np.float64)
        d = _dimension(values)
        inside = np.zeros(d, dtype=bool)
        for index in support:
            if isinstance(index, bool) or not 0 <= index < d or inside[index]:
                raise InputError(
                    f"support = {list(support)} must be distinct indices in 0..{d - 1}"
                )
            inside[index] = True
        order, others = np.asarray(support, dtype=np.int64), np.flatnonzero(~inside)
        whole = np.diag(values[1 + d : 1 + 2 * d])
        upper = np.triu_indices(d, 1)
        whole[upper] = values[1 + 2 * d :]
        whole.T[upper] = values[1 + 2 * d :]
        linear = _one_value(values[1 : 1 + d], others, "the linear coordinates off the support")
        block = whole[np.ix_(others, others)]
        square = _one_value(
            block.ravel(), np.arange(block.size), "diagonal and pair coordinates off the support"
        )
        mixed = [
            _one_value(whole[i], others, f"pairs of coordinate {i} with those off the support")
            for i in order
        ]
        return cls(
            d,
            float(values[0]),
            values[1 : 1 + d][order],
            whole[np.ix_(order, order)],
            np.array(mixed, dtype=np.float64),
            linear,
            square,
        )


def _dimension(values: Floats) -> int:
    size = values.size
    d = (math.isqrt(8 * size + 1) - 3) // 2
    if values.ndim != 1 or d < 1 or (d + 1) * (d + 2) // 2 != size:
        raise InputError(
            f"γ has the shape {values.shape}; it needs (d+1)(d+2)/2 entries: 3, 6, 10, ..."
        )
    return d


def _one_value(values: Floats, where: NDArray[np.int64], what: str) -> float:
    """The value that all these coordinates share."""
    found = values[where]
    if found.size == 0:
        return 0.0
    if not np.all(found == found[0]):
        other = found[np.flatnonzero(found != found[0])[0]]
        raise InputError(
            f"{what} hold {found[0]} and {other}: the reduction needs one value there. "
            "Take the fast form of theoryverify.models.mamba_layer"
        )
    return float(found[0])


@dataclass(frozen=True)
class Offsets:
    """What a wrong reduction would use, for controls: changes of the degrees of freedom of χ², of
    the share of G² in |x|², and of the length of the query."""

    rest: int = 0
    along: float = 1.0
    length: int = 0


@dataclass(frozen=True)
class LawDraws:
    """Features of n prompts at Q queries each.

    Attributes
    ----------
    feature : ndarray (n, Q)
        ``N⁻¹ Mamba(Z; γ)``.
    z : ndarray (n, Q)
        ``⟨β, x_q⟩``.
    label : ndarray (n, Q)
        ``g(z) ± τ``.
    """

    feature: Floats
    z: Floats
    label: Floats


def sample_features(
    gamma: SymmetricGamma,
    g: str | Link,
    gate: Gate,
    tokens: int,
    prompts: int,
    *,
    queries: int = 1,
    rng: np.random.Generator | int | None = None,
    offsets: Offsets | None = None,
) -> LawDraws:
    """Features of fresh tasks, exactly in law: β uniform on the sphere of the support.

    Parameters
    ----------
    gamma : SymmetricGamma
    g : str or Link
        The link.
    gate : Gate
        With its label noise.
    tokens : int
        N
    prompts : int
        n, each with a task of its own.
    queries : int
        Q for each prompt.
    rng : Generator, int or None
    offsets : Offsets, optional
        For controls.

    Returns
    -------
    LawDraws
        float64.

    Raises
    ------
    InputError
        For numbers out of range, or labels that are not finite.

    Warns
    -----
    OutsideClaimWarning
        For b = 0 and an odd link.

    Notes
    -----
    ``N(r+Q+1)`` random numbers a prompt and ``O(N(r+Q)²)`` operations in matrix products; no step
    depends on d. Memory is bounded: prompts are made in batches, long contexts in pieces.

    Examples
    --------
    >>> draws = sample_features(SymmetricGamma.two_values(10**6, 4, outside=1.0), "He3(z)/sqrt(6)",
    ...                         Gate(8, -4), tokens=1000, prompts=2, rng=0)
    >>> draws.feature.shape
    (2, 1)
    """
    N, n = positive_integer(tokens, "N"), positive_integer(prompts, "n")
    Q = positive_integer(queries, "Q")
    g = link(g)
    gate.warn_if_flat(g)
    generator = np.random.default_rng(rng)
    width = gamma.r + min(gamma.d - gamma.r, Q) + 2
    batch = max(1, _AT_ONCE // (N * width))
    parts = [
        _batch(gamma, g, gate, N, min(batch, n - start), Q, generator, offsets or Offsets())
        for start in range(0, n, batch)
    ]
    return LawDraws(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _batch(
    gamma: SymmetricGamma,
    g: Link,
    gate: Gate,
    N: int,
    n: int,
    Q: int,
    rng: np.random.Generator,
    offsets: Offsets,
) -> tuple[Floats, Floats, Floats]:
    r, p = gamma.r, gamma.d - gamma.r
    beta = rng.standard_normal((n, r))
    beta /= np.linalg.norm(beta, axis=1, keepdims=True)
    x_q = rng.standard_normal((n, Q, r))
    z_q = (x_q @ beta[:, :, None])[..., 0]
    L = _query_factor(n, Q, p, rng, offsets)  # (n, Q, k)
    sums = _Sums(n, r + L.shape[2])
    freedom = p - L.shape[2] + (offsets.rest if p > L.shape[2] else 0)
    # Newest tokens first: what a piece has left open, Π(1-s), multiplies all older ones.
    piece = max(1, _AT_ONCE // (n * (r + L.shape[2] + 2)))
    closed = np.full(n, _log_sigmoid(np.array(-float(gate.b))))
    for start in range(0, N, piece):
        size = min(piece, N - start)
        v = rng.standard_normal((n, size, r + L.shape[2]))
        y = _labels(g, (v[..., :r] @ beta[:, :, None])[..., 0], gate.noise, rng)
        u = y / float(gate.rho) + float(gate.b)
        closing = _log_sigmoid(-u)
        before = np.cumsum(closing, axis=1)
        logs = _log_sigmoid(u) + before - closing + closed[:, None]
        closed = closed + before[:, -1]
        rest = rng.chisquare(freedom, (n, size)) if freedom > 0 else np.zeros((n, size))
        sums.add(np.exp(logs) * y, v, rest)
    feature = _feature(gamma, sums, x_q, L, offsets) / N
    return feature, z_q, _labels(g, z_q, gate.noise, rng)


def _query_factor(n: int, Q: int, p: int, rng: np.random.Generator, offsets: Offsets) -> Floats:
    """``L`` with ``L Lᵀ`` the Gram matrix of the queries off the support: (n, Q, min(p, Q))."""
    if p <= Q:
        return rng.standard_normal((n, Q, p))
    L = np.tril(rng.standard_normal((n, Q, Q)), -1)
    degrees = p - np.arange(Q) + offsets.length
    L[:, np.arange(Q), np.arange(Q)] = np.sqrt(rng.chisquare(degrees, (n, Q)))
    return L


class _Sums:
    """``Σ w``, ``Σ w v``, ``Σ w v vᵀ`` and ``Σ w χ²`` over the context, in the reduced coordinates."""

    def __init__(self, n: int, width: int) -> None:
        self.one, self.rest = np.zeros(n), np.zeros(n)
        self.linear, self.square = np.zeros((n, width)), np.zeros((n, width, width))

    def add(self, weights: Floats, v: Floats, rest: Floats) -> None:
        self.one += weights.sum(1)
        self.rest += (weights * rest).sum(1)
        self.linear += (weights[:, None, :] @ v)[:, 0]
        self.square += (v * weights[..., None]).transpose(0, 2, 1) @ v


def _feature(
    gamma: SymmetricGamma, sums: _Sums, x_q: Floats, L: Floats, offsets: Offsets
) -> Floats:
    """``Σ_j w_j κ(x_j, x_q)`` from the sums: (n, Q)."""
    r, p = gamma.r, gamma.d - gamma.r
    one = sums.one[:, None]
    inside, across = sums.square[:, :r, :r], sums.square[:, :r, r:]
    outside = sums.square[:, r:, r:]
    own = np.diagonal(gamma.square) * (np.diagonal(inside, axis1=1, axis2=2) - one) / 2
    matrix = gamma.square * inside / 2
    matrix[:, np.arange(r), np.arange(r)] = own
    total = gamma.constant * one + _dot(x_q, (gamma.linear * sums.linear[:, :r])[:, None])
    total = total + _dot(x_q @ matrix, x_q) - own.sum(1, keepdims=True)
    total = total + gamma.outside_linear * _dot(L, sums.linear[:, None, r:])
    total = total + _dot((x_q * gamma.mixed) @ across, L)
    lengths = np.trace(outside, axis1=1, axis2=2) * offsets.along + sums.rest
    quadratic = _dot(L @ outside, L) - lengths[:, None] + (p - _dot(L, L)) * one
    return np.asarray(total + gamma.outside_square * quadratic / 2)


def _dot(left: Floats, right: Floats) -> Floats:
    return np.asarray((left * right).sum(-1))


def _labels(g: Link, z: Floats, noise: Fraction, rng: np.random.Generator) -> Floats:
    y = np.asarray(g(z), dtype=np.float64)
    if not np.isfinite(y).all():
        raise InputError(f"the link {g} gives labels that are not finite")
    return y + float(noise) * rng.choice((-1.0, 1.0), y.shape) if noise else y


def _log_sigmoid(u: Floats) -> Floats:
    return np.asarray(-np.logaddexp(0.0, -u))
