"""The test-time feature ``P_1 + P_2 (⟨β,x⟩/r)^ge``: its exact remainder, and how much of it is there."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
import sympy

from theoryverify.claims import (
    CERTIFIED,
    COMPUTED,
    PROVED,
    REFUTED,
    Claim,
    Evidence,
    Examination,
)
from theoryverify.claims.statements import Statement, gaussian_over, same
from theoryverify.exact.balls import Enclosure, precision
from theoryverify.exact.gate import Gate
from theoryverify.papers.mamba import one_step, theory
from theoryverify.papers.mamba.claims.embedding import gaussian_mean
from theoryverify.papers.mamba.claims.exponents import NUMBERING
from theoryverify.papers.mamba.links import HE3, HE4, MIX, NAMES
from theoryverify.papers.mamba.one_step import one_step_feature, ratio
from theoryverify.papers.mamba.population import Population
from theoryverify.papers.mamba.stage_one import StageOne
from theoryverify.papers.mamba.theory import c1, r, z

# -- the remainder ------------------------------------------------------------------------------

REMAINDER = Claim(
    "mamba.C.1.remainder",
    "Lemma C.1, Proposition 4.1: exact form",
    r"\frac{\mathbb E[N^{-1}\mathrm{Mamba}\mid\beta,x]}{\eta F_{N_{\mathrm{pt}}}F_N}"
    r"=P_1+P_2(\langle\beta,x\rangle/r)^{\mathrm{ge}}+R,\quad "
    r"R=s\,(z^2+\tfrac S2-\tfrac32)\ (\mathrm{ge}=1),\quad R=\tfrac s2(S-1)\ (g\text{ even})",
    title="the feature's mean is P₁ + P₂(⟨β,x⟩/r)^ge plus an explicit remainder",
    depends_on=("mamba.T17", "mamba.T6", "mamba.E.gradient"),
    note=f"{NUMBERING} s = √2c₂²K₂/(r(r+2)), S = Σβ_i²x_i². P₁, P₂ are reconstructed. The mean over "
    "contexts, with the factors of forgetting of N_pt and of N examples (mamba.T6) divided out.",
)

_STATED = tuple(
    part for ge in (1, 2) for part in (one_step.stated_feature(ge), one_step.remainder(ge))
)


@REMAINDER.check(
    "algebra",
    PROVED,
    formula=_STATED,
    controls={
        "z/√r for z/r": (_STATED[0].subs(z, z * sympy.sqrt(r)), *_STATED[1:]),
        "weights 2:2: no S": (_STATED[0], _STATED[1], _STATED[2], sympy.Integer(0)),
        "P₁ = c₀²K₀ for even g": (
            *_STATED[:2],
            _STATED[2] + one_step.spread_coefficient(),
            _STATED[3],
        ),
        "z² does not survive": (_STATED[0], _STATED[3], *_STATED[2:]),
        "a mean left in the remainder": (
            _STATED[0] - one_step.spread_coefficient() / 1000,
            _STATED[1] + one_step.spread_coefficient() / 1000,
            *_STATED[2:],
        ),
        "a part of z² left in the remainder": (
            *_STATED[:2],
            _STATED[2] - one_step.spread_coefficient() * (z**2 - 1) / 1000,
            _STATED[3] + one_step.spread_coefficient() * (z**2 - 1) / 1000,
        ),
    },
)
def algebra(formula: tuple[sympy.Expr, ...], examination: Examination) -> Evidence:
    feature = theory.test_time_feature()
    examination.identity("ge = 1", feature, formula[0] + formula[1])
    examination.identity("even g: c_1 = 0", feature.subs(c1, 0), formula[2] + formula[3])
    # A sum can be split anywhere: the stated part is affine in z^ge, and the rest holds no z^ge and
    # has the mean 0. E z² = E S = 1, for |β| = 1.
    for ge, part, rest in ((1, *formula[:2]), (2, *formula[2:])):
        stated, left = sympy.Poly(part, z, one_step.S), sympy.Poly(rest, z, one_step.S)
        affine = stated.nth(0, 0) + stated.nth(ge, 0) * z**ge
        examination.identity(f"ge = {ge}: P₁ + P₂(z/r)^{ge}", part, affine)
        examination.identity(f"ge = {ge}: no z^{ge} in R", left.nth(ge, 0), sympy.Integer(0))
        mean = left.nth(0, 0) + left.nth(2, 0) + left.nth(0, 1)
        examination.identity(f"ge = {ge}: E R = 0", mean, sympy.Integer(0))
    return examination.evidence("every r, β, x, c_k, K_k")


# -- how much of the feature is the stated function ----------------------------------------------

SHARE = Claim(
    "mamba.C.1.share",
    "ours: how much of the feature is a function of z",
    r"R^2\text{ with } z^2\ (g\text{ even}):\ \frac{(2r+7)^2}{(r+2)(4r+23)};\qquad R^2\text{ with } z:\ "
    r"\Big(1+q^2\frac{4r+23}{2(r+2)}\Big)^{-1},\ q=\frac{\sqrt2c_2^2K_2}{(r+2)c_1^2K_1}",
    title="the feature's R² with ⟨β,x⟩^ge, exactly",
    depends_on=("mamba.C.1.remainder", "mamba.T16"),
)

_SHARES = (one_step.share_even(), one_step.share_odd())


@SHARE.check(
    "covariances",
    PROVED,
    formula=_SHARES,
    controls={
        "B = 3/r": (
            (2 + 3 / r) ** 2 / (4 + 15 / r),
            1 / (1 + ratio**2 * (2 + sympy.Rational(15, 2) / r)),
        ),
        "the 3:2 ignored": (sympy.Integer(1) - 0 * r, 1 / (1 + 2 * ratio**2)),
        "z² and S taken for independent": (
            4 / (4 + 3 / (r + 2)),
            1 / (1 + ratio**2 * (2 + sympy.Rational(3, 2) / (r + 2))),
        ),
    },
)
def covariances(formula: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    # Coordinate by coordinate: z = β_1x_1 + β_2x_2 + ρx_3 with x_3 for all the others.
    b1, b2, rho = sympy.symbols("beta1 beta2 rho", real=True)
    x = sympy.symbols("x1:4", real=True)
    inner = b1 * x[0] + b2 * x[1] + rho * x[2]

    def covariance(left: sympy.Expr, right: sympy.Expr) -> sympy.Expr:
        product = gaussian_mean(sympy.expand(left * right), x)
        return product - gaussian_mean(left, x) * gaussian_mean(right, x)

    def said(left: sympy.Expr, right: sympy.Expr, value: sympy.Expr) -> Statement:
        """The same with the means left to the reader of a certificate."""
        means = [gaussian_over(part, x) for part in (left * right, left, right)]
        return same(means[0] - means[1] * means[2], value)

    length = b1**2 + b2**2 + rho**2  # = 1
    examination.lemma(
        "Cov(z², x_1²) = 2β_1²",
        sympy.expand(covariance(sympy.expand(inner**2), x[0] ** 2) - 2 * b1**2) == 0,
        by=said(inner**2, x[0] ** 2, 2 * b1**2),
    )
    examination.lemma(
        "Var z² = 2|β|⁴",
        sympy.expand(covariance(sympy.expand(inner**2), sympy.expand(inner**2)) - 2 * length**2)
        == 0,
        by=said(inner**2, inner**2, 2 * length**2),
    )
    examination.lemma(
        "Cov(z, z²) = Cov(z, x_1²) = 0",
        covariance(inner, sympy.expand(inner**2)) == 0 and covariance(inner, x[0] ** 2) == 0,
        by=[said(inner, inner**2, 0), said(inner, x[0] ** 2, 0)],
    )
    examination.lemma(
        "Cov(x_1², x_2²) = 0",
        covariance(x[0] ** 2, x[1] ** 2) == 0,
        by=said(x[0] ** 2, x[1] ** 2, 0),
    )
    # So with B = Σβ_i⁴ (S = Σβ_i²x_i²): Cov(z², S) = Var S = 2B. Means do not depend on β.
    _, fourth, _ = theory.sphere_moments()
    B = r * fourth
    with_square = 2 + B  # Cov(z² + S/2, z²)
    whole = 2 + 2 * B + B / 2  # Var(z² + S/2)
    examination.identity("R² with z² = Cov²/(2 Var)", with_square**2 / (2 * whole), formula[0])
    examination.identity("R² with z", 1 / (1 + ratio**2 * whole), formula[1])
    examination.identity(
        "1 - R² for even g", 1 - formula[0], 3 * (r - 1) / ((r + 2) * (4 * r + 23))
    )
    return examination.evidence("every r; x ~ N(0, I), β uniform on the sphere")


@SHARE.check(
    "quadrature in the plane",
    COMPUTED,
    formula=_SHARES,
    controls={
        "off by 1e-9": tuple(s * (1 + sympy.Rational(1, 10**9)) for s in _SHARES),
        "at r + 1": tuple(s.subs(r, r + 1) for s in _SHARES),
    },
    mutate=False,
)
def in_the_plane(formula: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    """r = 2: regression of the feature itself, with nodes that are exact for its degree."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(6)
    weights = weights / weights.sum()
    angles = 2 * np.pi * (np.arange(24) + 0.1) / 24
    x, y, angle = (a.ravel() for a in np.meshgrid(nodes, nodes, angles, indexing="ij"))
    mass = np.einsum("i,j,k->ijk", weights, weights, np.full(24, 1 / 24)).ravel()
    along = np.cos(angle) * x + np.sin(angle) * y
    square = np.cos(angle) ** 2 * x**2 + np.sin(angle) ** 2 * y**2
    size = 3.7  # s; any number will do
    for name, slope, other, stated in (
        ("R² with z²", 0.0, along**2, formula[0]),
        ("R² with z", 1.3, along, formula[1]),
    ):
        values = slope * along + size * (along**2 + square / 2 - 1.5)

        def cov(a: np.ndarray, b: np.ndarray) -> float:
            return float(mass @ (a * b) - (mass @ a) * (mass @ b))

        found = cov(values, other) ** 2 / cov(values, values) / cov(other, other)
        right = float(stated.subs({r: 2, ratio: sympy.Rational(37, 13)}))
        examination.decide(name, bool(abs(found / right - 1) <= 3e-10), f"{found:.14g}, {right}")
    return examination.evidence("r = 2, to 3e-10")


_Setting = tuple[str, str, str]

_TABLE: dict[_Setting, tuple[str, str, str]] = {
    (HE4, "60", "-9"): ("0.962", "0.982", "0.995"),
    (HE3, "24", "-9"): ("0.432", "0.916", "0.994"),
    (HE3, "8", "-6"): ("0.968", "0.998", "1.000"),
    (MIX, "16", "-9"): ("0.000", "0.007", "0.097"),
}
_SIZES = (8, 32, 128)


@lru_cache(maxsize=16)
def _step(setting: _Setting) -> StageOne:
    text, rho, bias = setting
    return StageOne(Population(text, Gate(rho, bias)))


NUMBERS = Claim(
    "mamba.C.1.numbers",
    "ours: the feature's R² at r = 8, 32, 128",
    r"R^2:\ \mathrm{he}_4\ 0.962,0.982,0.995;\ \mathrm{he}_3\ 0.432,0.916,0.994;\ "
    r"\tfrac{\mathrm{he}_2+\mathrm{he}_3}{\sqrt2}\ 0.000,0.007,0.097",
    title="R² at r = 8, 32, 128: near 1 for he_3 and he_4, near 0 for he_2+he_3",
    depends_on=("mamba.C.1.share", "mamba.E.query"),
    note="Nothing forgotten (F = 1) and the context at its mean.",
)


@NUMBERS.check(
    "enclosed",
    CERTIFIED,
    formula=_TABLE,
    controls={
        "0.015, 0.017, 0.108 for he_2+he_3": {
            **_TABLE,
            (MIX, "16", "-9"): ("0.015", "0.017", "0.108"),
        },
        "0.436 for he_3": {**_TABLE, (HE3, "24", "-9"): ("0.436", "0.916", "0.994")},
        "a function of z alone for he_4": {**_TABLE, (HE4, "60", "-9"): ("1.000",) * 3},
    },
)
def enclosed(table: dict[_Setting, tuple[str, str, str]], examination: Examination) -> Evidence:
    for setting, row in table.items():
        for size, shown in zip(_SIZES, row, strict=True):
            found = one_step_feature(_step(setting), size).share
            half = Fraction(1, 2000)
            near = found.lower - half <= Fraction(shown) <= found.upper + half
            at = f"{NAMES[setting[0]]}, ρ = {setting[1]}, b = {setting[2]}, r = {size}"
            examination.decide(f"{at}: {shown}", near, str(found))
    return examination.evidence("four gates, to three decimals")


# -- where it fails -----------------------------------------------------------------------------

EVERYWHERE = Claim(
    "mamba.C.1.small-r",
    "Proposition 4.1 without r >> polylog d (counterexample)",
    r"R^2\big(\text{feature},\langle\beta,x\rangle^{\mathrm{ge}}\big)\ge\tfrac12"
    r"\text{ for every link and } r",
    title="the feature is P₁+P₂z at every r: false, he_2+he_3 has R² < 0.1 at r = 128",
    expected=REFUTED,
    depends_on=("mamba.C.1.share", "mamba.E.query"),
)


@EVERYWHERE.check(
    "he_2+he_3 at r = 8, 32, 128",
    CERTIFIED,
    formula=(MIX, "16", "-9", Fraction(1, 2)),
    controls={
        "even a tenth": (MIX, "16", "-9", Fraction(1, 10)),
        "he_3 at r = 8": (HE3, "24", "-9", Fraction(1, 2)),
        "he_4 to 97%": (HE4, "60", "-9", Fraction(97, 100)),
    },
    mutate=False,
)
def at_every_size(stated: tuple[str, str, str, Fraction], examination: Examination) -> Evidence:
    text, rho, bias, level = stated
    for size in _SIZES:
        share = one_step_feature(_step((text, rho, bias)), size).share
        less = share.less_than(level)
        examination.decide(
            f"R² >= {level} at r = {size}", None if less is None else not less, str(share)
        )
    return examination.evidence("three sizes")


IDEAL = Claim(
    "mamba.C.1.indicator",
    "test-time feature with the ideal γ (counterexample)",
    r"\gamma=\text{indicator of the support}:\quad \mathbb E f\text{ is affine in } z\text{ for ge}=1",
    title="the indicator of the support gives a feature affine in z: false, c₂he_2(z) survives",
    expected=REFUTED,
    depends_on=("mamba.T5",),
    note="R² of c₀ + c₁z + c₂he_2(z) with z is c₁²/(c₁²+c₂²), whatever r; only the 1/r of a trained "
    "γ* suppresses the z² term.",
)


def _indicator_share(text: str, rho: str, bias: str) -> Enclosure:
    step = _step((text, rho, bias))
    _, one, two = step.context_factors
    with precision(step.bits):
        first, second = one.ball() ** 2, two.ball() ** 2
        return Enclosure.of(first / (first + second))


@IDEAL.check(
    "coefficients",
    CERTIFIED,
    formula=(HE3, "24", "-9", Fraction(1, 2)),
    controls={
        "he_2+he_3, to 3%": (MIX, "16", "-9", Fraction(3, 100)),
        "he_3 at ρ = 4, to 8%": (HE3, "4", "-2", Fraction(8, 100)),
    },
    mutate=False,
)
def coefficients(stated: tuple[str, str, str, Fraction], examination: Examination) -> Evidence:
    text, rho, bias, level = stated
    share = _indicator_share(text, rho, bias)
    less = share.less_than(level)
    examination.decide(
        f"R² of {NAMES[text]} with z >= {level}", None if less is None else not less, str(share)
    )
    return examination.evidence("one gate, every r")


claims = [REMAINDER, SHARE, NUMBERS, EVERYWHERE, IDEAL]
