"""The minimiser α*_T of ``R_T(α) = E[W(1-αZ)^{2T}]``, enclosed (Lemma F.1).

``R_T`` is strictly convex, and ``R_T'(1/Z_upper) < 0 < R_T'(1/Z_lower)``; so α*_T is the only sign
change of ``f(α) = E[WZ(1-αZ)^{2T-1}]`` on that interval, and two certified signs enclose it. With
``P`` and ``N`` the parts of ``f`` where ``1-αZ`` is positive and negative, ``log(P/N)`` has the
same root and is close to linear however large T is; Newton's method works on that.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb

from flint import arb, fmpq_poly

from theoryverify.errors import UndecidedError
from theoryverify.exact.balls import Enclosure, midpoint, sign
from theoryverify.exact.integrands import LinearPower
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import positive_integer, to_fmpq
from theoryverify.exact.roots import AlgebraicNumber, Slope, algebraic_root, decreasing_root
from theoryverify.papers.lca import assumptions
from theoryverify.papers.lca.kernels import weight_polynomial

MAX_DEPTH = 10**9
MAX_DIGITS = 2000


@dataclass(frozen=True)
class AlphaStar:
    """α*_T for one law and depth.

    Attributes
    ----------
    enclosure : Enclosure
        Contains α*_T.
    limit : Fraction
        ``α* = 2/(Z_lower + Z_upper)``.
    contraction : Fraction
        ``r = (Z_upper - Z_lower)/(Z_upper + Z_lower)``; ``R_T(α*_T) <= E[W] r^{2T}``.
    """

    law: Law
    depth: int
    enclosure: Enclosure
    limit: Fraction
    contraction: Fraction

    def __str__(self) -> str:
        return str(self.enclosure)


def alpha_star(law: Law, depth: int, digits: int = 30) -> AlphaStar:
    """Enclose ``α*_T = argmin E[W(1-αZ)^{2T}]`` to ``digits`` relative digits.

    Parameters
    ----------
    law : Law
        The law of Z, meeting Assumption 6.1.
    depth : int
        T, from 1 to 10^9.
    digits : int
        From 1 to 2000.

    Raises
    ------
    HypothesisError
        If the law breaks Assumption 6.1.
    InputError
        For a depth or a number of digits out of range.
    UndecidedError
        If no sign change could be certified.

    Examples
    --------
    >>> from theoryverify.exact.densities import Uniform
    >>> print(alpha_star(Uniform(2, 5), depth=10, digits=12))
    0.281797528706[17, 32]
    """
    law = assumptions.require(law)
    depth = positive_integer(depth, "depth", most=MAX_DEPTH)
    digits = positive_integer(digits, "digits", most=MAX_DIGITS)
    return _enclosed(law, depth, digits)


@lru_cache(maxsize=512)
def _enclosed(law: Law, depth: int, digits: int) -> AlphaStar:
    power = 2 * depth - 1

    def halves(alpha: arb, weight: tuple[Fraction, ...], exponent: int) -> tuple[arb, arb]:
        zero = midpoint(1 / alpha)
        integrand = LinearPower(weight, 1, -alpha, exponent)
        return law.expect(integrand, on=(None, zero)), law.expect(integrand, on=(zero, None))

    weight = weight_polynomial()
    times_z = (Fraction(0), *weight)

    def sign_at(alpha: arb) -> int | None:
        try:
            positive, negative = halves(alpha, weight, power)
        except UndecidedError:
            return None
        return sign(positive + negative)

    def shape(alpha: arb) -> Slope:
        try:
            positive, negative = halves(alpha, weight, power)
            d_positive, d_negative = halves(alpha, times_z, power - 1)
        except UndecidedError:
            return Slope(arb("nan"))
        value = positive.log() - (-negative).log()
        return Slope(value, -power * (d_positive / positive - d_negative / negative))

    limit = 2 / (law.lower + law.upper)
    enclosure = decreasing_root(sign_at, shape, 1 / law.upper, 1 / law.lower, digits, start=limit)
    ratio = (law.upper - law.lower) / (law.upper + law.lower)
    return AlphaStar(law, depth, enclosure, limit, ratio)


def algebraic_alpha_star(law: Law, depth: int) -> AlgebraicNumber | None:
    """α*_T as an exact algebraic number, where the moments of the law are rational.

    The polynomial is ``Σ_k C(n,k)(-α)^k E[WZ·Z^k]`` with ``n = 2T-1``; its root in
    ``(1/Z_upper, 1/Z_lower)`` is isolated by Sturm's theorem. Meant for T up to about 30.
    """
    law = assumptions.require(law)
    power = 2 * positive_integer(depth, "depth", most=200) - 1
    weight = weight_polynomial()
    moments: list[Fraction] = []
    for order in range(power + len(weight)):
        moment = law.moment(order)
        if moment is None:
            return None
        moments.append(moment)
    coefficients = [
        (-1) ** k * comb(power, k) * sum(w * moments[k + i] for i, w in enumerate(weight))
        for k in range(power + 1)
    ]
    polynomial = fmpq_poly([to_fmpq(Fraction(entry)) for entry in coefficients])
    return algebraic_root(polynomial, 1 / law.upper, 1 / law.lower)
