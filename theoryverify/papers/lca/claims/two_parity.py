"""Beside Theorem 6.3 (ours): two atoms exactly, and how β*_T depends on the parity of T."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import sympy

from theoryverify.claims import CERTIFIED, PROVED, Claim, Evidence, Examination
from theoryverify.claims.statements import Evaluated, agree, less, within
from theoryverify.claims.statements import mean as expectation
from theoryverify.exact.balls import Enclosure, ball, precision
from theoryverify.exact.densities import Uniform
from theoryverify.exact.evaluate import BALL, compiled
from theoryverify.exact.identities import Decision, decide_identity
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Law, TwoPoint
from theoryverify.papers.lca import rate_theory, theory
from theoryverify.papers.lca.claims.two_profile import EW
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, UNIFORM
from theoryverify.papers.lca.stated import alpha_root, around, beta_root, exactly
from theoryverify.papers.lca.theory import T, a, b, beta
from theoryverify.papers.lca.two import beta_star

EVEN = Claim(
    "lca.6.3.two-point-even",
    "ours: two atoms, even depth",
    r"\mathbb P(Z=a)=1-\mathbb P(Z=b)\in(0,1),\ 1<a<b,\ T\text{ even}:\ F_T\big(-\tfrac{2}{a+b}\big)=0",
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
    # r < 1, so that u < 1 and F_T's denominator E_μ(1-u)² is not 0.
    examination.identity("1+βa = r", 1 + best * a, theory.contraction())
    ua, ub = ((1 + best * end) ** (2 * _n) for end in (a, b))
    examination.identity("u_a = u_b for T = 2n", ua, ub)
    p, ua_, ub_ = sympy.symbols("p u_a u_b", positive=True)
    m, Q = p * ua_ + (1 - p) * ub_, p * ua_**2 + (1 - p) * ub_**2
    examination.lemma(
        "V = p(1-p)(u_a-u_b)²", decide_identity(Q - m**2, p * (1 - p) * (ua_ - ub_) ** 2)
    )
    return examination.evidence("every even T, 1 < a < b and weight")


ODD = Claim(
    "lca.6.3.two-point-odd",
    "ours: two atoms, odd depth",
    r"\mathbb P(Z=a)=1-\mathbb P(Z=b)\in(0,1),\ 1<a<b,\ T\ge3\text{ odd}:\ \beta^*_T\text{ is the only "
    r"root of }S_aS_b'=S_bS_a'\text{ in }(-2/b,0)\text{, whatever the weights};\ "
    r"T=3:\ \beta^*_3=\frac{-(a+b)+\sqrt{a^2-ab+b^2}}{ab}",
    title="two atoms, odd T: β*_T does not depend on the weights",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.G.profile", "lca.uniqueness"),
    note="For even T it fails: there F_T = 0 where S_a = S_b (lca.6.3.two-point-even).",
)

_THREE = (-(a + b) + sympy.sqrt(a**2 - a * b + b**2)) / (a * b)
_WRONG_THREE = {
    "the other root": (-(a + b) - sympy.sqrt(a**2 - a * b + b**2)) / (a * b),
    "a²+ab+b²": (-(a + b) + sympy.sqrt(a**2 + a * b + b**2)) / (a * b),
    "-2/(a+b)": _BEST,
}
_DEPTH = 2 * _n + 1


@ODD.check(
    "weights cancel",
    PROVED,
    formula=(_THREE, _DEPTH),
    controls={name: (wrong, _DEPTH) for name, wrong in _WRONG_THREE.items()}
    | {"even T": (_THREE, 2 * _n)},
)
def weights_cancel(formula: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    three, depth = formula
    for name, decision in _odd_lemmas():
        examination.lemma(name, decision)
    # S = z(q^T-1)/(q-1) and βS = q^T-1: where q^T rises strictly, S > 0, and S_a = S_b at no β.
    # So F' vanishes where the Wronskian does, for all weights.
    q = sympy.Symbol("q", real=True)
    examination.identity(
        "q^T rises: d/dq is T times a square", sympy.diff(q**depth, q), depth * (q**_n) ** 2
    )
    # F' < 0 at -2/b, as S_a < S_b and |1-2a/b| < 1: so there is one root (lca.uniqueness).
    examination.identity(
        "S_bS_a' - S_aS_b' = b³T(1-q^{T-1})/4 at -2/b, q = 1-2a/b",
        _wronskian(theory.S(depth)).subs(beta, -2 / b),
        b**3 * depth * (1 - ((1 - 2 * a / b) ** _n) ** 2) / 4,
    )
    # At T = 3 it is the larger root: the quadratic's signs at the window's ends differ.
    examination.identity("T = 3: a root", sympy.expand(_QUADRATIC.subs(beta, three)), 0)
    examination.identity(
        "T = 3: the larger root", a * b * three + a + b, sympy.sqrt(a**2 - a * b + b**2)
    )
    return examination.evidence("every odd T >= 3, T = 3 in closed form; 1 < a < b, every weight")


_QUADRATIC = a * b * beta**2 + 2 * (a + b) * beta + 3


@lru_cache(maxsize=1)
def _odd_lemmas() -> list[tuple[str, Decision]]:
    """``F_T/E[W] = 1 - (E_μ S)²/E_μ S²`` of two atoms, its derivative, and the Wronskian at T = 3."""
    x, p = sympy.symbols("x p", positive=True)
    Sa, Sb = sympy.Function("S_a")(x), sympy.Function("S_b")(x)
    sa, sb, da, db = sympy.symbols("s_a s_b d_a d_b", real=True)
    loss = 1 - (p * Sa + (1 - p) * Sb) ** 2 / (p * Sa**2 + (1 - p) * Sb**2)
    slope = sympy.diff(loss, x).subs({Sa.diff(x): da, Sb.diff(x): db}).subs({Sa: sa, Sb: sb})
    first, second = p * sa + (1 - p) * sb, p * sa**2 + (1 - p) * sb**2
    factors = 2 * p * (1 - p) * (sa - sb) * first * (sb * da - sa * db) / second**2
    at_three = _wronskian(sympy.expand(sympy.cancel(theory.S(sympy.Integer(3)))))
    return [
        ("F' ∝ (S_a-S_b)(π_aS_a+π_bS_b)(S_bS_a'-S_aS_b')", decide_identity(slope, factors)),
        (
            "T = 3: S_bS_a' - S_aS_b' = -3ab(b-a)(abβ²+2(a+b)β+3)",
            decide_identity(at_three, -3 * a * b * (b - a) * _QUADRATIC),
        ),
        ("T = 3: the quadratic is 3 at 0", decide_identity(_QUADRATIC.subs(beta, 0), 3)),
        ("T = 3: -1 at -2/b", decide_identity(_QUADRATIC.subs(beta, -2 / b), -1)),
    ]


def _wronskian(S: sympy.Expr) -> sympy.Expr:
    """``S_bS_a' - S_aS_b'``."""
    slope = sympy.diff(S, beta)
    return S.subs(Z, b) * slope.subs(Z, a) - S.subs(Z, a) * slope.subs(Z, b)


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
    "ours: the rate of β*_T depends on the parity of T",
    r"Z\sim U[a,b],\ 1<a<b:\quad \beta^*_T=-\alpha^*_T(\text{one par.})"
    r"-\frac{(b-a)(b-1)(bx+sa)(s-x)}{2ab(a+b)^2\mathbb E[W]}\,T^{-2}+o(T^{-2}),"
    r"\ s=(-1)^T,\ x=\sqrt{\tfrac{a-1}{b-1}}",
    title="T²(β*_T + α*_T): a limit for even T and another for odd T",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.6.3.rate",),
    note="Certified at one depth of each parity; lca.6.3.rate derives it, for all densities.",
)

_parity = sympy.Symbol("s", real=True)
_root = sympy.sqrt((a - 1) / (b - 1))
_PARITY = (
    -(b - a)
    * (b - 1)
    * (b * _root + _parity * a)
    * (_parity - _root)
    / (2 * a * b * (a + b) ** 2 * EW)
)


@PARITY.check(
    "both parities",
    CERTIFIED,
    formula=_PARITY,
    controls={
        "no parity: s = 1": _PARITY.subs(_parity, 1),
        "the opposite sign": -_PARITY,
        "without E[W]": _PARITY * EW,
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
        known = {EW: expectation(case, theory.signal_share()), _parity: parity}
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
            rate_theory.mean_W: EW,
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


claims = [EVEN, ODD, PARITY]
