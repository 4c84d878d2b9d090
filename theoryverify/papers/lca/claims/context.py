"""Appendix E and (6.1): the limit in the context length, and the whitening limit in depth."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy
from flint import fmpq, fmpq_mat

from theoryverify.claims import CERTIFIED, PROVED, Claim, Evidence, Examination
from theoryverify.claims.statements import Evaluated, Statement, less, matrices, same, within
from theoryverify.exact.balls import Enclosure, ball, precision
from theoryverify.exact.evaluate import BALL, compiled
from theoryverify.exact.identities import decide_identity
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Law
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, LAWS
from theoryverify.papers.lca.theory import T, a, alpha, b, beta, s

# -- what the stack computes --------------------------------------------------------------------

GD = Claim(
    "lca.gradient-descent",
    "Section 5, read: what LCA_T with its readout computes (ours)",
    r"\hat w_T=\tfrac1L F_Ty,\ \beta=-\alpha:\quad \hat w_T=\hat w_{T-1}"
    r"-\alpha\big(\hat\Sigma\hat w_{T-1}-\tfrac1LXy\big),\ \hat w_0=0",
    title="LCA_T with its readout is T steps of gradient descent on the context's least squares",
    depends_on=("lca.E.1", "lca.E.2"),
)

_old, _target = sympy.symbols("w_old Xy", real=True)
_GD = _old - alpha * (s * _old - _target)


@GD.check(
    "induction",
    PROVED,
    formula=_GD,
    controls={
        "step 2α": _old - 2 * alpha * (s * _old - _target),
        "with weight decay": _old - alpha * (s * _old - _target) - alpha * _old,
        "step towards -Xy": _old - alpha * (s * _old + _target),
    },
)
def gradient_descent(step: sympy.Expr, examination: Examination) -> Evidence:
    # ŵ_T = P_T(Σ̂)(Xy/L); matrices commute, so one eigenvalue s carries them.
    stack = theory.tied(theory.state_polynomial()) * _target
    examination.identity("ŵ_0 = 0", stack.subs(T, 0), sympy.Integer(0))
    examination.identity("one layer is one step", stack.subs(T, T + 1), step.subs(_old, stack))
    # It is the gradient of the mean squared error on the context, halved.
    w = sympy.Symbol("w", real=True)
    risk = s * w**2 / 2 - _target * w
    examination.identity(
        "the step is -α times the gradient of |Xᵀw - y|²/(2L)",
        step,
        (w - alpha * sympy.diff(risk, w)).subs(w, _old),
    )
    return examination.evidence("every d, L, X, y, T, α")


def _in_words(depth: int, rate: fmpq, steps: tuple[fmpq, ...], size: int) -> Statement:
    """The same on a prompt of any size, as words in X and y."""
    d, n = sympy.symbols("d n", integer=True, positive=True)
    X, y = sympy.MatrixSymbol("X", d, n), sympy.MatrixSymbol("y", n, 1)
    step, *others = (sympy.Rational(int(c.p), int(c.q)) for c in (rate, *steps))
    own, pull, push = others
    F: Any = step * X
    w: Any = push * X * y / size
    for _ in range(depth - 1):
        F = F + step * X - step * X * X.T * F / size
        w = own * w + pull * X * X.T * w / size + push * X * y / size
    return matrices(F * y / size, w)


@GD.check(
    "literal prompt in rationals",
    CERTIFIED,
    formula=_GD,
    controls={"step 2α": _old - 2 * alpha * (s * _old - _target)},
    mutate=False,
)
def literal_descent(step: sympy.Expr, examination: Examination) -> Evidence:
    d, L, rate = 3, 5, fmpq(2, 9)
    X = fmpq_mat(d, L, [fmpq((7 * k * k + 3 * k) % 11 - 5, 1 + k % 4) for k in range(d * L)])
    y = fmpq_mat(L, 1, [fmpq(k * k % 7 - 3, 2) for k in range(L)])
    sigma, target = X * X.transpose() / L, X * y / L
    F, w = fmpq_mat(d, L), fmpq_mat(d, 1)
    # The stated step is linear in (w_old, Σ̂w_old, Xy): read its three coefficients off.
    expanded = sympy.expand(step.subs(alpha, sympy.Rational(2, 9)))
    own, pull, push = (
        fmpq(int(c.p), int(c.q))
        for c in (
            expanded.coeff(_old, 1).coeff(s, 0),
            expanded.coeff(_old, 1).coeff(s, 1),
            expanded.coeff(_target, 1),
        )
    )
    for layer in range(1, 5):
        F = F + rate * X - rate * (X * (X.transpose() * F)) / L
        w = own * w + pull * (sigma * w) + push * target
        examination.decide(
            f"(1/L)F_{layer}y = ŵ_{layer}",
            bool(F * y / L == w),
            "exact matrices",
            by=partial(_in_words, layer, rate, (own, pull, push), L),
        )
    return examination.evidence(f"one exact rational prompt, d = {d}, L = {L}, T = 1..4")


# -- Lemma E.1, the limit -----------------------------------------------------------------------

LIMIT = Claim(
    "lca.E.1.limit",
    "Lemma E.1, the limit in L",
    r"\hat y_q\to\langle w,\Sigma_xP_T(\Sigma_x)x_q\rangle \text{ a.s., and } \ell_L\to\ell;\quad "
    r"\operatorname{Var}(\tfrac1L\textstyle\sum\varepsilon_if_i\mid X,m,\zeta)"
    r"=\tfrac{\sigma^2}{L}P_T(\hat\Sigma)\hat\Sigma P_T(\hat\Sigma)",
    title="ŷ_q → ⟨w,Σ_xP_T(Σ_x)x_q⟩; the noise term has variance (σ²/L)P_T²Σ̂",
    depends_on=("lca.C.1", "lca.C.2", "lca.E.1", "lca.E.2"),
)

_L, _sigma2 = sympy.Symbol("L", integer=True, positive=True), sympy.Symbol("sigma2", positive=True)
_P = theory.state_polynomial()
_NOISE = _sigma2 / _L * _P**2 * s


@LIMIT.check(
    "noise term and gain",
    PROVED,
    formula=(_NOISE, s * _P),
    controls={
        "σ²/L²": (_NOISE / _L, s * _P),
        "P_T instead of P_T²": (_sigma2 / _L * _P * s, s * _P),
        "gain P_T": (_NOISE, _P),
    },
)
def noise_term(formula: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    variance, gain = formula
    # (1/L)Σ ε_i f_i = (1/L)P_T(Σ̂)Xε; its covariance given X is (σ²/L²) P XXᵀ P, and XXᵀ = LΣ̂.
    examination.identity("covariance", _sigma2 / _L**2 * _P * (_L * s) * _P, variance)
    examination.identity("it vanishes as 1/L", sympy.limit(variance / _sigma2, _L, sympy.oo), 0)
    examination.identity("(1/L)XFᵀ = Σ̂P_T(Σ̂)", alpha / beta * ((1 + beta * s) ** T - 1), gain)
    examination.identity("on m, where Σ_x is Z", gain.subs(s, Z), alpha * theory.S())
    examination.assume("strong law and continuity of polynomials in Σ̂")
    examination.assume("Jensen: E[(tr Σ̂)^p | m] <= E[|x|^{2p} | m], bounded since |m| is")
    return examination.evidence("every T, α, β, bounded |m|: a.s. and in every L^p")


# -- (6.1) --------------------------------------------------------------------------------------

WHITE = Claim(
    "lca.6.1",
    "(6.1)",
    r"\tfrac1LXF_T^\top\to I_d\ (L\to\infty,\text{ then }T\to\infty)\text{ at }\alpha^*:\quad "
    r"\|\cdot-I\|_F^2=(d-1)(1-\alpha)^{2T}+(1-\alpha Z)^{2T};\quad d\ge2:\ "
    r"\|\cdot-I\|_F^{1/T}\to1-\alpha^*\ge r,\text{ with equality iff }\underline Z=1",
    title="the whitening limit, for d >= 2 at rate (1-α*)^T, not faster than the risk's r^T",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.E.1.limit", "lca.E.2", "lca.C.2", "lca.F.3"),
    note="Orthogonal to the task the error is (1-α*)^T, slower than r^T unless Z̲ = 1. For d = 1 no "
    "direction is orthogonal: the error is |1-α*Z|^T, at most r^T.",
)

_d = sympy.Symbol("d", integer=True, positive=True)
_ERROR = (_d - 1) * (1 - alpha) ** (2 * T) + (1 - alpha * Z) ** (2 * T)
_SLOW = 1 - theory.alpha_limit()
_WHITE = (_ERROR, _SLOW, 2)  # ‖·-I‖_F², its rate, and the least d that has it


@WHITE.check(
    "eigenvalues",
    PROVED,
    formula=_WHITE,
    controls={
        "d for d-1": (_d * (1 - alpha) ** (2 * T) + (1 - alpha * Z) ** (2 * T), *_WHITE[1:]),
        "T for 2T": ((_d - 1) * (1 - alpha) ** T + (1 - alpha * Z) ** T, *_WHITE[1:]),
        "rate r": (_ERROR, theory.contraction(), 2),
        "d = 1": (_ERROR, _SLOW, 1),
    },
)
def whitening(formula: tuple[sympy.Expr, sympy.Expr, int], examination: Examination) -> Evidence:
    error, rate, least = formula
    # Σ_x has eigenvalue 1 on m^⊥ (d-1 times) and Z on m.
    sigma = theory.covariance_x()
    examination.identity("Σ_x on m^⊥", sigma.iso, sympy.Integer(1))
    gap = theory.tied(s * _P) - 1
    examination.identity("eigenvalue of (1/L)XFᵀ - I", gap, -((1 - alpha * s) ** T))
    squared = (_d - 1) * (gap**2).subs(s, sigma.iso) + (gap**2).subs(s, Z)
    examination.identity("‖(1/L)XFᵀ - I‖_F²", squared, error)
    # Hence (d-1)ρ^{2T} <= ‖·‖² <= dρ^{2T} at α*, ρ = 1-α*, as |1-α*Z| <= r <= ρ.
    examination.decide(f"d-1 > 0 from d = {least} on", least > 1, by=less(1, least))
    best, r = theory.alpha_limit(), theory.contraction()
    examination.identity("rate on m^⊥ at α*", 1 - best, rate)
    examination.lemma(
        "r² - (1-α*Z)² = α*²(Z-a)(b-Z)",
        decide_identity(r**2 - (1 - best * Z) ** 2, best**2 * (Z - a) * (b - Z)),
    )
    examination.identity("1-α*-r = 2(a-1)/(a+b), and a >= 1", rate - r, 2 * (a - 1) / (a + b))
    return examination.evidence(
        f"every T, law that meets Assumption 6.1; the norm for every d, its rate for d >= {least}"
    )


@WHITE.check(
    "whitening at α*_T",
    CERTIFIED,
    formula=_WHITE,
    controls={
        "rate r": (_ERROR, theory.contraction(), 2),
        "rate (1-α*)^2": (_ERROR, _SLOW**2, 2),
        "d = 1": (_ERROR, _SLOW, 1),
    },
    cases=LAWS,
    mutate=False,
)
def whitening_rate(
    formula: tuple[sympy.Expr, sympy.Expr, int], case: Law, examination: Examination
) -> Evidence:
    """The T-th root of the error, at α*_T and the worst Z, is within 3% of the rate at T = 1000."""
    stated, rate, least = formula
    depth, dimensions = 1000, (least, 10)
    found = alpha_star(case, depth, 40).enclosure
    ends = {a: case.lower, b: case.upper}
    stated = stated.subs(T, depth)
    number = stated ** sympy.Rational(1, 2 * depth) / rate
    for dimension in dimensions:
        for end in (case.lower, case.upper):
            with precision(200):
                values = {"alpha": found.ball(), "Z": ball(end), "d": ball(dimension)}
                values |= {"a": ball(case.lower), "b": ball(case.upper)}
                error = compiled(stated, BALL)(values, False)
                root = (error.log() / (2 * depth)).exp()
                ratio = Enclosure.of(root / compiled(rate, BALL)(values, False))
            low, high = ratio.greater_than("0.97"), ratio.less_than("1.03")
            verdict = None if None in (low, high) else bool(low and high)
            examination.decide(
                f"error^(1/T)/rate at Z = {end}, d = {dimension}", verdict, f"{ratio}",
                by=within(Evaluated(number, ends | {Z: end, "d": dimension}),
                          (Fraction(97, 100), Fraction(103, 100)), alpha=found),
            )  # fmt: skip
    return examination.evidence(f"T = {depth}, d in {dimensions}")


# -- general ζ ----------------------------------------------------------------------------------

ZETA = Claim(
    "lca.loss.general-zeta",
    "Section 6: what if ζ depends on m (ours)",
    r"\ell=\mathbb E\big[\zeta^2\,W(1-\alpha S_T)^2\big]"
    r"=\mathbb E\big[\mathbb E[\zeta^2|m]\,W(1-\alpha S_T)^2\big]",
    title="if ζ depends on m, W and 1/Z carry E[ζ²|m]; α* and its limit keep their form",
    depends_on=("lca.loss",),
    note="Theorem F.3 and Lemma F.1 survive: only the weight changes, and the support of the weighted "
    "law. Theorem 4.1 does not: its proof uses ζ ⟂ m.",
)

_v = sympy.Function("v")(Z)  # E[ζ²|m] as a function of Z
_GENERAL = _v * theory.signal_share() * (1 - alpha * theory.S()) ** 2


@ZETA.check(
    "conditioning on m",
    PROVED,
    formula=_GENERAL,
    controls={
        "ζ⁴": _v**2 * theory.signal_share() * (1 - alpha * theory.S()) ** 2,
        "without the weight": theory.signal_share() * (1 - alpha * theory.S()) ** 2,
    },
    mutate=False,
)
def conditioning(loss: sympy.Expr, examination: Examination) -> Evidence:
    """``E[(y-ŷ)²|m,ζ] - Bayes`` is ζ² times the same function of Z; then ``E[·|m]``."""
    given = theory.signal_variance() * (1 - theory.predictor_gain()) ** 2
    per_square = sympy.cancel(given / theory.zeta**2)
    examination.decide(
        "ζ enters only as ζ²",
        theory.zeta not in per_square.free_symbols,
        "",
        by=same(given, theory.zeta**2 * per_square),
    )
    letter = sympy.Symbol("v_", positive=True)
    examination.identity(
        "E[ζ²|m] times the loss at unit ζ",
        letter * theory.in_terms_of_z(per_square),
        loss.subs(_v, letter),
    )
    # Stationarity keeps its form: the weight multiplies, and does not move, the roots' bracket.
    tied = theory.tied(loss.subs(_v, letter))
    examination.identity(
        "R_T' keeps its form",
        sympy.diff(tied, alpha),
        letter * theory.one_parameter_gradient(),
    )
    return examination.evidence("every law of (m, ζ) with E[ζ²|m] a function of |m|")


claims = [GD, LIMIT, WHITE, ZETA]
