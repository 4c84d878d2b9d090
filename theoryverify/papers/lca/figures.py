"""The cross-attention paper's figures, in the order in which they are listed.

One module a figure: ``figures_NAME`` draws the tables that ``experiments_NAME`` computes.
"""

from theoryverify.papers.lca.figures_alpha_star import ALPHA_STAR
from theoryverify.papers.lca.figures_appendix_b import APPENDIX_B
from theoryverify.papers.lca.figures_fig2 import FIG2
from theoryverify.papers.lca.figures_fig3 import FIG3
from theoryverify.papers.lca.figures_fig4 import FIG4
from theoryverify.papers.lca.figures_limits import LIMITS
from theoryverify.papers.lca.figures_stationary import STATIONARY
from theoryverify.papers.lca.figures_table1 import AVMNIST, TABLE1
from theoryverify.papers.lca.figures_training_time import TRAINING_TIME

figures = (
    FIG2,
    FIG3,
    FIG4,
    ALPHA_STAR,
    TRAINING_TIME,
    STATIONARY,
    LIMITS,
    APPENDIX_B,
    TABLE1,
    AVMNIST,
)
