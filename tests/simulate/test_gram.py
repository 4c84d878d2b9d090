"""One layer on a drawn Gram matrix: the same law as the literal layer, and its limit."""

from __future__ import annotations

import numpy as np
import pytest

from theoryverify.errors import InputError
from theoryverify.exact.densities import Uniform
from theoryverify.simulate.gram import limit_excess, lsa_errors, sample_gram, sample_tasks
from theoryverify.simulate.two_sample import law_distance

torch = pytest.importorskip("torch")
from theoryverify.models.attention import LSA, SA, embed  # noqa: E402
from theoryverify.simulate.layers import layer_errors  # noqa: E402
from theoryverify.simulate.prompts import sample_prompts  # noqa: E402

LAW = Uniform(2, 5)


def layer(d: int, scale: float = 1.0) -> LSA:
    return LSA.random(d, generator=torch.Generator().manual_seed(3), scale=scale)


def test_the_gram_matrix_of_endless_contexts_is_the_covariance() -> None:
    rng = np.random.default_rng(0)
    m, zeta = sample_tasks(LAW, 3, 5, rng=rng)
    gram = sample_gram(m, zeta, 10**15, rng=rng)
    z = np.concatenate([m, zeta[:, None]], axis=1)
    expected = z[:, :, None] * z[:, None, :]
    expected[:, :3, :3] += np.eye(3)
    expected[:, :3, 3] = expected[:, 3, :3] = zeta[:, None] * m
    np.testing.assert_allclose(gram, expected, atol=1e-6)
    assert np.all((1 + (m**2).sum(1) >= 2) & (1 + (m**2).sum(1) <= 5))


@pytest.mark.parametrize(("L", "other"), [(1, 5), (5, 1)])
def test_the_errors_have_the_law_of_the_literal_layer(L: int, other: int) -> None:
    model = layer(2)
    with torch.no_grad():
        literal = layer_errors(model, sample_prompts(LAW, 2, L, 40_000, rng=1)).numpy()
    drawn = lsa_errors(model, LAW, L, 40_000, rng=np.random.default_rng(2))
    assert law_distance(literal, drawn, error=1e-9).seen < 0.02
    wrong = lsa_errors(model, LAW, other, 40_000, rng=np.random.default_rng(2))
    assert law_distance(literal, wrong, error=1e-9).seen > 0.02


def limit_prediction(model: LSA, m: np.ndarray, zeta: np.ndarray, x_q: np.ndarray) -> np.ndarray:
    """The literal (4.2) on columns whose Gram matrix *is* the covariance of (x; y)."""
    d = m.shape[1]
    found = []
    for task, scale, query in zip(m, zeta, x_q, strict=True):
        z = np.append(task, scale)
        sigma = np.outer(z, z) + np.diag([1.0] * d + [0.0])
        values, vectors = np.linalg.eigh(sigma)
        root = vectors * np.sqrt(np.maximum(values, 0) * (d + 1))
        E = embed(
            torch.from_numpy(root[None, :d]),
            torch.from_numpy(root[None, d]),
            torch.from_numpy(query[None]),
        )
        own = E[0, :, -1]
        extra = (model.W_PV[-1] @ own) * (own @ model.W_KQ @ own) / (d + 1)
        found.append(float(model.predict(E)[0] - extra))
    return np.array(found)


def test_the_limit_averages_the_query_out() -> None:
    model, rng = layer(2), np.random.default_rng(5)
    m, zeta = sample_tasks(LAW, 2, 4, rng=rng)
    # Two-point Gauss rule in each direction is exact for a square of a linear function.
    signs = np.array([[a, b] for a in (-1, 1) for b in (-1, 1)], dtype=float)
    total = np.zeros(4)
    with torch.no_grad():
        for sign in signs:
            root = np.stack([np.linalg.cholesky(np.eye(2) + np.outer(v, v)) for v in m])
            x_q = np.einsum("nij,j->ni", root, sign)
            w = (zeta / (1 + (m**2).sum(1)))[:, None] * m
            total += (limit_prediction(model, m, zeta, x_q) - (w * x_q).sum(1)) ** 2 / 4
    np.testing.assert_allclose(limit_excess(model, m, zeta), total, rtol=1e-9)


def test_softmax_has_the_limit_of_gaussian_tilting() -> None:
    model = SA.random(2, 2, generator=torch.Generator().manual_seed(1), scale=0.4)
    rng = np.random.default_rng(7)
    m, zeta = sample_tasks(LAW, 2, 1, rng=rng)
    L = 400_000
    u = rng.standard_normal(L)
    X = m.T * u + rng.standard_normal((2, L))
    w = zeta[0] / (1 + (m**2).sum()) * m[0]
    gap = []
    with torch.no_grad():
        for query in (*np.eye(2), np.zeros(2)):
            E = embed(*(torch.from_numpy(v[None]) for v in (X, zeta[0] * u, query)))
            gap.append(float(model.predict(E)[0]) - float(w @ query))
    slope = np.array(gap[:2]) - gap[2]
    seen = float(slope @ slope + (slope @ m[0]) ** 2 + gap[2] ** 2)
    # The softmax weights of this prompt have an effective sample size of order 10^5.
    assert abs(seen - float(limit_excess(model, m, zeta)[0])) < 0.03 * max(seen, 0.1)


def test_bad_sizes() -> None:
    with pytest.raises(InputError, match="n = 0"):
        lsa_errors(layer(2), LAW, 5, 0, rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="context"):
        lsa_errors(layer(2), LAW, 0, 5, rng=np.random.default_rng(0))


def test_laws_below_one_are_refused_and_an_atom_at_one_is_none() -> None:
    with pytest.raises(InputError, match="mass below 1"):
        lsa_errors(layer(2), Uniform("1/2", 2), 5, 3, rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="not 'uniform"):
        lsa_errors(layer(2), "uniform(2,5)", 5, 3, rng=np.random.default_rng(0))  # type: ignore[arg-type]
    gram = sample_gram(np.zeros((3, 2)), np.ones(3), 10**6, rng=np.random.default_rng(0))
    assert abs(gram - np.eye(3)).max() < 0.01  # m = 0: x and y are independent, white
