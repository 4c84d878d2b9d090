"""Laws with a density that is analytic on finitely many pieces.

On each piece ``[l, r]`` the density is proportional to ``(z-l)^p (r-z)^q h(z)`` with rational end
exponents ``p, q > -1`` and ``h`` analytic and positive. A fractional exponent would spoil both the
integrator's error bound and its speed, so near such an end ``z = l + s^N`` with ``N`` the
exponent's denominator, which makes the integrand analytic in ``s``. Uniform, Beta, ball and shell
laws are all of this kind.
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
from theoryverify.exact.integrands import LinearPower, Z, as_function, require_rational
from theoryverify.exact.laws import Draws, Interval, Law
from theoryverify.exact.quadrature import integrate
from theoryverify.exact.rationals import Exact, positive_integer, rational, shown, to_fmpq

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
            else _sympy(rational(self.smooth, "the density factor"))
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
            low, high = _clip(piece, on)
            if low < high:
                exact = _elementary(piece, integrand, low, high)
                total += _integrate_piece(piece, function, low, high) if exact is None else exact
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
                low, high = _clip(piece, region)
                if low < high:
                    total += _quad_mpmath(piece, f, low, high, context, number)
            return total

        return integral(function, on) / integral(lambda z: context.mpf(1), (None, None))

    def _expect_float64(self, function: Any, on: Interval) -> float:
        def integrals(f: Any, region: Interval) -> list[tuple[float, float]]:
            found = []
            for piece in self.pieces:
                low, high = _clip(piece, region)
                if low < high:
                    nodes, weights, peak = _float_rule(piece, low, high)
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
            return _beta_moment(self.pieces[0], order)
        parts = [(_exact_integral(p, order), _exact_integral(p, 0)) for p in self.pieces]
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
            return _sample_piece(self.pieces[0], size, generator)
        with precision(64):
            shares = [
                float(self.expect(sympy.Integer(1), on=(p.lower, p.upper))) for p in self.pieces
            ]
        which = generator.choice(len(self.pieces), size=size, p=np.array(shares) / sum(shares))
        draws = np.empty(size)
        for index, piece in enumerate(self.pieces):
            chosen = which == index
            draws[chosen] = _sample_piece(piece, int(chosen.sum()), generator)
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
        smooth = ((Z - 1) / (_sympy(high) - 1)) ** (sympy.Rational(d, 2) - 1)
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


# -- pieces, on each kind of number ------------------------------------------------------------


def _sympy(value: Fraction) -> sympy.Rational:
    return sympy.Rational(value.numerator, value.denominator)


def _clip(piece: Piece, on: Interval) -> tuple[Fraction, Fraction]:
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


def _elementary(piece: Piece, integrand: Any, low: Fraction, high: Fraction) -> arb | None:
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


def _integrate_piece(piece: Piece, function: Any, low: Fraction, high: Fraction) -> arb:
    """``∫_low^high piece(z) function(z) dz`` as a ball."""
    smooth = compiled(piece.smooth, BALL)
    total = arb(0)
    for chart in _charts(piece, low, high):
        integrand = _chart_integrand(piece, chart, function, smooth, ball, _raise)
        stop = ball(chart.stop).root(chart.root) if chart.root else ball(chart.stop)
        total += integrate(integrand, ball(chart.start), stop)
    return total


def _quad_mpmath(
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
def _float_rule(piece: Piece, low: Fraction, high: Fraction) -> tuple[Draws, Draws, float]:
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


def _beta_moment(piece: Piece, order: int) -> Fraction | None:
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


def _exact_integral(piece: Piece, order: int) -> Fraction | None:
    """``∫ z^order piece(z) dz`` where it is rational by integer exponents."""
    if not (_is_power(piece.left) and _is_power(piece.right)):
        return None
    plain = _beta_moment(piece, order)
    if plain is None:
        return None
    poly = sympy.Poly(
        piece.smooth
        * ((Z - _sympy(piece.lower)) / _sympy(piece.upper - piece.lower)) ** int(piece.left)
        * ((_sympy(piece.upper) - Z) / _sympy(piece.upper - piece.lower)) ** int(piece.right),
        Z,
    ).integrate()
    mass = rational(poly.eval(_sympy(piece.upper)) - poly.eval(_sympy(piece.lower)))
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


def _sample_piece(piece: Piece, size: int, generator: np.random.Generator) -> Draws:
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
