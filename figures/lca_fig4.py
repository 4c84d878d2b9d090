"""The loss over (α, β) at T = 3 and T = 10: exact, and simulated with layer normalisation.

python figures/lca.fig4.py [--preset quick|laptop|paper] [--out DIR]
"""

import sys

from theoryverify.cli import main

sys.exit(main(["figure", "lca.fig4", *sys.argv[1:]]))
