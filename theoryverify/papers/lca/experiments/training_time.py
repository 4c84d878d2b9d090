"""The certified time of gradient flow against depth. Nothing is simulated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from theoryverify.exact.balls import Enclosure, bits_for, precision
from theoryverify.exact.densities import Uniform
from theoryverify.exact.laws import Law
from theoryverify.figures import Data, Plan, Table
from theoryverify.papers.lca.experiments.alpha_star import ATOMS, UNIFORM
from theoryverify.papers.lca.tables import ends
from theoryverify.papers.lca.training_time import predicted_time, time_to_level

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
                    *ends(found.target),
                    *ends(found.enclosure),
                    *ends(leading),
                    *ends(ratio, 9),
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
