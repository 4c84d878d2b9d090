"""(4.2), (4.3), (D.11): each module against entry-by-entry sums written out from the equation."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from theoryverify.errors import InputError  # noqa: E402
from theoryverify.models.attention import LSA, SA, SoftmaxPredictor, embed  # noqa: E402

torch.set_num_threads(1)


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(0)


def prompt(generator, n=2, d=3, L=4, dtype=torch.float64):
    X = torch.randn(n, d, L, generator=generator, dtype=dtype)
    y = torch.randn(n, L, generator=generator, dtype=dtype)
    return X, y, torch.randn(n, d, generator=generator, dtype=dtype)


def test_embedding_has_the_query_last_with_an_empty_label(generator):
    X, y, x_q = prompt(generator)
    E = embed(X, y, x_q)
    assert E.shape == (2, 4, 5)
    assert torch.equal(E[1, :3, 2], X[1, :, 2])
    assert E[1, 3, 2] == y[1, 2]
    assert torch.equal(E[1, :3, 4], x_q[1])
    assert E[1, 3, 4] == 0


def test_lsa_entry_by_entry(generator):
    X, y, x_q = prompt(generator)
    model, E = LSA.random(3, generator=generator), embed(X, y, x_q)
    out, L = model(E), 4
    for n in range(2):
        for i in range(4):
            for j in range(5):
                total = E[n, i, j].item()
                for p in range(4):
                    for k in range(5):
                        score = sum(
                            E[n, a, k] * model.W_KQ[a, b] * E[n, b, j]
                            for a in range(4)
                            for b in range(4)
                        )
                        total += (model.W_PV[i, p] * E[n, p, k] * score / L).item()
                assert out[n, i, j].item() == pytest.approx(total, rel=1e-12, abs=1e-12)
    assert torch.allclose(model.predict(E), out[:, -1, -1], rtol=1e-12, atol=1e-12)


def test_the_frozen_readout_is_the_plug_in_slope(generator):
    """(E.1): ``ŷ_q = (1/L) yᵀ Xᵀ x_q`` exactly: the empty label leaves no self-term."""
    X, y, x_q = prompt(generator)
    readout = LSA.readout(3)
    expected = torch.einsum("nl,nil,ni->n", y, X, x_q) / 4
    assert torch.allclose(readout.predict(embed(X, y, x_q)), expected, rtol=1e-13)
    assert not any(p.requires_grad for p in readout.parameters())


def test_sa_entry_by_entry(generator):
    X, y, x_q = prompt(generator, n=1)
    model, E = SA.random(3, 2, generator=generator), embed(X, y, x_q)
    out = model(E)[0]
    expected = E[0].clone()
    for h in range(2):
        Q, K, V = (w[h] @ E[0] for w in (model.W_Q, model.W_K, model.W_V))
        for j in range(5):
            scores = [math.exp((K[:, k] @ Q[:, j]).item()) for k in range(5)]
            mixed = sum(V[:, k] * s for k, s in enumerate(scores)) / sum(scores)
            expected[:, j] += model.W_P[h] @ mixed
    assert torch.allclose(out, expected, rtol=1e-12, atol=1e-12)
    assert torch.allclose(model.predict(E), out[-1, -1].reshape(1), rtol=1e-12)


def test_sa_readout_is_affine(generator):
    X, y, x_q = prompt(generator)
    weights = [torch.randn(1, 4, 4, generator=generator, dtype=torch.float64) for _ in range(4)]
    r = torch.randn(4, generator=generator, dtype=torch.float64)
    model, E = SA(*weights, r=r, r_0=0.75), embed(X, y, x_q)
    assert torch.allclose(model.predict(E), model(E)[:, :, -1] @ r + 0.75)


def test_the_class_d11_by_sums(generator):
    X, y, x_q = prompt(generator, n=2)
    model = SoftmaxPredictor.random(3, 2, generator=generator)
    for n, value in enumerate(model.predict(X, y, x_q)):
        total = (model.r @ x_q[n] + model.r_0).item()
        for h in range(2):
            a = model.K[h] @ x_q[n] + model.k[h]
            z = [torch.cat([X[n, :, j], y[n, j : j + 1]]) for j in range(4)]
            scores = [math.exp((a @ zj).item()) for zj in z]
            total += sum(
                s * (model.c[h] @ zj + model.c_0[h]).item() for s, zj in zip(scores, z, strict=True)
            ) / sum(scores)
        assert value.item() == pytest.approx(total, rel=1e-12)


def test_float32_agrees_with_float64(generator):
    X, y, x_q = prompt(generator, n=4)
    model, E = LSA.random(3, generator=generator), embed(X, y, x_q)
    low = model.float()(E.float())
    assert low.dtype == torch.float32
    assert torch.allclose(low.double(), model.double()(E), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: LSA(torch.eye(3), torch.eye(4)), "square and alike"),
        (lambda: SA(*[torch.zeros(0, 3, 3)] * 4), "H >= 1"),
        (lambda: embed(torch.zeros(2, 3, 4), torch.zeros(2, 5), torch.zeros(2, 3)), r"y \(n, L\)"),
        (lambda: SoftmaxPredictor(*[torch.zeros(2, 3)] * 6), r"K \(H, d\+1, d\)"),
    ],
)
def test_bad_shapes_are_named(call, match):
    with pytest.raises(InputError, match=match):
        call()
