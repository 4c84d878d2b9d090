"""Theorem 6.3 (Theorems G.7 and G.10): one stationary point in the window, its limit, and small T."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import sympy

from theoryverify.claims import CERTIFIED, PROVED, Claim, Evidence, Examination
from theoryverify.claims.statements import Statement as Formal
from theoryverify.claims.statements import at_most, less, within
from theoryverify.exact.densities import Ball
from theoryverify.exact.evaluate import EXACT, compiled
from theoryverify.exact.laws import Discrete, Law
from theoryverify.papers.lca.claims.two_profile import BEST_STEP, Q_T, m_T
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, ATOMS, MIXED, TWO_POINT, UNIFORM
from theoryverify.papers.lca.pair_integral import defines_integral, in_open, pair_integral
from theoryverify.papers.lca.placed import LARGE_DEPTH, START, Point
from theoryverify.papers.lca.stated import around, beta_root, pair_mean, profile_step
from theoryverify.papers.lca.theory import a, b, beta
from theoryverify.papers.lca.two import beta_star, interior_sign
from theoryverify.papers.lca.window import MAX_DEPTH, window_cover

G10 = Claim(
    "lca.G.10",
    "Theorem G.10, the limit",
    r"\text{from some }T\text{ on }F_T\text{ has a stationary point }\beta^*_T\text{ in }"
    r"(-2/\overline Z,0);\ \alpha^*_T=\alpha^*(\beta^*_T):\ "
    r"(\alpha^*_T,\beta^*_T)\to(\alpha^*,-\alpha^*)\quad(T\to\infty)",
    title="(α*_T, β*_T) → (α*, -α*)",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.G.8", "lca.G.profile", "lca.uniqueness"),
    note="Without uniform convergence: signs of F_T' at two points, and lca.uniqueness.",
)

_LIMITS = (2 / (a + b), -2 / (a + b))
_WRONG_LIMITS = {
    "β → -1/Z̄": (_LIMITS[0], -1 / b),
    "α → 1/(Z̲+Z̄)": (1 / (a + b), _LIMITS[1]),
    "α* + 1%": (_LIMITS[0] * sympy.Rational(101, 100), _LIMITS[1]),
    "β* - 1%": (_LIMITS[0], _LIMITS[1] * sympy.Rational(99, 100)),
}


@G10.check("signs on both sides", PROVED, formula=_LIMITS, controls=_WRONG_LIMITS, mutate=False)
def signs_on_both_sides(
    formula: tuple[sympy.Expr, sympy.Expr], examination: Examination
) -> Evidence:
    """``G_T'`` tends to ``z*/(1+βz*)`` (lca.G.8): negative left of ``-α*``, where ``z* = Z̄``, positive
    right of it, where ``z* = Z̲``. So for large T the one stationary point is within ε of ``-α*``.
    """
    step, place = formula
    ratio = (b - a) / (a + b)
    examination.identity("1+βZ̲ = r > 0 at the limit", 1 + place * a, ratio)
    examination.identity("1+βZ̄ = -r < 0 at the limit", 1 + place * b, -ratio)
    examination.identity(
        "|1+βZ̲| > |1+βZ̄| right of the limit, and < left of it",
        (1 + beta * a) + (1 + beta * b),
        (a + b) * (beta - place),
    )
    # |u| <= φ^T and φ is near r < 1 there, so m and Q tend to 0 at β*_T.
    gain = BEST_STEP.subs({m_T: 0, Q_T: 0, beta: place})
    examination.identity("α*(β) at the limit, where m = Q = 0", gain, step)
    return examination.evidence("every law that meets Assumption 6.1, T → ∞")


_EACH_KIND_OF_END: tuple[Law, ...] = (UNIFORM, TWO_POINT, ATOMS, Ball(4, 5), MIXED)


@G10.check(
    "limit of the minimum",
    CERTIFIED,
    formula=_LIMITS,
    controls=_WRONG_LIMITS,
    cases=_EACH_KIND_OF_END,
    mutate=False,
)
def limit_of_minimum(
    formula: tuple[sympy.Expr, sympy.Expr], case: Law, examination: Examination
) -> Evidence:
    """``T |α*_T - α*|/log(4T)`` stays below a constant at T = 100 and 1500; the controls exceed it."""
    depths = (100, 1500)
    values = {"a": case.lower, "b": case.upper}
    limits = [compiled(part, EXACT)(values, False) for part in formula]
    for depth in depths:
        found = beta_star(case, depth, 15)
        allowed = (
            Fraction(2 * (3 * depth).bit_length(), depth)
            * (case.upper - case.lower)
            / (case.upper + case.lower) ** 2
        )
        place = sympy.Symbol("b_t", negative=True)
        numbers = (profile_step(case, depth, place), place)
        for name, value, limit, number in zip(
            ("α*_T", "β*_T"), (found.alpha, found.beta), limits, numbers, strict=True
        ):
            gap = max(abs(value.lower - limit), abs(value.upper - limit))
            nearest = min(abs(value.lower - limit), abs(value.upper - limit))
            verdict = True if gap <= allowed else (False if nearest > allowed else None)
            examination.decide(
                f"|{name} - limit| at T = {depth}",
                verdict,
                f"{float(gap):.3g} <= {float(allowed):.3g}",
                by=[
                    *beta_root(case, depth, around(found.beta, 7)),
                    within(number, (limit - allowed, limit + allowed), b_t=around(found.beta, 7)),
                ],
            )
    return examination.evidence(f"T in {depths}")


T63 = Claim(
    "lca.6.3",
    "Theorem 6.3; Theorems G.7, G.10",
    r"\beta_0\in(-2/\overline Z,0),\ \alpha_0=\alpha^*(\beta_0),\ T\ge T'(\beta_0):\ "
    r"(\alpha_t,\beta_t)\to(\alpha^*_T,\beta^*_T)\ (t\to\infty),\qquad "
    r"(\alpha^*_T,\beta^*_T)\to(\alpha^*,-\alpha^*)\ (T\to\infty)",
    title="two parameters: the flow's limit tends to (α*, -α*)",
    hypotheses=(ASSUMPTION_6_1, LARGE_DEPTH),
    depends_on=(
        "lca.G.2",
        "lca.G.4",
        "lca.G.6",
        "lca.G.stationary",
        "lca.G.10",
        "lca.uniqueness",
        "lca.6.2.limit",
    ),
    note="T large is necessary: lca.6.3.small-depth. At T = 1 the statement is void, β being inert. "
    "What the window holds at depths below T'(β₀) is the claim lca.uniqueness.",
)


@T63.check(
    "the window holds one stationary point",
    CERTIFIED,
    formula=1,
    controls={"none": 0, "two": 2},
    cases=(
        Point(UNIFORM, 17),
        Point(UNIFORM, 300),
        Point(TWO_POINT, 18),
        Point(ATOMS, 14),
        Point(Ball(4, 3), 12, Fraction(-1, 2)),
        Point(MIXED, 16),
    ),
    at=START,
)
def one_stationary_point(stated: int, case: Point, examination: Examination) -> Evidence:
    """A cover of the whole window: sublevel sets of F_T inside it are intervals around one minimum.

    Deeper than a cover can go, the sign of F_T' at the window's end decides (lca.uniqueness).
    """
    count = _counted_by_cover if case.depth <= MAX_DEPTH else _counted_at_the_end
    scope = count(stated, case.law, case.depth, examination)
    examination.assume("a bounded gradient flow of an analytic function converges (Łojasiewicz)")
    return examination.evidence(scope)


def _counted_by_cover(stated: int, law: Law, depth: int, examination: Examination) -> str:
    cover = window_cover(law, depth)
    examination.decide(
        f"T = {depth}: stationary points in (-2/Z̄, 0)",
        len(cover.cells) == stated,
        cover.against(stated),
        by=partial(_stationary_points, law, depth, stated),
    )
    found = beta_star(law, depth, 12).beta
    low, high = cover.cells[0] if cover.cells else (Fraction(0), Fraction(0))
    examination.lemma(
        f"T = {depth}: β*_T lies in the cover's cell",
        low <= -found.upper and -found.lower <= high,
        f"{found}",
        by=beta_root(law, depth, around(found, 8)),
    )
    return "every β of the window"


def _counted_at_the_end(stated: int, law: Law, depth: int, examination: Examination) -> str:
    inside = interior_sign(law, depth)
    found = None if inside is None else int(inside == -1)
    end = pair_mean(law, depth, 2 / law.upper)
    examination.decide(
        f"T = {depth}: stationary points in (-2/Z̄, 0)",
        None if found is None else found == stated,
        f"claimed {stated}, and the sign of F_T'(-2/Z̄) is undecided"
        if found is None
        else f"claimed {stated}, found {found}, as F_T'(-2/Z̄) has the sign {inside}",
        by=less(end, 0) if found else at_most(0, end),
    )
    return f"T = {depth}: the window's end, and lca.uniqueness"


SMALL = Claim(
    "lca.6.3.small-depth",
    "Theorem 6.3 for small T: a counterexample (ours)",
    r"\mathbb P(Z=2,3,20)=(.5,\,.499999,\,10^{-6}):\ "
    r"F_T\text{ has no stationary point in }(-2/\overline Z,0)\text{ for }2\le T<22",
    title="law {2,3,20}: no stationary point in the window from T = 2 to 21",
    depends_on=("lca.G.stationary",),
    note="T'(β₀) is not uniform over laws with given ends of the support.",
)


def _stationary_points(law: Law, depth: int, count: int) -> list[Formal]:
    """By Sturm's theorem, where the law has rational moments."""
    integral = pair_integral(law, depth).integral
    return [
        in_open(integral, Fraction(0), 2 / law.upper, count),
        defines_integral(law, depth, integral),
    ]


_RARE = Discrete({2: "0.5", 3: "0.499999", 20: "0.000001"})


@SMALL.check(
    "first depth with an interior point",
    CERTIFIED,
    formula=22,
    controls={"21": 21, "23": 23, "2": 2},
)
def first_interior_depth(stated: int, examination: Examination) -> Evidence:
    for depth in range(2, 31):
        cover = window_cover(_RARE, depth)
        inside = 1 if depth >= stated else 0
        examination.decide(
            f"T = {depth}: stationary points in (-2/Z̄, 0)",
            len(cover.cells) == inside,
            cover.against(inside),
            by=partial(_stationary_points, _RARE, depth, inside),
        )
        examination.lemma(
            f"T = {depth}: the sign at the window's end agrees",
            (interior_sign(_RARE, depth) == -1) == (len(cover.cells) == 1),
            by=less(pair_mean(_RARE, depth, 2 / _RARE.upper), 0)
            if inside
            else at_most(0, pair_mean(_RARE, depth, 2 / _RARE.upper)),
        )
    return examination.evidence("T from 2 to 30, every β of the window")


claims = [G10, T63, SMALL]
