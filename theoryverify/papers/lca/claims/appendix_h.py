"""Appendix H, (H.1)-(H.5): the finite-context bound on its event, and which L admit α*."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy
from flint import arb

from theoryverify.claims import CERTIFIED, PROVED, SIMULATED, Claim, Context, Evidence, Examination
from theoryverify.claims.statements import (
    Evaluated,
    Statement,
    Traced,
    at_most,
    less,
    nonnegative,
    same,
)
from theoryverify.exact.balls import Enclosure, ball, bits_for, precision
from theoryverify.exact.evaluate import BALL, EXACT, FLOAT64, compiled
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Law
from theoryverify.papers.lca import appendix_h, theory
from theoryverify.papers.lca.appendix_h import delta, rho
from theoryverify.papers.lca.finite import L, d
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, LAWS
from theoryverify.papers.lca.placed import LAW
from theoryverify.papers.lca.theory import T, a, alpha, b, s

Formula = tuple[sympy.Expr, ...]

# -- (H.1), (H.2) -------------------------------------------------------------------------------

H2 = Claim(
    "lca.H.2",
    "Appendix H, (H.1) and (H.2)",
    r"\hat w_T-w=-(I-\alpha\hat\Sigma)^Tw+\big(I-(I-\alpha\hat\Sigma)^T\big)\hat\Sigma^{-1}"
    r"X\varepsilon/L,\quad \mathbb E[\,\|\Sigma_x^{1/2}(\hat w_T-w)\|^2\mid X]="
    r"\|\Sigma_x^{1/2}M^Tw\|^2+\tfrac{\sigma^2}{L}\mathrm{tr}[\Sigma_xN\hat\Sigma^{-1}N]",
    title="the error splits into bias -(I-αΣ̂)^T w and noise",
    depends_on=("lca.C.1", "lca.E.2"),
)

_M = 1 - alpha * s
_SPLIT = (-(_M**T), (1 - _M**T) / s, (1 - _M**T) ** 2 / s / L)
"""On an eigenvector of Σ̂ with eigenvalue s: the factors of w, of Xε/L, and the noise's variance
over σ²."""


@H2.check(
    "on each eigenvector",
    PROVED,
    formula=_SPLIT,
    controls={
        "+(I-αΣ̂)^T w": (-_SPLIT[0], *_SPLIT[1:]),
        "(I-αΣ̂)^{T+1}": tuple(part.subs(T, T + 1) for part in _SPLIT),
        "the noise without Σ̂^{-1}": (_SPLIT[0], 1 - _M**T, _SPLIT[2]),
        "the variance without 1/L": (*_SPLIT[:2], _SPLIT[2] * L),
    },
)
def split(formula: Formula, examination: Examination) -> Evidence:
    bias, noise, variance = formula
    state = theory.tied(theory.state_polynomial())  # ŵ = P(Σ̂)(Σ̂w + Xε/L)
    examination.identity("factor of w in ŵ - w", state * s - 1, bias)
    examination.identity("factor of Xε/L", state, noise)
    # Cov(Xε/L | X) = σ² XXᵀ/L² = (σ²/L) Σ̂, and everything commutes with Σ̂.
    examination.identity("variance along the eigenvector", noise**2 * s / L, variance)
    examination.assume("ε is independent of X (Lemma C.1)")
    return examination.evidence("every d, L, T, α; Σ̂ invertible, or by continuity")


# -- (H.3) --------------------------------------------------------------------------------------

H3 = Claim(
    "lca.H.3",
    "Appendix H, (H.3)",
    r"G_\delta=\{(1-\delta)^2\Sigma_x\preceq\hat\Sigma\preceq(1+\delta)^2\Sigma_x\},\ "
    r"\delta=\sqrt{d/L}+t<1:\quad \mathbb P(G_\delta)\ge 1-2e^{-Lt^2/2}",
    title="the spectral event has probability at least 1 - 2e^{-Lt²/2}",
    depends_on=("lca.C.1",),
)

_t = sympy.Symbol("t", positive=True)
_FAILURE = 2 * sympy.exp(-L * _t**2 / 2)


def _missed(formula: sympy.Expr, context: int, slack: Fraction) -> Statement:
    """``P(χ²_L >= L(1+s)²) + P(χ²_L <= L(1-s)²)``, ``s = 1/√L + t``, is below the stated bound."""
    size = Traced(["^", str(context), "-1/2"]) + slack
    half = Traced.of(Fraction(context, 2))
    above, below = (
        Traced(["f", "Q", str(context // 2), (half * (1 + sign * size) ** 2).tree])
        for sign in (1, -1)
    )
    return less(above + 1 - below, Evaluated(formula, {"L": context, "t": slack}))


@H3.check(
    "exactly at d = 1",
    CERTIFIED,
    formula=_FAILURE,
    controls={
        "2e^{-3Lt²/2}": 2 * sympy.exp(-3 * L * _t**2 / 2),
        "2e^{-Lt²/2}/50": _FAILURE / 50,
    },
    mutate=False,
)
def event_probability(formula: sympy.Expr, examination: Examination) -> Evidence:
    """``Σ̂/Z = χ²_L/L``: its tails are incomplete Gamma functions."""
    points = ((4, "1/8"), (40, "1/20"), (400, "1/20"), (4000, "1/20"), (40, "2/5"), (400, "2/5"))
    for context, slack in points:
        with precision(512):
            t = ball(slack)
            size = (1 / ball(context)).sqrt() + t
            half = arb(context) / 2
            upper = (half * (1 + size) ** 2).gamma_upper(half, regularized=1)
            lower = 1 - (half * (1 - size) ** 2).gamma_upper(half, regularized=1)
            stated = compiled(formula, BALL)({"L": ball(context), "t": t}, False)
            examination.less(
                f"P(miss) at L = {context}, t = {slack}",
                Enclosure.of(upper + lower),
                Enclosure.of(stated),
                by=_missed(formula, context, Fraction(slack)),
            )
    examination.assume(
        "Davidson-Szarek: singular values of a standard Gaussian d x L matrix, for d > 1"
    )
    return examination.evidence("six pairs (L, t) at d = 1 without the cited fact")


# -- (H.4) --------------------------------------------------------------------------------------

H4 = Claim(
    "lca.H.4",
    "Appendix H, (H.4)",
    r"\rho_\delta=\max\{|1-\alpha(1-\delta)^2|,|1-\alpha(1+\delta)^2\overline Z|\}<1"
    r"\iff 0<\alpha<\tfrac{2}{(1+\delta)^2\overline Z}",
    title="ρ_δ < 1 exactly for 0 < α < 2/((1+δ)²Z̄)",
)

_WINDOW = 2 / ((1 + delta) ** 2 * b)


@H4.check(
    "ends of the window",
    PROVED,
    formula=_WINDOW,
    controls={
        "2/Z̄": 2 / b,
        "2/((1+δ)Z̄)": 2 / ((1 + delta) * b),
        "1/((1+δ)²Z̄)": _WINDOW / 2,
    },
)
def window(formula: sympy.Expr, examination: Examination) -> Evidence:
    # 1-αs is linear in s and in α: between its values at the two ends of the spectrum, and from
    # 1 at α = 0 downwards; the upper end of the spectrum reaches -1 first.
    low, high, share = appendix_h.lower_end(), appendix_h.upper_end(), sympy.Symbol("theta")
    mixed = share * (1 - alpha * low) + (1 - share) * (1 - alpha * high)
    examination.lemma(
        "1-αs at s = θ·low + (1-θ)·high",
        sympy.expand(1 - alpha * (share * low + (1 - share) * high) - mixed) == 0,
        by=same(1 - alpha * (share * low + (1 - share) * high), mixed),
    )
    examination.identity("1 - α(1+δ)²Z̄ = -1 at the end", 1 - formula * high, sympy.Integer(-1))
    more = sympy.Symbol("h", nonnegative=True)
    examination.lemma(
        "(1+δ)²Z̄ >= (1-δ)² for Z̄ = 1+h",
        sympy.expand((high - low).subs(b, 1 + more)).is_nonnegative
        or all(c >= 0 for c in sympy.Poly((high - low).subs(b, 1 + more), delta, more).coeffs()),
        by=nonnegative((high - low).subs(b, 1 + more), [delta, more]),
    )
    return examination.evidence("every δ in (0,1), Z̄ >= 1")


# -- (H.5) --------------------------------------------------------------------------------------

H5 = Claim(
    "lca.H.5",
    "Appendix H, (H.5)",
    r"\text{on }G_\delta:\quad \mathbb E[(\hat y_q-\langle w,x_q\rangle)^2\mid X,m,\zeta]\le "
    r"\Big(\tfrac{1+\delta}{1-\delta}\Big)^2\rho_\delta^{2T}\zeta^2W"
    r"+\tfrac{\zeta^2}{Z}\tfrac dL\tfrac{(1+\rho_\delta^T)^2}{(1-\delta)^2}",
    title="finite context: bias and noise bounded on the spectral event",
    depends_on=("lca.H.2", "lca.H.3", "lca.H.4"),
    note="The paper's constants are reconstructed. Unconditionally no such bound holds: see "
    "lca.H.diverges.",
)

_BOUND = (
    ((1 + delta) / (1 - delta)) ** 2 * rho ** (2 * T) * (Z - 1) / Z,
    d / (Z * L) * (1 + rho**T) ** 2 / (1 - delta) ** 2,
)
_WRONG_BOUND = {
    "ρ^{4T}": (_BOUND[0] * rho ** (2 * T), _BOUND[1]),
    "noise without d": (_BOUND[0], _BOUND[1] / d),
    "noise without 1/(1-δ)²": (_BOUND[0], _BOUND[1] * (1 - delta) ** 2),
    "noise halved": (_BOUND[0], _BOUND[1] / 2),
}


@H5.check(
    "proof, factor by factor",
    PROVED,
    formula=_BOUND,
    controls=_WRONG_BOUND | {"(1-δ)² for its inverse": (_BOUND[0] * (1 - delta) ** 4, _BOUND[1])},
)
def proof(formula: Formula, examination: Examination) -> Evidence:
    """Each inequality contributes one factor; the product is the bound."""
    low, high = appendix_h.lower_end(), appendix_h.upper_end()
    # Bias: Σ_x <= Σ̂/(1-δ)²; then s(1-αs)^{2T} <= ρ^{2T} s on the spectrum of Σ̂; then
    # wᵀΣ̂w <= (1+δ)² wᵀΣ_x w, and wᵀΣ_x w = ζ²W.
    to_empirical, back = 1 / low, high / b
    share = theory.in_terms_of_z(theory.signal_variance() / theory.zeta**2)
    examination.identity(
        "bias: (1-δ)⁻² · ρ^{2T} · (1+δ)² · W",
        to_empirical * rho ** (2 * T) * back * share,
        formula[0],
    )
    # Noise: tr[Σ_x NΣ̂⁻¹N] <= (1-δ)⁻² tr N², as everything but Σ_x commutes with Σ̂; the d
    # eigenvalues of N = I - M^T are at most 1 + ρ^T; σ² = ζ²/Z.
    variance = theory.in_terms_of_z(theory.residual_variance() / theory.zeta**2)
    examination.identity(
        "noise: (σ²/L) · (1-δ)⁻² · d(1+ρ^T)²",
        variance / L * to_empirical * d * (1 + rho**T) ** 2,
        formula[1],
    )
    left = 1 - _M**T  # N on an eigenvector of Σ̂
    examination.lemma(
        "tr: N(s) Σ̂⁻¹ N(s) Σ̂ = N(s)²",
        sympy.cancel(left / s * left * s - left**2) == 0,
        by=same(left / s * left * s, left**2),
    )
    examination.assume("A ⪯ B gives vᵀAv <= vᵀBv, and tr(AC) <= tr(BC) for C ⪰ 0")
    return examination.evidence("every d < L, T, δ < 1, α in the window (H.4), on the event")


@dataclass(frozen=True)
class _Extreme:
    """``Σ̂ = h²Σ_x`` with ``h = 1 ± δ``: on the edge of the event, in exact rationals."""

    stretch: Fraction
    depth: int
    alpha: Fraction

    dim, context, delta, top = 20, 8000, Fraction(1, 10), Fraction(5)

    def exact(self) -> tuple[Fraction, Fraction]:
        """Bias and noise at Z = Z̄, from (H.2)."""
        z, scale = self.top, self.stretch**2

        def n(value: Fraction) -> Fraction:
            return 1 - (1 - self.alpha * value) ** self.depth

        bias = (z - 1) / z * (1 - self.alpha * scale * z) ** (2 * self.depth)
        spread = n(scale * z) ** 2 + (self.dim - 1) * n(scale) ** 2
        return bias, spread / scale / (z * self.context)

    def stated(self, formula: Formula) -> list[Statement]:
        """The same two comparisons as formulas, for a certificate."""
        z, h, a, size, n = sympy.symbols("Z h alpha d L", positive=True)

        def left(value: sympy.Expr) -> sympy.Expr:
            return 1 - (1 - a * value) ** self.depth

        bias = (z - 1) / z * (1 - a * h**2 * z) ** (2 * self.depth)
        noise = (left(h**2 * z) ** 2 + (size - 1) * left(h**2) ** 2) / h**2 / (z * n)
        at: dict[str, Fraction | int] = {
            "Z": self.top,
            "b": self.top,
            "h": self.stretch,
            "alpha": self.alpha,
        }
        at |= {"d": self.dim, "L": self.context, "delta": self.delta}
        ends = [
            compiled(e, EXACT)({"delta": self.delta, "b": self.top}, False)
            for e in (appendix_h.lower_end(), appendix_h.upper_end())
        ]
        at["rho"] = max(abs(1 - self.alpha * end) for end in ends)
        return [
            at_most(Evaluated(exact, at), Evaluated(bound.subs(T, self.depth), at))
            for exact, bound in zip((bias, noise), formula, strict=True)
        ]

    def bound(self, formula: Formula) -> list[Fraction]:
        at = {"delta": self.delta, "b": self.top, "Z": self.top}
        at |= {"d": Fraction(self.dim), "L": Fraction(self.context)}
        ends = [
            compiled(e, EXACT)(at, False) for e in (appendix_h.lower_end(), appendix_h.upper_end())
        ]
        at["rho"] = max(abs(1 - self.alpha * end) for end in ends)
        return [compiled(part.subs(T, self.depth), EXACT)(at, False) for part in formula]

    def __str__(self) -> str:
        return f"Σ̂ = ({self.stretch})²Σ_x, T = {self.depth}, α = {self.alpha}"


@H5.check(
    "edge of the event",
    CERTIFIED,
    formula=_BOUND,
    controls=_WRONG_BOUND,
    cases=[
        _Extreme(h, depth, step)
        for h in (Fraction(9, 10), Fraction(11, 10))
        for depth in (1, 5, 40)
        for step in (Fraction(1, 4), Fraction(8, 25))
    ],
    mutate=False,
)
def edge(formula: Formula, case: _Extreme, examination: Examination) -> Evidence:
    for name, exact, bound, by in zip(
        ("bias", "noise"), case.exact(), case.bound(formula), case.stated(formula), strict=True
    ):
        examination.decide(
            f"{name} below its bound",
            exact <= bound,
            f"{float(exact):.4g} <= {float(bound):.4g}",
            by=by,
        )
    return examination.evidence("exact rationals, d = 20, L = 8000, δ = 1/10")


_RANDOM = ((5, 400, "1/10", "11/50"), (5, 4000, "1/20", "2/7"), (20, 4000, "1/20", "1/4"))


@H5.check(
    "random prompts",
    SIMULATED,
    formula=_BOUND,
    controls={
        "noise halved": _WRONG_BOUND["noise halved"],
        "noise without d": _WRONG_BOUND["noise without d"],
        "bias 10⁻⁶": (_BOUND[0] / 10**6, _BOUND[1]),
    },
    mutate=False,
)
def random_prompts(formula: Formula, examination: Examination, context: Context) -> Evidence:
    """Exact conditional expectations (H.2) of random Σ̂: a single excess refutes, chance cannot."""
    rng = context.rng()
    count = 100 if context.preset == "quick" else 2000
    for dim, length, slack, step in _RANDOM:
        size = math.sqrt(dim / length) + float(Fraction(slack))
        worst, seen = np.zeros(2), 0
        for _ in range(count):
            m = rng.standard_normal(dim)
            z = rng.uniform(2, 5)
            m *= math.sqrt(z - 1) / np.linalg.norm(m)
            X = np.outer(m, rng.standard_normal(length)) + rng.standard_normal((dim, length))
            ratio = _ratios(formula, X, m, size, float(Fraction(step)))
            if ratio is not None:
                worst, seen = np.maximum(worst, ratio), seen + 1
        for name, value in zip(("bias", "noise"), worst, strict=True):
            examination.decide(
                f"{name}, d = {dim}, L = {length}",
                bool(value <= 1 + 1e-9),
                f"largest ratio to its bound {value:.3g} over {seen} prompts on the event",
            )
    return examination.evidence("random prompts on the event, T = 5, 10, 20, 60")


def _ratios(
    formula: Formula, X: np.ndarray, m: np.ndarray, size: float, step: float
) -> np.ndarray | None:
    """The largest ratios of bias and noise to their bounds, or ``None`` off the event."""
    dim, length = X.shape
    z = 1 + float(m @ m)
    values, vectors = np.linalg.eigh(X @ X.T / length)
    sigma = np.eye(dim) + np.outer(m, m)
    root = np.eye(dim) + np.outer(m, m) * ((1 / math.sqrt(z) - 1) / (z - 1))  # Σ_x^{-1/2}
    whitened = np.linalg.eigvalsh(root @ (X @ X.T / length) @ root)
    if not ((1 - size) ** 2 <= whitened[0] and whitened[-1] <= (1 + size) ** 2):
        return None
    at = {"delta": size, "b": 5.0, "Z": z, "d": float(dim), "L": float(length)}
    ends = [
        compiled(e, FLOAT64)(at, False) for e in (appendix_h.lower_end(), appendix_h.upper_end())
    ]
    at["rho"] = max(abs(1 - step * end) for end in ends)
    inside = vectors.T @ sigma @ vectors
    largest = np.zeros(2)
    for depth in (5, 10, 20, 60):
        power = (1 - step * values) ** depth
        along = power * (vectors.T @ m) / z
        bias = along @ inside @ along
        noise = float(np.sum(np.diag(inside) * (1 - power) ** 2 / values)) / (z * length)
        bounds = [compiled(part.subs(T, depth), FLOAT64)(at, False) for part in formula]
        largest = np.maximum(largest, np.array([bias, noise]) / np.array(bounds, dtype=float))
    return largest


# -- which L admit α* ---------------------------------------------------------------------------

ADMISSIBLE = Claim(
    "lca.H.window",
    "Appendix H, (H.4) at α* (ours)",
    r"\alpha^*=\tfrac{2}{\underline Z+\overline Z}\text{ is admitted for some }t>0"
    r"\iff L>\frac{d}{(\sqrt{1+\underline Z/\overline Z}-1)^2}",
    title="(H.4) admits α* only for L > d/(√(1+Z̲/Z̄)-1)²",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.H.4", "lca.F.3"),
)

_LEAST = d / (sympy.sqrt(1 + a / b) - 1) ** 2


@ADMISSIBLE.check(
    "both sides of the threshold",
    CERTIFIED,
    formula=_LEAST,
    controls={
        "4d(Z̄/Z̲)², its limit for Z̄ ≫ Z̲": 4 * d * (b / a) ** 2,
        "without the square": d / (sympy.sqrt(1 + a / b) - 1),
        "2 % more": _LEAST * sympy.Rational(102, 100),
        "2 % less": _LEAST * sympy.Rational(98, 100),
    },
    cases=LAWS,
    mutate=False,
    at=LAW,
)
def threshold(formula: sympy.Expr, case: Law, examination: Examination) -> Evidence:
    dim, step = 1000, Fraction(2) / (case.lower + case.upper)
    # √(1+Z̲/Z̄)-1 cancels, and the threshold has twice the digits of Z̄/Z̲.
    digits = 20 + 3 * len(str(case.upper // case.lower))
    with precision(bits_for(digits) + 64):
        at = {"a": ball(case.lower), "b": ball(case.upper), "d": arb(dim)}
        edge_ = Enclosure.of(compiled(formula, BALL)(at, False))
    # Where the threshold is an integer, the enclosure lies on both sides of it.
    below, above = math.floor(edge_.lower), math.ceil(edge_.upper)
    # t moves the threshold by 2td/(√(1+Z̲/Z̄)-1)³ < 30td(Z̄/Z̲)³, which is to be far below one.
    slack = (case.lower / case.upper) ** 3 / 10**9
    for context, expected in ((above + 1, True), (below - 1, False)):
        found = appendix_h.appendix_h(
            case, dim=dim, context=context, depth=1, alpha=step, t=slack, digits=digits
        ).admissible
        examination.decide(
            f"admitted at L = {context}", None if found is None else found is expected, f"{found}"
        )
    return examination.evidence(f"d = {dim}, t = 10⁻⁹(Z̲/Z̄)³")


claims = [H2, H3, H4, H5, ADMISSIBLE]
