"""Definitions A and B, Fact C, and what they rest on."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import factorial, prod

import sympy

from theoryverify.claims import CERTIFIED, PROVED, REFUTED, Claim, Context, Evidence, Examination
from theoryverify.claims.statements import (
    Evaluated,
    Statement,
    at_most,
    degree,
    differs,
    equals,
    expression_of,
    gaussian,
    less,
    same,
)
from theoryverify.exact.even_links import second_moment_pivots, vanishing_link
from theoryverify.exact.exponents import information_exponent
from theoryverify.exact.generative import Witness, generative_exponent, polynomial_witness
from theoryverify.exact.hermite import raw_coefficients
from theoryverify.exact.links import link
from theoryverify.exact.surds import Surds, Z, hermite, root_factorial
from theoryverify.papers.mamba import theory
from theoryverify.papers.mamba.links import HE3, MORE, TINY
from theoryverify.papers.mamba.placed import (
    DEGREE,
    EVENNESS,
    HIGH_EXPONENT,
    LINK,
    POLYNOMIAL,
)
from theoryverify.papers.mamba.theory import n

NUMBERING = "The paper's own numbering was not at hand; the statement is reconstructed."

# -- Hermite polynomials ------------------------------------------------------------------------

HERMITE = Claim(
    "mamba.hermite",
    "conventions: Hermite expansion",
    r"\mathbb E[\mathrm{he}_j(z)\,\mathrm{he}_k(z)] = \delta_{jk},\quad "
    r"\mathrm{he}_k = \mathrm{He}_k/\sqrt{k!}",
    title="he_k = He_k/√(k!) are orthonormal under N(0,1)",
    note=NUMBERING,
)


def _physicists(k: int) -> Surds:
    """``H_k/√(2^k k!)``, orthonormal for the weight ``e^{-z²}`` instead."""
    scaled = hermite(k)(Surds.root(2) * Z)
    return scaled * root_factorial(k).inverse()


@HERMITE.check(
    "moments",
    CERTIFIED,
    formula=lambda k: hermite(k) * root_factorial(k).inverse(),
    controls={
        "physicists' polynomials": _physicists,
        "raw for orthonormal": hermite,
        "the coefficient of the series": lambda k: hermite(k) * Surds.of(Fraction(1, factorial(k))),
        "he_5 off by one part in 10^9": lambda k: (
            hermite(k)
            * root_factorial(k).inverse()
            * Surds.of(1 + (Fraction(1, 10**9) if k == 5 else 0))
        ),
    },
)
def moments(basis: Callable[[int], Surds], examination: Examination) -> Evidence:
    size = 16
    for j in range(size):
        for k in range(j + 1):
            value = _mean(basis(j) * basis(k))
            right = Surds.of(int(j == k))
            product = expression_of(basis(j)) * expression_of(basis(k))
            examination.decide(
                f"E[he_{j} he_{k}]",
                value == right,
                str(value),
                by=equals(gaussian(product), int(j == k)),
            )
    return examination.evidence(f"every j, k < {size}")


def _mean(polynomial: Surds) -> Surds:
    """``E`` of a polynomial in z from ``E[z^{2m}] = (2m-1)!!``, the literal definition."""
    total = Surds({})
    for power in range(0, polynomial.degree + 1, 2):
        total = total + polynomial[power] * Surds.of(prod(range(1, power, 2)))
    return total


RECURRENCE = Claim(
    "mamba.recurrence",
    "conventions: Hermite expansion",
    r"\mathbb E[\mathrm{he}_n^2\,\mathrm{He}_2] = 2n,\quad "
    r"\mathbb E[\mathrm{he}_n\mathrm{he}_{n+2}\mathrm{He}_2] = \sqrt{(n+1)(n+2)}",
    title="E[he_n² He_2] = 2n and E[he_n he_{n+2} He_2] = √((n+1)(n+2))",
    depends_on=("mamba.hermite",),
    note=NUMBERING,
)


@RECURRENCE.check(
    "for every n",
    PROVED,
    formula=(2 * n, (n + 1) * (n + 2)),
    controls={
        "2n + 1 (that is E[he_n² z²])": (2 * n + 1, (n + 1) * (n + 2)),
        "n(n-1) beside": (2 * n, n * (n - 1)),
    },
)
def for_every_n(formula: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    diagonal, beside = theory.second_moment_form()
    examination.identity("E[he_n² He_2]", diagonal, formula[0])
    examination.identity("E[he_n he_{n+2} He_2]²", sympy.expand(beside**2), formula[1])
    return examination.evidence("every n")


@RECURRENCE.check(
    "by moments",
    CERTIFIED,
    formula=lambda k: 2 * k,
    controls={"2k + 1": lambda k: 2 * k + 1, "k(k+1) (right at k = 1 only)": lambda k: k * (k + 1)},
)
def by_moments(diagonal: Callable[[int], int], examination: Examination) -> Evidence:
    for k in range(1, 25):
        value = _mean(hermite(k) ** 2 * hermite(2)) * Surds.of(Fraction(1, factorial(k)))
        product = expression_of(hermite(k)) ** 2 * expression_of(hermite(2)) / factorial(k)
        examination.decide(
            f"n = {k}",
            value == Surds.of(diagonal(k)),
            str(value),
            by=equals(gaussian(product), diagonal(k)),
        )
    return examination.evidence("every n < 25")


# -- Definition A -------------------------------------------------------------------------------

A = Claim(
    "mamba.A",
    "definition of the information exponent",
    r"\mathrm{ie}(g) = \min\{k\ge1 : \mathbb E[g(z)\mathrm{He}_k(z)] \ne 0\}",
    title="ie(g) = min{k >= 1: E[g He_k] ≠ 0}",
    depends_on=("mamba.hermite",),
    note=NUMBERING,
)


def has_exponent(polynomial: Surds, order: int | None) -> list[Statement]:
    """``E[g He_k] = 0`` for ``1 <= k < order``, and not at ``order``."""
    assert order is not None
    g = expression_of(polynomial)
    return [
        (differs if k == order else equals)(gaussian(g * expression_of(hermite(k))), 0)
        for k in range(1, order + 1)
    ]


def _decided(text: str) -> int | None:
    return information_exponent(text).value


def _threshold(text: str, nodes: int = 60, level: float = 1e-10) -> int | None:
    """What a floating-point threshold says: Gauss-Hermite sums, compared with ``level``."""
    import numpy as np

    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    values = link(text)(points)
    for k in range(1, 12):
        he_k = link(f"He{k}(z)")(points)
        if abs(float(np.sum(weights * values * he_k))) > level:
            return k
    return None


@A.check(
    "literal definition",
    CERTIFIED,
    formula=_decided,
    cases=MORE,
    controls={
        "threshold 1e-10 in float64": _threshold,
        "threshold 1e-16 in float64": lambda text: _threshold(text, level=1e-16),
        "the lowest degree that occurs": lambda text: _lowest_power(text),
    },
    at=POLYNOMIAL,
)
def literal_definition(
    decide: Callable[[str], int | None], case: str, examination: Examination
) -> Evidence:
    value = decide(case)
    polynomial = link(case).polynomial
    assert polynomial is not None
    coefficients = [_mean(polynomial * hermite(k)) for k in range(1, polynomial.degree + 1)]
    right = next(k for k, c in enumerate(coefficients, 1) if not c.is_zero)
    examination.decide(
        f"ie = {right}",
        value == right,
        f"found {value}",
        by=lambda: has_exponent(polynomial, value),
    )
    return examination.evidence("by exact moments")


def _lowest_power(text: str) -> int:
    polynomial = link(text).polynomial
    assert polynomial is not None
    return next(k for k in range(1, polynomial.degree + 1) if not polynomial[k].is_zero)


# -- Definition B and Fact C --------------------------------------------------------------------

B = Claim(
    "mamba.B",
    "definition of the generative exponent",
    r"\mathrm{ge}(g) = \min\{k\ge1 : \mathbb E[\mathrm{He}_k(z)\mid g(z)] \not\equiv 0\}"
    r" = \min_{\mathcal T}\mathrm{ie}(\mathcal T\circ g)",
    title="ge(g) = min{k >= 1: E[He_k | g] ≠ 0} <= ie(T∘g) for every T",
    depends_on=("mamba.A",),
    note=NUMBERING,
)

_TRANSFORMED = (
    "sin(z)",
    "abs(z)",
    "relu(z)",
    "cos(z)",
    "z**2*exp(-z**2)",
    "(1+sign(abs(z)-1))/2 - exp(3/2)/4*(1+sign(abs(z)-2))",
    HE3,
)


@B.check(
    "no transformation goes below",
    CERTIFIED,
    formula=lambda text: generative_exponent(text).value,
    cases=_TRANSFORMED,
    controls={
        "ie for ge": _decided,
        "always 2": lambda text: 2,
        "one more": lambda text: (generative_exponent(text).value or 0) + 1,
    },
    at=LINK,
)
def no_transformation_goes_below(
    decide: Callable[[str], int | None], case: str, examination: Examination, context: Context
) -> Evidence:
    value = decide(case)
    if value is None:
        examination.decide("a value", None, "undecided")
        return examination.evidence("")
    orders = {
        name: information_exponent(text, of=link(case)).value
        for name, text in _transformations(case).items()
    }
    for name, order in orders.items():
        examination.decide(
            f"ie({name}) >= {value}", None if order is None else order >= value, f"found {order}"
        )
    if context.parameters and value not in orders.values():
        return examination.evidence("T(y) = y, y², y³, tanh y; that some T attains it is not shown")
    attained = any(order == value for order in orders.values())
    examination.decide(f"{value} is attained", attained, f"found {orders}")
    return examination.evidence("T(y) = y, y², y³, tanh y")


def _transformations(g: str) -> dict[str, str]:
    return {"g": g, "g²": f"({g})**2", "g³": f"({g})**3", "tanh g": f"tanh({g})"}


C = Claim(
    "mamba.C",
    "fact on polynomial links (ge is 1 or 2)",
    r"g \text{ a polynomial, not constant: } \mathrm{ge}(g) = 1 \text{ if } g \text{ is not even, }"
    r" 2 \text{ if it is}",
    title="polynomials: ge = 1 unless even, then 2",
    depends_on=("mamba.B",),
    note=NUMBERING,
)


def _power(witness: Witness | None) -> int:
    assert witness is not None
    return witness.power


def _by_parity(polynomial: Surds) -> int:
    return 2 if (polynomial - polynomial.reflect()).is_zero else 1


@C.check(
    "exact witnesses",
    CERTIFIED,
    formula=_by_parity,
    cases=MORE,
    controls={
        "always 1": lambda polynomial: 1,
        "1 only for odd links": lambda polynomial: (
            1 if (polynomial + polynomial.reflect()).is_zero else 2
        ),
        "parity of the degree": lambda polynomial: 1 if polynomial.degree % 2 else 2,
    },
    at=POLYNOMIAL,
)
def exact_witnesses(
    exponent: Callable[[Surds], int], case: str, examination: Examination
) -> Evidence:
    polynomial = link(case).polynomial
    assert polynomial is not None
    value = exponent(polynomial)
    for k in range(1, value):
        witness = polynomial_witness(polynomial, k)
        # A witness below refutes; without one, the parity of the polynomial must say why.
        blind = k % 2 == 1 and (polynomial - polynomial.reflect()).is_zero
        shown = "even link" if witness is None else str(witness)
        examination.decide(
            f"E[He{k} | g] = 0",
            blind and witness is None,
            shown,
            by=same(expression_of(polynomial), expression_of(polynomial.reflect())),
        )
    found = polynomial_witness(polynomial, value)
    even = (polynomial - polynomial.reflect()).is_zero
    seen = False if value % 2 and even else (None if found is None else True)
    examination.decide(
        f"E[He{value} | g] ≠ 0",
        seen,
        str(found),
        by=lambda: differs(
            gaussian(expression_of(polynomial) ** _power(found) * expression_of(hermite(value))), 0
        ),
    )
    return examination.evidence("by exact moments of powers")


EVERY_LINK = Claim(
    "mamba.C.every-link",
    "Fact C without its hypothesis (counterexample)",
    r"g \in L^2 \text{ not constant} \Rightarrow \mathrm{ge}(g) \in \{1, 2\}",
    title="ge is 1 or 2 for every link: false, z²e^{-z²} has ge = 4",
    expected=REFUTED,
    note="z e^{-z²/2} = ±√g, so the two branches of E[He_2 | g] cancel.",
)


@EVERY_LINK.check(
    "pairing of branches",
    PROVED,
    formula=(1, 2),
    controls={"ge is 1, 2 or 3": (1, 2, 3), "ge is 1": (1,)},
    mutate=False,
)
def pairing_of_branches(allowed: tuple[int, ...], examination: Examination) -> Evidence:
    found = generative_exponent("z**2*exp(-z**2)")
    examination.decide("ge(z²e^{-z²})", found.value in allowed, "; ".join(found.reasons))
    return examination.evidence("one link")


THRESHOLD = Claim(
    "mamba.A.threshold",
    "Definition A by a floating-point threshold (counterexample)",
    r"\mathrm{ie}(g) = \min\{k : |\widehat{\mathbb E}[g\,\mathrm{He}_k]| > 10^{-10}\}",
    title="a threshold of 10⁻¹⁰ finds the information exponent: false for He_4 - 10⁻¹²He_1",
    expected=REFUTED,
)


@THRESHOLD.check(
    "a small coefficient",
    CERTIFIED,
    formula=1e-10,
    controls={"threshold 1e-11": 1e-11, "threshold 1e-6": 1e-6},
)
def a_small_coefficient(level: float, examination: Examination) -> Evidence:
    exact, rough = _decided(TINY), _threshold(TINY, level=level)
    examination.decide("both agree", exact == rough, f"exact {exact}, threshold {rough}")
    return examination.evidence(TINY)


# -- even links ---------------------------------------------------------------------------------

EVEN = Claim(
    "mamba.even",
    "even links with ie >= 4 (a small theorem)",
    r"g \text{ even},\ \mathrm{ie}(g)\ge4,\ \deg g\le18 \Rightarrow \mathbb E[g^2\mathrm{He}_2]>0,"
    r"\quad\text{and not always at degree } 20",
    title="even g, ie >= 4, degree <= 18: E[g² He_2] > 0; at degree 20 it can vanish",
    hypotheses=(EVENNESS, HIGH_EXPONENT, DEGREE),
    depends_on=("mamba.recurrence",),
)


def _pivot_step(before: Fraction, i: int, value: Fraction) -> list[Statement]:
    """``d_i = 2i - i(i-1)/d_{i-2}``, and the two entries of the form that this comes from."""
    entries = ((i, i, 2 * i * factorial(i)), (i - 2, i, factorial(i)))
    return [
        equals(Evaluated(_PIVOT, {"d": before, "i": i}), value),
        *(
            equals(gaussian(expression_of(hermite(j) * hermite(k) * hermite(2))), stated)
            for j, k, stated in entries
        ),
    ]


_PIVOT = 2 * sympy.Symbol("i") - sympy.Symbol("i") * (sympy.Symbol("i") - 1) / sympy.Symbol("d")


@EVEN.check(
    "LDLᵀ over the rationals",
    PROVED,
    formula=(18, 20),
    controls={
        "positive up to degree 20": (20, 22),
        "fails at degree 18 already": (16, 18),
    },
    mutate=False,
)
def ldl(degrees: tuple[int, int], examination: Examination) -> Evidence:
    safe, failing = degrees
    pivots = second_moment_pivots(4, failing)
    for i in range(4, failing + 1, 2):
        value = pivots.get(i)
        if value is not None and i > 4:
            step = theory.pivot(
                sympy.Rational(pivots[i - 2].numerator, pivots[i - 2].denominator), sympy.Integer(i)
            )
            examination.lemma(
                f"pivot {i} by the recurrence",
                step == sympy.Rational(value.numerator, value.denominator),
                by=partial(_pivot_step, pivots[i - 2], i, value),
            )
    positive = all(i in pivots and pivots[i] > 0 for i in range(4, safe + 1, 2))
    shown = ", ".join(f"d_{i} = {float(d):.4g}" for i, d in pivots.items())
    examination.decide(
        f"all pivots up to {safe} are positive",
        positive,
        shown,
        by=[less(0, pivots[i]) for i in range(4, safe + 1, 2) if i in pivots],
    )
    examination.decide(
        f"the pivot at {failing} is not",
        pivots.get(failing, Fraction(1)) <= 0,
        shown,
        by=at_most(pivots.get(failing, Fraction(1)), 0),
    )
    return examination.evidence("every even polynomial of these degrees with ie >= 4")


@EVEN.check(
    "the explicit polynomial",
    CERTIFIED,
    formula=vanishing_link(4),
    controls={
        "without its highest term": vanishing_link(4) - vanishing_link(4).leading * hermite(20),
        "he_4": hermite(4),
    },
)
def explicit_polynomial(g: Surds, examination: Examination) -> Evidence:
    raw, value = raw_coefficients(g), _mean(g * g * hermite(2))
    link_, z = expression_of(g), sympy.Symbol("z", real=True)
    examination.decide(
        "E[g² He_2] = 0",
        value.is_zero,
        str(value),
        by=equals(gaussian(link_**2 * expression_of(hermite(2))), 0),
    )
    examination.decide("even", (g - g.reflect()).is_zero, by=same(link_, link_.subs(z, -z)))
    examination.decide(
        "ie >= 4",
        all(raw[k].is_zero for k in range(4)),
        by=[equals(gaussian(link_ * expression_of(hermite(k))), 0) for k in range(1, 4)],
    )
    examination.decide(
        "degree 20",
        g.degree == 20,
        f"degree {g.degree}",
        by=[degree(link_, z, 20), differs(link_.coeff(z, 20), 0)],
    )
    return examination.evidence("one polynomial over Q(√n)")


@EVEN.check(
    "at links",
    CERTIFIED,
    formula=Fraction(0),
    controls={"above 2·deg g·E[g²]": Fraction(1), "above 4·deg g·E[g²]": Fraction(2)},
    cases=("He4(z)", "He4(z)/sqrt(24) - He6(z)/sqrt(720)", "z**4 - 6*z**2"),
    at=POLYNOMIAL,
)
def at_links(share: Fraction, case: str, examination: Examination) -> Evidence:
    """``E[g² He_2] > 2·share·deg g·E[(g - E g)²]``, exactly; ``he_4`` alone has ``2·4``."""
    polynomial = link(case).polynomial
    assert polynomial is not None
    g = polynomial - _mean(polynomial)
    gap = _mean(g * g * hermite(2)) - Surds.of(share * g.degree * 2) * _mean(g * g)
    right = f"{share}·2·deg g·E[g²]" if share else "0"
    examination.decide(
        f"E[g² He_2] > {right}",
        gap.real_sign() > 0,
        f"the difference is {gap}",
        by=lambda: less(
            share * g.degree * 2 * gaussian(expression_of(g) ** 2),
            gaussian(expression_of(g) ** 2 * expression_of(hermite(2))),
        ),
    )
    return examination.evidence("exactly")


claims = [HERMITE, RECURRENCE, A, THRESHOLD, B, C, EVERY_LINK, EVEN]
