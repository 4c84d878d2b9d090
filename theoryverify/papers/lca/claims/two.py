"""Theorem 6.3 and Appendix G: two parameters."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy

from theoryverify.claims import CERTIFIED, PROVED, Claim, Context, Evidence, Examination
from theoryverify.claims.statements import Evaluated, agree, at_most, less, within
from theoryverify.claims.statements import Statement as Formal
from theoryverify.claims.statements import mean as expectation
from theoryverify.exact.balls import Enclosure, ball, precision
from theoryverify.exact.densities import Ball, ScaledBeta, Uniform
from theoryverify.exact.evaluate import BALL, EXACT, compiled
from theoryverify.exact.identities import decide_identity
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Discrete, Law, TwoPoint
from theoryverify.papers.lca import rate_theory, theory
from theoryverify.papers.lca.appendix_g import constants
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, ATOMS, MIXED, TWO_POINT, UNIFORM
from theoryverify.papers.lca.pair_integral import defines_integral, in_open, pair_integral
from theoryverify.papers.lca.placed import (
    LARGE_DEPTH,
    LAW_DEPTH,
    SOME_DEPTHS,
    START,
    START_ONLY,
    Point,
    Start,
    start_of,
)
from theoryverify.papers.lca.placed import depth_bound as known_bound
from theoryverify.papers.lca.stated import (
    alpha_root,
    around,
    beta_root,
    exactly,
    pair_mean,
    profile_step,
)
from theoryverify.papers.lca.theory import T, a, alpha, b, beta
from theoryverify.papers.lca.two import beta_star, interior_sign, profile
from theoryverify.papers.lca.window import MAX_DEPTH, derivative_within, exceeds, window_cover

_EW, _A, _B = sympy.symbols("EW A B", positive=True)
_m, _Q, _F = sympy.symbols("m Q F", positive=True)

# -- the loss in β alone ------------------------------------------------------------------------

PROFILE = Claim(
    "lca.G.profile",
    "Appendix G, (G.1)-(G.3)",
    r"\alpha^*(\beta)=B/A,\quad F_T(\beta)=\min_\alpha\ell=\mathbb E[W]-\frac{B^2}{A}"
    r"=\mathbb E[W]\frac{V_T}{D_T},\ V_T=Q-m^2,\ D_T=1-2m+Q",
    title="min over α: F_T(β) = E[W]V/D, α*(β) = -β(1-m)/D",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.loss",),
)

_PROFILE = (_B / _A, _EW * (_Q - _m**2) / (1 - 2 * _m + _Q), -beta * (1 - _m) / (1 - 2 * _m + _Q))
_WRONG_PROFILE = {
    "α* = A/B": (_A / _B, *_PROFILE[1:]),
    "V = Q - m": (_PROFILE[0], _EW * (_Q - _m) / (1 - 2 * _m + _Q), _PROFILE[2]),
    "D = 1-m+Q": (_PROFILE[0], _EW * (_Q - _m**2) / (1 - _m + _Q), _PROFILE[2]),
    "+β": (*_PROFILE[:2], -_PROFILE[2]),
}


@PROFILE.check("minimise over α", PROVED, formula=_PROFILE, controls=_WRONG_PROFILE)
def minimise_over_alpha(
    formula: tuple[sympy.Expr, sympy.Expr, sympy.Expr], examination: Examination
) -> Evidence:
    best, loss, gain = formula
    # ℓ = E[W] - 2αB + α²A with A = E[WS²], B = E[WS]: the integrand, term by term.
    share, S = theory.signal_share(), theory.S()
    examination.lemma(
        "ℓ = E[W] - 2αB + α²A",
        decide_identity(
            theory.loss_integrand(), share - 2 * alpha * share * S + alpha**2 * share * S**2
        ),
    )
    quadratic = _EW - 2 * alpha * _B + alpha**2 * _A
    examination.identity(
        "stationary in α", sympy.diff(quadratic, alpha).subs(alpha, best), sympy.Integer(0)
    )
    # S = (u-1)/β: A = E[W](1-2m+Q)/β², B = E[W](m-1)/β.
    moments = {_A: _EW * (1 - 2 * _m + _Q) / beta**2, _B: _EW * (_m - 1) / beta}
    examination.identity("F_T", (_EW - _B**2 / _A).subs(moments), loss)
    examination.identity("α*(β) in m and Q", (_B / _A).subs(moments), gain)
    return examination.evidence("every T, β ≠ 0, law with D > 0 (no point mass)")


@PROFILE.check(
    "enclosures",
    CERTIFIED,
    formula=_PROFILE,
    controls=_WRONG_PROFILE,
    cases=(UNIFORM, ATOMS, Ball(4, 5)),
    at=LAW_DEPTH,
)
def profile_enclosures(
    formula: tuple[sympy.Expr, sympy.Expr, sympy.Expr],
    case: Law,
    examination: Examination,
    context: Context,
) -> Evidence:
    digits = 15
    for at_beta, own in (("-1/4", 5), ("-0.38", 7), ("0.1", 4)):
        (depth,) = context.depths((own,))
        found = profile(case, at_beta, depth, digits + 5)
        exact = sympy.Rational(at_beta)
        with precision(200):
            share = theory.signal_share()
            u = (1 + exact * Z) ** depth
            mean = case.expect(share)
            values: dict[str, Any] = {"EW": mean, "beta": ball(Fraction(at_beta))}
            values["m"], values["Q"] = (
                case.expect(share * u) / mean,
                case.expect(share * u**2) / mean,
            )
            S = (u - 1) / exact
            values["A"], values["B"] = case.expect(share * S**2), case.expect(share * S)
            stated = [Enclosure.of(compiled(part, BALL)(values, False)) for part in formula]
        name = f"β = {at_beta}, T = {depth}"
        e, m, q, A, B = (expectation(case, share * f) for f in (1, u, u**2, S**2, S))
        moments = {_EW: e, _m: m / e, _Q: q / e, _A: A, _B: B, beta: exact}
        numbers = [part.subs(moments) for part in formula]
        for label, value, other, formal in zip(
            ("B/A", "F", "α*"), (found.alpha, found.loss, found.alpha), stated, numbers, strict=True
        ):
            examination.equal(f"{label} at {name}", value, other, digits,
                              by=agree(formal, value, other, digits))  # fmt: skip
    return examination.evidence(f"to {digits} digits at three points")


STATION = Claim(
    "lca.G.stationary",
    "Appendix G, the stationarity equation",
    r"F_T'(\beta)=0\iff Q_T'(1-m_T)=2m_T'(m_T-Q_T)\quad(m_T\ne1)",
    title="stationary points of F_T: Q'(1-m) = 2m'(m-Q)",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.G.profile",),
)

_dm, _dQ = sympy.symbols("dm dQ", real=True)
_STATION = _dQ * (1 - _m) - 2 * _dm * (_m - _Q)


@STATION.check(
    "quotient rule",
    PROVED,
    formula=_STATION,
    controls={
        "m' for 2m'": _dQ * (1 - _m) - _dm * (_m - _Q),
        "Q'(1+m)": _dQ * (1 + _m) - 2 * _dm * (_m - _Q),
        "m+Q": _dQ * (1 - _m) - 2 * _dm * (_m + _Q),
    },
)
def quotient_rule(equation: sympy.Expr, examination: Examination) -> Evidence:
    x = sympy.Symbol("x")
    m, Q = sympy.Function("m_")(x), sympy.Function("Q_")(x)
    loss = (Q - m**2) / (1 - 2 * m + Q)
    slope = sympy.diff(loss, x).subs({m.diff(x): _dm, Q.diff(x): _dQ}).subs({m: _m, Q: _Q})
    examination.identity(
        "F' = E[W](1-m)·equation/D²", slope, (1 - _m) * equation / (1 - 2 * _m + _Q) ** 2
    )
    u = (1 + beta * Z) ** T
    examination.lemma(
        "m' = T E[Zq^{T-1}]",
        decide_identity(sympy.diff(u, beta), T * Z * (1 + beta * Z) ** (T - 1)),
    )
    examination.lemma(
        "Q' = 2T E[Zq^{2T-1}]",
        decide_identity(sympy.diff(u**2, beta), 2 * T * Z * (1 + beta * Z) ** (2 * T - 1)),
    )
    return examination.evidence("every T, β, law with D > 0")


# -- G.1 to G.3 ---------------------------------------------------------------------------------

G1 = Claim(
    "lca.G.1",
    "Lemma G.1, for T >= 2",
    r"A(\beta)=\mathbb E[WS_T^2]\to\infty\ (|\beta|\to\infty),\quad A^*=\inf_\beta A>0\qquad(T\ge2)",
    title="A(β) is positive and coercive for T >= 2",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.G.profile",),
    note="As extracted the lemma does not say T >= 2; at T = 1 its first part is false "
    "(lca.G.1.depth-one).",
)

_eps = sympy.Symbol("epsilon", real=True, nonzero=True)


@G1.check(
    "leading term",
    PROVED,
    formula=theory.S(),
    controls={"S_{T+1}": theory.S(T + 1), "-S_T": -theory.S(), "S_T/Z": theory.S() / Z},
)
def leading_term(S: sympy.Expr, examination: Examination) -> Evidence:
    """``S_T = β^{T-1}Z^T + ...``, so ``A ~ β^{2T-2} E[WZ^{2T}]``, which grows iff T >= 2."""
    scaled = _eps ** (T - 1) * S.subs(beta, 1 / _eps)
    examination.identity("ε^{T-1}S_T(Z,1/ε) = (ε+Z)^T - ε^T", scaled, (_eps + Z) ** T - _eps**T)
    # At ε -> 0 that is Z^T. A > 0: Σ q^k = 0 only where q^T = 1, q ≠ 1, i.e. q = -1: one value of Z.
    q = sympy.Symbol("q", real=True)
    examination.identity("S_T = ZΣq^k", S, Z * theory.geometric_sum(1 + beta * Z))
    examination.lemma(
        "(q-1)Σq^k = q^T - 1", decide_identity((q - 1) * theory.geometric_sum(q), q**T - 1)
    )
    examination.assume("the only real roots of q^T = 1 are 1 and, for even T, -1")
    return examination.evidence("every T >= 2, every law that meets Assumption 6.1")


G1_ONE = Claim(
    "lca.G.1.depth-one",
    "Lemma G.1(1) at T = 1: a counterexample (ours)",
    r"T=1:\ S_1=Z,\ A(\beta)=\mathbb E[WZ^2] \text{ for every } \beta",
    title="at T = 1, A does not depend on β: it is not coercive",
    depends_on=("lca.G.profile",),
)


@G1_ONE.check(
    "constant in β",
    PROVED,
    formula=Z,
    controls={"Z(1+βZ)": Z * (1 + beta * Z), "βZ": beta * Z},
)
def constant_in_beta(S1: sympy.Expr, examination: Examination) -> Evidence:
    examination.identity("S_1", theory.S(sympy.Integer(1)), S1)
    examination.identity("∂S_1/∂β", sympy.diff(S1, beta), sympy.Integer(0))
    return examination.evidence("every β and law")


G23 = Claim(
    "lca.G.2",
    "Lemmas G.2 and G.3",
    r"|\alpha^*(\beta)|\le(\mathbb E[W]/A^*)^{1/2}=M^*,\quad "
    r"|\alpha_t|\le M^*+(\ell(\alpha_0,\beta_0)/A^*)^{1/2}\text{ along the flow}",
    title="α*(β) is bounded, and so is α along the flow",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.G.1", "lca.G.profile"),
)

_BOUNDS = (_EW / _A, (_EW - 2 * alpha * _B + alpha**2 * _A) / _A)


@G23.check(
    "completing the square",
    PROVED,
    formula=_BOUNDS,
    controls={
        "E[W]/A²": (_EW / _A**2, _BOUNDS[1]),
        "ℓ instead of ℓ/A": (_BOUNDS[0], _BOUNDS[1] * _A),
    },
)
def completing_the_square(
    formula: tuple[sympy.Expr, sympy.Expr], examination: Examination
) -> Evidence:
    square, distance = formula
    # α*² = B²/A² <= E[W]/A: the difference is F_T/A, and F_T >= 0 as a mean of squares.
    F = _EW - _B**2 / _A
    examination.identity("E[W]/A - α*² = F_T/A", square - (_B / _A) ** 2, F / _A)
    # (α-α*)² = (ℓ-F_T)/A <= ℓ/A, and ℓ does not grow along its gradient flow.
    examination.identity("ℓ/A - (α-α*)² = F_T/A", distance - (alpha - _B / _A) ** 2, F / _A)
    return examination.evidence("every T >= 2, α, β; M* with A* = inf A > 0")


# -- G.4 to G.7 ---------------------------------------------------------------------------------

G4 = Claim(
    "lca.G.4",
    "Lemma G.4",
    r"F_T\ge c_Rr_R^{2T}\text{ on }[-\delta_R,0],\quad "
    r"F_T\ge c_Lr_L^{2T}\text{ on }[-2/\overline Z,-2/\overline Z+\delta_L]\ (T\ge N_L)",
    title="F_T is large near both ends of the window",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.G.profile",),
    note="Right end as in the paper, left-end constants ours; certified for every β of the "
    "intervals by a cover, for the stated depths.",
)

_c, _r = sympy.symbols("c r", positive=True)


@G4.check(
    "every β near the ends",
    CERTIFIED,
    formula=_c * _r ** (2 * T),
    controls={
        "r + 15%": _c * (_r * sympy.Rational(115, 100)) ** (2 * T),
        "c·10³": 1000 * _c * _r ** (2 * T),
        "r = 1": _c * _r ** (0 * T),
    },
    cases=(UNIFORM, ATOMS, Uniform("1.5", 3)),
    mutate=False,
    at=SOME_DEPTHS,
)
def near_the_ends(
    level: sympy.Expr, case: Law, examination: Examination, context: Context
) -> Evidence:
    known = constants(case, -1 / case.upper)
    window = 2 / case.upper
    depths = context.depths((2, 5, 10, 30))
    for depth in depths:
        for name, c, r, low, high, first in (
            ("right", known.c_right, known.r_right, Fraction(0), known.delta_right, 1),
            ("left", known.c_left, known.r_left, window - known.delta_left, window, known.N_left),
        ):
            if depth < first:
                continue
            with precision(256):
                values = {"c": c.ball(), "r": ball(r)}
                height = compiled(level.subs(T, depth), BALL)(values, False)
            examination.decide(
                f"{name} end, T = {depth}",
                exceeds(case, depth, height, low, high),
                f"F_T > {float(Enclosure.of(height)):.3g} on t in [{low}, {high}]",
            )
    return examination.evidence(f"every β of both intervals, T in {depths}")


G6 = Claim(
    "lca.G.6",
    "Lemmas G.5 and G.6",
    r"F_T(\beta_0)\le\frac{\mathbb E[W]\rho_0^{2T}}{(1-\rho_0^T)^2}\le C_0\rho_0^{2T},\ "
    r"C_0=\frac{\mathbb E[W]}{(1-\rho_0)^2};\quad T\ge T'(\beta_0):\ "
    r"C_0\rho_0^{2T}<\min_jc_jr_j^{2T}",
    title="the starting loss is small; T'(β₀) is explicit",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.G.4",),
)

_rho = sympy.Symbol("rho", positive=True)
_START = _EW / (1 - _rho) ** 2


@G6.check(
    "bound at the start",
    PROVED,
    formula=_START,
    controls={"1/(1+ρ)²": _EW / (1 + _rho) ** 2, "1/(1-ρ²)": _EW / (1 - _rho**2)},
    mutate=False,
)
def bound_at_start(C0: sympy.Expr, examination: Examination) -> Evidence:
    """V <= Q <= ρ^{2T} and D = E(1-u)² >= (1-ρ^T)² from |u| <= ρ^T, ρ < 1."""
    examination.lemma(
        "(1-u)² - (1-v)² = (v-u)(2-u-v) >= 0 for u <= v <= 1",
        decide_identity((1 - _m) ** 2 - (1 - _Q) ** 2, (_Q - _m) * (2 - _m - _Q)),
    )
    # 1-ρ^T >= 1-ρ: with ρ = 1/(1+y), (1-ρ^T)/(1-ρ) is a geometric sum that starts with 1.
    examination.lemma(
        "1-ρ^T = (1-ρ)(1 + ρΣ...)",
        decide_identity((1 - _rho ** (T + 1)), (1 - _rho) + _rho * (1 - _rho**T)),
    )
    # So C_0 is the value of the bound at T = 1, divided by ρ².
    bound = _EW * _rho ** (2 * T) / (1 - _rho**T) ** 2
    examination.identity("C₀ρ² is the bound at T = 1", bound.subs(T, 1), C0 * _rho**2)
    return examination.evidence("every T >= 1, β₀ in the window, law")


@G6.check(
    "T'(β₀)",
    CERTIFIED,
    formula=_START,
    controls={
        "C₀ = E[W]/1000": _EW / 1000,
        "1/(1+ρ)⁸": _EW / (1 + _rho) ** 8,
    },
    cases=(UNIFORM, ATOMS, Uniform("1.5", 3)),
    mutate=False,
    at=START_ONLY,
)
def depth_bound(C0: sympy.Expr, case: Law | Start, examination: Examination) -> Evidence:
    """With the stated C_0: the start lies below it, and from T' on below both ends, for all T >= T'.

    ``C_0ρ_0^{2T} < c r^{2T}`` at T' implies it for every T >= T', since ``ρ_0 < r``.
    """
    law, start = start_of(case)
    known = constants(law, start)
    depth = known.depth_bound
    with precision(128):
        mean = law.expect(theory.signal_share())
        stated = compiled(C0, BALL)({"EW": mean, "rho": ball(known.rho0)}, False)
        below = Enclosure.of(stated * ball(known.rho0) ** (2 * depth))
        ends = [
            Enclosure.of(c.ball() * ball(r) ** (2 * depth))
            for c, r in ((known.c_right, known.r_right), (known.c_left, known.r_left))
        ]
    # The bound must be valid where it is nearly attained: at T = 1.
    for early in (1, 2, depth):
        with precision(128):
            height = Enclosure.of(stated * ball(known.rho0) ** (2 * early))
        actual = profile(law, start, early, 15).loss
        examination.less(f"F_{early}(β₀) < C₀ρ₀^{{2T}}", actual, height)
    for name, end in zip(("right", "left"), ends, strict=True):
        examination.less(f"below the {name} end at T' = {depth}", below, end)
    examination.lemma("ρ₀ < r", known.rho0 < min(known.r_right, known.r_left))
    return examination.evidence(f"every T >= T' = {depth}")


KNOWN = Claim(
    "lca.G.constants",
    "Appendix G in numbers, Uniform[2,5], β₀ = -0.2 (ours)",
    r"\rho_0=0.6,\ C_0=4.3411,\ r_R=0.85,\ r_L=0.755,\ N_L=1\ \Rightarrow\ T'=17",
    title="Z ~ U[2,5], β₀ = -0.2: T' = 17",
    depends_on=("lca.G.6",),
)


@KNOWN.check(
    "numbers",
    CERTIFIED,
    formula=17,
    controls={"16": 16, "18": 18},
)
def known_constants(stated: int, examination: Examination) -> Evidence:
    known = constants(UNIFORM, "-0.2", 3, "4.5")
    examination.decide("T'", known.depth_bound == stated, f"{known.depth_bound}")
    for name, found, text in (
        ("C₀", known.C0, "4.34106097526217694753432"),
        ("c_R", known.c_right, "0.00252132272591736160169474"),
        ("c_L", known.c_left, "0.00234584612671132345578473"),
    ):
        value = Fraction(text)
        examination.lemma(name, abs(found.lower - value) < value / 10**20, f"{found}")
    exact = (known.rho0, known.r_right, known.r_left, known.N_left)
    expected = (Fraction(3, 5), Fraction(17, 20), Fraction(151, 200), 1)
    examination.lemma("ρ₀, r_R, r_L, N_L", exact == expected)
    return examination.evidence("this law and start")


# -- G.8, G.9 -----------------------------------------------------------------------------------

G8 = Claim(
    "lca.G.8",
    "Lemma G.8 (iv), Lemma G.9, at points",
    r"F_T(\beta)^{1/2T}\to\varphi(\beta),\quad G_T'(\beta)\to(\log\varphi)'(\beta)"
    r"=\frac{z^*}{1+\beta z^*},\quad \varphi=\max(|1+\beta\underline Z|,|1+\beta\overline Z|)",
    title="F_T^{1/2T} → φ and its logarithmic derivative",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.G.profile",),
    note="Certified at points of β and two depths; the uniformity over compacts is not mechanised.",
)

_z = sympy.Symbol("z", positive=True)
_RATE = _z / (1 + beta * _z)


@G8.check(
    "derivative at points",
    CERTIFIED,
    formula=_RATE,
    controls={
        "1/(1+βz)": 1 / (1 + beta * _z),
        "z/(1-βz)": _z / (1 - beta * _z),
        "2z/(1+βz)": 2 * _RATE,
        "the rate + 1%": _RATE * sympy.Rational(101, 100),
    },
    cases=(UNIFORM, ScaledBeta(2, 5, "1/2", "1/2"), TwoPoint(2, 5, "1/3")),
    mutate=False,
)
def derivative_at_points(rate: sympy.Expr, case: Law, examination: Examination) -> Evidence:
    """The error at T = 4000 is below 0.2% of the limit, and the value tends to φ's power."""
    middle = -2 / (case.lower + case.upper)
    depth = 4000
    for at_beta, active in (
        (Fraction(-33, 100), case.upper),
        (Fraction(-39, 100), case.upper),
        (Fraction(-27, 100), case.lower),
        (Fraction(-1, 10), case.lower),
    ):
        assert (at_beta < middle) == (active == case.upper)
        found = profile(case, at_beta, depth, 12)
        with precision(128):
            stated = compiled(rate, BALL)({"beta": ball(at_beta), "z": ball(active)}, False)
            ratio = Enclosure.of(found.log_derivative.ball() / stated)
            phi = abs(1 + ball(at_beta) * ball(active))
            root = Enclosure.of((found.loss.ball().log() / (2 * depth)).exp() / phi)
        for name, value, slack in (("G_T'/limit", ratio, "0.002"), ("F^{1/2T}/φ", root, "0.01")):
            low, high = (1 - Fraction(slack), 1 + Fraction(slack))
            sides = value.greater_than(low), value.less_than(high)
            verdict = None if None in sides else bool(sides[0] and sides[1])
            examination.decide(f"{name} at β = {at_beta}", verdict, f"{value}")
    return examination.evidence(f"T = {depth}, four points of β")


G9 = Claim(
    "lca.G.9",
    "Lemma G.9, uniformly on a compact set, Uniform[2,5]",
    r"\sup_{\beta\in K}|G_T'-(\log\varphi)'|<0.42,\,0.22,\,0.175\ (T=10,30,100),\quad "
    r"K=[-.39,-.30]\cup[-.27,-.02]",
    title="Z ~ U[2,5]: sup over K of |G_T' - (log φ)'| at T = 10, 30, 100",
    depends_on=("lca.G.profile",),
    note="For every β of K, by a cover; that the supremum tends to 0 is the lemma's, not shown here.",
)

_SUPREMA = {10: Fraction("0.42"), 30: Fraction("0.22")}


@G9.check(
    "every β of K",
    CERTIFIED,
    formula=_SUPREMA,
    controls={
        "5% less": {depth: value * Fraction(95, 100) for depth, value in _SUPREMA.items()},
        "T = 30's at T = 10": {10: _SUPREMA[30]},
    },
    mutate=False,
)
def every_beta(suprema: dict[int, Fraction], examination: Examination) -> Evidence:
    parts = (
        (Fraction("0.30"), Fraction("0.39"), UNIFORM.upper),
        (Fraction("0.02"), Fraction("0.27"), UNIFORM.lower),
    )
    for depth, bound in suprema.items():
        for low, high, active in parts:
            examination.decide(
                f"T = {depth}, β in [-{float(high)}, -{float(low)}]",
                derivative_within(UNIFORM, depth, bound, active, low, high),
                f"|G_T' - λ| < {float(bound):.4g}",
            )
    return examination.evidence(f"every β of K, T in {tuple(suprema)}")


G9.check(
    "every β of K, deeper",
    CERTIFIED,
    formula={100: Fraction("0.175")},
    controls={"2% less": {100: Fraction("0.1715")}},
    mutate=False,
    preset="full",
)(every_beta)


# -- Theorem 6.3 --------------------------------------------------------------------------------

T63 = Claim(
    "lca.6.3",
    "Theorem 6.3; Theorems G.7, G.10",
    r"T\ge T'(\beta_0):\ (\alpha_t,\beta_t)\to(\alpha^*_T,\beta^*_T),\qquad "
    r"(\alpha^*_T,\beta^*_T)\to(\alpha^*,-\alpha^*)\ (T\to\infty)",
    title="two parameters: the flow's limit tends to (α*, -α*)",
    hypotheses=(ASSUMPTION_6_1, LARGE_DEPTH),
    depends_on=("lca.G.2", "lca.G.4", "lca.G.6", "lca.G.stationary", "lca.6.2.limit"),
    note="T large is necessary: lca.6.3.small-depth. At T = 1 the statement is void, β being inert.",
)


_EACH_KIND_OF_END: tuple[Law, ...] = (UNIFORM, TWO_POINT, ATOMS, Ball(4, 5), MIXED)


@T63.check(
    "the window holds one stationary point",
    CERTIFIED,
    formula=1,
    controls={"none": 0, "two": 2},
    cases=_EACH_KIND_OF_END,
    at=START,
)
def one_stationary_point(
    stated: int, case: Law | Point, examination: Examination, context: Context
) -> Evidence:
    """A cover of the whole window: sublevel sets of F_T inside it are intervals around one minimum.

    Deeper than a cover can go, the sign of F_T' at the window's end decides (lca.uniqueness).
    """
    law, start = start_of(case)
    if isinstance(case, Point):
        bound = known_bound(law, start)
        examination.lemma(f"T >= T'(β₀) = {bound} at β₀ = {start}", case.depth >= bound)
    depths = context.depths((2, 5, 13) if case is UNIFORM else (5, 8))
    for depth in depths:
        if depth > MAX_DEPTH:
            inside = interior_sign(law, depth)
            found_there = None if inside is None else int(inside == -1)
            examination.decide(
                f"T = {depth}: stationary points in (-2/Z̄, 0)",
                None if found_there is None else found_there == stated,
                f"{found_there}, as F_T'(-2/Z̄) has the sign {inside}",
            )
            continue
        cover = window_cover(law, depth)
        examination.decide(
            f"T = {depth}: stationary points in (-2/Z̄, 0)",
            len(cover.cells) == stated,
            f"{len(cover.cells)}, by a cover of {cover.examined} cells",
            by=partial(_stationary_points, law, depth, stated),
        )
        found = beta_star(law, depth, 12).beta
        low, high = cover.cells[0] if cover.cells else (Fraction(0), Fraction(0))
        examination.lemma(
            f"T = {depth}: β*_T lies in the cover's cell",
            low <= -found.upper and -found.lower <= high,
            f"{found}",
            by=beta_root(law, depth, around(found, 8)),
        )
    examination.assume("a bounded gradient flow of an analytic function converges (Łojasiewicz)")
    return examination.evidence(f"T in {depths}, every β of the window")


_LIMITS = (2 / (a + b), -2 / (a + b))


@T63.check(
    "limit of the minimum",
    CERTIFIED,
    formula=_LIMITS,
    controls={
        "β → -1/Z̄": (_LIMITS[0], -1 / b),
        "α → 1/(Z̲+Z̄)": (1 / (a + b), _LIMITS[1]),
        "α* + 1%": (_LIMITS[0] * sympy.Rational(101, 100), _LIMITS[1]),
        "β* - 1%": (_LIMITS[0], _LIMITS[1] * sympy.Rational(99, 100)),
    },
    cases=_EACH_KIND_OF_END,
    mutate=False,
)
def limit_of_minimum(
    formula: tuple[sympy.Expr, sympy.Expr], case: Law, examination: Examination
) -> Evidence:
    """``T |α*_T - α*|/log(4T)`` stays below a constant at T = 100 and 1500; the controls exceed it."""
    depths = (100, 1500)
    values = {"a": case.lower, "b": case.upper}
    limits = [compiled(part, EXACT)(values, False) for part in formula]
    for depth in depths:
        found = beta_star(case, depth, 15)
        allowed = (
            Fraction(2 * (3 * depth).bit_length(), depth)
            * (case.upper - case.lower)
            / (case.upper + case.lower) ** 2
        )
        place = sympy.Symbol("b_t", negative=True)
        numbers = (profile_step(case, depth, place), place)
        for name, value, limit, number in zip(
            ("α*_T", "β*_T"), (found.alpha, found.beta), limits, numbers, strict=True
        ):
            gap = max(abs(value.lower - limit), abs(value.upper - limit))
            nearest = min(abs(value.lower - limit), abs(value.upper - limit))
            verdict = True if gap <= allowed else (False if nearest > allowed else None)
            examination.decide(
                f"|{name} - limit| at T = {depth}",
                verdict,
                f"{float(gap):.3g} <= {float(allowed):.3g}",
                by=[
                    *beta_root(case, depth, around(found.beta, 7)),
                    within(number, (limit - allowed, limit + allowed), b_t=around(found.beta, 7)),
                ],
            )
    return examination.evidence(f"T in {depths}")


SMALL = Claim(
    "lca.6.3.small-depth",
    "Theorem 6.3 for small T: a counterexample (ours)",
    r"\mathbb P(Z=2,3,20)=(.5,\,.499999,\,10^{-6}):\ "
    r"F_T\text{ has no stationary point in }(-2/\overline Z,0)\text{ for }T<22",
    title="law {2,3,20}: no stationary point in the window before T = 22",
    depends_on=("lca.G.stationary",),
    note="T'(β₀) is not uniform over laws with given ends of the support.",
)


def _stationary_points(law: Law, depth: int, count: int) -> list[Formal]:
    """By Sturm's theorem, where the law has rational moments."""
    integral = pair_integral(law, depth).integral
    return [
        in_open(integral, Fraction(0), 2 / law.upper, count),
        defines_integral(law, depth, integral),
    ]


_RARE = Discrete({2: "0.5", 3: "0.499999", 20: "0.000001"})


@SMALL.check(
    "first depth with an interior point",
    CERTIFIED,
    formula=22,
    controls={"21": 21, "23": 23, "2": 2},
)
def first_interior_depth(stated: int, examination: Examination) -> Evidence:
    for depth in range(2, 31):
        cover = window_cover(_RARE, depth)
        inside = 1 if depth >= stated else 0
        examination.decide(
            f"T = {depth}: {inside} stationary points",
            len(cover.cells) == inside,
            f"{len(cover.cells)}, by a cover of {cover.examined} cells",
            by=partial(_stationary_points, _RARE, depth, inside),
        )
        examination.lemma(
            f"T = {depth}: the sign at the window's end agrees",
            (interior_sign(_RARE, depth) == -1) == (len(cover.cells) == 1),
            by=less(pair_mean(_RARE, depth, 2 / _RARE.upper), 0)
            if inside
            else at_most(0, pair_mean(_RARE, depth, 2 / _RARE.upper)),
        )
    return examination.evidence("T from 2 to 30, every β of the window")


# -- two atoms, exactly -------------------------------------------------------------------------

EVEN = Claim(
    "lca.6.3.two-point-even",
    "ours: two atoms, even depth",
    r"T\text{ even}:\ F_T\big(-\tfrac{2}{a+b}\big)=0",
    title="two atoms, even T: the excess risk is exactly 0 at finite depth",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.G.profile",),
)

_n = sympy.Symbol("n", integer=True, positive=True)
_BEST = -2 / (a + b)


@EVEN.check(
    "equal powers",
    PROVED,
    formula=_BEST,
    controls={"-1/b": -1 / b, "-1/(a+b)": -1 / (a + b), "-2/b": -2 / b},
)
def equal_powers(best: sympy.Expr, examination: Examination) -> Evidence:
    # F_T is proportional to (u_a - u_b)²; at β = -2/(a+b) the bases are opposite.
    examination.identity("1+βa = -(1+βb)", 1 + best * a, -(1 + best * b))
    ua, ub = ((1 + best * end) ** (2 * _n) for end in (a, b))
    examination.identity("u_a = u_b for T = 2n", ua, ub)
    p, ua_, ub_ = sympy.symbols("p u_a u_b", positive=True)
    m, Q = p * ua_ + (1 - p) * ub_, p * ua_**2 + (1 - p) * ub_**2
    examination.lemma(
        "V = p(1-p)(u_a-u_b)²", decide_identity(Q - m**2, p * (1 - p) * (ua_ - ub_) ** 2)
    )
    return examination.evidence("every even T, 1 <= a < b and weight")


ODD = Claim(
    "lca.6.3.two-point-odd",
    "ours: two atoms, odd depth",
    r"T\text{ odd}:\ \beta^*_T\text{ solves }S_aS_b'=S_bS_a'\text{, whatever the weights};\ "
    r"T=3:\ \beta^*_3=\frac{-(a+b)+\sqrt{a^2-ab+b^2}}{ab}",
    title="two atoms, odd T: β*_T does not depend on the weights",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.G.profile",),
)

_THREE = (-(a + b) + sympy.sqrt(a**2 - a * b + b**2)) / (a * b)
_WRONG_THREE = {
    "the other root": (-(a + b) - sympy.sqrt(a**2 - a * b + b**2)) / (a * b),
    "a²+ab+b²": (-(a + b) + sympy.sqrt(a**2 + a * b + b**2)) / (a * b),
    "-2/(a+b)": _BEST,
}


@ODD.check(
    "weights cancel",
    PROVED,
    formula=_THREE,
    controls={key: _WRONG_THREE[key] for key in ("a²+ab+b²", "-2/(a+b)")},
)
def weights_cancel(three: sympy.Expr, examination: Examination) -> Evidence:
    x = sympy.Symbol("x")
    pa, pb = sympy.symbols("pi_a pi_b", positive=True)
    Sa, Sb = sympy.Function("S_a")(x), sympy.Function("S_b")(x)
    loss = (Sa - Sb) ** 2 / (pa * Sa**2 + pb * Sb**2)
    sa, sb, da, db = sympy.symbols("s_a s_b d_a d_b", real=True)
    slope = sympy.diff(loss, x).subs({Sa.diff(x): da, Sb.diff(x): db}).subs({Sa: sa, Sb: sb})
    examination.lemma(
        "F' ∝ (S_a-S_b)(π_aS_a+π_bS_b)(S_bS_a'-S_aS_b')",
        decide_identity(
            slope,
            2
            * (sa - sb)
            * (pa * sa + pb * sb)
            * (sb * da - sa * db)
            / (pa * sa**2 + pb * sb**2) ** 2,
        ),
    )
    at_three = sympy.expand(sympy.cancel(theory.S(sympy.Integer(3))))
    wronskian = at_three.subs(Z, a) * sympy.diff(at_three, beta).subs(Z, b)
    wronskian -= at_three.subs(Z, b) * sympy.diff(at_three, beta).subs(Z, a)
    examination.identity(
        "T = 3: S_aS_b' = S_bS_a'",
        sympy.expand(wronskian.subs(beta, three) / (a * b * (b - a))),
        sympy.Integer(0),
    )
    return examination.evidence("every odd T (the equation), T = 3 in closed form, all weights")


@ODD.check(
    "against the enclosure",
    CERTIFIED,
    formula=_THREE,
    controls=_WRONG_THREE,
    cases=(TwoPoint(2, 5), TwoPoint(2, 5, "1/100"), TwoPoint("3/2", 4, "9/10")),
    mutate=False,
)
def odd_enclosures(three: sympy.Expr, case: TwoPoint, examination: Examination) -> Evidence:
    with precision(160):
        values = {"a": ball(case.lower), "b": ball(case.upper)}
        stated = Enclosure.of(compiled(three, BALL)(values, False))
    found = beta_star(case, 3, 25).beta
    place = {a: case.lower, b: case.upper}
    examination.equal(
        "β*_3",
        found,
        stated,
        25,
        by=[agree(Evaluated(three, place), found, stated, 25), *beta_root(case, 3, found)],
    )
    for depth in (5, 11):
        other = TwoPoint(case.lower, case.upper, "1/7")
        first, second = (beta_star(law, depth, 25).beta for law in (case, other))
        examination.equal(
            f"β*_{depth} for two weights",
            first,
            second,
            25,
            by=[
                *beta_root(case, depth, first),
                *beta_root(other, depth, second),
                less(abs(exactly(first.lower) - exactly(second.upper)), Fraction(1, 10**25)),
            ],
        )
    return examination.evidence("25 digits, T = 3, 5, 11")


PARITY = Claim(
    "lca.6.3.parity",
    "ours: the rate of β*_T depends on the parity of T (Uniform[a,b], a > 1)",
    r"\beta^*_T=-\alpha^*_T(\text{one par.})-\frac{(b-a)(b-1)(bx+sa)(s-x)}{2ab(a+b)^2\mathbb E[W]}"
    r"\,T^{-2}+O(T^{-3}),\ s=(-1)^T,\ x=\sqrt{\tfrac{a-1}{b-1}}",
    title="T²(β*_T + α*_T): a limit for even T and another for odd T",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.6.3.rate",),
    note="Certified at two depths of each parity; lca.6.3.rate derives it, for all densities.",
)

_parity = sympy.Symbol("s", real=True)
_root = sympy.sqrt((a - 1) / (b - 1))
_PARITY = (
    -(b - a)
    * (b - 1)
    * (b * _root + _parity * a)
    * (_parity - _root)
    / (2 * a * b * (a + b) ** 2 * _EW)
)


@PARITY.check(
    "both parities",
    CERTIFIED,
    formula=_PARITY,
    controls={
        "no parity: s = 1": _PARITY.subs(_parity, 1),
        "the opposite sign": -_PARITY,
        "without E[W]": _PARITY * _EW,
        "10% more": _PARITY * sympy.Rational(11, 10),
    },
    cases=(UNIFORM, Uniform("1.5", 4)),
    mutate=False,
)
def both_parities(limit: sympy.Expr, case: Law, examination: Examination) -> Evidence:
    from theoryverify.papers.lca.alpha_star import alpha_star

    for parity, depth in ((1, 2000), (-1, 2001)):
        two = beta_star(case, depth, 20).beta
        one = alpha_star(case, depth, 20).enclosure
        with precision(128):
            scaled = (two.ball() + one.ball()) * depth**2
            values = {"a": ball(case.lower), "b": ball(case.upper), "s": ball(parity)}
            values["EW"] = case.expect(theory.signal_share())
            ratio = Enclosure.of(scaled / compiled(limit, BALL)(values, False))
        tied, mixed = sympy.Symbol("a_t", positive=True), sympy.Symbol("b_t", negative=True)
        known = {_EW: expectation(case, theory.signal_share()), _parity: parity}
        ends = {a: exactly(case.lower), b: exactly(case.upper)}
        near = around(one, 12), around(two, 12)
        number = (tied + mixed) * depth**2 / limit.subs(known | ends)
        sides = ratio.greater_than("0.98"), ratio.less_than("1.02")
        verdict = None if None in sides else bool(sides[0] and sides[1])
        examination.decide(
            f"T²(β*_T+α*_T)/limit at T = {depth}",
            verdict,
            f"{ratio}",
            by=[
                *alpha_root(case, depth, near[0]),
                *beta_root(case, depth, near[1]),
                within(number, (Fraction(98, 100), Fraction(102, 100)), a_t=near[0], b_t=near[1]),
            ],
        )
    return examination.evidence("T = 2000 and 2001, within 2%")


@PARITY.check(
    "from the law of all densities",
    PROVED,
    formula=_PARITY,
    controls={
        "no parity: s = 1": _PARITY.subs(_parity, 1),
        "the opposite sign": -_PARITY,
        "a and b exchanged in the root": _PARITY.subs(_root, 1 / _root),
    },
    mutate=False,
)
def from_all_densities(limit: sympy.Expr, examination: Examination) -> Evidence:
    # Uniform: WZ dP = (z-1)/(b-a) dz, so g = (z-1)/(b-a), k = 0. With a = 1+p², b = 1+q².
    p, q, width = sympy.symbols("p q v", positive=True)
    general = rate_theory.two_parameter_shift().subs(
        {
            rate_theory.g_a: p**2 / width,
            rate_theory.g_b: q**2 / width,
            rate_theory.tau_a: sympy.sqrt(width / T),
            rate_theory.tau_b: sympy.sqrt(width / T),
            rate_theory.mean_W: _EW,
        }
    )
    general = sympy.cancel(T**2 * general.subs(width, b - a).subs({a: 1 + p**2, b: 1 + q**2}))
    stated = limit.subs(_root, p / q).subs({a: 1 + p**2, b: 1 + q**2})
    for sign in (1, -1):
        examination.identity(
            f"(-1)^T = {sign}: T² times the shift of lca.6.3.rate",
            general.subs(_parity, sign),
            stated.subs(_parity, sign),
        )
    return examination.evidence("every 1 < a < b")


claims = [
    PROFILE,
    STATION,
    G1,
    G1_ONE,
    G23,
    G4,
    G6,
    KNOWN,
    G8,
    G9,
    T63,
    SMALL,
    EVEN,
    ODD,
    PARITY,
]
