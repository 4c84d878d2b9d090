"""Appendix H's model at any size: the exact-in-law reductions, and the exact risks of small depth."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import sympy

from theoryverify.claims import CERTIFIED, PROVED, SIMULATED, Claim, Context, Evidence, Examination
from theoryverify.claims.statements import same
from theoryverify.exact.integrands import Z
from theoryverify.papers.lca import finite, theory
from theoryverify.papers.lca.claims.setting import IN_UNITS
from theoryverify.papers.lca.finite import L, d, j
from theoryverify.papers.lca.theory import M, alpha
from theoryverify.papers.lca.wick import LiteralMoments, literal_moments
from theoryverify.simulate.exact_law import Offsets, sample_chain
from theoryverify.simulate.two_sample import law_distance

LAW = Claim(
    "lca.H.law",
    "ours: the model of Section 5 at finite L, reduced without a change of law",
    r"L\hat\Sigma|_{\mathrm{Krylov}(Xy)} = BB^\top,\quad B_{jj}=a_j,\ B_{j,j+1}=b_j,\quad "
    r"b_j^2\sim\chi^2_{L-j},\ a_j^2=n_j^2+\chi^2_{d-j},\ a_1^2=(|u|\,|m|+n_1)^2+\chi^2_{d-1},\ "
    r"|u|^2\sim\chi^2_L\ \text{ independent}",
    title="ŵ·m and |ŵ|² from O(T) independent chi variables, for any d and L",
    depends_on=("lca.E.1", "lca.E.2"),
)

_a, _a_next, _b, _b_before = sympy.symbols("a_j a_{j+1} b_j b_{j-1}", positive=True)
_q_before, _q, _q_next = sympy.symbols("q_{j-1} q_j q_{j+1}")
_r, _n, _e = sympy.symbols("r n e", positive=True)

# The tridiagonal entries, and what a step leaves of m: m·q_j and the square of the rest.
_STEP = (
    _a**2 + _b**2,
    _b * _a_next,
    _r * _n / sympy.sqrt(_n**2 + _e**2),
    _r**2 * _e**2 / (_n**2 + _e**2),
)


@LAW.check(
    "one step of the chain",
    PROVED,
    formula=_STEP,
    controls={
        "lower bidiagonal: b_{j-1} for b_j": (_a**2 + _b_before**2, *_STEP[1:]),
        "a_j for a_{j+1}": (_STEP[0], _b * _a, *_STEP[2:]),
        "m's rest not shortened": (*_STEP[:3], _r**2),
        "the spike dropped": (*_STEP[:2], sympy.Integer(0), _STEP[3]),
    },
)
def one_step(formula: tuple[sympy.Expr, ...], examination: Examination) -> Evidence:
    diagonal, off, along, rest = formula
    # X v_j = b_{j-1}q_{j-1} + a_j q_j and Xᵀq_j = a_j v_j + b_j v_{j+1}, so with S = XXᵀ
    # S q_j = a_j X v_j + b_j X v_{j+1}; vectors are formal symbols here.
    image = _a * (_b_before * _q_before + _a * _q) + _b * (_b * _q + _a_next * _q_next)
    image = sympy.expand(image)
    examination.identity("q_jᵀSq_j", image.coeff(_q), diagonal)
    examination.identity("q_{j+1}ᵀSq_j", image.coeff(_q_next), off)
    # The new vector has the part n along what remains of m (length r) and e across: a² = n² + e².
    size = sympy.sqrt(_n**2 + _e**2)
    examination.identity("m·q_j", _r * _n / size, along)
    examination.identity("|m_rest|²", _r**2 - (_r * _n / size) ** 2, rest)
    # The query averaged out, and the split into Bayes and excess risk; p = ŵ·m, s = |ŵ|².
    p, s = sympy.symbols("p s", real=True)
    w_m, w_w = (Z - 1) / Z, (Z - 1) / Z**2
    excess = (s - 2 * p / Z + w_w) + (p - w_m) ** 2
    examination.lemma(
        "(1-p)² + s = 1/Z + |ŵ-w|² + ((ŵ-w)·m)²",
        sympy.cancel((1 - p) ** 2 + s - 1 / Z - excess) == 0,
        by=same((1 - p) ** 2 + s, 1 / Z + excess),
    )
    examination.assume(
        "a standard Gaussian matrix stays so, and independent, under an independent rotation"
    )
    examination.assume("|g|² ~ χ²_f is independent of g/|g| for g ~ N(0, I_f)")
    return examination.evidence("every d, L, T, j")


_DEGREES = (L, d - j, L - j, sympy.Integer(1))
_WRONG_DEGREES = {
    "|u|² ~ χ²_{L-1}": (L - 1, *_DEGREES[1:]),
    "across: χ²_{d-j+1}": (L, d - j + 1, *_DEGREES[2:]),
    "down: χ²_{L-j+1}": (*_DEGREES[:2], L - j + 1, _DEGREES[3]),
    "the spike dropped": (*_DEGREES[:3], sympy.Integer(0)),
}
_TINY = (
    ((Fraction(2, 3),), 2, 3),
    ((Fraction(1, 2), Fraction(2, 3)), 1, 3),
    ((Fraction(1, 2), Fraction(2, 3)), 3, 2),
    ((Fraction(1, 2), Fraction(2, 3), Fraction(-1, 3)), 2, 2),
)
_STEPS = (Fraction(2, 7), Fraction(-1, 5))


@lru_cache(maxsize=16)
def _literal(m: tuple[Fraction, ...], context: int, depth: int) -> LiteralMoments:
    return literal_moments(m, context, *_STEPS, depth)


@LAW.check(
    "exact moments of the literal model", CERTIFIED, formula=_DEGREES, controls=_WRONG_DEGREES
)
def literal(formula: tuple[sympy.Expr, ...], examination: Examination) -> Evidence:
    """Every entry of X a symbol, Gaussian moments monomial by monomial: no chain, no rotation."""
    degrees = finite.ChainDegrees(*formula)
    for m, context, depth in _TINY:
        at = finite.prompt_point(len(m), context, *_STEPS)
        found = finite.prompt_moments_at(depth, at, degrees)
        expected = _literal(m, context, depth)
        size = sum(entry**2 for entry in m)
        for name in ("along", "along_square", "square", "risk"):
            value = getattr(found, name).subs(M, sympy.Rational(size.numerator, size.denominator))
            wanted = getattr(expected, name)
            same = examination.decide(
                f"E[{name}] at d = {len(m)}, L = {context}, T = {depth}",
                bool(value == sympy.Rational(wanted.numerator, wanted.denominator)),
                f"{value} and {wanted}",
            )
            if not same:
                return examination.evidence("")  # one difference refutes
    return examination.evidence("exact rationals; d, L from 1 to 3, T = 2, 3, d <= T and L < d too")


# -- in law -------------------------------------------------------------------------------------

_SIZES = ((1, 2, 2), (2, 1, 3), (2, 3, 3), (4, 6, 3))
_PROMPTS = 100_000
_MARGIN = 0.03  # the nearest control is at a distance of 0.2 in the smallest model
_ERROR = 1e-9


def _literal_draws(
    dim: int, context: int, depth: int, step: float, mix: float, rng: np.random.Generator
) -> tuple[Any, Any]:
    """``ŵ·m`` and ``|ŵ|²`` of the literal model, layer by layer on d x L states; Z ~ U[2,5]."""
    z = rng.uniform(2, 5, _PROMPTS)
    direction = rng.standard_normal((_PROMPTS, dim))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    m = direction * np.sqrt(z - 1)[:, None]
    u = rng.standard_normal((_PROMPTS, context))
    X = m[:, :, None] * u[:, None, :] + rng.standard_normal((_PROMPTS, dim, context))
    sigma = X @ X.transpose(0, 2, 1) / context
    F = np.zeros_like(X)
    for _ in range(depth):
        F = F + step * X + mix * (sigma @ F)
    w = (F @ u[:, :, None])[:, :, 0] / context
    return np.einsum("nd,nd->n", w, m), np.einsum("nd,nd->n", w, w)


@LAW.check(
    "the sampler against the literal model",
    SIMULATED,
    formula=Offsets(),
    controls={
        "|u|² ~ χ²_{L+1}": Offsets(labels=1),
        "across: one degree more": Offsets(across=1),
        "down: one degree more": Offsets(down=1),
        "the spike dropped": Offsets(spike=0.0),
    },
    mutate=False,
)
def in_law(offsets: Offsets, examination: Examination, context: Context) -> Evidence:
    rng = context.rng()
    for number, (dim, length, depth) in enumerate(_SIZES):
        step, mix = ((0.25, -0.25), (0.2, -0.15))[number % 2]
        along, square = _literal_draws(dim, length, depth, step, mix, rng)
        z = rng.uniform(2, 5, _PROMPTS)
        chain = sample_chain(z, dim, length, depth, rng=rng, offsets=offsets)
        found = chain.slopes(step, mix, depth)
        for name, left, right in (("ŵ·m", found.along, along), ("|ŵ|²", found.square, square)):
            distance = law_distance(left, right, error=_ERROR)
            same = examination.decide(
                f"law of {name} at d = {dim}, L = {length}, T = {depth}",
                distance.within(_MARGIN),
                f"distance {distance.seen:.4f} ± {distance.radius:.4f}, margin {_MARGIN}",
            )
            if same is False:
                return examination.evidence("")  # one difference refutes
    return examination.evidence(
        f"Kolmogorov distance within {_MARGIN}; false alarm at most {2 * len(_SIZES) * _ERROR:.0e}"
    )


# -- exact risks --------------------------------------------------------------------------------

ONE = Claim(
    "lca.H.T1",
    "ours: the exact finite-context risk of one layer",
    r"T=1:\quad \mathbb E[\text{excess}]/\mathbb E[\zeta^2] = \mathbb E[W(1-\alpha Z)^2]"
    r"+\tfrac{\alpha^2}{L}\big(d-1+\mathbb E[2Z^2-Z]\big)",
    title="T = 1: excess = E[W(1-αZ)²] + (α²/L)(d-1+E[2Z²-Z])",
    hypotheses=IN_UNITS,
    depends_on=("lca.H.law",),
)

_FINITE_T1 = (Z - 1) / Z * (1 - alpha * Z) ** 2 + alpha**2 / L * (d - 1 + 2 * Z**2 - Z)


@ONE.check(
    "from chi moments",
    PROVED,
    formula=_FINITE_T1,
    controls={
        "d for d-1": _FINITE_T1 + alpha**2 / L,
        "Z² for 2Z²": _FINITE_T1 - alpha**2 / L * Z**2,
        "1/(L+1) for 1/L": _FINITE_T1.subs(L, L + 1),
        "the infinite-context loss": (Z - 1) / Z * (1 - alpha * Z) ** 2,
    },
)
def one_layer(formula: sympy.Expr, examination: Examination) -> Evidence:
    risk = finite.prompt_moments(1).risk.subs(M, Z - 1)
    examination.identity("risk - 1/Z", risk - theory.noise_share(), formula)
    examination.lemma(
        "the code's formula is the derived one",
        sympy.cancel(finite.first_depth_excess() - risk + theory.noise_share()) == 0,
        by=same(finite.first_depth_excess(), risk - theory.noise_share()),
    )
    return examination.evidence("every d, L, Z, α")


DEEPER = Claim(
    "lca.H.T3",
    "ours: the exact finite-context risk of two and three layers",
    r"T\le 3,\text{ given }m:\quad \lim_{L\to\infty}\text{excess}/\mathbb E[\zeta^2]="
    r"W(1-\alpha S_T)^2,\quad \text{excess}=\text{a polynomial in } d,\ 1/L,\ Z,\ \alpha,\ \beta",
    title="T = 2, 3: exact polynomials that tend to the infinite-context loss",
    hypotheses=IN_UNITS,
    depends_on=("lca.H.law", "lca.loss"),
)


@DEEPER.check(
    "limit in L",
    PROVED,
    formula=theory.loss_integrand(),
    controls={
        "one layer more": theory.loss_integrand(depth=theory.T + 1),
        "without W": theory.loss_integrand() * Z / (Z - 1),
        "β = -α": theory.one_parameter_loss(),
    },
)
def limit_in_context(formula: sympy.Expr, examination: Examination) -> Evidence:
    for depth in (1, 2, 3):
        same = examination.identity(
            f"T = {depth}, L = ∞",
            _at_infinite_context(depth) - theory.noise_share(),
            formula.subs(theory.T, depth),
        )
        if same is False:
            break  # one difference refutes
    return examination.evidence("T = 1, 2, 3, every d, Z, α, β")


@lru_cache(maxsize=4)
def _at_infinite_context(depth: int) -> sympy.Expr:
    inverse = sympy.Symbol("x", positive=True)
    risk = sympy.expand(finite.prompt_moments(depth).risk.subs(L, 1 / inverse))
    assert risk.is_polynomial(inverse)
    return risk.subs(inverse, 0).subs(M, Z - 1)


@DEEPER.check(
    "d = 1 by Gamma moments",
    PROVED,
    formula=sympy.Integer(1),
    controls={"noise twice": sympy.Integer(2), "no noise": sympy.Integer(0)},
    mutate=False,
)
def against_gamma(noise_factor: sympy.Expr, examination: Examination) -> Evidence:
    """At d = 1 the same risk from ``Σ̂ = Zχ²_L/L`` alone: bias ``W A²`` and noise ``tP²/L``."""
    for depth in (1, 2):
        state = sympy.Integer(0)
        for _ in range(depth):
            state = sympy.expand(theory.layer(state))
        bias = theory.signal_share() * (1 - theory.s * state) ** 2
        noise = noise_factor * theory.s * state**2 / L
        value = sympy.Integer(0)
        for (power,), coefficient in sympy.Poly(sympy.expand(bias + noise), theory.s).terms():
            rising = sympy.Mul(*(L + 2 * i for i in range(power)))
            value += coefficient * Z**power * rising / L**power
        risk = finite.prompt_moments(depth).risk.subs(d, 1).subs(M, Z - 1)
        examination.identity(f"T = {depth}", risk - theory.noise_share(), value)
    return examination.evidence("d = 1, T = 1, 2, every L, Z, α, β")


claims = [LAW, ONE, DEEPER]
