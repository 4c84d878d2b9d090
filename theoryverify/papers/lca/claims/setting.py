"""Section 3 and Appendix C: the joint law of a prompt, and its large-context limits."""

from __future__ import annotations

import sympy

from theoryverify.claims import PROVED, Claim, Evidence, Examination, Hypothesis
from theoryverify.exact.laws import Law
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.laws import law_of
from theoryverify.papers.lca.theory import M, zeta

INDEPENDENT = Hypothesis("independence", r"\zeta \perp m")
IN_UNITS = (INDEPENDENT, Hypothesis("label scale", r"0<\mathbb E[\zeta^2]<\infty"))
"""What a risk in units of ``E[ζ²]`` needs to be a function of the law of Z alone."""


def _no_signal(case: object) -> str | None:
    law = law_of(case)
    return f"{law} gives m = 0 probability one" if isinstance(law, Law) and law.upper <= 1 else None


SIGNAL = Hypothesis("signal", r"\mathbb P(m\ne0)>0", _no_signal)

# -- Lemma C.1 ----------------------------------------------------------------------------------

C1 = Claim(
    "lca.C.1",
    "Lemma C.1; (3.2)-(3.4)",
    r"y = \langle w, x\rangle + \varepsilon,\quad w = \frac{\zeta m}{1+\|m\|^2},\quad "
    r"\varepsilon \sim N\!\left(0, \frac{\zeta^2}{1+\|m\|^2}\right) \text{ independent of } x",
    title="y = ⟨w,x⟩ + ε with w = ζm/(1+|m|²)",
)


@C1.check(
    "normal equations",
    PROVED,
    formula=(zeta / (1 + M), zeta**2 / (1 + M)),
    controls={
        "w = ζm/|m|²": (zeta / M, zeta**2 / (1 + M)),
        "w = ζm (no shrinkage)": (zeta, zeta**2 / (1 + M)),
        "Var(y|x) = ζ²/(1+|m|²)²": (zeta / (1 + M), zeta**2 / (1 + M) ** 2),
    },
)
def normal_equations(formula: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    weight, variance = formula  # w = weight * m
    sigma = theory.covariance_x()
    # Σ_x w = E[xy] says that y - ⟨w,x⟩ is uncorrelated with x; Gaussian, hence independent.
    examination.identity("Σ_x w = E[xy]", sigma.on_spike * weight, theory.covariance_xy())
    spread = theory.variance_y() - 2 * weight * theory.covariance_xy() * M
    spread += weight**2 * M * sigma.on_spike
    examination.identity("E(y - ⟨w,x⟩)² = Var(y|x)", spread, variance)
    examination.identity("the derivation gives the same w", theory.regression_weight(), weight)
    examination.identity(
        "the derivation gives the same variance", theory.residual_variance(), variance
    )
    examination.assume("uncorrelated jointly Gaussian vectors are independent")
    return examination.evidence("every d, m, ζ")


# -- Lemma C.2 ----------------------------------------------------------------------------------

C2 = Claim(
    "lca.C.2",
    "Lemma C.2",
    r"\hat\Sigma \to \Sigma_x,\quad \tfrac1L Xy \to \zeta m,\quad \tfrac1L y^\top y \to \zeta^2 "
    r"\quad\text{a.s. given } (m,\zeta)",
    title="Σ̂ → I+mmᵀ, Xy/L → ζm, yᵀy/L → ζ²",
)


@C2.check(
    "means",
    PROVED,
    formula=(sympy.Integer(1), sympy.Integer(1), zeta, zeta**2),
    controls={
        "Σ_x = I": (sympy.Integer(1), sympy.Integer(0), zeta, zeta**2),
        "Xy/L → m": (sympy.Integer(1), sympy.Integer(1), sympy.Integer(1), zeta**2),
        "Σ_x = 2I + mmᵀ": (sympy.Integer(2), sympy.Integer(1), zeta, zeta**2),
    },
)
def means(formula: tuple[sympy.Expr, ...], examination: Examination) -> Evidence:
    iso, spike, cross, square = formula
    # Entries involve at most two coordinates, so two coordinates speak for every d.
    m1, m2, u, n1, n2 = sympy.symbols("m1 m2 u mu1 mu2", real=True)
    x1, x2, y = u * m1 + n1, u * m2 + n2, zeta * u

    def mean(expression: sympy.Expr) -> sympy.Expr:
        return _gaussian_mean(expression, (u, n1, n2))

    examination.identity("E[x₁²] = (Σ_x)₁₁", mean(x1 * x1), iso + spike * m1**2)
    examination.identity("E[x₁x₂] = (Σ_x)₁₂", mean(x1 * x2), spike * m1 * m2)
    examination.identity("E[x₁y] = cross·m₁", mean(x1 * y), cross * m1)
    examination.identity("E[y²]", mean(y * y), square)
    sigma = theory.covariance_x()
    examination.identity("the derivation's Σ_x, on I", sigma.iso, iso)
    examination.identity("the derivation's Σ_x, on mmᵀ", sigma.spike, spike)
    examination.assume("strong law of large numbers, given (m, ζ)")
    return examination.evidence("every d, m, ζ")


def _gaussian_mean(expression: sympy.Expr, normals: tuple[sympy.Symbol, ...]) -> sympy.Expr:
    """``E`` of a polynomial in independent N(0,1): ``E[g^{2k}] = (2k-1)!!``, odd moments vanish."""
    total = sympy.Integer(0)
    for powers, coefficient in sympy.Poly(sympy.expand(expression), *normals).terms():
        if all(power % 2 == 0 for power in powers):
            total += coefficient * sympy.prod([sympy.factorial2(power - 1) for power in powers])
    return total


claims = [C1, C2]
