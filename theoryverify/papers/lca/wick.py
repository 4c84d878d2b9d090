"""The literal model with its Gaussian entries as symbols, and its exact expectations.

Every entry of u and G is a variable; the layers ``F <- F + αX + βX(XᵀF)/L`` are run on polynomials
and Gaussian moments taken monomial by monomial. Slow, for tiny d and L only, and with nothing in
common with the chain: it is what the reductions are judged by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy
from sympy.polys.rings import PolyElement, PolyRing

from theoryverify.exact.rationals import positive_integer, rational

_MAX_ENTRIES = 9


@dataclass(frozen=True)
class LiteralMoments:
    """Given m, over u and G: ``E[(1-ŵ·m)² + |ŵ|²]``, ``E[ŵ·m]``, ``E[(ŵ·m)²]``, ``E|ŵ|²``."""

    risk: Fraction
    along: Fraction
    along_square: Fraction
    square: Fraction


def literal_moments(
    m: Sequence[Fraction], context: int, alpha: Fraction, beta: Fraction, depth: int
) -> LiteralMoments:
    """Exact moments of the literal linear stack.

    Parameters
    ----------
    m : sequence of Fraction
        The spike, in any direction; ``d = len(m)``.
    context, depth : int
        L and T; ``L(d+1)`` is at most 9.
    alpha, beta : Fraction

    Raises
    ------
    InputError
        For sizes out of range.
    """
    dim = len(m)
    context = positive_integer(context, "context", most=max(_MAX_ENTRIES // (dim + 1), 1))
    depth = positive_integer(depth, "depth", most=4)
    names = [f"u{k}" for k in range(context)]
    names += [f"g{i}_{k}" for i in range(dim) for k in range(context)]
    ring = PolyRing(names, sympy.QQ)
    u = list(ring.gens[:context])
    noise = [list(ring.gens[context * (i + 1) : context * (i + 2)]) for i in range(dim)]
    spike = [_rational(entry) for entry in m]
    X = [[spike[i] * u[k] + noise[i][k] for k in range(context)] for i in range(dim)]
    step, mix = _rational(alpha), _rational(beta) / context
    F = [[ring.zero] * context for _ in range(dim)]
    for _ in range(depth):
        inner = [
            [
                _dot(ring, [X[i][a] for i in range(dim)], [F[i][k] for i in range(dim)])
                for k in range(context)
            ]
            for a in range(context)
        ]
        F = [
            [
                F[i][k] + step * X[i][k] + mix * _dot(ring, X[i], [row[k] for row in inner])
                for k in range(context)
            ]
            for i in range(dim)
        ]
    share = sympy.QQ(1, context)
    slope = [share * _dot(ring, F[i], u) for i in range(dim)]
    along = sum((s * w for s, w in zip(spike, slope, strict=True)), ring.zero)
    first, second = _mean(along), _mean(along**2)
    square = sum((_mean(w**2) for w in slope), Fraction(0))
    return LiteralMoments(1 - 2 * first + second + square, first, second, square)


def _dot(ring: PolyRing, left: Sequence[PolyElement], right: Sequence[PolyElement]) -> PolyElement:
    return sum((x * y for x, y in zip(left, right, strict=True)), ring.zero)


def _mean(polynomial: PolyElement) -> Fraction:
    """``E`` over independent standard normal variables: ``E g^{2k} = (2k-1)!!``."""
    total = Fraction(0)
    for powers, coefficient in polynomial.terms():
        if any(power % 2 for power in powers):
            continue
        value = Fraction(int(coefficient.numerator), int(coefficient.denominator))
        for power in powers:
            for factor in range(1, power, 2):
                value *= factor
        total += value
    return total


def _rational(value: Fraction) -> Any:
    exact = rational(value)
    return sympy.QQ(exact.numerator, exact.denominator)
