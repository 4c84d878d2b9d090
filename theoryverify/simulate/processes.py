"""The processes that ``torchrun`` has started: how they join, and how they part."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import traceback
from collections.abc import Iterator, Mapping

import torch

from theoryverify.errors import InputError, ProcessLost
from theoryverify.exact.rationals import positive_integer
from theoryverify.simulate.sealed import JSON, canonical, differences


class RefusedElsewhere(InputError):
    """Another of several processes has refused, and says why; this one need not."""


def count() -> int:
    """How many processes ``torchrun`` says there are; 1 without it.

    Raises
    ------
    InputError
        If WORLD_SIZE is no number of processes.
    """
    return positive_integer(os.environ.get("WORLD_SIZE", "1"), "WORLD_SIZE")


def speaks() -> bool:
    """Whether this is the process that speaks for all, also before they have joined."""
    return count() == 1 or os.environ.get("RANK", "0") == "0"


def place() -> tuple[int, int]:
    """Which of how many processes this is; ``(0, 1)`` of one alone."""
    import torch.distributed as dist

    if dist.is_available() and dist.is_initialized():
        return dist.get_rank(), dist.get_world_size()
    return 0, 1


def agree(document: Mapping[str, JSON], device: torch.device) -> None:
    """Refuse in every process if they have not all been given the same document.

    Raises
    ------
    InputError
        In a process whose document is not the first's; it says what differs.
    RefusedElsewhere
        In the others.
    """
    rank, world = place()
    if world == 1:
        return
    import torch.distributed as dist

    text = canonical(document)
    own = torch.tensor(list(text), dtype=torch.uint8, device=device)
    size = torch.tensor([len(own)], device=device)
    dist.broadcast(size, 0)
    first = own if rank == 0 else torch.empty(int(size), dtype=torch.uint8, device=device)
    dist.broadcast(first, 0)
    different = list(differences(json.loads(bytes(first.tolist())), json.loads(text)))
    found = torch.tensor([len(different)], device=device)
    dist.all_reduce(found)
    if different:
        raise InputError(
            f"process {rank} has another run than process 0: {'; '.join(different[:3])}"
        )
    if int(found):
        raise RefusedElsewhere("another process has another run")


def longest(seconds: float, device: str | torch.device) -> float:
    """The largest over all processes, which thereby agree on it."""
    if place()[1] == 1:
        return seconds
    found = torch.tensor([seconds], dtype=torch.float64, device=device)
    torch.distributed.all_reduce(found, torch.distributed.ReduceOp.MAX)
    return float(found)


@contextlib.contextmanager
def processes(device: str = "cpu") -> Iterator[str]:
    """Join the processes that ``torchrun`` has started; alone, this does nothing.

    Parameters
    ----------
    device : str
        ``cpu`` (then gloo connects them) or ``cuda`` (nccl, and each process takes one GPU).

    Yields
    ------
    str
        The device of this process.

    Raises
    ------
    InputError
        If there are more processes than GPUs, or they cannot join.
    ProcessLost
        If the connection to another process is lost within.
    """
    import torch.distributed as dist

    if count() < 2 or dist.is_initialized():
        yield device
        return
    # Its functions take the group that is there when it is imported as their default, and would
    # keep it for good; Torch imports it when it first needs it, so it is imported before.
    from torch.distributed.nn import functional  # noqa: F401

    if device.startswith("cuda"):
        local = int(os.environ.get("LOCAL_RANK", "0"))
        if local >= torch.cuda.device_count():
            raise InputError(
                f"process {local} has no GPU: {torch.cuda.device_count()} are there; start fewer "
                "processes"
            )
        device = f"cuda:{local}"
        torch.cuda.set_device(local)
    try:
        dist.init_process_group("nccl" if device.startswith("cuda") else "gloo")
    except (ValueError, dist.DistError) as error:
        raise InputError(f"the {count()} processes cannot join: {error}") from None
    try:
        yield device
    except BaseException as error:
        rank, _ = place()
        _forget(error)
        if _of_connection(error):
            raise ProcessLost(f"process {rank} has lost another one") from None
        raise
    finally:
        gc.collect()
        dist.destroy_process_group()


def _of_connection(error: BaseException) -> bool:
    """Torch raises its own errors for nccl and the store, and plain ones that name gloo's files."""
    import torch.distributed as dist

    return isinstance(error, dist.DistError) or (
        isinstance(error, RuntimeError) and "gloo/transport" in str(error)
    )


def _forget(error: BaseException) -> None:
    """Drop what the frames of an error hold: a model wrapped for the group keeps the group.

    The threads of a group end with its last reference. If one lives on when the interpreter ends, it
    may ask for the interpreter's lock then, and takes the whole process with it (SIGABRT).
    """
    known: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        one = todo.pop()
        if one is None or id(one) in known:
            continue
        known.add(id(one))
        traceback.clear_frames(one.__traceback__)
        todo += [one.__cause__, one.__context__]
