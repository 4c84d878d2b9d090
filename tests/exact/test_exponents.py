"""Exponents: every link that must be decided, reasons that can be trusted, and no false answers."""

from fractions import Fraction

import pytest
from flint import ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.even_links import first_failure, second_moment_pivots, vanishing_link
from theoryverify.exact.exponents import exponents, information_exponent
from theoryverify.exact.generative import generative_exponent, paired, polynomial_witness
from theoryverify.exact.hermite import hermite_coefficient, raw_coefficients
from theoryverify.exact.injective import core
from theoryverify.exact.links import link
from theoryverify.exact.surds import Surds, hermite, root_factorial

deterministic = settings(derandomize=True, max_examples=40, deadline=None, database=None)


@pytest.fixture(autouse=True)
def _precision_is_restored():
    before = ctx.prec
    yield
    assert ctx.prec == before


STEP = "(1+sign(abs(z)-1))/2 - exp(3/2)/4*(1+sign(abs(z)-2))"
DECIDED = [
    ("He3(z)/sqrt(6)", 3, 1),
    ("He2(z)/sqrt(2)", 2, 2),
    ("He4(z)/sqrt(24)", 4, 2),
    ("(He2(z)/sqrt(2)+He3(z)/sqrt(6))/sqrt(2)", 2, 1),
    ("He5(z)/sqrt(120)", 5, 1),
    ("z", 1, 1),
    ("z**4", 2, 2),
    ("(z+1)**2-2*z-1", 2, 2),
    ("(z-5)**4+20*z**3-150*z**2+500*z-625", 2, 2),
    ("(z+1/2)**2-1/4", 1, 1),
    ("He4(z) - 1e-12*z", 1, 1),
    ("He30(z)", 30, 2),
    ("He399(z)", 399, 1),
    ("relu(z)", 1, 1),
    ("abs(z)", 2, 2),
    ("sign(z)", 1, 1),
    ("erf(z)", 1, 1),
    ("cos(z)", 2, 2),
    ("sin(z)", 1, 1),
    ("exp(z)", 1, 1),
    ("tanh(z)", 1, 1),
    ("abs(z)-z", 1, 1),
    ("relu(z)-z/2", 2, 2),
    ("sin(z)-exp(-1/2)*z", 3, 1),
    ("sin(z)-0.6065306597126334*z", 1, 1),
    ("exp(z)-exp(1/2)*(1+z+(z**2-1)/2)", 3, 1),
    ("(cos(1)**2+sin(1)**2-1)*(z**2-1)+(z**3-3*z)", 3, 1),
    ("z/3+(cos(1)**2+sin(1)**2-1)", 1, 1),
    ("z**2*exp(-z**2)", 4, 4),
    ("3-2*tanh(z**2*exp(-z**2))", 4, 4),
    ("(z**2*exp(-z**2))**3", 4, 4),
    ("abs(z)*exp(-z**2/2)", 4, 4),
    (STEP, 4, 2),
    ("sign(z**2-1)", 2, 2),
    ("sign(z-1)+sign(z+1)", 1, 1),
    ("exp(z**2/8)", 2, 2),
    ("exp(abs(z))", 2, 2),
    ("1/(1+z**2)", 2, 2),
    ("log(2+cos(z))", 2, 2),
    ("tanh(z)**2", 2, 2),
    ("1/(1+exp(-z))", 1, 1),
    ("abs(sin(z))", 2, 2),
]


@pytest.mark.parametrize(("text", "information", "generative"), DECIDED)
def test_decided_links(text, information, generative):
    found = exponents(text)
    assert (found.information.value, found.information.status) == (information, "decided")
    assert (found.generative.value, found.generative.status) == (generative, "decided")
    below = found.information.coefficients[:-1]
    assert all(c.zero is True and c.reason for c in below)
    assert found.information.coefficients[-1].zero is False


@pytest.mark.parametrize(
    "text",
    ["5", "0*z", "sin(z)**2+cos(z)**2", "(z+0.1)**3-z**3-0.3*z**2-0.03*z-0.001", "sign(z**2+1)"],
)
def test_constants_have_no_exponent(text):
    with pytest.raises(InputError, match="constant"):
        information_exponent(text)
    with pytest.raises(InputError, match="constant"):
        generative_exponent(text)


def test_undecided_is_said_and_never_guessed():
    """A constant that the normal form does not recognise must not get an exponent."""
    hidden = "log(1+exp(z)) - log(1+exp(-z)) - z"
    assert link(hidden).constant is None
    information, generative = information_exponent(hidden), generative_exponent(hidden)
    assert (information.value, information.status) == (None, "undecided")
    assert (generative.value, generative.status) == (None, "undecided")
    last = information.coefficients[-1]
    assert last.zero is None
    assert last.enclosure.lower <= 0 <= last.enclosure.upper
    with pytest.raises(UndecidedError):
        int(information)
    with pytest.raises(UndecidedError):
        int(generative)


def test_singular_links_are_undecided_where_they_must_be():
    found = exponents("log(abs(z))")
    assert found.information.status == "undecided"
    assert found.generative.value == 2


def test_no_threshold():
    """A coefficient of 10^-40 counts; one that is zero by an identity does not."""
    assert information_exponent("He4(z) + 1e-40*z").value == 1
    assert information_exponent("tanh(z)**2 + 1e-40*z").value == 1
    assert information_exponent("tanh(z)**2 + (cos(2)**2+sin(2)**2-1)*z").value == 2


# Polynomials in general.

coefficients = st.lists(
    st.fractions(min_value=-3, max_value=3, max_denominator=4), min_size=2, max_size=7
).filter(lambda c: any(c[1:]))


def written(values):
    return "+".join(f"({v.numerator}/{v.denominator})*z**{i}" for i, v in enumerate(values))


@given(coefficients)
@deterministic
def test_all_polynomials_are_decided_with_a_witness(values):
    found = generative_exponent(written(values))
    odd = any(values[1::2])
    assert found.value == (1 if odd else 2)
    assert found.witness is not None
    # The witness is checked by expanding the power independently.
    g = link(written(values)).polynomial
    assert g is not None
    moment = raw_coefficients(g**found.witness.power)[found.value]
    assert not moment.is_zero
    information = information_exponent(written(values))
    assert information.value >= found.value


@given(coefficients, st.fractions(min_value=-2, max_value=2).filter(bool))
@deterministic
def test_exponents_do_not_change_under_affine_maps(values, factor):
    g = written(values)
    scaled = f"({factor.numerator}/{factor.denominator})*({g}) - 7/3"
    assert information_exponent(scaled).value == information_exponent(g).value
    assert generative_exponent(scaled).value == generative_exponent(g).value


@given(st.integers(min_value=1, max_value=12), st.fractions(min_value=1, max_value=2))
@deterministic
def test_hermite_polynomials_have_their_own_order(k, scale):
    text = f"({scale.numerator}/{scale.denominator})*He{k}(z)"
    assert information_exponent(text).value == k
    assert generative_exponent(text).value == (1 if k % 2 else 2)


def test_second_moments_of_hermite_polynomials():
    for n in range(1, 25):
        square = hermite(n) * hermite(n)
        norm = root_factorial(n) * root_factorial(n)
        assert raw_coefficients(square)[2] == Surds.of(2 * n) * norm


def test_exact_witnesses():
    assert generative_exponent("z**3-3*z").witness.coefficient.exact == "324"
    assert str(generative_exponent("He3(z)/sqrt(6)").witness) == "E[g**3 He1] = 9*sqrt(6), not zero"
    even = polynomial_witness(hermite(4), 2)
    assert (even.power, even.coefficient.exact) == (2, "192")


# Other links.


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("exp(z)", "z"),
        ("3-2*tanh(z**3/5)", "z"),
        ("1/(1+z**2)", "z**2"),
        ("sqrt(1+abs(z))", "abs(z)"),
        ("abs(z)**2", "abs(z)"),
        ("sin(z)**2", "sin(z)**2"),
        ("log(2+cos(z))", "cos(z)"),
        ("exp(cos(1))*z**5", "z"),
        ("0*z + cos(z)", "cos(z)"),
        ("z + cos(z)", "z + cos(z)"),
        ("(cos(1)-cos(1))*z", "(cos(1)-cos(1))*z"),
    ],
)
def test_injective_functions_are_peeled(text, inner):
    assert core(link(text)) == link(inner)


def test_pairing_of_branches():
    assert paired(link("z**2*exp(-z**2)"), 2)
    assert not paired(link("z**2*exp(-z**2)"), 4)
    assert not paired(link("z**2*exp(-z**2/2)"), 2)
    assert not paired(link("z**2*exp(-z**2)"), 1)
    assert paired(link("He3(z)**2*exp(-z**2)"), 4)
    assert paired(link("He2(z)*exp(-z**2/2)"), 3)
    # The same function on each half-line, but it does not end where it began.
    assert not paired(link("abs(z+1)*exp(-z**2/2)"), 2)


@pytest.mark.parametrize("power", [1, 2, 3, 5])
def test_pairing_is_confirmed_by_quadrature(power):
    """All bounded functions of g must be blind to He2; here are some."""
    for text in (f"(z**2*exp(-z**2))**{power}", f"tanh(3*z**2*exp(-z**2))**{power}"):
        value = hermite_coefficient(text, 2, norm="raw", digits=20).enclosure
        assert value.lower <= 0 <= value.upper
        assert value.upper - value.lower < Fraction(1, 10**18)


def test_the_step_link_has_a_witness_beyond_its_mean():
    found = generative_exponent(STEP)
    assert found.witness.power == 2
    assert information_exponent(STEP).coefficients[1].reason.startswith("identity")


def test_json_contract():
    found = exponents("z**2*exp(-z**2)", 5).to_json()
    assert found["information_exponent"] == 4
    assert found["generative_status"] == "decided"
    assert [c["k"] for c in found["coefficients"]] == [0, 1, 2, 3, 4]
    assert all({"k", "lower", "upper", "exact", "reason"} <= set(c) for c in found["coefficients"])
    assert found["coefficients"][2]["lower"] == found["coefficients"][2]["upper"] == "0"


# The theorem on even links.


def test_even_links_up_to_degree_eighteen():
    pivots = second_moment_pivots(4, 40)
    assert max(pivots) == 20
    assert all(d > 0 for i, d in pivots.items() if i <= 18)
    assert float(pivots[18]) == pytest.approx(8.942253456416635)
    assert float(pivots[20]) == pytest.approx(-2.494881391147084)
    assert [first_failure(s) for s in (2, 3, 4, 5, 6, 8)] == [14, 17, 20, 23, 26, 30]
    assert first_failure(4, 18) is None


@pytest.mark.parametrize("start", [2, 3, 4, 5])
def test_the_explicit_counterexample(start):
    g = vanishing_link(start)
    assert g.degree == first_failure(start)
    assert raw_coefficients(g * g)[2].is_zero
    raw = raw_coefficients(g)
    assert all(raw[k].is_zero for k in range(start))
    assert not raw[start].is_zero
    # For even links the third power still sees He2: k = 2 takes over from k = 1.
    assert raw_coefficients(g * g * g)[2].is_zero is bool(start % 2)


@given(st.lists(st.integers(min_value=-9, max_value=9), min_size=8, max_size=8).filter(any))
@deterministic
def test_the_form_is_positive_up_to_eighteen(values):
    g = Surds({})
    for i, value in zip(range(4, 20, 2), values, strict=True):
        g = g + Surds.of(value) * hermite(i) * root_factorial(i).inverse()
    assert raw_coefficients(g * g)[2].real_sign() == 1


def test_the_pivots_are_those_of_the_form():
    """L D Lᵀ multiplied out again, in the monic basis: i! times the form's entries."""
    pivots = second_moment_pivots(4, 12)
    for i in range(4, 14, 2):
        square = raw_coefficients(hermite(i) * hermite(i))[2]
        assert square == Surds.of(2 * i) * root_factorial(i) ** 2
        cross = raw_coefficients(hermite(i) * hermite(i + 2))[2]
        assert cross == root_factorial(i + 2) ** 2
        if i + 2 in pivots:
            assert pivots[i + 2] == 2 * (i + 2) - Fraction((i + 1) * (i + 2)) / pivots[i]


@pytest.mark.parametrize("arguments", [(4, 7), (0, 4), (4, 2), (4, "x")])
def test_bad_degrees(arguments):
    with pytest.raises(InputError):
        second_moment_pivots(*arguments)
