"""``lca.limits``: the finite-context risk against depth, theory over simulation, and what it does to
the best step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from flint import fmpq

from theoryverify.exact.balls import Enclosure, bits_for, precision
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import to_fmpq
from theoryverify.figures import Data, Plan, Table
from theoryverify.figures.cells import Cells, Work
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.appendix_h import appendix_h
from theoryverify.papers.lca.experiments import cells_fig2
from theoryverify.papers.lca.explosion import excess_at_least
from theoryverify.papers.lca.finite_scalar import scalar_mean, scalar_slope_polynomial
from theoryverify.papers.lca.laws import UNIFORM
from theoryverify.papers.lca.loss import excess_loss
from theoryverify.papers.lca.wishart import MAX_DEPTH, mean_excess

DIM = 10
ALPHA = Fraction(2, 7)
"""α* of the uniform law on [2,5]."""
SLACK = Fraction(1, 20)
"""t of (H.3)."""
BOUND_CONTEXT = 10**4
"""The context for which the bound (H.5) is drawn: α* lies in its window from L = 298 on."""
_RANGE = Fraction(9, 20)
_GRID = 90
_STEPS = 16


@dataclass(frozen=True)
class Sizes:
    """What a preset computes."""

    scalar_contexts: tuple[int, ...]
    scalar_depths: tuple[int, ...]
    prompts: int
    contexts: tuple[int, ...]
    depths: tuple[int, ...]
    minimiser_contexts: tuple[int, ...]
    minimiser_depths: tuple[int, ...]


SIZES = {
    "quick": Sizes(
        (30, 100, 300, 10**4),
        (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48),
        20_000,
        (30, 100, 300, 10**4),
        (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48),
        (100, 300, 10**4),
        (1, 2, 3, 4, 6, 8, 12, 16, 24, 32),
    ),
    "laptop": Sizes(
        (30, 100, 300, 10**4),
        (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64),
        200_000,
        (30, 100, 300, 10**4),
        (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64),
        (100, 300, 10**4),
        (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64),
    ),
    "paper": Sizes(
        (30, 100, 300, 10**4),
        (*range(1, 17), 20, 24, 28, 32, 40, 48, 56, 64, 80, 96),
        10**7,
        (30, 100, 300, 10**4),
        (*range(1, 17), 20, 24, 28, 32, 40, 48, 56, 64),
        (100, 300, 10**4),
        (*range(1, 17), 20, 24, 28, 32, 40, 48, 56, 64, 80, 96),
    ),
}


def limits_data(plan: Plan) -> Data:
    sizes = SIZES[plan.preset]
    return Data(
        limits_tables(plan, sizes),
        f"Z ~ {UNIFORM!r}, α = α* = 2/7, β = -α. Exact means at d = 1 are Gamma moments, at d = {DIM} "
        f"Wishart moments (T <= {MAX_DEPTH}), enclosed in ball arithmetic, narrower than the lines. "
        f"Simulated means are over {sizes.prompts} prompts each, drawn exactly in law, with 99% "
        "intervals by the central limit theorem, which say nothing of prompts that the sample does "
        f"not show. The bound (H.5) is for t = {float(SLACK)} and holds on an event of probability "
        f"at least {_probability():.6f}. α*_(T,L) is the least of the minima found between sign "
        "changes of the exact derivative on a grid.",
    )


def limits_tables(plan: Plan, sizes: Sizes, law: Law = UNIFORM) -> dict[str, Table]:
    runner = Cells("lca.limits", plan, ("theoryverify.papers.lca.experiments.cells_fig2",))
    runner.ahead(
        [
            _chain(sizes, law, dim, L, depth)
            for dim, contexts, depths in (
                (1, sizes.scalar_contexts, sizes.scalar_depths),
                (DIM, sizes.contexts, sizes.depths),
            )
            for L in contexts
            for depth in depths
        ]
    )
    mean = ("excess", "excess_lower", "excess_upper")
    return {
        "scalar": Table.of(("kind", "L", "T", *mean, "reliable"), _scalar(runner, sizes, law)),
        "many": Table.of(("kind", "L", "T", *mean, "reliable"), _many(runner, sizes, law)),
        "minimiser": Table.of(
            ("L", "T", "alpha", "alpha_lower", "alpha_upper"), _minimisers(sizes, law)
        ),
    }


def _scalar(runner: Cells, sizes: Sizes, law: Law) -> Iterator[tuple[Any, ...]]:
    """d = 1: exact at every depth, and simulated; the bias alone at L = ∞."""
    for depth in sizes.scalar_depths:
        bias = excess_loss(law, ALPHA, depth=depth, digits=12).excess
        yield ("bias", None, depth, float(bias), *bias.decimal(9), True)
    for L in sizes.scalar_contexts:
        for depth in sizes.scalar_depths:
            parts = scalar_mean(law, context=L, depth=depth, alpha=ALPHA, digits=12)
            with precision(bits_for(20)):
                exact = Enclosure.of(parts[0].ball() + parts[1].ball())
            yield ("exact", L, depth, float(exact), *exact.decimal(9), True)
            yield _simulated(runner, sizes, law, 1, L, depth)


def _many(runner: Cells, sizes: Sizes, law: Law) -> Iterator[tuple[Any, ...]]:
    """d = 10: exact to T = 8, simulated, and the bound (H.5); from T = 8 on, at even T, a certified
    lower bound of the mean, where it exceeds the floor of least squares."""
    noise = float(excess_loss(law, ALPHA, depth=1).bayes_risk)
    for depth in sizes.depths:
        bound = appendix_h(
            law, dim=DIM, context=BOUND_CONTEXT, depth=depth, alpha=ALPHA, t=SLACK, digits=9
        )
        total = float(bound.bias) + float(bound.noise)
        yield ("bound (H.5)", BOUND_CONTEXT, depth, total, None, None, True)
    for L in sizes.contexts:
        for depth in sizes.depths:
            if depth <= MAX_DEPTH:
                exact = mean_excess(law, dim=DIM, context=L, depth=depth, alpha=ALPHA, digits=9)
                yield ("exact", L, depth, float(exact), *exact.decimal(9), True)
            if depth % 2 == 0 and depth >= MAX_DEPTH:
                least = excess_at_least(law, context=L, depth=depth, alpha=ALPHA, digits=9)
                if float(least) > noise * DIM / (L - DIM - 1):
                    yield ("at least", L, depth, float(least), *least.decimal(9), True)
            yield _simulated(runner, sizes, law, DIM, L, depth)


def _chain(sizes: Sizes, law: Law, dim: int, L: int, depth: int) -> Work:
    """A cell that draws prompts in law."""
    step = f"{ALPHA.numerator}/{ALPHA.denominator}"
    return (
        {"d": dim, "L": L, "T": depth, "alpha": step, "prompts": sizes.prompts, "law": repr(law)},
        partial(cells_fig2.chain_risk, law, dim, L, depth, step, None, sizes.prompts),
    )


def _simulated(
    runner: Cells, sizes: Sizes, law: Law, dim: int, L: int, depth: int
) -> tuple[Any, ...]:
    found = runner.compute(*_chain(sizes, law, dim, L, depth))
    numbers = (float(x) for x in found["excess"])
    return ("simulated", L, depth, *numbers, bool(found["reliable"]))


def _minimisers(sizes: Sizes, law: Law) -> Iterator[tuple[Any, ...]]:
    """α*_{T,L} at d = 1, and α*_T at L = ∞."""
    for depth in sizes.minimiser_depths:
        at = alpha_star(law, depth, 12).enclosure
        yield (None, depth, float(at), *at.decimal(10))
    for L in sizes.minimiser_contexts:
        for depth in sizes.minimiser_depths:
            low, high = finite_minimiser(law, L, depth)
            yield (L, depth, float((low + high) / 2), float(low), float(high))


def finite_minimiser(law: Law, context: int, depth: int) -> tuple[Fraction, Fraction]:
    """An interval around the α in (0, 9/20) that minimises the d = 1 risk at finite context.

    The exact derivative changes sign from negative to positive in it; if several intervals of the
    grid do, the one with the least risk is taken.
    """
    falls = scalar_slope_polynomial(law, context, depth)  # -R'/(2T)
    if falls is None:
        raise ValueError(f"{law!r} has no rational moments")
    grid = [_RANGE * k / _GRID for k in range(_GRID + 1)]
    signs = [falls(to_fmpq(x)) > 0 for x in grid]
    found = []
    for left, right, before, after in zip(grid, grid[1:], signs, signs[1:], strict=False):
        if before and not after:
            found.append(_narrowed(falls, left, right))
    return (
        min(found, key=lambda ends: _risk(law, context, depth, ends))
        if len(found) > 1
        else found[0]
    )


def _narrowed(falls: Any, left: Fraction, right: Fraction) -> tuple[Fraction, Fraction]:
    for _ in range(_STEPS):
        middle = (left + right) / 2
        value: fmpq = falls(to_fmpq(middle))
        left, right = (middle, right) if value > 0 else (left, middle)
    return left, right


def _risk(law: Law, context: int, depth: int, ends: tuple[Fraction, Fraction]) -> float:
    middle = (ends[0] + ends[1]) / 2
    parts = scalar_mean(law, context=context, depth=depth, alpha=middle, digits=9)
    return sum(map(float, parts))


def _probability() -> float:
    found = appendix_h(UNIFORM, dim=DIM, context=BOUND_CONTEXT, depth=1, alpha=ALPHA, t=SLACK)
    return 1 - float(found.failure)
