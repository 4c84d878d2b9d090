"""Small wrong versions of a formula, made by machine.

A check that accepts a formula with a flipped sign is not looking at that sign. Each mutant changes
one node of the expression: a term's sign, a factor 2, an exponent by one, the depth index by one.
Mutants that are provably the same function are not counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy

from theoryverify.exact.identities import decide_identity

MAXIMUM = 12


def mutants(formula: Any, maximum: int = MAXIMUM) -> list[tuple[str, Any]]:
    """Named wrong versions of a SymPy expression, or of one entry of a tuple of them.

    Formulas that are neither have no mutants. Where there are more than ``maximum``, an evenly
    spread selection is taken, always the same one.
    """
    if isinstance(formula, tuple):
        found = [
            (f"entry {index + 1}: {name}", (*formula[:index], mutant, *formula[index + 1 :]))
            for index, entry in enumerate(formula)
            if isinstance(entry, sympy.Expr)
            for name, mutant in _different(entry)
        ]
    elif isinstance(formula, sympy.Expr):
        found = _different(formula)
    else:
        return []
    if len(found) <= maximum:
        return found
    return [found[index * len(found) // maximum] for index in range(maximum)]


def _different(expression: sympy.Expr) -> list[tuple[str, sympy.Expr]]:
    seen: list[sympy.Expr] = [expression]
    result = []
    for name, mutant in _variants(expression):
        if mutant in seen or mutant.has(sympy.nan, sympy.zoo, sympy.oo):
            continue
        seen.append(mutant)
        if decide_identity(mutant, expression).holds is not True:
            result.append((name, mutant))
    return result


def _variants(node: sympy.Expr) -> Iterator[tuple[str, sympy.Expr]]:
    yield f"-({node})", -node
    yield f"2({node})", 2 * node
    for symbol in sorted(node.free_symbols, key=lambda s: s.name):
        if symbol.is_integer:
            yield f"{symbol} -> {symbol}+1", node.subs(symbol, symbol + 1)
    yield from _inside(node)


def _inside(node: sympy.Expr) -> Iterator[tuple[str, sympy.Expr]]:
    if node.is_Atom:
        return
    if node.is_Pow:
        for change in (1, -1):
            yield f"exponent of {node} {change:+d}", sympy.Pow(node.base, node.exp + change)
    for index, part in enumerate(node.args):
        rest = (*node.args[:index], *node.args[index + 1 :])
        if node.is_Add and not part.is_zero:
            yield f"sign of {part}", sympy.Add(*rest, -part)
            yield f"twice {part}", sympy.Add(*rest, 2 * part)
        for name, changed in _inside(part):
            yield name, node.func(*node.args[:index], changed, *node.args[index + 1 :])
