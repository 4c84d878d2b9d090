"""The literal network on a few Gaussians: exact moments of polynomials, nothing simplified.

A second route to the loss: the prompt's matrix E is built as the paper writes it, the network is
multiplied out, and each monomial of the Gaussians is replaced by its exact moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import sympy


def prediction(
    x: sympy.Matrix, x_q: sympy.Matrix, w: sympy.Matrix, W_PV: sympy.Matrix, W_KQ: sympy.Matrix
) -> sympy.Expr:
    """``[E + W^PV E (Eᵀ W^KQ E)/N]_{d+1,N+1}``, (3.3); x is (d, N), the rest are columns."""
    size = x.shape[1]
    y = w.T * x
    E = sympy.Matrix([[*x.tolist()[i], x_q[i]] for i in range(x.shape[0])] + [[*y.tolist()[0], 0]])
    output = E + W_PV * E * (E.T * W_KQ * E) / size
    return sympy.expand(output[output.shape[0] - 1, size])


def gaussian_mean(polynomial: sympy.Expr, variances: dict[sympy.Symbol, Fraction]) -> sympy.Expr:
    """The mean over independent centred Gaussians; other symbols stay. ``E x^{2k} = (2k-1)!! v^k``."""
    names = list(variances)
    total = sympy.Integer(0)
    for powers, coefficient in sympy.Poly(polynomial, *names).terms():
        if any(power % 2 for power in powers):
            continue
        term = coefficient
        for name, power in zip(names, powers, strict=True):
            v = sympy.Rational(variances[name].numerator, variances[name].denominator)
            term *= sympy.factorial2(power - 1) * v ** (power // 2) if power else 1
        total += term
    return sympy.expand(total)


def loss(
    spectrum: Sequence[Fraction], length: int, W_PV: sympy.Matrix, W_KQ: sympy.Matrix
) -> sympy.Expr:
    """``½E(ŷ_q - ⟨w,x_q⟩)²`` of the literal network, exactly: (3.4) with ``Λ = diag(spectrum)``."""
    d = len(spectrum)
    x = sympy.Matrix(d, length, lambda i, n: sympy.Symbol(f"x{i}_{n}"))
    x_q = sympy.Matrix(d, 1, lambda i, _: sympy.Symbol(f"q{i}"))
    w = sympy.Matrix(d, 1, lambda i, _: sympy.Symbol(f"w{i}"))
    variances = {x[i, n]: spectrum[i] for i in range(d) for n in range(length)}
    variances |= {x_q[i]: spectrum[i] for i in range(d)} | {w[i]: Fraction(1) for i in range(d)}
    error = prediction(x, x_q, w, W_PV, W_KQ) - (w.T * x_q)[0]
    return gaussian_mean(sympy.expand(error**2), variances) / 2
