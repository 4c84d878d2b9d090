"""Links: the grammar, what is decided about a link, and its values."""

import time
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import acb, arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.ball_functions import ball_function
from theoryverify.exact.balls import precision
from theoryverify.exact.link_backends import Backend, register_backend
from theoryverify.exact.link_grammar import MAX_DEGREE, parse
from theoryverify.exact.link_tree import Call, Number, Power, Product, Sum, Variable, render
from theoryverify.exact.links import link
from theoryverify.exact.surds import Surds, Z, hermite, square_part

deterministic = settings(derandomize=True, max_examples=60, deadline=None, database=None)


@pytest.fixture(autouse=True)
def _precision_is_restored():
    before = ctx.prec
    yield
    assert ctx.prec == before


# The grammar.


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("z^2", 2, "write \\*\\*"),
        ("2z", 2, "write \\* for a product"),
        ("(z + 1", 7, "column 1 is not closed"),
        ("z)", 2, "unexpected '\\)'"),
        ("z + * 2", 5, "must stand here, not '\\*'"),
        ("", 1, "the link ends"),
        ("foo(z)", 1, "unknown name 'foo'"),
        ("2*x", 3, "the variable is z"),
        ("Max(0, z)", 1, "write relu"),
        ("relu(0, z)", 7, "unexpected ','"),
        ("He3", 4, "needs an argument"),
        ("1/0", 2, "division by zero"),
        ("z**z", 2, "must be a rational number"),
        ("0**0", 2, "is not a number"),
        ("z**100000", 2, "beyond 1000"),
        ("He2000(z)", 1, "beyond He1000"),
        ("((z**100)**100)**100", 10, "degree may reach 10000"),
        ("9**999**9", 2, "beyond 1000"),
        ("1e99999*z", 1, "exponent beyond"),
        ("z if z else z", 3, "unexpected 'if'"),
        ("__import__('os')", 1, "unknown name"),
        ("He1('os')", 5, "unexpected"),
        ("z.__class__", 2, "unexpected '\\.'"),
        ("ζ", 1, "unexpected"),
        ("z\0", 2, "unexpected"),
    ],
)
def test_errors_point_at_the_column(text, column, says):
    with pytest.raises(InputError, match=says) as caught:
        parse(text)
    assert f"column {column}:" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000 + "z" + ")" * 10_000,
        "-" * 10_000 + "z",
        "z**" * 10_000 + "1",
        "exp(" * 10_000,
        "z" * 300_000,
        "(z+1/3)**999*" * 50 + "z",
        "He999(z)" * 3,
        "He900(He900(z))",
        "(10**900)**900*z",
        "1.5" * 5_000,
        "z**0.00000000000000000001",
    ],
)
def test_hostile_texts_are_refused_quickly(text):
    start = time.process_time()
    with pytest.raises(InputError):
        link(text)
    assert time.process_time() - start < 2


@pytest.mark.parametrize("value", [3, 0.5, None, b"z", ["z"]])
def test_only_text_is_read(value):
    with pytest.raises(InputError, match="written as text"):
        link(value)


def _nodes():
    numbers = st.fractions(min_value=-9, max_value=9, max_denominator=9).map(Number)
    leaves = st.one_of(numbers, st.just(Variable()))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=3).map(lambda t: Sum(tuple(t))),
            st.lists(inner, min_size=2, max_size=3).map(lambda t: Product(tuple(t))),
            st.builds(Power, inner, st.sampled_from([Fraction(2), Fraction(3), Fraction(1, 2)])),
            st.builds(Call, st.sampled_from(["exp", "abs", "tanh", "relu"]), inner),
        ),
        max_leaves=6,
    )


@given(_nodes(), st.fractions(min_value=-2, max_value=2, max_denominator=8))
@deterministic
def test_what_is_written_reads_back_to_the_same_function(node, x):
    with precision(80):
        point = acb(arb(x.numerator) / x.denominator)
        written = ball_function(node)(point, False)
        read = ball_function(parse(render(node)))(point, False)
        if written.is_finite():
            assert written.overlaps(read)


def test_decimals_are_exact():
    assert link("(z+0.1)**3-z**3-0.3*z**2-0.03*z-0.001").constant is True
    assert link("0.1*z").polynomial[1].as_fraction() == Fraction(1, 10)
    assert link("1.25e-3*z").polynomial[1].as_fraction() == Fraction(1, 800)


# What a link knows.


@pytest.mark.parametrize(
    ("text", "parity", "degree"),
    [
        ("(z+1)**2 - 2*z - 1", "even", 2),
        ("(z-5)**4+20*z**3-150*z**2+500*z-625", "even", 4),
        ("(z+1/2)**2 - 1/4", "neither", 2),
        ("He3(z)/sqrt(6)", "odd", 3),
        ("He_3(z)", "odd", 3),
        ("He400(z)", "even", 400),
        ("(1/3 + z*sqrt(2))**9", "neither", 9),
        ("sqrt(2)*sqrt(3)*z - sqrt(6)*z + z**2", "even", 2),
        ("z**3/z", "even", 2),
        ("abs(z)*sign(z)", "odd", 1),
        ("relu(z) - relu(-z)", "odd", 1),
        ("relu(z) - z/2", "even", None),
        ("sign(z**3 - z)", "odd", None),
        ("abs(z) - z", "neither", None),
        ("1/(1+exp(-z)) - 1/2", "odd", None),
        ("exp(z) + exp(-z)", "even", None),
        ("sin(z)*cos(z)", "odd", None),
        ("cos(z)**2 + sin(z)**2 + z", "neither", 1),
        ("abs(sin(z))", "even", None),
        ("erf(z)**3", "odd", None),
        ("log(2 + cos(z))", "even", None),
        ("sqrt(1 + z**2) * tanh(z)", "odd", None),
        ("exp(z)/(1 + exp(z))", "neither", None),
        ("0*z", "even", -1),
    ],
)
def test_parity_and_degree(text, parity, degree):
    g = link(text)
    assert (g.parity, g.degree) == (parity, degree)


@pytest.mark.parametrize(
    ("text", "constant"),
    [
        ("5", True),
        ("0*z", True),
        ("sin(z)**2+cos(z)**2", True),
        ("sign(z**2+1)", True),
        ("tanh(z) - (exp(2*z)-1)/(exp(2*z)+1)", True),
        ("z/z", True),
        ("exp(z)*exp(-z)", True),
        ("z", False),
        ("sign(z)", False),
        ("1e-30*z", False),
        ("exp(-z**2)", False),
    ],
)
def test_constants_are_recognised(text, constant):
    assert link(text).constant is constant


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("abs(z)", [0]),
        ("sign(z - 3/10)", [Fraction(3, 10)]),
        ("(1+sign(abs(z)-1))/2 - (1+sign(abs(z)-2))/2", [-2, -1, 1, 2]),
        ("abs(abs(z) - 1)", [-1, 0, 1]),
        ("relu(tanh(z - 1))", [1]),
        ("sign(exp(z) - exp(2 - z))", [1]),
        ("abs(z**2 + 1)", []),
    ],
)
def test_break_points(text, points):
    found = link(text).break_points
    assert [p.value.as_fraction() for p in found] == points


def test_break_points_that_are_algebraic():
    two = link("abs(z**2 - 2)").break_points
    assert [str(p) for p in two] == ["-sqrt(2)", "sqrt(2)"]
    (root,) = link("sign(z**5 - z - 1)").break_points
    with precision(64):
        assert (root.ball() ** 5 - root.ball() - 1).contains(0)
        assert root.compare(root.reflect()) == 1
        assert root.reflect().reflect() == root


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("exp(z**2/4)", "E\\[g²\\] is infinite"),
        ("exp(z**2/2 - z)", "E\\[g²\\] is infinite"),
        ("exp(z**2/4)*cos(z) + z", "E\\[g²\\] is infinite"),
        ("exp(z**3)", "E\\[g²\\] is infinite"),
        ("exp(abs(z)**3)", "E\\[g²\\] is infinite"),
        ("exp(exp(z))", "E\\[g²\\] is infinite"),
        ("1/z", "pole at z = 0"),
        ("1/abs(z)", "pole at z = 0"),
        ("z/(z**2-2)", "pole at z = -sqrt\\(2\\)"),
        ("cos(z)/z", "pole at z = 0"),
        ("log(z)", "not real"),
        ("sqrt(z)", "not real"),
        ("sqrt(z**2 - 1)", "not real"),
        ("z**(1/3)", "not real"),
        ("log(0)", "not real"),
        ("sqrt(-1)", "not real"),
        ("1/(z - z)", "divides by zero"),
    ],
)
def test_functions_that_are_no_links(text, says):
    with pytest.raises(InputError, match=says):
        link(text)


@pytest.mark.parametrize(
    "text",
    [
        "exp(z**2/8)",
        "exp(0.2499*z**2)",
        "exp(z**2/4 - z**4)",
        "exp(-exp(z))",
        "sqrt(abs(z))",
        "abs(z)**(1/3)",
        "log(1+z**2)",
        "log(1+exp(z))",
        "sqrt(1-tanh(z))",
        "1/(2+sin(z))",
        "1/(1+z**2)",
        "exp(sqrt(1+z**2))",
        "exp(20*z)",
        "log(abs(z)+1)",
    ],
)
def test_functions_that_are_links(text):
    assert link(text).constant is False


@pytest.mark.parametrize("text", ["sin(z)/z", "1/sin(z)", "exp(z**2/4)/(1+z**2)"])
def test_undecided_is_neither_accepted_nor_refuted(text):
    with pytest.raises(UndecidedError, match="not decided"):
        link(text)


# Values.

TEXTS = [
    "He3(z)/sqrt(6)",
    "relu(z)-1/2*abs(z-1)",
    "tanh(z)*erf(z/2)",
    "sin(z)+cos(2*z)",
    "log(1+z**2)",
    "exp(-z**2)*z",
    "sqrt(1+z**2)",
    "sign(z-1/3)",
    "abs(z)**(1/3)",
]


@pytest.mark.parametrize("text", TEXTS)
@given(x=st.fractions(min_value=-3, max_value=3, max_denominator=16))
@settings(deterministic, max_examples=12)
def test_backends_agree(text, x):
    g = link(text)
    with precision(120):
        enclosed = g(x, backend="ball")
    with mpmath.workdps(30):
        middle = g(mpmath.mpf(x.numerator) / x.denominator, backend="mpmath")
        assert abs(middle - mpmath.mpf(enclosed.mid().str(30, radius=False))) <= 1e-25
    assert float(g(float(x))) == pytest.approx(float(enclosed.mid()), rel=1e-12, abs=1e-12)
    exact = g(x, backend="exact")
    assert float(exact) == pytest.approx(float(enclosed.mid()), rel=1e-12, abs=1e-12)


def test_values_are_exact_and_arrays_keep_their_shape():
    import sympy

    g = link("He3(z)/sqrt(6)")
    assert g("1/2", backend="exact") == -11 * sympy.sqrt(6) / 48
    assert g(np.zeros((2, 3, 4))).shape == (2, 3, 4)
    assert sympy.expand(g.sympy - sympy.sqrt(6) * sympy.Symbol("z", real=True) ** 3 / 6) != 0
    with pytest.raises(InputError, match="float, which is not exact"):
        g(0.5, backend="exact")


def test_backends_are_registered():
    with pytest.raises(InputError, match="unknown backend 'nonsense'"):
        link("z")(1, backend="nonsense")
    register_backend("fractions", lambda: Backend(lambda value, z: value, {}))
    assert link("He2(z)/3")(Fraction(1, 2), backend="fractions") == Fraction(-1, 4)


def test_links_are_values():
    assert link("z + 1") == link("z+1")
    assert hash(link("z + 1")) == hash(link("z+1"))
    assert repr(link("z+1")) == "link('z + 1')"
    assert link(link("z")) is link("z")


# The numbers underneath.

small = st.fractions(min_value=-5, max_value=5, max_denominator=6)
surds = st.lists(
    st.tuples(small, st.sampled_from([-6, -1, 1, 2, 3, 5, 6, 10])), min_size=1, max_size=3
).map(lambda terms: sum((Surds.of(q) * Surds.root(n) for q, n in terms), Surds({})))


@given(surds, surds, surds)
@deterministic
def test_square_roots_form_a_field(a, b, c):
    assert (a + b) * c == a * c + b * c
    assert (a * b) * c == a * (b * c)
    if not a.is_zero:
        assert a * a.inverse() == Surds.of(1)
    with precision(80):
        assert (a * b).number().overlaps(a.number() * b.number())


@given(st.integers(min_value=-(10**9), max_value=10**9).filter(bool))
@deterministic
def test_square_parts(n):
    root, free = square_part(n)
    assert root**2 * free == n
    assert all(free % (p * p) for p in (2, 3, 5, 7, 11, 13))


def test_hermite_polynomials_satisfy_their_recurrence():
    for k in range(1, 30):
        assert hermite(k + 1) == Z * hermite(k) - Surds.of(k) * hermite(k - 1)
    assert hermite(MAX_DEGREE).degree == MAX_DEGREE
