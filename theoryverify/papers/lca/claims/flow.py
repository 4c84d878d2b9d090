"""Theorem 6.2, item 1 (Lemma F.2): the one-parameter gradient flow, and how long it takes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

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
from theoryverify.exact.densities import Ball, ScaledBeta, Uniform
from theoryverify.exact.evaluate import BALL, compiled
from theoryverify.exact.identities import decide_identity
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Law
from theoryverify.flow import Method, Status
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.claims.rates import END_EXPANSIONS, WATSON
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, ATOMS, TWO_POINT, UNIFORM
from theoryverify.papers.lca.rate import law_ends
from theoryverify.papers.lca.rate_theory import Lambda, first_order, g_a, k_a, k_b
from theoryverify.papers.lca.theory import T, a, alpha, b
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
    formula=(0, True),
    controls={"one layer more": (1, True), "the loss without W": (0, False)},
    cases=(UNIFORM, TWO_POINT),
    mutate=False,
)
def two_integrators(loss: tuple[int, bool], case: Law, examination: Examination) -> Evidence:
    """The flow on the loss of ``T + layers`` layers, with its weight W or without, to its end."""
    from theoryverify.papers.lca import flow

    try:
        import scipy  # noqa: F401
    except ImportError:
        return Evidence(INCONCLUSIVE, "", 'needs SciPy: pip install "theoryverify[simulate]"')
    layers, weighted = loss
    # The deep run first: there one layer more moves the end by 1.5e-7 only, and one refutes.
    for depth, start in ((1000, "0.02"), (1, "0.02"), (1, "0.9")):
        limit = float(alpha_star(case, depth, 20).enclosure)
        targets: tuple[tuple[Method, Any], ...] = (
            ("radau", flow.FloatLoss(case, depth + layers, weighted)),
            ("collocation", flow.BallLoss(case, depth + layers, weighted)),
        )
        for method, target in targets:
            run = flow.run(
                case, depth, start, method=method, loss=target, digits=10, watch_time=False
            )
            error = abs(float(run.require(Status.CONVERGED).end[0]) / limit - 1)
            if not examination.decide(
                f"{method}, T = {depth} from {start}", error <= 1e-8, f"relative error {error:.1g}"
            ):
                return examination.evidence("")
    return examination.evidence("T in (1, 1000), two integrators, to eight digits")


# -- how long it takes --------------------------------------------------------------------------

TIME = Claim(
    "lca.training-time",
    "Theorem 6.2 does not say how long: the time is exponential in depth (ours)",
    r"0<\lambda<1,\ \alpha_0<\lambda\alpha^*:\quad t(\alpha_0\to\alpha_1)\sim"
    r"\frac{(2T\alpha_1/q)^{k+1}q^{2-2T}}{4T^2\underline Z\,g},\quad \alpha_1=\lambda\alpha^*_T,\ "
    r"q=1-\alpha_1\underline Z,\quad (z-1)P(dz)\sim\tfrac{g}{\Gamma(k+1)}s^k\,ds\ "
    r"(s=z-\underline Z;\text{ an atom: }k=-1,\text{ mass }g)",
    title="time to λα*_T grows like T^{k-1}(1-λα*_T Z̲)^{-2T}",
    hypotheses=(ASSUMPTION_6_1, END_EXPANSIONS),
    depends_on=("lca.F.2", "lca.F.3"),
    note="At T = 32 the time to 0.99 α*_T is 2.98e20 for Z ~ U[2,5]: out of reach; its loss is not.",
)

_q, _step = sympy.symbols("q alpha_1", positive=True)
_LEADING = (2 * T * _step / _q) ** (k_a + 1) * _q ** (2 - 2 * T) / (4 * T**2 * a * g_a)


@TIME.check(
    "Laplace's method, twice",
    PROVED,
    formula=_LEADING,
    controls={
        "1% more": _LEADING * Fraction(101, 100),
        "q^{1-2T}": _LEADING / _q,
        "k for k+1": _LEADING / (2 * T * _step / _q),
        "without Z̲": _LEADING * a,
    },
)
def laplace(leading: sympy.Expr, examination: Examination) -> Evidence:
    """The speed at α₁ from the lower end of the support, then ``∫dα/speed`` from its upper end.

    Below α* the lower end has the larger ``|1-αz|``, and the upper end's share is exponentially
    smaller; so is ``1/speed`` before α₁.
    """
    n = 2 * T
    # ∫ g s^k/Γ(k+1) e^{-nα₁s/q} ds = g (q/nα₁)^{k+1}, by the substitution u = (nα₁/q)s.
    speed = n * g_a * (_q / (n * _step)) ** (k_a + 1) * _q ** (n - 1)
    examination.lemma(
        "d/dα log q^{-2T} = 2TZ̲/q",
        decide_identity(-n * sympy.diff(sympy.log(1 - alpha * a), alpha), n * a / (1 - alpha * a)),
    )
    examination.identity("1/speed over its growth 2TZ̲/q", 1 / speed * _q / (n * a), leading)
    examination.assume(WATSON)
    examination.assume("Laplace's method at an end of the interval, for ∫dα/speed")
    return examination.evidence("every law with end expansions, 0 < λ < 1, α₀ < λα*, T → ∞")


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
    r"1/R_T''(\alpha^*_T)\text{ is of order }r^{-2T}\,T^{\kappa-1},\quad "
    r"\kappa=\frac{\overline Z k_a+\underline Z k_b}{\underline Z+\overline Z}",
    title="the relaxation time at α*_T is of order r^{-2T} T^{κ-1}, κ = (Z̄k_a+Z̲k_b)/(Z̲+Z̄)",
    hypotheses=(ASSUMPTION_6_1, END_EXPANSIONS),
    depends_on=("lca.F.1", "lca.F.3.ends"),
    note="k: end exponents of (z-1)P(dz), which rise by one at Z̲ = 1. So r^{-2T}/T for a density "
    "that is positive at both ends of a support above 1, and r^{-2T}/T² for atoms at both.",
)

_ORDER = (2, (b * k_a + a * k_b) / (a + b) - 1)
"""The powers of 1/r^T and of T."""
_WRONG_ORDERS = {
    "r^{-T}": (1, _ORDER[1]),
    "r^{-2T}/T for every law": (2, sympy.Integer(-1)),
    "the ends exchanged": (2, (a * k_a + b * k_b) / (a + b) - 1),
    "T^{κ}": (2, _ORDER[1] + 1),
    "T^{κ-19/20}": (2, _ORDER[1] + sympy.Rational(1, 20)),
}


@RELAX.check("balance of the two ends", PROVED, formula=_ORDER, controls=_WRONG_ORDERS)
def balance(order: tuple[int, sympy.Expr], examination: Examination) -> Evidence:
    """``E[WZ²(1-αZ)^{2T-2}]`` near an end is of order ``T^{-k-1} |1-αz|^{2T}``, here at α*_T."""
    powers, exponent = order
    limit, r = theory.alpha_limit(), theory.contraction()
    per_log = sympy.Symbol("log_T", positive=True)
    # Up to O(1), Λ is (k_b-k_a) log T, and 2T log(|1-αz|/r) is 2T(α*_T-α*) d/dα log|1-αz| at α*.
    shift = 2 * T * first_order().subs(Lambda, (k_b - k_a) * per_log) / per_log
    for name, size, end in (("lower", 1 - alpha * a, k_a), ("upper", alpha * b - 1, k_b)):
        examination.identity(f"|1-α*z| = r at the {name} end", size.subs(alpha, limit), r)
        growth = sympy.diff(sympy.log(size), alpha).subs(alpha, limit) * shift
        examination.identity(
            f"the power of T in R_T'' from the {name} end", 2 - (end + 1) + growth, -exponent
        )
    power = theory.one_parameter_hessian().as_powers_dict()[1 - alpha * Z]
    examination.identity("the power of r^T in R_T''", sympy.diff(power, T), sympy.Integer(powers))
    examination.assume(WATSON)
    return examination.evidence("every law with end expansions, T → ∞")


@RELAX.check(
    "order",
    CERTIFIED,
    formula=_ORDER,
    controls=_WRONG_ORDERS,
    cases=(
        UNIFORM,
        Uniform("1.5", 3),
        Uniform(1, 3),
        TWO_POINT,
        ScaledBeta(2, 5, 2, 2),
        Ball(4, 5),
    ),
    mutate=False,
)
def relaxation(order: tuple[int, sympy.Expr], case: Law, examination: Examination) -> Evidence:
    """The ratio to the order changes by less than 2% from T = 400 to 1600."""
    powers, exponent = order
    ratios = []
    for depth in (400, 1600):
        with precision(160):
            known = law_ends(case).values(depth)
            size = known["T"].log() * compiled(exponent, BALL)(known, False)
            rise = ball((case.upper + case.lower) / (case.upper - case.lower)) ** (powers * depth)
            ratios.append(relaxation_time(case, depth).ball() / (size.exp() * rise))
    with precision(160):
        change = Enclosure.of(abs(ratios[1] / ratios[0] - 1))
    examination.less("change of time/order from T = 400 to 1600", change, Enclosure.exactly("0.02"))
    return examination.evidence("T = 400 and 1600")


claims = [F2, TIME, RELAX]
