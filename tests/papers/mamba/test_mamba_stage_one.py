"""Stage I's query factors and gradient, and the feature after one step."""

import math

import numpy as np
import pytest
from flint import arb

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.balls import precision
from theoryverify.exact.gate import Gate
from theoryverify.papers.mamba.links import HE2, HE3, HE4, MIX
from theoryverify.papers.mamba.one_step import one_step_feature, stated_feature
from theoryverify.papers.mamba.population import Population
from theoryverify.papers.mamba.stage_one import (
    ALL_ONES,
    LINEAR_ONLY,
    STARTS,
    StageOne,
    Start,
    gaussian_integral,
    positive_set,
)


def step(g, rho, b, start=ALL_ONES, tokens=None, noise=0):
    return StageOne(Population(g, Gate(rho, b, noise)), start, tokens)


@pytest.mark.parametrize(
    ("g", "rho", "expected"),
    [
        (MIX, 16, (0.207, 0.124, 0.569)),
        (HE4, 60, (-0.216, 0, 0.141)),
        (HE3, 24, (-0.0334, 0.1320, 0.0074)),
    ],
)
def test_query_factors(g, rho, expected):
    at = step(g, rho, -9)
    for k, value in enumerate(expected):
        assert float(at.query_factor(k).total) == pytest.approx(value, abs=6e-4)


@pytest.mark.parametrize("start", STARTS)
def test_query_factors_on_a_grid(start):
    """Against sums over a fine grid, kinks and all: the step bounds the error."""
    at = step(MIX, 4, -2, STARTS[start], tokens=10)
    z = np.arange(-12, 12, 1e-5) + 5e-6
    w = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * 1e-5
    gamma = [float(v) for v in at.start]
    c = [float(v) * float(at.factor) for v in at.context_factors]
    M = gamma[0] * c[0] + gamma[1] * c[1] * z + gamma[2] * c[2] * (z * z - 1) / math.sqrt(2)
    g = ((z * z - 1) / math.sqrt(2) + (z**3 - 3 * z) / math.sqrt(6)) / math.sqrt(2)
    for k, he in enumerate((1.0, z, (z * z - 1) / math.sqrt(2))):
        found = at.query_factor(k)
        assert float(found.label) == pytest.approx((w * g * he * (M > 0)).sum(), abs=2e-5)
        assert float(found.own) == pytest.approx((w * he * np.maximum(M, 0)).sum(), abs=1e-8)


def test_gradient_is_a_product_of_factors():
    at = step(HE3, 4, -2, tokens=100, noise="1/4")
    found = at.gradient(5, eta=3)
    c = [float(v) for v in at.context_factors]
    K = [float(at.query_factor(k).total) for k in range(3)]
    scale = 3 * float(at.factor)
    assert float(found.constant) == pytest.approx(scale * c[0] * K[0], rel=1e-12)
    assert float(found.linear) == pytest.approx(scale * c[1] * K[1] / 5, rel=1e-12)
    assert float(found.diagonal) == pytest.approx(scale * 3 * c[2] * K[2] / 35, rel=1e-12)
    assert float(found.pair) == pytest.approx(scale * 2 * c[2] * K[2] / 35, rel=1e-12)


@pytest.mark.parametrize(
    ("quadratic", "inside", "outside"),
    [
        ((-1, 0, 1), (-2, 2, 1.5), (0, 0.9, -0.9)),
        ((2, -3, 1), (0, 3, 0.5), (1.5, 1.1, 1.9)),
        ((2, 3, 1), (-3, 0, -0.5), (-1.5, -1.1)),
        ((1, 0, -1), (0, 0.5), (2, -2)),
        ((1, 1, 1), (-9, 0, 9), ()),
        ((-1, 1, -1), (), (-9, 0, 9)),
        ((1, 2, 0), (0, 5), (-1,)),
        ((1, -2, 0), (-5, 0), (1,)),
        ((1, 0, 0), (-5, 5), ()),
        ((-1, 0, 0), (), (-5, 5)),
        ((0, 0, 0), (), (-5, 0, 5)),
        ((1e-12, 1, 1e-12), (0, 5), (-5,)),
    ],
)
def test_positive_set(quadratic, inside, outside):
    with precision(128):
        where = positive_set([arb(c) for c in quadratic])

        def positive(x):
            return any((a is None or a < x) and (b is None or b > x) for a, b in where)

        assert all(positive(x) for x in inside)
        assert not any(positive(x) for x in outside)


def test_an_undecided_sign_is_said_so():
    with precision(64), pytest.raises(UndecidedError, match="curvature"):
        positive_set([arb(1), arb(1), arb(0, 1e-20)])
    with precision(64), pytest.raises(UndecidedError, match="discriminant"):
        positive_set([arb(1), arb(2), arb(1, 1e-15)])


def test_gaussian_integral_of_moments():
    with precision(128):
        whole = [gaussian_integral([arb(0)] * n + [arb(1)], [(None, None)]) for n in range(9)]
        assert [round(float(v), 12) for v in whole] == [1, 0, 1, 0, 3, 0, 15, 0, 105]
        parts = [(None, arb("0.3")), (arb("0.3"), arb("1.7")), (arb("1.7"), None)]
        pieces = gaussian_integral([arb(1), arb(2), arb(3), arb(4), arb(5)], parts)
        assert (pieces - (1 + 3 + 15)).contains(0)
        half = gaussian_integral([arb(0), arb(1)], [(arb(0), None)])
        assert (half * (2 * arb.pi()).sqrt() - 1).contains(0)


def test_shares_of_the_feature_against_a_sample():
    """he_3 at r = 3: regression on 400,000 points; the share is 0.0x, known to ±1%."""
    rng, r = np.random.default_rng(1), 3
    at = step(HE3, 24, -9)
    c = [float(v) for v in at.context_factors]
    K = [float(at.query_factor(k).total) for k in range(3)]
    beta = rng.standard_normal((400_000, r))
    beta /= np.linalg.norm(beta, axis=1, keepdims=True)
    x = rng.standard_normal(beta.shape)
    z, S = (beta * x).sum(1), (beta**2 * x**2).sum(1)
    s = math.sqrt(2) * c[2] ** 2 * K[2] / (r * (r + 2))
    feature = c[0] ** 2 * K[0] + c[1] ** 2 * K[1] * z / r + s * (z**2 + S / 2 - 1.5)
    found = one_step_feature(at, r)
    assert np.corrcoef(feature, z)[0, 1] ** 2 == pytest.approx(float(found.share), abs=0.01)
    rest = feature - float(found.P_1) - float(found.P_2) * z / r
    assert rest.std() == pytest.approx(float(found.remainder), rel=0.02)
    assert abs(rest.mean()) <= 0.01 * rest.std()


def test_feature_of_an_even_link():
    found = one_step_feature(step(HE4, 60, -9), 8)
    assert found.ge == 2
    assert found.share.contains("529/550")
    assert one_step_feature(step(HE2, 4, -2), 1).share.contains(1)


def test_bad_input():
    with pytest.raises(InputError, match="polynomial link"):
        step("sin(z)", 4, -2)
    with pytest.raises(InputError, match="N"):
        step(HE3, 4, -2, tokens=0)
    with pytest.raises(InputError, match="linear"):
        step(HE3, 4, -2, Start(1, 0.5, 1))
    with pytest.raises(InputError, match="k"):
        step(HE3, 4, -2).query_factor(-1)
    with pytest.raises(InputError, match="r ="):
        step(HE3, 4, -2, LINEAR_ONLY).gradient(0)
    with pytest.raises(InputError, match="ge = 3"):
        stated_feature(3)
