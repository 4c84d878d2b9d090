"""F_T(β), its stationary points, and a law for which the window of Theorem 6.3 fails.

python figures/lca_stationary.py [--preset quick|laptop|paper] [--out DIR]
"""

import sys

from theoryverify.cli import main

sys.exit(main(["figure", "lca.stationary", *sys.argv[1:]]))
