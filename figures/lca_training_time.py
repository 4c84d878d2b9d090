"""The certified time of gradient flow to 0.99 α*_T, against depth.

python figures/lca_training_time.py [--preset quick|laptop|paper] [--out DIR]
"""

import sys

from theoryverify.cli import main

sys.exit(main(["figure", "lca.training_time", *sys.argv[1:]]))
