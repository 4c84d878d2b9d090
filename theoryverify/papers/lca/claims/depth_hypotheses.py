"""Where the hypotheses of Theorem F.3 bite: laws that break Assumption 6.1."""

from __future__ import annotations

import sympy

from theoryverify.claims import CERTIFIED, OUTSIDE, PROVED, Claim, Evidence, Examination
from theoryverify.exact.integrands import Z
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.claims.depth import ALPHA_LIMIT, WRONG_ALPHA_LIMITS, bracket
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, ATOM_AT_ONE, POINT_MASS
from theoryverify.papers.lca.theory import T, alpha

POINT = Claim(
    "lca.F.3.point-mass",
    "Theorem F.3 asked at a law that breaks Assumption 6.1",
    r"\mathbb P(Z=2)=1",
    title="at a point mass Theorem F.3 does not speak",
    hypotheses=(ASSUMPTION_6_1,),
    expected=OUTSIDE,
)
POINT.check(
    "bracket",
    CERTIFIED,
    formula=ALPHA_LIMIT,
    controls=WRONG_ALPHA_LIMITS,
    cases=(POINT_MASS,),
    mutate=False,
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
    "bracket",
    CERTIFIED,
    formula=ALPHA_LIMIT,
    controls=WRONG_ALPHA_LIMITS,
    cases=(ATOM_AT_ONE,),
    mutate=False,
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


claims = [POINT, ATOM, COUNTER]
