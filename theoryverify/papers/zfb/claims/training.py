"""Theorem 4.1: where the flow ends, and from which starts."""

from __future__ import annotations

import sympy
from sympy import Integer, Matrix, Rational, Symbol

from theoryverify.claims import COMPUTED, PROVED, Claim, Evidence, Examination
from theoryverify.claims.statements import at_most, equals
from theoryverify.exact.identities import decide_identity, decide_nonnegative
from theoryverify.papers.zfb import theory
from theoryverify.papers.zfb.claims.hypotheses import GAUSSIAN, POSITIVE, SMALL, START
from theoryverify.papers.zfb.flow import CASES, Case, flow_end
from theoryverify.papers.zfb.theory import (
    OFF_DIAGONAL,
    ON_DIAGONAL,
    N,
    V,
    delta,
    lam,
    lam_j,
    tau,
    u,
)

CONVERGES = "a flow with a Polyak-Łojasiewicz inequality and u bounded below converges to a minimum"

LIMIT = Claim(
    "zfb.4.1",
    "Theorem 4.1",
    r"W^{KQ}(t)\to[\operatorname{tr}\Gamma^{-2}]^{-1/4}\operatorname{diag}(\Gamma^{-1},0),\quad "
    r"W^{PV}(t)\to[\operatorname{tr}\Gamma^{-2}]^{1/4}\operatorname{diag}(0,1)",
    title="gradient flow ends at V = Γ⁻¹/u, u⁴ = tr Γ⁻²",
    hypotheses=(GAUSSIAN, POSITIVE, START, SMALL),
    depends_on=("zfb.5.2", "zfb.5.3", "zfb.5.4", "zfb.5.conserved"),
    note="SMALL is not needed: see zfb.4.1.scale.",
)


@LIMIT.check(
    "from the conserved quantity",
    PROVED,
    formula=Rational(1, 4),
    controls={"power 1/2": Rational(1, 2), "power 1/8": Rational(1, 8)},
    mutate=False,
)
def from_the_conserved_quantity(power: sympy.Expr, examination: Examination) -> Evidence:
    """At the end ``uV = Γ⁻¹`` and ``u² = ‖V‖²`` (equal at the start), so ``u⁴ = ‖Γ⁻¹‖²``."""
    t = Symbol("t", positive=True)  # tr Γ⁻²
    end = t**power
    examination.identity("u² = ‖Γ⁻¹‖_F²/u²", end**2, t / end**2)
    examination.assume(CONVERGES)
    examination.assume("u stays away from 0 (zfb.4.1.start, or zfb.4.1.scale)")
    return examination.evidence("every d, N, Λ")


@LIMIT.check(
    "the flow, integrated",
    COMPUTED,
    formula=theory.gamma(),
    controls={
        "without the trace": (1 + 1 / N) * lam,
        "(1+2/N)Λ": theory.gamma() + lam / N,
        "Γ at N+1": theory.gamma().subs(N, N + 1),
    },
    cases=CASES[:3],
    mutate=False,
)
def integrated(g: sympy.Expr, case: Case, examination: Examination) -> Evidence:
    """All ``d²+1`` equations in a basis where Λ and Θ do not commute."""
    _compare(case, g, examination)
    return examination.evidence(f"{case}")


def _compare(case: Case, g: sympy.Expr, examination: Examination) -> None:
    import numpy as np

    found_u, found_V, tolerance = flow_end(case)
    at = {tau: float(case.spectrum.sum()), N: case.length}
    inverse = np.array([float(1 / g.subs({**at, lam: float(x)})) for x in case.spectrum])
    u_end = float((inverse**2).sum() ** 0.25)
    expected = case.basis @ np.diag(inverse / u_end) @ case.basis.T
    far = max(abs(found_u - u_end), float(np.abs(found_V - expected).max()))
    examination.decide(
        "the end of the flow", bool(far <= 100 * tolerance), f"{far:.1e} from the formula"
    )


START_BOUND = Claim(
    "zfb.4.1.start",
    "proof of Theorem 4.1: u(t) stays away from 0",
    r"\sigma^2\|\Gamma\|_{op}<2\ \Rightarrow\ \ell(0)<0,\quad u^2\ge-\ell(0)/\|\Lambda^2\|_F",
    title="a start below zero keeps u away from zero",
    hypotheses=(GAUSSIAN, START),
    depends_on=("zfb.5.2", "zfb.5.conserved"),
    note="The paper's condition has a further √d; the argument does not need it.",
)

_sigma, _norm, _P2, _slack = sympy.symbols("sigma2 Gamma_op P2 slack", positive=True)


@START_BOUND.check(
    "without √d",
    PROVED,
    formula=sympy.Integer(2),
    controls={"σ²‖Γ‖ < 3": sympy.Integer(3), "close": Rational(21, 10)},
    mutate=False,
)
def start_below_zero(bound: sympy.Expr, examination: Examination) -> Evidence:
    """With ``P = Λ^{1/2}ΘΘᵀΛ^{1/2}``: ``ℓ(0) = ½σ⁴tr(ΓP²) - σ²tr(Λ²ΘΘᵀ)``.

    ``tr(ΓP²) <= ‖Γ‖tr P²`` as Γ and P² are positive, and ``tr P² = tr(ΛΘΘᵀΛ ΘΘᵀ) <=
    tr(Λ²ΘΘᵀ)‖ΘΘᵀ‖_F``. So ``ℓ(0) <= σ²·tr(Λ²ΘΘᵀ)(½σ²‖Γ‖ - 1)``.
    """
    # tr(Λ²ΘΘᵀ) = P2 + slack; σ²‖Γ‖ at the bound; the worst case is slack = 0.
    least = -(bound * _P2 / 2 - (_P2 + _slack))
    holds = examination.nonnegative("-ℓ(0)/σ² at σ²‖Γ‖ = bound", least, [_P2, _slack])
    if holds is None:
        value = least.subs({_P2: 1, _slack: 0})
        examination.decide(
            "where ΘΘᵀ has rank one and slack 0", bool(value >= 0), f"{value}", by=at_most(0, value)
        )
    d = 3
    spectrum = [Rational(1), Rational(2), Rational(5)]
    M = Matrix(d, d, lambda i, j: Rational((i + 1) * (j + 1) + 2 * (i == j)))
    L, g = sympy.diag(*spectrum), sympy.diag(*(Rational(3, 2) * x + 4 for x in spectrum))
    root = sympy.diag(*(sympy.sqrt(x) for x in spectrum))
    P = root * M * root
    left = (g * L * M * L * M).trace()
    examination.lemma(
        "tr(ΓΛMΛM) = tr(ΓP²)",
        bool(sympy.simplify(left - (g * P * P).trace()) == 0),
        str(left),
        by=equals(left, (g * P * P).trace()),
    )
    examination.assume("tr(AB) <= ‖A‖_op tr B for B >= 0, and Cauchy-Schwarz for ‖·‖_F")
    return examination.evidence("every d, N, Λ, Θ; equality is not reached, so < 2 suffices")


@START_BOUND.check(
    "the bound of u",
    PROVED,
    formula=sympy.Integer(1),
    controls={"twice as large": sympy.Integer(2), "close": Rational(11, 10)},
    mutate=False,
)
def away_from_zero(factor: sympy.Expr, examination: Examination) -> Evidence:
    """``ℓ = ½u²Q - us`` with ``Q = ΣΓ_iλ_iλ_jV_ij² >= 0``, ``s = tr(Λ²V) <= ‖Λ²‖_F‖V‖ = ‖Λ²‖_F u``.

    So ``-ℓ <= ‖Λ²‖_F u²``, and ``-ℓ >= -ℓ(0) > 0`` along the flow. No factor above 1 will do: at
    ``V = uΛ²/‖Λ²‖_F`` and u -> 0 the two sides come together.
    """
    size, square, slack, up = sympy.symbols("Lambda2 Q slack u", positive=True)
    inner = size * up - slack
    for where, at in (("on the diagonal", ON_DIAGONAL), ("off the diagonal", OFF_DIAGONAL)):
        entry = theory.loss_entry().subs(at)
        parts = sympy.Poly(entry, u)
        whole = u**2 * parts.nth(2) + u * parts.nth(1)
        examination.lemma(f"ℓ = ½u²Q - us, {where}", decide_identity(entry, whole))
        weight = (theory.gamma() * lam * lam_j).subs(at)
        examination.lemma(
            f"Q, {where}", decide_identity(parts.nth(2), Rational(1, 2) * weight * V**2)
        )
    gap = up**2 * size + factor * (up**2 * square / 2 - up * inner)
    examination.nonnegative("‖Λ²‖u² + factor·ℓ", sympy.expand(gap), [up, size, square, slack])
    examination.assume("Cauchy-Schwarz for ‖·‖_F")
    return examination.evidence("every d, N, Λ, Θ; so u never vanishes and keeps its sign")


SCALE = Claim(
    "zfb.4.1.scale",
    "Theorem 4.1 without its condition on σ",
    r"\forall\sigma>0:\ u(t)\ge u_0>0,\ \text{so Theorem 4.1 holds for every }\sigma>0",
    title="Theorem 4.1 needs no small initialisation",
    hypotheses=(GAUSSIAN, POSITIVE, START),
    depends_on=("zfb.5.2", "zfb.5.3", "zfb.5.4", "zfb.5.conserved"),
    note="A finding of this project. The region {u >= u_0, tr(Λ²V) >= s_0} is never left.",
)

_s0, _U, _K, _k, _c = sympy.symbols("s_0 U K k c", positive=True)
_less, _rest = sympy.symbols("less rest", positive=True)
"""Thresholds are ``rest/(less + rest)`` of the greatest ones: strictly below them."""


@SCALE.check(
    "a barrier",
    PROVED,
    formula=(_c / (_K * _U), _s0 / _k),
    controls={
        "s_0 < 2c/(KU)": (2 * _c / (_K * _U), _s0 / _k),
        "u_0³ < 2s_0/k": (_c / (_K * _U), 2 * _s0 / _k),
        "close: s_0": (_c / (_K * _U) * Rational(11, 10), _s0 / _k),
        "close: u_0": (_c / (_K * _U), _s0 / _k * Rational(11, 10)),
    },
    mutate=False,
)
def barrier(thresholds: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    """The region ``u >= u_0, s >= s_0``, ``s = tr(Λ²V)``, for any ``s_0 < c/(KU)``, ``u_0³ < s_0/k``.

    The start is in it for ``s_0 <= s(0)``, ``u_0 <= u(0)``: ``u(0) = σ > 0``, and ``s(0) =
    σ‖ΛΘ‖_F² > 0`` as ``ΛΘ ≠ 0``. While ``u >= 0``, ``V_ii >= 0``: it starts as ``σ(ΘΘᵀ)_ii``, and its
    equation is linear with the source ``uλ_i²``. So until a first exit

    * ``s' = -u²ΣΓ_iλ_i⁴V_ii + uΣλ_i⁴ >= u(c - Kus)``, ``K = max Γ_iλ_i²``, ``c = Σλ_i⁴``;
    * ``u' = s - uΣΓ_iλ_iλ_jV_ij² >= s - ku³``, ``k = max Γ_iλ_iλ_j``, as ``‖V‖_F = u``;
    * ``u² = ‖uV‖_F <= ‖Γ⁻¹‖_F + √(2(ℓ(0)-min ℓ)/m) = U²``, ``m = min Γ_iλ_iλ_j``, for ℓ falls.

    On the edges both derivatives are strictly positive: there is no exit. In one dimension all of
    this is sharp: there ``V = u``, and for σ above ``Γ^{-1/2}``, the limit of u, ``U = σ``.
    """
    s_top, cube = thresholds
    g = theory.gamma()
    weight, positive = g * lam * lam_j, Symbol("v", nonnegative=True)
    _entries(examination, weight)
    # Entry i of Kus - u²ΣΓλ⁴V_ii over u, with K = Γ_iλ_i² + room.
    room, up = sympy.symbols("room u", nonnegative=True)
    rest = up * ((g * lam**2 + room) * lam**2 - g * lam**4) * positive
    examination.lemma(
        "Kus >= uΣΓλ⁴V_ii, one entry",
        decide_nonnegative(sympy.expand(rest), [room, up, positive, lam]),
    )
    # On the edge s = s_0: c - Kus >= c - KU·s_0; with s_0 = rest/(less + rest)·s_top.
    edge = (_less + _rest) * _c - _rest * _K * _U * s_top
    edge = sympy.expand(sympy.cancel(edge / _c))
    examination.nonnegative("c - KU·s_0 > 0 on the edge s = s_0", edge, [_less, _rest], strict=True)
    edge = (_less + _rest) * _s0 - _rest * _k * cube
    edge = sympy.expand(sympy.cancel(edge / _s0))
    examination.nonnegative(
        "s_0 - k·u_0³ > 0 on the edge u = u_0", edge, [_less, _rest], strict=True
    )
    _one_dimension(s_top, cube, examination)
    examination.assume("Nagumo: a region whose edges the field does not cross is not left")
    examination.assume("variation of constants: V_ii >= 0 where it starts so")
    examination.assume(CONVERGES)
    return examination.evidence("every σ > 0, d, N, Λ, Θ with ΛΘ ≠ 0")


def _entries(examination: Examination, weight: sympy.Expr) -> None:
    """``s'``, ``u'`` and ``s(0)``, from the loss."""
    g = theory.gamma()
    for where, at in (("on the diagonal", ON_DIAGONAL), ("off the diagonal", OFF_DIAGONAL)):
        entry, share = theory.loss_entry().subs(at), delta.subs(at)
        examination.lemma(
            f"u', {where}",
            decide_identity(-sympy.diff(entry, u), share * lam**2 * V - u * weight.subs(at) * V**2),
        )
    stated = -(u**2) * g * lam**4 * V + u * lam**4
    slope = -(lam**2) * sympy.diff(theory.loss_entry().subs(ON_DIAGONAL), V)
    examination.lemma("s', one entry", decide_identity(slope, stated))
    theta = Matrix(2, 2, sympy.symbols("t1:5", real=True))
    Lam = sympy.diag(lam, lam_j)
    examination.lemma(
        "tr(Λ²ΘΘᵀ) = ‖ΛΘ‖_F², d = 2",
        decide_identity(
            (Lam**2 * theta * theta.T).trace(), sum((e**2 for e in Lam * theta), Integer(0))
        ),
    )


def _one_dimension(s_top: sympy.Expr, cube: sympy.Expr, examination: Examination) -> None:
    """``λ = 1/3``, N = 1, so Γ = 1: u falls from σ to 1, and s = λ²u from σ/9 to 1/9."""
    eigenvalue = Rational(1, 3)
    last = theory.gamma().subs({lam: eigenvalue, tau: eigenvalue, N: 1})
    examination.lemma("Γ = 1", decide_identity(last, Integer(1)))
    for start in (Rational(21, 20), Rational(3, 2)):
        at = {_c: eigenvalue**4, _K: eigenvalue**2, _k: eigenvalue**2, _U: start}
        low = s_top.subs(at)
        left = eigenvalue**2 < low <= eigenvalue**2 * start
        examination.decide(
            f"d = 1, σ = {start}: s is not left behind",
            bool(not left),
            f"s_0 up to {low}",
            by=at_most(low, eigenvalue**2) if low <= eigenvalue**2 else None,
        )
        low = cube.subs(at | {_s0: min(low, eigenvalue**2)})
        left = 1 < low <= start**3
        examination.decide(
            f"d = 1, σ = {start}: u is not left behind",
            bool(not left),
            f"u_0³ up to {low}",
            by=at_most(low, 1) if low <= 1 else None,
        )


@SCALE.check(
    "the flow, integrated",
    COMPUTED,
    formula=theory.gamma(),
    controls={
        "without the trace": (1 + 1 / N) * lam,
        "Γ at N+1": theory.gamma().subs(N, N + 1),
    },
    cases=CASES[3:],
    mutate=False,
)
def large_start(g: sympy.Expr, case: Case, examination: Examination) -> Evidence:
    """Starts that the paper's condition excludes, by up to four orders of magnitude."""
    examination.lemma("σ²‖Γ‖√d >= 2", case.condition >= 2, f"{case.condition:.3g}")
    _compare(case, g, examination)
    return examination.evidence(f"{case}, σ²‖Γ‖√d = {case.condition:.3g}")


claims = (LIMIT, START_BOUND, SCALE)
