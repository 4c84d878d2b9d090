"""The pair mean ``I(t)`` of a law with rational moments, as an exact polynomial in ``t = -β``.

``t⁴ I = 2(E[v]E[w²] - E[wv]E[w])`` with ``w = 1-(1-tz)^T``, ``v = tz(1-tz)^{T-1}`` and ``E`` under
``W dP`` (not normalised). ``F_T'`` is a positive multiple of ``t³ E[w] I``. Each of the four means
needs ``E[WZ^k]`` for ``k >= 1`` only, which is rational wherever the moments of Z are.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb

import sympy
from flint import fmpq_poly

from theoryverify.claims.statements import Statement, expression_of, mean, roots, same
from theoryverify.errors import InputError
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import positive_integer, to_fmpq
from theoryverify.exact.roots import evaluate, sturm_count
from theoryverify.papers.lca.weight_moments import weight_moments


@dataclass(frozen=True)
class PairIntegral:
    """``I`` and ``E[w]`` as polynomials in ``t``; both zero for a degenerate case.

    Attributes
    ----------
    integral, mean_w : fmpq_poly
    """

    integral: fmpq_poly
    mean_w: fmpq_poly


@dataclass(frozen=True)
class PairMeans:
    """``E[w], E[w²], E[v], E[wv]`` under ``W dP``, as polynomials in ``t``."""

    w: fmpq_poly
    w_squared: fmpq_poly
    v: fmpq_poly
    wv: fmpq_poly


def pair_integral(law: Law, depth: int) -> PairIntegral:
    """``I`` and ``E[w]`` at one depth, exactly.

    Parameters
    ----------
    law : Law
        With rational moments; Assumption 6.1 is not asked for (a point mass gives ``I = 0``).
    depth : int
        T >= 1 (T = 1 gives ``I = 0``).
    """
    means = pair_means(law, depth)
    scaled = 2 * (means.v * means.w_squared - means.wv * means.w)
    integral, remainder = divmod(scaled, fmpq_poly([0, 0, 0, 0, 1]))
    assert remainder == 0
    return PairIntegral(integral, means.w)


def pair_means(law: Law, depth: int) -> PairMeans:
    """The four means that ``F_T`` and ``I`` are made of, exactly; arguments as above."""
    depth = positive_integer(depth, "depth", most=200)
    moment = weight_moments(law, 2 * depth)
    if moment is None:
        raise InputError(f"{law} has a moment that is not rational")

    def mean(coefficients: list[int]) -> fmpq_poly:
        """``E[Σ_{k>=1} c_k (tz)^k]``."""
        terms = [Fraction(0), *(c * moment[k] for k, c in enumerate(coefficients[1:]))]
        return fmpq_poly([to_fmpq(term) for term in terms])

    def power(exponent: int) -> list[int]:
        """``(1-s)^n`` in powers of s, to length ``2T+1``."""
        return [(-1) ** k * comb(exponent, k) for k in range(2 * depth + 1)]

    u, u_squared = power(depth), power(2 * depth)
    times_s = [0, *power(depth - 1)[:-1]], [0, *power(2 * depth - 1)[:-1]]
    return PairMeans(
        mean([-entry for entry in u]),
        mean([second - 2 * first for first, second in zip(u, u_squared, strict=True)]),
        mean(times_s[0]),
        mean([first - second for first, second in zip(*times_s, strict=True)]),
    )


def open_count(polynomial: fmpq_poly, lower: Fraction, upper: Fraction) -> int:
    """The number of distinct roots in the open interval, by Sturm's theorem."""
    inside = sturm_count(polynomial, lower, upper)
    return inside - (1 if evaluate(polynomial, upper) == 0 else 0)


def in_open(polynomial: fmpq_poly, lower: Fraction, upper: Fraction, count: int) -> Statement:
    """The number of roots in the open interval, as a certificate says it of ``(lower, upper]``."""
    return roots(polynomial, lower, upper, count + (evaluate(polynomial, upper) == 0))


def defines_integral(law: Law, depth: int, integral: fmpq_poly) -> Statement:
    """``t⁴ I = 2(E[v]E[w²] - E[wv]E[w])``: the polynomial is the pair mean of the law."""
    t, weight = sympy.Symbol("z", real=True), (Z - 1) / Z
    w, v = 1 - (1 - t * Z) ** depth, t * Z * (1 - t * Z) ** (depth - 1)
    means = [mean(law, weight * part) for part in (v, w**2, w * v, w)]
    return same(t**4 * expression_of(integral), 2 * (means[0] * means[1] - means[2] * means[3]))


def root_bound(polynomial: fmpq_poly) -> Fraction:
    """Cauchy's bound: no root beyond ``1 + max |c_k/c_n|``."""
    *rest, leading = [Fraction(int(c.p), int(c.q)) for c in polynomial.coeffs()]
    return 1 + max((abs(c / leading) for c in rest), default=Fraction(0))
