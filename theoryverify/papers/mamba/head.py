"""The two-layer head on the feature ``s = (⟨β,x⟩/r)^ge``: least norm at infinite width, and finite heads.

With ``v = ±1``, ``a ~ Unif[-1,1]``, outer weights ``u_k = h(v_k,a_k)/m`` make ``m|u|² → E h²``, so
``√m |u*|`` tends to the norm of the fitted function in the space of the kernel

    K(s,t) = E ReLU(vs+a) ReLU(vt+a) = (A(s,t) + A(-s,-t))/2,
    A(s,t) = ½ ∫_{max(-1,-min(s,t))}^1 (a+s)(a+t) da,

a cubic spline's. The least norm at which ``E(f(s)-g(z))² = ε`` is ridge regression on the eigenvectors of
K over ``z ~ N(0,1)``; z is discretised by the trapezoid rule. With s of order ``r^{-ge}`` the target has
second derivative ``r^{2ge}`` on an interval of length ``r^{-ge}``: the norm grows like ``r^{3ge/2}``.
Source: arXiv 2510.12026, the lemma on the MLP as reported, ``|u*| <= Õ(r^{3ge/2} m^{-1/2})``; this form
is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from theoryverify.errors import InputError
from theoryverify.exact.links import Link, link
from theoryverify.exact.rationals import positive_integer

Floats = NDArray[np.float64]

_STEP, _CUT = 1 / 16, 8.0


def head_kernel(s: Floats, t: Floats) -> Floats:
    """``K(s,t)``, broadcast."""
    return np.asarray((_half(s, t) + _half(-s, -t)) / 2)


def _half(s: Floats, t: Floats) -> Floats:
    low = np.clip(-np.minimum(s, t), -1, 1)

    def primitive(a: Floats | float) -> Floats:
        return np.asarray(a**3 / 3 + (s + t) * a**2 / 2 + s * t * a)

    return np.asarray((primitive(1.0) - primitive(low)) / 2)


@dataclass(frozen=True)
class Target:
    """``g(z)`` against ``s = (z/r)^ge`` on a grid of z, with Gaussian weights.

    Parameters
    ----------
    g : str or Link
    ge : int
        1 or 2.
    r : int
    step : float
        Of the grid on [-8, 8].
    """

    z: Floats
    weight: Floats
    s: Floats
    values: Floats

    @classmethod
    def of(cls, g: str | Link, ge: int, r: int, step: float = _STEP) -> Target:
        if ge not in (1, 2):
            raise InputError(f"ge = {ge!r}: a polynomial link has generative exponent 1 or 2")
        r = positive_integer(r, "r")
        z = np.arange(-_CUT, _CUT + step / 2, step)
        weight = np.exp(-(z**2) / 2)
        weight /= weight.sum()
        return cls(z, weight, (z / r) ** ge, np.asarray(link(g)(z), dtype=np.float64))


@dataclass(frozen=True)
class LeastNorm:
    """``√m |u*|`` in the limit m → ∞, and the ridge λ that gives the error asked for."""

    norm: float
    penalty: float


def least_norm(target: Target, error: float) -> LeastNorm:
    """The least norm with ``E(f-g)² = error``.

    Raises
    ------
    InputError
        For an error not between 0 and ``E g²``.
    """
    root = np.sqrt(target.weight)
    gram = root[:, None] * head_kernel(target.s[:, None], target.s[None]) * root
    values, vectors = np.linalg.eigh(gram)
    along = vectors.T @ (root * target.values)
    values = np.maximum(values, 0)
    if not 0 < error < float(along @ along):
        raise InputError(f"error = {error} must lie between 0 and E g² = {along @ along:.6g}")
    low, high = -80.0, 20.0
    for _ in range(100):
        middle = (low + high) / 2
        left = np.exp(middle) / (values + np.exp(middle)) * along
        low, high = (low, middle) if left @ left > error else (middle, high)
    penalty = float(np.exp(low))
    norm = np.sqrt(np.sum(values * along**2 / (values + penalty) ** 2))
    return LeastNorm(float(norm), penalty)


@dataclass(frozen=True)
class FiniteHead:
    """A head of m random neurons: its error ``E(f-g)²`` and ``√m |u*|``."""

    error: float
    norm: float


def finite_head(target: Target, width: int, penalty: float, rng: np.random.Generator) -> FiniteHead:
    """Ridge for u over the law of z, with ridge λ on ``m|u|²``."""
    m = positive_integer(width, "width")
    v, a = rng.choice((-1.0, 1.0), m), rng.uniform(-1, 1, m)
    root = np.sqrt(target.weight)
    hidden = root[:, None] * np.maximum(v * target.s[:, None] + a, 0) / np.sqrt(m)
    left, sizes, _ = np.linalg.svd(hidden, full_matrices=False)
    along = left.T @ (root * target.values)
    weights = sizes * along / (sizes**2 + penalty)
    miss = left @ (sizes * weights) - root * target.values
    return FiniteHead(float(miss @ miss), float(np.sqrt(weights @ weights)))


def width_needed(
    target: Target, error: float, rng: np.random.Generator, *, growth: float = 1.15
) -> int:
    """The first of widths ``4, 4.6, ...`` at which a random head reaches twice the error.

    At the ridge of infinite width for ``error``.
    """
    penalty = least_norm(target, error).penalty
    width = 4.0
    while finite_head(target, round(width), penalty, rng).error > 2 * error:
        width *= growth
    return round(width)


@dataclass(frozen=True)
class Slope:
    """A least-squares slope in logarithms, and an interval for it."""

    value: float
    lower: float
    upper: float


def slope(sizes: Sequence[float], lower: Floats, upper: Floats) -> Slope:
    """The slope of ``log y`` on ``log x`` where each y is known to lie in [lower, upper].

    The fitted slope is linear in ``log y``, so its extremes are at ends of the intervals.
    """
    x = np.log(np.asarray(sizes, dtype=np.float64))
    weight = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    low, high = np.log(lower), np.log(upper)
    middle = float(weight @ (low + high) / 2)
    radius = float(np.abs(weight) @ (high - low) / 2)
    return Slope(middle, middle - radius, middle + radius)


def median_bounds(draws: Floats, error: float) -> tuple[Floats, Floats]:
    """The k-th smallest and k-th largest of n draws, along the last axis.

    They miss the median with probability at most ``2^{1-n} Σ_{i<k} C(n,i)``, whatever the law: k is the
    largest with which that is at most ``error``.

    Raises
    ------
    InputError
        For so few draws that even the extremes miss it more often.
    """
    n = draws.shape[-1]
    missed = np.cumsum([comb(n, i) / 2 ** (n - 1) for i in range(n // 2)])
    k = int(np.count_nonzero(missed <= error))
    if k == 0:
        raise InputError(f"{n} draws are too few for an error of {error:g}")
    ordered = np.sort(draws, axis=-1)
    return ordered[..., k - 1], ordered[..., n - k]
