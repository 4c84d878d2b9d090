"""Statements of the paper that no check covers yet, so that ``list`` shows every one."""

from __future__ import annotations

from theoryverify.claims import Claim
from theoryverify.papers.mamba.claims_exponents import NUMBERING

_NOT_YET = "no check is written yet"

claims = [
    Claim(f"mamba.{key}", place, statement, title=title, not_checked=_NOT_YET, note=NUMBERING)
    for key, place, statement, title in (
        (
            "E",
            "lemma on stage I",
            r"|\gamma^*_\alpha|\gg|\gamma^*_{\alpha'}|,\ "
            r"\operatorname{supp}\alpha\subset I\not\supset\operatorname{supp}\alpha'",
            "after one gradient step the support stands out",
        ),
        (
            "C.1",
            "Lemma C.1, Proposition 4.1",
            r"N^{-1}\mathrm{Mamba}(Z;\gamma^*)\approx P_1+P_2(\langle\beta,x\rangle/r)^{\mathrm{ge}}",
            "the test-time feature is P₁ + P₂(⟨β,x⟩/r)^ge",
        ),
        (
            "G",
            "lemma on the MLP",
            r"\|u^*\|\le\tilde O(r^{3\mathrm{ge}/2}m^{-1/2})",
            "a two-layer head expresses g in the feature",
        ),
        (
            "main",
            "main theorem",
            r"\mathcal R_N(f)-\tau=o_d(1)",
            "the in-context error tends to the noise level",
        ),
    )
]
