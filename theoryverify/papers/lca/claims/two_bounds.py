"""Lemmas G.4 to G.9: F_T near the window's ends and at the start, T'(β₀), and G_T' on compacts."""

from __future__ import annotations

from fractions import Fraction

import sympy

from theoryverify.claims import CERTIFIED, PROVED, Claim, Context, Evidence, Examination
from theoryverify.exact.balls import Enclosure, ball, precision
from theoryverify.exact.densities import ScaledBeta, Uniform
from theoryverify.exact.evaluate import BALL, compiled
from theoryverify.exact.identities import decide_identity
from theoryverify.exact.laws import Law, TwoPoint
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.appendix_g import constants
from theoryverify.papers.lca.claims.two_profile import EW, Q_T, m_T
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, ATOMS, UNIFORM
from theoryverify.papers.lca.placed import SOME_DEPTHS, START_ONLY, Start, start_of
from theoryverify.papers.lca.theory import T, beta
from theoryverify.papers.lca.two import profile
from theoryverify.papers.lca.window import derivative_within, exceeds

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
_START = EW / (1 - _rho) ** 2


@G6.check(
    "bound at the start",
    PROVED,
    formula=_START,
    controls={"1/(1+ρ)²": EW / (1 + _rho) ** 2, "1/(1-ρ²)": EW / (1 - _rho**2)},
    mutate=False,
)
def bound_at_start(C0: sympy.Expr, examination: Examination) -> Evidence:
    """V <= Q <= ρ^{2T} and D = E(1-u)² >= (1-ρ^T)² from |u| <= ρ^T, ρ < 1."""
    examination.lemma(
        "(1-u)² - (1-v)² = (v-u)(2-u-v) >= 0 for u <= v <= 1",
        decide_identity((1 - m_T) ** 2 - (1 - Q_T) ** 2, (Q_T - m_T) * (2 - m_T - Q_T)),
    )
    # 1-ρ^T >= 1-ρ: with ρ = 1/(1+y), (1-ρ^T)/(1-ρ) is a geometric sum that starts with 1.
    examination.lemma(
        "1-ρ^T = (1-ρ)(1 + ρΣ...)",
        decide_identity((1 - _rho ** (T + 1)), (1 - _rho) + _rho * (1 - _rho**T)),
    )
    # So C_0 is the value of the bound at T = 1, divided by ρ².
    bound = EW * _rho ** (2 * T) / (1 - _rho**T) ** 2
    examination.identity("C₀ρ² is the bound at T = 1", bound.subs(T, 1), C0 * _rho**2)
    return examination.evidence("every T >= 1, β₀ in the window, law")


@G6.check(
    "T'(β₀)",
    CERTIFIED,
    formula=_START,
    controls={
        "C₀ = E[W]/1000": EW / 1000,
        "1/(1+ρ)⁸": EW / (1 + _rho) ** 8,
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


claims = [G4, G6, KNOWN, G8, G9]
