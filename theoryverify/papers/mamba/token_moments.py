"""What one token's kernel ``κ(x) = φ(x)ᵀ(γ∘φ(x_q))`` looks like given the label's coordinate, exactly.

The label sees ``z = ⟨β,x⟩`` alone, so a moment ``E[w(y) κ^i]`` is an integral over z of w against
``E[κ^i | z]``, a polynomial in z of degree 2i. ``κ = k_0 + kᵀx + xᵀKx`` is quadratic in x, and given z
``x = zβ + x'`` with ``x' ~ N(0, P)``, ``P = I - ββᵀ``:

    E[κ|z]   = k_0 + tr(KP) + z kᵀβ + z² βᵀKβ,
    Var[κ|z] = |P(k + 2zKβ)|² + 2 tr(KPKP).

All in rationals: β, x_q and γ are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq, fmpq_mat, fmpq_poly

from theoryverify.errors import InputError
from theoryverify.exact.hermite import raw_coefficients
from theoryverify.exact.rationals import Exact, positive_integer, rational, to_fmpq
from theoryverify.exact.surds import Surds


@dataclass(frozen=True)
class Weights:
    """γ with one value for each kind of coordinate on the support, 0 off it."""

    constant: Fraction = Fraction(1)
    linear: Fraction = Fraction(1)
    diagonal: Fraction = Fraction(1)
    pair: Fraction = Fraction(1)

    @classmethod
    def of(cls, constant: Exact, linear: Exact, diagonal: Exact, pair: Exact) -> Weights:
        """From exact numbers."""
        names = ("constant", "linear", "diagonal", "pair")
        values = (constant, linear, diagonal, pair)
        return cls(*[rational(v, name) for v, name in zip(values, names, strict=True)])


INDICATOR = Weights()


@dataclass(frozen=True)
class KernelMoments:
    """``E[κ|z]`` and ``E[κ²|z]``: polynomials in z."""

    first: fmpq_poly
    second: fmpq_poly

    def hermite(self, power: int) -> list[Fraction]:
        """The ``a_k`` with ``E[κ^power | z] = Σ_k a_k He_k(z)``."""
        polynomial = self.first if power == 1 else self.second
        raw = raw_coefficients(Surds.of(polynomial))
        result, factorial = [], 1
        for k in range(int(polynomial.degree()) + 1):
            factorial *= max(k, 1)
            result.append((raw[k].as_fraction() or Fraction(0)) / factorial)
        return result


def kernel_moments(
    beta: Sequence[Exact], x_q: Sequence[Exact], weights: Weights = INDICATOR
) -> KernelMoments:
    """Moments of κ for one task and one query, in the r coordinates of the support.

    Parameters
    ----------
    beta : sequence of exact numbers
        Of length 1 exactly, such as ``("3/5", "4/5")``.
    x_q : sequence of exact numbers
    weights : Weights

    Raises
    ------
    InputError
        For vectors of different or no length, or ``|β| != 1``.
    """
    if len(beta) != len(x_q) or not beta:
        raise InputError(f"β has {len(beta)} entries and x_q {len(x_q)}; both need r >= 1")
    direction = [rational(e, "beta") for e in beta]
    if sum(e * e for e in direction) != 1:
        raise InputError(f"β = {[str(e) for e in direction]} must have length 1 exactly")
    query = [to_fmpq(rational(e, "x_q")) for e in x_q]
    r = len(query)
    unit = fmpq_mat(r, 1, [to_fmpq(e) for e in direction])
    c, lin, dia, pair = (
        to_fmpq(e) for e in (weights.constant, weights.linear, weights.diagonal, weights.pair)
    )
    own = [dia * (e * e - 1) / 2 for e in query]
    straight = fmpq_mat(r, 1, [lin * e for e in query])
    entries = [
        own[i] if i == j else pair * query[i] * query[j] / 2 for i in range(r) for j in range(r)
    ]
    curved = fmpq_mat(r, r, entries)
    eye = fmpq_mat(r, r, [fmpq(int(i == j)) for i in range(r) for j in range(r)])
    across = eye - unit * unit.transpose()
    inner = curved * across
    bent = curved * unit
    mean = fmpq_poly(
        [
            c - sum(own, fmpq(0)) + _trace(inner),
            (straight.transpose() * unit)[0, 0],
            (unit.transpose() * bent)[0, 0],
        ]
    )
    slope, turn = across * straight, across * bent
    spread = fmpq_poly(
        [
            _dot(slope, slope) + 2 * _trace(inner * inner),
            4 * _dot(slope, turn),
            4 * _dot(turn, turn),
        ]
    )
    return KernelMoments(mean, mean * mean + spread)


def squared_length_moment(r: int) -> fmpq_poly:
    """``E[|φ_I(x)|² | z] = 1 + r/2 + (z⁴ + 2(r-1)z² + r²-1)/2``: κ² averaged over the query.

    For the indicator of the support ``E_q κ(x,x_q)² = |φ_I(x)|²``, φ being orthonormal, and
    ``|φ_I|² = 1 + r/2 + |x|⁴/2`` with ``|x|² = z² + χ²_{r-1}``.
    """
    r = positive_integer(r, "r")
    return fmpq_poly([1 + fmpq(r, 2) + fmpq(r * r - 1, 2), 0, r - 1, 0, fmpq(1, 2)])


def _trace(matrix: fmpq_mat) -> fmpq:
    return sum((matrix[i, i] for i in range(matrix.nrows())), fmpq(0))


def _dot(left: fmpq_mat, right: fmpq_mat) -> fmpq:
    return (left.transpose() * right)[0, 0]
