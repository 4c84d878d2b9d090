"""Does the device multiply matrices in the precision it claims?

TF32 keeps 10 bits of a float32 in matrix products: ``1024.5 · 1`` comes back as 1024 or 1025. The
switch is global and other code may have turned it on, so the product itself is asked.
"""

from __future__ import annotations

import torch

from theoryverify.errors import InputError


def matmul_precision_guard(
    device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
) -> float:
    """The product ``[1024.5] @ [[1.0]]`` on the device, refused unless it is exact.

    Parameters
    ----------
    device : torch.device or str
    dtype : torch.dtype
        ``float32`` or ``float64``.

    Returns
    -------
    float
        1024.5.

    Raises
    ------
    InputError
        If the product is rounded: products there are no float32 products. Or if there is no such
        device, or the type is neither.
    """
    if dtype not in (torch.float32, torch.float64):
        raise InputError(f"dtype = {dtype} is not supported; choose torch.float32 or torch.float64")
    place = require_device(device)
    # A product of a single row may take another path than a matrix product; ask both.
    row = torch.tensor([1024.5], dtype=dtype, device=place) @ torch.ones(
        1, 1, dtype=dtype, device=place
    )
    block = torch.full((64, 64), 1024.5, dtype=dtype, device=place) @ torch.eye(
        64, dtype=dtype, device=place
    )
    worst = max((row.item(), *block.flatten().tolist()), key=lambda value: abs(value - 1024.5))
    if worst != 1024.5:
        raise InputError(
            f"on {place} the {dtype} product 1024.5 * 1 is {worst}: matrix products are rounded "
            "(TF32?). Call torch.set_float32_matmul_precision('highest') or use float64"
        )
    return float(worst)


def require_device(device: torch.device | str) -> torch.device:
    """The device, if it is there.

    Raises
    ------
    InputError
        Naming the devices that are.
    """
    try:
        place = torch.device(device)
        torch.empty(1, device=place)
    except (RuntimeError, AssertionError) as error:
        there = ["cpu"]
        if torch.cuda.is_available():
            there += [f"cuda:{index}" for index in range(torch.cuda.device_count())]
        raise InputError(
            f"device {str(device)!r} is not there; choose one of {', '.join(there)}"
        ) from error
    return place


def require_memory(numbers: int, dtype: torch.dtype, what: str, device: torch.device | str) -> None:
    """Refuse a computation that would not fit, before it starts.

    Parameters
    ----------
    numbers : int
        How many numbers are alive at once.
    what : str
        What needs them, for the message.

    Raises
    ------
    InputError
        If they exceed the free memory of the device.
    """
    needed = numbers * torch.empty((), dtype=dtype).element_size()
    free = free_memory(torch.device(device))
    if free is not None and needed > free:
        raise InputError(
            f"{what} needs about {needed / 2**30:.3g} GiB, and {free / 2**30:.3g} GiB are free on "
            f"{device}; take fewer prompts at a time or a shorter context"
        )


def free_memory(device: torch.device) -> int | None:
    """Free bytes on the device, or ``None`` where the system does not say."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    from theoryverify.memory import free_memory as free_host_memory

    return free_host_memory()
