"""Certificates: what a check decided, written so that another program can decide it again.

``theoryverify/certify.py`` reads them and shares no code with this package. The format is in
``docs/certificates.md``.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import sympy

from theoryverify.claims.claim import Check, Claim, Context
from theoryverify.claims.ladder import CERTIFIED, HOLDS, PROVED, Evidence, Step
from theoryverify.claims.statements import Evaluated, Mean, Statement, Traced, Value, expression_of
from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure
from theoryverify.exact.densities import Density
from theoryverify.exact.facts import Sign, Theorem
from theoryverify.exact.laws import Discrete, Law, Mixture
from theoryverify.exact.rationals import rational
from theoryverify.exact.surds import Surds
from theoryverify.files import write_text

FORMAT = 1
MAX_STATEMENT = 2_000_000
"""Characters of one step's statements beyond which it is left out, with the reason."""

Tree = Any
_KNOWN = {"exp", "log", "sqrt", "Q"}
"""Functions that the checker evaluates; every other name is opaque to it."""
_NAME = re.compile(r".+--.+\.[0-9a-f]{8}\.json")


class Unwritable(Exception):
    """An expression that a certificate has no form for."""


def number(value: Any) -> str:
    """``"p/q"``; long ones in hexadecimal, which Python reads at any length."""
    exact = rational(value)
    if max(exact.numerator.bit_length(), exact.denominator.bit_length()) <= 3000:
        return str(exact)
    sign = "-" if exact < 0 else ""
    top, bottom = hex(abs(exact.numerator)), hex(exact.denominator)
    return f"{sign}{top}" + ("" if exact.denominator == 1 else f"/{bottom}")


# -- expressions -------------------------------------------------------------------------------


class Trees:
    """Turns expressions into trees and keeps track of what must be declared with them."""

    def __init__(self) -> None:
        self.symbols: dict[str, list[str]] = {}
        self.bases: list[sympy.Expr] = []

    def tree(self, value: Any) -> Tree:
        if isinstance(value, Mean):
            return self.mean(value)
        if isinstance(value, Traced):
            return value.tree
        if isinstance(value, Evaluated):
            return self.placed(value)
        if isinstance(value, Value):
            point, powers = number(value.point), enumerate(_coefficients(value.polynomial))
            return [
                "+",
                *(["*", number(c), ["^", point, str(k)]] for k, c in powers if c != 0),
                "0",
            ]
        if isinstance(value, Surds):
            return self.tree(expression_of(value))
        if isinstance(value, sympy.Basic):
            return self._sympy(value)
        try:
            return number(value)
        except InputError as error:
            raise Unwritable(f"no tree for {type(value).__name__}") from error

    def _sympy(self, node: sympy.Basic) -> Tree:
        if getattr(node, "is_Rational", False):
            return number(node)
        if hasattr(node, "meaning"):
            return self.mean(node.meaning)
        if node.is_Symbol:
            return ["s", self.declare(node)]
        if node is sympy.pi:
            return ["pi"]
        if node is sympy.E:
            return ["f", "exp", "1"]
        if node is sympy.I:
            return ["i"]
        if node.is_Add or node.is_Mul:
            if not node.is_commutative:
                raise Unwritable("letters that do not commute")
            return ["+" if node.is_Add else "*", *map(self._sympy, node.args)]
        if node.is_Pow:
            if node.exp.free_symbols:
                self.bases.append(node.base)
            return ["^", self._sympy(node.base), self._sympy(node.exp)]
        if isinstance(node, sympy.Function):
            name = node.func.__name__
            if isinstance(node, sympy.core.function.AppliedUndef) and name in _KNOWN:
                raise Unwritable(f"a function of any kind that is called {name}")
            return ["f", name, *map(self._sympy, node.args)]
        if isinstance(node, sympy.Expr):
            return ["o", sympy.srepr(node)]
        raise Unwritable(f"no tree for {type(node).__name__}")

    def declare(self, symbol: sympy.Symbol) -> str:
        kinds = [
            kind
            for kind in ("integer", "positive", "nonnegative", "nonzero", "even", "odd", "real")
            if getattr(symbol, f"is_{kind}")
        ]
        name = symbol.name if not isinstance(symbol, sympy.Dummy) else str(symbol.sort_key())
        if self.symbols.setdefault(name, kinds) != kinds:
            raise Unwritable(f"two different symbols are called {name}")
        return name

    def placed(self, value: Evaluated) -> Tree:
        inner = Trees()
        tree = inner.tree(value.expression)
        table = {getattr(key, "name", key): number(entry) for key, entry in value.values.items()}
        self.bases += inner.bases
        for name, kinds in inner.symbols.items():
            if name not in table:
                self.symbols.setdefault(name, kinds)
        return _replaced(tree, table)

    def mean(self, value: Mean) -> Tree:
        inner = Trees()
        integrand = inner.tree(value.integrand)
        self.bases += inner.bases
        for name, kinds in inner.symbols.items():
            if name != value.variable:
                self.symbols.setdefault(name, kinds)
        if value.law is None:
            return ["G", value.variable, integrand]
        if isinstance(value.law, int):
            return ["X", str(value.law), value.variable, integrand]
        return ["E", law_tree(value.law), value.variable, integrand]

    def factors(self) -> list[Tree]:
        """Irreducible factors of what stands under symbolic exponents, more than one term each."""
        found: dict[sympy.Expr, None] = {}
        for base in dict.fromkeys(self.bases):
            for part in sympy.fraction(sympy.together(base)):
                try:
                    for factor, _ in sympy.factor_list(part)[1]:
                        if factor.is_Add:
                            found[factor] = None
                except (sympy.PolynomialError, NotImplementedError):
                    continue
        return [self._sympy(factor) for factor in found]


def _replaced(tree: Tree, table: Mapping[str, str]) -> Tree:
    if not isinstance(tree, list):
        return tree
    if len(tree) == 2 and tree[0] == "s":
        return table.get(tree[1], tree)
    return [_replaced(part, table) for part in tree]


def law_tree(law: Law) -> Tree:
    """The law as atoms, pieces of a density, or a mixture."""
    if isinstance(law, Discrete):
        return ["atoms", [[number(w), number(z)] for z, w in law.atoms.items()]]
    if isinstance(law, Mixture):
        return ["mixture", [[number(w), law_tree(part)] for w, part in law.parts]]
    if isinstance(law, Density):
        pieces = [
            [*map(number, (p.lower, p.upper, p.left, p.right)), Trees().tree(p.smooth)]
            for p in law.pieces
        ]
        return ["pieces", pieces]
    raise Unwritable(f"no form for the law {law}")


# -- statements --------------------------------------------------------------------------------


def statement_json(statement: Statement) -> dict[str, Any]:
    """One statement as a certificate holds it.

    Raises
    ------
    Unwritable
        For an expression that has no form there.
    """
    parts, trees = dict(statement.parts), Trees()
    made: dict[str, Any] = {"kind": statement.kind}
    if statement.kind in ("identity", "compare"):
        made |= {side: trees.tree(parts[side]) for side in ("left", "right")}
        if statement.kind == "compare":
            made["op"] = parts["op"]
    elif statement.kind == "within":
        lower, upper = _widened(parts["ends"], parts["digits"])
        made |= {"number": trees.tree(parts["number"]), "lower": lower, "upper": upper}
    elif statement.kind == "nonnegative":
        made["tree"] = trees.tree(parts["tree"])
        made["over"] = [trees.declare(symbol) for symbol in parts["over"]]
        made["strict"] = parts["strict"]
    elif statement.kind == "degree":
        made["tree"] = trees.tree(parts["tree"])
        made |= {"symbol": trees.declare(parts["symbol"]), "most": parts["most"]}
    elif statement.kind == "roots":
        ends = (None if parts[end] is None else number(parts[end]) for end in ("lower", "upper"))
        made |= {
            "coefficients": [number(c) for c in _coefficients(parts["coefficients"])],
            **dict(zip(("lower", "upper"), ends, strict=True)),
            "count": int(parts["count"]),
        }
    elif statement.kind == "bernstein":
        made["rows"] = [[number(int(c)) for c in row] for row in parts["rows"]]
    elif statement.kind == "theorem":
        made["theorems"] = _theorems(parts["theorem"], trees)
    elif statement.kind == "pair":
        made |= {"depth": int(parts["depth"]), "constant": number(parts["constant"])}
        made["what"] = parts["what"]
    elif statement.kind == "matrices":
        made |= {side: _matrix(parts[side], trees) for side in ("left", "right")}
    else:
        raise Unwritable(f"no form for a statement {statement.kind!r}")
    if parts.get("given"):
        made["given"] = {
            name: [number(ends.lower), number(ends.upper)] for name, ends in parts["given"].items()
        }
    factors = trees.factors()
    if trees.symbols:
        made["symbols"] = trees.symbols
    if factors:
        made["factors"] = factors
    return made


def _widened(ends: Any, digits: int | None) -> tuple[str, str]:
    if isinstance(ends, Enclosure):
        ends = ends, ends
    lower, upper = (
        getattr(end, side) if isinstance(end, Enclosure) else rational(end)
        for end, side in zip(ends, ("lower", "upper"), strict=True)
    )
    if all(isinstance(end, Enclosure) for end in ends):
        lower, upper = min(end.lower for end in ends), max(end.upper for end in ends)
    if digits is not None:
        size = max(abs(lower), abs(upper))
        margin = size / 10**digits
        grid = Fraction(1, 10**digits)
        scale = Fraction(10) ** (len(str(int(1 / size))) if 0 < size < 1 else 0)
        step = grid / scale / 100
        lower = ((lower - margin) // step) * step
        upper = -((-(upper + margin)) // step) * step
    return number(lower), number(upper)


def _coefficients(polynomial: Any) -> Sequence[Any]:
    if isinstance(polynomial, sympy.Poly):
        return list(reversed(polynomial.all_coeffs()))
    if hasattr(polynomial, "coeffs"):
        return list(polynomial.coeffs())
    return list(polynomial)


def _matrix(node: Any, trees: Trees) -> Tree:
    """A matrix expression: letters with their sizes, sums, products, transposes, blocks."""
    if isinstance(node, sympy.BlockMatrix):
        rows, columns = node.blocks.shape
        return [
            "block",
            [[_matrix(node.blocks[i, j], trees) for j in range(columns)] for i in range(rows)],
        ]
    if isinstance(node, sympy.MatrixSymbol):
        return ["letter", node.name, *map(str, node.shape)]
    if isinstance(node, sympy.Identity):
        return ["eye", str(node.shape[0])]
    if isinstance(node, sympy.ZeroMatrix):
        return ["nought", *map(str, node.shape)]
    if isinstance(node, sympy.Transpose):
        return ["T", _matrix(node.arg, trees)]
    if isinstance(node, sympy.MatAdd):
        return ["sum", *(_matrix(part, trees) for part in node.args)]
    if isinstance(node, sympy.MatMul):
        return ["product", *(_matrix(part, trees) for part in node.args)]
    if isinstance(node, sympy.MatrixExpr) or not isinstance(node, sympy.Expr):
        raise Unwritable(f"the matrix {type(node).__name__}")
    return ["scalar", trees.tree(node)]


# -- theorems ----------------------------------------------------------------------------------


def _theorems(theorem: Theorem, trees: Trees) -> list[dict[str, Any]]:
    """The theorem after all those it uses."""
    order: dict[int, Theorem] = {}

    def visit(entry: Theorem) -> None:
        if id(entry) not in order:
            for other in entry.used:
                visit(other)
            order[id(entry)] = entry

    visit(theorem)
    places = {key: place for place, key in enumerate(order)}
    return [_theorem_json(entry, places, trees) for entry in order.values()]


def _theorem_json(theorem: Theorem, places: Mapping[int, int], trees: Trees) -> dict[str, Any]:
    def sign(value: Sign) -> list[Any]:
        return [trees.tree(value.expression), value.strict]

    made: dict[str, Any] = {
        "name": theorem.name,
        "hypotheses": [sign(entry) for entry in theorem.hypotheses],
        "states": sign(theorem.conclusion),
    }
    record = theorem.record
    if isinstance(record, Mapping):
        made["induction"] = {
            "symbol": trees.declare(record["symbol"]),
            "start": record["start"],
            "base": places[id(record["base"])],
            "step": places[id(record["step"])],
        }
        return made
    steps = []
    for rule, data in record[:-1]:
        step: dict[str, Any] = {"rule": rule, "facts": list(data["facts"])}
        for key in ("of", "exponent", "expression"):
            if key in data:
                step[key] = trees.tree(data[key])
        if rule == "combination":
            names = {s: sympy.Symbol(f"_{i}", positive=True) for i, s in enumerate(data["letters"])}
            step["formal"] = Trees().tree(data["formal"].xreplace(names))
        if rule == "use":
            step["theorem"] = places[id(data["theorem"])]
            step["at"] = {
                trees.declare(s): trees.tree(sympy.sympify(v)) for s, v in data["at"].items()
            }
        steps.append(step)
    return made | {"steps": steps, "conclusion": record[-1]}


# -- checks ------------------------------------------------------------------------------------


def statements_of(by: Any) -> Iterator[Statement]:
    """What a step rests on, its functions called."""
    if by is None:
        return
    if isinstance(by, Statement):
        yield by
    elif isinstance(by, Callable):  # type: ignore[arg-type]
        yield from statements_of(by())
    elif isinstance(by, Iterable):
        for part in by:
            yield from statements_of(part)
    else:
        raise Unwritable(f"{type(by).__name__} is no statement")


def step_json(step: Step) -> dict[str, Any]:
    """A step with its statements, or with the reason why there is none."""
    made: dict[str, Any] = {"name": step.name, "holds": step.holds, "shown": step.shown[:2000]}
    try:
        statements = [statement_json(entry) for entry in statements_of(step.by)]
    except Unwritable as error:
        return made | {"reason": str(error)}
    if not statements:
        return made | {"reason": "decided by balls or by a program, without a certificate"}
    if len(json.dumps(statements)) > MAX_STATEMENT:
        return made | {"reason": f"its certificate has more than {MAX_STATEMENT} characters"}
    return made | {"statements": statements}


def certificate(
    claim: Claim, check: Check, evidence: Evidence, context: Context, versions: Mapping[str, str]
) -> dict[str, Any]:
    """The certificate of a check that holds: a JSON object with its own checksum."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "claim": claim.id,
        "check": check.name,
        "rung": str(check.rung),
        "place": claim.place,
        "statement": claim.statement,
        "formula": _formula(check.formula),
        "hypotheses": [[entry.name, entry.statement] for entry in claim.hypotheses],
        "scope": evidence.scope,
        "verdict": str(evidence.verdict),
        "assumes": list(evidence.assumes),
        "preset": context.preset,
        "versions": dict(versions),
        "source": _source(check.function),
        "steps": [step_json(step) for step in evidence.steps],
    }
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    document["sha256"] = hashlib.sha256(canonical.encode()).hexdigest()
    return document


def _formula(formula: Any) -> Any:
    """The formula under examination as a tree where it has one, else as text."""
    if isinstance(formula, tuple | list):
        return [_formula(part) for part in formula]
    if isinstance(formula, Mapping):
        return {str(key): _formula(part) for key, part in formula.items()}
    try:
        return Trees().tree(formula)
    except Unwritable:
        return f"{_source(formula)}" if callable(formula) else str(formula)


def _source(function: Any) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return str(getattr(function, "__name__", type(function).__name__))


def write(
    folder: Path,
    claim: Claim,
    check: Check,
    evidence: Evidence,
    context: Context,
    versions: Mapping[str, str],
) -> Path | None:
    """Write a proved or certified check that holds into a folder, atomically."""
    if check.rung not in (PROVED, CERTIFIED) or evidence.verdict is not HOLDS:
        return None
    document = certificate(claim, check, evidence, context, versions)
    name = "".join(c if c.isalnum() or c in "._-" else "_" for c in f"{claim.id}--{check.name}")
    short = hashlib.sha256(f"{claim.id}/{check.name}".encode()).hexdigest()[:8]
    path = folder / f"{name}.{short}.json"
    write_text(path, json.dumps(document, ensure_ascii=True, sort_keys=True))
    return path


def clear(folder: Path) -> None:
    """Take out the certificates of an earlier run, and nothing else."""
    for path in folder.glob("*--*.json"):
        if _NAME.fullmatch(path.name):
            path.unlink()
