"""Eleven ways to fool oneself, and what catches each: the tests behind docs/guide.md."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy

from tests.claims import toy
from theoryverify import information_exponent
from theoryverify.claims import (
    CERTIFIED,
    COMPUTED,
    ERROR,
    HOLDS,
    INCONCLUSIVE,
    OUTSIDE,
    PROVED,
    REFUTED,
    Claim,
    Context,
    Evidence,
    Examination,
)
from theoryverify.claims.examine import run_check
from theoryverify.claims.results import CheckResult
from theoryverify.exact.balls import Enclosure, ball, precision
from theoryverify.exact.evaluate import BALL, FLOAT64, compiled
from theoryverify.stats import BoundedMean, VarianceMean, equivalence
from theoryverify.testing import TheoremViolation, assert_equivalent

x = sympy.Symbol("x", real=True)


def result(claim: Claim) -> CheckResult:
    (check,) = claim.checks
    return run_check(claim, check, Context())


# 1. A threshold decides what is zero.


def test_1_a_small_coefficient_is_not_zero() -> None:
    """E[g He_1] = 1e-12: any tolerance calls it zero, and the exponent comes out as 4."""
    assert information_exponent("He4(z) - 1e-12*z").value == 1
    assert information_exponent("He4(z)").value == 4


# 2. "Not rejected" is read as "shown".


def test_2_too_few_draws_are_inconclusive() -> None:
    """Forty draws of mean 0.1 do not reject mean 0; they do not show it either."""
    rng = np.random.default_rng(0)
    draws = rng.normal(0.1, 1, 40)
    assert abs(draws.mean()) < 1.96 / math.sqrt(40)  # what a test would "accept"
    found = equivalence(
        lambda n, rng: rng.normal(0.1, 1, n),
        0.0,
        0.05,
        sequence=VarianceMean(1.0, error=1e-6, horizon=40),
        budget=40,
        rng=rng,
    )
    assert found.verdict is INCONCLUSIVE


# 3. Looking again and again until it is significant.


def test_3_looking_often_costs_nothing() -> None:
    """Over 200 experiments with a fair mean: peeking at |z| > 3 errs in some, a sequence in none."""
    rng = np.random.default_rng(1)
    peeked = covered = 0
    for _ in range(200):
        draws = rng.choice((-1.0, 1.0), 4000)
        counts = np.arange(1, 4001)
        z = np.cumsum(draws) / np.sqrt(counts)
        peeked += bool((np.abs(z[9::10]) > 3).any())
        sequence = BoundedMean(-1, 1, error=1e-3)
        inside = True
        for part in np.split(draws, 20):
            sequence.update(part)
            inside &= sequence.interval.lower <= 0 <= sequence.interval.upper
        covered += inside
    assert peeked >= 2  # nominal: 0.27% of 200 is half an experiment
    assert covered == 200


# 4. A normal interval for draws with heavy tails.


def test_4_heavy_tails() -> None:
    """he_3(z)² has mean 1; the normal 99.9% interval at n = 300 misses it in more than 5% of runs."""
    rng = np.random.default_rng(2)
    z = rng.standard_normal((400, 300))
    draws = ((z**3 - 3 * z) / math.sqrt(6)) ** 2
    half = 3.29 * draws.std(axis=1, ddof=1) / math.sqrt(300)
    missed = np.abs(draws.mean(axis=1) - 1) > half
    assert missed.mean() > 0.05
    variance = 92.0  # E he_3⁴ - 1, exactly: E(z³-3z)⁴ = 3348
    assert variance == 3348 / 36 - 1
    for row in draws[:100]:
        sequence = VarianceMean(variance, error=1e-3, horizon=300)
        sequence.update(row)
        assert sequence.interval.lower <= 1 <= sequence.interval.upper


# 5. A check that cannot fail.


def test_5_a_check_that_accepts_its_control_counts_for_nothing() -> None:
    found = result(toy.gullible())
    assert found.found is HOLDS  # what it says
    assert found.verdict is INCONCLUSIVE  # what is believed
    assert not found.sound
    assert found.controls[0].verdict is HOLDS


# 6. A control so wrong that anything would catch it.


def test_6_mutants_show_a_blunt_check() -> None:
    """To one digit, 2.9x is as good as 3x; the far control is refuted, the near mutants are not."""
    claim = Claim("toy.blunt", "Lemma 1", "f(x)=3x")

    @claim.check("one digit", COMPUTED, formula=3 * x + 1, controls={"far": 1000 * x})
    def one_digit(formula: sympy.Expr, examination: Examination) -> Evidence:
        off = abs(float(formula.subs(x, 1)) - 4)
        examination.decide("f(1) = 4 to a digit", off < 10, f"off by {off}")
        return examination.evidence("x = 1")

    found = result(claim)
    assert found.sound
    assert found.mutants.killed < found.mutants.tried  # what the table shows beside the verdict

    @(sharp := Claim("toy.sharp", "Lemma 1", "f(x)=3x")).check(
        "exactly",
        PROVED,
        formula=3 * x + 1,
        controls={"close": 3 * x + 1 + sympy.Rational(1, 10**9)},
    )
    def exactly(formula: sympy.Expr, examination: Examination) -> Evidence:
        examination.identity("f", formula, x + x + x + 1)
        return examination.evidence("every x")

    assert result(sharp).mutants.killed == result(sharp).mutants.tried


# 7. NaN passes `if error > tolerance: fail`.


def test_7_nan_is_no_agreement() -> None:
    assert not float("nan") > 1e-6  # so the usual spelling lets it pass
    with pytest.raises(TheoremViolation, match="nan"):
        assert_equivalent(lambda n, rng: np.full(n, np.nan), 0, 0.1, rng=0)
    with precision(64), pytest.raises(Exception, match="finite"):
        Enclosure.of(ball(0) / ball(0))


# 8. A crash is counted as a refutation, or as nothing.


def test_8_an_exception_is_an_error() -> None:
    found = result(toy.broken())
    assert found.verdict is ERROR
    assert "ZeroDivisionError" in found.reason

    wrong = Claim("toy.crashing-control", "Lemma 1", "?")

    @wrong.check("divide", CERTIFIED, formula=1, controls={"zero": 0}, mutate=False)
    def divide(formula: int, examination: Examination) -> Evidence:
        examination.decide("1/f = 1", 1 / formula == 1, "")
        return examination.evidence("one number")

    assert not result(wrong).sound  # the control crashed; it was not refuted


# 9. A theorem is examined where its hypotheses do not hold.


def test_9_outside_is_not_holds() -> None:
    claim = toy.cases("toy.positive", -5)
    found = result(claim)
    assert found.verdict is OUTSIDE
    assert "positivity" in found.reason


# 10. Digits that cancellation has eaten.


def test_10_cancellation_shows_as_a_wide_ball() -> None:
    """(1-cos)-like: sqrt(1+x²) - 1 at x = 1e-9 is 5e-19; a float says 0."""
    formula = sympy.sqrt(1 + x**2) - 1
    assert compiled(formula, FLOAT64)({"x": 1e-9}, False) == 0.0
    examination = Examination()
    with precision(53):
        value = Enclosure.of(compiled(formula, BALL)({"x": ball("1e-9")}, False))
        exact = Enclosure.of(ball("5e-19"))
        examination.equal("5e-19", value, exact, digits=3)
    assert examination.evidence("x = 1e-9").verdict is INCONCLUSIVE
    with precision(200):
        value = Enclosure.of(compiled(formula, BALL)({"x": ball("1e-9")}, False))
        assert value.less_than(Enclosure.of(ball("5e-19"))) is True
        assert value.greater_than(Enclosure.of(ball("4.99e-19"))) is True


# 11. A formula that is compared with itself.


def test_11_a_copy_of_a_formula_agrees_with_it_and_a_derivation_does_not() -> None:
    """0 + 1 + ... + n is not n(n-1)/2; to see it, the other side must come from the sum."""
    n = sympy.Symbol("n", integer=True, nonnegative=True)
    wrong, controls = n * (n - 1) / 2, {"n²": n**2, "close": n * (n - 1) / 2 + 1}
    claim = Claim("toy.copied", "Lemma 1", r"\sum_{k=0}^nk=n(n-1)/2")

    @claim.check("copied", PROVED, formula=wrong, controls=controls)
    def copied(formula: sympy.Expr, examination: Examination) -> Evidence:
        examination.identity("f", formula, sympy.expand(wrong))
        return examination.evidence("every n")

    found = result(claim)
    assert found.verdict is HOLDS
    assert found.mutants.killed == found.mutants.tried > 0

    derived = Claim("toy.derived", "Lemma 1", claim.statement)

    @derived.check("by its steps", PROVED, formula=wrong, controls=controls)
    def by_steps(formula: sympy.Expr, examination: Examination) -> Evidence:
        examination.identity("f(0) = 0", formula.subs(n, 0), 0)
        examination.identity("f(n+1) = f(n) + n+1", formula.subs(n, n + 1), formula + n + 1)
        return examination.evidence("every n")

    assert result(derived).verdict is REFUTED
