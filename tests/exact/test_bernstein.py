"""Bernstein coefficients: signs, bisection, refutation; against exact evaluation."""

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theoryverify.errors import InputError
from theoryverify.exact.bernstein import Rows, bernstein_coefficients, nonnegative_on_square

polynomials = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(-9, 9), min_size=width, max_size=width), min_size=1, max_size=4
    )
)
points = st.fractions(0, 1, max_denominator=9)


def value(rows: Rows, at: Fraction, up: Fraction) -> Fraction:
    return sum(
        (c * at**i * up**j for i, row in enumerate(rows) for j, c in enumerate(row)), Fraction(0)
    )


@given(polynomials, points, points)
def test_the_coefficients_are_those_of_the_bernstein_form(
    rows: list[list[int]], at: Fraction, up: Fraction
) -> None:
    scaled = bernstein_coefficients(rows)
    n, m = len(rows) - 1, len(rows[0]) - 1
    total = sum(
        c * at**i * (1 - at) ** (n - i) * up**j * (1 - up) ** (m - j)
        for i, row in enumerate(scaled)
        for j, c in enumerate(row)
    )
    assert total == value(rows, at, up)


def test_the_constant_one() -> None:
    rows = [[1, 0, 0], [0, 0, 0]]
    assert bernstein_coefficients(rows) == [[comb(2, j) for j in range(3)]] * 2


@given(polynomials)
def test_verdicts_agree_with_exact_values(rows: list[list[int]]) -> None:
    found = nonnegative_on_square(rows, max_boxes=64)
    grid = [Fraction(k, 8) for k in range(9)]
    least = min(value(rows, at, up) for at in grid for up in grid)
    if found.holds:
        assert least >= 0
    if found.holds is False:
        assert found.corner is not None
        assert value(rows, *found.corner) < 0
    if least < 0:
        assert found.holds is not True


@given(polynomials, st.integers(1, 20))
def test_a_positive_polynomial_is_certified(rows: list[list[int]], room: int) -> None:
    bound = sum(abs(entry) for row in rows for entry in row)
    lifted = [list(row) for row in rows]
    lifted[0][0] += bound + room
    assert nonnegative_on_square(lifted, max_boxes=4096).holds


def test_bisection_is_needed_and_suffices() -> None:
    touching = [[1, 0], [-3, 0], [3, 0]]  # 1-3X+3X² >= 1/4, with a negative Bernstein coefficient
    assert nonnegative_on_square(touching).boxes == 2
    assert nonnegative_on_square([[1, -3, 3]]).boxes == 2
    assert nonnegative_on_square([[1, -3, 3]], max_boxes=1).holds is None


def test_a_negative_corner_is_shown() -> None:
    found = nonnegative_on_square([[1, -3], [0, 0]])
    assert found.holds is False
    assert found.corner is not None
    assert found.corner[1] == 1
    dip = [[10, 0], [-72, 0], [100, 0]]  # least value -2.96 near X = 0.36
    assert nonnegative_on_square(dip).holds is False


@pytest.mark.parametrize("rows", [[], [[]], [[1], [1, 2]]])
def test_ragged_input_is_refused(rows: Rows) -> None:
    with pytest.raises(InputError):
        bernstein_coefficients(rows)
