"""Exact moments at finite context, against the chain's polynomials, known numbers and simulation."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import sympy

from theoryverify.errors import InputError
from theoryverify.exact.balls import precision
from theoryverify.exact.densities import Ball, Uniform
from theoryverify.exact.integrands import LinearPower, Z
from theoryverify.exact.laws import TwoPoint
from theoryverify.exact.rationals import rational
from theoryverify.papers.lca.finite import (
    finite_risk,
    mean_of_polynomial,
    prompt_point,
    second_moment_of_risk,
)
from theoryverify.papers.lca.loss import excess_loss
from theoryverify.papers.lca.theory import M
from theoryverify.papers.lca.wishart import (
    Excess,
    Moments,
    mean_excess,
    second_moment_about_limit,
    second_moment_of_excess,
    state_coefficients,
)

U25 = Uniform(2, 5)


@pytest.mark.parametrize(
    ("depth", "alpha", "beta", "d", "L"),
    [
        (1, "2/7", None, 5, 40),
        (2, "0.3", "-0.2", 1, 3),
        (3, "1/4", "-0.3", 4, 30),
        (3, "0.1", "0", 2, 9),
    ],
)
@pytest.mark.parametrize("law", [U25, TwoPoint(2, 5, "1/3"), Ball(4, 3)], ids=str)
def test_the_mean_agrees_with_the_chain(law, depth, alpha, beta, d, L):
    """Integration by parts and the bidiagonal chain have nothing in common."""
    ours = mean_excess(law, dim=d, context=L, depth=depth, alpha=alpha, beta=beta, digits=25)
    _, theirs = finite_risk(law, dim=d, context=L, depth=depth, alpha=alpha, beta=beta, digits=25)
    assert ours.overlaps(theirs)
    assert ours.digits >= 24


def test_known_numbers():
    first = mean_excess(U25, dim=5, context=40, depth=1, alpha="2/7", digits=20)
    assert abs(float(first) - 0.0955901642052136177279399) < 1e-16
    # One dimension by Gamma moments: bias and noise at T = 5, L = 200.
    fifth = mean_excess(U25, dim=1, context=200, depth=5, alpha="2/7", digits=20)
    assert abs(float(fifth) - (2.70386295161804950818e-4 + 1.54154482551279946234e-3)) < 1e-17


@pytest.mark.parametrize("depth", [1, 2])
def test_the_second_moment_agrees_with_the_chain(depth):
    """``E risk² = E excess² + 2 E[excess/Z] + E[1/Z²]``."""
    d, L, alpha, beta = 4, 30, "1/4", "-3/10"
    at = prompt_point(d, L, alpha, beta)
    polynomial = sympy.Poly(second_moment_of_risk(depth, at).subs(M, Z - 1), Z)
    excess = Excess(state_coefficients(rational(alpha), rational(beta), depth))
    mean = tuple(rational(c) for c in excess.mean(Moments(d, L)).coeffs())
    with precision(160):
        chain = mean_of_polynomial(U25, polynomial)
        ours = (
            second_moment_of_excess(
                U25, dim=d, context=L, depth=depth, alpha=alpha, beta=beta, digits=30
            ).ball()
            + 2 * U25.expect(LinearPower(mean, 1, 0, 0, pole=3))
            + U25.expect(LinearPower((1,), 1, 0, 0, pole=2))
        )
        assert chain.overlaps(ours)
        assert (chain - ours).rad() < 1e-25


def test_small_words_by_hand():
    """``E (vᵀΣ̂v)² = Z² + 2Z²/L``; ``E tr Σ̂² = tr Σ² + ((tr Σ)² + tr Σ²)/L``."""
    d, L = 3, 7
    z = 2
    moments = Moments(d, L)
    assert moments.mean((1, 1), ())(z) == z**2 + sympy.Rational(2 * z**2, L)
    trace, square = d - 1 + z, d - 1 + z**2
    assert moments.mean((), (2,))(z) == square + sympy.Rational(trace**2 + square, L)
    assert moments.mean((0, 1), (0,))(z) == 3 * z


def test_moments_by_simulation_at_depth_four():
    """Where the chain's polynomials end. Within six standard errors, once, with a fixed seed."""
    rng, d, L, depth, n = np.random.default_rng(11), 3, 60, 4, 20_000
    law = TwoPoint(2, 4)
    z = law.sample(n, rng=rng)
    m = np.zeros((n, d))
    m[:, 0] = np.sqrt(z - 1)
    u = rng.standard_normal((n, L))
    X = m[:, :, None] * u[:, None, :] + rng.standard_normal((n, d, L))
    S, c = X @ X.transpose(0, 2, 1) / L, np.einsum("ndl,nl->nd", X, u) / L
    w = np.zeros((n, d))
    for _ in range(depth):
        w = w + 0.3 * c - 0.25 * np.einsum("nij,nj->ni", S, w)
    gap = w - m / z[:, None]
    excess = (gap**2).sum(axis=1) + (gap * m).sum(axis=1) ** 2
    limit = (z - 1) / z * (1 - 0.3 * z * sum((1 - 0.25 * z) ** k for k in range(4))) ** 2
    at = {"dim": d, "context": L, "depth": depth, "alpha": "0.3", "beta": "-0.25"}
    for sample, exact in (
        (excess, mean_excess(law, **at)),
        (excess**2, second_moment_of_excess(law, **at)),
        ((excess - limit) ** 2, second_moment_about_limit(law, **at)),
    ):
        error = sample.std() / n**0.5
        assert abs(sample.mean() - float(exact)) < 6 * error
        assert error < 0.05 * float(exact)


def test_the_bias_vanishes_like_one_over_the_context():
    infinite = float(excess_loss(U25, "2/7", depth=4).excess)
    biases = [
        float(mean_excess(U25, dim=3, context=L, depth=4, alpha="2/7")) - infinite
        for L in (10**4, 10**5, 10**6)
    ]
    assert biases[0] > 0
    for before, after in pairwise(biases):
        assert after / before == pytest.approx(0.1, rel=0.02)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"depth": 9}, "depth = 9"),
        ({"dim": 0}, "dim = 0"),
        ({"context": 0}, "context = 0"),
        ({"alpha": 0.3}, "write it as a string"),
    ],
)
def test_bad_input(change, match):
    with pytest.raises(InputError, match=match):
        mean_excess(U25, **{"dim": 2, "context": 5, "depth": 2, "alpha": "0.3", **change})
    with pytest.raises(InputError, match="depth = 6"):
        second_moment_of_excess(U25, dim=2, context=5, depth=6, alpha="0.3")
