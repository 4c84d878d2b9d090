"""What can be searched of the cross-attention paper (``theoryverify falsify``)."""

from __future__ import annotations

from theoryverify.claims.search import Search
from theoryverify.papers.lca import searches_limit, searches_one_layer, searches_window

searches: list[Search] = [
    *searches_one_layer.searches,
    *searches_limit.searches,
    *searches_window.searches,
]
