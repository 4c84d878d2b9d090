"""Section 6 and Lemma F.1, one parameter: R_T, its minimiser α*_T, and α*_T for two atoms (ours)."""

from __future__ import annotations

from fractions import Fraction

import sympy

from theoryverify.claims import CERTIFIED, PROVED, Claim, Context, Evidence, Examination
from theoryverify.claims.statements import Evaluated, agree, less, mean, roots
from theoryverify.claims.statements import Statement as Formal
from theoryverify.exact.balls import Enclosure, ball, bits_for, precision
from theoryverify.exact.densities import ScaledBeta
from theoryverify.exact.evaluate import BALL, compiled
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Law, TwoPoint
from theoryverify.exact.rationals import decimal
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.alpha_star import algebraic_alpha_star, alpha_star
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, ATOMS, LAWS, UNIFORM
from theoryverify.papers.lca.loss import excess_loss
from theoryverify.papers.lca.placed import LAW, LIMIT, MOMENTS_DEPTH, TWO_ATOMS
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
    r"\mathbb P(Z=a)=p=1-\mathbb P(Z=b),\ 1<a<b,\ 0<p<1:\quad "
    r"\alpha^*_T=\frac{1+\kappa}{b+\kappa a},\quad \kappa=\Big[\frac{p(a-1)}{(1-p)(b-1)}\Big]^{1/(2T-1)}",
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
    return examination.evidence("every T, 1 < a < b, 0 < p < 1")


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


claims = [GRADIENT, F1, TWO]
