"""Mutation testing of the rooms on which verdicts rest: ``exact/``, ``claims/``, ``stats.py``.

    python tests/quality/mutation.py [--each N] [--seed N] [--out FILE] [MODULE ...]

Each mutant is one change of one syntax node, in a copy of the package; it is killed if a test of its
module fails or does not end. The mutants are a random sample, the same for the same seed.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]

TARGETS = {
    "exact/rationals.py": ["tests/exact/test_rationals.py"],
    "exact/balls.py": ["tests/exact/test_balls.py"],
    "exact/identities.py": ["tests/exact/test_identities.py"],
    "exact/roots.py": ["tests/exact/test_roots.py"],
    "exact/laws.py": ["tests/exact/test_laws.py"],
    "exact/bernstein.py": ["tests/exact/test_bernstein.py"],
    "exact/facts.py": ["tests/exact/test_facts.py"],
    "exact/quadrature.py": ["tests/exact/test_quadrature.py"],
    "claims/examine.py": ["tests/claims/test_examine.py", "tests/claims/test_runner.py"],
    "claims/results.py": [
        "tests/claims/test_examine.py",
        "tests/claims/test_runner.py",
        "tests/report",
    ],
    "claims/registry.py": ["tests/claims/test_runner.py", "tests/claims/test_paper_files.py"],
    "claims/mutants.py": ["tests/claims/test_examine.py"],
    "stats.py": ["tests/test_stats.py"],
}
TIMEOUT = 300.0

_COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
}  # fmt: skip


def mutations(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What a node may become."""
    new = copy.deepcopy(node)
    if isinstance(new, ast.Compare) and type(new.ops[0]) in _COMPARISONS:
        new.ops[0] = _COMPARISONS[type(new.ops[0])]()
        yield "comparison", new
    elif isinstance(new, ast.BinOp) and type(new.op) in _OPERATORS:
        new.op = _OPERATORS[type(new.op)]()
        yield "operator", new
    elif isinstance(new, ast.BoolOp):
        new.op = ast.Or() if isinstance(new.op, ast.And) else ast.And()
        yield "and/or", new
    elif isinstance(new, ast.UnaryOp) and isinstance(new.op, ast.Not | ast.USub):
        yield "sign or not", new.operand
    elif isinstance(new, ast.Constant) and type(new.value) is int:
        yield "constant", ast.Constant(new.value + 1)
    elif isinstance(new, ast.Constant) and type(new.value) is bool:
        yield "truth value", ast.Constant(not new.value)
    elif isinstance(new, ast.If):
        new.test = ast.UnaryOp(ast.Not(), new.test)
        yield "condition", new
    elif isinstance(new, ast.IfExp):
        new.body, new.orelse = new.orelse, new.body
        yield "branches", new


class _Replace(ast.NodeTransformer):
    def __init__(self, number: int, new: ast.AST) -> None:
        self.number, self.new, self.seen = number, new, -1

    def generic_visit(self, node: ast.AST) -> ast.AST:
        self.seen += 1
        if self.seen == self.number:
            return ast.copy_location(self.new, node)
        return super().generic_visit(node)


def mutants(source: str) -> list[tuple[int, str, str]]:
    """``(line, what, mutated source)`` of every mutant; type hints and messages are left alone."""
    tree = ast.parse(source)
    skipped = set()
    for node in ast.walk(tree):
        hints = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.JoinedStr | ast.Raise):
            hints.append(node)
        for hint in filter(None, hints):
            skipped |= {id(child) for child in ast.walk(hint)}
    found, numbering = [], _Numbered()
    numbering.visit(tree)
    for number, node in enumerate(numbering.nodes):
        if id(node) in skipped:
            continue
        for what, new in mutations(node):
            changed = _Replace(number, new).visit(ast.parse(source))
            text = ast.unparse(ast.fix_missing_locations(changed))
            found.append((getattr(node, "lineno", 0), what, text))
    return found


class _Numbered(ast.NodeVisitor):
    def __init__(self) -> None:
        self.nodes: list[ast.AST] = []

    def generic_visit(self, node: ast.AST) -> None:
        self.nodes.append(node)
        super().generic_visit(node)


def survives(copy_of: Path, tests: list[str]) -> bool:
    """Whether all tests pass on the copy."""
    environment = os.environ | {"PYTHONPATH": str(copy_of), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            command, cwd=copy_of, env=environment, capture_output=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("modules", nargs="*", choices=[[], *TARGETS], metavar="MODULE")
    parser.add_argument("--each", type=int, default=20, help="mutants a module")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", default="out/mutation.json")
    arguments = parser.parse_args()
    report: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as scratch:
        copy_of = Path(scratch)
        for part in ("theoryverify", "tests", "docs", "pyproject.toml"):
            source = ROOT / part
            target = copy_of / part
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, target, ignore=ignore) if source.is_dir() else shutil.copy(
                source, target
            )
        for module in arguments.modules or TARGETS:
            path = copy_of / "theoryverify" / module
            original = path.read_text("utf-8")
            every = mutants(original)
            chosen = random.Random(f"{arguments.seed} {module}").sample(
                every, min(arguments.each, len(every))
            )
            if not survives(copy_of, TARGETS[module]):
                raise SystemExit(f"{module}: its tests fail without a mutant")
            lived, start = [], time.monotonic()
            for line, what, text in sorted(chosen):
                path.write_text(text, "utf-8")
                if survives(copy_of, TARGETS[module]):
                    lived.append({"line": line, "what": what})
            path.write_text(original, "utf-8")
            report[module] = {"of": len(every), "tried": len(chosen), "survived": lived}
            killed = len(chosen) - len(lived)
            print(
                f"{module}: {killed}/{len(chosen)} killed ({time.monotonic() - start:.0f} s)"
                + "".join(f"\n    line {entry['line']}: {entry['what']}" for entry in lived),
                flush=True,
            )
            out = Path(arguments.out)
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
