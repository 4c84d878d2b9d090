"""The rate of β*_T for every pair of end exponents, and how it depends on the parity of T."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import sympy
from flint import arb

from theoryverify.claims import CERTIFIED, PROVED, Claim, Evidence, Examination, Hypothesis
from theoryverify.exact.balls import Enclosure, ball, precision
from theoryverify.exact.densities import Ball, ScaledBeta, Shell, Uniform
from theoryverify.exact.identities import decide_identity
from theoryverify.exact.laws import Discrete, Law, Mixture, TwoPoint
from theoryverify.papers.lca import rate_theory, theory
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.claims.rates import END_EXPANSIONS, STIRLING, WATSON
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, ATOMS, MIXED, UNIFORM
from theoryverify.papers.lca.rate import evaluated, first_order_two, law_ends
from theoryverify.papers.lca.rate_theory import (
    Lambda,
    g_a,
    g_b,
    mean_W,
    parity,
    pi_a,
    pi_b,
    root,
    tau_a,
    tau_b,
)
from theoryverify.papers.lca.theory import T, a, b
from theoryverify.papers.lca.two import Moments, beta_star, stationarity

DROPPED = "m and Q are O(r^T) beside 1 and m, by the same expansions"


def _atom(case: object) -> str | None:
    ends = (case.lower, case.upper) if isinstance(case, Law) else ()
    found = [str(end) for end in ends if case.atom(end)]  # type: ignore[attr-defined]
    return f"{case} has an atom at {found[0]}" if found else None


NO_ATOMS = Hypothesis(
    "no atom at an end", r"\mathbb P(Z=\underline Z)=\mathbb P(Z=\overline Z)=0", _atom
)

DENSITIES = Claim(
    "lca.6.3.rate",
    "ours: Theorem 6.3, how β*_T differs from the one-parameter optimum",
    r"\beta^*_T+\alpha^*_T=\frac{b-a}{2(a+b)^2T\,\mathbb E[W]}\Big[\frac{g_a}a\tau_a^2-\frac{g_b}b"
    r"\tau_b^2-(-1)^T\Big(\frac1a-\frac1b\Big)\sqrt{g_ag_b}\,\tau_a\tau_b\Big]+o(T^{-(k+2)}),\quad"
    r"\tau=\Big(\frac{b-a}T\Big)^{(k+1)/2}",
    title="densities: β*_T + α*_T is of order T^{-(k+2)} and depends on the parity of T",
    hypotheses=(ASSUMPTION_6_1, END_EXPANSIONS, NO_ATOMS),
    depends_on=("lca.F.3.ends", "lca.uniqueness", "lca.G.stationary"),
    note="k is the smaller end exponent, above -1; so β*_T has the first term -c_1 of α*_T, and its own "
    "parity. Where the ends weigh the same (k_a = k_b, g_a = g_b) the bracket is 0 for even T.",
)

_SHIFT = rate_theory.two_parameter_shift()
_WRONG_SHIFT = {
    "no parity": _SHIFT.subs(parity, 0),
    "the other parity": _SHIFT.subs(parity, -parity),
    "without E[W]": _SHIFT * mean_W,
    "10% more": _SHIFT * sympy.Rational(11, 10),
    "one power of T less": _SHIFT * T,
}


def halves(power: int, scale: tuple[sympy.Expr, ...]) -> tuple[sympy.Expr, sympy.Expr]:
    """Leading terms at a and b of ``E[WZ|1-tZ|^n]`` over the ends' ``q^n``, for ``n ~ power·T``.

    ``g ρ^{k+1} n^{-(k+1)}`` with ``ρ = (b-a)/2`` is ``g τ² (2·power)^{-(k+1)}``; ``scale`` holds
    ``2^{k+1}`` for both ends, and power is 1 or 2.
    """
    return g_a * tau_a**2 / scale[0] ** power, g_b * tau_b**2 / scale[1] ** power


@DENSITIES.check("reduced balance", PROVED, formula=_SHIFT, controls=_WRONG_SHIFT)
def reduced_balance(shift: sympy.Expr, examination: Examination) -> Evidence:
    P_a, P_b, p_a, p_b, m_a, m_b, Q = sympy.symbols("P_a P_b p_a p_b m_a m_b Q", positive=True)
    lower, upper = m_a + parity * m_b, p_a - parity * p_b
    at = Moments(mean_W, lower / mean_W, Q, upper / mean_W, (P_a - P_b) / mean_W)
    examination.lemma(
        "E[W]²g: the halves of each moment",
        decide_identity(
            stationarity(at) * mean_W**2,
            (P_a - P_b) * (mean_W - lower) - upper * (lower - Q * mean_W),
        ),
    )
    examination.assume(DROPPED)
    # Leading halves: 2n/T is 4 for n = 2T-1 and 2 for n = T-1, T; E[W|q|^T] has 1/z more.
    scale = sympy.symbols("two_a two_b", positive=True)
    (P_a, P_b), (p_a, p_b) = halves(2, scale), halves(1, scale)
    # (q_a/q_b)^{2T} = P_b/P_a, where both halves balance.
    ratio = sympy.Symbol("q", positive=True)
    P_a, p_a = ratio**2 * P_a, ratio * p_a
    balanced = tau_b * scale[0] / (tau_a * scale[1]) * sympy.sqrt(g_b) / sympy.sqrt(g_a)
    examination.lemma("P_a = P_b there", decide_identity(P_a.subs(ratio, balanced), P_b))
    slope = theory.alpha_limit() * theory.contraction() / (4 * T)
    for sign in (1, -1):
        product = (p_a - sign * p_b) * (p_a / a + sign * p_b / b)
        quotient = (product / (mean_W * P_b)).subs(ratio, balanced)
        examination.identity(
            f"(-1)^T = {sign}: β*_T + α*_T is α*r/4T times the quotient",
            shift.subs(parity, sign),
            slope * quotient,
        )
    # The balance is N log(ρ_a/ρ_b) + ... = quotient, N = 2T, with ρ_a/ρ_b = (1+θ)/(1-θ).
    theta = sympy.Symbol("theta", real=True)
    t = 1 / ((a + b) / 2 + (b - a) / 2 * theta)
    examination.lemma(
        "t = 1/(ρ_a + a): dt/dθ = -α*r at θ = 0",
        decide_identity(sympy.diff(t, theta).subs(theta, 0), -4 * T * slope),
    )
    logs = sympy.log((1 + theta) / (1 - theta))
    examination.lemma(
        "d log(ρ_a/ρ_b)/dθ = 2 at θ = 0",
        decide_identity(sympy.diff(logs, theta).subs(theta, 0), sympy.Integer(2)),
    )
    examination.assume(WATSON)
    examination.assume(STIRLING)
    return examination.evidence("every law with end expansions and exponents above -1, T → ∞")


_LADDER = (1_000, 30_000)


def shift_found(shift: sympy.Expr, case: Law, examination: Examination) -> Evidence:
    """``T^{k+2} |β*_T + α*_T - shift|`` falls, at both parities, with k the smaller exponent."""
    for odd in (0, 1):
        errors = []
        for depth in (least + odd for least in _LADDER):
            one = alpha_star(case, depth, 30).enclosure
            two = beta_star(case, depth, 8).beta
            with precision(160):
                order = min(_exponents(case))
                error = abs(two.ball() + one.ball() - evaluated(shift, case, depth))
                errors.append(error * (ball(depth).log() * ball(order + 2)).exp())
        with precision(128):
            third = Enclosure.of(errors[0] / 3)
        examination.less(
            f"T^(k+2)·error at T = {_LADDER[1] + odd} below a third of that at {_LADDER[0] + odd}",
            Enclosure.of(errors[1]),
            third,
        )
    return examination.evidence(f"T in {_LADDER} and one more")


def _exponents(law: Law) -> tuple[Fraction, Fraction]:
    ends = law_ends(law)
    return ends.lower.exponent, ends.upper.exponent


_FOUND = "shift against the enclosures"
DENSITIES.check(
    _FOUND, CERTIFIED, formula=_SHIFT, controls=_WRONG_SHIFT, cases=(UNIFORM,), mutate=False
)(shift_found)
DENSITIES.check(
    f"{_FOUND}, more laws",
    CERTIFIED,
    formula=_SHIFT,
    controls=_WRONG_SHIFT,
    cases=(
        Uniform("1.5", 3),
        Shell(8, 2, 5),
        ScaledBeta(2, 5, "1/2", "1/2"),
        ScaledBeta(2, 5, 2, 2),
        Ball(4, 5),
    ),
    mutate=False,
    timeout=300,
    preset="full",
)(shift_found)

# -- atoms at the ends --------------------------------------------------------------------------

ATOMIC = Claim(
    "lca.6.3.rate.atoms",
    "ours: Theorem 6.3, laws with atoms at the ends of their support",
    r"\beta^*_T=-\alpha^*-\frac{(b-a)\log x_s}{(a+b)^2T}+o(1/T),\quad "
    r"bBx^2-s(b-a)Cx-aA=0,\ s=(-1)^T,\ A=\pi_a(1-\pi_a),\ B=\pi_b(1-\pi_b),\ C=\pi_a\pi_b;\quad"
    r"\text{one atom: }\beta^*_T=-\alpha^*-\frac{(b-a)\Lambda'}{2(a+b)^2T}+o(1/T),\ "
    r"\Lambda'=\Lambda+\log(1-\pi_a)\text{ if it is at }a,\ \Lambda-\log(1-\pi_b)\text{ if at }b",
    title="atoms at the ends: already the 1/T term of β*_T is not that of α*_T",
    hypotheses=(ASSUMPTION_6_1, END_EXPANSIONS),
    depends_on=("lca.F.3.ends", "lca.uniqueness", "lca.G.stationary"),
    note="π are the masses under W dP/E[W]. With atoms at both ends the term depends on parity; two "
    "atoms alone have x = 1 for even T, where β*_T = -2/(a+b) exactly.",
)

_QUADRATIC = rate_theory.atoms_balance()
_ROOT = rate_theory.atoms_root()


@ATOMIC.check(
    "reduced balance",
    PROVED,
    formula=_QUADRATIC,
    controls={
        "the other parity": _QUADRATIC.subs(parity, -parity),
        "π for π(1-π)": _QUADRATIC.subs({pi_a * (1 - pi_a): pi_a, pi_b * (1 - pi_b): pi_b}),
        "b-a for its half": _QUADRATIC - parity * (b - a) * pi_a * pi_b * root,
    },
)
def atomic_balance(quadratic: sympy.Expr, examination: Examination) -> Evidence:
    # g_a = a π_a E[W]; q_a^{n}: x = (q_b/q_a)^T, and single powers of q_a/q_b tend to 1.
    masses = {g_a: a * pi_a * mean_W, g_b: b * pi_b * mean_W}
    P_a, P_b = g_a, g_b * root**2
    for sign in (1, -1):
        right = (g_a - sign * g_b * root) * (g_a / a + sign * g_b * root / b)
        balance = (mean_W * (P_a - P_b) - right).subs(masses)
        examination.identity(
            f"(-1)^T = {sign}: E[W](P_a-P_b) - (p_a-sp_b)(m_a+sm_b) over -E[W]²",
            quadratic.subs(parity, sign),
            -balance / mean_W**2,
        )
        put_in = _QUADRATIC.subs(root, _ROOT).subs(parity, sign)
        examination.lemma(f"its root, (-1)^T = {sign}", decide_identity(put_in, sympy.Integer(0)))
    pair = _QUADRATIC.subs(pi_b, 1 - pi_a) / (pi_a * (1 - pi_a))
    for sign in (1, -1):
        examination.lemma(
            f"two atoms alone, (-1)^T = {sign}: (x-s)(bx+sa)",
            decide_identity(pair.subs(parity, sign), (root - sign) * (b * root + sign * a)),
        )
    examination.assume(DROPPED)
    examination.assume(WATSON)
    return examination.evidence("every law with an atom at both ends and end expansions, T → ∞")


FirstTerm = Callable[[tuple[Fraction, Fraction]], sympy.Expr]
_HEAVY = Mixture([("3/10", Discrete({2: 1})), ("1/5", Discrete({5: 1})), ("1/2", Uniform(2, 5))])


def first_term(formula: FirstTerm, case: Law, examination: Examination) -> Evidence:
    expression = formula(_exponents(case))
    limit = -2 / (case.lower + case.upper)
    for odd in (0, 1):
        errors = []
        for depth in (least + odd for least in _LADDER):
            found = beta_star(case, depth, 8).beta
            with precision(160):
                gap = found.ball() - ball(limit) - evaluated(expression, case, depth)
                errors.append(abs(gap) * depth)
        with precision(128):
            # Two atoms alone and an even T: the term is exact, up to the digits enclosed.
            third = Enclosure.of(errors[0] / 3 + arb(10) ** -20)
        examination.less(
            f"T·error at T = {_LADDER[1] + odd} below a third of that at {_LADDER[0] + odd}",
            Enclosure.of(errors[1]),
            third,
        )
    return examination.evidence(f"T in {_LADDER} and one more")


_WRONG_FIRST: dict[str, FirstTerm] = {
    "the one-parameter term": lambda exponents: -rate_theory.first_order(),
    "the other parity": lambda exponents: first_order_two(exponents).subs(parity, -parity),
    "1% more": lambda exponents: first_order_two(exponents) * sympy.Rational(101, 100),
    "the shift of a density": lambda exponents: -rate_theory.first_order() + _SHIFT,
}


def _opposite(pi: sympy.Symbol) -> FirstTerm:
    moved = sympy.log(1 - pi)
    return lambda exponents: first_order_two(exponents).subs(moved, -moved)


@ATOMIC.check(
    "one atom",
    PROVED,
    formula=first_order_two,
    controls={
        "the one-parameter term": _WRONG_FIRST["the one-parameter term"],
        "the opposite sign at a": _opposite(pi_a),
        "the opposite sign at b": _opposite(pi_b),
    },
    mutate=False,
)
def one_atom(formula: FirstTerm, examination: Examination) -> Evidence:
    """Where P_a and P_b are of one size, p and m are smaller at the end without the atom."""
    q = sympy.Symbol("q", positive=True)
    atom, density = Fraction(-1), Fraction(0)
    for end, pi, sign, exponents, (low, high) in (
        (a, pi_a, 1, (atom, density), (sympy.Integer(1), 1 - pi_a)),
        (b, pi_b, -1, (density, atom), (1 - pi_b, sympy.Integer(1))),
    ):
        # Of (p_a-sp_b)(m_a+sm_b), s² = 1, the product of the atom's halves remains.
        mass = end * pi * mean_W
        P, p, m = mass * q ** (2 * T - 1), mass * q ** (T - 1), mass / end * q**T
        examination.lemma(
            f"an atom at {end}: P_a : P_b = {low} : {high}",
            decide_identity(mean_W * (low - high) * P, sign * p * m),
        )
        # The balance is Λ + ... = log(P_a/P_b), and Λ + ... = 0 for one parameter.
        moved = Lambda + sympy.log(high) - sympy.log(low)
        examination.identity(
            f"an atom at {end}: Λ moves by log(P_b/P_a)",
            formula(exponents),
            -rate_theory.first_order().subs(Lambda, moved),
        )
    examination.assume(DROPPED)
    examination.assume(WATSON)
    return examination.evidence("every law with an atom at one end and end expansions, T → ∞")


_FIRST = "first term against the enclosures"
ATOMIC.check(
    _FIRST,
    CERTIFIED,
    formula=first_order_two,
    controls=_WRONG_FIRST,
    cases=(ATOMS, TwoPoint("3/2", 4, "9/10"), MIXED),
    mutate=False,
)(first_term)
ATOMIC.check(
    f"{_FIRST}, atoms beside a density",
    CERTIFIED,
    formula=first_order_two,
    controls=_WRONG_FIRST,
    cases=(_HEAVY, Mixture([("1/3", Discrete({5: 1})), ("2/3", Uniform(2, 5))])),
    mutate=False,
    preset="full",
)(first_term)

claims = [DENSITIES, ATOMIC]
