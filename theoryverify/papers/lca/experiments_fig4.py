"""Figure 4: the two-parameter loss over (α, β)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from theoryverify.exact.balls import Enclosure, ball, precision
from theoryverify.exact.integrands import LinearPower
from theoryverify.exact.laws import Law
from theoryverify.figures import Data, Plan, Table
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.experiments_alpha_star import UNIFORM
from theoryverify.papers.lca.kernels import S, weight_polynomial
from theoryverify.papers.lca.tables import ends
from theoryverify.papers.lca.two import beta_star

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
