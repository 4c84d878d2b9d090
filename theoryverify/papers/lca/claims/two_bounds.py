"""Lemmas G.4 to G.9: F_T near the window's ends and at the start, T'(β₀), and G_T' on compacts."""

from __future__ import annotations

from fractions import Fraction

import sympy
from flint import arb

from theoryverify.claims import CERTIFIED, PROVED, Claim, Context, Evidence, Examination
from theoryverify.claims.statements import equals, within
from theoryverify.exact.balls import Enclosure, ball, precision
from theoryverify.exact.densities import ScaledBeta, Uniform
from theoryverify.exact.evaluate import BALL, compiled
from theoryverify.exact.identities import decide_identity
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Law, TwoPoint
from theoryverify.exact.rationals import rational
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.appendix_g import constants
from theoryverify.papers.lca.claims.two_profile import EW, Q_T, m_T
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, ATOMS, UNIFORM
from theoryverify.papers.lca.placed import IN_WINDOW, SOME_DEPTHS, START_ONLY, Start, start_of
from theoryverify.papers.lca.stated import exactly, profile_loss
from theoryverify.papers.lca.theory import T, a, b, beta
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
                _above(case, depth, height, low, high),
                f"F_T > {float(Enclosure.of(height)):.3g} on t in [{low}, {high}]",
            )
    return examination.evidence(f"every β of both intervals, T in {depths}")


def _above(law: Law, depth: int, level: arb, low: Fraction, high: Fraction) -> bool | None:
    """``F_T > level`` by exact levels above and below it: a ball's width would swamp what the
    polynomials of a large depth leave after cancellation."""
    with precision(256):
        above, below = level.upper(), level.lower()
    if exceeds(law, depth, above, low, high):
        return True
    return False if exceeds(law, depth, below, low, high) is False else None


G6 = Claim(
    "lca.G.6",
    "Lemmas G.5 and G.6",
    r"\rho_0=\varphi(\beta_0):\ F_T(\beta_0)\le\frac{\mathbb E[W]\rho_0^{2T}}{(1-\rho_0^T)^2}"
    r"\le C_0\rho_0^{2T},\ C_0=\frac{\mathbb E[W]}{(1-\rho_0)^2};\quad T\ge T'(\beta_0):\ "
    r"C_0\rho_0^{2T}<\min_jc_jr_j^{2T}",
    title="the starting loss is small; T'(β₀) is explicit",
    hypotheses=(ASSUMPTION_6_1, IN_WINDOW),
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
    r"Z\sim U[2,5],\ \beta_0=-0.2:\ \rho_0=0.6,\ C_0=4.3411,\ r_R=0.85,\ r_L=0.755,\ N_L=1"
    r"\ \Rightarrow\ T'=17",
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
    r"\beta\in(-2/\overline Z,0),\ \varphi=\max(|1+\beta\underline Z|,|1+\beta\overline Z|)"
    r"=|1+\beta z^*|:\quad \mathbb P(|1+\beta Z|<\varphi)>0\Rightarrow F_T(\beta)^{1/2T}\to\varphi,"
    r"\quad \beta\ne-\alpha^*\Rightarrow G_T'(\beta)=\frac{F_T'}{2TF_T}\to(\log\varphi)'(\beta)"
    r"=\frac{z^*}{1+\beta z^*}",
    title="F_T^{1/2T} → φ, and away from -α* its logarithmic derivative",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.G.profile", "lca.G.stationary", "lca.G.6"),
    note="Mass where |1+βz| < φ is there unless β = -α* and Z sits on two points: then "
    "lca.G.8.two-atoms. At -α* both ends are active and φ has a kink. The uniformity over compacts "
    "is not mechanised.",
)

_z = sympy.Symbol("z", positive=True)
_ROOT = 1 + beta * _z
_LIMITS = (_ROOT, _z / _ROOT)
"""``±φ`` and its logarithmic derivative, where z is the active end ``z*``."""

_WRONG_LIMITS = {
    "φ with 1-βz": (1 - beta * _z, _LIMITS[1]),
    "1/(1+βz)": (_ROOT, 1 / _ROOT),
    "z/(1-βz)": (_ROOT, _z / (1 - beta * _z)),
    "2z/(1+βz)": (_ROOT, 2 * _LIMITS[1]),
    "the rate + 1%": (_ROOT, _LIMITS[1] * sympy.Rational(101, 100)),
}


@G8.check("every law", PROVED, formula=_LIMITS, controls=_WRONG_LIMITS)
def limits_at_a_point(formula: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    """Both limits from means that concentrate at z*; ``q = 1+βZ``, ``u = q^T``, μ weighted with W.

    F_T: for ``y < x < φ`` with ``p = μ(|q| >= x)``, ``p' = μ(|q| <= y)`` positive,
    ``V >= pp'(x^T-y^T)²`` and ``D <= 4``, while ``F_T <= E[W]φ^{2T}/(1-φ^T)²`` (lca.G.6 at β); so
    ``F_T^{1/2T}`` ends between x and φ, for each such x.

    G_T': by Cauchy-Schwarz ``|m| <= √Q <= 1`` and ``|R| <= 4√(LQ)/φ``, ``L = E[(Z-z*)²q^{2T-2}]``.
    By Laplace's principle ``L/Q → 0`` and ``limsup m²/Q <= μ({z*}) < 1``, so that ``V = Q-m²`` keeps
    a share of Q: ``R/V → 0``. And ``m, Q → 0``.
    """
    root, rate = formula
    end = 1 + beta * _z
    examination.identity("u at z* is ±φ^T", end**T, root**T)
    examination.identity("(log φ)'", sympy.diff(root, beta), rate * root)
    q = 1 + beta * Z
    for k in (1, 2):
        examination.identity(
            f"Zq^{{{k}T-1}} = λq^{{{k}T}} + (Z-z*)q^{{{k}T-1}}/(1+βz*)",
            Z * q ** (k * T - 1),
            rate * q ** (k * T) + (Z - _z) * q ** (k * T - 1) / end,
        )
    # So m' = T(λm + e_1) and Q' = 2T(λQ + e_2), where e_k is the mean of the last term.
    e1, e2, slope = sympy.symbols("e_1 e_2 lambda", real=True)
    V, D = Q_T - m_T**2, 1 - 2 * m_T + Q_T
    dm, dQ = T * (slope * m_T + e1), 2 * T * (slope * Q_T + e2)
    F_slope = (1 - m_T) * (dQ * (1 - m_T) - 2 * dm * (m_T - Q_T)) / D**2
    examination.lemma(
        "G_T' = (1-m)/D · (λ + R/V), R = e_2(1-m) - e_1(m-Q)",
        decide_identity(
            F_slope / (2 * T * V / D),
            (1 - m_T) / D * (slope + (e2 * (1 - m_T) - e1 * (m_T - Q_T)) / V),
        ),
    )
    u, v = sympy.symbols("u v", real=True)
    examination.lemma(
        "V is half the mean of (u-u')² over pairs",
        decide_identity((u - v) ** 2 / 2, (u**2 + v**2) / 2 - u * v),
    )
    examination.lemma(
        "D <= 4: (1+v)² - (1-u)² = (u+v)(2+v-u) >= 0 for |u| <= v <= 1",
        decide_identity((1 + v) ** 2 - (1 - u) ** 2, (u + v) * (2 + v - u)),
    )
    examination.assume(
        "Laplace's principle: q^{2T}dμ/E_μ[q^{2T}] concentrates at z*, where |q| is largest"
    )
    examination.assume("the Cauchy-Schwarz inequality")
    return examination.evidence("every β as stated, every law that meets Assumption 6.1, T → ∞")


@G8.check(
    "at points",
    CERTIFIED,
    formula=_LIMITS,
    controls=_WRONG_LIMITS,
    cases=(UNIFORM, ScaledBeta(2, 5, "1/2", "1/2"), TwoPoint(2, 5, "1/3")),
    mutate=False,
)
def limits_in_numbers(
    formula: tuple[sympy.Expr, sympy.Expr], case: Law, examination: Examination
) -> Evidence:
    """At T = 4000 the derivative is within 0.2% of its limit, and the root within 1%."""
    depth, middle = 4000, -2 / (case.lower + case.upper)
    for at_beta in map(Fraction, ("-33/100", "-39/100", "-27/100", "-1/10")):
        active = case.upper if at_beta < middle else case.lower
        found = profile(case, at_beta, depth, 12)
        assert found.log_derivative is not None
        with precision(128):
            values = {"beta": ball(at_beta), "z": ball(active)}
            phi, rate = (compiled(part, BALL)(values, False) for part in formula)
            ratio = Enclosure.of(found.log_derivative.ball() / rate)
            root = Enclosure.of((found.loss.ball().log() / (2 * depth)).exp() / abs(phi))
        for name, value, slack in (("G_T'/limit", ratio, "0.002"), ("F^{1/2T}/φ", root, "0.01")):
            low, high = (1 - Fraction(slack), 1 + Fraction(slack))
            sides = value.greater_than(low), value.less_than(high)
            verdict = None if None in sides else bool(sides[0] and sides[1])
            examination.decide(f"{name} at β = {at_beta}", verdict, f"{value}")
    return examination.evidence(f"T = {depth}, four points of β")


G8_ATOMS = Claim(
    "lca.G.8.two-atoms",
    "Lemma G.8 (iv) at β = -α*, for a law of two atoms: a counterexample (ours)",
    r"\mathbb P(Z\in\{\underline Z,\overline Z\})=1,\ "
    r"\pi=\mathbb E[W;Z=\underline Z]/\mathbb E[W],\ s=(-1)^T:\quad "
    r"F_T(-\alpha^*)=\mathbb E[W]\frac{\pi(1-\pi)(1-s)^2r^{2T}}{\pi(1-r^T)^2+(1-\pi)(1-sr^T)^2};"
    r"\quad F_T^{1/2T}=0\ (T\text{ even}),\ \to r=\varphi(-\alpha^*)\ (T\text{ odd})",
    title="two atoms: at -α*, F_T^{1/2T} is 0 for even T and tends to φ for odd T",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.G.profile",),
    note="So the lemma needs mass inside (Z̲, Z̄), or a compact set without -α*. Theorem 6.3 is not "
    "touched: -α* is the limit of β*_T there too.",
)

_pi, _x = sympy.symbols("pi x", positive=True)
_s = sympy.Symbol("s", real=True)


def _two_atoms(place: sympy.Expr, high: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
    """β, and F_T there if ``u`` is ``x = r^T`` at Z̲ and ``high`` at Z̄."""
    distance = _pi * (1 - _x) ** 2 + (1 - _pi) * (1 - high) ** 2
    return place, EW * _pi * (1 - _pi) * (_x - high) ** 2 / distance


_MIDDLE = -2 / (a + b)
_AT_MIDDLE = _two_atoms(_MIDDLE, _s * _x)
_WRONG_MIDDLE = {
    "even and odd T exchanged": _two_atoms(_MIDDLE, -_s * _x),
    "no parity: never 0": _two_atoms(_MIDDLE, -_x),
    "no parity: always 0": _two_atoms(_MIDDLE, _x),
    "1% more": (_MIDDLE, _AT_MIDDLE[1] * sympy.Rational(101, 100)),
}


@G8_ATOMS.check(
    "opposite bases",
    PROVED,
    formula=_AT_MIDDLE,
    controls=_WRONG_MIDDLE | {"at -1/Z̄": (-1 / b, _AT_MIDDLE[1])},
    mutate=False,
)
def opposite_bases(formula: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    place, loss = formula
    ratio = (b - a) / (a + b)
    examination.identity("1+βZ̲ = r", 1 + place * a, ratio)
    examination.identity("1+βZ̄ = -r", 1 + place * b, -ratio)
    examination.lemma("(-r)^T = (-1)^T r^T", decide_identity((-_x) ** T, (-1) ** T * _x**T))
    for s in (1, -1):
        m, Q = (_pi * _x**k + (1 - _pi) * (s * _x) ** k for k in (1, 2))
        examination.identity(
            f"F_T = E[W](Q-m²)/(1-2m+Q), (-1)^T = {s}",
            EW * (Q - m**2) / (1 - 2 * m + Q),
            loss.subs(_s, s),
        )
    # Odd T: F_T is r^{2T} times what tends to a positive number, as r < 1.
    share = sympy.cancel(loss.subs(_s, -1) / _x**2)
    examination.identity("F_T/r^{2T} at r^T = 0", share.subs(_x, 0), 4 * _pi * (1 - _pi) * EW)
    return examination.evidence("every T, 1 < a < b and weight")


@G8_ATOMS.check(
    "a law in numbers",
    CERTIFIED,
    formula=_AT_MIDDLE,
    controls=_WRONG_MIDDLE,
    cases=(TwoPoint(2, 5, "1/3"),),
    mutate=False,
)
def atoms_in_numbers(
    formula: tuple[sympy.Expr, sympy.Expr], case: TwoPoint, examination: Examination
) -> Evidence:
    place, loss = formula
    low, high = case.lower, case.upper
    share = {z: mass * (z - 1) / z for z, mass in case.atoms.items()}
    mean = sum(share.values(), Fraction(0))
    at_beta = rational(place.subs({a: exactly(low), b: exactly(high)}))
    for depth in (10, 11, 101):
        u = {z: (1 + at_beta * z) ** depth for z in share}
        m, Q = (sum(share[z] * u[z] ** k for z in share) for k in (1, 2))
        found = (mean * Q - m**2) / (mean - 2 * m + Q)
        power = ((high - low) / (high + low)) ** depth
        known = {_x: power, EW: mean, _pi: share[low] / mean}
        stated = loss.subs({symbol: exactly(value) for symbol, value in known.items()})
        stated = stated.subs(_s, (-1) ** depth)
        examination.decide(
            f"F_T(-α*) at T = {depth}",
            found == rational(stated),
            f"{float(found):.4g}",
            by=equals(profile_loss(case, depth, at_beta), stated),
        )
        enclosure = profile(case, at_beta, depth).loss
        examination.lemma(
            f"the enclosure at T = {depth}",
            enclosure.contains(found),
            f"{enclosure}",
            by=within(profile_loss(case, depth, at_beta), enclosure),
        )
    return examination.evidence("T = 10, 11, 101, exact rational arithmetic")


G9 = Claim(
    "lca.G.9",
    "Lemma G.9, uniformly on a compact set, Uniform[2,5]",
    r"Z\sim U[2,5]:\ \sup_{\beta\in K}|G_T'-(\log\varphi)'|<0.42,\,0.22,\,0.175\ (T=10,30,100),\quad "
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


claims = [G4, G6, KNOWN, G8, G8_ATOMS, G9]
