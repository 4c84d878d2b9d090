"""The derivations that ``theoryverify derive`` prints: each step recomputed and asserted."""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from theoryverify.claims.paper import Derivation, DerivationStep
from theoryverify.claims.steps import asserted, checked
from theoryverify.exact.gate import Gate
from theoryverify.exact.gate_law import gate_law, sigmoid_derivative
from theoryverify.exact.generative import generative_exponent
from theoryverify.exact.hermite import hermite_coefficients, raw_coefficients
from theoryverify.exact.links import link
from theoryverify.exact.surds import Surds, Z, hermite, root_factorial
from theoryverify.papers.mamba import jump, theory
from theoryverify.papers.mamba.derivations import layer
from theoryverify.papers.mamba.theory import c0, c1, c2, n, r, z

H3 = "He3(z)/sqrt(6)"
MIX = "(He2(z)/sqrt(2)+He3(z)/sqrt(6))/sqrt(2)"


def hermite_expansion() -> Iterator[DerivationStep]:
    """He_k, orthogonality, and exact coefficients."""
    yield DerivationStep("He_k(z) = (-1)^k e^{z²/2} (d/dz)^k e^{-z²/2}: monic, probabilists'")
    recurrence = all(
        hermite(k + 1) == Z * hermite(k) - Surds.of(k) * hermite(k - 1) for k in range(1, 40)
    )
    yield checked("z He_k = He_{k+1} + k He_{k-1}, checked for k < 40", recurrence)
    derivative = all(hermite(k).derivative() == Surds.of(k) * hermite(k - 1) for k in range(1, 40))
    yield checked("He_k' = k He_{k-1}, checked for k < 40", derivative)
    yield DerivationStep("by parts (Stein): E[g He_k] = E[g' He_{k-1}] = ... = E[g^{(k)}]")
    orthogonal = all(
        raw_coefficients(hermite(j))[k] == (root_factorial(k) ** 2 if j == k else Surds({}))
        for j in range(20)
        for k in range(20)
    )
    yield checked("so E[He_j He_k] = k! if j = k, else 0, checked for j, k < 20", orthogonal)
    g = link("z**4")
    values = hermite_coefficients(g, 5, norm="series")
    yield checked(
        "z⁴ = Σ s_k He_k with s_k = E[g He_k]/k!, k = 0..4",
        [c.exact for c in values] == ["3", "0", "6", "0", "1"],
        sympy.Tuple(*(sympy.sympify(int(c.exact or 0)) for c in values)),
    )
    again = Surds.of(3) + Surds.of(6) * hermite(2) + hermite(4)
    yield checked("and back: 3 + 6 He_2 + He_4 = z⁴", again == g.polynomial, f"{again}")


def information_exponent() -> Iterator[DerivationStep]:
    """ie(g): the least k >= 1 with E[g He_k] != 0."""
    yield DerivationStep("ie(g) = min{k >= 1: E[g(z) He_k(z)] != 0}; a constant has none")
    for text, expected in ((H3, 3), ("z**4", 2), (MIX, 2)):
        values = hermite_coefficients(text, expected + 1, norm="raw")
        lower_vanish = all(c.zero is True for c in values[1:expected])
        shown = ", ".join(f"E[g He_{c.k}] = {c.exact}" for c in values[1:])
        yield checked(
            f"g = {text}: ie = {expected}", lower_vanish and values[-1].zero is False, shown
        )
    tiny = hermite_coefficients("He4(z) - 1e-12*z", 2, norm="raw")[1]
    yield checked(
        "no threshold: g = He_4 - 10^{-12} He_1 has ie = 1",
        tiny.zero is False,
        f"E[g He_1] = {tiny.exact}",
    )
    hidden = hermite_coefficients("sin(z) - exp(-1/2)*z", 4, norm="raw")
    yield checked(
        "an identity: sin(z) - e^{-1/2} z has ie = 3, as E[sin(z) z] = e^{-1/2}",
        hidden[1].zero is True and hidden[3].zero is False,
        f"E[g He_1] = {hidden[1].exact}, E[g He_3] = {hidden[3].exact}",
    )


def generative_exponent_steps() -> Iterator[DerivationStep]:
    """ge(g): the least k >= 1 with E[He_k | g] not almost surely 0."""
    yield DerivationStep(
        "ge(g) = min over square-integrable T of ie(T∘g); "
        "polynomials have ge = 1 unless even, then 2"
    )
    yield DerivationStep(
        "not even: E[g^j z] = ∫_0^∞ z φ(z)[g(z)^j - g(-z)^j] dz; for large j (odd "
        "for odd g, even otherwise) the bracket has one sign beyond some z_0 and "
        "dominates"
    )
    yield DerivationStep(
        "even: all odd coefficients of T(g) vanish, and E[g^j (z²-1)] > 0 for "
        "large even j, dominated by |z| > 1"
    )
    for text in (H3, "He4(z)/sqrt(24)", MIX, "z**4"):
        found = generative_exponent(text)
        yield checked(
            f"g = {text}: ge = {found.value}", found.witness is not None, str(found.witness)
        )
    square = "z**2*exp(-z**2)"
    found = generative_exponent(square)
    yield checked(
        "beyond polynomials: g = z² e^{-z²} has ge = 4, since z e^{-z²/2} = ±√g makes "
        "the two branches of E[He_2 | g] cancel",
        found.value == 4,
        "; ".join(found.reasons),
    )


def gated_link() -> Iterator[DerivationStep]:
    """c_p ~ σ^{(k)}(b)/(k! ρ^k) E[g^{k+1} he_p], and where it fails."""
    s = sympy.Symbol("s")
    yield DerivationStep(
        "T(y) = y σ(y/ρ + b) = Σ_k σ^{(k)}(b)/(k! ρ^k) y^{k+1}, formally; "
        "Taylor with Lagrange's remainder makes it a bound for every K"
    )
    previous = s
    for k in range(1, 4):
        listed = sympy.Poly([int(c) for c in reversed(sigmoid_derivative(k).coeffs())], s).as_expr()
        yield asserted(
            f"σ^{{({k})}} from σ' = σ(1-σ), with s = σ(b)",
            listed,
            sympy.diff(previous, s) * s * (1 - s),
        )
        previous = listed
    for text, p in ((H3, 1), ("He4(z)/sqrt(24)", 2), (MIX, 1)):
        law = gate_law(text, p, -3)
        yield checked(f"g = {text}: leading order k = {law.k}", law.k == law.effective, str(law))
        start = law.valid_from("1/10")
        gate = Gate(start, -3).coefficient(text, p).enclosure
        leading = law.leading(start)
        close = abs(gate.lower - leading.lower) * 10 <= abs(leading.lower)
        yield checked(
            f"within 10% for every ρ >= {start}; there c_{p} and its law are",
            close,
            f"{float(gate):.10g} and {float(leading):.10g}",
        )
    at = Gate(4, -2)
    c = at.coefficient(H3, 1)
    yield checked(
        "so ie(g·σ(g/ρ+b)) = 1 = ge for He_3/√6 at ρ = 4, b = -2",
        at.information_exponent(H3).value == 1,
        f"c_1 = {c.enclosure}",
    )
    yield asserted(
        "but for b = 0 and odd g: σ(u) - 1/2 is odd, so the odd part of g·σ(g/ρ) is",
        theory.odd_part_of_gated(),
        theory.y / 2,
    )
    flat = Gate(4, 0)
    yield checked(
        "hence c_1 = E[g he_1]/2 = 0 for He_3, and ie = 2, not ge = 1",
        flat.information_exponent(H3).value == 2,
        f"c_2 = {flat.coefficient(H3, 2).enclosure}",
    )


def sphere_moments() -> Iterator[DerivationStep]:
    """Moments of the sphere, and the feature after one gradient step."""
    second, fourth, mixed = theory.sphere_moments()
    yield DerivationStep("a Gaussian vector is x = Rβ, R independent of β on the sphere of R^r")
    yield asserted("E R² = r, so E β_i²", second, 1 / r)
    yield asserted("E R⁴ = 3r + r(r-1), so E β_i⁴", fourth, 3 / (3 * r + r * (r - 1)))
    yield asserted("E β_i² β_j²", mixed, fourth / 3)
    yield asserted(
        "check: Σ_ij E β_i² β_j² = 1", r * fourth + r * (r - 1) * mixed, sympy.Integer(1)
    )
    constant, linear, diagonal, pair = theory.one_step_weights()
    S = sympy.Symbol("S", real=True)
    # Σ_i β_i² x_i² = S; Σ_{i<j} β_i β_j x_i x_j = (z² - S)/2; Σ_i β_i² = 1.
    feature = (
        constant * c0
        + linear * c1 * z
        + diagonal * c2 * (S - 1) / sympy.sqrt(2)
        + pair * sympy.sqrt(2) * c2 * (z**2 - S) / 2
    )
    yield asserted("φ(x)ᵀ(γ* ∘ E[T φ]) with S = Σ β_i² x_i²", feature, theory.test_time_feature())
    yield DerivationStep(
        "the diagonal counts 3, a mixed entry 2: for ge = 2 the feature is not a "
        "function of z alone"
    )


def relu_jump() -> Iterator[DerivationStep]:
    """Closed forms of J_1, J_2 for g = he_n, n >= 3, M > 0 iff |z| > t, t² = 1 - 1/n."""
    yield DerivationStep("(He_{k-1} φ)' = -He_k φ, so ∫_t^∞ He_k φ = He_{k-1}(t) φ(t), k >= 1")
    yield DerivationStep(
        "n >= 3 odd: z He_n = He_{n+1} + n He_{n-1}, so J_1 = 2[He_n + n He_{n-2}](t) φ(t)/√(n!)"
    )
    square = theory.raising(theory.raising({0: sympy.Integer(1)}))
    yield asserted(
        "n >= 4 even: He_2 He_n = He_{n+2} + 2n He_n + n(n-1) He_{n-2}; the middle",
        square[0] - 1,
        2 * n,
    )
    yield asserted("and the last coefficient", square[-2], n * (n - 1))
    yield DerivationStep("so J_2 = √2 [He_{n+1} + 2n He_{n-1} + n(n-1) He_{n-3}](t) φ(t)/√(n!)")
    for order in range(3, 9):
        t = jump.threshold(order)
        integrated = jump.query_factor(order, t)
        closed = jump.boundary_term(jump.jump_polynomial(order), t)
        yield checked(
            f"n = {order}: integral and closed form are one number",
            not (integrated - closed).terms,
            str(closed),
        )


derivations = (
    Derivation(
        "hermite_expansion",
        "Hermite polynomials and exact coefficients",
        hermite_expansion,
        ("mamba.hermite", "mamba.recurrence"),
    ),
    Derivation(
        "information_exponent",
        "The information exponent, without thresholds",
        information_exponent,
        ("mamba.A",),
    ),
    Derivation(
        "generative_exponent",
        "The generative exponent, with witnesses",
        generative_exponent_steps,
        ("mamba.B", "mamba.C"),
    ),
    Derivation(
        "gated_link",
        "The gate lowers the exponent, and where it does not",
        gated_link,
        ("mamba.D", "mamba.D.law", "mamba.D.odd"),
    ),
    Derivation(
        "sphere_moments",
        "Moments of the sphere and the test-time feature",
        sphere_moments,
        ("mamba.T16", "mamba.T17"),
    ),
    Derivation(
        "relu_jump",
        "What one gradient step sees through the rectifier",
        relu_jump,
        ("mamba.T15", "mamba.T15.tail"),
    ),
    *layer.derivations,
)
