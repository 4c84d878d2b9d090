"""The tool's assertions in plain tests."""

from fractions import Fraction

import pytest
import sympy
from sgd_noise import STATIONARY, VARIANCE, eta, step, t, v_0

from theoryverify.testing import TheoremViolation, assert_converges, assert_identity


def test_the_recursion() -> None:
    assert_identity(VARIANCE.subs(t, t + 1), step(VARIANCE))


def test_a_wrong_variance_is_caught() -> None:
    with pytest.raises(TheoremViolation):
        assert_identity(STATIONARY * (1 - eta / 2), step(STATIONARY * (1 - eta / 2)))


def test_it_converges_geometrically() -> None:
    at = {eta: sympy.Rational(1, 2), sympy.Symbol("sigma", positive=True): 1, v_0: 1}
    values = [(k, Fraction(str(VARIANCE.subs({**at, t: k})))) for k in (1, 5, 20)]
    assert_converges(values, Fraction(1, 3), lambda k: Fraction(1, 4**k))
