"""The layer's feature from the support alone: exact conditional checks, laws, refusals."""

import math

import numpy as np
import pytest

from theoryverify.budget import SHARE
from theoryverify.claims import HOLDS
from theoryverify.errors import InputError
from theoryverify.exact.gate import Gate, OutsideClaimWarning
from theoryverify.exact.links import link
from theoryverify.simulate import mamba_law
from theoryverify.simulate.mamba_law import SymmetricGamma, sample_features
from theoryverify.simulate.two_sample import law_distance
from theoryverify.stats import VarianceMean, equivalence

GATE = Gate(4, -2, "1/4")
HE3 = "He3(z)/sqrt(6)"


def vector(gamma: SymmetricGamma) -> np.ndarray:
    """γ written out, the support first."""
    d, r = gamma.d, gamma.r
    whole = np.full((d, d), gamma.outside_square)
    whole[:r, r:] = gamma.mixed[:, None]
    whole[r:, :r] = gamma.mixed
    whole[:r, :r] = gamma.square
    linear = np.full(d, gamma.outside_linear)
    linear[:r] = gamma.linear
    return np.concatenate(
        [[gamma.constant], linear, np.diagonal(whole), whole[np.triu_indices(d, 1)]]
    )


def some_gamma(d=6, r=2):
    rng = np.random.default_rng(3)
    square = rng.standard_normal((r, r))
    return SymmetricGamma(
        d, 0.5, rng.standard_normal(r), square + square.T, rng.standard_normal(r), -0.75, 1.5
    )


def test_vector_and_back():
    gamma = some_gamma()
    again = SymmetricGamma.of_vector(vector(gamma), [0, 1])
    assert again.d == 6
    for name in ("constant", "linear", "square", "mixed", "outside_linear", "outside_square"):
        assert np.array_equal(getattr(again, name), getattr(gamma, name)), name


@pytest.mark.parametrize(("d", "r"), [(6, 2), (3, 3), (4, 3)])
def test_reduced_sums_give_the_literal_feature(d, r):
    """Rotate whole tokens into the reduced coordinates: the same number, not only the same law."""
    gamma, rng, Q, N = some_gamma(d, r), np.random.default_rng(4), 2, 15
    X, x_q = rng.standard_normal((1, N, d)), rng.standard_normal((1, Q, d))
    w = rng.standard_normal((1, N))

    def phi(x):
        i, j = np.triu_indices(d, 1)
        parts = [np.ones_like(x[..., :1]), x, (x**2 - 1) / math.sqrt(2), x[..., i] * x[..., j]]
        return np.concatenate(parts, axis=-1)

    literal = (w[..., None] * phi(X)).sum(1, keepdims=True) * vector(gamma) * phi(x_q)
    off = x_q[0, :, r:]
    if d - r > Q:
        basis, L = np.linalg.qr(off.T)  # (p, Q) directions, off = Lᵀ basisᵀ
        along, L = X[..., r:] @ basis, L.T[None]
        rest = (X[..., r:] ** 2).sum(-1) - (along**2).sum(-1)
    else:
        along, L, rest = X[..., r:], off[None], np.zeros((1, N))
    sums = mamba_law._Sums(1, r + along.shape[-1])
    sums.add(w, np.concatenate([X[..., :r], along], axis=-1), rest)
    found = mamba_law._feature(gamma, sums, x_q[..., :r], L, mamba_law.Offsets())
    np.testing.assert_allclose(found, literal.sum(-1), rtol=1e-11)


@pytest.mark.parametrize(("d", "queries"), [(3, 2), (9, 2), (9, 1)])
def test_law_of_a_general_gamma(d, queries):
    """Against the Torch layer on whole prompts; radius 0.026 at error 1e-9, margin 0.04."""
    torch = pytest.importorskip("torch")
    from theoryverify.models.mamba_layer import MambaLayer

    n, N, gamma, g = 65_000, 4, some_gamma(d, 2), link("z + 2")
    rng = np.random.default_rng(5)
    beta = rng.standard_normal((n, 2, 1))
    beta /= np.linalg.norm(beta, axis=1, keepdims=True)
    X, x_q = rng.standard_normal((n, N, d)), rng.standard_normal((n, queries, d))
    y = g((X[..., :2] @ beta)[..., 0])
    layer = MambaLayer(torch.from_numpy(vector(gamma)), rho=1, b=1)
    with torch.no_grad():
        left = layer(*map(torch.from_numpy, (X, y, x_q))).numpy()
    draws = sample_features(gamma, g, Gate(1, 1), N, n, queries=queries, rng=6)
    for statistic in (lambda f: f[:, 0], lambda f: f[:, 0] * f[:, -1]):
        distance = law_distance(statistic(left), statistic(draws.feature), error=SHARE)
        assert distance.within(0.04) is True, distance
    centred = law_distance(g((x_q[..., :2] @ beta)[..., 0])[:, 0], draws.label[:, 0], error=SHARE)
    assert centred.within(0.04) is True


def test_mean_over_tasks_is_the_population_one():
    """E f at the indicator is F_N c_0, by an interval that rests on the exact variance."""
    from theoryverify.papers.mamba.population import Population

    at = Population(HE3, GATE)
    target = float(at.forgetting_factor(20)) * float(at.coefficient(0))
    found = at.signal_to_noise(3, 20)
    variance = float(found.noise) + sum(map(float, found.signal[1:]))  # exact, over everything
    gamma = SymmetricGamma.two_values(10**5, 3, outside=0.0)
    sequence = VarianceMean(variance, error=SHARE, horizon=60_000)
    test = equivalence(
        lambda n, rng: sample_features(gamma, HE3, GATE, 20, n, rng=rng).feature[:, 0],
        target,
        0.04 * math.sqrt(variance),
        sequence=sequence,
        budget=120_000,
        rng=np.random.default_rng(7),
        batch=20_000,
    )
    assert test.verdict is HOLDS, test


def test_long_contexts_are_made_in_pieces(monkeypatch):
    """Pieces share the product of what is closed: no gate is lost at the seams."""
    gamma = SymmetricGamma.two_values(50, 1, outside=0.0)
    monkeypatch.setattr(mamba_law, "_AT_ONCE", 64)
    # A constant label and γ on the constant alone: f = N⁻¹ Σ G y, known exactly.
    only = SymmetricGamma(
        50, 1.0, *(0 * a for a in (gamma.linear, gamma.square, gamma.mixed)), 0, 0
    )
    draws = sample_features(only, "sign(z)**2", Gate(4, -2), 1000, 2, rng=8)
    s, query = 1 / (1 + math.exp(2 - 0.25)), 1 / (1 + math.exp(-2))
    expected = query * (1 - (1 - s) ** 1000) / 1000
    np.testing.assert_allclose(draws.feature, expected, rtol=1e-12)


def test_the_gates_are_those_of_the_layer(monkeypatch):
    """Every random number replayed: the first token drawn is the newest."""
    torch = pytest.importorskip("torch")
    from theoryverify.models.mamba_layer import label_gates

    gamma = some_gamma(2, 2)
    seen = []
    plain = mamba_law._Sums.add

    def spy(self, weights, v, rest):
        seen.append((weights.copy(), v.copy()))
        plain(self, weights, v, rest)

    monkeypatch.setattr(mamba_law._Sums, "add", spy)
    monkeypatch.setattr(mamba_law, "_AT_ONCE", 40)
    sample_features(gamma, "z**2", Gate(2, -1), 11, 1, rng=9)
    X = np.concatenate([v for _, v in seen], axis=1)[:, ::-1]
    w = np.concatenate([w for w, _ in seen], axis=1)[:, ::-1]
    # The task is the first thing drawn, and the label a function of the token.
    rng = np.random.default_rng(9)
    beta = rng.standard_normal((1, 2))
    beta /= np.linalg.norm(beta)
    y = (X @ beta[0]) ** 2
    ours = label_gates(torch.from_numpy(y.copy()), 2.0, -1.0).exp().numpy() * y
    assert len(seen) > 1
    np.testing.assert_allclose(w, ours, rtol=1e-12)


def test_any_dimension_costs_the_same():
    gamma = SymmetricGamma.two_values(10**15, 2, outside=1.0)
    draws = sample_features(gamma, HE3, GATE, 100, 50, queries=3, rng=10)
    assert draws.feature.shape == draws.z.shape == draws.label.shape == (50, 3)
    assert np.isfinite(draws.feature).all()


def test_the_same_seed_gives_the_same_draws():
    gamma = SymmetricGamma.two_values(20, 2, outside=1.0)
    one, two = (sample_features(gamma, HE3, GATE, 10, 5, rng=11) for _ in range(2))
    assert np.array_equal(one.feature, two.feature)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({3: 2.0}, "linear coordinates off the support hold"),
        ({7: 2.0}, "diagonal and pair coordinates off the support hold"),
        ({-1: 2.0}, "diagonal and pair coordinates off the support hold"),
        ({10: 2.0}, "pairs of coordinate 0 with those off the support hold"),
    ],
)
def test_a_broken_symmetry_is_refused(change, message):
    values = np.ones(15)  # d = 4: 1; 4 linear; 4 diagonal; 6 pairs
    for index, value in change.items():
        values[index] = value
    with pytest.raises(InputError, match=message):
        SymmetricGamma.of_vector(values, [0])


def test_three_to_two_is_refused_off_the_support_and_free_on_it():
    d, pairs = 4, 6
    trained = np.concatenate([[1.0], np.ones(d), np.full(d, 3.0), np.full(pairs, 2.0)])
    with pytest.raises(InputError, match=r"hold 3\.0 and 2\.0"):
        SymmetricGamma.of_vector(trained, [0, 1])
    whole = SymmetricGamma.of_vector(trained, range(4))  # nothing is off the support
    assert whole.square[0, 0] == 3
    assert whole.square[0, 1] == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g: sample_features(g, HE3, GATE, 0, 5), "N = 0"),
        (lambda g: sample_features(g, HE3, GATE, 5, 0), "n = 0"),
        (lambda g: sample_features(g, HE3, GATE, 5, 5, queries=0), "Q = 0"),
        (lambda g: SymmetricGamma.two_values(2, 3, outside=1.0), "r = 3 .* d = 2"),
        (lambda g: SymmetricGamma.two_values(10**16, 3, outside=1.0), "d"),
        (lambda g: SymmetricGamma.of_vector(np.ones(5), [0]), r"\(d\+1\)\(d\+2\)/2"),
        (lambda g: SymmetricGamma.of_vector(np.ones(6), [2]), "distinct indices"),
        (lambda g: SymmetricGamma.of_vector(np.ones(6), [0, 0]), "distinct indices"),
        (lambda g: Gate(0, -2), "rho = 0 must be positive"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call(SymmetricGamma.two_values(20, 2, outside=1.0))


def test_labels_that_are_not_finite():
    gamma = SymmetricGamma.two_values(20, 2, outside=1.0)
    with np.errstate(over="ignore"), pytest.raises(InputError, match="labels that are not finite"):
        sample_features(gamma, "exp(1000*z)", GATE, 50, 20, rng=12)


def test_a_flat_gate_is_warned_of():
    gamma = SymmetricGamma.two_values(20, 2, outside=1.0)
    with pytest.warns(OutsideClaimWarning, match="is odd"):
        sample_features(gamma, HE3, Gate(4, 0), 5, 2, rng=13)
