"""Risk against depth for linear and softmax stacks, side by side.

The theorem is about the linear stack. For softmax attention there is none here: the numbers are
what a simulation gives, at the sizes it was run at, and are reported as that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from theoryverify.errors import InputError
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import positive_integer
from theoryverify.simulate.monte_carlo import ExcessDraws, torch_slope
from theoryverify.simulate.training import train

Kind = Literal["linear", "softmax"]


@dataclass(frozen=True)
class DepthRow:
    """One depth.

    Attributes
    ----------
    kind, depth
    alpha, beta : float
        The scalars after training.
    excess : float
        Mean excess risk over fresh prompts, in units of ``ζ²``.
    standard_error : float
        Of that mean, from the sample: a description, no confidence interval (the tails are those of
        a polynomial of Gaussians, or unknown).
    """

    kind: Kind
    depth: int
    alpha: float
    beta: float
    excess: float
    standard_error: float


def risk_against_depth(
    kind: Kind,
    law: Law,
    *,
    d: int,
    context: int,
    depths: Sequence[int],
    start: tuple[float, float],
    steps: int = 150,
    batch: int = 64,
    rate: float = 0.02,
    prompts: int = 1000,
    rng: np.random.Generator | int | None = None,
) -> list[DepthRow]:
    """Train the two scalars of a stack at each depth, then measure its risk on fresh prompts.

    Parameters
    ----------
    kind : {"linear", "softmax"}
        LCA_T (5.5) or CA_T (5.2)-(5.4), both with ``W^S = αI``, ``W^V = βI``, ``W^K = W^Q = I``
        and the frozen readout.
    start : (float, float)
        ``(α, β)`` at the start of training, for every depth.
    steps, batch, rate
        Of Adam.
    prompts : int
        Fresh prompts for the measurement.

    Returns
    -------
    list of DepthRow
    """
    from theoryverify.models.lca import CA, LCA

    if kind not in ("linear", "softmax"):
        raise InputError(f"kind {kind!r} is unknown; choose 'linear' or 'softmax'")
    prompts = positive_integer(prompts, "prompts", least=2)
    generator = np.random.default_rng(rng)
    rows = []
    for depth in depths:
        model = (LCA if kind == "linear" else CA).two_parameter(d, depth, *start)
        trained = train(
            model,
            law,
            context=context,
            steps=steps,
            batch=batch,
            rate=rate,
            optimizer="adam",
            zeta="one",
            rng=generator,
        )
        alpha, beta = (float(trained.average[f"weights.{name}"]) for name in ("alpha", "_beta"))
        final = (LCA if kind == "linear" else CA).two_parameter(d, depth, alpha, beta)
        draws = ExcessDraws(torch_slope(final, context=context), law, d, context)
        excess = draws(prompts, generator)
        error = float(excess.std(ddof=1)) / math.sqrt(prompts)
        rows.append(DepthRow(kind, depth, alpha, beta, float(excess.mean()), error))
    return rows
