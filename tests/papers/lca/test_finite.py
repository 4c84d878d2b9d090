"""Finite context: exact risks, Gamma moments, Appendix H, the explosion, the risk estimate."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import sympy

from theoryverify.cli import main
from theoryverify.errors import HypothesisError, InputError
from theoryverify.exact.densities import Ball, ScaledBeta, Uniform
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Discrete, Law, TwoPoint
from theoryverify.exact.roots import evaluate
from theoryverify.papers.lca import finite, theory
from theoryverify.papers.lca.appendix_h import appendix_h, least_admissible_context
from theoryverify.papers.lca.explosion import excess_at_least, explosion_threshold
from theoryverify.papers.lca.finite_bayes import bayes_reference, best_slope
from theoryverify.papers.lca.finite_scalar import (
    scalar_mean,
    scalar_moments,
    scalar_slope_polynomial,
)
from theoryverify.papers.lca.loss import excess_loss
from theoryverify.papers.lca.reliability import Setup, cells_of, log_tail, unseen_tail
from theoryverify.papers.lca.risk import finite_context_risk
from theoryverify.papers.lca.theory import M
from theoryverify.papers.lca.wick import literal_moments
from theoryverify.simulate.exact_law import sample_chain, sample_factor

UNIFORM = Uniform(2, 5)
STEP = Fraction(2, 7)

# Another person's numbers, from quadrature and closed forms (40-digit arithmetic).
REFERENCE_BIAS = {
    (1, 40): "0.0802840417562340258912052",
    (5, 200): "0.000270386295161804950818282",
    (10, 200): "0.0000407184477398384026408978",
    (20, 50): "1003096731.88265369246292",
}
REFERENCE_NOISE = {
    (1, 40): "0.00714285714285714285714286",
    (5, 200): "0.00154154482551279946234259",
    (10, 200): "0.00154194120061246207658959",
}


def close(found: object, value: str, digits: int) -> bool:
    exact = Fraction(value)
    return abs(found.lower - exact) < abs(exact) / 10**digits  # type: ignore[attr-defined]


# -- exact risks --------------------------------------------------------------------------------


def test_one_layer_reference() -> None:
    _, excess = finite.finite_risk(UNIFORM, dim=5, context=40, depth=1, alpha=STEP)
    assert close(excess, "0.0955901642052136177279399", 23)


HALF, THIRD = Fraction(1, 2), Fraction(2, 3)


@pytest.mark.parametrize(
    ("m", "L", "T"),
    [
        ((THIRD,), 1, 3),
        ((THIRD,), 3, 3),
        ((HALF, THIRD), 1, 3),
        ((HALF, THIRD), 2, 3),
        ((HALF, THIRD), 3, 2),
        ((HALF, THIRD, -HALF), 1, 3),
        ((HALF, THIRD, -HALF), 2, 2),
    ],
)
@pytest.mark.parametrize("beta", [Fraction(-2, 7), Fraction(-1, 5), Fraction(1, 3), Fraction(0)])
def test_polynomials_against_the_literal_model(
    m: tuple[Fraction, ...], L: int, T: int, beta: Fraction
) -> None:
    """Exact equality of four moments; chain and literal model share no line of code."""
    expected = literal_moments(m, L, STEP, beta, T)
    at = finite.prompt_point(len(m), L, STEP, beta)
    size = sum(entry**2 for entry in m)
    found = finite.prompt_moments_at(T, at)
    for name in ("along", "along_square", "square", "risk"):
        value = getattr(found, name).subs(M, sympy.Rational(size.numerator, size.denominator))
        assert Fraction(int(value.p), int(value.q)) == getattr(expected, name), name


@pytest.mark.parametrize("T", [1, 2, 3])
def test_general_and_numeric_polynomials_agree(T: int) -> None:
    at = finite.prompt_point(5, 40, STEP, Fraction(-1, 5))
    general = finite.prompt_moments(T).risk.subs(at)
    assert sympy.expand(general - finite.prompt_moments_at(T, at).risk) == 0


@pytest.mark.parametrize("law", [UNIFORM, TwoPoint(2, 5, "1/3"), ScaledBeta(2, 5, "1/2", 2)])
@pytest.mark.parametrize("beta", [None, "-1/5"])
def test_one_dimension_two_ways(law: Law, beta: str | None) -> None:
    for T in (1, 2, 3):
        _, excess = finite.finite_risk(
            law,
            dim=1,
            context=30,
            depth=T,
            alpha=STEP,
            beta=beta,
            digits=20,  # type: ignore[arg-type]
        )
        bias, noise = scalar_mean(law, context=30, depth=T, alpha=STEP, beta=beta)  # type: ignore[arg-type]
        low, high = bias.lower + noise.lower, bias.upper + noise.upper
        assert excess.lower <= high
        assert low <= excess.upper
        assert high - low < low / 10**15


def test_the_variance_of_u_reaches_the_finite_risk() -> None:
    """Change (3.1) and nothing else: the limit in L is the loss derived for that setting."""
    for setting in (
        theory.Setting(sympy.Integer(2)),
        theory.Setting(variance_noise=sympy.Integer(3)),
    ):
        risk = finite.prompt_moments(2, setting).risk
        at_infinity = sympy.limit(risk, finite.L, sympy.oo)
        whole = theory.loss_integrand(setting, sympy.Integer(2)) + theory.noise_share(setting)
        sigma = theory.covariance_x(setting)
        in_m = whole.subs(Z, sigma.iso + sigma.spike * M)
        assert sympy.cancel(at_infinity - in_m) == 0


def test_the_second_moment_against_a_sample() -> None:
    at = finite.prompt_point(4, 12, STEP, None)
    exact = float(finite.second_moment_of_risk(2, at).subs(M, 2))
    risk = sample_factor(np.full(400_000, 3.0), 4, 12, rng=5).slopes(2 / 7, -2 / 7, 2).risk ** 2
    assert abs(risk.mean() - exact) < 6 * risk.std() / math.sqrt(risk.size)
    # d = 1: the same number from Gamma moments.
    law = Discrete({3: 1})
    second = finite.second_moment_of_risk(2, finite.prompt_point(1, 12, STEP, None)).subs(M, 2)
    first = finite.prompt_moments_at(2, finite.prompt_point(1, 12, STEP, None)).risk.subs(M, 2)
    gamma = scalar_moments(law, context=12, depth=2, alpha=STEP)
    assert math.isclose(float(gamma.second), float(second - 2 * first / 3 + sympy.Rational(1, 9)))


def test_three_digits_of_the_finite_context_term() -> None:
    """T = 1: the 1/L term of the exact risk, from the sampler, to three digits."""
    d, L = 64, 4096
    law = Uniform(2, 5)
    _, exact = finite.finite_risk(law, dim=d, context=L, depth=1, alpha=STEP)
    limit = excess_loss(law, STEP, depth=1).excess
    term = float(exact) - float(limit)
    found = finite_context_risk(law, dim=d, context=L, depth=1, alpha=STEP, prompts=10**6, rng=11)
    assert abs(found.excess - float(exact)) < 1e-3 * term
    assert 5 * found.standard_error < 5e-3 * term


@pytest.mark.parametrize(("d", "L"), [(10**6, 10**9), (3, 50), (40, 20)])
@pytest.mark.parametrize("beta", [None, "-1/5"])
def test_three_layers_by_simulation(d: int, L: int, beta: str | None) -> None:
    _, exact = finite.finite_risk(UNIFORM, dim=d, context=L, depth=3, alpha="1/5", beta=beta)
    found = finite_context_risk(
        UNIFORM, dim=d, context=L, depth=3, alpha="1/5", beta=beta, prompts=100_000, rng=3
    )
    assert abs(found.excess - float(exact)) < 6 * found.standard_error


# -- d = 1 --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("T", "L"), REFERENCE_BIAS)
def test_gamma_moments_reference(T: int, L: int) -> None:
    bias, noise = scalar_mean(UNIFORM, context=L, depth=T, alpha=STEP, digits=30)
    assert close(bias, REFERENCE_BIAS[T, L], 22)
    if (T, L) in REFERENCE_NOISE:
        assert close(noise, REFERENCE_NOISE[T, L], 22)


def test_relative_deviation_of_the_bias() -> None:
    found = scalar_moments(UNIFORM, context=200, depth=6, alpha=STEP)
    assert math.isclose(found.bias_relative_deviation, 41.02, rel_tol=1e-3)


def test_slope_polynomial_is_the_derivative() -> None:
    """``-R'/(2T)`` against a difference quotient of exact enclosures."""
    T, L, h = 4, 30, Fraction(1, 10**10)
    slope = scalar_slope_polynomial(UNIFORM, L, T)
    assert slope is not None
    at = Fraction(1, 5)
    values = []
    for point in (at - h, at + h):
        bias, noise = scalar_mean(UNIFORM, context=L, depth=T, alpha=point, digits=40)
        values.append(bias.lower + noise.lower)
    quotient = (values[1] - values[0]) / (2 * h)
    assert math.isclose(float(evaluate(slope, at)), float(-quotient / (2 * T)), rel_tol=1e-9)


# -- Appendix H and the explosion ---------------------------------------------------------------


def test_appendix_h_reference() -> None:
    found = appendix_h(
        Discrete({3: 1}), dim=5, context=4000, depth=20, alpha=STEP, t="0.05", top=5, digits=30
    )
    assert close(found.bias, "0.0000168828542036401754047712", 22)
    assert close(found.noise, "0.000502295959894617564334443", 22)
    assert close(found.rho, "0.760978612632206289948023", 22)
    assert close(found.delta, "0.0853553390593273762200422", 22)
    assert found.admissible is True


def test_the_window_and_the_least_context() -> None:
    vacuous = appendix_h(UNIFORM, dim=5, context=400, depth=5, alpha=STEP, t="0.1")
    assert vacuous.admissible is False
    assert vacuous.rho.lower > 1
    assert least_admissible_context(UNIFORM, 5) == 149
    least = least_admissible_context(Ball(4, 5), 1000)
    step = Fraction(2) / 6
    for L, expected in ((least, True), (least - 1, False)):
        found = appendix_h(
            Ball(4, 5), dim=1000, context=L, depth=1, alpha=step, t=Fraction(1, 10**8)
        )
        assert found.admissible is expected


def test_thresholds() -> None:
    assert close(explosion_threshold("10/7").mean, "0.11725032544", 9)
    assert close(explosion_threshold("4/3").second, "0.0750119484", 8)
    with pytest.raises(InputError, match="between 1 and 2"):
        explosion_threshold(2)


@pytest.mark.parametrize("d", [1, 2, 7, 300])
@pytest.mark.parametrize("T", [1, 2, 3])
def test_the_lower_bound_is_below_the_exact_risk(d: int, T: int) -> None:
    for L in (3, 30):
        least = excess_at_least(UNIFORM, context=L, depth=T, alpha=STEP)
        _, exact = finite.finite_risk(UNIFORM, dim=d, context=L, depth=T, alpha=STEP)
        assert least.lower <= exact.upper


@pytest.mark.parametrize(("d", "L"), [(1, 50), (5, 40), (20, 20), (30, 300)])
def test_tail_bounds_are_bounds(d: int, L: int) -> None:
    """Against the spectral norm of 20,000 draws at Z = 5, with six standard errors of slack."""
    setup = Setup(2.0, 5.0, ((5.0, 1.0),), d, L, 3, 0.25, -0.25)
    draws = sample_factor(np.full(20_000, 5.0), d, L, rng=8).covariance
    norm = np.linalg.eigvalsh(draws)[:, -1]
    for level in np.quantile(norm, [0.1, 0.5, 0.9, 0.99, 0.999]):
        seen = float(np.mean(norm > level))
        bound = math.exp(float(log_tail(np.array([level]), 5.0, setup)[0]))
        assert bound >= seen - 6 * math.sqrt(seen / norm.size), (level, seen, bound)


def test_unseen_tail_bounds_the_exact_second_moment_at_one_dimension() -> None:
    """Where nearly all of E[e²] is unseen, the bound must exceed the exact second moment."""
    for T, L in ((20, 50), (10, 60)):
        setup = Setup(2.0, 5.0, cells_of(UNIFORM), 1, L, T, 2 / 7, -2 / 7)
        exact = scalar_moments(UNIFORM, context=L, depth=T, alpha=STEP).second
        assert unseen_tail(setup, 1000).log_second > math.log(float(exact)) - 0.1


# -- the risk estimate --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("d", "L", "T", "status"),
    [
        (1, 200, 6, "unreliable"),
        (1, 50, 20, "unreliable"),
        (1, 1000, 20, "ok"),
        (5, 40, 1, "ok"),
        (5, 40, 3, "unreliable"),
        (5, 4000, 20, "ok"),
        (64, 4096, 32, "ok"),
        (20, 50, 10, "unreliable"),
        (10**6, 10**9, 32, "ok"),
        (5, 4000, 500, "unreliable"),
    ],
)
def test_status(d: int, L: int, T: int, status: str) -> None:
    found = finite_context_risk(
        UNIFORM, dim=d, context=L, depth=T, alpha=STEP, prompts=10_000, rng=2
    )
    assert found.status == status, found
    assert bool(found.warnings) == (status == "unreliable")


def test_intervals_cover_the_exact_risk() -> None:
    """99% nominal: more than 8 misses in 100 have probability 1e-6 there, 1e-3 at 97.5%."""
    risk, _ = finite.finite_risk(UNIFORM, dim=5, context=40, depth=1, alpha=STEP)
    misses = 0
    for seed in range(100):
        found = finite_context_risk(
            UNIFORM, dim=5, context=40, depth=1, alpha=STEP, prompts=1000, rng=seed
        )
        misses += not found.lower <= float(risk) <= found.upper
    assert misses <= 8


def test_two_parameters_and_steps_beyond_the_window() -> None:
    found = finite_context_risk(
        UNIFORM, dim=4, context=10**6, depth=6, alpha="1/2", beta="1/10", prompts=2000, rng=0
    )
    exact = float(excess_loss(UNIFORM, "1/2", "1/10", depth=6).excess)
    assert abs(found.excess / exact - 1) < 0.01
    assert any("-beta·Zmax" in warning for warning in found.warnings)
    wild = finite_context_risk(UNIFORM, dim=4, context=10, depth=2000, alpha=3, prompts=100, rng=0)
    assert wild.status == "unreliable"
    assert math.isnan(wild.mean)
    assert any("alpha·Zmax = 15" in warning for warning in wild.warnings)


@pytest.mark.parametrize("beta", [None, 0, "1/5", "-1"])
def test_a_step_of_zero_leaves_nothing_to_chance(beta: object) -> None:
    found = finite_context_risk(
        UNIFORM, dim=5, context=100, depth=3, alpha=0, beta=beta, prompts=2000, rng=0
    )
    assert found.status == "ok"
    assert [found.lower, found.mean, found.upper] == pytest.approx([1, 1, 1], abs=1e-12)
    assert found.warnings == (
        "alpha = 0: the prediction is 0 on every prompt, and the risk is E[y²]",
    )


def test_mixing_weights_of_zero_and_above_do_not_contract() -> None:
    for beta, reach in ((0, "0"), ("1/5", "-1")):
        found = finite_context_risk(
            UNIFORM, dim=5, context=100, depth=3, alpha=STEP, beta=beta, prompts=2000, rng=0
        )
        expected = f"-beta·Zmax = {reach} is not positive: the iteration does not contract"
        assert found.warnings[0] == expected


def test_bad_input() -> None:
    good = {"dim": 3, "context": 5, "depth": 2, "alpha": "1/4", "prompts": 10}
    for change, message in (
        ({"dim": 0}, "dim = 0"),
        ({"context": "x"}, "context = 'x'"),
        ({"depth": 1.5}, "depth = 1.5"),
        ({"prompts": 1}, "prompts = 1"),
        ({"prompts": 10**9}, "prompts = 1000000000"),
        ({"alpha": 0.25}, "write it as a string"),
        (
            {"prompts": 10**8, "depth": 10**4, "dim": 10**5, "context": 10**5},
            "at most 10000 prompts",
        ),
    ):
        with pytest.raises(InputError, match=message):
            finite_context_risk(UNIFORM, **(good | change))  # type: ignore[arg-type]
    with pytest.raises(HypothesisError):
        finite_context_risk(Discrete({2: 1}), **good)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="δ"):
        appendix_h(UNIFORM, dim=5, context=4, depth=2, alpha="1/4", t="0.1")
    with pytest.raises(InputError, match="between 1 and 3"):
        finite.finite_risk(UNIFORM, dim=5, context=4, depth=4, alpha="1/4")


ARGUMENTS = ["risk", "--law", "uniform(2,5)", "--alpha", "2/7", "--prompts", "2000"]


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--dim", "5", "--context", "40", "--depth", "1", "--seed", "3"]
    assert main([*ARGUMENTS, *sizes, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["interval"]["lower"] < found["mean"] < found["interval"]["upper"]
    assert 0 < found["interval"]["confidence"] < 1
    assert math.isclose(found["bayes_risk"], math.log(2.5) / 3)
    assert (found["prompts"], found["status"], found["warnings"]) == (2000, "ok", [])
    assert found["exact"]["excess"]["lower"].startswith("0.09559016420521")
    assert main([*ARGUMENTS, *sizes, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == found
    assert main([*ARGUMENTS, *sizes]) == 0
    assert "status" in capsys.readouterr().out


def test_command_where_the_moments_explode(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ARGUMENTS, "--dim", "1", "--context", "50", "--depth", "20", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["status"] == "unreliable"
    assert found["exact"]["bias"]["lower"].startswith("1003096731.88265")
    assert main([*ARGUMENTS, "--dim", "6", "--context", "50", "--depth", "20", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["exact"]["excess_at_least"]["lower"].startswith("1003096731.88265")
    assert "explodes beyond" in found["warnings"][-1]
    assert main([*ARGUMENTS, "--dim", "6", "--context", "50", "--depth", "20"]) == 0
    (line,) = (
        line for line in capsys.readouterr().out.splitlines() if line.startswith("lower bound")
    )
    assert line.endswith("] of the expected excess risk (Jensen's inequality, for every d)")


@pytest.mark.parametrize(
    "change",
    [
        ["--dim", "0"],
        ["--context", "1.5"],
        ["--prompts", "1e9"],
        ["--depth", "-3"],
        ["--beta", "x"],
    ],
)
def test_command_refuses(change: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--dim", "5", "--context", "40", "--depth", "1"]
    assert main([*ARGUMENTS, *sizes, *change]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.strip().splitlines()) == 1


def test_command_without_torch() -> None:
    code = (
        "import sys; from theoryverify.cli import main;"
        f"main({[*ARGUMENTS, '--dim', '9', '--context', '90', '--depth', '4']!r});"
        "assert not {'torch', 'scipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


# -- the best slope at finite context -----------------------------------------------------------


def test_best_slope_of_two_atoms_in_one_dimension() -> None:
    """d = 1: the posterior is a sum over four points ±√(Z-1); no Bessel function is needed."""
    z, p = np.array([2.0, 5.0]), np.array([1 / 3, 2 / 3])
    square_u, h = np.array([7.0, 3.0]), np.array([4.0, 0.5])
    m = np.concatenate([np.sqrt(z - 1), -np.sqrt(z - 1)])
    weight = np.concatenate([p, p])[:, None] * np.exp(
        m[:, None] * h - m[:, None] ** 2 * square_u / 2
    )
    weight /= weight.sum(axis=0)
    expected = (weight * m[:, None]).sum(axis=0) / (1 + (weight * m[:, None] ** 2).sum(axis=0))
    assert np.allclose(best_slope(z, p, 1, square_u, h), expected, rtol=1e-12)


def test_best_slope_in_two_dimensions_by_brute_force() -> None:
    """Directions on a grid of the circle."""
    z, p = np.array([2.0, 3.0, 5.0]), np.array([0.2, 0.5, 0.3])
    angle = np.linspace(0, 2 * math.pi, 4000, endpoint=False)
    square_u, h = 6.0, 5.0
    r = np.sqrt(z - 1)[:, None]
    weight = p[:, None] * np.exp(r * np.cos(angle) * h - r**2 * square_u / 2)
    weight /= weight.sum()
    along = (weight * r * np.cos(angle)).sum()
    square = (weight * (r * np.cos(angle)) ** 2).sum()
    found = best_slope(z, p, 2, np.array([square_u]), np.array([h]))[0]
    assert math.isclose(found, along / (1 + square), rel_tol=1e-10)


@pytest.mark.parametrize(("d", "L"), [(1, 20), (5, 40), (20, 100)])
def test_the_best_slope_beats_least_squares_and_every_depth(d: int, L: int) -> None:
    found = bayes_reference(UNIFORM, dim=d, context=L, prompts=4000, rng=1)
    assert found.bayes + 6 * found.bayes_error < found.ols
    z = np.random.default_rng(5).uniform(2, 5, 20_000)
    for T in (1, 2, 3, 5, 8):
        excess = sample_chain(z, d, L, T, rng=6).slopes(0.22, -0.22, T).excess
        assert found.bayes + 6 * found.bayes_error < excess.mean()
