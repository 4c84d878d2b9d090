"""Figure 2: the test error of trained models against context length and depth, with what bounds it.

The sizes of the preset ``paper`` are d = 10, Z uniform on [2,5], ζ ~ N(0,1), Adam with batches of 256
prompts of 1024 examples for 3000 steps, and 2000 test prompts of up to 8192 examples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from theoryverify.exact.laws import Law
from theoryverify.figures import Data, Plan, Table
from theoryverify.figures.cells import Cells
from theoryverify.papers.lca import cells_fig2 as cells
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.cells_fig2 import Recipe
from theoryverify.papers.lca.explosion import excess_at_least, explosion_threshold
from theoryverify.papers.lca.finite_bayes import bayes_reference
from theoryverify.papers.lca.laws import UNIFORM
from theoryverify.papers.lca.loss import excess_loss
from theoryverify.papers.lca.one_layer import best_one_layer
from theoryverify.papers.lca.wishart import MAX_DEPTH, mean_excess

if TYPE_CHECKING:
    from theoryverify.simulate.store import Arrays

DIM = 10
"""d_1 = d_2 = 5: only d matters."""
SHORT = 128
"""The context at which the panel on depth shows the explosion."""
MAP_END = 10**5
SHOWN = (("LSA", 1), ("SA", 1), ("LCA1", 2), ("LCA1", 5), ("LCA1", 8), ("LCA2", 2), ("LCA2", 5))
"""Models and depths against context length, beside softmax CA_T."""

_MORE = 10

RISK = ("excess", "excess_lower", "excess_upper", "prompts", "reliable")


@dataclass(frozen=True)
class Sizes:
    """What a preset computes."""

    train_context: int
    batch: int
    steps: int
    layer_steps: int
    softmax_batch: int
    softmax_steps: int
    softmax_depths: tuple[int, ...]
    literal_contexts: tuple[int, ...]
    literal_prompts: int
    softmax_contexts: tuple[int, ...]
    softmax_prompts: int
    law_prompts: int
    contexts: tuple[int, ...]
    bayes_contexts: tuple[int, ...]
    bayes_prompts: int
    depths: tuple[int, ...]
    depth_context: int
    map_contexts: tuple[int, ...]

    def recipe(self, model: str, depth: int) -> Recipe:
        """Rates: 0.02 for layers, and for scalars 2.4 over the number of steps or 0.01."""
        softmax = model == "CA"
        steps = self.softmax_steps if softmax else self.steps
        if model in cells.LAYERS:
            return Recipe(model, depth, DIM, self.train_context, self.batch, self.layer_steps, 0.02)
        batch = self.softmax_batch if softmax else self.batch
        rate = max(0.01, 2.4 / steps)
        return Recipe(model, depth, DIM, self.train_context, batch, steps, rate)


def _decades(*powers: float) -> tuple[int, ...]:
    return tuple(round(10**power) for power in powers)


SIZES = {
    "quick": Sizes(
        train_context=128,
        batch=64,
        steps=80,
        layer_steps=300,
        softmax_batch=32,
        softmax_steps=60,
        softmax_depths=(2, 5),
        literal_contexts=(32, 64, 128, 256, 512),
        literal_prompts=400,
        softmax_contexts=(32, 64, 128, 256, 512),
        softmax_prompts=100,
        law_prompts=4000,
        contexts=(32, 64, 128, 256, 1024, *_decades(4, 5, 6, 9)),
        bayes_contexts=(32, 64, 128, 256, 1024, *_decades(4)),
        bayes_prompts=500,
        depths=(1, 2, 3, 4, 5, 6, 8, 12, 16, 20, 24),
        depth_context=512,
        map_contexts=(16, 32, 64, 128, 256),
    ),
    "laptop": Sizes(
        train_context=512,
        batch=128,
        steps=600,
        layer_steps=2000,
        softmax_batch=64,
        softmax_steps=300,
        softmax_depths=(1, 2, 5, 8),
        literal_contexts=(32, 64, 128, 256, 512, 1024, 2048, 4096),
        literal_prompts=2000,
        softmax_contexts=(32, 64, 128, 256, 512, 1024, 2048),
        softmax_prompts=500,
        law_prompts=20_000,
        contexts=(32, 64, 128, 256, 512, 1024, 2048, 4096, *_decades(4, 5, 6, 7, 8, 9)),
        bayes_contexts=(32, 64, 128, 256, 512, 1024, 2048, *_decades(4, 5, 6)),
        bayes_prompts=10_000,
        depths=(1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24),
        depth_context=2048,
        map_contexts=(16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512),
    ),
    "paper": Sizes(
        train_context=1024,
        batch=256,
        steps=3000,
        layer_steps=3000,
        softmax_batch=256,
        softmax_steps=3000,
        softmax_depths=(1, 2, 3, 5, 8, 10, 15),
        literal_contexts=(32, 64, 128, 256, 512, 1024, 2048, 4096, 8192),
        literal_prompts=2000,
        softmax_contexts=(32, 64, 128, 256, 512, 1024, 2048, 4096, 8192),
        softmax_prompts=2000,
        law_prompts=100_000,
        contexts=(32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, *_decades(4, 5, 6, 7, 8, 9)),
        bayes_contexts=(32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, *_decades(5, 6)),
        bayes_prompts=20_000,
        depths=(*range(1, 17), 18, 20, 22, 24),
        depth_context=8192,
        map_contexts=(16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024),
    ),
}


def fig2_data(plan: Plan) -> Data:
    sizes = SIZES[plan.preset]
    return Data(fig2_tables(plan, sizes), _setup(sizes))


def fig2_tables(plan: Plan, sizes: Sizes, law: Law = UNIFORM) -> dict[str, Table]:
    """All tables; every simulated row has its 99% interval."""
    runner = Cells("lca.fig2", plan, ("theoryverify.papers.lca.cells_fig2",))
    models = [sizes.recipe(*which) for which in SHOWN]
    models += [sizes.recipe("CA", depth) for depth in sizes.softmax_depths]
    weights = {recipe: _trained(runner, recipe, law) for recipe in models}
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


def _trained(runner: Cells, recipe: Recipe, law: Law) -> Arrays:
    return runner.compute(
        {"what": "train", "law": repr(law), **recipe.json()},
        lambda rng: cells.trained(recipe, law, runner.plan.device, rng),
    )


def _row(found: Arrays) -> tuple[Any, ...]:
    mean, low, high = (float(x) for x in found["excess"])
    return mean, low, high, int(found["prompts"]), bool(found["reliable"])


def _measured(
    runner: Cells, sizes: Sizes, weights: dict[Recipe, Arrays], law: Law
) -> Iterator[tuple[Any, ...]]:
    """Literal models at the contexts that fit, and in law to 10^9."""
    for recipe, at in weights.items():
        base: dict[str, Any] = {"law": repr(law), "of": recipe.json()}
        softmax, cheap = recipe.model == "CA", recipe.model in cells.LAYERS
        prompts = sizes.softmax_prompts if softmax else sizes.literal_prompts
        # A layer costs no more than reading the prompt, and its errors have the heavier tails.
        prompts, many = (_MORE * n if cheap else n for n in (prompts, sizes.law_prompts))
        for L in sizes.softmax_contexts if softmax else sizes.literal_contexts:
            found = runner.compute(
                {"what": "literal", **base, "L": L, "prompts": prompts},
                lambda rng, r=recipe, w=at, L=L, n=prompts: cells.measured_literally(  # type: ignore[misc]
                    r, w, law, L, n, runner.plan.device, rng
                ),
            )
            yield (recipe.model, recipe.depth, L, "literal", *_row(found))
        if recipe.model in ("SA", "CA"):
            continue
        for L in sizes.contexts:
            found = runner.compute(
                {"what": "in law", **base, "L": L, "prompts": many},
                lambda rng, r=recipe, w=at, L=L, n=many: cells.measured_in_law(  # type: ignore[misc]
                    r, w, law, L, n, rng
                ),
            )
            yield (recipe.model, recipe.depth, L, "in law", *_row(found))


def _limits(runner: Cells, weights: dict[Recipe, Arrays], law: Law) -> Iterator[tuple[Any, ...]]:
    """Each trained model at infinite context, exactly for the stacks, and its last training loss.

    Softmax CA_T has LCA_T's limit: by Gaussian tilting its attention reads Σ_x F as well.
    """
    for recipe, at in weights.items():
        loss = float(at["losses"][-len(at["losses"]) // 4 :].mean())
        if recipe.model in cells.LAYERS:
            found = runner.compute(
                {"what": "limit", "law": repr(law), "of": recipe.json(), "tasks": 20_000},
                lambda rng, r=recipe, w=at: cells.limit_of_layer(r, w, law, 20_000, rng),  # type: ignore[misc]
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
    for L in sizes.bayes_contexts:
        found = runner.compute(
            {"what": "bayes rule", "law": repr(law), "L": L, "prompts": sizes.bayes_prompts},
            lambda rng, L=L: _bayes_cell(law, L, sizes.bayes_prompts, rng),  # type: ignore[misc]
        )
        yield ("Bayes rule", None, L, *(float(x) for x in found["excess"]))


def _bayes_cell(law: Law, L: int, prompts: int, rng: Any) -> Arrays:
    import numpy as np

    found = bayes_reference(law, dim=DIM, context=L, prompts=prompts, rng=rng)
    half = cells.QUANTILE * found.bayes_error
    return {"excess": np.array((found.bayes, found.bayes - half, found.bayes + half))}


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
                lambda rng, L=L, T=depth, a=step: cells.chain_risk(  # type: ignore[misc]
                    law, DIM, L, T, a, None, sizes.law_prompts, rng
                ),
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
        "gradients clipped at 1, judged at the mean of the last half of the path. Every simulated "
        "mean has a 99% interval by the central limit theorem, over "
        f"{sizes.literal_prompts} (softmax CA {sizes.softmax_prompts}) prompts for literal models "
        f"and {sizes.law_prompts} for those drawn in law. The exact means are enclosed in ball "
        f"arithmetic; the finite-context Bayes rule, which knows ζ, is averaged over "
        f"{sizes.bayes_prompts} prompts."
    )
