"""Even links: is ``E[g² He_2] > 0``? A theorem up to degree 18, a counterexample at degree 20.

For ``g = Σ c_i he_i`` over ``i`` of one parity, ``E[g² He_2] = Σ 2i c_i² + 2 Σ √((i+1)(i+2)) c_i
c_{i+2}`` is a tridiagonal quadratic form. Eliminating from the lowest degree on (``LDLᵀ``) its
pivots are rational, ``d_i = 2i - i(i-1)/d_{i-2}``: the form on degrees ``start, ..., i`` is
positive definite exactly while they are positive.
"""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq, fmpq_poly

from theoryverify.errors import InputError
from theoryverify.exact.rationals import positive_integer
from theoryverify.exact.surds import Surds, hermite


def second_moment_pivots(start: int, degree: int) -> dict[int, Fraction]:
    """The pivots ``d_i`` of ``E[g² He_2]`` on ``he_start, he_{start+2}, ..., he_degree``.

    Parameters
    ----------
    start : int
        The lowest degree, at least 1: the information exponent that is assumed.
    degree : int
        The highest degree, of the same parity.

    Returns
    -------
    dict
        Degree to exact pivot, up to ``degree`` or to the first pivot that is not positive.

    Raises
    ------
    InputError
        For degrees that are not positive, or of different parity.

    Examples
    --------
    >>> pivots = second_moment_pivots(4, 20)
    >>> all(d > 0 for i, d in pivots.items() if i <= 18), pivots[20] < 0
    (True, True)
    """
    start = positive_integer(start, "start")
    degree = positive_integer(degree, "degree", least=start)
    if (degree - start) % 2:
        raise InputError(f"degree = {degree} must be of the same parity as start = {start}")
    pivots = {start: Fraction(2 * start)}
    for i in range(start + 2, degree + 1, 2):
        if pivots[i - 2] <= 0:
            break
        pivots[i] = 2 * i - i * (i - 1) / pivots[i - 2]
    return pivots


def first_failure(start: int, most: int = 200) -> int | None:
    """The least degree at which ``E[g² He_2]`` can be 0 for links of one parity from ``start`` on.

    ``None`` if there is none up to ``most``.
    """
    top = most - (most - start) % 2
    return next((i for i, d in second_moment_pivots(start, top).items() if d <= 0), None)


def vanishing_link(start: int = 4) -> Surds:
    """A polynomial of degree :func:`first_failure` with ``E[g² He_2] = 0`` exactly.

    In the coordinates ``y = Lᵀc`` the form is ``Σ d_i y_i²``; the link has ``y = 1`` at the last
    degree and ``y = √(-d_last/d_start)`` at the first.

    Returns
    -------
    Surds
        The polynomial, in powers of ``z``; its coefficients lie in one Q(√n).
    """
    last = first_failure(start)
    if last is None:
        raise InputError(f"no failure is known for start = {start}")
    pivots = second_moment_pivots(start, last)
    degrees = sorted(pivots)
    # In the monic basis, g = Σ a_i He_i, everything stays rational: y = Lᵀc becomes
    # a_i = y_i/√(i!) - a_{i+2} (i+1)(i+2)/d_i.
    negative = _solve(pivots, degrees, {last: Fraction(1)})
    lowest = _solve(pivots, degrees, {start: Fraction(1)})
    # The forms on the two are d_i i!, and they are orthogonal to each other.
    ratio = -pivots[last] * _falling(last, start) / pivots[start]
    return negative + Surds.root(ratio) * lowest


def _solve(pivots: dict[int, Fraction], degrees: list[int], right: dict[int, Fraction]) -> Surds:
    coefficient, total = Fraction(0), Surds({})
    for i in reversed(degrees):
        above = coefficient * (i + 1) * (i + 2) / pivots[i] if i + 2 in pivots else Fraction(0)
        coefficient = right.get(i, Fraction(0)) - above
        number = fmpq(coefficient.numerator, coefficient.denominator)
        total = total + Surds.of(fmpq_poly([number])) * hermite(i)
    return total


def _falling(upper: int, lower: int) -> int:
    """``upper!/lower!``"""
    value = 1
    for n in range(lower + 1, upper + 1):
        value *= n
    return value
