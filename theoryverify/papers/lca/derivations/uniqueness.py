"""The uniqueness theorem and the untied optimum, as ``theoryverify derive`` prints them."""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from theoryverify.claims.paper import Derivation, DerivationStep
from theoryverify.claims.steps import asserted
from theoryverify.exact.facts import Theorem
from theoryverify.papers.lca import uniqueness_cases, uniqueness_lemmas, uniqueness_signs
from theoryverify.papers.lca.theory import T, a, alpha, b
from theoryverify.papers.lca.uniqueness import (
    B,
    D,
    G,
    P,
    Q,
    R,
    S,
    exponent,
    numerator,
    t,
    x,
    y,
    z,
    z_prime,
)


def _proved(text: str, theorem: Theorem) -> DerivationStep:
    """A theorem of the kernel: it exists only if its proof went through."""
    given = ", ".join(map(str, theorem.hypotheses))
    return DerivationStep(f"{text} [given {given}]", theorem.expression > 0, True)


def uniqueness() -> Iterator[DerivationStep]:
    """Theorem 1 of docs/uniqueness.md."""
    yield DerivationStep("t = -β, x = 1-tz, w = 1-x^T, v = x^{T-1}(1-x); F_T = E[W](1-E[w]²/E[w²])")
    w, v = 1 - (1 - t * z) ** T, t * z * (1 - t * z) ** (T - 1)
    yield asserted("t dw/dt = Tv", t * sympy.diff(w, t), T * v)
    yield DerivationStep("so F_T'(β) = E[W] T t³ E[w] I/E[w²]², t⁴I = 2(E[v]E[w²]-E[wv]E[w])")
    yield DerivationStep("as a mean over pairs: I = E E'(z-z')²zz'P(x,y), P = h_{T-1}B", P())
    at = {x: 1 - t * z, y: 1 - t * z_prime}
    yield asserted("P along t: dP/dt = -D/t", sympy.diff(P().subs(at), t), (-D() / t).subs(at))
    yield asserted("identity (1): D + (2T-4)P = Q", D() + exponent() * P(), Q())
    yield asserted("with (x-y)²Q = N", (x - y) ** 2 * Q(), numerator())
    yield asserted(
        "N/(S(x)S(y)) in G = x^{T-1}/S, R = x^{T-2}/S",
        numerator() / (S(x) * S(y)),
        T * (x ** (T - 1) - y ** (T - 1)) * (G(x) - G(y)) + (T - 1) * (x**T - y**T) * (R(x) - R(y)),
    )
    yield _proved("M1: G increases on (0,1)", uniqueness_lemmas.M1())
    yield _proved("M2: R increases on (0,1)", uniqueness_lemmas.M2())
    yield _proved("M3, T = 2m: S(-ξ)/ξ^{T-1} falls", uniqueness_lemmas.M3_G())
    yield _proved("M4, T = 2m+1: |R(-ξ)| increases", uniqueness_lemmas.M4_R())
    for name, case in (
        ("T = 2", uniqueness_cases.depth_two),
        ("(a) 0 < y < x", uniqueness_cases.case_a),
        ("(b) y = 0", uniqueness_cases.case_b),
        ("(c) x = -η, y = -ξ, T even", uniqueness_cases.case_c),
        ("(d) x = -η, y = -ξ, T odd", uniqueness_cases.case_d),
        ("(e) y = -ξ, x <= ξ, T odd", uniqueness_cases.case_e_near),
        ("(e) y = -ξ, x > ξ, T odd", uniqueness_cases.case_e_far),
        ("(f) y = -ξ, x <= ξ, T even", uniqueness_cases.case_f),
        ("(g) y = -ξ, x > ξ, T even", uniqueness_cases.case_g),
    ):
        given = ", ".join(map(str, case().hypotheses))
        yield DerivationStep(f"Q > 0 in {name} [given {given}]", None, True)
    yield DerivationStep("so t^{-(2T-4)}I falls on (0, 2/b), and I changes sign at most once")
    yield asserted("(x-y)²P", (x - y) ** 2 * P(), S(x) * S(y) * (x**T - y**T) * (G(x) - G(y)))
    yield asserted("P = h_{T-1}B", P(), (x**T - y**T) / (x - y) * B())
    yield _proved("t <= 1/b: every pair is positive", uniqueness_signs.right_of_zero())
    for name, sign in (
        ("even", uniqueness_signs.left_of_zero_even), ("odd", uniqueness_signs.left_of_zero_odd),
    ):  # fmt: skip
        given = ", ".join(map(str, sign().hypotheses))
        yield DerivationStep(
            f"t >= 1/a, T {name}: every pair is negative [given {given}]", None, True
        )
    yield asserted(
        "b <= 2a puts 1/a inside the window: 2/b - 1/a", 2 / b - 1 / a, (2 * a - b) / (a * b)
    )


def untied() -> Iterator[DerivationStep]:
    """The untied optimum and its mean step."""
    g, pi, q, W = sympy.symbols("g pi q W")
    yield asserted(
        "β_t = -α_t: 1-g_t = (1-α_tZ)(1-g_{t-1})",
        1 - ((1 - alpha * z) * g + alpha * z), (1 - alpha * z) * (1 - g),
    )  # fmt: skip
    yield asserted(
        "π + Zq against π", W * (pi + z * q) ** 2 - W * pi**2,
        2 * W * z * pi * q + W * (z * q) ** 2,
    )  # fmt: skip
    yield DerivationStep("so π_T is orthogonal to all lower degrees under WZ dP")
    low, high = sympy.symbols("sqrt_a sqrt_b", positive=True)
    rho = (high - low) / (high + low)
    yield asserted("ρ + 1/ρ = 2(b+a)/(b-a)", rho + 1 / rho,
                   2 * (high**2 + low**2) / (high**2 - low**2))  # fmt: skip
    yield DerivationStep("Chebyshev: min E[Wπ²] <= E[W]/T_T(x₀)² <= 4E[W]ρ^{2T}")
    u = sympy.Symbol("u", positive=True)
    place = (a + b) / 2 - (b - a) / 2 * (1 - u**2) / (1 + u**2)
    yield asserted("arcsine mean of 1/z, u = tan(θ/2)", 1 / place * 2 / (1 + u**2),
                   2 / (a + b * u**2))  # fmt: skip
    primitive = 2 / (low * high) * sympy.atan(u * high / low)
    yield asserted(
        "a = √a², b = √b²: an antiderivative",
        sympy.diff(primitive, u), 2 / (low**2 + high**2 * u**2),
    )  # fmt: skip
    yield DerivationStep("so the mean over (0,∞) with 1/π in front is", 1 / sympy.sqrt(a * b))


derivations = (
    Derivation(
        "lca_uniqueness",
        "Uniqueness of beta*_T for every depth",
        uniqueness,
        (
            "lca.uniqueness",
            "lca.uniqueness.sums",
            "lca.uniqueness.identity",
            "lca.uniqueness.monotone",
            "lca.uniqueness.lemma",
        ),
    ),
    Derivation(
        "lca_untied",
        "Untied layers: optimum, rate, mean step",
        untied,
        ("lca.untied.optimum", "lca.untied.rate", "lca.untied.mean"),
    ),
)
