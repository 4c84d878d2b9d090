"""The paper's formulas against independent computations, and its derivations."""

import mpmath
import pytest
import sympy

from theoryverify.claims.derive import derive
from theoryverify.errors import InputError
from theoryverify.exact.balls import precision
from theoryverify.exact.surds import Surds
from theoryverify.papers.mamba import jump, theory
from theoryverify.papers.mamba.derivations import derivations
from theoryverify.papers.mamba.theory import d, r


@pytest.mark.parametrize("name", [derivation.name for derivation in derivations])
def test_derivations_hold_at_every_step(name: str) -> None:
    document = derive(name).document
    assert len(document["steps"]) >= 5
    assert all(step["holds"] in (True, None) for step in document["steps"])
    assert sum(step["holds"] is True for step in document["steps"]) >= 4


@pytest.mark.parametrize("size", [1, 2, 5, 32])
def test_size_of_the_embedding(size: int) -> None:
    x = sympy.symbols(f"x1:{size + 1}", real=True)
    assert len(theory.embedding(x)) == theory.embedding_dimension().subs(d, size)
    assert theory.embedding_dimension().subs(d, 32) == 561


@pytest.mark.parametrize("dimension", [2, 3, 4, 7])
def test_sphere_moments_against_integrals(dimension: int) -> None:
    """``β_1`` has density proportional to ``(1-x²)^{(r-3)/2}``."""
    with mpmath.workdps(20):

        def moment(power: int) -> mpmath.mpf:
            half = mpmath.mpf(dimension - 1) / 2
            return mpmath.beta(mpmath.mpf(power + 1) / 2, half) / mpmath.beta(0.5, half)

        second, fourth, mixed = (e.subs(r, dimension) for e in theory.sphere_moments())
        assert abs(moment(2) - second) <= 1e-18
        assert abs(moment(4) - fourth) <= 1e-18
        total = dimension * fourth + dimension * (dimension - 1) * mixed
        assert total == 1


@pytest.mark.parametrize(("order", "value"), [(3, 0.1270), (5, -0.1467), (4, 0.1414), (6, -0.1034)])
def test_query_factors(order: int, value: float) -> None:
    t = jump.threshold(order)
    with precision(64):
        found = float(jump.query_factor(order, t).number().real.mid())
    assert found == pytest.approx(value, abs=5e-5)
    with mpmath.workdps(20):
        k = 1 if order % 2 else 2

        def he(m: int, x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.hermite(m, x / mpmath.sqrt(2)) / mpmath.sqrt(2**m * mpmath.factorial(m))

        edge = mpmath.sqrt(1 - mpmath.mpf(1) / order)
        expected = 2 * mpmath.quad(
            lambda x: he(order, x) * he(k, x) * mpmath.npdf(x), [edge, 4, 12]
        )
    assert abs(found - expected) <= 1e-14


def test_the_jump_refuses_bad_input() -> None:
    for bad in (2, 2.0, -3, 10**6):
        with pytest.raises(InputError):
            jump.jump_polynomial(bad)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        jump.query_factor(3, Surds.of(-1))


def test_forms_follow_the_recurrence() -> None:
    diagonal, beside = theory.second_moment_form()
    assert diagonal == 2 * theory.n
    assert theory.pivot(sympy.Integer(8), sympy.Integer(6)) == sympy.Rational(33, 4)
    assert sympy.simplify(beside**2 - (theory.n + 1) * (theory.n + 2)) == 0
