"""One piece of a density: its integrals on each kind of number, its moments, its draws.

A fractional end exponent would spoil both the integrator's error bound and its speed, so near such an
end ``z = l + s^N`` with ``N`` the exponent's denominator, which makes the integrand analytic in ``s``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import sympy
from flint import acb, arb, arb_poly, ctx, fmpq_poly

from theoryverify.errors import InputError
from theoryverify.exact.balls import ball, precision
from theoryverify.exact.evaluate import BALL, FLOAT64, compiled, mpmath_arithmetic
from theoryverify.exact.integrands import LinearPower, Z, as_function
from theoryverify.exact.laws import Draws, Interval
from theoryverify.exact.quadrature import integrate
from theoryverify.exact.rationals import rational, shown, to_fmpq

_MAX_DENOMINATOR = 24
_MAX_DEGREE = 24
_MAX_EXPONENT = 10**9


@dataclass(frozen=True)
class Piece:
    """An unnormalised density ``((z-l)/(r-l))^p ((r-z)/(r-l))^q h(z)`` on ``[l, r]``.

    Parameters
    ----------
    lower, upper : exact
        The ends ``l < r``.
    left, right : exact
        The end exponents ``p, q > -1``; rational.
    smooth : sympy.Expr
        ``h``, an expression in ``Z``; positive on ``[l, r]``, which is checked with balls.
    """

    lower: Fraction
    upper: Fraction
    left: Fraction = Fraction(0)
    right: Fraction = Fraction(0)
    smooth: sympy.Expr = sympy.Integer(1)

    def __post_init__(self) -> None:
        for name in ("lower", "upper", "left", "right"):
            object.__setattr__(self, name, rational(getattr(self, name), name))
        if self.lower >= self.upper:
            raise InputError(
                f"a piece needs lower < upper, not {shown(self.lower)} and {shown(self.upper)}"
            )
        for side, exponent in (("left", self.left), ("right", self.right)):
            if exponent <= -1:
                raise InputError(f"the {side} end exponent {shown(exponent)} must be above -1")
            if exponent > _MAX_EXPONENT:
                raise InputError(
                    f"the {side} end exponent {shown(exponent)} is above {_MAX_EXPONENT}: the law "
                    "is too concentrated"
                )
            if exponent.denominator > _MAX_DENOMINATOR:
                raise InputError(
                    f"the {side} end exponent {shown(exponent)} has a denominator above "
                    f"{_MAX_DENOMINATOR}: no rigorous integral near that end"
                )
        smooth = (
            self.smooth
            if isinstance(self.smooth, sympy.Expr)
            else as_sympy(rational(self.smooth, "the density factor"))
        )
        object.__setattr__(self, "smooth", smooth)
        if not smooth.is_Rational:
            _require_positive(self)
        elif self.smooth <= 0:
            raise InputError(f"the density factor {self.smooth} must be positive")

    @cached_property
    def polynomial(self) -> tuple[Fraction, ...] | None:
        """The whole density as coefficients from degree 0 up, if it is a polynomial of low degree."""
        if not (_is_power(self.left) and _is_power(self.right) and self.smooth.is_polynomial(Z)):
            return None
        smooth = sympy.Poly(self.smooth, Z)
        degree = self.left + self.right + smooth.degree()
        coefficients = smooth.all_coeffs()
        if degree > _MAX_DEGREE or not all(entry.is_Rational for entry in coefficients):
            return None
        shape = fmpq_poly([to_fmpq(rational(entry)) for entry in reversed(coefficients)])
        width = to_fmpq(self.upper - self.lower)
        shape *= fmpq_poly([-to_fmpq(self.lower) / width, 1 / width]) ** int(self.left)
        shape *= fmpq_poly([to_fmpq(self.upper) / width, -1 / width]) ** int(self.right)
        return tuple(rational(entry) for entry in shape.coeffs())

    @property
    def mode(self) -> Fraction | None:
        """Where ``(z-l)^p (r-z)^q`` peaks, if that is inside."""
        if self.left > 0 and self.right > 0:
            share = self.left / (self.left + self.right)
            return self.lower + share * (self.upper - self.lower)
        return None


def as_sympy(value: Fraction) -> sympy.Rational:
    return sympy.Rational(value.numerator, value.denominator)


def clip(piece: Piece, on: Interval) -> tuple[Fraction, Fraction]:
    low, high = on
    return (
        piece.lower if low is None else max(piece.lower, low),
        piece.upper if high is None else min(piece.upper, high),
    )


def _is_power(exponent: Fraction) -> bool:
    return exponent.denominator == 1 and exponent >= 0


def _raise(base: acb, exponent: Fraction, analytic: bool) -> acb:
    if exponent.denominator == 1:
        return base ** int(exponent)
    if exponent.denominator == 2:
        return base.sqrt(analytic=analytic) ** int(2 * exponent)
    return base.pow(acb(to_fmpq(exponent)), analytic=analytic)


@dataclass(frozen=True)
class _Chart:
    """A stretch of a piece, in a coordinate ``s`` from ``start`` to ``stop`` that is smooth there.

    Plain (``root`` 0): ``z = s``. At an end: ``z = end ± width s^root``.
    """

    start: Fraction
    stop: Fraction
    at_left: bool = False
    root: int = 0


def _charts(piece: Piece, low: Fraction, high: Fraction) -> list[_Chart]:
    """Cover ``[low, high]``: a substitution at each end with a fractional exponent, and a split at
    the mode."""
    at_left = low == piece.lower and not _is_power(piece.left)
    at_right = high == piece.upper and not _is_power(piece.right)
    mode = piece.mode
    if mode is not None and low < mode < high:
        middle = mode
    elif at_left or at_right:
        middle = (low + high) / 2
    else:
        return [_Chart(low, high)]
    width = piece.upper - piece.lower
    return [
        _Chart(Fraction(0), (middle - low) / width, True, piece.left.denominator)
        if at_left
        else _Chart(low, middle),
        _Chart(Fraction(0), (high - middle) / width, False, piece.right.denominator)
        if at_right
        else _Chart(middle, high),
    ]


def _chart_integrand(
    piece: Piece, chart: _Chart, function: Any, smooth: Any, number: Any, raise_to: Any
) -> Any:
    """``s -> function(z) piece(z) dz/ds`` on the numbers that ``number`` makes."""
    width, left, right = (number(x) for x in (piece.upper - piece.lower, piece.lower, piece.upper))

    def plain(z: Any, analytic: bool, *, skip: str = "") -> Any:
        result = function(z, analytic) * smooth({Z.name: z}, analytic)
        if piece.left and skip != "left":
            result = result * raise_to((z - left) / width, piece.left, analytic)
        if piece.right and skip != "right":
            result = result * raise_to((right - z) / width, piece.right, analytic)
        return result

    if not chart.root:
        return plain
    # z = end ± width s^N, so that ((z-end)/width)^p dz = width N s^{N(p+1)-1} ds.
    root, exponent = chart.root, piece.left if chart.at_left else piece.right
    power = int(root * (exponent + 1)) - 1
    skip = "left" if chart.at_left else "right"

    def substituted(s: Any, analytic: bool) -> Any:
        step = width * s**root
        z = left + step if chart.at_left else right - step
        return plain(z, analytic, skip=skip) * width * root * s**power

    return substituted


def elementary_integral(piece: Piece, integrand: Any, low: Fraction, high: Fraction) -> arb | None:
    """The integral of a :class:`LinearPower` against a polynomial density, in closed form.

    A density that vanishes at an end to order k makes about ``k log2(n)`` bits cancel there against
    ``(c + sz)^n``; so many are added.
    """
    if not isinstance(integrand, LinearPower) or integrand.pole or piece.polynomial is None:
        return None
    slope = ball(integrand.slope)
    if slope.contains(0):
        return None
    shape = piece.polynomial
    with precision(ctx.prec + (len(shape) - 1) * (integrand.exponent.bit_length() + 8)):
        weight = arb_poly([ball(entry) for entry in integrand.polynomial])
        product = weight * arb_poly([ball(entry) for entry in shape])
        whole = LinearPower(
            tuple(product.coeffs()) or (arb(0),),
            ball(integrand.constant),
            slope,
            integrand.exponent,
        )
        return whole.antiderivative(ball(high)) - whole.antiderivative(ball(low))


def ball_integral(piece: Piece, function: Any, low: Fraction, high: Fraction) -> arb:
    """``∫_low^high piece(z) function(z) dz`` as a ball."""
    smooth = compiled(piece.smooth, BALL)
    total = arb(0)
    for chart in _charts(piece, low, high):
        integrand = _chart_integrand(piece, chart, function, smooth, ball, _raise)
        stop = ball(chart.stop).root(chart.root) if chart.root else ball(chart.stop)
        total += integrate(integrand, ball(chart.start), stop)
    return total


def mpmath_integral(
    piece: Piece, function: Any, low: Fraction, high: Fraction, context: Any, number: Any
) -> Any:
    """tanh-sinh crowds its nodes at the ends, where both exponents and ``(1-αz)^{2T}`` live."""
    smooth = compiled(piece.smooth, mpmath_arithmetic(context))
    total = context.mpf(0)
    for chart in _charts(piece, low, high):
        integrand = _chart_integrand(
            piece,
            chart,
            lambda z, _: function(z),
            smooth,
            number,
            lambda base, exponent, _: base ** number(exponent),
        )
        stop = number(chart.stop)
        if chart.root:
            stop = stop ** (context.mpf(1) / chart.root)
        points = [number(chart.start), stop]
        if not chart.root:
            points = sorted({*points, *map(number, _peak_marks(piece, chart))})
        total += _quad_scaled(lambda s, f=integrand: f(s, False), points, context)
    return total


def _quad_scaled(function: Any, points: list[Any], context: Any) -> Any:
    """mpmath stops at an absolute error, so the integrand is first divided by its size."""
    offsets = [(1 - context.cospi((2 * k + 1) / context.mpf(64))) / 2 for k in range(32)]
    looks = [abs(function(a + (b - a) * x)) for a, b in pairwise(points) for x in offsets]
    scale = max(looks) or context.mpf(1)
    return scale * context.quad(lambda s: function(s) / scale, points, maxdegree=12)


def _peak_marks(piece: Piece, chart: _Chart) -> list[Fraction]:
    """Points at 3 and 12 standard deviations from the mode of a concentrated piece."""
    if piece.mode is None:
        return []
    p, q = float(piece.left), float(piece.right)
    deviation = Fraction((p * q / (p + q) ** 3) ** 0.5) * (piece.upper - piece.lower)
    marks = [piece.mode + sense * k * deviation for sense in (-1, 1) for k in (3, 12)]
    return [mark for mark in marks if chart.start < mark < chart.stop]


@lru_cache(maxsize=64)
def float_rule(piece: Piece, low: Fraction, high: Fraction) -> tuple[Draws, Draws, float]:
    """Gauss-Legendre nodes in ``[low, high]``, their weights times the density divided by
    ``exp(peak)``, and ``peak``: the density of a concentrated piece may overflow.

    Panels shrink geometrically towards both ends and towards the mode, so that no scale is missed.
    """
    width = piece.upper - piece.lower
    left, right = float(piece.left), float(piece.right)
    middle = piece.mode
    if middle is None or not low < middle < high:
        middle = (low + high) / 2
    panels = []
    for start, stop, p, q, mirrored in (
        (low - piece.lower, middle - piece.lower, left, right, False),
        (piece.upper - high, piece.upper - middle, right, left, True),
    ):
        half = (stop - start) / 2
        for corner, step in ((start, half), (stop, -half)):
            # Distances from the nearer end keep their digits however small they are.
            near, log_weight = _graded(float(corner / width), float(step / width), p)
            log_weight += q * np.log1p(-near)
            panels.append((1 - near if mirrored else near, log_weight))
    from_left, log_weights = (np.concatenate(parts) for parts in zip(*panels, strict=True))
    points = float(piece.lower) + float(width) * from_left
    smooth = compiled(piece.smooth, FLOAT64)({Z.name: points}, False)
    peak = float(log_weights.max())
    return points, float(width) * np.exp(log_weights - peak) * smooth, peak


def _graded(start: float, step: float, exponent: float) -> tuple[Draws, Draws]:
    """Nodes ``x`` between ``start`` and ``start + step``, denser towards ``start``, and the logs of
    the weights ``w`` in ``∫ x^exponent g(x) dx = Σ w g(x)``."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    edges = np.concatenate([[0.0], 2.0 ** -np.arange(60, -1, -1)])
    lengths = np.diff(edges)[:, None]
    t = (edges[:-1, None] + lengths * (1 + nodes) / 2).ravel()
    log_dt = np.log(lengths * weights / 2).ravel()
    if start == 0 and exponent < 0:  # x^p dx = d(x^{p+1})/(p+1): no singularity is left
        rise = exponent + 1
        return step * t ** (1 / rise), log_dt + rise * np.log(step) - np.log(rise)
    x = start + step * t
    return x, log_dt + np.log(abs(step)) + exponent * np.log(x)


def beta_moment(piece: Piece, order: int) -> Fraction | None:
    """``E[Z^order]`` for one piece whose smooth factor is a polynomial.

    With ``z = l + (r-l)s`` it is a ratio of sums of ``B(p+1+j, q+1)/B(p+1, q+1)``, which are
    rational: ``(p+1)_j / (p+q+2)_j``.
    """
    smooth = _polynomial(piece.smooth)
    if smooth is None:
        return None
    line = fmpq_poly([to_fmpq(piece.lower), to_fmpq(piece.upper - piece.lower)])
    below = smooth(line)
    above = below * line**order
    rising = [Fraction(1)]
    for j in range(above.degree()):
        rising.append(rising[-1] * (piece.left + 1 + j) / (piece.left + piece.right + 2 + j))

    def integral(polynomial: fmpq_poly) -> Fraction:
        return sum(
            (rational(c) * rising[j] for j, c in enumerate(polynomial.coeffs())), Fraction(0)
        )

    return integral(above) / integral(below)


@lru_cache(maxsize=64)
def _polynomial(smooth: sympy.Expr) -> fmpq_poly | None:
    """The expression in ``Z`` as a polynomial over QQ, or ``None`` where it is none."""
    if not smooth.is_polynomial(Z):
        return None
    coefficients = sympy.Poly(smooth, Z).all_coeffs()
    if not all(entry.is_Rational for entry in coefficients):
        return None
    return fmpq_poly([to_fmpq(rational(entry)) for entry in reversed(coefficients)])


def exact_integral(piece: Piece, order: int) -> Fraction | None:
    """``∫ z^order piece(z) dz`` where it is rational by integer exponents."""
    if not (_is_power(piece.left) and _is_power(piece.right)):
        return None
    plain = beta_moment(piece, order)
    if plain is None:
        return None
    poly = sympy.Poly(
        piece.smooth
        * ((Z - as_sympy(piece.lower)) / as_sympy(piece.upper - piece.lower)) ** int(piece.left)
        * ((as_sympy(piece.upper) - Z) / as_sympy(piece.upper - piece.lower)) ** int(piece.right),
        Z,
    ).integrate()
    mass = rational(poly.eval(as_sympy(piece.upper)) - poly.eval(as_sympy(piece.lower)))
    return plain * mass


def _require_positive(piece: Piece) -> None:
    """Certify ``h > 0`` on the closed piece by subdivision."""
    at = as_function(piece.smooth, BALL)
    # A product of powers of positive factors is positive, also where its own ball is too wide.
    bases = [factor.as_base_exp()[0] for factor in sympy.Mul.make_args(piece.smooth)]
    factors = [as_function(base, BALL) for base in bases]
    with precision(128):
        stack = [(piece.lower, piece.upper, 0)]
        while stack:
            low, high, depth = stack.pop()
            cell = ball(low).union(ball(high))
            if all(factor(cell, False) > 0 for factor in factors) or at(cell, False) > 0:
                continue
            middle = (low + high) / 2
            at_middle = at(ball(middle), False)
            if not at_middle > 0 or depth > 20:
                raise InputError(
                    f"the density factor {piece.smooth} is not certified positive on "
                    f"[{shown(piece.lower)}, {shown(piece.upper)}]: near {shown(middle)} it is "
                    f"{at_middle}"
                )
            stack += [(low, middle, depth + 1), (middle, high, depth + 1)]


def _smooth_maximum(piece: Piece) -> float:
    """A rigorous upper bound of ``h``, within a few percent, for rejection sampling."""
    at = as_function(piece.smooth, BALL)
    cells = 256
    step = (piece.upper - piece.lower) / cells
    with precision(64):
        ends = [ball(piece.lower + index * step) for index in range(cells + 1)]
        bounds = [float(at(low.union(high), False).upper()) for low, high in pairwise(ends)]
    if not all(map(math.isfinite, bounds)):
        raise InputError(f"no sampler: {piece.smooth} has no bound near an end of its piece")
    return max(bounds) * (1 + 1e-12)


def sample_piece(piece: Piece, size: int, generator: np.random.Generator) -> Draws:
    """Exact in law: Beta proposals, accepted with probability ``h / max h``."""
    low, width = float(piece.lower), float(piece.upper - piece.lower)
    p, q = float(piece.left + 1), float(piece.right + 1)
    if piece.smooth.is_Rational:
        return low + width * generator.beta(p, q, size)
    smooth, bound = compiled(piece.smooth, FLOAT64), _smooth_maximum(piece)
    kept: list[Draws] = []
    missing = size
    while missing > 0:
        proposals = low + width * generator.beta(p, q, max(2 * missing, 64))
        accepted = generator.uniform(0, bound, proposals.size) < smooth({Z.name: proposals}, False)
        kept.append(proposals[accepted][:missing])
        missing -= kept[-1].size
    return np.concatenate(kept) if kept else np.empty(0)
