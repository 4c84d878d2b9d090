"""What the figures show, as claims: the two risks, the rate with depth, whitening.

Simulated checks follow :mod:`theoryverify.papers.lca.claims.simulated`: confidence sequences of error
1e-9 each, a formula and its controls judged on the same draws, variances from exact moments.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import sympy
from flint import fmpq, fmpq_poly

from theoryverify.budget import SHARE, draws_for
from theoryverify.claims import CERTIFIED, PROVED, SIMULATED, Claim, Context, Evidence, Examination
from theoryverify.claims.statements import Evaluated, less, mean, same
from theoryverify.exact.balls import Enclosure, ball, precision
from theoryverify.exact.densities import Uniform
from theoryverify.exact.evaluate import BALL, compiled
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Law
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.claims import untied_context
from theoryverify.papers.lca.claims.setting import IN_UNITS
from theoryverify.papers.lca.claims.simulated import Replay, generator, note, require_torch
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, UNIFORM
from theoryverify.papers.lca.loss import excess_loss
from theoryverify.papers.lca.one_layer import best_one_layer
from theoryverify.papers.lca.theory import T, a, alpha, b
from theoryverify.papers.lca.wishart import (
    Moments,
    expected_quotient,
    mean_excess,
    second_moment_of_excess,
)
from theoryverify.stats import VarianceMean, equivalence

_STEP = Fraction(2, 7)

# -- Figure 2: one layer's floor, and depth below it ----------------------------------------------

BELOW = Claim(
    "lca.fig2.separation",
    "Figure 2, for Z ~ U[2,5] (our sizes)",
    r"\mathbb E[\text{excess of } \mathrm{LCA}_5] < 10^{-3}\,\mathbb E[\zeta^2]\ \text{ at } "
    r"d=10,\ L=8192,\ \alpha=-\beta=2/7;\quad \text{one layer: } \ge 0.0366\,\mathbb E[\zeta^2]",
    title="at L = 8192 five layers are below 10⁻³, one layer never below 0.0366",
    hypotheses=IN_UNITS,
    depends_on=("lca.4.1.excess", "lca.H.T3"),
    note="The floor is that of L = ∞; for LSA it holds at every L, as in lca.4.1.trained.",
)


@dataclass(frozen=True)
class Level:
    """A depth, and the level below which its excess risk is said to be."""

    depth: int = 5
    level: Fraction = Fraction(1, 1000)


@BELOW.check(
    "exact moments",
    CERTIFIED,
    formula=Level(),
    controls={
        "one layer": Level(depth=1),
        "two layers": Level(depth=2),
        "a quarter of it": Level(level=Fraction(1, 4000)),
    },
    mutate=False,
)
def below(stated: Level, examination: Examination) -> Evidence:
    found = mean_excess(UNIFORM, dim=10, context=8192, depth=stated.depth, alpha=_STEP)
    examination.decide(
        f"LCA_{stated.depth} below {float(stated.level):g}",
        found.less_than(stated.level),
        f"{found}",
    )
    floor = best_one_layer(UNIFORM, 20).excess
    examination.lemma("one layer above 0.0366", floor.greater_than("0.0366"), f"{floor}")
    return examination.evidence("d = 10, L = 8192, Z ~ U[2,5]")


_SMALL: dict[str, Any] = {"dim": 2, "context": 2048, "alpha": _STEP}


@lru_cache(maxsize=4)
def _deep_draws(depth: int, device: str) -> Replay:
    from theoryverify.models.lca import LCA
    from theoryverify.simulate.monte_carlo import ExcessDraws, torch_slope

    model = LCA.one_parameter(_SMALL["dim"], depth, float(_STEP))
    slope = torch_slope(model, device=device, context=_SMALL["context"])
    return Replay(ExcessDraws(slope, UNIFORM, _SMALL["dim"], _SMALL["context"]))


@lru_cache(maxsize=4)
def _variance(depth: int) -> float:
    """Of an excess risk; its second moment bounds it."""
    return float(second_moment_of_excess(UNIFORM, depth=depth, **_SMALL).upper)


@BELOW.check(
    "literal model",
    SIMULATED,
    formula=Level(depth=4),
    controls={
        "two layers": Level(depth=2),
        "a tenth of it": Level(depth=4, level=Fraction(1, 10_000)),
    },
    mutate=False,
    preset="full",
)
def literally_below(stated: Level, examination: Examination, context: Context) -> Evidence:
    require_torch()
    variance = _variance(stated.depth)
    found = equivalence(
        _deep_draws(stated.depth, context.device).reader(),
        0.0,
        (np.inf, float(stated.level)),
        sequence=VarianceMean(variance, error=SHARE, horizon=400),
        budget=1000,
        rng=generator(context, f"lca.fig2.separation {stated.depth}"),
        batch=100,
    )
    note(examination, f"excess risk of the literal LCA_{stated.depth}", found)
    examination.assume("the variance of a draw is at most its exact second moment")
    return examination.evidence(
        f"T = 4, d = {_SMALL['dim']}, L = {_SMALL['context']}, one-sided, error {SHARE:.0e}"
    )


# -- Figure 2: the rate with depth ------------------------------------------------------------------

RATE = Claim(
    "lca.fig2.rate",
    "Figure 2 and the remark after Theorem 6.3, for Z ~ U[a,b] (ours)",
    r"Z\sim U[a,b],\ a\ge1,\ \alpha^*=\tfrac2{a+b},\ r=\tfrac{b-a}{a+b}:\quad "
    r"\kappa\,r^2\frac{2T+1}{2T+3}\le\frac{R_{T+1}(\alpha^*)}{R_T(\alpha^*)}\le "
    r"r^2\frac{2T+1}{2T+3},\quad \kappa=\frac{1-c/(ab)}{1-1/c},\ c=\frac{a+b}2",
    title="uniform law, α = α*: a layer multiplies the excess by [κ, 1] r²(2T+1)/(2T+3)",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.loss",),
    note="κ = 0.91 for U[2,5]. So the rate is r² = ((b-a)/(b+a))² from the first layers on.",
)

_c = (a + b) / 2
_KAPPA = (1 - _c / (a * b)) / (1 - 1 / _c)
_HIGH = theory.contraction() ** 2 * (2 * T + 1) / (2 * T + 3)
_INTERVAL = (_KAPPA * _HIGH, _HIGH)


@RATE.check(
    "folding at the centre",
    PROVED,
    formula=_INTERVAL,
    controls={
        "(1-α*)² for r²": tuple(
            (1 - theory.alpha_limit()) ** 2 * bound / theory.contraction() ** 2
            for bound in _INTERVAL
        ),
        "T for 2T": tuple(bound.subs(T, T / 2) for bound in _INTERVAL),
        "1/κ": (_HIGH / _KAPPA, _HIGH),
    },
    mutate=False,
)
def folding(interval: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    """With ``s = z - c``: 1-α*z = -s/c, and the folded weight w(s) = W(c+s) + W(c-s) falls in s."""
    s, high = sympy.symbols("s h", positive=True)
    weight = theory.signal_share()
    z = next(iter(weight.free_symbols))
    folded = weight.subs(z, _c + s) + weight.subs(z, _c - s)
    examination.lemma(
        "1-α*z = -s/c",
        sympy.cancel(1 - theory.alpha_limit() * (_c + s) + s / _c) == 0,
        by=same(1 - theory.alpha_limit() * (_c + s), -s / _c),
    )
    # dw/ds = -4cs/(c²-s²)²: negative on (0, (b-a)/2), where c-s >= a >= 1.
    examination.lemma(
        "dw/ds = -4cs/(c²-s²)²",
        sympy.cancel(sympy.diff(folded, s) + 4 * _c * s / (_c**2 - s**2) ** 2) == 0,
        by=same(sympy.diff(folded, s), -4 * _c * s / (_c**2 - s**2) ** 2),
    )
    # With w constant: ∫₀^h (s/c)^{2T} ds = h (h/c)^{2T}/(2T+1), h = (b-a)/2, h/c = r.
    power = theory.contraction() ** (2 * T) * high / (2 * T + 1)
    examination.identity("w constant: the upper bound", power.subs(T, T + 1) / power, interval[1])
    ends = folded.subs(s, (b - a) / 2) / folded.subs(s, 0)
    examination.identity("w from its least to its greatest: the factor κ",
                         ends * interval[1], interval[0])  # fmt: skip
    examination.assume(
        "Chebyshev's integral inequality: ∫wfg <= ∫wf ∫g/∫1 for w falling and g rising, weighted "
        "by f"
    )
    return examination.evidence("every a >= 1, b > a, T; uniform law")


@RATE.check(
    "enclosures",
    CERTIFIED,
    formula=_INTERVAL,
    controls={
        "rate r": tuple(bound / theory.contraction() for bound in _INTERVAL),
        "(1-α*)² for r²": tuple(
            (1 - theory.alpha_limit()) ** 2 * bound / theory.contraction() ** 2
            for bound in _INTERVAL
        ),
        "2% lower": tuple(sympy.Rational(98, 100) * bound for bound in _INTERVAL),
    },
    cases=(UNIFORM, Uniform("1.5", 3), Uniform(1, 4)),
    mutate=False,
)
def ratios(
    interval: tuple[sympy.Expr, sympy.Expr], case: Law, examination: Examination
) -> Evidence:
    depths = (1, 2, 3, 5, 10, 50)
    step = 2 / (case.lower + case.upper)
    for depth in depths:
        now, then = (excess_loss(case, step, depth=t, digits=25).excess for t in (depth, depth + 1))
        with precision(200):
            ratio = Enclosure.of(then.ball() / now.ball())
            ends = {"a": ball(case.lower), "b": ball(case.upper)}
            low, high = (
                Enclosure.of(compiled(bound.subs(T, depth), BALL)(ends, False))
                for bound in interval
            )
        numbers = [
            mean(case, (Z - 1) / Z * (1 - sympy.Rational(*step.as_integer_ratio()) * Z) ** (2 * t))
            for t in (depth, depth + 1)
        ]
        quotient, place = numbers[1] / numbers[0], {a: case.lower, b: case.upper}
        examination.less(
            f"T = {depth}: above",
            low,
            ratio,
            by=less(Evaluated(interval[0].subs(T, depth), place), quotient),
        )
        examination.less(
            f"T = {depth}: below",
            ratio,
            high,
            by=less(quotient, Evaluated(interval[1].subs(T, depth), place)),
        )
    return examination.evidence(f"T in {depths}")


# -- Figure 3, right: whitening ---------------------------------------------------------------------

WHITENING = Claim(
    "lca.fig3.whitening",
    "(6.1) and Figure 3, for the literal model",
    r"\mathbb E\|XF_t^\top/L-I\|_F^2/d\approx\big[(d-1)(1-\alpha)^{2t}+\mathbb E(1-\alpha Z)^{2t}"
    r"\big]/d\ \text{ at } \alpha=-\beta=\alpha^*",
    title="four layers of the literal tied stack whiten at the derived rate",
    depends_on=("lca.6.1",),
    note="For the weights (α*, -α*). What training does to it: lca.fig3.optimum.",
)

_WHITE_D, _WHITE_L, _WHITE_T = 4, 2048, 4
_d = sympy.Symbol("d", integer=True, positive=True)
_z = next(iter(theory.signal_share().free_symbols))
_ERROR = ((_d - 1) * (1 - alpha) ** (2 * T) + (1 - alpha * _z) ** (2 * T)) / _d
_WRONG: dict[str, sympy.Expr] = {
    "rate r on every axis": (1 - alpha * _z) ** (2 * T),
    "d for d-1": _ERROR + (1 - alpha) ** (2 * T) / _d,
    "one layer less": _ERROR.subs(T, T - 1),
}


def _white_value(error: sympy.Expr) -> float:
    at = {T: _WHITE_T, alpha: sympy.Rational(_STEP.numerator, _STEP.denominator), _d: _WHITE_D}
    polynomial = sympy.Poly(error.subs(at), _z).all_coeffs()
    coefficients = fmpq_poly([fmpq(int(c.p), int(c.q)) for c in reversed(polynomial)])
    return float(expected_quotient(UNIFORM, coefficients, 0, 20))


@lru_cache(maxsize=1)
def _white_moments() -> tuple[float, float]:
    """Mean and second moment of ``tr e(Σ̂)²/d``, ``e = (1-αs)^T``, at this d and L: exact."""
    error = fmpq_poly([1, fmpq(-_STEP.numerator, _STEP.denominator)]) ** (2 * _WHITE_T)
    moments, coefficients = Moments(_WHITE_D, _WHITE_L), error.coeffs()
    first = sum((c * moments.mean((), (i,)) for i, c in enumerate(coefficients)), fmpq_poly([0]))
    second = sum(
        (
            c * e * moments.mean((), (i, j))
            for i, c in enumerate(coefficients)
            for j, e in enumerate(coefficients)
        ),
        fmpq_poly([0]),
    )
    mean, square = (expected_quotient(UNIFORM, poly, 0, 20) for poly in (first, second))
    return float(mean) / _WHITE_D, float(square.upper) * (1 + 1e-12) / _WHITE_D**2


@lru_cache(maxsize=2)
def _white_draws(device: str) -> Replay:
    torch = require_torch()
    from theoryverify.models.lca import LCA
    from theoryverify.simulate.prompts import sample_prompts

    stack = LCA.one_parameter(_WHITE_D, _WHITE_T, float(_STEP)).to(device)
    eye = torch.eye(_WHITE_D, dtype=torch.float64, device=device)

    def draw(n: int, rng: np.random.Generator) -> np.ndarray:
        drawn = sample_prompts(UNIFORM, _WHITE_D, _WHITE_L, n, rng=rng)
        X = torch.as_tensor(drawn.X, device=device)
        with torch.no_grad():
            gap = X @ stack.states(X)[-1].mT / _WHITE_L - eye
        return np.asarray((gap**2).sum((1, 2)).cpu().numpy() / _WHITE_D)

    return Replay(draw)


@dataclass(frozen=True)
class White:
    """A formula for the error given Z, and how many margins its mean is moved."""

    error: sympy.Expr
    margins: int = 0


def white_margin() -> float:
    """A quarter of the distance to the nearest wrong formula."""
    right = _white_value(_ERROR)
    return min(abs(_white_value(wrong) - right) for wrong in _WRONG.values()) / 4


@WHITENING.check(
    "literal model",
    SIMULATED,
    formula=White(_ERROR),
    controls={
        **{name: White(wrong) for name, wrong in _WRONG.items()},
        "three margins above": White(_ERROR, 3),
        "three margins below": White(_ERROR, -3),
    },
    mutate=False,
)
def whitened(stated: White, examination: Examination, context: Context) -> Evidence:
    require_torch()
    margin = white_margin()
    finite, square = _white_moments()
    bias = abs(finite - _white_value(_ERROR))
    examination.lemma(
        "the bias of the finite context is within the margin", bias < margin / 2,
        f"{bias:.3g} < {margin:.3g}/2",
    )  # fmt: skip
    variance = square - finite**2 + 1e-12 * square
    horizon = draws_for((margin - bias) / 2, variance**0.5)
    found = equivalence(
        _white_draws(context.device).reader(),
        _white_value(stated.error) + stated.margins * margin,
        margin,
        sequence=VarianceMean(variance, error=SHARE, horizon=horizon),
        budget=2 * horizon,
        rng=generator(context, "lca.fig3.whitening"),
        batch=50,
    )
    note(examination, "mean of ‖XFᵀ/L - I‖²/d", found, f"; exactly {finite:.6g} at this L")
    examination.assume("the variance of a draw is that of the exact Wishart moments")
    return examination.evidence(
        f"T = {_WHITE_T}, d = {_WHITE_D}, L = {_WHITE_L}, Z ~ U[2,5]; error {SHARE:.0e}"
    )


claims: list[Claim] = [BELOW, RATE, WHITENING, *untied_context.claims]
