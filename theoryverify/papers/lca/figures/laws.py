"""How the laws of Z are named and drawn in the figures that compare them."""

from __future__ import annotations

from theoryverify.figures import Table, style
from theoryverify.papers.lca.experiments.alpha_star import ATOMS, BALL, BETA, SHELL, UNIFORM
from theoryverify.papers.lca.experiments.training_time import DISC

_NAMES = {
    repr(UNIFORM): r"uniform on $[2,5]$",
    repr(ATOMS): r"atoms, $P(Z{=}2)=1/4$, $P(Z{=}5)=3/4$",
    repr(SHELL): r"shell: $m$ uniform in $\mathbb{R}^8$, $2\leq Z\leq 5$",
    repr(BETA): r"density $\propto(z-2)^{-1/2}$ on $[2,5]$",
    repr(BALL): r"ball: $m$ uniform in $\mathbb{R}^4$, $1\leq Z\leq 5$",
    repr(DISC): r"ball: $m$ uniform in $\mathbb{R}^2$, $1\leq Z\leq 5$",
}
_LOOKS = {
    repr(UNIFORM): style.SERIES[0],
    repr(ATOMS): style.SERIES[1],
    repr(SHELL): style.SERIES[2],
    repr(BETA): style.SERIES[3],
    repr(BALL): style.SERIES[4],
    repr(DISC): style.SERIES[4],
}


def law_series(table: Table) -> list[tuple[str, style.Series, Table]]:
    """Each law's name, look and rows."""
    return [
        (_NAMES[str(law)], _LOOKS[str(law)], table.where(law=law)) for law in table.distinct("law")
    ]
