"""Theorems F.3 and 6.2, one parameter: the limit of α*_T for all T at once, and the rate."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import sympy
from flint import arb

from theoryverify.claims import (
    CERTIFIED,
    PROVED,
    Claim,
    Context,
    Evidence,
    Examination,
    Hypothesis,
)
from theoryverify.claims.parameters import At
from theoryverify.claims.statements import Evaluated, equals, less, mean, same, within
from theoryverify.exact.balls import Enclosure, ball, precision
from theoryverify.exact.densities import Uniform
from theoryverify.exact.evaluate import BALL, compiled
from theoryverify.exact.identities import decide_identity
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Law
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, LAWS, UNIFORM
from theoryverify.papers.lca.limit import limit_bracket
from theoryverify.papers.lca.loss import excess_loss
from theoryverify.papers.lca.placed import LAW_DEPTH, LIMIT, Point
from theoryverify.papers.lca.stated import alpha_root, around, exactly
from theoryverify.papers.lca.theory import T, a, alpha, b

# -- Theorem F.3 and Theorem 6.2 ----------------------------------------------------------------

F3 = Claim(
    "lca.F.3",
    "Theorem F.3",
    r"\alpha^*_T \longrightarrow \alpha^* = \frac{2}{\underline Z+\overline Z}"
    r" = \frac{2}{2+\underline m+\overline m}\qquad (T\to\infty)",
    title="α*_T → 2/(Z̲+Z̄)",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.F.1",),
)

ALPHA_LIMIT = 2 / (a + b)
WRONG_ALPHA_LIMITS = {
    "1/(Z̲+Z̄)": 1 / (a + b),
    "1/Z̄": 1 / b,
    "α* + 1%": ALPHA_LIMIT * sympy.Rational(101, 100),
    "α* - 1%": ALPHA_LIMIT * sympy.Rational(99, 100),
}


@F3.check("squeeze for all T", PROVED, formula=ALPHA_LIMIT, controls=WRONG_ALPHA_LIMITS)
def squeeze(limit: sympy.Expr, examination: Examination) -> Evidence:
    """The proof of :mod:`theoryverify.papers.lca.limit`, step by step."""
    r = theory.contraction()
    t, shift, eps, x, gap = sympy.symbols("t s_ epsilon x g", nonnegative=True)
    # 1. R_T(α*_T) <= R_T(α*) <= E[W] r^{2T}.
    examination.identity(
        "r² - (1-αz)² = α²(z-a)(b-z) at the limit",
        r**2 - (1 - limit * Z) ** 2,
        limit**2 * (Z - a) * (b - Z),
    )
    # 2. For z >= b-ε and α(b-ε) = 1+t: (αz-1)² >= t². Likewise at a.
    at_right = (1 + t) / (b - eps)
    examination.lemma(
        "αz - 1 = t + αs for z = b-ε+s",
        sympy.cancel(at_right * (b - eps + shift) - 1 - t - at_right * shift) == 0,
        by=same(at_right * (b - eps + shift) - 1, t + at_right * shift),
    )
    at_left = (1 - t) / (a + eps)
    examination.lemma(
        "1 - αz = t + αs for z = a+ε-s",
        sympy.cancel(1 - at_left * (a + eps - shift) - t - at_left * shift) == 0,
        by=same(1 - at_left * (a + eps - shift), t + at_left * shift),
    )
    # 3. Hence the bracket with K^{1/2T}; Bernoulli's inequality, by induction on n, gives
    #    K^{1/n} <= 1 + (K-1)/n.
    n = sympy.Symbol("n", positive=True)
    examination.lemma(
        "(1+y)(1+ny) - (1+(n+1)y) = ny² >= 0",
        sympy.expand((1 + gap) * (1 + n * gap) - (1 + (n + 1) * gap) - n * gap**2) == 0,
        by=same((1 + gap) * (1 + n * gap) - (1 + (n + 1) * gap), n * gap**2),
    )
    # 4. With x = 1/T: both ends of the bracket are continuous in (x, ε) and meet at (0, 0).
    K = sympy.Symbol("K", positive=True)
    upper = (1 + r * (1 + (K - 1) * x / 2)) / (b - eps)
    lower = (1 - r * (1 + (K - 1) * x / 2)) / (a + eps)
    examination.identity("upper end, T → ∞ then ε → 0", upper.subs(x, 0).subs(eps, 0), limit)
    examination.identity("lower end, T → ∞ then ε → 0", lower.subs(x, 0).subs(eps, 0), limit)
    return examination.evidence("every law that meets Assumption 6.1, T → ∞")


@F3.check(
    "bracket for all T >= 10⁶",
    CERTIFIED,
    formula=ALPHA_LIMIT,
    controls=WRONG_ALPHA_LIMITS,
    cases=LAWS,
    at=LIMIT,
)
def bracket(limit: sympy.Expr, case: Law, examination: Examination, context: Context) -> Evidence:
    """At fixed ε both ends move inward as T grows, so the bracket at T_0 holds for all T >= T_0."""
    stated = _at_ends(limit, case)
    depths = context.depths((10**2, 10**6))
    for depth in depths:
        found = limit_bracket(case, depth).enclosure
        inside = _between(stated, found)
        place = {a: case.lower, b: case.upper}
        examination.decide(
            f"the limit lies in the bracket at T = {depth}",
            inside,
            f"{found}",
            by=within(Evaluated(limit, place), found),
        )
        low, high = (sympy.Rational(*e.as_integer_ratio()) for e in (found.lower, found.upper))
        stationary = theory.stationarity().subs(T, depth)
        examination.lemma(
            f"α*_T lies in the bracket at T = {depth}",
            alpha_star(case, depth, 12).enclosure.within(found),
            f"{found}",
            by=[
                less(0, mean(case, stationary.subs(alpha, low))),
                less(mean(case, stationary.subs(alpha, high)), 0),
            ],
        )
    return examination.evidence(f"every T >= {_power(depths[-1])} (ε fixed: K >= 1)")


def _power(depth: int) -> str:
    return "10⁶" if depth == 10**6 else str(depth)


def _at_ends(expression: sympy.Expr, law: Law) -> Enclosure:
    with precision(128):
        values = {"a": ball(law.lower), "b": ball(law.upper)}
        return Enclosure.of(compiled(expression, BALL)(values, False))


def _between(value: Enclosure, outer: Enclosure) -> bool | None:
    if not value.overlaps(outer):
        return False
    return True if value.within(outer) else None


@lru_cache(maxsize=256)
def _logs(case: Point) -> tuple[arb, arb]:
    """``ℓ_b`` and ``ℓ_a`` of :data:`RATE` at ``ε = 1/T``."""
    law, share, eps = case.law, theory.signal_share(), Fraction(1, case.depth)
    with precision(160):
        whole = law.expect(share)
        upper = law.expect(share, on=(law.upper - eps, None))
        lower = law.expect(share, on=(None, law.lower + eps))
        return (whole / upper).log(), (whole / lower).log()


def _little_mass(case: object) -> str | None:
    """At ``ε = 1/T``, which is at most 1 and so below Z̄."""
    if not isinstance(case, Point):
        return None
    if ASSUMPTION_6_1.failure(case):
        return "ℓ is not defined without Assumption 6.1"
    if all(ell < 2 * case.depth for ell in _logs(case)):
        return None
    return f"T = {case.depth} is too small for {case.law} and ε = 1/T"


ENOUGH_MASS = Hypothesis(
    "mass near the ends", r"0<\varepsilon<\overline Z,\ \ell_a,\ell_b\le2T", _little_mass
)

RATE = Claim(
    "lca.F.3.rate",
    "Theorem F.3, made quantitative (ours)",
    r"0<\varepsilon<\overline Z:\ |\alpha^*_T-\alpha^*| \le \max\Big\{"
    r"\frac{r\overline Z\ell_b/T+(1+r)\varepsilon}"
    r"{\overline Z(\overline Z-\varepsilon)},\ \frac{r\underline Z\ell_a/T+(1-r)\varepsilon}"
    r"{\underline Z(\underline Z+\varepsilon)}\Big\},\ "
    r"\ell=\log\frac{\mathbb E[W]}{\mathbb E[W;\text{within }\varepsilon\text{ of the end}]}\le 2T",
    title="|α*_T - α*| = O(log T/T) if the ends carry polynomial mass",
    hypotheses=(ASSUMPTION_6_1, ENOUGH_MASS),
    depends_on=("lca.F.3",),
)

_r, _log, _eps = sympy.symbols("r ell epsilon", positive=True)
_RATE = (
    (_r * b * _log / T + (1 + _r) * _eps) / (b * (b - _eps)),
    (_r * a * _log / T + (1 - _r) * _eps) / (a * (a + _eps)),
)
_WRONG_RATE = {
    "1/T² for 1/T, ε for ε²": tuple(part.subs({T: T**2, _eps: _eps**2}) for part in _RATE),
    "a factor of 200 too small": tuple(part / 200 for part in _RATE),
}


@RATE.check("from the bracket", PROVED, formula=_RATE, controls=_WRONG_RATE)
def rate_from_bracket(formula: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    x = sympy.Symbol("x", positive=True)
    # exp(x) <= 1+2x on [0,1] (concavity of 1+2x-e^x and its values at the ends), so with
    # x = ℓ/(2T) <= 1 the growth K^{1/2T} = e^x is at most 1 + ℓ/T.
    examination.lemma(
        "1 + 2·0 - e⁰ = 0",
        sympy.Integer(1) - sympy.exp(0) == 0,
        by=equals(1, Evaluated(sympy.exp(x), {x: 0})),
    )
    with precision(64):
        examination.lemma("1 + 2 - e > 0", bool(3 - ball(1).exp() > 0), by=less(sympy.exp(1), 3))
    examination.lemma(
        "1+2x-e^x is concave",
        sympy.diff(1 + 2 * x - sympy.exp(x), x, 2) == -sympy.exp(x),
        by=same(sympy.diff(1 + 2 * x - sympy.exp(x), x, 2), -sympy.exp(x)),
    )
    r = theory.contraction()
    growth = 1 + _log / T
    limit = theory.alpha_limit()
    for name, end, bound in (
        ("upper end - α*", (1 + r * growth) / (b - _eps) - limit, formula[0]),
        ("α* - lower end", limit - (1 - r * growth) / (a + _eps), formula[1]),
    ):
        examination.identity(name, end, bound.subs(_r, r))
    return examination.evidence(
        "every law, T and 0 < ε < Z̄ with ℓ <= 2T; ε = 1/T gives O(log T/T) where the mass within ε "
        "of each end is at least a power of ε"
    )


_RATE_DEPTHS = (10**2, 10**6)


@RATE.check(
    "bound at ε = 1/T",
    CERTIFIED,
    formula=_RATE,
    controls=_WRONG_RATE,
    cases=tuple(Point(law, depth) for law in LAWS for depth in _RATE_DEPTHS),
    mutate=False,
    at=At(lambda law, depth=_RATE_DEPTHS[-1]: Point(law, depth), needs=("law",), takes=("depth",)),
)
def rate_bound(
    formula: tuple[sympy.Expr, sympy.Expr], case: Point, examination: Examination
) -> Evidence:
    law, depth = case.law, case.depth
    found = alpha_star(law, depth, 20)
    with precision(160):
        values = {
            "a": ball(law.lower),
            "b": ball(law.upper),
            "T": ball(depth),
            "r": ball(found.contraction),
            "epsilon": 1 / ball(depth),
        }
        above, below = (
            Enclosure.of(compiled(part, BALL)(values | {"ell": entry}, False))
            for part, entry in zip(formula, _logs(case), strict=True)
        )
        gap = Enclosure.of(found.enclosure.ball() - ball(found.limit))
        negative = Enclosure.of(ball(found.limit) - found.enclosure.ball())
    examination.less("α*_T - α* below its bound", gap, above)
    examination.less("α* - α*_T below its bound", negative, below)
    return examination.evidence("ε = 1/T")


T62 = Claim(
    "lca.6.2.limit",
    "Theorem 6.2, items 2 and 3",
    r"R_T(\alpha^*_T)\le \mathbb E[W]\,r^{2T}\to 0,\qquad "
    r"r=\frac{\overline Z-\underline Z}{\overline Z+\underline Z}",
    title="at α*_T the excess risk is at most E[W] r^{2T}",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.F.3",),
    note="Item 1, the convergence of the gradient flow, is a claim of its own.",
)

_RATIO = (b - a) / (b + a)
_WRONG_RATIO = {
    "r²": _RATIO**2,
    "(b-a)/(2b)": (b - a) / (2 * b),
    "r - 1%": _RATIO * sympy.Rational(99, 100),
}


@T62.check("geometric bound", PROVED, formula=_RATIO, controls=_WRONG_RATIO)
def geometric_bound(ratio: sympy.Expr, examination: Examination) -> Evidence:
    best = theory.alpha_limit()
    # (1-α*z)² = r² - α*²(z-a)(b-z) <= r² on [a,b], and α*_T does no worse than α*.
    examination.identity(
        "r² - (1-α*z)² = α*²(z-a)(b-z)",
        ratio**2 - (1 - best * Z) ** 2,
        best**2 * (Z - a) * (b - Z),
    )
    shift = sympy.Symbol("s_", positive=True)
    examination.nonnegative("b-a > 0, so r > 0", shift, [shift], strict=True)
    examination.identity("1-r = 2a/(a+b) > 0, so r < 1", 1 - ratio, 2 * a / (a + b))
    return examination.evidence("every T >= 1, every law that meets Assumption 6.1")


@T62.check(
    "excess risk at α*_T",
    CERTIFIED,
    formula=_RATIO,
    controls=_WRONG_RATIO,
    cases=LAWS,
    at=LAW_DEPTH,
)
def excess_at_minimum(
    ratio: sympy.Expr, case: Law, examination: Examination, context: Context
) -> Evidence:
    """Twice-sided: ``c ε-mass r^{2T} (1-o(1)) <= R_T(α*_T) <= E[W] r^{2T}``, by its 2T-th root."""
    depths = context.depths((1, 10, 1000))
    for depth in depths:
        best = alpha_star(case, depth, 30).enclosure
        loss = excess_loss(case, best.lower, depth=depth, digits=15).excess
        with precision(128):
            stated = compiled(ratio, BALL)({"a": ball(case.lower), "b": ball(case.upper)}, False)
            bound = Enclosure.of(case.expect(theory.signal_share()) * abs(stated) ** (2 * depth))
        share, place = theory.signal_share(), {a: exactly(case.lower), b: exactly(case.upper)}
        number = mean(case, share * (1 - exactly(best.lower) * Z) ** (2 * depth))
        examination.less(
            f"R_T(α*_T) < E[W] r^{{2T}}, T = {depth}",
            loss,
            bound,
            by=less(number, mean(case, share) * ratio.subs(place) ** (2 * depth)),
        )
    if context.parameters:  # how fast R_T^{1/2T} tends to r depends on the law
        return examination.evidence(f"T in {depths}")
    # Sharp to first order in the exponent: R_T^{1/2T} -> r.
    with precision(128):
        root = Enclosure.of((loss.ball().log() / (2 * depth)).exp() / stated)
    examination.decide(
        "R_T^{1/2T}/r is within 1% of 1 at T = 1000",
        _between(root, Enclosure.of(ball("0.99").union(ball("1.01")))),
        f"{root}",
        by=[
            *alpha_root(case, depth, around(best, 8)),
            within(
                number ** sympy.Rational(1, 2 * depth) / ratio.subs(place),
                (Fraction(99, 100), Fraction(101, 100)),
            ),
        ],
    )
    return examination.evidence(f"T in {depths}")


# -- the sharp rate of uniform laws -------------------------------------------------------------

SHARP = Claim(
    "lca.F.3.uniform",
    "ours: the first-order term for uniform laws, Z̲ > 1",
    r"Z\sim U[a,b],\ 1<a<b:\quad "
    r"\alpha^*_T=\alpha^*\Big(1-\frac{b-a}{4T(a+b)}\log\frac{b-1}{a-1}\Big)+O(T^{-2})",
    title="uniform law: α*_T - α* = -c₁/T + O(T⁻²)",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.F.3",),
)

_SHARP = theory.uniform_first_order()
_CORRECTION = (b - a) / (4 * T * (a + b)) * sympy.log((b - 1) / (a - 1))
_WRONG_SHARP = {
    "2T for 4T": ALPHA_LIMIT * (1 - 2 * _CORRECTION),
    "+ for -": ALPHA_LIMIT * (1 + _CORRECTION),
    "log(b/a)": ALPHA_LIMIT * (1 - _CORRECTION * sympy.log(b / a) / sympy.log((b - 1) / (a - 1))),
    "without the term": ALPHA_LIMIT,
}


@SHARP.check("first-order balance", PROVED, formula=_SHARP, controls=_WRONG_SHARP)
def first_order_balance(expansion: sympy.Expr, examination: Examination) -> Evidence:
    """With ``r_a = 1-αa``, ``r_b = αb-1`` and ``ρ = r_b/r_a`` the stationarity of a uniform law is

    ``(1-α)(1-ρ^{2T})/(2T) = r_a(1+ρ^{2T+1})/(2T+1)``. Put ``x = 1/T``: ``ρ = 1 + ρ₁x + O(x²)`` and
    ``ρ^{2T} = e^{2ρ₁} + O(x)``; the equation divided by x is smooth in (α's coefficient, x) at 0,
    where it reads ``(1-α*)(1-E) = r(1+E)``, ``E = e^{2ρ₁}``.
    """
    n = sympy.Symbol("n", integer=True, positive=True)
    u = sympy.Symbol("u", real=True)
    # The antiderivative: with u = 1-αz, (z-1)(1-αz)^n dz = -(1-α-u) u^n du/α².
    primitive = -((1 - alpha) * u ** (n + 1) / (n + 1) - u ** (n + 2) / (n + 2)) / alpha**2
    back = sympy.diff(primitive, u).subs(u, 1 - alpha * Z) * (-alpha)
    examination.lemma(
        "the antiderivative of (z-1)(1-αz)^n",
        decide_identity(back, (Z - 1) * (1 - alpha * Z) ** n),
    )
    r = theory.contraction()
    examination.lemma(
        "E = (1-α*-r)/(1-α*+r) = (a-1)/(b-1)",
        sympy.cancel((1 - ALPHA_LIMIT - r) / (1 - ALPHA_LIMIT + r) - (a - 1) / (b - 1)) == 0,
        by=same((1 - ALPHA_LIMIT - r) / (1 - ALPHA_LIMIT + r), (a - 1) / (b - 1)),
    )
    slope = sympy.diff((alpha * b - 1) / (1 - alpha * a), alpha).subs(alpha, ALPHA_LIMIT)
    # E = e^{2ρ₁} and ρ₁ = (dρ/dα) c₁, where c₁ = lim T(α*_T - α*).
    x = sympy.Symbol("x", positive=True)
    at_zero = expansion.subs(T, 1 / x)
    examination.identity("the limit at T = ∞", at_zero.subs(x, 0), ALPHA_LIMIT)
    c1 = sympy.diff(at_zero, x).subs(x, 0)
    examination.identity(
        "2 (dρ/dα) c₁ = log((a-1)/(b-1))", 2 * slope * c1, -sympy.log((b - 1) / (a - 1))
    )
    examination.assume("implicit function theorem")
    return examination.evidence("every 1 < a < b, T → ∞")


@SHARP.check(
    "T²·error stays bounded",
    CERTIFIED,
    formula=_SHARP,
    controls=_WRONG_SHARP,
    cases=(UNIFORM, Uniform("1.5", 3), Uniform("1.01", 40)),
    mutate=False,
)
def bounded_error(expansion: sympy.Expr, case: Law, examination: Examination) -> Evidence:
    """At T and 100T the error times T² differs by less than the error of the error, 5%."""
    scaled, roots_ = [], []
    depths = (10**4, 10**6)
    for depth in depths:
        found = alpha_star(case, depth, 40).enclosure
        with precision(220):
            values = {"a": ball(case.lower), "b": ball(case.upper), "T": ball(depth)}
            roots_.append(found)
            error = found.ball() - compiled(expansion, BALL)(values, False)
            scaled.append(error * depth**2)
    with precision(220):
        ratio = Enclosure.of(scaled[1] / scaled[0])
    errors = [
        (sympy.Symbol(f"a_{i}") - expansion.subs(T, depth)) * depth**2
        for i, depth in enumerate(depths)
    ]
    examination.decide(
        "T²(α*_T - expansion) agrees at T = 10⁴ and 10⁶ within 5%",
        _between(ratio, Enclosure.of(ball("0.95").union(ball("1.05")))),
        f"ratio {ratio}",
        by=lambda: [
            *(
                part
                for T_, f in zip(depths, roots_, strict=True)
                for part in alpha_root(case, T_, f)
            ),
            within(
                Evaluated(errors[1] / errors[0], {a: case.lower, b: case.upper}),
                (Fraction(95, 100), Fraction(105, 100)),
                a_0=roots_[0],
                a_1=roots_[1],
            ),
        ],
    )
    return examination.evidence(f"T in {depths}")


claims = [F3, RATE, T62, SHARP]
