"""The Mamba paper's figures, in the order in which they are listed.

One module a figure: each draws the tables of its namesake in ``experiments``.
"""

from theoryverify.papers.mamba.figures.degenerate_gate import DEGENERATE_GATE
from theoryverify.papers.mamba.figures.forgetting import FORGETTING
from theoryverify.papers.mamba.figures.icl_curves import ICL_CURVES
from theoryverify.papers.mamba.figures.sample_complexity import SAMPLE_COMPLEXITY
from theoryverify.papers.mamba.figures.support_recovery import SUPPORT_RECOVERY
from theoryverify.papers.mamba.figures.test_time_feature import TEST_TIME_FEATURE
from theoryverify.papers.mamba.figures.training import TRAINING

figures = (
    DEGENERATE_GATE,
    FORGETTING,
    SUPPORT_RECOVERY,
    TEST_TIME_FEATURE,
    SAMPLE_COMPLEXITY,
    ICL_CURVES,
    TRAINING,
)
