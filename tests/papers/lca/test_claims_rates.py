"""The claims on two parameters: one atom at either end, and two atoms, by other routes."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy

from theoryverify.exact.balls import ball, precision
from theoryverify.exact.densities import Uniform
from theoryverify.exact.laws import Discrete, Mixture, TwoPoint
from theoryverify.papers.lca.claims import two_parity
from theoryverify.papers.lca.claims.rates_two import _WRONG_FIRST, _opposite
from theoryverify.papers.lca.rate import evaluated, first_order_two
from theoryverify.papers.lca.rate_theory import pi_a, pi_b
from theoryverify.papers.lca.two import beta_star


@pytest.mark.parametrize(
    ("end", "exponents", "pi"),
    [(2, (-1, 0), pi_a), (5, (0, -1), pi_b)],
    ids=["atom at a", "atom at b"],
)
def test_the_sign_of_one_atom(end: int, exponents: tuple[int, int], pi: sympy.Symbol) -> None:
    law, depth = Mixture([("1/3", Discrete({end: 1})), ("2/3", Uniform(2, 5))]), 1000
    order = (Fraction(exponents[0]), Fraction(exponents[1]))
    found = beta_star(law, depth, 8).beta

    def error(formula: object) -> float:
        with precision(160):
            stated = evaluated(formula(order), law, depth)  # type: ignore[operator]
            return abs(float(found.ball() + ball(Fraction(2, 7)) - stated)) * depth

    right = error(first_order_two)
    assert right < 2e-3
    for wrong in (_opposite(pi), _WRONG_FIRST["the one-parameter term"]):
        assert error(wrong) > 5 * right


def _ends(a: Fraction, b: Fraction, at: Fraction, depth: int) -> list[Fraction]:
    """``S_a, S_b, S_a', S_b'`` by their sums."""
    values = [sum(z * (1 + at * z) ** k for k in range(depth)) for z in (a, b)]
    slopes = [sum(z * k * z * (1 + at * z) ** (k - 1) for k in range(1, depth)) for z in (a, b)]
    return [*values, *slopes]  # type: ignore[list-item]


@pytest.mark.parametrize("depth", [3, 5, 9])
@pytest.mark.parametrize(("a", "b"), [(2, 5), (Fraction(11, 10), 40), (3, Fraction(31, 10))])
def test_odd_depth_leaves_the_wronskian_alone(a: Fraction, b: Fraction, depth: int) -> None:
    signs = []
    for k in range(60):  # from 0 to the window's end, and as far again
        Sa, Sb, da, db = _ends(Fraction(a), Fraction(b), -Fraction(k, 15) / Fraction(b), depth)
        assert 0 < Sa != Sb > 0
        if k <= 30:
            signs.append(Sb * da - Sa * db > 0)
    assert signs == sorted(signs)  # one change: F' has the opposite sign
    assert not signs[0]
    assert signs[-1]


def test_even_depth_needs_the_other_factor() -> None:
    """T = 2, atoms at 2 and 5: at the minimum -2/7 the Wronskian is -60, and S_a = S_b."""
    Sa, Sb, da, db = _ends(Fraction(2), Fraction(5), Fraction(-2, 7), 2)
    assert Sa == Sb == Fraction(20, 7)
    assert Sb * da - Sa * db == -60
    assert beta_star(TwoPoint(2, 5, "1/3"), 2, 20).beta.contains("-2/7")


def test_three_layers_in_closed_form() -> None:
    at = {two_parity.a: 2, two_parity.b: 5}
    other = two_parity._WRONG_THREE["the other root"].subs(at)
    root = two_parity._THREE.subs(at)
    assert other < sympy.Rational(-2, 5) < root < 0  # the window is (-2/5, 0)
    assert float(root) == pytest.approx(
        float(beta_star(TwoPoint(2, 5, "1/9"), 3, 20).beta), rel=1e-14
    )
