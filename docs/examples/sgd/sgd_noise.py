"""SGD on a quadratic: how far from the minimum its noise keeps it.

``x_{t+1} = x_t - η(x_t + ξ_t)`` with independent noise of mean 0 and variance σ². The stationary
variance is ``ησ²/(2-η)``, not the ``ησ²/2`` of the continuous-time picture.
"""

from fractions import Fraction

import numpy as np
import sympy

from theoryverify.budget import SHARE, draws_for
from theoryverify.claims import (
    CERTIFIED,
    PROVED,
    REFUTED,
    SIMULATED,
    Claim,
    Context,
    Evidence,
    Examination,
    Hypothesis,
    Paper,
)
from theoryverify.stats import BoundedMean, equivalence

eta, sigma = sympy.symbols("eta sigma", positive=True)
v_0, v_t = sympy.symbols("v_0 v_t", nonnegative=True)
t = sympy.Symbol("t", integer=True, positive=True)


def step(variance: sympy.Expr) -> sympy.Expr:
    """The variance after one step: ``(1-η)² v + η²σ²``."""
    return (1 - eta) ** 2 * variance + eta**2 * sigma**2


STATIONARY = eta * sigma**2 / (2 - eta)
VARIANCE = STATIONARY + (1 - eta) ** (2 * t) * (v_0 - STATIONARY)
"""Of ``x_t``, started with variance ``v_0``."""

STABLE = Hypothesis(
    "stability",
    r"0 < \eta < 2",
    lambda case: None if 0 < case < 2 else f"η = {case} is not between 0 and 2",
)

FIXED = Claim(
    "sgd.1",
    "Proposition 1",
    r"v=(1-\eta)^2v+\eta^2\sigma^2\iff v=\frac{\eta\sigma^2}{2-\eta}",
    title="the stationary variance",
    hypotheses=(STABLE,),
)


@FIXED.check(
    "fixed point",
    PROVED,
    formula=STATIONARY,
    controls={"ησ²/2": eta * sigma**2 / 2, "σ²/(2-η)": sigma**2 / (2 - eta)},
)
def fixed_point(variance: sympy.Expr, examination: Examination) -> Evidence:
    examination.identity("v = (1-η)²v + η²σ²", variance, step(variance))
    return examination.evidence("every η, σ")


TRANSIENT = Claim(
    "sgd.2",
    "Proposition 2",
    r"v_t=v+(1-\eta)^{2t}(v_0-v)",
    title="the variance at step t",
    hypotheses=(STABLE,),
    depends_on=("sgd.1",),
)


@TRANSIENT.check(
    "induction",
    PROVED,
    formula=VARIANCE,
    controls={
        "(1-η)^t": VARIANCE.subs(t, t / 2),
        "one step late": VARIANCE.subs(t, t + 1),
    },
)
def induction(variance: sympy.Expr, examination: Examination) -> Evidence:
    examination.identity("t = 0", variance.subs(t, 0), v_0)
    examination.identity("t → t+1", variance.subs(t, t + 1), step(variance))
    return examination.evidence("every t, η, σ, v_0")


CONTINUOUS = Claim(
    "sgd.3",
    "a remark one often reads",
    r"\left|\frac{\eta\sigma^2}{2}\Big/\frac{\eta\sigma^2}{2-\eta}-1\right|\le 0.05",
    title="ησ²/2 is right to 5%",
    hypotheses=(STABLE,),
    expected=REFUTED,
    note="True up to η = 1/10 and false beyond; the claim looks at η = 1/4 too.",
)


@CONTINUOUS.check(
    "ratio",
    CERTIFIED,
    formula=Fraction(1, 2),
    controls={"ησ²/4": Fraction(1, 4), "ησ²": Fraction(1)},
    cases=(Fraction(1, 100), Fraction(1, 10), Fraction(1, 4)),
    mutate=False,
)
def ratio(factor: Fraction, case: Fraction, examination: Examination) -> Evidence:
    """Exact fractions; σ² cancels."""
    off = abs(factor * (2 - case) - 1)
    examination.decide("|ratio - 1| <= 1/20", off <= Fraction(1, 20), f"{off} at η = {case}")
    return examination.evidence("σ any")


SIMULATION = Claim(
    "sgd.4",
    "section 2",
    r"\mathbb E x_t^2=v_t\text{ for noise }\pm\sigma",
    title="the variance, by running SGD",
    depends_on=("sgd.2",),
)


@SIMULATION.check(
    "runs",
    SIMULATED,
    formula=VARIANCE,
    controls={"ησ²/2": eta * sigma**2 / 2, "the start": v_0, "t = 1": VARIANCE.subs(t, 1)},
    mutate=False,
)
def runs(variance: sympy.Expr, examination: Examination, context: Context) -> Evidence:
    """Noise ±1 keeps ``|x_t| <= 1``, so the squares are bounded and no tail is assumed."""
    at = {eta: sympy.Rational(1, 2), sigma: 1, t: 6, v_0: 0}

    def squares(size: int, rng: np.random.Generator) -> np.ndarray:
        x = np.zeros(size)
        for _ in range(at[t]):
            x -= float(at[eta]) * (x + rng.choice((-1.0, 1.0), size))
        return x**2

    margin = 0.01
    found = equivalence(
        squares,
        float(variance.subs(at)),
        margin,
        sequence=BoundedMean(0, 1, error=SHARE),
        budget=draws_for(margin, 0.5),
        rng=context.rng(),
    )
    examination.decide("E x_t²", found.verdict.decided, str(found))
    return examination.evidence("η = 1/2, σ = 1, t = 6, within 0.01")


paper = Paper(
    "sgd",
    title="SGD on a quadratic",
    source="an example of theoryverify's documentation",
    claims=[FIXED, TRANSIENT, CONTINUOUS, SIMULATION],
)
