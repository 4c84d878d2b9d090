"""The one-layer Mamba without φ against the recurrence, and the reduction in law against it.

1. The fast form against the literal recurrence over ``h_l`` (φ built, full ``W_B``), against the same
   recurrence with φ and its products given, and against the sum over G_j with φ. Agreement first.
2. Growth in N and d: time over that of the next smaller size, beside the growth of ``N d²``.
3. Bytes: the largest memory at a time, measured in a process of its own, against the size of X.
4. The reduction in law at d = 10^4, N = 10^5. The fast form's context is not held in memory: the same
   matrix products run over it piece by piece, and a tenth is measured.

One thread, float64. Pass --small for sizes of a few seconds.
"""

from __future__ import annotations

import argparse
import os.path
import resource
import subprocess
import sys
import time

import numpy as np
import torch
from timing import median_time, report

from theoryverify.exact.gate import Gate
from theoryverify.models import mamba_layer as model
from theoryverify.models.mamba_layer import MambaLayer, context_moments, embedding_dimension
from theoryverify.simulate.mamba_law import SymmetricGamma, sample_features

HE3 = "He3(z)/sqrt(6)"
RHO, BIAS = 4.0, -3.0
OPEN_TO_ALL = -14.0  # so that even the oldest of 200,000 tokens counts


def prompt(n: int, N: int, d: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(n, N, d, generator=generator, dtype=torch.float64)
    y = (X[..., 0] ** 3 - 3 * X[..., 0]) / 6**0.5
    return X, y, torch.randn(n, 1, d, generator=generator, dtype=torch.float64)


def against_the_recurrence(d: int, N: int) -> None:
    X, y, x_q = prompt(1, N, d)
    generator = torch.Generator().manual_seed(1)
    gamma = torch.randn(embedding_dimension(d), generator=generator, dtype=torch.float64)
    layer = MambaLayer(gamma, rho=RHO, b=BIAS)
    print(f"d = {d}, N = {N}, d~ = {len(gamma)}: one prompt, one query")
    with torch.no_grad():
        t_fast, fast = median_time(lambda: layer(X, y, x_q))
        t_literal, literal = median_time(lambda: layer.literal(X, y, x_q), runs=3)
        t_closed, closed = median_time(lambda: layer.closed(X, y, x_q), runs=3)
        t_scan, scan = median_time(lambda: scan_alone(layer, X, y, x_q), runs=3)
    for other in (literal, closed, scan):
        assert torch.allclose(other, fast, rtol=1e-9, atol=1e-12), (other, fast)
    report("fast form", t_fast, t_literal, "recurrence, W_B a matrix")
    report("", t_fast, t_scan, "recurrence, W_B = I")
    report("", t_fast, t_closed, "sum over G_j with φ")


def scan_alone(
    layer: MambaLayer, X: torch.Tensor, y: torch.Tensor, x_q: torch.Tensor
) -> torch.Tensor:
    """The recurrence as one would write it who knows that W_B = I: φ, and d~ numbers a step."""
    phi = model.embed(X[0])
    u = y[0] / layer.rho + layer.b
    decay, drive = torch.sigmoid(-u), torch.sigmoid(u) * y[0]
    h = torch.zeros_like(phi[0])
    for a, e, key in zip(decay.tolist(), drive.tolist(), phi.unbind(0), strict=True):
        h = a * h + e * key
    query = layer.gamma * model.embed(x_q[0, 0])
    return (torch.sigmoid(X.new_tensor(-layer.b)) * (h @ query) / X.shape[1]).reshape(1, 1)


def growth(sizes: list[tuple[int, int]]) -> None:
    print(f"growth at b = {OPEN_TO_ALL}: time, time and N d² over those before")
    before = None
    for N, d in sizes:
        X, y, _ = prompt(1, N, d)
        seconds, _ = median_time(
            lambda X=X, y=y: context_moments(X, y, rho=RHO, b=OPEN_TO_ALL), runs=3
        )
        work = N * d * d
        tail = "" if before is None else f"   {seconds / before[0]:6.2f}   {work / before[1]:6.2f}"
        print(f"  N = {N:8d}, d = {d:5d}  {1e3 * seconds:10.2f} ms{tail}")
        before = seconds, work


PROBE = """
import sys, torch
sys.path.insert(0, {here!r})
torch.set_num_threads(1)
from bench_mamba_layer import OPEN_TO_ALL, RHO, context_moments, kilobytes, prompt
context_moments(*prompt(1, 10, 2)[:2], rho=RHO, b=OPEN_TO_ALL)
X, y, _ = prompt(1, {N}, {d})
with open("/proc/self/clear_refs", "w") as handle:
    handle.write("5")  # the peak starts again here
before = kilobytes("VmRSS")
context_moments(X, y, rho=RHO, b=OPEN_TO_ALL)
print((kilobytes("VmHWM") - before) * 1024, X.numel() * 8)
"""


def kilobytes(field: str) -> int:
    """A line of Linux' account of this process."""
    with open("/proc/self/status", encoding="ascii") as handle:
        return next(int(line.split()[1]) for line in handle if line.startswith(field))


def memory(N: int, d: int) -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(here=here, N=N, d=d)],
        capture_output=True,
        text=True,
        check=True,
    )
    extra, size = map(int, done.stdout.split())
    phi = 8 * N * embedding_dimension(d)
    print(
        f"bytes, N = {N}, d = {d}: X {size / 1e6:.1f} MB, read once; beside it at most "
        f"{extra / 1e6:.1f} MB ({extra / size:.2f} of X); φ would be {phi / 1e6:.0f} MB"
    )


def in_law(d: int, N: int, r: int, share: int) -> None:
    gamma = SymmetricGamma.two_values(d, r, outside=1.0)
    gate = Gate(4, -14)
    t_law, _ = median_time(lambda: sample_features(gamma, HE3, gate, N, 1, rng=0), runs=3)
    # Sampling of X is not charged to the fast form: one piece is made and used again and again.
    piece = 1000
    X, y, _ = prompt(1, piece, d)
    start = time.perf_counter()
    for _ in range(N // piece // share):
        context_moments(X, y, rho=RHO, b=OPEN_TO_ALL)
    t_fast = (time.perf_counter() - start) * share
    report(f"in law, d = {d}, N = {N}, r = {r}", t_law, t_fast, f"fast form (1/{share} run)")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    small = parser.parse_args().small
    torch.set_num_threads(1)
    np.seterr(all="raise", under="ignore")
    print("float64, one thread")
    against_the_recurrence(*((16, 128) if small else (64, 1024)))
    growth(
        [(1000, 32), (2000, 32), (2000, 64)]
        if small
        else [(4096, 64), (16384, 64), (65536, 64), (65536, 128), (65536, 256)]
    )
    memory(*((20_000, 16) if small else (200_000, 64)))
    in_law(*((200, 2000, 4, 1) if small else (10_000, 100_000, 8, 50)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"largest memory of this process: {peak / 1024:.0f} MB")


if __name__ == "__main__":
    main()
