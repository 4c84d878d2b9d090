"""Cells of the tables behind the figures."""

from __future__ import annotations

from theoryverify.exact.balls import Enclosure


def ends(value: Enclosure, digits: int = 12) -> tuple[str, str]:
    """The two cells ``x_lower, x_upper`` of an enclosure: decimal strings, rounded outward."""
    low, high = value.decimal(digits)
    return low, high
