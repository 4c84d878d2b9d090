"""Appendix G to Lemma G.3: the loss in β alone, where it is stationary, and bounds of α."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from theoryverify.claims import CERTIFIED, PROVED, Claim, Context, Evidence, Examination
from theoryverify.claims.statements import agree
from theoryverify.claims.statements import mean as expectation
from theoryverify.exact.balls import Enclosure, ball, precision
from theoryverify.exact.densities import Ball
from theoryverify.exact.evaluate import BALL, compiled
from theoryverify.exact.identities import decide_identity
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Law
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, ATOMS, UNIFORM
from theoryverify.papers.lca.placed import LAW_DEPTH
from theoryverify.papers.lca.theory import T, alpha, beta
from theoryverify.papers.lca.two import profile

EW = sympy.Symbol("EW", positive=True)
"""``E[W]``."""

m_T, Q_T = sympy.symbols("m Q", positive=True)
"""The means of ``u = (1+βZ)^T`` and of ``u²`` that are weighted with W."""

BEST_STEP = -beta * (1 - m_T) / (1 - 2 * m_T + Q_T)
"""``α*(β)``."""

_A, _B = sympy.symbols("A B", positive=True)

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

_PROFILE = (
    _B / _A,
    EW * (Q_T - m_T**2) / (1 - 2 * m_T + Q_T),
    BEST_STEP,
)
_WRONG_PROFILE = {
    "α* = A/B": (_A / _B, *_PROFILE[1:]),
    "V = Q - m": (_PROFILE[0], EW * (Q_T - m_T) / (1 - 2 * m_T + Q_T), _PROFILE[2]),
    "D = 1-m+Q": (_PROFILE[0], EW * (Q_T - m_T**2) / (1 - m_T + Q_T), _PROFILE[2]),
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
    quadratic = EW - 2 * alpha * _B + alpha**2 * _A
    examination.identity(
        "stationary in α", sympy.diff(quadratic, alpha).subs(alpha, best), sympy.Integer(0)
    )
    # S = (u-1)/β: A = E[W](1-2m+Q)/β², B = E[W](m-1)/β.
    moments = {_A: EW * (1 - 2 * m_T + Q_T) / beta**2, _B: EW * (m_T - 1) / beta}
    examination.identity("F_T", (EW - _B**2 / _A).subs(moments), loss)
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
        moments = {EW: e, m_T: m / e, Q_T: q / e, _A: A, _B: B, beta: exact}
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
_STATION = _dQ * (1 - m_T) - 2 * _dm * (m_T - Q_T)


@STATION.check(
    "quotient rule",
    PROVED,
    formula=_STATION,
    controls={
        "m' for 2m'": _dQ * (1 - m_T) - _dm * (m_T - Q_T),
        "Q'(1+m)": _dQ * (1 + m_T) - 2 * _dm * (m_T - Q_T),
        "m+Q": _dQ * (1 - m_T) - 2 * _dm * (m_T + Q_T),
    },
)
def quotient_rule(equation: sympy.Expr, examination: Examination) -> Evidence:
    x = sympy.Symbol("x")
    m, Q = sympy.Function("m_")(x), sympy.Function("Q_")(x)
    loss = (Q - m**2) / (1 - 2 * m + Q)
    slope = sympy.diff(loss, x).subs({m.diff(x): _dm, Q.diff(x): _dQ}).subs({m: m_T, Q: Q_T})
    examination.identity(
        "F' = E[W](1-m)·equation/D²", slope, (1 - m_T) * equation / (1 - 2 * m_T + Q_T) ** 2
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

_BOUNDS = (EW / _A, (EW - 2 * alpha * _B + alpha**2 * _A) / _A)


@G23.check(
    "completing the square",
    PROVED,
    formula=_BOUNDS,
    controls={
        "E[W]/A²": (EW / _A**2, _BOUNDS[1]),
        "ℓ instead of ℓ/A": (_BOUNDS[0], _BOUNDS[1] * _A),
    },
)
def completing_the_square(
    formula: tuple[sympy.Expr, sympy.Expr], examination: Examination
) -> Evidence:
    square, distance = formula
    # α*² = B²/A² <= E[W]/A: the difference is F_T/A, and F_T >= 0 as a mean of squares.
    F = EW - _B**2 / _A
    examination.identity("E[W]/A - α*² = F_T/A", square - (_B / _A) ** 2, F / _A)
    # (α-α*)² = (ℓ-F_T)/A <= ℓ/A, and ℓ does not grow along its gradient flow.
    examination.identity("ℓ/A - (α-α*)² = F_T/A", distance - (alpha - _B / _A) ** 2, F / _A)
    return examination.evidence("every T >= 2, α, β; M* with A* = inf A > 0")


claims = [PROFILE, STATION, G1, G1_ONE, G23]
