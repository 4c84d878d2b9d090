"""Where a user puts the paper's statements: a law, a depth, the start of the flow of Theorem 6.3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from theoryverify.claims.ladder import Hypothesis
from theoryverify.claims.parameters import At
from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure
from theoryverify.exact.laws import Law, TwoPoint
from theoryverify.exact.rationals import shown
from theoryverify.papers.lca import appendix_g
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.assumptions import failure
from theoryverify.papers.lca.two import beta_star, interior_sign
from theoryverify.papers.lca.window import MAX_DEPTH


@dataclass(frozen=True)
class Point:
    """A law of Z, a depth T, and the start ``β_0`` of the flow: ``-1/Z̄`` unless given."""

    law: Law
    depth: int
    beta0: Fraction | None = None

    @property
    def start(self) -> Fraction:
        return -1 / self.law.upper if self.beta0 is None else self.beta0

    def __str__(self) -> str:
        start = "" if self.beta0 is None else f", β₀ = {self.beta0}"
        return f"{self.law}, T = {self.depth}{start}"


@dataclass(frozen=True)
class Start:
    """A law of Z and the start ``β_0`` of the flow."""

    law: Law
    beta0: Fraction

    def __str__(self) -> str:
        return f"{self.law}, β₀ = {self.beta0}"


def start_of(case: Law | Point | Start) -> tuple[Law, Fraction]:
    """The law and ``β_0`` of a case; a law alone starts at ``-1/Z̄``."""
    if isinstance(case, Point):
        return case.law, case.start
    return (case.law, case.beta0) if isinstance(case, Start) else (case, -1 / case.upper)


@lru_cache(maxsize=1024)
def depth_bound(law: Law, start: Fraction) -> int:
    """``T'(β_0)`` of Lemma G.6, from the constants of Appendix G."""
    return appendix_g.constants(law, start).depth_bound


def _shallow(case: object) -> str | None:
    if not isinstance(case, Point):
        return None
    if case.depth < 2:
        return f"T = {case.depth}: the loss does not depend on β there"
    try:
        bound = depth_bound(case.law, case.start)
    except InputError as error:
        return f"T'(β₀) is not defined at β₀ = {case.start}: {error}"
    if case.depth < bound:
        return f"T = {case.depth} is below T'(β₀) = {bound} for β₀ = {case.start}"
    return None


def _outside_window(case: object) -> str | None:
    if not isinstance(case, Start) or -2 / case.law.upper < case.beta0 < 0:
        return None
    return f"β₀ = {case.beta0} is not between -2/Z̄ = {-2 / case.law.upper} and 0"


LARGE_DEPTH = Hypothesis("large depth", r"T\ge T'(\beta_0),\ T\ge2", _shallow)
IN_WINDOW = Hypothesis("start in the window", r"-2/\overline Z<\beta_0<0", _outside_window)

# -- how the checks' cases are made from --law, --depth and --beta0 ------------------------------


def _with_rational_moments(law: Law) -> Law | None:
    return law if all(law.moment(order) is not None for order in range(1, 6)) else None


def _covered(law: Law, depth: int = 2) -> Law:
    if not 2 <= depth <= MAX_DEPTH:
        raise InputError(f"depth = {depth} is out of range here; it must be from 2 to {MAX_DEPTH}")
    return law


def _two_atoms(law: Law, depth: int | None = None) -> Law:
    if not isinstance(law, TwoPoint):
        raise InputError(
            f"{law} is not a law of two atoms; write two-point(LOW,HIGH,WEIGHT_OF_LOW)"
        )
    return law


def _start(law: Law, depth: int | None = None, beta0: Fraction | None = None) -> Law | Point:
    """With no depth given, the least that the theorem speaks of."""
    if depth is None:
        if beta0 is not None:
            raise InputError(
                "--beta0 needs --depth here: whether T is at least T'(β₀) is the question"
            )
        return law if failure(law) else Point(law, depth_bound(law, -1 / law.upper))
    return Point(law, depth, beta0)


def _start_facts(case: Law | Point | Start, values: Mapping[str, Any]) -> dict[str, str]:
    law, start = start_of(case)
    return {"T'(β₀)": str(depth_bound(law, start)), "β₀": str(start)}


def _window_facts(case: Law | Point, values: Mapping[str, Any]) -> dict[str, str]:
    found = _start_facts(case, values)
    if isinstance(case, Point) and case.depth >= 2:
        inside = interior_sign(case.law, case.depth)
        shown = {-1: "1", 0: "0", 1: "0", None: "undecided"}[inside]
        found["stationary points in (-2/Z̄, 0)"] = shown
        if inside == -1 or 2 * case.law.lower >= case.law.upper:
            minimum = beta_star(case.law, case.depth, 12)
            found |= {"β*_T": _short(minimum.beta), "α*_T": _short(minimum.alpha)}
    return found


def _short(value: Enclosure) -> str:
    low, high = value.decimal(13)
    return f"[{low}, {high}]"


def _limit_facts(case: Law, values: Mapping[str, Any]) -> dict[str, str]:
    found = {"α*": shown(2 / (case.lower + case.upper))}
    if "depth" in values:
        found["α*_T"] = _short(alpha_star(case, values["depth"], 14).enclosure)
    return found


LAW = At(lambda law: law, needs=("law",))
LIMIT = At(lambda law, depth=None: law, needs=("law",), takes=("depth",), facts=_limit_facts)
LAW_DEPTH = At(lambda law, depth=None: law, needs=("law",), takes=("depth",))
MOMENTS = At(_with_rational_moments, needs=("law",))
MOMENTS_DEPTH = At(
    lambda law, depth=1: _with_rational_moments(law) if depth <= 30 else None,
    needs=("law",),
    takes=("depth",),
)
TWO_ATOMS = At(_two_atoms, needs=("law",), takes=("depth",))
START = At(_start, needs=("law",), takes=("depth", "beta0"), facts=_window_facts)
START_ONLY = At(
    lambda law, beta0=None: law if beta0 is None else Start(law, beta0),
    needs=("law",),
    takes=("beta0",),
    facts=_start_facts,
)
SOME_DEPTHS = At(_covered, needs=("law",), takes=("depth",))
