"""The tables behind the figures. Every number here is enclosed; nothing is simulated.

Columns ``x_lower`` and ``x_upper`` are decimal strings, rounded outward: x lies between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from theoryverify.exact.balls import Enclosure, ball, bits_for, precision, sign
from theoryverify.exact.densities import Ball, ScaledBeta, Shell, Uniform
from theoryverify.exact.integrands import LinearPower
from theoryverify.exact.laws import Discrete, Law, TwoPoint
from theoryverify.figures import Data, Plan, Table
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.kernels import S, weight_polynomial
from theoryverify.papers.lca.limit import limit_bracket
from theoryverify.papers.lca.rate import first_order_gap
from theoryverify.papers.lca.training_time import predicted_time, time_to_level
from theoryverify.papers.lca.two import beta_star, profile
from theoryverify.papers.lca.window import polynomials, window_cover, working_bits

UNIFORM = Uniform(2, 5)
ATOMS = TwoPoint(2, 5, "1/4")
SHELL = Shell(8, 2, 5)
BETA = ScaledBeta(2, 5, "1/2", 1)
BALL = Ball(4, 5)
RARE = Discrete({2: "0.5", 3: "0.499999", 20: "1e-6"})
"""One prompt in a million at Z = 20: the window of Theorem 6.3 holds no stationary point until
T = 22."""


def _ends(value: Enclosure, digits: int = 12) -> tuple[str, str]:
    low, high = value.decimal(digits)
    return low, high


# -- α*_T ---------------------------------------------------------------------------------------

ALPHA_STAR_LAWS: tuple[Law, ...] = (UNIFORM, ATOMS, SHELL, BETA, BALL)


def alpha_star_table(laws: Iterable[Law], depths: Sequence[int]) -> Table:
    """α*_T with its limit, and ``T(α*_T - α*)`` with its first-order term."""
    rows = []
    for law in laws:
        for depth in depths:
            found = alpha_star(law, depth, 15)
            with precision(bits_for(40)):
                gap = Enclosure.of(depth * (found.enclosure.ball() - ball(found.limit)))
            rows.append(
                (
                    repr(law),
                    depth,
                    *_ends(found.enclosure, 15),
                    str(found.limit),
                    *_ends(gap, 9),
                    *_ends(first_order_gap(law, depth), 9),
                )
            )
    return Table.of(
        (
            "law",
            "T",
            "alpha_star_lower",
            "alpha_star_upper",
            "limit",
            "scaled_gap_lower",
            "scaled_gap_upper",
            "first_order_lower",
            "first_order_upper",
        ),
        rows,
    )


def bracket_table(law: Law, depths: Sequence[int]) -> Table:
    """The bracket of Theorem F.3: at T it contains α*_t for every t >= T."""
    rows = [(repr(law), depth, *_ends(limit_bracket(law, depth).enclosure)) for depth in depths]
    return Table.of(("law", "T", "bracket_lower", "bracket_upper"), rows)


def alpha_star_data(plan: Plan) -> Data:
    steps = plan.choose((1, 3), (1, 2, 3, 5), (1, 1.5, 2, 3, 4, 5, 7))
    depths = sorted({int(step * 10**k) for k in range(6) for step in steps} | {10**6})
    table = alpha_star_table(ALPHA_STAR_LAWS, depths)
    dense = sorted({round(10 ** (i / 8)) for i in range(49)})
    return Data(
        {"values": table, "bracket": bracket_table(UNIFORM, dense)},
        f"Each of the {len(table.rows)} values is enclosed by two certified signs of "
        "E[(Z-1)(1-αZ)^(2T-1)] in ball arithmetic, to 15 relative digits; the bracket and the "
        "first-order term are evaluated in ball arithmetic too. All enclosures are narrower than "
        "the lines. That the first-order term is the right one is a statement about T → ∞ and is "
        "not certified.",
    )


# -- training time ------------------------------------------------------------------------------

DISC = Uniform(1, 5)
"""``m`` uniform in a disc: the ball law in the plane, whose Z is uniform."""

TRAINING_LAWS: tuple[Law, ...] = (UNIFORM, ATOMS, DISC)
START, LEVEL = "0.02", "0.99"


def training_time_table(laws: Iterable[Law], depths: Sequence[int]) -> Table:
    """The time of gradient flow to ``0.99 α*_T``, its leading term, and the quotient of the two."""
    rows = []
    for law in laws:
        for depth in depths:
            found = time_to_level(law, depth, START, LEVEL, digits=10)
            leading = predicted_time(law, depth, LEVEL)
            with precision(bits_for(30)):
                ratio = Enclosure.of(found.enclosure.ball() / leading.ball())
            rows.append(
                (
                    repr(law),
                    depth,
                    *_ends(found.target),
                    *_ends(found.enclosure),
                    *_ends(leading),
                    *_ends(ratio, 9),
                )
            )
    return Table.of(
        (
            "law",
            "T",
            "target_lower",
            "target_upper",
            "time_lower",
            "time_upper",
            "leading_lower",
            "leading_upper",
            "ratio_lower",
            "ratio_upper",
        ),
        rows,
    )


def training_time_data(plan: Plan) -> Data:
    depths = plan.choose(
        (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64),
        (*range(1, 17), 20, 24, 28, 32, 40, 48, 64, 96, 128),
        (*range(1, 33), *range(36, 65, 4), 80, 96, 128, 192, 256),
    )
    table = training_time_table(TRAINING_LAWS, depths)
    return Data(
        {"time": table},
        f"Each of the {len(table.rows)} times is the integral of 1/|R_T'| from {START} to "
        f"{LEVEL} α*_T by rigorous quadrature in ball arithmetic, enclosed to about 10 relative "
        "digits, narrower than the marks. The leading term is that of T → ∞; its formula is "
        "evaluated in ball arithmetic, but that it is the right one is not certified.",
    )


# -- stationary points --------------------------------------------------------------------------

STATIONARY_DEPTHS: dict[Law, tuple[int, ...]] = {UNIFORM: (2, 3, 5, 10), RARE: (2, 3, 6, 15, 22)}
STATIONARY_RANGE: dict[Law, Fraction] = {UNIFORM: Fraction(2, 5), RARE: Fraction(9, 20)}
_WIDTH = Fraction(1, 10**9)


def signal_positive(law: Law, depth: int, upper: Fraction) -> bool:
    """Whether ``1 - m > 0`` is certified for all ``0 < t <= upper``, ``m = E_μ(1-tZ)^T``.

    For odd T ``m < 1`` at every t > 0. For even T ``m`` is convex in t with m(0) = 1 and
    m'(0) < 0, so its value at ``upper`` decides. ``B = E[WS]`` has the sign of 1 - m.
    """
    return depth % 2 == 1 or profile(law, -upper, depth, 15).B.sign() == 1


def certified_range(law: Law, depth: int, widest: Fraction) -> Fraction:
    """The first of ``widest``, 0.9 widest, 0.81 widest, ... that passes :func:`signal_positive`."""
    upper = widest
    while not signal_positive(law, depth, upper):
        upper *= Fraction(9, 10)
    return upper


def stationary_points(law: Law, depth: int, upper: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Narrow intervals in ``t = -β`` around every stationary point of F_T with ``0 < t <= upper``.

    ``F_T'`` has the sign of ``(1-m)g``; where ``upper`` passes :func:`signal_positive`, the zeros
    of g are all there are.
    """
    found = []
    g = polynomials(law, depth).g
    for left, right in window_cover(law, depth, upper=upper).cells:
        with precision(working_bits(depth)):
            # 0 is never a stationary point, but g may vanish there to rounding.
            before = sign(g(ball(left)))
            while right - left > _WIDTH:
                # Not halved: the midpoint may be the very zero.
                middle = left + (right - left) * Fraction(49, 100)
                here = sign(g(ball(middle)))
                if not here:
                    break
                left, right = (middle, right) if here == before else (left, middle)
        found.append((left, right))
    return found


def _stationary_rows(law: Law, depths: Sequence[int], count: int) -> tuple[list[Any], list[Any]]:
    """Rows of the curves F_T and of their stationary points."""
    window, widest = 2 / law.upper, STATIONARY_RANGE[law]
    grid = [window * i / count for i in range(1, count + 1)]
    grid += [window + (widest - window) * i / count for i in range(1, count + 1)]
    grid = sorted(set(grid))
    curves: list[Any] = []
    points: list[Any] = []
    for depth in (1, *depths):
        # F_1 does not depend on β.
        for t in grid if depth > 1 else (grid[0], grid[-1]):
            loss = profile(law, -t, depth, 15).loss
            curves.append((repr(law), depth, float(-t), *_ends(loss, 9)))
        if depth == 1:
            continue
        examined = certified_range(law, depth, widest)
        for low, high in stationary_points(law, depth, examined):
            loss = profile(law, -(low + high) / 2, depth, 15).loss
            with precision(bits_for(30)):
                beta = Enclosure.of(-ball(low).union(ball(high)))
            points.append(
                (
                    repr(law),
                    depth,
                    *_ends(beta, 11),
                    *_ends(loss, 9),
                    high < window,
                    low > window,
                    float(-examined),
                )
            )
    return curves, points


def stationary_tables(depths: Mapping[Law, Sequence[int]], count: int) -> dict[str, Table]:
    """F_T on ``count`` points inside the window and as many outside it, and what is stationary."""
    curves: list[Any] = []
    points: list[Any] = []
    windows = []
    for law, some in depths.items():
        more = _stationary_rows(law, some, count)
        curves += more[0]
        points += more[1]
        windows.append((repr(law), float(-2 / law.upper), float(-2 / (law.lower + law.upper))))
    point = ("law", "T", "beta_lower", "beta_upper", "F_lower", "F_upper")
    where = ("inside_window", "outside_window", "examined_from")
    return {
        "curves": Table.of(("law", "T", "beta", "F_lower", "F_upper"), curves),
        "points": Table.of((*point, *where), points),
        "windows": Table.of(("law", "window_from", "limit"), windows),
    }


def stationary_data(plan: Plan) -> Data:
    return Data(
        stationary_tables(STATIONARY_DEPTHS, plan.choose(100, 200, 400)),
        "F_T is enclosed in ball arithmetic at every β drawn, narrower than the lines. The "
        "stationary points are all those with examined_from <= β < 0: on a cover of that interval "
        "the derivative is certified not to vanish, except for one sign change in each of the "
        "intervals given, of width below 1e-8; F is enclosed at their midpoints.",
    )


# -- landscape ----------------------------------------------------------------------------------

LANDSCAPE_DEPTHS = (3, 10)
ALPHAS = (Fraction(0), Fraction(1, 2))
BETAS = (Fraction(-1, 2), Fraction(1, 10))


def quadratic(law: Law, beta: Fraction, depth: int) -> tuple[arb, arb, arb]:
    """``A = E[WS²]``, ``B = E[WS]``, ``E[W]`` at the current precision: ``ℓ = Aα² - 2Bα + E[W]``."""
    weight, at = weight_polynomial(), ball(beta)

    def w(z: Any) -> Any:
        return LinearPower(weight, 1, 0, 0, pole=1)(z)

    return (
        law.expect(lambda z: w(z) * S(z, at, depth)[0] ** 2),
        law.expect(lambda z: w(z) * S(z, at, depth)[0]),
        law.expect(theory.signal_share()),
    )


def landscape_tables(depths: Sequence[int], size: int) -> dict[str, Table]:
    """The loss on a ``size`` by ``size`` grid, α*(β) on its β, and the minimiser."""
    losses: list[Any] = []
    valleys: list[Any] = []
    marks: list[Any] = []
    alphas = _grid(ALPHAS, size)
    for depth in depths:
        with precision(256):
            ten = arb(10).log()
            for beta in _grid(BETAS, size):
                A, B, mean = quadratic(UNIFORM, beta, depth)
                valleys.append((depth, float(beta), *_ends(Enclosure.of(B / A), 9)))
                for alpha in alphas:
                    at = ball(alpha)
                    level = ((A * at - 2 * B) * at + mean).log() / ten
                    losses.append((depth, float(alpha), float(beta), *_micro(level)))
        best = beta_star(UNIFORM, depth, 15)
        marks.append((depth, *_ends(best.alpha), *_ends(best.beta), *_ends(best.loss)))
    place = ("alpha_lower", "alpha_upper", "beta_lower", "beta_upper")
    grid = ("T", "alpha", "beta", "log10_loss_lower", "log10_loss_upper")
    return {
        "loss": Table.of(grid, losses),
        "valley": Table.of(("T", "beta", "alpha_lower", "alpha_upper"), valleys),
        "minimiser": Table.of(("T", *place, "loss_lower", "loss_upper"), marks),
    }


def landscape_data(plan: Plan) -> Data:
    size = plan.choose(151, 251, 401)
    limit = float(2 / (UNIFORM.lower + UNIFORM.upper))
    return Data(
        landscape_tables(LANDSCAPE_DEPTHS, size),
        f"Z ~ {UNIFORM!r}. On a grid of {size} by {size} points in (α, β) the exact loss "
        "ℓ = A(β)α² - 2B(β)α + E[W], A = E[WS²], B = E[WS], is enclosed in ball arithmetic with "
        "256 bits; no network is simulated and no layer is normalised. The minimiser is enclosed "
        f"by certified signs to 15 digits; its limit is (α*, -α*) with α* = {limit:.6f}.",
    )


def _micro(value: arb) -> tuple[float, float]:
    """A ball in millionths, rounded outward."""
    scaled = value * 10**6
    low, high = scaled.lower().floor().unique_fmpz(), scaled.upper().ceil().unique_fmpz()
    return int(low) / 10**6, int(high) / 10**6


def _grid(ends: tuple[Fraction, Fraction], size: int) -> list[Fraction]:
    low, high = ends
    return [low + (high - low) * Fraction(i, size - 1) for i in range(size)]
