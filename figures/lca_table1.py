"""Table 1 again on avMNIST-like data: accuracies and effects with intervals.

python figures/lca_table1.py [--preset quick|laptop|paper] [--out DIR]
"""

import sys

from theoryverify.cli import main

sys.exit(main(["figure", "lca.table1", *sys.argv[1:]]))
