"""Every claim of the paper, in the order of its sections."""

from theoryverify.papers.zfb.claims import risk, training

claims = (*training.claims, *risk.claims)
