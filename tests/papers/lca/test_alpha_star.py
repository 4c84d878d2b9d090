"""α*_T: reference values, closed forms, extremes of depth, laws that are refused."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theoryverify.errors import HypothesisError, InputError
from theoryverify.exact.balls import Enclosure
from theoryverify.exact.densities import Ball, Density, ScaledBeta, Shell, Uniform
from theoryverify.exact.density_piece import Piece
from theoryverify.exact.laws import Discrete, Law, Mixture, TwoPoint
from theoryverify.papers.lca.alpha_star import algebraic_alpha_star, alpha_star
from theoryverify.testing import assert_converges, assert_enclosed

REFERENCE = json.loads(
    (Path(__file__).parents[2] / "data" / "lca_reference.json").read_text("utf-8")
)["values"]
NAMED: dict[str, Law] = {
    "uniform[2,5]": Uniform(2, 5),
    "uniform[1.5,3]": Uniform("1.5", 3),
    "uniform[1,3]": Uniform(1, 3),
    "shell_d=8_Z[2,5]": Shell(8, 2, 5),
    "ball_d=4_Z[1,5]": Ball(4, 5),
    "twopoint{2,5}_p=0.5": TwoPoint(2, 5),
    "twopoint{2,5}_p=0.25": TwoPoint(2, 5, "1/4"),
}
SKEWED = Discrete({"3/2": "9/10", 4: "1/10"})


def close(found: Enclosure, text: str, digits: int) -> bool:
    """Whether the enclosure agrees with a decimal to so many relative digits."""
    value = Fraction(text)
    slack = abs(value) / 10**digits
    return value - slack <= found.lower <= found.upper <= value + slack


@pytest.mark.parametrize("key", [key for key in REFERENCE if key.startswith("alphaT/")])
def test_reference_values(key: str) -> None:
    _, law, depth = key.split("/")
    found = alpha_star(NAMED[law], int(depth[2:]), 24).enclosure
    assert found.digits >= 24
    assert close(found, REFERENCE[key], 21)


@pytest.mark.parametrize(
    ("depth", "value"),
    [
        (1, "0.4"),
        (2, "0.3751421149160780096245"),
        (3, "0.3704602937172055624412"),
        (10, "0.3654085501768177164401"),
        (100, "0.363804831103405391680359229255884966283654069"),
        (500, "0.3636699097864371266615"),
        (1000, "0.3636531275472019277004"),
        (100_000, "0.3636365311848439115947"),
    ],
)
def test_two_atoms_where_floats_underflow(depth: int, value: str) -> None:
    found = alpha_star(SKEWED, depth, 45).enclosure
    assert found.digits >= 45
    assert close(found, value, 20)


@pytest.mark.parametrize(
    ("law", "depth", "value"),
    [
        (Uniform(1, 3), 2, "0.445342617504504620183245969"),
        (Uniform(1, 3), 20, "0.486801436494279521295734797"),
        (Uniform(1, 3), 10_000, "0.499933781304638163741506584"),
        # The real root of 11201 x^3 - 13170 x^2 + 5292 x - 728.
        (ScaledBeta("3/2", "7/2", 2, 3), 2, "0.411217285698894450361716323"),
        (ScaledBeta("3/2", "7/2", 2, 3), 5, "0.408533800633842814374023136"),
        (ScaledBeta("3/2", "7/2", 2, 3), 20, "0.404352259234243568764797561"),
        (ScaledBeta("3/2", "7/2", 10001, 90001), 5, "0.5882132175277990437565"),
    ],
)
def test_densities(law: Law, depth: int, value: str) -> None:
    assert close(alpha_star(law, depth, 25).enclosure, value, 21)


@pytest.mark.parametrize(
    ("law", "value"),
    [
        (Uniform(1, 3), Fraction(3, 7)),
        (SKEWED, Fraction(2, 5)),
        (ScaledBeta("3/2", "7/2", 2, 3), Fraction(26, 63)),
        (ScaledBeta("3/2", "7/2", 10001, 90001), Fraction(14001020018, 23802030049)),
    ],
)
def test_depth_one_is_rational(law: Law, value: Fraction) -> None:
    # α*_1 = E[Z-1]/E[Z(Z-1)].
    exact = algebraic_alpha_star(law, 1)
    assert exact is not None
    assert exact.rational_value() == value
    assert alpha_star(law, 1).enclosure.contains(value)


@pytest.mark.parametrize("depth", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("law", [Uniform(2, 5), ScaledBeta(2, 5, "1/2", "3/2"), SKEWED, Ball(3, 4)])
def test_the_algebraic_number_agrees(law: Law, depth: int) -> None:
    exact = algebraic_alpha_star(law, depth)
    assert exact is not None
    assert exact.degree <= 2 * depth - 1
    assert exact.enclosure(40).overlaps(alpha_star(law, depth, 40).enclosure)


def test_irrational_moments_have_no_algebraic_number() -> None:
    assert algebraic_alpha_star(Shell(7, 2, 5), 2) is None


laws = st.one_of(
    st.tuples(
        st.fractions("1.1", 3, max_denominator=12),
        st.fractions("0.2", 4, max_denominator=12),
    ).map(lambda pair: Uniform(pair[0], pair[0] + pair[1])),
    st.tuples(
        st.fractions("1.1", 3, max_denominator=12),
        st.fractions("0.2", 4, max_denominator=12),
        st.fractions("0.05", "0.95", max_denominator=30),
    ).map(lambda t: TwoPoint(t[0], t[0] + t[1], t[2])),
)


@given(laws, st.integers(1, 40))
def test_it_is_the_minimum_by_an_independent_route(law: Law, depth: int) -> None:
    """mpmath's expectation of the definition, at twice the precision, changes sign there."""
    found = alpha_star(law, depth, 15).enclosure
    signs = []
    for end in (found.lower, found.upper):
        context = mpmath.mp.clone()
        context.dps = 60
        at = context.mpf(end.numerator) / end.denominator
        f = law.expect(
            lambda z, at=at: (z - 1) * (1 - at * z) ** (2 * depth - 1), "mpmath", digits=45
        )
        signs.append(f > 0)
    assert signs == [True, False]
    assert 1 / law.upper < found.lower
    assert found.upper < 1 / law.lower


def test_more_digits_shrink_the_enclosure() -> None:
    coarse, fine = (alpha_star(Shell(7, 2, 5), 30, digits).enclosure for digits in (10, 60))
    assert fine.within(coarse)
    assert fine.digits >= 60 > coarse.digits + 40


@pytest.mark.parametrize(
    "law",
    [
        Uniform(2, 5),
        SKEWED,
        Ball(3, 5),
        ScaledBeta(2, 5, "1/2", 3),
        Mixture([("1/2", Discrete({2: 1})), ("1/2", Uniform(2, 5))]),
        Density(Piece(2, 3), Piece(4, 5, 1)),
    ],
)
def test_it_tends_to_the_limit(law: Law) -> None:
    depths = (10, 100, 1000)
    assert_converges(
        [(T, alpha_star(law, T, 20)) for T in depths],
        2 / (law.lower + law.upper),
        lambda T: Fraction(3, 2) / T * (T.bit_length()),
    )


@pytest.mark.parametrize("law", [Uniform(2, 5), SKEWED, Discrete({2: "1/4", 3: "1/4", 5: "1/2"})])
def test_a_million_layers(law: Law) -> None:
    found = alpha_star(law, 10**6, 40)
    assert found.enclosure.digits >= 40
    assert_enclosed(found, (found.limit - Fraction(1, 10**6), found.limit + Fraction(1, 10**6)))


def test_three_valued_comparison_with_the_limit() -> None:
    found = alpha_star(SKEWED, 100_000, 4)
    assert found.enclosure.greater_than(found.limit) is None
    assert alpha_star(SKEWED, 100_000, 30).enclosure.greater_than(found.limit) is True


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (Discrete({1: "1/2", 3: "1/2"}), "atom at Z = 1"),
        (Discrete({"1/2": "1/2", 3: "1/2"}), "below 1"),
        (Discrete({2: 1}), "point mass"),
        (Uniform("0.5", 2), "below 1"),
    ],
)
def test_laws_outside_assumption_6_1(law: Law, words: str) -> None:
    with pytest.raises(HypothesisError, match=words) as caught:
        alpha_star(law, 5)
    assert caught.value.hypothesis == "Assumption 6.1"


@pytest.mark.parametrize("depth", [0, -1, 1.5, "x", True, None, 10**10])
def test_depths_that_are_none(depth: object) -> None:
    with pytest.raises(InputError, match="depth"):
        alpha_star(Uniform(2, 5), depth)  # type: ignore[arg-type]


def test_not_a_law() -> None:
    with pytest.raises(InputError, match="Uniform"):
        alpha_star("uniform(2,5)", 3)  # type: ignore[arg-type]
