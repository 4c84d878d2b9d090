"""Exact numbers from what users write: what is taken, what is refused, and what it says."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from flint import fmpq, fmpz
from hypothesis import given
from hypothesis import strategies as st

from theoryverify.errors import InputError
from theoryverify.exact.rationals import positive_integer, rational, shown, to_fmpq


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (3, Fraction(3)),
        ("3", Fraction(3)),
        (" -3 ", Fraction(-3)),
        ("+1.50", Fraction(3, 2)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("-1e-3", Fraction(-1, 1000)),
        ("1.25E2", Fraction(125)),
        ("2/3", Fraction(2, 3)),
        ("-1.5/3", Fraction(-1, 2)),
        ("1e-400", Fraction(1, 10**400)),
        (Fraction(2, 3), Fraction(2, 3)),
        (fmpz(7), Fraction(7)),
        (fmpq(-2, 6), Fraction(-1, 3)),
        (sympy.Rational(4, 6), Fraction(2, 3)),
        (sympy.Integer(4), Fraction(4)),
        (np.int64(4), Fraction(4)),
    ],
)
def test_exact_values(written: Any, value: Fraction) -> None:
    found = rational(written)
    assert type(found) is Fraction
    assert found == value


@given(st.fractions(), st.integers(-50, 50))
def test_text_is_read_as_written(value: Fraction, power: int) -> None:
    assert rational(str(value)) == value
    assert rational(f"{value.numerator}e{power}") == value.numerator * Fraction(10) ** power
    assert to_fmpq(value) == fmpq(value.numerator, value.denominator)


@pytest.mark.parametrize("value", [0.1, 1.0, np.float64(0.1), np.float32(0.1)])
def test_floats_are_refused_with_the_hint(value: Any) -> None:
    with pytest.raises(
        InputError, match=r"weight = .* is a float.*write it as a string: '[01]\.\d"
    ):
        rational(value, "weight")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -np.inf])
def test_floats_that_are_no_numbers_get_no_such_hint(value: Any) -> None:
    with pytest.raises(InputError, match=r"is not finite"):
        rational(value)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (True, "must be a number, not True"),
        (np.bool_(False), "must be a number, not False"),
        ("nan", "is not a number"),
        ("inf", "is not a number"),
        ("-Infinity", "is not a number"),
        ("", "is not a number"),
        ("1_000", "is not a number"),
        ("0x10", "is not a number"),
        ("1,5", "is not a number"),
        ("1/2/3", "is not a number"),
        ("1/1.5", "is not a number"),
        ("1/-2", "is not a number"),
        ("٣", "is not a number"),  # a digit in Unicode, not on a keyboard
        pytest.param("9" * 1001, "is not a number", id="long"),
        ("1/0", "divides by zero"),
        ("1e401", "exponent beyond 400"),
        ("1e-99999999999999", "exponent beyond 400"),
        (None, "must be an integer, a Fraction or a decimal string, not None"),
        (b"2", "must be an integer"),
        (1j, "must be an integer"),
        (Decimal("0.1"), "must be an integer"),
        ([1] * 1000, "must be an integer"),
        (sympy.pi, "must be an integer"),
        (sympy.Float("0.5"), "must be an integer"),
        (sympy.nan, "must be an integer"),
    ],
)
def test_refused(value: Any, why: str) -> None:
    with pytest.raises(InputError, match=why) as caught:
        rational(value, "alpha")
    assert str(caught.value).startswith("alpha ")
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("value", [3, "3", " +3 ", np.int64(3), sympy.Integer(3)])
def test_positive_integers(value: Any) -> None:
    found = positive_integer(value, "depth", most=3)
    assert type(found) is int
    assert found == 3


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (3.0, "depth = 3.0 is not an integer; it must be an integer between 1 and 10"),
        ("3.0", "is not an integer"),
        ("1e1", "is not an integer"),
        ("٣", "is not an integer"),
        (True, "is not an integer"),
        (Fraction(3), "is not an integer"),
        (None, "is not an integer"),
        pytest.param("x" * 10**6, "is not an integer", id="long"),
        (0, "depth = 0 is out of range; it must be between 1 and 10"),
        (-1, "out of range"),
        ("11", "out of range"),
        pytest.param(10**5000, "out of range", id="huge"),
    ],
)
def test_other_integers_are_refused(value: Any, why: str) -> None:
    with pytest.raises(InputError, match=why) as caught:
        positive_integer(value, "depth", most=10)
    assert len(str(caught.value)) < 200


def test_zero_where_it_is_allowed() -> None:
    assert positive_integer("0", "order", least=0) == 0
    with pytest.raises(InputError, match="at least 1"):
        positive_integer(0, "order")


def test_numbers_are_shown_exactly_unless_they_are_huge() -> None:
    assert shown(Fraction(-2, 3)) == "-2/3"
    assert shown(10**300) == str(10**300)
    assert shown(Fraction(-(10**9999))) == "~-1.00000e+9999"
    assert shown(Fraction(1, 3**20000)).startswith("~")
