"""The trained layer's risk at test length M, exactly; and the literal network on random prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import sympy

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.rationals import Exact, positive_integer, rational
from theoryverify.papers.zfb import theory

if TYPE_CHECKING:
    from collections.abc import Callable

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Risk:
    """``E(ŷ_q - ⟨w,x_q⟩)²`` over the task too, ``w ~ N(0,I)``, as exact fractions.

    ``variance`` is of order 1/M, ``bias`` of order 1/N² and does not depend on M.
    """

    variance: Fraction
    bias: Fraction

    @property
    def total(self) -> Fraction:
        return self.variance + self.bias


def spectrum_of(values: Sequence[Exact]) -> tuple[Fraction, ...]:
    """The eigenvalues of Λ as positive fractions.

    Raises
    ------
    InputError
        If there is none, or one is not positive.
    """
    found = tuple(rational(value, "eigenvalue of Λ") for value in values)
    if not found:
        raise InputError("the spectrum of Λ is empty; give its eigenvalues, such as 1,2,3")
    for value in found:
        if value <= 0:
            raise InputError(f"eigenvalue {value} of Λ must be positive")
    return found


def trained_risk(spectrum: Sequence[Exact], train_length: int, test_length: int) -> Risk:
    """Theorem 4.2 for linear tasks, averaged over ``w ~ N(0,I)``.

    ``(1/M) Σ_i (τλ_i² + λ_i³)/Γ_i² + (1/N²) Σ_i λ_i(λ_i+τ)²/Γ_i²`` with
    ``Γ_i = (1+1/N)λ_i + τ/N``.

    Parameters
    ----------
    spectrum : sequence of exact numbers
        Eigenvalues of Λ, positive.
    train_length, test_length : int
        N and M, at least 1.

    Raises
    ------
    InputError
        For a spectrum or lengths out of range.
    """
    values = spectrum_of(spectrum)
    n = positive_integer(train_length, "train length N")
    m = positive_integer(test_length, "test length M")
    trace = sum(values, Fraction(0))
    variance = theory.variance_term(theory.tau, sympy.Integer(1))
    bias = theory.bias_term(sympy.Integer(1))

    def total(term: sympy.Expr) -> Fraction:
        at = {theory.tau: sympy.Rational(trace), theory.N: n}
        parts = [term.subs({**at, theory.lam: sympy.Rational(value)}) for value in values]
        return sum((Fraction(int(p.p), int(p.q)) for p in parts), Fraction(0))

    return Risk(total(variance) / m, total(bias) / n**2)


def literal_errors(
    spectrum: npt.ArrayLike, product: Array, length: int
) -> Callable[[int, np.random.Generator], Array]:
    """Squared errors of the literal layer (3.3) with ``u = 1``, ``V = product``, prompt by prompt.

    Query and task are averaged exactly: ``E_{w,x_q}(ŷ_q - ⟨w,x_q⟩)² = Σ_ik λ_i A_ik²`` with ``A_ik``
    the layer's error on task ``w = e_k`` at query ``x_q = e_i``, for it is linear in both.

    Returns
    -------
    callable
        ``(n, rng) -> errors (n,)``, for test length ``length``.

    Raises
    ------
    UndecidedError
        Without Torch.
    """
    try:
        import torch
    except ImportError as error:
        raise UndecidedError('Torch is not there: pip install "theoryverify[simulate]"') from error

    from theoryverify.models.attention import LSA, embed

    values = np.asarray(spectrum, dtype=np.float64)
    d = len(values)
    W_PV, W_KQ = torch.zeros(2, d + 1, d + 1, dtype=torch.float64)
    W_PV[-1, -1] = 1
    W_KQ[:d, :d] = torch.from_numpy(product)
    layer = LSA(W_PV, W_KQ)
    units = torch.eye(d, dtype=torch.float64)

    def errors(n: int, rng: np.random.Generator) -> Array:
        X = torch.from_numpy(rng.normal(size=(n, length, d)) * np.sqrt(values)).mT
        total = torch.zeros(n, dtype=torch.float64)
        with torch.no_grad():
            for i in range(d):
                for k in range(d):
                    found = layer.predict(embed(X, X[:, k], units[i].expand(n, d)))
                    total += float(values[i]) * (found - float(i == k)) ** 2
        return np.asarray(total.numpy())

    return errors


def variance_bound(spectrum: npt.ArrayLike, gamma: npt.ArrayLike, length: int) -> float:
    """A bound of the variance of :func:`literal_errors` at ``V = Γ⁻¹``, from exact moments.

    ``A = Γ⁻¹Σ̂ - I = B + C``, B its mean. The deviation of ``Σ λ_i A_ik²`` is at most that of
    ``2Σ λ_i B_ii C_ii``, a sum of independent terms, and ``Σ λ_i √(E C_ik⁴)`` (Minkowski). For a mean
    of M independent centred products ``ξ``: ``E C⁴ = (E ξ⁴ + 3(M-1)(E ξ²)²)/M³``, where ``ξ`` is
    ``λ(χ²_1 - 1)``, of moments 2λ² and 60λ⁴, or a product of two Gaussians, of moments ``λλ'`` and
    ``9(λλ')²``.
    """
    values, g = np.asarray(spectrum, dtype=np.float64), np.asarray(gamma, dtype=np.float64)
    m, same = length, np.eye(len(values), dtype=bool)
    product = np.outer(values, values)
    fourth = np.where(same, 60 + 12 * (m - 1), 9 + 3 * (m - 1)) * product**2 / m**3
    offset = values / g - 1
    linear = 2 * np.sqrt(np.sum((values * offset) ** 2 * 2 * values**2 / (m * g**2)))
    quadratic = np.sum(values[:, None] * np.sqrt(fourth) / g[:, None] ** 2)
    return float((linear + quadratic) ** 2)
