"""The gated link: reference values, exact arguments, its law for large scales, its zeros."""

from fractions import Fraction
from math import factorial

import mpmath
import pytest
from flint import acb, arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.balls import ball, precision, sign
from theoryverify.exact.gate import Gate, gated_exponents
from theoryverify.exact.gate_law import (
    gate_law,
    sigmoid_derivative,
    sigmoid_derivative_ball,
    sigmoid_derivative_bound,
    sigmoid_derivative_vanishes,
)
from theoryverify.exact.gate_zeros import certified_root, gated_ball, logistic_slope, zero_set
from theoryverify.exact.links import link

deterministic = settings(derandomize=True, max_examples=20, deadline=None, database=None)

H3, H2, H4 = "He3(z)/sqrt(6)", "He2(z)/sqrt(2)", "He4(z)/sqrt(24)"
MIX, H5 = "(He2(z)/sqrt(2)+He3(z)/sqrt(6))/sqrt(2)", "He5(z)/sqrt(120)"
STEP = "(1+sign(abs(z)-1))/2 - exp(3/2)/4*(1+sign(abs(z)-2))"


@pytest.fixture(autouse=True)
def _precision_is_restored():
    before = ctx.prec
    yield
    assert ctx.prec == before


def near(enclosure, decimal):
    """Within three units of the decimal's last place."""
    value = Fraction(decimal)
    mantissa = decimal.split("e")[0]
    places = len(mantissa.split(".")[1]) if "." in mantissa else 0
    slack = 3 * Fraction(10) ** -places
    return enclosure.lower - slack <= value <= enclosure.upper + slack


TABLE = [
    (
        H3,
        4,
        -2,
        "0.12134787825635",
        ["0.02738940927568", "0.031750997244147", "0.11545976798753", "0.22529629637827"],
    ),
    (H2, 4, -2, "0.12186183238489", ["0.03394284683461", "0", "0.23318546377237", "0"]),
    (H4, 4, -2, "0.12089261999805", ["0.03262612469882", "0", "0.18861770755164", "0"]),
    (
        MIX,
        4,
        -2,
        "0.12159818783187",
        ["0.03670552212377", "0.076716876119357", "0.23512021953450", "0.27870707111571"],
    ),
    (
        H5,
        4,
        -2,
        "0.12056225143613",
        ["0.01939779205053", "0.020894245563885", "0.09287700456009", "0.10812174255948"],
    ),
    (
        H3,
        10,
        -3,
        "0.0476348509890616",
        ["0.0049596168681117", "0.0047423956429760", "0.0233303653571833", "0.0674115497500011"],
    ),
    (MIX, 10, -3, "0.0476631129653729", ["0.0060611598776838", "0.0129944701351585"]),
    (H5, 10, -3, "0.0475986797384783", ["0.0056640717308107", "0.0120527613037370"]),
    (H3, 4, 0, "0.5", ["0.0511884237794556", "0", "0.173373311324127", "0.5"]),
    (MIX, 4, 0, "0.499004028492454", ["0.0524309083799192", "0.0764340584211532"]),
    (H5, 4, 0, "0.5", ["0.0355567676503017", "0", "0.120699203424533", "0"]),
]


@pytest.mark.parametrize(("text", "rho", "b", "rate", "values"), TABLE)
def test_reference_table(text, rho, b, rate, values):
    gate = Gate(rho, b)
    assert near(gate.opening_rate(text, digits=20), rate)
    listed = gate.coefficients(text, len(values), digits=20)
    for found, expected in zip(listed, values, strict=True):
        assert near(found.enclosure, expected), (found.k, found.enclosure)
        assert found.zero is (expected == "0")


@pytest.mark.parametrize(
    ("noise", "first", "second"),
    [
        ("0.1", "0.03174337986820", "0.11546309613644"),
        ("0.5", "0.03156049684307", "0.11554211372472"),
    ],
)
def test_label_noise_changes_values_but_no_exponent(noise, first, second):
    gate = Gate(4, -2, noise)
    assert near(gate.coefficient(H3, 1).enclosure, first)
    assert near(gate.coefficient(H3, 2).enclosure, second)
    assert gate.information_exponent(H3).value == 1


RAW = [
    (
        "z**3-3*z",
        1,
        0,
        {1: "0", 2: "0.9729307258673884164564158", 3: "3", 4: "2.917438958834843578435477"},
    ),
    (
        H3,
        1,
        -2,
        {
            1: "0.09266472936255227202801318",
            2: "0.3466889754205601769492714",
            3: "0.8769508084089928196391234",
        },
    ),
    ("z**2*exp(-z**2)", 1, -1, {2: "0", 4: "-0.08710704327659595318955096"}),
    ("z**2*exp(-z**2)", "1/10", -2, {2: "0", 4: "-0.2022861231374622717422583"}),
    (STEP, 1, 0, {1: "0", 2: "0.13580288242430176107"}),
    ("z", 1, 0, {0: "0.2066209641419070372623508", 1: "0.5", 2: "0.3508454443245548810315565"}),
    (
        "z",
        "1/1000",
        0,
        {0: "0.3989416241699517963302214", 1: "0.5", 2: "0.3989429366283798694911541"},
    ),
]


@pytest.mark.parametrize(("text", "rho", "b", "values"), RAW)
def test_reference_values_raw(text, rho, b, values):
    found = Gate(rho, b).coefficients(text, max(values) + 1, norm="raw", digits=24)
    for k, expected in values.items():
        assert near(found[k].enclosure, expected), (k, found[k].enclosure)
        assert found[k].zero is (Fraction(expected) == 0)


EXPONENTS = [
    (H3, 4, -2, 1),
    (H3, 4, 0, 2),
    (H5, 4, 0, 2),
    (H2, 4, -2, 2),
    (H4, 10, -3, 2),
    (MIX, 4, 0, 1),
    ("z**3-3*z", 1, 0, 2),
    ("z", 1, 0, 1),
    (STEP, 1, 0, 2),
    (STEP, 10, -3, 2),
    ("z**2*exp(-z**2)", 1, -1, 4),
    ("z**2*exp(-z**2)", "1/10", -2, 4),
    (H3, 8, -40, 1),
    ("relu(z)", 1, -1, 1),
    ("sign(z)*z**2", 1, 0, 1),
]


@pytest.mark.parametrize(("text", "rho", "b", "value"), EXPONENTS)
def test_gated_information_exponents(text, rho, b, value):
    found = Gate(rho, b).information_exponent(text)
    assert (found.value, found.status) == (value, "decided")


@pytest.mark.parametrize("k", [1, 3, 5, 7, 9])
def test_without_a_bias_an_odd_link_keeps_half_its_odd_coefficients(k):
    """σ(u) - 1/2 is odd, so g·σ(g/ρ) is g/2 plus an even function: exact, for every ρ."""
    for rho in (1, "7/3", 50):
        gated = Gate(rho, 0).coefficient(f"He{k}(z)", k)
        half = link(f"He{k}(z)/2")
        assert gated.exact is not None
        assert gated.enclosure.overlaps(Gate(rho, 0).coefficient(f"He{k}(z)", k).enclosure)
        assert "odd part" in gated.reason or gated.reason == "exact arithmetic"
        assert float(gated.enclosure) == pytest.approx(factorial(k) ** 0.5 / 2)
        assert half.parity == "odd"
        for lower in range(1, k, 2):
            zero = Gate(rho, 0).coefficient(f"He{k}(z)", lower)
            assert zero.zero is True
            assert "the odd part of the link is the polynomial" in zero.reason


def test_what_a_gate_must_satisfy():
    """c_0 is a covariance of increasing functions; the gate opens between 0 and 1."""
    for text in (H3, H4, MIX):
        gate = Gate(3, -1)
        assert gate.coefficient(text, 0).enclosure.sign() == 1
        rate = gate.opening_rate(text)
        assert 0 < rate.lower <= rate.upper < 1


def test_gated_coefficients_agree_with_mpmath():
    with mpmath.workdps(25):

        def integrand(z):
            g = (z**3 - 3 * z) / mpmath.sqrt(6)
            return g / (1 + mpmath.exp(-(g / 4 - 2))) * z * mpmath.npdf(z)

        expected = mpmath.quad(integrand, list(range(-12, 13)))
    assert abs(float(Gate(4, -2).coefficient(H3, 1).enclosure) - expected) <= 1e-16


def test_json_contract():
    found = gated_exponents(H3, Gate(4, -2), 8).to_json()
    assert found["information_exponent"] == 1
    assert found["link"]["information_exponent"] == 3
    assert found["link"]["generative_exponent"] == 1
    assert len(found["coefficients"]) == len(found["link"]["coefficients"]) == 8
    low, high = (Fraction(found["coefficients"][1][end]) for end in ("lower", "upper"))
    assert low <= Fraction("0.0317509972441472627") <= high + Fraction(1, 10**18)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((0, 1), "rho = 0 must be positive"),
        (("-1", 1), "must be positive"),
        ((0.5, 1), "is a float"),
        ((1, 0.5), "is a float"),
        ((1, "x"), "is not a number"),
        ((1, 1, "-1/2"), "must not be negative"),
        ((float("nan"), 1), "rho = nan is"),
    ],
)
def test_bad_gates(arguments, says):
    with pytest.raises(InputError, match=says):
        Gate(*arguments)


def test_a_constant_has_no_gated_exponent():
    with pytest.raises(InputError, match="constant"):
        Gate(1, 0).information_exponent("3")


# The law.


def test_derivatives_of_the_sigmoid():
    assert [str(c) for c in sigmoid_derivative(3).coeffs()] == ["0", "1", "-7", "12", "-6"]
    for order in range(1, 7):
        with precision(100), mpmath.workdps(30):
            for b in ("-40", "-3/2", "0", "2"):
                value = sigmoid_derivative_ball(order, b)
                expected = mpmath.diff(lambda u: 1 / (1 + mpmath.exp(-u)), _mpf(b), order)
                if b != "-40":
                    assert abs(float(value.mid()) - expected) <= 1e-12
                assert abs(value) <= sigmoid_derivative_bound(order)
    assert sigmoid_derivative_vanishes(2, 0)
    assert not sigmoid_derivative_vanishes(3, 0)
    assert not sigmoid_derivative_vanishes(2, "1e-30")
    assert not sigmoid_derivative_vanishes(0, 0)


def _mpf(text):
    value = Fraction(text)
    return mpmath.mpf(value.numerator) / value.denominator


def test_the_bound_on_a_derivative_is_attained():
    assert float(sigmoid_derivative_bound(1)) == pytest.approx(1 / 4)
    assert float(sigmoid_derivative_bound(2)) == pytest.approx(3**-0.5 / 6)
    assert float(sigmoid_derivative_bound(3)) == pytest.approx(1 / 8)


LAWS = [
    (H3, 1, 2, "9*sqrt(6)"),
    (H3, 2, 1, "3*sqrt(2)"),
    (H2, 2, 0, "1"),
    (H4, 2, 1, "4*sqrt(2)"),
    (MIX, 1, 1, "sqrt(3)"),
    (H5, 1, 2, "30*sqrt(30)"),
    (H3, 0, 1, "1"),
]


@pytest.mark.parametrize(("text", "p", "k", "moment"), LAWS)
def test_leading_orders(text, p, k, moment):
    law = gate_law(text, p, -3)
    assert (law.k, law.effective, str(law.moment)) == (k, k, moment)


@pytest.mark.parametrize(("text", "p"), [(H3, 1), (H4, 2), (MIX, 1), (H2, 2)])
def test_the_law_holds_within_its_bound_from_where_it_says(text, p):
    law = gate_law(text, p, -3)
    start = law.valid_from("1/10")
    for rho in (start, 3 * start, 50 * start):
        exact, leading = Gate(rho, -3).coefficient(text, p, digits=25).enclosure, law.leading(rho)
        error = abs(exact.lower - leading.lower)
        assert 10 * error <= abs(leading.lower)
        for terms in (1, 2, 4):
            assert error <= law.remainder(rho, terms).upper + Fraction(1, 10**25)
    # Not valid everywhere: the tail takes over for small scales.
    assert start > 1


def test_the_law_converges_at_the_published_rate():
    ratios = {10: 1.0521, 20: 1.0278, 50: 1.0055, 100: 1.0014, 200: 1.00035}
    law = gate_law(H3, 1, -3)
    for rho, expected in ratios.items():
        exact = Gate(rho, -3).coefficient(H3, 1, digits=12).enclosure
        assert float(exact) / float(law.leading(rho)) == pytest.approx(expected, abs=6e-5)


def test_far_in_the_tail_the_law_is_wrong():
    law = gate_law(H3, 1, -40)
    ratio = float(Gate(8, -40).coefficient(H3, 1).enclosure) / float(law.leading(8))
    assert 65 < ratio < 67
    assert law.valid_from("1/10") > 8


@pytest.mark.parametrize(
    ("text", "p", "b"), [(H4, 1, -3), ("5", 1, 0), ("tanh(z)", 1, 0), (H3, 1, 0)]
)
def test_no_law(text, p, b):
    with pytest.raises(InputError):
        gate_law(text, p, b)


def test_the_law_at_zero_bias_skips_orders_that_vanish():
    mixed = "He3(z) + z**2"
    law = gate_law(mixed, 1, 0)
    assert law.effective % 2 == 1 or law.effective == 0
    assert law.effective >= law.k


# Zeros.


def mixture(rho, b):
    """``ε → c_1`` of ``-ε he_1 + √(1-ε²) (he_2+he_3)/√2``."""

    def coefficient(e):
        share = ((1 - e * e) / 2).sqrt()
        h2, h3 = share / arb(2).sqrt(), share / arb(6).sqrt()
        return gated_ball([-h2, -e - 3 * h3, h2, h3], arb(rho), arb(b), 1)

    return coefficient


@pytest.mark.parametrize(
    ("rho", "b", "root"),
    [(4, -2, "0.3436483738229945"), (10, -3, "0.2029960082169056"), (30, -3, "0.0602647614589232")],
)
def test_accidental_zeros(rho, b, root):
    found = certified_root(mixture(rho, b), "0.01", "0.9", digits=17)
    assert near(found, root)
    with precision(120):
        ends = [sign(mixture(rho, b)(ball(x))) for x in (found.lower, found.upper)]
    assert ends[0] * ends[1] == -1


def test_no_root_is_claimed_without_a_change_of_sign():
    with pytest.raises(UndecidedError, match="no certified change"):
        certified_root(lambda x: x * x + 1, -1, 1)
    with pytest.raises(UndecidedError):
        certified_root(lambda x: arb("nan") * x, -1, 1)


@given(st.fractions(min_value=Fraction(-9, 10), max_value=Fraction(9, 10), max_denominator=1000))
@deterministic
def test_roots_are_enclosed(root):
    found = certified_root(lambda x: (x - ball(root)) * (x * x + 1), -2, "1.7", digits=20)
    assert found.contains(root)
    assert found.upper - found.lower < Fraction(2, 10**20)


def test_the_zero_set_of_the_third_hermite_polynomial_is_zero_bias():
    grid = [Fraction(n, 2) - Fraction(7, 4) for n in range(8)]
    found = zero_set(H3, 1, [1, 4, 16], grid, refine=3)
    assert len(found.crossings) == 3
    for crossing in found.crossings:
        assert crossing.b_lower < 0 < crossing.b_upper
    assert all(
        s == (1 if b < 0 else -1) for row in found.signs for b, s in zip(found.bs, row, strict=True)
    )


def test_the_zero_set_of_a_mixture_is_traced():
    text = "-z/4 + sqrt(15)/4*(He2(z)/sqrt(2)+He3(z)/sqrt(6))/sqrt(2)"
    found = zero_set(text, 1, [2, 5, 8], [Fraction(-n, 2) for n in range(9)], refine=4)
    assert len(found.crossings) == 3
    for crossing in found.crossings:
        assert crossing.b_upper - crossing.b_lower == Fraction(1, 32)
        ends = [
            Gate(crossing.rho, b).coefficient(text, 1).enclosure.sign()
            for b in (crossing.b_lower, crossing.b_upper)
        ]
        assert ends[0] * ends[1] == -1


@pytest.mark.parametrize(
    ("text", "rhos", "bs"),
    [("tanh(z)", [1], [0]), ("5", [1], [0]), (H3, [0, 1], [0]), (H3, [], [0]), (H3, [0.5], [0])],
)
def test_bad_maps(text, rhos, bs):
    with pytest.raises(InputError):
        zero_set(text, 1, rhos, bs)


@given(
    st.fractions(min_value=1, max_value=20, max_denominator=5),
    st.fractions(min_value=-5, max_value=5, max_denominator=5),
    st.integers(min_value=0, max_value=3),
)
@deterministic
def test_the_two_quadratures_overlap(rho, b, k):
    polynomial = link(MIX).polynomial
    with precision(100):
        quick = gated_ball([c.real for c in polynomial.coefficients()], ball(rho), ball(b), k)
    slow = Gate(rho, b).coefficients(MIX, k + 1, norm="raw", digits=20)[k].enclosure
    with precision(100):
        assert quick.overlaps(slow.ball())


def test_the_slope_in_b_is_the_derivative():
    """A central difference of the coefficient, and σ' against the elementary ``1/(4 cosh²(u/2))``."""
    with precision(120):
        odd = [arb(0), arb(15), arb(0), arb(-10), arb(0), arb(1)]  # He_5
        step = arb(2) ** -30
        for b in (arb(0), arb(3) / 2):
            left, right = (gated_ball(odd, arb(1), b + s, 1) for s in (-step, step))
            slope = gated_ball(odd, arb(1), b, 1, gate=logistic_slope)
            assert abs(float((right - left) / (2 * step) - slope)) < 1e-11
        u = acb(1, 2) / 3
        assert logistic_slope(u).overlaps(1 / (4 * (u / 2).cosh() ** 2))
