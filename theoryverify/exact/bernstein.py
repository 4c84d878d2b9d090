"""Nonnegativity of an integer polynomial on the unit square, with a certificate of integers.

On ``[0,1]²`` a polynomial of degrees ``(n,m)`` is the sum of the terms
``b_ij C(n,i)C(m,j) X^i(1-X)^{n-i} r^j(1-r)^{m-j}``; if every ``b_ij >= 0`` it is nonnegative there.
The scaled coefficients ``C(n,i)C(m,j) b_ij`` are integers: with ``X = 1/(1+s)``, ``r = 1/(1+u)``
they are the coefficients of ``(1+s)^n (1+u)^m p``, which two Taylor shifts by 1 give. Where one is
negative the box is halved, exactly (both halves are scaled by a power of two); a negative corner
refutes. No rounding anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpz_poly

from theoryverify.errors import InputError

Rows = Sequence[Sequence[int]]
"""``rows[i][j]`` is the coefficient of ``X^i r^j``; every row has the same length."""

_SHIFT = fmpz_poly([1, 1])


@dataclass(frozen=True)
class Box:
    """``[left, right] x [bottom, top]`` in the unit square."""

    left: Fraction = Fraction(0)
    right: Fraction = Fraction(1)
    bottom: Fraction = Fraction(0)
    top: Fraction = Fraction(1)

    def halves(self, across: bool) -> tuple[Box, Box]:
        if across:
            middle = (self.left + self.right) / 2
            return (
                Box(self.left, middle, self.bottom, self.top),
                Box(middle, self.right, self.bottom, self.top),
            )
        middle = (self.bottom + self.top) / 2
        return (
            Box(self.left, self.right, self.bottom, middle),
            Box(self.left, self.right, middle, self.top),
        )


@dataclass(frozen=True)
class Certificate:
    """What was found of ``p >= 0`` on the unit square.

    Attributes
    ----------
    holds : bool or None
        ``True``: in each of ``boxes`` boxes, which cover the square, all Bernstein coefficients are
        nonnegative. ``False``: ``p < 0`` at ``corner``. ``None``: the boxes ran out.
    boxes : int
        Boxes that were looked at and not halved.
    corner : pair of Fraction or None
    """

    holds: bool | None
    boxes: int
    corner: tuple[Fraction, Fraction] | None = None


def bernstein_coefficients(rows: Rows) -> list[list[int]]:
    """``C(n,i) C(m,j) b_ij`` for ``i = 0..n``, ``j = 0..m``: integers with the signs of ``b_ij``.

    Parameters
    ----------
    rows : sequence of sequences of int
        Monomial coefficients; see :data:`Rows`.

    Raises
    ------
    InputError
        If there are none, or the rows differ in length.

    Notes
    -----
    G. Farin, *Curves and Surfaces for CAGD*, on the Bernstein form; the substitution is standard.

    Examples
    --------
    >>> bernstein_coefficients([[0, 0], [0, 1]])  # X r: only the corner (1,1) is positive
    [[0, 0], [0, 1]]
    """
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise InputError("a polynomial needs at least one row, all of the same length")
    inner = [_scaled(row) for row in rows]
    columns = [_scaled([row[j] for row in inner]) for j in range(len(rows[0]))]
    return [[column[i] for column in columns] for i in range(len(rows))]


def nonnegative_on_square(rows: Rows, *, max_boxes: int = 1024) -> Certificate:
    """Decide whether ``Σ rows[i][j] X^i r^j >= 0`` for all ``(X,r)`` in ``[0,1]²``.

    Parameters
    ----------
    rows : sequence of sequences of int
        Monomial coefficients; see :data:`Rows`.
    max_boxes : int
        How many boxes to look at before giving up.

    Returns
    -------
    Certificate

    Notes
    -----
    A polynomial that is positive on the square is always certified in the end; one that touches
    zero inside may not be.

    Examples
    --------
    >>> nonnegative_on_square([[1, -2], [-2, 4]]).holds  # (1-2X)(1-2r)
    False
    >>> nonnegative_on_square([[1], [-3], [3]])  # 1-3X+3X² is at least 1/4
    Certificate(holds=True, boxes=2, corner=None)
    """
    waiting = [([list(map(int, row)) for row in rows], Box(), 0)]
    done = 0
    while waiting:
        current, box, depth = waiting.pop()
        coefficients = bernstein_coefficients(current)
        corner = _negative_corner(coefficients, box)
        if corner is not None:
            return Certificate(False, done + 1, corner)
        if all(entry >= 0 for row in coefficients for entry in row):
            done += 1
            continue
        if done + len(waiting) + 2 > max_boxes:
            return Certificate(None, done)
        # Across and along in turn, unless one direction has nothing to halve.
        across = len(current) > 1 and (depth % 2 == 0 or len(current[0]) == 1)
        halves = _halved_rows(current) if across else _halved_columns(current)
        waiting += [
            (half, part, depth + 1) for half, part in zip(halves, box.halves(across), strict=True)
        ]
    return Certificate(True, done)


def _scaled(coefficients: Sequence[int]) -> list[int]:
    """``C(n,i) b_i`` of one polynomial in one variable: reverse, shift by 1, reverse."""
    size = len(coefficients)
    shifted = fmpz_poly(list(reversed(coefficients)))(_SHIFT).coeffs()
    shifted += [0] * (size - len(shifted))
    return [int(entry) for entry in reversed(shifted)]


def _halved(coefficients: Sequence[int]) -> tuple[list[int], list[int]]:
    """``2^n p(X/2)`` and ``2^n p((1+X)/2)``."""
    degree = len(coefficients) - 1
    first = [int(entry) << (degree - i) for i, entry in enumerate(coefficients)]
    second = [int(entry) for entry in fmpz_poly(first)(_SHIFT).coeffs()]
    return first, second + [0] * (degree + 1 - len(second))


def _halved_columns(rows: Rows) -> tuple[list[list[int]], list[list[int]]]:
    pairs = [_halved(row) for row in rows]
    return [first for first, _ in pairs], [second for _, second in pairs]


def _halved_rows(rows: Rows) -> tuple[list[list[int]], list[list[int]]]:
    first, second = _halved_columns(list(zip(*rows, strict=True)))
    return _transposed(first), _transposed(second)


def _transposed(rows: Rows) -> list[list[int]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _negative_corner(coefficients: list[list[int]], box: Box) -> tuple[Fraction, Fraction] | None:
    """At a corner the Bernstein coefficient is the value, up to a positive factor."""
    for i, at in ((0, box.left), (-1, box.right)):
        for j, up in ((0, box.bottom), (-1, box.top)):
            if coefficients[i][j] < 0:
                return at, up
    return None
