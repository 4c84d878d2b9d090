"""The forgetting factor and signal to noise against the bias of the gate.

python figures/mamba_forgetting.py [--preset quick|laptop|paper] [--out DIR]
"""

import sys

from theoryverify.cli import main

sys.exit(main(["figure", "mamba.forgetting", *sys.argv[1:]]))
