"""Untied layers: the optimum against brute force, exact against enclosed, known values."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from theoryverify.claims.claim import Context
from theoryverify.claims.examine import examine
from theoryverify.claims.ladder import OUTSIDE, REFUTED
from theoryverify.errors import HypothesisError, InputError
from theoryverify.exact.balls import precision
from theoryverify.exact.densities import Ball, Shell, Uniform
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Discrete, Mixture
from theoryverify.papers.lca import theory, untied
from theoryverify.papers.lca.claims import untied as claims
from theoryverify.papers.lca.laws import ATOMS, MIXED
from theoryverify.papers.lca.untied import (
    chebyshev_ratio,
    chebyshev_value,
    legendre_sum,
    mean_limit,
    untied_optimum,
)

LAW = Discrete({2: "1/8", 3: "1/4", 4: "1/8", 5: "1/4", 7: "1/4"})


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_it_is_the_weighted_least_squares_solution(depth: int) -> None:
    z = np.array([float(point) for point in LAW.atoms])
    root = np.sqrt([float(w) * (float(p) - 1) / float(p) for p, w in LAW.atoms.items()])
    powers = np.stack([z**k for k in range(1, depth + 1)], axis=1)
    solution, *_ = np.linalg.lstsq(powers * root[:, None], -root, rcond=None)
    best = untied_optimum(LAW, depth)
    residual = root * (1 + powers @ solution)
    assert float(best.excess) == pytest.approx(float(residual @ residual), rel=1e-6)
    assert best.exact_mean_step is not None
    assert float(best.exact_mean_step) == pytest.approx(-solution[0] / depth, rel=1e-6)


@pytest.mark.parametrize("law", [Uniform(2, 5), Ball(4, 5), Shell(7, 2, 5), LAW], ids=repr)
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_its_steps_reach_the_excess(law, depth: int) -> None:
    """β_t = -α_t gives 1-g = Π(1-α_tZ); its loss is the excess, and no shift of a step beats it."""
    best = untied_optimum(law, depth, 20)

    def loss(factors: list[Fraction]) -> object:
        def integrand(z: object) -> object:
            value = 1 - 1 / z
            for factor in factors:
                value = value * (1 - factor.numerator * z / factor.denominator) ** 2
            return value

        with precision(200):
            return law.expect(integrand)

    steps = [(step.lower + step.upper) / 2 for step in best.steps]
    assert all(1 / law.upper < step < 1 / law.lower for step in steps)
    reached = loss(steps)
    assert abs(float(reached.mid()) / float(best.excess) - 1) < 1e-9
    for shift in (Fraction(1, 1000), Fraction(-1, 1000)):
        assert loss([steps[0] + shift, *steps[1:]]) > best.excess.ball()


def test_depth_one_is_the_tied_optimum() -> None:
    assert untied_optimum(Uniform(2, 5), 1).exact_mean_step == Fraction(5, 19)


def test_enclosed_moments_give_the_exact_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = untied_optimum(Uniform(2, 5), 5, 20)
    monkeypatch.setattr(untied, "_exact_moments", lambda law, count: None)
    untied._optimum.cache_clear()
    enclosed = untied_optimum(Uniform(2, 5), 5, 20)
    untied._optimum.cache_clear()
    assert enclosed.polynomial is None
    assert enclosed.excess.overlaps(exact.excess)
    assert all(a.overlaps(b) for a, b in zip(enclosed.steps, exact.steps, strict=True))


def test_known_means() -> None:
    means = [untied_optimum(Uniform(2, 5), depth).mean_step for depth in (2, 3, 4, 5)]
    assert [f"{float(mean):.4f}" for mean in means] == ["0.2901", "0.3002", "0.3047", "0.3072"]
    assert f"{float(mean_limit(Uniform(2, 5))):.4f}" == "0.3162"


def test_bounds_and_ratio() -> None:
    law = Uniform(2, 5)
    assert chebyshev_value(law, 0) == 1
    assert chebyshev_value(law, 2) == 2 * Fraction(7, 3) ** 2 - 1
    assert legendre_sum(law, 1) == 1 + 3 * Fraction(7, 3) ** 2
    ratio = float(chebyshev_ratio(law))
    assert ratio == pytest.approx((5**0.5 - 2**0.5) / (5**0.5 + 2**0.5))
    tied = float((law.upper - law.lower) / (law.upper + law.lower))
    assert ratio < tied
    exponent = (float(untied_optimum(law, 48).excess)) ** (1 / 96)
    assert exponent == pytest.approx(ratio, rel=0.02)


def test_atoms_and_refusals() -> None:
    atoms = Discrete({2: "1/3", 5: "2/3"})
    assert untied_optimum(atoms, 2).excess.sign() == 0
    with pytest.raises(InputError, match="points"):
        untied_optimum(atoms, 3)
    with pytest.raises(HypothesisError):
        untied_optimum(Discrete({2: 1}), 1)
    with pytest.raises(InputError):
        untied_optimum(atoms, 0)
    with pytest.raises(InputError):
        untied_optimum(atoms, 201)
    mixed = Mixture([("1/2", Discrete({2: 1})), ("1/2", Uniform(2, 5))])
    assert untied_optimum(mixed, 3).polynomial is not None
    assert theory.signal_share().has(Z)


# -- what the claims ask of the law ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("law", "depth", "reason"),
    [
        (ATOMS, 2, None),
        (ATOMS, 3, "has 3 points, T = 3"),
        (Mixture([("1/2", ATOMS), ("1/2", Discrete({3: "1/2", 7: "1/2"}))]), 3, None),
        (Mixture([("1/2", ATOMS), ("1/2", Discrete({3: "1/2", 7: "1/2"}))]), 4, "has 4 points"),
        (MIXED, 100, None),
    ],
)
def test_more_points_than_layers(law, depth: int, reason: str | None) -> None:
    found = claims.MORE_POINTS.failure(claims.Stacks(law, (1, depth)))
    assert found is None if reason is None else reason in str(found)


@pytest.mark.parametrize(
    ("law", "reason"),
    [
        (Uniform(2, 5), None),
        (Ball(4, 5), None),
        (MIXED, None),
        (Mixture([("1/2", Uniform(2, 4)), ("1/2", Uniform(3, 5))]), None),
        (claims.GAP_LAW, "(5/2, 9/2)"),
        (ATOMS, "(2, 5)"),
        (Mixture([("1/2", Discrete({2: 1})), ("1/2", Uniform(3, 5))]), "(2, 3)"),
        (Mixture([("1/2", Discrete({5: 1})), ("1/2", Uniform(2, 4))]), "(4, 5)"),
    ],
    ids=repr,
)
def test_where_the_density_is_positive(law, reason: str | None) -> None:
    found = claims.POSITIVE_DENSITY.failure(law)
    assert found is None if reason is None else str(found).endswith(f"no density on {reason}")


def test_the_statements_need_their_hypotheses() -> None:
    context = Context()
    exact = next(check for check in claims.OPTIMUM.checks if check.cases)
    few = replace(exact, cases=(claims.Stacks(ATOMS, (2, 3)),))
    assert examine(claims.OPTIMUM, few, 1, context).verdict is OUTSIDE
    mean = next(check for check in claims.MEAN.checks if check.name.startswith("extrapolated"))
    gap = replace(mean, cases=(claims.GAP_LAW,))
    assert examine(claims.MEAN, gap, gap.formula, context).verdict is OUTSIDE
    without = {claims.POSITIVE_DENSITY.name}
    dropped = examine(claims.MEAN, gap, gap.formula, context, without=without)
    assert dropped.verdict is REFUTED
