"""The loss: reference values, underflow, gradients against differences, bad input."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theoryverify.errors import HypothesisError, InputError
from theoryverify.exact.densities import Ball, ScaledBeta, Uniform
from theoryverify.exact.laws import Discrete, Law, TwoPoint
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.loss import excess_loss

REFERENCE = json.loads(
    (Path(__file__).parents[2] / "data" / "lca_reference.json").read_text("utf-8")
)["values"]
SKEWED = Discrete({"3/2": "9/10", 4: "1/10"})


@pytest.mark.parametrize("key", [key for key in REFERENCE if key.startswith("ell_excess/")])
def test_reference_losses(key: str) -> None:
    a, b, t = re.search(r"alpha=(.*),beta=(.*),T=(.*)$", key).groups()  # type: ignore[union-attr]
    found = excess_loss(Uniform(2, 5), a, b, depth=int(t), digits=30)
    value = Fraction(REFERENCE[key])
    assert found.excess.digits >= 30
    assert abs(found.excess.lower - value) < abs(value) / 10**20


@pytest.mark.parametrize("depth", [1, 5, 10, 50])
def test_risk_at_the_minimum(depth: int) -> None:
    law = Uniform(2, 5)
    best = alpha_star(law, depth, 40).enclosure.lower
    found = excess_loss(law, best, depth=depth, digits=25).excess
    value = Fraction(REFERENCE[f"R_T(alphaT)/uniform[2,5]/T={depth}"])
    assert abs(found.lower - value) < value / 10**20


def test_bayes_risk() -> None:
    found = excess_loss(Uniform(2, 5), "1/4", depth=1).bayes_risk
    value = Fraction(REFERENCE["E[1/Z]/uniform[2,5] (irreducible noise, E zeta^2=1)"])
    assert abs(found.lower - value) < Fraction(1, 10**22)
    assert excess_loss(SKEWED, "1/4", depth=1).bayes_risk.contains("5/8")


@pytest.mark.parametrize(
    ("depth", "logarithm"),
    [(10, -16.76610856438777), (100, -158.6876544957562), (10**5, -157692.4681734018837)],
)
def test_losses_far_below_the_smallest_float(depth: int, logarithm: float) -> None:
    best = alpha_star(SKEWED, depth, 30).enclosure.lower
    lower, _ = excess_loss(SKEWED, best, depth=depth, digits=18).excess.decimal()
    found = float(mpmath.log(mpmath.mpf(lower)))
    assert math.isclose(found, logarithm, rel_tol=1e-13)


@pytest.mark.parametrize(
    ("at_beta", "value"),
    [
        ("0", "0.1426875"),
        ("-1e-12", "0.1426875000008245125000"),
        ("-1/4", "0.2927663391374384445953"),
    ],
)
def test_the_removable_point(at_beta: str, value: str) -> None:
    found = excess_loss(SKEWED, "0.03", at_beta, depth=7, digits=25).excess
    assert abs(found.lower - Fraction(value)) < Fraction(1, 10**19)


points = st.fractions("-0.4", "0.4", max_denominator=30)


@given(points, points, st.integers(1, 9))
def test_the_gradient_is_the_slope_of_the_loss(a: Fraction, b: Fraction, depth: int) -> None:
    """Central differences with step 10^-12 in exact arithmetic, for atoms."""
    law, h = TwoPoint(2, 5, "1/3"), Fraction(1, 10**12)
    found = excess_loss(law, a, b, depth=depth, digits=20).gradient

    def loss(x: Fraction, y: Fraction) -> Fraction:
        total = Fraction(0)
        for z, w in law.atoms.items():
            s = sum((z * (1 + y * z) ** k for k in range(depth)), Fraction(0))
            total += w * (z - 1) / z * (1 - x * s) ** 2
        return total

    for entry, (dx, dy) in zip(found, ((h, 0), (0, h)), strict=True):
        slope = (loss(a + dx, b + dy) - loss(a - dx, b - dy)) / (2 * h)
        scale = 1 + abs(slope)
        assert entry.lower - scale / 10**9 <= slope <= entry.upper + scale / 10**9


@given(points.filter(bool), st.integers(1, 12))
def test_tied_and_untied_agree(a: Fraction, depth: int) -> None:
    law = ScaledBeta(2, 5, "1/2", 2)
    one = excess_loss(law, a, depth=depth, digits=20)
    two = excess_loss(law, a, -a, depth=depth, digits=20)
    assert one.excess.overlaps(two.excess)
    assert min(one.excess.digits, two.excess.digits) >= 20
    # R_T' = ∂_α - ∂_β along β = -α.
    low = two.gradient[0].lower - two.gradient[1].upper
    high = two.gradient[0].upper - two.gradient[1].lower
    assert low <= one.gradient[0].upper
    assert one.gradient[0].lower <= high


@pytest.mark.parametrize("law", [Uniform(2, 5), Ball(3, 5), SKEWED])
@pytest.mark.parametrize(("a", "b"), [("0.28", "-0.35"), ("0.1", "0.05"), ("0.3", "-0.3")])
def test_against_mpmath_on_the_definition(law: Law, a: str, b: str) -> None:
    depth = 6
    found = excess_loss(law, a, b, depth=depth, digits=20).excess
    context = mpmath.mp.clone()
    context.dps = 45
    at_a, at_b = context.mpf(a), context.mpf(b)
    value = law.expect(
        lambda z: (z - 1) / z * (1 - at_a * ((1 + at_b * z) ** depth - 1) / at_b) ** 2,
        "mpmath",
        digits=35,
    )
    lower, upper = (context.mpf(x.numerator) / x.denominator for x in (found.lower, found.upper))
    assert lower - value / 10**25 <= value <= upper + value / 10**25


def test_bad_input() -> None:
    law = Uniform(2, 5)
    with pytest.raises(InputError, match=r"write it as a string: '0\.25'"):
        excess_loss(law, 0.25, depth=3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="alpha"):
        excess_loss(law, "nan", depth=3)
    with pytest.raises(InputError, match="depth"):
        excess_loss(law, "1/4", depth=0)
    with pytest.raises(HypothesisError):
        excess_loss(Discrete({2: 1}), "1/4", depth=3)
