"""``E[WZ^k]`` exactly, for ``k >= 1``: rational wherever the moments of Z are."""

from __future__ import annotations

from fractions import Fraction

from theoryverify.exact.laws import Law
from theoryverify.papers.lca.kernels import weight_polynomial


def weight_moments(law: Law, count: int) -> list[Fraction] | None:
    """``E[WZ^k]`` for ``k = 1..count``, or ``None`` where a moment of Z is not rational.

    ``WZ`` is a polynomial in Z (``Z-1`` in the paper), so only moments of Z occur; ``E[W]`` itself
    is not among them.
    """
    weight = weight_polynomial()
    moments = [law.moment(order) for order in range(count + len(weight) - 1)]
    known = [moment for moment in moments if moment is not None]
    if len(known) < len(moments):
        return None
    return [
        sum((w * known[k + i] for i, w in enumerate(weight)), Fraction(0)) for k in range(count)
    ]
