"""GPT-2: parity with ``transformers``, the cache against the whole, and its start."""

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
from theoryverify.models.gpt2 import GPT2  # noqa: E402
from theoryverify.models.sequence import Regressor  # noqa: E402

torch.set_num_threads(1)

SIZES = [
    (2, 1, {"width": 16, "layers": 2, "heads": 4, "positions": 5}),
    (3, 17, {"width": 24, "layers": 1, "heads": 3, "positions": 17}),
    (1, 33, {"width": 8, "layers": 3, "heads": 1, "positions": 40}),
    (2, 65, {"width": 64, "layers": 4, "heads": 8, "positions": 65}),
    (1, 16, {"width": 20, "layers": 2, "heads": 20, "positions": 16}),
]


def perturbed(arguments, dtype):
    model = GPT2(**arguments, rng=1, dtype=torch.float64)
    perturb(model, 0.2)
    return model.to(dtype)


def theirs_by_ours(name, value):
    """Its matrices are (inputs, outputs), but for the table of positions."""
    return value.T if value.ndim == 2 and name != "wpe.weight" else value


def peer(model, heads, dtype):
    config = transformers.GPT2Config(
        vocab_size=2,
        n_embd=model.width,
        n_layer=len(model.h),
        n_head=heads,
        n_positions=model.positions,
        attn_pdrop=0,
        embd_pdrop=0,
        resid_pdrop=0,
        use_cache=False,
    )
    theirs = transformers.GPT2Model(config).to(dtype)
    weights = {name: theirs_by_ours(name, value) for name, value in model.state_dict().items()}
    missing, unexpected = theirs.load_state_dict(weights, strict=False)
    assert missing == ["wte.weight"]
    assert unexpected == []
    return theirs


def compare(size, dtype):
    b, l, arguments = size  # noqa: E741
    model = perturbed(arguments, dtype)
    theirs = peer(model, arguments["heads"], dtype)
    x, weights = (normal(b, l, model.width, seed=s, dtype=dtype) for s in (11, 12))
    mine = outputs_and_gradients(model, model, x, weights)
    right = outputs_and_gradients(
        theirs, lambda e: theirs(inputs_embeds=e).last_hidden_state, x, weights
    )
    assert mine.keys() == right.keys()
    return {
        name: distance(theirs_by_ours(name, mine[name]) if "." in name else mine[name], right[name])
        for name in mine
    }


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 2e-5), (torch.float64, 1e-12)])
def test_parity(size, dtype, tolerance):
    distances = compare(size, dtype)
    assert all(value <= tolerance for value in distances.values()), distances


@pytest.mark.parametrize("wrong", ["gelu", "scale"])
def test_parity_sees_a_wrong_model(wrong, monkeypatch):
    """The GELU by erf, and scores not scaled: close to the right ones."""
    from theoryverify.models import gpt2

    if wrong == "gelu":
        monkeypatch.setattr(gpt2, "gelu", lambda x, approximate: torch.nn.functional.gelu(x))
    else:
        attention = torch.nn.functional.scaled_dot_product_attention
        monkeypatch.setattr(
            gpt2,
            "scaled_dot_product_attention",
            lambda *args, **kwargs: attention(*args, **kwargs, scale=1.0),
        )
    assert compare(SIZES[1], torch.float64)["y"] > 1e-7


@pytest.mark.parametrize("cuts", [(1,) * 20, (2, 17, 1), (1, 3, 16)])
def test_with_a_cache_it_is_the_parallel_pass(cuts):
    model = perturbed({"width": 12, "layers": 3, "heads": 2, "positions": 20}, torch.float64)
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
    assert state[0].keys.shape == (2, 2, 20, 6)


def test_the_future_does_not_matter():
    model = perturbed({"width": 12, "layers": 2, "heads": 3, "positions": 20}, torch.float32)
    x = normal(2, 20, 12, dtype=torch.float32)
    changed = x.clone()
    changed[:, 13:] += normal(2, 7, 12, seed=1, dtype=torch.float32)
    assert distance(model(changed)[:, :13], model(x)[:, :13]) <= 1e-6
    assert distance(model(changed)[:, 13:], model(x)[:, 13:]) > 1e-2


def test_the_start_is_as_published():
    before = torch.get_rng_state()
    model = GPT2(64, 4, 4, positions=30, rng=5)
    assert torch.equal(torch.get_rng_state(), before)
    again, other = GPT2(64, 4, 4, positions=30, rng=5), GPT2(64, 4, 4, positions=30, rng=6)
    assert all(map(torch.equal, model.parameters(), again.parameters()))
    assert not torch.equal(model.wpe.weight, other.wpe.weight)
    for name, parameter in model.named_parameters():
        if parameter.ndim == 2:
            deviation = 0.02 / math.sqrt(8) if name.endswith("c_proj.weight") else 0.02
            error = 5 * deviation / math.sqrt(2 * parameter.numel())
            assert abs(parameter.std().item() - deviation) <= error, name
            assert abs(parameter.mean().item()) <= 5 * deviation / math.sqrt(parameter.numel())
        else:
            wanted = torch.full_like(parameter, name.endswith("weight"))
            assert torch.equal(parameter, wanted), name


def test_bfloat16_by_autocast_and_whole():
    model = perturbed({"width": 32, "layers": 2, "heads": 4, "positions": 40}, torch.float32)
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


def test_regressor():
    regressor = Regressor(5, GPT2(16, 2, 4, positions=11, rng=0, dtype=torch.float64), rng=1)
    z = normal(3, 11, 5)
    whole = regressor(z)
    assert whole.shape == (3, 11)
    first, state = regressor.extend(z[:, :4])
    rest, _ = regressor.extend(z[:, 4:], state)
    assert distance(torch.cat([first, rest], dim=1), whole) <= 1e-13


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (
            lambda m: GPT2(16, 2, 3, positions=4),
            r"3 heads do not divide the width 16.*1, 2, 4, 8, 16",
        ),
        (lambda m: GPT2(16, 2, 0, positions=4), "heads"),
        (lambda m: GPT2(16, 2, 4, positions=0), "positions"),
        (lambda m: m(torch.zeros(2, 7, 8)), r"\(2, 7, 8\) ends at position 7, .* has 6"),
        (
            lambda m: m.extend(torch.zeros(2, 3, 8), m.extend(torch.zeros(2, 4, 8))[1]),
            r"\(2, 3, 8\) ends at position 7",
        ),
        (lambda m: m(torch.zeros(2, 3, 9)), r"\(b, l, 8\); got \(2, 3, 9\)"),
        (lambda m: m(torch.zeros(0, 3, 8)), r"\(0, 3, 8\) are empty"),
        (lambda m: m(torch.zeros(2, 3, 8).double()), r"\(2, 3, 8\) are torch.float64, the weights"),
        (lambda m: m(torch.zeros(2, 3, 8, device="meta")), "on meta, the weights on cpu"),
        (lambda m: m.extend(torch.zeros(3, 1, 8), m.extend(torch.zeros(2, 1, 8))[1]), "batch 2"),
        (lambda m: m.extend(torch.zeros(2, 1, 8), ()), "0 layers"),
    ],
)
def test_bad_input(call, match):
    with pytest.raises(InputError, match=match):
        call(GPT2(8, 2, 2, positions=6, rng=0))
