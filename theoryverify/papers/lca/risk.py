"""The finite-context risk by exact-in-law simulation, for any d and L. NumPy alone.

Each prompt is a Krylov chain (:mod:`theoryverify.simulate.exact_law`); the query and its noise are
averaged out. The infinite-context loss of the same Z, whose mean is known to the last digit, serves
as control variate together with the first-order fluctuations of the context, whose mean is 0: what
is left to chance is the second-order effect of finite context.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import Exact, float64, positive_integer, rational
from theoryverify.papers.lca import assumptions, kernels
from theoryverify.papers.lca.loss import excess_loss
from theoryverify.papers.lca.reliability import SHARE, Setup, cells_of, unseen_tail
from theoryverify.simulate.exact_law import MAX_DEPTH, MAX_SIZE, Chain, sample_chain

Floats = NDArray[np.float64]

MAX_PROMPTS = 10**8
MAX_WORK = 10**12
"""Largest ``prompts · T · min(T, d, L)``: about an hour on one core."""

CONFIDENCE = 0.99
_NORMAL_QUANTILE = 2.5758293035489004
_BLOCK = 4096
_FEW = 1000


@dataclass(frozen=True)
class Risk:
    """An estimate of ``E(y_q - ŷ_q)²`` in units of ``E[ζ²]``.

    Attributes
    ----------
    mean, lower, upper : float
        The whole risk, Bayes risk included, and its interval.
    excess, excess_lower, excess_upper : float
        The same less the Bayes risk.
    standard_error : float
        Of both.
    confidence : float
        Of the interval, by the central limit theorem. It means nothing where the status is
        ``unreliable``.
    bayes_risk, infinite_context : Enclosure
        ``E[1/Z]`` and the excess loss ``ℓ_T(α,β)`` at L = ∞.
    status : str
        ``ok`` or ``unreliable``.
    warnings : tuple of str
    """

    mean: float
    lower: float
    upper: float
    excess: float
    excess_lower: float
    excess_upper: float
    standard_error: float
    confidence: float
    prompts: int
    bayes_risk: Enclosure
    infinite_context: Enclosure
    status: str
    warnings: tuple[str, ...] = field(default=())


def finite_context_risk(
    law: Law,
    *,
    dim: int,
    context: int,
    depth: int,
    alpha: Exact,
    beta: Exact | None = None,
    prompts: int,
    rng: np.random.Generator | int | None = None,
) -> Risk:
    """Estimate the risk of T layers on prompts of L examples in R^d.

    Parameters
    ----------
    law : Law
        The law of Z, meeting Assumption 6.1; its direction does not matter.
    dim, context : int
        d and L, from 1 to 10^15.
    depth : int
        T, from 1 to 10^6.
    alpha, beta : exact numbers
        ``beta=None`` is the one-parameter model ``β = -α``.
    prompts : int
        n, from 2 to 10^8, with ``n·T·min(T,d,L)`` at most 10^12.
    rng : Generator, int or None
        As for ``numpy.random.default_rng``; the result depends on nothing else.

    Returns
    -------
    Risk

    Raises
    ------
    InputError, HypothesisError
        For numbers out of range, floats, or a law outside Assumption 6.1.

    Notes
    -----
    Source: arXiv 2602.04872, Appendix H. The interval is ``mean ± 2.576 sd/√n``. The status is
    ``unreliable`` unless a bound shows that at most a tenth of the second moment lies in events
    that n prompts are not expected to show (:mod:`theoryverify.papers.lca.reliability`), or, for
    T <= 2, the sample's second moment is within a factor 2 of the exact one. With ``α = 0`` the
    prediction is 0 and the excess of a prompt is W: the interval is a point, and ``ok``.

    Examples
    --------
    >>> from theoryverify.exact.densities import Uniform
    >>> found = finite_context_risk(
    ...     Uniform(2, 5), dim=10**6, context=10**9, depth=4, alpha="2/7", prompts=1000, rng=0)
    >>> found.status, round(found.mean, 4)
    ('ok', 0.3057)
    """
    law = assumptions.require(law)
    dim = positive_integer(dim, "dim", most=MAX_SIZE)
    context = positive_integer(context, "context", most=MAX_SIZE)
    depth = positive_integer(depth, "depth", most=MAX_DEPTH)
    prompts = positive_integer(prompts, "prompts", least=2, most=MAX_PROMPTS)
    work = prompts * depth * min(depth, dim, context)
    if work > MAX_WORK:
        raise InputError(
            f"prompts = {prompts} at depth {depth} is too much work: prompts·T·min(T,d,L) = "
            f"{work:.3g} exceeds {MAX_WORK:.0e}; at most {MAX_WORK * prompts // work} prompts"
        )
    step = rational(alpha, "alpha")
    mix = None if beta is None else rational(beta, "beta")
    known = excess_loss(law, step, mix, depth=depth, digits=17)
    setup = Setup(
        float(law.lower),
        float(law.upper),
        cells_of(law),
        dim,
        context,
        depth,
        float64(step, "alpha"),
        -float64(step, "alpha") if mix is None else float64(mix, "beta"),
    )
    generator = np.random.default_rng(rng)
    sample = _Sample.of(_blocks(law, setup, prompts, generator))
    return _concluded(law, setup, prompts, sample, known.bayes_risk, known.excess)


def _blocks(
    law: Law, setup: Setup, prompts: int, generator: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """The excess risk of each prompt, and a quantity close to it with the known mean ``ℓ_T``."""
    for start in range(0, prompts, _BLOCK):
        z = law.sample(min(_BLOCK, prompts - start), rng=generator)
        chain = sample_chain(z, setup.dim, setup.context, setup.depth, rng=generator)
        with np.errstate(over="ignore", invalid="ignore"):
            excess = chain.slopes(setup.alpha, setup.beta, setup.depth).excess
            yield excess, _control(chain, setup)


def _control(chain: Chain, setup: Setup) -> Floats:
    """``W A² - 2A(P c_1 + |m|² P' c_2)``: the infinite-context loss and the first-order effect of L.

    ``P(Z) = αG(1+βZ)`` is the stack's polynomial on the spike and ``A = 1 - ZP(Z)``. Given Z,
    ``c_1 = m·Xy/L - |m|²`` and ``c_2 = q_1ᵀΣ̂q_1 - Z - (d-1)/L`` have mean 0, since
    ``E a_1² = L|m|² + d`` and ``E b_1² = L-1``. So the mean is ``E[W A²]`` whatever the factors are.
    """
    z = chain.z
    form = "tied" if setup.beta == -setup.alpha else "sum"
    A = kernels.residual(z, setup.alpha, setup.beta, setup.depth, form=form)
    total, slope = kernels.geometric_sum(1 + setup.beta * z, setup.depth)
    P, P_slope = setup.alpha * total, setup.alpha * setup.beta * slope
    c1 = chain.start * chain.spike[0] - (z - 1)
    c2 = chain.diagonal[0] - z - (setup.dim - 1) / setup.context
    return np.asarray((z - 1) / z * A**2 - 2 * A * (P * c1 + (z - 1) * P_slope * c2))


@dataclass(frozen=True)
class _Sample:
    """Over prompts: mean and deviation of ``D = e - control``, and the mean of ``e²``."""

    mean: float
    deviation: float
    second: float

    @classmethod
    def of(cls, blocks: Iterator[tuple[Floats, Floats]]) -> _Sample:
        count, mean, squares, second = 0, 0.0, 0.0, 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            for excess, control in blocks:
                difference, size = excess - control, excess.size
                here = float(difference.mean())
                shift = here - mean
                # Two samples' means and sums of squares, joined (Chan, Golub and LeVeque).
                squares += float(((difference - here) ** 2).sum())
                squares += shift * shift * count * size / (count + size)
                mean += shift * size / (count + size)
                count += size
                second += (float((excess**2).mean()) - second) * size / count
        deviation = math.sqrt(squares / (count - 1)) if squares >= 0 else math.nan
        return cls(mean, deviation, second)


def _concluded(
    law: Law, setup: Setup, prompts: int, sample: _Sample, bayes: Enclosure, limit: Enclosure
) -> Risk:
    excess = float(limit) + sample.mean
    error = sample.deviation / math.sqrt(prompts)
    half = _NORMAL_QUANTILE * error
    warnings = list(_cautions(setup, prompts))
    if not math.isfinite(excess + half):
        warnings.append("numbers beyond float64 occurred: the estimate overflowed")
        excess = half = error = math.nan
        reason: str | None = "overflow"
    else:
        reason = _unreliable(law, setup, prompts, sample)
        if reason is not None:
            warnings.append(reason)
    risk = float(bayes) + excess
    return Risk(
        risk,
        risk - half,
        risk + half,
        excess,
        excess - half,
        excess + half,
        error,
        CONFIDENCE,
        prompts,
        bayes,
        limit,
        "ok" if reason is None else "unreliable",
        tuple(warnings),
    )


def _cautions(setup: Setup, prompts: int) -> Iterator[str]:
    if setup.alpha == 0:
        yield "alpha = 0: the prediction is 0 on every prompt, and the risk is E[y²]"
        return
    reach = setup.alpha * setup.upper if setup.beta == -setup.alpha else -setup.beta * setup.upper
    name = "alpha·Zmax" if setup.beta == -setup.alpha else "-beta·Zmax"
    if reach >= 2:
        yield f"{name} = {reach:.6g} is at least 2: outside (H.4), the iteration does not contract"
    elif reach <= 0:
        # + 0: of -0.0 it makes 0.
        yield f"{name} = {reach + 0:.6g} is not positive: the iteration does not contract"
    if prompts < _FEW:
        yield f"only {prompts} prompts: the interval rests on the central limit theorem"


def _unreliable(law: Law, setup: Setup, prompts: int, sample: _Sample) -> str | None:
    """The reason why the sample cannot be trusted, or ``None``."""
    if setup.alpha == 0:
        return None  # e = W on every prompt: nothing is left to chance
    tail = unseen_tail(setup, prompts)
    allowed = SHARE * sample.deviation**2
    if sample.deviation > 0 and tail.log_second <= math.log(allowed):
        return None
    if setup.depth <= 2:
        exact = _exact_second_moment(law, setup)
        if exact / 2 <= sample.second <= 2 * exact:
            return None
        return (
            f"the sample's second moment of the excess risk is {sample.second:.4g}, the exact one "
            f"{exact:.4g}: the sample does not show the tail"
        )
    text = (
        f"the second moment is not under control: events with |Σ̂| > {tail.level:.4g}, which "
        f"{prompts} prompts are not expected to show, may carry up to "
        f"{_power_of_ten(tail.log_second)} of E[excess²], while the sample's variance is "
        f"{sample.deviation**2:.3g}"
    )
    return text + _threshold(setup)


def _power_of_ten(log_value: float) -> str:
    """``exp(log_value)`` in scientific notation, however large."""
    exponent = math.floor(log_value / math.log(10))
    mantissa = math.exp(log_value - exponent * math.log(10))
    return f"{mantissa:.2g}e{exponent:+d}"


def _threshold(setup: Setup) -> str:
    gain = setup.alpha * setup.upper
    if setup.beta != -setup.alpha or not 1 < gain < 2:
        return ""
    from theoryverify.papers.lca.explosion import explosion_threshold

    found = explosion_threshold(f"{gain:.12f}", digits=6)
    second, mean = (float(ratio) * setup.context for ratio in (found.second, found.mean))
    return (
        f"; on the spike alone the second moment explodes beyond T = {second:.3g} "
        f"and the mean beyond T = {mean:.3g} (here T = {setup.depth})"
    )


def _exact_second_moment(law: Law, setup: Setup) -> float:
    """``E[excess²]`` for T <= 2: a polynomial in |m|², less what the Bayes risk takes."""
    import sympy

    from theoryverify.exact.integrands import Z
    from theoryverify.papers.lca import finite
    from theoryverify.papers.lca.theory import M

    at = finite.prompt_point(
        setup.dim,
        setup.context,
        *(sympy.nsimplify(x, rational=True) for x in (setup.alpha, setup.beta)),
    )
    second = finite.second_moment_of_risk(setup.depth, at)
    first = finite.prompt_moments_at(setup.depth, at).risk
    given_z = (second - 2 * first / Z + 1 / Z**2).subs(M, Z - 1)
    return float(law.expect(sympy.expand(given_z), "float64"))
