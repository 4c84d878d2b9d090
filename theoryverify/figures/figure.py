"""What a figure is, before anything is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from theoryverify.errors import InputError
from theoryverify.figures.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

PRESETS = ("quick", "laptop", "paper")

Choice = TypeVar("Choice")


@dataclass(frozen=True)
class Plan:
    """How much to compute, and on which device; devices matter to figures that train."""

    preset: str = "quick"
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise InputError(f"preset {self.preset!r} is unknown; choose {', '.join(PRESETS)}")

    def choose(self, quick: Choice, laptop: Choice, paper: Choice) -> Choice:
        """The value for this plan's preset."""
        return {"quick": quick, "laptop": laptop, "paper": paper}[self.preset]


@dataclass(frozen=True)
class Data:
    """What an experiment found.

    Attributes
    ----------
    tables : mapping
        Tables by name.
    setup : str
        In one or two sentences how the numbers were computed, with sizes and error bounds; it
        goes into the caption.
    """

    tables: Mapping[str, Table]
    setup: str


@dataclass(frozen=True)
class Figure:
    """A figure of a paper.

    Parameters
    ----------
    name : str
        ``PAPER.NAME``; the files are called so.
    title, caption : str
        Plain text. The caption says what each mark means.
    data : callable
        From a :class:`Plan` to :class:`Data`: all the computing.
    draw : callable
        Draws the tables on an empty matplotlib figure, and computes nothing.
    size : pair of float
        Width and height in inches.
    """

    name: str
    title: str
    caption: str
    data: Callable[[Plan], Data]
    draw: Callable[[Canvas, Mapping[str, Table]], None]
    size: tuple[float, float] = (7.0, 3.4)
