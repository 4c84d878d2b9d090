"""Uniqueness, second half: F_T' in terms of pairs, and the theorem for every depth and law."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import sympy
from flint import fmpq_poly

from theoryverify.claims import CERTIFIED, PROVED, Claim, Evidence, Examination
from theoryverify.claims.statements import Value, at_most, less, roots
from theoryverify.exact.densities import Ball, ScaledBeta, Uniform
from theoryverify.exact.identities import decide_identity
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Discrete, Law
from theoryverify.exact.rationals import rational
from theoryverify.exact.roots import evaluate
from theoryverify.papers.lca import theory, uniqueness_signs
from theoryverify.papers.lca.claims import positivity
from theoryverify.papers.lca.claims.positivity import PLACE
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, ATOMS, POINT_MASS, TWO_POINT, UNIFORM
from theoryverify.papers.lca.pair_integral import (
    defines_integral,
    in_open,
    open_count,
    pair_integral,
    root_bound,
)
from theoryverify.papers.lca.placed import MOMENTS
from theoryverify.papers.lca.theory import T, a, b, beta
from theoryverify.papers.lca.uniqueness import B, D, G, P, S, h, paired_mean, t, x, y, z, z_prime

CALCULUS = (
    "one-variable calculus, which puts the steps together (docs/uniqueness.md): a function whose "
    "derivative is negative falls, and a continuous function that changes sign vanishes"
)

# -- F_T' in terms of pairs ---------------------------------------------------------------------

DERIVATIVE = Claim(
    "lca.uniqueness.derivative",
    f"{PLACE}, facts (F)",
    r"t=-\beta,\ w=1-(1-tz)^T,\ v=tz(1-tz)^{T-1}:\quad F_T'(\beta)=\mathbb E[W]\,T\,t^3\,"
    r"\frac{\mathbb E_\mu[w]\,I(t)}{\mathbb E_\mu[w^2]^2},\quad "
    r"I=\mathbb E\mathbb E'(z-z')^2zz'P(1-tz,1-tz')=\tfrac{2}{t^4}"
    r"(\mathbb E[v]\mathbb E[w^2]-\mathbb E[wv]\mathbb E[w]),\quad P(1,1)=\tfrac12T^2(T-1)",
    title="F_T' is positive · t³ E[w] I(t), with I a mean over pairs",
    depends_on=("lca.uniqueness.sums",),
    note="F_T(β) = min_α ℓ(α,β) for ℓ(α,β) = E[W(1-αS_T)²], here a definition; that it is the "
    "training loss is the claim lca.loss.",
)

_EW, _w1, _w2, _v1, _wv, _I = sympy.symbols("EW w1 w2 v1 wv I")
_v, _w, _v2, _w2nd = sympy.symbols("v w v' w'")
_MOMENTS = {(1, 0): _v1, (0, 1): _w1, (0, 2): _w2, (1, 1): _wv}
_SLOPE = (
    _EW * T * t**3 * _w1 * _I / _w2**2,
    2 * (_v1 * _w2 - _wv * _w1) / t**4,
    T**2 * (T - 1) / 2,
)


@DERIVATIVE.check(
    "differentiation and pairing",
    PROVED,
    formula=_SLOPE,
    controls={
        "t² for t³": (_SLOPE[0] / t, *_SLOPE[1:]),
        "E[w] to the power 1 below": (_SLOPE[0] * _w2, *_SLOPE[1:]),
        "I without the factor 2": (_SLOPE[0], _SLOPE[1] / 2, _SLOPE[2]),
        "I with its sign changed": (_SLOPE[0], -_SLOPE[1], _SLOPE[2]),
        "P(1,1) = T(T-1)/2": (*_SLOPE[:2], T * (T - 1) / 2),
    },
)
def differentiation(formula: tuple[sympy.Expr, ...], examination: Examination) -> Evidence:
    slope, pairs, at_one = formula
    w, v = 1 - (1 - t * z) ** T, t * z * (1 - t * z) ** (T - 1)
    examination.lemma("t dw/dt = T v", decide_identity(t * sympy.diff(w, t), T * v))
    examination.lemma(
        "S_T = w/t, so A = E[W]E[w²]/t², B = E[W]E[w]/t",
        decide_identity(theory.S().subs({beta: -t, Z: z}), w / t),
    )
    A, first = _EW * _w2 / t**2, _EW * _w1 / t
    F = sympy.cancel(_EW - first**2 / A)
    along = sympy.diff(F, _w1) * T * _v1 / t + sympy.diff(F, _w2) * 2 * T * _wv / t
    examination.identity("F_T' = -dF/dt", -along, slope.subs(_I, pairs))
    # (x-y)²(1-x)(1-y)P = (u-u')(vw'-v'w) with u = x^T = 1-w, v = x^{T-1}(1-x).
    in_x = {_v: x ** (T - 1) * (1 - x), _w: 1 - x**T, _v2: y ** (T - 1) * (1 - y), _w2nd: 1 - y**T}
    crossed = (_w2nd - _w) * (_v * _w2nd - _v2 * _w)
    examination.lemma(
        "(x-y)²(1-x)(1-y)P = (u-u')(vw'-v'w)",
        decide_identity((x - y) ** 2 * (1 - x) * (1 - y) * P(), crossed.subs(in_x)),
    )
    at = {x: 1 - t * z, y: 1 - t * z_prime}
    examination.lemma(
        "(x-y)²(1-x)(1-y) = t⁴ (z-z')² zz'",
        decide_identity(
            ((x - y) ** 2 * (1 - x) * (1 - y)).subs(at), t**4 * (z - z_prime) ** 2 * z * z_prime
        ),
    )
    mean = paired_mean(crossed, (_v, _w), (_v2, _w2nd), _MOMENTS)
    examination.identity("t⁴ I = E E'(u-u')(vw'-v'w)", mean, t**4 * pairs)
    # h_n(1,1) = n+1 and B_{T+1}(1,1) = T + B_T(1,1), from the recursions of the sums.
    quotient = at_one / T
    examination.identity("P(1,1)/h_{T-1}(1,1): start", quotient.subs(T, 1), sympy.Integer(0))
    examination.identity("P(1,1)/h_{T-1}(1,1): step", quotient.subs(T, T + 1), quotient + T)
    return examination.evidence("every T, every law that is no point mass, t ≠ 0")


DECAY = Claim(
    "lca.uniqueness.decay",
    f"{PLACE}, facts (F)",
    r"\tfrac{d}{dt}\big(t^{-c}P(1-tz,1-tz')\big)=-t^{-c-1}\,(D+cP)(1-tz,1-tz')",
    title="t^{-c}P falls along t wherever D + cP > 0",
    depends_on=("lca.uniqueness.sums",),
    note="With c = 2T-4 and the lemma, every pair's term t^{-(2T-4)}P falls strictly on the "
    "window (corollary 5), and so does t^{-(2T-4)} I.",
)

_c = sympy.Symbol("c", real=True)
_DECAY = -(t ** (-_c - 1)) * (D() + _c * P())


@DECAY.check(
    "chain rule",
    PROVED,
    formula=_DECAY,
    controls={
        "+ for -": -_DECAY,
        "c for -c": -(t ** (-_c - 1)) * (D() - _c * P()),
        "x for 1-x in D": -(t ** (-_c - 1))
        * (x * sympy.diff(P(), x) + y * sympy.diff(P(), y) + _c * P()),
    },
    mutate=False,  # as for the sums: telling mutants apart would take most of the time
)
def chain_rule(formula: sympy.Expr, examination: Examination) -> Evidence:
    at = {x: 1 - t * z, y: 1 - t * z_prime}
    kernel = t**-_c * P().subs(at)
    examination.identity("d/dt", sympy.diff(kernel, t), formula.subs(at))
    return examination.evidence("every T, c, t > 0")


# -- Theorem 1 ----------------------------------------------------------------------------------

THEOREM = Claim(
    "lca.uniqueness",
    f"{PLACE}, Theorem 1",
    r"T\ge2:\ F_T\text{ has at most one stationary point in }(-2/\overline Z,0);\ "
    r"\text{it lies in }(-1/\underline Z,-1/\overline Z),\ F_T''>0\text{ there};\ "
    r"\text{it exists iff }F_T'(-2/\overline Z)<0,\text{ always if }\overline Z\le2\underline Z",
    title="for every T >= 2, F_T has at most one stationary point in the window",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=(
        "lca.uniqueness.derivative",
        "lca.uniqueness.decay",
        "lca.uniqueness.identity",
        "lca.uniqueness.lemma",
    ),
    note="F_T' is positive · t³E[w]I. On the window E[w] > 0; t^{-(2T-4)}I falls strictly there by "
    "the decay, the identity and the lemma, and starts positive (P(1,1) > 0), so I changes sign at "
    "most once, and I' < 0 at a zero. At t <= 1/Z̄ every pair is positive, at t >= 1/Z̲ every pair "
    "negative. Full text: docs/uniqueness.md.",
)


@dataclass(frozen=True)
class Statement:
    """Theorem 1 in ``t = -β``: at most one root of I in ``(0, window)``, between lower and upper."""

    window: sympy.Expr = 2 / b
    lower: sympy.Expr = 1 / b
    upper: sympy.Expr = 1 / a
    least_depth: int = 2
    law: Law | None = None

    def at(self, law: Law) -> tuple[Fraction, Fraction, Fraction]:
        ends = {
            a: sympy.Rational(law.lower.numerator, law.lower.denominator),
            b: sympy.Rational(law.upper.numerator, law.upper.denominator),
        }
        low, high, last = (rational(e.subs(ends)) for e in (self.lower, self.upper, self.window))
        return low, high, last


_STATEMENT = Statement()


@THEOREM.check(
    "signs of pairs",
    PROVED,
    formula=_STATEMENT,
    controls={
        "window to 3/Z̄": replace(_STATEMENT, window=3 / b),
        "window to 1/Z̄": replace(_STATEMENT, window=1 / b),
        "above 2/(Z̲+Z̄)": replace(_STATEMENT, lower=2 / (a + b)),
        "below 2/(Z̲+Z̄)": replace(_STATEMENT, upper=2 / (a + b)),
    },
)
def signs_of_pairs(statement: Statement, examination: Examination) -> Evidence:
    one = sympy.Integer(1)
    # z -> 1-tz falls, so the ends of t are where an end of the support meets -1 or 0.
    examination.identity("t = 2/Z̄: the least x is -1", 1 - statement.window * b, -one)
    examination.identity("t = 1/Z̄: the least x is 0", 1 - statement.lower * b, 0 * one)
    examination.identity("t = 1/Z̲: the largest x is 0", 1 - statement.upper * a, 0 * one)
    examination.identity(
        "Z̄ <= 2Z̲: 1/Z̲ <= 2/Z̄", statement.window - statement.upper, (2 * a - b) / (a * b)
    )
    examination.lemma(
        "(x-y)²P = S(x)S(y)(x^T-y^T)(G(x)-G(y))",
        decide_identity((x - y) ** 2 * P(), S(x) * S(y) * (x**T - y**T) * (G(x) - G(y))),
    )
    for theorem in uniqueness_signs.theorems():
        positivity.show(examination, theorem)
    examination.lemma("P = h_{T-1}B", decide_identity(P(), h(T - 1) * B()))
    examination.assume(CALCULUS)
    return examination.evidence("every T >= 2, every law that meets Assumption 6.1")


SKEWED = Discrete({2: "1/2", 3: "499999/1000000", 20: "1/1000000"})
EXACT_LAWS: tuple[Law, ...] = (
    UNIFORM,
    Uniform("1.5", 3),
    ATOMS,
    TWO_POINT,
    ScaledBeta(2, 5, "1/2", "5/2"),
    Ball(4, 5),
    SKEWED,
)


@THEOREM.check(
    "Sturm's theorem",
    CERTIFIED,
    formula=_STATEMENT,
    controls={
        "T = 1": replace(_STATEMENT, least_depth=1),
        "a point mass": replace(_STATEMENT, law=POINT_MASS),
        "no window (odd T has two)": replace(_STATEMENT, window=sympy.Integer(1000)),
        "window to 1/Z̄": replace(_STATEMENT, window=1 / b),
        "above 2/(Z̲+Z̄)": replace(_STATEMENT, lower=2 / (a + b)),
        "below 2/(Z̲+Z̄)": replace(_STATEMENT, upper=2 / (a + b)),
    },
    cases=EXACT_LAWS,
    at=MOMENTS,
)
def sturm(statement: Statement, case: Law, examination: Examination) -> Evidence:
    law, last = statement.law or case, 9
    low, high, window = statement.at(law)
    for depth in range(statement.least_depth, last + 1):
        integral = pair_integral(law, depth).integral
        if integral.degree() < 0:
            examination.decide(f"T = {depth}: at most one root", False, "I vanishes identically")
            break
        count = open_count(integral, Fraction(0), window)
        at_window = evaluate(integral, window)
        shown = f"{count} roots of I in (0, {window}), I there {float(at_window):.3g}"
        counted = in_open(integral, Fraction(0), window, count)
        examination.decide(
            f"T = {depth}: at most one root",
            count <= 1,
            shown,
            by=[counted, defines_integral(law, depth, integral)],
        )
        examination.decide(
            f"T = {depth}: I(0) > 0",
            evaluate(integral, Fraction(0)) > 0,
            by=less(0, Value(integral, 0)),
        )
        examination.decide(
            f"T = {depth}: one iff I < 0 at the end",
            (count == 1) == (at_window < 0),
            by=[
                counted,
                less(Value(integral, window), 0)
                if count == 1
                else at_most(0, Value(integral, window)),
            ],
        )
        if count == 1:
            inside = open_count(integral, low, min(high, window))
            examination.decide(
                f"T = {depth}: it lies in ({low}, {high})",
                inside == 1,
                by=in_open(integral, low, min(high, window), 1),
            )
        if law.upper <= 2 * law.lower:
            examination.decide(f"T = {depth}: it exists, as Z̄ <= 2Z̲", count == 1, by=counted)
    return examination.evidence(f"T = 2..{last}, exact rational arithmetic")


# -- Theorem 2: even T --------------------------------------------------------------------------

EVEN = Claim(
    "lca.uniqueness.even",
    f"{PLACE}, Theorem 2",
    r"T\text{ even}:\ F_T\text{ has two stationary points on }\mathbb R:\ \beta^*_T\in"
    r"(-1/\underline Z,-1/\overline Z),\text{ the global minimum, and }\beta_0<\min(\beta^*_T,"
    r"-2/\overline Z),\ \mathbb E_\mu(1+\beta_0Z)^T=1,\text{ the global maximum, }F_T=\mathbb E[W]",
    title="even T: one minimum and one maximum on the whole line",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.uniqueness",),
    note="t^{-(2T-4)}I falls on (0,∞), so I has one zero t*. E[w] is strictly concave and has one "
    "zero t₀. F_T = E[W] - positive, with equality where E[w] = 0; F_T < E[W] between 0 and "
    "min(t*, t₀) as it falls there, so t* < t₀. For β > 0 every factor but t³ and E[w] is positive.",
)

_m = sympy.Symbol("m", integer=True, positive=True)
_mass, _m1, _m2, _mT, _m2T, _slope_I = sympy.symbols("EW m1 m2 mT m2T I0", positive=True)
_EVEN = (
    -T * (T - 1) * z**2 * (1 - t * z) ** (T - 2),
    _mass * (1 - _mT**2 / _m2T),
    _mass * (1 - _m1**2 / _m2),
)


@EVEN.check(
    "whole line",
    PROVED,
    formula=_EVEN,
    controls={
        "E[w] convex": (-_EVEN[0], *_EVEN[1:]),
        "F(∞) with E[Z^T]": (_EVEN[0], _mass * (1 - _mT / _m2T), _EVEN[2]),
        "F(0) = E[W](1 - m₁/m₂)": (*_EVEN[:2], _mass * (1 - _m1 / _m2)),
    },
)
def whole_line(formula: tuple[sympy.Expr, ...], examination: Examination) -> Evidence:
    curvature, far, origin = formula
    w = 1 - (1 - t * z) ** T
    examination.identity("d²w/dt²", sympy.diff(w, t, 2), curvature)
    square = (1 - t * z) ** (_m - 1)
    examination.identity(
        "for T = 2m it is -T(T-1)z² times a square",
        curvature.subs(T, 2 * _m), -2 * _m * (2 * _m - 1) * z**2 * square**2,
    )  # fmt: skip
    # F = E[W](1 - E[w]²/E[w²]); s = 1/t -> 0: s^T w -> -z^T.
    s = sympy.Symbol("s", positive=True)
    examination.lemma(
        "s^T w at t = 1/s", decide_identity(s**T * w.subs(t, 1 / s), s**T - (s - z) ** T)
    )
    ratio = _mass * (1 - _w1**2 / _w2)
    examination.identity("F(-∞) = F(+∞)", ratio.subs({_w1: -_mT, _w2: _m2T}), far)
    # Near 0, w = Ttz + O(t²), so F(0) = E[W](1 - m₁²/m₂) < E[W], and F'(0) > 0.
    examination.lemma("dw/dt at 0", decide_identity(sympy.diff(w, t).subs(t, 0), T * z))
    near = {_w1: T * t * _m1, _w2: (T * t) ** 2 * _m2}
    examination.identity("F(0)", ratio.subs(near), origin)
    slope = (_SLOPE[0].subs(_EW, _mass)).subs({**near, _I: _slope_I})
    examination.lemma(
        "F'(0) = E[W] m₁ I(0)/(T² m₂²) > 0",
        decide_identity(slope, _mass * _m1 * _slope_I / (T**2 * _m2**2)),
    )
    for theorem in (uniqueness_signs.left_of_zero_even(), uniqueness_signs.beyond_one()):
        positivity.show(examination, theorem)
    examination.assume(CALCULUS)
    return examination.evidence("every even T >= 2, every law that meets Assumption 6.1")


@EVEN.check(
    "Sturm's theorem",
    CERTIFIED,
    formula=(2, Statement(window=2 / b)),
    controls={
        "odd T as well": (1, Statement(window=2 / b)),
        "the maximum inside the window": (2, Statement(window=1000 * b)),
        "above 2/(Z̲+Z̄)": (2, replace(_STATEMENT, lower=2 / (a + b))),
    },
    cases=EXACT_LAWS,
)
def sturm_even(formula: tuple[int, Statement], case: Law, examination: Examination) -> Evidence:
    step, statement = formula
    low, high, window = statement.at(case)
    for depth in range(2, 11, step):
        pair = pair_integral(case, depth)
        for name, polynomial in (("I", pair.integral), ("E[w]", pair.mean_w)):
            count = open_count(polynomial, Fraction(0), root_bound(polynomial))
            shown = f"{count} roots on (0,∞)"
            examination.decide(
                f"T = {depth}: {name} has one positive root",
                count == 1,
                shown,
                by=roots(polynomial, 0, None, 1),
            )
        inside = open_count(pair.integral, low, high)
        examination.decide(
            f"T = {depth}: t* in ({low}, {high})",
            inside == 1,
            f"{inside} there",
            by=[in_open(pair.integral, low, high, 1), defines_integral(case, depth, pair.integral)],
        )
        beyond = evaluate(pair.mean_w, window) > 0
        examination.decide(
            f"T = {depth}: t₀ > 2/Z̄",
            beyond,
            f"sign of E[w] at {window}",
            by=[roots(pair.mean_w, 0, None, 1), less(0, Value(pair.mean_w, window))],
        )
        middle = _between(pair.integral, pair.mean_w)
        examination.decide(
            f"T = {depth}: t* < t₀",
            middle is not None,
            by=[roots(pair.integral, 0, middle or 0, 1), less(0, Value(pair.mean_w, middle or 0))],
        )
    return examination.evidence("even T = 2..10, exact rational arithmetic")


def _between(first: fmpq_poly, second: fmpq_poly) -> Fraction | None:
    """A point above the only positive root of ``first`` and below that of ``second``, by bisection;
    ``None`` if they come the other way round."""
    low, high = Fraction(0), max(root_bound(first), root_bound(second))
    while True:
        middle = (low + high) / 2
        found = [open_count(p, Fraction(0), middle) for p in (first, second)]
        if found[0] != found[1]:
            return middle if found[0] > found[1] else None
        low, high = (low, middle) if found[0] else (middle, high)


claims = [
    *positivity.claims,
    DERIVATIVE,
    DECAY,
    THEOREM,
    EVEN,
]
