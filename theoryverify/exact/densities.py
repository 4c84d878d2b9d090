"""Laws with a density that is analytic on finitely many pieces.

On each piece ``[l, r]`` the density is proportional to ``(z-l)^p (r-z)^q h(z)`` with rational end
exponents ``p, q > -1`` and ``h`` analytic and positive (:mod:`theoryverify.exact.density_piece`).
Uniform, Beta, ball and shell laws are all of this kind.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from flint import arb, ctx

from theoryverify.errors import InputError
from theoryverify.exact.balls import precision
from theoryverify.exact.density_piece import (
    Piece,
    as_sympy,
    ball_integral,
    beta_moment,
    clip,
    elementary_integral,
    exact_integral,
    float_rule,
    mpmath_integral,
    sample_piece,
)
from theoryverify.exact.evaluate import BALL, mpmath_arithmetic
from theoryverify.exact.integrands import LinearPower, Z, as_function, require_rational
from theoryverify.exact.laws import Draws, Interval, Law
from theoryverify.exact.rationals import Exact, positive_integer, rational, shown


class Density(Law):
    """A law whose density is a sum of :class:`Piece` s, normalised together."""

    def __init__(self, *pieces: Piece, name: str | None = None) -> None:
        if not pieces:
            raise InputError("a density needs at least one piece")
        self.pieces = tuple(sorted(pieces, key=lambda piece: piece.lower))
        for before, after in zip(self.pieces, self.pieces[1:], strict=False):
            if after.lower < before.upper:
                raise InputError(
                    f"the pieces [{shown(before.lower)}, {shown(before.upper)}] and "
                    f"[{shown(after.lower)}, {shown(after.upper)}] overlap"
                )
        self.lower, self.upper = self.pieces[0].lower, self.pieces[-1].upper
        self._name = name
        self._mass_cache: dict[int, arb] = {}

    # -- balls ---------------------------------------------------------------------------------

    def _expect_ball(self, integrand: Any, on: Interval) -> arb:
        return self.integral(integrand, on) / self._mass()

    def integral(self, integrand: Any, on: Interval = (None, None)) -> arb:
        """The expectation without the normalising constant: enough where only a sign counts."""
        function = as_function(integrand, BALL)
        if not isinstance(integrand, (sympy.Expr, LinearPower)):
            require_rational(integrand)
        total = arb(0)
        for piece in self.pieces:
            low, high = clip(piece, on)
            if low < high:
                exact = elementary_integral(piece, integrand, low, high)
                total += ball_integral(piece, function, low, high) if exact is None else exact
        return total

    def __getstate__(self) -> dict[str, Any]:
        """Without the balls that it remembers: they do not go from process to process."""
        return {**self.__dict__, "_mass_cache": {}}

    def _mass(self) -> arb:
        bits = ctx.prec
        if bits not in self._mass_cache:
            self._mass_cache[bits] = self.integral(sympy.Integer(1))
        return self._mass_cache[bits]

    # -- other backends ------------------------------------------------------------------------

    def _expect_mpmath(self, function: Any, on: Interval, context: Any) -> Any:
        number = mpmath_arithmetic(context).constant

        def integral(f: Any, region: Interval) -> Any:
            total = context.mpf(0)
            for piece in self.pieces:
                low, high = clip(piece, region)
                if low < high:
                    total += mpmath_integral(piece, f, low, high, context, number)
            return total

        return integral(function, on) / integral(lambda z: context.mpf(1), (None, None))

    def _expect_float64(self, function: Any, on: Interval) -> float:
        def integrals(f: Any, region: Interval) -> list[tuple[float, float]]:
            found = []
            for piece in self.pieces:
                low, high = clip(piece, region)
                if low < high:
                    nodes, weights, peak = float_rule(piece, low, high)
                    # A constant function returns one number.
                    found.append((float(np.dot(weights, f(nodes) + 0 * nodes)), peak))
            return found

        parts, masses = integrals(function, on), integrals(lambda z: 1.0, (None, None))
        top = max(peak for _, peak in masses)
        mass = sum(value * math.exp(peak - top) for value, peak in masses)
        return sum(value * math.exp(peak - top) for value, peak in parts) / mass

    # -- the rest ------------------------------------------------------------------------------

    def moment(self, order: int) -> Fraction | None:
        if len(self.pieces) == 1:
            return beta_moment(self.pieces[0], order)
        parts = [(exact_integral(p, order), exact_integral(p, 0)) for p in self.pieces]
        if any(top is None or bottom is None for top, bottom in parts):
            return None
        return Fraction(sum(t for t, _ in parts)) / Fraction(sum(m for _, m in parts))  # type: ignore[misc]

    def atom(self, point: Fraction) -> Fraction:
        return Fraction(0)

    @property
    def end_exponents(self) -> tuple[Fraction, Fraction]:
        return self.pieces[0].left, self.pieces[-1].right

    def sample(self, size: int, *, rng: np.random.Generator | int | None = None) -> Draws:
        generator = np.random.default_rng(rng)
        if len(self.pieces) == 1:
            return sample_piece(self.pieces[0], size, generator)
        with precision(64):
            shares = [
                float(self.expect(sympy.Integer(1), on=(p.lower, p.upper))) for p in self.pieces
            ]
        which = generator.choice(len(self.pieces), size=size, p=np.array(shares) / sum(shares))
        draws = np.empty(size)
        for index, piece in enumerate(self.pieces):
            chosen = which == index
            draws[chosen] = sample_piece(piece, int(chosen.sum()), generator)
        return draws

    def __repr__(self) -> str:
        if self._name is not None:
            return self._name
        spans = [f"[{shown(piece.lower)},{shown(piece.upper)}]" for piece in self.pieces]
        return f"density({', '.join(spans)})"


class Uniform(Density):
    """The uniform law on ``[lower, upper]``.

    Examples
    --------
    >>> Uniform(2, 5).moment(2)
    Fraction(13, 1)
    """

    def __init__(self, lower: Exact, upper: Exact) -> None:
        low, high = rational(lower, "lower"), rational(upper, "upper")
        if low >= high:
            raise InputError(
                f"a uniform law needs lower < upper, not {shown(low)} and {shown(high)}"
            )
        super().__init__(Piece(low, high), name=f"uniform({shown(low)},{shown(high)})")

    def sample(self, size: int, *, rng: np.random.Generator | int | None = None) -> Draws:
        return np.random.default_rng(rng).uniform(float(self.lower), float(self.upper), size)


class ScaledBeta(Density):
    """``lower + (upper - lower) B`` with ``B ~ Beta(p, q)``; ``p, q > 0`` rational.

    Raises
    ------
    InputError
        If ``p`` or ``q`` is not rational or has a denominator above 24: there the law cannot be
        integrated rigorously near its ends.
    """

    def __init__(self, lower: Exact, upper: Exact, p: Exact, q: Exact) -> None:
        first, second = rational(p, "p"), rational(q, "q")
        if first <= 0 or second <= 0:
            raise InputError(f"Beta needs p > 0 and q > 0, not {shown(first)} and {shown(second)}")
        low, high = rational(lower, "lower"), rational(upper, "upper")
        parameters = ",".join(map(shown, (low, high, first, second)))
        super().__init__(Piece(low, high, first - 1, second - 1), name=f"beta({parameters})")


class Ball(Density):
    """The law of ``1 + |m|^2`` for ``m`` uniform in the ball ``|m|^2 <= upper - 1`` of ``R^d``.

    Its density is proportional to ``(z-1)^{d/2-1}`` on ``[1, upper]``.
    """

    def __init__(self, dimension: int, upper: Exact) -> None:
        d = positive_integer(dimension, "dimension")
        high = rational(upper, "upper")
        if high <= 1:
            raise InputError(f"the ball needs Zmax > 1, not {shown(high)}")
        super().__init__(
            Piece(Fraction(1), high, Fraction(d, 2) - 1), name=f"ball({d},{shown(high)})"
        )


class Shell(Density):
    """The law of ``1 + |m|^2`` for ``m`` uniform in ``lower <= 1 + |m|^2 <= upper`` of ``R^d``."""

    def __init__(self, dimension: int, lower: Exact, upper: Exact) -> None:
        d = positive_integer(dimension, "dimension")
        low, high = rational(lower, "lower"), rational(upper, "upper")
        if not 1 < low < high:
            raise InputError(f"a shell needs 1 < Zmin < Zmax, not {shown(low)} and {shown(high)}")
        smooth = ((Z - 1) / (as_sympy(high) - 1)) ** (sympy.Rational(d, 2) - 1)
        super().__init__(
            Piece(low, high, smooth=smooth), name=f"shell({d},{shown(low)},{shown(high)})"
        )
        self.dimension = d

    def sample(self, size: int, *, rng: np.random.Generator | int | None = None) -> Draws:
        # By the inverse distribution function: rejection would accept one in d/2 proposals.
        outer, half = float(self.upper - 1), self.dimension / 2
        inner = (float(self.lower - 1) / outer) ** half
        uniform = np.random.default_rng(rng).uniform(inner, 1, size)
        draws: Draws = 1 + outer * uniform ** (1 / half)
        return draws
