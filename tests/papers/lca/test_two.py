"""The two-parameter loss: reference values, the window's cover, the constants, refusals."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theoryverify.claims.claim import Context
from theoryverify.claims.examine import run_check
from theoryverify.claims.parameters import Placed, placed
from theoryverify.claims.registry import select
from theoryverify.claims.results import CheckResult
from theoryverify.errors import HypothesisError, InputError, UndecidedError
from theoryverify.exact.balls import ball, precision
from theoryverify.exact.densities import Ball, Shell, Uniform
from theoryverify.exact.laws import Discrete, Law, Mixture, TwoPoint
from theoryverify.papers.lca.appendix_g import constants
from theoryverify.papers.lca.loss import excess_loss
from theoryverify.papers.lca.one_layer import best_by_direction, best_one_layer
from theoryverify.papers.lca.placed import depth_bound
from theoryverify.papers.lca.two import beta_star, interior_sign, profile, vanishes
from theoryverify.papers.lca.window import derivative_within, exceeds, window_cover

REFERENCE = json.loads(
    (Path(__file__).parents[2] / "data" / "lca_reference.json").read_text("utf-8")
)["values"]
LAW = Uniform(2, 5)
RARE = Discrete({2: "0.5", 3: "0.499999", 20: "0.000001"})


def near(found: object, text: str, digits: int = 18) -> bool:
    value = Fraction(text)
    slack = max(abs(value), Fraction(1, 10**30)) / 10**digits
    return value - slack <= found.lower <= found.upper <= value + slack  # type: ignore[attr-defined]


@pytest.mark.parametrize("key", [k for k in REFERENCE if re.match(r"(A|B|alpha_star|F_T|G_T)", k)])
def test_profiles(key: str) -> None:
    at_beta, depth = re.search(r"beta=(.*),T=(.*)$", key).groups()  # type: ignore[union-attr]
    found = profile(LAW, at_beta, int(depth), 25)
    which = {
        "A": found.A,
        "B": found.B,
        "a": found.alpha,
        "F": found.loss,
        "G": found.log_derivative,
    }[key[0]]
    assert near(which, REFERENCE[key])


@pytest.mark.parametrize("key", [k for k in REFERENCE if re.match(r"betaT/uniform", k)])
def test_beta_star(key: str) -> None:
    depth = int(key.rpartition("=")[2])
    found = beta_star(LAW, depth, 22)
    assert near(found.beta, REFERENCE[key], 17)
    assert found.beta.digits >= 22
    if depth > 50:  # ℓ = A(α-α*)² + F_T: the rounding of α alone exceeds F_T ~ r^{2T}
        return
    # The minimum over α at β*_T, by the loss itself.
    direct = excess_loss(LAW, found.alpha.lower, found.beta.lower, depth=depth, digits=20).excess
    assert near(direct, str(found.loss.lower), 15)


@pytest.mark.parametrize("weight", ["1/2", "1/100"])
@pytest.mark.parametrize(
    ("depth", "value"),
    [(3, "-0.264110105645932644776302"), (5, "-0.272757801612610508456959")],
)
def test_two_atoms_at_odd_depth(depth: int, value: str, weight: str) -> None:
    assert near(beta_star(TwoPoint(2, 5, weight), depth, 24).beta, value, 22)


@pytest.mark.parametrize("depth", [2, 4, 10])
def test_two_atoms_at_even_depth(depth: int) -> None:
    found = beta_star(TwoPoint(2, 5, "1/3"), depth, 20)
    assert found.beta.contains("-2/7")
    assert found.loss.contains(0)
    assert found.loss.upper < Fraction(1, 10**25)


def test_where_the_loss_is_0_its_logarithm_has_no_derivative() -> None:
    law, middle = TwoPoint(2, 5, "1/3"), Fraction(-2, 7)
    found = profile(law, middle, 100)
    assert found.loss.lower == found.loss.upper == 0
    assert found.log_derivative is None
    u = Fraction(3, 7) ** 100
    assert found.alpha.contains(-middle / (1 - u))  # -β(1-m)/(1-m)²
    for elsewhere in (
        profile(law, middle, 101),
        profile(law, middle + Fraction(1, 100), 100),
        profile(Discrete({2: "1/3", 3: "1/3", 5: "1/3"}), middle, 100),
        profile(Mixture([("1/2", law), ("1/2", LAW)]), middle, 100),
    ):
        assert elsewhere.loss.lower > 0
        assert elsewhere.log_derivative is not None


def exact_loss(law: Discrete, beta: Fraction, depth: int) -> Fraction:
    """``E[W]V/D`` in rationals, from the definition."""
    share = {z: mass * (z - 1) / z for z, mass in law.atoms.items()}
    mean = sum(share.values(), Fraction(0))
    m, Q = (sum(share[z] * (1 + beta * z) ** (k * depth) for z in share) / mean for k in (1, 2))
    return mean * (Q - m**2) / (1 - 2 * m + Q)


@given(
    st.sampled_from(
        [TwoPoint(2, 5), TwoPoint("3/2", 4, "1/9"), Discrete({2: "1/2", 3: "1/4", 5: "1/4"})]
    ),
    st.integers(1, 6),
    st.sampled_from([Fraction(-2, 7), Fraction(-4, 11), Fraction(-1, 3), Fraction(-1, 5)]),
)
def test_the_loss_vanishes_where_it_is_said_to(law: Discrete, depth: int, beta: Fraction) -> None:
    assert vanishes(law, beta, depth) == (exact_loss(law, beta, depth) == 0)


def test_the_root_of_the_loss_has_no_limit_in_the_middle_of_two_atoms() -> None:
    """Lemma G.8 (iv) needs mass inside the support there: φ = 3/7, F_T^{1/2T} is 0 or near it."""
    law, middle = TwoPoint(2, 5, "1/3"), Fraction(-2, 7)
    assert exact_loss(law, middle, 10) == 0
    assert abs(float(exact_loss(law, middle, 11)) ** (1 / 22) - 0.4156) < 5e-5
    assert abs(float(exact_loss(law, middle, 101)) ** (1 / 202) - 0.4271) < 5e-5
    inner = Discrete({2: "1/3", 3: "1/3", 5: "1/3"})
    for depth in (399, 400):
        assert abs(float(exact_loss(inner, middle, depth)) ** (1 / (2 * depth)) - 3 / 7) < 2e-3


atoms = st.tuples(
    st.fractions("1.1", 3, max_denominator=10),
    st.fractions("0.3", 3, max_denominator=10),
    st.fractions("0.1", "0.9", max_denominator=10),
)


@settings(max_examples=12)
@given(atoms, st.integers(2, 9))
def test_the_cover_agrees_with_a_dense_grid(raw: tuple, depth: int) -> None:
    """Exact rational signs of F_T' on a grid change exactly once, inside the cover's cell."""
    low, gap, weight = raw
    law = Discrete({low: weight / 2, low + gap / 3: weight / 2, low + gap: 1 - weight})
    cover = window_cover(law, depth)

    def slope_sign(t: Fraction) -> int:
        mean = sum(w * (z - 1) / z for z, w in law.atoms.items())
        mu = {z: w * (z - 1) / z / mean for z, w in law.atoms.items()}
        q = {z: 1 - t * z for z in mu}
        m = sum(w * q[z] ** depth for z, w in mu.items())
        Q = sum(w * q[z] ** (2 * depth) for z, w in mu.items())
        first = sum(w * z * q[z] ** (2 * depth - 1) for z, w in mu.items())
        second = sum(w * z * q[z] ** (depth - 1) for z, w in mu.items())
        value = first * (1 - m) - second * (m - Q)
        return (value > 0) - (value < 0)

    grid = [cover.upper * Fraction(k, 101) for k in range(1, 102)]
    signs = [slope_sign(t) for t in grid]
    changes = sum(x != y for x, y in pairwise(signs) if 0 not in (x, y))
    assert signs[0] == 1
    assert changes <= len(cover.cells) <= 1
    if cover.cells:
        start, stop = cover.cells[0]
        assert slope_sign(start) == 1 or start == 0
        assert slope_sign(stop) == -1
        if interior_sign(law, depth) == -1:
            inside = beta_star(law, depth, 10).beta
            assert start <= -inside.upper
            assert -inside.lower <= stop


def test_the_window_fails_at_small_depth() -> None:
    for depth in (2, 10, 21):
        assert interior_sign(RARE, depth) == 1
        assert window_cover(RARE, depth).cells == ()
        with pytest.raises(UndecidedError, match="no stationary point"):
            beta_star(RARE, depth)
    assert interior_sign(RARE, 22) == -1
    assert len(window_cover(RARE, 22).cells) == 1
    # Outside the window the minimum is there: t* = 0.3775555 at T = 2.
    outside = window_cover(RARE, 2, upper="0.45")
    assert len(outside.cells) == 1
    start, stop = outside.cells[0]
    assert start < Fraction("0.3775555") < stop


@pytest.mark.parametrize("law", [LAW, Ball(4, 5), Shell(7, 2, 5)], ids=repr)
def test_levels_over_intervals(law: Law) -> None:
    """F_T exceeds 0.9 times its minimum everywhere, and does not exceed 1.1 times it."""
    depth = 6
    minimum = beta_star(law, depth, 15).loss
    with precision(128):
        below, above = ball(Fraction(9, 10)) * minimum.ball(), ball("1.1") * minimum.ball()
    window = 2 / law.upper
    assert exceeds(law, depth, below, Fraction(0), window) is True
    assert exceeds(law, depth, above, Fraction(0), window) is False


def test_against_mpmath() -> None:
    """F_T and its derivative by mpmath's own expectation and numerical differentiation."""
    law, depth = Ball(3, 4), 5
    context = mpmath.mp.clone()
    context.dps = 40

    def F(at: object) -> object:
        W = lambda z: (z - 1) / z  # noqa: E731
        mean = law.expect(W, "mpmath", digits=30)
        m = law.expect(lambda z: W(z) * (1 + at * z) ** depth, "mpmath", digits=30) / mean
        Q = law.expect(lambda z: W(z) * (1 + at * z) ** (2 * depth), "mpmath", digits=30) / mean
        return mean * (Q - m**2) / (1 - 2 * m + Q)

    at = context.mpf("-0.3")
    found = profile(law, "-0.3", depth, 20)
    assert abs(F(at) / context.mpf(str(float(found.loss))) - 1) < 1e-12
    step = context.mpf("1e-8")
    slope = (F(at + step) - F(at - step)) / (2 * step) / (2 * depth * F(at))
    assert abs(slope / float(found.log_derivative) - 1) < 1e-10


def test_constants_refuse_what_they_do_not_cover() -> None:
    for beta0 in (0, "-0.4", "0.1", "-1"):
        with pytest.raises(InputError, match="outside the window"):
            constants(LAW, beta0)
    with pytest.raises(InputError, match="points need"):
        constants(LAW, "-0.2", 4, 3)
    with pytest.raises(HypothesisError):
        constants(Discrete({2: 1}), "-0.2")


def test_depth_one_is_refused() -> None:
    with pytest.raises(InputError, match="does not depend on beta"):
        beta_star(LAW, 1)
    with pytest.raises(InputError, match="beta = 0"):
        profile(LAW, 0, 3)


def test_one_layer_values() -> None:
    for law, value in (
        (LAW, "0.0366750191998430484475962"),
        (Uniform("1.5", 3), "0.0170685462933697937218453"),
    ):
        assert near(best_one_layer(law, 30).excess, value, 21)
    both = best_by_direction([("1/2", Uniform(2, "2.1")), ("1/2", Uniform("4.9", 5))])
    assert Fraction("6.42e-5") < both.lower < Fraction("6.43e-5")
    with pytest.raises(InputError, match="sum to 1"):
        best_by_direction([("1/2", LAW)])


def test_the_derivative_is_within_its_supremum_and_no_less() -> None:
    """Lemma G.9's suprema on K for U[2,5]: .418 and .214 at T = 10 and 30."""
    for depth, inside, outside in ((10, "0.42", "0.417"), (30, "0.22", "0.213")):
        low, high = Fraction("0.02"), Fraction("0.27")
        assert derivative_within(LAW, depth, Fraction(inside), Fraction(2), low, high) is True
        assert derivative_within(LAW, depth, Fraction(outside), Fraction(2), low, high) is False


# -- the claims ---------------------------------------------------------------------------------


def claim_at(name: str, **given: str) -> tuple[Placed, list[CheckResult]]:
    here = placed(select([name])[0][name], given)
    results = [run_check(here.claim, c, Context(parameters=given)) for c in here.claim.checks]
    return here, results


def test_theorem_6_3_is_looked_at_where_it_speaks() -> None:
    """Each default case meets its hypotheses: T is at least T'(β₀)."""
    claim = select(["lca.6.3"])[0]["lca.6.3"]
    cases = [case for check in claim.checks for case in check.cases]
    assert cases
    for case in cases:
        assert [h.name for h in claim.hypotheses if h.failure(case)] == []
        assert case.depth >= depth_bound(case.law, case.start)


def test_theorem_6_3_without_a_depth_is_asked_at_the_least_one() -> None:
    here, (result,) = claim_at("lca.6.3", law="ball(4,3)")
    assert here.cases[0].depth == depth_bound(Ball(4, 3), Fraction(-1, 3)) == 37
    assert (str(result.verdict), result.sound) == ("holds", True)
    assert "T = 37" in result.scope


def test_what_a_deep_window_holds_rests_on_uniqueness() -> None:
    here, (result,) = claim_at("lca.6.3", law="uniform(2,5)", depth="300")
    assert str(result.verdict) == "holds"
    assert "every β" not in result.scope
    assert "lca.uniqueness" in result.scope
    assert "lca.uniqueness" in here.claim.depends_on
    assert "lca.uniqueness" in select(["lca.G.10"])[0]["lca.G.10"].depends_on


def test_the_ends_of_the_window_at_a_large_depth() -> None:
    """An exact level: a ball's width would be multiplied by coefficients of order ``6^{2T}``."""
    _, (result,) = claim_at("lca.G.4", law="uniform(2,5)", depth="100")
    assert (str(result.verdict), result.sound) == ("holds", True)


@pytest.mark.parametrize("beta0", ["0", "-2/5", "1/5", "-1"])
def test_a_start_outside_the_window_is_outside(beta0: str) -> None:
    here, results = claim_at("lca.G.6", law="uniform(2,5)", beta0=beta0)
    assert [row["name"] for row in here.hypotheses() if not row["met"]] == ["start in the window"]
    assert results
    for result in results:
        assert str(result.verdict) == "outside"
        assert "is not between -2/Z̄ = -2/5 and 0" in result.why
