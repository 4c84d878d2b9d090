"""Untied layers at a finite context: their exact loss, its minimum, descent on it, whitening.

With ``W^S_t = α_t I``, ``W^V_t = β_t I`` the states are ``F_t = P_t(Σ̂)X``, ``P_t = (1+β_t s)P_{t-1} +
α_t``, and the slope is ``ŵ = P_T(Σ̂)Xy/L``. Whatever the 2T weights are, the mean excess risk is one
quadratic form in the T coefficients p of ``P_T``,

    E[excess] = E[W] - 2 Bᵀp + pᵀMp,
    B_j  = E[wᵀ Σ Σ̂^{j+1} w],
    M_jk = E[wᵀ Σ̂^{j+1} Σ Σ̂^{k+1} w + (σ²/L) tr(Σ Σ̂^{j+k+1})],

with ``w = √(Z-1)/Z v``, ``σ² = 1/Z``, from the exact Wishart moments of
:mod:`theoryverify.papers.lca.wishart`; at ``L = ∞`` (``context=None``) ``Σ̂ = Σ`` and the noise is
gone. So is the whitening error, ``E‖XFᵀ/L - I‖²_F/d = E tr e(Σ̂)²/d`` with ``e(s) = 1 - sP(s)``: a
quadratic form in e. Since β_t may be anything, P can be every polynomial (``lca.untied.span``), and
``M p = B`` gives the least excess of all untied stacks. ``P(0) = Σ α_t`` whatever the β_t are, so at
*every* optimum the mean trace is ``p_0/T``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import arb, arb_mat, fmpq_poly
from numpy.typing import NDArray

from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure, precision
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import positive_integer
from theoryverify.papers.lca import assumptions
from theoryverify.papers.lca.wishart import MAX_DEPTH, Moments, expected_quotient

Floats = NDArray[np.float64]

_DIGITS, _BITS = 90, 640
_STEP = 1e-5
_Z = fmpq_poly([0, 1])


@dataclass(frozen=True)
class ContextForm:
    """The exact loss of untied scalar stacks of one depth at one context length.

    Attributes
    ----------
    law, dim, context, depth
        ``context`` is ``None`` for ``L = ∞``.
    best_excess : Enclosure
        The least mean excess risk, in units of ``E[ζ²]``.
    best_state : tuple of Enclosure
        The coefficients of the best ``P_T``, from degree 0 up.
    mean_trace : Enclosure
        ``P_T(0)/T``: the mean of α_t at every optimum.
    off_task : Enclosure
        ``e(1) = 1 - P_T(1)`` at the optimum: the infinite-context whitening error across m.
    root : ndarray (T, T)
        Upper triangular with ``M = rootᵀ root``.
    traces : ndarray (2T+1,)
        ``E tr(Σ̂^k)/d``.
    """

    law: Law
    dim: int
    context: int | None
    depth: int
    best_excess: Enclosure
    best_state: tuple[Enclosure, ...]
    mean_trace: Enclosure
    off_task: Enclosure
    root: Floats
    traces: Floats

    @property
    def best(self) -> Floats:
        """The best state's coefficients as floats."""
        return np.array([float(entry) for entry in self.best_state])

    def gap(self, alpha: Floats, beta: Floats) -> tuple[Floats, Floats, Floats]:
        """The excess above its least, and its gradient in α and β.

        ``(p-p*)ᵀM(p-p*) = |root (p-p*)|²``: it keeps its digits near the optimum.

        Parameters
        ----------
        alpha, beta : ndarray (..., T)

        Returns
        -------
        ndarrays of shapes (...), (..., T), (..., T)
        """
        states = layer_states(alpha, beta)
        away = (states[..., -1, :] - self.best) @ self.root.T
        slope = 2 * away @ self.root
        d_alpha, d_beta = np.empty_like(states[..., 1:, 0]), np.empty_like(states[..., 1:, 0])
        for t in reversed(range(self.depth)):
            d_alpha[..., t] = slope[..., 0]
            d_beta[..., t] = (slope[..., 1:] * states[..., t, :-1]).sum(-1)
            slope = slope.copy()
            slope[..., :-1] += beta[..., t, None] * slope[..., 1:]
        return (away**2).sum(-1), d_alpha, d_beta

    def excess(self, alpha: Floats, beta: Floats) -> Floats:
        """The mean excess risk at these weights, (...)."""
        return np.asarray(float(self.best_excess) + self.gap(alpha, beta)[0])

    def whitening(self, alpha: Floats, beta: Floats) -> Floats:
        """``√(E‖XF_tᵀ/L - I‖²_F/d)`` after each layer, (..., T)."""
        return self.state_whitening(layer_states(alpha, beta)[..., 1:, :])

    def state_whitening(self, state: Floats) -> Floats:
        """The same for coefficients of P, (..., T) to (...)."""
        T = self.depth
        error = np.concatenate([np.ones((*state.shape[:-1], 1)), -state], axis=-1)
        hankel = self.traces[np.add.outer(np.arange(T + 1), np.arange(T + 1))]
        # A mean of squares, computed with a rounding error of either sign where it is tiny.
        square = np.einsum("...i,ij,...j->...", error, hankel, error)
        return np.asarray(np.sqrt(np.maximum(square, 0)))


def layer_states(alpha: Floats, beta: Floats) -> Floats:
    """The coefficients of ``P_0 = 0, P_1, ..., P_T``: (..., T) and (..., T) to (..., T+1, T)."""
    depth = alpha.shape[-1]
    states = np.zeros((*alpha.shape[:-1], depth + 1, depth))
    for t in range(depth):
        states[..., t + 1, :] = states[..., t, :]
        states[..., t + 1, 1:] += beta[..., t, None] * states[..., t, :-1]
        states[..., t + 1, 0] += alpha[..., t]
    return states


@lru_cache(maxsize=32)
def context_form(law: Law, dim: int, context: int | None, depth: int) -> ContextForm:
    """The exact form, enclosed.

    Parameters
    ----------
    law : Law
        Meeting Assumption 6.1; directions isotropic.
    dim : int
        d.
    context : int or None
        L; ``None`` for ``L = ∞``.
    depth : int
        T, from 1 to 8.

    Raises
    ------
    InputError, HypothesisError
        For sizes out of range or a law outside Assumption 6.1; also for a law of at most T atoms,
        where at ``L = ∞`` the optimum is not unique.

    Examples
    --------
    >>> from theoryverify.exact.densities import Uniform
    >>> form = context_form(Uniform(2, 5), 10, 1024, 8)
    >>> f"{float(form.best_excess):.6f} {float(form.off_task):.4f}"
    '0.001249 0.6341'
    """
    law = assumptions.require(law)
    dim = positive_integer(dim, "dim")
    depth = positive_integer(depth, "depth", most=MAX_DEPTH)
    if context is not None:
        context = positive_integer(context, "context")
    atoms = getattr(law, "atoms", None)
    if context is None and atoms is not None and len(atoms) <= depth:
        raise InputError(
            f"{law} has {len(atoms)} atoms: its best stack of {depth} layers is no one"
        )
    with precision(_BITS):
        M, B, power = _moments(law, dim, context, depth)
        best = M.solve(B)
        signal = expected_quotient(law, (_Z - 1) * _Z, 2, _DIGITS).ball()
        least = signal - (best.transpose() * B)[0, 0]
        state = tuple(Enclosure.of(best[k, 0]) for k in range(depth))
        off = 1 - sum((best[k, 0] for k in range(1, depth)), best[0, 0])
        root = np.array([[float(entry.mid()) for entry in row] for row in _cholesky(M, depth)])
        return ContextForm(
            law, dim, context, depth, Enclosure.of(least), state,
            Enclosure.of(best[0, 0] / depth), Enclosure.of(off), root,
            np.array([float((entry / dim).mid()) for entry in power]),
        )  # fmt: skip


def _moments(
    law: Law, dim: int, context: int | None, depth: int
) -> tuple[arb_mat, arb_mat, list[arb]]:
    """``M``, ``B`` and ``E tr Σ̂^k``, ``k = 0..2T``."""
    moments = None if context is None else Moments(dim, context)

    def q(*powers: int) -> fmpq_poly:
        return _Z ** sum(powers) if moments is None else moments.mean(powers, ())

    def trace(n: int) -> fmpq_poly:
        return _Z**n + (dim - 1) if moments is None else moments.mean((), (n,))

    def mean(numerator: fmpq_poly) -> arb:
        return expected_quotient(law, numerator, 2, _DIGITS).ball()

    up = _Z - 1  # wᵀ·w = (Z-1)/Z² vᵀ·v and σ² = 1/Z: all over Z²
    M = [[arb(0)] * depth for _ in range(depth)]
    for j in range(depth):
        for k in range(j, depth):
            n = j + k + 1
            numerator = up * (q(n + 1) + up * q(j + 1, k + 1))
            if context is not None:
                numerator += _Z * (trace(n) + up * q(n)) / context
            M[j][k] = M[k][j] = mean(numerator)
    B = [[mean(up * _Z * q(j + 1))] for j in range(depth)]
    powers = [expected_quotient(law, trace(k), 0, _DIGITS).ball() for k in range(2 * depth + 1)]
    return arb_mat(M), arb_mat(B), powers


def _cholesky(M: arb_mat, size: int) -> list[list[arb]]:
    """The upper triangular R with ``M = RᵀR``."""
    R = [[arb(0)] * size for _ in range(size)]
    for i in range(size):
        for j in range(i, size):
            rest = M[i, j] - sum((R[k][i] * R[k][j] for k in range(i)), arb(0))
            R[i][j] = rest.sqrt() if i == j else rest / R[i][i]
    return R


# -- descent ------------------------------------------------------------------------------------


def descend(
    form: ContextForm, alpha: Floats, beta: Floats, *, rate: float, steps: int
) -> tuple[Floats, Floats]:
    """Gradient descent on the exact loss: ``steps`` steps of size ``rate`` from (..., T)."""
    alpha, beta = np.array(alpha, float), np.array(beta, float)
    for _ in range(steps):
        _, d_alpha, d_beta = form.gap(alpha, beta)
        alpha -= rate * d_alpha
        beta -= rate * d_beta
    return alpha, beta


def flow(
    form: ContextForm, alpha: Floats, beta: Floats, times: Floats, *, tolerance: float = 1e-8
) -> tuple[Floats, Floats]:
    """The gradient flow of the exact loss at increasing ``times``, the first of which may be 0.

    By a multistep method for stiff systems (LSODA), in float64: computed numbers without error
    bounds.

    Returns
    -------
    ndarrays (K, T)
        α and β at each time.

    Raises
    ------
    ArithmeticError
        If the integrator gives up.
    """
    from scipy.integrate import solve_ivp

    T = form.depth

    def velocity(time: float, at: Floats) -> Floats:
        _, d_alpha, d_beta = form.gap(at[:T], at[T:])
        return -np.concatenate([d_alpha, d_beta])

    def jacobian(time: float, at: Floats) -> Floats:
        # All differences in one call; an inexact Jacobian costs steps, never accuracy.
        points = at + _STEP * np.concatenate([np.eye(2 * T), -np.eye(2 * T)])
        _, d_alpha, d_beta = form.gap(points[:, :T], points[:, T:])
        slopes = np.concatenate([d_alpha, d_beta], axis=1)
        return np.asarray((slopes[2 * T :] - slopes[: 2 * T]).T / (2 * _STEP))

    found = solve_ivp(
        velocity, (0.0, float(times[-1])), np.concatenate([alpha, beta]), method="LSODA",
        t_eval=times, rtol=tolerance, atol=tolerance / 100, jac=jacobian,
    )  # fmt: skip
    if not found.success:
        raise ArithmeticError(f"the flow was not integrated: {found.message}")
    return found.y[:T].T, found.y[T:].T
