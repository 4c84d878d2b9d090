"""Figures: what is drawn is a table first, and the table is written beside the picture.

A paper's ``figures.py`` makes :class:`Figure` objects from functions that return tables and
functions that draw them. matplotlib is imported only when something is drawn.
"""

from theoryverify.figures.figure import PRESETS, Data, Figure, Plan
from theoryverify.figures.table import Table

__all__ = ["PRESETS", "Data", "Figure", "Plan", "Table"]
