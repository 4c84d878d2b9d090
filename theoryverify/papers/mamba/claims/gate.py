"""Lemma D: the gate lowers the information exponent to the generative one, or does not."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from math import factorial

import sympy
from flint import arb

from theoryverify.claims import (
    CERTIFIED,
    PROVED,
    REFUTED,
    Claim,
    Evidence,
    Examination,
    Hypothesis,
)
from theoryverify.claims.statements import (
    Statement,
    degree,
    differs,
    equals,
    expression_of,
    gaussian,
    nonnegative,
)
from theoryverify.exact.balls import Enclosure, ball, bits_for, precision, sign
from theoryverify.exact.gate import Gate
from theoryverify.exact.gate_law import (
    gate_law,
    sigmoid_derivative_ball,
    sigmoid_derivative_vanishes,
)
from theoryverify.exact.gate_zeros import certified_root, gated_ball
from theoryverify.exact.generative import generative_exponent
from theoryverify.exact.hermite import hermite_coefficient, raw_coefficients
from theoryverify.exact.links import link
from theoryverify.exact.surds import Surds, hermite, root_factorial
from theoryverify.papers.mamba import theory
from theoryverify.papers.mamba.claims.exponents import NUMBERING
from theoryverify.papers.mamba.links import (
    CANCELLING,
    HE2,
    HE3,
    HE4,
    HE5,
    MIX,
    POLYNOMIALS,
)
from theoryverify.papers.mamba.placed import (
    ALL_SCALES,
    ANY_GATE,
    CENTRED,
    GATE,
    ODD_AT_ZERO,
    SCALE,
    Gated,
)
from theoryverify.papers.mamba.theory import u, y, z


def _flat(case: Gated) -> str | None:
    """At the leading order the derivative of σ must not vanish at b; at rational b ≠ 0 none does."""
    if Fraction(case.b) != 0:
        return None
    law = gate_law(case.link, generative_exponent(case.link).value or 1, "-1")
    if sigmoid_derivative_vanishes(law.k, case.b):
        return f"σ^({law.k})({case.b}) = 0 at the leading order of {case.link}"
    return None


BIAS = Hypothesis("bias", r"\sigma^{(k)}(b)\neq0 \text{ at the leading order } k", _flat)

_LARGE = tuple(Gated(g, b) for g in (*POLYNOMIALS, CANCELLING) for b in ("-3", "-1/2"))

# -- Lemma D ------------------------------------------------------------------------------------

D = Claim(
    "mamba.D",
    "lemma: the gate lowers the exponent",
    r"\mathrm{ie}\big(g\,\sigma(g/\rho+b)\big) = \mathrm{ge}(g)\quad\text{for } \rho\ge\rho_0(g,b)",
    title="ie(g·σ(g/ρ+b)) = ge(g) for ρ >= ρ₀(g,b)",
    hypotheses=(BIAS, SCALE),
    depends_on=("mamba.A", "mamba.C"),
    note=f"{NUMBERING} The hypotheses on b and ρ are ours: without them it is false.",
)


def _generative(text: str) -> int:
    return int(generative_exponent(text))


@D.check(
    "Taylor with Lagrange's remainder",
    CERTIFIED,
    formula=_generative,
    cases=_LARGE,
    controls={
        "the gate changes nothing: ie(g)": lambda text: _least(link(text).polynomial),
        "always 1": lambda text: 1,
        "always 2": lambda text: 2,
    },
    at=ALL_SCALES,
)
def lagrange(exponent: Callable[[str], int], case: Gated, examination: Examination) -> Evidence:
    value = exponent(case.link)
    even = link(case.link).parity == "even"
    for k in range(1, value):
        if even and k % 2:
            examination.decide(f"c_{k} = 0", True, "parity")
        else:
            lower = gate_law(case.link, k, case.b)
            examination.decide(f"c_{k} = 0", False, f"{lower} for every ρ >= {lower.valid_from(1)}")
            return examination.evidence("")
    if even and value % 2:
        examination.decide(f"c_{value} ≠ 0", False, "parity")
        return examination.evidence("")
    law = gate_law(case.link, value, case.b)
    start = law.valid_from("9/10")
    examination.decide(
        f"c_{value} ≠ 0 for every ρ >= {start}",
        start > 0,
        f"{law}, with a remainder below 9/10 of it",
    )
    return examination.evidence("every ρ >= ρ₀(g,b), which the check finds")


def _least(polynomial: Surds | None) -> int:
    assert polynomial is not None
    raw = raw_coefficients(polynomial)
    return next(k for k in range(1, raw.degree + 1) if not raw[k].is_zero)


_AT = tuple(Gated(g, b, rho) for g in POLYNOMIALS for rho, b in (("4", "-2"), ("10", "-3")))


@D.check(
    "at two gates",
    CERTIFIED,
    formula=_generative,
    cases=_AT,
    controls={
        "the gate changes nothing: ie(g)": lambda text: _least(link(text).polynomial),
        "ge + 1": lambda text: _generative(text) + 1,
    },
    at=GATE,
)
def at_two_gates(exponent: Callable[[str], int], case: Gated, examination: Examination) -> Evidence:
    found = Gate(case.rho or "1", case.b).information_exponent(case.link)
    value = exponent(case.link)
    last = found.coefficients[-1]
    holds = None if found.value is None else found.value == value
    examination.decide(f"ie = {value}", holds, f"c_{last.k} = {last.enclosure}")
    return examination.evidence("enclosed coefficients")


ANY_BIAS = Claim(
    "mamba.D.any-bias",
    "Lemma D without its hypothesis on b (counterexample)",
    r"\mathrm{ie}\big(g\,\sigma(g/\rho)\big) = \mathrm{ge}(g)",
    title="Lemma D for all b: false at b = 0 for every odd g with ie >= 3",
    expected=REFUTED,
    note="σ(u) - 1/2 is odd, so the odd part of g·σ(g/ρ) is g/2 and c_1 stays 0.",
)


@ANY_BIAS.check(
    "b = 0, certified",
    CERTIFIED,
    formula=_generative,
    cases=tuple(Gated(g, "0", rho) for g in (HE3, HE5) for rho in ("1", "4", "50")),
    controls={"ie(g)": lambda text: _least(link(text).polynomial), "4": lambda text: 4},
)
def zero_bias(exponent: Callable[[str], int], case: Gated, examination: Examination) -> Evidence:
    return at_two_gates(exponent, case, examination)


ANY_SCALE = Claim(
    "mamba.D.any-scale",
    "Lemma D without its hypothesis on ρ (counterexample)",
    r"\mathrm{ie}\big(g\,\sigma(g/\rho+b)\big) = \mathrm{ge}(g)\quad\text{for every } \rho > 0",
    title="Lemma D for all ρ: false, c_1 has isolated zeros",
    expected=REFUTED,
    note="g = -ε he_1 + √(1-ε²)(he_2+he_3)/√2: at the zero ε(ρ,b) of c_1 the exponent is 2.",
)

ROOTS = {
    ("4", "-2"): "0.3436483738229945",
    ("10", "-3"): "0.2029960082169056",
    ("30", "-3"): "0.0602647614589232",
}


def mixture(rho: str, b: str, k: int = 1) -> Callable[[arb], arb]:
    """``ε → E[gσ(g/ρ+b) He_k]`` for ``g = -ε he_1 + √(1-ε²)(he_2+he_3)/√2``."""

    def coefficient(epsilon: arb) -> arb:
        share = ((1 - epsilon * epsilon) / 2).sqrt()
        second, third = share / arb(2).sqrt(), share / arb(6).sqrt()
        monomials = [-second, -epsilon - 3 * third, second, third]
        return gated_ball(monomials, ball(Fraction(rho)), ball(Fraction(b)), k)

    return coefficient


@ANY_SCALE.check(
    "a certified change of sign",
    CERTIFIED,
    formula=(Fraction(1, 10), Fraction(9, 10)),
    controls={
        "on [1/5, 1/2]": (Fraction(1, 5), Fraction(1, 2)),
        "within 10^-4 of the root": (Fraction("0.3436"), Fraction("0.3437")),
    },
    mutate=False,
)
def change_of_sign(interval: tuple[Fraction, Fraction], examination: Examination) -> Evidence:
    zero = certified_root(mixture("4", "-2"), "0.01", "0.9", digits=12)
    with precision(100):
        signs = [sign(mixture("4", "-2")(ball(x))) for x in interval]
        second = mixture("4", "-2", 2)(zero.ball())
    never = None if None in signs else signs[0] == signs[1]
    examination.decide("c_1 never vanishes on the interval", never, f"signs {signs} at its ends")
    examination.lemma("at the zero c_2 does not vanish, so ie = 2", sign(second) == 1, f"{second}")
    return examination.evidence("ρ = 4, b = -2, ε in an interval")


ZERO = Claim(
    "mamba.D.zero",
    "Lemma D: an isolated zero, enclosed",
    r"c_1(\varepsilon) = 0 \text{ at } \varepsilon = 0.3436483738229945\ldots"
    r" \text{ for } (\rho,b) = (4,-2)",
    title="the zero of c_1 is ε = 0.3436483738229945 at (ρ,b) = (4,-2)",
)


@ZERO.check(
    "roots",
    CERTIFIED,
    formula=ROOTS,
    controls={
        "last digits changed": {**ROOTS, ("4", "-2"): "0.3436483738229845"},
        "at (10,-3), as if it did not move": {**ROOTS, ("10", "-3"): ROOTS["4", "-2"]},
    },
)
def roots(table: dict[tuple[str, str], str], examination: Examination) -> Evidence:
    for (rho, b), shown in table.items():
        found = certified_root(mixture(rho, b), "0.01", "0.9", digits=18)
        stated = Fraction(shown)
        slack = Fraction(1, 10**15)
        near = found.lower - slack <= stated <= found.upper + slack
        examination.decide(f"ρ = {rho}, b = {b}: ε = {shown}", near, str(found))
    return examination.evidence("three gates, to 15 digits")


# -- the quantitative form ----------------------------------------------------------------------

LAW = Claim(
    "mamba.D.law",
    "lemma: the gate lowers the exponent, quantitative form",
    r"c_p = \frac{\sigma^{(k)}(b)}{k!\,\rho^k}\,\mathbb E[g^{k+1}\mathrm{he}_p]\,(1+o(1)),\quad"
    r"\rho\to\infty,\ k = e_p(g) - 1",
    title="c_p ~ σ⁽ᵏ⁾(b)/(k! ρᵏ) E[g^{k+1} he_p]",
    hypotheses=(BIAS,),
    depends_on=("mamba.hermite",),
    note=NUMBERING,
)


def _leading(g: Surds, p: int, k: int, rho: int, b: str) -> arb:
    """The statement, written out."""
    moment = raw_coefficients(g ** (k + 1))[p] * root_factorial(p).inverse()
    value = sigmoid_derivative_ball(k, b) * moment.number().real
    return value / (factorial(k) * arb(rho) ** k)


_Leading = Callable[[Surds, int, int, int, str], arb]


@LAW.check(
    "enclosed and compared",
    CERTIFIED,
    formula=_leading,
    cases=tuple(Gated(g, "-3") for g in (HE2, HE3, HE4, MIX)),
    controls={
        "without k!, where k = 2": lambda g, p, k, rho, b: _leading(g, p, k, rho, b) * factorial(k),
        "σ⁽ᵏ⁺¹⁾ for σ⁽ᵏ⁾": lambda g, p, k, rho, b: (
            _leading(g, p, k, rho, b)
            * sigmoid_derivative_ball(k + 1, b)
            / sigmoid_derivative_ball(k, b)
        ),
        "raw for orthonormal": lambda g, p, k, rho, b: (
            _leading(g, p, k, rho, b) * root_factorial(p).number().real
        ),
        "5% more": lambda g, p, k, rho, b: _leading(g, p, k, rho, b) * 21 / 20,
        "5% less": lambda g, p, k, rho, b: _leading(g, p, k, rho, b) * 19 / 20,
    },
    at=ALL_SCALES,
)
def enclosed(statement: _Leading, case: Gated, examination: Examination) -> Evidence:
    p = _generative(case.link)
    law = gate_law(case.link, p, case.b)
    start = law.valid_from("1/10")
    g = link(case.link).polynomial
    assert g is not None
    # The remainder is of relative order 1/ρ at least.
    for rho, most in ((start, "1/10"), (10 * start, "1/100")):
        found = Gate(rho, case.b).coefficient(case.link, p, digits=20).enclosure
        with precision(bits_for(30)):
            stated = statement(g, p, law.k, rho, case.b)
            gap = Enclosure.of(abs(found.ball() / stated - 1))
        examination.decide(
            f"|c_{p}/law - 1| <= {most} at ρ = {rho}", gap.less_than(Fraction(most)), str(gap)
        )
    return examination.evidence("where the bound says 10%, and to 1% at ten times that ρ")


MOMENTS = {
    (HE3, 1): (2, "9*sqrt(6)"),
    (HE3, 2): (1, "3*sqrt(2)"),
    (HE2, 2): (0, "1"),
    (HE4, 2): (1, "4*sqrt(2)"),
    (MIX, 1): (1, "sqrt(3)"),
    (HE5, 1): (2, "30*sqrt(30)"),
    (HE5, 2): (1, "5*sqrt(2)"),
    (CANCELLING, 1): (2, None),
}


def _first_moment(text: str, p: int, k: int) -> list[Statement]:
    """``E[g^{k+1} He_p]`` is the first of these that is not 0."""
    polynomial = link(text).polynomial
    assert polynomial is not None
    g, he = expression_of(polynomial), expression_of(hermite(p))
    means = [gaussian(g ** (j + 1) * he) for j in range(k + 1)]
    return [*(equals(value, 0) for value in means[:-1]), differs(means[-1], 0)]


@LAW.check(
    "leading orders",
    CERTIFIED,
    formula=MOMENTS,
    controls={
        "raw moments for orthonormal": {**MOMENTS, (HE4, 2): (1, "8")},
        "k = 1 for adjacent degrees always": {**MOMENTS, (CANCELLING, 1): (1, None)},
        "9√6/2": {**MOMENTS, (HE3, 1): (2, "9*sqrt(6)/2")},
    },
)
def leading_orders(
    table: dict[tuple[str, int], tuple[int, str | None]], examination: Examination
) -> Evidence:
    for (text, p), (k, moment) in table.items():
        law = gate_law(text, p, -1)
        agrees = law.k == k and (moment is None or str(law.moment) == moment)
        examination.decide(
            f"{text}, p = {p}: k = {k}",
            agrees,
            f"k = {law.k}, {law.moment}",
            by=partial(_first_moment, text, p, law.k),
        )
    return examination.evidence("exact moments")


TAIL = Claim(
    "mamba.D.law.any-scale",
    "quantitative form without ρ >> B^{deg/2-1} (counterexample)",
    r"c_1\le1000\,\frac{\sigma^{(k)}(b)}{k!\,\rho^k}\,\mathbb E[g^{k+1}\mathrm{he}_1]"
    r"\quad\text{for every } b\le-10,\text{ at fixed } \rho",
    title="the law to a factor 1000 for every b <= -10 at fixed ρ: false, he_3 at ρ = 8, b = -60 is off "
    "by 63303 times",
    expected=REFUTED,
    note="The open gate on {g > ρ|b|} outweighs the bulk unless C_ρ > deg(g)/2 - 1. For he_3 at ρ = 8 "
    "c_1 is 2.0, 3.0, 7.3, 66 and 63303 times the law at b = -10, -20, -30, -40, -60. No factor "
    "would do: as b → -∞, e^{-b}c_1 tends to E[g z e^{g/ρ}] by monotone convergence, and that is ∞ "
    "(mamba.T9).",
)


@lru_cache(maxsize=8)
def _times_the_law(b: int) -> Enclosure:
    """``c_1`` of he_3 at ρ = 8 over its leading term."""
    found = Gate(8, b).coefficient(HE3, 1, digits=20).enclosure
    leading = gate_law(HE3, 1, b).leading(8)
    with precision(bits_for(30)):
        return Enclosure.of(found.ball() / leading.ball())


@TAIL.check(
    "he_3 at ρ = 8, b from -10 to -60",
    CERTIFIED,
    formula=Fraction(1000),
    controls={"a factor 10^4": Fraction(10**4), "a factor 63300": Fraction(63300)},
)
def far_out(factor: Fraction, examination: Examination) -> Evidence:
    for b in (-10, -20, -30, -40, -60):
        quotient = _times_the_law(b)
        examination.decide(
            f"c_1/law <= {factor} at b = {b}", quotient.less_than(factor), str(quotient)
        )
    return examination.evidence("five gates")


# -- exact consequences -------------------------------------------------------------------------

ODD = Claim(
    "mamba.D.odd",
    "lemma: the gate lowers the exponent, the case b = 0",
    r"\text{odd part in } y \text{ of } y\,\sigma(y) = y/2",
    title="b = 0, odd g: the odd coefficients of the gated link are half of g's",
)


@ODD.check(
    "σ(u) + σ(-u) = 1",
    PROVED,
    formula=y / 2,
    controls={"y": y, "y/4": y / 4, "0": sympy.Integer(0)},
)
def half(formula: sympy.Expr, examination: Examination) -> Evidence:
    gated = y * theory.sigmoid(y)
    mirrored = -y * theory.sigmoid(-y)
    examination.identity("[T(y) - T(-y)]/2", (gated - mirrored) / 2, formula)
    return examination.evidence("every odd g, every ρ")


@ODD.check(
    "by quadrature",
    CERTIFIED,
    formula=Fraction(1, 2),
    cases=(Gated(HE3, "0", "4"), Gated(HE5, "0", "1"), Gated("z", "0", "1/1000")),
    controls={"the whole": Fraction(1), "0.499": Fraction(499, 1000)},
    at=ODD_AT_ZERO,
)
def by_quadrature(share: Fraction, case: Gated, examination: Examination) -> Evidence:
    polynomial = link(case.link).polynomial
    assert polynomial is not None
    raw = raw_coefficients(polynomial)
    for k in (1, 3, 5):
        with precision(100):
            coefficients = [c.real for c in polynomial.coefficients()]
            gated = gated_ball(coefficients, ball(Fraction(case.rho or 1)), arb(0), k)
            stated = raw[k].number().real * ball(share)
            holds = gated.overlaps(stated) and gated.rad() < arb(10) ** -15
        examination.decide(f"E[T He_{k}]", bool(holds), f"{gated} and {stated}")
    return examination.evidence("odd orders up to 5")


MEAN = Claim(
    "mamba.T8",
    "test-time feature: its constant",
    r"\mathbb E[g]=0 \Rightarrow c_0 = \mathrm{Cov}\big(g, \sigma(g/\rho+b)\big) > 0",
    title="c_0 = Cov(g, σ(g/ρ+b)) > 0",
    hypotheses=(CENTRED,),
    note=NUMBERING,
)


@MEAN.check(
    "association",
    CERTIFIED,
    formula=1,
    cases=tuple(Gated(g, b, rho) for g in POLYNOMIALS for rho, b in (("4", "-2"), ("1/2", "3"))),
    controls={"negative": -1, "zero": 0},
    at=ANY_GATE,
)
def association(stated: int, case: Gated, examination: Examination) -> Evidence:
    found = Gate(case.rho or "1", case.b).coefficient(case.link, 0, digits=20)
    seen = found.enclosure.sign()
    examination.decide(
        f"the sign of c_0 is {stated}",
        None if seen is None else seen == stated,
        str(found.enclosure),
    )
    examination.assume("Chebyshev's association inequality, for all other links and gates")
    return examination.evidence("enclosed at these gates")


SOFTMAX = Claim(
    "mamba.T9",
    "gate against exponential weights",
    r"|y\,\sigma(y/\rho+b)|\le|y|;\quad \mathbb E|g|e^{g/\rho}=\infty\iff n\ge3\text{ odd, or } "
    r"n\ge4\text{ even and }a>0,\text{ or } n=2,\ a\ge\rho/2\quad(g=az^n+\ldots,\ a\ne0,\ n\ge1)",
    title="the gated label is bounded by |y|; exponential weights diverge for odd degrees >= 3, and for "
    "even ones >= 4 where the leading coefficient is positive",
    note="For g = -he_4 the mean is finite at every ρ (0.868 at ρ = 1): -He_4 = 6 - (z²-3)² is bounded "
    "above. With e^{|g|/ρ} it would diverge from degree 3 on whatever the sign.",
)


@SOFTMAX.check(
    "the gate is below 1",
    PROVED,
    formula=sympy.Integer(1),
    controls={"0.999": sympy.Rational(999, 1000), "1/2, the gate at 0": sympy.Rational(1, 2)},
)
def below_one(bound: sympy.Expr, examination: Examination) -> Evidence:
    gap = 1 / (1 + sympy.exp(u))  # positive, and as small as one likes
    examination.identity("bound - σ(u) = 1/(1 + e^u)", bound - theory.sigmoid(), gap)
    return examination.evidence("every y, ρ, b")


_SCALE = sympy.Symbol("rho", positive=True)
_Diverges = Callable[[int, sympy.Expr], bool | None]


def _stated_divergence(degree: int, leading: sympy.Expr) -> bool | None:
    """The statement: whether ``E|g|e^{g/ρ} = ∞`` for a leading term ``a zⁿ``."""
    if degree == 2:
        decided: bool | None = (leading - _SCALE / 2).is_nonnegative
        return decided
    if degree == 1 or degree % 2:
        return degree > 1
    positive: bool | None = leading.is_positive
    return positive


def _diverges(exponent: sympy.Expr) -> bool | None:
    """Whether ``∫|g|e^h = ∞``, ``h = g/ρ - z²/2``: if h does not tend to -∞ at one end.

    There ``e^h`` is bounded below, and ``|g|`` is too. If h is constant, ``|g|`` grows like z².
    """
    h = sympy.Poly(exponent, z)
    if h.degree() < 2 or h.degree() % 2:
        return True
    falls: bool | None = h.LC().is_negative
    return None if falls is None else not falls


def _leading_term(exponent: sympy.Expr) -> list[Statement]:
    """That h has the degree and the sign at infinity which decide."""
    h = sympy.Poly(exponent, z)
    n, leading = h.degree(), sympy.expand(h.LC() * _SCALE)
    if n < 2:  # the squares cancel; what is left has a sign of either kind
        return [degree(exponent, z, n)]
    below = degree(sympy.expand(exponent * _SCALE - leading * z**n), z, n - 1)
    sign = 1 if leading.is_positive else -1
    return [below, nonnegative(sign * leading, sorted(leading.free_symbols, key=str), strict=True)]


def _leading_coefficients(n: int) -> tuple[sympy.Expr, ...]:
    """All nonzero ones by a positive number ``a``: by sign; in degree 2 as compared with ``ρ/2``."""
    a = sympy.Symbol("a", positive=True)
    return (_SCALE / 2 + a, _SCALE / 2, _SCALE / 2 - a) if n == 2 else (a, -a)


@SOFTMAX.check(
    "the leading term of g/ρ - z²/2",
    PROVED,
    formula=_stated_divergence,
    controls={
        "from degree 3 on, whatever the sign": lambda n, a: n > 2 or _stated_divergence(n, a),
        "from degree 2 on at every ρ": lambda n, a: n == 2 or _stated_divergence(n, a),
        "never in degree 2": lambda n, a: n != 2 and _stated_divergence(n, a),
        "in degree 2 only for a > ρ/2": lambda n, a: (
            (a - _SCALE / 2).is_positive if n == 2 else _stated_divergence(n, a)
        ),
        "from degree 4 on": lambda n, a: n != 3 and _stated_divergence(n, a),
        "even degrees for a < 0": lambda n, a: _stated_divergence(n, -a if n > 2 else a),
    },
)
def leading_terms(stated: _Diverges, examination: Examination) -> Evidence:
    for n in range(1, 9):
        lower = sympy.symbols(f"a0:{n}", real=True)
        rest = sum((c * z**k for k, c in enumerate(lower)), sympy.Integer(0))
        for leading in _leading_coefficients(n):
            exponent = (leading * z**n + rest) / _SCALE - z**2 / 2
            found = _diverges(exponent)
            said = stated(n, leading)
            examination.decide(
                f"degree {n}, leading coefficient {leading}: {'∞' if said else 'finite'}",
                None if found is None or said is None else found == said,
                "∞" if found else "finite",
                by=_leading_term(exponent),
            )
    return examination.evidence(
        "every ρ and every polynomial of degree 1 to 8; from degree 3 on g/ρ has the leading term"
    )


_FALLING = {"1": "0.868", "3": "0.590", "10": "0.557"}


@SOFTMAX.check(
    "-he_4 enclosed",
    CERTIFIED,
    formula=_FALLING,
    controls={
        "the last digit": {**_FALLING, "10": "0.558"},
        "as if ρ were 1": dict.fromkeys(_FALLING, "0.868"),
    },
)
def falling(table: dict[str, str], examination: Examination) -> Evidence:
    for rho, shown in table.items():
        weighted = f"abs(He4(z))/sqrt(24)*exp(-He4(z)/sqrt(24)/{rho})"
        found = hermite_coefficient(weighted, 0, digits=10).enclosure
        half = Fraction(1, 2000)
        near = found.lower - half <= Fraction(shown) <= found.upper + half
        examination.decide(f"E|g|e^{{g/{rho}}} = {shown}", near, str(found))
    return examination.evidence("g = -he_4, three scales, to three decimals")


claims = [D, ANY_BIAS, ANY_SCALE, ZERO, LAW, TAIL, ODD, MEAN, SOFTMAX]
