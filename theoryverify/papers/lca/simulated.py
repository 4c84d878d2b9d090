"""Theorem 6.2 on the running model: the risk of the literal LCA_T against ``ℓ(α,β) + E[1/Z]``.

Nothing about the tails is guessed. Mean and variance of the excess risk of a prompt at finite
(d, L) are known exactly (:mod:`theoryverify.papers.lca.wishart`). So the finite-context bias
``|E excess - ℓ|`` is a number and part of the margin, and a confidence sequence that needs a bound of
the variance and nothing else applies, although the excess is a polynomial of Gaussians of degree
about 4T.

What is known of the mean to all digits is not sampled: the risk is the excess plus ``1/Z`` prompt by
prompt, and ``E[1/Z]`` is added as a number; and the excess of the same task at infinite context,
``W(1-αS)²``, is subtracted prompt by prompt and its mean ``ℓ`` added (a control variate, whatever the
formula under examination says).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from theoryverify.budget import SHARE, draws_for
from theoryverify.exact.integrands import LinearPower
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import Exact, rational
from theoryverify.papers.lca.kernels import residual, residual_form, weight_polynomial
from theoryverify.papers.lca.loss import excess_loss
from theoryverify.papers.lca.wishart import mean_excess, second_moment_about_limit
from theoryverify.simulate.monte_carlo import Array, ExcessDraws, torch_slope
from theoryverify.stats import Equivalence, VarianceMean, equivalence

Formula = Callable[[Law, int, Exact, Exact | None], float]
"""``(law, depth, alpha, beta) -> excess loss`` at infinite context: what is under examination."""

MAX_PROMPTS = 2_000_000
_MISS = 1e-3


@dataclass(frozen=True)
class Plan:
    """What is computed before a prompt is drawn. In units of ``E[ζ²]``, without the Bayes risk.

    Attributes
    ----------
    infinite, finite : float
        ``ℓ(α,β)``, and the mean excess at (d, L).
    variance : float
        Of a prompt's excess less its control variate, rounded up.
    resolution : float
        What the test can see beside the bias.
    margin : float
        ``|finite - infinite| + resolution``.
    budget : int
        Prompts that decide with probability 0.999, if the model and the formula are right.
    """

    infinite: float
    finite: float
    variance: float
    resolution: float
    margin: float
    budget: int

    @property
    def bias(self) -> float:
        return abs(self.finite - self.infinite)


@dataclass(frozen=True)
class SimulatedRisk:
    """The test, with its plan; add ``bayes_risk`` for the whole risk."""

    plan: Plan
    test: Equivalence
    bayes_risk: float


def plan_risk(
    law: Law,
    *,
    dim: int,
    context: int,
    depth: int,
    alpha: Exact,
    beta: Exact | None = None,
    error: float = SHARE,
    resolution: float | None = None,
) -> Plan:
    """Margin and number of prompts for :func:`simulated_risk`, from exact moments.

    Parameters
    ----------
    resolution : float, optional
        Default: half the bias, or a fiftieth of the standard deviation if that is larger.

    Raises
    ------
    InputError, HypothesisError
        For numbers out of range (T at most 5) or a law outside Assumption 6.1.
    """
    mean = mean_excess(law, dim=dim, context=context, depth=depth, alpha=alpha, beta=beta)
    second = second_moment_about_limit(
        law, dim=dim, context=context, depth=depth, alpha=alpha, beta=beta
    )
    infinite = float(excess_loss(law, alpha, beta, depth=depth).excess)
    finite = float(mean)
    bias = abs(finite - infinite)
    # The second moment about 0 bounds the variance; less the square of the mean, it is the variance.
    variance = (float(second.upper) - bias**2) * (1 + 1e-9) + 1e-12 * float(second.upper)
    seen = max(bias / 2, math.sqrt(variance) / 50) if resolution is None else resolution
    budget = draws_for(seen, math.sqrt(variance), error=error, miss=_MISS)
    return Plan(infinite, finite, variance, seen, bias + seen, budget)


def simulated_risk(
    law: Law,
    *,
    dim: int,
    context: int,
    depth: int,
    alpha: Exact,
    beta: Exact | None = None,
    formula: Formula | None = None,
    error: float = SHARE,
    device: str = "cpu",
    rng: np.random.Generator | int | None = None,
    max_prompts: int = MAX_PROMPTS,
) -> SimulatedRisk:
    """Test the literal LCA_T at context L against a formula for its excess loss at L = ∞.

    Parameters
    ----------
    law : Law
        Meeting Assumption 6.1; directions of m are isotropic.
    dim, context, depth : int
        d, L, and T from 1 to 5.
    alpha, beta : exact numbers
        ``beta=None`` is ``β = -α``.
    formula : callable, optional
        Default: ``ℓ(α,β) = E[W(1-αS_T)²]``. The margin stays that of the right formula.
    error : float
        Probability of a wrong ``holds`` or ``refuted``.
    device : str
        For Torch.
    rng : Generator, int or None
    max_prompts : int
        ``inconclusive`` if more would be needed.

    Raises
    ------
    InputError, HypothesisError
        As :func:`plan_risk`; also if the device is not there or the batch does not fit into memory.

    Examples
    --------
    >>> from theoryverify.exact.densities import Uniform
    >>> found = simulated_risk(
    ...     Uniform(2, 5), dim=3, context=512, depth=2, alpha="0.27", rng=0)  # doctest: +SKIP
    >>> found.test.verdict.value  # doctest: +SKIP
    'holds'
    """
    plan = plan_risk(
        law, dim=dim, context=context, depth=depth, alpha=alpha, beta=beta, error=error
    )
    draws = literal_draws(
        law, dim=dim, context=context, depth=depth, alpha=alpha, beta=beta, device=device
    )
    expected = plan.infinite if formula is None else formula(law, depth, alpha, beta)
    budget = min(plan.budget, max_prompts)
    test = equivalence(
        draws,
        expected,
        plan.margin,
        sequence=VarianceMean(plan.variance, error=error, horizon=budget),
        budget=budget,
        rng=np.random.default_rng(rng),
    )
    bayes = float(excess_loss(law, alpha, beta, depth=depth).bayes_risk)
    return SimulatedRisk(plan, test, bayes)


def literal_draws(
    law: Law,
    *,
    dim: int,
    context: int,
    depth: int,
    alpha: Exact,
    beta: Exact | None = None,
    device: str = "cpu",
) -> ExcessDraws:
    """``draw(n, rng)``: excess risks of n prompts under the literal LCA_T with scalar weights.

    Each less its control variate, of which the mean is added.
    """
    from theoryverify.models.lca import LCA

    at_alpha = rational(alpha, "alpha")
    at_beta = -at_alpha if beta is None else rational(beta, "beta")
    model = (
        LCA.one_parameter(dim, depth, float(at_alpha))
        if beta is None
        else LCA.two_parameter(dim, depth, float(at_alpha), float(at_beta))
    )
    form = residual_form(at_alpha, at_beta)

    def control(z: Array) -> Array:
        share = LinearPower(weight_polynomial(), 1, 0, 0, pole=1)(z)
        rho = residual(z, float(at_alpha), float(at_beta), depth, form=form)
        return np.asarray(share * rho**2)

    return ExcessDraws(
        torch_slope(model, device=device, context=context),
        law,
        dim,
        context,
        control,
        float(excess_loss(law, alpha, beta, depth=depth).excess),
    )
