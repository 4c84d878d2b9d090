"""Options that several verbs read."""

from __future__ import annotations

import re

from theoryverify.errors import InputError
from theoryverify.seeds import MOST_SEED


def seed_number(text: str) -> int:
    """Of all that is random: the same range for every verb."""
    from theoryverify.exact.rationals import positive_integer

    return positive_integer(text, "seed", least=0, most=MOST_SEED)


def device(name: str) -> str:
    """``cpu``, or a CUDA device that is really there."""
    if name == "cpu":
        return name
    if not re.fullmatch(r"cuda(:\d+)?", name):
        raise InputError(f"device {name!r} is unknown; write cpu, cuda or cuda:N")
    try:
        import torch
    except ImportError as error:
        raise InputError(
            f"device {name!r} needs Torch: pip install 'theoryverify[simulate]'"
        ) from error
    count = torch.cuda.device_count()
    if int(name.partition(":")[2] or 0) >= count:
        raise InputError(f"device {name!r} is not there; this machine has {count} CUDA devices")
    return name
