"""The derivation ``exact_in_law``: a prompt reduced to O(T) random numbers, step by step."""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from theoryverify.claims.paper import Derivation, DerivationStep
from theoryverify.claims.steps import asserted
from theoryverify.exact.integrands import Z
from theoryverify.papers.lca import finite, theory
from theoryverify.papers.lca.finite import L, d
from theoryverify.papers.lca.theory import M, alpha, beta, s


def exact_in_law() -> Iterator[DerivationStep]:
    """Why ``ŵ·m`` and ``|ŵ|²`` need O(T) random numbers for any d and L."""
    p, square = sympy.symbols("p s_w", real=True)
    yield DerivationStep(
        "X = m uᵀ + G (d x L), y = ζu; put ζ = 1: ŵ scales with ζ, the risk with ζ²"
    )
    state = theory.tied(theory.state_polynomial())
    yield asserted(
        "Lemma E.2: ŵ = P_T(Σ̂)Xy/L; for β = -α, sP_T(s) =",
        s * state,
        1 - (1 - alpha * s) ** theory.T,
    )
    error = square - 2 * p / Z + (Z - 1) / Z**2 + (p - (Z - 1) / Z) ** 2
    yield asserted(
        "the query averaged out, p = ŵ·m, s_w = |ŵ|²: (1-p)² + s_w is the Bayes risk plus "
        "|ŵ-w|² + ((ŵ-w)·m)²",
        (1 - p) ** 2 + square,
        1 / Z + error,
    )

    yield DerivationStep(
        "Rotate the examples so that û = u/|u| comes first: X becomes (|u|m + g, G'), "
        "g and the d x (L-1) matrix G' standard normal, all independent of |u|"
    )
    r, size_u, n, e2 = sympy.symbols("r |u| n_1 e_1^2", positive=True)
    yield asserted(
        "a_1² = |Xû|² has the part (|u|r + n_1)² along m and χ²_{d-1} across; its mean",
        _normal_mean(sympy.expand((size_u * r + n) ** 2 + e2), n, size_u, e2),
        L * r**2 + d,
    )
    yield DerivationStep(
        "q_1 = Xû/a_1 is independent of G', so b_1 = |G'ᵀq_1| is χ_{L-1}; along it "
        "G' has an image with q_1-part b_1 and, across q_1, a fresh N(0, I_{d-1})"
    )
    yield DerivationStep(
        "and so on: b_j² ~ χ²_{L-j} and, across q_1..q_j, a fresh vector of d-j entries "
        "each time, independent of all before"
    )
    a_j, a_next, b_j, b_before = sympy.symbols("a_j a_{j+1} b_j b_{j-1}", positive=True)
    q_before, q_j, q_next = sympy.symbols("q_{j-1} q_j q_{j+1}")
    image = sympy.expand(
        a_j * (b_before * q_before + a_j * q_j) + b_j * (b_j * q_j + a_next * q_next)
    )
    yield asserted(
        "XXᵀq_j = a_j Xv_j + b_j Xv_{j+1}: tridiagonal",
        image,
        a_j * b_before * q_before + (a_j**2 + b_j**2) * q_j + b_j * a_next * q_next,
    )
    n_j, e_j = sympy.symbols("n_j e_j", positive=True)
    yield asserted(
        "the fresh vector has n_j along the rest of m (length r) and e_j across, a_j² = n_j² "
        "+ e_j²: what is left of m",
        r**2 - r**2 * n_j**2 / (n_j**2 + e_j**2),
        r**2 * e_j**2 / (n_j**2 + e_j**2),
    )
    yield DerivationStep(
        "chi variables without degrees of freedom are 0: the chain ends at min(d, L)"
    )
    yield DerivationStep(
        "Bartlett's factor: orthogonalise the rows of (u; G) instead; row i has N(0,1) "
        "on the i earlier directions and χ_{L-i} on its own"
    )

    first = finite.prompt_moments(1)
    yield asserted("T = 1, chi moments: E[ŵ·m] =", first.along, alpha * M)
    yield asserted("E|ŵ|² =", first.square, alpha**2 * (M * (L + 2) + d) / L)
    yield asserted(
        "excess risk of one layer",
        first.risk.subs(M, Z - 1) - theory.noise_share(),
        finite.first_depth_excess(),
    )
    second = finite.prompt_moments(2)
    yield DerivationStep("T = 2: E[ŵ·m]", sympy.collect(second.along, alpha), True)
    gain = (2 * alpha + alpha * beta * (M + 1)) * M
    yield asserted("which tends to W·Z·(2α + αβZ)", sympy.limit(second.along, L, sympy.oo), gain)
    yield DerivationStep("T = 2: E[(ŵ·m)²]", second.along_square, True)
    yield DerivationStep("T = 2: E|ŵ|²", second.square, True)


def _normal_mean(
    expression: sympy.Expr, n: sympy.Symbol, size_u: sympy.Symbol, e2: sympy.Symbol
) -> sympy.Expr:
    """``E`` with ``n ~ N(0,1)``, ``|u|² ~ χ²_L``, ``e² ~ χ²_{d-1}``, up to second order."""
    means = {n**2: 1, size_u**2: L, e2: d - 1}
    return expression.coeff(n, 0).subs(means) + expression.coeff(n, 2)


derivations = (
    Derivation(
        "exact_in_law",
        "A prompt reduced to O(T) random numbers, exact in law",
        exact_in_law,
        ("lca.H.law",),
    ),
)
