"""The Mamba paper's figures, in the order in which they are listed.

One module a figure: ``figures_NAME`` draws the tables that ``experiments_NAME`` computes.
"""

from theoryverify.papers.mamba.figures_degenerate_gate import DEGENERATE_GATE
from theoryverify.papers.mamba.figures_forgetting import FORGETTING
from theoryverify.papers.mamba.figures_icl_curves import ICL_CURVES
from theoryverify.papers.mamba.figures_sample_complexity import SAMPLE_COMPLEXITY
from theoryverify.papers.mamba.figures_support_recovery import SUPPORT_RECOVERY
from theoryverify.papers.mamba.figures_test_time_feature import TEST_TIME_FEATURE
from theoryverify.papers.mamba.figures_training import TRAINING

figures = (
    DEGENERATE_GATE,
    FORGETTING,
    SUPPORT_RECOVERY,
    TEST_TIME_FEATURE,
    SAMPLE_COMPLEXITY,
    ICL_CURVES,
    TRAINING,
)
