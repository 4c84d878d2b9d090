"""A training step of Mamba against ``transformers`` and ``mambapy``, with the same weights.

Outputs and all gradients are compared first. Then: a whole step (forward, backward, AdamW) and its
parts, the scan alone, growth with the length, and memory, the rise of a process's peak resident set
over one step. All are called in turn, in one thread and float32. Times are CPU time, the least of the
rounds and the median, since other work on the machine only ever adds.

    python benchmarks/bench_sequence.py [step] [scan] [length] [memory] [compile]
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
from sequence_peers import OURS, PEERS, Peer
from timing import interleaved, report
from torch import Tensor

from theoryverify.models.selective_scan import selective_scan

WIDTH, LAYERS, STATES, BATCH, LENGTH = 64, 4, 16, 32, 65


def tokens(batch: int, length: int) -> Tensor:
    return torch.randn(batch, length, WIDTH, generator=torch.Generator().manual_seed(0))


def compare() -> None:
    """Every peer's output and gradients against ours: they must agree before they are timed."""
    x, found = tokens(BATCH, LENGTH), {}
    for name in (*OURS, *PEERS[:-1]):
        model = Peer(name, WIDTH, LAYERS, STATES)
        y = model(x)
        (y * y.detach().sin()).mean().backward()
        found[name] = {"output": y.detach(), **model.gradients()}
    right = found[OURS[0]]
    for name, theirs in found.items():
        assert theirs.keys() == right.keys(), name
        worst = max((theirs[k] - right[k]).abs().max() / right[k].abs().max() for k in right)
        assert worst <= 1e-4, (name, worst)
        print(f"  {name:24s} {len(right)} tensors agree, worst relative difference {worst:.1e}")


def trainer(name: str, batch: int, length: int):
    """One training step, as a function that returns the seconds of (forward, backward, AdamW)."""
    model, x = Peer(name, WIDTH, LAYERS, STATES), tokens(batch, length)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def step() -> tuple[float, float, float]:
        start = time.process_time()
        loss = model(x).square().mean()
        middle = time.process_time()
        loss.backward()
        end = time.process_time()
        optimizer.step()
        optimizer.zero_grad()
        return middle - start, end - middle, time.process_time() - end

    return step


def bench_step(rounds: int = 3) -> None:
    print(
        f"\nWhole step: {LAYERS} layers, width {WIDTH}, state {STATES}, {BATCH} x {LENGTH} tokens"
    )
    compare()
    parts: dict[str, list[tuple[float, float, float]]] = {}

    def timed(name: str):
        step, parts[name] = trainer(name, BATCH, LENGTH), []
        return lambda: parts[name].append(step())

    times = interleaved({name: timed(name) for name in (*OURS, *PEERS[:-1])}, rounds)
    best = min(times[name][0] for name in PEERS[:-1])
    print(
        f"  {'ms, least of the rounds':24s}  forward backward    AdamW     step  (median)   ratio"
    )
    for name, (least, median, _) in times.items():
        columns = [1e3 * min(part[1:]) for part in zip(*parts[name], strict=True)]
        text = "".join(f"{value:9.1f}" for value in (*columns, 1e3 * least))
        print(f"  {name:24s}{text} {1e3 * median:9.1f} {best / least:7.1f}")


def scan_inputs(batch: int) -> tuple[Tensor, ...]:
    channels, draw = 2 * WIDTH, torch.Generator().manual_seed(1)
    u, delta, B, C = (
        torch.randn(batch, LENGTH, size, generator=draw)
        for size in (channels, channels, STATES, STATES)
    )
    A, D = -torch.arange(1.0, STATES + 1).repeat(channels, 1), torch.ones(channels)
    inputs = (u, torch.nn.functional.softplus(delta - 3), A, B, C, D)
    return tuple(x.clone().requires_grad_() for x in inputs)


def time_scans(scans: dict[str, Callable[..., Tensor]], batch: int, rounds: int) -> None:
    """Forward and backward; every peer's gradients are compared with ours first."""
    inputs = scan_inputs(batch)
    print(f"{batch} x {LENGTH} tokens, {2 * WIDTH} x {STATES} states")
    scans = {"ours, fused": selective_scan, "ours, loop": loop, **scans}

    def both(scan: Callable[..., Tensor]) -> Callable[[], tuple[Tensor, ...]]:
        return lambda: torch.autograd.grad(scan(*inputs).sum(), inputs)

    times = interleaved({name: both(scan) for name, scan in scans.items()}, rounds)
    for name, (least, _, gradients) in times.items():
        for ours, theirs in zip(times["ours, fused"][2], gradients, strict=True):
            assert (ours - theirs).abs().max() <= 1e-4 * ours.abs().max(), name
        if name not in OURS:
            for mine in OURS:
                report(f"  {mine}", times[mine][0], least, name)


def loop(*inputs: Tensor) -> Tensor:
    return selective_scan(*inputs, method="loop")


def unbound(u: Tensor, delta: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Tensor) -> Tensor:
    """The recurrence as one would write it, under Torch's own autograd, with views by ``unbind``."""
    h, out = u.new_zeros(len(u), *A.shape), []
    for u_t, delta_t, B_t, C_t in zip(*(x.unbind(1) for x in (u, delta, B, C)), strict=True):
        h = torch.exp(delta_t[..., None] * A) * h + (delta_t * u_t)[..., None] * B_t[:, None]
        out.append((h @ C_t[..., None]).squeeze(-1) + D * u_t)
    return torch.stack(out, dim=1)


def bench_scan() -> None:
    from mambapy.mamba import MambaBlock, MambaConfig

    print("\nThe scan alone, forward and backward: ", end="")
    block = MambaBlock(MambaConfig(WIDTH, 1, d_state=STATES))
    peers = {"mambapy": block.selective_scan, "mambapy, sequential": block.selective_scan_seq}
    peers["plain autograd, unbind"] = unbound
    time_scans(peers, batch=8, rounds=7)


def bench_compile() -> None:
    """Torch's associative scan, compiled: what ``transformers`` runs under ``torch.compile``."""
    from torch._higher_order_ops.associative_scan import associative_scan

    def combine(left: tuple[Tensor, Tensor], right: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        return left[0] * right[0], right[0] * left[1] + right[1]

    @torch.compile(fullgraph=True)
    def compiled(u, delta, A, B, C, D):
        decay, inputs = torch.exp(delta[..., None] * A), (delta * u)[..., None] * B[:, :, None]
        _, h = associative_scan(combine, (decay, inputs), dim=1, combine_mode="generic")
        return (h * C[:, :, None]).sum(-1) + D * u

    print("\nThe scan alone, compiled by Torch: ", end="")
    start, inputs = time.perf_counter(), scan_inputs(BATCH)
    torch.autograd.grad(compiled(*inputs).sum(), inputs)
    print(f"{time.perf_counter() - start:.0f} s (by the clock) to compile; ", end="")
    time_scans({"associative_scan, compiled": compiled}, batch=BATCH, rounds=5)


def bench_length(batch: int = 2, rounds: int = 2) -> None:
    print(
        f"\nGrowth with the length, ms a step, batch {batch} (transformers to 257: its loop slices)"
    )
    names = (*OURS, "transformers", "mambapy")
    print("  length  " + "".join(f"{name:>16s}" for name in names))
    for length in (65, 257, 1024, 4096):
        timed = [name for name in names if length < 300 or name != "transformers"]
        times = interleaved({name: trainer(name, batch, length) for name in timed}, rounds)
        row = (f"{1e3 * times[n][0]:16.1f}" if n in times else f"{'-':>16s}" for n in names)
        print(f"  {length:6d}  " + "".join(row), flush=True)


def bench_memory() -> None:
    print(
        "\nPeak memory of a step over what was resident before, MiB, each in a process of its own"
    )
    names = (*OURS, "transformers", "mambapy")
    sizes = ((BATCH, LENGTH), (2, 2048))
    print("  tokens     " + "".join(f"{name:>16s}" for name in names))
    for batch, length in sizes:
        row = []
        for name in names:
            if name == "transformers" and length > 300:
                row.append(f"{'-':>16s}")
                continue
            command = [sys.executable, __file__, "--peak", name, str(batch), str(length)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            row.append(f"{float(done.stdout.split()[-1]):16.0f}")
        print(f"  {batch:3d} x {length:<5d}" + "".join(row), flush=True)


def peak(name: str, batch: int, length: int) -> None:
    trainer(name, 1, 17)()  # what is loaded once
    step = trainer(name, batch, length)
    with open("/proc/self/clear_refs", "w") as file:  # the peak so far is forgotten (Linux)
        file.write("5")
    before = resident()
    step()
    print((resident(peak=True) - before) / 1024)


def resident(peak: bool = False) -> int:
    """kiB."""
    key = "VmHWM:" if peak else "VmRSS:"
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key))


def main() -> None:
    torch.set_num_threads(1)
    if sys.argv[1:2] == ["--peak"]:
        peak(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
        return
    benches = {"step": bench_step, "scan": bench_scan, "length": bench_length}
    benches |= {"memory": bench_memory, "compile": bench_compile}
    try:
        import mambapy  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error.name} is not installed; pip install theoryverify[bench]")
        return
    for name in sys.argv[1:] or list(benches)[:-1]:  # compiling takes minutes
        benches[name]()


if __name__ == "__main__":
    main()
