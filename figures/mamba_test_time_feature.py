"""The feature after one step: where it is a function of <β,x> and where not.

python figures/mamba_test_time_feature.py [--preset quick|laptop|paper] [--out DIR]
"""

import sys

from theoryverify.cli import main

sys.exit(main(["figure", "mamba.test_time_feature", *sys.argv[1:]]))
