"""Untied layers trained from (α*, -α*) and from elsewhere: traces, whitening, the exact flow.

python figures/lca_fig3.py [--preset quick|laptop|paper] [--out DIR]
"""

import sys

from theoryverify.cli import main

sys.exit(main(["figure", "lca.fig3", *sys.argv[1:]]))
