"""Statements of the paper that no check covers yet, so that ``list`` shows every one."""

from __future__ import annotations

from theoryverify.claims import Claim
from theoryverify.papers.mamba.claims.exponents import NUMBERING

_ASYMPTOTIC = (
    "asymptotic in d with unspecified powers of log d, and a probability over pretraining; what can be "
    "looked at is in mamba.E, mamba.C.1, mamba.G and the figure mamba.sample_complexity"
)

claims = [
    Claim(
        "mamba.main",
        "main theorem",
        r"\mathcal R_N(f)-\tau=o_d(1)",
        title="the in-context error tends to the noise level",
        not_checked=_ASYMPTOTIC,
        note=NUMBERING,
    ),
    Claim(
        "mamba.main.pretraining",
        "main theorem, the pretraining sizes",
        r"N_{\mathrm{pt}},T_1=d^{\Theta(\mathrm{ge})},\quad T_2=\tilde\Omega(r^{3\mathrm{ge}})",
        title="how many pretraining tasks and examples suffice",
        not_checked="a sufficient order in d with constants and powers that are not known; a finite "
        "experiment can neither prove nor refute it",
        note=NUMBERING,
    ),
]
