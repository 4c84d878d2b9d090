"""What can be searched of the cross-attention paper (``theoryverify falsify``)."""

from __future__ import annotations

from theoryverify.claims.search import Search
from theoryverify.papers.lca.searches import limit, one_layer, window

searches: list[Search] = [
    *one_layer.searches,
    *limit.searches,
    *window.searches,
]
