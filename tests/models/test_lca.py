"""(5.1)-(5.5): the stacks entry by entry, and the exact facts about them."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from theoryverify.errors import InputError  # noqa: E402
from theoryverify.models import precision  # noqa: E402
from theoryverify.models.attention import LSA, embed  # noqa: E402
from theoryverify.models.lca import CA, LCA, GeneralWeights, ScalarWeights  # noqa: E402

torch.set_num_threads(1)


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(1)


def context(generator, n=2, d=3, L=5):
    X = torch.randn(n, d, L, generator=generator, dtype=torch.float64)
    return X, torch.randn(n, L, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("kind", [CA, LCA])
def test_states_entry_by_entry(kind, generator):
    """One prompt, two layers, every sum written out."""
    X, _ = context(generator, n=1)
    weights = GeneralWeights.random(3, 2, generator=generator)
    F = torch.zeros(3, 5, dtype=torch.float64)
    x, expected = X[0], []
    for t in range(2):
        W = weights.layer(t)
        new = torch.zeros_like(F)
        for i in range(5):
            scores = [
                sum((W.W_K[a] @ x[:, j]).item() * (W.W_Q[a] @ F[:, i]).item() for a in range(3))
                for j in range(5)
            ]
            if kind is CA:
                top = [math.exp(s) for s in scores]
                scores = [s / sum(top) for s in top]
            else:
                scores = [s / 5 for s in scores]
            attended = sum(scores[j] * (W.W_V @ x[:, j]) for j in range(5))
            new[:, i] = F[:, i] + attended + W.W_S @ x[:, i]
        F = new
        expected.append(F)
    states = kind(weights).states(X)
    assert torch.equal(states[0], torch.zeros_like(X))
    for state, right in zip(states[1:], expected, strict=True):
        assert torch.allclose(state[0], right, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("alpha", "beta"), [(0.3, None), (0.2, -0.35), (0.25, 0.1)])
def test_weight_simplifications(alpha, beta, generator):
    """``F_t = (I+βΣ̂)F_{t-1} + αX`` with ``β = -α`` where it is tied."""
    X, _ = context(generator)
    model = LCA.one_parameter(3, 4, alpha) if beta is None else LCA.two_parameter(3, 4, alpha, beta)
    mix = -alpha if beta is None else beta
    covariance = X @ X.mT / 5
    F = torch.zeros_like(X)
    for state in model.states(X)[1:]:
        F = F + mix * covariance @ F + alpha * X
        assert torch.allclose(state, F, rtol=1e-12, atol=1e-12)
    layer = model.weights.layer(2)
    assert torch.equal(layer.W_K, torch.eye(3, dtype=torch.float64))
    assert torch.equal(layer.W_Q, layer.W_K)


def test_one_parameter_is_gradient_descent_on_the_contexts_least_squares(generator):
    X, y = context(generator)
    slope = LCA.one_parameter(3, 6, 0.1).slope(X, y)
    w = torch.zeros(2, 3, dtype=torch.float64)
    for _ in range(6):
        residual = torch.einsum("nil,ni->nl", X, w) - y
        w = w - 0.1 * torch.einsum("nil,nl->ni", X, residual) / 5
    assert torch.allclose(slope, w, rtol=1e-12)


@pytest.mark.parametrize("kind", [CA, LCA])
def test_the_slope_predicts_every_query(kind, generator):
    X, y = context(generator)
    model = kind(GeneralWeights.random(3, 3, generator=generator))
    slope = model.slope(X, y)
    for _ in range(3):
        x_q = torch.randn(2, 3, generator=generator, dtype=torch.float64)
        assert torch.allclose(model(X, y, x_q), (slope * x_q).sum(dim=1), rtol=1e-10)
        literal = model.readout(embed(model.states(X)[-1], y, x_q))[:, -1, -1]
        assert torch.allclose(model(X, y, x_q), literal, rtol=1e-10)


def test_softmax_attention_weights_add_to_one(generator):
    """With ``W_V X`` constant over tokens, attention returns that constant."""
    X, _ = context(generator)
    X = X.mean(dim=2, keepdim=True).expand(-1, -1, 5)
    layer = GeneralWeights.random(3, 1, generator=generator).layer(0)
    F = torch.randn(2, 3, 5, generator=generator, dtype=torch.float64)
    A = CA(ScalarWeights(3, 1, 0.1)).attention(X, F, layer)
    assert torch.allclose(A, layer.W_V @ X, rtol=1e-12)


def test_batches_do_not_mix(generator):
    X, y = context(generator, n=4)
    for kind in (CA, LCA):
        model = kind.one_parameter(3, 3, 0.2)
        whole = model.slope(X, y)
        single = torch.cat([model.slope(X[i : i + 1], y[i : i + 1]) for i in range(4)])
        assert torch.allclose(whole, single, rtol=1e-13)


def test_gradients_reach_the_scalars(generator):
    X, y = context(generator)
    model = LCA.two_parameter(3, 2, 0.2, -0.3)
    names = {name for name, p in model.named_parameters() if p.requires_grad}
    assert len(names) == 2
    model(X, y, X[:, :, 0]).sum().backward()
    for p in model.weights.parameters():
        assert p.grad is not None
        assert torch.isfinite(p.grad)
        assert p.grad != 0
    # Finite differences of the prediction in α.
    value = [
        LCA.two_parameter(3, 2, 0.2 + h, -0.3)(X, y, X[:, :, 0]).sum().item() for h in (-1e-6, 1e-6)
    ]
    assert model.weights.alpha.grad.item() == pytest.approx((value[1] - value[0]) / 2e-6, rel=1e-6)


def test_float32(generator):
    X, y = context(generator)
    low = LCA.one_parameter(3, 5, 0.2, dtype=torch.float32).slope(X.float(), y.float())
    assert low.dtype == torch.float32
    assert torch.allclose(low.double(), LCA.one_parameter(3, 5, 0.2).slope(X, y), rtol=1e-4)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: LCA.one_parameter(0, 2, 0.1), "dimension = 0"),
        (lambda: LCA.one_parameter(3, 0, 0.1), "depth = 0"),
        (lambda: LCA.one_parameter(3, True, 0.1), "depth = True"),
        (lambda: LCA.one_parameter(3, 2, 0.1).states(torch.zeros(2, 4, 5)), r"\(n, 3, L\)"),
        (lambda: LCA.one_parameter(3, 2, 0.1).states(torch.zeros(2, 3, 0)), "L >= 1"),
        (lambda: GeneralWeights(*[torch.zeros(2, 3, 4)] * 4), r"\(T, d, d\)"),
    ],
)
def test_bad_input(call, match):
    with pytest.raises(InputError, match=match):
        call()


# -- F33 and devices -----------------------------------------------------------------------------


def test_the_guard_product_is_exact_here():
    for dtype in (torch.float32, torch.float64):
        assert precision.matmul_precision_guard("cpu", dtype) == 1024.5
    with pytest.raises(InputError, match="dtype"):
        precision.matmul_precision_guard("cpu", torch.float16)


def test_the_guard_refuses_products_that_are_rounded(monkeypatch):
    """TF32 keeps 10 bits: emulated, for want of a device that does it."""
    exact = torch.Tensor.__matmul__

    def rounded(left, right):
        product = exact(left, right)
        scale = 2.0 ** (torch.floor(torch.log2(product.abs().clamp(min=1e-30))) - 10)
        return torch.round(product / scale) * scale

    monkeypatch.setattr(torch.Tensor, "__matmul__", rounded)
    with pytest.raises(InputError, match="float64"):
        precision.matmul_precision_guard("cpu", torch.float32)


def test_devices_and_memory_are_checked_before_work():
    with pytest.raises(InputError, match="choose one of cpu"):
        precision.require_device("cuda:77")
    with pytest.raises(InputError, match="choose one of cpu"):
        precision.require_device("abacus")
    with pytest.raises(InputError, match="GiB are free"):
        precision.require_memory(10**15, torch.float64, "one prompt", "cpu")
    precision.require_memory(10, torch.float64, "one prompt", "cpu")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_cuda_agrees_with_the_cpu(generator):
    X, y = context(generator, n=16, d=8, L=64)
    for dtype, tolerance in ((torch.float64, 1e-12), (torch.float32, 1e-4)):
        precision.matmul_precision_guard("cuda", dtype)
        here = LCA.one_parameter(8, 6, 0.1, dtype=dtype).slope(X.to(dtype), y.to(dtype))
        there = (
            LCA.one_parameter(8, 6, 0.1, dtype=dtype)
            .cuda()
            .slope(X.to("cuda", dtype), y.to("cuda", dtype))
        )
        assert torch.allclose(there.cpu(), here, rtol=tolerance, atol=tolerance)


def test_importing_the_package_imports_no_torch():
    code = (
        "import sys, theoryverify, theoryverify.models, theoryverify.simulate, theoryverify.stats,"
        "theoryverify.flow, theoryverify.simulate.prompts;"
        "bad = {'torch', 'scipy'} & set(sys.modules); assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_readout_can_be_trained_instead(generator):
    X, y = context(generator)
    model = LCA(ScalarWeights(3, 2, 0.2), LSA.random(3, generator=generator))
    model(X, y, X[:, :, 0]).sum().backward()
    assert np.isfinite(model.readout.W_KQ.grad.numpy()).all()
