"""A spiked Gaussian prompt without its d x L numbers: two reductions that are exact in law.

A prompt is ``X = m uᵀ + G`` (d x L; u and G standard normal), labels ``y = u`` (ζ = 1), and
``Σ̂ = XXᵀ/L``. Whatever acts on it through ``Σ̂`` and ``Xy/L`` alone may be simulated from them:

* :func:`sample_factor`: Bartlett's triangle, (d+1)²/2 random numbers for any L;
* :func:`sample_chain`: the Krylov space of ``Xy/L`` under ``Σ̂``, where ``Σ̂`` is tridiagonal with
  independent chi entries; T steps need 4T+1 random numbers for any d and L.

Both are proved in ``derivations/exact_in_law.py``. The law is invariant under rotations of R^d, so
only ``Z = 1 + |m|²`` enters; a slope ŵ is judged by ``ŵ·m`` and ``|ŵ|²``, and with them the query
is averaged out exactly: ``E(y_q - ŵ·x_q)² = (1 - ŵ·m)² + |ŵ|²``.

Arrays have the prompts last, so that every operation runs over contiguous memory. All float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryverify.errors import InputError
from theoryverify.exact.rationals import positive_integer

Floats = NDArray[np.float64]

MAX_SIZE = 10**15
"""Largest d and L: degrees of freedom must be exact in float64."""

MAX_DEPTH = 10**6


@dataclass(frozen=True)
class Slopes:
    """What is left of ``n`` learned slopes ŵ once the query is averaged out.

    Attributes
    ----------
    along : ndarray, shape (n,)
        ``ŵ·m``.
    square : ndarray, shape (n,)
        ``|ŵ|²``.
    excess : ndarray, shape (n,)
        ``(ŵ-w)ᵀΣ_x(ŵ-w) = |ŵ-w|² + ((ŵ-w)·m)²`` with ``w = m/Z``: the risk above the Bayes risk
        ``1/Z``. Summed from squares, so it keeps its digits however small it is.
    """

    along: Floats
    square: Floats
    excess: Floats

    @property
    def risk(self) -> Floats:
        """``E[(y_q - ŵ·x_q)² | prompt] = (1 - ŵ·m)² + |ŵ|²``, in units of ``ζ²``."""
        return (1 - self.along) ** 2 + self.square


@dataclass(frozen=True)
class Chain:
    """``n`` prompts, each in an orthonormal basis ``q_1, ..., q_K`` of its Krylov space.

    ``q_1`` is along ``Xy``, and ``span(q_1..q_j) = span(Xy, Σ̂Xy, ..., Σ̂^{j-1}Xy)``.

    Attributes
    ----------
    z : ndarray, shape (n,)
        ``Z = 1 + |m|²``.
    start : ndarray, shape (n,)
        ``Xy/L = start · q_1``.
    diagonal : ndarray, shape (K, n)
        ``q_jᵀ Σ̂ q_j``.
    off : ndarray, shape (K-1, n)
        ``q_jᵀ Σ̂ q_{j+1}``.
    spike : ndarray, shape (K, n)
        ``m·q_j``.
    rest : ndarray, shape (n,)
        The length of the part of m outside the Krylov space.
    ended : bool
        Whether the space is invariant (``K = min(d, L)``), so that any number of steps stays in it.
    """

    z: Floats
    start: Floats
    diagonal: Floats
    off: Floats
    spike: Floats
    rest: Floats
    ended: bool

    def slopes(self, alpha: float, beta: float, depth: int) -> Slopes:
        """T layers of the stack with the linear readout.

        ``ŵ_t = ŵ_{t-1} + α Xy/L + β Σ̂ ŵ_{t-1}``, ``ŵ_0 = 0`` (Lemma E.2 and (5.5) of arXiv
        2602.04872); ``β = -α`` is gradient descent on the context's least squares.

        Parameters
        ----------
        alpha, beta : float
        depth : int
            T, at most the depth that the chain was drawn for, unless it has ended.

        Raises
        ------
        InputError
            If a number is not finite, or ``depth`` is out of range.
        """
        longest = MAX_DEPTH if self.ended else len(self.spike)
        depth = positive_integer(depth, "depth", most=longest)
        for name, value in (("alpha", alpha), ("beta", beta)):
            if not np.isfinite(value):
                raise InputError(f"{name} = {value} must be a finite number")
        return self._judged(self._coordinates(float(alpha), float(beta), depth))

    def _coordinates(self, alpha: float, beta: float, depth: int) -> Floats:
        """ŵ in the basis ``q``. After t steps only its first t coordinates are not zero."""
        length, count = self.spike.shape
        diagonal, off, pulse = beta * self.diagonal, beta * self.off, alpha * self.start
        w, new, part = (np.zeros((length, count)) for _ in range(3))
        for step in range(depth):
            k = min(step + 1, length)
            np.multiply(diagonal[:k], w[:k], out=new[:k])
            if k > 1:
                np.multiply(off[: k - 1], w[1:k], out=part[: k - 1])
                new[: k - 1] += part[: k - 1]
                np.multiply(off[: k - 1], w[: k - 1], out=part[: k - 1])
                new[1:k] += part[: k - 1]
            w[:k] += new[:k]
            w[0] += pulse
        return w

    def _judged(self, w: Floats) -> Slopes:
        along = np.einsum("jn,jn->n", w, self.spike)
        square = np.einsum("jn,jn->n", w, w)
        error = w - self.spike / self.z
        beyond = self.rest**2 / self.z  # the error outside the space is -m_rest/Z
        toward_m = np.einsum("jn,jn->n", error, self.spike) - beyond
        excess = np.einsum("jn,jn->n", error, error) + beyond / self.z + toward_m**2
        return Slopes(along, square, excess)


@dataclass(frozen=True)
class Offsets:
    """How far a *wrong* chain is from the right one: what negative controls draw.

    ``labels, across, down`` are added to the degrees of freedom of ``|u|²``, of the part of ``a_j²``
    across m, and of ``b_j²``; ``spike`` multiplies m's share in the first vector.
    """

    labels: int = 0
    across: int = 0
    down: int = 0
    spike: float = 1.0


def sample_chain(
    z: Any,
    dim: int,
    context: int,
    depth: int,
    *,
    rng: np.random.Generator | int | None = None,
    offsets: Offsets = Offsets(),
) -> Chain:
    """Draw the Krylov chain of prompts, exact in law for any d and L.

    With ``û = u/|u|``, ``Xû = |u| m + g`` starts a Golub-Kahan bidiagonalisation: ``X v_j =
    b_{j-1} q_{j-1} + a_j q_j`` and ``Xᵀ q_j = a_j v_j + b_j v_{j+1}``, so that ``LΣ̂`` is
    tridiagonal with entries ``a_j² + b_j²`` and ``b_j a_{j+1}``. The entries are independent:

    * ``|u|² ~ χ²_L``; ``a_1² = (|u||m| + n_1)² + χ²_{d-1}``;
    * ``b_j² ~ χ²_{L-j}``; ``a_j² = n_j² + χ²_{d-j}`` for ``j >= 2``, where ``n_j ~ N(0,1)`` is the
      part of the new vector along what remains of m.

    A chi with no degree of freedom left is zero, and the chain has ended: ``K = min(T, d, L)``.

    Parameters
    ----------
    z : float or array of shape (n,)
        ``Z = 1 + |m|² >= 1`` of each prompt.
    dim, context, depth : int
        d, L (at most 10^15) and T (at most 10^6); the chain has ``K = min(T, d, L)`` vectors.
    rng : Generator, int or None
        As for ``numpy.random.default_rng``.
    offsets : Offsets
        Left alone, the law is exact.

    Returns
    -------
    Chain
        float64, prompts last.

    Raises
    ------
    InputError
        For sizes that are not positive integers in range, or a ``z`` below 1 or not finite.
    """
    dim = positive_integer(dim, "dim", most=MAX_SIZE)
    context = positive_integer(context, "context", most=MAX_SIZE)
    depth = positive_integer(depth, "depth", most=MAX_DEPTH)
    at = _spike(z)
    count, length = at.size, min(depth, dim, context)
    generator = np.random.default_rng(rng)

    def chi_square(degrees: int) -> Floats:
        return 2 * generator.standard_gamma(max(degrees, 0) / 2, size=count)

    a_square, b_square, spike = (np.empty((length, count)) for _ in range(3))
    size_u, rest = np.sqrt(chi_square(context + offsets.labels)), np.sqrt(at - 1)
    for j in range(length):
        along = generator.standard_normal(count)
        if j == 0:
            along += offsets.spike * size_u * rest
        across = chi_square(dim - 1 - j + offsets.across)
        b_square[j] = chi_square(context - 1 - j + offsets.down)
        a_square[j] = along**2 + across
        a = np.sqrt(a_square[j])
        spike[j] = rest * (along / a)
        rest = rest * np.sqrt(across / a_square[j])
    start = size_u * np.sqrt(a_square[0]) / context
    diagonal = (a_square + b_square) / context
    off = np.sqrt(b_square[:-1] * a_square[1:]) / context
    return Chain(at, start, diagonal, off, spike, rest, ended=length == min(dim, context))


@dataclass(frozen=True)
class Factor:
    """``n`` prompts as a factor: ``Σ̂ = K Kᵀ/L`` and ``Xy/L = size_u · K[:, 0]/L``.

    Attributes
    ----------
    z, size_u : ndarray, shape (n,)
        ``Z``, and ``|u|``.
    matrix : ndarray, shape (n, d, min(L, d+1))
        K, in coordinates of R^d whose first axis is along m.
    context : int
        L.
    """

    z: Floats
    size_u: Floats
    matrix: Floats
    context: int

    @property
    def covariance(self) -> Floats:
        """``Σ̂ = XXᵀ/L``, shape (n, d, d)."""
        return self.matrix @ self.matrix.transpose(0, 2, 1) / self.context

    @property
    def correlation(self) -> Floats:
        """``Xy/L``, shape (n, d)."""
        return self.matrix[:, :, 0] * (self.size_u / self.context)[:, None]

    def slopes(self, alpha: float, beta: float, depth: int) -> Slopes:
        """As :meth:`Chain.slopes`, by the same recurrence on d-vectors."""
        depth = positive_integer(depth, "depth", most=MAX_DEPTH)
        covariance, pulse = self.covariance, alpha * self.correlation
        w = np.zeros_like(pulse)
        for _ in range(depth):
            w = w + pulse + beta * (covariance @ w[:, :, None])[:, :, 0]
        return self.judged(w)

    def judged(self, w: Floats) -> Slopes:
        """The errors of any slopes ``w``, shape (n, d), such as those of other weights."""
        length = np.sqrt(self.z - 1)
        error = w.copy()
        error[:, 0] -= length / self.z
        excess = np.einsum("nd,nd->n", error, error) + (length * error[:, 0]) ** 2
        return Slopes(length * w[:, 0], np.einsum("nd,nd->n", w, w), excess)


def sample_factor(
    z: Any, dim: int, context: int, *, rng: np.random.Generator | int | None = None
) -> Factor:
    """Draw prompts by Bartlett's decomposition: about d²/2 random numbers each, for any L.

    The rows of ``(u; G)``, (d+1) x L, are orthogonalised in this order. Row i then has ``N(0,1)``
    on the i earlier directions and ``χ_{L-i}`` on its own; with ``L <= d`` the triangle is a
    trapezoid. ``K = m e_0ᵀ|u| + (rows of G)``.

    Parameters
    ----------
    z : float or array of shape (n,)
    dim, context : int
        d (memory: n d² float64) and L (at most 10^15).
    rng : Generator, int or None

    Raises
    ------
    InputError
        As for :func:`sample_chain`.
    """
    dim = positive_integer(dim, "dim", most=10**5)
    context = positive_integer(context, "context", most=MAX_SIZE)
    at = _spike(z)
    generator = np.random.default_rng(rng)
    width = min(context, dim + 1)
    size_u = np.sqrt(2 * generator.standard_gamma(context / 2, size=at.size))
    matrix = np.zeros((at.size, dim, width))
    for i in range(1, dim + 1):
        earlier = min(i, width)
        matrix[:, i - 1, :earlier] = generator.standard_normal((at.size, earlier))
        if i < width:
            degrees = generator.standard_gamma((context - i) / 2, size=at.size)
            matrix[:, i - 1, i] = np.sqrt(2 * degrees)
    matrix[:, 0, 0] += np.sqrt(at - 1) * size_u
    return Factor(at, size_u, matrix, context)


def _spike(z: Any) -> Floats:
    at = np.atleast_1d(np.asarray(z, dtype=np.float64))
    if at.ndim != 1:
        raise InputError(f"z has shape {at.shape}; it must be a number or a vector")
    if not np.all(np.isfinite(at) & (at >= 1)):
        worst = at[~(np.isfinite(at) & (at >= 1))][0]
        raise InputError(f"z = {worst} is out of range; Z = 1 + |m|² is finite and at least 1")
    return at
