"""The cross-attention paper's figures, in the order in which they are listed.

One module a figure: each draws the tables of its namesake in ``experiments``.
"""

from theoryverify.papers.lca.figures.alpha_star import ALPHA_STAR
from theoryverify.papers.lca.figures.appendix_b import APPENDIX_B
from theoryverify.papers.lca.figures.fig2 import FIG2
from theoryverify.papers.lca.figures.fig3 import FIG3
from theoryverify.papers.lca.figures.fig4 import FIG4
from theoryverify.papers.lca.figures.limits import LIMITS
from theoryverify.papers.lca.figures.stationary import STATIONARY
from theoryverify.papers.lca.figures.table1 import AVMNIST, TABLE1
from theoryverify.papers.lca.figures.training_time import TRAINING_TIME

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
