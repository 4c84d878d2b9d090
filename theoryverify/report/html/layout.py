"""Places for the nodes of a dependency graph: layers from left to right, few crossings.

The method of Sugiyama, Tagawa and Toda (1981): nodes are put into layers by longest paths, an edge
that spans several layers gets a dummy node in each of them, the order in each layer is improved by
barycentres, and the heights are relaxed towards the neighbours' mean.

It is written here since no library fits: grandalf is no longer maintained, igraph and pygraphviz are
compiled and ask for system packages or a copyleft licence, and networkx has no layered layout that
reduces crossings. Everything below is deterministic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

_SWEEPS = 24
_RELAXATIONS = 12
_DUMMY = 0.45
"""The room a passing edge takes, in units of a node's."""


@dataclass(frozen=True)
class Layout:
    """Positions in units of one layer (x) and one node (y).

    Attributes
    ----------
    positions : dict
        From a node to ``(x, y)``; x counts layers from 0, y runs from 0 to ``height``.
    routes : dict
        From an edge ``(dependency, dependent)`` to the points it passes, both ends included.
    layers : int
    height : float
    """

    positions: dict[str, tuple[float, float]]
    routes: dict[tuple[str, str], list[tuple[float, float]]]
    layers: int
    height: float


def layered(needs: Mapping[str, Sequence[str]]) -> Layout:
    """Lay out an acyclic graph, given what each node depends on.

    Dependencies that are no keys of ``needs`` are left out. Nodes without any edge are set into
    columns below the others.
    """
    needs = {node: [n for n in dict.fromkeys(needs[node]) if n in needs] for node in needs}
    users: dict[str, list[str]] = {node: [] for node in needs}
    for node, others in needs.items():
        for other in others:
            users[other].append(node)
    connected = [node for node in needs if needs[node] or users[node]]
    alone = [node for node in needs if not needs[node] and not users[node]]
    layer = _layers(connected, needs, users)
    rows, chains = _with_dummies(connected, needs, layer)
    rows = _ordered(rows, chains)
    heights = _relaxed(rows, chains)
    positions = {node: (float(layer[node]), heights[node]) for node in connected}
    routes = {
        edge: [(float(layer[edge[0]] + i), heights[name]) for i, name in enumerate(chain)]
        for edge, chain in chains.items()
    }
    height = max((y for _, y in positions.values()), default=-1.0) + 1
    columns = max(len(rows), min(8, len(alone)), 1)
    start = height + (0.4 if connected and alone else 0)
    for index, node in enumerate(alone):
        positions[node] = (float(index % columns), start + index // columns)
    if alone:
        height = start + (len(alone) - 1) // columns + 1
    return Layout(positions, routes, columns, height)


def crossings(rows: Sequence[Sequence[str]], links: Iterable[tuple[str, str]]) -> int:
    """How many pairs of links between neighbouring rows cross."""
    place = {name: i for row in rows for i, name in enumerate(row)}
    level = {name: i for i, row in enumerate(rows) for name in row}
    between: dict[int, list[tuple[int, int]]] = {}
    for left, right in links:
        between.setdefault(level[left], []).append((place[left], place[right]))
    return sum(
        (a[0] - b[0]) * (a[1] - b[1]) < 0
        for found in between.values()
        for i, a in enumerate(found)
        for b in found[:i]
    )


def _layers(
    nodes: Sequence[str], needs: Mapping[str, Sequence[str]], users: Mapping[str, Sequence[str]]
) -> dict[str, int]:
    """Longest paths; then what rests on nothing moves right, next to its first user."""
    layer: dict[str, int] = {}

    def depth(node: str) -> int:
        if node not in layer:
            layer[node] = 1 + max((depth(other) for other in needs[node]), default=-1)
        return layer[node]

    for node in nodes:
        depth(node)
    for node in nodes:
        if not needs[node]:
            layer[node] = min(layer[user] for user in users[node]) - 1
    return layer


def _with_dummies(
    nodes: Sequence[str], needs: Mapping[str, Sequence[str]], layer: Mapping[str, int]
) -> tuple[list[list[str]], dict[tuple[str, str], list[str]]]:
    rows: list[list[str]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for node in nodes:
        rows[layer[node]].append(node)
    chains: dict[tuple[str, str], list[str]] = {}
    for node in nodes:
        for other in needs[node]:
            # Edges that leave one node share their way: one dummy a layer, not one an edge.
            inner = [f"\0{other}\0{level}" for level in range(layer[other] + 1, layer[node])]
            for level, name in enumerate(inner, layer[other] + 1):
                if name not in rows[level]:
                    rows[level].append(name)
            chains[(other, node)] = [other, *inner, node]
    return rows, chains


def _links(chains: Mapping[tuple[str, str], Sequence[str]]) -> list[tuple[str, str]]:
    return list(dict.fromkeys(pair for chain in chains.values() for pair in pairwise(chain)))


def _neighbours(links: Iterable[tuple[str, str]]) -> tuple[dict[str, list[str]], ...]:
    left: dict[str, list[str]] = {}
    right: dict[str, list[str]] = {}
    for a, b in links:
        left.setdefault(b, []).append(a)
        right.setdefault(a, []).append(b)
    return left, right


def _ordered(
    rows: list[list[str]], chains: Mapping[tuple[str, str], Sequence[str]]
) -> list[list[str]]:
    links = _links(chains)
    left, right = _neighbours(links)
    best, fewest = [list(row) for row in rows], crossings(rows, links)
    for sweep in range(_SWEEPS):
        forward = sweep % 2 == 0
        sides = left if forward else right
        for level in range(1, len(rows)) if forward else range(len(rows) - 2, -1, -1):
            fixed = rows[level - 1 if forward else level + 1]
            place = {name: i / max(1, len(fixed) - 1) for i, name in enumerate(fixed)}
            now = {name: i / max(1, len(rows[level]) - 1) for i, name in enumerate(rows[level])}

            def centre(
                name: str, place: dict[str, float] = place, now: dict[str, float] = now
            ) -> float:
                near = [place[other] for other in sides.get(name, ()) if other in place]  # noqa: B023
                return sum(near) / len(near) if near else now[name]

            rows[level] = sorted(rows[level], key=centre)
        count = crossings(rows, links)
        if count < fewest:
            best, fewest = [list(row) for row in rows], count
    return best


def _relaxed(
    rows: list[list[str]], chains: Mapping[tuple[str, str], Sequence[str]]
) -> dict[str, float]:
    left, right = _neighbours(_links(chains))
    height: dict[str, float] = {}
    for row in rows:
        at = 0.0
        for name in row:
            height[name] = at
            at += _room(name)
    for _ in range(_RELAXATIONS):
        for row in rows:
            wanted = []
            for name in row:
                near = [height[other] for other in (*left.get(name, ()), *right.get(name, ()))]
                wanted.append(sum(near) / len(near) if near else height[name])
            for name, value in zip(row, _apart(row, wanted), strict=True):
                height[name] = value
    top = min(height.values(), default=0.0)
    return {name: value - top for name, value in height.items()}


def _room(name: str) -> float:
    return _DUMMY if name.startswith("\0") else 1.0


def _apart(row: Sequence[str], wanted: Sequence[float]) -> list[float]:
    """The heights nearest to ``wanted`` (least squares) that keep the order and the distances.

    Less the room of what stands before, this is isotonic regression: pool adjacent violators.
    """
    offsets, at = [], 0.0
    for i, name in enumerate(row):
        if i:
            at += (_room(row[i - 1]) + _room(name)) / 2
        offsets.append(at)
    blocks: list[tuple[float, int]] = []
    for value, offset in zip(wanted, offsets, strict=True):
        total, count = value - offset, 1
        while blocks and blocks[-1][0] / blocks[-1][1] >= total / count:
            before = blocks.pop()
            total, count = total + before[0], count + before[1]
        blocks.append((total, count))
    means = [total / count for total, count in blocks for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]
