"""The table behind the figure: exact risk against test length, and the literal network."""

from __future__ import annotations

import numpy as np

from theoryverify.budget import SHARE
from theoryverify.figures import Data, Plan, Table
from theoryverify.papers.zfb.risk import literal_errors, trained_risk, variance_bound
from theoryverify.stats import VarianceMean

SPECTRUM = (1, 2, 4)
TRAIN_LENGTHS = (5, 20, 80)


def risk_data(plan: Plan) -> Data:
    """Risk divided by tr Λ, over M, for several N; and under exponential eigenvalues."""
    lengths = sorted({round(10 ** (k / 8)) for k in range(0, 33)})
    trace = float(sum(SPECTRUM))
    theory = [
        (n, m, float(trained_risk(SPECTRUM, n, m).total) / trace)
        for n in TRAIN_LENGTHS
        for m in lengths
    ]
    floors = [(n, float(trained_risk(SPECTRUM, n, 1).bias) / trace) for n in TRAIN_LENGTHS]
    prompts = plan.choose(20_000, 400_000, 4_000_000)
    values = np.array(SPECTRUM, dtype=np.float64)
    rng = np.random.default_rng(0)
    simulated = []
    for n in TRAIN_LENGTHS:
        gamma = (1 + 1 / n) * values + trace / n
        for m in plan.choose((2, 10, 50), (2, 10, 50, 250), (2, 10, 50, 250, 1000)):
            sequence = VarianceMean(variance_bound(values, gamma, m), error=SHARE, horizon=prompts)
            draw = literal_errors(values, np.diag(1 / gamma), m)
            while sequence.count < prompts:
                sequence.update(draw(min(10_000, prompts - sequence.count), rng))
            interval = sequence.interval
            simulated.append((n, m, interval.lower / trace, interval.upper / trace))
    setup = (
        f"Λ = diag{SPECTRUM}; lines: Theorem 4.2, exact; bars: the literal layer on {prompts} prompts "
        f"a point, intervals of error {SHARE:.0e} for any tails; dashed: the floor at M → ∞; dotted: "
        "the error 1/3 that stays at N, M → ∞ for exponential eigenvalues."
    )
    return Data(
        {
            "theory": Table.of(("N", "M", "risk"), theory),
            "floor": Table.of(("N", "risk"), floors),
            "simulated": Table.of(("N", "M", "lower", "upper"), simulated),
            "random": Table.of(("risk",), [(1 / 3,)]),
        },
        setup,
    )
