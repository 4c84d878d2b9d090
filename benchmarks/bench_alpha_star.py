"""Certified α*_T against ``mpmath.findroot`` over ``mpmath.quad`` at equal digits.

The peer is what a careful user would write with mpmath: the expectation by ``quad``, split at the
zero of ``1-αz``, scaled so that nothing underflows, and the secant method started at the limit. It
proves nothing. Ours returns an enclosure. Agreement to the requested digits is asserted first.
"""

from __future__ import annotations

from fractions import Fraction

import mpmath
from timing import median_time, report

from theoryverify import Uniform
from theoryverify.exact.densities import Ball, ScaledBeta
from theoryverify.papers.lca.alpha_star import _enclosed, alpha_star

DIGITS = 30


def peer(low: float, high: float, density, depth: int, digits: int) -> mpmath.mpf:
    """findroot over quad."""
    with mpmath.workdps(digits + 10):
        a, b = mpmath.mpf(low), mpmath.mpf(high)
        start = 2 / (a + b)
        scale = (b - a) / (b + a)

        def f(alpha):
            return mpmath.quad(
                lambda z: (z - 1) * density(z) * ((1 - alpha * z) / scale) ** (2 * depth - 1),
                [a, 1 / alpha, b],
            )

        return +mpmath.findroot(f, (start * (1 - mpmath.mpf(1) / (20 * depth)), start), tol=1e-60)


def ours(law, depth: int, digits: int):
    _enclosed.cache_clear()
    return alpha_star(law, depth, digits).enclosure


def main() -> None:
    print(f"certified alpha*_T to {DIGITS} digits (median wall time)")
    for law, density in (
        (Uniform(2, 5), lambda z: 1),
        (ScaledBeta(2, 5, 2, 3), lambda z: (z - 2) * (5 - z) ** 2),
        (Ball(4, 5), lambda z: z - 1),
    ):
        depth = 50
        t_ours, found = median_time(lambda law=law, depth=depth: ours(law, depth, DIGITS))
        t_peer, value = median_time(
            lambda law=law, density=density, depth=depth: peer(
                float(law.lower), float(law.upper), density, depth, DIGITS
            ),
            runs=1,
        )
        agreement = abs(Fraction(mpmath.nstr(value, DIGITS + 5)) - found.lower) / found.lower
        assert agreement < Fraction(1, 10 ** (DIGITS - 2)), (law, agreement)
        report(f"{law!r}, T = {depth}", t_ours, t_peer, "mpmath")

    law = Uniform(2, 5)
    times = {T: median_time(lambda T=T: ours(law, T, DIGITS), runs=15)[0] for T in (10, 10**6)}
    print(
        f"uniform(2,5): T = 10 {1e3 * times[10]:.2f} ms, T = 10^6 {1e3 * times[10**6]:.2f} ms, "
        f"growth {times[10**6] / times[10]:.2f}"
    )


if __name__ == "__main__":
    main()
