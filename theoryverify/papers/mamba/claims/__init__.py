"""The statements of the Mamba paper, each with its checks.

The full text of arXiv 2510.12026 was not at hand when these were written: places are named by what
they say, and reconstructed statements say so in their note. What is checked is true or false by
itself.
"""

from __future__ import annotations

from theoryverify.claims import Claim
from theoryverify.papers.mamba.claims import (
    embedding,
    exponents,
    feature,
    finite,
    forgetting,
    gate,
    gate_odd,
    head,
    icl,
    icl_kernel,
    icl_labels,
    law,
    layer,
    stage_one,
    unchecked,
)

claims: list[Claim] = [
    *exponents.claims,
    *gate.claims,
    *gate_odd.claims,
    *embedding.claims,
    *layer.claims,
    *forgetting.claims,
    *stage_one.claims,
    *feature.claims,
    *finite.claims,
    *head.claims,
    *law.claims,
    *icl.claims,
    *icl_labels.claims,
    *icl_kernel.claims,
    *unchecked.claims,
]
