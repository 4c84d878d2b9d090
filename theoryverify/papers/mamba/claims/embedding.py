"""The gate as zero-order hold, the embedding, sphere moments, the rectifier's jump, the feature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import sympy

from theoryverify.claims import CERTIFIED, PROVED, REFUTED, Claim, Evidence, Examination
from theoryverify.claims.statements import Evaluated, equals, expression_of, gaussian_over, same
from theoryverify.exact.forms import Form
from theoryverify.exact.gaussian import integral
from theoryverify.exact.points import Point
from theoryverify.exact.surds import Surds, hermite, root_factorial
from theoryverify.papers.mamba import jump, theory
from theoryverify.papers.mamba.claims.exponents import NUMBERING
from theoryverify.papers.mamba.theory import c0, c1, c2, d, r, u, z

# -- the gate of one token ----------------------------------------------------------------------

HOLD = Claim(
    "mamba.T1",
    "one-layer Mamba: the gate",
    r"A=-I,\ \Delta=\mathrm{softplus}(u):\quad \bar A = 1-\sigma(u),\quad \bar B = \sigma(u)B",
    title="zero-order hold with Δ = softplus(u): Ā = 1-σ(u), B̄ = σ(u)B",
    note=NUMBERING,
)


@HOLD.check(
    "the held differential equation",
    PROVED,
    formula=(1 - theory.sigmoid(), theory.sigmoid()),
    controls={
        "Euler: B̄ = ΔB": (1 - theory.sigmoid(), theory.softplus()),
        "Ā = σ(u)": (theory.sigmoid(), theory.sigmoid()),
        "Euler for both: Ā = 1 - Δ": (1 - theory.softplus(), theory.softplus()),
    },
)
def held(formula: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    decay, drive = theory.zero_order_hold(theory.softplus(u))
    examination.identity("exp(-softplus(u)) = Ā", decay, formula[0])
    examination.identity("∫_0^Δ e^{-s} ds = B̄/B", drive, formula[1])
    return examination.evidence("every u")


EULER = Claim(
    "mamba.T1.euler",
    "one-layer Mamba by Euler's method (counterexample)",
    r"\text{Euler's } \bar B = \Delta B \text{ gives the gate } \sigma(u)\prod(1-\sigma)",
    title="Euler's discretisation gives the gate σ: false, it gives softplus(u)",
    expected=REFUTED,
)


@EULER.check(
    "against the gate",
    PROVED,
    formula=theory.softplus(),
    controls={"2 softplus(u)": 2 * theory.softplus(), "softplus(u)²": theory.softplus() ** 2},
    mutate=False,
)
def against_the_gate(step: sympy.Expr, examination: Examination) -> Evidence:
    examination.identity("B̄/B = σ(u)", step, theory.sigmoid())
    return examination.evidence("every u")


# -- the embedding ------------------------------------------------------------------------------

SIZE = Claim(
    "mamba.T4",
    "the embedding φ",
    r"\mathbb E[\varphi(x)\varphi(x)^\top] = I,\quad \tilde d = \tfrac{(d+1)(d+2)}2",
    title="φ is orthonormal and has (d+1)(d+2)/2 entries",
    note=NUMBERING,
)


@SIZE.check(
    "counting",
    PROVED,
    formula=(d + 1) * (d + 2) / 2,
    controls={"d(d+1)/2 + 1": d * (d + 1) / 2 + 1, "d + d(d-1)/2 + 1": d + d * (d - 1) / 2 + 1},
)
def counting(formula: sympy.Expr, examination: Examination) -> Evidence:
    examination.identity("1 + d + d + d(d-1)/2", theory.embedding_dimension(), formula)
    for size in range(1, 6):
        x = sympy.symbols(f"x1:{size + 1}", real=True)
        examination.decide(
            f"entries at d = {size}",
            len(theory.embedding(x)) == formula.subs(d, size),
            "",
            by=equals(len(theory.embedding(x)), Evaluated(formula, {d: size})),
        )
    return examination.evidence("every d")


_Embedding = Callable[[Sequence[sympy.Expr]], list[sympy.Expr]]


def _with(change: Callable[[sympy.Expr], sympy.Expr]) -> _Embedding:
    """The embedding with other diagonal entries."""

    def build(x: Sequence[sympy.Expr]) -> list[sympy.Expr]:
        size, entries = len(x), theory.embedding(x)
        return [*entries[: 1 + size], *[change(e) for e in x], *entries[1 + 2 * size :]]

    return build


@SIZE.check(
    "second moments",
    PROVED,
    formula=theory.embedding,
    controls={
        "x² - 1/√2": _with(lambda e: e**2 - 1 / sympy.sqrt(2)),
        "x² - 1": _with(lambda e: e**2 - 1),
        "(x² - 1)/√3": _with(lambda e: (e**2 - 1) / sympy.sqrt(3)),
        "pairs with i <= j": lambda x: [*theory.embedding(x), x[0] ** 2],
    },
)
def second_moments(build: _Embedding, examination: Examination) -> Evidence:
    # Two entries involve at most four coordinates, so d = 4 speaks for every d.
    x = sympy.symbols("x1:5", real=True)
    entries = build(x)
    for i, left in enumerate(entries):
        for j, right in enumerate(entries[: i + 1]):
            value = gaussian_mean(left * right, x)
            if value != int(i == j):
                examination.decide(f"E[({left})({right})] = {int(i == j)}", False, str(value))
                return examination.evidence("")
    examination.decide(
        "E[φφᵀ] = I",
        True,
        f"{len(entries)} entries at d = 4",
        by=lambda: [
            equals(gaussian_over(left * right, x), int(i == j))
            for i, left in enumerate(entries)
            for j, right in enumerate(entries[: i + 1])
        ],
    )
    return examination.evidence("every d")


def gaussian_mean(expression: sympy.Expr, normals: Sequence[sympy.Symbol]) -> sympy.Expr:
    """``E`` of a polynomial in independent N(0,1): ``E[x^{2k}] = (2k-1)!!``."""
    total = sympy.Integer(0)
    for powers, coefficient in sympy.Poly(sympy.expand(expression), *normals).terms():
        if all(power % 2 == 0 for power in powers):
            total += coefficient * sympy.prod([sympy.factorial2(power - 1) for power in powers])
    return sympy.expand(total)


SIGNAL = Claim(
    "mamba.T5",
    "test-time feature: expectation over the context",
    r"\mathbb E[T(y)\varphi(x)\mid\beta] = \big(c_0,\ c_1\beta_i,\ c_2\beta_i^2,"
    r"\ \sqrt2c_2\beta_i\beta_j\big)",
    title="E[Tφ] = (c₀, c₁β_i, c₂β_i², √2c₂β_iβ_j)",
    depends_on=("mamba.T4",),
    note=NUMBERING,
)

_Signal = Callable[[Sequence[sympy.Expr]], list[sympy.Expr]]


def _pairs_times(factor: sympy.Expr) -> _Signal:
    def build(beta: Sequence[sympy.Expr]) -> list[sympy.Expr]:
        size, entries = len(beta), theory.first_order_signal(beta)
        head, pairs = entries[: 1 + 2 * size], entries[1 + 2 * size :]
        return [*head, *[factor * e for e in pairs]]

    return build


@SIGNAL.check(
    "projection on the embedding",
    PROVED,
    formula=theory.first_order_signal,
    controls={
        "c_2 β_i β_j": _pairs_times(1 / sympy.sqrt(2)),
        "2 c_2 β_i β_j": _pairs_times(sympy.sqrt(2)),
        "c_1 for c_2": lambda beta: [e.subs(c2, c1) for e in theory.first_order_signal(beta)],
    },
)
def projection(build: _Signal, examination: Examination) -> Evidence:
    # c_0 + c_1 z + c_2 he_2(z), z = ⟨β,x⟩; higher orders are orthogonal to φ, of degree 2.
    x = sympy.symbols("x1:4", real=True)
    b1, b2 = sympy.symbols("beta1 beta2", real=True)
    square = sympy.Symbol("q", real=True)  # β_3², by |β| = 1
    b3 = sympy.Symbol("beta3", real=True)
    label = theory.ideal_feature().subs(z, b1 * x[0] + b2 * x[1] + b3 * x[2])
    stated = build((b1, b2, b3))
    for entry, value in zip(theory.embedding(x), stated, strict=True):
        found = gaussian_mean(label * entry, x)
        difference = sympy.expand(found - value).subs(b3**2, square)
        difference = difference.subs(square, 1 - b1**2 - b2**2)
        examination.decide(
            f"E[T·({entry})]",
            sympy.expand(difference) == 0,
            f"{found}, stated {value}",
            by=same(
                gaussian_over(label.subs(b3, sympy.sqrt(1 - b1**2 - b2**2)) * entry, x),
                value.subs(b3, sympy.sqrt(1 - b1**2 - b2**2)),
            ),
        )
    return examination.evidence("every β on the sphere; entries involve at most two coordinates")


# -- moments of the sphere ----------------------------------------------------------------------

SPHERE = Claim(
    "mamba.T16",
    "one gradient step: moments of β",
    r"\mathbb E\beta_i^2 = \tfrac1r,\quad \mathbb E\beta_i^4 = \tfrac3{r(r+2)},\quad"
    r"\mathbb E\beta_i^2\beta_j^2 = \tfrac1{r(r+2)}",
    title="moments of the sphere: 1/r, 3/(r(r+2)), 1/(r(r+2))",
    note=NUMBERING,
)


@SPHERE.check(
    "a Gaussian vector is R times β",
    PROVED,
    formula=(1 / r, 3 / (r * (r + 2)), 1 / (r * (r + 2))),
    controls={
        "Gaussian: 3/r²": (1 / r, 3 / r**2, 1 / r**2),
        "3/(r(r+1))": (1 / r, 3 / (r * (r + 1)), 1 / (r * (r + 1))),
    },
)
def sphere(formula: tuple[sympy.Expr, ...], examination: Examination) -> Evidence:
    second, fourth, mixed = formula
    x1, x2 = sympy.symbols("x1 x2", real=True)

    def mean(e: sympy.Expr) -> sympy.Expr:
        return gaussian_mean(e, (x1, x2))

    # E R² and E R⁴ of the length of a Gaussian vector in R^r, by symmetry of its entries.
    radius2 = r * mean(x1**2)
    radius4 = r * mean(x1**4) + r * (r - 1) * mean(x1**2 * x2**2)
    examination.identity("E R² E β_1² = E x_1²", radius2 * second, mean(x1**2))
    examination.identity("E R⁴ E β_1⁴ = E x_1⁴", radius4 * fourth, mean(x1**4))
    examination.identity("E R⁴ E β_1²β_2² = E x_1²x_2²", radius4 * mixed, mean(x1**2 * x2**2))
    examination.assume("length and direction of a Gaussian vector are independent")
    return examination.evidence("every r")


# -- the jump -----------------------------------------------------------------------------------

JUMP = Claim(
    "mamba.T15",
    "one gradient step: the rectifier's jump",
    r"J_k(t)=\mathbb E[\mathrm{he}_n(z)\mathrm{he}_k(z);\ |z|>t],\ t\ge0,\ n\ge3:\quad "
    r"J_1 = \tfrac{2[\mathrm{He}_n+n\mathrm{He}_{n-2}](t)\phi(t)}{\sqrt{n!}}\ (n\text{ odd}),\quad "
    r"J_2 = \tfrac{\sqrt2[\mathrm{He}_{n+1}+2n\mathrm{He}_{n-1}+n(n-1)\mathrm{He}_{n-3}](t)\phi(t)}"
    r"{\sqrt{n!}}\ (n\text{ even})",
    title="closed forms of E[he_n he_k; |z| > t] for k = 1, 2 and n >= 3",
    depends_on=("mamba.recurrence",),
    note=f"{NUMBERING} J_k is the label's part of the query factor K_k (mamba.E.query) for g = he_n "
    "where M > 0 for |z| > t; for γ^(0) = 1 and ρ → ∞ that is t² = 1 - 1/n.",
)


@JUMP.check(
    "exact integration",
    CERTIFIED,
    formula=jump.jump_polynomial,
    controls={
        "without the factor of He_{n-2}": lambda k: (
            jump.jump_polynomial(k) - Surds.of(k - 1) * hermite(k - 2) * root_factorial(k).inverse()
        ),
        "half": lambda k: jump.jump_polynomial(k) * Surds.of(Fraction(1, 2)),
        "plus one part in a million": lambda k: (
            jump.jump_polynomial(k) * Surds.of(Fraction(10**6 + 1, 10**6))
        ),
    },
)
def exact_integration(closed: Callable[[int], Surds], examination: Examination) -> Evidence:
    for order in range(3, 13):
        for t in (jump.threshold(order), Surds.of(Fraction(1, 2)), Surds.of(2)):
            difference = jump.query_factor(order, t) - jump.boundary_term(closed(order), t)
            examination.decide(f"n = {order}, t = {t}", not difference.terms, str(difference)[:60])
    return examination.evidence("n = 3, ..., 12 at three thresholds each")


TAILS = Claim(
    "mamba.T15.tail",
    "one gradient step: the rectifier's jump",
    r"k\ge1:\ \int_t^\infty \mathrm{He}_k\phi = \mathrm{He}_{k-1}(t)\phi(t)",
    title="∫_t^∞ He_k φ = He_{k-1}(t) φ(t) for k >= 1",
    depends_on=("mamba.hermite",),
)


@TAILS.check(
    "derivatives",
    CERTIFIED,
    formula=lambda k: hermite(k - 1),
    controls={
        "He_{k+1}": lambda k: hermite(k + 1),
        "-He_{k-1}": lambda k: -hermite(k - 1),
        "k He_{k-1}": lambda k: Surds.of(k) * hermite(k - 1),
    },
)
def derivatives(closed: Callable[[int], Surds], examination: Examination) -> Evidence:
    for k in range(1, 40):
        inner = closed(k)
        # (Qφ)' = (Q' - zQ)φ must be -He_k φ; Qφ vanishes at infinity.
        slope = inner.derivative() - hermite(1) * inner
        examination.decide(
            f"k = {k}",
            (slope + hermite(k)).is_zero,
            f"{slope}"[:60],
            by=same(
                expression_of(inner.derivative())
                - expression_of(hermite(1)) * expression_of(inner),
                -expression_of(hermite(k)),
            ),
        )
    end = Point(Surds.of(1))
    value = integral(Form.of(hermite(3)), end, None)
    examination.lemma(
        "the integrator agrees at k = 3, t = 1",
        not (value - jump.boundary_term(hermite(2), Surds.of(1))).terms,
    )
    return examination.evidence("every k < 40, every t")


# -- the feature --------------------------------------------------------------------------------

S = sympy.Symbol("S", real=True)

FEATURE = Claim(
    "mamba.T17",
    "test-time feature after one gradient step",
    r"\frac{\mathbb E[N^{-1}\mathrm{Mamba}\mid\beta,x]}{\eta F_{N_{\mathrm{pt}}}F_N}"
    r" = c_0^2K_0 + \tfrac{c_1^2K_1}r z + \tfrac{\sqrt2c_2^2K_2}{r(r+2)}"
    r"\Big[z^2+\tfrac12\sum_i\beta_i^2x_i^2-\tfrac32\Big]",
    title="the feature after one step, with its extra term ½Σβ_i²x_i²",
    depends_on=("mamba.T5", "mamba.T6", "mamba.T16", "mamba.E.gradient"),
    note=f"{NUMBERING} The mean over contexts of N examples, with γ* = η times the population gradient, "
    "whose context of N_pt examples is at its mean. F_N is the factor of forgetting (mamba.T6): for he_3 "
    "at ρ = 24, b = -9 it is 0.994, 0.574, 0.0081 and 0.0000081 at N = 10^2, 10^4, 10^6, 10^9. For "
    "ge = 2 the feature is not a function of z alone.",
)


@FEATURE.check(
    "summing the embedding",
    PROVED,
    formula=theory.test_time_feature(),
    controls={
        "a function of z alone": theory.ideal_feature(),
        "without the extra term": theory.test_time_feature().subs(S, 1),
        "Gaussian weights 1/r²": theory.test_time_feature().subs(r + 2, r),
    },
)
def summing(formula: sympy.Expr, examination: Examination) -> Evidence:
    constant, linear, diagonal, pair = theory.one_step_weights()
    # Σ β_i² = 1, Σ β_i² x_i² = S, Σ_{i<j} β_i β_j x_i x_j = (z² - S)/2.
    total = (
        constant * c0
        + linear * c1 * z
        + diagonal * c2 * (S - 1) / sympy.sqrt(2)
        + pair * sympy.sqrt(2) * c2 * (z**2 - S) / 2
    )
    examination.identity("φ(x)ᵀ(γ* ∘ E[Tφ])", total, formula)
    return examination.evidence("every r, β, x")


@FEATURE.check(
    "variance of the extra term",
    PROVED,
    formula=(sympy.Rational(1, 2), sympy.Integer(3)),
    controls={
        "Σβ_i⁴": (sympy.Integer(1), sympy.Integer(3)),
        "weights 2:2": (sympy.Rational(1, 2), sympy.Integer(2)),
    },
)
def variance(formula: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    share, ratio = formula
    x1, x2 = sympy.symbols("x1 x2", real=True)
    b1, b2 = sympy.symbols("beta1 beta2", positive=True)
    extra = (b1**2 * x1**2 + b2**2 * x2**2) / 2
    mean = gaussian_mean(extra, (x1, x2))
    spread = gaussian_mean(extra**2, (x1, x2)) - mean**2
    examination.identity(
        "Var(½Σβ_i²x_i²) = share·Σβ_i⁴ (independent terms)",
        sympy.expand(spread),
        share * (b1**4 + b2**4),
    )
    _, fourth, mixed = theory.sphere_moments()
    examination.identity("E β_i⁴ / E β_i²β_j²", fourth / mixed, ratio)
    return examination.evidence("every r, as terms of different coordinates are independent")


FUNCTION_OF_Z = Claim(
    "mamba.T17.function-of-z",
    "test-time feature after one gradient step (counterexample)",
    r"\text{for } \mathrm{ge}=2 \text{ the feature is } P_1+P_2\langle\beta,x\rangle^2"
    r"\text{ exactly}",
    title="for ge = 2 the feature is a function of ⟨β,x⟩: false, by ½Σβ_i²x_i²",
    expected=REFUTED,
    depends_on=("mamba.T5", "mamba.T16"),
)


@FUNCTION_OF_Z.check(
    "two inputs with one z",
    PROVED,
    formula=((1, sympy.Rational(1, 2)), (sympy.Rational(5, 3), sympy.Integer(0))),
    controls={"other two inputs": ((sympy.Rational(1, 3), 1), (1, sympy.Rational(1, 2)))},
    mutate=False,
)
def two_inputs(
    inputs: tuple[tuple[sympy.Expr, sympy.Expr], ...], examination: Examination
) -> Evidence:
    beta = sympy.Rational(3, 5), sympy.Rational(4, 5)
    values = []
    for x in inputs:
        at = beta[0] * x[0] + beta[1] * x[1]
        square = beta[0] ** 2 * x[0] ** 2 + beta[1] ** 2 * x[1] ** 2
        examination.lemma("z = 1", at == 1, by=equals(at, 1))
        values.append(theory.test_time_feature().subs({c1: 0, z: at, S: square}))
    examination.identity("the feature at both inputs", *values)
    return examination.evidence("β = (3/5, 4/5)")


claims = [HOLD, EULER, SIZE, SIGNAL, SPHERE, TAILS, JUMP, FEATURE, FUNCTION_OF_Z]
