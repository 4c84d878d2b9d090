"""The flow of (u, V) with all its ``d²+1`` equations, integrated in general position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from theoryverify.errors import UndecidedError

Array = npt.NDArray[np.float64]

_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Case:
    """A start: the spectrum of Λ in a random basis, a random Θ, and the scale σ."""

    eigenvalues: tuple[float, ...]
    length: int
    sigma: float
    seed: int

    def __str__(self) -> str:
        return f"Λ ~ {self.eigenvalues}, N = {self.length}, σ = {self.sigma:g}"

    @property
    def spectrum(self) -> Array:
        return np.array(self.eigenvalues)

    @property
    def basis(self) -> Array:
        d = len(self.eigenvalues)
        normal = np.random.default_rng([self.seed, 0]).normal(size=(d, d))
        return np.asarray(np.linalg.qr(normal)[0], dtype=np.float64)

    @property
    def start(self) -> Array:
        """``ΘΘᵀ`` with ``‖ΘΘᵀ‖_F = 1``; it does not commute with Λ."""
        d = len(self.eigenvalues)
        theta = np.random.default_rng([self.seed, 1]).normal(size=(d, d))
        square = theta @ theta.T
        return np.asarray(square / np.linalg.norm(square), dtype=np.float64)

    @property
    def gamma(self) -> Array:
        """``Γ`` as a matrix, in the random basis."""
        values = (1 + 1 / self.length) * self.spectrum + self.spectrum.sum() / self.length
        return np.asarray(self.basis * values @ self.basis.T, dtype=np.float64)

    @property
    def condition(self) -> float:
        """``σ²‖Γ‖_op √d``, which Theorem 4.1 wants below 2."""
        return float(self.sigma**2 * np.linalg.norm(self.gamma, 2) * np.sqrt(len(self.eigenvalues)))


CASES = (
    Case((1.0, 2.0), 5, 0.5, 1),
    Case((0.5, 1.0, 3.0), 10, 0.3, 2),
    Case((1.0, 1.0, 1.0, 1.0), 3, 0.1, 3),
    Case((1.0, 2.0), 5, 3.0, 4),
    Case((0.5, 1.0, 3.0), 2, 10.0, 5),
    Case((1.0, 4.0), 1, 30.0, 6),
)
"""Three starts within the paper's condition, three far outside."""


def flow_end(case: Case) -> tuple[float, Array, float]:
    """Where the flow ends: ``u``, ``V`` of shape (d, d), and the tolerance of the integration.

    The clock is ``ds = (1+u²) dt``, which keeps large starts from being stiff for long; a flow
    ends where its orbit does, whatever the clock.

    Raises
    ------
    FloatingPointError
        If the integrator gives up, or the end is no critical point.
    UndecidedError
        Without SciPy.
    """
    try:
        from scipy.integrate import solve_ivp
    except ImportError as error:
        raise UndecidedError('SciPy is not there: pip install "theoryverify[simulate]"') from error

    d = len(case.eigenvalues)
    Lam = case.basis * case.spectrum @ case.basis.T
    weight, square = case.gamma @ Lam, Lam @ Lam

    def field(_: float, state: Array) -> Any:
        u, V = state[0], state[1:].reshape(d, d)
        product = weight @ V @ Lam
        u_dot = -u * np.sum(product * V) + np.sum(square * V)
        V_dot = -(u**2) * product + u * square
        return np.concatenate([[u_dot], V_dot.ravel()]) / (1 + u**2)

    state = np.concatenate([[case.sigma], case.sigma * case.start.ravel()])
    scale = float(np.linalg.eigvalsh(weight).min() * case.spectrum.min())
    done = solve_ivp(field, (0.0, 400 / scale), state, method="LSODA", rtol=1e-12, atol=1e-14)
    end = done.y[:, -1]
    if not done.success or not np.abs(field(0.0, end)).max() < _TOLERANCE * scale:
        raise FloatingPointError(f"{case}: the flow did not arrive ({done.message})")
    return float(end[0]), end[1:].reshape(d, d), _TOLERANCE
