"""Theorem 6.3's gradient flow: its limit certified without Łojasiewicz, its orbit computed."""

from __future__ import annotations

from fractions import Fraction

from theoryverify.claims import CERTIFIED, COMPUTED, INCONCLUSIVE, Claim, Evidence, Examination
from theoryverify.claims.statements import less
from theoryverify.exact.balls import Enclosure, ball, precision
from theoryverify.exact.densities import Ball
from theoryverify.exact.laws import Law, TwoPoint
from theoryverify.papers.lca import flow_two
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, ATOMS, UNIFORM
from theoryverify.papers.lca.stated import exactly, profile_loss
from theoryverify.papers.lca.two import beta_star, loss_over, profile

_LAWS: tuple[Law, ...] = (UNIFORM, ATOMS, TwoPoint(2, 5, "1/3"), Ball(4, 5))

BELOW = Claim(
    "lca.6.3.flow",
    "Theorem 6.3; Theorem G.7",
    r"T\ge2,\ \beta_0\in(-2/\overline Z,0),\ "
    r"\ell(\alpha_0,\beta_0)<\min(F_T(-2/\overline Z),F_T(0))\ \Rightarrow\ "
    r"(\alpha_t,\beta_t)\to(\alpha^*_T,\beta^*_T)",
    title="the two-parameter flow from (α*(β₀), β₀) converges to (α*_T, β*_T)",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.uniqueness.flow",),
    note="The start is certified to lie below both ends of the window; uniqueness does the rest.",
)


@BELOW.check(
    "the start lies below both ends",
    CERTIFIED,
    formula=Fraction(1),
    controls={"a hundredth of the barrier": Fraction(1, 100), "level 0": Fraction(0)},
    cases=_LAWS,
    mutate=False,
)
def start_below_ends(share: Fraction, case: Law, examination: Examination) -> Evidence:
    """From β_0 = -1/Z̄, α_0 = α*(β_0): ``ℓ = F_T(β_0) < share·min(F_T(-2/Z̄), F_T(0))``."""
    depths = (5, 20, 100)
    for depth in depths:
        start = profile(case, -1 / case.upper, depth, 15).loss
        with precision(160 + 4 * depth):
            left = profile(case, -2 / case.upper, depth, 15).loss.ball()
            barrier = Enclosure.of(left.min(loss_over(case, ball(0), depth)) * ball(share))
        here, *ends = (
            profile_loss(case, depth, t) for t in (-1 / case.upper, -2 / case.upper, Fraction(0))
        )
        examination.less(
            f"F_T(β₀) < barrier at T = {depth}",
            start,
            barrier,
            by=[less(here, exactly(share) * end) for end in ends],
        )
    return examination.evidence(f"β₀ = -1/Z̄, T in {depths}")


ORBIT = Claim(
    "lca.6.3.orbit",
    "Theorem 6.3, followed numerically",
    r"(\alpha_t,\beta_t)\text{ from }(\alpha^*(\beta_0),\beta_0),\ \beta_0=-1/\overline Z,"
    r"\text{ ends at }(\alpha^*_T,\beta^*_T):\quad Z\sim U[2,5],\ T=50;\ "
    r"Z\in\{2,5\},\ \mathbb P(Z=2)=\tfrac13,\ T=2,1000",
    title="the integrated two-parameter flow ends at the enclosure",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.6.3.flow",),
)


@ORBIT.check(
    "Radau in valley coordinates",
    COMPUTED,
    formula="here",
    controls={"the end of one layer more": "deeper", "the one-parameter limit": "tied"},
    cases=(UNIFORM, TwoPoint(2, 5, "1/3")),
    mutate=False,
)
def follow(which: str, case: Law, examination: Examination) -> Evidence:
    try:
        import scipy  # noqa: F401
    except ImportError:
        return Evidence(INCONCLUSIVE, "", 'needs SciPy: pip install "theoryverify[simulate]"')
    depths = (50,) if case is UNIFORM else (2, 1000)
    for depth in depths:
        flow = flow_two.gradient_flow(case, depth, -1 / case.upper)
        assert flow.end is not None
        limit = flow.limit if which == "here" else beta_star(case, depth + 1, 12)
        targets = float(limit.alpha), float(limit.beta)
        if which == "tied":
            step = float(alpha_star(case, depth, 12).enclosure)
            targets = step, -step
        error = max(abs(x / y - 1) for x, y in zip(flow.end, targets, strict=True))
        examination.decide(
            f"T = {depth}: relative distance of the end", error <= 1e-9, f"{error:.2g}"
        )
    return examination.evidence(f"β₀ = -1/Z̄, T in {depths}, to nine digits")


claims = [BELOW, ORBIT]
