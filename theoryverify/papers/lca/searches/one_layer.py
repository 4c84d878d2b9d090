"""Searching Section 4: an atom of |m| against Theorem 4.1, directions against the one-layer formula.

Both work with exact rationals in d = 2: what breaks a statement there breaks "for every d".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from flint import fmpq_mat

from theoryverify.claims import CERTIFIED, PROVED, Evidence, Examination
from theoryverify.claims.law_spaces import DiscreteLaws, UniformLaws
from theoryverify.claims.search import Search
from theoryverify.claims.spaces import Choice, Integers, ListOf, OneOf, Rationals, Record
from theoryverify.errors import InputError
from theoryverify.exact.laws import Discrete, Law
from theoryverify.exact.rationals import rational, to_fmpq
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.claims.one_layer import ATOMLESS, EXCESS, ISOTROPIC, T41
from theoryverify.papers.lca.laws import ASSUMPTION_6_1

_ROUNDING = 1e-9

# -- Theorem 4.1 --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layer:
    """A law of ``Z = 1+|m|²`` and one layer ``A = gain·I``, ``(pᵀ, q) = (p e_1ᵀ, q)``, ``b = b e_1``.

    m has a uniform direction in the plane; ζ is standard normal, independent of m.
    """

    law: Law
    gain: Fraction
    q: Fraction
    p: Fraction
    b: Fraction

    def __str__(self) -> str:
        return f"Z ~ {self.law}, A = {self.gain}·I, q = {self.q}, p = {self.p}e₁, b = {self.b}e₁"


def bayes_margin(case: Layer) -> float:
    """How far the slope is from Bayes's on the nearest atom of |m|; at least 1 where there is none.

    ``ŵ - ζm/Z`` is a quadratic in ζ with the coefficients ``Aᵀ(I+mmᵀ)p``, ``(qAᵀ+bpᵀ)m - m/Z`` and
    ``qb``; on the atom it vanishes for all ζ and directions exactly if these do.
    """
    constant, square = abs(case.gain * case.p), abs(case.q * case.b)
    atoms = [z for z in getattr(case.law, "atoms", ()) if z > 1]
    distances = [
        abs(case.q * case.gain - 1 / z) + abs(case.q * case.gain + case.b * case.p - 1 / z)
        for z in atoms
    ]
    nearest = min(distances) if distances else Fraction(1)
    return float(constant + square + nearest) - _ROUNDING


def probability_of_bayes(
    slope: Callable[..., Any], case: Layer, examination: Examination
) -> Evidence:
    """``P(ŵ = w)``, exactly: on each atom z, does ``ŵ - w`` vanish on the circle ``|m|² = z-1``?

    Where |m| has a density, ``ŵ = w`` has probability 0 unless it is an identity in m and ζ.
    """
    zeta, m1, m2 = sympy.symbols("zeta m1 m2", real=True)
    m, first = sympy.Matrix([m1, m2]), sympy.Matrix([1, 0])
    gain, p, b, q = (
        sympy.Rational(x.numerator, x.denominator) for x in (case.gain, case.p, case.b, case.q)
    )
    length = m1**2 + m2**2
    weight = theory.regression_weight().subs({theory.zeta: zeta, theory.M: length})
    value = slope(gain * sympy.eye(2), p * first, b * first, q, m, zeta, sympy.eye(2))
    # The denominators, 1+|m|², never vanish.
    gaps = [sympy.expand(sympy.numer(sympy.together(e))) for e in value - weight * m]
    if isinstance(case.law, Discrete):
        total = Fraction(0)
        for z, share in case.law.atoms.items():
            circle = length - sympy.Rational(z.numerator, z.denominator) + 1
            if z > 1 and all(sympy.rem(gap, circle, m1) == 0 for gap in gaps):
                total += share
    else:
        total = Fraction(int(all(gap == 0 for gap in gaps)))
    examination.decide("P(ŵ = w) = 0", total == 0, f"P(ŵ = w) >= {total}")
    examination.assume("m has a uniform direction and ζ a density: what is no identity has mass 0")
    return examination.evidence("one law, one layer, d = 2")


_t41 = next(check for check in T41.checks if check.name == "the slope is of Lemma D.1's form")

ATOM = Search(
    T41.id,
    "one layer, d = 2",
    "a law of Z = 1+|m|² and the weights of one layer of linear attention: P(ŵ = w) = 0",
    Record(
        Layer,
        law=OneOf(
            (
                UniformLaws(Rationals(1, 20, 10)),
                DiscreteLaws(Rationals(1, 20, 10), least=1, most=4, rarest=1000),
            )
        ),
        gain=Rationals(-1, 1, 100),
        q=Rationals(-2, 2, 100),
        p=Rationals(-1, 1, 100),
        b=Rationals(-1, 1, 100),
    ),
    bayes_margin,
    probability_of_bayes,
    PROVED,
    formula=_t41.formula,
    controls={
        "a slope that knows |m|": lambda A, p, b, q, m, z, eye: z * m / (1 + (m.T * m)[0]),
        "the same by a residual": lambda A, p, b, q, m, z, eye: (
            z * (eye + m * m.T).inv() * m + 0 * p
        ),
    },
    hypotheses=(ATOMLESS,),
    budget=4000,
)

# -- the one-layer formula ----------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """``±(x, y)`` (``ring=False``), or a uniform direction of that length; ``weight`` is relative."""

    weight: int
    x: Fraction
    y: Fraction
    ring: bool = False

    @property
    def square(self) -> Fraction:
        return rational(self.x) ** 2 + rational(self.y) ** 2


@dataclass(frozen=True)
class Directions:
    """The law of m in the plane: a mixture of symmetric pairs and circles."""

    parts: tuple[Part, ...]

    @property
    def law(self) -> Discrete:
        """Of ``Z = 1+|m|²``."""
        weights: dict[Any, Fraction] = {}
        total = sum(part.weight for part in self.parts)
        for part in self.parts:
            z = 1 + part.square
            weights[z] = weights.get(z, Fraction(0)) + Fraction(part.weight, total)
        return Discrete(weights)

    def __str__(self) -> str:
        total = sum(part.weight for part in self.parts)
        shown = []
        for part in self.parts:
            where = f"|m|² = {part.square}" if part.ring else f"m = ±({part.x}, {part.y})"
            shown.append(f"{where} with probability {Fraction(part.weight, total)}")
        return "; ".join(shown)


def excess(case: Directions, C: Sequence[Any], number: Callable[[Any], Any] = rational) -> Any:
    """``E[(Cm - m/Z)ᵀ(I + mmᵀ)(Cm - m/Z)]`` for a 2 x 2 matrix C in rows, exactly or in floats.

    On a circle ``|m|² = M``: ``E|Cm|² = M tr(CᵀC)/2``, ``E[mᵀCm] = M tr(C)/2``,
    ``E[(mᵀCm)²] = M²(tr(C)² + tr(C²) + tr(CᵀC))/8``.
    """
    c11, c12, c21, c22 = C
    value, total = number(0), sum(part.weight for part in case.parts)
    for part in case.parts:
        x, y, M = number(part.x), number(part.y), number(part.square)
        z = 1 + M
        if part.ring:
            trace, square = c11 + c22, c11**2 + c12**2 + c21**2 + c22**2
            mean = M * trace / 2
            fourth = M**2 * (trace**2 + c11**2 + 2 * c12 * c21 + c22**2 + square) / 8
            own = M * square / 2 - 2 * mean / z + M / z**2
            own += fourth - 2 * mean * M / z + M**2 / z**2
        else:
            ex, ey = c11 * x + c12 * y - x / z, c21 * x + c22 * y - y / z
            own = ex**2 + ey**2 + (x * ex + y * ey) ** 2
        value += part.weight * own
    return value / total


def _normal_equations(
    case: Directions, number: Callable[[Any], Any]
) -> tuple[list[list[Any]], list[Any]]:
    """Hessian and gradient at C = 0 of the quadratic ``excess``, from its values."""

    def at(*signed: tuple[int, int]) -> Any:
        entries = [number(0)] * 4
        for i, sign in signed:
            entries[i] += sign
        return excess(case, entries, number)

    nought, single = at(), [at((i, 1)) for i in range(4)]
    gradient = [(single[i] - at((i, -1))) / 2 for i in range(4)]
    pairs = {(i, j): at((i, 1), (j, 1)) for i in range(4) for j in range(i, 4)}
    rows = [
        [pairs[min(i, j), max(i, j)] - single[i] - single[j] + nought for j in range(4)]
        for i in range(4)
    ]
    return rows, gradient


def best_excess(case: Directions) -> Fraction:
    """``min_C excess(C)`` exactly: the normal equations, solved over QQ.

    The quadratic is bounded below, so they are consistent even where they are singular.
    """
    rows, gradient = _normal_equations(case, rational)
    entries = [
        to_fmpq(rational(entry))
        for row, slope in zip(rows, gradient, strict=True)
        for entry in (*row, -slope)
    ]
    reduced, rank = fmpq_mat(4, 5, entries).rref()
    C = [Fraction(0)] * 4
    for row in range(rank):
        lead = next(j for j in range(5) if reduced[row, j] != 0)
        C[lead] = rational(reduced[row, 4])
    value: Fraction = excess(case, C)
    return value


def _best_float(case: Directions) -> float:
    rows, gradient = _normal_equations(case, float)
    C, *_ = np.linalg.lstsq(np.array(rows), -np.array(gradient), rcond=None)
    return float(excess(case, list(C), float))


Formula = Callable[[Fraction, Fraction, Fraction], Fraction]


def _stated(share: Fraction, first: Fraction, second: Fraction) -> Fraction:
    """``E[W] - E[Z-1]²/E[Z(Z-1)]``."""
    return share - first**2 / second


def _moments(law: Discrete) -> tuple[Fraction, Fraction, Fraction]:
    values = [(z, w) for z, w in law.atoms.items()]
    share = sum((w * (z - 1) / z for z, w in values), Fraction(0))
    second = sum((w * z * (z - 1) for z, w in values), Fraction(0))
    if second == 0:
        raise InputError("m = 0: there is no signal")
    return share, sum((w * (z - 1) for z, w in values), Fraction(0)), second


def formula_margin(case: Directions) -> float:
    """Minus the relative difference of the formula and the exact minimum, less rounding."""
    moments = _moments(case.law)
    return _ROUNDING - abs(float(_stated(*moments)) - _best_float(case)) / float(moments[0])


def one_layer_formula(formula: Formula, case: Directions, examination: Examination) -> Evidence:
    """The formula against the exact minimum over all 2 x 2 matrices C in ``ŵ = ζCm``."""
    stated, best = formula(*_moments(case.law)), best_excess(case)
    examination.decide(
        "the best single layer's excess risk", stated == best, f"{best}, not {stated}"
    )
    examination.assume("m -> -m: the even part of ŵ is orthogonal to the odd one and adds risk")
    return examination.evidence("this law of m in the plane, exactly")


_PART = Record(
    Part,
    weight=Integers(1, 20),
    x=Rationals(-3, 3, 10),
    y=Rationals(-3, 3, 10),
    ring=Choice((True, False)),
)

DIRECTIONS = Search(
    EXCESS.id,
    "directions, d = 2",
    "a law of m in the plane, symmetric, independent of ζ: the least excess risk of one layer is "
    "E[W] - E[Z-1]²/E[Z(Z-1)]",
    Record(Directions, parts=ListOf(_PART, 1, 4)),
    formula_margin,
    one_layer_formula,
    CERTIFIED,
    formula=_stated,
    controls={
        "E[W] - E[Z-1]²/E[Z²]": lambda share, first, second: (
            share - first**2 / (second + first + 1)
        ),
        "E[W]": lambda share, first, second: share,
    },
    hypotheses=(ASSUMPTION_6_1, ISOTROPIC),
    budget=400,
)

searches = [ATOM, DIRECTIONS]
