"""What a figure is, before anything is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from theoryverify.errors import InputError
from theoryverify.figures.table import Table
from theoryverify.seeds import named_rng

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure as Canvas

PRESETS = ("quick", "laptop", "paper")

Choice = TypeVar("Choice")


@dataclass(frozen=True)
class Plan:
    """How much to compute, where and with which seed; these matter to figures that train or simulate.

    Attributes
    ----------
    preset : {"quick", "laptop", "paper"}
    device : str
    seed : int
    store : str or None
        The folder in which cells are kept (:class:`theoryverify.figures.cells.Cells`), so that a run
        that was stopped goes on where it was. None: THEORYVERIFY_STORE or ``out/store``, and for the
        preset ``quick`` nothing is kept.
    jobs : int
        Worker processes for the cells that :meth:`~theoryverify.figures.cells.Cells.grid` is given.
    cluster : str or None
        ``tcp://HOST:PORT`` of a Dask scheduler, for these cells.
    """

    preset: str = "quick"
    device: str = "cpu"
    seed: int = 0
    store: str | None = None
    jobs: int = 1
    cluster: str | None = None

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise InputError(f"preset {self.preset!r} is unknown; choose {', '.join(PRESETS)}")

    @property
    def keeps(self) -> bool:
        """Whether cells are kept in the store; other processes hand them over there."""
        return bool(self.preset != "quick" or self.store or self.cluster or self.jobs > 1)

    def rng(self, name: str) -> np.random.Generator:
        """Randomness that depends on the seed and a name alone."""
        return named_rng(self.seed, name)

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
    texts : mapping
        More files, by ending: ``{"md": ..., "tex": ...}``.
    """

    tables: Mapping[str, Table]
    setup: str
    texts: Mapping[str, str] = field(default_factory=dict)


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
    needs : tuple of str
        Modules beside matplotlib, of the extra ``simulate``, that must be installed.
    """

    name: str
    title: str
    caption: str
    data: Callable[[Plan], Data]
    draw: Callable[[Canvas, Mapping[str, Table]], None]
    size: tuple[float, float] = (7.0, 3.4)
    needs: tuple[str, ...] = ()
