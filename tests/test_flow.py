"""Gradient flow: two integrators, certified times, failures that are errors."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from theoryverify.errors import HypothesisError, InputError
from theoryverify.exact.balls import Enclosure, precision
from theoryverify.exact.densities import Ball, Shell, Uniform
from theoryverify.exact.laws import Discrete, Mixture, TwoPoint
from theoryverify.flow import (
    CURVATURE,
    TIME,
    Coordinates,
    FlowError,
    Jet,
    Status,
    gradient_flow,
    log_loss_clock,
)
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.flow import FloatLoss, ascent, run, without_w
from theoryverify.papers.lca.flow import gradient_flow as lca_flow
from theoryverify.papers.lca.training_time import (
    position_after,
    predicted_time,
    relaxation_time,
    time_between,
    time_to_level,
)
from theoryverify.passage import Speed, arrival, passage_time
from theoryverify.steppers import radau_rule, solve

U25 = Uniform(2, 5)
ATOMS = TwoPoint("3/2", 4, "9/10")
LAWS = {"uniform": U25, "atoms": ATOMS}


def relative(value: float, exact: float) -> float:
    return abs(value - exact) / abs(exact)


# -- the orbit ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("law", "depth", "start"),
    [
        ("uniform", 1, "0.02"),
        ("uniform", 2, "-1/2"),
        ("uniform", 10, "0.02"),
        ("uniform", 30, "2"),
        ("uniform", 200, "0.285"),
        ("uniform", 1000, "0.02"),
        ("atoms", 8, "2"),
        ("atoms", 1000, "0.3"),
    ],
)
def test_both_integrators_end_at_alpha_star(law, depth, start):
    flow = lca_flow(LAWS[law], depth, start, digits=16)
    assert flow.arrived
    assert [run.status for run in flow.runs] == [Status.CONVERGED] * 2
    assert flow.errors[0] <= 2e-11
    assert flow.errors[1] <= 1e-15


def test_laws_without_elementary_expectations_and_mixtures():
    for law in (Ball(5, 5), Mixture([("1/2", TwoPoint(2, 3)), ("1/2", Uniform(2, 5))])):
        flow = lca_flow(law, 6, "0.2", digits=10)
        assert flow.arrived, (law, flow.errors)


def test_the_flow_without_w_ends_elsewhere_and_ascent_nowhere():
    for method in ("radau", "collocation"):
        other = run(U25, 5, "0.02", method=method, digits=15, loss=without_w(U25, 5, method))
        assert other.status is Status.CONVERGED
        star = float(alpha_star(U25, 5).enclosure)
        assert relative(float(other.end[0]), star) > 1e-3
    up = run(U25, 5, "0.25", loss=ascent(FloatLoss(U25, 5)), max_steps=60)
    assert up.status is not Status.CONVERGED
    with pytest.raises(FlowError):
        up.require()


@pytest.mark.parametrize(
    ("depth", "start", "time", "expected"),
    [
        (8, "2", 5, 0.39946030411087475769),
        (2, "0.1", 5, 0.3751421149120567573193),
        (5, "0.1", 50, 0.3673975111321810151477),
        (20, "0.1", 1000, 0.2035234617590562972394),
        (1, "0.1", 1, 0.3929446762431972675292),
    ],
)
def test_positions_in_the_flows_own_time(depth, start, time, expected):
    """Stiff starts (slope -2e13) and loose default tolerances have given 2 and 3 right digits."""
    result = run(ATOMS, depth, start, clock=TIME, until=time).require(Status.STOPPED)
    assert relative(result.end[0], expected) <= 3e-8


@pytest.mark.parametrize(
    ("depth", "start", "time", "expected"),
    [
        (8, "2", 5, "0.39946030411087475769"),
        (8, "2", 10, "0.39227137229112754382"),
        (2, "0.1", 5, "0.3751421149120567573193"),
        (5, "0.1", 50, "0.3673975111321810151477"),
        (20, "0.1", 1000, "0.2035234617590562972394"),
        (1, "0.1", 1, "0.3929446762431972675292"),
    ],
)
def test_positions_are_enclosed(depth, start, time, expected):
    where = position_after(ATOMS, depth, start, time, digits=18)
    assert where.digits >= 17
    # The expected decimals are rounded in their last place.
    assert abs(Fraction(expected) - where.lower) <= Fraction(1, 10**17)


def test_linear_flow_in_closed_form():
    """S22: at T = 1, α(t) = α* + (α0-α*) exp(-2E[Z(Z-1)]t)."""
    law = Discrete({"3/2": "9/10", 4: "1/10"})
    with precision(120):
        exact = arb("0.4") + (arb("0.1") - arb("0.4")) * (-2 * arb("1.875")).exp()
        assert position_after(law, 1, "0.1", 1, digits=25).overlaps(Enclosure.of(exact))
    precise = run(law, 1, "0.1", clock=TIME, until=1, method="collocation", digits=25).require()
    assert abs(precise.end[0] - exact) < arb(10) ** -23


def test_own_time_stalls_and_says_so():
    """At T = 30 nothing arrives in the flow's own time; a stall must not pass for an arrival."""
    result = run(U25, 30, "0.02", clock=TIME, max_steps=300)
    assert result.status is not Status.CONVERGED
    with pytest.raises(FlowError, match="steps"):
        result.require()


def test_a_short_newton_step_of_the_loss_alone_is_no_arrival():
    """For ℓ ~ q^{2T} it is q/(2T): at T = 10^5 it is below 1e-4 anywhere on the way."""
    loss, start = FloatLoss(U25, 100_000), 0.1 - 2 / 7
    jet = loss([start])
    assert abs(jet.gradient[0] / jet.hessian[0][0]) < 1e-5
    result = gradient_flow(
        loss, [start], clock=log_loss_clock(200_000), close=1e-4, scale=2 / 7, tolerance=1e-6
    ).require(Status.CONVERGED)
    assert abs(result.x[-1][0]) < 1e-4


def test_elapsed_time_agrees_with_the_certified_time():
    for method in ("radau", "collocation"):
        result = run(U25, 6, "0.02", method=method, digits=15).require()
        middle = next(i for i, x in enumerate(result.parameters) if float(x[0]) > 0.25)
        reached = result.parameters[middle][0]
        exact = time_between(U25, 6, "0.02", Fraction(float(reached)), 12)
        assert relative(result.log_time[middle], math.log(float(exact))) <= 1e-6


# -- generic: dimensions, clocks, coordinates ----------------------------------------------------


def rosenbrock(x):
    a, b = x
    return Jet(
        (1 - a) ** 2 + 5 * (b - a * a) ** 2,
        [-2 * (1 - a) - 20 * a * (b - a * a), 10 * (b - a * a)],
        [[2 - 20 * (b - a * a) + 40 * a * a, -20 * a], [-20 * a, 10 + 0 * a]],
    )


def crossing(points, target=0.5):
    """The second coordinate where the first passes ``target``."""
    points = np.array(points)
    index = int(np.argmax(points[:, 0] > target))
    (a0, b0), (a1, b1) = points[index - 1], points[index]
    return b0 + (target - a0) / (a1 - a0) * (b1 - b0)


def test_two_dimensions_and_the_orbit_does_not_depend_on_the_clock():
    point, orbit = np.array([-1.0, 1.0]), []
    for _ in range(3000):  # an explicit method with tiny steps, as a third opinion
        middle = point - 1e-3 * np.array(rosenbrock(point).gradient)
        point = point - 2e-3 * np.array(rosenbrock(middle).gradient)
        orbit.append(point)
    for clock in (TIME, CURVATURE, log_loss_clock()):
        result = gradient_flow(
            rosenbrock, [-1.0, 1.0], clock=clock, tolerance=1e-8, close=1e-8, max_steps=1000
        )
        assert crossing(result.x) == pytest.approx(crossing(orbit), abs=2e-3), clock.name
        if clock in (TIME, CURVATURE):  # the loss ends at zero, its logarithm nowhere
            assert result.status is Status.CONVERGED
            assert np.allclose(result.end, 1, atol=1e-7)


class UntiedLoss:
    """The two-parameter loss in ``(κ, β)``, ``κ = 1 + α/β``: residual ``κ + (1-κ)(1+βZ)^T``."""

    def __init__(self, depth):
        nodes, weights = np.polynomial.legendre.leggauss(60)
        self.z, self.w, self.T = 3.5 + 1.5 * nodes, weights / 2, depth

    def __call__(self, x):
        kappa, beta = (float(entry) for entry in x)
        z, T = self.z, self.T
        q, mean = 1 + beta * z, lambda f: float(self.w @ ((z - 1) / z * f))
        u, du, ddu = q**T, T * z * q ** (T - 1), T * (T - 1) * z**2 * q ** (T - 2)
        rho, r = kappa + (1 - kappa) * u, (1 - u, (1 - kappa) * du)
        second = ((0 * u, -du), (-du, (1 - kappa) * ddu))
        return Jet(
            mean(rho**2),
            [2 * mean(rho * part) for part in r],
            [[2 * mean(r[i] * r[j] + rho * second[i][j]) for j in (0, 1)] for i in (0, 1)],
        )

    coordinates = Coordinates(
        lambda x: [x[1] * (x[0] - 1), x[1]], lambda x: [[x[1], x[0] - 1], [0.0, 1.0]]
    )


@pytest.mark.parametrize(
    ("depth", "beta"),
    [
        (2, -0.275),
        (3, -0.27233800481532657661359),
        (10, -0.28212926058379541929157),
    ],
)
def test_the_two_parameter_flow_fits(depth, beta):
    loss = UntiedLoss(depth)
    result = gradient_flow(
        loss,
        [0.1, -0.2],
        clock=log_loss_clock(2 * depth),
        coordinates=loss.coordinates,
        tolerance=1e-7,
        close=1e-8,
    ).require(Status.CONVERGED)
    assert relative(result.end[1], beta) <= 1e-7


def test_steepest_descent_is_that_of_the_parameters():
    """In stretched coordinates θ = 3x the orbit of θ, and its time, are the same."""
    plain = gradient_flow(lambda x: Jet(x[0] ** 2 / 2, [x[0]], [[1.0]]), [6.0], until=1.5)
    stretched = gradient_flow(
        lambda x: Jet(9 * x[0] ** 2 / 2, [9 * x[0]], [[9.0]]),
        [2.0],
        until=1.5,
        coordinates=Coordinates(lambda x: [3 * x[0]], lambda x: [[3.0]]),
    )
    assert plain.end[0] == pytest.approx(6 * math.exp(-1.5), rel=1e-8)
    assert stretched.end[0] == pytest.approx(plain.end[0], rel=1e-8)


def test_saddles_and_nan_are_no_arrivals():
    saddle = gradient_flow(
        lambda x: Jet(x[0] ** 2 - x[1] ** 2 + 1, [2 * x[0], -2 * x[1]], [[2.0, 0.0], [0.0, -2.0]]),
        [1.0, 0.0],
        max_steps=50,
    )
    assert saddle.status is not Status.CONVERGED
    broken = gradient_flow(lambda x: Jet(math.nan, [math.nan], [[math.nan]]), [1.0])
    assert broken.status is Status.NOT_FINITE
    with pytest.raises(FlowError, match="not finite"):
        broken.require()


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"start": []}, "at least one"),
        ({"start": [math.nan]}, "not finite"),
        ({"tolerance": 1e-20}, "tolerance = 1e-20"),
        ({"close": math.nan}, "close = nan"),
        ({"until": -1}, "until = -1"),
        ({"method": "rk45"}, "'radau' or 'collocation'"),
        ({"scale": 0.0}, "scale = 0.0"),
        ({"max_steps": 0}, "max_steps"),
        ({"digits": 2}, "digits"),
    ],
)
def test_bad_input_is_refused_before_work(arguments, match):
    def forbidden(x):
        raise AssertionError("the loss was evaluated")

    with pytest.raises(InputError, match=match):
        gradient_flow(forbidden, **{"start": [1.0], **arguments})


# -- the integrators -----------------------------------------------------------------------------


def test_radau_rule_meets_its_order_conditions():
    """``b·c^{k-1} = 1/k`` up to k = 2K-1 and no further, ``A c^{k-1} = c^k/k`` up to K."""
    stages = 6
    rule = radau_rule(stages, 200)
    c, b = rule.nodes, rule.matrix[-1]

    def quadrature(k):
        return abs(sum(w * x ** (k - 1) for w, x in zip(b, c, strict=True)) - arb(1) / k)

    with precision(200):
        assert all(quadrature(k) < arb(10) ** -50 for k in range(1, 2 * stages))
        assert quadrature(2 * stages) > arb(10) ** -12
        for k in range(1, stages + 1):
            for row, x in zip(rule.matrix, c, strict=True):
                left = sum(a * y ** (k - 1) for a, y in zip(row, c, strict=True))
                assert abs(left - x**k / k) < arb(10) ** -50


def test_collocation_reaches_the_digits_it_was_asked_for():
    """On ℓ = θ⁴/4 from 1, θ(t) = (1+2t)^{-1/2}."""

    def quartic(x):
        return Jet(x[0] ** 4 / 4, [x[0] ** 3], [[3 * x[0] ** 2]])

    for digits in (12, 30, 60):
        end = gradient_flow(quartic, [arb(1)], until=4, method="collocation", digits=digits).end[0]
        with precision(300):
            assert abs(end - arb(1) / 3) < arb(10) ** (2 - digits), digits


def test_collocation_sees_a_sharp_bend():
    """ℓ = √(θ²+ε²): full speed until |θ| ~ ε = 1e-3, then a sudden approach.

    ``t(θ) = [√(θ²+ε²) - ε arsinh(ε/θ)]`` between θ and the start.
    """
    with precision(200):
        small = arb("0.001")

    def bend(x):
        root = (x[0] ** 2 + small**2).sqrt()
        return Jet(root.mid(), [(x[0] / root).mid()], [[(small**2 / root**3).mid()]])

    def passed(theta):
        return (theta**2 + small**2).sqrt() - small * (small / theta).asinh()

    with precision(200):
        until = (passed(arb(1)) - passed(arb("0.0001"))).mid()
    for digits in (12, 25):
        end = gradient_flow(bend, [arb(1)], until=until, method="collocation", digits=digits).end[0]
        with precision(200):
            assert abs(end - arb("0.0001")) < arb(10) ** (1 - digits), digits


def test_solve():
    assert solve([[0.0, 2.0], [4.0, 1.0]], [6.0, 7.0]) == [1.0, 3.0]
    with pytest.raises(ZeroDivisionError):
        solve([[1.0, 1.0], [1.0, 1.0]], [1.0, 2.0])


# -- certified times -----------------------------------------------------------------------------

LINEAR = Speed(lambda x: 1 - x, lambda m, radius: radius)
"""``dx/dt = 1-x``: the time from 0 to x is ``-log(1-x)``."""


def test_passage_time_of_a_linear_flow():
    for digits in (5, 15, 60):
        time = passage_time(LINEAR, Fraction(0), Fraction(999, 1000), digits)
        assert time.digits >= digits - 1
        with precision(400):
            assert time.overlaps(Enclosure.of(arb(1000).log()))
    assert float(passage_time(LINEAR, Fraction(1, 2), Fraction(1, 2))) == 0


def test_passage_time_of_a_power_law():
    """``dx/dt = (1-x)^9`` on a stretch where the speed falls by 10^18."""

    def variation(m, radius):
        return (1 - m + radius) ** 9 - (1 - m) ** 9

    time = passage_time(
        Speed(lambda x: (1 - x) ** 9, variation), Fraction(0), Fraction(99, 100), 25
    )
    assert time.contains(Fraction(100**8 - 1, 8))
    assert time.digits >= 24


def test_arrival_inverts_passage():
    where = arrival(LINEAR, Fraction(0), 1 - Fraction(1, 10**40), Fraction(3), 20)
    with precision(200):
        assert where.overlaps(Enclosure.of(1 - (-arb(3)).exp()))
    assert where.digits >= 19
    with pytest.raises(InputError, match="10 digits"):
        arrival(LINEAR, Fraction(0), Fraction(1, 2), Fraction(3), 10)


@pytest.mark.parametrize(
    ("depth", "expected", "tolerance"),
    [
        (4, 13.22453904437996318643, 1e-15),
        (8, 5249.5, 1e-5),
        (16, 1.5726e9, 3e-5),
        (32, 2.98e20, 3e-3),
    ],
)
def test_time_to_level(depth, expected, tolerance):
    """T = 4 by mpmath's quadrature at 40 digits as well."""
    result = time_to_level(U25, depth, digits=15)
    assert result.enclosure.digits >= 14
    assert relative(float(result.enclosure), expected) <= tolerance
    assert result.target.overlaps(Enclosure.of(_times(alpha_star(U25, depth).enclosure, "0.99")))


def _times(enclosure, factor):
    with precision(100):
        return enclosure.ball() * arb(factor)


def test_time_to_level_from_above_and_for_other_laws():
    above = time_to_level(U25, 4, "1/2", "1.01", 12).enclosure
    pieces = time_between(U25, 4, "1/2", "0.3", 12)
    assert above.less_than(pieces) is False
    assert time_to_level(Shell(3, 2, 5), 3, digits=8).enclosure.digits >= 7


@settings(max_examples=15, deadline=None, derandomize=True)
@given(
    depth=st.integers(1, 12),
    first=st.fractions(Fraction(1, 50), Fraction(1, 10)),
    second=st.fractions(Fraction(11, 100), Fraction(19, 100)),
)
def test_times_add_up(depth, first, second):
    law = ATOMS
    whole = time_between(law, depth, first, "0.2", 12)
    with precision(80):
        parts = (
            time_between(law, depth, first, second, 12).ball()
            + time_between(law, depth, second, "0.2", 12).ball()
        )
        assert whole.overlaps(Enclosure.of(parts))
    assert whole.digits >= 11


def test_time_is_exponential_in_depth_as_predicted():
    """The ratio to the leading term tends to 1, for k = 0 with an error of order 1/T."""
    for law in (U25, ATOMS, Ball(4, 5)):
        errors = []
        for depth in (32, 64, 128):
            level = time_to_level(law, depth, level="0.9", digits=4).enclosure
            errors.append(abs(float(level.lower / predicted_time(law, depth, "0.9").lower) - 1))
        # Halved by each doubling, within a fifth; a wrong power of T would leave them of order 1.
        assert errors[2] < 0.1, (law, errors)
        for before, after in pairwise(errors):
            assert 0.4 < after / before < 0.6, (law, errors)


def test_relaxation_time_grows_like_r_to_the_minus_2t_over_t():
    scaled = [
        math.log(float(relaxation_time(U25, T))) + 2 * T * math.log(3 / 7) + math.log(T)
        for T in (50, 100, 200)
    ]
    assert abs(scaled[2] - scaled[1]) < abs(scaled[1] - scaled[0]) < 0.2
    # Wrong by one power of T would show as log 2 = 0.69 a doubling.
    assert abs(scaled[2] - scaled[1]) < 0.05


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: time_to_level(U25, 4, level="1"), "in no finite time"),
        (lambda: time_to_level(U25, 4, level="1.1"), "never passes"),
        (lambda: time_to_level(U25, 4, "0.5", "0.9"), "never passes"),
        (lambda: time_to_level(U25, 0), "depth = 0"),
        (lambda: time_to_level(U25, 4, 0.02), "write it as a string"),
        (lambda: time_between(U25, 4, "0.1", "0.3"), "never passes"),
        (lambda: position_after(U25, 4, "0.1", 0), "must be positive"),
        (lambda: lca_flow(U25, 4, "nan"), "not a number"),
        (lambda: lca_flow("uniform", 4), "expected a law"),
        (lambda: predicted_time(U25, 4, "1.5"), "between 0 and 1"),
    ],
)
def test_bad_input_of_the_one_parameter_flow(call, match):
    with pytest.raises(InputError, match=match):
        call()


def test_laws_outside_the_assumption_are_refused_by_name():
    with pytest.raises(HypothesisError, match=r"Assumption 6\.1"):
        lca_flow(Uniform("1/2", 2), 4)
