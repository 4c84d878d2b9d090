"""The two-parameter flow: where it ends, what is certified of it, what is refused."""

from fractions import Fraction

import pytest

from theoryverify.errors import HypothesisError, InputError, UndecidedError
from theoryverify.exact.densities import Uniform
from theoryverify.exact.laws import Discrete, TwoPoint
from theoryverify.papers.lca.flow_two import gradient_flow

pytest.importorskip("scipy")
LAW = Uniform(2, 5)


@pytest.mark.parametrize("depth", [2, 7, 40, 1000])
def test_it_ends_at_the_enclosure(depth: int) -> None:
    flow = gradient_flow(LAW, depth, "-0.2")
    assert flow.certified
    assert flow.error < 1e-9
    # α_0 is α*(β_0) and the loss there is F_T(β_0), far below the ends of the window.
    assert flow.start_loss.less_than(flow.barrier) is True


@pytest.mark.parametrize("beta0", ["-0.05", "-0.35", "-0.39"])
def test_the_limit_does_not_depend_on_the_start(beta0: str) -> None:
    assert gradient_flow(LAW, 9, beta0).error < 1e-9


@pytest.mark.parametrize("depth", [2, 10, 200])
def test_a_minimum_of_depth_zero_is_no_obstacle(depth: int) -> None:
    # Two atoms, even T: F_T(β*) = 0, where the clock of log F would be singular.
    flow = gradient_flow(TwoPoint(2, 5, "1/3"), depth, "-0.25")
    assert flow.error < 1e-9
    assert flow.limit.beta.contains("-2/7")


def test_a_start_off_the_valley() -> None:
    near = gradient_flow(LAW, 4, "-0.25", "0.26")
    assert near.certified
    assert near.error < 1e-9
    far = gradient_flow(LAW, 30, "-0.25", 1)
    assert far.end is None  # not followed in these coordinates
    assert not far.certified
    assert far.start_loss.lower > Fraction(1, 2)


def test_refusals() -> None:
    with pytest.raises(InputError, match="outside the window"):
        gradient_flow(LAW, 5, "-0.4")
    with pytest.raises(InputError, match="depth"):
        gradient_flow(LAW, 1, "-0.2")
    with pytest.raises(HypothesisError):
        gradient_flow(Discrete({2: 1}), 5, "-0.2")
    rare = Discrete({2: "0.5", 3: "0.499999", 20: "0.000001"})
    with pytest.raises(UndecidedError, match="no stationary point"):
        gradient_flow(rare, 5, "-0.05")
