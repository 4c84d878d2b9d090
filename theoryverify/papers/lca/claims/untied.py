"""Untied layers (ours): what the best stack of T free layers can do, and where its steps go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

import sympy
from flint import fmpq_mat, fmpq_poly

from theoryverify.claims import CERTIFIED, COMPUTED, PROVED, Claim, Evidence, Examination
from theoryverify.claims.ladder import Hypothesis
from theoryverify.claims.statements import Evaluated, differs, equals, less, roots, same, within
from theoryverify.claims.statements import mean as mean_of
from theoryverify.exact.balls import Enclosure, ball, precision
from theoryverify.exact.densities import Ball, Density, ScaledBeta, Shell, Uniform
from theoryverify.exact.density_piece import Piece
from theoryverify.exact.evaluate import BALL, compiled
from theoryverify.exact.facts import Argument, Theorem, nonnegative, positive
from theoryverify.exact.identities import decide_identity
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Discrete, Law, Mixture
from theoryverify.exact.rationals import rational, shown, to_fmpq
from theoryverify.exact.roots import sturm_count
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.claims.positivity import show
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, ATOMS, UNIFORM, law_of
from theoryverify.papers.lca.loss import excess_loss
from theoryverify.papers.lca.stated import exactly, is_optimal, residual_polynomial
from theoryverify.papers.lca.theory import T, a, alpha, b, beta, s
from theoryverify.papers.lca.untied import (
    chebyshev_ratio,
    chebyshev_value,
    legendre_sum,
    mean_limit,
    untied_optimum,
)
from theoryverify.papers.lca.weight_moments import weight_moments

PLACE = "ours: untied layers"

# -- what the statements ask of the law ----------------------------------------------------------


@dataclass(frozen=True)
class Stacks:
    """A law of Z, and the numbers of layers that are looked at."""

    law: Law
    depths: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.law}, T in {self.depths}"


def _parts(law: Law) -> Iterator[Law]:
    """The laws that a mixture mixes; a law that is none is its only part."""
    if not isinstance(law, Mixture):
        yield law
        return
    for _, part in law.parts:
        yield from _parts(part)


def _few_points(case: object) -> str | None:
    """Why the law does not have more points than there are layers; a density has infinitely many."""
    if not isinstance(case, Stacks):
        return None
    points: set[Fraction] = set()
    for part in _parts(case.law):
        if not isinstance(part, Discrete):
            return None
        points.update(part.atoms)
    depth = max(case.depths)
    return None if len(points) > depth else f"{case.law} has {len(points)} points, T = {depth}"


def _gap(case: object) -> str | None:
    """The first stretch of the support's hull without a density."""
    law = law_of(case)
    if not isinstance(law, Law):
        return None
    densities = [part for part in _parts(law) if isinstance(part, Density)]
    stretches = sorted((p.lower, p.upper) for part in densities for p in part.pieces)
    reached = law.lower
    for low, high in [*stretches, (law.upper, law.upper)]:
        if low > reached:
            return f"{law} has no density on ({shown(reached)}, {shown(low)})"
        reached = max(reached, high)
    return None


MORE_POINTS = Hypothesis("more than T points", r"\#\operatorname{supp}Z>T", _few_points)
POSITIVE_DENSITY = Hypothesis(
    "positive density",
    r"\mathbb P(Z\in dz)\ge f(z)\,dz,\ f>0\text{ almost everywhere on }"
    r"[\underline Z,\overline Z]",
    _gap,
)

# -- which predictors untied layers can be ------------------------------------------------------

SPAN = Claim(
    "lca.untied.span",
    f"{PLACE}, the class",
    r"F_t=F_{t-1}+\alpha_tX+\beta_t\hat\Sigma F_{t-1}:\ \text{the gains }g_T\text{ are the "
    r"polynomials of degree }\le T\text{ with }g(0)=0;\quad \beta_t=-\alpha_t:\ "
    r"1-g_T=\prod_t(1-\alpha_tZ)",
    title="untied scalars realise every polynomial g with g(0) = 0",
    depends_on=("lca.E.2",),
)

_g = sympy.Symbol("g")
_GAIN = (1 + beta * Z) * _g + alpha * Z


@SPAN.check(
    "layer by layer",
    PROVED,
    formula=_GAIN,
    controls={
        "α for αZ": (1 + beta * Z) * _g + alpha,
        "without the state": beta * Z * _g + alpha * Z,
        "-β": (1 - beta * Z) * _g + alpha * Z,
    },
)
def layer_by_layer(gain: sympy.Expr, examination: Examination) -> Evidence:
    # F_t = P_t(Σ̂)X, and at infinite context the gain is g_t = Z P_t(Z).
    state = sympy.Symbol("P")
    examination.identity(
        "g_t from (5.5)",
        s * theory.layer(state),
        gain.subs({Z: s, _g: s * state}, simultaneous=True),
    )
    examination.identity("β = -α: 1-g_t = (1-αZ)(1-g_{t-1})", 1 - gain.subs(beta, -alpha),
                         (1 - alpha * Z) * (1 - _g))  # fmt: skip
    # From g_0 = 0: a degree more each layer, and nothing at Z = 0.
    examination.identity("g_t - g_{t-1} = Z(α + βg_{t-1})", gain - _g, Z * (alpha + beta * _g))
    # With all β_t = 1 the layers are Horner's scheme in x = 1+Z: g_T = Z Σ α_t x^{T-t}, where
    # Σ α_t x^{T-t} is every polynomial of degree < T in x, that is, in Z.
    factor, x = sympy.symbols("p x")
    examination.identity(
        "β = 1, g_{t-1} = Zp: g_t = Z(xp + α)",
        gain.subs({beta: 1, _g: Z * factor}, simultaneous=True).subs(Z, x - 1),
        (x - 1) * (x * factor + alpha),
    )
    return examination.evidence("every T, α_t, β_t")


@SPAN.check(
    "determinant",
    CERTIFIED,
    formula=_GAIN,
    controls={
        "α for αZ": (1 + beta * Z) * _g + alpha,
        "without β": _g + alpha * Z,
    },
    mutate=False,
)
def span_determinant(gain: sympy.Expr, examination: Examination) -> Evidence:
    """``g_T = Σ α_t Z Π_{s>t}(1+β_s Z)``: the T polynomials have degrees T, ..., 1, a triangle with
    diagonal ``Π_{s>t} β_s``."""
    depths = range(1, 6)
    for depth in depths:
        weights = sympy.symbols(f"b1:{depth + 1}", nonzero=True)
        steps = sympy.symbols(f"a1:{depth + 1}")
        total: sympy.Expr = sympy.Integer(0)
        nested: sympy.Expr = sympy.Integer(0)
        for step, weight in zip(steps, weights, strict=True):
            nested = gain.subs({_g: nested, alpha: step, beta: weight}, simultaneous=True)
            total = sympy.expand(
                gain.subs({_g: total, alpha: step, beta: weight}, simultaneous=True)
            )
        rows = [
            [sympy.diff(total, step).coeff(Z, power) for power in range(1, depth + 1)]
            for step in steps
        ]
        constant = total.coeff(Z, 0)
        spanned = sympy.Add(
            *(
                step * c * Z**power
                for step, row in zip(steps, rows, strict=True)
                for power, c in enumerate(row, 1)
            )
        )
        determinant = sympy.factor(sympy.Matrix(rows).det())
        wanted = sympy.prod(weight**index for index, weight in enumerate(weights))
        examination.decide(
            f"T = {depth}: g(0) = 0", bool(constant == 0), f"{constant}", by=same(nested, spanned)
        )
        examination.decide(
            f"T = {depth}: the determinant is ±Π β_t^(t-1)",
            bool(sympy.expand(determinant**2 - wanted**2) == 0), f"{determinant}",
            by=[same(_laplace(rows) ** 2, wanted**2), same(nested, spanned)],
        )  # fmt: skip
    return examination.evidence(f"T = {depths[0]}..{depths[-1]}, all β_t ≠ 0 symbolic")


# -- the optimum --------------------------------------------------------------------------------

OPTIMUM = Claim(
    "lca.untied.optimum",
    f"{PLACE}, the optimum",
    r"\min_{\pi(0)=1,\deg\pi\le T}\mathbb E[W\pi^2]=\frac{1}{e_0^\top H^{-1}e_0},\ "
    r"H_{ij}=\mathbb E[WZ^{i+j}];\quad \pi\perp\text{lower degrees under }WZ\,d\mathbb P,\ "
    r"\pi=\prod(1-\alpha_tZ),\ 1/\alpha_t\in(\underline Z,\overline Z)",
    title="the best untied stack is a Christoffel function; 1/α_t are zeros in (Z̲, Z̄)",
    hypotheses=(ASSUMPTION_6_1, MORE_POINTS),
    depends_on=("lca.loss", "lca.untied.span"),
    note="With T points or fewer H is singular and the minimum is 0: π vanishes at all of them.",
)

_pi, _q, _W = sympy.symbols("pi q W")
_i = sympy.Symbol("i", integer=True, positive=True)


@OPTIMUM.check(
    "Pythagoras",
    PROVED,
    formula=(2 * _W * Z * _pi * _q, _W * (Z * _q) ** 2),
    controls={
        "orthogonal under W dP": (2 * _W * _pi * _q, _W * (Z * _q) ** 2),
        "orthogonal under WZ² dP": (2 * _W * Z**2 * _pi * _q, _W * (Z * _q) ** 2),
        "without the factor 2": (_W * Z * _pi * _q, _W * (Z * _q) ** 2),
    },
)
def pythagoras(formula: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    """All π' with π'(0) = 1 are π + Zq with q of lower degree: the cross term must vanish."""
    cross, rest = formula
    difference = _W * (_pi + Z * _q) ** 2 - _W * _pi**2
    examination.identity("E[Wπ'²] - E[Wπ²] = E of cross + rest", difference, cross + rest)
    # Hence E[Wπ²] = E[Wπ] as well: π = 1 + Zq.
    examination.lemma(
        "E[Wπ²] - E[Wπ] is a cross term",
        decide_identity((_W * _pi**2 - _W * _pi).subs(_pi, 1 + Z * _q), _W * Z * (1 + Z * _q) * _q),
    )
    # In the coefficients p of π, (Hp)_i = E[WZ^iπ]: the minimum at i = 0, and 0 at i = 1..T. So
    # Hp = (minimum) e₀. H is positive definite, since pᵀHp = E[Wπ²] and no polynomial of degree T
    # but 0 vanishes at more than T points: 1 = p_0 = (minimum) e₀ᵀH⁻¹e₀.
    examination.identity(
        "(Hp)_i = E[WZ^iπ] is half a cross term, q = Z^{i-1}",
        cross.subs(_q, Z ** (_i - 1)), 2 * _W * Z**_i * _pi,
    )  # fmt: skip
    examination.assume("an orthogonal polynomial has simple zeros inside the support's hull")
    return examination.evidence("every T, every law with more than T points")


def _laplace(rows: list[list[sympy.Expr]]) -> sympy.Expr:
    """The determinant, developed along the first row."""
    if not rows:
        return sympy.Integer(1)
    return sympy.Add(
        *(
            (-1) ** place
            * entry
            * _laplace([[*row[:place], *row[place + 1 :]] for row in rows[1:]])
            for place, entry in enumerate(rows[0])
            if entry != 0
        )
    )


@OPTIMUM.check(
    "exact polynomials",
    CERTIFIED,
    formula=1,
    controls={"orthogonal under W dP": 0, "orthogonal under WZ² dP": 2},
    cases=(
        *(Stacks(law, (1, 2, 3, 5, 8, 13))
          for law in (UNIFORM, Uniform("1.5", 3), ScaledBeta(2, 5, "1/2", "5/2"), Ball(4, 5))),
        Stacks(Discrete({2: "1/8", 3: "1/4", 4: "1/8", 5: "1/4", 7: "1/4"}), (1, 2, 3, 4)),
    ),
)  # fmt: skip
def exact_polynomials(power: int, case: Stacks, examination: Examination) -> Evidence:
    law = case.law
    for depth in case.depths:
        best = untied_optimum(law, depth)
        moments = weight_moments(law, 2 * depth + 2)
        assert best.polynomial is not None
        assert moments is not None
        # E[Wπ] is the excess itself, which is not rational for most laws but positive.
        pairing = [
            sum(c * moments[i + j + power - 1] for j, c in enumerate(best.polynomial))
            if i + power >= 1
            else best.excess.lower
            for i in range(depth)
        ]
        zero = all(value == 0 for value in pairing)
        examination.decide(
            f"T = {depth}: E[WZ^{power} π Z^i] = 0",
            zero,
            f"{pairing[:2]}",
            by=partial(is_optimal, law, depth, power),
        )
        polynomial = fmpq_poly([to_fmpq(c) for c in best.polynomial])
        zeros = sturm_count(polynomial, law.lower, law.upper)
        examination.lemma(
            f"T = {depth}: {depth} zeros in (Z̲, Z̄)",
            zeros == depth,
            f"{zeros}",
            by=roots(polynomial, law.lower, law.upper, depth),
        )
        if isinstance(law, Discrete):
            inverse = _christoffel(law, depth)
            examination.lemma(
                f"T = {depth}: 1/(e₀ᵀH⁻¹e₀)",
                best.excess.contains(inverse),
                f"{inverse}",
                by=equals(
                    mean_of(law, theory.signal_share() * residual_polynomial(law, depth) ** 2),
                    inverse,
                ),
            )
    return examination.evidence("exact rational arithmetic")


def _christoffel(law: Discrete, depth: int) -> Fraction:
    """``1/(e₀ᵀH⁻¹e₀)`` with ``H_ij = E[WZ^{i+j}]``, ``i, j = 0..T``."""
    size = depth + 1
    weighted = [(z, w * (z - 1) / z) for z, w in law.atoms.items()]
    moments = [sum(w * z**k for z, w in weighted) for k in range(2 * depth + 1)]
    matrix = fmpq_mat(size, size, [to_fmpq(Fraction(moments[i + j]))
                                   for i in range(size) for j in range(size)])  # fmt: skip
    return 1 / rational(matrix.inv()[0, 0])


_VALUES = {3: "1.0810015746649017199077e-4", 5: "2.8795364810067326388761e-7"}


@OPTIMUM.check(
    "values for Uniform[2,5]",
    CERTIFIED,
    formula=_VALUES,
    controls={
        "one digit changed": {3: "1.0810015746659017199077e-4"},
        "the tied optimum": {3: "4.87e-4"},
    },
)
def values(formula: dict[int, str], examination: Examination) -> Evidence:
    for depth, value in formula.items():
        found = untied_optimum(UNIFORM, depth, 25).excess
        gap = abs((found.lower + found.upper) / 2 - rational(value))
        close = gap < rational(value) / 10**20
        number = mean_of(UNIFORM, theory.signal_share() * residual_polynomial(UNIFORM, depth) ** 2)
        margin = rational(value) / 10**19
        examination.decide(
            f"T = {depth}", close, f"{found} and {value}",
            by=[*is_optimal(UNIFORM, depth),
                within(number, (rational(value) - margin, rational(value) + margin))],
        )  # fmt: skip
        # It beats the tied stack of the same depth, at its own best step.
        tied = excess_loss(UNIFORM, "0.28", depth=depth, digits=15).excess
        examination.lemma(
            f"T = {depth}: below the tied stack",
            found.less_than(tied),
            by=less(
                number,
                mean_of(
                    UNIFORM,
                    theory.signal_share() * (1 - sympy.Rational(28, 100) * Z) ** (2 * depth),
                ),
            ),
        )
    return examination.evidence("T = 3, 5; 20 digits")


# -- the rate -----------------------------------------------------------------------------------

RATE = Claim(
    "lca.untied.rate",
    f"{PLACE}, the rate",
    r"\frac{\inf w\,(\overline Z-\underline Z)}{(T+1)^2}\rho^{2T}\le\min\mathbb E[W\pi^2]\le"
    r"4\,\mathbb E[W]\,\rho^{2T},\quad "
    r"\rho=\frac{\sqrt{\overline Z}-\sqrt{\underline Z}}{\sqrt{\overline Z}+\sqrt{\underline Z}},\ "
    r"W\,d\mathbb P\ge w\,dz",
    title="the optimum falls like ρ^{2T}, ρ = (√Z̄-√Z̲)/(√Z̄+√Z̲), not like r^{2T}",
    hypotheses=(ASSUMPTION_6_1, POSITIVE_DENSITY),
    depends_on=("lca.untied.optimum",),
    note="The upper bound holds for every law. The lower one says nothing where inf w = 0; with w "
    "bounded below on each [a',b'] inside [Z̲,Z̄], it gives the same exponent.",
)

_root_a, _root_b = sympy.symbols("sqrt_a sqrt_b", positive=True)
_rho = sympy.Symbol("rho", positive=True)
_RATIO = (_root_b - _root_a) / (_root_b + _root_a)
_lam, _n, _R = sympy.symbols("lambda n R", real=True)


@lru_cache
def _legendre_ratio() -> tuple[Theorem, Theorem]:
    """``1 <= P_{n+1}/P_n <= λ`` at ``x₀ = (λ+1/λ)/2``, ``λ >= 1``: the step from n-1 to n.

    ``(n+1)P_{n+1} = (2n+1)x₀P_n - nP_{n-1}``, so ``R_n = ((2n+1)x₀ - n/R_{n-1})/(n+1)``; ``R_0 = x₀``.
    """
    following = ((2 * _n + 1) * (_lam + 1 / _lam) / 2 - _n / _R) / (_n + 1)

    def given(*signs: sympy.Expr) -> Argument:
        argument = Argument(
            nonnegative(_lam - 1), nonnegative(_n), positive(_R), *(nonnegative(e) for e in signs)
        )
        at_least, count, *_ = argument.given
        argument.fact(_lam, lambda e: 1 + e, at_least)
        argument.fact(_n + 1, lambda k: 1 + k, count)
        return argument

    above = given(_lam - _R)
    excess, count, ratio, room = above.given
    # (n+1)(λ - R_n) = (λ-1/λ)/2 + n(1/R - 1/λ)
    upper = above.fact(
        _lam - following,
        lambda e, n, r, d: (e * (2 + e) / (2 * (1 + e)) + n * d / (r * (1 + e))) / (n + 1),
        excess, count, ratio, room,
    )  # fmt: skip
    below = given(_R - 1)
    excess, count, ratio, rest = below.given
    # (n+1)(R_n - 1) = (2n+1)(x₀-1) + n(1-1/R), x₀-1 = (λ-1)²/(2λ)
    lower = below.fact(
        following - 1,
        lambda e, n, r, d: ((2 * n + 1) * e**2 / (2 * (1 + e)) + n * d / r) / (n + 1),
        excess, count, ratio, rest,
    )  # fmt: skip
    return above.conclude("R_n <= λ", upper), below.conclude("R_n >= 1", lower)


@RATE.check(
    "Chebyshev and Legendre",
    PROVED,
    formula=_RATIO,
    controls={
        "r = (b-a)/(b+a)": (_root_b**2 - _root_a**2) / (_root_b**2 + _root_a**2),
        "√r": sympy.sqrt((_root_b**2 - _root_a**2) / (_root_b**2 + _root_a**2)),
        "ρ + 1%": _RATIO * sympy.Rational(101, 100),
    },
)
def chebyshev_and_legendre(ratio: sympy.Expr, examination: Examination) -> Evidence:
    low, high = _root_a**2, _root_b**2
    centre = (high + low) / (high - low)
    examination.identity("ρ + 1/ρ = 2x₀, x₀ = (b+a)/(b-a)", ratio + 1 / ratio, 2 * centre)
    # T_n(x₀) = (ρ^n + ρ^{-n})/2 by its recursion, so 1/T_T(x₀)² <= 4ρ^{2T}.
    value = (_rho**T + _rho**-T) / 2
    point = (_rho + 1 / _rho) / 2
    examination.lemma(
        "T_{n+1} = 2x₀T_n - T_{n-1}",
        decide_identity(value.subs(T, T + 1), 2 * point * value - value.subs(T, T - 1)),
    )
    examination.lemma(
        "4ρ^{2T} - 1/T_T(x₀)² >= 0",
        decide_identity(
            4 * _rho ** (2 * T) - 1 / value**2,
            4
            * _rho ** (2 * T)
            * (2 * _rho ** (2 * T) + _rho ** (4 * T))
            / (1 + _rho ** (2 * T)) ** 2,
        ),
    )
    for theorem in _legendre_ratio():
        show(examination, theorem)
    examination.lemma(
        "Σ_{k<=T} (2k+1) = (T+1)²", decide_identity((T + 1) ** 2 + 2 * T + 3, (T + 2) ** 2)
    )
    examination.assume("|T_n| <= 1 on [-1,1] (Chebyshev)")
    examination.assume(
        "the least ∫_a^b π² over π(0) = 1, deg π <= T is (b-a)/Σ(2k+1)P_k(x₀)² (Legendre)"
    )
    return examination.evidence("every T, every w with W dP >= w dz")


_BOUNDS = (4 * _rho ** (2 * T), _rho ** (2 * T) / (T + 1) ** 2)


# Not mutated: a bound with a larger or smaller constant is a bound as well.
@RATE.check(
    "two-sided bounds",
    CERTIFIED,
    formula=_BOUNDS,
    controls={
        "tied rate below": (_BOUNDS[0], ((b - a) / (b + a)) ** (2 * T) / (T + 1) ** 2),
        "ρ^{4T} above": (4 * _rho ** (4 * T), _BOUNDS[1]),
        "without 1/(T+1)²": (_BOUNDS[0], 4 * _rho ** (2 * T)),
    },
    cases=(UNIFORM, Uniform("1.5", 3), Uniform(3, 4)),
    mutate=False,
)
def two_sided(
    formula: tuple[sympy.Expr, sympy.Expr], case: Law, examination: Examination
) -> Evidence:
    depths = (1, 2, 5, 10, 20, 40)
    for depth in depths:
        found = untied_optimum(case, depth).excess
        least = (case.lower - 1) / case.lower  # W/(b-a) is the density of W dP, least at a
        with precision(400):
            environment = {"rho": chebyshev_ratio(case, 60).ball(), "T": ball(depth),
                           "a": ball(case.lower), "b": ball(case.upper)}  # fmt: skip
            above, below = (
                compiled(part.subs(T, depth), BALL)(environment, False) for part in formula
            )
            upper = Enclosure.of(case.expect(theory.signal_share()) * above)
            lower = Enclosure.of(ball(least) * below)
            sharp = Enclosure.of(ball(least / legendre_sum(case, depth)))
            chebyshev = Enclosure.of(
                case.expect(theory.signal_share()) / ball(chebyshev_value(case, depth)) ** 2
            )
        share = theory.signal_share()
        number = mean_of(
            case, share * residual_polynomial(case, depth)
        )  # E[Wπ²] = E[Wπ], lca.untied.optimum
        ends = {a: case.lower, b: case.upper}
        ratio = (sympy.sqrt(b) - sympy.sqrt(a)) / (sympy.sqrt(b) + sympy.sqrt(a))
        formal = [Evaluated(part.subs(T, depth).subs(_rho, ratio), ends) for part in formula]
        whole = mean_of(case, share)
        examination.less(
            f"T = {depth}: below E[W] times the upper bound",
            found,
            upper,
            by=less(number / whole, formal[0]),
        )
        examination.less(
            f"T = {depth}: above W(Z̲) times the lower bound",
            lower,
            found,
            by=less(formal[1], number / sympy.Rational(str(least))),
        )
        examination.lemma(
            f"T = {depth}: Chebyshev's bound",
            found.less_than(chebyshev),
            by=less(number, whole / sympy.Rational(str(chebyshev_value(case, depth))) ** 2),
        )
        examination.lemma(
            f"T = {depth}: Legendre's bound",
            sharp.less_than(found),
            by=less(least / legendre_sum(case, depth), number),
        )
    return examination.evidence(f"T in {depths}")


# -- the mean step ------------------------------------------------------------------------------

MEAN = Claim(
    "lca.untied.mean",
    f"{PLACE}, the mean step",
    r"\frac1T\sum_t\alpha_t=-\frac{\pi_T'(0)}{T}\longrightarrow"
    r"\frac{1}{\pi}\int_{\underline Z}^{\overline Z}\frac{dz}{z\sqrt{(z-\underline Z)"
    r"(\overline Z-z)}}=\frac{1}{\sqrt{\underline Z\,\overline Z}}",
    title="untied: the mean step tends to 1/√(Z̲Z̄), not to 2/(Z̲+Z̄)",
    hypotheses=(ASSUMPTION_6_1, POSITIVE_DENSITY),
    depends_on=("lca.untied.optimum",),
    note="A positive density makes the zeros fill [Z̲,Z̄] by the arcsine law (Erdős-Turán); a gap in "
    "the support changes the limit: see lca.untied.gap.",
)

_LIMIT = 1 / sympy.sqrt(a * b)


@MEAN.check(
    "arcsine mean",
    PROVED,
    formula=_LIMIT,
    controls={
        "2/(Z̲+Z̄)": 2 / (a + b),
        "harmonic": (a + b) / (2 * a * b),
        "1/√(ab) + 0.1%": _LIMIT * sympy.Rational(1001, 1000),
    },
)
def arcsine_mean(limit: sympy.Expr, examination: Examination) -> Evidence:
    # One factor at a time: π = (1-αz)q gives -π'(0) = α + (-q'(0)) since q(0) = 1.
    z, q0, q1 = sympy.symbols("z q0 q1")
    product = (1 - alpha * z) * (q0 + q1 * z)
    examination.lemma(
        "-π'(0) = Σ α_t", decide_identity(-sympy.diff(product, z).subs({z: 0, q0: 1}), alpha - q1)
    )
    # z = (a+b)/2 - (b-a)/2 cos θ; the arcsine law is dθ/π on (0,π). With u = tan(θ/2):
    u = sympy.Symbol("u", positive=True)
    cosine = (1 - u**2) / (1 + u**2)
    place = (a + b) / 2 - (b - a) / 2 * cosine
    examination.lemma(
        "dθ/z = 2du/(a + bu²)", decide_identity(1 / place * 2 / (1 + u**2), 2 / (a + b * u**2))
    )
    # An antiderivative is (2/√(ab)) arctan(u√(b/a)), from 0 to (2/√(ab)) π/2.
    at_roots = {a: _root_a**2, b: _root_b**2}
    primitive = sympy.pi * limit.subs(at_roots) / (sympy.pi / 2) * sympy.atan(u * _root_b / _root_a)
    integrand = (2 / (a + b * u**2)).subs(at_roots)
    examination.identity(
        "the antiderivative that reaches π times the limit",
        sympy.diff(primitive, u), integrand,
    )  # fmt: skip
    examination.assume(
        "the zeros of orthogonal polynomials follow the arcsine law of [a,b] where the density is "
        "positive almost everywhere (Erdős-Turán)"
    )
    return examination.evidence("every law with a density that is positive almost everywhere")


@MEAN.check(
    "extrapolated from T = 8, 16, 32",
    COMPUTED,
    formula=_LIMIT,
    controls={
        "2/(Z̲+Z̄)": 2 / (a + b),
        "harmonic": (a + b) / (2 * a * b),
        "1/√(ab) + 0.5%": _LIMIT * sympy.Rational(201, 200),
        "1/√(ab) - 0.5%": _LIMIT * sympy.Rational(199, 200),
    },
    cases=(UNIFORM, Uniform("1.5", 3), ScaledBeta(2, 5, "1/2", "5/2"), Ball(4, 5)),
)
def extrapolated(limit: sympy.Expr, case: Law, examination: Examination) -> Evidence:
    """The means are exact rationals; that their error is ``c₁/T + c₂/T²`` is not proved."""
    means = [untied_optimum(case, depth).exact_mean_step for depth in (8, 16, 32)]
    first, second, third = (mean for mean in means if mean is not None)
    guess = (8 * third - 6 * second + first) / 3
    with precision(128):
        ends = {"a": ball(case.lower), "b": ball(case.upper)}
        stated = Enclosure.of(compiled(limit, BALL)(ends, False))
    near = abs(guess - stated.lower) < stated.lower / 1000
    examination.decide("within 0.1%", near, f"{float(guess):.8f} and {stated}")
    gap = abs(third - stated.lower) < abs(first - stated.lower)
    examination.decide("T = 32 is nearer than T = 8", gap)
    return examination.evidence("three digits")


# Laws without rational moments: the same numbers from enclosed moments.
@MEAN.check(
    "enclosed moments",
    CERTIFIED,
    formula=Fraction(1),
    controls={"twice the mean": Fraction(2), "one part in 10¹²": 1 + Fraction(1, 10**12)},
    cases=(Shell(7, 2, 5), Shell(4, 2, 5)),
)
def enclosed_moments(factor: Fraction, case: Law, examination: Examination) -> Evidence:
    """The mean step as ``-π'(0)/T`` and as the mean of the enclosed ``α_t``."""
    depths = (1, 2, 5, 8)
    for depth in depths:
        best = untied_optimum(case, depth, 20)
        with precision(160):
            total = sum((step.ball() for step in best.steps[1:]), best.steps[0].ball())
            mean = Enclosure.of(ball(factor) * total / depth)
        examination.equal(f"T = {depth}", best.mean_step, mean, 15)
        inside = all(
            step.greater_than(1 / case.upper) and step.less_than(1 / case.lower)
            for step in best.steps
        )
        examination.lemma(f"T = {depth}: 1/Z̄ < α_t < 1/Z̲", inside)
    return examination.evidence(f"T in {depths}, 15 digits")


# -- where the limit fails ----------------------------------------------------------------------

GAP = Claim(
    "lca.untied.gap",
    f"{PLACE}: supports with a gap (counterexamples)",
    r"Z\text{ uniform on }[2,\tfrac52]\cup[\tfrac92,5]:\ \text{mean step}\to\tfrac72/\sqrt{112.5}"
    r"=0.32998\ldots\ne1/\sqrt{10};\quad Z\in\{2,3,5\}:\ T=3\text{ layers are Bayes optimal}",
    title="a gap in the support changes the limit; n atoms need n untied layers",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.untied.optimum",),
    note="So the limit 1/√(Z̲Z̄) of the mean step needs a support without gaps.",
)

GAP_LAW = Density(Piece(Fraction(2), Fraction(5, 2)), Piece(Fraction(9, 2), Fraction(5)))
_centre, _inner, _outer = sympy.Rational(7, 2), sympy.Integer(1), sympy.Rational(9, 4)
_GAP_LIMIT = _centre / sympy.sqrt((_centre**2 - _inner) * (_centre**2 - _outer))


@GAP.check(
    "two intervals, extrapolated",
    COMPUTED,
    formula=_GAP_LIMIT,
    controls={
        "1/√(ab)": 1 / sympy.sqrt(10),
        "2/(a+b)": sympy.Rational(2, 7),
        "+0.5%": _GAP_LIMIT * sympy.Rational(201, 200),
    },
    mutate=False,
)
def two_intervals(limit: sympy.Expr, examination: Examination) -> Evidence:
    """``[2,5/2] ∪ [9/2,5]`` is the preimage of ``[1,9/4]`` under ``(z-7/2)²``, whose arcsine law it
    inherits: the mean of 1/z is ``7/2 · 1/√((49/4-1)(49/4-9/4))``."""
    means = [untied_optimum(GAP_LAW, depth).exact_mean_step for depth in (8, 16, 32)]
    first, second, third = (mean for mean in means if mean is not None)
    guess = (8 * third - 6 * second + first) / 3
    with precision(128):
        stated = Enclosure.of(compiled(limit, BALL)({}, False))
    near = abs(guess - stated.lower) < stated.lower / 1000
    examination.decide("within 0.1%", near, f"{float(guess):.8f} and {stated}")
    return examination.evidence("T = 8, 16, 32, three digits")


@GAP.check(
    "as many layers as atoms",
    CERTIFIED,
    formula=3,
    controls={"one layer fewer": 2, "one layer": 1},
    cases=(ATOMS,),
)
def as_many_as_atoms(depth: int, case: Discrete, examination: Examination) -> Evidence:
    best = untied_optimum(case, depth)
    share = theory.signal_share()
    residual = sympy.prod([1 - Z / sympy.Rational(str(point)) for point in case.atoms])
    examination.decide(
        "no excess risk",
        best.excess.sign() == 0,
        f"{best.excess}",
        by=[
            equals(mean_of(case, share * residual**2), 0),
            same(residual, residual_polynomial(case, depth)),
        ],
    )
    wanted = sum(1 / point for point in case.atoms) / len(case.atoms)
    mean = best.exact_mean_step
    examination.decide(
        "α_t = 1/atom",
        mean == wanted,
        f"mean {mean}",
        by=equals(-sympy.diff(residual, Z).subs(Z, 0) / len(case.atoms), wanted),
    )
    limit = mean_limit(case)
    examination.lemma(
        "the mean is not 1/√(ab)",
        not limit.contains(wanted),
        f"{limit}",
        by=differs(wanted, 1 / sympy.sqrt(exactly(case.lower * case.upper))),
    )
    return examination.evidence("T = 3, atoms 2, 3, 5")


claims = [SPAN, OPTIMUM, RATE, MEAN, GAP]
