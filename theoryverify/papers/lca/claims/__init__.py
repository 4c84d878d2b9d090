"""The statements of the cross-attention paper, each with its checks.

Places are those of arXiv 2602.04872v4. The claims stand in the order of the paper.
"""

from __future__ import annotations

from theoryverify.claims import Claim
from theoryverify.papers.lca.claims import (
    appendix_h,
    context,
    depth,
    depth_hypotheses,
    depth_minimiser,
    exact_law,
    explosion,
    figures,
    flow,
    flow_two,
    one_layer,
    rates,
    rates_two,
    setting,
    simulated,
    stack,
    table1,
    two,
    two_bounds,
    two_parity,
    two_profile,
    uniqueness,
    uniqueness_more,
    untied,
)

claims: list[Claim] = [
    *setting.claims,
    *one_layer.claims,
    *stack.claims,
    *context.claims,
    *depth_minimiser.claims,
    *depth.claims,
    *depth_hypotheses.claims,
    *two_profile.claims,
    *two_bounds.claims,
    *two.claims,
    *two_parity.claims,
    *uniqueness.claims,
    *uniqueness_more.claims,
    *untied.claims,
    *rates.claims,
    *rates_two.claims,
    *flow.claims,
    *flow_two.claims,
    *exact_law.claims,
    *appendix_h.claims,
    *explosion.claims,
    *simulated.claims,
    *figures.claims,
    *table1.claims,
]
