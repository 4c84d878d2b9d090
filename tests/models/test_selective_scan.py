"""The selective scan: both programs against sums written out, their gradients, and their manners."""

from __future__ import annotations

import itertools
import math
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tests.models.parity import distance  # noqa: E402
from theoryverify.errors import InputError  # noqa: E402
from theoryverify.models import native, scan_ops  # noqa: E402
from theoryverify.models import selective_scan as module  # noqa: E402
from theoryverify.models.selective_scan import selective_scan, selective_scan_from  # noqa: E402

torch.set_num_threads(1)

METHODS = ["loop"]
if native.find_compiler() is not None:
    METHODS.append("fused")

# b, l, d, n: one step; a chunk of 16 but for one step, whole, and one more; channels that fill no
# block of 8 or 16, one, and several
SIZES = [(1, 1, 1, 1), (2, 1, 9, 3), (2, 15, 3, 2), (1, 16, 8, 1), (3, 17, 17, 5), (1, 65, 32, 16)]


def make(b, l, d, n, dtype=torch.float64, seed=0):  # noqa: E741
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    u, delta = normal(b, l, d), torch.nn.functional.softplus(normal(b, l, d) - 1)
    A = -torch.arange(1.0, n + 1).repeat(d, 1) * normal(d, n).exp()
    tensors = (normal(b, d, n), u, delta, A, normal(b, l, n), normal(b, l, n), normal(d))
    return [x.to(dtype).requires_grad_() for x in tensors]


def literal(state, u, delta, A, B, C, D, *, exact_hold=False, late=False):
    """Token by token under Torch's own autograd; the two switches make it wrong."""
    h, out = state, []
    for t in range(u.shape[1]):
        decay = torch.exp(delta[:, t, :, None] * A)
        hold = (decay - 1) / A if exact_hold else delta[:, t, :, None]
        before = h
        h = decay * h + hold * B[:, t, None, :] * u[:, t, :, None]
        out.append(((before if late else h) * C[:, t, None, :]).sum(-1) + D * u[:, t])
    return torch.stack(out, dim=1), h


@pytest.mark.parametrize("method", METHODS)
def test_entry_by_entry(method):
    inputs = make(2, 5, 3, 2)
    y, state = selective_scan_from(*inputs, method=method)
    h0, u, delta, A, B, C, D = (x.tolist() for x in inputs)
    for b, d in itertools.product(range(2), range(3)):
        h = h0[b][d]
        for t in range(5):
            for n in range(2):
                h[n] = math.exp(delta[b][t][d] * A[d][n]) * h[n]
                h[n] += delta[b][t][d] * B[b][t][n] * u[b][t][d]
            total = sum(C[b][t][n] * h[n] for n in range(2)) + D[d] * u[b][t][d]
            assert y[b, t, d].item() == pytest.approx(total, rel=1e-12, abs=1e-13)
        assert state[b, d].tolist() == pytest.approx(h, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-13), (torch.float32, 3e-6)])
def test_values_and_gradients_are_those_of_the_literal_recurrence(method, size, dtype, tolerance):
    inputs, exact = make(*size, dtype), make(*size)
    y, state = selective_scan_from(*inputs, method=method)
    y_exact, state_exact = literal(*exact)
    assert y.dtype == state.dtype == dtype
    assert distance(y, y_exact) <= tolerance
    assert distance(state, state_exact) <= tolerance
    weights = make(*size, seed=1)
    loss = (y * weights[1].to(dtype)).sum() + (state * weights[0].to(dtype)).sum()
    loss_exact = (y_exact * weights[1]).sum() + (state_exact * weights[0]).sum()
    ours, theirs = torch.autograd.grad(loss, inputs), torch.autograd.grad(loss_exact, exact)
    for name, mine, right in zip(
        ["h0", "u", "delta", "A", "B", "C", "D"], ours, theirs, strict=True
    ):
        assert mine.shape == right.shape
        assert distance(mine, right) <= tolerance, name


@pytest.mark.parametrize("wrong", [{"exact_hold": True}, {"late": True}])
def test_wrong_recurrences_are_told_apart(wrong):
    inputs = make(2, 15, 3, 2)
    assert distance(selective_scan_from(*inputs)[0], literal(*inputs, **wrong)[0]) > 1e-2


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [(2, 1, 2, 1), (2, 18, 3, 2)])
def test_gradcheck(method, size):
    def scan(*inputs):
        return selective_scan_from(*inputs, method=method)

    assert torch.autograd.gradcheck(scan, make(*size))


def test_a_second_derivative_is_refused():
    inputs = make(1, 3, 2, 1)
    y, _ = selective_scan_from(*inputs)
    (first,) = torch.autograd.grad(y.sum(), inputs[2], create_graph=True)
    with pytest.raises(RuntimeError):
        torch.autograd.grad(first.sum(), inputs[2])


@pytest.mark.parametrize("method", METHODS)
def test_without_state_or_skip(method):
    state, *inputs, D = make(2, 20, 5, 3)
    zero, no_skip = torch.zeros_like(state), torch.zeros_like(D)
    y, _ = literal(zero, *inputs, no_skip)
    assert distance(selective_scan(*inputs, method=method), y) <= 1e-13
    assert distance(selective_scan_from(None, *inputs, method=method)[0], y) <= 1e-13


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("cuts", [(1,) * 20, (1, 16, 3), (7, 13)])
def test_in_pieces_from_the_state(method, cuts):
    state, u, delta, A, B, C, D = inputs = make(2, 20, 9, 3)
    whole, end = selective_scan_from(*inputs, method=method)
    pieces, h = [], state
    for parts in zip(*(x.split(cuts, dim=1) for x in (u, delta, B, C)), strict=True):
        y, h = selective_scan_from(h, *parts[:2], A, *parts[2:], D, method=method)
        pieces.append(y)
    assert distance(torch.cat(pieces, dim=1), whole) <= 1e-14
    assert distance(h, end) <= 1e-14
    gradients = (torch.autograd.grad(x.sum(), inputs) for x in (torch.cat(pieces, 1), whole))
    for mine, right in zip(*gradients, strict=True):
        assert distance(mine, right) <= 1e-13


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_short_floats_are_scanned_in_float32(method, dtype):
    short = make(2, 17, 9, 4, dtype)
    short[0] = short[0].detach().float().requires_grad_()  # the state stays in float32
    longer = [x.detach().float().requires_grad_() for x in short]
    y, state = selective_scan_from(*short, method=method)
    y_long, state_long = selective_scan_from(*longer, method=method)
    assert y.dtype == dtype
    assert state.dtype == torch.float32
    assert torch.equal(y, y_long.to(dtype))
    assert torch.equal(state, state_long)
    y.sum().backward()
    y_long.sum().backward()
    for x, z in zip(short, longer, strict=True):
        assert torch.equal(x.grad, z.grad.to(x.dtype))
    # A, Δ, D in float32 beside short u, B, C, as under autocast
    mixed = [longer[i] if i in (0, 2, 3, 6) else short[i] for i in range(7)]
    assert torch.equal(selective_scan_from(*mixed, method=method)[0], y)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("dtype", "low"), [(torch.float32, -85.0), (torch.float64, -700.0)])
def test_the_exponential_over_its_range(method, dtype, low):
    """With u = 0, h_0 = C = 1 one step gives exp(ΔA)."""
    x = torch.linspace(low, -low, 4096, dtype=torch.float64).to(dtype).view(1, 1, -1)
    one = torch.ones(1, 1, 1, dtype=dtype)
    A, state = torch.ones(4096, 1, dtype=dtype), torch.ones(1, 4096, 1, dtype=dtype)
    y, _ = selective_scan_from(state, torch.zeros_like(x), x, A, one, one, method=method)
    error = (y.double() / x.double().exp() - 1).abs() / (1 + x.double().abs())
    # a term of the series less would be 1.4e-7 in float32; in float64 the peer is rounded too
    tight = 9e-8 if method == "fused" else 1.5e-7
    assert error.max() <= (tight if dtype == torch.float32 else 4e-16)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_is_out_of_range_is_zero_infinite_or_nan(method, dtype):
    x = torch.tensor([-1e4, -math.inf, 1e4, math.inf, math.nan, 0.0], dtype=dtype).view(1, 1, -1)
    one = torch.ones(1, 1, 1, dtype=dtype)
    A, state = torch.ones(6, 1, dtype=dtype), torch.ones(1, 6, 1, dtype=dtype)
    y, h = selective_scan_from(state, torch.zeros_like(x), x, A, one, one, method=method)
    # 0 · ∞, the input's term, is NaN
    wanted = [0.0, math.nan, math.inf, math.nan, math.nan, 1.0]
    assert h.flatten().tolist() == pytest.approx(wanted, nan_ok=True)
    assert y.flatten().tolist() == pytest.approx(wanted, nan_ok=True)


@pytest.mark.parametrize("method", METHODS)
def test_the_number_of_threads_changes_no_bit(method):
    inputs = make(3, 33, 40, 5, torch.float32)
    results = []
    try:
        for threads in (1, 2, 5):
            torch.set_num_threads(threads)
            y = selective_scan(*inputs[1:], method=method)
            results.append((y, *torch.autograd.grad(y.square().sum(), inputs[1:])))
    finally:
        torch.set_num_threads(1)
    if method == "fused":  # the loop's sums are Torch's
        for other in results[1:]:
            assert all(map(torch.equal, results[0], other))
    for other in results[1:]:
        assert all(distance(x, y) <= 3e-6 for x, y in zip(other, results[0], strict=True))


@pytest.mark.parametrize("method", METHODS)
def test_what_is_kept_is_a_sixteenth_of_the_history(method):
    b, l, d, n = 2, 160, 32, 8  # noqa: E741
    inputs = make(b, l, d, n, torch.float32)[1:]
    kept = {}

    def pack(x):
        kept[x.untyped_storage().data_ptr()] = x.numel()
        return x

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        selective_scan(*inputs, method=method)
    own = {x.untyped_storage().data_ptr() for x in inputs}
    extra = sum(count for pointer, count in kept.items() if pointer not in own)
    assert b * l * d * n // 16 <= extra <= b * l * d * n // 16 + d * n  # and Aᵀ


def test_the_operators_obey_torch():
    """Shapes for tracing, aliasing, autograd registration: Torch's own examination."""
    u, delta, A, B, C, D = make(2, 17, 9, 3, torch.float32)[1:]
    h0 = torch.zeros(2, 3, 9)
    tests = ("test_schema", "test_autograd_registration", "test_faketensor")
    for fused in (None, False):
        arguments = (u, delta, A.detach().mT.contiguous(), B, C, D, h0, fused)
        torch.library.opcheck(scan_ops.scan, arguments, test_utils=tests)


# -- bad input --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({1: torch.zeros(2, 5)}, r"u of shape \(b, l, d\).*\(2, 5\)"),
        ({2: torch.zeros(2, 5, 4)}, r"delta has shape \(2, 5, 4\).*\(2, 5, 3\)"),
        ({3: torch.zeros(4, 2)}, r"A \(4, 2\)"),
        ({4: torch.zeros(2, 5, 3)}, r"B has shape \(2, 5, 3\).*\(2, 5, 2\)"),
        ({5: torch.zeros(2, 4, 2)}, r"C has shape \(2, 4, 2\)"),
        ({6: torch.zeros(2)}, r"D has shape \(2,\).*\(3,\)"),
        ({0: torch.zeros(2, 2, 3)}, r"state has shape \(2, 2, 3\).*\(2, 3, 2\)"),
        ({1: torch.zeros(0, 5, 3)}, "no axis may be empty"),
        ({1: torch.zeros(2, 0, 3)}, "no axis may be empty"),
        ({2: torch.zeros(2, 5, 3, dtype=torch.float64)}, r"delta \(2, 5, 3\) is torch.float64"),
        ({4: torch.zeros(2, 5, 2, dtype=torch.bfloat16)}, r"B \(2, 5, 2\) is torch.bfloat16"),
        ({1: torch.zeros(2, 5, 3, dtype=torch.int64)}, "can be scanned"),
        ({4: torch.zeros(2, 5, 2, device="meta")}, "several devices.*meta"),
    ],
)
def test_bad_input(change, match):
    inputs = make(2, 5, 3, 2, torch.float32)
    for index, value in change.items():
        inputs[index] = value
    with pytest.raises(InputError, match=match):
        selective_scan_from(*inputs)


def test_methods_that_are_not_there():
    inputs = make(1, 2, 1, 1, torch.float32)
    with pytest.raises(InputError, match="'magic' is unknown; choose fused, loop, mamba-ssm"):
        selective_scan(*inputs[1:], method="magic")
    with pytest.raises(InputError, match="where a state is carried"):
        selective_scan_from(*inputs, method="mamba-ssm")


# -- the package mamba-ssm --------------------------------------------------------------------------


def test_mamba_ssm_is_called_in_its_own_layout(monkeypatch):
    """Against a stand-in that reads its documented layout; the package itself needs CUDA."""

    def selective_scan_fn(u, delta, A, B, C, D=None):
        assert A.dtype == torch.float32
        assert D is None or D.dtype == torch.float32
        assert u.dtype == delta.dtype == B.dtype == C.dtype
        h, out = u.new_zeros(*u.shape[:2], A.shape[1]), []
        for t in range(u.shape[2]):
            h = torch.exp(delta[:, :, t, None] * A) * h
            h = h + (delta[:, :, t] * u[:, :, t])[..., None] * B[:, None, :, t]
            out.append((h * C[:, None, :, t]).sum(-1))
        y = torch.stack(out, dim=2)
        return y if D is None else y + D[None, :, None] * u

    monkeypatch.setattr(module, "_mamba_ssm", lambda: selective_scan_fn)
    inputs = make(2, 7, 5, 3, torch.float32)[1:]
    for arguments in (inputs, inputs[:-1]):
        ours = selective_scan(*arguments, method="loop")
        assert distance(selective_scan(*arguments, method="mamba-ssm"), ours) <= 1e-6
    with pytest.raises(InputError, match="not for float64"):
        selective_scan(*make(2, 7, 5, 3)[1:], method="mamba-ssm")


# -- building the kernel ----------------------------------------------------------------------------


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """An empty cache folder, and nothing loaded before or after."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    caches = (native.load, scan_ops.kernel)
    for cached in caches:
        cached.cache_clear()
    yield tmp_path / "theoryverify"
    for cached in caches:
        cached.cache_clear()


def test_off_by_the_environment(fresh, monkeypatch):
    monkeypatch.setenv("THEORYVERIFY_NATIVE", "0")
    inputs = make(1, 3, 2, 1, torch.float32)
    assert scan_ops.kernel() is None
    assert torch.equal(
        selective_scan_from(*inputs)[0], selective_scan_from(*inputs, method="loop")[0]
    )
    with pytest.raises(InputError, match="'fused' needs"):
        selective_scan_from(*inputs, method="fused")
    assert not fresh.exists()


@pytest.mark.parametrize("compiler", ["false", "/no/such/compiler", "echo"])
def test_a_broken_compiler_is_a_warning_and_the_loop(fresh, monkeypatch, compiler):
    monkeypatch.setenv("CXX", compiler)
    inputs = make(1, 3, 2, 1, torch.float32)
    with pytest.warns(RuntimeWarning, match=r"selective_scan.cpp could not be built"):
        y, _ = selective_scan_from(*inputs)
    assert torch.equal(y, selective_scan_from(*inputs, method="loop")[0])
    left = [path.suffix for path in fresh.iterdir()] if fresh.exists() else []
    assert ".so" not in left


@pytest.mark.skipif("fused" not in METHODS, reason="no C++ compiler")
def test_built_once_and_kept(fresh):
    libraries, threads = [], []
    for _ in range(3):  # at once: each waits for the first, by the lock
        threads.append(
            threading.Thread(
                target=lambda: libraries.append(native.load.__wrapped__(_source())), daemon=True
            )
        )
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert None not in libraries
    (kept,) = fresh.glob("*.so")
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o700
    built = kept.stat().st_mtime_ns
    assert scan_ops.kernel() is not None
    assert [path.stat().st_mtime_ns for path in fresh.glob("*.so")] == [built]


def _source():
    return Path(scan_ops.__file__).with_name("selective_scan.cpp")


@pytest.mark.skipif("fused" not in METHODS, reason="no C++ compiler")
def test_a_folder_open_to_others_is_not_used(fresh):
    fresh.mkdir(parents=True)
    fresh.chmod(0o777)
    assert scan_ops.kernel() is not None
    assert list(fresh.iterdir()) == []


@pytest.mark.skipif("fused" not in METHODS, reason="no C++ compiler")
def test_a_wrong_kernel_is_not_used(fresh, monkeypatch, tmp_path):
    text = _source().read_text()
    right = "g *= decay[t];"
    assert text.count(right) == 1
    (tmp_path / "selective_scan.cpp").write_text(text.replace(right, ""))
    load = native.load
    monkeypatch.setattr(native, "load", lambda _: load(tmp_path / "selective_scan.cpp"))
    with pytest.warns(RuntimeWarning, match="disagrees with the loop"):
        assert scan_ops.kernel() is None


def test_importing_builds_nothing(tmp_path):
    code = (
        "import sys; from theoryverify.models import mamba, scan_ops, native;"
        "assert native.load.cache_info().currsize == 0;"
        "assert 'torch._dynamo' not in sys.modules"
    )
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    assert list(tmp_path.iterdir()) == []
