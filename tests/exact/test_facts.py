"""The kernel proves what follows by its rules and refuses everything else."""

import dataclasses

import pytest
import sympy

from theoryverify.errors import InputError
from theoryverify.exact.facts import (
    Argument,
    Fact,
    ProofError,
    Sign,
    Theorem,
    induction,
    nonnegative,
    positive,
)

x, y = sympy.symbols("x y", real=True)
n = sympy.Symbol("n", integer=True)


def ordered() -> Argument:
    return Argument(positive(y), positive(x - y))


def test_a_combination_of_facts_is_a_fact() -> None:
    argument = ordered()
    low, gap = argument.given
    assert argument.fact(x**2 - y**2, lambda g, p: g * (2 * p + g), gap, low).strict
    assert not argument.fact((x - y) * 0, lambda: sympy.Integer(0)).strict
    assert not argument.fact((x + y) ** 2, lambda q: q, argument.square(x + y)).strict


@pytest.mark.parametrize(
    ("expression", "combination"),
    [
        (x**2 - 2 * y**2, lambda g, p: g * (2 * p + g)),  # no identity
        (y - x, lambda g, p: -g),  # a negative coefficient
        (1 / (x - y), lambda g, p: 1 / (g - p)),  # a denominator of unknown sign
        (x, lambda g, p: x),  # something that is no fact
    ],
)
def test_what_does_not_follow_is_refused(expression, combination) -> None:
    argument = ordered()
    low, gap = argument.given
    with pytest.raises(ProofError):
        argument.fact(expression, combination, gap, low)


def test_a_denominator_must_be_known_to_be_nonzero() -> None:
    argument = Argument(positive(x))
    with pytest.raises(ProofError, match="denominator"):
        argument.fact((x**2 + x * y) / (x + y), lambda p: p, argument.given[0])
    for known in (positive(x + y), positive(-x - y), positive((x + y) ** 2)):
        argument = Argument(positive(x), known)
        assert argument.fact((x**2 + x * y) / (x + y), lambda p, q: p, *argument.given).strict


def test_weak_facts_give_no_strict_ones() -> None:
    argument = Argument(nonnegative(x), positive(y))
    weak, strict = argument.given
    assert not argument.fact(x * y, lambda p, q: p * q, weak, strict).strict
    assert argument.fact(x * y + y, lambda p, q: p * q + q, weak, strict).strict
    with pytest.raises(ProofError):
        argument.power(weak, n)
    with pytest.raises(ProofError):
        argument.fact(y / x, lambda p, q: q / p, weak, strict)


def test_facts_stay_in_their_argument() -> None:
    one, other = ordered(), ordered()
    with pytest.raises(ProofError, match="another argument"):
        one.fact(y, lambda p: p, other.given[0])


def test_theorems_cannot_be_made_by_hand() -> None:
    with pytest.raises(ProofError):
        Theorem("false", (), Sign(sympy.Integer(-1)), ())
    with pytest.raises(ProofError):
        Fact(object(), ordered(), positive(-1), "")
    argument = ordered()
    theorem = argument.conclude("gap", argument.given[1])
    with pytest.raises(dataclasses.FrozenInstanceError):
        theorem.conclusion = Sign(sympy.Integer(-1))  # type: ignore[misc]


def test_a_theorem_is_used_only_where_its_hypotheses_are_facts() -> None:
    argument = ordered()
    low, gap = argument.given
    squares = argument.conclude(
        "squares", argument.fact(x**2 - y**2, lambda g, p: g * (2 * p + g), gap, low)
    )
    user = Argument(positive(x), nonnegative(y - x))
    with pytest.raises(ProofError, match="needs"):
        user.use(squares, {x: y, y: x}, *user.given)  # y >= x only
    user = Argument(positive(x), positive(y - x))
    assert user.use(squares, {x: y, y: x}, *user.given).expression == y**2 - x**2
    with pytest.raises(ProofError):
        user.use(squares, {x: y, y: x}, user.given[1], user.given[0])


def _step(bound: int, conclusion: sympy.Expr) -> Theorem:
    step = Argument(positive(x - 1), nonnegative(n - bound), positive(x**n - 1))
    gap, _, before = step.given
    after = step.fact(conclusion, lambda g, e: g * (1 + e) + e, gap, before)
    return step.conclude("step", after)


def test_induction() -> None:
    base = Argument(positive(x - 1))
    start = base.conclude("base", base.given[0])
    theorem = induction("powers exceed 1", n, 1, start, _step(1, x ** (n + 1) - 1))
    assert str(theorem.conclusion) == "x**n - 1 > 0"
    assert theorem.hypotheses == (positive(x - 1), nonnegative(n - 1))
    with pytest.raises(ProofError):  # the bound of the step is another one
        induction("wrong", n, 1, start, _step(2, x ** (n + 1) - 1))
    with pytest.raises(ProofError):  # the base is not the statement at 2
        induction("wrong", n, 2, start, _step(2, x ** (n + 1) - 1))
    with pytest.raises(ProofError):
        induction("wrong", x, 1, start, _step(1, x ** (n + 1) - 1))


def test_a_symbol_declared_positive_takes_positive_values_only() -> None:
    p = sympy.Symbol("p", positive=True)
    argument = Argument()
    theorem = argument.conclude("1", argument.fact(p / p + 1 / p - 1 / p, lambda: sympy.Integer(1)))
    user = Argument()
    with pytest.raises(ProofError, match="declared"):
        user.use(theorem, {p: y})


@pytest.mark.parametrize(("value", "words"), [(0.1, r"rounded number 0\.1"), ("1", "not text")])
def test_rounded_numbers_and_text_enter_no_argument(value: object, words: str) -> None:
    argument = Argument(positive(x))
    theorem = argument.conclude("x", argument.given[0])
    for attempt in (
        lambda: positive(value),  # type: ignore[arg-type]
        lambda: nonnegative(value),  # type: ignore[arg-type]
        lambda: argument.fact(value, lambda: 1),  # type: ignore[arg-type, return-value]
        lambda: argument.fact(x, lambda p: value, argument.given[0]),  # type: ignore[arg-type, return-value]
        lambda: argument.square(value),  # type: ignore[arg-type]
        lambda: argument.power(argument.given[0], value),  # type: ignore[arg-type]
        lambda: argument.use(theorem, {x: value}, argument.given[0]),  # type: ignore[dict-item]
    ):
        with pytest.raises(InputError, match=words):
            attempt()


@pytest.mark.parametrize(
    "value",
    [
        sympy.sqrt(x),  # its square, x, may be negative
        sympy.sqrt(-1 - x**2),
        sympy.I * x,
        sympy.Symbol("w", imaginary=True),
        sympy.log(x),
        x + 1 / sympy.sqrt(y),
    ],
    ids=str,
)
def test_squares_exponents_and_arguments_are_real(value: sympy.Expr) -> None:
    argument = Argument(positive(y))
    theorem = argument.conclude("x² >= 0", argument.square(x))
    for attempt in (
        lambda: argument.square(value),
        lambda: argument.power(argument.given[0], value),
        lambda: argument.use(theorem, {x: value}, argument.given[0]),
    ):
        with pytest.raises(ProofError, match="not known to be real"):
            attempt()


def test_integer_powers_of_real_numbers_are_real() -> None:
    argument = Argument()
    for value in (x**n - sympy.Rational(1, 3), 1 / (x + y), x ** (-n) * y):
        assert argument.square(value).expression == value**2


# -- attempts to prove what is false ---------------------------------------------------------------


def _used_at_a_pole() -> Theorem:
    inverse = Argument()
    theorem = inverse.conclude("1/x² >= 0", inverse.square(1 / x))
    argument = Argument()
    fact = argument.use(theorem, {x: sympy.Integer(0)})
    return argument.conclude("0 > 0", argument.fact(sympy.Integer(0), lambda q: 1 / (1 + q), fact))


def _used_at_an_odd_number() -> Theorem:
    k = sympy.Symbol("k", even=True)
    signs = Argument()
    same = signs.fact((-1) ** (k + n) - (-1) ** n, lambda: sympy.Integer(0))
    theorem = signs.conclude("(-1)^(k+n) = (-1)^n", same)
    argument = Argument()
    at = {k: sympy.Integer(1), n: sympy.Integer(2)}
    return argument.conclude("-2 >= 0", argument.use(theorem, at))


def _used_at_what_is_no_symbol() -> Theorem:
    squares = Argument()
    theorem = squares.conclude("x² >= 0", squares.square(x))
    argument = Argument()
    return argument.conclude("-1 >= 0", argument.use(theorem, {x**2: sympy.Integer(-1)}))


def _combined_by_looking_inside() -> Theorem:
    argument = Argument(positive(5 - x))
    (gap,) = argument.given
    fact = argument.fact(sympy.Integer(-1), lambda g: sympy.diff(g, x), gap)
    return argument.conclude("-1 >= 0", fact)


def _induction_that_skips_its_start() -> Theorem:
    m = sympy.Symbol("m", integer=True, positive=True)
    first = Argument()
    base = first.conclude("base", first.fact(sympy.Integer(0), lambda: sympy.Integer(0)))
    argument = Argument(nonnegative(m), nonnegative(-m))
    bound, hypothesis = argument.given
    square = argument.square(1 / m)
    low = argument.fact(sympy.Integer(-1), lambda h, b, q: h * b * q, hypothesis, bound, square)
    fall = argument.fact(-(m + 1), lambda h, low: h + low, hypothesis, low)
    return induction("-m >= 0", m, 0, base, argument.conclude("step", fall))


def _another_conclusion() -> Theorem:
    argument = Argument()
    theorem = argument.conclude("x² >= 0", argument.square(x))
    return dataclasses.replace(theorem, conclusion=positive(sympy.Integer(-1)))


@pytest.mark.parametrize(
    "forged",
    [
        _used_at_a_pole,
        _used_at_an_odd_number,
        _used_at_what_is_no_symbol,
        _combined_by_looking_inside,
        _induction_that_skips_its_start,
        _another_conclusion,
    ],
    ids=lambda f: f.__name__.strip("_"),
)
def test_no_falsehood_is_a_theorem(forged) -> None:
    with pytest.raises((ProofError, ValueError)):
        forged()
