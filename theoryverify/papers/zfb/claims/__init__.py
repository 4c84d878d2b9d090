"""Every claim of the paper, in the order of its sections."""

from theoryverify.papers.zfb.claims import flow, loss, risk, training

claims = (*loss.claims, *flow.claims, *training.claims, *risk.claims)
