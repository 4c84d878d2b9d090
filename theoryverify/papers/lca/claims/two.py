"""Theorem 6.3 (Theorems G.7 and G.10): one stationary point in the window, its limit, and small T."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import sympy

from theoryverify.claims import CERTIFIED, Claim, Context, Evidence, Examination
from theoryverify.claims.statements import Statement as Formal
from theoryverify.claims.statements import at_most, less, within
from theoryverify.exact.densities import Ball
from theoryverify.exact.evaluate import EXACT, compiled
from theoryverify.exact.laws import Discrete, Law
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, ATOMS, MIXED, TWO_POINT, UNIFORM
from theoryverify.papers.lca.pair_integral import defines_integral, in_open, pair_integral
from theoryverify.papers.lca.placed import LARGE_DEPTH, START, Point, start_of
from theoryverify.papers.lca.placed import depth_bound as known_bound
from theoryverify.papers.lca.stated import around, beta_root, pair_mean, profile_step
from theoryverify.papers.lca.theory import a, b
from theoryverify.papers.lca.two import beta_star, interior_sign
from theoryverify.papers.lca.window import MAX_DEPTH, window_cover

T63 = Claim(
    "lca.6.3",
    "Theorem 6.3; Theorems G.7, G.10",
    r"T\ge T'(\beta_0):\ (\alpha_t,\beta_t)\to(\alpha^*_T,\beta^*_T),\qquad "
    r"(\alpha^*_T,\beta^*_T)\to(\alpha^*,-\alpha^*)\ (T\to\infty)",
    title="two parameters: the flow's limit tends to (α*, -α*)",
    hypotheses=(ASSUMPTION_6_1, LARGE_DEPTH),
    depends_on=("lca.G.2", "lca.G.4", "lca.G.6", "lca.G.stationary", "lca.6.2.limit"),
    note="T large is necessary: lca.6.3.small-depth. At T = 1 the statement is void, β being inert.",
)


_EACH_KIND_OF_END: tuple[Law, ...] = (UNIFORM, TWO_POINT, ATOMS, Ball(4, 5), MIXED)


@T63.check(
    "the window holds one stationary point",
    CERTIFIED,
    formula=1,
    controls={"none": 0, "two": 2},
    cases=_EACH_KIND_OF_END,
    at=START,
)
def one_stationary_point(
    stated: int, case: Law | Point, examination: Examination, context: Context
) -> Evidence:
    """A cover of the whole window: sublevel sets of F_T inside it are intervals around one minimum.

    Deeper than a cover can go, the sign of F_T' at the window's end decides (lca.uniqueness).
    """
    law, start = start_of(case)
    if isinstance(case, Point):
        bound = known_bound(law, start)
        examination.lemma(f"T >= T'(β₀) = {bound} at β₀ = {start}", case.depth >= bound)
    depths = context.depths((2, 5, 13) if case is UNIFORM else (5, 8))
    for depth in depths:
        if depth > MAX_DEPTH:
            inside = interior_sign(law, depth)
            found_there = None if inside is None else int(inside == -1)
            seen = (
                "and the sign of F_T'(-2/Z̄) is undecided"
                if inside is None
                else f"found {found_there}, as F_T'(-2/Z̄) has the sign {inside}"
            )
            examination.decide(
                f"T = {depth}: stationary points in (-2/Z̄, 0)",
                None if found_there is None else found_there == stated,
                f"claimed {stated}, {seen}",
            )
            continue
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
    examination.assume("a bounded gradient flow of an analytic function converges (Łojasiewicz)")
    return examination.evidence(f"T in {depths}, every β of the window")


_LIMITS = (2 / (a + b), -2 / (a + b))


@T63.check(
    "limit of the minimum",
    CERTIFIED,
    formula=_LIMITS,
    controls={
        "β → -1/Z̄": (_LIMITS[0], -1 / b),
        "α → 1/(Z̲+Z̄)": (1 / (a + b), _LIMITS[1]),
        "α* + 1%": (_LIMITS[0] * sympy.Rational(101, 100), _LIMITS[1]),
        "β* - 1%": (_LIMITS[0], _LIMITS[1] * sympy.Rational(99, 100)),
    },
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


SMALL = Claim(
    "lca.6.3.small-depth",
    "Theorem 6.3 for small T: a counterexample (ours)",
    r"\mathbb P(Z=2,3,20)=(.5,\,.499999,\,10^{-6}):\ "
    r"F_T\text{ has no stationary point in }(-2/\overline Z,0)\text{ for }T<22",
    title="law {2,3,20}: no stationary point in the window before T = 22",
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


claims = [T63, SMALL]
