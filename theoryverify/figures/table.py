"""Tidy tables: one row an observation, one column a variable, the same bytes on every run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from theoryverify.errors import InputError

Cell = str | int | float | bool | None
"""Enclosures are two columns of decimal strings, rounded outward."""


@dataclass(frozen=True)
class Table:
    """Rows of cells under named columns.

    Raises
    ------
    InputError
        For two columns of one name, or a row of another length.

    Examples
    --------
    >>> table = Table(("T", "alpha_star"), ((1, "0.25"), (2, "0.27")))
    >>> table.where(T=2).numbers("alpha_star")
    array([0.27])
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        if len(set(self.columns)) != len(self.columns):
            raise InputError(f"two columns of one name in {self.columns}")
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise InputError(
                    f"row {number} has {len(row)} cells for {len(self.columns)} columns"
                )

    @classmethod
    def of(cls, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Table:
        return cls(tuple(columns), tuple(tuple(row) for row in rows))

    def column(self, name: str) -> list[Cell]:
        place = self._place(name)
        return [row[place] for row in self.rows]

    def numbers(self, name: str) -> npt.NDArray[np.float64]:
        """A column as float64 to draw; an empty cell is NaN."""
        return np.array([np.nan if cell is None else float(cell) for cell in self.column(name)])

    def distinct(self, name: str) -> list[Cell]:
        """The values of a column, each once, in the order in which they first come."""
        return list(dict.fromkeys(self.column(name)))

    def where(self, **values: Cell) -> Table:
        """The rows in which these columns have these values."""
        wanted = [(self._place(name), value) for name, value in values.items()]
        return Table(
            self.columns,
            tuple(row for row in self.rows if all(row[place] == v for place, v in wanted)),
        )

    def csv(self) -> str:
        """Comma-separated text with a header line; floats with all their digits."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self.rows:
            writer.writerow([repr(cell) if isinstance(cell, float) else cell for cell in row])
        return text.getvalue()

    def _place(self, name: str) -> int:
        if name not in self.columns:
            raise InputError(f"no column {name!r}; there are {', '.join(self.columns)}")
        return self.columns.index(name)
