"""The cells of ``lca.fig3``: one untied stack, trained on prompts and measured on fresh ones."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theoryverify.claims import Context
from theoryverify.exact.densities import Uniform

Floats = NDArray[np.float64]

LAW = Uniform(2, 5)
DIM, DEPTH, CONTEXT = 10, 8, 1024
ALPHA_LIMIT = Fraction(2) / (LAW.lower + LAW.upper)
NOISE = 0.02
STARTS = {"at": Fraction(1), "half": Fraction(1, 2)}
"""Multiples of ``(α*, -α*)`` around which training starts."""


def start_at(start: str, seed: int, depth: int = DEPTH) -> tuple[Floats, Floats]:
    """``(c α* + σ g, -c α* + σ g')``: the same numbers for every parametrisation."""
    centre = float(STARTS[start] * ALPHA_LIMIT)
    rng = Context(seed=seed, name=f"lca.fig3 start {start}").rng()
    alpha, beta = NOISE * rng.standard_normal((2, depth))
    return centre + alpha, -centre + beta


def train_once(configuration: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Floats]:
    """``times``, the traces ``alpha`` and ``beta`` then, and ``whitening`` after each layer.

    Parameters
    ----------
    configuration : mapping
        ``optimizer``, ``kind``, ``start``, ``seed``, ``steps``, ``rate``, ``batch``, ``prompts``,
        ``device``.
    """
    import torch

    from theoryverify.models.precision import require_device
    from theoryverify.models.untied import UntiedWeights
    from theoryverify.simulate.untied import sample_moments, train_untied

    told = dict(configuration)
    place = require_device(told["device"])
    alpha, beta = start_at(told["start"], told["seed"])
    weights = UntiedWeights.around(told["kind"], alpha, beta, DIM, noise=NOISE, rng=rng).to(place)
    run = train_untied(
        weights, LAW, context=CONTEXT, steps=told["steps"], batch=told["batch"],
        rate=told["rate"], optimizer=told["optimizer"], rng=rng,
    )  # fmt: skip
    drawn = sample_moments(LAW, DIM, CONTEXT, told["prompts"], rng=rng)
    eye = torch.eye(DIM, dtype=torch.float64, device=place)
    with torch.no_grad():
        gains = weights.gains(torch.from_numpy(drawn.covariance).to(place))
        errors = [float(((gain - eye) ** 2).sum((1, 2)).mean() / DIM) ** 0.5 for gain in gains]
    return {
        "times": told["rate"] * run.observed_at, **run.observed, "whitening": np.array(errors)
    }  # fmt: skip
