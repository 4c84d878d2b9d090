"""The searches of the Mamba paper find the gate at b = 0 and a link of degree 20 by themselves."""

from fractions import Fraction
from math import factorial, sqrt
from pathlib import Path

import numpy as np
import pytest

from tests.claims.found import certified
from theoryverify.claims.search import falsify
from theoryverify.exact.gate import Gate
from theoryverify.exact.generative import generative_exponent
from theoryverify.exact.links import link
from theoryverify.papers.mamba.searches import (
    EVEN_LINKS,
    GATE,
    GatedSum,
    HermiteSum,
    gate_margin,
    second_moment_margin,
)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_gate_at_bias_zero(seed: int) -> None:
    found = certified(falsify(GATE, without=["bias"], seed=seed))
    case = found.case
    assert case.b == 0
    assert link(case.link).parity == "odd"
    assert generative_exponent(case.link).value == 1
    for rho in ("1/2", 3, 40):  # enclosed coefficients of the gated link, not used by the judge
        order = Gate(rho, 0).information_exponent(case.link).value
        assert order is not None
        assert order > 1


def test_nothing_against_the_gate_under_its_hypothesis() -> None:
    outcome = falsify(GATE, budget=300)
    assert outcome.found is None
    assert outcome.nearest_verdict == "holds"


@pytest.mark.parametrize("seed", [0, 2])
def test_an_even_link_of_degree_20(seed: int) -> None:
    found = certified(falsify(EVEN_LINKS, without=["degree"], seed=seed))
    case = found.case
    page = (Path(__file__).parents[3] / "docs" / "falsify.md").read_text("utf-8")
    assert (found.shown in page) == (seed == 0)
    assert case.degree == 20  # none exists below, by the claim mamba.even
    z, weights = np.polynomial.hermite_e.hermegauss(60)
    g = sum(c * link(f"He{i}(z)")(z) / sqrt(factorial(i)) for i, c in case.terms)
    mean = float(np.sum(weights * g**2 * (z**2 - 1)) / np.sum(weights * g**2))
    assert mean < 0
    assert mean == pytest.approx(second_moment_margin(case), rel=1e-6)


def test_nothing_against_even_links_up_to_degree_18() -> None:
    outcome = falsify(EVEN_LINKS, budget=400)
    assert outcome.found is None
    # The least eigenvalue of the form at degree 18 is 0.1337.
    assert 0.1337 < outcome.nearest_margin < 0.3
    assert outcome.nearest.degree <= 18


def test_margins_against_enclosures() -> None:
    case = GatedSum(((1, 3), (3, 4)), Fraction(-1, 2))  # of norm 5
    exact = max(
        rho * abs(float(Gate(5 * rho, "-1/2").coefficient(case.link, 1).enclosure)) / 5
        for rho in (2, 8, 32)
    )
    assert gate_margin(case) == pytest.approx(exact, rel=1e-9)
    assert second_moment_margin(HermiteSum(((4, 1), (6, -1)))) == pytest.approx(
        (8 + 12 - 2 * sqrt(30)) / 2
    )
