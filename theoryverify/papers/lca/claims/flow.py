"""Theorem 6.2, item 1 (Lemma F.2): the one-parameter gradient flow, and how long it takes."""

from __future__ import annotations

from fractions import Fraction

import sympy

from theoryverify.claims import (
    CERTIFIED,
    COMPUTED,
    INCONCLUSIVE,
    PROVED,
    Claim,
    Evidence,
    Examination,
)
from theoryverify.exact.balls import Enclosure, ball, precision
from theoryverify.exact.densities import Uniform
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Law
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, ATOMS, TWO_POINT, UNIFORM
from theoryverify.papers.lca.theory import T, alpha
from theoryverify.papers.lca.training_time import predicted_time, relaxation_time, time_to_level

# -- Lemma F.2 ----------------------------------------------------------------------------------

F2 = Claim(
    "lca.F.2",
    "Lemma F.2; Theorem 6.2, item 1",
    r"\dot\alpha=-R_T'(\alpha)\ \Rightarrow\ \alpha(t)\to\alpha^*_T\text{ from every }\alpha_0",
    title="gradient flow on R_T converges to α*_T from any start",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.F.1", "lca.gradient"),
)


_FIELD = -theory.one_parameter_gradient()
_WRONG_FIELD = {
    "ascent": theory.one_parameter_gradient(),
    "the loss without W": 2 * T * Z * (1 - alpha * Z) ** (2 * T - 1),
    "the loss with (1-αZ)^T": T * (Z - 1) * (1 - alpha * Z) ** (T - 1),
}


@F2.check("Lyapunov functions", PROVED, formula=_FIELD, controls=_WRONG_FIELD)
def lyapunov(field: sympy.Expr, examination: Examination) -> Evidence:
    """``dR/dt = -R'²`` and ``d(α-α*)²/dt = -2(α-α*)(R'(α)-R'(α*)) < 0`` by strict convexity."""
    slope = theory.one_parameter_gradient()
    # Under the expectation both are linear in the field, so the integrands suffice.
    examination.identity(
        "the field is -R_T'", field, -sympy.diff(theory.one_parameter_loss(), alpha)
    )
    letter = sympy.Symbol("R1", real=True)
    ratio = sympy.cancel(sympy.powsimp(field / slope))
    examination.identity("dR_T/dt = R_T'·(field) = -(R_T')²", letter * ratio * letter, -(letter**2))
    # d(α-α*)²/dt = 2(α-α*)·(field): negative off α*, because R_T' increases strictly (lca.F.1) and
    # vanishes at α*; so α stays between α_0 and α*_T.
    gap = sympy.Symbol("gap", positive=True)
    examination.identity("d(α-α*)²/dt = -2(α-α*)R_T'", 2 * gap * letter * ratio, -2 * gap * letter)
    examination.assume("a bounded solution on which a strict Lyapunov function decreases converges")
    return examination.evidence("every T >= 1, α₀, law that meets Assumption 6.1")


@F2.check(
    "two integrators end at α*_T",
    COMPUTED,
    formula="descent",
    controls={"ascent": "ascent", "the loss without W": "without W"},
    cases=(UNIFORM, TWO_POINT),
    mutate=False,
)
def two_integrators(kind: str, case: Law, examination: Examination) -> Evidence:
    from theoryverify.papers.lca import flow

    try:
        import scipy  # noqa: F401
    except ImportError:
        return Evidence(INCONCLUSIVE, "", 'needs SciPy: pip install "theoryverify[simulate]"')
    depths = (1, 1000) if kind == "descent" else (8,)
    for depth in depths:
        limit = alpha_star(case, depth, 20).enclosure
        for start in ("0.9", "0.02") if depth == 1 else ("0.02",):
            if kind == "descent":
                found = flow.gradient_flow(case, depth, start, digits=10)
                errors, ends = found.errors, [float(run.end[0]) for run in found.runs]
            else:
                wrong = flow.FloatLoss(case, depth, weighted=kind != "without W")
                target = flow.ascent(wrong) if kind == "ascent" else wrong
                result = flow.run(case, depth, start, loss=target, max_steps=60)
                ends = [float(result.end[0])]
                errors = (abs(ends[0] / float(limit) - 1),)
            examination.decide(
                f"T = {depth} from {start}",
                max(errors) <= 1e-8,
                f"ends {ends}, relative errors {[f'{e:.1g}' for e in errors]}",
            )
    return examination.evidence(f"T in {depths}, two integrators, to eight digits")


# -- how long it takes --------------------------------------------------------------------------

TIME = Claim(
    "lca.training-time",
    "Theorem 6.2 does not say how long: the time is exponential in depth (ours)",
    r"t(\lambda\alpha^*_T)\sim\frac{(2T\alpha_1/q)^{k+1}q^{2-2T}}{4T^2a\,C\Gamma(k+1)},\ "
    r"q=1-\alpha_1a,\ \alpha_1=\lambda\alpha^*_T",
    title="time to λα*_T grows like T^{k-1}(1-λα*_T Z̲)^{-2T}",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.F.2",),
    note="At T = 32 the time to 0.99 α*_T is 2.98e20 for Z ~ U[2,5]: out of reach; its loss is not.",
)

_KNOWN = {4: "13.22453904437996", 8: "5249.5", 16: "1.5726e9", 32: "2.98e20"}


@TIME.check(
    "known times",
    CERTIFIED,
    formula=1,
    controls={"0.1% more": Fraction(1001, 1000), "1% less": Fraction(99, 100)},
    mutate=False,
)
def known_times(factor: int, examination: Examination) -> Evidence:
    """Z ~ U[2,5], from 0.02 to 0.99 α*_T: rigorous quadrature of 1/|R_T'| in recentred pieces."""
    for depth, text in _KNOWN.items():
        found = time_to_level(UNIFORM, depth, digits=15).enclosure
        mantissa = text.partition("e")[0].replace(".", "")
        value = Fraction(text) * factor
        slack = Fraction(text) / 10 ** (len(mantissa) - 1)  # one unit of the last digit given
        inside = value - slack <= found.lower and found.upper <= value + slack
        apart = found.upper < value - slack or found.lower > value + slack
        examination.decide(
            f"T = {depth}", True if inside else (False if apart else None), f"{found}"
        )
    return examination.evidence("Z ~ U[2,5], T in (4, 8, 16, 32), to the digits shown")


@TIME.check(
    "leading term",
    CERTIFIED,
    formula=Fraction(1),
    controls={"twice": Fraction(2), "half": Fraction(1, 2), "10% more": Fraction(11, 10)},
    cases=(UNIFORM, ATOMS, Uniform("1.5", 3)),
    mutate=False,
)
def leading_term(factor: Fraction, case: Law, examination: Examination) -> Evidence:
    """time/prediction is within 5% of 1 at T = 256, and nearer than at T = 64."""
    gaps = []
    for depth in (64, 256):
        true = time_to_level(case, depth, digits=12).enclosure
        predicted = predicted_time(case, depth, "0.99")
        with precision(128):
            ratio = Enclosure.of(true.ball() / (ball(factor) * predicted.ball()))
            gaps.append(Enclosure.of(abs(ratio.ball() - 1)))
    examination.less("|ratio - 1| at T = 256", gaps[1], Enclosure.exactly("0.05"))
    examination.less("it falls from T = 64", gaps[1], gaps[0])
    return examination.evidence("λ = 0.99 from α₀ = 0.02, T = 64 and 256")


RELAX = Claim(
    "lca.training-time.relaxation",
    "Theorem 6.2 does not say how long: near the optimum (ours)",
    r"1/R_T''(\alpha^*_T)\text{ is of order } r^{-2T}/T",
    title="the relaxation time at α*_T is of order r^{-2T}/T",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.F.1",),
    note="For densities that are positive at both ends; atoms give r^{-2T}/T².",
)

_r = sympy.Symbol("r", positive=True)


@RELAX.check(
    "order",
    CERTIFIED,
    formula=_r ** (-2 * T) / T,
    controls={
        "r^{-T}/T": _r ** (-T) / T,
        "r^{-2T}": _r ** (-2 * T),
        "r^{-2T}/T²": _r ** (-2 * T) / T**2,
    },
    cases=(UNIFORM, Uniform("1.5", 3)),
    mutate=False,
)
def relaxation(order: sympy.Expr, case: Law, examination: Examination) -> Evidence:
    """The ratio to the order changes by less than 2% from T = 400 to 1600."""
    ratios = []
    for depth in (400, 1600):
        with precision(160):
            base = ball((case.upper - case.lower) / (case.upper + case.lower))
            # r^{-2T}/T by its parts: SymPy would write out huge rationals otherwise.
            value = ball(1)
            for factor in sympy.Mul.make_args(order):
                base_, exp_ = factor.as_base_exp()
                number = base if base_ == _r else ball(depth)
                value *= number ** int(exp_.subs(T, depth)) if base_ != 1 else 1
            ratios.append(relaxation_time(case, depth).ball() / value)
    with precision(160):
        change = Enclosure.of(abs(ratios[1] / ratios[0] - 1))
    examination.less("change of time/order from T = 400 to 1600", change, Enclosure.exactly("0.02"))
    return examination.evidence("T = 400 and 1600")


claims = [F2, TIME, RELAX]
