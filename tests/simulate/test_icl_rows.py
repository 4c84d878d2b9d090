"""What Algorithm 1 is compared with: kernels, attention, ridge; intervals for heavy-tailed errors."""

import math
from dataclasses import replace

import numpy as np
import pytest

from theoryverify.errors import InputError
from theoryverify.exact.gate import Gate
from theoryverify.simulate.icl_prompts import TaskFamily
from theoryverify.simulate.intervals import median_of_means
from theoryverify.stats import VarianceMean

torch = pytest.importorskip("torch")

from theoryverify.models.mamba_layer import embed  # noqa: E402
from theoryverify.simulate import icl_attention as attention  # noqa: E402
from theoryverify.simulate.icl_kernels import (  # noqa: E402
    KernelRidge,
    degree_two,
    gaussian,
    tuned_degree_two,
    tuned_gaussian,
)
from theoryverify.simulate.mamba_algorithm import Setting  # noqa: E402
from theoryverify.simulate.ridge import nested_ridge, ridge  # noqa: E402

HE2 = "He2(z)/sqrt(2)"
SMALL = Setting(Gate(4, -3), tokens=20, stage_one=6, stage_two=30, queries=4, width=7)


def test_ridge_on_either_side_is_the_definition():
    rng = np.random.default_rng(0)
    for n, m in ((12, 5), (5, 12), (6, 6)):
        features, y = rng.standard_normal((n, m)), rng.standard_normal(n)
        u = np.linalg.solve(features.T @ features + n * 0.3 * np.eye(m), features.T @ y)
        found = ridge(torch.from_numpy(features), torch.from_numpy(y), 0.3)
        np.testing.assert_allclose(found, u, rtol=1e-10)


def test_nested_lengths_share_a_factorisation():
    rng = np.random.default_rng(1)
    x, q = rng.standard_normal((2, 15, 3)), rng.standard_normal((2, 4, 3))
    y = rng.standard_normal((2, 15))
    kernel = gaussian(2.0)
    K = torch.stack([kernel(torch.from_numpy(a), torch.from_numpy(a)) for a in x])
    k = torch.stack(
        [kernel(torch.from_numpy(a), torch.from_numpy(b)) for a, b in zip(x, q, strict=True)]
    )
    found = nested_ridge(K, torch.from_numpy(y), k, 0.1, (1, 7, 15))
    assert found.shape == (3, 2, 4)
    for row, n in zip(found, (1, 7, 15), strict=True):
        for i in range(2):
            inner = K[i, :n, :n].numpy() + 0.1 * np.eye(n)
            expected = k[i, :n].numpy().T @ np.linalg.solve(inner, y[i, :n])
            np.testing.assert_allclose(row[i], expected, rtol=1e-9)


def test_the_kernel_of_degree_two_is_that_of_the_embedding():
    rng = np.random.default_rng(2)
    x, q = (torch.from_numpy(rng.standard_normal((n, 4))) for n in (6, 3))
    torch.testing.assert_close(degree_two(x, q), embed(x) @ embed(q).mT)


def test_kernels_in_context():
    """A quadratic link: degree 2 is exact once N exceeds the 10 features; r coordinates need less."""
    family = TaskFamily(HE2, 3, (1,))
    prompts, tuning = (family.sample(20, 60, queries=20, rng=k) for k in (3, 4))
    found = tuned_degree_two(tuning).predict(prompts, (5, 60))
    errors = [float(((row - prompts.target) ** 2).mean()) for row in found]
    assert errors[1] < 1e-3 < errors[0]
    one, all_three = (tuned_gaussian(tuning, s) for s in (family.support, None))
    near, far = (
        float(((k.predict(prompts, (20,))[0] - prompts.target) ** 2).mean())
        for k in (one, all_three)
    )
    assert near < far
    moved = prompts.X.copy()
    moved[..., [0, 2]] = 7.0
    changed = replace(prompts, X=moved)
    assert np.array_equal(one.predict(changed, (20,)), one.predict(prompts, (20,)))


def test_linear_attention_written_out():
    family = TaskFamily(HE2, 3, (0, 1))
    model = attention.train_linear_attention(family, replace(SMALL, penalty=1e-3), rng=5)
    prompts = family.sample(2, 9, queries=3, rng=6)

    def hidden(x):
        return np.maximum(x @ model.w.numpy().T + model.bias.numpy(), 0)

    for i in range(2):
        keys = sum(y * hidden(x) for x, y in zip(prompts.X[i], prompts.y[i], strict=True)) / 9
        expected = [keys @ model.Gamma.numpy() @ hidden(q) for q in prompts.x_q[i]]
        np.testing.assert_allclose(model.predict(prompts)[i], expected, rtol=1e-9)
    assert float((model.w**2).sum(1).mean()) == pytest.approx(1)
    assert not np.array_equal(model.predict(prompts), model.predict(prompts, 4))


def test_the_ridge_of_linear_attention_fits_its_own_prompts():
    family = TaskFamily("z", 2, (0,))
    setting = Setting(Gate(4, -3), tokens=200, stage_one=200, stage_two=100)
    model = attention.train_linear_attention(family, setting, rng=7)
    prompts = family.sample(40, 200, queries=20, rng=8)
    assert float(((model.predict(prompts) - prompts.target) ** 2).mean()) < 0.2


def test_softmax_attention_written_out():
    family = TaskFamily(HE2, 3, (0, 1))
    model = attention.train_softmax_attention(family, SMALL, rng=9)
    prompts = family.sample(2, 9, queries=3, rng=10)
    assert float(torch.linalg.matrix_norm(model.Gamma, 2)) == pytest.approx(1)
    u, v, a = (t.numpy() for t in (model.head.u, model.head.v, model.head.a))
    for i in range(2):
        for j in range(3):
            scores = prompts.y[i] / 4 + prompts.X[i] @ model.Gamma.numpy() @ prompts.x_q[i, j]
            weights = np.exp(scores) / np.exp(scores).sum()
            s = weights @ prompts.y[i]
            expected = (u * np.maximum(v * s + a, 0)).sum()
            assert model.predict(prompts)[i, j] == pytest.approx(expected, rel=1e-9)


def test_softmax_attention_learns_a_linear_task():
    family = TaskFamily("z", 4, (0, 2))
    setting = Setting(Gate(4, -3), tokens=200, stage_one=300, stage_two=100)
    model = attention.train_softmax_attention(family, setting, rng=11)
    prompts = family.sample(40, 200, queries=20, rng=12)
    assert float(((model.predict(prompts) - prompts.target) ** 2).mean()) < 0.5
    size = model.Gamma.abs()
    inside = size[[0, 2]][:, [0, 2]].diagonal().min()
    assert inside > 3 * size[[1, 3]][:, [1, 3]].max()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ridge(torch.ones(3, 2), torch.ones(2), 1.0), "features"),
        (lambda: ridge(torch.ones(3, 2), torch.ones(3), 0.0), "penalty = 0.0"),
        (lambda: ridge(torch.ones(3, 2) * math.nan, torch.ones(3), 1.0), "finite"),
        (
            lambda: nested_ridge(torch.eye(3), torch.ones(3), torch.ones(3, 1), 1.0, (4,)),
            r"length 4 must be an integer in 1\.\.3",
        ),
        (lambda: gaussian(0.0), "ℓ² = 0.0"),
        (
            lambda: KernelRidge(degree_two, 1.0).predict(
                TaskFamily(HE2, 3, (0,)).sample(1, 5, rng=0), (6,)
            ),
            "length 6 exceeds the context of 5",
        ),
        (lambda: median_of_means([1.0, 2.0], groups=3), "cannot be split into 3"),
        (lambda: median_of_means(np.ones(9), groups=3), "3 groups cannot give"),
        (lambda: median_of_means([math.nan] * 9, groups=9), "finite"),
        (lambda: median_of_means(np.ones(9), groups=9, error=1.0), "error = 1.0"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


# -- intervals for polynomials of Gaussians -----------------------------------------------------


def test_ranks_of_the_interval():
    """Ten groups, 5%: the second and the ninth; P(Bin(10,1/2) <= 1 or >= 9) = 22/1024."""
    found = median_of_means(np.arange(100.0), groups=10)
    assert (found.lower, found.upper) == (14.5, 84.5)
    assert found.error == pytest.approx(22 / 1024)
    whole = median_of_means(np.arange(100.0), groups=10, error=0.01)
    assert (whole.lower, whole.upper) == (4.5, 94.5)


def test_measured_coverage_of_median_of_means():
    """Errors of the kind that he_3 makes, (He_3(z)²-6)²: the stated 95% and what a t-test does.

    The target is the median of a group mean, from 2·10⁵ groups. Of 2000 repetitions with a miss
    probability of at most 0.0414, more than 132 misses have a probability below 10⁻⁷.
    """
    rng = np.random.default_rng(13)

    def draw(n):
        z = rng.standard_normal(n)
        return ((z**3 - 3 * z) ** 2 - 6) ** 2

    target = np.median(draw(5 * 200_000).reshape(-1, 5).mean(1))
    misses, t_misses = 0, 0
    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    mean = float(weights @ ((nodes**3 - 3 * nodes) ** 2 - 6) ** 2 / weights.sum())
    assert mean == pytest.approx(3312)  # E He_3⁴ - 36
    for _ in range(2000):
        values = draw(100)
        found = median_of_means(values, groups=20)
        misses += not found.lower <= target <= found.upper
        half = 1.98 * values.std(ddof=1) / 10
        t_misses += not abs(values.mean() - mean) <= half
    assert misses <= 132
    assert t_misses > 800  # the bare t-interval misses at least eight times as often as it says


def test_measured_coverage_of_a_known_variance():
    """y 1{z>0} with y = he_3(z): error 5%, 1000 repetitions, an exact mean."""
    rng = np.random.default_rng(14)
    exact = -1 / math.sqrt(2 * math.pi) / math.sqrt(6)  # E[He_3; z>0] = He_2(0)φ(0) = -φ(0)
    misses = 0
    for _ in range(1000):
        z = rng.standard_normal(300)
        sequence = VarianceMean(1.0, error=0.05, horizon=300)
        sequence.update((z**3 - 3 * z) / math.sqrt(6) * (z > 0))
        misses += not sequence.interval.lower <= exact <= sequence.interval.upper
    assert misses <= 90  # P(Bin(1000, 0.05) > 90) < 1e-7
