"""Test error of trained attention models against context length and depth.

python figures/lca_fig2.py [--preset quick|laptop|paper] [--out DIR]
"""

import sys

from theoryverify.cli import main

sys.exit(main(["figure", "lca.fig2", *sys.argv[1:]]))
