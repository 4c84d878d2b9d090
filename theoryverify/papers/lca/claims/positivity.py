"""Uniqueness, first half: the pair kernel, its identity for every depth, and ``Q > 0``."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import sympy

from theoryverify.claims import CERTIFIED, PROVED, Claim, Evidence, Examination
from theoryverify.claims.claim import Context
from theoryverify.claims.statements import derived, pair
from theoryverify.exact.facts import Theorem
from theoryverify.exact.rationals import rational
from theoryverify.papers.lca import pair_polynomials, uniqueness_cases, uniqueness_lemmas
from theoryverify.papers.lca.theory import T
from theoryverify.papers.lca.uniqueness import (
    B,
    C,
    D,
    G,
    P,
    Q,
    R,
    S,
    exponent,
    h,
    numerator,
    x,
    y,
)
from theoryverify.papers.lca.uniqueness_lemmas import EVEN, ODD, eta, xi
from theoryverify.papers.lca.uniqueness_lemmas import T as DEPTH

PLACE = "ours: uniqueness of β*_T"

# -- closed forms -------------------------------------------------------------------------------

SUMS = Claim(
    "lca.uniqueness.sums",
    f"{PLACE}, notation",
    r"h_n=\sum_{i\le n}x^iy^{n-i}=\tfrac{x^{n+1}-y^{n+1}}{x-y},\quad S=\sum_{i<T}x^i,\quad "
    r"B=\sum_{j\le T-2}(xy)^jh_{T-2-j}=\tfrac{x^{T-1}S(y)-y^{T-1}S(x)}{x-y},\quad "
    r"C=\sum_{j\le T-3}(xy)^jh_{T-3-j}-(xy)^{T-2}=\tfrac{x^{T-2}S(y)-y^{T-2}S(x)}{x-y}",
    title="the sums h, S, B, C in closed form",
)

_SUMS = (h(T), S(x), B(), C())


_SCREEN = ({T: 5, x: "1/2", y: "-1/3"}, {T: 4, x: "2/3", y: "1/5"})


def _identity(
    examination: Examination, name: str, left: sympy.Expr, right: sympy.Expr
) -> bool | None:
    """``Examination.identity``, but first at two exact points: there a wrong formula is refuted
    before a polynomial is expanded. Agreement at the points decides nothing."""
    for point in _SCREEN:
        at = {symbol: sympy.Rational(value) for symbol, value in point.items()}
        values = [sympy.sympify(side).subs(at, simultaneous=True) for side in (left, right)]
        if all(value.is_Rational for value in values) and values[0] != values[1]:
            shown = f"{values[0]} and {values[1]} at T = {at[T]}, x = {at[x]}, y = {at[y]}"
            return examination.decide(name, False, shown)
    return examination.identity(name, left, right)


@SUMS.check(
    "induction",
    PROVED,
    formula=_SUMS,
    controls={
        "h_{n-1} for h_n": (h(T - 1), *_SUMS[1:]),
        "S with T+1 terms": (_SUMS[0], S(x, T + 1), *_SUMS[2:]),
        "B and C exchanged": (*_SUMS[:2], C(), B()),
        "x^{T-1} for x^{T-2} in C": (*_SUMS[:3], C() * x),
        "C with its sign changed": (*_SUMS[:3], -C()),
        "twice B": (*_SUMS[:2], 2 * B(), C()),
    },
    mutate=False,  # a mutant of a quotient takes longer to tell apart than all the rest
)
def sums_by_induction(formula: tuple[sympy.Expr, ...], examination: Examination) -> Evidence:
    """Each closed form has the start and the recursion of its sum, so it is the sum."""
    one = sympy.Integer(1)
    for name, term, start, first, following in (
        ("h_{n+1} = x^{n+1} + y h_n", formula[0], 0, one, x ** (T + 1) + y * formula[0]),
        ("S_{T+1} = S_T + x^T", formula[1], 1, one, formula[1] + x**T),
        ("B_{T+1} = h_{T-1} + xy B_T", formula[2], 1, 0 * one, h(T - 1) + x * y * formula[2]),
        ("C_{T+1} = h_{T-2} + xy C_T", formula[3], 2, -one, h(T - 2) + x * y * formula[3]),
    ):
        if not (
            _identity(examination, f"{name}: start", term.subs(T, start), first)
            and _identity(examination, name, term.subs(T, T + 1), following)
        ):
            break
    return examination.evidence("every T, x ≠ y, both different from 1")


# -- the identity -------------------------------------------------------------------------------

IDENTITY = Claim(
    "lca.uniqueness.identity",
    f"{PLACE}, identity (1)",
    r"D+(2T-4)P=T\,h_{T-2}B+(T-1)\,h_{T-1}C=:Q,\quad P=h_{T-1}B,\ D=(1-x)P_x+(1-y)P_y",
    title="D + (2T-4)P = Q",
    depends_on=("lca.uniqueness.sums",),
)

_WRONG_CONSTANT = {
    "c = -1/100": sympy.Rational(-1, 100),
    "c = 0": sympy.Integer(0),
    "c = 2T-3": 2 * T - 3,
    "c = 4T-6": 4 * T - 6,
}


@IDENTITY.check("symbolic depth", PROVED, formula=exponent(), controls=_WRONG_CONSTANT)
def identity_symbolic(constant: sympy.Expr, examination: Examination) -> Evidence:
    if not _identity(examination, "D + cP = Q", D() + constant * P(), Q()):
        return examination.evidence("")
    # Once more by hand: x^{T-2} = p and y^{T-2} = q are independent symbols with dp/dx = (T-2)p/x.
    p, q = sympy.symbols("p q")
    sums = (1 - x**2 * p) / (1 - x), (1 - y**2 * q) / (1 - y)
    b = (x * p * sums[1] - y * q * sums[0]) / (x - y)
    c = (p * sums[1] - q * sums[0]) / (x - y)
    kernel = (x**2 * p - y**2 * q) / (x - y) * b
    along = (1 - x) * (sympy.diff(kernel, x) + (T - 2) * p / x * sympy.diff(kernel, p))
    along += (1 - y) * (sympy.diff(kernel, y) + (T - 2) * q / y * sympy.diff(kernel, q))
    claimed = T * (x * p - y * q) / (x - y) * b + (T - 1) * (x**2 * p - y**2 * q) / (x - y) * c
    examination.identity("the same in QQ(x, y, p, q, T)", along + constant * kernel, claimed)
    return examination.evidence("every T, as an identity of polynomials in x and y")


def _depths(context: Context, quick: int, full: int) -> range:
    return range(2, (quick if context.preset == "quick" else full) + 1)


def _value(constant: sympy.Expr, depth: int) -> Fraction:
    return rational(sympy.sympify(constant).subs(T, depth))


@IDENTITY.check("polynomials in integers", CERTIFIED, formula=exponent(), controls=_WRONG_CONSTANT)
def identity_in_integers(
    constant: sympy.Expr, examination: Examination, context: Context
) -> Evidence:
    """Both sides multiplied out from the sums that define them."""
    depths = _depths(context, 60, 128)
    for depth in depths:
        value = _value(constant, depth)
        # A denominator of c scales the left side alone.
        right = {
            d: value.denominator * part
            for d, part in pair_polynomials.identity_parts(depth).items()
        }
        left = pair_polynomials.shifted_parts(depth, value)
        if not examination.decide(
            f"D + cP = Q at T = {depth}",
            pair_polynomials.same(left, right),
            f"c = {value}",
            by=pair(depth, value, "identity"),
        ):
            break
    return examination.evidence(f"T = {depths[0]}..{depths[-1]}")


# -- monotonicity -------------------------------------------------------------------------------

MONOTONE = Claim(
    "lca.uniqueness.monotone",
    f"{PLACE}, facts M1 to M4",
    r"T\ge2\ (R:\ T\ge3):\ G=x^{T-1}/S,\ R=x^{T-2}/S\text{ increase on }(0,1);\ "
    r"\xi^{T-1}/S(-\xi),\ \xi^{T-2}/S(-\xi)\text{ increase, for odd }T\text{ on }(0,1],"
    r"\text{ for even }T\text{ their reciprocals decrease on }(0,\infty)",
    title="M1-M4: G and R are monotone on either side of 0",
    depends_on=("lca.uniqueness.sums",),
)

Quotient = Callable[[sympy.Expr, sympy.Expr], sympy.Expr]
_QUOTIENTS: tuple[Quotient, Quotient] = (G, R)


def show(examination: Examination, theorem: Theorem) -> None:
    """A theorem of the kernel, as a step that the reader can look into."""
    given = ", ".join(map(str, theorem.hypotheses))
    shown = f"given {given}: {theorem.conclusion}. " + "; ".join(theorem.steps)
    examination.lemma(theorem.name, True, shown, by=derived(theorem))


@MONOTONE.check(
    "in differences",
    PROVED,
    formula=_QUOTIENTS,
    controls={
        "G and R exchanged": (R, G),
        "x^T for x^{T-1} in G": (lambda at, depth: at * G(at, depth), R),
        "R falls": (G, lambda at, depth: -R(at, depth)),
        "S(-x) for S(x)": (lambda at, depth: at ** (depth - 1) / S(-at, depth), R),
    },
)
def monotone(formula: tuple[Quotient, Quotient], examination: Examination) -> Evidence:
    """M3 is on ``1/|G(-ξ)| = S(-ξ)/ξ^{T-1}``, which stays finite where ``S(-ξ)`` vanishes."""
    first, second = formula
    for theorem, difference in (
        (uniqueness_lemmas.M1(), first(x, DEPTH) - first(y, DEPTH)),
        (uniqueness_lemmas.M2(), second(x, DEPTH) - second(y, DEPTH)),
        (uniqueness_lemmas.M3_G(), 1 / first(-xi, EVEN) - 1 / first(-eta, EVEN)),
        (uniqueness_lemmas.M3_R(), 1 / second(-eta, EVEN) - 1 / second(-xi, EVEN)),
        (uniqueness_lemmas.M4_R(), second(-eta, ODD) - second(-xi, ODD)),
        (uniqueness_lemmas.M4_G(), first(-xi, ODD) - first(-eta, ODD)),
    ):
        show(examination, theorem)
        if not examination.identity(f"{theorem.name}, as stated", difference, theorem.expression):
            break
    return examination.evidence("every T >= 2 (R: T >= 3; M4 for G follows from M4 for R)")


# -- the lemma ----------------------------------------------------------------------------------

LEMMA = Claim(
    "lca.uniqueness.lemma",
    f"{PLACE}, Lemmas 1 and 2",
    r"T\ge2:\ Q(x,y)>0\text{ for all }x\ne y\text{ in }(-1,1);\ "
    r"\text{for even }T\text{ for all }x\ne y\text{ in }(-\infty,1)",
    title="Q > 0 on (-1,1)², for even T on (-∞,1)²",
    depends_on=("lca.uniqueness.monotone",),
    note="The cases cover every pair x > y: see theoryverify/papers/lca/uniqueness_cases.py. "
    "At (0,0), Q vanishes for T >= 3, so Q > 0 does not extend to x = y.",
)


def _places() -> tuple[tuple[Theorem, dict[sympy.Symbol, sympy.Expr]], ...]:
    """Each case with the point of (x, y, T) that it speaks of; quick ones first."""
    at, depth = sympy.Symbol("x", real=True), uniqueness_cases.k + 3
    mixed_even, mixed_odd = {x: at, y: -xi, T: EVEN}, {x: at, y: -xi, T: ODD}
    return (
        (uniqueness_cases.case_b(), {y: sympy.Integer(0), T: depth}),
        (uniqueness_cases.depth_two(), {T: sympy.Integer(2)}),
        (uniqueness_cases.case_a(), {T: DEPTH}),
        (uniqueness_cases.case_c(), {x: -eta, y: -xi, T: EVEN}),
        (uniqueness_cases.case_d(), {x: -eta, y: -xi, T: ODD}),
        (uniqueness_cases.case_e_near(), mixed_odd),
        (uniqueness_cases.case_e_far(), mixed_odd),
        (uniqueness_cases.case_f(), mixed_even),
        (uniqueness_cases.case_g(), mixed_even),
    )


@LEMMA.check(
    "case by case",
    PROVED,
    formula=Q(),
    controls={
        "D alone (c = 0)": Q() - exponent() * P(),
        "c = -1/100": Q() - (exponent() + sympy.Rational(1, 100)) * P(),
        "c = 4T-6 + 1/100": Q() + (2 * T - 2 + sympy.Rational(1, 100)) * P(),
        "T for T-1": T * (h(T - 2) * B() + h(T - 1) * C()),
        "the second product subtracted": 2 * T * h(T - 2) * B() - Q(),
    },
    timeout=180,
)
def case_by_case(formula: sympy.Expr, examination: Examination) -> Evidence:
    swapped = formula.subs({x: y, y: x}, simultaneous=True)
    found = _identity(examination, "(x-y)²Q = N", (x - y) ** 2 * formula, numerator())
    found = found and _identity(examination, "symmetric", swapped, formula)
    for theorem, place in _places() if found else ():
        show(examination, theorem)
        at_place = formula.subs(place, simultaneous=True)
        if not examination.identity(f"{theorem.name} is Q", at_place, theorem.expression):
            break
    return examination.evidence("every T >= 2")


# -- the certificates ---------------------------------------------------------------------------

CERTIFICATE = Claim(
    "lca.uniqueness.certificate",
    f"{PLACE}, exact certificates",
    r"D+(2T-4)P\ge0\text{ on }[-1,1]^2,\ T=2,\dots,128;\ \text{for even }T\text{ on }(-\infty,1]^2",
    title="D + (2T-4)P >= 0, in integers, depth by depth",
    note="Independent of the proof for all T: it starts from the definition of P. Nonnegative "
    "Bernstein coefficients without any bisection were found at every T; that this is so for all T "
    "is an observation.",
)

_HUNDREDTH = sympy.Rational(1, 100)
_FALSE_CONSTANT = {
    "c = -1/100": -_HUNDREDTH,
    "c = 0 (false for even T >= 4)": sympy.Integer(0),
    "c just beyond 4T-6 (false for even T)": 4 * T - 6 + _HUNDREDTH,
}


def _certified(
    constant: Callable[[int], Fraction], depths: range, examination: Examination, *, ray: bool
) -> None:
    boxes = 0
    for depth in depths:
        found = pair_polynomials.certify(depth, constant(depth), ray=ray, max_boxes=64)
        boxes += found.boxes
        if found.holds is not True:
            shown = f"c = {found.constant}" + (f", at {found.point}" if found.point else "")
            examination.decide(f"D + cP >= 0 at T = {depth}", found.holds, shown)
            return
    cells = 7 if ray else 4
    examination.decide(
        f"D + cP >= 0 for T in {depths}", True,
        f"{boxes} boxes in {cells * len(depths)} cells: all Bernstein coefficients >= 0",
        by=[pair(depth, constant(depth), "ray" if ray else "square") for depth in depths],
    )  # fmt: skip


# Not mutated: at each T a whole interval of constants is certified, so that neighbours of 2T-4
# are true as well. The identity above is what singles it out.
@CERTIFICATE.check(
    "Bernstein coefficients",
    CERTIFIED,
    formula=exponent(),
    controls=_FALSE_CONSTANT,
    mutate=False,
)
def bernstein(constant: sympy.Expr, examination: Examination) -> Evidence:
    depths = range(2, 61)
    _certified(lambda depth: _value(constant, depth), depths, examination, ray=False)
    return examination.evidence("T = 2..60, all (x,y) in [-1,1]²")


@CERTIFICATE.check(
    "Bernstein coefficients to T = 128",
    CERTIFIED,
    formula=exponent(),
    controls=_FALSE_CONSTANT,
    mutate=False,
    preset="full",
    timeout=900,
)
def bernstein_deep(constant: sympy.Expr, examination: Examination) -> Evidence:
    _certified(lambda depth: _value(constant, depth), range(61, 129), examination, ray=False)
    _certified(lambda depth: _value(constant, depth), range(42, 129, 2), examination, ray=True)
    return examination.evidence("T = 61..128; for even T = 42..128 on (-∞,1]²")


@CERTIFICATE.check(
    "even T, beyond -1",
    CERTIFIED,
    formula=exponent(),
    controls=_FALSE_CONSTANT,
    mutate=False,
)
def bernstein_ray(constant: sympy.Expr, examination: Examination) -> Evidence:
    _certified(lambda depth: _value(constant, depth), range(2, 41, 2), examination, ray=True)
    return examination.evidence("even T = 2..40, all (x,y) in (-∞,1]²")


@CERTIFICATE.check(
    "the constants 0 (odd T) and 3T-6 (even T)",
    CERTIFIED,
    formula=(sympy.Integer(0), 3 * T - 6),
    controls={
        "-1/100 for odd T": (-_HUNDREDTH, 3 * T - 6),
        "0 for even T": (sympy.Integer(0), sympy.Integer(0)),
        "beyond 4T-6 for even T": (sympy.Integer(0), 4 * T - 6 + _HUNDREDTH),
    },
    mutate=False,
)
def other_constants(formula: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    """They do as well, and 0 makes the pair mean itself monotone; the proof does not need them."""
    odd, even = formula
    _certified(
        lambda depth: _value(odd if depth % 2 else even, depth),
        range(2, 33),
        examination,
        ray=False,
    )
    return examination.evidence("T = 2..32, all (x,y) in [-1,1]²; not proved for all T")


claims = [SUMS, IDENTITY, MONOTONE, LEMMA, CERTIFICATE]
