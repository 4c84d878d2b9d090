"""Identities and inequalities: nothing false is proved, nothing true is refuted."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import sympy
from hypothesis import assume, given
from hypothesis import strategies as st

from theoryverify.errors import InputError
from theoryverify.exact.identities import Decision, decide_identity, decide_nonnegative

x, y, z, a = sympy.symbols("x y z a")
p, q = sympy.symbols("p q", positive=True)
T = sympy.Symbol("T", integer=True, positive=True)
n = sympy.Symbol("n", integer=True)
k = sympy.Symbol("k", even=True)
odd = sympy.Symbol("m", odd=True)
minus = sympy.Symbol("b", negative=True)
third = sympy.Rational(1, 3)


# -- what is proved ----------------------------------------------------------------------------

TRUE = [
    ((x + y) ** 2, x**2 + 2 * x * y + y**2),
    (1 / (x * (x + 1)), 1 / x - 1 / (x + 1)),
    ((x**2 - 1) / (x - 1), x + 1),
    # powers with a symbolic exponent
    ((2 * x) ** T, 2**T * x**T),
    ((x / 6) ** T, x**T / (2**T * 3**T)),
    ((2 * x + 2) ** T, 2**T * (x + 1) ** T),
    ((1 - x) ** (2 * T), (x - 1) ** (2 * T)),
    ((1 - x) ** (2 * T + 1), -((x - 1) ** (2 * T + 1))),
    ((1 - x) ** T, (-1) ** T * (x - 1) ** T),
    ((x**2 + 2 * x + 1) ** T, (x + 1) ** (2 * T)),
    ((x * y) ** (2 * T - 1) * x, x ** (2 * T) * y ** (2 * T - 1)),
    (((1 + x * z) ** (T + 1) - 1) / x, z * (1 + x * z) ** T + ((1 + x * z) ** T - 1) / x),
    (x ** (T / 2) * x ** (T / 2), x**T),
    ((x**a) ** T, x ** (a * T)),
    (((-1) ** T) ** 2, sympy.Integer(1)),
    (((-1) ** T + 1) * ((-1) ** T - 1), sympy.Integer(0)),
    ((2**T + 1) ** n * (2**T + 1), (2**T + 1) ** (n + 1)),
    # real exponents, positive bases
    ((p ** (1 / (2 * T - 1))) ** (2 * T - 1), p),
    (sympy.sqrt(p ** (2 * T)), p**T),
    (p ** (a + 1), p * p**a),
    (sympy.sqrt(p) * sympy.sqrt(q), sympy.sqrt(p * q)),
    # declared assumptions
    ((x - 1) ** k, (1 - x) ** k),
    ((1 - x) ** odd, -((x - 1) ** odd)),
    (sympy.sqrt(minus**2), -minus),
]


@pytest.mark.parametrize(("left", "right"), TRUE, ids=lambda e: str(e))
def test_identities_are_proved(left: sympy.Expr, right: sympy.Expr) -> None:
    assert decide_identity(left, right).holds is True
    broken = decide_identity(left, right + x * y * third + 1)
    assert broken.holds is False
    assert broken.witness


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((-1) ** (2 * a), 1),  # false for a = 1/2
        ((-1) ** (2 / (2 * T - 1)), 1),
        (sympy.sqrt(x**2), x),
        (sympy.sqrt(x**2 * y), x * sympy.sqrt(y)),
        (sympy.sqrt(x ** (2 * T)), x**T),
        (sympy.sqrt(sympy.Symbol("r", real=True) ** (2 * T)), sympy.Symbol("r", real=True) ** T),
        (sympy.sqrt(minus ** (2 * T)), minus**T),
        ((x**2) ** a, x ** (2 * a)),
        ((x * y) ** a, x**a * y**a),
        ((-x) ** a, (-1) ** a * x**a),
        ((-1) ** T, 1),
        ((-1) ** n, (-1) ** (n + 1)),
        (x**T, x),
        (x**T, sympy.Symbol("_p0")),  # the name of an inner symbol, once
        (x**T + y**T, sympy.Symbol("_p0") + sympy.Symbol("_p1")),
        (sympy.log(x * y), sympy.log(x) + sympy.log(y)),
        (sympy.Derivative(x**T, x), 0),
        (sympy.Integral(x**T, (x, 0, 1)), x**T),
        (sympy.Sum(x**T, (x, 1, 3)), 3 * x**T),
        (sympy.Sum(x**T * y, (x, 1, 3)), x**T * sympy.Sum(y, (x, 1, 3))),
        (sympy.nan, sympy.nan),
        (sympy.oo, sympy.oo),
    ],
    ids=str,
)
def test_what_fails_somewhere_is_not_proved(left: sympy.Expr, right: Any) -> None:
    assert decide_identity(left, right).holds is not True


def test_an_identity_that_is_nowhere_defined_is_not_proved() -> None:
    nothing = ((-1) ** T - 1) * ((-1) ** T + 1)
    assert (
        decide_identity((nothing + nothing * x) / nothing, 1 + x).holds is True
    )  # cancelled first
    assert decide_identity(x * ((-1) ** (2 * T) - (-1) ** (4 * T)), 0 * x).holds is True
    assert decide_identity(1 / nothing + x / nothing, (1 + x + nothing) / nothing).holds is not True


# -- what is refuted ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((x - 1) ** k * (-1) ** (k / 2), (1 - x) ** k * (-1) ** (k / 2)),
        (abs(minus - 1) + minus, 1),
        (sympy.sqrt(4 * minus**2) + 2 * minus, 0),
        (minus / abs(minus), -1),
        (sympy.Symbol("z", zero=True) * x, 0),
        (0 ** (T - 1) * (T - 1), 0),
        (sympy.Symbol("s", irrational=True) ** 2, 2),  # of no rational point can this be said
    ],
    ids=str,
)
def test_only_points_of_the_declared_domain_refute(left: sympy.Expr, right: Any) -> None:
    assert decide_identity(left, right).holds is not False


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (x + y, x - y),
        (x**T, x ** (T + 1)),
        ((1 - x) ** (2 * T - 1), (x - 1) ** (2 * T - 1)),
        (sympy.exp(x), 1 + x),
        (p ** (1 / (2 * T - 1)), p),
        (sympy.E * x, x + 1),
        (sympy.pi, sympy.Rational(355, 113)),
        (sympy.sqrt(2), sympy.Rational(99, 70)),
        (k / 2, sympy.Integer(1)),
        (minus, -minus),
        (sympy.Integer(1), 2),
    ],
    ids=str,
)
def test_a_refutation_shows_a_point_of_difference(left: sympy.Expr, right: Any) -> None:
    decision = decide_identity(left, right)
    assert decision.holds is False
    shown = dict(decision.witness)
    sides = shown.pop("left"), shown.pop("right")
    assert sides[0] != sides[1]
    symbols = left.free_symbols | sympy.sympify(right).free_symbols
    point = {symbol: sympy.Rational(shown[symbol.name]) for symbol in symbols}
    assert abs((left - right).subs(point).evalf(30)) > 1e-20
    for symbol, value in point.items():
        for fact, true in symbol.assumptions0.items():
            assert getattr(value, f"is_{fact}") is true


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (sympy.gamma(x + 1), x * sympy.gamma(x)),
        (sympy.Derivative(x**T, x), T * x ** (T - 1)),
        (sympy.Function("exp")(x), 1 + x),  # only a namesake of the exponential
    ],
    ids=str,
)
def test_neither_proved_nor_refuted(left: sympy.Expr, right: sympy.Expr) -> None:
    decision = decide_identity(left, right)
    assert decision.holds is None
    assert "neither" in decision.reason


@pytest.mark.parametrize("stranger", ["x + 1", "__import__('os')", None, [x], x > 0, object()])
def test_strangers_are_refused(stranger: Any) -> None:
    with pytest.raises(InputError, match="is not a SymPy expression"):
        decide_identity(stranger, x)
    with pytest.raises(InputError, match="is not a SymPy expression"):
        decide_identity(x, stranger)


def test_two_symbols_of_one_name_are_refused() -> None:
    with pytest.raises(
        InputError, match=r"two different symbols have one name.*x: declare it once"
    ):
        decide_identity(x, sympy.Symbol("x", positive=True))


# -- random identities -------------------------------------------------------------------------

BASES = (
    x,
    y,
    1 - x,
    x - 1,
    x * y,
    2 * x,
    -x,
    x + y,
    2 * x + 2 * y,
    1 + x,
    x**2,
    sympy.Integer(-1),
    sympy.Integer(2),
)
EXPONENTS = (T, 2 * T, T + 1, 2 * T - 1, -T, n, n + T, 2 * n, T * n, sympy.Integer(2))


@st.composite
def terms(draw: st.DrawFn) -> sympy.Expr:
    factors = draw(
        st.lists(
            st.tuples(st.sampled_from(BASES), st.sampled_from(EXPONENTS)), min_size=1, max_size=3
        )
    )
    return sympy.Mul(*[base**exponent for base, exponent in factors])


def rewritten(expression: sympy.Expr, how: int) -> sympy.Expr:
    """The same function in another spelling, or something close to it that is another function."""
    changes: list[Callable[[sympy.Expr], sympy.Expr]] = [
        sympy.expand,
        sympy.factor,
        sympy.powsimp,
        lambda e: sympy.powsimp(e, force=True),  # may be wrong, as it says
        lambda e: e.xreplace({T: T + 1}) / e.xreplace({T: T + 1}) * e,
        lambda e: e.subs(x, -x),
        lambda e: -e,
        lambda e: e.xreplace({n: n + 2}),
    ]
    return changes[how](expression)


def value_at(expression: sympy.Expr, point: dict[sympy.Symbol, Any]) -> Fraction | None:
    value = expression.subs(point)
    return Fraction(int(value.p), int(value.q)) if value.is_Rational else None


@given(terms(), terms(), st.integers(0, 7), st.integers(0, 7), st.integers(0, 10**6))
def test_random_powers(
    first: sympy.Expr, second: sympy.Expr, how: int, other: int, seed: int
) -> None:
    left = first + second
    right = rewritten(first, how) + rewritten(second, other)
    decision = decide_identity(left, right)
    chance = random.Random(seed)
    for _ in range(12):
        point = {
            x: sympy.Rational(chance.randint(-9, 9), chance.randint(1, 5)),
            y: sympy.Rational(chance.randint(-9, 9), chance.randint(1, 5)),
            T: sympy.Integer(chance.randint(1, 5)),
            n: sympy.Integer(chance.randint(-4, 4)),
        }
        values = value_at(left, point), value_at(right, point)
        if None not in values and values[0] != values[1]:
            assert decision.holds is not True, point
    if decision.holds is False:
        found = {
            s: sympy.Rational(decision.witness[s.name])
            for s in left.free_symbols | right.free_symbols
        }
        assert value_at(left, found) != value_at(right, found)


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 3), st.integers(0, 3)), max_size=5),
    st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 3), st.integers(0, 3)), max_size=5),
)
def test_random_polynomials(first: list[Any], second: list[Any]) -> None:
    left, right = (
        sum((c * x**i * y**j for c, i, j in poly), sympy.Integer(0)) for poly in (first, second)
    )
    assert decide_identity(left * right, sympy.expand(left * right)).holds is True
    assume(sympy.expand(left - right) != 0)
    assert decide_identity(left, right).holds is False


# -- nonnegativity -----------------------------------------------------------------------------

u, v = sympy.symbols("u v", nonnegative=True)


@given(
    st.lists(
        st.tuples(st.fractions(-2, 5, max_denominator=4), st.integers(0, 3), st.integers(0, 2)),
        max_size=4,
    ),
    st.booleans(),
    st.fractions(Fraction(1, 50), 50),
    st.fractions(Fraction(1, 50), 50),
)
def test_nonnegativity(poly: list[Any], strict: bool, at_u: Fraction, at_v: Fraction) -> None:
    expression = sum(
        (sympy.Rational(c.numerator, c.denominator) * u**i * v**j for c, i, j in poly),
        sympy.Integer(0),
    )
    decision = decide_nonnegative(expression, [u, v], strict=strict)
    value = expression.subs({u: sympy.Rational(at_u), v: sympy.Rational(at_v)})
    if decision.holds is True:
        assert value >= 0
        assert value > 0 or not strict
    if decision.holds is False:
        point = {s: sympy.Rational(decision.witness[s.name]) for s in (u, v)}
        assert all(entry > 0 for entry in point.values())
        assert expression.subs(point) < 0 or (strict and expression.subs(point) == 0)


@pytest.mark.parametrize(
    ("expression", "symbols", "strict", "holds"),
    [
        (u**2 + u, [u], False, True),
        (u - u, [u], False, True),
        (u - u, [u], True, False),
        (u * v, [u, v], True, True),
        ((u - 1) ** 2, [u], False, None),  # true, but not by this certificate
        (u - 3, [u], False, False),
        (sympy.Integer(3), [], True, True),
        (-sympy.Integer(3), [], False, False),
        (u, [], False, None),  # of u nothing is said
        (a * u, [u], False, None),
        (1 / u, [u], False, None),
        (sympy.sqrt(2) * u, [u], False, None),
        (sympy.Float("0.5") * u, [u], False, None),  # rounded numbers decide nothing
        (T**2 - T, [T], False, None),  # true for integers: 1/7 is none
        (T - 2, [T], False, False),
        (u - sympy.Rational(1, 5), [u], False, False),
    ],
    ids=str,
)
def test_nonnegativity_is_three_valued(
    expression: sympy.Expr, symbols: list[sympy.Symbol], strict: bool, holds: bool | None
) -> None:
    decision = decide_nonnegative(expression, symbols, strict=strict)
    assert isinstance(decision, Decision)
    assert decision.holds is holds
    assert decision.reason


@pytest.mark.parametrize("symbol", [x, sympy.Symbol("z", real=True), minus, u + 1], ids=str)
def test_nonnegativity_speaks_of_nonnegative_symbols(symbol: sympy.Expr) -> None:
    """All coefficients of z + 1 are positive, and at z = -2 it is not."""
    with pytest.raises(InputError, match="not declared nonnegative"):
        decide_nonnegative(symbol + 1, [symbol])
    with pytest.raises(InputError, match="not declared nonnegative"):
        decide_nonnegative(u + 1, [u, symbol])


# -- rounded numbers ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (x * (1 / 3), x / 3),  # 1/3 as a float is another number
        (0.1 * x, x / 10),
        (0.5 * x, x / 2),  # this one happens to be exact, which the reader cannot see
        (x, x + sympy.Float("1e-30")),
        (x**0.5, sympy.sqrt(x)),
        (0.1, Fraction(1, 10)),
    ],
    ids=str,
)
def test_floats_decide_nothing(left: sympy.Expr, right: sympy.Expr) -> None:
    for pair in ((left, right), (right, left)):
        decision = decide_identity(*pair)
        assert decision.holds is None
        assert not decision.kind
        assert "rounded number" in decision.reason
