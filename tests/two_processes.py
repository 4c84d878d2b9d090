"""Two processes as ``torchrun`` starts them, and a port for those that listen."""

from __future__ import annotations

import os
import random
import socket
import subprocess
from collections.abc import Sequence


def free_port() -> int:
    """One that nothing listens at, below those that systems hand out unasked.

    A port that the system has picked itself may be handed to somebody else before the process that
    it is for listens.
    """
    draw = random.Random(os.urandom(8))
    while True:
        port = draw.randrange(10_000, 30_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def in_two_processes(command: Sequence[str]) -> tuple[list[int], list[tuple[str, str]]]:
    """Exit codes, and what each printed."""
    shared = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    started = [
        subprocess.Popen(
            command,
            env={
                **os.environ,
                **shared,
                "RANK": str(rank),
                "LOCAL_RANK": str(rank),
                "OMP_NUM_THREADS": "1",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in (0, 1)
    ]
    outs = [process.communicate(timeout=120) for process in started]
    return [process.returncode for process in started], outs
