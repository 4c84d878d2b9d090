"""Hermite coefficients: reference values, exactness, and agreement of independent routes."""

import time
from fractions import Fraction
from math import factorial, sqrt

import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq_poly
from hypothesis import given, settings
from hypothesis import strategies as st

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.balls import precision
from theoryverify.exact.gaussian import integral
from theoryverify.exact.hermite import (
    closed_form,
    cut_off,
    hermite_coefficient,
    hermite_coefficients,
    quadrature,
    raw_coefficients,
)
from theoryverify.exact.links import link
from theoryverify.exact.pieces import Piece
from theoryverify.exact.surds import ONE, Surds, Z, hermite

deterministic = settings(derandomize=True, max_examples=30, deadline=None, database=None)


@pytest.fixture(autouse=True)
def _precision_is_restored():
    before = ctx.prec
    yield
    assert ctx.prec == before


def agrees(enclosure, decimal):
    """Whether an enclosure fits a decimal that is correct but for its last digits."""
    digits = len(decimal.lstrip("-0.").replace(".", "").split("e")[0])
    value = Fraction(decimal)
    slack = abs(value) * Fraction(10) ** (3 - digits)
    return enclosure.lower - slack <= value <= enclosure.upper + slack


RAW = [
    (
        "relu(z)",
        {
            0: "0.3989422804014326779399461",
            1: "0.5",
            2: "0.3989422804014326779399461",
            3: "0",
            4: "-0.3989422804014326779399461",
            6: "1.19682684120429803382",
        },
    ),
    (
        "abs(z)",
        {
            0: "0.7978845608028653558799",
            1: "0",
            2: "0.797884560802865355879892",
            4: "-0.7978845608028653558799",
            6: "2.39365368240859606764",
        },
    ),
    (
        "sign(z)",
        {
            0: "0",
            1: "0.7978845608028653558799",
            3: "-0.7978845608028653558799",
            5: "2.39365368240859606764",
            7: "-11.9682684120429803382",
        },
    ),
    (
        "sign(z-3/10)",
        {
            0: "-0.235822844377905274613058",
            1: "0.762775630921048171216061",
            2: "0.228832689276314451364818",
            3: "-0.694125824138153835806616",
        },
    ),
    ("(1+sign(z-3/10))/2", {0: "0.382088577811047362693471", 1: "0.381387815460524085608031"}),
    ("((1+sign(z-3/10))/2)**2", {0: "0.382088577811047362693471"}),
    (
        "erf(z)",
        {
            1: "0.6514700158705598954485",
            3: "-0.4343133439137065969656752",
            5: "0.8686266878274131939313504",
        },
    ),
    (
        "(1+erf((z-7/10)/sqrt(2)))/2",
        {
            0: "0.31030897321884483985135",
            1: "0.249570928036152424765284",
            2: "0.08734982481265334866784956",
        },
    ),
    ("cos(z)", {0: "0.6065306597126334236038", 1: "0", 2: "-0.6065306597126334236038"}),
    ("exp(z)", dict.fromkeys(range(5), "1.648721270700128146849")),
    ("z*exp(20*z)", {0: "1.4451947536251498516e88"}),
    ("(z-6)/(1+exp(-(z-6)*10**4))", {0: "1.56356879652708948923e-10"}),
    ("sin(z)-exp(-1/2)*z", {1: "0", 2: "0", 3: "-0.6065306597126334236038"}),
    ("sin(z)-0.6065306597126334*z", {1: "2.3603799535e-17", 3: "-0.6065306597126334236038"}),
    ("exp(z)-exp(1/2)*(1+z+(z**2-1)/2)", {1: "0", 2: "0", 3: "1.648721270700128146849"}),
    ("z**2*exp(-z**2)", {1: "0", 2: "0", 3: "0", 4: "-0.256600119639833673115177"}),
    ("(1+sign(abs(z)-1))/2 - exp(3/2)/4*(1+sign(abs(z)-2))", {2: "0", 4: "-1.4518243471148600988"}),
    ("(cos(1)**2+sin(1)**2-1)*(z**2-1)+(z**3-3*z)", {1: "0", 2: "0", 3: "6"}),
]


@pytest.mark.parametrize(("text", "values"), RAW, ids=[text for text, _ in RAW])
def test_reference_values(text, values):
    for k, expected in values.items():
        found = hermite_coefficient(text, k, norm="raw", digits=25)
        if Fraction(expected) == 0:
            assert found.zero is True
            assert (found.enclosure.lower, found.enclosure.upper) == (0, 0)
        else:
            assert found.zero is False
            assert agrees(found.enclosure, expected), (k, found.enclosure)
            assert found.enclosure.digits >= 24


def test_the_three_normalisations():
    raw, series, orthonormal = (
        hermite_coefficients("z**4", 5, norm=norm) for norm in ("raw", "series", "orthonormal")
    )
    assert [c.exact for c in raw] == ["3", "0", "12", "0", "24"]
    assert [c.exact for c in series] == ["3", "0", "6", "0", "1"]
    assert [c.exact for c in orthonormal] == ["3", "0", "6*sqrt(2)", "0", "2*sqrt(6)"]
    assert agrees(orthonormal[2].enclosure, "8.4852813742385702928")
    # Physicists' polynomials would give other numbers: 12 is not 4·12.
    assert raw[2].exact != "48"


def test_reasons():
    odd = hermite_coefficients("He3(z)/sqrt(6)", 4)
    assert "parity" in odd[0].reason
    assert "exact" in odd[1].reason
    assert "identity" in hermite_coefficient("sin(z)-exp(-1/2)*z", 1).reason
    assert "ball" in hermite_coefficient("tanh(z)", 1).reason
    entry = odd[3].to_json()
    assert set(entry) == {"k", "lower", "upper", "exact", "reason"}
    assert entry["exact"] == "1"


coefficients = st.lists(
    st.fractions(min_value=-4, max_value=4, max_denominator=7), min_size=1, max_size=9
)
roots = st.sampled_from([1, 2, 3, 6])


def polynomial(values, n):
    base = Surds.of(fmpq_poly([0]))
    for power, value in enumerate(values):
        base = base + Surds.of(value) * (Surds.root(n) if power % 3 == 1 else ONE) * Z**power
    return base


@given(coefficients, roots)
@deterministic
def test_reconstruction_and_parseval(values, n):
    g = polynomial(values, n)
    raw = raw_coefficients(g)
    again, square = Surds({}), Surds({})
    for k in range(g.degree + 1):
        series = raw[k] * Surds.of(Fraction(1, factorial(k)))
        again = again + series * hermite(k)
        square = square + series * raw[k]
    assert again == g
    assert square == raw_coefficients(g * g)[0]


@given(coefficients, roots, st.integers(min_value=0, max_value=9))
@deterministic
def test_the_two_exact_routes_agree(values, n, k):
    g = polynomial(values, n)
    weighted = integral_over_the_line(g * hermite(k))
    assert weighted == raw_coefficients(g)[k]


def integral_over_the_line(g):
    from theoryverify.exact.forms import Form

    return integral(Form.of(g), None, None).polynomial


def test_a_sum_of_halves_is_the_whole():
    """Cutting at break points that do nothing must not change a closed form."""
    from theoryverify.exact.forms import Form
    from theoryverify.exact.link_grammar import parse
    from theoryverify.exact.points import Point

    whole = Piece(None, None, parse("exp(z/3)*z**2 + sin(z)"))
    cuts = [Point(Surds.of(Fraction(-1, 2))), Point(Surds.root(2))]
    for k in range(4):
        weight = Form.of(hermite(k))
        expected = integral(whole.form * weight, None, None)
        parts = [integral(p.form * weight, p.lower, p.upper) for p in whole.cut(cuts)]
        assert (parts[0] + parts[1] + parts[2] - expected).terms == {}


CLOSED = [
    "relu(z)",
    "abs(z-1/3)",
    "exp(z/2)*z",
    "sin(2*z)+cos(z)",
    "z**2*exp(-z**2)",
    "exp(-abs(z))*sin(z)",
    "sign(z**2-2)*z",
    "exp(z**2/8+z)",
    "relu(z**2-1)",
]


@pytest.mark.parametrize("text", CLOSED)
def test_closed_forms_and_quadrature_overlap(text):
    for k in range(6):
        form = closed_form(link(text), k)
        assert form is not None
        with precision(100):
            exact, enclosed = form.number().real, quadrature(link(text), k, 100)
        assert exact.overlaps(enclosed)
        assert enclosed.rad() < arb(1) / 10**20


@pytest.mark.parametrize(
    "text", ["tanh(z)", "1/(1+exp(-z))", "erf(z-1)", "log(1+z**2)", "abs(sin(z))", "exp(sin(z))"]
)
def test_quadrature_agrees_with_mpmath(text):
    g = link(text)
    with mpmath.workdps(25):
        splits = [-9, *[mpmath.pi * n for n in range(-2, 3)], 9]
        for k in (0, 1, 4):
            expected = mpmath.quad(
                lambda z, k=k: (
                    g(z, backend="mpmath") * link(f"He{k}(z)")(z, backend="mpmath") * mpmath.npdf(z)
                ),
                splits,
            )
            found = hermite_coefficient(g, k, norm="raw", digits=20)
            if found.zero:
                assert abs(expected) < 1e-15
            else:
                assert abs(float(found.enclosure) - expected) <= 1e-14


@given(st.integers(min_value=0, max_value=30), st.integers(min_value=20, max_value=120))
@deterministic
def test_tails_are_as_small_as_asked(k, bits):
    R, beyond = cut_off(link("He3(z)*exp(z**2/9)"), k, bits)
    assert beyond < arb(2) ** -bits
    assert 4 * k + 2 < R**2


def test_the_tail_bound_covers_the_tail():
    """Against the integral itself between R and R + 12, where nearly all of the tail is."""
    g = link("(1+z**2)*exp(z**2/8)")
    bits = 25
    R, beyond = cut_off(g, 3, bits)
    with mpmath.workdps(20):
        tail = 2 * mpmath.quad(
            lambda z: g(z, backend="mpmath") * (z**3 - 3 * z) * mpmath.npdf(z), [R, R + 3, R + 12]
        )
        bound = mpmath.mpf(beyond.mid().str(15, radius=False))
    assert 0 < tail <= bound


def test_aliasing_of_gauss_hermite_is_not_seen_here():
    monomials = str(hermite(30))
    coefficients = hermite_coefficients(monomials, 31)
    assert all(c.zero for c in coefficients[:30])
    assert agrees(coefficients[30].enclosure, "16286585271694955.843")  # √(30!)
    nodes, weights = np.polynomial.hermite_e.hermegauss(16)
    spurious = np.sum(weights * link(monomials)(nodes) * (nodes**2 - 1) / sqrt(2))
    assert abs(spurious) > 1e3


def test_degree_four_hundred_is_quick():
    start = time.process_time()
    exact = hermite_coefficients("He400(z)", 401, norm="series")
    dense = hermite_coefficients("(z/3 + sqrt(2))**400", 3, norm="raw")
    assert time.process_time() - start < 2
    assert [c.exact for c in exact if not c.zero] == ["1"]
    assert all(c.zero is False for c in dense)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"terms": 0}, "terms = 0"),
        ({"terms": 2.0}, "not an integer"),
        ({"terms": 10**6}, "out of range"),
        ({"terms": 3, "norm": "physicists"}, "orthonormal, raw, series"),
        ({"terms": 3, "digits": 0}, "digits = 0"),
        ({"terms": 3, "digits": float("nan")}, "not an integer"),
    ],
)
def test_bad_arguments(arguments, says):
    with pytest.raises(InputError, match=says):
        hermite_coefficients("z", **arguments)


def test_singularities_are_undecided():
    with pytest.raises(UndecidedError, match="no finite enclosure"):
        hermite_coefficients("log(abs(z))", 1)


def test_digits_are_delivered():
    for digits in (5, 50, 200):
        value = hermite_coefficient("tanh(z)", 1, digits=digits).enclosure
        assert value.digits >= digits
    sixty = hermite_coefficient("exp(z)", 1, digits=60).enclosure
    with mpmath.workdps(70):
        assert sixty.contains(mpmath.nstr(mpmath.exp(0.5), 68)) or sixty.digits >= 60
