"""The one style sheet. Every figure is drawn in it, whatever the user's own settings are.

Colours are those of Okabe and Ito, which stay apart for colour-blind readers. No two series differ
by colour alone: dash and marker change with it, so that a grey print can be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLACK = "#000000"
BLUE = "#0072B2"
VERMILION = "#D55E00"
GREEN = "#009E73"
PURPLE = "#AA4499"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREY = "#6E6E6E"
PALE = "#E9E9E9"

SEQUENTIAL = "cividis"
"""A colour map whose lightness rises steadily."""

STYLE: dict[str, Any] = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.labelsize": 10.5,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
    "axes.titlelocation": "left",
    "axes.titlepad": 6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "xtick.direction": "out",
    "ytick.direction": "out",
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "legend.columnspacing": 1.4,
    "hatch.linewidth": 0.5,
    "figure.dpi": 200,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,
    "svg.hashsalt": "theoryverify",
    "axes.unicode_minus": True,
}


@dataclass(frozen=True)
class Series:
    """How one of several curves looks."""

    color: str
    linestyle: str | tuple[int, tuple[float, ...]]
    marker: str

    def line(self) -> dict[str, Any]:
        return {"color": self.color, "linestyle": self.linestyle}

    def points(self) -> dict[str, Any]:
        return {"color": self.color, "marker": self.marker, "linestyle": "none"}

    def both(self) -> dict[str, Any]:
        return self.line() | {"marker": self.marker}


SERIES = (
    Series(BLUE, "-", "o"),
    Series(VERMILION, (0, (5, 1.5)), "s"),
    Series(GREEN, (0, (3, 1, 1, 1)), "^"),
    Series(PURPLE, (0, (1.2, 1.2)), "D"),
    Series(BLACK, (0, (7, 1.5, 1.2, 1.5)), "v"),
    Series(ORANGE, (0, (2, 2)), "P"),
)


def band(axis: Axes, x: Any, low: Any, high: Any, color: str, alpha: float = 0.15) -> None:
    """The shade of an interval around a curve."""
    axis.fill_between(x, low, high, color=color, alpha=alpha, linewidth=0)


def decades(axis: Axes) -> None:
    """Powers of ten along a long logarithmic x axis, without minor ticks."""
    from matplotlib.ticker import LogLocator, NullLocator

    axis.xaxis.set_major_locator(LogLocator(base=10, numticks=20))
    axis.xaxis.set_minor_locator(NullLocator())
