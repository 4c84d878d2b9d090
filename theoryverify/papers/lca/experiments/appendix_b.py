"""``lca.appendix_b``: what each part of the linear model is for, on synthetic data.

Three ablations: no injection of X after the first layer; self-attention in place of attention to X; both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from theoryverify.exact.laws import Law
from theoryverify.figures import Data, Plan, Table
from theoryverify.figures.cells import Cells, Work
from theoryverify.models.ablations import ARMS, state
from theoryverify.papers.lca.experiments import cells_appendix_b as cells
from theoryverify.papers.lca.experiments.cells_appendix_b import Recipe
from theoryverify.papers.lca.laws import UNIFORM
from theoryverify.papers.lca.loss import excess_loss
from theoryverify.papers.lca.two import beta_star

if TYPE_CHECKING:
    from theoryverify.simulate.store import Arrays

DIM = 10
SHOWN_DEPTH = 5
"""The depth at which the arms' polynomials are shown."""
LONG = 10**9


@dataclass(frozen=True)
class Sizes:
    """What a preset computes."""

    depths: tuple[int, ...]
    grid: int
    starts: int
    trained_depths: tuple[int, ...]
    train_context: int
    batch: int
    steps: int
    context: int
    literal_prompts: int
    law_prompts: int

    def recipe(self, arm: str, depth: int) -> Recipe:
        rate = max(0.01, 2.4 / self.steps)
        return Recipe(arm, depth, DIM, self.train_context, self.batch, self.steps, rate)


SIZES = {
    "quick": Sizes((1, 2, 3, 4, 5, 6, 8), 40, 3, (2, 5), 128, 64, 80, 512, 400, 4000),
    "laptop": Sizes(
        (*range(1, 9), 10, 12, 16, 20), 160, 16, (2, 3, 5, 8), 512, 128, 400, 2048, 2000, 20_000
    ),
    "paper": Sizes(
        (*range(1, 21),), 240, 16, (*range(1, 11), 15), 1024, 256, 3000, 8192, 2000, 100_000
    ),
}


def appendix_b_data(plan: Plan) -> Data:
    sizes = SIZES[plan.preset]
    recipe = sizes.recipe("full", 1)
    return Data(
        appendix_b_tables(plan, sizes),
        f"Z ~ {UNIFORM!r}, d = {DIM}, direction of m uniform, ζ ~ N(0,1). The best two scalars at "
        "L = ∞ are certified for the full model; for the others they are the best that a search "
        f"found in float64 (a grid of {sizes.grid} by {sizes.grid} in log α and log(-β), then Nelder "
        f"and Mead from its {sizes.starts} lowest valleys): upper bounds of the minimum. Literal "
        "models were trained by Adam from α = 0.1 (0.3 where X is injected once), β = -0.1, for "
        f"{recipe.steps} steps of {recipe.batch} prompts of {recipe.context} examples, rate "
        f"{recipe.rate:.3g}, clipped at 1, one run each, and measured on {sizes.literal_prompts} "
        f"prompts of {sizes.context} examples; exactly in law on {sizes.law_prompts} prompts of "
        f"{LONG:.0e}. Intervals are 99%, "
        "by the central limit theorem.",
    )


def appendix_b_tables(plan: Plan, sizes: Sizes, law: Law = UNIFORM) -> dict[str, Table]:
    runner = Cells(
        "lca.appendix_b", plan, ("theoryverify.papers.lca.experiments.cells_appendix_b",)
    )
    best = list(_best(runner, sizes, law))
    noise = float(excess_loss(law, "1/4", depth=1).bayes_risk)
    return {
        "best": Table.of(("arm", "T", "alpha", "beta", "excess"), best),
        "trained": Table.of(
            (
                "arm",
                "T",
                "alpha",
                "beta",
                "L",
                "method",
                "excess",
                "excess_lower",
                "excess_upper",
                "prompts",
            ),
            _trained(runner, sizes, law),
        ),
        "residual": Table.of(("arm", "T", "s", "residual"), _residuals(best)),
        "floor": Table.of(("L", "ols"), [(sizes.context, noise * DIM / (sizes.context - DIM - 1))]),
    }


def _search(sizes: Sizes, law: Law, arm: str, depth: int) -> Work:
    return (
        {
            "what": "best",
            "arm": arm,
            "T": depth,
            "grid": sizes.grid,
            "starts": sizes.starts,
            "law": repr(law),
        },
        partial(cells.best_scalars, arm, law, depth, sizes.grid, sizes.starts),
    )


def _best(runner: Cells, sizes: Sizes, law: Law) -> Iterator[tuple[Any, ...]]:
    """The least excess at L = ∞ over the two scalars of each arm."""
    runner.ahead([_search(sizes, law, arm, T) for arm in list(ARMS)[1:] for T in sizes.depths])
    for depth in sizes.depths:
        if depth == 1:  # β does nothing there
            found = excess_loss(law, "5/19", depth=1, digits=12)
            yield ("full", 1, 5 / 19, None, float(found.excess))
            continue
        exact = beta_star(law, depth, 12)
        yield ("full", depth, float(exact.alpha), float(exact.beta), float(exact.loss))
    for arm in list(ARMS)[1:]:
        for depth in sizes.depths:
            at = runner.compute(*_search(sizes, law, arm, depth))
            yield (arm, depth, *(float(at[name]) for name in ("alpha", "beta", "excess")))


def _training(runner: Cells, sizes: Sizes, law: Law, arm: str, depth: int) -> Work:
    recipe = sizes.recipe(arm, depth)
    return (
        {"what": "train", "law": repr(law), "of": recipe.json()},
        partial(cells.trained, recipe, law, runner.plan.device),
    )


def _trained(runner: Cells, sizes: Sizes, law: Law) -> Iterator[tuple[Any, ...]]:
    runner.ahead(
        [_training(runner, sizes, law, arm, T) for arm in ARMS for T in sizes.trained_depths]
    )
    for arm in ARMS:
        for depth in sizes.trained_depths:
            recipe = sizes.recipe(arm, depth)
            base: dict[str, Any] = {"law": repr(law), "of": recipe.json()}
            at = runner.compute(*_training(runner, sizes, law, arm, depth))
            literal = runner.compute(
                {"what": "literal", **base, "L": sizes.context, "n": sizes.literal_prompts},
                partial(
                    cells.measured_literally,
                    recipe,
                    at,
                    law,
                    sizes.context,
                    sizes.literal_prompts,
                    runner.plan.device,
                ),
            )
            in_law = runner.compute(
                {"what": "in law", **base, "L": LONG, "n": sizes.law_prompts},
                partial(cells.measured_in_law, recipe, at, law, LONG, sizes.law_prompts),
            )
            scalars = (float(at["alpha"]), float(at["beta"]))
            for L, method, found in (
                (sizes.context, "literal", literal),
                (LONG, "in law", in_law),
            ):
                yield (arm, depth, *scalars, L, method, *_row(found))


def _row(found: Arrays) -> tuple[float, float, float, int]:
    mean, low, high = (float(x) for x in found["excess"])
    return mean, low, high, int(found["prompts"])


def _residuals(best: list[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """``1 - s p_T(s)``, what is left of the signal along an eigenvalue s, at the best scalars."""
    s = np.linspace(1, 5.5, 181)
    for arm, depth, alpha, beta, _ in best:
        if depth == SHOWN_DEPTH:
            left = 1 - s * state(ARMS[arm], s, alpha, beta, depth)
            for x, value in zip(s, left, strict=True):
                yield (arm, depth, float(x), float(value))
