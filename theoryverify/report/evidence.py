"""Numbers in the evidence's text: intervals with their margins, and enclosures.

A report keeps what a step showed as a line of text, so that it reads the same on a terminal, in JUnit
and on a page. The forms below are those of :class:`theoryverify.stats.Equivalence`,
:class:`theoryverify.exact.balls.Enclosure` and the simulated checks; a line in another form has no
picture, and stays text.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

_NUMBER = r"[-+]?(?:inf|nan|\d+(?:\.\d*)?(?:e[-+]?\d+)?)"
_EQUIVALENCE = re.compile(
    rf"mean in \[({_NUMBER}), ({_NUMBER})\].*?allowed \[({_NUMBER}), ({_NUMBER})\]"
)
_DISTANCE = re.compile(rf"distance ({_NUMBER}) ± ({_NUMBER}), margin ({_NUMBER})")
_CLAIMED = re.compile(rf"= ({_NUMBER}), claimed ({_NUMBER}) ± ({_NUMBER})")
_RATIO = re.compile(rf"largest ratio to its bound ({_NUMBER})")
_ENCLOSURE = re.compile(r"(-?[\d.]*\d\.?)\[(\d+), (\d+)\](e[-+]?\d+)?")


@dataclass(frozen=True)
class InMargin:
    """An interval that was found, and the region where it should lie; ends may be infinite.

    ``what`` says what kind of quantity lies on the axis.
    """

    found: tuple[float, float]
    allowed: tuple[float, float]
    what: str

    @property
    def inside(self) -> bool:
        return self.allowed[0] <= self.found[0] and self.found[1] <= self.allowed[1]

    @property
    def apart(self) -> bool:
        return self.found[1] < self.allowed[0] or self.allowed[1] < self.found[0]


def in_margin(shown: str) -> InMargin | None:
    """The interval and the margin that a line of evidence states, or ``None``."""
    found: tuple[float, float]
    if match := _EQUIVALENCE.search(shown):
        a, b, c, d = map(float, match.groups())
        result = InMargin((a, b), (c, d), "confidence interval of the mean")
    elif match := _DISTANCE.search(shown):
        value, band, margin = map(float, match.groups())
        found = (max(0.0, value - band), value + band)
        result = InMargin(found, (0.0, margin), "distance between the laws")
    elif match := _CLAIMED.search(shown):
        value, centre, margin = map(float, match.groups())
        result = InMargin((value, value), (centre - margin, centre + margin), "certified value")
    elif match := _RATIO.search(shown):
        value = float(match[1])
        result = InMargin((value, value), (0.0, 1.0), "largest ratio to the bound")
    else:
        return None
    return None if any(map(math.isnan, (*result.found, *result.allowed))) else result


@dataclass(frozen=True)
class EnclosedNumber:
    """``common[low, high]e-3``, the shape in which an enclosure prints."""

    common: str
    low: str
    high: str
    power: str


def enclosed(text: str) -> list[str | EnclosedNumber]:
    """A line cut into plain text and enclosures."""
    parts: list[str | EnclosedNumber] = []
    at = 0
    for match in _ENCLOSURE.finditer(text):
        if match.start() > at:
            parts.append(text[at : match.start()])
        parts.append(EnclosedNumber(match[1], match[2], match[3], match[4] or ""))
        at = match.end()
    if at < len(text):
        parts.append(text[at:])
    return parts
