"""The two-parameter flow: where it ends, what is certified of it, what is refused."""

import json
import math
from fractions import Fraction

import pytest

from theoryverify.cli import main
from theoryverify.errors import HypothesisError, InputError, UndecidedError
from theoryverify.exact.densities import Uniform
from theoryverify.exact.laws import Discrete, TwoPoint
from theoryverify.flow import FlowError
from theoryverify.papers.lca.flow_two import gradient_flow
from theoryverify.papers.lca.two import profile

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


def test_even_depth_is_certified_up_to_infinity() -> None:
    flow = gradient_flow(LAW, 2, "-0.2", "0.16")
    assert flow.certified
    assert not flow.in_window
    assert flow.error < 1e-9
    # F_2(∞) = E[W] - E[WZ²]²/E[WZ⁴], from the moments; and the loss far out on both sides.
    exact = 1 - math.log(2.5) / 3 - 9.5**2 / 155.45
    assert float(flow.barrier) == pytest.approx(exact, rel=1e-12)
    for far in (10**8, -(10**8)):
        assert float(flow.barrier) == pytest.approx(float(profile(LAW, far, 2).loss), rel=1e-6)
    # A start above F_2(∞), and one that is only below it, at an odd depth.
    assert not gradient_flow(LAW, 2, "-0.2", "0.1").certified
    odd = gradient_flow(LAW, 3, "-0.2", "0.16")
    assert not odd.certified
    assert odd.start_loss.less_than(flow.barrier) is True


def test_an_orbit_that_leaves_the_window() -> None:
    certified = gradient_flow(TwoPoint("3/2", 4, "9/10"), 2, "-0.005", "0.072")
    assert certified.certified
    assert certified.end is None
    with pytest.raises(FlowError, match="beta"):
        gradient_flow(LAW, 2, "-0.01", "0.05")


@pytest.mark.parametrize(
    ("alpha0", "code", "claims", "said"),
    [
        ("0.26", 0, ["lca.uniqueness.flow"], "ends of the window"),
        ("0.16", 0, ["lca.uniqueness.flow"], "F_T(∞)"),
        ("0.1", 3, [], "not certified below that"),
    ],
)
def test_what_the_command_says_it_rests_on(
    alpha0: str, code: int, claims: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["flow", "--law", "uniform(2,5)", "--depth", "2", "--parameters", "2"]
    command += ["--beta0", "-0.2", "--alpha0", alpha0]
    assert main(command) == code
    assert said in capsys.readouterr().out
    assert main([*command, "--json"]) == code
    assert json.loads(capsys.readouterr().out)["rests_on"] == claims


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
