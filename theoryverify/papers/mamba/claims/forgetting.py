"""Forgetting: the factor F_N, the recursion of the variance, and the best bias at a finite length."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import sympy

from theoryverify.budget import SHARE, draws_for
from theoryverify.claims import (
    CERTIFIED,
    COMPUTED,
    PROVED,
    REFUTED,
    SIMULATED,
    Claim,
    Context,
    Evidence,
    Examination,
)
from theoryverify.claims.statements import Evaluated, Traced, equals, gaussian_over
from theoryverify.claims.statements import same as identical
from theoryverify.exact.balls import Enclosure
from theoryverify.exact.gate import Gate
from theoryverify.exact.links import link
from theoryverify.papers.mamba import forgetting, token_moments
from theoryverify.papers.mamba.claims.embedding import gaussian_mean
from theoryverify.papers.mamba.claims.exponents import NUMBERING
from theoryverify.papers.mamba.claims.layer import torch_or_undecided
from theoryverify.papers.mamba.forgetting import N, b, first, h, m1, m2, mu, p, q, second
from theoryverify.papers.mamba.links import HE2, HE3, MIX
from theoryverify.papers.mamba.population import Population
from theoryverify.papers.mamba.theory import embedding, sigmoid
from theoryverify.papers.mamba.token_moments import Weights, kernel_moments
from theoryverify.stats import VarianceMean, equivalence

# -- T6: the factor -----------------------------------------------------------------------------

FACTOR = Claim(
    "mamba.T6",
    "forgetting",
    r"\mathbb E[N^{-1}\mathrm{Mamba}]=F_N\,\varphi(x)^\top(\gamma\circ\mathbb E[T\varphi]),\quad "
    r"F_N=(1-\sigma(b))\frac{1-(1-\mu_s)^N}{N\mu_s}",
    title="the factor F_N of forgetting, decreasing in N, with bounds for every N",
    depends_on=("mamba.T2", "mamba.T5"),
    note=NUMBERING,
)

_F = forgetting.factor()
_CONTROLS = {
    "without the query's factor": _F / (1 - sigmoid(b)),
    "(1-μ)^{N-1}": (1 - sigmoid(b)) * (1 - (1 - mu) ** (N - 1)) / (N * mu),
    "e^{-Nμ}": (1 - sigmoid(b)) * (1 - sympy.exp(-N * mu)) / (N * mu),
    "nothing is forgotten": (1 - sigmoid(b)) * sympy.Integer(1),
}


@FACTOR.check("a geometric sum, by induction", PROVED, formula=_F, controls=_CONTROLS)
def geometric(formula: sympy.Expr, examination: Examination) -> Evidence:
    # E G_{j,N+1} y_j φ(x_j) = (1-σ(b)) (1-μ)^{N-j} E[s y φ]: tokens are independent given β.
    examination.identity("N = 1", 1 - sigmoid(b), formula.subs(N, 1))
    examination.identity(
        "(N+1)F_{N+1} = (1-μ) N F_N + 1-σ(b)",
        (1 - mu) * N * formula + 1 - sigmoid(b),
        (N + 1) * formula.subs(N, N + 1),
    )
    return examination.evidence("every N >= 1, b and 0 < μ < 1")


@FACTOR.check("decreasing, and bounded", PROVED, formula=_F, controls=_CONTROLS)
def bounded(formula: sympy.Expr, examination: Examination) -> Evidence:
    scale = 1 - sigmoid(b)
    # Each theorem is derived here, by induction; a proof that breaks is an error, not a verdict.
    for name, left, theorem, weight in (
        (
            "F_N - F_{N+1} > 0",
            formula - formula.subs(N, N + 1),
            forgetting.decreasing(),
            1 / (N * (N + 1) * mu),
        ),
        (
            "F_N - (1-σ(b))(1-(N-1)μ/2) >= 0",
            formula - scale * (1 - (N - 1) * mu / 2),
            forgetting.few_are_forgotten(),
            1 / (N * mu),
        ),
        (
            "(1-σ(b))/(Nμ) - F_N > 0",
            scale / (N * mu) - formula,
            forgetting.much_is_forgotten(),
            1 / (N * mu),
        ),
    ):
        examination.identity(
            f"{name}: a positive multiple of {theorem.conclusion}",
            left,
            scale * weight * theorem.expression,
        )
    examination.identity("F_1 = 1-σ(b)", formula.subs(N, 1), scale)
    return examination.evidence("every N >= 1; so F_N → 1-σ(b) as Nμ → 0, and N F_N < (1-σ(b))/μ")


_ATOMS = (
    # (probability, opening s, value of the label times the kernel): exact, not independent.
    (Fraction(1, 2), Fraction(1, 3), Fraction(2)),
    (Fraction(1, 3), Fraction(1, 7), Fraction(-1, 2)),
    (Fraction(1, 6), Fraction(4, 5), Fraction(3)),
)


def _enumerated(tokens: int, atoms: Any = _ATOMS) -> tuple[Any, Any]:
    """``E S_N`` and ``E S_N²`` over all prompts, by the recurrence, in rationals."""
    one = two = Fraction(0)
    for prompt in itertools.product(atoms, repeat=tokens):
        weight, stored = Fraction(1), Fraction(0)
        for chance, s, value in prompt:
            weight *= chance
            stored = (1 - s) * stored + s * value
        one, two = one + weight * stored, two + weight * stored**2
    return one, two


_TRACED = tuple(tuple(Traced.of(entry) for entry in atom) for atom in _ATOMS)


def _mean(function: Callable[[Fraction, Fraction], Fraction]) -> Fraction:
    return sum((chance * function(s, value) for chance, s, value in _ATOMS), Fraction(0))


@FACTOR.check("all prompts of three kinds of token", CERTIFIED, formula=_F, controls=_CONTROLS)
def all_prompts(formula: sympy.Expr, examination: Examination) -> Evidence:
    rate = _mean(lambda s, a: s)
    signal = _mean(lambda s, a: s * a)
    for tokens in (1, 2, 3, 5, 7):
        exact = _enumerated(tokens)[0] / tokens  # times the query's factor, which is common
        value = formula.subs({N: tokens, mu: sympy.Rational(rate.numerator, rate.denominator)})
        share = sympy.Rational(exact.numerator, exact.denominator)
        stated = value * sympy.Rational(signal.numerator, signal.denominator)
        same = examination.identity(f"N = {tokens}", stated, (1 - sigmoid(b)) * share)
        if same is False:
            break
    return examination.evidence("a law of three tokens, N <= 7: 3^N prompts in exact rationals")


_Law = tuple[str, str, str, str]
_BETA, _QUERY = ("3/5", "-12/25", "16/25"), ("2", "-1", "1")
_TOKENS = 20


@lru_cache(maxsize=8)
def _population(text: str, rho: str, bias: str, noise: str) -> Population:
    return Population(text, Gate(rho, bias, noise))


def _simulated(formula: sympy.Expr, case: _Law, examination: Examination, context: Context) -> None:
    """The literal layer's mean at one query, against ``formula`` times the value without F."""
    torch = torch_or_undecided()
    from theoryverify.models.mamba_layer import MambaLayer, supported_gamma

    text, rho, bias, noise = case
    at = _population(*case)
    spread = at.spread(_BETA, _QUERY, _TOKENS)
    rate, plain = at.forgetting.mu, at.feature("58/25")
    query = float(at.forgetting.query)
    value = float(
        formula.subs({N: _TOKENS, mu: sympy.Float(float(rate), 30)}).subs(
            sympy.exp(b), sympy.Float((1 - query) / query, 30)
        )
    )
    # The nearest control, the query's factor left out, is off by σ(b)/(1-σ(b)); a quarter of it.
    margin = (1 - query) / query / 4 * float(spread.mean)
    deviation = float(spread.variance.upper) ** 0.5
    budget = draws_for(margin, deviation, error=SHARE)
    layer = MambaLayer(
        supported_gamma(4, [0, 1, 2]), rho=float(Fraction(rho)), b=float(Fraction(bias))
    )
    g, tau = link(text), float(Fraction(noise))
    direction = np.array([float(Fraction(e)) for e in _BETA])
    x_q = torch.tensor([[*map(float, _QUERY), 0.5]], dtype=torch.float64)

    def draw(n: int, rng: np.random.Generator) -> Any:
        X = rng.standard_normal((n, _TOKENS, 4))
        y = np.asarray(g(X[..., :3] @ direction)) + tau * rng.choice((-1.0, 1.0), (n, _TOKENS))
        with torch.no_grad():
            found = layer(torch.from_numpy(X), torch.from_numpy(y), x_q.expand(n, 1, 4))
        return found.numpy()[:, 0]

    # A formula and its controls are judged on the same draws.
    rng = Context(seed=context.seed, name=f"mamba.T6 {case}").rng()
    sequence = VarianceMean(float(spread.variance.upper), error=SHARE, horizon=budget)
    found = equivalence(
        draw,
        value * float(plain),
        margin,
        sequence=sequence,
        budget=2 * budget,
        rng=rng,
        batch=5000,
    )
    examination.decide(
        f"E f for {text}, ρ = {rho}, b = {bias}, τ = {noise}", found.verdict.decided, str(found)
    )


_FAR_OFF = {
    "without the query's factor": _CONTROLS["without the query's factor"],
    "nothing is forgotten": _CONTROLS["nothing is forgotten"],
    "twice the rate": _F.subs(mu, 2 * mu),
}


@FACTOR.check(
    "the layer on random prompts",
    SIMULATED,
    formula=_F,
    cases=((HE2, "4", "-2", "0"), (HE2, "4", "-3/2", "1/2")),
    controls=_FAR_OFF,
    mutate=False,
)
def on_random_prompts(
    formula: sympy.Expr, case: _Law, examination: Examination, context: Context
) -> Evidence:
    _simulated(formula, case, examination, context)
    return examination.evidence(
        f"N = {_TOKENS}, one query; interval from the exact variance, error {SHARE:.0e} each"
    )


# -- T7: the variance ---------------------------------------------------------------------------

VARIANCE = Claim(
    "mamba.T7",
    "forgetting",
    r"\mathbb E S_n=p\,\mathbb E S_{n-1}+m_1,\quad"
    r"\mathbb E S_n^2=q\,\mathbb E S_{n-1}^2+2h\,\mathbb E S_{n-1}+m_2",
    title="the recursion of the variance with forgetting, and its closed form",
    depends_on=("mamba.T2",),
    note=NUMBERING,
)

_STEP = (forgetting.first_moment_step(), forgetting.second_moment_step())
_WRONG_STEP = {
    "h once": (_STEP[0], _STEP[1] - h * first),
    "p² for q": (_STEP[0], _STEP[1].subs(q, p**2)),
    "m1² for m2": (_STEP[0], _STEP[1].subs(m2, m1**2)),
    "without the mixed term": (_STEP[0], q * second + m2),
}


@VARIANCE.check("independence of one token", PROVED, formula=_STEP, controls=_WRONG_STEP)
def independence(formula: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    s, A, S = sympy.symbols("s A S", real=True)
    # E[s^i A^k S^m] = e_ik E S^m: the new token is independent of what was stored.
    stored = {0: sympy.Integer(1), 1: first, 2: second}

    def mean(expression: sympy.Expr) -> sympy.Expr:
        total = sympy.Integer(0)
        for (i, k, m), c in sympy.Poly(sympy.expand(expression), s, A, S).terms():
            token = sympy.Symbol(f"e{i}{k}", real=True) if i or k else sympy.Integer(1)
            total += c * token * stored[m]
        return total

    new = (1 - s) * S + s * A
    names = {p: mean(1 - s), q: mean((1 - s) ** 2), m1: mean(s * A), m2: mean(s**2 * A**2)}
    names[h] = mean(s * (1 - s) * A)
    for power, stated in enumerate(formula, 1):
        examination.identity(
            f"E S_n^{power}", mean(new**power), stated.subs(names, simultaneous=True)
        )
    return examination.evidence("every law of the tokens")


_CLOSED = (forgetting.first_moment(), forgetting.second_moment())


@VARIANCE.check(
    "closed form, by induction",
    PROVED,
    formula=_CLOSED,
    controls={
        "q^{N-1}": (_CLOSED[0], _CLOSED[1].subs(q**N, q ** (N - 1))),
        "h once": (_CLOSED[0], _CLOSED[1].subs(h, h / 2)),
        "as if E S_{n-1} had arrived": (
            _CLOSED[0],
            (m2 + 2 * h * m1 / (1 - p)) * (1 - q**N) / (1 - q),
        ),
    },
)
def closed(formula: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    one, two = formula
    examination.identity("E S_1", m1, one.subs(N, 1))
    examination.identity("E S_1²", m2, two.subs(N, 1))
    last = {first: one, second: two}
    for power, step in enumerate(_STEP):
        examination.identity(
            f"E S_{{N+1}}^{power + 1}",
            step.subs(last, simultaneous=True),
            formula[power].subs(N, N + 1),
        )
    return examination.evidence("every N >= 1, where p ≠ q, p ≠ 1, q ≠ 1")


@VARIANCE.check(
    "all prompts of three kinds of token", CERTIFIED, formula=_STEP, controls=_WRONG_STEP
)
def variance_of_all_prompts(
    formula: tuple[sympy.Expr, sympy.Expr], examination: Examination
) -> Evidence:
    values = {
        p: _mean(lambda s, a: 1 - s),
        q: _mean(lambda s, a: (1 - s) ** 2),
        m1: _mean(lambda s, a: s * a),
        m2: _mean(lambda s, a: s**2 * a**2),
        h: _mean(lambda s, a: s * (1 - s) * a),
    }
    numbers = {name: sympy.Rational(v.numerator, v.denominator) for name, v in values.items()}
    one = two = sympy.Integer(0)
    for tokens in range(1, 7):
        at = {**numbers, first: one, second: two}
        one, two = (step.subs(at, simultaneous=True) for step in formula)
        exact, retraced = _enumerated(tokens), _enumerated(tokens, _TRACED)
        for power, (ours, right) in enumerate(zip((one, two), exact, strict=True), 1):
            stated = sympy.Rational(right.numerator, right.denominator)
            examination.decide(
                f"E S_{tokens}^{power}",
                bool(ours == stated),
                f"{ours}, {right}",
                by=equals(Evaluated(formula[power - 1], at), retraced[power - 1]),
            )
    return examination.evidence("a law of three tokens, N <= 6, in exact rationals")


# -- the kernel's moments -----------------------------------------------------------------------

KERNEL = Claim(
    "mamba.T7.kernel",
    "ours: what a token's kernel does given the label",
    r"\kappa=\varphi(x)^\top(\gamma\circ\varphi(x_q)):\quad \mathbb E[\kappa\mid z],\ "
    r"\mathbb E[\kappa^2\mid z]\ \text{ polynomials of degree 2 and 4 in } z=\langle\beta,x\rangle",
    title="E[κ|z] and E[κ²|z], for a γ of four values on the support",
    depends_on=("mamba.T4",),
)

_CASES = (
    (("3/5", "4/5"), ("2/3", "-1/2"), Weights()),
    (("3/5", "-12/25", "16/25"), ("2", "-1", "1"), Weights.of("1/2", -2, 3, 2)),
)
_Kernel = Callable[..., token_moments.KernelMoments]


def _without_spread(beta: Any, x_q: Any, weights: Weights) -> token_moments.KernelMoments:
    found = kernel_moments(beta, x_q, weights)
    return token_moments.KernelMoments(found.first, found.first**2)


@KERNEL.check(
    "multiplied out",
    CERTIFIED,
    formula=kernel_moments,
    cases=_CASES,
    controls={
        "pair and diagonal exchanged": lambda beta, x_q, w: kernel_moments(
            beta, x_q, Weights(w.constant, w.linear, w.pair * 2, w.diagonal)
        ),
        "no spread across β": _without_spread,
        "another query": lambda beta, x_q, w: kernel_moments(beta, x_q[::-1], w),
    },
)
def multiplied_out(formula: _Kernel, case: Any, examination: Examination) -> Evidence:
    beta, x_q, weights = case
    r = len(beta)
    direction = [sympy.Rational(e) for e in beta]
    free = sympy.symbols(f"g1:{r + 1}", real=True)
    z = sympy.Symbol("z", real=True)
    along = sum((e * g for e, g in zip(direction, free, strict=True)), start=sympy.Integer(0))
    # x = zβ + (g - ⟨β,g⟩β) with a standard normal g.
    x = [z * e + g - along * e for e, g in zip(direction, free, strict=True)]
    values = [weights.constant] + [weights.linear] * r + [weights.diagonal] * r
    values += [weights.pair] * (r * (r - 1) // 2)
    query = embedding([sympy.Rational(e) for e in x_q])
    kernel = sum(
        (
            sympy.Rational(w.numerator, w.denominator) * left * right
            for w, left, right in zip(values, embedding(x), query, strict=True)
        ),
        start=sympy.Integer(0),
    )
    found = formula(beta, x_q, weights)
    for power, polynomial in ((1, found.first), (2, found.second)):
        exact = gaussian_mean(sympy.expand(kernel) ** power, free)
        ours = sympy.Poly(
            [sympy.Rational(int(c.p), int(c.q)) for c in reversed(polynomial.coeffs())] or [0], z
        )
        same = sympy.Poly(exact, z) == ours
        examination.decide(
            f"E[κ^{power}|z] at r = {r}",
            bool(same),
            f"{exact}, {ours.as_expr()}",
            by=identical(gaussian_over(kernel**power, free), ours.as_expr()),
        )
    return examination.evidence("two tasks, queries and γ, as polynomials")


@KERNEL.check(
    "averaged over the query",
    PROVED,
    formula=token_moments.squared_length_moment,
    controls={
        "χ²_r for χ²_{r-1}": lambda r: token_moments.squared_length_moment(r + 1),
        "E C² = (r-1)²": lambda r: token_moments.squared_length_moment(r) - (r - 1),
    },
)
def averaged(formula: Callable[[int], Any], examination: Examination) -> Evidence:
    # |φ(x)|² = Σ_i, written out, with x_1 = z and the rest standard normal.
    z = sympy.Symbol("z", real=True)
    for r in range(1, 6):
        rest = sympy.symbols(f"g1:{r}", real=True) if r > 1 else ()
        length = sum((e**2 for e in embedding([z, *rest])), start=sympy.Integer(0))
        exact = sympy.Poly(gaussian_mean(sympy.expand(length), rest) if rest else length, z)
        coefficients = [sympy.Rational(int(c.p), int(c.q)) for c in reversed(formula(r).coeffs())]
        same = exact == sympy.Poly(coefficients, z)
        examination.decide(
            f"r = {r}",
            bool(same),
            str(exact.as_expr()),
            by=identical(gaussian_over(length, rest), sympy.Poly(coefficients, z).as_expr()),
        )
    return examination.evidence("r <= 5; both sides have degree 2 in r, so every r")


GRID = Claim(
    "mamba.T7.numbers",
    "ours: mean and variance of the feature, enclosed",
    r"\mathbb E f,\ \mathrm{Var} f \text{ at one query from enclosed } \mu_s, m_1, m_2, h",
    title="mean and variance of the feature, enclosed",
    depends_on=("mamba.T7", "mamba.T7.kernel"),
)


@GRID.check(
    "trapezoid rule in the plane",
    COMPUTED,
    formula=(1.0, 2.0),
    cases=(
        (HE3, "4", "-2", "0"),
        (MIX, "6", "-4", "1/2"),
    ),
    controls={"h once": (1.0, 1.0), "off by 1e-9": (1.0 + 1e-9, 2.0)},
    mutate=False,
)
def in_the_plane(formula: tuple[float, float], case: _Law, examination: Examination) -> Evidence:
    """The recursion with moments integrated over x in R², as a plain program would."""
    signal, mixed = formula
    text, rho, bias, noise = case
    beta, query, tokens = np.array([0.6, 0.8]), np.array([1.5, -0.5]), 30
    step = 1 / 16
    axis = np.arange(-12, 12 + step / 2, step)
    normal = np.exp(-(axis**2) / 2) * step / np.sqrt(2 * np.pi)
    x, y = np.meshgrid(axis, axis, indexing="ij")
    weight = np.outer(normal, normal)
    kernel = (
        1
        + x * query[0]
        + y * query[1]
        + ((x**2 - 1) * (query[0] ** 2 - 1) + (y**2 - 1) * (query[1] ** 2 - 1)) / 2
        + x * y * query[0] * query[1]
    )
    means = np.zeros(5)
    for sign in (1, -1):
        label = np.asarray(link(text)(beta[0] * x + beta[1] * y)) + sign * float(Fraction(noise))
        s = 1 / (1 + np.exp(-(label / float(Fraction(rho)) + float(Fraction(bias)))))
        a = label * kernel
        for i, values in enumerate((1 - s, (1 - s) ** 2, s * a, (s * a) ** 2, s * (1 - s) * a)):
            means[i] += float((weight * values).sum()) / 2
    keep, keep2, one, two, between = means
    m, v = 0.0, 0.0
    for _ in range(tokens):
        m, v = keep * m + signal * one, keep2 * v + mixed * between * m + two
    scale = (1 / (1 + np.exp(float(Fraction(bias))))) / tokens
    ours = _population(*case).spread(("3/5", "4/5"), ("3/2", "-1/2"), tokens)
    for name, enclosed, value in (
        ("mean", ours.mean, m * scale),
        ("variance", ours.variance, (v - m * m) * scale**2),
    ):
        error = abs(value / float(enclosed) - 1)
        examination.decide(name, bool(error <= 2e-10), f"{enclosed} and {value:.15g}")
    return examination.evidence("N = 30, one query, two gates, to 2e-10")


# -- the best bias ------------------------------------------------------------------------------

BEST = Claim(
    "mamba.T7.best-bias",
    "ours: forgetting negligible is not the best choice",
    r"\mathrm{he}_3,\ \rho=8,\ r=8:\quad \mathrm{SNR}_1(b) \text{ has a maximum inside }"
    r"[-5,-2]\ (N=64) \text{ and } [-6,-3]\ (N=256)",
    title="signal-to-noise of the linear feature has a maximum at a finite bias",
    depends_on=("mamba.T6", "mamba.T7", "mamba.T7.kernel"),
)
_PEAKS = {64: ("-5", "-7/2", "-2"), 256: ("-6", "-9/2", "-3")}


def _ratio(bias: str, tokens: int) -> Enclosure:
    return _population(HE3, "8", bias, "0").signal_to_noise(8, tokens).ratio(1)


@BEST.check(
    "three biases for each length",
    CERTIFIED,
    formula=_PEAKS,
    controls={
        "one place for both lengths": {64: _PEAKS[64], 256: ("-4", "-3", "-2")},
        "as early for N = 64 as for 256": {64: ("-6", "-11/2", "-4"), 256: _PEAKS[256]},
    },
)
def three_biases(table: dict[int, tuple[str, str, str]], examination: Examination) -> Evidence:
    for tokens, (low, middle, high) in table.items():
        top = _ratio(middle, tokens)
        for other in (low, high):
            examination.less(
                f"N = {tokens}: SNR({other}) < SNR({middle})", _ratio(other, tokens), top
            )
    return examination.evidence("a larger value between two smaller ones: a maximum inside")


MONOTONE = Claim(
    "mamba.T7.more-negative",
    "ours: is a more negative bias always better at finite N? (counterexample)",
    r"b' < b < 0 \Rightarrow \mathrm{SNR}_1(b') \ge \mathrm{SNR}_1(b)",
    title="a more negative bias is always better at finite N: false",
    expected=REFUTED,
    depends_on=("mamba.T6", "mamba.T7", "mamba.T7.kernel"),
)


@MONOTONE.check(
    "he_3, ρ = 8, N = 64",
    CERTIFIED,
    formula=("-7", "-7/2"),
    controls={"-5 and -4": ("-5", "-4"), "-12 and -7": ("-12", "-7")},
    mutate=False,
)
def more_negative(pair: tuple[str, str], examination: Examination) -> Evidence:
    lower, upper = (_ratio(bias, 64) for bias in pair)
    worse = lower.less_than(upper)
    examination.decide(
        f"SNR({pair[0]}) >= SNR({pair[1]})",
        None if worse is None else not worse,
        f"{lower}, {upper}",
    )
    return examination.evidence("he_3, ρ = 8, r = 8, N = 64")


claims = [FACTOR, VARIANCE, KERNEL, GRID, BEST, MONOTONE]
