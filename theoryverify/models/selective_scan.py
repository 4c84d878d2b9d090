"""The selective scan of Mamba (Gu and Dao, arXiv 2312.00752, Algorithm 2 and equations (2), (4)).

    h_t = exp(Δ_t A) h_{t-1} + Δ_t B_t u_t,      y_t = C_tᵀ h_t + D u_t,

channel by channel with a diagonal ``A``: zero-order hold for A, and for B the Euler step ``Δ_t B_t``,
as in the published code; the exact hold ``(exp(Δ_t A)-1) A⁻¹ B_t`` of their (4) is not what it runs.
``B_t`` and ``C_t`` are shared by all channels.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from typing import Any

import torch
from torch import Tensor

from theoryverify.errors import InputError
from theoryverify.models import scan_ops

METHODS = ("fused", "loop", "mamba-ssm")


def selective_scan(
    u: Tensor,
    delta: Tensor,
    A: Tensor,
    B: Tensor,
    C: Tensor,
    D: Tensor | None = None,
    *,
    method: str | None = None,
) -> Tensor:
    """``h_t = exp(Δ_t A) h_{t-1} + Δ_t B_t u_t``, ``y_t = C_tᵀ h_t + D u_t``, ``h_0 = 0``.

    Parameters
    ----------
    u, delta : Tensor (b, l, d)
        The input, and the step ``Δ >= 0`` after its softplus.
    A : Tensor (d, n)
        Usually negative.
    B, C : Tensor (b, l, n)
    D : Tensor (d,), optional
        The skip; 0 by default.
    method : {"fused", "loop", "mamba-ssm"}, optional
        By default the fastest that is there: on CUDA the kernel of the package ``mamba-ssm`` (not in
        float64), on a CPU our fused C++ kernel (:mod:`theoryverify.models.native` says when it can be
        had), and elsewhere a loop over time in Torch.

    Returns
    -------
    Tensor (b, l, d)
        ``y``, of the dtype of ``u``.

    Raises
    ------
    InputError
        Shapes that do not fit, an empty axis, mixed dtypes or devices, a method that is not there.

    Notes
    -----
    ``u``, ``B``, ``C`` share a dtype: float64, float32, bfloat16 or float16. The others have it too,
    or are float32 beside one of the short ones, for which all is computed in float32.

    The gradient (once differentiable) comes from an own backward pass, which keeps at most every
    sixteenth state: ``b ⌈l/16⌉ d n`` numbers. Results of the fused kernel do not depend on the number
    of threads. Exponentials below 2^-125 (2^-1021 in float64) are 0 there.

    Examples
    --------
    With ``Δ = 1``, ``A = -log 2`` and unit ``B, C, u`` the state halves and gains 1:

    >>> import torch
    >>> ones = torch.ones(1, 4, 1)
    >>> y = selective_scan(ones, ones, -torch.log(torch.tensor([[2.0]])), ones, ones)
    >>> [round(value, 4) for value in y.flatten().tolist()]
    [1.0, 1.5, 1.75, 1.875]
    """
    _check(u, delta, A, B, C, D, None)
    if method not in (None, *METHODS):
        raise InputError(f"method {method!r} is unknown; choose {', '.join(METHODS)}")
    package = _mamba_ssm() if u.is_cuda or method == "mamba-ssm" else None
    if method == "mamba-ssm" and (package is None or u.dtype == torch.float64):
        raise InputError("method 'mamba-ssm' needs that package, and is not for float64")
    if package is not None and method in (None, "mamba-ssm") and u.dtype != torch.float64:
        return _by_package(package, u, delta, A, B, C, D)
    return _scan(u, delta, A, B, C, D, None, method)[0]


def selective_scan_from(
    state: Tensor | None,
    u: Tensor,
    delta: Tensor,
    A: Tensor,
    B: Tensor,
    C: Tensor,
    D: Tensor | None = None,
    *,
    method: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The same from a given ``h_0`` (b, d, n), ``None`` for 0, and with ``h_l``: ``(y, h_l)``.

    Scanning ``l_1`` steps and then ``l_2`` more from the state left is scanning ``l_1 + l_2``; steps one
    by one are the recurrence. The state is float64 in float64 and float32 otherwise, and gradients
    pass through it; ``mamba-ssm`` has no such thing, so it is not used here.
    """
    _check(u, delta, A, B, C, D, state)
    if method not in (None, "fused", "loop"):
        raise InputError(f"method {method!r} must be 'fused' or 'loop' where a state is carried")
    return _scan(u, delta, A, B, C, D, state, method)


def _scan(
    u: Tensor,
    delta: Tensor,
    A: Tensor,
    B: Tensor,
    C: Tensor,
    D: Tensor | None,
    state: Tensor | None,
    method: str | None,
) -> tuple[Tensor, Tensor]:
    if method == "fused" and (u.device.type != "cpu" or scan_ops.kernel() is None):
        raise InputError("method 'fused' needs a CPU, a C++ compiler and THEORYVERIFY_NATIVE != 0")
    (b, _, d), n, work = u.shape, A.shape[1], _work_dtype(u)
    D = u.new_zeros(d) if D is None else D
    state = u.new_zeros(b, d, n, dtype=work) if state is None else state
    inputs = (x.to(work).contiguous() for x in (u, delta, A.mT, B, C, D, state.mT))
    y, last, _ = scan_ops.scan(*inputs, None if method is None else method == "fused")
    return y.to(u.dtype), last.mT


def _work_dtype(u: Tensor) -> torch.dtype:
    return torch.float64 if u.dtype == torch.float64 else torch.float32


def _check(
    u: Tensor,
    delta: Tensor,
    A: Tensor,
    B: Tensor,
    C: Tensor,
    D: Tensor | None,
    state: Tensor | None,
) -> None:
    if u.ndim != 3 or A.ndim != 2:
        raise InputError(
            f"expected u of shape (b, l, d) and A (d, n); got {_shape(u)} and {_shape(A)}"
        )
    (b, length, d), n = u.shape, A.shape[1]
    if 0 in (b, length, d, n):
        raise InputError(f"nothing to scan: u is {_shape(u)}, A {_shape(A)}; no axis may be empty")
    named = {"u": u, "delta": delta, "A": A, "B": B, "C": C, "D": D, "state": state}
    wanted = {"delta": (b, length, d), "A": (d, n), "B": (b, length, n), "C": (b, length, n)}
    wanted |= {"D": (d,), "state": (b, d, n)}
    given = {name: x for name, x in named.items() if x is not None}
    for name, x in given.items():
        if name in wanted and tuple(x.shape) != wanted[name]:
            raise InputError(
                f"{name} has shape {_shape(x)}; beside u {_shape(u)} and A {_shape(A)} it must be "
                f"{wanted[name]}"
            )
    places = {name: str(x.device) for name, x in given.items()}
    if len(set(places.values())) > 1:
        raise InputError(f"the tensors lie on several devices: {places}")
    if u.dtype not in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
        raise InputError(f"u is {u.dtype}; float64, float32, bfloat16 and float16 can be scanned")
    for name, x in given.items():
        allowed = {u.dtype} if name in "uBC" else {u.dtype, _work_dtype(u)}
        if x.dtype not in allowed:
            raise InputError(
                f"{name} {_shape(x)} is {x.dtype} beside u {_shape(u)} of {u.dtype}; expected "
                f"{' or '.join(sorted(map(str, allowed)))}"
            )


def _shape(x: Tensor) -> tuple[int, ...]:
    return tuple(x.shape)


# -- the kernel of the package mamba-ssm ------------------------------------------------------------


@functools.cache
def _mamba_ssm() -> Any:
    """Its ``selective_scan_fn``, or ``None`` if the package is not installed."""
    if importlib.util.find_spec("mamba_ssm") is None:
        return None
    module = importlib.import_module("mamba_ssm.ops.selective_scan_interface")
    return module.selective_scan_fn


def _by_package(
    package: Any,
    u: Tensor,
    delta: Tensor,
    A: Tensor,
    B: Tensor,
    C: Tensor,
    D: Tensor | None,
) -> Tensor:
    # its layout is (b, d, l) and (b, n, l), its A and D are float32, its Δ has the dtype of u
    y: Tensor = package(
        u.mT,
        delta.to(u.dtype).mT,
        A.float(),
        B.mT,
        C.mT,
        None if D is None else D.float(),
    )
    return y.mT
