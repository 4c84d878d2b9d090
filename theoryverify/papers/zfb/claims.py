"""Every claim of the paper, in the order of its sections."""

from theoryverify.papers.zfb import claims_risk, claims_training

claims = (*claims_training.claims, *claims_risk.claims)
