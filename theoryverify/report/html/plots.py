"""Small pictures of an interval and the margin in which it should lie."""

from __future__ import annotations

import math
from xml.etree import ElementTree as ET

from markupsafe import Markup

from theoryverify.report.evidence import InMargin

_WIDTH, _HEIGHT = 260, 36
_EDGE = 8
_BAR = 12
_LETTER = 6.6
_LABEL = 70
"""Limits nearer than this share one label."""


def interval_plot(shown: InMargin) -> Markup:
    """The allowed region as a band, the interval that was found as a bar with end caps.

    The axis covers both; an infinite end leaves the picture with an arrow.
    """
    low, high = _window(shown)

    def at(value: float) -> float:
        share = (value - low) / (high - low)
        return _EDGE + (_WIDTH - 2 * _EDGE) * min(1.0, max(0.0, share))

    state = "inside" if shown.inside else "apart" if shown.apart else "between"
    words = {"inside": "inside the margin", "apart": "outside the margin", "between": "undecided"}
    label = f"{shown.what} {_range(shown.found)}, allowed {_range(shown.allowed)}: {words[state]}"
    svg = ET.Element(
        "svg",
        {
            "class": f"plot {state}",
            "viewBox": f"0 0 {_WIDTH} {_HEIGHT}",
            "width": str(_WIDTH),
            "height": str(_HEIGHT),
            "role": "img",
            "aria-label": label,
        },
    )
    left, right = at(shown.allowed[0]), at(shown.allowed[1])
    ET.SubElement(
        svg,
        "rect",
        {"class": "band", "x": f"{left:.1f}", "y": "2", "width": f"{right - left:.1f}"}
        | {"height": str(2 * _BAR - 4)},
    )
    limits = [(at(value), f"{value:.4g}") for value in shown.allowed if math.isfinite(value)]
    for x, _ in limits:
        ET.SubElement(svg, "path", {"class": "limit", "d": f"M{x:.1f} 2V{2 * _BAR - 2}"})
    if len(limits) == 2 and limits[1][0] - limits[0][0] < _LABEL:
        (x, low_text), (y, high_text) = limits
        limits = [((x + y) / 2, f"{low_text} to {high_text}")]
    for x, words_at in limits:
        half = _LETTER * len(words_at) / 2
        middle = min(max(x, half), _WIDTH - half)
        place = {"x": f"{middle:.1f}", "y": str(_HEIGHT - 3), "text-anchor": "middle"}
        ET.SubElement(svg, "text", place).text = words_at
    _bar(svg, at(shown.found[0]), at(shown.found[1]), shown.found)
    return Markup(ET.tostring(svg, encoding="unicode"))


def _window(shown: InMargin) -> tuple[float, float]:
    ends = [x for x in (*shown.found, *shown.allowed) if math.isfinite(x)]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    room = 0.12 * (high - low) or max(abs(low), 1.0) * 0.12
    return low - room, high + room


def _range(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.4g}" if ends[0] == ends[1] else f"{ends[0]:.4g} to {ends[1]:.4g}"


def _bar(svg: ET.Element, left: float, right: float, ends: tuple[float, float]) -> None:
    if right - left < 3:  # a point: a diamond
        x = (left + right) / 2
        path = f"M{x - 5:.1f} {_BAR}L{x:.1f} {_BAR - 6}L{x + 5:.1f} {_BAR}L{x:.1f} {_BAR + 6}Z"
        ET.SubElement(svg, "path", {"class": "point", "d": path})
        return
    path = f"M{left:.1f} {_BAR}H{right:.1f}"
    for x, end, way in ((left, ends[0], 1), (right, ends[1], -1)):
        if math.isfinite(end):
            path += f"M{x:.1f} {_BAR - 5}V{_BAR + 5}"
        else:
            path += f"M{x + 6 * way:.1f} {_BAR - 4}L{x:.1f} {_BAR}L{x + 6 * way:.1f} {_BAR + 4}"
    ET.SubElement(svg, "path", {"class": "found", "d": path})
