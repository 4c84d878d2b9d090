"""Mamba: parity with the published architecture in ``transformers``, pieces against the whole."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.models.parity import (  # noqa: E402
    distance,
    normal,
    outputs_and_gradients,
    perturb,
)
from theoryverify.errors import InputError  # noqa: E402
from theoryverify.models.mamba import Mamba  # noqa: E402
from theoryverify.models.sequence import Regressor, torch_generator  # noqa: E402

torch.set_num_threads(1)

# b, l, and the architecture; None is the default rank
SIZES = [
    (2, 1, {"width": 16, "layers": 2}),
    (3, 17, {"width": 24, "layers": 1, "states": 4, "kernel": 3, "rank": 5}),
    (1, 33, {"width": 8, "layers": 3, "states": 5, "kernel": 2, "expand": 3}),
    (2, 65, {"width": 64, "layers": 4}),
    (1, 16, {"width": 20, "layers": 1, "states": 1, "kernel": 4, "expand": 1}),
]


def peer(model, dtype):
    """``MambaModel`` with the weights of ours, all of them moved away from where they start."""
    mixer = model.layers[0].mixer
    config = transformers.MambaConfig(
        vocab_size=2,
        hidden_size=model.width,
        num_hidden_layers=len(model.layers),
        state_size=mixer.A_log.shape[1],
        conv_kernel=mixer.conv1d.kernel_size[0],
        expand=mixer.D.shape[0] // model.width,
        time_step_rank=mixer.dt_proj.in_features,
        residual_in_fp32=False,
        use_cache=False,
    )
    theirs = transformers.MambaModel(config).to(dtype)
    missing, unexpected = theirs.load_state_dict(model.state_dict(), strict=False)
    assert missing == ["embeddings.weight"]  # the names are the same
    assert unexpected == []
    return theirs


def perturbed(arguments, dtype):
    model = Mamba(**arguments, rng=1, dtype=torch.float64)
    perturb(model, 0.1)
    return model.to(dtype)


@pytest.fixture
def all_float64(monkeypatch):
    """``transformers`` computes norms and A in float32 whatever the weights: lift that."""
    from transformers.models.mamba import modeling_mamba

    def norm(self, x):
        return (
            self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)
        )

    monkeypatch.setattr(modeling_mamba.MambaRMSNorm, "forward", norm)
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)


def compare(size, dtype):
    """Name to distance: the output, the gradient in the input, and in every parameter."""
    b, l, arguments = size  # noqa: E741
    model = perturbed(arguments, dtype)
    theirs = peer(model, dtype)
    x, weights = (normal(b, l, model.width, seed=s, dtype=dtype) for s in (11, 12))
    mine = outputs_and_gradients(model, model, x, weights)
    right = outputs_and_gradients(
        theirs, lambda e: theirs(inputs_embeds=e).last_hidden_state, x, weights
    )
    assert mine.keys() == right.keys()
    return {name: distance(mine[name], right[name]) for name in mine}


@pytest.mark.parametrize("size", SIZES)
def test_parity_in_float32(size):
    distances = compare(size, torch.float32)
    assert all(value <= 2e-5 for value in distances.values()), distances


@pytest.mark.parametrize("size", SIZES)
def test_parity_in_float64(size, all_float64):
    distances = compare(size, torch.float64)
    assert all(value <= 1e-12 for value in distances.values()), distances


@pytest.mark.parametrize("wrong", ["epsilon", "gate", "shift"])
def test_parity_sees_a_wrong_model(wrong, all_float64, monkeypatch):
    """An ε ten times too large, a gate without its SiLU, a convolution that lags by one."""
    from theoryverify.models import mamba

    if wrong == "epsilon":
        monkeypatch.setattr(mamba.RMSNorm.__init__, "__kwdefaults__", {"epsilon": 1e-4})
    elif wrong == "gate":
        count = iter(range(10**6))  # each layer's first SiLU is the convolution's
        silu = torch.nn.functional.silu
        monkeypatch.setattr(mamba, "silu", lambda x: x if next(count) % 2 else silu(x))
    else:
        pad = torch.nn.functional.pad
        monkeypatch.setattr(mamba, "pad", lambda x, by: pad(x, (*by[:2], by[2] + 1, -1)))
    assert compare(SIZES[1], torch.float64)["y"] > 1e-7


@pytest.mark.parametrize("cuts", [(1,) * 20, (2, 17, 1), (1, 3, 16)])
@pytest.mark.parametrize("kernel", [1, 4])
def test_streaming_is_the_parallel_pass(cuts, kernel):
    model = perturbed({"width": 12, "layers": 3, "states": 3, "kernel": kernel}, torch.float64)
    x = normal(2, 20, 12).requires_grad_()
    whole, state, pieces = model(x), None, []
    for piece in x.split(cuts, dim=1):
        y, state = model.extend(piece, state)
        pieces.append(y)
    assert distance(torch.cat(pieces, dim=1), whole) <= 1e-13
    weights = normal(2, 20, 12, seed=3)
    (through,) = torch.autograd.grad((torch.cat(pieces, dim=1) * weights).sum(), x)
    (right,) = torch.autograd.grad((whole * weights).sum(), x)
    assert distance(through, right) <= 1e-12
    assert [tuple(t.shape) for t in state[0]] == [(2, kernel - 1, 24), (2, 24, 3)]


def test_the_future_does_not_matter():
    model = perturbed({"width": 12, "layers": 2}, torch.float32)
    x = normal(2, 20, 12, dtype=torch.float32)
    changed = x.clone()
    changed[:, 13:] += normal(2, 7, 12, seed=1, dtype=torch.float32)
    assert distance(model(changed)[:, :13], model(x)[:, :13]) <= 1e-6
    assert distance(model(changed)[:, 13:], model(x)[:, 13:]) > 1e-2


def test_the_start_is_as_published():
    before = torch.get_rng_state()
    model = Mamba(64, 4, rng=5)
    assert torch.equal(torch.get_rng_state(), before)
    again, other = Mamba(64, 4, rng=5), Mamba(64, 4, rng=6)
    assert all(map(torch.equal, model.parameters(), again.parameters()))
    assert not torch.equal(
        model.layers[0].mixer.in_proj.weight, other.layers[0].mixer.in_proj.weight
    )
    for layer in model.layers:
        mixer = layer.mixer
        assert torch.equal(mixer.A_log, torch.arange(1.0, 17).log().expand(128, 16))
        assert torch.equal(mixer.D, torch.ones(128))
        step = torch.nn.functional.softplus(mixer.dt_proj.bias)
        assert step.min() >= 0.999e-3
        assert step.max() <= 0.1001
        # log-uniform: mean log(1e-2), and a mean of 128 draws within 5 standard deviations
        spread = math.log(100) / math.sqrt(12 * 128)
        assert abs(step.log().mean() - math.log(1e-2)) <= 5 * spread
        for weight, bound in (
            (mixer.in_proj.weight, 64**-0.5),
            (mixer.x_proj.weight, 128**-0.5),
            (mixer.out_proj.weight, 128**-0.5 / 2),
            (mixer.dt_proj.weight, 4**-0.5),
            (mixer.conv1d.weight, 4**-0.5),
            (mixer.conv1d.bias, 4**-0.5),
        ):
            assert 0.9 * bound <= weight.abs().max() <= bound


def test_bfloat16_by_autocast_and_whole():
    model = perturbed({"width": 32, "layers": 2}, torch.float32)
    x = normal(2, 40, 32, dtype=torch.float32)
    right = model(x)
    with torch.autocast("cpu", torch.bfloat16):
        y = model(x)
        y.float().square().mean().backward()
    assert distance(y.float(), right) <= 0.05
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
    low = model.to(torch.bfloat16)(x.to(torch.bfloat16))
    assert low.dtype == torch.bfloat16
    assert distance(low.float(), right) <= 0.05


def test_compiled_without_a_break():
    model = perturbed({"width": 8, "layers": 1, "states": 2}, torch.float32)
    x = normal(2, 9, 8, dtype=torch.float32)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    weights = normal(2, 9, 8, seed=2, dtype=torch.float32)
    mine = outputs_and_gradients(model, compiled, x, weights)
    right = outputs_and_gradients(model, model, x, weights)
    assert all(distance(mine[name], right[name]) <= 1e-6 for name in right)


def test_regressor():
    regressor = Regressor(5, Mamba(16, 2, rng=0, dtype=torch.float64), rng=1)
    z = normal(3, 11, 5)
    whole = regressor(z)
    assert whole.shape == (3, 11)
    by_hand = regressor.backbone(z @ regressor.read_in.weight.T) @ regressor.readout.weight[0]
    assert distance(whole, by_hand) <= 1e-14
    first, state = regressor.extend(z[:, :4])
    rest, _ = regressor.extend(z[:, 4:], state)
    assert distance(torch.cat([first, rest], dim=1), whole) <= 1e-13
    with pytest.raises(InputError, match=r"tokens of shape \(b, l, 5\).*\(3, 11, 4\)"):
        regressor(z[..., :4])
    with pytest.raises(InputError, match="d_in"):
        Regressor(0, Mamba(16, 2))


def test_generators_are_derived():
    draws = [torch.rand(3, generator=torch_generator(seed)) for seed in (1, 1, 2)]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda m: m(torch.zeros(2, 3, 9)), r"\(b, l, 8\); got \(2, 3, 9\)"),
        (lambda m: m(torch.zeros(3, 8)), r"got \(3, 8\)"),
        (lambda m: m(torch.zeros(0, 3, 8)), r"\(0, 3, 8\) are empty"),
        (lambda m: m(torch.zeros(2, 0, 8)), r"\(2, 0, 8\) are empty"),
        (lambda m: m(torch.zeros(2, 3, 8).double()), r"\(2, 3, 8\) are torch.float64, the weights"),
        (lambda m: m(torch.zeros(2, 3, 8, device="meta")), r"on meta, the weights on cpu"),
        (lambda m: m.extend(torch.zeros(3, 1, 8), m.extend(torch.zeros(2, 1, 8))[1]), "batch 2"),
        (
            lambda m: m.extend(torch.zeros(2, 1, 8), m.extend(torch.zeros(2, 1, 8))[1][:1]),
            "1 layers",
        ),
        (lambda m: m.extend(torch.zeros(2, 1, 8), ()), "0 layers"),
        (lambda m: Mamba(0, 1), "width"),
        (lambda m: Mamba(8, 1, states=0), "states"),
        (lambda m: Mamba(8, 1, kernel=-1), "kernel"),
        (lambda m: Mamba(8, 1, rank=0), "rank"),
    ],
)
def test_bad_input(call, match):
    with pytest.raises(InputError, match=match):
        call(Mamba(8, 2, states=2, rng=0))
