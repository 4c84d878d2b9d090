"""Searching Theorem 6.3: laws and depths at which the window holds no stationary point of F_T.

And the question that is open: for odd T, does F_T have more than one minimum and one maximum left
of the window?
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from theoryverify.claims import CERTIFIED, Evidence, Examination
from theoryverify.claims.law_spaces import DiscreteLaws
from theoryverify.claims.search import Search
from theoryverify.claims.spaces import Choice, Integers, Rationals, Record
from theoryverify.errors import InputError
from theoryverify.exact.laws import Discrete, Law
from theoryverify.papers.lca.claims.two import T63
from theoryverify.papers.lca.claims.uniqueness_more import ODD_LINE
from theoryverify.papers.lca.laws import ASSUMPTION_6_1
from theoryverify.papers.lca.pair_integral import open_count, pair_integral, root_bound
from theoryverify.papers.lca.placed import LARGE_DEPTH, Point
from theoryverify.papers.lca.window import window_cover

_ROUNDING = 1e-12


def _atoms(law: Law) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    if not isinstance(law, Discrete):
        raise InputError(f"{law} is not a law of few atoms")
    points = np.array([float(z) for z in law.atoms])
    weights = np.array([float(w) for w in law.atoms.values()]) * (points - 1) / points
    if not weights.sum() > 0:
        raise InputError(f"{law} has no mass above 1")
    return points, weights / weights.sum()


def scaled_pairs(case: Point, t: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """``I(t)/Ī(t)``: the mean over pairs of ``(z-z')² zz' P(1-tz,1-tz')`` over that of its size.

    ``P = h_{T-1} Σ_j (xy)^j h_{T-2-j}`` as a sum, since its closed form cancels.
    """
    z, share = _atoms(case.law)
    first, second = np.triu_indices(len(z), 1)
    weight = share[first] * share[second] * (z[first] - z[second]) ** 2 * z[first] * z[second]
    x, y = 1 - t[:, None] * z[first], 1 - t[:, None] * z[second]
    sums = [np.ones_like(x)]
    for n in range(1, case.depth):
        sums.append(x**n + y * sums[-1])
    kernel = np.zeros_like(x)
    for h in sums[: case.depth - 1]:  # Horner in xy: B_{T+1} = h_{T-1} + xy B_T
        kernel = h + x * y * kernel
    kernel *= sums[case.depth - 1]
    scaled: npt.NDArray[np.float64] = (kernel @ weight) / (abs(kernel) @ weight)
    return scaled


def window_margin(case: Point) -> float:
    """Minus ``I/Ī`` at ``t = 2/Z̄``.

    ``F_T'`` has the sign of I there; by the claim ``lca.uniqueness`` a stationary point lies in the
    window exactly if that is negative. Scaled, it does not fade as a law comes near a point mass.
    """
    z, _ = _atoms(case.law)
    return -float(scaled_pairs(case, np.array([2 / z.max()]))[0])


def window_holds_one(stated: int, case: Point, examination: Examination) -> Evidence:
    """The stationary points in the window, by a cover of all of it and by Sturm's theorem."""
    cover = window_cover(case.law, case.depth)
    examination.decide(
        "stationary points in (-2/Z̄, 0)",
        len(cover.cells) == stated,
        cover.against(stated),
    )
    if case.depth <= 40:
        exact = pair_integral(case.law, case.depth).integral
        counted = open_count(exact, cover.upper * 0, cover.upper)
        examination.lemma("Sturm's theorem agrees", counted == len(cover.cells), f"{counted}")
    return examination.evidence("every β of the window")


WINDOW = Search(
    T63.id,
    "the window",
    "a law of Z and a depth T: F_T has one stationary point, β*_T, in the window (-2/Z̄, 0), to "
    "which the flow of Theorem 6.3 can converge",
    Record(
        Point,
        law=DiscreteLaws(Rationals(1, 30, 10), least=2, most=4),
        depth=Integers(2, 40),
    ),
    window_margin,
    window_holds_one,
    CERTIFIED,
    formula=1,
    controls={"two": 2, "three": 3},
    hypotheses=(ASSUMPTION_6_1, LARGE_DEPTH),
    budget=3000,
)

# -- odd T on the whole line --------------------------------------------------------------------

_GRID = 600


def turns_margin(case: Point) -> float:
    """How far ``I(t)`` is from a third change of sign on ``(0, ∞)``; negative if there is one.

    ``I`` is scaled to ``[-1, 1]``; a further pair of zeros opens where a local minimum above 0, or a
    local maximum below, touches 0. The margin is the least height of such a turn; where there is
    none, 2 less the share of the line (in log t) on which pairs of both signs meet.
    """
    z, _ = _atoms(case.law)
    scaled = scaled_pairs(case, np.geomspace(0.02 / z.max(), 400 / z.min(), _GRID))
    signs = np.sign(scaled[abs(scaled) > _ROUNDING])
    if int(np.sum(signs[1:] != signs[:-1])) > 2:
        return -1.0
    inner, left, right = scaled[1:-1], scaled[:-2], scaled[2:]
    low = inner[(inner > _ROUNDING) & (inner < left - _ROUNDING) & (inner < right - _ROUNDING)]
    high = -inner[(inner < -_ROUNDING) & (inner > left + _ROUNDING) & (inner > right + _ROUNDING)]
    mixed = float(np.mean(abs(scaled) < 1 - _ROUNDING))
    return float(min(np.concatenate([low, high, [2 - mixed]])))


def turns(stated: int, case: Point, examination: Examination) -> Evidence:
    """The zeros of I on ``(0, ∞)``, by Sturm's theorem on the exact polynomial."""
    exact = pair_integral(case.law, case.depth).integral
    far = root_bound(exact) + 1
    counted = open_count(exact, far * 0, far)
    examination.decide(
        "zeros of I on (0, ∞)", counted == stated, f"claimed {stated}, found {counted}"
    )
    return examination.evidence("all of β < 0, exactly")


ODD = Search(
    ODD_LINE.id,
    "the whole line",
    "a law of Z and an odd depth T: I(t) has exactly two zeros on (0, ∞), so that F_T has one "
    "minimum and one maximum on β < 0",
    Record(
        Point,
        law=DiscreteLaws(Rationals(1, 100, 10), least=3, most=5),
        depth=Choice((3, 5, 7, 9, 11)),
    ),
    turns_margin,
    turns,
    CERTIFIED,
    formula=2,
    controls={"one": 1, "three": 3},
    hypotheses=(ASSUMPTION_6_1,),
    budget=1500,
)

searches = [WINDOW, ODD]
