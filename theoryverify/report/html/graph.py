"""The dependency graph of a paper's claims, as an SVG whose nodes are links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote
from xml.etree import ElementTree as ET

from markupsafe import Markup

from theoryverify.report.html.layout import Layout, layered
from theoryverify.report.html.marks import RUNGS, VERDICTS

_WIDTH, _HEIGHT = 190, 30
_COLUMN, _ROW = 224, 39
_PAD = 14
_SCALE = 0.8
"""Of the drawing at its smallest; it grows with the window."""
_LETTERS = 18
"""Letters of an id that fit into a node; the whole id and title stand in its tooltip."""


@dataclass(frozen=True)
class Node:
    """A claim as the graph shows it.

    ``verdict`` is one of the verdicts or ``"unchecked"``; ``rung`` may be empty; ``expected`` says
    whether the verdict is the expected one.
    """

    id: str
    label: str
    title: str
    verdict: str
    rung: str
    expected: bool
    needs: Sequence[str]

    @property
    def described(self) -> str:
        words = [self.verdict if self.expected else f"{self.verdict}, which is not expected"]
        words += [self.rung] if self.rung else []
        return f"{self.id}: {self.title} ({', '.join(words)})"


def anchor(claim: str) -> str:
    """The id of a claim's article on the page."""
    return f"claim-{claim}"


def link(claim: str) -> str:
    """The address of a claim's article on the page."""
    return "#" + quote(anchor(claim), safe="-._~*()")


def graph(nodes: Sequence[Node], name: str) -> Markup:
    """Foundations on the left, what rests on them to the right."""
    layout = layered({node.id: node.needs for node in nodes})
    width = (layout.layers - 1) * _COLUMN + _WIDTH + 2 * _PAD
    height = round((layout.height - 1) * _ROW) + _HEIGHT + 2 * _PAD
    svg = ET.Element(
        "svg",
        {
            "class": "graph",
            "viewBox": f"0 0 {width} {height}",
            "width": str(round(_SCALE * width)),
            "height": str(round(_SCALE * height)),
            "role": "group",
            "aria-label": f"Dependencies of the claims of {name}: each node leads to its claim",
        },
    )
    edges = ET.SubElement(svg, "g", {"class": "edges", "aria-hidden": "true"})
    for (source, target), points in layout.routes.items():
        ET.SubElement(edges, "path", {"d": _curve(points), "data-from": source, "data-to": target})
    for node in sorted(nodes, key=lambda node: layout.positions[node.id]):
        _draw(svg, node, layout)
    return Markup(ET.tostring(svg, encoding="unicode"))


def _corner(point: tuple[float, float]) -> tuple[float, float]:
    return _PAD + point[0] * _COLUMN, _PAD + point[1] * _ROW


def _curve(points: Sequence[tuple[float, float]]) -> str:
    """Smooth from the right side of the first node to the left side of the last."""
    corners = [_corner(point) for point in points]
    start, *inner, end = [(x, y + _HEIGHT / 2) for x, y in corners]
    at = (start[0] + _WIDTH, start[1])
    path = [f"M{at[0]:.0f} {at[1]:.0f}"]
    for x, y in (*inner, end):
        middle = (at[0] + x) / 2
        path.append(f"C{middle:.0f} {at[1]:.0f} {middle:.0f} {y:.0f} {x:.0f} {y:.0f}")
        at = (x + _WIDTH, y)
        if (x, y) != end:  # past the nodes of a layer in a straight line, between two of them
            path.append(f"H{at[0]:.0f}")
    return "".join(path)


def _draw(svg: ET.Element, node: Node, layout: Layout) -> None:
    x, y = _corner(layout.positions[node.id])
    classes = ["node", f"v-{node.verdict}", f"r-{node.rung or 'none'}"]
    classes += [] if node.expected else ["unexpected"]
    place = ET.SubElement(
        svg,
        "a",
        {
            "href": link(node.id),
            "class": " ".join(classes),
            "transform": f"translate({x:.0f} {y:.0f})",
            "data-id": node.id,
            "aria-label": node.described,
        },
    )
    ET.SubElement(place, "title").text = node.described
    corners = {"width": str(_WIDTH), "height": str(_HEIGHT), "rx": _radius(node.verdict)}
    ET.SubElement(place, "rect", {"class": "box"} | corners)
    _text(place, 16, "rung", RUNGS.get(node.rung, ""))
    short = node.label if len(node.label) <= _LETTERS else node.label[: _LETTERS - 1] + "…"
    _text(place, 30, "id", short)
    _text(place, _WIDTH - 13, "verdict", VERDICTS[node.verdict])


def _radius(verdict: str) -> str:
    """The shape says the verdict too: round where all is well, square where it is not."""
    return {"holds": "15", "outside": "15", "unchecked": "15"}.get(verdict, "2")


def _text(place: ET.Element, x: int, kind: str, text: str) -> None:
    ET.SubElement(place, "text", {"x": str(x), "y": "20", "class": kind}).text = text
