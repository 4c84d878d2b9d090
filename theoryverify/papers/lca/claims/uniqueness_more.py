"""What follows from uniqueness (corollaries 1 to 6), what it needs, and what is open."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

import sympy
from flint import fmpq_poly

from theoryverify.claims import CERTIFIED, PROVED, Claim, Evidence, Examination
from theoryverify.claims.statements import Value, at_most, expression_of, less, roots, same
from theoryverify.exact.balls import Enclosure
from theoryverify.exact.facts import Argument, Theorem, nonnegative, positive
from theoryverify.exact.identities import decide_identity
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Discrete, Law, TwoPoint
from theoryverify.exact.rationals import rational, to_fmpq
from theoryverify.exact.roots import algebraic_root, evaluate
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.claims.positivity import PLACE, show
from theoryverify.papers.lca.claims.uniqueness import CALCULUS, EXACT_LAWS, Statement
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, ATOMS, POINT_MASS
from theoryverify.papers.lca.pair_integral import (
    PairMeans,
    defines_integral,
    in_open,
    open_count,
    pair_integral,
    pair_means,
    root_bound,
)
from theoryverify.papers.lca.theory import T, a, alpha, b
from theoryverify.papers.lca.uniqueness import t, x, y
from theoryverify.papers.lca.uniqueness_cases import both_negative, case_e_beyond
from theoryverify.papers.lca.uniqueness_lemmas import n, powers

# -- corollary 1: the loss ----------------------------------------------------------------------

LOSS = Claim(
    "lca.uniqueness.loss",
    f"{PLACE}, corollary 1",
    r"\ell(\alpha,\beta)=A(\beta)(\alpha-\alpha^*(\beta))^2+F_T(\beta),\quad "
    r"\det\nabla^2\ell=2A\,F_T''\text{ where }\alpha=\alpha^*(\beta)",
    title="critical points of ℓ are those of F_T; det Hess = 2A F_T''",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.uniqueness",),
    note="So ℓ has at most one critical point in the strip -2/Z̄ < β < 0, a minimum with a positive "
    "definite Hessian; for even T it has two on the whole plane.",
)

_mean = sympy.Symbol("EW")
_A, _B, _A1, _B1, _A2, _B2 = sympy.symbols("A B A1 B1 A2 B2")
_F = _mean - _B**2 / _A


def _along(expression: sympy.Expr) -> sympy.Expr:
    """``d/dβ`` where A, B and their derivatives are symbols."""
    pairs = ((_A, _A1), (_B, _B1), (_A1, _A2), (_B1, _B2))
    return sum((sympy.diff(expression, u) * du for u, du in pairs), sympy.Integer(0))


_LOSS = (_A * (alpha - _B / _A) ** 2 + _F, 2 * _A * _along(_along(_F)))


@LOSS.check(
    "completing the square",
    PROVED,
    formula=_LOSS,
    controls={
        "α - A/B": (_A * (alpha - _A / _B) ** 2 + _F, _LOSS[1]),
        "det = A F''": (_LOSS[0], _LOSS[1] / 2),
        "det = 2A F'": (_LOSS[0], 2 * _A * _along(_F)),
    },
)
def completing_the_square(
    formula: tuple[sympy.Expr, sympy.Expr], examination: Examination
) -> Evidence:
    square, determinant = formula
    loss = _A * alpha**2 - 2 * _B * alpha + _mean
    best = {alpha: _B / _A}
    examination.identity("ℓ", loss, square)
    examination.lemma("∂ℓ/∂β = F' at α = B/A", decide_identity(_along(loss).subs(best), _along(_F)))
    across = sympy.diff(loss, alpha)
    hessian = sympy.diff(across, alpha) * _along(_along(loss)) - _along(across) ** 2
    examination.identity("det of the Hessian at α = B/A", hessian.subs(best), determinant)
    return examination.evidence("every T, β, law with A > 0")


# -- corollaries 2 and 3: the flow --------------------------------------------------------------

FLOW = Claim(
    "lca.uniqueness.flow",
    f"{PLACE}, corollaries 2 and 3",
    r"T\ge2,\ \beta_0\in(-2/\overline Z,0),\ \ell(\alpha_0,\beta_0)<\min(F_T(-2/\overline Z),"
    r"F_T(0)):\ (\alpha_t,\beta_t)\to(\alpha^*_T,\beta^*_T),\text{ which depends on neither }"
    r"\alpha_0\text{ nor }\beta_0;\ T\text{ even: }\ell(\alpha_0,\beta_0)<F_T(\infty)\text{ suffices}",
    title="the flow converges to the one minimum, wherever it starts low enough",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.loss", "lca.uniqueness.loss", "lca.uniqueness.even"),
    note="No Łojasiewicz inequality and no lower bound on T but 2. F_T(β_t) <= ℓ <= ℓ(α₀,β₀), so "
    "β_t cannot cross the ends of the window; α_t is bounded by |α-α*|² <= ℓ/A; the only critical "
    "point there has a positive definite Hessian, so the rate is exponential in the end. For even T "
    "no level below F_T(∞) reaches β = ±∞, and only β*_T is critical below it.",
)

_da, _db = sympy.symbols("l_alpha l_beta", real=True)
_FLOW = (_A * (alpha - _B / _A) ** 2, -(_da**2) - _db**2)


@FLOW.check(
    "energy",
    PROVED,
    formula=_FLOW,
    controls={
        "ℓ - F = A(α-α*)": (_A * (alpha - _B / _A), _FLOW[1]),
        "ℓ - F with -A": (-_FLOW[0], _FLOW[1]),
        "without ∂ℓ/∂β": (_FLOW[0], -(_da**2)),
        "ascent": (_FLOW[0], _da**2 + _db**2),
    },
)
def energy(formula: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    gap, rate = formula
    loss = _A * alpha**2 - 2 * _B * alpha + _mean
    examination.identity("ℓ - F_T: a square times A, so F_T <= ℓ", loss - _F, gap)
    # α' = -ℓ_α, β' = -ℓ_β.
    examination.identity("dℓ/ds along the flow: minus two squares", _da * -_da + _db * -_db, rate)
    u = sympy.Symbol("u")
    examination.lemma(
        "A = E[W]E[w²]/t²: S² = w²/t²",
        decide_identity(theory.S().subs(theory.beta, -t).subs((1 - t * Z) ** T, u) ** 2,
                        (1 - u) ** 2 / t**2),
    )  # fmt: skip
    examination.assume(
        "a bounded trajectory of a gradient flow of a C² function comes arbitrarily close to its "
        "critical points and to nothing else (LaSalle)"
    )
    return examination.evidence("every T >= 2, every law that meets Assumption 6.1")


_UPPER_RARE = Discrete({2: "1/2", 3: "499/1000", 8: "1/1000"})
_FLOW_LAWS = (ATOMS, TwoPoint("3/2", 4, "9/10"), Discrete({2: "1/10", 6: "9/10"}), _UPPER_RARE)

Ends = tuple[sympy.Expr, ...]
"""Points of t at which F_T must exceed the starting loss; ``oo`` is infinity."""


@FLOW.check(
    "low levels are intervals inside the window",
    CERTIFIED,
    formula=(sympy.Integer(0), 2 / b),
    controls={
        "F_T(0) alone": (sympy.Integer(0),),
        "F_T(-2/Z̄) alone": (2 / b,),
        "F_T(0) and F_T(-3/Z̄)": (sympy.Integer(0), 3 / b),
    },
    cases=_FLOW_LAWS,
)
def low_levels(ends: Ends, case: Law, examination: Examination) -> Evidence:
    """For starts ``α₀ = α*(β₀)``: where the condition is met, ``{F_T <= ℓ₀}`` in ``[0, 2/Z̄]`` is
    one interval around the start that meets neither end; in exact rationals, by Sturm."""
    window = 2 / case.upper
    met, depths = 0, (2, 3, 4, 7, 12)
    for depth in depths:
        for start, excess in _low_starts(case, depth, ends):
            met += 1
            crossings = open_count(excess, Fraction(0), window)
            low_ends = evaluate(excess, Fraction(0)) < 0 and evaluate(excess, window) < 0
            examination.decide(
                f"T = {depth}, β₀ = -{start}",
                low_ends and crossings <= 2,
                f"{crossings} points of the level inside, both ends outside: {low_ends}",
                by=[
                    in_open(excess, Fraction(0), window, crossings),
                    less(Value(excess, 0), 0),
                    less(Value(excess, window), 0),
                ],
            )
    return examination.evidence(f"{met} starts (T, β₀) that meet the condition, T in {depths}")


@FLOW.check(
    "even T: low levels are bounded intervals of the line",
    CERTIFIED,
    formula=(sympy.oo,),
    controls={"F_T(-2/Z̄)": (2 / b,), "F_T(-3/Z̄)": (3 / b,), "no condition": ()},
    cases=_FLOW_LAWS,
    mutate=False,
)
def even_low_levels(ends: Ends, case: Law, examination: Examination) -> Evidence:
    """As before on the whole line, where ``{F_T <= ℓ₀}`` must not reach ``β = ±∞``."""
    met, depths = 0, (2, 4, 12)
    for depth in depths:
        for start, excess in _low_starts(case, depth, ends):
            met += 1
            # Its degree 2T-2 is even: both far ends have the sign of the leading coefficient.
            bounded, reach = excess[excess.degree()] < 0, root_bound(excess)
            crossings = open_count(excess, -reach, reach)
            examination.decide(
                f"T = {depth}, β₀ = -{start}",
                bounded and crossings <= 2,
                f"{crossings} points of the level on the line, bounded: {bounded}",
                by=[
                    roots(excess, None, None, crossings),
                    less(rational(excess[excess.degree()]), 0),
                ],
            )
    return examination.evidence(f"{met} starts (T, β₀) that meet the condition, T in {depths}")


def _low_starts(case: Law, depth: int, ends: Ends) -> Iterator[tuple[Fraction, fmpq_poly]]:
    """Starts ``t₀ = -β₀`` at which ``F_T`` is below all ends, and ``ℓ₀ - F_T`` but for a positive
    factor: ``E[w]² - level E[w²]`` over t²."""
    means, square = pair_means(case, depth), fmpq_poly([0, 0, 1])
    bounds = [_explained(means, _place(end, case)) for end in ends]
    for share in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
        start = share * 2 / case.upper
        level = _explained(means, start)
        if all(bound < level for bound in bounds):  # F = E[W] - explained
            yield start, (means.w**2 - fmpq_poly([to_fmpq(level)]) * means.w_squared) // square


def _place(end: sympy.Expr, case: Law) -> Fraction | None:
    """The point of t, ``None`` for infinity."""
    at = {b: sympy.Rational(case.upper.numerator, case.upper.denominator)}
    return None if end is sympy.oo else rational(end.subs(at))


def _explained(means: PairMeans, at: Fraction | None) -> Fraction:
    """``E[W] - F_T = E[w]²/E[w²]`` at ``t``, also at ``t = 0`` (a factor t² divided out), and at
    infinity (``None``)."""
    square = fmpq_poly([0, 0, 1])
    top, bottom = means.w**2 // square, means.w_squared // square
    if at is None:
        return rational(top[top.degree()]) / rational(bottom[bottom.degree()])
    return evaluate(top, at) / evaluate(bottom, at)


# -- corollary 4: bisection ---------------------------------------------------------------------

BISECTION = Claim(
    "lca.uniqueness.bisection",
    f"{PLACE}, corollary 4",
    r"\text{bisection of }I\text{ on }[1/\overline Z,\min(1/\underline Z,2/\overline Z)]\text{ "
    r"finds the only stationary point of }F_T\text{ in the window, or shows that there is none}",
    title="bisection on [1/Z̄, min(1/Z̲, 2/Z̄)] is globally correct",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.uniqueness",),
)

_BISECTION = Statement()


@BISECTION.check(
    "against Sturm's theorem",
    CERTIFIED,
    formula=_BISECTION,
    controls={
        "from 2/(Z̲+Z̄)": Statement(lower=2 / (a + b)),
        "to 2/(Z̲+Z̄)": Statement(upper=2 / (a + b)),
        "to 3/Z̄": Statement(window=3 / b, upper=3 / b),
    },
    cases=EXACT_LAWS,
)
def bisection(statement: Statement, case: Law, examination: Examination) -> Evidence:
    """It needs a positive sign at the lower end; a negative one at the upper end means a root."""
    low, high, window = statement.at(case)
    end = min(high, window)
    for depth in range(2, 10):
        integral = pair_integral(case, depth).integral
        signs = evaluate(integral, low) > 0, evaluate(integral, end) < 0
        count = open_count(integral, Fraction(0), 2 / case.upper)
        counted = in_open(integral, Fraction(0), 2 / case.upper, count)
        examination.decide(
            f"T = {depth}: I > 0 at {low}",
            signs[0],
            by=[less(0, Value(integral, low)), defines_integral(case, depth, integral)],
        )
        examination.decide(
            f"T = {depth}: I < 0 at {end} iff there is a root in the window",
            signs[1] == (count == 1), f"{count} roots by Sturm",
            by=[counted, less(Value(integral, end), 0) if count == 1
                else at_most(0, Value(integral, end))],
        )  # fmt: skip
        if signs == (True, True) and count == 1:
            found = _bisect(integral, low, end)
            exact = algebraic_root(integral, Fraction(0), 2 / case.upper).enclosure(12)
            examination.decide(
                f"T = {depth}: bisection's root is the one",
                exact.overlaps(found),
                f"{found}",
                by=[counted, roots(integral, found.lower, found.upper, 1)],
            )
    return examination.evidence("T = 2..9, exact rational arithmetic")


def _bisect(polynomial: fmpq_poly, low: Fraction, high: Fraction) -> Enclosure:
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if evaluate(polynomial, middle) > 0 else (low, middle)
    return Enclosure(Enclosure.exactly(low).ball().lower(), Enclosure.exactly(high).ball().upper())


# -- corollary 6: a wider window for odd T ------------------------------------------------------

ODD = Claim(
    "lca.uniqueness.odd-window",
    f"{PLACE}, corollary 6",
    r"T\ge3\text{ odd},\ \xi_T\ge1\text{ the positive root of }\xi^T(\xi+2)=(T-1)\xi+T-2:\ "
    r"F_T\text{ has at most one stationary point in }(-(1+\xi_T)/\overline Z,0)",
    title="odd T: uniqueness on (-(1+ξ_T)/Z̄, 0)",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.uniqueness",),
    note="Where f < 0, 1/|R(-ξ)| falls in ξ, so the lemma's cases (d) and (e) hold up to ξ_T. For "
    "odd T, w = 1-x^T > 0 for every t > 0.",
)

_xi = sympy.Symbol("xi", real=True)
_ROOT = _xi**T * (_xi + 2) - (T - 1) * _xi - (T - 2)


@lru_cache
def _negative_before_root() -> Theorem:
    """``0 < y < x``, ``f(x) <= 0``, ``n >= 3``: ``f(y) < 0``, f the equation with T = n."""

    def f(s: sympy.Expr) -> sympy.Expr:
        return s**n * (s + 2) - (n - 1) * s - (n - 2)

    argument = Argument(positive(y), positive(x - y), nonnegative(n - 3), nonnegative(-f(x)))
    low, gap, bound, end = argument.given
    high = argument.fact(x, lambda low, g: low + g, low, gap)
    less = argument.use(
        powers(), {n: n - 1}, low, gap, argument.fact(n - 2, lambda k: k + 1, bound)
    )
    # -f(y) = (1-y/x)(n-2) + (y/x)(-f(x)) + y(x^{n-1}(x+2) - y^{n-1}(y+2))
    fact = argument.fact(
        -f(y),
        lambda low, g, k, e, p, q, x: (
            g / x * (k + 1) + low / x * e + low * (p * (2 + low) + (p + q) * g)
        ),
        low, gap, bound, end, less, argument.power(low, n - 1), high,
    )  # fmt: skip
    return argument.conclude("f < 0 before its root", fact)


@ODD.check(
    "the root ξ_T",
    PROVED,
    formula=_ROOT,
    controls={
        "ξ+1 for ξ+2": _xi**T * (_xi + 1) - (T - 1) * _xi - (T - 2),
        "T for T-1": _xi**T * (_xi + 2) - T * _xi - (T - 2),
        "T-1 for T-2": _xi**T * (_xi + 2) - (T - 1) * _xi - (T - 1),
    },
)
def odd_root(root: sympy.Expr, examination: Examination) -> Evidence:
    reciprocal = (1 + _xi**T) / ((1 + _xi) * _xi ** (T - 2))  # 1/|R(-ξ)| for odd T
    examination.identity(
        "d/dξ of 1/|R(-ξ)|", sympy.diff(reciprocal, _xi), root / (_xi ** (T - 1) * (1 + _xi) ** 2)
    )
    examination.identity("f(1) = 6-2T <= 0, so ξ_T >= 1", root.subs(_xi, 1), 6 - 2 * T)
    before = _negative_before_root()
    show(examination, before)
    examination.identity(
        "f is the function of the lemma", -root.subs({T: n, _xi: y}, simultaneous=True),
        before.expression,
    )  # fmt: skip
    for theorem in (both_negative(), case_e_beyond()):
        show(examination, theorem)
    examination.assume(CALCULUS)
    return examination.evidence("every odd T >= 3, every law that meets Assumption 6.1")


_WIDE = {3: "1", 5: "1.19481", 7: "1.21102", 9: "1.20073", 21: "1.13111", 51: "1.07121"}


@ODD.check(
    "Sturm's theorem",
    CERTIFIED,
    formula=_ROOT,
    controls={
        "twice T-1": _ROOT - (T - 1) * _xi,
        "ξ^{T-2} for ξ^T": _xi ** (T - 2) * (_xi + 2) - (T - 1) * _xi - (T - 2),
    },
    cases=EXACT_LAWS,
    mutate=False,
)
def odd_sturm(root: sympy.Expr, case: Law, examination: Examination) -> Evidence:
    for depth, digits in _WIDE.items():
        coefficients = sympy.Poly(root.subs(T, depth), _xi).all_coeffs()[::-1]
        polynomial = fmpq_poly([to_fmpq(rational(c)) for c in coefficients])
        count = open_count(polynomial, Fraction(0), Fraction(2))
        if not examination.decide(
            f"T = {depth}: one root in (0, 2)",
            count == 1,
            f"{count}",
            by=roots(polynomial, 0, 2, 1),
        ):
            break
        xi = algebraic_root(polynomial, Fraction(0), Fraction(2)).enclosure(12)
        near = abs((xi.lower + xi.upper) / 2 - rational(digits)) < Fraction(1, 10**5)
        margin = Fraction(1, 10**5)
        examination.decide(
            f"ξ_{depth} = {digits}...", near, f"{xi}",
            by=roots(polynomial, rational(digits) - margin, rational(digits) + margin, 1),
        )  # fmt: skip
        if depth <= 9:
            integral = pair_integral(case, depth).integral
            wide = (1 + xi.lower) / case.upper
            found = open_count(integral, Fraction(0), wide)
            examination.decide(
                f"T = {depth}: roots of I below {float(wide):.6g}",
                found <= 1,
                by=[
                    in_open(integral, Fraction(0), wide, found),
                    defines_integral(case, depth, integral),
                ],
            )
    return examination.evidence(f"ξ_T for T in {tuple(_WIDE)}; roots for T in (3, 5, 7, 9)")


# -- what the hypotheses are for ----------------------------------------------------------------

DEPTH_ONE = Claim(
    "lca.uniqueness.depth-one",
    f"{PLACE}: why T >= 2 (a counterexample at T = 1)",
    r"T=1:\ F_1(\beta)=\mathbb E[W](1-\mathbb E_\mu[Z]^2/\mathbb E_\mu[Z^2])\text{ for every }\beta",
    title="T = 1: F_1 is constant, every β is stationary",
)


def _variation(depth: int) -> sympy.Expr:
    """``E[w]² m₂ - E[w²] m₁²``, whose vanishing makes F_T constant; in moments ``m_k``."""
    z = sympy.Symbol("z")
    w = sympy.expand(1 - (1 - t * z) ** depth)

    def mean(expression: sympy.Expr) -> sympy.Expr:
        terms = sympy.Poly(expression, z).terms()
        return sum((c * sympy.Symbol(f"m{k}") for (k,), c in terms), sympy.Integer(0))

    return mean(w) ** 2 * sympy.Symbol("m2") - mean(w**2) * sympy.Symbol("m1") ** 2


@DEPTH_ONE.check("in moments", PROVED, formula=1, controls={"T = 2": 2, "T = 3": 3})
def depth_one(depth: int, examination: Examination) -> Evidence:
    examination.identity("E[w]² m₂ = E[w²] m₁²", _variation(depth), sympy.Integer(0))
    return examination.evidence("every law, every β ≠ 0")


POINT = Claim(
    "lca.uniqueness.point-mass",
    f"{PLACE}: why Z must not be constant (a counterexample)",
    r"\underline Z=\overline Z:\ F_T(\beta)=0\text{ wherever }(1+\beta Z)^T\ne1",
    title="a point mass: F_T vanishes identically",
)


@POINT.check(
    "exact polynomials",
    CERTIFIED,
    formula=POINT_MASS,
    controls={"two atoms": TwoPoint(2, 5), "two close atoms": TwoPoint(2, "2.001")},
)
def point_mass(law: Law, examination: Examination) -> Evidence:
    for depth in (2, 3, 6):
        means, mass = pair_means(law, depth), _share(law)
        examination.decide(
            f"T = {depth}: E[W]E[w²] = E[w]²",
            bool(fmpq_poly([to_fmpq(mass)]) * means.w_squared == means.w**2),
            "as polynomials in t",
            by=same(
                expression_of(fmpq_poly([to_fmpq(mass)]) * means.w_squared),
                expression_of(means.w**2),
            ),
        )
        integral = pair_integral(law, depth).integral
        examination.decide(
            f"T = {depth}: I = 0", integral.degree() < 0, by=defines_integral(law, depth, integral)
        )
    return examination.evidence("T in (2, 3, 6), Z = 2")


def _share(law: Law) -> Fraction:
    """``E[W] = E[(Z-1)/Z]`` of a discrete law."""
    assert isinstance(law, Discrete)
    return sum((weight * (point - 1) / point for point, weight in law.atoms.items()), Fraction(0))


ODD_LINE = Claim(
    "lca.uniqueness.odd-line",
    f"{PLACE}, open",
    r"T\text{ odd}:\ F_T\text{ has exactly one minimum and one maximum on }\beta<0",
    title="odd T: the whole line",
    not_checked="open: Q takes both signs far to the left for odd T. In every law that was looked "
    "at I changes sign twice on (0,∞), + - +; nobody has proved it",
)

claims = [LOSS, FLOW, BISECTION, ODD, DEPTH_ONE, POINT, ODD_LINE]
