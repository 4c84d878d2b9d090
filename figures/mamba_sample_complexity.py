"""Test error of one-layer models and kernels against the length of the prompt.

python figures/mamba_sample_complexity.py [--preset quick|laptop|paper] [--out DIR]
"""

import sys

from theoryverify.cli import main

sys.exit(main(["figure", "mamba.sample_complexity", *sys.argv[1:]]))
