"""The tables behind the figures of the Mamba paper."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from theoryverify.errors import InputError
from theoryverify.exact.gate_zeros import ZeroSet, zero_set
from theoryverify.exact.generative import generative_exponent
from theoryverify.exact.hermite import raw_coefficients
from theoryverify.exact.links import link
from theoryverify.exact.rationals import Exact
from theoryverify.figures import Data, Plan, Table
from theoryverify.papers.mamba.links import CANCELLING, HE3, HE4, HE5, MIX

EPSILON = "3436483738229945/10000000000000000"
TILTED = f"-{EPSILON}*He1(z) + sqrt(1-({EPSILON})**2)*(He2(z)/sqrt(2)+He3(z)/sqrt(6))/sqrt(2)"
"""``-ε he_1 + √(1-ε²)(he_2+he_3)/√2`` at the ε for which c_1 vanishes at (ρ, b) = (4, -2)."""

B_MAX = 8
"""Biases between -8 and 8 are looked at."""

LINKS = (HE3, HE5, HE4, MIX, CANCELLING, TILTED)


def order(text: str) -> int:
    """The generative exponent: the claim is that the gated coefficient of this order is not 0."""
    found = generative_exponent(text)
    if found.value is None:
        raise InputError(f"the generative exponent of {text} is not decided")
    return found.value


def vanishes_without_bias(text: str, k: int) -> bool:
    """Whether ``c_k = 0`` at b = 0 and every ρ, by the claim ``mamba.D.odd``.

    For odd g and b = 0 the odd coefficients of the gated link are half of g's own.
    """
    g = link(text)
    if g.parity != "odd" or k % 2 == 0 or g.polynomial is None:
        return False
    return bool(raw_coefficients(g.polynomial)[k].is_zero)


def zeros_along_rho(found: ZeroSet, refine: int) -> list[tuple[Fraction, Fraction, Fraction]]:
    """Brackets ``(ρ_lower, ρ_upper, b)`` of zeros between neighbours in ρ on the grid."""
    brackets = []
    for column, b in enumerate(found.bs):
        signs = [row[column] for row in found.signs]
        for (low, before), (high, after) in pairwise(zip(found.rhos, signs, strict=True)):
            if not before or not after or before == after:
                continue
            left, right = low, high
            for _ in range(refine):
                middle = (left + right) / 2
                (here,) = zero_set(found.link, found.k, (middle,), (b,)).signs[0]
                if not here:
                    break
                left, right = (middle, right) if here == before else (left, middle)
            brackets.append((left, right, b))
    return brackets


def degenerate_gate_tables(
    links: Sequence[str], rhos: Sequence[Exact], bs: Sequence[Exact], refine: int
) -> dict[str, Table]:
    """Certified signs on the grid; brackets of zeros along b and along ρ, and lines of zeros."""
    signs: list[tuple[str, int, float, float, int | None]] = []
    zeros: list[tuple[str, int, str, float, float, float, float]] = []
    for text in links:
        k = order(text)
        found = zero_set(text, k, rhos, bs, refine=refine)
        for rho, row in zip(found.rhos, found.signs, strict=True):
            signs += [
                (text, k, float(rho), float(b), sign) for b, sign in zip(found.bs, row, strict=True)
            ]
        for crossing in found.crossings:
            at = float(crossing.rho)
            zeros.append((text, k, "b", at, at, float(crossing.b_lower), float(crossing.b_upper)))
        for low, high, b in zeros_along_rho(found, refine):
            zeros.append((text, k, "rho", float(low), float(high), float(b), float(b)))
        if vanishes_without_bias(text, k):
            ends = float(found.rhos[0]), float(found.rhos[-1])
            zeros.append((text, k, "proved", *ends, 0.0, 0.0))
    return {
        "signs": Table.of(("link", "k", "rho", "b", "sign"), signs),
        "zeros": Table.of(
            ("link", "k", "along", "rho_lower", "rho_upper", "b_lower", "b_upper"), zeros
        ),
    }


def degenerate_gate_data(plan: Plan) -> Data:
    across, up, refine = plan.choose((33, 16, 5), (65, 32, 6), (129, 64, 8))
    # ρ = 2^{-3}, ..., 2^5 in equal ratios, as dyadic fractions; b off the symmetric points, so
    # that a bisection does not hit the zero b = 0 itself, where no sign can be certified.
    rhos = [_dyadic(2.0 ** (-3 + 8 * i / (across - 1))) for i in range(across)]
    step = Fraction(2 * B_MAX, up)
    bs = [-B_MAX + step * (i + Fraction(7, 16)) for i in range(up)]
    tables = degenerate_gate_tables(LINKS, rhos, bs, refine)
    return Data(
        tables,
        f"The signs of the coefficient at {across} by {up} points (ρ, b) for each link are "
        "certified by rigorous quadrature in ball arithmetic. Neighbours of opposite sign, along b "
        f"or along ρ, have a zero between them, and the bracket is halved {refine} times. Between "
        "grid points of one sign nothing is certified: a pair of zeros there would be missed.",
    )


def _dyadic(value: float) -> Fraction:
    """Three significant digits in base 16 are plenty for a grid, and keep fractions short."""
    return Fraction(round(value * 1024), 1024)
