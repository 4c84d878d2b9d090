"""The verbs of the command line that belong to no paper: one module each, with its ``COMMAND``.

Their module level imports nothing heavy; each imports what it needs when it runs.
"""

from theoryverify.verbs import (
    check,
    cite,
    data,
    derive,
    falsify,
    figure,
    list,
    new,
    report,
    train,
)

CORE = tuple(
    module.COMMAND
    for module in (list, check, falsify, derive, figure, train, new, data, report, cite)
)
