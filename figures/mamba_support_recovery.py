"""Stage I of Algorithm 1: tasks, starts, and the bias of finite contexts.

python figures/mamba_support_recovery.py [--preset quick|laptop|paper] [--out DIR]
"""

import sys

from theoryverify.cli import main

sys.exit(main(["figure", "mamba.support_recovery", *sys.argv[1:]]))
