"""The statements of the Mamba paper, each with its checks.

The full text of arXiv 2510.12026 was not at hand when these were written: places are named by what
they say, and reconstructed statements say so in their note. What is checked is true or false by
itself.
"""

from __future__ import annotations

from theoryverify.claims import Claim
from theoryverify.papers.mamba import (
    claims_embedding,
    claims_exponents,
    claims_feature,
    claims_finite,
    claims_forgetting,
    claims_gate,
    claims_gate_odd,
    claims_head,
    claims_icl,
    claims_icl_kernel,
    claims_law,
    claims_layer,
    claims_stage_one,
    claims_unchecked,
)

claims: list[Claim] = [
    *claims_exponents.claims,
    *claims_gate.claims,
    *claims_gate_odd.claims,
    *claims_embedding.claims,
    *claims_layer.claims,
    *claims_forgetting.claims,
    *claims_stage_one.claims,
    *claims_feature.claims,
    *claims_finite.claims,
    *claims_head.claims,
    *claims_law.claims,
    *claims_icl.claims,
    *claims_icl_kernel.claims,
    *claims_unchecked.claims,
]
