"""The minimiser α*_T against depth, certified. Nothing is simulated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from theoryverify.exact.balls import Enclosure, ball, bits_for, precision
from theoryverify.exact.densities import Ball, ScaledBeta, Shell, Uniform
from theoryverify.exact.laws import Law, TwoPoint
from theoryverify.figures import Data, Plan, Table
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.limit import limit_bracket
from theoryverify.papers.lca.rate import first_order_gap
from theoryverify.papers.lca.tables import ends

UNIFORM = Uniform(2, 5)
ATOMS = TwoPoint(2, 5, "1/4")
SHELL = Shell(8, 2, 5)
BETA = ScaledBeta(2, 5, "1/2", 1)
BALL = Ball(4, 5)

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
                    *ends(found.enclosure, 15),
                    str(found.limit),
                    *ends(gap, 9),
                    *ends(first_order_gap(law, depth), 9),
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
    rows = [(repr(law), depth, *ends(limit_bracket(law, depth).enclosure)) for depth in depths]
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
