"""The tables behind ``lca.fig3``: untied layers, trained from two starts, beside their exact descent.

Stochastic gradient descent (:mod:`theoryverify.simulate.untied`) and descent on the exact loss
(:mod:`theoryverify.papers.lca.untied_context`) start at the same weights and share no formula.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from theoryverify.figures import Data, Plan, Table
from theoryverify.figures.cells import Cells
from theoryverify.figures.table import Cell
from theoryverify.papers.lca.experiments.cells_fig3 import (
    ALPHA_LIMIT,
    CONTEXT,
    DEPTH,
    DIM,
    LAW,
    STARTS,
    start_at,
    train_once,
)
from theoryverify.papers.lca.untied_context import context_form, descend, flow
from theoryverify.simulate.sealed import JSON

Floats = NDArray[np.float64]
Row = tuple[Cell, ...]

KINDS = ("scalar", "diagonal", "full")
OPTIMIZERS = ("sgd", "adam")
EXACT, TIED, TIED_LIMIT, START = "exact descent", "tied", "tied, L infinite", "start"


@dataclass(frozen=True)
class Sizes:
    """How much is trained; for plain descent rate times steps is the time of the flow."""

    seeds: int
    batch: int
    prompts: int
    steps: int
    rate: float
    adam_steps: int
    adam_rate: float

    def of(self, optimizer: str) -> tuple[int, float]:
        """Steps and rate."""
        if optimizer == "sgd":
            return self.steps, self.rate
        return self.adam_steps, self.adam_rate


@dataclass(frozen=True)
class Run:
    """One trained stack: traces at the noted times, and its whitening error after each layer."""

    optimizer: str
    kind: str
    start: str
    seed: int
    times: Floats
    alpha: Floats
    beta: Floats
    whitening: Floats


def trained_runs(plan: Plan, sizes: Sizes) -> list[Run]:
    """All runs, each a cell of its own: beyond ``quick`` they are kept on disk."""
    cells = Cells("lca.fig3", plan, code=("theoryverify.papers.lca.experiments.cells_fig3",))
    seeds = range(plan.seed, plan.seed + sizes.seeds)
    who = list(product(OPTIMIZERS, KINDS, STARTS, seeds))
    configurations: list[dict[str, JSON]] = []
    for optimizer, kind, start, seed in who:
        steps, rate = sizes.of(optimizer)
        configurations.append(
            {"optimizer": optimizer, "kind": kind, "start": start, "seed": seed, "steps": steps,
             "rate": rate, "batch": sizes.batch, "prompts": sizes.prompts}
        )  # fmt: skip
    found = cells.grid(train_once, configurations)
    return [
        Run(*names, *(arrays[part] for part in ("times", "alpha", "beta", "whitening")))
        for names, arrays in zip(who, found, strict=True)
    ]


def _spread(rows: Sequence[Floats]) -> Iterator[tuple[float, float, float]]:
    """Least, mean, greatest over the seeds, column by column."""
    stacked = np.stack(rows)
    lines = (stacked.min(axis=0), stacked.mean(axis=0), stacked.max(axis=0))
    return ((float(low), float(mid), float(high)) for low, mid, high in zip(*lines, strict=True))


def training_tables(runs: Sequence[Run], sizes: Sizes) -> dict[str, Table]:
    """``runs``: every seed. ``layers``, ``whitening``, ``course``: least, mean, greatest of them.

    Beside the trained kinds stand where they started and, for plain descent, descent on the exact
    loss from there.
    """
    form = context_form(LAW, DIM, CONTEXT, DEPTH)
    seeds = sorted({run.seed for run in runs})
    raw: list[Row] = []
    layers: list[Row] = []
    white: list[Row] = []
    course: list[Row] = []
    for optimizer, start in product(OPTIMIZERS, STARTS):
        begun = [start_at(start, seed) for seed in seeds]
        groups, errors = {START: begun}, {}
        if optimizer == "sgd":
            ended = [descend(form, *at, rate=sizes.rate, steps=sizes.steps) for at in begun]
            groups[EXACT] = ended
            errors[EXACT] = [form.whitening(*at) for at in ended]
        for kind in KINDS:
            mine = [r for r in runs if (r.optimizer, r.kind, r.start) == (optimizer, kind, start)]
            groups[kind] = [(run.alpha[-1], run.beta[-1]) for run in mine]
            errors[kind] = [run.whitening for run in mine]
            raw += [row for run, at in zip(mine, begun, strict=True) for row in _raw(run, at)]
            means = _spread([run.alpha.mean(axis=1) for run in mine])
            if optimizer == "sgd":
                course += [
                    (kind, start, float(time), *span)
                    for time, span in zip(mine[0].times, means, strict=True)
                ]
        for name, pairs in groups.items():
            spans = zip(*(_spread(side) for side in zip(*pairs, strict=True)), strict=True)
            layers += [(optimizer, name, start, t, *a, *b) for t, (a, b) in enumerate(spans, 1)]
        for name, rows in errors.items():
            white += [(optimizer, name, start, t, *e) for t, e in enumerate(_spread(rows), 1)]
    for name, context in ((TIED, CONTEXT), (TIED_LIMIT, None)):
        row = context_form(LAW, DIM, context, DEPTH).whitening(*_tied())
        white += [(None, name, "at", t, *3 * (float(e),)) for t, e in enumerate(row, 1)]
    who = ("optimizer", "kind", "start")
    return {
        "runs": Table.of(
            (*who, "seed", "layer", "alpha_start", "beta_start", "alpha", "beta", "whitening"), raw
        ),
        "layers": Table.of(
            (*who, "layer", "alpha_low", "alpha_mean", "alpha_high",
             "beta_low", "beta_mean", "beta_high"), layers,
        ),
        "whitening": Table.of((*who, "layer", "low", "mean", "high"), white),
        "course": Table.of(("kind", "start", "time", "low", "mean", "high"), course),
    }  # fmt: skip


def _raw(run: Run, begun: tuple[Floats, Floats]) -> list[Row]:
    """A run, layer by layer."""
    columns = (*begun, run.alpha[-1], run.beta[-1], run.whitening)
    who = (run.optimizer, run.kind, run.start, run.seed)
    return [(*who, t + 1, *(float(column[t]) for column in columns)) for t in range(DEPTH)]


def _tied() -> tuple[Floats, Floats]:
    """The weights ``(α*, -α*)``."""
    step = np.full(DEPTH, float(ALPHA_LIMIT))
    return step, -step


FLOW_TIMES = np.concatenate([[0.0], np.logspace(-1, 8, 91)])


def flow_table() -> Table:
    """The exact flow from the two starts without noise, at L and at ``L = ∞``."""
    rows = []
    for context in (CONTEXT, None):
        form = context_form(LAW, DIM, context, DEPTH)
        for start, multiple in STARTS.items():
            step = np.full(DEPTH, float(multiple * ALPHA_LIMIT))
            alpha, beta = flow(form, step, -step, FLOW_TIMES)
            white, excess = form.whitening(alpha, beta)[:, -1], form.excess(alpha, beta)
            rows += [
                (start, context, float(t), float(a.mean()), float(a.min()), float(a.max()),
                 float(w), float(e))
                for t, a, w, e in zip(FLOW_TIMES, alpha, white, excess, strict=True)
            ]  # fmt: skip
    return Table.of(
        ("start", "context", "time", "alpha_mean", "alpha_low", "alpha_high", "whitening",
         "excess"), rows,
    )  # fmt: skip


def marks_table() -> Table:
    """What training is compared with; the optima are enclosed."""
    rows: list[tuple[str, int | None, float]] = [
        ("alpha_limit", None, float(ALPHA_LIMIT)),
        ("untied_limit", None, float(LAW.lower * LAW.upper) ** -0.5),
    ]
    for context in (CONTEXT, None):
        form = context_form(LAW, DIM, context, DEPTH)
        rows += [
            ("best_mean_trace", context, float(form.mean_trace)),
            ("best_excess", context, float(form.best_excess)),
            ("best_whitening", context, float(form.state_whitening(form.best))),
            ("excess_at_limit", context, float(form.excess(*_tied()))),
        ]
    return Table.of(("mark", "context", "value"), rows)


SIZES = (
    Sizes(3, 64, 500, steps=200, rate=0.02, adam_steps=250, adam_rate=3e-3),
    Sizes(6, 256, 4000, steps=5000, rate=0.02, adam_steps=3000, adam_rate=1e-3),
    Sizes(10, 512, 20_000, steps=50_000, rate=0.02, adam_steps=30_000, adam_rate=1e-3),
)


def fig3_data(plan: Plan) -> Data:
    sizes = plan.choose(*SIZES)
    tables = training_tables(trained_runs(plan, sizes), sizes)
    return Data(
        {**tables, "flow": flow_table(), "marks": marks_table()},
        f"Z ~ {LAW!r}, d = {DIM}, T = {DEPTH}, L = {CONTEXT} in training and in testing; the "
        "paper's own sizes, optimiser and times are not known to us. "
        f"{sizes.seeds} seeds, {sizes.batch} fresh prompts a step, drawn exactly in law through "
        f"XXᵀ/L and Xy/L, the query averaged out. Plain descent: {sizes.steps} steps of "
        f"{sizes.rate} ({sizes.rate} d for diagonals and matrices, which moves their traces "
        f"alike), flow time {sizes.rate * sizes.steps:g}. Adam: {sizes.adam_steps} steps of "
        f"{sizes.adam_rate}. Whitening is the root of the mean square over {sizes.prompts} fresh "
        "prompts. The exact loss and whitening of scalar weights are quadratic forms with exact "
        "Wishart moments; descent on them and its flow are integrated in float64. The optima are "
        "enclosed in ball arithmetic.",
    )
