"""Population quantities: against numbers computed elsewhere, limits, warnings, bad input."""

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pytest

from theoryverify.errors import InputError
from theoryverify.exact.facts import ProofError
from theoryverify.exact.gate import Gate, OutsideClaimWarning
from theoryverify.papers.mamba import forgetting
from theoryverify.papers.mamba.links import HE2, HE3, HE4, MIX
from theoryverify.papers.mamba.population import Population
from theoryverify.papers.mamba.token_moments import Weights, kernel_moments

# (link, ρ, b): μ_s, c_0, c_1, c_2, by a trapezoid rule of step 1/1024 in floats.
TABLE = {
    (HE3, 4, -2): (0.12134787825635, 0.02738940927568, 0.031750997244147, 0.11545976798753),
    (HE2, 4, -2): (0.12186183238489, 0.03394284683461, 0, 0.23318546377237),
    (HE4, 10, -3): (0.0476757309984371, 0.0082591667156635, 0, 0.0636427377064467),
    (MIX, 10, -3): (0.0476631129653729, 0.0060611598776838, 0.0129944701351585, 0.060813380702274),
}


@pytest.mark.parametrize("case", TABLE, ids=str)
def test_coefficients(case):
    g, rho, b = case
    at = Population(g, Gate(rho, b))
    rate, *coefficients = TABLE[case]
    assert float(at.forgetting.mu) == pytest.approx(rate, abs=2e-14)
    for k, value in enumerate(coefficients):
        assert float(at.coefficient(k)) == pytest.approx(value, abs=2e-14)


def test_label_noise_enters():
    at = Population(HE3, Gate(4, -2, "1/2"))
    assert float(at.coefficient(1)) == pytest.approx(0.03156049684307, abs=2e-14)
    assert float(at.coefficient(2)) == pytest.approx(0.11554211372472, abs=2e-14)


@pytest.mark.parametrize(
    ("g", "rho", "b", "mean", "deviation"),
    [
        (HE2, 4, -2, 0.25308181, 0.536),
        (HE3, 4, -2, 0.15399767, 1.164),
        (HE4, 4, -3, 0.32237939, 3.080),
    ],
)
def test_mean_and_deviation_at_a_query(g, rho, b, mean, deviation):
    at = Population(g, Gate(rho, b))
    spread = at.spread(("3/5", "-12/25", "16/25"), (2, -1, 1), 20)
    assert float(spread.mean) == pytest.approx(mean, abs=6e-9)
    assert float(spread.variance) ** 0.5 == pytest.approx(deviation, abs=6e-4)
    assert spread.mean.overlaps(at.feature("58/25", 20))


def test_the_mean_for_other_weights_is_the_signal_weighted():
    """``E f = F_N Σ γ_α E[Tφ_α] φ_α(x_q)``, written out for r = 2."""
    at, beta, x = Population(MIX, Gate(6, -4, "1/4")), (Fraction(3, 5), Fraction(4, 5)), (2, -1)
    weights = Weights.of("1/2", 3, "-2", 5)
    c0, c1, c2 = (float(at.coefficient(k)) for k in range(3))
    b1, b2 = map(float, beta)
    value = 0.5 * c0 + 3 * c1 * (b1 * x[0] + b2 * x[1])
    value += -2 * c2 * (b1**2 * (x[0] ** 2 - 1) + b2**2 * (x[1] ** 2 - 1)) / 2**0.5
    value += 5 * 2**0.5 * c2 * b1 * b2 * x[0] * x[1]
    found = at.spread(beta, x, 50, weights).mean
    assert float(found) == pytest.approx(value * float(at.forgetting_factor(50)), rel=1e-13)


@pytest.mark.parametrize("tokens", [1, 2, 10, 10**4, 10**9])
@pytest.mark.parametrize("b", [-2, -9, -40])
def test_forgetting_factor_is_between_its_bounds(tokens, b):
    at = Population(HE3, Gate(8, b))
    factor, known = at.forgetting_factor(tokens), at.forgetting
    mu, query = known.mu.upper, known.query
    assert factor.digits >= 12
    lower = query.lower * (1 - (tokens - 1) * mu / 2)
    assert factor.upper >= lower
    assert factor.lower <= min(query.upper, query.upper / (tokens * known.mu.lower))


def test_forgetting_decreases():
    at = Population(HE2, Gate(4, -2))
    values = [at.forgetting_factor(n) for n in (1, 2, 3, 10, 11, 1000)]
    assert all(b.less_than(a) for a, b in itertools.pairwise(values))


def test_theorems_say_what_they_should():
    """Each proved expression, at numbers, is the difference that it stands for."""
    at = {forgetting.N: 7, forgetting.mu: 0.3}
    x = 0.7

    def share(n):
        return (1 - x**n) / (n * 0.3)

    expected = {
        forgetting.decreasing: (share(7) - share(8)) * 7 * 8 * 0.3,
        forgetting.few_are_forgotten: (share(7) - (1 - 6 * 0.3 / 2)) * 7 * 0.3,
        forgetting.much_is_forgotten: (1 / (7 * 0.3) - share(7)) * 7 * 0.3,
    }
    for theorem, value in expected.items():
        assert float(theorem().expression.subs(at)) == pytest.approx(value, abs=1e-12)


def test_a_wrong_bound_is_not_proved():
    """The step that proves F_N decreasing does not prove that it increases."""
    from theoryverify.exact.facts import Argument, positive

    mu = forgetting.mu
    argument = Argument(positive(mu), positive(1 - mu))
    with pytest.raises(ProofError):
        argument.fact(-(mu**2), lambda m: m**2, argument.given[0])


def test_variance_against_a_plain_recursion():
    at = Population(HE2, Gate(4, -2))
    spread = at.spread(("1",), ("3/2",), 12)
    z = np.arange(-12, 12, 1 / 256)
    w = np.exp(-z * z / 2) / np.sqrt(2 * np.pi) / 256
    y = (z * z - 1) / np.sqrt(2)
    s = 1 / (1 + np.exp(2 - y / 4))
    a = y * (1 + 1.5 * z + (z * z - 1) * (1.5**2 - 1) / 2)
    m = v = 0.0
    for _ in range(12):
        v = (w * (1 - s) ** 2).sum() * v + 2 * (w * s * (1 - s) * a).sum() * m
        v += (w * s * s * a * a).sum()
        m = (w * (1 - s)).sum() * m + (w * s * a).sum()
    scale = 1 / (1 + np.exp(-2.0)) / 12
    assert float(spread.mean) == pytest.approx(m * scale, rel=1e-12)
    assert float(spread.variance) == pytest.approx((v - m * m) * scale**2, rel=1e-11)


def test_noise_averaged_over_queries_is_the_mean_of_the_noise_at_queries():
    """r = 1: a Gauss-Hermite rule over the query of the variance at each query."""
    at = Population(HE3, Gate(6, -3))
    found = at.signal_to_noise(1, 25)
    nodes, weights = np.polynomial.hermite_e.hermegauss(5)  # exact to degree 9
    weights = weights / weights.sum()
    noise = mean = 0.0
    for node, weight in zip(nodes, weights, strict=True):
        exact = Fraction(float(node))
        spread = at.spread((1,), (exact,), 25)
        noise += weight * float(spread.variance)
        mean += weight * float(spread.mean) ** 2
    assert float(found.noise) == pytest.approx(noise, rel=1e-11)
    assert sum(map(float, found.signal)) == pytest.approx(mean, rel=1e-11)


def test_warns_outside_the_claims():
    with pytest.warns(OutsideClaimWarning, match=r"b = 0 and the link .* is odd"):
        Population(HE3, Gate(4, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Population(HE3, Gate(4, -1))
        Population(HE4, Gate(4, 0))
        Population(MIX, Gate(4, 0))


@pytest.mark.parametrize("tokens", [0, -3, 1.5, True, 10**16])
def test_bad_lengths(tokens):
    at = Population(HE2, Gate(4, -2))
    for call in (
        at.forgetting_factor,
        lambda n: at.feature(1, n),
        lambda n: at.spread((1,), (1,), n),
        lambda n: at.signal_to_noise(2, n),
    ):
        with pytest.raises(InputError, match=r"a context of .* tokens"):
            call(tokens)


@pytest.mark.parametrize(
    ("beta", "x_q", "message"),
    [
        (("1/2", "1/2"), (1, 1), "must have length 1 exactly"),
        ((), (), "both need r >= 1"),
        ((1,), (1, 2), "β has 1 entries and x_q 2"),
        ((1.0,), (1,), "beta"),
    ],
)
def test_bad_vectors(beta, x_q, message):
    with pytest.raises(InputError, match=message):
        kernel_moments(beta, x_q)


def test_bad_gates():
    with pytest.raises(InputError, match="rho = 0 must be positive"):
        Population(HE2, Gate(0, -2))
    with pytest.raises(InputError, match="labels"):
        Gate(4, -2).weighted(HE2, labels=-1)
    with pytest.raises(InputError, match="digits"):
        Population(HE2, Gate(4, -2), digits=0)
