"""The trained linear self-attention layer's risk against the length of the test prompt.

python figures/zfb_risk.py [--preset quick|laptop|paper] [--out DIR]
"""

import sys

from theoryverify.cli import main

sys.exit(main(["figure", "zfb.risk", *sys.argv[1:]]))
