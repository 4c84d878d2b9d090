"""Balls and enclosures: they contain what they say, print outward, and never take NaN for a yes."""

from __future__ import annotations

import re
import threading
import time
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from flint import acb, arb, ctx
from hypothesis import assume, example, given
from hypothesis import strategies as st

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.balls import (
    Enclosure,
    accuracy,
    ball,
    bits_for,
    hull,
    integer_power,
    midpoint,
    precision,
    sign,
)

rationals = st.fractions(max_denominator=10**6) | st.builds(
    lambda m, k: Fraction(m) * Fraction(2) ** k, st.integers(), st.integers(-400, 400)
)
dyadics = st.builds(
    lambda m, k: Fraction(m) * Fraction(2) ** k,
    st.integers(-(2**80), 2**80),
    st.integers(-300, 300),
)


def exact(value: arb) -> Fraction:
    assert value.is_exact()
    mantissa, exponent = value.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def dyadic(value: Fraction) -> arb:
    assert value.denominator & (value.denominator - 1) == 0
    return arb(value.numerator) * arb((1, 1 - value.denominator.bit_length()))


def between(lower: Fraction, upper: Fraction) -> Enclosure:
    with precision(2000):
        return Enclosure(dyadic(lower), dyadic(upper))


# -- precision ---------------------------------------------------------------------------------


def test_precision_comes_back_also_after_an_error() -> None:
    before = ctx.prec
    with precision(200):
        assert ctx.prec == 200
        with precision(30):
            assert ctx.prec == 30
        assert ctx.prec == 200
        with pytest.raises(ZeroDivisionError), precision(77):
            raise ZeroDivisionError
        assert ctx.prec == 200
    assert ctx.prec == before


def test_precision_of_one_thread_is_not_seen_by_another() -> None:
    """Open case F28: a worker's precision leaked into the main thread."""
    before, before_mpmath = ctx.prec, mpmath.mp.dps
    wrong: list[int] = []
    start = threading.Barrier(6)

    def work(bits: int) -> None:
        start.wait()
        for _ in range(40):
            with precision(bits):
                time.sleep(1e-4)  # the others would like to work now
                third = arb(1) / 3
                if ctx.prec != bits or not bits - 4 <= accuracy(third) <= bits + 4:
                    wrong.append(bits)

    threads = [threading.Thread(target=work, args=(bits,)) for bits in (40, 60, 90, 200, 400, 800)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert (ctx.prec, mpmath.mp.dps) == (before, before_mpmath)


@given(st.integers(1, 5000))
def test_bits_carry_their_digits(digits: int) -> None:
    assert 2 ** bits_for(digits) > 10**digits


# -- balls -------------------------------------------------------------------------------------


@given(rationals, st.integers(2, 300))
def test_a_ball_contains_its_number_and_is_tight(value: Fraction, bits: int) -> None:
    with precision(bits):
        found = ball(value)
        rounding = exact(found.rad())
    assert abs(exact(found.mid()) - value) <= rounding
    assert rounding <= abs(value) / 2 ** (bits - 2)


def test_balls_are_made_from_exact_numbers_alone() -> None:
    third = arb(1) / 3
    assert ball(third) is third
    assert ball(Enclosure.exactly("1/3")).contains(third)
    assert ball("1/4") == arb(0.25)
    for value in (0.1, True, float("nan")):
        with pytest.raises(InputError):
            ball(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (arb(2, 1), 1),
        (arb(-2, 1), -1),
        (arb(0), 0),
        (arb(0, 1), None),
        (arb(1, 1), None),
        (arb("nan"), None),
        (arb(0, "inf"), None),
        (arb("inf"), None),
    ],
)
def test_sign_is_three_valued(value: arb, expected: int | None) -> None:
    assert sign(value) is expected


def test_accuracy_of_what_is_not_finite_is_none() -> None:
    assert accuracy(arb("nan")) < 0
    assert accuracy(acb(0, arb("inf"))) < 0
    assert accuracy(arb(0, 1)) <= 0
    with precision(100):
        assert 95 <= accuracy(arb(1) / 3) <= 105


def test_hull_contains_all() -> None:
    found = hull([arb(1, "1e-3"), arb(5), arb(-2)])
    assert found.contains(arb(5))
    assert found.contains(arb(-2))
    assert found.contains(arb(1, "1e-3"))


# -- powers ------------------------------------------------------------------------------------


def test_an_even_power_of_a_ball_around_zero_is_finite_and_tight() -> None:
    """Open case F25: FLINT's own power of a real ball around zero is NaN."""
    with precision(64):
        base = 1 - ball("1/2") * arb(2, 1)
        found = integer_power(base, 4)
    assert found.is_finite()
    assert found.contains(arb(0))
    assert found.contains(arb(1) / 16)
    assert found.rad() <= arb("0.0313")  # [0, 1/16] and no more than rounding


@given(dyadics, dyadics, st.integers(0, 40), st.fractions(0, 1), st.integers(20, 200))
@example(Fraction(0), Fraction(1), 3, Fraction(0), 53)
@example(Fraction(1), Fraction(1), 2, Fraction(0), 53)
@example(Fraction(-3), Fraction(0), 7, Fraction(0), 20)
def test_powers_contain_the_powers_of_what_the_base_contains(
    middle: Fraction, radius: Fraction, exponent: int, share: Fraction, bits: int
) -> None:
    assume(abs(middle) < 2**100)
    with precision(bits):
        base = arb(dyadic(middle).mid(), abs(dyadic(radius)))
        found = integer_power(base, exponent)
    low, high = exact(base.mid()) - exact(base.rad()), exact(base.mid()) + exact(base.rad())
    for point in (low, high, low + share * (high - low), min(max(low, Fraction(0)), high)):
        power = point**exponent
        assert abs(exact(found.mid()) - power) <= exact(found.rad())
    if low < 0 < high:  # tight: no wider than the range by more than the 30 bits of a radius
        assert exact(found.rad()) <= max(abs(low), high) ** exponent * Fraction(101, 100)


def test_powers_that_have_no_ball() -> None:
    assert not integer_power(arb("nan"), 2).is_finite()
    assert not integer_power(arb(0, "inf"), 3).is_finite()
    with pytest.raises(InputError, match="exponent of at least 0, not -1"):
        integer_power(arb(0, 1), -1)  # the ends alone would give [-1, 1]


def test_powers_far_below_the_range_of_floats() -> None:
    with precision(80):
        found = integer_power(arb(-3) / 4, 2 * 10**6 - 1)
        assert accuracy(found) > 50
        logarithm = (-found).log() / (arb(3) / 4).log()
    assert found < 0
    assert logarithm.contains(arb(2 * 10**6 - 1))


# -- enclosures --------------------------------------------------------------------------------


@given(dyadics, dyadics, st.integers(2, 60), st.integers(2, 60))
def test_an_enclosure_holds_the_whole_ball_at_any_precision(
    middle: Fraction, radius: Fraction, making: int, reading: int
) -> None:
    value = arb(dyadic(middle), abs(dyadic(radius)))
    low, high = (
        exact(value.mid()) - exact(value.rad()),
        exact(value.mid()) + exact(value.rad()),
    )
    with precision(making):
        found = Enclosure.of(value)
    assert found.lower <= low <= high <= found.upper
    assert found.upper - found.lower <= (high - low) + (abs(low) + abs(high)) / 2**30
    assert low != high or found.lower == found.upper
    with precision(reading):
        again = found.ball()
        assert exact(again.mid()) - exact(again.rad()) <= found.lower
        assert exact(again.mid()) + exact(again.rad()) >= found.upper
    assert found.contains(middle)
    assert (
        found.lower <= Fraction(float(found)) <= found.upper
        or abs(middle) > 2**1000
        or (abs(Fraction(float(found)) - middle) <= abs(middle) / 2**50)
    )


@pytest.mark.parametrize("value", [arb("nan"), arb("inf"), arb(1, "inf")])
def test_nothing_is_enclosed_by_nan(value: arb) -> None:
    with pytest.raises(UndecidedError):
        Enclosure.of(value)


def test_ends_are_exact_and_in_order() -> None:
    with pytest.raises(UndecidedError, match="not an exact finite number"):
        Enclosure(arb(1) / 3, arb(1))
    with pytest.raises(UndecidedError):
        Enclosure(arb(1), arb("nan"))
    with pytest.raises(InputError, match=r"the lower end 2.* is above the upper end 1"):
        Enclosure(arb(2), arb(1))


@given(rationals, st.integers(1, 80))
def test_exact_numbers_are_enclosed_tightly(value: Fraction, digits: int) -> None:
    found = Enclosure.exactly(value, digits)
    assert found.contains(value)
    assert found.digits >= digits
    assert found.upper - found.lower <= abs(value) / 10**digits


@given(dyadics, dyadics, dyadics, dyadics)
@example(Fraction(0), Fraction(1), Fraction(1), Fraction(2))
@example(Fraction(1), Fraction(1), Fraction(1), Fraction(1))
@example(Fraction(0), Fraction(3), Fraction(1), Fraction(2))
def test_comparisons_are_three_valued(a: Fraction, b: Fraction, c: Fraction, d: Fraction) -> None:
    (a, b), (c, d) = sorted((a, b)), sorted((c, d))
    first, second = between(a, b), between(c, d)
    less = True if b < c else False if a >= d else None
    assert first.less_than(second) is less
    assert second.greater_than(first) is less
    assert first.less_than(c) is (True if b < c else False if a >= c else None)
    assert first.greater_than(c) is (True if a > c else False if b <= c else None)
    assert first.overlaps(second) is (max(a, c) <= min(b, d))
    assert first.within(second) is (c <= a and b <= d)
    assert first.contains(c) is (a <= c <= b)
    assert first.sign() == (1 if a > 0 else -1 if b < 0 else 0 if a == b == 0 else None)
    assert (first == second) is (a == c and b == d)
    assert first == between(a, b)
    assert hash(first) == hash(between(a, b))


def test_an_inequality_is_undecided_before_it_is_proved() -> None:
    """Open case F27, by the closed form of α*_T for two atoms at T = 100000."""
    found = {}
    for bits in (20, 120):
        with precision(bits):
            kappa = (arb("1.5").log() / 199999).exp()
            alpha = Enclosure.of((1 + kappa) / (4 + kappa * arb(3) / 2))
            found[bits] = alpha.greater_than(Fraction(4, 11))
            gap = Enclosure.of(alpha.ball() - arb(4) / 11)
    assert found == {20: None, 120: True}
    assert Fraction("1.67548480275231063e-7") < gap.lower
    assert gap.upper < Fraction("1.67548480275231065e-7")


def test_comparisons_of_numbers_too_large_to_write_out() -> None:
    huge = Enclosure(arb((1, 10**12)), arb((1, 10**12)))
    tiny = Enclosure(arb((1, -(10**12))), arb((1, -(10**12))))
    assert tiny.less_than(huge) is True
    assert huge.overlaps(tiny) is False
    assert huge.within(huge)
    assert huge.less_than(huge) is False
    assert tiny.sign() == 1


# -- printing ----------------------------------------------------------------------------------


def read(text: str) -> tuple[Fraction, Fraction]:
    """Both ends of a printed enclosure: one number, ``[a, b]``, or shared digits and two rests."""
    match = re.fullmatch(r"(-?[\d.]*)\[(\S+), (\S+)\](e[+-]\d+)?", text)
    if match is None:
        return Fraction(text), Fraction(text)
    shared, low, high, power = match.groups(default="")
    return Fraction(shared + low + power), Fraction(shared + high + power)


spans = st.tuples(dyadics, st.integers(-320, 80)).map(
    lambda pair: (pair[0], pair[0] + Fraction(2) ** pair[1])
)


@given(spans | dyadics.map(lambda x: (x, x)), st.integers(1, 70) | st.none())
@example((Fraction(-1), Fraction(0)), None)
@example((Fraction(0), Fraction(0)), None)
@example((Fraction(999999, 2**20), Fraction(1)), 5)
@example((Fraction(10**9), Fraction(10**9)), 3)
@example((Fraction(2**1100), Fraction(2**1100)), 20)
@example((-Fraction(1, 2**1100), Fraction(1, 2**1100)), None)
def test_decimals_are_rounded_outward(ends: tuple[Fraction, Fraction], digits: int | None) -> None:
    enclosure = between(*ends)
    low, high = map(Fraction, enclosure.decimal(digits))
    used = max(3, digits if digits is not None else min(enclosure.digits + 2, 60))
    assert 0 <= enclosure.lower - low <= abs(enclosure.lower) / 10 ** (used - 1)
    assert 0 <= high - enclosure.upper <= abs(enclosure.upper) / 10 ** (used - 1)
    assert enclosure.to_json(digits) == dict(
        zip(("lower", "upper"), enclosure.decimal(digits), strict=True)
    )
    shown_low, shown_high = read(str(enclosure))
    assert shown_low <= enclosure.lower
    assert shown_high >= enclosure.upper
    # The digits shown are those that are fixed, and two more.
    slack = max(abs(shown_low), abs(shown_high)) / 10 ** min(enclosure.digits + 1, 58)
    assert shown_high - shown_low <= enclosure.upper - enclosure.lower + 2 * slack


@given(spans)
def test_digits_are_those_that_both_ends_share(ends: tuple[Fraction, Fraction]) -> None:
    digits = between(*ends).digits
    width, size = ends[1] - ends[0], max(map(abs, ends))
    assert width <= size / Fraction(10) ** digits or digits == 0
    assert width > size / Fraction(10) ** (digits + 2)


def test_examples_of_printing() -> None:
    def shown(low: Any, high: Any) -> str:
        with precision(200):
            return str(Enclosure(ball(low).lower(), ball(high).upper()))

    assert shown("0.27845102", "0.27845198") == "0.27845[10, 20]"
    assert shown("-0.00012345671", "-0.00012345612") == "-0.000123456[8, 1]"
    assert shown(Fraction(1, 4), Fraction(1, 4)) == "0.25"
    assert shown(-2, -2) == "-2"
    assert shown(10**30, 10**30) == "1e+30"
    assert shown("9.99", "10.01") == "[9.989, 10.02]"
    assert shown("1e25", "1.0001e25") == "1.000[00, 10]e+25"
    assert shown("9.9999e-10", "1.0001e-9") == "[9.9998e-10, 1.0002e-09]"
    assert shown(-1, 1) == "[-1.00, 1.00]"
    assert shown(11, 19) == "[11.0, 19.0]"
    assert shown("1.23e-10", "1.235e-9") == "[1.22e-10, 1.24e-09]"
    assert repr(Enclosure.exactly(2)) == "Enclosure(2)"


def test_numbers_that_are_exact_print_exactly() -> None:
    assert Enclosure.exactly(10**9).decimal(3) == ("1000000000", "1000000000")
    assert Enclosure.exactly("0.375").decimal(3) == ("0.375", "0.375")


def test_thousands_of_digits() -> None:
    low, high = Enclosure.exactly("1/3", 6000).decimal(6000)
    assert low == "0." + "3" * 6000
    assert high == "0." + "3" * 5999 + "4"


def test_exponents_beyond_floats() -> None:
    with precision(100):
        tiny = Enclosure.of(integer_power(arb(1) / 3, 10**7))
    low, high = tiny.decimal(12)
    assert low.endswith("e-4771213")
    assert float(low.partition("e")[0]) <= float(high.partition("e")[0])
    # 3^(10^7) = 10^4771212.54...: the leading digits by an independent route.
    with mpmath.workdps(40):
        leading = mpmath.mpf(10) ** (4771213 - 10**7 * mpmath.log10(3))
    assert mpmath.mpf(low.partition("e")[0]) <= leading <= mpmath.mpf(high.partition("e")[0])


def test_midpoint_is_exact() -> None:
    with precision(53):
        third = ball(Fraction(1, 3))
    assert midpoint(third) == Fraction(1 / 3)
    assert midpoint(arb(2) ** 200) == 2**200
    with pytest.raises(UndecidedError):
        midpoint(arb("nan"))
