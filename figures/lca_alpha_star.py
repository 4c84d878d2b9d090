"""The minimiser α*_T from T = 1 to 10^6, its limit and rate.

python figures/lca_alpha_star.py [--preset quick|laptop|paper] [--out DIR]
"""

import sys

from theoryverify.cli import main

sys.exit(main(["figure", "lca.alpha_star", *sys.argv[1:]]))
