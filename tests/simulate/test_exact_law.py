"""The exact-in-law reductions against the literal model, prompt by prompt and in law.

Error budget of the tests in law: each comparison rests on the Dvoretzky-Kiefer-Wolfowitz bound with
false-alarm probability ``ERROR``; all of them together stay below 1e-7. Seeds are fixed.
"""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from theoryverify.errors import InputError
from theoryverify.simulate.exact_law import Chain, Offsets, Slopes, sample_chain, sample_factor
from theoryverify.simulate.two_sample import law_distance

ERROR = 5e-10
PROMPTS = 30_000
SIZES = [
    # d, L, T: generic; d <= T; L <= T; L < d; one dimension; one example
    (6, 20, 4),
    (3, 15, 8),
    (10, 30, 12),
    (4, 2, 5),
    (1, 5, 3),
    (2, 1, 3),
    (5, 3, 3),
]
STEPS = [(0.25, -0.25), (0.2, -0.15)]
COMPARISONS = len(SIZES) * len(STEPS) * 2 * 3
assert COMPARISONS * ERROR < 1e-7


def literal(d: int, L: int, T: int, alpha: float, beta: float, rng: np.random.Generator) -> Slopes:
    """Layer by layer on d x L states, m in a random direction, Z ~ U[2,5]."""
    n = PROMPTS
    z = rng.uniform(2, 5, n)
    m = rng.standard_normal((n, d))
    m *= (np.sqrt(z - 1) / np.linalg.norm(m, axis=1))[:, None]
    u = rng.standard_normal((n, L))
    X = m[:, :, None] * u[:, None, :] + rng.standard_normal((n, d, L))
    sigma, F = X @ X.transpose(0, 2, 1) / L, np.zeros_like(X)
    for _ in range(T):
        F = F + alpha * X + beta * (sigma @ F)
    w = (F @ u[:, :, None])[:, :, 0] / L
    along = (w * m).sum(1)
    error = w - m / z[:, None]
    excess = (error**2).sum(1) + ((error * m).sum(1)) ** 2
    return Slopes(along, (w * w).sum(1), excess)


@pytest.mark.parametrize(("d", "L", "T"), SIZES)
@pytest.mark.parametrize(("alpha", "beta"), STEPS)
def test_both_samplers_have_the_law_of_the_literal_model(
    d: int, L: int, T: int, alpha: float, beta: float
) -> None:
    rng = np.random.default_rng([d, L, T, round(100 * alpha)])
    expected = literal(d, L, T, alpha, beta, rng)
    z = rng.uniform(2, 5, PROMPTS)
    chain = sample_chain(z, d, L, T, rng=rng).slopes(alpha, beta, T)
    factor = sample_factor(z, d, L, rng=rng).slopes(alpha, beta, T)
    for name in ("along", "square", "excess"):
        for found in (chain, factor):
            distance = law_distance(getattr(found, name), getattr(expected, name), error=ERROR)
            assert distance.seen <= distance.radius, (name, distance)


@pytest.mark.parametrize(
    ("offsets", "size"),
    [
        (Offsets(labels=1), (2, 3, 3)),
        (Offsets(across=1), (1, 5, 3)),
        (Offsets(across=1), (2, 3, 3)),
        (Offsets(down=1), (2, 2, 3)),
        (Offsets(down=-1), (2, 3, 3)),
        (Offsets(spike=0.0), (10, 30, 12)),
    ],
)
def test_close_wrong_chains_are_told_apart(offsets: Offsets, size: tuple[int, int, int]) -> None:
    """Power: each of these is refuted at the same error probability."""
    d, L, T = size
    rng = np.random.default_rng(7)
    expected = literal(d, L, T, 0.25, -0.25, rng)
    z = rng.uniform(2, 5, PROMPTS)
    found = sample_chain(z, d, L, T, rng=rng, offsets=offsets).slopes(0.25, -0.25, T)
    distances = [
        law_distance(getattr(found, name), getattr(expected, name), error=ERROR)
        for name in ("along", "square")
    ]
    assert any(distance.seen > distance.radius for distance in distances), distances


@pytest.mark.parametrize(
    ("d", "L", "T"), [(6, 20, 4), (8, 50, 8), (3, 15, 9), (9, 4, 7), (1, 6, 5), (5, 1, 4)]
)
def test_the_recurrence_on_one_literal_prompt(d: int, L: int, T: int) -> None:
    """Golub-Kahan on an actual X gives a chain; its slopes are those of the literal layers."""
    rng = np.random.default_rng(3)
    z = 3.5
    m = rng.standard_normal(d)
    m *= math.sqrt(z - 1) / np.linalg.norm(m)
    u = rng.standard_normal(L)
    X = np.outer(m, u) + rng.standard_normal((d, L))
    K = min(d, L, T)
    v, basis, a, b = u / np.linalg.norm(u), [], [], []
    rest = X @ v
    for _ in range(K):
        for q in basis:  # twice is enough
            rest = rest - (q @ rest) * q
        a.append(np.linalg.norm(rest))
        basis.append(rest / a[-1])
        w = X.T @ basis[-1] - a[-1] * v
        b.append(np.linalg.norm(w) if len(basis) < L else 0.0)
        if len(basis) == K:
            break
        v = w / b[-1]
        rest = X @ v
    squares = [np.array(x)[:, None] ** 2 for x in (a, b)]
    spike = np.array([q @ m for q in basis])[:, None]
    left = math.sqrt(max(m @ m - float((spike**2).sum()), 0.0))
    chain = Chain(
        np.array([z]),
        np.array([np.linalg.norm(u) * a[0] / L]),
        (squares[0] + squares[1]) / L,
        np.sqrt(squares[1][:-1] * squares[0][1:]) / L,
        spike,
        np.array([left]),
        ended=min(d, L) == K,
    )
    F = np.zeros_like(X)
    for _ in range(T):
        F = F + 0.2 * X - 0.15 * (X @ (X.T @ F)) / L
    slope = F @ u / L
    found = chain.slopes(0.2, -0.15, T)
    assert math.isclose(found.along[0], slope @ m, rel_tol=1e-9)
    assert math.isclose(found.square[0], slope @ slope, rel_tol=1e-9)
    error = slope - m / z
    assert math.isclose(found.excess[0], error @ error + (error @ m) ** 2, rel_tol=1e-9)


def test_excess_is_risk_less_the_bayes_risk_and_keeps_small_digits() -> None:
    found = sample_chain(np.full(1000, 3.0), 40, 10**12, 30, rng=1).slopes(2 / 7, -2 / 7, 30)
    assert np.max(np.abs(found.risk - 1 / 3 - found.excess)) < 1e-12
    # d/(LZ) is about 1e-11, far below the cancellation in the line above.
    assert abs(found.excess.mean() / (40 / 10**12 / 3) - 1) < 0.1


def test_a_chain_is_as_long_as_it_must_be() -> None:
    assert sample_chain(3.0, 5, 9, 3, rng=0).spike.shape == (3, 1)
    assert sample_chain(3.0, 2, 9, 30, rng=0).ended
    with pytest.raises(InputError, match="depth = 4"):
        sample_chain(3.0, 5, 9, 3, rng=0).slopes(0.2, -0.2, 4)


def test_bartlett_moments() -> None:
    """``E Σ̂ = Σ_x`` and ``E Xy/L = m``, also for L < d, within 6 standard errors."""
    for d, L in ((3, 8), (4, 2)):
        factor = sample_factor(np.full(40_000, 3.0), d, L, rng=2)
        sigma, mean = factor.covariance, factor.correlation
        expected = np.eye(d)
        expected[0, 0] = 3.0
        error = sigma.std(axis=0) / 200
        assert np.all(np.abs(sigma.mean(axis=0) - expected) <= 6 * error)
        spike = np.zeros(d)
        spike[0] = math.sqrt(2)
        assert np.all(np.abs(mean.mean(axis=0) - spike) <= 6 * mean.std(axis=0) / 200)


def test_seeds_decide_everything() -> None:
    state = np.random.get_state()[1].copy()
    first, second = (sample_chain([2.0, 3.0], 5, 9, 3, rng=4).diagonal for _ in range(2))
    assert np.array_equal(first, second)
    assert np.array_equal(state, np.random.get_state()[1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dim": 0}, "dim = 0"),
        ({"context": -1}, "context = -1"),
        ({"depth": 2.0}, "depth = 2.0 is not an integer"),
        ({"dim": 10**16}, "out of range"),
        ({"z": 0.5}, "z = 0.5"),
        ({"z": math.nan}, "z = nan"),
        ({"z": np.ones((2, 2))}, "shape"),
    ],
)
def test_bad_sizes(change: dict[str, object], message: str) -> None:
    arguments = {"z": 2.0, "dim": 3, "context": 4, "depth": 2} | change
    with pytest.raises(InputError, match=message):
        sample_chain(**arguments)  # type: ignore[arg-type]


def test_bad_steps_and_samples() -> None:
    chain = sample_chain(2.0, 3, 4, 2, rng=0)
    with pytest.raises(InputError, match="alpha = nan"):
        chain.slopes(math.nan, 0.0, 2)
    with pytest.raises(InputError, match="not finite"):
        law_distance(np.array([1.0, math.nan]), np.array([1.0]))
    with pytest.raises(InputError, match="error"):
        law_distance(np.array([1.0]), np.array([1.0]), error=0.0)


def test_numpy_alone() -> None:
    code = (
        "import sys; from theoryverify.simulate.exact_law import sample_chain;"
        "sample_chain(2.0, 3, 4, 2, rng=0).slopes(.2, -.2, 2);"
        "assert not {'torch', 'scipy'} & set(sys.modules), 'heavy import'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
