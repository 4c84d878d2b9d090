"""Figure 4: the two-parameter loss over (α, β), exact, and simulated with layer normalisation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from flint import arb

from theoryverify.exact.balls import Enclosure, ball, precision
from theoryverify.exact.integrands import LinearPower
from theoryverify.exact.laws import Law
from theoryverify.figures import Data, Plan, Table
from theoryverify.figures.cells import Cells, Work
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.experiments import cells_fig4
from theoryverify.papers.lca.kernels import S, weight_polynomial
from theoryverify.papers.lca.landscape_flow import STARTS, ExactLoss, half_plane_line, line
from theoryverify.papers.lca.landscape_norm import bootstrapped, mean_rays, standard_error
from theoryverify.papers.lca.laws import UNIFORM
from theoryverify.papers.lca.tables import ends
from theoryverify.papers.lca.two import beta_star

LANDSCAPE_DEPTHS = (3, 10)
ALPHAS = (Fraction(0), Fraction(1, 2))
BETAS = (Fraction(-1, 2), Fraction(1, 10))
DIM = 10


@dataclass(frozen=True)
class Sizes:
    """What a preset computes: points a side, exact and simulated; rays, prompts, L, samples of the
    bootstrap."""

    exact: int
    normed: int
    angles: int
    prompts: int
    context: int
    bootstrap: int


SIZES = {
    "quick": Sizes(101, 61, 61, 96, 512, 100),
    "laptop": Sizes(201, 121, 121, 1024, 512, 200),
    "paper": Sizes(201, 201, 181, 4096, 512, 200),
}


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
                valleys.append((depth, float(beta), *ends(Enclosure.of(B / A), 9)))
                for alpha in alphas:
                    at = ball(alpha)
                    level = ((A * at - 2 * B) * at + mean).log() / ten
                    losses.append((depth, float(alpha), float(beta), *_micro(level)))
        best = beta_star(UNIFORM, depth, 15)
        marks.append((depth, *ends(best.alpha), *ends(best.beta), *ends(best.loss)))
    place = ("alpha_lower", "alpha_upper", "beta_lower", "beta_upper")
    grid = ("T", "alpha", "beta", "log10_loss_lower", "log10_loss_upper")
    return {
        "loss": Table.of(grid, losses),
        "valley": Table.of(("T", "beta", "alpha_lower", "alpha_upper"), valleys),
        "minimiser": Table.of(("T", *place, "loss_lower", "loss_upper"), marks),
    }


def flow_rows(depth: int, follow: Callable[..., Any], loss: Any) -> list[tuple[Any, ...]]:
    """Points of the flow lines from :data:`STARTS`: rows ``T, line, step, alpha, beta``."""
    return [
        (depth, number, step, *point)
        for number, start in enumerate(STARTS)
        for step, point in enumerate(follow(loss, start))
    ]


def normed_tables(plan: Plan, sizes: Sizes, law: Law = UNIFORM) -> dict[str, Table]:
    """The simulated landscape with layer normalisation, as ``normed_*``.

    ``log10_error`` is the standard error of ``log10_loss``; the valley's band and the minima of the
    bootstrap show what is uncertain of them.
    """
    runner = Cells("lca.fig4", plan, ("theoryverify.papers.lca.experiments.cells_fig4",))
    theta = cells_fig4.angles(sizes.angles)
    losses: list[Any] = []
    valleys: list[Any] = []
    minima: list[Any] = []
    lines: list[Any] = []
    alphas, betas = (
        np.array([float(x) for x in _grid(ends, sizes.normed)]) for ends in (ALPHAS, BETAS)
    )
    fine = np.linspace(float(ALPHAS[0]), float(ALPHAS[1]), 501)
    work: dict[int, Work] = {
        depth: (
            {
                "T": depth,
                "d": DIM,
                "L": sizes.context,
                "angles": sizes.angles,
                "prompts": sizes.prompts,
                "law": repr(law),
            },
            partial(
                cells_fig4.rays, law, DIM, sizes.context, depth, theta, sizes.prompts, plan.device
            ),
        )
        for depth in LANDSCAPE_DEPTHS
    }
    runner.ahead(list(work.values()))
    for depth in LANDSCAPE_DEPTHS:
        groups = runner.compute(*work[depth])
        rays = mean_rays(theta, groups)
        a, b = np.meshgrid(alphas, betas)
        level = rays.loss(a, b)
        error = standard_error(theta, groups, a, b) / (level * np.log(10))
        cells = (x.ravel() for x in (a, b, np.log10(level), error))
        losses += [(depth, *(float(x) for x in row)) for row in zip(*cells, strict=True)]
        again = bootstrapped(
            theta, groups, sizes.bootstrap, plan.rng(f"lca.fig4 bootstrap {depth}")
        )
        middle = rays.valley(betas, fine)
        band = np.quantile([r.valley(betas, fine) for r in again], (0.005, 0.995), axis=0)
        for beta, at, low, high in zip(betas, middle, *band, strict=True):
            valleys.append((depth, *(float(x) for x in (beta, at, low, high))))
        minima.append((depth, "estimate", *rays.minimum()))
        minima += [(depth, "bootstrap", *r.minimum()) for r in again]
        lines += flow_rows(depth, half_plane_line, rays.jet)
    return {
        "normed_loss": Table.of(("T", "alpha", "beta", "log10_loss", "log10_error"), losses),
        "normed_valley": Table.of(("T", "beta", "alpha", "alpha_lower", "alpha_upper"), valleys),
        "normed_minimiser": Table.of(("T", "kind", "alpha", "beta", "loss"), minima),
        "normed_flow": Table.of(("T", "line", "step", "alpha", "beta"), lines),
    }


def fig4_data(plan: Plan) -> Data:
    sizes = SIZES[plan.preset]
    lines = [row for T in LANDSCAPE_DEPTHS for row in flow_rows(T, line, ExactLoss(UNIFORM, T))]
    limit = float(2 / (UNIFORM.lower + UNIFORM.upper))
    return Data(
        {
            **landscape_tables(LANDSCAPE_DEPTHS, sizes.exact),
            "flow": Table.of(("T", "line", "step", "alpha", "beta"), lines),
            **normed_tables(plan, sizes),
        },
        f"Z ~ {UNIFORM!r}. Without layer normalisation the loss at L = ∞, ℓ = A(β)α² - 2B(β)α + "
        f"E[W], A = E[WS²], B = E[WS], is enclosed in ball arithmetic with 256 bits on {sizes.exact} by "
        f"{sizes.exact} points, and the minimiser by certified signs to 15 digits; its limit is "
        f"(α*, -α*) with α* = {limit:.6f}. With it, literal models with d = {DIM} run on "
        f"{sizes.prompts} prompts of L = {sizes.context} examples, the same for all (α, β), in float32; "
        "LN acts on the columns of F_t before the queries, without an affine part, so the model is "
        f"homogeneous in (α, β): {sizes.angles} rays are simulated, on each the loss is a parabola, and "
        "between them cubic splines are used. Standard errors come from "
        f"{cells_fig4.GROUPS} groups of prompts, the 99% band and the dots from {sizes.bootstrap} "
        "bootstrap samples of these. Flow lines are computed numbers in float64.",
    )


def _micro(value: arb) -> tuple[float, float]:
    """A ball in millionths, rounded outward."""
    scaled = value * 10**6
    low, high = scaled.lower().floor().unique_fmpz(), scaled.upper().ceil().unique_fmpz()
    return int(low) / 10**6, int(high) / 10**6


def _grid(ends: tuple[Fraction, Fraction], size: int) -> list[Fraction]:
    low, high = ends
    return [low + (high - low) * Fraction(i, size - 1) for i in range(size)]
