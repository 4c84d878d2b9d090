"""How α*_T approaches its limit, to first order, for every law whose ends are understood.

Let ``WZ dP ~ C_a s^{k_a} ds`` at the lower end ``a`` (``s = z - a``) and ``C_b s^{k_b} ds`` at the
upper end ``b`` (``s = b - z``); an atom has ``k = -1`` and ``CΓ(k+1)`` is its mass. As T grows only
the two ends count in ``E[WZ(1-αZ)^{2T-1}] = 0``, and Laplace's method gives each part as
``CΓ(k+1) (q/(2Tα))^{k+1} q^{2T-1}`` with ``q_a = 1-αa``, ``q_b = αb-1``. At ``α = α* + δ``
``log(q_a/q_b) = -δ(a+b)/r + O(δ²)``, so

    α*_T = α* + (b-a)/(a+b)² · {log[C_aΓ(k_a+1)/(C_bΓ(k_b+1))] + (k_b-k_a) log(4T/(b-a))}/(2T)

to first order. The rate is 1/T where both exponents agree and log(T)/T where they do not.
"""

from __future__ import annotations

import sympy
from flint import arb

from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure, ball, bits_for, precision
from theoryverify.exact.densities import Density
from theoryverify.exact.evaluate import BALL, compiled
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import positive_integer
from theoryverify.papers.lca import assumptions
from theoryverify.papers.lca.alpha_star import MAX_DEPTH
from theoryverify.papers.lca.kernels import weight_polynomial
from theoryverify.papers.lca.training_time import LowerEnd, lower_end


def upper_end(law: Law) -> LowerEnd:
    """The mirror image of ``training_time.lower_end``: the mass of ``WZ dP`` at ``Z_upper``.

    Raises
    ------
    InputError
        For a law whose upper end is neither an atom nor the end of a density.
    """
    top = ball(law.upper)
    weight = sum((ball(c) * top**k for k, c in enumerate(weight_polynomial())), arb(0))
    atom = law.atom(law.upper)
    if atom:
        return LowerEnd(law.end_exponents[1], ball(atom) * weight)
    if not isinstance(law, Density):
        raise InputError(f"the upper end of {law} is not understood")
    piece = law.pieces[-1]
    height = compiled(piece.smooth, BALL)({Z.name: top}, False)
    width = ball(piece.upper - piece.lower)
    density = height / (width.log() * ball(piece.right)).exp() / law.integral(sympy.Integer(1))
    return LowerEnd(piece.right, density * weight * ball(piece.right + 1).gamma())


def first_order_gap(law: Law, depth: int, digits: int = 15) -> Enclosure:
    """Enclose the first-order term of ``T(α*_T - α*)``.

    Raises
    ------
    HypothesisError, InputError
        For a law outside Assumption 6.1, or one whose ends are not understood.

    Examples
    --------
    >>> from theoryverify.exact.densities import Uniform
    >>> print(first_order_gap(Uniform(2, 5), 1000, digits=6))
    -0.04243758248326195771942237[55, 37]
    """
    law = assumptions.require(law)
    depth = positive_integer(depth, "depth", most=MAX_DEPTH)
    a, b = law.lower, law.upper
    with precision(bits_for(digits) + 64):
        low, high = lower_end(law), upper_end(law)
        bracket = (low.mass / high.mass).log()
        if high.exponent != low.exponent:
            bracket += ball(high.exponent - low.exponent) * ball(4 * depth / (b - a)).log()
        return Enclosure.of(ball((b - a) / (a + b) ** 2) * bracket / 2)
