"""The finite-context risk against depth: theory over simulation.

python figures/lca_limits.py [--preset quick|laptop|paper] [--out DIR]
"""

import sys

from theoryverify.cli import main

sys.exit(main(["figure", "lca.limits", *sys.argv[1:]]))
