"""In-context error of Mamba, GPT-2 and kernel ridge against the number of examples.

python figures/mamba_icl_curves.py [--preset quick|laptop|paper] [--out DIR]
"""

import sys

from theoryverify.cli import main

sys.exit(main(["figure", "mamba.icl_curves", *sys.argv[1:]]))
