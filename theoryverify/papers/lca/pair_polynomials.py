"""``D + cP`` at one depth in integers, and the certificate that it is nonnegative.

Independent of the proof for all depths: P is multiplied out from its sums, ``D + cP`` is formed
from P, and Bernstein coefficients decide. A polynomial in two variables is kept by its homogeneous
parts, ``p_d(x,y) = x^d p_d(1, y/x)``: a table from ``d`` to a polynomial in ``r = y/x``. In these,
``∂_y p_d`` is ``p_d'`` at degree ``d-1`` and ``∂_x p_d`` is ``d p_d - r p_d'`` (Euler).

By symmetry let ``|y| <= |x|``. No part has a degree below ``2T-4``, and blowing up the origin,
``(x,y) = (sX, s q r X)`` with ``s, q = ±1`` and ``(X,r)`` in ``[0,1]²``, turns ``D + cP`` into
``X^{2T-4}`` times an integer polynomial: four cells for ``[-1,1]²``. The rest of ``(-∞,1]²`` has
``x = -1/X`` with ``y = ±r``, or ``y = -1/X`` with ``x = -1/(Xr)``: three more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import fmpz_poly

from theoryverify.exact.bernstein import Certificate, Rows, nonnegative_on_square
from theoryverify.exact.rationals import Exact, positive_integer, rational

Parts = dict[int, fmpz_poly]
"""Homogeneous parts by degree: ``parts[d](r)`` is ``p_d(1, r)``."""

_ONE_MINUS_R = fmpz_poly([1, -1])


@dataclass(frozen=True)
class PairCertificate:
    """``D + cP >= 0`` at one depth.

    Attributes
    ----------
    depth : int
    constant : Fraction
    holds : bool or None
    boxes : int
        Over all cells; equal to their number where nothing had to be halved.
    point : pair of Fraction or None
        A pair ``(x, y)`` where ``D + cP`` is negative after division by ``X^{2T-4}``, as the cell's
        limit; ``None`` otherwise.
    """

    depth: int
    constant: Fraction
    holds: bool | None
    boxes: int
    point: tuple[str, str] | None = None


def _h(order: int) -> fmpz_poly:
    """``h_n(1, r) = 1 + r + ... + r^n``; 0 for ``n = -1``."""
    return fmpz_poly([1] * (order + 1))


def _monomial(power: int) -> fmpz_poly:
    return fmpz_poly([0] * power + [1])


@lru_cache(maxsize=8)
def kernel_parts(depth: int) -> Parts:
    """``P = h_{T-1} Σ_{j<=T-2} (xy)^j h_{T-2-j}``, multiplied out."""
    first = _h(depth - 1)
    return {2 * depth - 3 + j: first * _monomial(j) * _h(depth - 2 - j) for j in range(depth - 1)}


def shifted_parts(depth: int, constant: Exact) -> Parts:
    """``D + cP`` times the denominator of ``c``, from the definition of D.

    ``D = (∂_x + ∂_y)P - (x∂_x + y∂_y)P``: a part ``p_d`` gives ``d p_d + (1-r) p_d'`` at degree
    ``d-1`` and ``-d p_d`` at degree ``d``.
    """
    c = rational(constant, "c")
    result: Parts = {}
    for d, part in kernel_parts(depth).items():
        lower = d * part + _ONE_MINUS_R * part.derivative()
        for degree, piece in (
            (d - 1, lower * c.denominator),
            (d, (c.numerator - d * c.denominator) * part),
        ):
            result[degree] = result.get(degree, fmpz_poly([])) + piece
    return result


def identity_parts(depth: int) -> Parts:
    """``Q = T h_{T-2} B + (T-1) h_{T-1} C``, multiplied out from the sums B and C."""
    result: Parts = {}

    def add(degree: int, piece: fmpz_poly) -> None:
        result[degree] = result.get(degree, fmpz_poly([])) + piece

    for j in range(depth - 1):
        add(2 * depth - 4 + j, depth * _h(depth - 2) * _monomial(j) * _h(depth - 2 - j))
    for j in range(depth - 2):
        add(2 * depth - 4 + j, (depth - 1) * _h(depth - 1) * _monomial(j) * _h(depth - 3 - j))
    add(3 * depth - 5, (1 - depth) * _h(depth - 1) * _monomial(depth - 2))
    return result


def same(left: Parts, right: Parts) -> bool:
    """Equality of polynomials: parts that are zero may be missing."""
    nought = fmpz_poly([])
    return all(left.get(d, nought) == right.get(d, nought) for d in left.keys() | right.keys())


def certify(
    depth: int, constant: Exact, *, ray: bool = False, max_boxes: int = 1024
) -> PairCertificate:
    """Whether ``D + cP >= 0`` on ``[-1,1]²``, in integers; with ``ray`` on ``(-∞,1]²``.

    Parameters
    ----------
    depth : int
        T >= 2.
    constant : exact
        c; the theorem has ``2T-4``.
    ray : bool
        Take in the cells beyond ``-1`` (true for even T and ``c = 2T-4``).
    max_boxes : int
        For each cell.
    """
    depth = positive_integer(depth, "depth", least=2)
    parts = shifted_parts(depth, constant)
    boxes, undecided = 0, False
    for name, rows in _cells(depth, parts, ray):
        found = nonnegative_on_square(rows, max_boxes=max_boxes)
        boxes += found.boxes
        if found.holds is False:
            return PairCertificate(depth, rational(constant), False, boxes, _shown(name, found))
        undecided = undecided or found.holds is None
    return PairCertificate(depth, rational(constant), None if undecided else True, boxes)


def _cells(depth: int, parts: Parts, ray: bool) -> Iterator[tuple[str, Rows]]:
    """``(how x and y stand in X and r, coefficients of X^i r^j)``."""
    low, high, width = 2 * depth - 4, 3 * depth - 5, 2 * depth - 2
    table = [_padded(parts.get(d, fmpz_poly([])), width) for d in range(low, high + 1)]
    for s in (1, -1):
        for q in (1, -1):
            yield (
                f"x = {s}*X, y = {s * q}*r*X",
                [
                    [s**i * q**j * entry for j, entry in enumerate(row)]
                    for i, row in enumerate(table)
                ],
            )
    if not ray:
        return
    # x = -1/X, y = ±r: the term x^{d-j} y^j, times X^{width-1}.
    for q in (1, -1):
        rows = _empty(width, width)
        for i, row in enumerate(table):
            for j, entry in enumerate(row):
                if entry:
                    power = low + i - j
                    rows[width - 1 - power][j] += (-1) ** power * q**j * entry
        yield f"x = -1/X, y = {q}*r", rows
    # x = -1/(Xr), y = -1/X: times X^high r^{width-1}.
    rows = _empty(depth, width)
    for i, row in enumerate(table):
        for j, entry in enumerate(row):
            if entry:
                rows[high - low - i][width - 1 - (low + i - j)] += (-1) ** (low + i) * entry
    yield "x = -1/(X*r), y = -1/X", rows


def _empty(height: int, width: int) -> list[list[int]]:
    return [[0] * width for _ in range(height)]


def _padded(part: fmpz_poly, width: int) -> list[int]:
    entries = [int(entry) for entry in part.coeffs()]
    return entries + [0] * (width - len(entries))


def _shown(cell: str, found: Certificate) -> tuple[str, str]:
    assert found.corner is not None
    return cell, f"X = {found.corner[0]}, r = {found.corner[1]}"
