"""The test-time feature after one gradient step: ``P_1 + P_2 (⟨β,x⟩/r)^ge`` and its exact remainder.

With the population γ* (units of ``η F_pretraining F_test``), ``z = ⟨β,x⟩``, ``S = Σβ_i²x_i²`` and
``s = √2 c_2² K_2/(r(r+2))`` the feature is ``c_0²K_0 + c_1²K_1 z/r + s (z² + S/2 - 3/2)``. So

* ge = 1: ``P_1 = c_0²K_0``, ``P_2 = c_1²K_1``, remainder ``s (z² + S/2 - 3/2)``: the z² term survives;
* even g (ge = 2): ``P_1 = c_0²K_0 - s``, ``P_2 = r² s``, remainder ``s (S-1)/2``: three to two.

How much of the feature is the stated function is a ratio of variances over ``x ~ N(0,I)`` and β on the
sphere, a rational function of r and of one ratio. Source: arXiv 2510.12026, Lemma C.1 and Proposition
4.1 as reported; P_1, P_2 and the remainder are reconstructed.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy
from flint import arb

from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure, precision
from theoryverify.exact.rationals import positive_integer
from theoryverify.papers.mamba.stage_one import StageOne
from theoryverify.papers.mamba.theory import K0, K1, K2, c0, c1, c2, r, z

S = sympy.Symbol("S", real=True)
ratio = sympy.Symbol("q", real=True)


def spread_coefficient() -> sympy.Expr:
    """``s = √2 c_2² K_2/(r(r+2))``."""
    return sympy.sqrt(2) * c2**2 * K2 / (r * (r + 2))


def stated_feature(ge: int) -> sympy.Expr:
    """``P_1 + P_2 (z/r)^ge``."""
    s = spread_coefficient()
    if ge == 1:
        return c0**2 * K0 + c1**2 * K1 * z / r
    if ge == 2:
        return c0**2 * K0 - s + s * r**2 * (z / r) ** 2
    raise InputError(f"ge = {ge!r}: a polynomial link has generative exponent 1 or 2")


def remainder(ge: int) -> sympy.Expr:
    """What the feature is beyond ``P_1 + P_2 (z/r)^ge``; its mean is 0."""
    s = spread_coefficient()
    return s * (z**2 + S / 2 - sympy.Rational(3, 2)) if ge == 1 else s * (S - 1) / 2


def share_even() -> sympy.Expr:
    """``R²`` of the feature with z² for even g: ``(2r+7)²/((r+2)(4r+23))``.

    ``Cov(z², S) = Var S = 2B``, ``B = Σβ_i⁴`` of mean ``3/(r+2)``, and ``Var z² = 2``.
    """
    return (2 * r + 7) ** 2 / ((r + 2) * (4 * r + 23))


def share_odd() -> sympy.Expr:
    """``R²`` of the feature with z: ``1/(1 + q² (4r+23)/(2(r+2)))``, ``q = √2c_2²K_2/((r+2)c_1²K_1)``."""
    return 1 / (1 + ratio**2 * (4 * r + 23) / (2 * (r + 2)))


@dataclass(frozen=True)
class OneStepFeature:
    """The feature after one population step, in units of ``η F_pretraining F_test``.

    Attributes
    ----------
    ge : int
    P_1, P_2 : Enclosure
    remainder : Enclosure
        Its standard deviation, over x and β.
    share : Enclosure
        ``R²`` with ``z^ge``.
    """

    ge: int
    P_1: Enclosure
    P_2: Enclosure
    remainder: Enclosure
    share: Enclosure


def one_step_feature(step: StageOne, r: int) -> OneStepFeature:
    """The numbers of the feature for a support of size r.

    Parameters
    ----------
    step : StageOne
    r : int

    Examples
    --------
    >>> from theoryverify.exact.gate import Gate
    >>> from theoryverify.papers.mamba.population import Population
    >>> step = StageOne(Population("He3(z)/sqrt(6)", Gate(24, -9)))
    >>> [round(float(one_step_feature(step, r).share), 3) for r in (8, 32, 128)]
    [0.432, 0.916, 0.994]
    """
    size = positive_integer(r, "r")
    even = step.population.link.parity == "even"
    factors = [step.query_factor(k).total for k in range(3)]
    with precision(step.bits):
        zero, one, two = (
            c.ball() ** 2 * K.ball() for c, K in zip(step.context_factors, factors, strict=True)
        )
        s = arb(2).sqrt() * two / (size * (size + 2))
        square = arb(4 * size + 23) / (2 * (size + 2))  # Var(z² + S/2), β averaged
        if even:
            share = arb((2 * size + 7) ** 2) / ((size + 2) * (4 * size + 23))
            deviation = abs(s) * (arb(3) / (2 * (size + 2))).sqrt()
            values = (zero - s, s * size**2, deviation, share)
        else:
            deviation = abs(s) * square.sqrt()
            linear = (one / size) ** 2
            values = (zero, one, deviation, linear / (linear + s**2 * square))
        return OneStepFeature(2 if even else 1, *(Enclosure.of(value) for value in values))
