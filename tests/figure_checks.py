"""What is checked of every picture: its axes, that nothing is clipped, its caption. No pixels."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from theoryverify.figures import Data, Figure, Plan, Table
from theoryverify.figures.render import caption, drawn


def enclosed(table: Table, name: str, value: str, slack: str = "0") -> bool:
    (low,), (high,) = table.column(f"{name}_lower"), table.column(f"{name}_upper")
    room = Fraction(slack)
    return Fraction(str(low)) - room <= Fraction(value) <= Fraction(str(high)) + room


def canvas_of(figure: Figure, tables: Mapping[str, Table]) -> Any:
    """The picture, refused if matplotlib warns: a missing glyph, a layout that does not fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return drawn(figure, Data(tables, ""))


def axes_of(canvas: Any) -> list[tuple[str, str, str, str]]:
    """Labels and scales of each axis."""
    return [
        (axis.get_xlabel(), axis.get_ylabel(), axis.get_xscale(), axis.get_yscale())
        for axis in canvas.axes
    ]


def assert_tidy(canvas: Any, *, labels_beside: bool = False) -> None:
    """Nothing is clipped; legends, panels and their labels do not overlap.

    With ``labels_beside`` a text may stand beside its panel.
    """
    page = canvas.bbox
    boxes = [axis.get_tightbbox() for axis in canvas.axes]  # ticks, labels, titles
    boxes += [text.get_window_extent() for axis in canvas.axes for text in axis.texts]
    boxes += [legend.get_window_extent() for legend in canvas.legends]
    for box in boxes:
        assert page.x0 <= box.x0 < box.x1 <= page.x1
        assert page.y0 <= box.y0 < box.y1 <= page.y1
    for axis in canvas.axes:
        for text in axis.texts:
            inside = text.get_window_extent().x1 <= axis.get_window_extent().x1
            assert inside or labels_beside
    for legend in canvas.legends:
        for axis in canvas.axes:
            assert not legend.get_window_extent().overlaps(axis.get_tightbbox())
    for axis, other in ((a, b) for a in canvas.axes for b in canvas.axes if a is not b):
        assert not axis.get_window_extent().overlaps(other.get_tightbbox())


def assert_captioned(figure: Figure, tables: Mapping[str, Table]) -> None:
    """The caption names title, setup, preset and files, in lines that fit a page."""
    text = caption(figure, Data(tables, "By hand."), Plan("laptop"))
    assert text.startswith(figure.title)
    for part in ("Preset: laptop.", "By hand.", f"{figure.name}."):
        assert part in text
    assert max(map(len, text.splitlines())) <= 100
