"""Certificates: written by checks, re-verified by the checker alone, refused when tampered with."""

from __future__ import annotations

import ast
import contextlib
import copy
import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from theoryverify import certify
from theoryverify.claims import statements as say
from theoryverify.claims.certificate import Unwritable, statement_json, write
from theoryverify.claims.claim import Check, Claim, Context
from theoryverify.claims.discovery import paper_named
from theoryverify.claims.examine import examine
from theoryverify.claims.registry import own_claims
from theoryverify.exact.balls import ball, precision
from theoryverify.exact.densities import Ball, ScaledBeta, Shell, Uniform
from theoryverify.exact.facts import Argument, positive
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Discrete, Mixture

x, y, a = sympy.symbols("x y a", real=True)
T = sympy.Symbol("T", integer=True, positive=True)
h, other = sympy.Function("h"), sympy.Function("log")


def verify(statement: say.Statement | dict[str, Any]) -> None:
    data = statement if isinstance(statement, dict) else statement_json(statement)
    certify.Statement(json.loads(json.dumps(data))).verify()


def refused(statement: say.Statement | dict[str, Any]) -> bool:
    try:
        verify(statement)
    except (certify.Rejected, certify.Unverified):
        return True
    return False


# -- the checker alone ---------------------------------------------------------------------------


def test_it_imports_the_standard_library_only() -> None:
    tree = ast.parse(Path(certify.__file__).read_text())
    names = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert names <= sys.stdlib_module_names


# -- statements, true and nearly true ------------------------------------------------------------

TRUE = {
    "power": say.same((1 + x) ** (T + 1), (1 + x) * (1 + x) ** T),
    "product": say.same((x * (1 + y)) ** T * x**-T, (1 + y) ** T),
    "factors": say.same((1 - x**2) ** T, (1 - x) ** T * (1 + x) ** T),
    "sign": say.same((x - y) ** (2 * T), (y - x) ** (2 * T)),
    "quotient": say.same(1 / (x - y) - 1 / (x + y), 2 * y / (x**2 - y**2)),
    "root": say.same(sympy.sqrt(2) * sympy.sqrt(6), 2 * sympy.sqrt(3)),
    "exponential": say.same(sympy.exp(x + y), sympy.exp(x) * sympy.exp(y)),
    "nonnegative": say.nonnegative(x**2 + 3 * x * y, [x, y], strict=True),
    "degree": say.degree((x + y) ** 3 - x**3, x, 2),
    "does not occur": say.degree(h(y, h(y + 1, a) + x - x) + y, x, 0),
    "any function": say.same(h(x + x, y) ** 2 - h(2 * x, y) * h(2 * x, y), sympy.Integer(0)),
    "less": say.less(sympy.exp(1), "2.7182818285"),
    "pi": say.within(sympy.pi, (Fraction(314159265, 10**8), Fraction(314159266, 10**8))),
    "log": say.less(sympy.log(2), Fraction(6931472, 10**7)),
    "equals": say.equals((1 + sympy.sqrt(5)) ** 2, 6 + 2 * sympy.sqrt(5)),
    "differs": say.differs(sympy.sqrt(2), Fraction(14142135, 10**7)),
    "gaussian": say.equals(say.gaussian(sympy.Symbol("z") ** 8), 105),
    "chi": say.equals(say.chi_mean(4, sympy.Symbol("s") ** 2), Fraction(24, 16)),
    "moment": say.equals(say.mean(Uniform(2, 5), Z**2), 13),
    "beta moment": say.equals(say.mean(ScaledBeta(2, 5, "1/2", "5/2"), Z), Fraction(5, 2)),
    "atoms": say.equals(say.mean(Discrete({2: "1/4", 4: "3/4"}), 1 / Z), Fraction(5, 16)),
    "mean": say.within(
        say.mean(Uniform(2, 5), 1 / Z), (Fraction(30543024, 10**8), Fraction(30543025, 10**8))
    ),
    "roots": say.roots([-2, 0, 1], 0, None, 1),
    "multiple roots": say.roots([0, 0, 1, -2, 1], -1, 1, 2),
    "bernstein": say.bernstein([[1], [-3], [3]]),
    "identity D+cP=Q": say.pair(5, 6, "identity"),
    "square": say.pair(5, 6, "square"),
    "ray": say.pair(4, 4, "ray"),
}
FALSE = {
    "power": say.same((1 + x) ** (T + 1), (1 + x) ** T),
    "factors": say.same((1 - x**2) ** T, (1 - x) ** T * (1 + x) ** (T + 1)),
    "sign": say.same((x - y) ** (2 * T + 1), (y - x) ** (2 * T + 1)),
    "root": say.same(sympy.sqrt(2) * sympy.sqrt(6), 2 * sympy.sqrt(2)),
    "root of a square": say.same(sympy.sqrt(x**2), x),
    "nonnegative": say.nonnegative(x**2 - x * y, [x, y]),
    "strict zero": say.nonnegative(x - x, [x], strict=True),
    "degree": say.degree((x + y) ** 3, x, 2),
    "occurs in a function": say.degree(h(y, h(y + 1, a) + x) + y, x, 0),
    "two arguments": say.same(h(x, y), h(y, x)),
    "less": say.less("2.7182818285", sympy.exp(1)),
    "pi": say.within(sympy.pi, (Fraction(314159266, 10**8), 4)),
    "equals": say.equals(sympy.sqrt(2), Fraction(14142135623730951, 10**16)),
    "differs": say.differs(sympy.sqrt(8), 2 * sympy.sqrt(2)),
    "gaussian": say.equals(say.gaussian(sympy.Symbol("z") ** 8), 104),
    "chi": say.equals(say.chi_mean(4, sympy.Symbol("s") ** 2), 1),
    "moment": say.equals(say.mean(Uniform(2, 5), Z**2), Fraction(49, 4)),
    "mean": say.less(say.mean(Uniform(2, 5), 1 / Z), Fraction(30543024, 10**8)),
    "roots": say.roots([-2, 0, 1], 0, 1, 1),
    "multiple roots": say.roots([0, 0, 1, -2, 1], -1, 1, 4),
    "bernstein": say.bernstein([[1], [-3], [2]]),
    "identity D+cP=Q": say.pair(5, 7, "identity"),
    "square": say.pair(4, "-1/100", "square"),
    "ray": say.pair(4, "1001/100", "ray"),
}


@pytest.mark.parametrize("name", TRUE)
def test_a_true_statement_is_verified(name: str) -> None:
    verify(TRUE[name])


@pytest.mark.parametrize("name", FALSE)
def test_a_false_statement_is_never_verified(name: str) -> None:
    assert refused(FALSE[name])


def test_a_function_of_any_kind_is_not_taken_for_the_one_of_its_name() -> None:
    with pytest.raises(Unwritable, match="called log"):
        statement_json(say.same(other(x * y), other(x) + other(y)))


def test_matrices_of_any_size() -> None:
    d = sympy.Symbol("d", integer=True, positive=True)
    A = sympy.MatrixSymbol("A", d, d)
    p, q = (sympy.MatrixSymbol(name, d, 1) for name in "pq")
    verify(say.matrices((A * p + q).T * q, q.T * A * p + q.T * q))
    assert refused(say.matrices((A * p).T * q, p.T * A * q))
    block = sympy.BlockMatrix([[A, p], [p.T, sympy.Identity(1)]])
    column = sympy.BlockMatrix([[p], [sympy.Identity(1)]])
    verify(say.matrices(column.T * block * column, p.T * A * p + 2 * p.T * p + sympy.Identity(1)))
    assert refused(
        say.matrices(column.T * block * column, p.T * A * p + p.T * p + sympy.Identity(1))
    )


def _theorem() -> dict[str, Any]:
    argument = Argument(positive(y), positive(x - y))
    low, gap = argument.given
    fact = argument.fact(x**2 - y**2, lambda g, l: g * (2 * l + g), gap, low)  # noqa: E741
    return statement_json(say.derived(argument.conclude("x² > y²", fact)))


def test_a_theorem_of_the_kernel_and_a_wrong_one() -> None:
    data = _theorem()
    verify(data)
    changes: list[Callable[[dict[str, Any]], Any]] = [
        lambda t: t["steps"][0].update(formal=["*", ["s", "_0"], ["s", "_1"]]),
        lambda t: t["steps"][0].update(facts=[0, 0]),
        lambda t: (
            t["hypotheses"][0].__setitem__(1, False) or t["hypotheses"][1].__setitem__(1, False)
        ),
        lambda t: t.update(states=[["+", ["s", "x"], ["*", "-1", ["s", "y"]], "-1"], True]),
        lambda t: t.update(conclusion=7),
    ]
    for change in changes:
        wrong = copy.deepcopy(data)
        change(wrong["theorems"][0])
        assert refused(wrong)


@pytest.mark.parametrize(
    ("root", "square"),
    [
        (["^", ["s", "x"], "1/2"], ["s", "x"]),
        (["*", ["i"], ["s", "x"]], ["*", "-1", ["^", ["s", "x"], "2"]]),
    ],
)
def test_a_square_and_an_argument_are_real(root: certify.Tree, square: certify.Tree) -> None:
    """(√x)² = x and (ix)² = -x² may be negative, squares of real numbers are not."""
    argument = Argument()
    theorem = argument.conclude("(x-1)² >= 0", argument.square(x - 1))
    data = statement_json(say.derived(theorem))
    verify(data)
    data["theorems"][0]["steps"][0]["of"] = root
    data["theorems"][0]["states"] = [square, False]
    assert refused(data)

    general = Argument()
    known = general.conclude("x² >= 0", general.square(x))
    at_y = Argument()
    data = statement_json(say.derived(at_y.conclude("y² >= 0", at_y.use(known, {x: y}))))
    verify(data)
    used = data["theorems"][-1]
    used["steps"][0]["at"]["x"] = root
    used["states"] = [square, False]
    assert refused(data)


def _forged(states: list[object], *steps: dict[str, object]) -> dict[str, object]:
    last = len(steps) - 1
    return {"hypotheses": [], "steps": list(steps), "conclusion": last, "states": states}


X: certify.Tree = ["s", "x"]


def _power(base: certify.Tree, exponent: certify.Tree) -> certify.Tree:
    return ["^", base, exponent]


def _combined(formal: certify.Tree, expression: certify.Tree, *facts: int) -> dict[str, object]:
    step = {"rule": "combination", "facts": list(facts)}
    return {**step, "formal": formal, "expression": expression}


def _hidden_pole() -> list[dict[str, object]]:
    """x²/(1+x²) > 0, from 1/(1 + 1/x²): at x = 0 it says 0 > 0."""
    share = ["*", _power(X, "2"), _power(["+", "1", _power(X, "2")], "-1")]
    squares = [{"rule": "square", "facts": [], "of": of} for of in (_power(X, "-1"), X)]
    return [
        _forged(
            [share, True],
            *squares,
            _combined(["+", "1", ["s", "_0"]], ["+", "1", _power(X, "2")], 1),
            _combined(_power(["+", "1", ["s", "_0"]], "-1"), share, 0),
        )
    ]


def _root_in_a_denominator() -> list[dict[str, object]]:
    """(1+x)/(1+(√x)²) = 1: at x = -1 it is 0/0."""
    below = ["+", "1", _power(_power(X, "1/2"), "2")]
    one = ["*", ["+", "1", X], _power(below, "-1")]
    return [_forged([one, True], _combined("1", one))]


def _induction_from_zero() -> list[dict[str, object]]:
    n, minus = ["s", "n"], ["*", "-1", ["s", "n"]]
    product = ["*", *(["s", f"_{i}"] for i in range(3))]
    step = _forged(
        [["+", minus, "-1"], False],
        {"rule": "square", "facts": [], "of": _power(n, "-1")},
        _combined(product, "-1", 0, 1, 2),
        _combined(["+", ["s", "_0"], ["s", "_1"]], ["+", minus, "-1"], 1, 3),
    )
    step |= {"hypotheses": [[n, False], [minus, False]], "conclusion": 4}
    whole = {"symbol": "n", "start": 0, "base": 0, "step": 1}
    claimed = {"hypotheses": [[n, False]], "induction": whole, "states": [minus, False]}
    return [_forged(["0", False], _combined("0", "0")), step, claimed]


@pytest.mark.parametrize(
    ("theorems", "declared"),
    [
        (_hidden_pole(), ()),
        (_root_in_a_denominator(), ()),
        (_induction_from_zero(), ("integer", "positive", "nonnegative", "nonzero")),
    ],
    ids=["hidden pole", "root in a denominator", "induction from 0"],
)
def test_forged_theorems_are_refused(
    theorems: list[dict[str, object]], declared: tuple[str, ...]
) -> None:
    kernel = certify.Kernel(certify.Field({name: frozenset(declared) for name in "xn"}))
    for theorem in theorems[:-1]:
        kernel.learn(theorem)
    with pytest.raises((certify.Rejected, certify.Unverified)):
        kernel.learn(theorems[-1])


def test_even_powers_of_what_may_be_imaginary_split_no_root() -> None:
    """x^t is i at x = -1, t = 1/2, where √(-3) √(-8) = -√24."""
    square = _power(_power(X, ["s", "t"]), "2")
    one, other = (["+", "1", ["*", k, square]] for k in ("4", "9"))
    data = {
        "kind": "identity",
        "symbols": {"x": ["real"], "t": ["real"]},
        "factors": [one, other],
        "left": ["*", _power(one, "1/2"), _power(other, "1/2")],
        "right": _power(["*", one, other], "1/2"),
    }
    with pytest.raises((certify.Rejected, certify.Unverified)):
        certify.Statement(data).verify()


# -- numbers, against FLINT ----------------------------------------------------------------------

rationals = st.fractions(min_value=-20, max_value=20, max_denominator=10**6)


def _encloses(found: certify.Between, exact: arb) -> bool:
    low, high = found.ends()
    with precision(400):
        return bool(ball(low) <= exact.upper() and exact.lower() <= ball(high))


@settings(max_examples=60, deadline=None)
@given(rationals, st.sampled_from([60, 128, 300]))
def test_functions_enclose_and_are_narrow(value: Fraction, bits: int) -> None:
    reals = certify.Reals(bits)
    point = reals.of(value)
    with precision(400):
        at = ball(value)
        pairs = [(reals.exp(point), at.exp()), (reals.pi(), arb.pi())]
        if value > 0:
            pairs += [(reals.log(point), at.log()), (reals.sqrt(point), at.sqrt())]
    for found, exact in pairs:
        assert _encloses(found, exact)
        low, high = found.ends()
        assert high - low <= abs(high) * Fraction(1, 2 ** (bits - 40)) + Fraction(
            1, 2 ** (bits - 8)
        )


@settings(max_examples=80, deadline=None)
@given(rationals, rationals, st.integers(2, 9))
def test_arithmetic_rounds_outward(first: Fraction, second: Fraction, power: int) -> None:
    reals = certify.Reals(24)
    u, v = reals.of(first), reals.of(second)
    pairs = [
        (reals.add(u, v), first + second),
        (reals.mul(u, v), first * second),
        (reals.power(u, power), first**power),
        (reals.over(u, power), first / power),
    ]
    if second:
        pairs.append((reals.div(u, v), first / second))
    for found, exact in pairs:
        low, high = found.ends()
        assert low <= exact <= high


LAWS = (
    Uniform(2, 5), ScaledBeta(2, 5, "1/2", "5/2"), Ball(4, 5), Shell(7, 2, 5),
    Mixture([("1/2", Discrete({2: 1})), ("1/2", Uniform("1.5", 3))]),
)  # fmt: skip


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_quadrature_meets_balls(law: Any) -> None:
    integrand = (Z - 1) / Z * (1 - Z / 4) ** 7
    tree = statement_json(say.less(say.mean(law, integrand), 9))["left"]
    low, high = certify.Evaluator(certify.Reals(100)).value(tree).ends()
    with precision(200):
        exact = law.expect(integrand)
        assert ball(low) <= exact.upper()
        assert exact.lower() <= ball(high)
    assert high - low < Fraction(1, 10**15)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=6), st.integers(0, 2))
def test_sturm_counts_distinct_roots(zeros: list[int], twice: int) -> None:
    t = sympy.Symbol("t")
    poly = sympy.Poly(sympy.prod([t - r for r in zeros + zeros[:twice]]) * (t**2 + 1), t)
    coefficients = [int(c) for c in reversed(poly.all_coeffs())]
    wanted = len({r for r in zeros if -2 < r <= 3})
    assert certify.sturm_roots(coefficients, Fraction(-2), Fraction(3)) == wanted
    assert certify.sturm_roots(coefficients, None, None) == len(set(zeros))


# -- a check's certificate, and what is done to it -----------------------------------------------

CHECKS = (
    ("lca", "lca.F.1", "convexity"),
    ("lca", "lca.uniqueness.point-mass", "exact polynomials"),
    ("lca", "lca.4.1.gap", "numbers"),
    ("mamba", "mamba.even", "LDLᵀ over the rationals"),
    ("mamba", "mamba.even", "the explicit polynomial"),
)


def _found(paper: str, claim_id: str, name: str) -> tuple[Claim, Check]:
    claim = own_claims(paper_named(paper))[claim_id]
    return claim, next(check for check in claim.checks if check.name == name)


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("certificates")
    made = {}
    for paper, claim_id, name in CHECKS:
        claim, check = _found(paper, claim_id, name)
        context = Context(name=f"{claim_id}/{name}")
        path = write(
            folder, claim, check, examine(claim, check, check.formula, context), context, {}
        )
        assert path is not None
        made[f"{claim_id}/{name}"] = certify.read(path)
    return made


def test_every_chosen_check_is_re_verified_in_full(documents: dict[str, dict[str, Any]]) -> None:
    for name, document in documents.items():
        outcome = certify.verify(document)
        assert outcome.status == "re-verified", (name, outcome.open)


def test_what_a_row_does_not_depend_on_is_re_verified(tmp_path: Path) -> None:
    claim, check = _found("lca", "lca.J.injection", "rows")
    context = Context(name="lca.J.injection/rows")
    evidence = examine(claim, check, check.formula, context)
    path = write(tmp_path, claim, check, evidence, context, {})
    assert path is not None
    document = certify.read(path)
    assert certify.verify(document).status == "re-verified"
    for statement in document["steps"][0]["statements"]:
        text = json.dumps(statement)
        wrong = text.replace('["s", "S0"]', f'["s", "{statement["symbol"]}"]', 1)
        assert wrong != text
        assert refused(json.loads(wrong)), "a row that does depend on it"


def _places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _places(value, (*path, key))
    elif isinstance(data, list):
        for key, value in enumerate(data):
            yield from _places(value, (*path, key))
    else:
        yield path


def _changed(data: dict[str, Any], path: tuple[Any, ...]) -> dict[str, Any]:
    wrong = copy.deepcopy(data)
    *way, last = path
    inner: Any = wrong
    for key in way:
        inner = inner[key]
    old = inner[last]
    if isinstance(old, bool):
        inner[last] = not old
    elif isinstance(old, int):
        inner[last] = old + 1
    elif isinstance(old, str) and certify._NUMBER.fullmatch(old):
        inner[last] = str(Fraction(old) + 1)
    else:
        inner[last] = f"{old}x"
    return wrong


def test_every_field_that_is_changed_breaks_the_checksum(
    documents: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    document = documents["lca.4.1.gap/numbers"]
    tried = 0
    for path in _places(document):
        wrong = _changed(document, path)
        place = tmp_path / "wrong.json"
        place.write_text(json.dumps(wrong))
        assert certify.check_file(place).status == "rejected", path
        tried += 1
    assert tried > 100


@pytest.mark.parametrize("name", [f"{c}/{n}" for _, c, n in CHECKS])
def test_a_changed_number_under_a_new_checksum_is_not_re_verified(
    documents: dict[str, dict[str, Any]], name: str
) -> None:
    """Every number of every statement in turn; the few changes that keep it true are counted."""
    tried, kept = 0, []
    for step in documents[name]["steps"]:
        for statement in step["statements"]:
            for path in _places(statement):
                old = statement
                for key in path:
                    old = old[key]
                if path[0] in ("symbols", "factors", "kind", "op") or not isinstance(old, str):
                    continue
                if not certify._NUMBER.fullmatch(old):
                    continue
                tried += 1
                if not refused(_changed(statement, path)):
                    kept.append((statement["kind"], path))
    # What may change: an end of an inequality moved outward, a coefficient under a bound.
    loose = [entry for entry in kept if entry[0] in ("identity", "roots")]
    assert not loose, loose
    assert tried
    assert len(kept) <= tried / 2, (tried, kept)


def test_a_step_that_does_not_hold_or_lacks_its_reason_is_rejected(
    documents: dict[str, dict[str, Any]],
) -> None:
    document = documents["lca.F.1/convexity"]
    changes: list[Callable[[dict[str, Any]], Any]] = [
        lambda d: d["steps"][0].update(holds=False),
        lambda d: d["steps"][0].update(statements=[]),
        lambda d: d["steps"][0].update(statements=[{"kind": "trust me"}]),
        lambda d: d["steps"][0].pop("name"),
        lambda d: d.update(verdict="refuted"),
    ]
    for change in changes:
        wrong = copy.deepcopy(document)
        change(wrong)
        with pytest.raises(certify.Rejected):
            certify.verify(wrong)


def test_a_certificate_without_statements_says_so(documents: dict[str, dict[str, Any]]) -> None:
    document = copy.deepcopy(documents["lca.F.1/convexity"])
    for step in document["steps"]:
        del step["statements"]
        step["reason"] = "by balls"
    outcome = certify.verify(document)
    assert outcome.status == "not"
    assert len(outcome.open) == outcome.steps
    assert "by balls" in outcome.open[0]


# -- hostile files ---------------------------------------------------------------------------------

trees = st.recursive(
    st.one_of(
        st.sampled_from(["1", "-1/2", "0", "1/0", "x", "", "9" * 5000]),
        st.integers(-5, 5), st.booleans(), st.none(),
        st.sampled_from([["s", "x"], ["pi"], ["i"], ["s"], []]),
    ),
    lambda inner: st.lists(
        st.one_of(inner, st.sampled_from(["+", "*", "^", "f", "E", "G", "X", "o", "exp", "log"])),
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=250, deadline=None)
@given(
    st.sampled_from(sorted(certify.KINDS)),
    st.dictionaries(
        st.sampled_from(["left", "right", "tree", "number", "lower", "upper", "op", "over", "rows",
                         "coefficients", "count", "symbols", "factors", "theorems", "depth",
                         "constant", "what", "symbol", "most", "strict", "given"]),
        trees, max_size=6,
    ),
)  # fmt: skip
def test_nonsense_is_rejected_or_left_open(kind: str, parts: dict[str, Any]) -> None:
    document = dict.fromkeys(certify.KEYS, "") | {
        "verdict": "holds", "assumes": [],
        "steps": [{"name": "n", "holds": True, "shown": "", "statements": [{"kind": kind, **parts}]}],
    }  # fmt: skip
    with contextlib.suppress(certify.Rejected):  # and nothing else is ever raised
        assert certify.verify(document).steps == 1


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_an_object_or_rejected(raw: bytes) -> None:
    with contextlib.suppress(certify.Rejected):
        assert isinstance(certify.loaded(raw), dict)


@pytest.mark.parametrize(
    "raw",
    [
        b"[" * 100_000,
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
        b'{"a": 1, "a": 2}',
        b'{"a": 1.5}',
        b'{"a": NaN}',
        b'{"a": ' + b"9" * 10_000 + b"}",
        b"[]",
        b"\xff\xfe",
    ],
)
def test_hostile_json(raw: bytes) -> None:
    with pytest.raises(certify.Rejected):
        certify.loaded(raw)


def test_work_is_bounded() -> None:
    tall: list[Any] = ["^", ["^", ["^", ["+", ["s", "x"], "1"], "9999"], "9999"], "9999"]
    for left in (tall, ["^", "10", "99999999"], ["^", "10", ["^", "10", "20000"]]):
        data: dict[str, Any] = {
            "kind": "identity",
            "left": left,
            "right": "0",
            "symbols": {"x": []},
        }
        assert refused(data)


# -- the command line ------------------------------------------------------------------------------


def test_write_and_re_verify_from_the_command_line(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run = [sys.executable, "-m", "theoryverify", "check", "zfb.5.2", "zfb.4.3", "--rung", "proved"]
    subprocess.run([*run, "--certificates", str(folder)], check=True, capture_output=True)
    alone = tmp_path / "certify.py"
    alone.write_bytes(Path(certify.__file__).read_bytes())
    checker = [sys.executable, "-I", str(alone), str(folder)]
    found = subprocess.run([*checker, "--json"], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    total = json.loads(found.stdout)["total"]
    assert total["re-verified"] >= 3
    assert total["rejected"] == 0
    first = next(folder.glob("*.json"))
    first.write_text(first.read_text().replace('"holds"', '"Holds"', 1))
    broken = subprocess.run(checker, capture_output=True, text=True, check=False)
    assert broken.returncode == 1
    assert "rejected" in broken.stdout


@pytest.mark.parametrize("option", ["--json", "--steps"])
def test_a_reader_who_has_read_enough(tmp_path: Path, option: str) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text("{}")
    run = subprocess.Popen(
        [sys.executable, "-I", certify.__file__, str(tmp_path), option],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert run.stdout is not None
    run.stdout.close()
    assert run.stderr is not None
    assert run.stderr.read() == b""
    run.stderr.close()
    assert run.wait() == 1  # both files are rejected, whoever reads that


def test_bad_arguments_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["out", "--colour"]):
        with pytest.raises(SystemExit) as done:
            certify.main(arguments)
        assert done.value.code == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_a_folder_without_certificates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert certify.main([str(tmp_path)]) == 2
    assert "there is no certificate" in capsys.readouterr().err


def test_numbers_of_any_length() -> None:
    assert certify.number("0x" + "f" * 9000) == 16**9000 - 1
    assert certify.number("-0x10/0x20") == Fraction(-1, 2)
    for text in ("1e5", "1.5", "--1", "1/0", "0x", "١", ""):
        with pytest.raises(certify.Rejected):
            certify.number(text)
    assert math.isclose(float(certify.Reals(60).of(Fraction(1, 3)).ends()[0]), 1 / 3)
