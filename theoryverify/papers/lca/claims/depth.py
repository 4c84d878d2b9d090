"""Section 6 and Appendix F, one parameter: α*_T, its limit for all T at once, and the rate."""

from __future__ import annotations

from fractions import Fraction

import sympy

from theoryverify.claims import (
    CERTIFIED,
    OUTSIDE,
    PROVED,
    Claim,
    Context,
    Evidence,
    Examination,
)
from theoryverify.claims.statements import Evaluated, agree, equals, less, mean, roots, same, within
from theoryverify.claims.statements import Statement as Formal
from theoryverify.errors import HypothesisError
from theoryverify.exact.balls import Enclosure, ball, bits_for, precision
from theoryverify.exact.densities import ScaledBeta, Uniform
from theoryverify.exact.evaluate import BALL, compiled
from theoryverify.exact.identities import decide_identity
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Law, TwoPoint
from theoryverify.exact.rationals import decimal
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.alpha_star import algebraic_alpha_star, alpha_star
from theoryverify.papers.lca.laws import (
    ASSUMPTION_6_1,
    ATOM_AT_ONE,
    ATOMS,
    LAWS,
    POINT_MASS,
    UNIFORM,
)
from theoryverify.papers.lca.limit import limit_bracket
from theoryverify.papers.lca.loss import excess_loss
from theoryverify.papers.lca.placed import LAW, LAW_DEPTH, LIMIT, MOMENTS_DEPTH, TWO_ATOMS
from theoryverify.papers.lca.stated import alpha_root, around, exactly
from theoryverify.papers.lca.theory import T, a, alpha, b, beta

_W = (Z - 1) / Z

# -- gradients ----------------------------------------------------------------------------------

GRADIENT = Claim(
    "lca.gradient",
    "Section 6, the training dynamics; Appendix F",
    r"R_T(\alpha)=\mathbb E[W(1-\alpha Z)^{2T}],\quad "
    r"R_T'(\alpha)=-2T\,\mathbb E[(Z-1)(1-\alpha Z)^{2T-1}],\quad "
    r"R_T''(\alpha)=2T(2T-1)\mathbb E[(Z-1)Z(1-\alpha Z)^{2T-2}]",
    title="R_T, R_T' and R_T''",
    depends_on=("lca.loss",),
)

_R = (
    _W * (1 - alpha * Z) ** (2 * T),
    -2 * T * (Z - 1) * (1 - alpha * Z) ** (2 * T - 1),
    2 * T * (2 * T - 1) * (Z - 1) * Z * (1 - alpha * Z) ** (2 * T - 2),
)


@GRADIENT.check(
    "differentiation",
    PROVED,
    formula=_R,
    controls={
        "(1-αZ)^T for 2T": (_W * (1 - alpha * Z) ** T, *_R[1:]),
        "W for WZ in R'": (_R[0], _R[1] / Z, _R[2]),
        "T for 2T in R''": (_R[0], _R[1], _R[2] / 2),
    },
)
def differentiation(formula: tuple[sympy.Expr, ...], examination: Examination) -> Evidence:
    value, slope, curvature = formula
    examination.identity("ℓ(α, -α)", theory.tied(theory.loss_integrand()), value)
    examination.identity("dR/dα", sympy.diff(theory.one_parameter_loss(), alpha), slope)
    examination.identity("d²R/dα²", sympy.diff(theory.one_parameter_loss(), alpha, 2), curvature)
    return examination.evidence("every T, α (differentiation under E: bounded support)")


@GRADIENT.check(
    "enclosures",
    CERTIFIED,
    formula=(theory.loss_integrand(), theory.one_parameter_loss()),
    controls={
        "T+1": (theory.loss_integrand(depth=T + 1), theory.one_parameter_loss()),
        "without W": (theory.loss_integrand(), (1 - alpha * Z) ** (2 * T)),
        "gradient 10⁻¹² too large": (
            theory.loss_integrand() * (1 + sympy.Rational(1, 10**12)),
            theory.one_parameter_loss(),
        ),
    },
    cases=(UNIFORM, ATOMS, ScaledBeta(2, 5, "1/2", "5/2")),
    at=LAW,
)
def gradient_enclosures(
    formula: tuple[sympy.Expr, sympy.Expr], case: Law, examination: Examination
) -> Evidence:
    two, one = formula
    digits, point = 15, {alpha: sympy.Rational(3, 10), beta: sympy.Rational(-1, 5), T: 4}
    kernel = excess_loss(case, "3/10", "-1/5", depth=4, digits=digits + 5).gradient
    tied = excess_loss(case, "3/10", depth=4, digits=digits + 5).gradient
    for name, expression, variable, found in (
        ("∂ℓ/∂α", two, alpha, kernel[0]),
        ("∂ℓ/∂β", two, beta, kernel[1]),
        ("R_T'", one, alpha, tied[0]),
    ):
        with precision(bits_for(digits) + 96):
            stated = Enclosure.of(case.expect(sympy.diff(expression, variable).subs(point)))
        number = mean(case, sympy.diff(expression, variable).subs(point))
        examination.equal(name, found, stated, digits, by=agree(number, found, stated, digits))
    return examination.evidence(f"to {digits} digits at (α, β, T) = (0.3, -0.2, 4)")


# -- Lemma F.1 ----------------------------------------------------------------------------------

F1 = Claim(
    "lca.F.1",
    "Lemma F.1",
    r"R_T \text{ is strictly convex and coercive; its minimiser is the only root of } "
    r"\mathbb E[(Z-1)(1-\alpha Z)^{2T-1}]=0 \text{ and lies in } (1/\overline Z, 1/\underline Z)",
    title="R_T has one minimiser, in (1/Z̄, 1/Z̲)",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.gradient",),
)

_STATIONARY = (Z - 1) * (1 - alpha * Z) ** (2 * T - 1)
_WRONG_STATIONARY = {
    "without W": Z * (1 - alpha * Z) ** (2 * T - 1),
    "W = Z-1": (Z - 1) * Z * (1 - alpha * Z) ** (2 * T - 1),
    "(1-αZ)^T for 2T": (Z - 1) * (1 - alpha * Z) ** (T - 1),
    "|1-αZ|^{2T-1}, its sign lost": (Z - 1) * (1 - alpha * Z) ** (2 * T),
}


@F1.check("convexity", PROVED, formula=_STATIONARY, controls=_WRONG_STATIONARY)
def convexity(stationary: sympy.Expr, examination: Examination) -> Evidence:
    loss = theory.one_parameter_loss()
    examination.identity("R_T' = -2T E[stationary]", sympy.diff(loss, alpha), -2 * T * stationary)
    # R'' is a square times WZ², positive for Z > 1: with Z = 1+t, WZ² = t(1+t).
    square = 2 * T * (2 * T - 1) * (Z - 1) * Z * ((1 - alpha * Z) ** (T - 1)) ** 2
    examination.identity(
        "R_T'' is 2T(2T-1) WZ² times a square", sympy.diff(-2 * T * stationary, alpha), square
    )
    t = sympy.Symbol("t", positive=True)
    examination.nonnegative("WZ² > 0 for Z > 1", (t * (1 + t)), [t], strict=True)
    # At α = 1/b every z = b-s gives (z-1)(s/b)^{2T-1} >= 0; at α = 1/a, z = a+s gives the opposite.
    shift = sympy.Symbol("s_", positive=True)
    examination.identity(
        "at α = 1/b, z = b-s",
        stationary.subs({alpha: 1 / b, Z: b - shift}),
        (b - shift - 1) * (shift / b) ** (2 * T - 1),
    )
    examination.identity(
        "at α = 1/a, z = a+s",
        stationary.subs({alpha: 1 / a, Z: a + shift}),
        -(a + shift - 1) * (shift / a) ** (2 * T - 1),
    )
    # Coercive: ε^{2T} R(1/ε) = E[W(ε-Z)^{2T}] -> E[WZ^{2T}] > 0.
    eps = sympy.Symbol("epsilon", positive=True)
    examination.identity(
        "leading coefficient E[WZ^{2T}]",
        eps ** (2 * T) * loss.subs(alpha, 1 / eps),
        _W * (eps - Z) ** (2 * T),
    )
    return examination.evidence("every T >= 1, every law that meets Assumption 6.1")


_DEPTHS = (1, 2, 50, 1000)


@F1.check(
    "two signs around α*_T",
    CERTIFIED,
    formula=_STATIONARY,
    controls=_WRONG_STATIONARY
    | {"α 10⁻¹¹ too large": _STATIONARY.subs(alpha, alpha * (1 - sympy.Rational(1, 10**11)))},
    cases=LAWS,
    at=LIMIT,
)
def two_signs(
    stationary: sympy.Expr, case: Law, examination: Examination, context: Context
) -> Evidence:
    digits, depths = 15, context.depths(_DEPTHS)
    for depth in depths:
        found = alpha_star(case, depth, digits).enclosure
        for end, expected in ((found.lower, 1), (found.upper, -1)):
            at = sympy.Rational(end.numerator, end.denominator)
            with precision(bits_for(digits) + 80):
                # The values are of size r^{2T}; only their signs matter.
                value = Enclosure.of(case.expect(stationary.subs({alpha: at, T: depth})))
            side = "left" if expected > 0 else "right"
            undecided = value.sign() in (None, 0)
            examination.decide(
                f"T = {depth}, {side} of α*_T",
                None if undecided else value.sign() == expected,
                f"E[f] = {value} at α = {float(end):.15g}",
                by=_signed(mean(case, stationary.subs({alpha: at, T: depth})), expected),
            )
    return examination.evidence(f"T in {depths}, α*_T to {digits} digits")


@F1.check(
    "exact algebraic number",
    CERTIFIED,
    formula=_STATIONARY,
    controls=_WRONG_STATIONARY,
    cases=(UNIFORM, ATOMS, ScaledBeta(2, 5, 2, 3)),
    at=MOMENTS_DEPTH,
)
def algebraic(
    stationary: sympy.Expr, case: Law, examination: Examination, context: Context
) -> Evidence:
    """Sturm's theorem on the polynomial with rational moments, against the ball enclosure."""
    digits, depths = 15, context.depths((1, 2, 5))
    for depth in depths:
        exact = algebraic_alpha_star(case, depth)
        assert exact is not None
        enclosed = alpha_star(case, depth, digits).enclosure
        examination.lemma(
            f"T = {depth}: Sturm and balls agree",
            exact.enclosure(digits).overlaps(enclosed),
            f"a root of degree {exact.degree}",
            by=[
                roots(exact.polynomial, 1 / case.upper, 1 / case.lower, 1),
                roots(exact.polynomial, enclosed.lower, enclosed.upper, 1),
            ],
        )
        # The stated function, integrated exactly by moments, vanishes between the two ends.
        values = [
            _exact_mean(stationary.subs(T, depth), case, end)
            for end in (enclosed.lower, enclosed.upper)
        ]
        examination.decide(
            f"T = {depth}: exact signs of the stated function",
            values[0] > 0 > values[1],
            f"{decimal(values[0], 3)} and {decimal(values[1], 3)}, in exact arithmetic",
            by=[
                _signed(mean(case, stationary.subs({T: depth, alpha: sympy.Rational(*end)})), sign)
                for end, sign in (
                    (enclosed.lower.as_integer_ratio(), 1),
                    (enclosed.upper.as_integer_ratio(), -1),
                )
            ],
        )
    return examination.evidence(f"T in {depths}, exact rational arithmetic")


def _signed(number: sympy.Expr, sign: int) -> Formal:
    return less(0, number) if sign > 0 else less(number, 0)


def _exact_mean(expression: sympy.Expr, law: Law, at_alpha: Fraction) -> Fraction:
    """``E[f(Z)]`` of a polynomial in Z from rational moments."""
    at = sympy.Rational(at_alpha.numerator, at_alpha.denominator)
    total = Fraction(0)
    for (order,), coefficient in sympy.Poly(expression.subs(alpha, at), Z).terms():
        moment = law.moment(order)
        assert moment is not None
        total += Fraction(int(coefficient.p), int(coefficient.q)) * moment
    return total


# -- the two-point law --------------------------------------------------------------------------

TWO = Claim(
    "lca.two-point",
    "ours: α*_T for two atoms, in closed form",
    r"\mathbb P(Z=a)=p:\quad \alpha^*_T=\frac{1+\kappa}{b+\kappa a},\quad "
    r"\kappa=\Big[\frac{p(a-1)}{(1-p)(b-1)}\Big]^{1/(2T-1)}",
    title="two atoms: α*_T = (1+κ)/(b+κa)",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.F.1",),
)

_p = sympy.Symbol("p", positive=True)
_kappa = sympy.Symbol("kappa", positive=True)
_TWO = ((1 + _kappa) / (b + _kappa * a), _p * (a - 1) / ((1 - _p) * (b - 1)), 2 * T - 1)
_WRONG_TWO = {
    "κ to the power 2T": (_TWO[0], _TWO[1], 2 * T),
    "κ inverted": (_TWO[0], 1 / _TWO[1], _TWO[2]),
    "without W": (_TWO[0], _p * a / ((1 - _p) * b), _TWO[2]),
    "a and b exchanged": ((1 + _kappa) / (a + _kappa * b), *_TWO[1:]),
}


@TWO.check("stationarity", PROVED, formula=_TWO, controls=_WRONG_TWO)
def two_point_stationarity(
    formula: tuple[sympy.Expr, sympy.Expr, sympy.Expr], examination: Examination
) -> Evidence:
    root, power, exponent = formula
    # p(a-1)(1-αa)^n + (1-p)(b-1)(1-αb)^n = 0 with κ^n = p(a-1)/((1-p)(b-1)), n = 2T-1 odd:
    # it is enough that κ(1-αa) = αb-1.
    examination.identity("n = 2T-1", exponent, 2 * T - 1)
    examination.identity("κ(1-αa) = αb-1", _kappa * (1 - root * a), root * b - 1)
    weights = _p * (a - 1) * theory.stationarity().subs(Z, a) / (a - 1)
    weights += (1 - _p) * (b - 1) * theory.stationarity().subs(Z, b) / (b - 1)
    n = 2 * T - 1
    balance = _p * (a - 1) * (1 - alpha * a) ** n + (1 - _p) * (b - 1) * (1 - alpha * b) ** n
    examination.identity("E[WZ(1-αZ)^{2T-1}] for two atoms", weights, balance)
    examination.identity("κ^n", power * (1 - _p) * (b - 1), _p * (a - 1))
    return examination.evidence("every T, 1 <= a < b, 0 < p < 1 (a > 1)")


@TWO.check(
    "against the enclosure",
    CERTIFIED,
    formula=_TWO,
    controls=_WRONG_TWO,
    cases=(TwoPoint(2, 5), TwoPoint("3/2", 4, "9/10"), TwoPoint(2, 5, "1/4")),
    at=TWO_ATOMS,
)
def two_point_enclosure(
    formula: tuple[sympy.Expr, sympy.Expr, sympy.Expr],
    case: TwoPoint,
    examination: Examination,
    context: Context,
) -> Evidence:
    root, power, exponent = formula
    depths = context.depths((1, 2, 10, 1000, 10**5))
    for depth in depths:
        with precision(160):
            values = {"a": ball(case.lower), "b": ball(case.upper), "p": ball(case.weight)}
            values |= {"T": ball(depth)}
            ratio = compiled(power, BALL)(values, False)
            order = compiled(exponent, BALL)(values, False)
            if order.is_zero() or not ratio > 0:
                examination.decide(f"κ at T = {depth}", False, f"({ratio})^(1/{order})")
                continue
            values["kappa"] = (ratio.log() / order).exp()
            stated = Enclosure.of(compiled(root, BALL)(values, False))
        found = alpha_star(case, depth, 25).enclosure
        ends = {a: case.lower, b: case.upper, _p: case.weight}
        number = root.subs(_kappa, (power ** (1 / exponent)).subs(T, depth))
        examination.equal(
            f"T = {depth}", found, stated, 25, by=agree(Evaluated(number, ends), found, stated, 25)
        )
    return examination.evidence(f"T in {depths}, 25 digits")


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

_LIMIT = 2 / (a + b)
_WRONG_LIMIT = {
    "1/(Z̲+Z̄)": 1 / (a + b),
    "1/Z̄": 1 / b,
    "α* + 1%": _LIMIT * sympy.Rational(101, 100),
    "α* - 1%": _LIMIT * sympy.Rational(99, 100),
}


@F3.check("squeeze for all T", PROVED, formula=_LIMIT, controls=_WRONG_LIMIT)
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
    formula=_LIMIT,
    controls=_WRONG_LIMIT,
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


RATE = Claim(
    "lca.F.3.rate",
    "Theorem F.3, made quantitative (ours)",
    r"|\alpha^*_T-\alpha^*| \le \max\Big\{\frac{r\overline Z\ell_b/T+(1+r)\varepsilon}"
    r"{\overline Z(\overline Z-\varepsilon)},\ \frac{r\underline Z\ell_a/T+(1-r)\varepsilon}"
    r"{\underline Z(\underline Z+\varepsilon)}\Big\},\ "
    r"\ell=\log\frac{\mathbb E[W]}{\mathbb E[W;\text{within }\varepsilon\text{ of the end}]}\le 2T",
    title="|α*_T - α*| = O(log T/T) if the ends carry polynomial mass",
    hypotheses=(ASSUMPTION_6_1,),
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
    return examination.evidence("every law, T and ε with ℓ <= 2T; ε = 1/T gives O(log T/T)")


@RATE.check(
    "bound at ε = 1/T",
    CERTIFIED,
    formula=_RATE,
    controls=_WRONG_RATE,
    cases=LAWS,
    mutate=False,
    at=LAW_DEPTH,
)
def rate_bound(
    formula: tuple[sympy.Expr, sympy.Expr], case: Law, examination: Examination, context: Context
) -> Evidence:
    depths = context.depths((10**2, 10**6))
    for depth in depths:
        found = alpha_star(case, depth, 20)
        with precision(160):
            values = {
                "a": ball(case.lower),
                "b": ball(case.upper),
                "T": ball(depth),
                "r": ball(found.contraction),
                "epsilon": 1 / ball(depth),
            }
            share, eps = theory.signal_share(), Fraction(1, depth)
            whole = case.expect(share)
            near = (
                case.expect(share, on=(case.upper - eps, None)),
                case.expect(share, on=(None, case.lower + eps)),
            )
            logs = [(whole / part).log() for part in near]
            if not all(entry < 2 * depth for entry in logs):
                raise HypothesisError("ℓ <= 2T", f"T = {depth} is too small for {case} and ε = 1/T")
            above, below = (
                Enclosure.of(compiled(part, BALL)(values | {"ell": entry}, False))
                for part, entry in zip(formula, logs, strict=True)
            )
            gap = Enclosure.of(found.enclosure.ball() - ball(found.limit))
            negative = Enclosure.of(ball(found.limit) - found.enclosure.ball())
        examination.less(f"α*_T - α* below its bound, T = {depth}", gap, above)
        examination.less(f"α* - α*_T below its bound, T = {depth}", negative, below)
    return examination.evidence(f"T in {depths}")


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
    r"\alpha^*_T=\alpha^*\Big(1-\frac{b-a}{4T(a+b)}\log\frac{b-1}{a-1}\Big)+O(T^{-2})",
    title="uniform law: α*_T - α* = -c₁/T + O(T⁻²)",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.F.3",),
)

_SHARP = theory.uniform_first_order()
_CORRECTION = (b - a) / (4 * T * (a + b)) * sympy.log((b - 1) / (a - 1))
_WRONG_SHARP = {
    "2T for 4T": _LIMIT * (1 - 2 * _CORRECTION),
    "+ for -": _LIMIT * (1 + _CORRECTION),
    "log(b/a)": _LIMIT * (1 - _CORRECTION * sympy.log(b / a) / sympy.log((b - 1) / (a - 1))),
    "without the term": _LIMIT,
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
        sympy.cancel((1 - _LIMIT - r) / (1 - _LIMIT + r) - (a - 1) / (b - 1)) == 0,
        by=same((1 - _LIMIT - r) / (1 - _LIMIT + r), (a - 1) / (b - 1)),
    )
    slope = sympy.diff((alpha * b - 1) / (1 - alpha * a), alpha).subs(alpha, _LIMIT)
    # E = e^{2ρ₁} and ρ₁ = (dρ/dα) c₁, where c₁ = lim T(α*_T - α*).
    x = sympy.Symbol("x", positive=True)
    at_zero = expansion.subs(T, 1 / x)
    examination.identity("the limit at T = ∞", at_zero.subs(x, 0), _LIMIT)
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


# -- where the hypotheses bite ------------------------------------------------------------------

POINT = Claim(
    "lca.F.3.point-mass",
    "Theorem F.3 asked at a law that breaks Assumption 6.1",
    r"\mathbb P(Z=2)=1",
    title="at a point mass Theorem F.3 does not speak",
    hypotheses=(ASSUMPTION_6_1,),
    expected=OUTSIDE,
)
POINT.check(
    "bracket", CERTIFIED, formula=_LIMIT, controls=_WRONG_LIMIT, cases=(POINT_MASS,), mutate=False
)(bracket)

ATOM = Claim(
    "lca.F.3.atom-at-1",
    "Theorem F.3 asked at a law that breaks Assumption 6.1",
    r"\mathbb P(Z=1)=\tfrac12",
    title="with P(m = 0) > 0 Theorem F.3 does not speak",
    hypotheses=(ASSUMPTION_6_1,),
    expected=OUTSIDE,
)
ATOM.check(
    "bracket", CERTIFIED, formula=_LIMIT, controls=_WRONG_LIMIT, cases=(ATOM_AT_ONE,), mutate=False
)(bracket)

COUNTER = Claim(
    "lca.F.3.needs-no-atom-at-1",
    "Assumption 6.1 is needed: a counterexample (ours)",
    r"\mathbb P(Z=1)=\mathbb P(Z=3)=\tfrac12 \ \Rightarrow\ \alpha^*_T=\tfrac13 \text{ for all } T, "
    r"\text{ not } \tfrac{2}{1+3}",
    title="P(Z=1) = P(Z=3) = 1/2: α*_T = 1/3 for every T",
    depends_on=("lca.gradient",),
    note="W = 0 where m = 0, so an atom there leaves no trace in the loss; the limit is "
    "2/(a'+Z̄) with a' the least point of the support above 1.",
)


@COUNTER.check(
    "exact",
    PROVED,
    formula=sympy.Rational(1, 3),
    controls={
        "2/(Z̲+Z̄) = 1/2": sympy.Rational(1, 2),
        "1/2 - 1/6 + 10⁻⁹": sympy.Rational(1, 3) + sympy.Rational(1, 10**9),
    },
)
def atom_at_one(root: sympy.Expr, examination: Examination) -> Evidence:
    slope = sum(
        sympy.Rational(weight.numerator, weight.denominator)
        * theory.one_parameter_gradient().subs(Z, sympy.Rational(z.numerator, z.denominator))
        for z, weight in ATOM_AT_ONE.atoms.items()
    )
    # One factor of the gradient: it vanishes at the root and nowhere else.
    examination.identity("R_T' = -2T(1-3α)^{2T-1}", slope, -2 * T * (1 - 3 * alpha) ** (2 * T - 1))
    examination.identity("1 - 3α = 0", 1 - 3 * root, sympy.Integer(0))
    return examination.evidence("every T >= 1")


claims = [GRADIENT, F1, TWO, F3, RATE, T62, SHARP, POINT, ATOM, COUNTER]
