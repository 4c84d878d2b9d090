"""Theorem 4.2 and after: the trained layer's risk, shifts, and random covariances."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import sympy
from sympy import Integer, Rational, Symbol

from theoryverify.budget import SHARE, draws_for
from theoryverify.claims import PROVED, SIMULATED, Claim, Context, Evidence, Examination, Hypothesis
from theoryverify.claims.statements import nonnegative, same
from theoryverify.papers.zfb import theory
from theoryverify.papers.zfb.claims.hypotheses import GAUSSIAN, POSITIVE
from theoryverify.papers.zfb.risk import literal_errors, trained_risk, variance_bound
from theoryverify.papers.zfb.theory import M, N, lam, lam_j, tau

_a = Symbol("a", real=True)
_S = Symbol("S_ii", positive=True)

RISK = Claim(
    "zfb.4.2",
    "Theorem 4.2",
    r"\mathbb E(\hat y_q-y_q)^2=\min_w\mathbb E(\langle w,x_q\rangle-y_q)^2+\tfrac1M\operatorname{tr}"
    r"[S\Gamma^{-2}\Lambda]+\tfrac1{N^2}\left[\|a\|^2_{\Gamma^{-2}\Lambda^3}+2\operatorname{tr}"
    r"(\Lambda)\|a\|^2_{\Gamma^{-2}\Lambda^2}+\operatorname{tr}(\Lambda)^2"
    r"\|a\|^2_{\Gamma^{-2}\Lambda}\right]",
    title="risk of the trained layer at test length M",
    hypotheses=(GAUSSIAN, POSITIVE),
    depends_on=("zfb.4.1",),
    note="a = Λ⁻¹E[xy], S = Cov(yx); the labels of the test prompt need not be linear in x.",
)

_BIAS = theory.bias_term(_a**2) / N**2


@RISK.check(
    "bias and variance",
    PROVED,
    formula=_BIAS,
    controls={
        "1/N": _BIAS * N,
        "1/M²": _BIAS * N**2 / M**2,
        "tr(Λ) for 2tr(Λ)": _BIAS - _a**2 * tau * lam**2 / (N * theory.gamma()) ** 2,
    },
)
def bias_and_variance(bias: sympy.Expr, examination: Examination) -> Evidence:
    """``ŷ_q = x_qᵀΓ⁻¹ v`` with v the mean of M independent ``y x``, ``E v = Λa``, ``Cov v = S/M``.

    ``E(ŷ_q - ⟨a,x_q⟩)² = Σ_i λ_i E((Γ⁻¹v)_i - a_i)²``, and the best linear predictor's residual is
    uncorrelated with x.
    """
    g = theory.gamma()
    mean = lam * _a / g
    variance = _S / (M * g**2)
    examination.identity(
        "coordinate i", lam * (variance + (mean - _a) ** 2), _S * lam / (M * g**2) + bias
    )
    return examination.evidence(
        "every d, N, M, Λ, and every law of (x, y) with second moments of yx"
    )


LINEAR = Claim(
    "zfb.4.3",
    "after Theorem 4.2: linear tasks",
    r"\mathbb E(\hat y_q-y_q)^2=\tfrac1M\operatorname{tr}[(\operatorname{tr}(\Lambda)\Lambda+\Lambda^2)"
    r"\Gamma^{-2}\Lambda]+\tfrac1{N^2}\operatorname{tr}[(\Lambda+\operatorname{tr}(\Lambda)I)^2"
    r"\Gamma^{-2}\Lambda],\quad w\sim N(0,I)",
    title="risk for linear tasks, averaged over w",
    hypotheses=(GAUSSIAN, POSITIVE),
    depends_on=("zfb.4.2",),
)

_VARIANCE = theory.variance_term(tau, Integer(1)) / M


@LINEAR.check(
    "two routes at M = N",
    PROVED,
    formula=_VARIANCE,
    controls={
        "without Λ²": (_VARIANCE - lam**3 / (M * theory.gamma() ** 2)),
        "2Λ²": (_VARIANCE + lam**3 / (M * theory.gamma() ** 2)),
        "1/(M+1)": _VARIANCE * M / (M + 1),
    },
)
def two_routes(variance: sympy.Expr, examination: Examination) -> Evidence:
    """At ``M = N`` the risk is twice the least loss, ``Σ_i λ_i - λ_i²/Γ_i``; else ``S`` by pairings."""
    here = variance.subs(M, N) + theory.bias_term(Integer(1)) / N**2
    examination.identity("M = N", here, lam - lam**2 / theory.gamma())
    # S_ii = Var(y x_i), averaged over w: Σ_k E[x_k² x_i²] - λ_i².
    itself = theory.gaussian_fourth(0, 0, 0, 0, {0: lam})
    other = theory.gaussian_fourth(0, 0, 1, 1, {0: lam, 1: lam_j})
    S = itself + theory.summed_over_others(other) - lam**2
    examination.identity("by pairings", S * lam / (M * theory.gamma() ** 2), variance)
    return examination.evidence("every d, N, M, Λ")


_LITERAL = ((("1", "2"), 5, 8), (("1/2", "1", "3"), 12, 4))


@LINEAR.check(
    "literal network",
    SIMULATED,
    formula=(1, 1),
    controls={
        "no variance term": (0, 1),
        "no bias term": (1, 0),
        "close: 1.25 times": (1.25, 1.25),
    },
    cases=_LITERAL,
    mutate=False,
)
def literal_network(
    weights: tuple[float, float],
    case: tuple[tuple[str, ...], int, int],
    examination: Examination,
    context: Context,
) -> Evidence:
    """The risk of (3.3) at the limit of training, prompt by prompt, within 5%."""
    from theoryverify.stats import VarianceMean, equivalence

    spectrum, n, m = case
    exact = trained_risk(spectrum, n, m)
    claimed = weights[0] * float(exact.variance) + weights[1] * float(exact.bias)
    values = np.array([float(Fraction(value)) for value in spectrum])
    gamma = (1 + 1 / n) * values + values.sum() / n
    draw = literal_errors(values, np.diag(1 / gamma), m)
    bound, margin = variance_bound(values, gamma, m), 0.05 * float(exact.total)
    budget = draws_for(margin, math.sqrt(bound))
    found = equivalence(
        draw,
        claimed,
        margin,
        sequence=VarianceMean(bound, error=SHARE, horizon=budget),
        budget=budget,
        rng=context.rng(),
        batch=20_000,
    )
    examination.decide("risk", found.verdict.decided, str(found))
    return examination.evidence(f"Λ = diag{spectrum}, N = {n}, M = {m}, 5% margin")


FLOOR = Claim(
    "zfb.4.2.floor",
    "Theorem 4.2, M → ∞",
    r"\lim_{M\to\infty}\mathbb E(\hat y_q-y_q)^2=\tfrac1{N^2}\operatorname{tr}"
    r"[(\Lambda+\operatorname{tr}(\Lambda)I)^2\Gamma^{-2}\Lambda]>0",
    title="long test prompts do not help beyond a floor of order 1/N²",
    hypotheses=(GAUSSIAN, POSITIVE),
    depends_on=("zfb.4.3",),
)


@FLOOR.check(
    "limit",
    PROVED,
    formula=theory.bias_term(Integer(1)) / N**2,
    controls={
        "no floor": Integer(0),
        "the variance at M = N": _VARIANCE.subs(M, N),
    },
)
def floor(claimed: sympy.Expr, examination: Examination) -> Evidence:
    inverse = Symbol("h", positive=True)  # 1/M
    risk = _VARIANCE.subs(M, 1 / inverse) + theory.bias_term(Integer(1)) / N**2
    examination.identity("at 1/M = 0", risk.subs(inverse, 0), claimed)
    numerator = sympy.numer(sympy.together(theory.bias_term(Integer(1))))
    examination.lemma(
        "each term is positive",
        _positive(numerator),
        by=nonnegative(numerator, sorted(numerator.free_symbols, key=str), strict=True),
    )
    return examination.evidence("every d, N, Λ")


def _positive(polynomial: sympy.Expr) -> bool | None:
    from theoryverify.exact.identities import decide_nonnegative

    symbols = sorted(polynomial.free_symbols, key=str)
    return decide_nonnegative(sympy.expand(polynomial), symbols, strict=True).holds


SHIFT = Claim(
    "zfb.4.shift",
    "section 4.2, covariate shift",
    r"\lim_{N,M\to\infty}\mathbb E(\hat y_q-y_q)^2=\operatorname{tr}"
    r"[(\Lambda'\Lambda^{-1}-I)\Lambda'(\Lambda'\Lambda^{-1}-I)]",
    title="tested at another covariance Λ', the error stays",
    hypotheses=(GAUSSIAN, POSITIVE),
    depends_on=("zfb.4.1",),
    note="For Λ' that commutes with Λ.",
)

_mu = Symbol("mu_i", positive=True)


@SHIFT.check(
    "limit",
    PROVED,
    formula=_mu * (_mu / lam - 1) ** 2,
    controls={
        "no error": Integer(0),
        "in the norm of Λ": lam * (_mu / lam - 1) ** 2,
        "(1-λ/μ)²": _mu * (1 - lam / _mu) ** 2,
    },
)
def covariate_shift(claimed: sympy.Expr, examination: Examination) -> Evidence:
    """``ŷ_q -> wᵀΛ'Γ⁻¹x_q`` and ``Γ -> Λ``; the query too has covariance Λ'."""
    inverse = Symbol("h", positive=True)  # 1/N
    g = theory.gamma().subs(N, 1 / inverse).subs(inverse, 0)
    examination.identity("coordinate i", _mu * (_mu / g - 1) ** 2, claimed)
    examination.identity("at Λ' = Λ there is none", claimed.subs(_mu, lam), Integer(0))
    examination.assume("law of large numbers for Σ̂ at M → ∞")
    return examination.evidence("every d and every commuting Λ, Λ'")


# -- section 4.3: random covariances ------------------------------------------------------------

_m2, _m3, _mg = sympy.symbols("m_2 m_3 m_g", positive=True)
"""``E λ²``, ``E λ³`` and ``E Γ(λ)λ²`` over the random covariance."""
_v = Symbol("v", real=True)
DIAGONAL = Hypothesis(
    "diagonal covariances", r"\Lambda_\tau\text{ diagonal, random, a.s. positive}"
)

RANDOM = Claim(
    "zfb.4.5",
    "Theorem 4.5",
    r"uV\to\left[\mathbb E\,\Gamma_\tau\Lambda_\tau^2\right]^{-1}\mathbb E\,\Lambda_\tau^2",
    title="training over random diagonal covariances",
    hypotheses=(GAUSSIAN, DIAGONAL),
    depends_on=("zfb.5.1",),
)


@RANDOM.check(
    "the averaged loss",
    PROVED,
    formula=_m2 / _mg,
    controls={
        "E[Γ⁻¹]": Symbol("E_inverse_Gamma", positive=True),
        "1/E[Γ]": 1 / Symbol("E_Gamma", positive=True),
        "E Λ³/E ΓΛ²": _m3 / _mg,
    },
)
def averaged_loss(best: sympy.Expr, examination: Examination) -> Evidence:
    """Averaged over Λ_τ, entry (i, i) is ``½E[Γλ²]v² - E[λ²]v`` with ``v = uV_ii``."""
    entry = theory.loss_entry().subs(theory.ON_DIAGONAL)
    quadratic = sympy.Poly(entry.subs(theory.u, 1), theory.V)
    g = theory.gamma()
    examination.lemma(
        "the entry is ½Γλ²v² - λ²v",
        bool(sympy.expand(quadratic.nth(2) - g * lam**2 / 2) == 0)
        and bool(sympy.expand(quadratic.nth(1) + lam**2) == 0),
        by=[same(quadratic.nth(2), g * lam**2 / 2), same(quadratic.nth(1), -(lam**2))],
    )
    beside = sympy.Poly(theory.loss_entry().subs(theory.OFF_DIAGONAL), theory.V)
    examination.lemma(
        "off the diagonal the minimum is 0",
        bool(beside.nth(1) == 0) and bool(beside.nth(2).is_nonnegative),
        by=same(beside.nth(1), 0),
    )
    averaged = _mg * _v**2 / 2 - _m2 * _v
    examination.identity("stationary", sympy.diff(averaged, _v).subs(_v, best), Integer(0))
    examination.assume("u² = ‖V‖² and u bounded below carry the flow there, as in Theorem 4.1")
    return examination.evidence("every d, N and law of Λ_τ with third moments")


FAILS = Claim(
    "zfb.4.6",
    "section 4.3: the failure under random covariance",
    r"\lim_{N,M\to\infty}\mathbb E(\hat y_q-y_q)^2=d\left(\mathbb E\lambda-"
    r"\frac{(\mathbb E\lambda^2)^2}{\mathbb E\lambda^3}\right)>0"
    r"\text{ unless }\lambda\text{ is constant}",
    title="with random covariances the error never vanishes",
    hypotheses=(GAUSSIAN, DIAGONAL),
    depends_on=("zfb.4.5",),
    note="For independent, identically distributed eigenvalues λ.",
)

_m1 = Symbol("m_1", positive=True)


@FAILS.check(
    "limit",
    PROVED,
    formula=_m1 - _m2**2 / _m3,
    controls={
        "no error": Integer(0),
        "E λ - (E λ)³/E λ²": _m1 - _m1**3 / _m2,
        "half of it": (_m1 - _m2**2 / _m3) / 2,
    },
)
def failure(claimed: sympy.Expr, examination: Examination) -> Evidence:
    """``ŷ_q -> v wᵀΛ_new x_q`` with ``v = Eλ²/Eλ³``; per coordinate ``E λ(1-vλ)²``."""
    best = (_m2 / _mg).subs(_mg, _m3)  # Γ -> Λ as N -> ∞
    error = _m1 - 2 * best * _m2 + best**2 * _m3
    examination.identity("E λ(1-vλ)²", error, claimed)
    # Positive: E λ · E λ³ - (E λ²)² = ½E[λλ'(λ-λ')²] for an independent copy λ'.
    x, y = sympy.symbols("x y", positive=True)
    gap = (x * y**3 + x**3 * y) / 2 - x**2 * y**2
    examination.identity("Eλ·Eλ³ - (Eλ²)² = ½E λλ'(λ-λ')²", gap, x * y * (x - y) ** 2 / 2)
    examination.assume("law of large numbers for Σ̂ at M → ∞; dominated convergence in N")
    return examination.evidence("every d and law of λ > 0 with three moments")


@FAILS.check(
    "exponential eigenvalues",
    PROVED,
    formula=Rational(1, 3),
    controls={"1/2": Rational(1, 2), "0": Integer(0)},
    mutate=False,
)
def exponential(claimed: sympy.Expr, examination: Examination) -> Evidence:
    """λ ~ Exp(1): E λ^k = k!, so v = 2/6 and a third of the signal stays."""
    at = {_m1: sympy.factorial(1), _m2: sympy.factorial(2), _m3: sympy.factorial(3)}
    examination.identity("per coordinate", (_m1 - _m2**2 / _m3).subs(at), claimed)
    return examination.evidence("λ ~ Exp(1)")


NONLINEAR = Claim(
    "zfb.4.large",
    "section 4.3, experiments with large nonlinear transformers",
    r"\text{GPT-2 models trained over random covariances do better, and fail for long prompts}",
    title="large transformers under random covariance",
    not_checked="an experiment with trained GPT-2 models; not part of the theory",
)

claims = (RISK, LINEAR, FLOOR, SHIFT, RANDOM, FAILS, NONLINEAR)
