"""Fuzzing of what reads text or files: an answer, or an :class:`InputError`; nothing else, and soon.

Texts are drawn near the grammars (their own pieces in any order, and mutated valid texts), for pure
noise is refused in the first characters.
"""

from __future__ import annotations

import io
import json
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from theoryverify.claims.listing import read_standing
from theoryverify.data.pickled import load_arrays
from theoryverify.errors import InputError
from theoryverify.exact.law_grammar import parse_law
from theoryverify.exact.laws import Law
from theoryverify.exact.links import link
from theoryverify.exact.rationals import rational

LIMIT = 5.0
"""Seconds of CPU for one short text; the slowest seen takes a tenth of that."""

_SETTINGS = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)

LINK_PIECES = [
    "z", "He3(z)", "He0(", "He999999999(z)", "sqrt(", "exp(", "log(", "sin(", "tanh(", "erf(", "abs(",
    "sign(", "relu(", "(", ")", "+", "-", "*", "/", "**", "^", ",", ".", "0", "1", "2", "1/2", "0.1",
    "1e3", "1e999999", "-1", "10**10**10", " ", "\t", "\x00", "é", "__import__", "lambda", "z.real",
    "eval('1')", "nan", "inf", "½", "²", "9" * 60,
]  # fmt: skip
LAW_PIECES = [
    "uniform", "two-point", "discrete", "beta", "ball", "shell", "(", ")", ",", ":", "2", "5", "1/3",
    "-1", "0", "1", "1e9", "1e-400", "1e999999", "2:1/4", "3:3/4", "nan", "inf", " ", "\n", "\x00", "²",
    "0x10", "1_0", "7" * 60, "2/0", "(2,5)", "gaussian", "point",
]  # fmt: skip
VALID_LINKS = ["He3(z)/sqrt(6)", "relu(z) - 1/2", "z**3 - 3*z", "exp(-z**2)*sin(z)", "abs(z)**0.5"]
VALID_LAWS = [
    "uniform(2,5)", "two-point(2,5,1/3)", "discrete(2:1/4,3:1/4,5:1/2)", "beta(2,5,1/2,3)", "ball(4,5)",
    "shell(3,2,5)",
]  # fmt: skip


def pieced(pieces: list[str]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), max_size=14).map("".join)


@st.composite
def damaged(draw: st.DrawFn, valid: list[str]) -> str:
    """A valid text with a few characters taken out, doubled, or replaced."""
    text = draw(st.sampled_from(valid))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, max(0, len(text) - 1)))
        new = draw(
            st.sampled_from(["", "(", ")", "*", "**", "/", "-", "9", "e", "z", ",", ":", "\0"])
        )
        text = text[:place] + new + text[place + draw(st.integers(0, 1)) :]
    return text


def in_time(function: object, *arguments: object) -> object:
    start = time.process_time()
    try:
        return function(*arguments)  # type: ignore[operator]
    finally:
        assert time.process_time() - start < LIMIT


@given(pieced(LINK_PIECES) | damaged(VALID_LINKS) | st.text(max_size=30))
@_SETTINGS
def test_link_grammar(text: str) -> None:
    try:
        found = in_time(link, text)
    except InputError as error:
        refused = str(error)
    else:
        refused = ""
    assert len(refused) < 2000  # a hostile text is not thrown back whole
    if refused:
        return
    again = link(str(found))  # what is shown can be read again, and shown the same
    assert str(again) == str(found)


@given(pieced(LAW_PIECES) | damaged(VALID_LAWS) | st.text(max_size=30))
@_SETTINGS
def test_law_grammar(text: str) -> None:
    try:
        found = in_time(parse_law, text)
    except InputError as error:
        refused = str(error)
    else:
        refused = ""
    assert len(refused) < 2000
    if refused:
        return
    assert isinstance(found, Law)
    assert found.lower <= found.upper


@given(pieced(["1", "0", "-", "+", "/", ".", "e", "E", "_", "²", " ", "99", "nan", "\0", "1e9999"]))
@_SETTINGS
def test_numbers(text: str) -> None:
    try:
        found = in_time(rational, text, "x")
    except InputError:
        return
    assert rational(str(found), "x") == found


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.binary(max_size=200)
    | json_values.map(lambda value: json.dumps(value).encode())
    | json_values.map(lambda value: json.dumps({"format": 1, "claims": value}).encode())
)
@settings(_SETTINGS, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_report_reader(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(content)
    try:
        found = in_time(read_standing, path)
    except InputError as error:
        refused = str(error)
    else:
        refused = ""
    assert str(path) in refused or isinstance(found, dict)


def test_a_deep_report_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("[" * 200_000 + "]" * 200_000)
    with pytest.raises(InputError):
        read_standing(path)


@given(st.binary(max_size=120))
@_SETTINGS
def test_pickle_reader(content: bytes) -> None:
    try:
        found = in_time(load_arrays, io.BytesIO(content), "file")
    except InputError:
        return
    assert found is None or isinstance(
        found,
        (int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, np.ndarray),
    )


RISK = ("--dim", "5", "--context", "100", "--depth", "3", "--prompts", "10")
HUGE = ("1e9999", "1e400", "1e-400")


@pytest.mark.parametrize(
    "arguments",
    [
        ["loss", "--law", "uniform(2,5)", "--depth", "3", "--alpha", "{}"],
        ["loss", "--law", "uniform(2,5)", "--depth", "3", "--alpha", "1/5", "--beta", "{}"],
        ["loss", "--law", "uniform(2,{})", "--depth", "3", "--alpha", "1/5"],
        ["alpha-star", "--law", "uniform(2,{})", "--depth", "3"],
        ["alpha-star", "--law", "two-point(2,5,{})", "--depth", "3"],
        ["flow", "--law", "uniform(2,{})", "--depth", "3"],
        ["flow", "--law", "uniform(2,5)", "--depth", "3", "--level", "{}"],
        [
            "risk",
            "--law",
            "uniform(2,5)",
            "--dim",
            "5",
            "--context",
            "100",
            "--depth",
            "3",
            "--alpha",
            "{}",
            "--prompts",
            "10",
        ],
        ["exponent", "{}*z"],
        ["exponent", "z", "--gate", "--rho", "{}", "--b", "1"],
        ["exponent", "z**2", "--gate", "--rho", "1", "--b", "{}"],
        ["lsa-risk", "--spectrum", "{},1", "--train-length", "3", "--test-length", "4"],
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_huge_numbers_on_the_command_line(
    arguments: list[str], as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing may break on numbers beyond floats, or beyond what Python writes (4300 digits)."""
    from theoryverify.cli import main

    for value in HUGE:
        code = main([part.format(value) for part in arguments] + ["--json"] * as_json)
        _, err = capsys.readouterr()
        assert code in (0, 1, 2, 3), err
        assert "Traceback" not in err
        if code == 2:
            assert err.count("\n") == 1
