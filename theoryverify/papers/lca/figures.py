"""The cross-attention paper's figures, in the order in which they are listed.

One module a figure: ``figures_NAME`` draws the tables that ``experiments_NAME`` computes.
"""

from theoryverify.papers.lca.figures_alpha_star import ALPHA_STAR
from theoryverify.papers.lca.figures_fig4 import FIG4
from theoryverify.papers.lca.figures_stationary import STATIONARY
from theoryverify.papers.lca.figures_training_time import TRAINING_TIME

figures = (FIG4, ALPHA_STAR, TRAINING_TIME, STATIONARY)
