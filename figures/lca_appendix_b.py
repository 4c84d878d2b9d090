"""The linear model with parts taken out, on synthetic data.

python figures/lca_appendix_b.py [--preset quick|laptop|paper] [--out DIR]
"""

import sys

from theoryverify.cli import main

sys.exit(main(["figure", "lca.appendix_b", *sys.argv[1:]]))
