"""Section 5 and Theorem 4.1: the loss, its flow, and where that ends."""

from __future__ import annotations

from fractions import Fraction

import sympy
from sympy import Matrix, Rational, Symbol

from theoryverify.claims import COMPUTED, PROVED, Claim, Evidence, Examination, Hypothesis
from theoryverify.claims.statements import at_most, equals, same
from theoryverify.papers.zfb import literal, theory
from theoryverify.papers.zfb.flow import CASES, Case, flow_end
from theoryverify.papers.zfb.theory import N, V, delta, lam, lam_j, tau, u

GAUSSIAN = Hypothesis("Gaussian data", r"x_i, x_q \sim N(0,\Lambda),\ w \sim N(0,I_d)")
POSITIVE = Hypothesis("positive definite covariance", r"\Lambda \succ 0")
START = Hypothesis(
    "initialisation",
    r"W^{PV}(0)=\sigma\,\mathrm{diag}(0,1),\ W^{KQ}(0)=\sigma\,\mathrm{diag}(\Theta\Theta^\top,0),"
    r"\ \|\Theta\Theta^\top\|_F=1,\ \Lambda\Theta\neq 0",
)
SMALL = Hypothesis("small initialisation", r"\sigma^2\|\Gamma\|_{op}\sqrt d<2")

_ON = {delta: 1, lam_j: lam}
_OFF = {delta: 0}

# -- the prediction and the loss ----------------------------------------------------------------

LOSS = Claim(
    "zfb.5.1",
    "Lemma 5.1",
    r"L(\theta)=\operatorname{tr}\left[\tfrac12u^2\Gamma\Lambda V\Lambda V^\top-u\Lambda^2V^\top"
    r"\right]+\tfrac12\operatorname{tr}\Lambda",
    title="the loss is tr[½u²ΓΛVΛVᵀ - uΛ²Vᵀ] + ½trΛ",
    hypotheses=(GAUSSIAN,),
    note="The statement as this project derives it; the lemma's place by the paper's contents.",
)


@LOSS.check(
    "Isserlis' pairings",
    PROVED,
    formula=theory.gamma(),
    controls={
        "(1+2/N)Λ": theory.gamma() + lam / N,
        "without the trace": (1 + 1 / N) * lam,
        "(N+1) for N": theory.gamma().subs(N, N + 1),
    },
)
def pairings(g: sympy.Expr, examination: Examination) -> Evidence:
    """Expand ``½E(u wᵀΣ̂Vx_q - wᵀx_q)²`` over w and x_q: ``½Σ_ab λ_b E[(uΣ̂V - I)_ab²]``."""
    # Entry V_cb meets Σ̂_ac for every a: λ_i stands for λ_c, λ_j for λ_b.
    quadratic = Rational(1, 2) * u**2 * lam_j * theory.second_moment() * V**2
    linear = -u * lam * lam * V  # -λ_b E[Σ̂_bb] V_bb
    claimed = theory.loss_entry(g)
    examination.identity("off the diagonal", quadratic, claimed.subs(_OFF))
    on_diagonal = quadratic.subs(lam_j, lam) + linear
    examination.identity("on the diagonal", on_diagonal, claimed.subs(_ON))
    return examination.evidence("every d, N, Λ, u, V")


_SMALL_CASES = (
    ((Fraction(1), Fraction(3)), 1),
    ((Fraction(2), Fraction(1, 2)), 2),
    ((Fraction(5),), 3),
)


@LOSS.check(
    "literal network",
    PROVED,
    formula=theory.gamma(),
    controls={
        "(1+2/N)Λ": theory.gamma() + lam / N,
        "without the trace": (1 + 1 / N) * lam,
    },
    cases=_SMALL_CASES,
)
def literal_network(
    g: sympy.Expr, case: tuple[tuple[Fraction, ...], int], examination: Examination
) -> Evidence:
    """Multiply out (3.3) as it is written and take exact moments."""
    spectrum, length = case
    d = len(spectrum)
    W = Matrix(d, d, lambda i, j: Rational(2 * i - 3 * j + 1, 5))
    scale = Rational(3, 7)
    W_PV, W_KQ = _weights(scale, W)
    claimed = sum(spectrum, Fraction(0)) / 2
    total = Rational(claimed.numerator, claimed.denominator)
    for i in range(d):
        for j in range(d):
            at = {
                lam: sympy.Rational(spectrum[i]),
                lam_j: sympy.Rational(spectrum[j]),
                tau: sympy.Rational(sum(spectrum)),
                N: length,
                u: scale,
                V: W[i, j],
                delta: int(i == j),
            }
            total += theory.loss_entry(g).subs(at)
    examination.identity("L(θ)", literal.loss(spectrum, length, W_PV, W_KQ), total)
    return examination.evidence(f"d = {d}, N = {length}, one (u, V)")


def _weights(
    scale: sympy.Expr, W: Matrix, p: Matrix | None = None, q: Matrix | None = None
) -> tuple[Matrix, Matrix]:
    """``W^PV = [0 0; pᵀ u]``, ``W^KQ = [V 0; qᵀ 0]``; what else there is does not matter."""
    d = W.shape[0]
    p = sympy.zeros(d, 1) if p is None else p
    q = sympy.zeros(d, 1) if q is None else q
    top = sympy.zeros(d, d + 1)
    value = top.col_join(p.T.row_join(Matrix([[scale]])))
    key = W.row_join(sympy.zeros(d, 1)).col_join(q.T.row_join(Matrix([[0]])))
    return value, key


BLOCKS = Claim(
    "zfb.5.2.blocks",
    "Lemma 5.2, the blocks that vanish",
    r"w^{PV}_{21}(0)=w^{KQ}_{21}(0)=0\ \Rightarrow\ w^{PV}_{21}(t)=w^{KQ}_{21}(t)=0",
    title="the blocks w₂₁ stay zero along the flow",
    hypotheses=(GAUSSIAN,),
)


@BLOCKS.check(
    "odd in w",
    PROVED,
    formula=-1,
    controls={"even in w": 1},
    mutate=False,
)
def odd_in_w(parity: int, examination: Examination) -> Evidence:
    """``ŷ(-w; p, q, u, V) = -ŷ(w; -p, -q, u, V)``, so the loss is even in (p, q): no gradient at 0.

    ``w -> -w`` keeps the law of the prompt and turns the sign of the target.
    """
    # ŷ = (pᵀ, u) [S, c; cᵀ, s] (V; qᵀ) x_q with S = EEᵀ's block of x, c that of xy, s of y².
    S, c, s, p, q = sympy.symbols("S c s p q")
    v = Symbol("v")

    def output(sign: int, p: sympy.Expr, q: sympy.Expr) -> sympy.Expr:
        return p * S * v + sign * p * c * q + sign * u * c * v + u * s * q

    turned = output(-1, p, q)
    examination.identity("ŷ under w -> -w", turned, parity * output(1, -p, -q))
    examination.assume("a gradient flow stays where the gradient is tangent (uniqueness of ODEs)")
    return examination.evidence(
        "every d, N: each of the four products of blocks is linear in its factors"
    )


@BLOCKS.check(
    "literal network",
    PROVED,
    formula=1,
    controls={"the gradient along u vanishes": 0},
    mutate=False,
)
def no_gradient(which: int, examination: Examination) -> Evidence:
    """The exact loss at ``(εp, εq)`` has no term linear in ε, while moving u does have one."""
    epsilon = Symbol("epsilon")
    W = Matrix([[1, Rational(1, 2)], [Rational(-1, 3), 2]])
    p, q = (Matrix(entries) * epsilon * which for entries in ([1, -2], [Rational(1, 2), 3]))
    scale = Rational(3, 7) + epsilon * (1 - which)
    value, key = _weights(scale, W, p, q)
    spectrum = (Fraction(1), Fraction(3))
    found = sympy.Poly(literal.loss(spectrum, 1, value, key), epsilon)
    examination.identity("dL/dε at ε = 0", found.nth(1), sympy.Integer(0))
    return examination.evidence("d = 2, N = 1, one direction (p, q)")


# -- the flow -----------------------------------------------------------------------------------

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
    for where, at in (("on the diagonal", _ON), ("off the diagonal", _OFF)):
        examination.identity(where, -sympy.diff(entry, V).subs(at), v_dot.subs(at))
    return examination.evidence("every d, N, Λ; in the eigenbasis the entries of V are uncoupled")


CONSERVED = Claim(
    "zfb.5.conserved",
    "proof of Theorem 4.1",
    r"\frac{d}{dt}\left(u^2-\|V\|_F^2\right)=0",
    title="u² - ‖V‖² is conserved",
    depends_on=("zfb.5.2",),
)

_power = Symbol("k", positive=True, integer=True)


@CONSERVED.check(
    "Euler's relation",
    PROVED,
    formula=sympy.Integer(1),
    controls={"u² - 2‖V‖²": sympy.Integer(2), "u² + ‖V‖²": sympy.Integer(-1)},
)
def conserved(weight: sympy.Expr, examination: Examination) -> Evidence:
    """``u ∂_u ℓ = Σ V_ij ∂_ij ℓ`` entry by entry: ℓ depends on the products uV alone."""
    entry = theory.loss_entry()
    for where, at in (("on the diagonal", _ON), ("off the diagonal", _OFF)):
        here = entry.subs(at)
        examination.identity(where, u * sympy.diff(here, u), weight * V * sympy.diff(here, V))
    return examination.evidence("every d, N, Λ, u, V")


GAP = Claim(
    "zfb.5.3",
    "Lemma 5.3",
    r"\ell-\min\ell=\tfrac12\left\|\Gamma^{1/2}\Lambda^{1/2}(uV-\Gamma^{-1})\Lambda^{1/2}\right\|_F^2",
    title="the global minima are uV = Γ⁻¹",
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
    for where, at in (("on the diagonal", _ON), ("off the diagonal", _OFF)):
        floor = -delta * Rational(1, 2) * lam**2 / g
        left = (theory.loss_entry() - floor).subs(at)
        examination.identity(where, left, square.subs(at))
    return examination.evidence("every d, N, Λ: a sum of squares with positive weights Γ_iλ_iλ_j")


PL = Claim(
    "zfb.5.4",
    "Lemma 5.4",
    r"\|\nabla\ell\|^2\ge 2u^2\min_{ij}\Gamma_i\lambda_i\lambda_j\,(\ell-\min\ell)",
    title="a Polyak-Łojasiewicz inequality",
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
    for where, at in (("on the diagonal", _ON), ("off the diagonal", _OFF)):
        slope = sympy.diff(theory.loss_entry(), V).subs(at)
        examination.lemma(
            f"the gradient {where}",
            _proved(slope, (u * weight * (u * V - delta / g)).subs(at)),
            by=same(slope, (u * weight * (u * V - delta / g)).subs(at)),
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


def _proved(left: sympy.Expr, right: sympy.Expr) -> bool | None:
    from theoryverify.exact.identities import decide_identity

    return decide_identity(left, right).holds


# -- Theorem 4.1 --------------------------------------------------------------------------------

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
    examination.assume(
        "a flow with a Polyak-Łojasiewicz inequality and u bounded below converges to a minimum"
    )
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


SCALE = Claim(
    "zfb.4.1.scale",
    "Theorem 4.1 without its condition on σ",
    r"\forall\sigma>0:\ u(t)\ge u_0>0,\ \text{so Theorem 4.1 holds for every }\sigma>0",
    title="Theorem 4.1 needs no small initialisation",
    hypotheses=(GAUSSIAN, POSITIVE, START),
    depends_on=("zfb.5.2", "zfb.5.3", "zfb.5.4", "zfb.5.conserved"),
    note="A finding of this project. The region {u >= u_0, tr(Λ²V) >= s_0} is never left.",
)

_s0, _u0, _U, _K, _k, _c, _room = sympy.symbols("s_0 u_0 U K k c room", positive=True)


@SCALE.check(
    "a barrier",
    PROVED,
    formula=(_c / (_K * _U), _s0 / _k),
    controls={
        "s_0 = 2c/(KU)": (2 * _c / (_K * _U), _s0 / _k),
        "u_0³ = 2s_0/k": (_c / (_K * _U), 2 * _s0 / _k),
        "close": (_c / (_K * _U) * Rational(11, 10), _s0 / _k),
    },
    mutate=False,
)
def barrier(thresholds: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    """``s = tr(Λ²V)``; ``V_ii >= 0``, for its equation is linear with a source ``uλ_i² >= 0``.

    ``s' = -u²Σ Γ_iλ_i⁴V_ii + uΣλ_i⁴ >= u(c - Kus)`` with ``K = max Γ_iλ_i²``, ``c = Σλ_i⁴``;
    ``u' = s - uΣ Γ_iλ_iλ_jV_ij² >= s - ku³`` with ``k = max Γ_iλ_iλ_j`` and ``‖V‖ = u``. And
    ``u² = ‖uV‖ <= ‖Γ⁻¹‖ + √(2(ℓ(0)-min ℓ)/m) = U²``, for ℓ falls.
    """
    s_top, cube = thresholds
    g = theory.gamma()
    # s' entry by entry, with the bound of each weight written K = Γ_iλ_i² + room.
    v_dot = _V_DOT.subs(_ON)
    stated = -(u**2) * g * lam**4 * V + u * lam**4
    examination.lemma("s'", _proved(lam**2 * v_dot, stated), by=same(lam**2 * v_dot, stated))
    p, room = Symbol("V", positive=True), _room
    up = Symbol("u", positive=True)
    drop = up * (g * lam**2 + room) * lam**2 * p - up * g * lam**4 * p
    lemma = sympy.expand(drop - up * room * lam**2 * p) == 0
    examination.lemma(
        "us·max(Γλ²) >= uΣΓλ⁴V",
        bool(lemma),
        "the rest is u·room·λ²V >= 0",
        by=same(drop, up * room * lam**2 * p),
    )
    # On the edge s = s_0 <= s_top: c - K u s >= c - K U s_top must be >= 0.
    edge = sympy.simplify((_c - _K * _U * s_top) / _c)
    examination.decide(
        "s' >= 0 on the edge s = s_0",
        bool(edge >= 0),
        f"at least c·({edge})·u",
        by=[same(_c - _K * _U * s_top, edge * _c), at_most(0, edge)],
    )
    edge = sympy.simplify((_s0 - _k * cube) / _s0)
    examination.decide(
        "u' >= 0 on the edge u = u_0",
        bool(edge >= 0),
        f"at least s_0·({edge})",
        by=[same(_s0 - _k * cube, edge * _s0), at_most(0, edge)],
    )
    examination.assume("Nagumo: a region whose edges the field does not cross is not left")
    examination.assume("variation of constants: V_ii >= 0 where it starts so")
    return examination.evidence("every σ > 0, d, N, Λ, Θ with ΛΘ ≠ 0")


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


claims = (LOSS, BLOCKS, FLOW, CONSERVED, GAP, PL, LIMIT, START_BOUND, SCALE)
