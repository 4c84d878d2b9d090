"""The statements of the cross-attention paper, each with its checks.

Places are those of arXiv 2602.04872v4. The claims stand in the order of the paper.
"""

from __future__ import annotations

from theoryverify.claims import Claim
from theoryverify.papers.lca import (
    claims_context,
    claims_depth,
    claims_figures,
    claims_finite,
    claims_flow,
    claims_flow_two,
    claims_one_layer,
    claims_rates,
    claims_rates_two,
    claims_setting,
    claims_simulated,
    claims_stack,
    claims_table1,
    claims_two,
    claims_uniqueness,
    claims_uniqueness_more,
    claims_untied,
)

claims: list[Claim] = [
    *claims_setting.claims,
    *claims_one_layer.claims,
    *claims_stack.claims,
    *claims_context.claims,
    *claims_depth.claims,
    *claims_two.claims,
    *claims_uniqueness.claims,
    *claims_uniqueness_more.claims,
    *claims_untied.claims,
    *claims_rates.claims,
    *claims_rates_two.claims,
    *claims_flow.claims,
    *claims_flow_two.claims,
    *claims_finite.claims,
    *claims_simulated.claims,
    *claims_figures.claims,
    *claims_table1.claims,
]
