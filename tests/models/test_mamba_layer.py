"""The one-layer Mamba: three forms of one function, wrong forms, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from theoryverify.errors import InputError  # noqa: E402
from theoryverify.models import mamba_layer  # noqa: E402
from theoryverify.models.mamba_layer import (  # noqa: E402
    MambaLayer,
    blocks,
    closed_form,
    context_moments,
    embed,
    embedding_dimension,
    feature,
    input_dimension,
    label_gates,
    log_gates,
    recurrence,
    supported_gamma,
)

torch.set_num_threads(1)

F32, F64 = torch.float32, torch.float64


def draw(seed, n, N, d, Q, dtype=F64):
    generator = torch.Generator().manual_seed(seed)
    X = torch.randn(n, N, d, generator=generator, dtype=dtype)
    y = (X[..., 0] ** 3 - 3 * X[..., 0]) / math.sqrt(6)
    x_q = torch.randn(n, Q, d, generator=generator, dtype=dtype)
    gamma = torch.randn(embedding_dimension(d), generator=generator, dtype=dtype)
    return X, y, x_q, gamma


def one_sum(X, y, x_q, gamma, rho, b):
    """The paper's display, one term at a time in Python floats."""
    d, N = len(x_q), len(y)

    def phi(x):
        pairs = [x[i] * x[j] for i in range(d) for j in range(i + 1, d)]
        return [1.0, *x, *[(e * e - 1) / math.sqrt(2) for e in x], *pairs]

    s = [1 / (1 + math.exp(-(label / rho + b))) for label in y]
    query, total = phi(x_q), 0.0
    for j in range(N):
        gate = s[j] * math.prod(1 - s[k] for k in range(j + 1, N)) * (1 - 1 / (1 + math.exp(-b)))
        key = phi(X[j])
        total += gate * y[j] * sum(k * g * q for k, g, q in zip(key, gamma, query, strict=True))
    return total / N


@pytest.mark.parametrize("size", [(1, 1, 1, 1), (2, 7, 1, 3), (3, 40, 5, 4), (1, 300, 3, 2)])
@pytest.mark.parametrize(("dtype", "rtol"), [(F64, 2e-13), (F32, 2e-5)])
@pytest.mark.parametrize("b", [-12.0, -2.0, 0.0, 3.0])
def test_all_forms_agree(size, dtype, rtol, b):
    X, y, x_q, gamma = draw(1, *size, dtype=dtype)
    layer = MambaLayer(gamma, rho=4, b=b)
    literal = layer.literal(X, y, x_q)
    # Terms of both signs cancel, so errors are judged beside the sum of their sizes.
    sizes = MambaLayer(gamma.abs(), rho=4, b=b).closed(X.abs(), y.abs(), x_q.abs())
    scale = sizes.abs().max() + literal.abs().max()
    for other in (layer(X, y, x_q), layer.closed(X, y, x_q)):
        assert other.dtype == dtype
        assert torch.all((other - literal).abs() <= rtol * scale)


def test_against_the_display_term_by_term():
    X, y, x_q, gamma = draw(2, 2, 9, 3, 2)
    layer = MambaLayer(gamma, rho=2.5, b=-1.25)
    for i in range(2):
        for q in range(2):
            by_hand = one_sum(
                X[i].tolist(), y[i].tolist(), x_q[i, q].tolist(), gamma.tolist(), 2.5, -1.25
            )
            assert layer(X, y, x_q)[i, q].item() == pytest.approx(by_hand, rel=1e-12)


def test_any_matrices_and_channels():
    """Recurrence and closed form agree for full ``W_B, W_C, w`` in all channels."""
    generator = torch.Generator().manual_seed(3)
    Z = torch.randn(2, 12, 6, generator=generator, dtype=F64)
    W_B, W_C = torch.randn(2, 4, 6, generator=generator, dtype=F64)
    w = torch.randn(6, generator=generator, dtype=F64)
    left, right = recurrence(Z, W_B, W_C, w, 0.3), closed_form(Z, W_B, W_C, w, 0.3)
    assert left.shape == (2, 6)
    torch.testing.assert_close(left, right, rtol=1e-11, atol=1e-12)
    one = recurrence(Z, W_B, W_C, w, 0.3, channels=slice(2, 3))
    torch.testing.assert_close(one, left[:, 2:3])


def test_wrong_forms_are_seen():
    X, y, x_q, gamma = draw(4, 2, 20, 3, 3)
    layer = MambaLayer(gamma, rho=4, b=-2)
    right = layer(X, y, x_q)

    def euler(step):
        return torch.exp(-step), step

    def own_factor_too(u):
        return log_gates(u) + torch.nn.functional.logsigmoid(-u.double())

    def shifted(u):
        return log_gates(u.roll(1, -1))

    wrong = (
        layer.literal(X, y, x_q, discretise=euler),
        layer.closed(X, y, x_q, gates=own_factor_too),
        layer.closed(X, y, x_q, gates=shifted),
    )
    for form in wrong:
        assert (form - right).abs().max() > 1e-3 * right.abs().max()


def test_gradient_in_gamma_is_that_of_the_literal_form():
    X, y, x_q, gamma = draw(5, 3, 15, 4, 2)
    layer = MambaLayer(gamma, rho=4, b=-2)
    fast, slow = (
        torch.autograd.grad(form(X, y, x_q).square().sum(), layer.gamma)[0]
        for form in (layer, layer.literal)
    )
    torch.testing.assert_close(fast, slow, rtol=1e-11, atol=1e-14)
    assert torch.autograd.gradcheck(
        lambda g: feature(context_moments(X, y, rho=4.0, b=-2.0), x_q, g),
        (gamma.clone().requires_grad_(),),
    )


@pytest.mark.parametrize("least", [2, 256])
def test_gradient_through_the_context(monkeypatch, least):
    monkeypatch.setattr(mamba_layer, "_CHUNK", 1)
    monkeypatch.setattr(mamba_layer, "_LEAST", least)
    X, y, x_q, gamma = draw(6, 1, 5, 2, 2)
    y = y.detach()
    assert torch.autograd.gradcheck(
        lambda X, y: feature(context_moments(X, y, rho=3.0, b=-1.0), x_q, gamma),
        (X.requires_grad_(), y.requires_grad_()),
    )


def test_gates_sum_pathwise():
    """``Σ_{j<=N} G_{j,N+1} = (1-σ(b))(1 - Π(1-s_k))``."""
    _, y, _, _ = draw(7, 4, 30, 1, 1)
    s = torch.sigmoid(y / 4 - 1.5)
    right = torch.sigmoid(torch.tensor(1.5, dtype=F64)) * (1 - (1 - s).prod(-1))
    torch.testing.assert_close(label_gates(y, 4.0, -1.5).exp().sum(-1), right, rtol=1e-13, atol=0)


@pytest.mark.parametrize("dtype", [F32, F64])
def test_a_million_tokens(dtype):
    """Constant label 1: the gates are ``s(1-s)^(N-j)`` and their sum is known."""
    N, b, rho = 10**6, -3.0, 4.0
    X, y = torch.ones(1, N, 1, dtype=dtype), torch.ones(1, N, dtype=dtype)
    s = 1 / (1 + math.exp(-(1 / rho + b)))
    open_query = 1 / (1 + math.exp(b))
    found = context_moments(X, y, rho=rho, b=b).constant.item()
    assert found == pytest.approx(open_query / N, rel=1e-6 if dtype == F32 else 1e-12)
    logs = label_gates(y, rho, b)
    expected = math.log(s) + (N - 1) * math.log1p(-s) + math.log(open_query)
    assert logs[0, 0].item() == pytest.approx(expected, rel=1e-10)  # N ε; exp of it is 0 in floats
    assert torch.isfinite(logs).all()


def test_a_tiny_gate_costs_float32_nothing():
    """b = -80: products of gate, label and entries would be subnormal in float32."""
    X, y, x_q, gamma = draw(8, 1, 50, 3, 2, dtype=F64)
    single = MambaLayer(1e6 * gamma.float(), rho=4, b=-80.0)(X.float(), y.float(), x_q.float())
    double = MambaLayer(1e6 * gamma, rho=4, b=-80.0)(X, y, x_q)
    assert torch.all((single.double() - double).abs() <= 1e-5 * double.abs().max())
    assert double.abs().max() > 0


@pytest.mark.parametrize(("dtype", "rtol"), [(F64, 1e-12), (F32, 1e-4)])
def test_tokens_before_an_open_gate_do_not_count(dtype, rtol):
    """b = 3: after some hundred tokens nothing of the first ones is left, in any form."""
    X, y, x_q, gamma = draw(13, 2, 700, 3, 2, dtype=dtype)
    layer = MambaLayer(gamma, rho=4, b=3)
    short = layer(X[:, 400:], y[:, 400:], x_q) * 300 / 700
    assert torch.all((layer(X, y, x_q) - short).abs() <= rtol * short.abs().max())
    literal = layer.literal(X, y, x_q)
    assert torch.all((layer(X, y, x_q) - literal).abs() <= rtol * literal.abs().max())


def test_one_label_shuts_out_the_past_of_its_prompt_only():
    X, y, x_q, gamma = draw(14, 2, 60, 3, 2)
    y[0, 40] = 1e5  # 1-s underflows: s = 1 to all digits
    layer = MambaLayer(gamma, rho=4, b=-2)
    literal = layer.literal(X, y, x_q)
    found = layer(X, y, x_q)
    assert torch.all((found - literal).abs() <= 1e-12 * literal.abs().max(-1, keepdim=True).values)
    assert torch.isfinite(found).all()


def test_chunks_do_not_matter(monkeypatch):
    X, y, x_q, gamma = draw(9, 3, 101, 4, 2)
    layer = MambaLayer(gamma, rho=4, b=-2)
    whole = layer(X, y, x_q)
    monkeypatch.setattr(mamba_layer, "_CHUNK", 100)
    monkeypatch.setattr(mamba_layer, "_LEAST", 7)
    torch.testing.assert_close(layer(X, y, x_q), whole, rtol=1e-12, atol=1e-15)


def test_embedding_is_the_theorys():
    import sympy

    from theoryverify.papers.mamba import theory

    x = [sympy.Rational(2, 3), sympy.Rational(-1, 5), sympy.Integer(2), sympy.Rational(7, 4)]
    exact = [float(e) for e in theory.embedding(x)]
    ours = embed(torch.tensor([float(e) for e in x], dtype=F64))
    assert ours.numpy() == pytest.approx(np.array(exact), rel=1e-15)
    assert len(exact) == embedding_dimension(4) == theory.embedding_dimension().subs(theory.d, 4)


def test_blocks_follow_the_embedding():
    X, _, x_q, gamma = draw(10, 1, 1, 4, 1)
    parts, key, query = blocks(gamma), X[0, 0], x_q[0, 0]
    products = torch.outer(key * query, key * query)
    total = parts.constant + (parts.linear * key * query).sum() + (parts.pair * products).sum() / 2
    total = total + (parts.diagonal * (key**2 - 1) * (query**2 - 1)).sum() / 2
    torch.testing.assert_close(total, embed(key) @ (gamma * embed(query)))


def test_supported_gamma():
    gamma = supported_gamma(3, [0, 2], constant=2, linear=3, diagonal=5, pair=7, outside=-1)
    assert gamma.tolist() == [2, 3, -1, 3, 5, -1, 5, -1, 7, -1]


@pytest.mark.parametrize("size", [0, 1, 2, 4, 5, 7, 9, 11])
def test_gamma_of_a_wrong_length(size):
    with pytest.raises(InputError, match=f"γ has {size} entries"):
        input_dimension(size)


@pytest.mark.parametrize("d", [1, 2, 10, 5000, 10**9])
def test_input_dimension(d):
    assert input_dimension(embedding_dimension(d)) == d


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rho": 0.0}, "rho = 0.0 must be positive"),
        ({"rho": -4.0}, "rho = -4.0"),
        ({"rho": math.nan}, "rho = nan"),
        ({"b": math.inf}, "b = inf must be finite"),
        ({"device": "cuda:77"}, "is not there"),
        ({"device": "nowhere"}, "is not there"),
        ({"gamma": torch.ones(5)}, "γ has 5 entries"),
        ({"gamma": torch.ones(2, 3)}, "γ must be a vector"),
        ({"gamma": torch.ones(6, dtype=torch.int64)}, "choose torch.float32 or torch.float64"),
    ],
)
def test_bad_layers(change, message):
    given = {"gamma": torch.ones(6), "rho": 4.0, "b": -2.0} | change
    with pytest.raises(InputError, match=message):
        MambaLayer(given.pop("gamma"), **given)


def test_bad_prompts():
    X, y, x_q, gamma = draw(11, 2, 6, 3, 2)
    layer = MambaLayer(gamma, rho=4, b=-2)
    broken = y.clone()
    broken[1, 3] = math.nan
    for prompt, message in (
        ((X[:, :0], y[:, :0], x_q), "an empty context"),
        ((X, broken, x_q), "labels must be finite"),
        ((X, y / 0, x_q), "labels must be finite"),
        ((X, y[:, :5], x_q), "expected X of shape"),
        ((X[..., :2], y, x_q), r"expected X of shape \(n, N, 3\)"),
        ((X, y, x_q[..., :2]), r"x_q \(n, Q, 3\)"),
        ((X, y, x_q[:, 0]), r"x_q \(n, Q, 3\)"),
        ((X.half(), y.half(), x_q), "float32 or float64"),
        ((X.float(), y.float(), x_q.float()), "X is torch.float32 on cpu, γ torch.float64"),
        ((X, y, x_q.float()), "x_q is torch.float32 on cpu, γ torch.float64"),
        ((X, y.float(), x_q), "X and y must both be"),
    ):
        for form in (layer, layer.literal, layer.closed):
            with pytest.raises(InputError, match=message):
                form(*prompt)
    with pytest.raises(InputError, match="for d = 2, but the tokens have d = 3: 10 are needed"):
        feature(layer.moments(X, y), x_q, torch.ones(6, dtype=F64))


@pytest.mark.parametrize("support", [[0, 0], [3], [-1], [True]])
def test_bad_supports(support):
    with pytest.raises(InputError, match="distinct indices"):
        supported_gamma(3, support)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize(("dtype", "rtol"), [(F64, 1e-12), (F32, 1e-4)])
def test_on_a_cuda_device(dtype, rtol):
    X, y, x_q, gamma = draw(12, 3, 200, 16, 4, dtype=dtype)
    here = MambaLayer(gamma, rho=4, b=-2)(X, y, x_q)
    layer = MambaLayer(gamma, rho=4, b=-2, device="cuda")
    there = [t.cuda() for t in (X, y, x_q)]
    for form in (layer, layer.literal, layer.closed):
        assert torch.all((form(*there).cpu() - here).abs() <= rtol * here.abs().max())
