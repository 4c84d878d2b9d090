"""When a Monte Carlo estimate of the finite-context risk is not to be trusted.

The excess risk e of a prompt is a polynomial of degree about 4T in Gaussians: its mean may be
carried by events that n prompts never show, and then neither the sample's mean nor its standard
deviation says anything. Such events have ``‖Σ̂‖ > 2/α``, where the iteration expands. Given the
inputs, ``ŵ-w`` is Gaussian, so with ``E[e|X] <= U(‖Σ̂‖)``

    E[e² ; ‖Σ̂‖ > x] <= 3 E[U(‖Σ̂‖)² ; ‖Σ̂‖ > x],
    U(x) = W̄ A(x)² + (d-1+Z̲)/(Z̲L) · B(x),   A >= |1-sP(s)|, B >= sP(s)² on [0,x],

which the tail of ``‖Σ̂‖`` turns into a number. Two tails are used, the smaller at each x:

* ``‖Σ̂‖ <= Z(1 + √((d-1+Z)/(ZL)) + t)²`` but for probability ``e^{-Lt²/2}`` (Chevet, Gordon);
* ``P(λ_max(W_d(L)) > y) <= c P(χ²_{L+d-1} > y)``, ``c = √π Γ((L+d-1)/2)/(Γ(L/2)Γ(d/2))``: in the
  joint density of the eigenvalues ``Π(λ_1-λ_i) <= λ_1^{d-1}``, and what remains is a Wishart density
  of size d-1 with L-1 degrees. At d = 1 it is exact, up to Chernoff's bound for the χ².

The arithmetic is float64: these numbers say whether to trust a simulation, and prove no theorem.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import sympy
from numpy.typing import NDArray

from theoryverify.exact.balls import precision
from theoryverify.exact.laws import Law

Floats = NDArray[np.float64]

_ONE = sympy.Integer(1)
_CELLS = 1000
_NEGLIGIBLE = 60.0
_FAR = 1e300
SHARE = 0.1
"""The part of the second moment that may lie beyond what the sample shows."""


@dataclass(frozen=True)
class Setup:
    """A finite-context model in plain numbers.

    ``cells`` holds pairs ``(z, p)``: the law puts mass p on a stretch that ends at z. Bounds that
    increase with Z are averaged over these ends.
    """

    lower: float
    upper: float
    cells: tuple[tuple[float, float], ...]
    dim: int
    context: int
    depth: int
    alpha: float
    beta: float


@dataclass(frozen=True)
class UnseenTail:
    """Bounds on what ``n`` prompts do not show.

    Attributes
    ----------
    level : float
        ``x``: the iteration contracts below it, or ``P(‖Σ̂‖ > x) <= 1/n``; the larger of both.
    log_mean, log_second : float
        Natural logarithms of upper bounds of ``E[e; ‖Σ̂‖ > x]`` and ``E[e²; ‖Σ̂‖ > x]``.
    """

    level: float
    log_mean: float
    log_second: float


def cells_of(law: Law, count: int = 12) -> tuple[tuple[float, float], ...]:
    """The mass of a law on ``count`` equal stretches of its support, named by their right ends."""
    width = (law.upper - law.lower) / count
    ends = [law.lower + k * width for k in range(1, count + 1)]
    with precision(64):
        below = [0.0, *(float(law.expect(_ONE, on=(None, end)).mid()) for end in ends[:-1]), 1.0]
    masses = np.diff(below)
    return tuple((float(z), float(p)) for z, p in zip(ends, masses, strict=True) if p > 0)


def log_tail(x: Floats, z: float, setup: Setup) -> Floats:
    """``log`` of an upper bound of ``P(‖Σ̂‖ > x | Z <= z)``."""
    dim, context = setup.dim, setup.context
    edge = 1 + math.sqrt((dim - 1 + z) / (z * context))
    beyond = np.sqrt(x / z) - edge
    chevet = np.where(beyond > 0, -context * beyond**2 / 2, 0.0)
    degrees = context + dim - 1
    ratio = np.maximum(x / z * context / degrees, 1.0)
    log_c = (
        math.lgamma(degrees / 2)
        - math.lgamma(context / 2)
        - math.lgamma(dim / 2)
        + 0.5 * math.log(math.pi)
    )
    wishart = log_c - degrees / 2 * (ratio - 1 - np.log(ratio))
    return np.minimum(np.minimum(chevet, wishart), 0.0)


def log_excess_bound(x: Floats, z: float, setup: Setup) -> Floats:
    """``log U(x)`` for ``Z <= z``, non-decreasing in x."""
    alpha, beta, depth = abs(setup.alpha), setup.beta, setup.depth
    if beta == -setup.alpha and setup.alpha > 0:
        # |A| = |1-αs|^T; and sP² = (1-A)²/s, P <= αT where |1-αs| <= 1, give sP² <= αT(1+|A|).
        log_a = depth * np.log(np.maximum(alpha * x - 1, 1.0))
        log_b = math.log(alpha * depth) + _log1p_exp(log_a)
        # Beyond, P <= αT max|1-αs|^{T-1}, and (1-A)² <= (1+|A|)² again bounds s P² alike.
        log_b = np.where(log_a > 0, log_b + log_a, log_b)
    else:
        growth = np.log(np.maximum(np.abs(1 + beta * x), 1.0))
        log_p = _log(alpha * depth) + (depth - 1) * growth
        log_a = _log1p_exp(np.log(x) + log_p)
        log_b = np.log(x) + 2 * log_p
    weight = 1 - 1 / z
    noise = (setup.dim - 1 + setup.lower) / (setup.lower * setup.context)
    return np.asarray(np.logaddexp(_log(weight) + 2 * log_a, math.log(noise) + log_b))


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def _log1p_exp(x: Floats) -> Floats:
    return np.asarray(np.logaddexp(0.0, x))


def unseen_tail(setup: Setup, prompts: int) -> UnseenTail:
    """Bound what ``prompts`` draws do not show. See :class:`UnseenTail`."""
    contracting = -2 / setup.beta if setup.beta < 0 else 0.0
    level = max(contracting, _quantile(setup, -math.log(prompts)))
    means, seconds = [], []
    for z, mass in setup.cells:
        log_u, log_p = _beyond(level, z, setup)
        means.append(math.log(mass) + _log_tail_mean(log_u, log_p))
        seconds.append(math.log(3 * mass) + _log_tail_mean(2 * log_u, log_p))
    return UnseenTail(level, *(float(np.logaddexp.reduce(v)) for v in (means, seconds)))


def _beyond(level: float, z: float, setup: Setup) -> tuple[Floats, Floats]:
    """``log U`` and the log tail on a grid from ``level`` to where nothing is left."""
    stop = 2 * level
    while True:
        x = np.geomspace(level, stop, _CELLS)
        log_u, log_p = log_excess_bound(x, z, setup), log_tail(x, z, setup)
        peak = float(np.max(2 * log_u + log_p))
        if 2 * log_u[-1] + log_p[-1] < peak - _NEGLIGIBLE or stop > _FAR:
            return log_u, log_p
        stop *= 2


def _log_tail_mean(log_f: Floats, log_p: Floats) -> float:
    """``log`` of ``f(x_0)P(x_0) + Σ (f(x_{k+1}) - f(x_k)) P(x_k) >= E[f; x_0 < X <= x_end]``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        growth = log_f[1:] + np.log1p(-np.exp(np.minimum(log_f[:-1] - log_f[1:], 0.0)))
    terms = np.concatenate([[log_f[0] + log_p[0]], growth + log_p[:-1]])
    return float(np.logaddexp.reduce(terms[np.isfinite(terms)], initial=-np.inf))


def _quantile(setup: Setup, log_probability: float) -> float:
    """The least level (to 1e-6) whose probability of being exceeded is bounded by the given one."""
    low, high = setup.lower, 2 * setup.upper

    def exceeded(x: float) -> bool:
        at = np.array([x])
        parts = [math.log(p) + float(log_tail(at, z, setup)[0]) for z, p in setup.cells]
        return float(np.logaddexp.reduce(parts)) > log_probability

    while exceeded(high):
        low, high = high, 2 * high
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if exceeded(middle) else (low, middle)
    return high
