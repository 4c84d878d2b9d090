"""Numbers of the theory as formulas in means of Z, for certificates (see docs/certificates.md).

Each is written from its definition, so that a checker can compute it without this package.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import sympy

from theoryverify.claims.statements import Evaluated, Statement, equals, less, mean
from theoryverify.exact.balls import Enclosure
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import rational
from theoryverify.papers.lca.untied import untied_optimum

_W = (Z - 1) / Z


def exactly(value: Fraction) -> sympy.Rational:
    return sympy.Rational(value.numerator, value.denominator)


class Bracket(NamedTuple):
    """Two rationals around a number."""

    lower: Fraction
    upper: Fraction


def around(found: Enclosure, digits: int) -> Bracket:
    """The enclosure widened to ``digits`` digits, its ends short: quicker to check again."""
    grid = Fraction(1, 10**digits)
    return Bracket((found.lower // grid) * grid, -((-found.upper) // grid) * grid)


def alpha_root(law: Law, depth: int, found: Enclosure | Bracket) -> list[Statement]:
    """``E[WZ(1-αZ)^{2T-1}]`` is positive at the lower end and negative at the upper one: α*_T, its
    only root (Lemma F.1), lies between."""

    def slope(step: Fraction) -> sympy.Expr:
        return mean(law, (Z - 1) * (1 - exactly(step) * Z) ** (2 * depth - 1))

    return [less(0, slope(found.lower)), less(slope(found.upper), 0)]


def pair_mean(law: Law, depth: int, t: Fraction) -> sympy.Expr:
    """``E[v](E[u²] - E[u]) + E[uv](E[1] - E[u])`` under ``W dP``: ``t⁴I/2`` in terms of
    ``u = (1-tZ)^T``, ``v = tZ(1-tZ)^{T-1}``, where nothing cancels."""
    base = 1 - exactly(t) * Z
    u, v = base**depth, exactly(t) * Z * base ** (depth - 1)
    e, m, q, mv, muv = (mean(law, _W * part) for part in (1, u, u**2, v, u * v))
    return mv * (q - m) + muv * (e - m)


def beta_root(law: Law, depth: int, found: Enclosure | Bracket) -> list[Statement]:
    """``F_T'`` changes its sign at ``t = -β`` between the ends: β*_T, the only stationary point in
    the window (lca.uniqueness), lies between."""
    return [
        less(0, pair_mean(law, depth, -found.upper)),
        less(pair_mean(law, depth, -found.lower), 0),
    ]


def profile_loss(law: Law, depth: int, beta: Fraction) -> sympy.Expr:
    """``F_T(β) = min_α ℓ(α,β)``, also at ``β = 0`` (lca.G.profile)."""
    if beta == 0:
        return mean(law, _W) - mean(law, _W * Z) ** 2 / mean(law, _W * Z**2)
    u = (1 + exactly(beta) * Z) ** depth
    e, m, q = mean(law, _W), mean(law, _W * u), mean(law, _W * u**2)
    return (q * e - m**2) / (e - 2 * m + q)


def profile_step(law: Law, depth: int, beta: sympy.Expr) -> sympy.Expr:
    """``argmin_α ℓ(α,β) = E[WS]/E[WS²]``."""
    S = ((1 + beta * Z) ** depth - 1) / beta
    return mean(law, _W * S) / mean(law, _W * S**2)


def residual_polynomial(law: Law, depth: int) -> sympy.Expr:
    """π, the polynomial of the untied optimum, with its exact coefficients."""
    polynomial = untied_optimum(law, depth).polynomial
    assert polynomial is not None
    return sympy.Add(*(sympy.Rational(str(rational(c))) * Z**k for k, c in enumerate(polynomial)))


def is_optimal(law: Law, depth: int, power: int = 1) -> list[Statement]:
    """π(0) = 1 and E[W Z^power π Z^i] = 0 for i < T."""
    pi, share = residual_polynomial(law, depth), _W
    zero = [equals(mean(law, share * Z ** (power + i) * pi), 0) for i in range(depth)]
    return [equals(Evaluated(pi, {Z: 0}), 1), *zero]
