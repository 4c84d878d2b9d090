"""What training in context teaches Mamba and GPT-2, beside the theory's gate.

python figures/mamba_training.py [--preset quick|laptop|paper] [--out DIR]
"""

import sys

from theoryverify.cli import main

sys.exit(main(["figure", "mamba.training", *sys.argv[1:]]))
