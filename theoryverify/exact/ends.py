"""What a law carries at the two ends of its support, and Laplace's method there.

At an end of the support, with ``s`` the distance from it, a polynomial weight ``w`` gives

    w(z) P(dz) = Σ_i C_i s^{k+i} ds,        g_i = C_i Γ(k+i+1)

for a density, and an atom is ``k = -1`` with its mass ``g_0``, before which ``C_0 = g_0/Γ(0)`` is
zero: both cases share every formula below. Integration by parts,

    (κ+1) ∫_0^ρ s^κ (1-s/ρ)^n ds = (n/ρ) ∫_0^ρ s^{κ+1} (1-s/ρ)^{n-1} ds,

gives Euler's Beta integral, so that up to a sign ``(1-αz)^n``, which has its zero at distance ``ρ``
and the size ``q = αρ`` at the end, contributes

    q^n ρ^{k+1} Γ(N)/Γ(N+k+1) · Σ_i g_i ρ^i/(N+k+1)_i,          N = n+1,

exactly where the sum ends and the density reaches to the zero, and asymptotically (Watson's lemma)
elsewhere: what lies beyond is smaller by an exponential factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import factorial
from typing import Literal

import sympy
from flint import arb

from theoryverify.errors import InputError
from theoryverify.exact.balls import ball
from theoryverify.exact.densities import Density
from theoryverify.exact.density_piece import Piece
from theoryverify.exact.evaluate import BALL, compiled
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Law, Mixture
from theoryverify.exact.rationals import positive_integer

Side = Literal["lower", "upper"]
_MOST_TERMS = 60


@dataclass(frozen=True)
class EndSeries:
    """``w dP`` near one end of the support.

    Attributes
    ----------
    exponent : Fraction
        ``k``; -1 for an atom.
    masses : tuple of arb
        ``g_i = C_i Γ(k+i+1)`` for ``i = 0, 1, ...``, as many as are known; ``g_0 > 0``.
    finite : bool
        Whether the series ends here and holds on the whole support.
    between : Fraction or None
        The least ``g``, no integer, for which a power ``s^{k+g}`` stands beside the series.
    """

    exponent: Fraction
    masses: tuple[arb, ...]
    finite: bool = False
    between: Fraction | None = None

    @property
    def mass(self) -> arb:
        """``g_0``: ``C_0 Γ(k+1)``, or the mass of the atom."""
        return self.masses[0]


def end_series(
    law: Law, side: Side, weight: Sequence[Fraction] = (Fraction(1),), terms: int = 2
) -> EndSeries:
    """The expansion of ``w dP`` at an end of the support, at the current precision.

    Parameters
    ----------
    law : Law
    side : "lower" or "upper"
    weight : sequence of Fraction
        ``w`` as coefficients from degree 0 up. Where it vanishes at the end, the exponent rises.
    terms : int
        How many terms are asked for. Fewer come back where the end carries, beside the leading
        power, another one that does not differ from it by an integer.

    Raises
    ------
    InputError
        For a zero weight or one that vanishes at an atom there, a number of terms out of range, or a
        density factor that is not analytic at the end.

    Examples
    --------
    >>> from theoryverify.exact.densities import Ball
    >>> end = end_series(Ball(4, 5), "lower", (Fraction(-1), Fraction(1)))
    >>> str(end.exponent), float(end.mass)
    ('2', 0.25)
    """
    terms = positive_integer(terms, "terms", most=_MOST_TERMS)
    end = law.lower if side == "lower" else law.upper
    local = _shifted(weight, end, 1 if side == "lower" else -1)
    if not any(local):
        raise InputError("the weight at the end is the zero polynomial")
    parts = [
        (exponent, [share * entry for entry in series], finite)
        for share, part in _parts(law)
        if (part.lower if side == "lower" else part.upper) == end
        for exponent, series, finite in _contributions(part, side, end, local, terms)
    ]
    lowest = min(exponent for exponent, _, _ in parts)
    gaps = [exponent - lowest for exponent, _, _ in parts]
    # A power s^{k+g} with g no integer comes after ceil(g) terms of the leading series.
    between = min((gap for gap in gaps if gap.denominator != 1), default=None)
    known = terms if between is None else min(terms, -(-between // 1))
    total = [arb(0)] * known
    for gap, (_, series, _) in zip(gaps, parts, strict=True):
        if gap.denominator == 1:
            for index, entry in enumerate(series, int(gap)):
                if index < known:
                    total[index] += entry
    alone = isinstance(law, Density) and len(parts) == 1
    return EndSeries(lowest, tuple(total), alone and parts[0][2], between)


def _parts(law: Law) -> list[tuple[arb, Law]]:
    if not isinstance(law, Mixture):
        return [(arb(1), law)]
    return [
        (ball(weight) * share, inner) for weight, part in law.parts for share, inner in _parts(part)
    ]


def _contributions(
    law: Law, side: Side, end: Fraction, weight: list[Fraction], terms: int
) -> list[tuple[Fraction, list[arb], bool]]:
    """(exponent, masses, whether they are all) of the atom or of the density at the end."""
    atom = law.atom(end)
    if atom:
        if not weight[0]:
            raise InputError(f"the weight vanishes at {end}, where {law} has an atom")
        return [(Fraction(-1), [ball(atom * weight[0])], False)]
    if not isinstance(law, Density):
        raise InputError(f"the {side} end of {law} is not understood")
    piece = law.pieces[0] if side == "lower" else law.pieces[-1]
    exponent, other = (piece.left, piece.right) if side == "lower" else (piece.right, piece.left)
    width = piece.upper - piece.lower
    order = next(i for i, entry in enumerate(weight) if entry)
    series = _product([ball(entry) for entry in weight[order:]], _taylor(piece, side, end, terms))
    series = _product(series, [ball(entry) for entry in _binomial(other, width, terms)])[:terms]
    scale = 1 / ((ball(width).log() * ball(exponent)).exp() * law.integral(sympy.Integer(1)))
    exponent += order
    masses = [
        scale * entry * ball(exponent + index + 1).gamma() for index, entry in enumerate(series)
    ]
    polynomial = piece.smooth.is_polynomial(Z) and other.denominator == 1 and other >= 0
    degree = len(weight) - 1 - order
    if polynomial:
        degree += int(other) + sympy.Poly(piece.smooth, Z).degree()
    finite = bool(polynomial) and len(law.pieces) == 1 and degree < terms
    return [(exponent, masses, finite)]


def _shifted(weight: Sequence[Fraction], end: Fraction, direction: int) -> list[Fraction]:
    """``w(end + direction·s)`` as coefficients in s, without zeros at the top."""
    result: list[Fraction] = []
    for coefficient in reversed(weight):
        raised = [Fraction(0), *(direction * entry for entry in result)]
        for index, entry in enumerate(result):
            raised[index] += end * entry
        raised[0] += coefficient
        result = raised
    while result and not result[-1]:
        result.pop()
    return result


def _taylor(piece: Piece, side: Side, end: Fraction, terms: int) -> list[arb]:
    """The analytic factor in powers of the distance from the end."""
    direction = 1 if side == "lower" else -1
    result, derivative = [], piece.smooth
    for order in range(terms):
        value = compiled(derivative, BALL)({Z.name: ball(end)}, False)
        if not value.is_finite():
            raise InputError(f"the density factor {piece.smooth} is not analytic at {end}")
        result.append(direction**order * value / factorial(order))
        derivative = sympy.diff(derivative, Z)
    return result


def _binomial(exponent: Fraction, width: Fraction, terms: int) -> list[Fraction]:
    """``(1 - s/width)^exponent``."""
    result = [Fraction(1)]
    for index in range(1, terms):
        result.append(result[-1] * -(exponent - index + 1) / (index * width))
    return result


def _product(left: list[arb], right: list[arb]) -> list[arb]:
    size = max(len(left), len(right))
    total = [arb(0)] * size
    for i, x in enumerate(left):
        for j, y in enumerate(right):
            if i + j < size:
                total[i + j] += x * y
    return total
