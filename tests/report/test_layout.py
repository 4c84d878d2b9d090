"""The layered layout: order, distances, crossings, routes."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theoryverify.report.html.layout import crossings, layered


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, list[str]]:
    size = draw(st.integers(1, 16))
    names = [f"n{i}" for i in range(size)]
    return {
        name: draw(st.lists(st.sampled_from(names[:i]), max_size=4)) if i else []
        for i, name in enumerate(names)
    }


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_dependencies_stand_left_and_nothing_overlaps(needs: dict[str, list[str]]) -> None:
    layout = layered(needs)
    assert set(layout.positions) == set(needs)
    for node, others in needs.items():
        for other in others:
            assert layout.positions[other][0] < layout.positions[node][0]
    for (x0, y0), (x1, y1) in combinations(layout.positions.values(), 2):
        assert x0 != x1 or abs(y0 - y1) > 1 - 1e-9
    assert min(y for _, y in layout.positions.values()) >= 0
    assert max(y for _, y in layout.positions.values()) <= layout.height - 1 + 1e-9
    assert max(x for x, _ in layout.positions.values()) <= layout.layers - 1


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_every_edge_is_routed_layer_by_layer(needs: dict[str, list[str]]) -> None:
    layout = layered(needs)
    edges = {(other, node) for node, others in needs.items() for other in others}
    assert set(layout.routes) == edges
    for (source, target), points in layout.routes.items():
        assert points[0] == layout.positions[source]
        assert points[-1] == layout.positions[target]
        assert all(b[0] - a[0] == 1 for a, b in pairwise(points))


def test_crossings_that_can_be_avoided_are() -> None:
    needs = {"a": [], "b": [], "c": [], "x": ["c"], "y": ["b"], "z": ["a"]}
    layout = layered(needs)
    order = sorted("abc", key=lambda n: layout.positions[n][1])
    partner = {"a": "z", "b": "y", "c": "x"}
    assert [partner[n] for n in order] == sorted("xyz", key=lambda n: layout.positions[n][1])


def test_crossings_are_counted() -> None:
    rows = [["a", "b"], ["x", "y"]]
    assert crossings(rows, [("a", "x"), ("b", "y")]) == 0
    assert crossings(rows, [("a", "y"), ("b", "x")]) == 1
    assert crossings(rows, [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]) == 1


def test_a_passing_edge_keeps_clear_of_nodes() -> None:
    """An edge over three layers bends around what stands between."""
    layout = layered({"a": [], "b": ["a"], "c": ["b"], "d": ["c", "a"]})
    for x, y in layout.routes[("a", "d")][1:-1]:
        for node in "bc":
            place = layout.positions[node]
            assert place[0] != x or abs(place[1] - y) >= 0.7


def test_unknown_dependencies_and_lonely_nodes() -> None:
    layout = layered({"a": ["elsewhere"], "b": [], "c": ["b"]})
    assert layout.positions["a"][1] > layout.positions["b"][1]
    assert layered({}).positions == {}


def test_a_source_stands_next_to_its_first_user() -> None:
    layout = layered({"a": [], "b": ["a"], "c": ["b"], "late": [], "d": ["c", "late"]})
    assert layout.positions["late"][0] == layout.positions["d"][0] - 1


@pytest.mark.parametrize("order", [["a", "b", "c"], ["c", "a", "b"]])
def test_the_layout_is_a_function_of_the_graph(order: list[str]) -> None:
    needs = {"a": [], "b": ["a"], "c": ["a", "b"]}
    assert layered({n: needs[n] for n in order}) == layered({n: needs[n] for n in order})
