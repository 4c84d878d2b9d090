"""What the claims on gradient flow say of its times, against numbers of other laws and depths."""

import math

import pytest

from theoryverify.exact.densities import Ball, ScaledBeta, Uniform
from theoryverify.exact.laws import Law, TwoPoint
from theoryverify.papers.lca.training_time import relaxation_time


@pytest.mark.parametrize(
    ("law", "exponent"),
    [
        (Uniform(2, 5), -1),  # k = 0, 0
        (Uniform(1, 5), -1 / 6),  # k = 1, 0
        (TwoPoint(2, 5, "1/3"), -2),  # k = -1, -1
        (ScaledBeta(2, 4, 2, 1), -1 / 3),  # k = 1, 0
        (Ball(3, 4), 1 / 5),  # k = 3/2, 0
    ],
    ids=str,
)
def test_power_of_depth_in_the_relaxation_time(law: Law, exponent: float) -> None:
    rate = math.log((law.upper - law.lower) / (law.upper + law.lower))
    logs = []
    for depth in (800, 3200):
        time = relaxation_time(law, depth).lower  # an exact number, far beyond a float
        logs.append(math.log(time.numerator) - math.log(time.denominator) + 2 * depth * rate)
    assert (logs[1] - logs[0]) / math.log(4) == pytest.approx(exponent, abs=0.01)
