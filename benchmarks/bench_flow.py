"""Gradient flow and its time against mpmath's ``odefun`` and ``quad``, at equal digits.

``odefun`` is given the polynomial R_T' in Horner's form with exact coefficients, the cheapest thing to
evaluate. It is used where it finishes: in the flow's own time, for small T. Agreement is asserted
first. The last lines have no peer: ``odefun`` does not arrive there.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

import mpmath
from timing import median_time, report

from theoryverify import TwoPoint, Uniform
from theoryverify.exact.laws import Law
from theoryverify.papers.lca.alpha_star import _enclosed, alpha_star
from theoryverify.papers.lca.flow import run
from theoryverify.papers.lca.training_time import position_after, time_to_level

DIGITS = 15


def slope(law: Law, depth: int) -> list[mpmath.mpf]:
    """Coefficients of R_T', highest first: ``-2T Σ_k C(n,k)(-α)^k E[(Z-1)Z^k]``."""
    n = 2 * depth - 1
    moments = [law.moment(k + 1) - law.moment(k) for k in range(n + 1)]
    exact = [-2 * depth * comb(n, k) * (-1) ** k * moments[k] for k in range(n + 1)]
    return [mpmath.mpf(c.numerator) / c.denominator for c in reversed(exact)]


def by_odefun(law: Law, depth: int, start: str, time: int) -> mpmath.mpf:
    coefficients = slope(law, depth)
    follow = mpmath.odefun(lambda t, a: -mpmath.polyval(coefficients, a), 0, mpmath.mpf(start))
    return follow(time)


def by_quad(law: Law, depth: int, start: str, level: str) -> mpmath.mpf:
    coefficients = slope(law, depth)
    end = mpmath.mpf(level) * mpmath.findroot(
        lambda a: mpmath.polyval(coefficients, a), (mpmath.mpf("0.27"), mpmath.mpf("0.28"))
    )
    marks = [mpmath.mpf(start), *(end * k / 10 for k in range(2, 10)), end]
    return mpmath.quad(lambda a: -1 / mpmath.polyval(coefficients, a), marks)


def main() -> None:
    mpmath.mp.dps = DIGITS + 5
    law = TwoPoint("3/2", 4, "9/10")
    for depth, time in ((2, 5), (5, 50)):
        t_ours, ours = median_time(
            lambda T=depth, t=time: position_after(law, T, "0.1", t, DIGITS), runs=3
        )
        t_peer, peer = median_time(lambda T=depth, t=time: by_odefun(law, T, "0.1", t), runs=1)
        assert abs(Fraction(mpmath.nstr(peer, DIGITS)) - ours.lower) < Fraction(
            1, 10 ** (DIGITS - 2)
        )
        report(f"enclosed α({time}), {law!r}, T = {depth}", t_ours, t_peer, "odefun")

    law = Uniform(2, 5)
    for depth in (4, 8):
        mpmath.mp.dps = DIGITS + 5 * depth // 2
        t_ours, ours = median_time(
            lambda T=depth: time_to_level(law, T, digits=DIGITS).enclosure, runs=5
        )
        t_peer, peer = median_time(lambda T=depth: by_quad(law, T, "0.02", "0.99"), runs=3)
        relative = abs(Fraction(mpmath.nstr(peer, DIGITS + 2)) / ours.lower - 1)
        assert relative < Fraction(1, 10 ** (DIGITS - 3)), float(relative)
        report(f"enclosed time to 0.99 α*_T, T = {depth}", t_ours, t_peer, "quad")

    for depth in (32, 200, 1000):
        t_ours, ours = median_time(
            lambda T=depth: time_to_level(law, T, digits=DIGITS).enclosure, runs=3
        )
        print(f"enclosed time to 0.99 α*_T, T = {depth:4d}: {1e3 * t_ours:8.1f} ms   {ours}")
    for depth in (10, 200, 1000):
        _enclosed.cache_clear()
        limit = float(alpha_star(law, depth).enclosure)
        for method in ("radau", "collocation"):
            t_ours, ended = median_time(
                lambda T=depth, m=method: run(
                    law, T, "0.02", method=m, digits=DIGITS, watch_time=False
                ),
                runs=1,
            )
            error = abs(float(ended.end[0]) / limit - 1)
            assert error < 1e-10, (depth, method, error)
            print(
                f"flow to α*_T, T = {depth:4d}, {method:11s}: {1e3 * t_ours:8.1f} ms, "
                f"{len(ended.s) - 1} steps, {error:.0e} off"
            )


if __name__ == "__main__":
    main()
