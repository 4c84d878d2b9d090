"""The tables behind ``mamba.icl_curves``: error against context size for other d, r and N_pt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryverify.figures import Data, Plan, Table
from theoryverify.figures.cells import Cells
from theoryverify.figures.table import Cell
from theoryverify.papers.mamba.experiments import cells_icl_baselines as baselines
from theoryverify.papers.mamba.experiments.icl_sizes import CHANGES, NAMES, SIZES, Sizes
from theoryverify.papers.mamba.experiments.icl_trainings import RUNS, trainings
from theoryverify.simulate.icl_config import KINDS
from theoryverify.simulate.icl_curves import CLIP, MEASURES, TRIM, band, trivial_levels
from theoryverify.simulate.icl_test_set import shown_sizes
from theoryverify.simulate.sealed import JSON

Floats = NDArray[np.float64]

CLASSICAL = (8, 257)
"""r, and the tokens of its test: kernel ridge alone, at the paper's r."""
KERNEL_SIZES = [16, 32, 64, 128, 192, 256]
_BAND_DRAWS = 200


def baseline_runner(plan: Plan) -> Cells:
    """Of what needs no training."""
    return Cells(RUNS, plan, baselines.CODE)


def icl_curves_data(plan: Plan) -> Data:
    sizes = SIZES[plan.preset]
    tables = icl_tables(plan, sizes)
    base = sizes.base
    return Data(
        tables,
        f"g = {base.task.g}, noise {base.task.noise}; base d = {base.task.d}, r = {base.task.r}, "
        f"N_pt = {base.context}; one of d = {sizes.d}, r = {sizes.r}, N_pt = {sizes.context} is "
        f"changed. Mamba of {base.model.layers} layers and GPT-2 of "
        f"{sizes.run('base', 'gpt2', 0).model.layers}, width {base.model.width}: {base.steps} AdamW "
        f"steps on {base.batch} fresh tasks each, {sizes.seeds} seeds. All methods meet the same "
        f"{base.test_tasks} test tasks (kernel ridge, oracle and one-layer model the first "
        f"{sizes.kernel_tasks} of such a set). Errors above {CLIP:g} are counted as {CLIP:g} in what is "
        f"drawn; the table also has plain means, means without the largest {TRIM:.0%} and medians. Bands "
        "are 95% bootstrap intervals, pointwise, over test tasks, for the models as trained; thin lines "
        "are the seeds one by one. Beyond N_pt GPT-2 reads rows of its table of positions that were "
        "never trained.",
    )


def icl_tables(plan: Plan, sizes: Sizes) -> dict[str, Table]:
    runs = trainings(plan, sizes)
    rows: list[tuple[Cell, ...]] = []
    single: list[tuple[Cell, ...]] = []
    for change in CHANGES:
        settings = sizes.run(change, "mamba", 0)
        where = (change, settings.task.d, settings.task.r, settings.context)
        tokens = settings.test_context
        levels = trivial_levels(settings.task)
        shown = sorted({*shown_sizes(tokens, 14), settings.context - 1})
        for kind in KINDS:
            errors = np.stack([run["errors"] for run in runs[change, kind]])
            rows += _rows((*where, NAMES[kind]), errors[:, :, shown], shown, levels)
            single += _seeds((*where, NAMES[kind]), errors[:, :, shown], shown, levels)
        for method, errors in classical(plan, sizes, change, shown).items():
            rows += _rows((*where, method), errors[None], shown, levels)
    columns = (
        "change",
        "d",
        "r",
        "N_pt",
        "method",
        "examples",
        "measure",
        "error",
        "lower",
        "upper",
    )
    return {
        "curves": Table.of((*columns, "trivial"), rows),
        "seeds": Table.of(
            (*columns[:5], "seed", "examples", "measure", "error", "trivial"), single
        ),
        "budget": budget(plan, sizes),
        "kernel": Table.of(
            ("r", "method", "examples", "measure", "error", "lower", "upper", "trivial"),
            _kernel_rows(plan, sizes),
        ),
    }


def budget(plan: Plan, sizes: Sizes) -> Table:
    """What the picture says of its preset."""
    base = sizes.base
    row = (plan.preset, base.steps, base.batch, sizes.seeds)
    return Table.of(("preset", "steps", "batch", "seeds"), [row])


def classical(plan: Plan, sizes: Sizes, change: str, shown: Sequence[int]) -> dict[str, Floats]:
    """Errors (tasks, sizes) of what is not pretrained, and of the theory's layer."""
    of = baseline_runner(plan)
    settings = sizes.run(change, "mamba", 0)
    task, tokens, tasks = settings.task, settings.test_context, sizes.kernel_tasks
    at: dict[str, JSON] = {
        "task": vars(task),
        "tokens": tokens,
        "tasks": tasks,
        "sizes": list(shown),
    }
    ridge = of.compute(
        {"what": "kernel", **at}, partial(baselines.kernels, task, tokens, tasks, shown)
    )
    best = of.compute(
        {"what": "oracle", **at}, partial(baselines.oracle, task, tokens, tasks, shown)
    )
    layer = of.compute(
        {"what": "theory", **at, "context": settings.context, "stages": tasks},
        partial(baselines.theory, task, tokens, tasks, settings.context, tasks, shown),
    )
    return {
        "kernel ridge": ridge["validated"],
        "kernel ridge, oracle": ridge["oracle"],
        "support and link known": best["errors"],
        "one-layer theory": layer["errors"],
    }


def _kernel_rows(plan: Plan, sizes: Sizes) -> Iterator[tuple[Cell, ...]]:
    """Kernel ridge at the paper's r = 8 on contexts of up to 256."""
    r, tokens = CLASSICAL
    tasks = min(sizes.kernel_tasks, 45) if plan.preset == "quick" else sizes.kernel_tasks
    task = replace(sizes.base.task, d=r, r=r)
    shown = KERNEL_SIZES
    at: dict[str, JSON] = {
        "task": vars(task),
        "tokens": tokens,
        "tasks": tasks,
        "sizes": list(shown),
    }
    found = baseline_runner(plan).compute(
        {"what": "kernel", **at}, partial(baselines.kernels, task, tokens, tasks, shown)
    )
    levels = trivial_levels(task)
    for how, name in (("validated", "kernel ridge"), ("oracle", "kernel ridge, oracle")):
        for row in _rows((), found[how][None], shown, levels):
            yield (r, name, *row)


def _rows(
    where: tuple[Cell, ...], errors: Any, shown: Sequence[int], levels: Mapping[str, float]
) -> Iterator[tuple[Cell, ...]]:
    for measure in MEASURES:
        value, low, high = band(np.asarray(errors, dtype=np.float64), measure, draws=_BAND_DRAWS)
        for place, k in enumerate(shown):
            yield (
                *where,
                k,
                measure,
                *(float(x[place]) for x in (value, low, high)),
                levels[measure],
            )


def _seeds(
    where: tuple[Cell, ...], errors: Floats, shown: Sequence[int], levels: Mapping[str, float]
) -> Iterator[tuple[Cell, ...]]:
    """Each training alone."""
    for seed, own in enumerate(errors.astype(np.float64)):
        for measure, of in MEASURES.items():
            for k, value in zip(shown, of(own), strict=True):
                yield (*where, seed, k, measure, float(value), levels[measure])
