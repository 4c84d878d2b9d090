"""The two programs behind :func:`~theoryverify.models.selective_scan.selective_scan`, each with its
own backward pass: a fused C++ kernel, and a loop over time in Torch for everywhere else.

Both are one operator to Torch (``torch.ops.theoryverify.selective_scan``), so ``torch.compile`` does
not look into it. Its tensors are contiguous, and all float32 or all float64. Inside, states are
(b, n, d): channels run fastest, as in ``u``. With ``a_t = exp(Δ_t A)`` and ``g_t`` the gradient of
``h_t``, the backward pass is

    g_t = C_t dy_t + a_{t+1} g_{t+1},    q_t = g_t a_t h_{t-1},
    dC_t = Σ_d dy_t h_t,    dB_t = Σ_d g_t Δ_t u_t,    dA = Σ_{b,t} q_t Δ_t,
    du_t = Δ_t Σ_n g_t B_t + D dy_t,    dΔ_t = u_t Σ_n g_t B_t + Σ_n q_t A.

All that is kept for it is every sixteenth state. It recomputes the others chunk by chunk, while they
are in the cache. A second derivative is not implemented.
"""

from __future__ import annotations

import ctypes
import functools
import math
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from theoryverify.models import native

CHUNK = 16  # steps between states that are kept; CHUNK of selective_scan.cpp
_BYTES = 64  # of a block of channels, the kernel's unit
_JOBS = 16  # into so many the kernel's backward pass is split where the batch alone is fewer


@torch.library.custom_op("theoryverify::selective_scan", mutates_args=())
def scan(
    u: Tensor,
    delta: Tensor,
    A: Tensor,
    B: Tensor,
    C: Tensor,
    D: Tensor,
    h0: Tensor,
    fused: bool | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """``y`` (b, l, d), the last state (b, n, d), and the states kept for the backward pass.

    Shapes: u, delta (b, l, d); A (n, d); B, C (b, l, n); D (d,); h0 (b, n, d). ``fused`` chooses the
    kernel or the loop; by default the kernel on a CPU that has it.
    """
    forward = _kernel_forward if _fuse(u, fused) else _loop_forward
    return forward(u, delta, A, B, C, D, h0)


@torch.library.custom_op("theoryverify::selective_scan_backward", mutates_args=())
def scan_backward(
    dy: Tensor,
    d_last: Tensor,
    u: Tensor,
    delta: Tensor,
    A: Tensor,
    B: Tensor,
    C: Tensor,
    D: Tensor,
    kept: Tensor,
    fused: bool | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """The gradients of u, delta, A, B, C, D, h0, from those of ``y`` and of the last state."""
    backward = _kernel_backward if _fuse(u, fused) else _loop_backward
    return backward(dy, d_last, u, delta, A, B, C, D, kept)


@scan.register_fake
def _(u, delta, A, B, C, D, h0, fused=None):  # type: ignore[no-untyped-def]  # shapes, for tracing
    return torch.empty_like(u), torch.empty_like(h0), u.new_empty(_kept_shape(u, A))


@scan_backward.register_fake
def _(dy, d_last, u, delta, A, B, C, D, kept, fused=None):  # type: ignore[no-untyped-def]
    return tuple(torch.empty_like(x) for x in (u, delta, A, B, C, D, d_last))


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    *tensors, h0, ctx.fused = inputs
    ctx.state_shape = h0.shape
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*tensors, output[2])


def _backward(
    ctx: Any, dy: Tensor | None, d_last: Tensor | None, _: None
) -> tuple[Tensor | None, ...]:
    u = ctx.saved_tensors[0]
    dy = torch.zeros_like(u) if dy is None else dy.contiguous()
    d_last = u.new_zeros(ctx.state_shape) if d_last is None else d_last.contiguous()
    return (*scan_backward(dy, d_last, *ctx.saved_tensors, ctx.fused), None)


scan.register_autograd(_backward, setup_context=_setup_context)


def _fuse(u: Tensor, fused: bool | None) -> bool:
    return fused if fused is not None else u.device.type == "cpu" and kernel() is not None


def _kept_shape(u: Tensor, A: Tensor) -> tuple[int, int, int, int]:
    b, length, d = u.shape
    return b, -(-length // CHUNK), A.shape[0], _padded(d, u.dtype)


# -- the loop -------------------------------------------------------------------------------------


def _loop_forward(
    u: Tensor, delta: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Tensor, h0: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    y, h, a = torch.empty_like(u), h0.clone(), torch.empty_like(h0)
    kept = u.new_zeros(_kept_shape(u, A))
    # by time, and by unbind, which makes all views in one call
    rows = (x.unsqueeze(2).unbind(1) for x in (delta, delta * u))  # (b, 1, d) each
    columns = (x.unsqueeze(3).unbind(1) for x in (B, C))  # (b, n, 1) each
    steps = zip(*rows, *columns, y.unbind(1), strict=True)
    for t, (delta_t, input_t, B_t, C_t, y_t) in enumerate(steps):
        if t % CHUNK == 0:
            kept[:, t // CHUNK, :, : h.shape[2]].copy_(h)
        torch.mul(delta_t, A, out=a)
        h.mul_(a.exp_()).addcmul_(B_t, input_t)  # h_t = exp(Δ_t A) h_{t-1} + B_t Δ_t u_t
        torch.sum(torch.mul(C_t, h, out=a), dim=1, out=y_t)  # faster than a product of matrices
    return y.addcmul_(u, D), h, kept


def _loop_backward(
    dy: Tensor,
    d_last: Tensor,
    u: Tensor,
    delta: Tensor,
    A: Tensor,
    B: Tensor,
    C: Tensor,
    D: Tensor,
    kept: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    b, length, d = u.shape
    g, dA, q = d_last.clone(), torch.zeros_like(d_last), torch.empty_like(d_last)
    gB, qA, dB, dC = (torch.empty_like(x) for x in (u, u, B, C))  # Σ_n g B and Σ_n q A
    # by time: (b, 1, d), and (b, n, 1), and where sums over the other axis go
    dys, deltas, inputs = (x.unsqueeze(2).unbind(1) for x in (dy, delta, delta * u))
    Bs, Cs = (x.unsqueeze(3).unbind(1) for x in (B, C))
    gBs, qAs, dBs, dCs = (x.unbind(1) for x in (gB, qA, dB, dC))
    states = u.new_empty(min(CHUNK, length) + 1, b, A.shape[0], d)
    h, decay = states.unbind(0), torch.empty_like(states[1:]).unbind(0)
    for chunk in range(kept.shape[1] - 1, -1, -1):
        h[0].copy_(kept[:, chunk, :, :d])
        times = list(enumerate(range(chunk * CHUNK, min((chunk + 1) * CHUNK, length))))
        for i, t in times:
            torch.mul(deltas[t], A, out=decay[i]).exp_()
            torch.mul(decay[i], h[i], out=h[i + 1]).addcmul_(Bs[t], inputs[t])
            torch.sum(torch.mul(h[i + 1], dys[t], out=q), dim=2, out=dCs[t])
        for i, t in reversed(times):
            g.addcmul_(Cs[t], dys[t])
            torch.sum(torch.mul(g, inputs[t], out=q), dim=2, out=dBs[t])
            torch.sum(torch.mul(g, Bs[t], out=q), dim=1, out=gBs[t])
            torch.mul(g.mul_(decay[i]), h[i], out=q)
            dA.addcmul_(q, deltas[t])
            torch.sum(q.mul_(A), dim=1, out=qAs[t])
    du, d_delta = (gB * delta).addcmul_(dy, D), qA.addcmul_(gB, u)
    return du, d_delta, dA.sum(0), dB, dC, _skip_gradient(dy, u), g


def _skip_gradient(dy: Tensor, u: Tensor) -> Tensor:
    return (dy * u).sum((0, 1))


# -- the kernel -----------------------------------------------------------------------------------


@functools.cache
def kernel() -> ctypes.CDLL | None:
    """The compiled kernel, built at the first call; ``None`` where it cannot be had or is wrong."""
    library = native.load(Path(__file__).with_name("selective_scan.cpp"))
    if library is None:
        return None
    for name in ("float", "double"):
        forward = getattr(library, f"forward_{name}")  # not library[...]: that forgets argtypes
        backward = getattr(library, f"backward_{name}")
        forward.argtypes = [ctypes.c_void_p] * 10 + [ctypes.c_int64] * 4 + [ctypes.c_int]
        backward.argtypes = [ctypes.c_void_p] * 15 + [ctypes.c_int64] * 5 + [ctypes.c_int]
        forward.restype = backward.restype = None
    if not _sound(library):
        warnings.warn(
            "the compiled selective scan disagrees with the loop in Torch on this machine and is "
            "not used",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return library


def _sound(library: ctypes.CDLL) -> bool:
    """One small case in both precisions, forward and backward, against the loop."""
    for dtype, tolerance in ((torch.float32, 1e-4), (torch.float64, 1e-12)):
        wave = [torch.arange(9 * 18 * k).to(dtype).sin() for k in (1, 2, 3, 4, 5)]
        u, delta = wave[0].view(1, 18, 9), wave[1][:162].view(1, 18, 9).square()
        A, B, C = -wave[2][:18].view(2, 9).exp(), wave[3][:36].view(1, 18, 2), wave[4][:36]
        C, D, h0 = C.view(1, 18, 2), wave[2][:9], wave[1][:18].view(1, 2, 9)
        inputs = (u, delta, A, B, C, D, h0)
        ours, loop = _kernel_forward(*inputs, library), _loop_forward(*inputs)
        back = _kernel_backward(u, h0, *inputs[:6], ours[2], library)
        back_loop = _loop_backward(u, h0, *inputs[:6], loop[2])
        pairs = zip((*ours[:2], *back), (*loop[:2], *back_loop), strict=True)
        if not all(torch.allclose(x, y, rtol=tolerance, atol=tolerance) for x, y in pairs):
            return False
    return True


def _kernel_forward(
    u: Tensor,
    delta: Tensor,
    A: Tensor,
    B: Tensor,
    C: Tensor,
    D: Tensor,
    h0: Tensor,
    library: ctypes.CDLL | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    (b, length, d), n = u.shape, A.shape[0]
    kept = u.new_empty(_kept_shape(u, A))
    u, delta, A, D, h0 = (_pad(x) for x in (u, delta, A, D, h0))
    y, last, width = torch.empty_like(u), torch.empty_like(h0), u.shape[2]
    tensors = (u, delta, _base_two(A), B, C, D, h0, y, kept, last)
    _call(library, "forward", tensors, (b, length, width, n))
    return _cut(y, d), _cut(last, d), kept


def _kernel_backward(
    dy: Tensor,
    d_last: Tensor,
    u: Tensor,
    delta: Tensor,
    A: Tensor,
    B: Tensor,
    C: Tensor,
    D: Tensor,
    kept: Tensor,
    library: ctypes.CDLL | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    (b, length, d), n = u.shape, A.shape[0]
    dD = _skip_gradient(dy, u)
    dy, d_last, u, delta, A, D = (_pad(x) for x in (dy, d_last, u, delta, A, D))
    width = u.shape[2]
    blocks = width * u.element_size() // _BYTES
    groups = min(blocks, -(-_JOBS // b))  # by the shape alone, as it fixes the order of the sums
    du, d_delta, d_h0 = torch.empty_like(u), torch.empty_like(u), d_last.clone()
    dA, dB = u.new_empty(b, n, width), u.new_empty(b, groups, length, n)
    dC = torch.empty_like(dB)
    tensors = (dy, u, delta, _base_two(A), A, B, C, D, kept, du, d_delta, dA, dB, dC, d_h0)
    _call(library, "backward", tensors, (b, length, width, n, groups))
    return (
        _cut(du, d),
        _cut(d_delta, d),
        _cut(dA.sum(0), d),
        dB.sum(1),
        dC.sum(1),
        dD,
        _cut(d_h0, d),
    )


def _call(
    library: ctypes.CDLL | None, name: str, tensors: tuple[Tensor, ...], sizes: tuple[int, ...]
) -> None:
    library = library or kernel()
    assert library is not None
    kind = "float" if tensors[0].dtype == torch.float32 else "double"
    pointers = (tensor.data_ptr() for tensor in tensors)
    getattr(library, f"{name}_{kind}")(*pointers, *sizes, torch.get_num_threads())


def _padded(d: int, dtype: torch.dtype) -> int:
    lanes = _BYTES // dtype.itemsize
    return -(-d // lanes) * lanes


def _pad(x: Tensor) -> Tensor:
    """Zeros up to whole blocks of channels: they stay zero through the scan."""
    missing = _padded(x.shape[-1], x.dtype) - x.shape[-1]
    return torch.nn.functional.pad(x, (0, missing)) if missing else x


def _cut(x: Tensor, d: int) -> Tensor:
    return x if x.shape[-1] == d else x[..., :d].contiguous()


def _base_two(A: Tensor) -> Tensor:
    return A * math.log2(math.e)  # exp(Δ A) = 2^(Δ A log2 e)
