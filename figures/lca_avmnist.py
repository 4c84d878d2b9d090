"""Table 1 again on avMNIST-like data: learning curves and example pairs.

python figures/lca_avmnist.py [--preset quick|laptop|paper] [--out DIR]
"""

import sys

from theoryverify.cli import main

sys.exit(main(["figure", "lca.avmnist", *sys.argv[1:]]))
