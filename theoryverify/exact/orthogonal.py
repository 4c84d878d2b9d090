"""Monic orthogonal polynomials from moments, exactly over QQ or in balls.

With the functional ``L(x^k) = moments[k]`` and ``⟨p,q⟩ = L(pq)``, Stieltjes' recursion

    p_{k+1} = (x - a_k) p_k - b_k p_{k-1},
    a_k = ⟨x p_k, p_k⟩/⟨p_k, p_k⟩,   b_k = ⟨p_k, p_k⟩/⟨p_{k-1}, p_{k-1}⟩

needs only ``⟨p_k, x^k⟩`` and ``⟨p_k, x^{k+1}⟩``, since p_k is orthogonal to all lower degrees. In
balls it loses digits in proportion to the degree; the caller raises the precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from theoryverify.errors import InputError, UndecidedError


def monic_orthogonal(moments: Sequence[Any], degree: int) -> list[Any]:
    """The coefficients, from degree 0 up, of the monic orthogonal polynomial of one degree.

    Parameters
    ----------
    moments : sequence of fmpq or arb
        ``L(x^k)`` for ``k = 0..2 degree - 1``.
    degree : int
        At least 0.

    Raises
    ------
    InputError
        If there are too few moments, or the functional lives on fewer than ``degree`` points.
    UndecidedError
        If a ball for ``⟨p_k, p_k⟩`` contains zero: more precision is needed.

    Notes
    -----
    W. Gautschi, *Orthogonal Polynomials: Computation and Approximation*, section 2.2.

    Examples
    --------
    >>> from flint import fmpq
    >>> monic_orthogonal([fmpq(1, k + 1) for k in range(4)], 2)  # Legendre on [0,1]
    [1/6, -1, 1]
    """
    if len(moments) < 2 * degree:
        raise InputError(f"degree {degree} needs {2 * degree} moments, not {len(moments)}")
    one = moments[0] * 0 + 1 if moments else 1
    previous: list[Any] = []
    current = [one]
    norm_before = None
    for k in range(degree):
        norm = _against(current, moments, k)
        if norm == 0:  # for a ball: exactly 0
            raise InputError(f"the functional lives on {k} points, fewer than {degree}")
        if not norm > 0:
            raise UndecidedError(f"⟨p_{k}, p_{k}⟩ = {norm} is not seen to be positive")
        below = current[k - 1] if k else 0 * one
        centre = _against(current, moments, k + 1) / norm + below
        following = [0 * one, *current]
        for index, entry in enumerate(current):
            following[index] -= centre * entry
        if norm_before is not None:
            for index, entry in enumerate(previous):
                following[index] -= norm / norm_before * entry
        previous, current, norm_before = current, following, norm
    return current


def _against(polynomial: Sequence[Any], moments: Sequence[Any], power: int) -> Any:
    """``⟨p, x^power⟩``."""
    total = polynomial[0] * moments[power]
    for index, entry in enumerate(polynomial[1:], 1):
        total += entry * moments[power + index]
    return total
