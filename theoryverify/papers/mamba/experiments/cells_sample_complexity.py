"""The cells of ``mamba.sample_complexity``: one method on one family, tested on common tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryverify.errors import InputError
from theoryverify.exact.gate import Gate
from theoryverify.seeds import named_rng
from theoryverify.simulate.icl_prompts import Prompts, TaskFamily
from theoryverify.simulate.intervals import median_of_means

Floats = NDArray[np.float64]

MAMBA = "Mamba, Algorithm 1"
ONES = "Mamba, γ = 1"
ORACLE = "Mamba, support known"
LINEAR = "linear attention + MLP"
SOFTMAX = "softmax attention + MLP"
KERNEL = "kernel ridge, d coordinates"
KERNEL_R = "kernel ridge, r coordinates"
DEGREE_TWO = "ridge of degree 2"
METHODS = (MAMBA, ONES, ORACLE, LINEAR, SOFTMAX, KERNEL, KERNEL_R, DEGREE_TWO)

_GROUPS = 10


@dataclass(frozen=True)
class Bench:
    """Sizes of pretraining and test; the last length is the longest test prompt."""

    d: int
    rho: int
    b: int
    tokens: int
    stage_one: int
    stage_two: int
    lengths: tuple[int, ...]
    tasks: int
    tuning: int
    queries: int = 16
    test_queries: int = 64
    noise: str = "0"


def errors(
    method: str, text: str, r: int, bench: Bench, seed: int, device: str, rng: np.random.Generator
) -> dict[str, Any]:
    """Squared error above the noise at each length: median of means over tasks, with its interval.

    Family and test tasks depend on the seed, the link and r alone: all methods see the same ones.
    """
    common = named_rng(seed, f"mamba.sample_complexity tasks {text} {r} {bench}")
    family = TaskFamily.random(text, bench.d, r, bench.noise, rng=common)
    prompts = family.sample(bench.tasks, bench.lengths[-1], queries=bench.test_queries, rng=common)
    predict = predictor(method, family, bench, device, rng)
    rows = []
    for prediction in predict(prompts, bench.lengths):
        misses = ((prediction - prompts.target) ** 2).mean(1)
        found = median_of_means(misses, groups=_GROUPS)
        rows.append((found.value, found.lower, found.upper))
    return {"error": np.array(rows)}


Predict = Callable[[Prompts, Sequence[int]], Iterable[Floats]]


def predictor(
    method: str, family: TaskFamily, bench: Bench, device: str, rng: np.random.Generator
) -> Predict:
    """A method, pretrained or tuned on tasks of its own.

    Raises
    ------
    InputError
        For an unknown method.
    """
    if method not in METHODS:
        raise InputError(f"method {method!r} is unknown; choose one of {', '.join(METHODS)}")
    if method in (KERNEL, KERNEL_R, DEGREE_TWO):
        from theoryverify.simulate.icl_kernels import tuned_degree_two, tuned_gaussian

        tuning = family.sample(bench.tuning, bench.lengths[-1], queries=bench.test_queries, rng=rng)
        if method == DEGREE_TWO:
            return tuned_degree_two(tuning).predict
        return tuned_gaussian(tuning, family.support if method == KERNEL_R else None).predict
    from theoryverify.models.mamba_layer import supported_gamma
    from theoryverify.simulate.icl_attention import train_linear_attention, train_softmax_attention
    from theoryverify.simulate.mamba_algorithm import Setting, initial_gamma, train

    setting = Setting(
        Gate(bench.rho, Fraction(bench.b)),
        bench.tokens,
        bench.stage_one,
        bench.stage_two,
        queries=bench.queries,
    )
    model: Any
    if method == LINEAR:
        model = train_linear_attention(family, setting, device=device, rng=rng)
    elif method == SOFTMAX:
        model = train_softmax_attention(family, setting, device=device, rng=rng)
    else:
        gamma = {
            MAMBA: None,
            ONES: initial_gamma(family.d, "all ones"),
            ORACLE: supported_gamma(family.d, family.support),
        }[method]
        model = train(family, setting, gamma=gamma, device=device, rng=rng)
    return lambda prompts, lengths: [model.predict(prompts, n) for n in lengths]
