"""Odd links: a bias b ≠ 0 is not enough. For he_5 the coefficient c_1 vanishes off b = 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import sympy
from flint import acb, arb

from theoryverify.claims import CERTIFIED, PROVED, REFUTED, Claim, Evidence, Examination
from theoryverify.exact.ball_functions import logistic
from theoryverify.exact.balls import ball, precision, sign
from theoryverify.exact.gate_zeros import gated_ball, logistic_slope
from theoryverify.exact.links import link
from theoryverify.papers.mamba import theory
from theoryverify.papers.mamba.links import HE3, HE5
from theoryverify.papers.mamba.theory import y

_BITS = 90
_MOST_CELLS = 200

ZEROS = {
    "1/4": "7.764972213944",
    "1/2": "3.984644225287",
    "1": "1.472283366143",
    "6/5": "0.470887883943",
}
"""ρ and the ``b > 0`` at which ``E[he_5 σ(he_5/ρ+b) z] = 0``, to 12 decimals."""

BIFURCATION = "1.228388966458"
"""The ρ at which ``∂c_1/∂b = 0`` at b = 0; below it c_1 rises from its zero at b = 0."""


def coefficient(
    text: str, rho: arb, b: arb, k: int = 1, gate: Callable[[acb], acb] = logistic
) -> arb:
    """``E[g σ(g/ρ+b) He_k]``, or with ``logistic_slope`` its derivative in b; ρ and b are balls."""
    polynomial = link(text).polynomial
    assert polynomial is not None
    return gated_ball([c.real for c in polynomial.coefficients()], rho, b, k, gate=gate)


def around(value: str, radius: Fraction) -> arb:
    return ball(Fraction(value) - radius).union(ball(Fraction(value) + radius))


ANY = Claim(
    "mamba.D.nonzero-bias",
    "Lemma D: b ≠ 0 for odd links at every ρ (counterexample)",
    r"b\neq0,\ g\text{ odd}\Rightarrow\mathrm{ie}\big(g\,\sigma(g/\rho+b)\big)=\mathrm{ge}(g)"
    r"\quad\text{for every }\rho>0",
    title="b ≠ 0 is enough for odd links: false, he_5 at ρ = 1 has c_1 = 0 at b = ±1.4723",
    expected=REFUTED,
    note="There the gated exponent is 2 and ge(he_5) is 1. For he_3 the same interval has no zero.",
)


@ANY.check(
    "a certified change of sign",
    CERTIFIED,
    formula=("1/4", "4"),
    controls={"on [1, 2]": ("1", "2"), "within 10⁻⁶ of the zero": ("1.472283", "1.472284")},
    mutate=False,
)
def change_of_sign(interval: tuple[str, str], examination: Examination) -> Evidence:
    with precision(_BITS):
        ends = [sign(coefficient(HE5, arb(1), ball(Fraction(b)))) for b in interval]
        second = coefficient(HE5, arb(1), around(ZEROS["1"], Fraction(1, 10**12)), 2)
    never = None if None in ends else ends[0] == ends[1]
    examination.decide(
        "c_1 does not vanish for b in the interval", never, f"signs {ends} at its ends"
    )
    examination.lemma("at the zero c_2 > 0, so ie = 2", sign(second) == 1, f"{second}")
    return examination.evidence("he_5, ρ = 1, b in an interval")


FIVE = Claim(
    "mamba.D.he5",
    "Lemma D: where he_5 loses c_1 although b ≠ 0",
    r"\mathbb E[\mathrm{he}_5\,\sigma(\mathrm{he}_5/\rho+b)\,z]=0\text{ at }b=\pm1.472283366143\ldots"
    r"\ (\rho=1),\quad\text{the zeros leave }b=0\text{ at }\rho=1.228388966458\ldots",
    title="he_5: c_1 = 0 at (ρ, b) = (1, ±1.4722833661), and at three more scales below 1.2284",
    depends_on=("mamba.D.odd",),
    note="That there is such a zero at every ρ below 1.2284 is seen on maps, not shown here.",
)


@FIVE.check(
    "simple zeros, enclosed",
    CERTIFIED,
    formula=ZEROS,
    controls={
        "the eleventh decimal changed": {**ZEROS, "1": "1.472283366123"},
        "the zero of ρ = 1/2 at ρ = 1": {"1": ZEROS["1/2"]},
        "b falls like 1/ρ from 1/4": {**ZEROS, "1/2": "3.882486106972"},
    },
)
def simple_zeros(table: Mapping[str, str], examination: Examination) -> Evidence:
    """Signs at ``b ∓ 10⁻¹²``, and a slope of one sign over ``b ± 10⁻³``: one zero, a simple one."""
    close = Fraction(1, 10**12)
    for rho, b in table.items():
        with precision(_BITS):
            scale = ball(Fraction(rho))
            before, after = (
                sign(coefficient(HE5, scale, ball(Fraction(b) + step))) for step in (-close, close)
            )
            slope = coefficient(HE5, scale, around(b, Fraction(1, 1000)), 1, logistic_slope)
            second = sign(coefficient(HE5, scale, around(b, close), 2))
        changes = None if None in (before, after) else before == 1 and after == -1
        examination.decide(f"ρ = {rho}: c_1 falls through 0 at {b}", changes, f"{before}, {after}")
        falling = sign(slope)
        examination.decide(
            f"ρ = {rho}: the only zero within 10⁻³",
            None if falling is None else falling == -1,
            f"∂c_1/∂b = {slope}",
        )
        examination.decide(
            f"ρ = {rho}: c_2 > 0 there, so ie = 2", None if second is None else second == 1
        )
    return examination.evidence(f"ρ in {', '.join(table)}, to 12 decimals")


@FIVE.check(
    "where they leave b = 0",
    CERTIFIED,
    formula=BIFURCATION,
    controls={"the tenth decimal changed": "1.228388966358", "1.3": "1.3"},
)
def leaving_zero(rho: str, examination: Examination) -> Evidence:
    """``c_1`` is odd in b, so a change of sign of its slope at b = 0 makes zeros off b = 0."""
    close = Fraction(1, 10**12)
    with precision(_BITS):
        slopes = [
            sign(coefficient(HE5, ball(Fraction(rho) + step), arb(0), 1, logistic_slope))
            for step in (-close, close)
        ]
    changes = None if None in slopes else slopes == [1, -1]
    examination.decide(f"∂c_1/∂b at b = 0 falls through 0 at ρ = {rho}", changes, f"{slopes}")
    return examination.evidence("he_5, to 12 decimals")


@FIVE.check(
    "c_1 is odd in b",
    PROVED,
    formula=y,
    controls={"y/2": y / 2, "0: even in b": sympy.Integer(0), "2y": 2 * y},
)
def odd_in_b(formula: sympy.Expr, examination: Examination) -> Evidence:
    """``z → -z`` takes ``g`` to ``-g``: ``c_1(b) + c_1(-b) = E[(T_b(y) - T_{-b}(-y)) z]``."""
    b, rho = sympy.symbols("b rho", positive=True)
    here, mirrored = y * theory.sigmoid(y / rho + b), -y * theory.sigmoid(-y / rho - b)
    examination.identity("T_b(y) - T_{-b}(-y), so the sum is E[g z] = 0", here - mirrored, formula)
    return examination.evidence("every odd g with E[gz] = 0, every ρ and b")


@FIVE.check(
    "he_3 has no zero with 0 < b <= 4",
    CERTIFIED,
    formula=HE3,
    controls={"he_5": HE5, "he_5 + he_3/1000": f"{HE5} + {HE3}/1000"},
    mutate=False,
)
def no_zero(text: str, examination: Examination) -> Evidence:
    """``c_1 = 0`` at b = 0 and falls there; from 1/4 on it is negative: over cells, for every b."""
    for name, low, high, gate in (
        ("∂c_1/∂b < 0 on [0, 1/4]", Fraction(0), Fraction(1, 4), logistic_slope),
        ("c_1 < 0 on [1/4, 4]", Fraction(1, 4), Fraction(4), logistic),
    ):
        holds, cells = _negative(text, low, high, gate)
        examination.decide(name, holds, f"{cells} cells")
        if holds is not True:
            break
    return examination.evidence("ρ = 1, every b in (0, 4]")


def _negative(
    text: str, low: Fraction, high: Fraction, gate: Callable[[acb], acb]
) -> tuple[bool | None, int]:
    """Whether the coefficient is negative for *every* b in ``[low, high]``; a point refutes."""
    stack, cells = [(low, high)], 0
    with precision(64):
        while stack:
            left, right = stack.pop()
            cells += 1
            if cells > _MOST_CELLS:
                return None, cells
            if coefficient(text, arb(1), ball(left).union(ball(right)), 1, gate) < 0:
                continue
            middle = (left + right) / 2
            if coefficient(text, arb(1), ball(middle), 1, gate) > 0:
                return False, cells
            stack += [(left, middle), (middle, right)]
    return True, cells


claims = [ANY, FIVE]
