"""The two-parameter loss in β alone and its stationary points, certified. Nothing is simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from theoryverify.exact.balls import Enclosure, ball, bits_for, precision, sign
from theoryverify.exact.laws import Discrete, Law
from theoryverify.figures import Data, Plan, Table
from theoryverify.papers.lca.experiments.alpha_star import UNIFORM
from theoryverify.papers.lca.tables import ends
from theoryverify.papers.lca.two import profile
from theoryverify.papers.lca.window import polynomials, window_cover, working_bits

RARE = Discrete({2: "0.5", 3: "0.499999", 20: "1e-6"})
"""One prompt in a million at Z = 20: the window of Theorem 6.3 holds no stationary point until
T = 22."""

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
            curves.append((repr(law), depth, float(-t), *ends(loss, 9)))
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
                    *ends(beta, 11),
                    *ends(loss, 9),
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
