"""Theorem 6.3 at one point: a law, a depth, and where the flow starts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from theoryverify.claims.ladder import Hypothesis
from theoryverify.errors import InputError
from theoryverify.exact.laws import Law
from theoryverify.papers.lca import appendix_g


@dataclass(frozen=True)
class Placed:
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


@lru_cache(maxsize=1024)
def depth_bound(law: Law, start: Fraction) -> int:
    """``T'(β_0)`` of Lemma G.6, from the constants of Appendix G."""
    return appendix_g.constants(law, start).depth_bound


def _shallow(case: object) -> str | None:
    if not isinstance(case, Placed):
        return None
    if case.depth < 2:
        return f"T = {case.depth}: at T = 1 the loss does not depend on β"
    try:
        bound = depth_bound(case.law, case.start)
    except InputError as error:
        return f"T'(β₀) is not defined at β₀ = {case.start}: {error}"
    if case.depth < bound:
        return f"T = {case.depth} is below T'(β₀) = {bound} for β₀ = {case.start}"
    return None


LARGE_DEPTH = Hypothesis("large depth", r"T\ge T'(\beta_0),\ T\ge2", _shallow)
