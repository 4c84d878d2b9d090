"""Matrix words: deciding that an expression in matrices of symbolic size is zero.

A sum of products of matrix letters (and their transposes) with scalar coefficients vanishes for all
matrices of all sizes if the coefficients of each word cancel. SymPy expands products; the words are
compared here.
"""

from __future__ import annotations

from typing import Any

import sympy
from sympy import MatAdd, ZeroMatrix


def vanishes(expression: Any) -> bool:
    """Whether a matrix expression is zero as a polynomial in noncommuting letters.

    1 x 1 words are their own transposes, and scalar factors of that kind inside a word are moved to
    the front. ``False`` means that the words do not cancel: then some matrices tell them apart.
    """
    expanded = (
        sympy.expand(expression).doit() if not isinstance(expression, ZeroMatrix) else expression
    )
    expanded = _expand(expanded)
    if isinstance(expanded, ZeroMatrix) or expanded == 0:
        return True
    total: dict[Any, sympy.Expr] = {}
    for term in expanded.args if isinstance(expanded, MatAdd) else (expanded,):
        coefficient, word = _word(term)
        total[word] = total.get(word, sympy.Integer(0)) + coefficient
    return all(sympy.cancel(sympy.expand(value)) == 0 for value in total.values())


def _expand(expression: Any) -> Any:
    for _ in range(4):
        following = expression.expand().doit()
        if following == expression:
            break
        expression = following
    return expression


def _word(term: Any) -> tuple[sympy.Expr, tuple[str, ...]]:
    """The scalar coefficient, and the letters in a canonical order.

    Each maximal 1 x 1 stretch (``pᵀm``) commutes with everything, so stretches are sorted, each in
    the smaller of its two readings.
    """
    coefficient, product = term.as_coeff_mmul()
    letters = list(product.args) if product.is_MatMul else [product]
    letters = [x for x in letters if not x.is_Identity]
    scalars: list[tuple[str, ...]] = []
    rest: list[Any] = []
    start = 0
    while start < len(letters):
        if letters[start].shape[0] == 1:
            stop = start
            while stop < len(letters) and letters[stop].shape[1] != 1:
                stop += 1
            if stop < len(letters):
                scalars.append(_smaller(letters[start : stop + 1]))
                start = stop + 1
                continue
        rest.append(letters[start])
        start += 1
    body = tuple(str(letter) for letter in rest)
    return coefficient, (*body, "|", *(" ".join(entry) for entry in sorted(scalars)))


def _smaller(letters: list[Any]) -> tuple[str, ...]:
    forward = tuple(str(letter) for letter in letters)
    backward = tuple(str(letter.T.doit()) for letter in reversed(letters))
    return min(forward, backward)
