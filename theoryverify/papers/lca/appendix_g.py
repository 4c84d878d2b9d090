"""The constants of Appendix G, G.4 to G.7, from a law and a starting point β_0.

The left-end constants are reconstructed (the paper's own are not known to us); the claims certify
the inequalities that they are for.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from flint import arb

from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure, ball, precision
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import Exact, rational
from theoryverify.papers.lca import assumptions, theory

_BITS = 128


@dataclass(frozen=True)
class Constants:
    """What Appendix G computes from ``(law, β_0)`` and inner points ``x < y`` of the support.

    ``F_T >= c_right r_right^{2T}`` on ``[-δ_right, 0]`` for all T >= 1, ``F_T >= c_left r_left^{2T}``
    on ``[-2/Z̄, -2/Z̄ + δ_left]`` for T >= N_left, while the start has ``F_T(β_0) <= C_0 ρ_0^{2T}``; so
    for ``T >= depth_bound`` the flow from β_0 cannot leave the window.
    """

    law: Law
    beta0: Fraction
    x: Fraction
    y: Fraction
    p: Enclosure
    q: Enclosure
    rho0: Fraction
    C0: Enclosure
    delta_right: Fraction
    r_right: Fraction
    c_right: Enclosure
    q0: Fraction
    delta_left: Fraction
    r_left: Fraction
    c_left: Enclosure
    N_left: int
    depth_bound: int


def phi(law: Law, beta: Fraction) -> Fraction:
    """(G.4): ``φ(β) = max(|1+βZ̲|, |1+βZ̄|)``."""
    return max(abs(1 + beta * law.lower), abs(1 + beta * law.upper))


def constants(law: Law, beta0: Exact, x: Exact | None = None, y: Exact | None = None) -> Constants:
    """Compute them; ``x``, ``y`` default to points at a third and at five sixths of the support, the
    latter moved up until the left end's gap is positive.

    Raises
    ------
    InputError
        If β_0 is outside ``(-2/Z̄, 0)`` or the points are not inside the support in order.
    HypothesisError
        If the law breaks Assumption 6.1.
    """
    law = assumptions.require(law)
    start = rational(beta0, "beta0")
    a, b = law.lower, law.upper
    if not -2 / b < start < 0:
        raise InputError(f"beta0 = {start} is outside the window ({-2 / b}, 0)")
    rho = phi(law, start)
    low = rational(x, "x") if x is not None else a + (b - a) / 3
    q0 = max(abs(1 - 2 * a / b), abs(1 - 2 * low / b))
    high = rational(y, "y") if y is not None else b - (b - a) / 6
    while y is None and 2 * high / b - 1 - max(rho, q0) <= 0:
        high = (high + b) / 2
    gap = 2 * high / b - 1 - max(rho, q0)
    if not a < low < high < b or gap <= 0:
        raise InputError(f"the points need {a} < x < y < {b} and a positive gap at the left end")
    delta_right = min(1 / (4 * b), (1 - rho) / (2 * low))
    delta_left = min(1 / (4 * b), gap / (4 * b))
    r_right, r_left = 1 - delta_right * low, 2 * high / b - 1 - delta_left * high
    with precision(_BITS):
        mean = law.expect(theory.signal_share())
        p = law.expect(theory.signal_share(), on=(None, low)) / mean
        q = law.expect(theory.signal_share(), on=(high, None)) / mean
        c_right = mean * p * q * (1 - (-ball((high - low) / b)).exp()) ** 2
        c_left = mean * p * q / 16
        C0 = mean / ball(1 - rho) ** 2
        ratio = ball(r_left) / ball(q0 + delta_left * low)
        n_left = ceil(_upper(arb(2).log() / ratio.log()))
        bound = max(2, n_left)
        for c, r in ((c_right, r_right), (c_left, r_left)):
            needed = (C0 / c).log() / (2 * (ball(r) / ball(rho)).log())
            bound = max(bound, floor(_upper(needed)) + 1)
        return Constants(
            law,
            start,
            low,
            high,
            Enclosure.of(p),
            Enclosure.of(q),
            rho,
            Enclosure.of(C0),
            delta_right,
            r_right,
            Enclosure.of(c_right),
            q0,
            delta_left,
            r_left,
            Enclosure.of(c_left),
            n_left,
            bound,
        )


def _upper(value: arb) -> Fraction:
    return Enclosure.of(value).upper
