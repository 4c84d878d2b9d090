"""The Krylov chain against the literal model and against the d-vector recurrence.

Goals: 10^5 prompts at d = 10^6, L = 10^9, T = 32 in under 5 s; at d = 64, L = 4096, T = 32 at least
1000 times faster a prompt than the literal batched model in its cheaper form ``F += αX + β(XXᵀ)F/L``.
The d-vector recurrence ``w += αb + βX(Xᵀw)/L`` is the best one can do with X in memory. All three
must agree on the mean risk, within six standard errors, before a ratio is printed.
"""

from __future__ import annotations

import math

import numpy as np
from timing import median_time, report

from theoryverify import Uniform
from theoryverify.papers.lca.risk import finite_context_risk
from theoryverify.simulate.exact_law import sample_chain

D, L, T, STEP = 64, 4096, 32, 2 / 7
BATCH, PROMPTS = 8, 20_000


def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A batch of X (n, d, L), u (n, L), Z (n,); m along the first axis."""
    z = rng.uniform(2, 5, BATCH)
    u = rng.standard_normal((BATCH, L))
    X = rng.standard_normal((BATCH, D, L))
    X[:, 0] += np.sqrt(z - 1)[:, None] * u
    return X, u, z


def judged(w: np.ndarray, z: np.ndarray) -> np.ndarray:
    return (1 - np.sqrt(z - 1) * w[:, 0]) ** 2 + (w * w).sum(1)


def literal(rng: np.random.Generator) -> np.ndarray:
    X, u, z = draw(rng)
    gram = X @ X.transpose(0, 2, 1)  # once; the states F are d x L
    F = np.zeros_like(X)
    for _ in range(T):
        F = F + STEP * X - STEP / L * (gram @ F)
    return judged((F @ u[:, :, None])[:, :, 0] / L, z)


def recurrence(rng: np.random.Generator) -> np.ndarray:
    X, u, z = draw(rng)
    pulse = (X @ u[:, :, None])[:, :, 0] / L
    w = np.zeros_like(pulse)
    for _ in range(T):
        inner = X.transpose(0, 2, 1) @ w[:, :, None]
        w = w + STEP * pulse - STEP / L * (X @ inner)[:, :, 0]
    return judged(w, z)


def chain(rng: np.random.Generator) -> np.ndarray:
    parts = []
    for start in range(0, PROMPTS, 4096):
        z = rng.uniform(2, 5, min(4096, PROMPTS - start))
        parts.append(sample_chain(z, D, L, T, rng=rng).slopes(STEP, -STEP, T).risk)
    return np.concatenate(parts)


def main() -> None:
    rng = np.random.default_rng(0)
    t_chain, ours = median_time(lambda: chain(rng), runs=5)
    t_chain /= PROMPTS
    print(f"d = {D}, L = {L}, T = {T}: one prompt, median wall time")
    for name, peer in (("literal (XXᵀ)F", literal), ("d-vector recurrence", recurrence)):
        risks = []
        t_peer, _ = median_time(lambda peer=peer, risks=risks: risks.append(peer(rng)), runs=5)
        values = np.concatenate(risks)
        error = math.hypot(values.std() / values.size**0.5, ours.std() / ours.size**0.5)
        assert abs(values.mean() - ours.mean()) <= 6 * error, (name, values.mean(), ours.mean())
        report("Krylov chain", t_chain, t_peer / BATCH, name)

    seconds, found = median_time(
        lambda: finite_context_risk(
            Uniform(2, 5), dim=10**6, context=10**9, depth=32, alpha="2/7", prompts=10**5, rng=0
        ),
        runs=3,
    )
    print(
        f"10^5 prompts at d = 10^6, L = 10^9, T = 32: {seconds:.2f} s "
        f"(excess risk {found.excess:.4e} ± {found.standard_error:.0e}, {found.status})"
    )


if __name__ == "__main__":
    main()
