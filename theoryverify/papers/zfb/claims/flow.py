"""Lemmas 5.2 to 5.4: the flow of (u, V), what it conserves, and its minima."""

from __future__ import annotations

import sympy
from sympy import Rational, Symbol

from theoryverify.claims import PROVED, Claim, Evidence, Examination
from theoryverify.exact.identities import decide_identity
from theoryverify.papers.zfb import theory
from theoryverify.papers.zfb.claims.hypotheses import GAUSSIAN, POSITIVE
from theoryverify.papers.zfb.theory import OFF_DIAGONAL, ON_DIAGONAL, N, V, delta, lam, lam_j, u

FLOW = Claim(
    "zfb.5.2",
    "Lemma 5.2",
    r"\dot V=-u^2\Gamma\Lambda V\Lambda+u\Lambda^2,\quad "
    r"\dot u=-\operatorname{tr}[u\Gamma\Lambda V\Lambda V^\top-\Lambda^2V^\top]",
    title="the flow of (u, V)",
    hypotheses=(GAUSSIAN,),
    depends_on=("zfb.5.1", "zfb.5.2.blocks"),
)

_V_DOT = -(u**2) * theory.gamma() * lam * lam_j * V + delta * u * lam**2


@FLOW.check(
    "gradient",
    PROVED,
    formula=_V_DOT,
    controls={
        "u for u²": _V_DOT.subs(u**2, u),
        "Λ for Λ²": _V_DOT.subs(delta, delta / lam),
        "the other sign": -_V_DOT,
    },
)
def gradient(v_dot: sympy.Expr, examination: Examination) -> Evidence:
    entry = theory.loss_entry()
    for where, at in (("on the diagonal", ON_DIAGONAL), ("off the diagonal", OFF_DIAGONAL)):
        examination.identity(where, -sympy.diff(entry, V).subs(at), v_dot.subs(at))
    return examination.evidence("every d, N, Λ; in the eigenbasis the entries of V are uncoupled")


CONSERVED = Claim(
    "zfb.5.conserved",
    "proof of Theorem 4.1",
    r"\frac{d}{dt}\left(u^2-\|V\|_F^2\right)=0",
    title="u² - ‖V‖² is conserved",
    depends_on=("zfb.5.2",),
)


@CONSERVED.check(
    "Euler's relation",
    PROVED,
    formula=sympy.Integer(1),
    controls={"u² - 2‖V‖²": sympy.Integer(2), "u² + ‖V‖²": sympy.Integer(-1)},
)
def conserved(weight: sympy.Expr, examination: Examination) -> Evidence:
    """``u ∂_u ℓ = Σ V_ij ∂_ij ℓ`` entry by entry: ℓ depends on the products uV alone."""
    entry = theory.loss_entry()
    for where, at in (("on the diagonal", ON_DIAGONAL), ("off the diagonal", OFF_DIAGONAL)):
        here = entry.subs(at)
        examination.identity(where, u * sympy.diff(here, u), weight * V * sympy.diff(here, V))
    return examination.evidence("every d, N, Λ, u, V")


GAP = Claim(
    "zfb.5.3",
    "Lemma 5.3",
    r"\ell-\min\ell=\tfrac12\left\|\Gamma^{1/2}\Lambda^{1/2}(uV-\Gamma^{-1})\Lambda^{1/2}\right\|_F^2",
    title="the global minima are uV = Γ⁻¹",
    hypotheses=(POSITIVE,),
    depends_on=("zfb.5.1",),
)


@GAP.check(
    "complete the square",
    PROVED,
    formula=theory.limit_product(),
    controls={
        "1/Λ": 1 / lam,
        "1/Γ without the trace": 1 / ((1 + 1 / N) * lam),
        "Γ at N+1": theory.limit_product().subs(N, N + 1),
    },
)
def complete_the_square(best: sympy.Expr, examination: Examination) -> Evidence:
    g = theory.gamma()
    square = Rational(1, 2) * g * lam * lam_j * (u * V - delta * best) ** 2
    for where, at in (("on the diagonal", ON_DIAGONAL), ("off the diagonal", OFF_DIAGONAL)):
        floor = -delta * Rational(1, 2) * lam**2 / g
        left = (theory.loss_entry() - floor).subs(at)
        examination.identity(where, left, square.subs(at))
    return examination.evidence("every d, N, Λ: a sum of squares with positive weights Γ_iλ_iλ_j")


PL = Claim(
    "zfb.5.4",
    "Lemma 5.4",
    r"\|\nabla\ell\|^2\ge 2u^2\min_{ij}\Gamma_i\lambda_i\lambda_j\,(\ell-\min\ell)",
    title="a Polyak-Łojasiewicz inequality",
    hypotheses=(POSITIVE,),
    depends_on=("zfb.5.2", "zfb.5.3"),
    note="The constant is ours: the best that the gradient in V alone gives.",
)

_D, _excess, _least = (
    Symbol("D", real=True),
    Symbol("s", nonnegative=True),
    Symbol("m", positive=True),
)


@PL.check(
    "entry by entry",
    PROVED,
    formula=sympy.Integer(2),
    controls={"the constant 3": sympy.Integer(3), "close": Rational(11, 5)},
    mutate=False,
)
def polyak_lojasiewicz(constant: sympy.Expr, examination: Examination) -> Evidence:
    """With ``D = uV - δ/Γ``: ``∂_ij ℓ = u Γ_iλ_iλ_j D`` and ``ℓ - min ℓ = ½Σ Γ_iλ_iλ_j D²``."""
    g = theory.gamma()
    weight = g * lam * lam_j
    for where, at in (("on the diagonal", ON_DIAGONAL), ("off the diagonal", OFF_DIAGONAL)):
        slope = sympy.diff(theory.loss_entry(), V).subs(at)
        examination.lemma(
            f"the gradient {where}",
            decide_identity(slope, (u * weight * (u * V - delta / g)).subs(at)),
        )
    # weight = m + s with m the least of all weights and s >= 0.
    w, square = _least + _excess, Symbol("D2", positive=True) * Symbol("u2", positive=True)
    difference = w**2 * square - constant * _least * w * square / 2
    symbols = [_least, _excess, *square.free_symbols]
    holds = examination.nonnegative("‖∇‖² - c u² m (ℓ - min ℓ), one entry", difference, symbols)
    if holds is None:  # where s = 0 the terms are m²(1 - c/2) times a square
        at_least = difference.subs(_excess, 0)
        value = at_least.subs(dict.fromkeys(at_least.free_symbols, 1))
        examination.decide("at the least weight", bool(value >= 0) or False, f"{value}")
    return examination.evidence("every d, N, Λ, u, V")


claims = (FLOW, CONSERVED, GAP, PL)
