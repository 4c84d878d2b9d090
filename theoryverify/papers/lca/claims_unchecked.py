"""Statements of the paper that no check covers yet, so that ``list`` shows every one."""

from __future__ import annotations

from theoryverify.claims import Claim

_NOT_YET = "no check is written yet"

claims = [
    Claim(f"lca.{key}", place, statement, title=title, not_checked=_NOT_YET)
    for key, place, statement, title in (
        (
            "6.2.flow",
            "Theorem 6.2, item 1; Lemma F.2",
            r"\dot\alpha=-R_T'(\alpha)\ \Rightarrow\ \alpha(t)\to\alpha^*_T",
            "gradient flow on R_T converges to α*_T from any start",
        ),
    )
]
