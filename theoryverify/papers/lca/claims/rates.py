"""The rate of α*_T for every pair of end exponents: two terms, and where a logarithm comes from."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import sympy

from theoryverify.claims import CERTIFIED, PROVED, Claim, Evidence, Examination, Hypothesis
from theoryverify.exact.balls import Enclosure, ball, precision
from theoryverify.exact.densities import Ball, ScaledBeta, Shell, Uniform
from theoryverify.exact.identities import Decision, decide_identity
from theoryverify.exact.laws import Law, TwoPoint
from theoryverify.papers.lca import rate_theory, theory
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, ATOMS, MIXED, UNIFORM
from theoryverify.papers.lca.rate import evaluated, within_for_all
from theoryverify.papers.lca.rate_theory import (
    Lambda,
    g_a,
    g_b,
    k_a,
    k_b,
)
from theoryverify.papers.lca.theory import T, a, alpha, b

WATSON = (
    "Taylor's theorem for the density at its ends; what lies beyond is smaller by an exponential "
    "factor (Watson's lemma)"
)
STIRLING = "log Γ(N+k+1)/Γ(N) = (k+1) log N + k(k+1)/(2N) + O(N⁻²)"

END_EXPANSIONS = Hypothesis(
    "end expansions",
    r"\text{at each end, }s\text{ away from it: a density }\textstyle\sum_{i\ge0}C_is^{k+i},\ C_0>0,\ "
    r"k>-1;\text{ or an atom }(k=-1)\text{ and a density with integer powers beside it}",
)

ENDS = Claim(
    "lca.F.3.ends",
    "ours: Theorem F.3 to two terms, for all end exponents",
    r"\alpha^*_T=\alpha^*\Big(1+\frac{r\Lambda}{2(2T)}+\frac{r^2\Lambda^2/4+\frac r2\big(\gamma_a-"
    r"\gamma_b-\frac{k_a(k_a+1)-k_b(k_b+1)}2-\frac{k_a+k_b}2\Lambda\big)}{(2T)^2}\Big)"
    r"+O\Big(\frac{\log^3T}{T^3}\Big),\quad \Lambda=\log\frac{g_a}{g_b}+(k_b-k_a)\log\frac{4T}{b-a}",
    title="α*_T to two terms: 1/T and 1/T², with log T where the end exponents differ",
    hypotheses=(ASSUMPTION_6_1, END_EXPANSIONS),
    depends_on=("lca.F.1", "lca.F.3"),
    note="k, g, γ: end exponents, masses and slopes of (z-1)P(dz); an atom has k = -1.",
)

_TWO_TERMS = rate_theory.alpha_expansion()
_FIRST, _SECOND = rate_theory.first_order(), rate_theory.second_order()
_STIRLING_PART = (
    theory.alpha_limit()
    * theory.contraction()
    * (k_a * (k_a + 1) - k_b * (k_b + 1))
    / (4 * (2 * T) ** 2)
)
_WRONG_TERMS = {
    "without the second term": _TWO_TERMS - _SECOND,
    "second term 1% too large": _TWO_TERMS + _SECOND / 100,
    "first term 10⁻³ too large": _TWO_TERMS + _FIRST / 1000,
    "without k(k+1)/2N (Stirling)": _TWO_TERMS + _STIRLING_PART,
    "first term over T², not T": _TWO_TERMS - _FIRST + _FIRST / T,
}


_RELATIVE = rate_theory.relative_terms()


@ENDS.check(
    "balance of the two ends",
    PROVED,
    formula=_RELATIVE,
    controls={
        "without the second term": (_RELATIVE[0], sympy.Integer(0)),
        "second term 1% too large": (_RELATIVE[0], _RELATIVE[1] * sympy.Rational(101, 100)),
        "T for 2T": (2 * _RELATIVE[0], 4 * _RELATIVE[1]),
        "without Λ² in the second": (_RELATIVE[0], _RELATIVE[1].subs(Lambda**2, 0)),
    },
)
def balance_of_ends(terms: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    """:mod:`.rate_theory`: both halves by Beta integrals, then the expansion put in."""
    for name, decision in halves():
        examination.lemma(name, decision)
    for order, coefficient in enumerate(rate_theory.balance(), 1):
        put_in = coefficient.subs({rate_theory.c_1: terms[0], rate_theory.c_2: terms[1]})
        examination.identity(f"the balance at order x^{order}, x = 1/2T", put_in, sympy.Integer(0))
    examination.assume(WATSON)
    examination.assume(STIRLING)
    return examination.evidence("every law with end expansions, T → ∞, uniformly in Λ = O(log T)")


@lru_cache(maxsize=1)
def halves() -> list[tuple[str, Decision]]:
    """The steps behind the balance: Beta integrals, distances, and that its root is stable.

    ``∫_0^ρ s^κ (1-s/ρ)^n ds = ρ^{κ+1} Γ(κ+1)Γ(n+1)/Γ(κ+n+2)``, by induction on n.
    """
    s, rho, kappa = sympy.symbols("s_ rho kappa", positive=True)
    n = sympy.Symbol("n", integer=True, positive=True)
    term = s ** (kappa + 1) * (1 - s / rho) ** n
    parts = (kappa + 1) * s**kappa * (1 - s / rho) ** n
    parts -= n / rho * s ** (kappa + 1) * (1 - s / rho) ** (n - 1)
    # Of Γ only its recurrence: G_1 = Γ(κ+1), G_2 = Γ(n), G_3 = Γ(κ+n+2).
    G1, G2, G3 = sympy.symbols("G_1 G_2 G_3", positive=True)
    left = (kappa + 1) * rho ** (kappa + 1) * G1 * (n * G2) / G3
    right = n / rho * rho ** (kappa + 2) * ((kappa + 1) * G1) * G2 / G3
    start = rho ** (kappa + 1) * G1 / ((kappa + 1) * G1)
    # 1/α at the distances ρ_a = w(1+θ), ρ_b = w(1-θ) from the ends, θ = (α*/α - 1)/r.
    w, theta = (b - a) / 2, (theory.alpha_limit() / alpha - 1) / theory.contraction()
    # log(P/N) falls with α, at least as fast as N log(ρ_a/ρ_b): an error ε in the balance moves
    # its root by O(ε/T).
    slope = sympy.diff(sympy.log((1 / alpha - a) / (b - 1 / alpha)), alpha)
    return [
        ("integration by parts", decide_identity(sympy.diff(term, s), parts)),
        ("the Γ quotient obeys it", decide_identity(left, right)),
        ("n = 0: ρ^{κ+1}/(κ+1)", decide_identity(sympy.diff(start, rho), rho**kappa)),
        ("1/α - a = w(1+θ)", decide_identity(1 / alpha - a, w * (1 + theta))),
        ("b - 1/α = w(1-θ)", decide_identity(b - 1 / alpha, w * (1 - theta))),
        (
            "d/dα log(ρ_a/ρ_b) = -(b-a)/((1-αa)(αb-1))",
            decide_identity(slope, -(b - a) / ((1 - alpha * a) * (alpha * b - 1))),
        ),
    ]


_LADDER = (10**4, 10**6)


def _scaled_error(expansion: sympy.Expr, law: Law, depth: int) -> Enclosure:
    """``T^{5/2} |α*_T - expansion|``: it falls where the error is ``O(log³T/T³)``."""
    found = alpha_star(law, depth, 40).enclosure
    with precision(220):
        error = abs(found.ball() - evaluated(expansion, law, depth))
        return Enclosure.of(error * ball(depth) ** 2 * ball(depth).sqrt())


_QUICK = (UNIFORM, TwoPoint("3/2", 4, "9/10"), ATOMS, Ball(4, 5), Shell(7, 2, 5), MIXED)
_MORE = (
    *(ScaledBeta(2, 5, p, q) for p, q in (("1/2", "5/2"), ("1/2", "1/2"), (2, 2))),
    ScaledBeta(1, 4, "1/2", 2),
    Uniform(1, 3),
)


def error_falls(expansion: sympy.Expr, case: Law, examination: Examination) -> Evidence:
    errors = [_scaled_error(expansion, case, depth) for depth in _LADDER]
    with precision(128):
        half = Enclosure.of(errors[0].ball() / 2)
    examination.less("T^(5/2)·error at T = 10⁶ below half of that at 10⁴", errors[1], half)
    return examination.evidence(f"T in {_LADDER}")


_WRONG_LADDER = _WRONG_TERMS | {"no logarithm": _TWO_TERMS.subs(Lambda, sympy.log(g_a / g_b))}
_ERROR = "error against the enclosures"
ENDS.check(
    _ERROR, CERTIFIED, formula=_TWO_TERMS, controls=_WRONG_LADDER, cases=_QUICK, mutate=False
)(error_falls)
ENDS.check(
    f"{_ERROR}, more laws",
    CERTIFIED,
    formula=_TWO_TERMS,
    controls=_WRONG_LADDER,
    cases=_MORE,
    mutate=False,
    preset="full",
)(error_falls)

_FROM = 100
_CONSTANTS: dict[Law, Fraction] = {
    UNIFORM: Fraction(3, 100),
    ScaledBeta(2, 5, 2, 2): Fraction(1, 5),
    Shell(8, 2, 5): Fraction(1),
}


@ENDS.check(
    "every depth from 100 on",
    CERTIFIED,
    formula=_TWO_TERMS,
    controls={
        name: _WRONG_TERMS[name]
        for name in (
            "without the second term",
            "second term 1% too large",
            "first term 10⁻³ too large",
        )
    },
    cases=tuple(_CONSTANTS),
    mutate=False,
)
def every_depth(expansion: sympy.Expr, case: Law, examination: Examination) -> Evidence:
    constant = _CONSTANTS[case]
    holds = within_for_all(expansion, case, _FROM, constant)
    # That three Taylor coefficients vanish is proved of this expansion alone.
    if holds and decide_identity(expansion, _TWO_TERMS).holds is not True:
        holds = None
    examination.decide(
        f"|α*_T - expansion| < {constant}/T³ for every T >= {_FROM}",
        holds,
        "the third Taylor coefficient of the balance over [0, 1/2T]",
    )
    depth = _FROM
    found = alpha_star(case, depth, 30).enclosure
    with precision(160):
        error = abs(found.ball() - evaluated(expansion, case, depth)) * depth**3
        examination.less(
            f"the same at T = {depth}, by the enclosure",
            Enclosure.of(error),
            Enclosure.exactly(constant),
        )
    return examination.evidence(f"every T >= {_FROM}")


# -- log T / T ----------------------------------------------------------------------------------

LOG = Claim(
    "lca.F.3.log",
    "ours: Theorem F.3, where the rate is log(T)/T",
    r"k_a\neq k_b\Rightarrow\alpha^*_T-\alpha^*\sim\frac{(k_b-k_a)(b-a)}{2(a+b)^2}\,"
    r"\frac{\log T}{T};\quad\text{a ball in }\mathbb R^d:\ \alpha^*_T=\frac2{1+b}-"
    r"\frac{b-1}{2T(1+b)^2}\Big[\frac d2\log 4T-\log\Gamma(\tfrac d2+1)\Big]+\cdots",
    title="log T/T for a ball, or an atom at one end and a density at the other",
    hypotheses=(ASSUMPTION_6_1, END_EXPANSIONS),
    depends_on=("lca.F.3.ends",),
    note="A ball reaches Z = 1, where the factor Z-1 raises the exponent from d/2-1 to d/2.",
)

_SLOPE = (k_b - k_a) * (b - a) / (2 * (a + b) ** 2)
_WRONG_SLOPE = {
    "no logarithm": sympy.Integer(0),
    "(b-a)/(a+b)²": 2 * _SLOPE,
    "the opposite sign": -_SLOPE,
    "1% more": _SLOPE * sympy.Rational(101, 100),
}


@LOG.check("derivative in log T", PROVED, formula=_SLOPE, controls=_WRONG_SLOPE)
def derivative_in_log(slope: sympy.Expr, examination: Examination) -> Evidence:
    first = (T * _FIRST).subs(Lambda, rate_theory.log_ratio())
    examination.identity("T d/dT of T(α*_T - α*)", T * sympy.diff(first, T), slope)
    # The ball: WZ dP = C s^{d/2} at Z = 1 and C(b-1)^{d/2} at b, so that e^Λ is
    C, gamma = sympy.symbols("C Gamma_", positive=True)
    steep, width = sympy.symbols("k w", positive=True)  # w = b - 1
    ratio = C * gamma / (C * width**steep) * (4 * T / width) ** (-steep)
    examination.lemma(
        "a ball: e^Λ = Γ(d/2+1)(4T)^{-d/2}", decide_identity(ratio, gamma * (4 * T) ** (-steep))
    )
    at_one = (b - 1) / (1 + b) ** 2 * Lambda / (2 * T)
    examination.lemma("its first term", decide_identity(_FIRST.subs(a, 1), at_one))
    return examination.evidence("every law with end expansions")


@LOG.check(
    "slope between T = 10⁴ and 10⁶",
    CERTIFIED,
    formula=_SLOPE,
    controls=_WRONG_SLOPE | {"the exponent at Z = 1 not raised": _SLOPE.subs(k_a, k_a - 1)},
    cases=(Ball(4, 5), Ball(6, 3), MIXED, UNIFORM),
    mutate=False,
)
def slope_of_logarithm(slope: sympy.Expr, case: Law, examination: Examination) -> Evidence:
    scaled = []
    for depth in _LADDER:
        found = alpha_star(case, depth, 30)
        with precision(160):
            scaled.append((found.enclosure.ball() - ball(found.limit)) * depth)
    with precision(160):
        seen = (scaled[1] - scaled[0]) / (ball(_LADDER[1]) / _LADDER[0]).log()
        gap = Enclosure.of(abs(seen - evaluated(slope, case, _LADDER[0])))
    examination.decide(
        "within 3·10⁻⁴", gap.less_than("0.0003"), f"{Enclosure.of(seen)}, off by {gap}"
    )
    return examination.evidence(f"T in {_LADDER}; uniform(2,5) for the slope 0")


claims = [ENDS, LOG]
