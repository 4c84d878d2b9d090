"""Figure 2: the test error of trained models against context length and depth, with what bounds it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from theoryverify.exact.laws import Law
from theoryverify.figures import Data, Plan, Table
from theoryverify.figures.cells import Cells, Work
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.experiments import cells_fig2 as cells
from theoryverify.papers.lca.experiments.cells_fig2 import Recipe
from theoryverify.papers.lca.experiments.sizes_fig2 import DIM, SIZES, Sizes
from theoryverify.papers.lca.explosion import excess_at_least, explosion_threshold
from theoryverify.papers.lca.laws import UNIFORM
from theoryverify.papers.lca.loss import excess_loss
from theoryverify.papers.lca.one_layer import best_one_layer
from theoryverify.papers.lca.wishart import MAX_DEPTH, mean_excess

if TYPE_CHECKING:
    from theoryverify.simulate.store import Arrays

SHORT = 128
"""The context at which the panel on depth shows the explosion."""
MAP_END = 10**5
SHOWN = (("LSA", 1), ("SA", 1), ("LCA1", 2), ("LCA1", 5), ("LCA1", 8), ("LCA2", 2), ("LCA2", 5))
"""Models and depths against context length, beside softmax CA_T."""
_MORE = 10
RISK = ("excess", "excess_lower", "excess_upper", "prompts", "reliable")


def fig2_data(plan: Plan) -> Data:
    sizes = SIZES[plan.preset]
    return Data(fig2_tables(plan, sizes), _setup(sizes))


def fig2_tables(plan: Plan, sizes: Sizes, law: Law = UNIFORM) -> dict[str, Table]:
    """All tables; every simulated row has its 99% interval."""
    runner = Cells("lca.fig2", plan, ("theoryverify.papers.lca.experiments.cells_fig2",))
    models = [sizes.recipe(*which) for which in SHOWN]
    models += [sizes.recipe("CA", depth) for depth in sizes.softmax_depths]
    trainings = {recipe: _training(runner, recipe, law) for recipe in models}
    runner.ahead(list(trainings.values()))
    weights = {recipe: runner.compute(*training) for recipe, training in trainings.items()}
    measured = list(_measured(runner, sizes, weights, law))
    bayes = float(excess_loss(law, "1/4", depth=1).bayes_risk)
    return {
        "trained": Table.of(
            ("model", "T", "alpha", "beta", "limit_excess", "limit_lower", "limit_upper", "loss"),
            _limits(runner, weights, law),
        ),
        "risk": Table.of(("model", "T", "L", "method", *RISK), measured),
        "theory": Table.of(
            ("kind", "T", "L", "excess", "excess_lower", "excess_upper"),
            [*_theory(sizes, weights, law), *_bayes_rule(runner, sizes, law)],
        ),
        "depth": Table.of(("kind", "T", "L", *RISK), _against_depth(runner, sizes, measured, law)),
        "map": Table.of(("kind", "L", "T"), _map(sizes, law)),
        "bayes": Table.of(("bayes_risk", "best_layer"), [(bayes, _floor(law))]),
    }


def _training(runner: Cells, recipe: Recipe, law: Law) -> Work:
    """A cell that trains a model."""
    return (
        {"what": "train", "law": repr(law), **recipe.json()},
        partial(cells.trained, recipe, law, runner.plan.device),
    )


def _row(found: Arrays) -> tuple[Any, ...]:
    mean, low, high = (float(x) for x in found["excess"])
    return mean, low, high, int(found["prompts"]), bool(found["reliable"])


def _measured(
    runner: Cells, sizes: Sizes, weights: dict[Recipe, Arrays], law: Law
) -> Iterator[tuple[Any, ...]]:
    cells = list(_measurements(runner, sizes, weights, law))
    runner.ahead([work for _, work in cells])
    for head, work in cells:
        yield (*head, *_row(runner.compute(*work)))


def _measurements(
    runner: Cells, sizes: Sizes, weights: dict[Recipe, Arrays], law: Law
) -> Iterator[tuple[tuple[Any, ...], Work]]:
    """Literal models at the contexts that fit, and in law to 10^9."""
    for recipe, at in weights.items():
        base: dict[str, Any] = {"law": repr(law), "of": recipe.json()}
        softmax, cheap = recipe.model == "CA", recipe.model in cells.LAYERS
        prompts = sizes.softmax_prompts if softmax else sizes.literal_prompts
        # A layer costs no more than reading the prompt, and its errors have the heavier tails.
        prompts, many = (_MORE * n if cheap else n for n in (prompts, sizes.law_prompts))
        for L in sizes.softmax_contexts if softmax else sizes.literal_contexts:
            yield (
                (recipe.model, recipe.depth, L, "literal"),
                (
                    {"what": "literal", **base, "L": L, "prompts": prompts},
                    partial(
                        cells.measured_literally, recipe, at, law, L, prompts, runner.plan.device
                    ),
                ),
            )
        if recipe.model in ("SA", "CA"):
            continue
        for L in sizes.contexts:
            yield (
                (recipe.model, recipe.depth, L, "in law"),
                (
                    {"what": "in law", **base, "L": L, "prompts": many},
                    partial(cells.measured_in_law, recipe, at, law, L, many),
                ),
            )


def _limits(runner: Cells, weights: dict[Recipe, Arrays], law: Law) -> Iterator[tuple[Any, ...]]:
    """Each trained model at infinite context, exactly for the stacks, and its last training loss.

    Softmax CA_T has LCA_T's limit: by Gaussian tilting its attention reads Σ_x F as well.
    """
    for recipe, at in weights.items():
        loss = float(at["losses"][-len(at["losses"]) // 4 :].mean())
        if recipe.model in cells.LAYERS:
            found = runner.compute(
                {"what": "limit", "law": repr(law), "of": recipe.json(), "tasks": 20_000},
                partial(cells.limit_of_layer, recipe, at, law, 20_000),
            )
            yield (recipe.model, recipe.depth, None, None, *_row(found)[:3], loss)
            continue
        alpha, beta = (f"{float(at[name]):.6f}" for name in ("alpha", "beta"))
        excess = excess_loss(law, alpha, beta, depth=recipe.depth, digits=12).excess
        low, high = excess.decimal(9)
        yield (recipe.model, recipe.depth, alpha, beta, float(excess), low, high, loss)


def _floor(law: Law) -> float:
    return float(best_one_layer(law, 20).excess)


def _theory(sizes: Sizes, weights: dict[Recipe, Arrays], law: Law) -> Iterator[tuple[Any, ...]]:
    """The exact mean excess of each trained LCA_T, and that of least squares."""
    for recipe, at in weights.items():
        if not recipe.model.startswith("LCA") or recipe.depth > MAX_DEPTH:
            continue
        alpha, beta = (f"{float(at[name]):.6f}" for name in ("alpha", "beta"))
        for L in sizes.contexts:
            found = mean_excess(
                law, dim=DIM, context=L, depth=recipe.depth, alpha=alpha, beta=beta, digits=9
            )
            yield (recipe.model, recipe.depth, L, float(found), *found.decimal(9))
    noise = float(excess_loss(law, "1/4", depth=1).bayes_risk)
    for L in sizes.contexts:
        floor = noise * DIM / (L - DIM - 1)
        yield ("OLS", None, L, floor, None, None)


def _bayes_rule(runner: Cells, sizes: Sizes, law: Law) -> Iterator[tuple[Any, ...]]:
    work: dict[int, Work] = {
        L: (
            {"what": "bayes rule", "law": repr(law), "L": L, "prompts": sizes.bayes_prompts},
            partial(cells.bayes_rule, law, DIM, L, sizes.bayes_prompts),
        )
        for L in sizes.bayes_contexts
    }
    runner.ahead(list(work.values()))
    for L, cell in work.items():
        found = runner.compute(*cell)
        yield ("Bayes rule", None, L, *(float(x) for x in found["excess"]))


def _against_depth(
    runner: Cells, sizes: Sizes, measured: Sequence[tuple[Any, ...]], law: Law
) -> Iterator[tuple[Any, ...]]:
    """LCA_T at α*_T: the bias at L = ∞, the exact mean (T <= 8), a certified lower bound of it at
    every even T, the simulation; trained models."""
    for depth in sizes.depths:
        step = _step(law, depth)
        bias = excess_loss(law, step, depth=depth, digits=12).excess
        yield ("bias", depth, None, float(bias), *_floats(bias.decimal(9)), None, True)
        if depth % 2 == 0:
            least = excess_at_least(law, context=SHORT, depth=depth, alpha=step, digits=6)
            yield ("at least", depth, SHORT, float(least), *_floats(least.decimal(6)), None, True)
        for L in (SHORT, sizes.depth_context):
            if depth <= MAX_DEPTH:
                exact = mean_excess(law, dim=DIM, context=L, depth=depth, alpha=step, digits=9)
                yield ("exact", depth, L, float(exact), *_floats(exact.decimal(9)), None, True)
            found = runner.compute(
                {
                    "what": "at alpha*_T",
                    "law": repr(law),
                    "T": depth,
                    "L": L,
                    "alpha": step,
                    "prompts": sizes.law_prompts,
                },
                partial(cells.chain_risk, law, DIM, L, depth, step, None, sizes.law_prompts),
            )
            yield ("simulated", depth, L, *_row(found))
    for model, depth, L, method, *numbers in measured:
        if sizes.depth_context == L and method == "literal" and model not in cells.LAYERS:
            yield (model, depth, L, *numbers)


def _step(law: Law, depth: int) -> str:
    """α*_T to ten digits: as a decimal, exact from here on."""
    return f"{float(alpha_star(law, depth, 15).enclosure):.10f}"


def _floats(pair: tuple[str, str]) -> tuple[float, float]:
    return float(pair[0]), float(pair[1])


def _map(sizes: Sizes, law: Law) -> Iterator[tuple[Any, ...]]:
    """In the plane of L and T, for α = α* and every d: the depth at which a certified lower bound of
    the expected excess exceeds E[W], what ŷ = 0 costs; and the depth at which the bias falls below
    the floor of least squares for d = 10."""
    step = Fraction(2) / (law.lower + law.upper)
    known = excess_loss(law, step, depth=1, digits=12)
    noise = float(known.bayes_risk)
    worst = 1 - noise
    for L in sizes.map_contexts:
        yield ("explodes", L, first_explosion(law, L, step, worst))
    ratio = explosion_threshold(step * law.upper)
    for L in (sizes.map_contexts[0], MAP_END):
        yield ("threshold", L, float(ratio.mean) * L)
    biases = [float(excess_loss(law, step, depth=t, digits=9).excess) for t in range(1, 21)]
    for k in range(10, 41):
        L = round(10 ** (k / 8))
        floor = noise * DIM / (L - DIM - 1)
        yield ("enough", L, next(t for t, bias in enumerate(biases, 1) if bias <= floor))


def first_explosion(law: Law, context: int, step: Fraction, level: float) -> int:
    """The least even T at which the certified lower bound of the expected excess exceeds a level.

    The bound grows once it has exceeded it, so the search doubles and halves.
    """

    def exceeds(depth: int) -> bool:
        found = excess_at_least(law, context=context, depth=depth, alpha=step, digits=6)
        return float(found) > level

    high = 2
    while not exceeds(high):
        high *= 2
    low = high // 2
    while high - low > 2:
        middle = (low + high) // 4 * 2
        low, high = (low, middle) if exceeds(middle) else (middle, high)
    return high


def _setup(sizes: Sizes) -> str:
    one, soft = sizes.recipe("LCA1", 2), sizes.recipe("CA", 2)
    return (
        f"Z ~ {UNIFORM!r}, d = {DIM}, direction of m uniform, ζ ~ N(0,1). Trained by Adam on fresh "
        f"prompts of L_tr = {sizes.train_context} examples: LSA and SA (one head) with "
        f"{sizes.layer_steps} steps of {sizes.batch} prompts from Gaussian weights, rate 0.02 falling "
        f"to 0; LCA with {one.steps} steps of {one.batch}, rate {one.rate:.3g}; softmax CA with "
        f"{soft.steps} steps of {soft.batch}, rate {soft.rate:.3g}; both from α = -β = {cells.START}, "
        "gradients clipped at 1, judged at the mean of the last half of the path; one run each. "
        "Every simulated mean has a 99% interval by the central limit theorem, over "
        f"{sizes.literal_prompts} (softmax CA {sizes.softmax_prompts}) prompts for literal models "
        f"and {sizes.law_prompts} for those drawn in law, {_MORE} times as many for LSA and SA. The "
        "exact means are enclosed in ball arithmetic; the finite-context Bayes rule, which knows ζ, "
        f"is averaged over {sizes.bayes_prompts} prompts."
    )
