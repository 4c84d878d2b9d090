"""Uniqueness: proofs against exact values, certificates, the pair integral against F_T itself."""

import itertools
from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from theoryverify.errors import InputError
from theoryverify.exact.densities import Shell, Uniform
from theoryverify.exact.facts import Theorem
from theoryverify.exact.laws import Discrete
from theoryverify.exact.rationals import rational
from theoryverify.exact.roots import algebraic_root, evaluate
from theoryverify.papers.lca import pair_polynomials as pairs
from theoryverify.papers.lca import uniqueness as u
from theoryverify.papers.lca import uniqueness_cases, uniqueness_lemmas, uniqueness_signs
from theoryverify.papers.lca.pair_integral import open_count, pair_integral, pair_means
from theoryverify.papers.lca.theory import T

CASES = [
    uniqueness_cases.depth_two,
    uniqueness_cases.case_a,
    uniqueness_cases.case_b,
    uniqueness_cases.case_c,
    uniqueness_cases.case_d,
    uniqueness_cases.case_e_near,
    uniqueness_cases.case_e_far,
    uniqueness_cases.case_f,
    uniqueness_cases.case_g,
    uniqueness_cases.case_e_beyond,
    uniqueness_lemmas.M1,
    uniqueness_lemmas.M2,
    uniqueness_lemmas.M3_G,
    uniqueness_lemmas.M3_R,
    uniqueness_lemmas.M4_R,
    uniqueness_lemmas.M4_G,
    *(lambda theorem=theorem: theorem for theorem in uniqueness_signs.theorems()),
]


def _substituted(expression: sympy.Expr, at: dict[sympy.Symbol, sympy.Expr]) -> sympy.Expr:
    whole = {s: v for s, v in at.items() if s.is_integer}
    return expression.subs(whole).subs({s: v for s, v in at.items() if not s.is_integer})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case().name)
def test_each_theorem_is_true_at_exact_points(case) -> None:
    """A proof that was accepted must be right wherever its hypotheses hold (and they do)."""
    theorem: Theorem = case()
    symbols = sorted(theorem.expression.free_symbols, key=lambda s: s.name)
    reals = [sympy.Rational(k, 6) for k in (-7, -5, -2, 1, 3, 5, 8, 9)]
    whole = [sympy.Integer(k) for k in (1, 2, 3)]
    met = 0
    for values in itertools.product(*(whole if s.is_integer else reals for s in symbols)):
        at = dict(zip(symbols, values, strict=True))
        signs = [_substituted(h.expression, at) for h in theorem.hypotheses]
        if not all(
            s.is_finite and (s > 0 or (s == 0 and not h.strict))
            for s, h in zip(signs, theorem.hypotheses, strict=True)
        ):
            continue
        value = _substituted(theorem.expression, at)
        assert value > 0 or (value == 0 and not theorem.conclusion.strict), at
        met += 1
    assert met >= 2


@given(
    st.fractions(-1, 1, max_denominator=30), st.fractions(-1, 1, max_denominator=30),
    st.integers(2, 12),
)  # fmt: skip
def test_integer_polynomials_are_the_closed_forms(x: Fraction, y: Fraction, depth: int) -> None:
    if x == y or 1 in (x, y) or 0 in (x, y):
        return
    at = {T: depth, u.x: sympy.Rational(x), u.y: sympy.Rational(y)}
    for parts, closed in (
        (pairs.kernel_parts(depth), u.P()),
        (pairs.identity_parts(depth), u.Q()),
        (pairs.shifted_parts(depth, 2 * depth - 4), u.Q()),
        (pairs.shifted_parts(depth, "1/3"), 3 * u.D() + u.P()),
    ):
        total = sum(
            int(c) * x ** (d - j) * y**j for d, part in parts.items()
            for j, c in enumerate(part.coeffs())
        )  # fmt: skip
        assert total == rational(closed.subs(at))


@pytest.mark.parametrize("depth", [2, 3, 4, 5, 10, 31])
def test_certificates(depth: int) -> None:
    found = pairs.certify(depth, 2 * depth - 4, ray=depth % 2 == 0)
    assert found.holds
    assert found.boxes == (7 if depth % 2 == 0 else 4)  # no bisection


@pytest.mark.parametrize(
    ("depth", "constant", "holds"),
    [(6, 18, True), (6, "18.01", False), (6, 0, False), (6, 5, True), (7, 0, True),
     (7, "-0.01", False), (3, 4, True), (3, "4.01", False)],
)  # fmt: skip
def test_other_constants(depth: int, constant: int | str, holds: bool) -> None:
    assert pairs.certify(depth, constant).holds is holds


def test_certificate_input() -> None:
    with pytest.raises(InputError):
        pairs.certify(1, 0)
    with pytest.raises(InputError):
        pairs.certify(4, 0.5)  # type: ignore[arg-type]


def _profile(law: Discrete, depth: int, beta: Fraction) -> tuple[Fraction, Fraction]:
    """``F_T(β)`` and its derivative, literally, from ``S_T = Σ Z(1+βZ)^k``."""
    A = B = A1 = B1 = W = Fraction(0)
    for z, p in law.atoms.items():
        weight = p * (z - 1) / z
        S = sum(z * (1 + beta * z) ** k for k in range(depth))
        S1 = sum(k * z * z * (1 + beta * z) ** (k - 1) for k in range(1, depth))
        W, A, B = W + weight, A + weight * S * S, B + weight * S
        A1, B1 = A1 + 2 * weight * S * S1, B1 + weight * S1
    return W - B * B / A, -2 * B * B1 / A + B * B * A1 / A**2


LAW = Discrete({2: "1/4", 3: "1/4", 5: "1/2"})


@given(st.fractions("-1", "1", max_denominator=20), st.integers(2, 6))
def test_the_pair_integral_is_the_derivative(beta: Fraction, depth: int) -> None:
    if beta == 0:
        return
    value, slope = _profile(LAW, depth, beta)
    means, pair, at = pair_means(LAW, depth), pair_integral(LAW, depth), -beta
    w, w2 = evaluate(means.w, at), evaluate(means.w_squared, at)
    mass = sum((p * (z - 1) / z for z, p in LAW.atoms.items()), Fraction(0))
    assert value == mass - w * w / w2
    assert slope == depth * at**3 * w * evaluate(pair.integral, at) / w2**2


def test_known_minimisers() -> None:
    window = Fraction(2, 5)
    two = algebraic_root(pair_integral(Uniform(2, 5), 2).integral, Fraction(0), window)
    assert two.rational_value() == Fraction(11, 40)
    three = algebraic_root(pair_integral(Uniform(2, 5), 3).integral, Fraction(0), window)
    assert three.enclosure(20).overlaps(three.enclosure(30))
    assert three.enclosure(20).contains("0.272338004815326576613")


def test_degenerate_cases_vanish() -> None:
    assert pair_integral(LAW, 1).integral.degree() < 0
    assert pair_integral(Discrete({3: 1}), 5).integral.degree() < 0
    with pytest.raises(InputError, match="not rational"):
        pair_integral(Shell(7, 2, 5), 2)


def test_odd_depths_have_a_second_point_outside_the_window() -> None:
    integral = pair_integral(Uniform(2, 5), 3).integral
    assert open_count(integral, Fraction(0), Fraction(2, 5)) == 1
    assert open_count(integral, Fraction(0), Fraction(10)) == 2
