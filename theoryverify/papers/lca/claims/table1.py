"""Table 1: stated, and not decided by a check."""

from theoryverify.claims import Claim

TABLE1 = Claim(
    "lca.J.table1",
    "Table 1; Appendix J",
    r"\text{on corrupted avMNIST the full model beats each ablation and the bidirectional baseline}",
    title="cross-attention and re-injection help a multimodal classifier",
    not_checked="an experiment on data that cannot be had, reported at its best test epoch; "
    "`figure lca.table1` repeats it on avMNIST-like data with intervals, which are descriptive",
)

claims = (TABLE1,)
