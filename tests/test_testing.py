"""The assertions pass what is true, and fail what is false, undecided or not finite."""

from fractions import Fraction

import pytest
import sympy
from flint import arb

from theoryverify import Uniform, alpha_star
from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure
from theoryverify.testing import (
    TheoremViolation,
    assert_converges,
    assert_enclosed,
    assert_identity,
)

x, y = sympy.symbols("x y")
n = sympy.Symbol("n", integer=True, positive=True)


def test_identities() -> None:
    assert_identity((x - y) * (x + y), x**2 - y**2)
    assert_identity((1 + x) ** (n + 1), (1 + x) * (1 + x) ** n)
    assert_identity(x * y, 1, assuming=[sympy.Eq(y, 1 / x)])
    assert_identity(sympy.sqrt(x**2), x, assuming=[x > 0])


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((x + 1) ** 2, x**2 + 1),
        (x**2 / x, x + sympy.Rational(1, 10**30)),
        (sympy.sqrt(x**2), x),
        ((1 - x) ** (2 * n + 1), (x - 1) ** (2 * n + 1)),
        (sympy.log(x), sympy.log(2 * x)),
    ],
)
def test_false_identities_show_a_point(left: sympy.Expr, right: sympy.Expr) -> None:
    with pytest.raises(TheoremViolation, match=r"differ at an exact point: .*x = "):
        assert_identity(left, right)


def test_assumptions_of_other_forms_are_refused() -> None:
    with pytest.raises(InputError, match="cannot assume"):
        assert_identity(x, x, assuming=[sympy.Ne(x, 0)])


@pytest.mark.parametrize("side", ["foo", "__import__('os').getpid()", [1], sympy.Eq(x, y), None])
def test_what_is_no_expression_is_refused_and_not_run(side: object) -> None:
    for pair in ((side, x), (x, side)):
        with pytest.raises(InputError, match="is not a SymPy expression; allowed are") as refused:
            assert_identity(*pair)  # type: ignore[arg-type]
        assert repr(side) in str(refused.value)


def test_numbers_are_sides() -> None:
    assert_identity(x - x, 0)
    assert_identity(sympy.Rational(1, 2), Fraction(1, 2))


def test_enclosed() -> None:
    found = alpha_star(Uniform(2, 5), 10, 20)
    assert_enclosed(found, ("0.28", "0.29"))
    assert_enclosed("1/3", Enclosure.exactly("1/3", 10))
    with pytest.raises(TheoremViolation, match="lies outside"):
        assert_enclosed(found, ("0.29", "0.30"))
    with pytest.raises(TheoremViolation, match="sticks out"):
        assert_enclosed(Enclosure.exactly("1/3", 5), Enclosure.exactly("1/3", 10))
    with pytest.raises(TheoremViolation, match="not finite"):
        assert_enclosed(arb("nan"), (0, 1))
    with pytest.raises(InputError, match="float"):
        assert_enclosed(0.5, (0, 1))


def test_convergence() -> None:
    terms = [(k, Fraction(k, k + 1)) for k in (1, 10, 100)]
    assert_converges(terms, 1, lambda k: Fraction(1, k))
    with pytest.raises(TheoremViolation, match="exceeds"):
        assert_converges(terms, 1, lambda k: Fraction(1, k**2 + 5))
    with pytest.raises(TheoremViolation, match="does not decrease"):
        assert_converges(terms, 1, lambda k: 1)
    with pytest.raises(TheoremViolation, match="exceeds"):
        assert_converges(terms, 2, lambda k: Fraction(1, k))
    with pytest.raises(InputError, match="at least 2"):
        assert_converges(terms[:1], 1, lambda k: 1)
