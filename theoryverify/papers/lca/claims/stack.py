"""Section 5, Appendix E: the linear cross-attention stack in closed form, and its loss."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import sympy
from flint import fmpq, fmpq_mat
from sympy import BlockMatrix, Identity, MatrixSymbol, ZeroMatrix, block_collapse

from theoryverify.claims import CERTIFIED, PROVED, Claim, Evidence, Examination
from theoryverify.claims.statements import Evaluated, agree, equals, matrices, mean, same
from theoryverify.claims.statements import Statement as Formal
from theoryverify.exact.balls import Enclosure, bits_for, precision
from theoryverify.exact.evaluate import EXACT, compiled
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Law
from theoryverify.papers.lca import kernels, theory
from theoryverify.papers.lca.claims.setting import IN_UNITS
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, LAWS
from theoryverify.papers.lca.loss import excess_loss
from theoryverify.papers.lca.matrices import vanishes
from theoryverify.papers.lca.theory import T, alpha, beta, s

# -- Lemma E.1, algebraic part ------------------------------------------------------------------

E1 = Claim(
    "lca.E.1",
    "Lemma E.1 (the identity before the limit); (5.5), (E.1)",
    r"\hat y_q = w^\top\Big[\tfrac1L\sum_i x_i f_i^\top\Big]x_q"
    r" + \Big[\tfrac1L\sum_i \varepsilon_i f_i^\top\Big]x_q",
    title="ŷ_q = wᵀ[XFᵀ/L]x_q + [εᵀFᵀ/L]x_q",
    note="The limits in L are Lemma E.1's second half and are not part of this claim.",
)


def _readout(F: Any, X: Any, w: Any, eps: Any, x_q: Any, L: Any) -> Any:
    """The statement: ``wᵀ(XFᵀ/L)x_q + (εᵀFᵀ/L)x_q``."""
    return (w.T * X * F.T * x_q + eps.T * F.T * x_q) / L


@E1.check(
    "block algebra",
    PROVED,
    formula=_readout,
    controls={
        "1/(L+1) for 1/L": lambda F, X, w, e, q, L: _readout(F, X, w, e, q, L + 1),
        "without the noise term": lambda F, X, w, e, q, L: (w.T * X * F.T * q) / L,
        "the query's own term kept": lambda F, X, w, e, q, L: (
            _readout(F, X, w, e, q, L) + (q.T * q) / L
        ),
    },
)
def block_algebra(statement: Any, examination: Examination) -> Evidence:
    d, L = sympy.symbols("d L", integer=True, positive=True)
    F, X = MatrixSymbol("F", d, L), MatrixSymbol("X", d, L)
    w, x_q, eps = MatrixSymbol("w", d, 1), MatrixSymbol("x_q", d, 1), MatrixSymbol("e", L, 1)
    y = X.T * w + eps
    one, nought = Identity(1), ZeroMatrix(1, 1)
    # E_F = [F x_q; yᵀ 0], W^PV = diag(0, 1), W^KQ = diag(I, 0): (5.1), (E.1).
    prompt = BlockMatrix([[F, x_q], [y.T, nought]])
    value = BlockMatrix([[ZeroMatrix(d, d), ZeroMatrix(d, 1)], [ZeroMatrix(1, d), one]])
    key = BlockMatrix([[Identity(d), ZeroMatrix(d, 1)], [ZeroMatrix(1, d), nought]])
    updated = prompt + value * prompt * (prompt.T * key * prompt) / L
    output = block_collapse(updated)
    corner = output.blocks[1, 1]
    one_row, last_column = BlockMatrix([[nought * x_q.T, one]]), BlockMatrix([[nought], [one]])
    claimed = statement(F, X, w, eps, x_q, L)
    examination.decide(
        "the corner of LSA(E_F) is the statement",
        vanishes(corner - claimed),
        "as matrix words",
        by=matrices(one_row * updated * last_column, claimed),
    )
    return examination.evidence("every d, L, F, X, w, ε, x_q")


@E1.check(
    "literal LSA in rationals",
    CERTIFIED,
    formula=_readout,
    controls={
        "1/(L+1) for 1/L": lambda F, X, w, e, q, L: _readout(F, X, w, e, q, L + 1),
        "without the noise term": lambda F, X, w, e, q, L: (w.T * X * F.T * q) / L,
    },
    mutate=False,
)
def literal_lsa(statement: Any, examination: Examination) -> Evidence:
    d, L = 3, 4
    draw = _rationals(seed=5)
    X, F = sympy.Matrix(d, L, draw), sympy.Matrix(d, L, draw)
    w, x_q, eps = sympy.Matrix(d, 1, draw), sympy.Matrix(d, 1, draw), sympy.Matrix(L, 1, draw)
    y = X.T * w + eps
    prompt = sympy.Matrix.vstack(F.row_join(x_q), y.T.row_join(sympy.zeros(1, 1)))
    value, key = sympy.zeros(d + 1), sympy.diag(sympy.eye(d), 0)
    value[d, d] = 1
    output = prompt + value * prompt * (prompt.T * key * prompt) / L
    right = statement(F, X, w, eps, x_q, L)[0, 0]
    examination.decide(
        "LSA(E_F)[d+1, L+1]",
        bool(output[d, L] == right),
        f"{output[d, L]} and {right}",
        by=lambda: same(*_both_sides(statement, d, L)),
    )
    return examination.evidence(f"one exact rational prompt, d = {d}, L = {L}")


def _both_sides(statement: Any, d: int, L: int) -> tuple[sympy.Expr, sympy.Expr]:
    """The same with a letter for every entry."""
    letters = iter(sympy.symbols(f"x:{2 * d * L + 2 * d + L}", real=True))
    X, F = (sympy.Matrix(d, L, lambda i, j: next(letters)) for _ in range(2))
    w, x_q = (sympy.Matrix(d, 1, lambda i, j: next(letters)) for _ in range(2))
    eps = sympy.Matrix(L, 1, lambda i, j: next(letters))
    y = X.T * w + eps
    prompt = sympy.Matrix.vstack(F.row_join(x_q), y.T.row_join(sympy.zeros(1, 1)))
    key = sympy.diag(sympy.eye(d), 0)
    row = prompt[d, :]  # the last row of W^PV E_F
    corner = prompt[d, L] + (row * prompt.T * key * prompt[:, L])[0, 0] / L
    return corner, statement(F, X, w, eps, x_q, L)[0, 0]


def _rationals(seed: int) -> Any:
    import random

    generator = random.Random(seed)
    return lambda *_: sympy.Rational(generator.randint(-9, 9), generator.randint(1, 7))


# -- Lemma E.2 ----------------------------------------------------------------------------------

E2 = Claim(
    "lca.E.2",
    "Lemma E.2; (5.2)-(5.5)",
    r"F_T = \alpha\sum_{k<T}(I+\beta\hat\Sigma)^k X,\qquad "
    r"\tfrac1L X F_T^\top = \tfrac{\alpha}{\beta}\big[(I+\beta\hat\Sigma)^T - I\big]",
    title="F_T = αΣ_{k<T}(I+βΣ̂)^k X",
)

_STARTED_AT_X = (1 + beta * s) ** T + theory.state_polynomial()


@E2.check(
    "induction on T",
    PROVED,
    formula=theory.state_polynomial(),
    controls={
        "F₀ = X": _STARTED_AT_X,
        "one layer fewer": theory.state_polynomial(depth=T - 1),
        "(I-βΣ̂)^k": theory.state_polynomial().subs(beta, -beta),
    },
)
def induction(polynomial: sympy.Expr, examination: Examination) -> Evidence:
    # F_t = P_t(Σ̂)X: all matrices are polynomials in Σ̂, so identities in its eigenvalue s suffice.
    examination.identity("base: F₀ = 0", polynomial.subs(T, 0), sympy.Integer(0))
    examination.identity(
        "step: P_{T+1} = P_T + α + βs P_T", polynomial.subs(T, T + 1), theory.layer(polynomial)
    )
    return examination.evidence("every T >= 0, every Σ̂, α, β ≠ 0 (β = 0: claim lca.kernels)")


@E2.check(
    "literal layers in rationals",
    CERTIFIED,
    formula=theory.state_polynomial(),
    controls={"F₀ = X": _STARTED_AT_X, "one layer more": theory.state_polynomial(depth=T + 1)},
)
def literal_layers(polynomial: sympy.Expr, examination: Examination) -> Evidence:
    draw = _rationals(seed=2)
    d, L, depth = 3, 4, 5
    X = fmpq_mat(d, L, [_fmpq(draw()) for _ in range(d * L)])
    step, mix = fmpq(2, 7), fmpq(-3, 11)
    sigma = X * X.transpose() / L
    F = fmpq_mat(d, L)
    for layer in range(1, depth + 1):
        F = F + step * X + mix * (X * (X.transpose() * F)) / L  # (5.5): (1/L) X Xᵀ F
        stated = _at_matrix(
            polynomial.subs({T: layer, alpha: _sympy(step), beta: _sympy(mix)}), sigma
        )
        examination.decide(
            f"F_{layer} = P_{layer}(Σ̂)X",
            bool(stated * X == F),
            "exact matrices",
            by=partial(_in_words, polynomial, layer, step, mix, L),
        )
    return examination.evidence(f"one exact rational prompt, d = {d}, L = {L}, T = 1..{depth}")


def _in_words(polynomial: sympy.Expr, depth: int, step: fmpq, mix: fmpq, L: int) -> Formal:
    """The layers on a prompt of any size, as words in X, beside ``P_T(Σ̂)X``."""
    X = MatrixSymbol("X", *sympy.symbols("d n", integer=True, positive=True))
    first, second = _sympy(step), _sympy(mix)
    F: Any = first * X
    for _ in range(depth - 1):
        F = F + first * X + second * X * X.T * F / L
    found = sympy.Poly(
        sympy.cancel(polynomial.subs({T: depth, alpha: first, beta: second})), s
    ).all_coeffs()[::-1]
    powers: list[Any] = [X]
    for _ in found[1:]:
        powers.append(X * X.T * powers[-1] / L)
    return matrices(F, sympy.MatAdd(*(c * power for c, power in zip(found, powers, strict=True))))


def _at_matrix(polynomial: sympy.Expr, matrix: fmpq_mat) -> fmpq_mat:
    """A polynomial in ``s``, at a rational matrix."""
    size = matrix.nrows()
    unit = fmpq_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])
    result = 0 * unit
    cancelled = sympy.cancel(polynomial)
    if not cancelled.is_polynomial(s):  # a wrong formula may have a pole at s = 0
        numerator, denominator = sympy.fraction(cancelled)
        return _at_matrix(numerator, matrix) * _at_matrix(denominator, matrix).inv()
    for coefficient in sympy.Poly(cancelled, s).all_coeffs():
        result = result * matrix + _fmpq(coefficient) * unit
    return result


def _fmpq(value: sympy.Rational) -> fmpq:
    return fmpq(int(value.p), int(value.q))


def _sympy(value: fmpq) -> sympy.Rational:
    return sympy.Rational(int(value.p), int(value.q))


# -- the population loss ------------------------------------------------------------------------

LOSS = Claim(
    "lca.loss",
    "Section 6, the training loss; Appendix G (G.1)",
    r"\lim_{L\to\infty}\mathbb E(y_q-\hat y_q)^2/\mathbb E[\zeta^2] = "
    r"\mathbb E\big[W(1-\alpha S_T(Z,\beta))^2\big] + \mathbb E[1/Z],\quad "
    r"W=\tfrac{Z-1}{Z},\ S_T=\tfrac{(1+\beta Z)^T-1}{\beta}",
    title="ℓ(α,β) = E[W(1-αS_T)²], W = (Z-1)/Z",
    hypotheses=(ASSUMPTION_6_1, *IN_UNITS),
    depends_on=("lca.C.1", "lca.C.2", "lca.E.1", "lca.E.2"),
)

_S = ((1 + beta * Z) ** T - 1) / beta
_LOSS = (Z - 1) / Z * (1 - alpha * _S) ** 2
_BAYES = 1 / Z


@LOSS.check(
    "derivation",
    PROVED,
    formula=(_LOSS, _BAYES),
    controls={
        "without W": ((1 - alpha * _S) ** 2, _BAYES),
        "W = Z-1": ((Z - 1) * (1 - alpha * _S) ** 2, _BAYES),
        "F₀ = X": ((Z - 1) / Z * (1 - alpha * _S - Z * (1 + beta * Z) ** T) ** 2, _BAYES),
        "Bayes risk E[1/Z²]": (_LOSS, 1 / Z**2),
    },
)
def loss_derivation(formula: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    excess, bayes = formula
    gain = theory.predictor_gain()  # ŷ_q = gain·⟨w,x_q⟩ at infinite context
    share = theory.signal_share()
    examination.identity("E[W(1-αS)²], derived", theory.loss_integrand(), excess)
    examination.identity("E[1/Z], derived", theory.noise_share(), bayes)
    # The other way: E(y-ŷ)² = E[y²] - 2 gain E[y⟨w,x⟩] + gain² E⟨w,x⟩², with no splitting of y.
    direct = theory.variance_y() / theory.zeta**2 - 2 * gain * share + gain**2 * share
    examination.identity("E(y-ŷ)² expanded directly", direct, excess + bayes)
    examination.assume("uniform integrability in L (second half of Lemma E.1)")
    return examination.evidence("every T, α, β ≠ 0")


_POINTS = (("1/4", "-1/4", 5), ("0.3", "-0.2", 3), ("0.1", "0.05", 4), ("0.28", "-0.35", 6))


@LOSS.check(
    "enclosures",
    CERTIFIED,
    formula=(_LOSS, _BAYES),
    controls={
        "without W": ((1 - alpha * _S) ** 2, _BAYES),
        "W = Z-1": ((Z - 1) * (1 - alpha * _S) ** 2, _BAYES),
        "T+1 layers": (_LOSS.subs(T, T + 1), _BAYES),
        "Bayes risk E[1/Z²]": (_LOSS, 1 / Z**2),
        "loss 10⁻¹² too large": (_LOSS * (1 + sympy.Rational(1, 10**12)), _BAYES),
    },
    cases=LAWS,
)
def loss_enclosures(
    formula: tuple[sympy.Expr, sympy.Expr], case: Law, examination: Examination
) -> Evidence:
    excess, bayes = formula
    digits = 15
    for at_alpha, at_beta, depth in _POINTS:
        kernel = excess_loss(case, at_alpha, at_beta, depth=depth, digits=digits)
        point = {alpha: sympy.Rational(at_alpha), beta: sympy.Rational(at_beta), T: depth}
        with precision(bits_for(digits) + 96):
            stated = Enclosure.of(case.expect(excess.subs(point)))
            risk = Enclosure.of(case.expect(bayes))
        name = f"ℓ_{depth}({at_alpha}, {at_beta})"
        examination.equal(
            name, kernel.excess, stated, digits,
            by=agree(mean(case, excess.subs(point)), kernel.excess, stated, digits),
        )  # fmt: skip
        examination.equal(
            "E[1/Z]", kernel.bayes_risk, risk, digits,
            by=agree(mean(case, bayes), kernel.bayes_risk, risk, digits),
        )  # fmt: skip
    return examination.evidence(f"to {digits} digits at {len(_POINTS)} points (α, β, T)")


# -- the kernels' rewritings --------------------------------------------------------------------

KERNELS = Claim(
    "lca.kernels",
    "ours: the stable spellings of 1-αS_T that the numerics use",
    r"1-\alpha S_T = (1-\alpha Z)^T\ (\beta=-\alpha) = \kappa+(1-\kappa)(1+\beta Z)^T = "
    r"1-\alpha Z\sum_{k<T}(1+\beta Z)^k,\quad \kappa = 1+\alpha/\beta",
    title="1-αS_T in three spellings that do not cancel",
)

_RESIDUAL = 1 - alpha * _S


@KERNELS.check(
    "rewritings",
    PROVED,
    formula=_RESIDUAL,
    controls={
        "1+αS": 1 + alpha * _S,
        "S_{T+1}": _RESIDUAL.subs(T, T + 1),
        "α² for α": 1 - alpha**2 * _S,
    },
)
def rewritings(definition: sympy.Expr, examination: Examination) -> Evidence:
    q = 1 + beta * Z
    kappa = (alpha + beta) / beta
    examination.identity("β = -α", theory.tied(definition), (1 - alpha * Z) ** T)
    examination.identity("κ + (1-κ)(1+βZ)^T", definition, kappa + (1 - kappa) * q**T)
    summed = theory.geometric_sum(q)
    examination.identity("1 - αZ Σ q^k", definition, 1 - alpha * Z * summed)
    ratio = sympy.Symbol("q", positive=True)
    G = theory.geometric_sum(ratio)
    for name, left, right in (
        ("G_{T+1} = 1 + qG_T", G.subs(T, T + 1), 1 + ratio * G),
        ("G_{2T} = G_T(1+q^T)", G.subs(T, 2 * T), G * (1 + ratio**T)),
        ("G_1 = 1", G.subs(T, 1), sympy.Integer(1)),
    ):
        examination.lemma(
            name, sympy.simplify(left - right) == 0, "identity in q and T", by=same(left, right)
        )
    return examination.evidence("every T, α, β, Z with β ≠ 0; the sum also at β = 0")


@KERNELS.check(
    "the code in exact rationals",
    CERTIFIED,
    formula=_RESIDUAL,
    controls={"1+αS": 1 + alpha * _S, "S_{T+1}": _RESIDUAL.subs(T, T + 1)},
)
def kernel_code(definition: sympy.Expr, examination: Examination) -> Evidence:
    draw = _rationals(seed=11)
    evaluate = compiled(definition.subs(T, 7), EXACT)
    slope = compiled(sympy.diff(definition, beta).subs(T, 7), EXACT)
    for _ in range(6):
        z = 1 + abs(Fraction(str(draw())))
        at_alpha, at_beta = (Fraction(str(draw())) or Fraction(1, 3) for _ in range(2))
        environment = {"Z": z, "alpha": at_alpha, "beta": at_beta}
        expected = evaluate(environment, False)
        for form in ("mixed", "sum"):
            found = kernels.residual(z, at_alpha, at_beta, 7, form=form)
            examination.decide(
                f"{form} at {environment}",
                found == expected,
                f"{found}",
                by=equals(Evaluated(definition.subs(T, 7), dict(environment)), found),
            )
        derivative = -at_alpha * kernels.S(z, at_beta, 7)[1]
        examination.decide(
            "∂S/∂β",
            derivative == slope(environment, False),
            f"{derivative} at {environment}",
            by=equals(
                Evaluated(sympy.diff(definition, beta).subs(T, 7), dict(environment)), derivative
            ),
        )
        environment["beta"] = -at_alpha
        if at_alpha:
            found = kernels.residual(z, at_alpha, -at_alpha, 7, form="tied")
            examination.decide(
                "tied",
                found == evaluate(environment, False),
                f"{found}",
                by=equals(Evaluated(definition.subs(T, 7), dict(environment)), found),
            )
    return examination.evidence("six exact rational points, T = 7")


claims = [E1, E2, LOSS, KERNELS]
