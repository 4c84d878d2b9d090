"""Figure 2's cells: a model is trained on prompts, then measured at one context length.

Models by name: ``LSA`` (4.2); ``SA`` (4.3), one softmax head; ``LCA1`` and ``LCA2``, (5.5) with one
and two parameters; ``CA``, softmax (5.2)-(5.4) with two parameters. Each is trained by Adam on fresh
prompts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from theoryverify.errors import InputError
from theoryverify.exact.laws import Law
from theoryverify.simulate.sealed import JSON
from theoryverify.simulate.store import Arrays

LAYERS = ("LSA", "SA")
STACKS = ("LCA1", "LCA2", "CA")
START = 0.1
"""α_0 = -β_0 of every stack."""
_WEIGHT_SCALE = 0.5
_CHUNK = 2**22
QUANTILE = 2.5758293035489004
"""Of the normal law: two-sided 99%."""


@dataclass(frozen=True)
class Recipe:
    """How a model is trained."""

    model: str
    depth: int
    dim: int
    context: int
    batch: int
    steps: int
    rate: float

    def __post_init__(self) -> None:
        if self.model not in LAYERS + STACKS:
            known = ", ".join(LAYERS + STACKS)
            raise InputError(f"model {self.model!r} is unknown; choose one of {known}")

    def json(self) -> dict[str, JSON]:
        return dict(vars(self))


def trained(recipe: Recipe, law: Law, device: str, rng: np.random.Generator) -> Arrays:
    """Train a model; its weights by name, ``losses`` by step.

    A stack is judged at the mean of the last half of its path, to six decimals (``alpha``, ``beta``); a
    layer at its last weights, its rate having fallen to zero.
    """
    import torch

    from theoryverify.models.attention import LSA, SA
    from theoryverify.models.precision import require_device
    from theoryverify.simulate.layers import train_layer
    from theoryverify.simulate.training import train

    place = require_device(device)
    sizes: dict[str, Any] = {
        "context": recipe.context,
        "batch": recipe.batch,
        "steps": recipe.steps,
        "rate": recipe.rate,
        "rng": rng,
    }
    if recipe.model in STACKS:
        model = stack(recipe, START, -START).to(place)
        run = train(model, law, optimizer="adam", **sizes)
        alpha = round(float(run.average["weights.alpha"]), 6)
        free = run.average.get("weights._beta")
        beta = -alpha if free is None else round(float(free), 6)
        return {"alpha": np.array(alpha), "beta": np.array(beta), "losses": run.losses}
    generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
    layer: Any = (
        LSA.random(recipe.dim, generator=generator, scale=_WEIGHT_SCALE)
        if recipe.model == "LSA"
        else SA.random(recipe.dim, 1, generator=generator, scale=_WEIGHT_SCALE)
    )
    losses = train_layer(layer, law, recipe.dim, device=device, **sizes)
    weights = {k: v.detach().cpu().numpy() for k, v in layer.named_parameters()}
    return {**weights, "losses": losses}


def stack(recipe: Recipe, alpha: float, beta: float) -> Any:
    """The literal stack with these scalars."""
    from theoryverify.models.lca import CA, LCA

    if recipe.model == "LCA1":
        return LCA.one_parameter(recipe.dim, recipe.depth, alpha)
    kind = LCA if recipe.model == "LCA2" else CA
    return kind.two_parameter(recipe.dim, recipe.depth, alpha, beta)


def layer_of(recipe: Recipe, weights: Arrays) -> Any:
    """The trained layer again, from its stored weights."""
    import torch

    from theoryverify.models.attention import LSA, SA

    at = {name: torch.from_numpy(w) for name, w in weights.items() if name != "losses"}
    if recipe.model == "LSA":
        return LSA(at["W_PV"], at["W_KQ"])
    return SA(at["W_Q"], at["W_K"], at["W_V"], at["W_P"], at["r"], float(at["r_0"]))


def measured_literally(
    recipe: Recipe,
    weights: Arrays,
    law: Law,
    context: int,
    prompts: int,
    device: str,
    rng: np.random.Generator,
) -> Arrays:
    """Excess risk of the literal model on fresh prompts of L examples: see :func:`summary`."""
    import torch

    from theoryverify.simulate.layers import layer_errors
    from theoryverify.simulate.monte_carlo import ExcessDraws, torch_slope
    from theoryverify.simulate.prompts import sample_prompts

    if recipe.model in STACKS:
        model = stack(recipe, float(weights["alpha"]), float(weights["beta"]))
        draws = ExcessDraws(
            torch_slope(model, device=device, context=context), law, recipe.dim, context
        )
        return summary(draws(prompts, rng))
    layer = layer_of(recipe, weights).to(device)
    size = max(1, _CHUNK // (recipe.dim * context))
    parts = []
    for start in range(0, prompts, size):
        batch = sample_prompts(law, recipe.dim, context, min(size, prompts - start), rng=rng)
        with torch.no_grad():
            parts.append(layer_errors(layer, batch).cpu().numpy() ** 2)
    return summary(np.concatenate(parts))


def measured_in_law(
    recipe: Recipe,
    weights: Arrays,
    law: Law,
    context: int,
    prompts: int,
    rng: np.random.Generator,
) -> Arrays:
    """The same without the prompts' d x L numbers, exactly in law; LSA and LCA only."""
    if recipe.model == "LSA":
        from theoryverify.simulate.gram import lsa_errors

        return summary(lsa_errors(layer_of(recipe, weights), law, context, prompts, rng=rng) ** 2)
    alpha, beta = (f"{float(weights[name]):.6f}" for name in ("alpha", "beta"))
    return chain_risk(law, recipe.dim, context, recipe.depth, alpha, beta, prompts, rng)


def chain_risk(
    law: Law,
    dim: int,
    context: int,
    depth: int,
    alpha: str,
    beta: str | None,
    prompts: int,
    rng: np.random.Generator,
) -> Arrays:
    """Excess risk of LCA_T by the Krylov chain, with its 99% interval; ``reliable`` as it is judged in
    :func:`theoryverify.papers.lca.risk.finite_context_risk`."""
    from theoryverify.papers.lca.risk import finite_context_risk

    found = finite_context_risk(
        law,
        dim=dim,
        context=context,
        depth=depth,
        alpha=alpha,
        beta=beta,
        prompts=prompts,
        rng=rng,
    )
    numbers = (found.excess, found.excess_lower, found.excess_upper)
    return {
        "excess": np.array(numbers),
        "prompts": np.array(prompts),
        "reliable": np.array(found.status == "ok"),
    }


def summary(excess: np.ndarray) -> Arrays:
    """Mean and 99% interval ``mean ± 2.576 s/√n`` by the central limit theorem."""
    mean = float(excess.mean())
    half = QUANTILE * float(excess.std(ddof=1)) / float(np.sqrt(excess.size))
    return {
        "excess": np.array((mean, mean - half, mean + half)),
        "prompts": np.array(excess.size),
        "reliable": np.array(True),
    }


def limit_of_layer(
    recipe: Recipe, weights: Arrays, law: Law, tasks: int, rng: np.random.Generator
) -> Arrays:
    """The layer's excess risk at infinite context, by Proposition D.2 or D.4, averaged over tasks."""
    from theoryverify.simulate.gram import limit_excess, sample_tasks

    m, zeta = sample_tasks(law, recipe.dim, tasks, rng=rng)
    return summary(limit_excess(layer_of(recipe, weights), m, zeta))


def bayes_rule(law: Law, dim: int, context: int, prompts: int, rng: np.random.Generator) -> Arrays:
    """Excess risk of the best slope given the context (ζ known), with its 99% interval."""
    from theoryverify.papers.lca.finite_bayes import bayes_reference

    found = bayes_reference(law, dim=dim, context=context, prompts=prompts, rng=rng)
    half = QUANTILE * found.bayes_error
    return {"excess": np.array((found.bayes, found.bayes - half, found.bayes + half))}
