"""Appendix H and finite context: the reductions, the bound on its event, the explosion."""

from __future__ import annotations

from theoryverify.papers.lca import claims_appendix_h, claims_exact_law, claims_explosion

claims = [*claims_exact_law.claims, *claims_appendix_h.claims, *claims_explosion.claims]
