"""F_T over intervals of β: stationary points counted by a cover, inequalities for every β.

In ``t = -β`` the moments ``m = E_μ(1-tZ)^T`` and ``Q = E_μ(1-tZ)^{2T}`` are polynomials whose
coefficients are moments of Z: exact rationals or balls. So are

    V = Q - m² = t²(...),   D = 1 - 2m + Q = t²(...),   F_T = E[W] V/D,   g = t³(...),

where g has the sign of ``F_T'`` on the window (:mod:`theoryverify.papers.lca.two`). The factors of t are
divided out, so ``t = 0`` is no special point, and the quotients are bounded on cells by their Taylor
coefficients about the cell's centre.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb

from flint import arb, arb_poly

from theoryverify.errors import UndecidedError
from theoryverify.exact.balls import ball, precision, sign
from theoryverify.exact.integrands import LinearPower
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import Exact, positive_integer, rational
from theoryverify.papers.lca import assumptions, theory
from theoryverify.papers.lca.kernels import weight_polynomial

MAX_DEPTH = 200
_MOST_CELLS = 20_000


@dataclass(frozen=True)
class Cover:
    """The stationary points of F_T for ``t = -β`` in ``(0, upper]``.

    ``cells`` holds one interval in t for each of them, in which g is strictly monotone and changes
    sign; everywhere else g is certified not to vanish. ``examined`` counts the cells looked at.
    """

    upper: Fraction
    cells: tuple[tuple[Fraction, Fraction], ...]
    examined: int

    def against(self, claimed: int) -> str:
        """The number that was claimed and the number found, in words."""
        cells = "cell" if self.examined == 1 else "cells"
        return f"claimed {claimed}, found {len(self.cells)}, by a cover of {self.examined} {cells}"


@dataclass(frozen=True)
class Polynomials:
    """``E[W]``, ``V/t²``, ``D/t²`` and ``g/t³`` as polynomials in t with ball coefficients."""

    mean: arb
    V: arb_poly
    D: arb_poly
    g: arb_poly


def working_bits(depth: int) -> int:
    """Enough for alternating sums of ``C(2T,j) Z^j t^j`` with ``tZ <= 2``."""
    return 128 + 8 * depth


def polynomials(law: Law, depth: int) -> Polynomials:
    """The four polynomials at :func:`working_bits`."""
    law = assumptions.require(law)
    return _polynomials(law, positive_integer(depth, "depth", least=2, most=MAX_DEPTH))


@lru_cache(maxsize=64)
def _polynomials(law: Law, depth: int) -> Polynomials:
    with precision(working_bits(depth)):
        mean = law.expect(theory.signal_share())
        mu = [arb(1)]
        for j in range(1, 2 * depth + 1):
            # W Z^j = (WZ) Z^{j-1}
            mu.append(_mean(law, (*([Fraction(0)] * (j - 1)), *weight_polynomial())) / mean)

        def average(power: int, shift: int) -> arb_poly:
            """``E_μ[Z^shift (1-tZ)^power]``."""
            return arb_poly([(-1) ** j * comb(power, j) * mu[j + shift] for j in range(power + 1)])

        m, Q = average(depth, 0), average(2 * depth, 0)
        g = average(2 * depth - 1, 1) * (1 - m) - average(depth - 1, 1) * (m - Q)
        return Polynomials(mean, _divided(Q - m * m, 2), _divided(1 - 2 * m + Q, 2), _divided(g, 3))


def _mean(law: Law, polynomial: tuple[Fraction, ...]) -> arb:
    terms = [(entry, law.moment(k)) for k, entry in enumerate(polynomial) if entry]
    if any(moment is None for _, moment in terms):
        return law.expect(LinearPower(polynomial, 1, 0, 0))
    return ball(sum((entry * moment for entry, moment in terms if moment), Fraction(0)))


def _divided(polynomial: arb_poly, power: int) -> arb_poly:
    """Drop the factor ``t^power``, which is there by an identity; the balls must agree with it."""
    coefficients = polynomial.coeffs()
    if not all(coefficient.contains(0) for coefficient in coefficients[:power]):
        raise AssertionError(f"the factor t^{power} is missing: the identity behind it is broken")
    return arb_poly(coefficients[power:])


def window_cover(law: Law, depth: int, *, upper: Exact | None = None) -> Cover:
    """Isolate every stationary point of F_T with ``-upper <= β < 0``.

    Parameters
    ----------
    law : Law
        Meeting Assumption 6.1.
    depth : int
        T from 2 to 200.
    upper : exact number, optional
        The far end in ``t = -β``; the window's own, ``2/Z̄``, unless given.

    Raises
    ------
    UndecidedError
        If 20,000 cells do not decide it.

    Notes
    -----
    ``F_T' ∝ (1-m) g``; on the window ``1-m > 0``, so these are all stationary points there.
    """
    law = assumptions.require(law)
    end = 2 / law.upper if upper is None else rational(upper, "upper")
    found: list[tuple[Fraction, Fraction]] = []
    polynomial = polynomials(law, depth).g
    stack, examined = [(Fraction(0), end)], 0
    with precision(working_bits(depth)):
        while stack:
            low, high = stack.pop()
            examined += 1
            if examined > _MOST_CELLS:
                raise UndecidedError(f"{_MOST_CELLS} cells do not decide T = {depth}")
            value, slope = _ranges(polynomial, low, high)
            if sign(value) in (1, -1):
                continue
            if sign(slope) in (1, -1):
                ends = [sign(polynomial(ball(point))) for point in (low, high)]
                if None not in ends and 0 not in ends:
                    if ends[0] != ends[1]:
                        found.append((low, high))
                    continue
            stack += _split(low, high)
    return Cover(end, tuple(sorted(found)), examined)


def exceeds(law: Law, depth: int, level: arb, low: Fraction, high: Fraction) -> bool | None:
    """Whether ``F_T(-t) > level`` for *every* ``t`` in ``[low, high]``; a failing t refutes.

    ``F_T > level`` is ``(E[W]V - level·D)/t² > 0``, as ``D > 0`` for a law that is no point mass.
    """
    parts = polynomials(law, depth)
    stack, examined = [(low, high)], 0
    with precision(working_bits(depth)):
        difference = parts.mean * parts.V - level * parts.D
        while stack:
            start, stop = stack.pop()
            examined += 1
            if examined > _MOST_CELLS:
                return None
            value, _ = _ranges(difference, start, stop)
            if value > 0:
                continue
            if sign(difference(ball((start + stop) / 2))) == -1:
                return False
            stack += _split(start, stop)
    return True


def derivative_within(
    law: Law, depth: int, error: Fraction, active: Fraction, low: Fraction, high: Fraction
) -> bool | None:
    """Whether ``|G_T' - λ| < error`` for every ``t = -β`` in ``[low, high]`` (Lemma G.9).

    ``G_T' = F_T'/(2T F_T)`` and ``λ = z*/(1+βz*)`` with ``z* = active``. In t, with ``v = V/t²`` and
    ``d = D/t²``, ``F_T'/F_T = -(v'd - d'v)/(vd)``; multiplied by ``2T|1-tz*|vd > 0`` both sides are
    polynomials. A failing t refutes.
    """
    parts = polynomials(law, depth)
    outcome: bool | None = True
    with precision(working_bits(depth)):
        v, d, z = parts.V, parts.D, ball(active)
        away = arb_poly([1, -z])  # 1 - tz*, of one sign on the interval
        side = sign(away(ball((low + high) / 2))) or 1
        gap = -(v.derivative() * d - d.derivative() * v) * away - 2 * depth * z * v * d
        room = 2 * depth * ball(error) * side * away * v * d
        for difference in (room - gap, room + gap):
            stack, examined = [(low, high)], 0
            while stack:
                start, stop = stack.pop()
                examined += 1
                if examined > _MOST_CELLS:
                    outcome = None
                    break
                value, _ = _ranges(difference, start, stop)
                if value > 0:
                    continue
                if sign(difference(ball((start + stop) / 2))) == -1:
                    return False
                stack += _split(start, stop)
    return outcome


def _split(low: Fraction, high: Fraction) -> list[tuple[Fraction, Fraction]]:
    # Not halved: the midpoint may be the very zero (2/(a+b) for two atoms).
    cut = low + (high - low) * Fraction(47, 100)
    return [(low, cut), (cut, high)]


def _ranges(polynomial: arb_poly, low: Fraction, high: Fraction) -> tuple[arb, arb]:
    """Balls of a polynomial and of its derivative over ``[low, high]``, by Taylor coefficients."""
    centre, half = ball((low + high) / 2), ball((high - low) / 2)
    taylor = polynomial(arb_poly([centre, 1])).coeffs()
    value, slope, power = arb(0), arb(0), arb(1)
    for k, coefficient in enumerate(taylor[1:], 1):
        if k > 1:
            slope += k * abs(coefficient) * power
        power *= half
        value += abs(coefficient) * power
    first = taylor[1] if len(taylor) > 1 else arb(0)
    return _around(taylor[0], value), _around(first, slope)


def _around(centre: arb, radius: arb) -> arb:
    return (centre - radius).union(centre + radius)
