"""Where in (ρ, b) the gate does not lower the information exponent.

python figures/mamba_degenerate_gate.py [--preset quick|laptop|paper] [--out DIR]
"""

import sys

from theoryverify.cli import main

sys.exit(main(["figure", "mamba.degenerate_gate", *sys.argv[1:]]))
