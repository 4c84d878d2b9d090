"""Laws of a bounded scalar: one expectation on three kinds of numbers, exact moments, samples.

Random laws of every kind are drawn with rational parameters. What a ball must contain is computed
by other means: exact moments, mpmath at twice the precision, closed forms.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from flint import arb, ctx
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.balls import Enclosure, accuracy, ball, precision
from theoryverify.exact.densities import Ball, Density, ScaledBeta, Shell, Uniform
from theoryverify.exact.density_piece import Piece
from theoryverify.exact.integrands import LinearPower, Z
from theoryverify.exact.laws import Discrete, Empirical, Law, Mixture, TwoPoint

HALF = Fraction(1, 2)
EVERY_KIND: dict[str, Law] = {
    "uniform": Uniform(2, 5),
    "two-point": TwoPoint(2, 5, "1/3"),
    "discrete": Discrete({2: "1/4", 3: "1/4", 5: "1/2"}),
    "empirical": Empirical(["1.5", "2.25", "2.25", "4"]),
    "mixture": Mixture([("1/3", Discrete({3: 1})), ("2/3", Uniform(2, 5))]),
    "beta with poles at the ends": ScaledBeta(2, 5, "1/2", "1/3"),
    "beta": ScaledBeta("3/2", "7/2", 2, 3),
    "beta with branch points": ScaledBeta(2, 5, "5/2", "4/3"),
    "ball": Ball(4, 5),
    "ball on a line": Ball(1, 3),
    "shell": Shell(8, 2, 5),
    "shell of odd dimension": Shell(3, 2, 5),
    "two pieces": Density(Piece(2, 3, 1, 1), Piece(4, 5, left="-1/2")),
    "smooth factor": Density(Piece(2, 5, smooth=1 / Z + Z**2)),
}
kinds = pytest.mark.parametrize("law", EVERY_KIND.values(), ids=EVERY_KIND)


# -- random laws -------------------------------------------------------------------------------

points = st.fractions(Fraction(11, 10), 8, max_denominator=20)
intervals = st.tuples(points, points).filter(lambda ends: ends[0] < ends[1])
parameters = st.builds(Fraction, st.integers(1, 12), st.sampled_from([1, 1, 2, 3, 4]))


@st.composite
def weights(draw: st.DrawFn, count: int) -> list[Fraction]:
    numbers = draw(st.lists(st.integers(1, 20), min_size=count, max_size=count))
    return [Fraction(number, sum(numbers)) for number in numbers]


@st.composite
def atomic(draw: st.DrawFn) -> Discrete:
    places = draw(st.lists(points, min_size=1, max_size=4, unique=True))
    return Discrete(dict(zip(places, draw(weights(len(places))), strict=True)))


uniforms = intervals.map(lambda ends: Uniform(*ends))
betas = st.builds(lambda ends, p, q: ScaledBeta(*ends, p, q), intervals, parameters, parameters)
balls_ = st.builds(Ball, st.integers(1, 9), points)
shells = st.builds(lambda d, ends: Shell(d, *ends), st.integers(1, 9), intervals)
densities = st.one_of(uniforms, betas, balls_, shells)


@st.composite
def mixtures(draw: st.DrawFn) -> Mixture:
    parts = [draw(atomic()), draw(densities)]
    return Mixture(list(zip(draw(weights(2)), parts, strict=True)))


laws: st.SearchStrategy[Law] = st.one_of(atomic(), densities, mixtures())


def exact(value: arb) -> Fraction:
    mantissa, exponent = value.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def as_fraction(value: Any) -> Fraction:
    sign, mantissa, exponent, _ = value._mpf_
    return (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def distance(found: arb, value: Fraction) -> Fraction:
    """How far a number lies outside a ball."""
    return max(Fraction(0), abs(exact(found.mid()) - value) - exact(found.rad()))


# -- expectations ------------------------------------------------------------------------------


@given(laws)
def test_exact_moments_lie_in_the_balls(law: Law) -> None:
    assert law.moment(0) in (1, None)
    with precision(80):
        for order in range(4):
            found, value = law.expect(Z**order), law.moment(order)
            assert accuracy(found) >= 30
            if value is not None:
                assert distance(found, value) == 0
        assert law.lower <= Enclosure.of(law.expect(Z)).upper
        assert law.upper >= Enclosure.of(law.expect(Z)).lower


@given(laws, st.integers(1, 12), st.fractions(Fraction(1, 9), Fraction(8, 9), max_denominator=9))
@settings(max_examples=12)
def test_balls_contain_mpmath_at_twice_the_precision(law: Law, depth: int, share: Fraction) -> None:
    """``E[W (1-αZ)^{2T}]``, the loss of the one-parameter stack."""
    assume(not law.degenerate)
    alpha = share / law.lower + (1 - share) / law.upper
    loss = LinearPower((Fraction(-1), Fraction(1)), 1, -alpha, 2 * depth, pole=1)
    with precision(64):
        found = law.expect(loss)
    value = as_fraction(law.expect(loss, "mpmath", digits=40))
    assert distance(found, value) <= abs(value) / 10**35
    assert accuracy(found) >= 16


@given(laws, st.integers(0, 6))
def test_balls_shrink_with_precision(law: Law, power: int) -> None:
    radii = []
    for bits in (60, 90, 180):
        with precision(bits):
            found = law.expect((Z - 1) / Z * (1 - Z / 4) ** power)
            radii.append(exact(found.rad()))
    assert radii[1] <= radii[0] / 2**15 or radii[0] == 0
    assert radii[2] <= radii[1] / 2**40 or radii[1] == 0


@given(laws, st.integers(0, 6))
def test_float64_agrees_to_twelve_digits(law: Law, power: int) -> None:
    for integrand in (Z**power, (Z - 1) / Z * (Z / 9) ** power, sympy.Integer(1)):
        with precision(80):
            reference = exact(law.expect(integrand).mid())
        found = law.expect(integrand, "float64")
        assert isinstance(found, float)
        assert abs(Fraction(found) - reference) <= Fraction(1, 10**12) * abs(reference)


@given(laws, points, st.integers(0, 3))
def test_a_cut_divides_the_expectation(law: Law, cut: Fraction, power: int) -> None:
    function = (Z - 1) * (1 - Z / 3) ** power
    with precision(80):
        whole = law.expect(function)
        below, above = law.expect(function, on=(None, cut)), law.expect(function, on=(cut, None))
        assert (below + above).overlaps(whole)
        assert accuracy(below + above) > 20 or (below + above - whole).rad() < arb("1e-9")
        share = law.expect(sympy.Integer(1), on=(None, cut))
        low = law.expect(function, "float64", on=(None, cut))
    assert abs(Fraction(low) - exact(below.mid())) <= Fraction(1, 10**11)
    assert Enclosure.of(share).less_than(0) is not True
    assert Enclosure.of(share).greater_than(1) is not True
    if cut < law.lower:
        assert share.is_zero()


@kinds
def test_three_cuts_of_every_kind(law: Law) -> None:
    """At both ends and at an inner point, where atoms belong to the left part."""
    inner = law.lower + (law.upper - law.lower) / 3
    with precision(80):
        for low, high in ((law.lower, inner), (inner, law.upper), (law.lower, law.upper)):
            parts = [
                law.expect(Z, on=region) for region in ((None, low), (low, high), (high, None))
            ]
            assert parts[2].is_zero() or high < law.upper
            assert parts[0].is_zero() or low > law.lower or law.atom(low) > 0
            assert sum(parts, arb(0)).overlaps(law.expect(Z))
            context = mpmath.mp.clone()
            context.dps = 40
            value = as_fraction(law.expect(Z, "mpmath", on=(low, high), digits=30))
            assert distance(parts[1], value) <= Fraction(1, 10**25)
            near = law.expect(Z, "float64", on=(low, high))
            assert abs(Fraction(near) - value) <= Fraction(1, 10**12)


def test_an_atom_belongs_to_the_left_of_a_cut_at_it() -> None:
    law = Mixture([(HALF, Discrete({2: HALF, 3: HALF})), (HALF, Uniform(2, 4))])
    assert law.expect(sympy.Integer(1), on=(None, Fraction(2))).contains(arb("0.25"))
    assert law.expect(sympy.Integer(1), on=(2, 3)).contains(arb("0.5"))
    assert law.expect(sympy.Integer(1), on=(3, None)).contains(arb("0.25"))
    assert law.expect(sympy.Integer(1), on=(3, 3)).is_zero()
    assert law.expect(sympy.Integer(1), on=(4, 2)).is_zero()
    assert (law.atom(Fraction(2)), law.atom(Fraction(5, 2))) == (Fraction(1, 4), 0)


@pytest.mark.parametrize("depth", [1, 50, 10**4, 10**6])
def test_depth_does_not_wear_out_the_balls(depth: int) -> None:
    """``E[(Z-1)(1-αZ)^{2T-1}; Z <= 1/α]`` under a uniform law, by its closed form."""
    alpha, law = Fraction(2, 7), Uniform(2, 5)
    n = 2 * depth - 1
    with precision(160):
        found = law.expect(
            LinearPower((Fraction(-1), Fraction(1)), 1, -alpha, n), on=(None, 1 / alpha)
        )
        assert accuracy(found) >= 60
        # u = 1 - αz runs from 0 to 3/7, and z - 1 = (1 - α - u)/α.
        u, a = ball("3/7"), ball(alpha)
        value = (((1 - a) / (n + 1) - u / (n + 2)) * u ** (n + 1)) / a**2 / 3
        assert found.overlaps(value)
    plain = law.expect(lambda z: (z - 1) * (1 - z * 2 / 7) ** 3, on=(None, 1 / alpha))
    assert plain.overlaps(law.expect(LinearPower((-1, 1), 1, -alpha, 3), on=(None, 1 / alpha)))


def test_means_that_textbooks_know() -> None:
    assert Uniform(2, 5).moment(2) == 13
    assert TwoPoint(2, 5, "1/3").moment(1) == 4  # 1/3 is the weight of 2
    assert ScaledBeta(0, 1, 2, 3).moment(1) == Fraction(2, 5)
    assert ScaledBeta(0, 1, "1/2", "1/2").moment(2) == Fraction(3, 8)  # the arcsine law
    for d in (1, 2, 5, 8):  # E|m|^2 = R^2 d/(d+2) in a ball
        assert Ball(d, 5).moment(1) == 1 + 4 * Fraction(d, d + 2)
    for d in (2, 4, 8):
        h, a, b = d // 2, 1, 4
        for k in (1, 2):
            inner = sum(
                math.comb(k, j) * (-1) ** (k - j) * (Shell(d, 2, 5).moment(j) or 0)
                for j in range(k + 1)
            )
            assert inner == Fraction(h, h + k) * Fraction(b ** (h + k) - a ** (h + k), b**h - a**h)
    assert Shell(3, 2, 5).moment(1) is None  # it has roots of integers in it
    assert Density(Piece(2, 5, smooth=1 / Z)).moment(1) is None
    assert EVERY_KIND["two pieces"].moment(1) is None
    assert Density(Piece(2, 3, 1, 1), Piece(3, 4)).moment(1) == Fraction(47, 14)
    assert Mixture([(HALF, Shell(3, 2, 5)), (HALF, Uniform(2, 5))]).moment(1) is None


def test_one_law_in_two_guises() -> None:
    with precision(80):
        for left, right in [
            (Ball(5, 4), ScaledBeta(1, 4, "5/2", 1)),
            (Uniform(2, 5), ScaledBeta(2, 5, 1, 1)),
            (Uniform(2, 5), Density(Piece(2, 3), Piece(3, 5))),
            (Uniform(2, 5), Mixture([("1/3", Uniform(2, 3)), ("2/3", Uniform(3, 5))])),
            (Shell(8, 2, 5), Density(Piece(2, 5, smooth=(Z - 1) ** 3))),
            (
                ScaledBeta(2, 5, 2, 2),
                Density(Piece(2, 5, smooth=sympy.Integer(7), left=1, right=1)),
            ),
        ]:
            for function in (Z, 1 / Z, (1 - Z / 3) ** 9):
                one, two = left.expect(function), right.expect(function)
                assert one.overlaps(two)
                assert math.isclose(
                    left.expect(function, "float64"),
                    right.expect(function, "float64"),
                    rel_tol=1e-12,
                )


def test_pieces_are_weighed_against_each_other() -> None:
    """Each piece is peaked, and each on its own scale."""
    law = Density(Piece(2, 3, left=40, right=60), Piece(3, 4, left=3, right=1), Piece(5, 6))
    with precision(100):
        for function in (sympy.Integer(1), Z, Z**5):
            found = law.expect(function)
            assert abs(
                Fraction(law.expect(function, "float64")) / exact(found.mid()) - 1
            ) < Fraction(1, 10**12)
            value = as_fraction(law.expect(function, "mpmath"))
            assert distance(found, value) <= Fraction(1, 10**20)
            assert law.moment(1) is not None
        first = law.expect(sympy.Integer(1), on=(None, 3))
        # B(p+1, q+1) = p! q!/(p+q+1)! for each piece of length 1.
        masses = [
            Fraction(math.factorial(p) * math.factorial(q), math.factorial(p + q + 1))
            for p, q in ((40, 60), (3, 1), (0, 0))
        ]
        assert distance(first, masses[0] / sum(masses)) == 0


def test_concentrated_beta_laws() -> None:
    """Open case F15: the Gauss-Jacobi weights of such a law overflow."""
    law = ScaledBeta("3/2", "7/2", 10001, 90001)
    mean = Fraction(3, 2) + 2 * Fraction(10001, 100002)
    first, second, third = (law.moment(order) for order in (1, 2, 3))
    assert first == mean
    # α*_1 = E[Z-1]/E[(Z-1)Z] of the case, from the same moments.
    assert first is not None
    assert second is not None
    assert (first - 1) / (second - first) == Fraction(14001020018, 23802030049)
    with precision(60):
        assert distance(law.expect(Z), mean) == 0
    assert abs(as_fraction(law.expect(Z, "mpmath")) - mean) < Fraction(1, 10**28)
    for order, value in ((1, first), (2, second), (3, third)):
        assert value is not None
        assert math.isclose(law.expect(Z**order, "float64"), value, rel_tol=1e-12)


def test_ends_with_the_sharpest_exponents() -> None:
    law = ScaledBeta(2, 5, "1/24", "1/24")
    assert law.moment(1) == Fraction(7, 2)
    with precision(60):
        assert distance(law.expect(Z**2), law.moment(2) or Fraction(0)) == 0
    with np.errstate(all="raise", under="ignore"):
        assert math.isclose(law.expect(Z**2, "float64"), law.moment(2) or 0, rel_tol=1e-12)


def test_first_depth_of_the_case_on_densities() -> None:
    """Open case S19, T = 1: ``α*_1 = E[Z-1]/E[(Z-1)Z]`` from exact moments."""
    for law, value in (
        (Uniform(1, 3), Fraction(3, 7)),
        (ScaledBeta("3/2", "7/2", 2, 3), Fraction(26, 63)),
    ):
        first, second = law.moment(1), law.moment(2)
        assert first is not None
        assert second is not None
        assert (first - 1) / (second - first) == value


@kinds
def test_mass_near_the_ends(law: Law) -> None:
    """``P(Z <= lower + ε)`` is of order ``ε^{k+1}``: halving ε shows the exponent."""
    one, width = sympy.Integer(1), law.upper - law.lower
    for side in (0, 1):
        k = law.end_exponents[side]
        masses = []
        for shift in (21, 20):
            eps = width / 2**shift
            region = (None, law.lower + eps) if side == 0 else (law.upper - eps, None)
            with precision(200):
                masses.append(exact(law.expect(one, on=region).mid()))
        assert abs(float(masses[0] / masses[1]) - 0.5 ** float(k + 1)) < 1e-4


# -- precision is nobody else's ----------------------------------------------------------------


@kinds
def test_the_global_precisions_are_left_alone(law: Law) -> None:
    before = ctx.prec, mpmath.mp.dps
    law.expect(Z)
    law.expect(Z, "mpmath", digits=40)
    law.sample(5, rng=0)
    with pytest.raises(UndecidedError):
        law.expect(1 / (Z - law.upper))
    assert (ctx.prec, mpmath.mp.dps) == before


def test_threads_get_their_own_digits() -> None:
    """Open case F28: jobs at 15 and at 60 digits side by side."""
    before = ctx.prec, mpmath.mp.dps
    law, value = Uniform(2, 5), Fraction(13)
    found: dict[int, list[tuple[arb, Any]]] = {15: [], 60: []}

    def work(digits: int) -> None:
        for _ in range(6):
            with precision(4 * digits):
                on_balls = law.expect(Z**2)
            found[digits].append((on_balls, law.expect(Z**2, "mpmath", digits=digits)))

    threads = [threading.Thread(target=work, args=(digits,)) for digits in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for digits, pairs in found.items():
        assert len(pairs) == 6
        for on_balls, high in pairs:
            assert distance(on_balls, value) == 0
            assert digits <= accuracy(on_balls) <= 4 * digits + 8
            assert abs(as_fraction(high) - value) < Fraction(1, 10**digits)
    assert (ctx.prec, mpmath.mp.dps) == before


# -- samples -----------------------------------------------------------------------------------

DRAWS = 200_000
ERROR = 1e-9


@kinds
def test_samples_follow_the_law(law: Law) -> None:
    """Each bound fails for a right sampler with probability at most 10^-9.

    The empirical distribution function is nowhere further than ``sqrt(log(2/δ)/2n)`` from the true
    one (Dvoretzky, Kiefer, Wolfowitz, Massart), the mean of values in ``[a, b]`` no further than
    ``(b-a)`` times that from the expectation (Hoeffding).
    """
    draws = law.sample(DRAWS, rng=20240607)
    assert draws.shape == (DRAWS,)
    assert draws.dtype == np.float64
    slack = 1e-12
    assert float(law.lower) - slack <= draws.min()
    assert draws.max() <= float(law.upper) + slack
    bound = math.sqrt(math.log(2 / ERROR) / (2 * DRAWS))
    for share in range(1, 16):
        cut = law.lower + (law.upper - law.lower) * Fraction(share, 16) + Fraction(1, 10**6)
        expected = law.expect(sympy.Integer(1), "float64", on=(None, cut))
        assert abs(float((draws <= float(cut)).mean()) - expected) <= bound
    for order in (1, 2, 3):
        a, b = float(law.lower) ** order, float(law.upper) ** order
        expected = law.expect(Z**order, "float64")
        assert abs(float((draws**order).mean()) - expected) <= (b - a) * bound + slack


@kinds
def test_samples_depend_on_the_generator_alone(law: Law) -> None:
    assert np.array_equal(law.sample(50, rng=7), law.sample(50, rng=7))
    assert not np.array_equal(law.sample(50, rng=7), law.sample(50, rng=8))
    generator = np.random.default_rng(7)
    first, second = law.sample(50, rng=generator), law.sample(50, rng=generator)
    assert np.array_equal(first, law.sample(50, rng=7))
    assert not np.array_equal(first, second)
    assert law.sample(0, rng=1).shape == (0,)


def test_shells_of_high_dimension_are_sampled_at_once() -> None:
    draws = Shell(10**6, 2, 5).sample(1000, rng=3)
    assert draws.min() > 4.99
    assert draws.max() <= 5


def test_no_sampler_for_a_factor_without_a_bound() -> None:
    law = Density(Piece(2, 5, smooth=1 / (Z - 2 + sympy.Rational(1, 10**13))))
    with pytest.raises(InputError, match="no sampler"):
        law.sample(10, rng=0)


# -- what is not decided, what is refused ------------------------------------------------------


@kinds
def test_a_pole_in_the_support_is_undecided(law: Law) -> None:
    place = law.upper  # in the support of each
    with pytest.raises(UndecidedError):
        law.expect(1 / (Z - sympy.Rational(place)))
    with pytest.raises(UndecidedError):
        law.expect(lambda z: 1 / (z * place.denominator - place.numerator))


@pytest.mark.parametrize("function", [abs, lambda z: z**0.5, lambda z: z if z > 3 else 0])
@pytest.mark.parametrize("law", [Uniform(-1, 3), Shell(3, 2, 5), EVERY_KIND["mixture"]], ids=str)
def test_integrals_of_what_is_not_analytic_are_refused(
    law: Law, function: Callable[..., Any]
) -> None:
    """``E|Z|`` under ``U[-1,3]`` is 5/4; the integrator alone says 1.1547 with 15 digits."""
    with pytest.raises(InputError, match="is not arithmetic"):
        law.expect(function)


def test_roots_in_sympy_know_their_branch_points() -> None:
    with precision(64):
        found = Uniform(1, 3).expect(sympy.sqrt(Z - 1))
        assert found.overlaps(arb(2).sqrt() * 2 / 3)
        with pytest.raises(UndecidedError):
            Uniform(0, 3).expect(sympy.sqrt(Z - 1))  # complex below 1
        # |Z-2|, written with a root: no more digits than are proved.
        kink = sympy.sqrt((Z - 2) ** 2, evaluate=False)
        try:
            wide = Uniform(1, 3).expect(kink)
        except UndecidedError:
            return
        assert wide.contains(arb("0.5"))


def test_atoms_may_have_any_function() -> None:
    law = Discrete({-1: HALF, 3: HALF})
    assert law.expect(abs).contains(2)
    assert law.expect(abs, "float64") == 2


def test_constants_on_every_backend() -> None:
    for law in EVERY_KIND.values():
        assert law.expect(sympy.Integer(3)).contains(3)
        assert law.expect(lambda z: 3, "float64") == pytest.approx(3, rel=1e-13)
        assert abs(law.expect(lambda z: 3, "mpmath") - 3) < 1e-25
    assert Discrete({2: 1}).expect(Z, "float64", on=(3, None)) == 0


REFUSED: list[tuple[Callable[[], Any], str]] = [
    # S17: laws that are none
    (lambda: Discrete({2: "0.6", 3: "0.5"}), "weights sum to 11/10; they must sum to 1"),
    (lambda: Discrete({2: "3/2", 3: "-1/2"}), "weight of atom 3 is -1/2; weights must be positive"),
    (lambda: Discrete({2: 1, 3: 0}), "weight of atom 3 is 0"),
    (lambda: Discrete({}), "at least one atom"),
    (lambda: Discrete({2: HALF, "2.0": HALF}), "atom 2 is given twice"),
    (lambda: Discrete({2.5: 1}), r"atom = 2.5 is a float.*write it as a string: '2.5'"),
    (lambda: Discrete({2: 0.5, 3: 0.5}), r"weight of 2 = 0.5 is a float"),
    (lambda: Discrete({"nan": 1}), "is not a number"),
    (lambda: Discrete({2: "1e400", 3: 1}), r"weights sum to ~1.00000e\+400"),
    (lambda: TwoPoint(5, 2), "needs lower < upper, not 5 and 2"),
    (lambda: TwoPoint(2, 2), "needs lower < upper"),
    (lambda: TwoPoint(2, 5, 1), "weight = 1 must lie strictly between 0 and 1"),
    (lambda: TwoPoint(2, 5, "-0.1"), "must lie strictly between"),
    (lambda: TwoPoint(2, "inf"), "is not a number"),
    (lambda: Empirical([]), "values holds no value"),
    (lambda: Empirical(np.array([2.0, 3.0])), "is a float"),
    (lambda: Empirical([2, True]), "must be a number, not True"),
    (lambda: Mixture([]), "at least one part"),
    (lambda: Mixture([("1/2", Uniform(2, 5))]), "weights of the mixture sum to 1/2"),
    (lambda: Mixture([("3/2", Uniform(2, 5)), ("-1/2", Uniform(2, 3))]), "must be positive"),
    (lambda: Mixture([(1, Uniform(2, 5)), (0, Uniform(2, 9))]), "must be positive"),
    (lambda: Uniform(5, 2), "needs lower < upper, not 5 and 2"),
    (lambda: Uniform(2.0, 5), "lower = 2.0 is a float.*'2.0'"),
    (lambda: Uniform(2, float("inf")), "upper = inf is not finite"),
    (lambda: Uniform(True, 5), "lower must be a number, not True"),
    (lambda: ScaledBeta(2, 5, 0, 1), "p > 0 and q > 0, not 0 and 1"),
    (lambda: ScaledBeta(2, 5, 1, "-1/2"), "p > 0 and q > 0"),
    (lambda: ScaledBeta(5, 2, 1, 1), "needs lower < upper"),
    (lambda: ScaledBeta(2, 5, "1/25", 1), "left end exponent -24/25 has a denominator above 24"),
    (lambda: ScaledBeta(2, 5, 1, "0.333"), "right end exponent .* has a denominator above 24"),
    (lambda: ScaledBeta(2, 5, "1e400", 1), r"left end exponent ~1.00000e\+400 is above"),
    (lambda: ScaledBeta(2, 5, math.pi, 1), "p = 3.14.* is a float"),
    (lambda: Ball(0, 5), "dimension = 0 is out of range"),
    (lambda: Ball(2.0, 5), "dimension = 2.0 is not an integer"),
    (lambda: Ball(3, 1), "the ball needs Zmax > 1, not 1"),
    (lambda: Shell(3, 1, 5), "needs 1 < Zmin < Zmax, not 1 and 5"),
    (lambda: Shell(3, 5, 2), "needs 1 < Zmin < Zmax"),
    (lambda: Piece(2, 3, left=-1), "left end exponent -1 must be above -1"),
    (lambda: Piece(2, 3, smooth=0), "density factor 0 must be positive"),
    (lambda: Piece(2, 3, smooth=0.5), "density factor = 0.5 is a float"),
    (lambda: Piece(2, 3, smooth="Z"), "density factor = 'Z' is not a number"),
    (lambda: Piece(2, 3, smooth=Z * sympy.Symbol("a")), r"free symbols \['a'\]"),
    (lambda: Piece(2, 4, smooth=Z - 3), "is not certified positive on \\[2, 4\\]"),
    (lambda: Piece(2, 4, smooth=(Z - 3) ** 2), "is not certified positive"),
    (lambda: Piece(2, 4, smooth=abs(Z - 3) + 1), "cannot evaluate"),
    (lambda: Density(), "at least one piece"),
    (lambda: Density(Piece(2, 4), Piece(3, 5)), "overlap"),
    (lambda: Uniform(2, 5).expect(Z, "float32"), "backend 'float32' is unknown"),
    (lambda: Uniform(2, 5).expect(Z, on=(2.5, None)), "the lower end = 2.5 is a float"),
    (lambda: Discrete({2: 1}).expect(Z, on=(None, 2.5)), "the upper end = 2.5 is a float"),
    (lambda: Uniform(2, 5).expect("Z"), "cannot take the expectation of 'Z'"),
    (lambda: Uniform(2, 5).expect(sympy.Symbol("a") + Z), "free symbols"),
    (lambda: Uniform(2, "1e400").expect(Z, "float64"), "beyond the range of a float64"),
    (lambda: Discrete({"1e400": 1}).expect(Z, "float64"), "beyond the range of a float64"),
]


@pytest.mark.parametrize(("build", "why"), REFUSED, ids=[why[:30] for _, why in REFUSED])
def test_refused(build: Callable[[], Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        build()


def test_what_laws_say_of_themselves() -> None:
    assert [repr(law) for law in EVERY_KIND.values()] == [
        "uniform(2,5)",
        "two-point(2,5,1/3)",
        "discrete(2:1/4,3:1/4,5:1/2)",
        "empirical(values)",
        "mixture(1/3*discrete(3:1),2/3*uniform(2,5))",
        "beta(2,5,1/2,1/3)",
        "beta(3/2,7/2,2,3)",
        "beta(2,5,5/2,4/3)",
        "ball(4,5)",
        "ball(1,3)",
        "shell(8,2,5)",
        "shell(3,2,5)",
        "density([2,3], [4,5])",
        "density([2,5])",
    ]
    assert repr(Uniform(2, "1e400")) == "uniform(2,~1.00000e+400)"
    assert (EVERY_KIND["mixture"].lower, EVERY_KIND["mixture"].upper) == (2, 5)
    assert Discrete({2: 1}).degenerate
    assert not any(law.degenerate for law in EVERY_KIND.values())
    assert EVERY_KIND["empirical"].atom(Fraction(9, 4)) == HALF
    assert EVERY_KIND["uniform"].atom(Fraction(3)) == 0


@given(laws, laws, st.integers(1, 9))
def test_mixtures_mix(first: Law, second: Law, tenths: int) -> None:
    share = Fraction(tenths, 10)
    law = Mixture([(share, first), (1 - share, second)])
    assume(first.moment(2) is not None and second.moment(2) is not None)
    assert law.moment(2) == share * first.moment(2) + (1 - share) * second.moment(2)
    assert law.lower == min(first.lower, second.lower)
    assert law.atom(first.lower) == share * first.atom(first.lower) + (1 - share) * second.atom(
        first.lower
    )
