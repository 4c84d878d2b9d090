"""Laws as users write them: every form, every refusal, files of values."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theoryverify.errors import InputError
from theoryverify.exact import law_grammar
from theoryverify.exact.densities import Ball, ScaledBeta, Shell, Uniform
from theoryverify.exact.law_grammar import parse_law, read_empirical
from theoryverify.exact.laws import Discrete, Empirical, TwoPoint


@pytest.mark.parametrize(
    ("text", "kind", "shown"),
    [
        ("uniform(2,5)", Uniform, "uniform(2,5)"),
        ("  Uniform ( 2.50 ,\n 5e0 ) ", Uniform, "uniform(5/2,5)"),
        ("two-point(2,5)", TwoPoint, "two-point(2,5,1/2)"),
        ("two_point(2,5,1/3)", TwoPoint, "two-point(2,5,1/3)"),
        ("discrete(2:1/4,3:1/4,5:1/2)", Discrete, "discrete(2:1/4,3:1/4,5:1/2)"),
        ("discrete( 5 : 0.5 , 2:.5)", Discrete, "discrete(2:1/2,5:1/2)"),
        ("beta(2,5,1/2,2.5)", ScaledBeta, "beta(2,5,1/2,5/2)"),
        ("ball(4,5)", Ball, "ball(4,5)"),
        ("shell(8,2,5)", Shell, "shell(8,2,5)"),
        ("uniform(2,1e400)", Uniform, "uniform(2,~1.00000e+400)"),
    ],
)
def test_forms(text: str, kind: type, shown: str) -> None:
    law = parse_law(text)
    assert type(law) is kind
    assert repr(law) == shown


@given(
    st.dictionaries(
        st.fractions(1, 9, max_denominator=30), st.integers(1, 9), min_size=1, max_size=5
    ),
    st.sampled_from(["", " "]),
)
def test_what_a_law_says_of_itself_is_read_back(atoms: dict[Fraction, int], space: str) -> None:
    total = sum(atoms.values())
    text = f",{space}".join(f"{z}{space}:{Fraction(w, total)}" for z, w in atoms.items())
    law = parse_law(f"discrete({text})")
    assert isinstance(law, Discrete)
    assert law.atoms == {z: Fraction(w, total) for z, w in sorted(atoms.items())}
    again = parse_law(repr(law))
    assert isinstance(again, Discrete)
    assert again.atoms == law.atoms


REFUSED = [
    ("", "is not of the form NAME"),
    ("uniform", "is not of the form NAME"),
    ("uniform(2,5", "is not of the form NAME"),
    ("uniform(2,5)x", "is not of the form NAME"),
    ("(2,5)", "is not of the form NAME"),
    ("2*uniform(2,5)", "is not of the form NAME"),
    ("unifrom(2,5)", "law 'unifrom' is unknown; write one of uniform"),
    ("chi2(3)", "law 'chi2' is unknown"),
    ("exponential(1)", "is unbounded; Assumption 6.1"),  # S17
    ("Gaussian(0,1)", "is unbounded; Assumption 6.1"),
    ("uniform()", r"has 0 arguments; write uniform\(LOW,HIGH\)"),
    ("uniform(2)", "has 1 argument;"),
    ("uniform(2,5,)", "has 3 arguments"),
    ("uniform(2,5)(3)", "has 2 arguments|is not a number"),
    ("two-point(2)", "has 1 argument;"),
    ("beta(2,5,1)", r"write beta\(LOW,HIGH,P,Q\)"),
    ("ball(4)", r"write ball\(DIMENSION,ZMAX\)"),
    ("ball(4.0,5)", "dimension = '4.0' is not an integer"),
    ("ball(٤,5)", "is not an integer"),
    ("shell(-1,2,5)", "dimension = -1 is out of range"),
    ("uniform(5,2)", "needs lower < upper"),
    ("uniform(a,5)", "lower = 'a' is not a number"),
    ("uniform(nan,5)", "lower = 'nan' is not a number"),
    ("uniform(2,inf)", "upper = 'inf' is not a number"),
    ("uniform(٢,5)", "is not a number"),
    ("uniform(1/0,5)", "divides by zero"),
    ("uniform(2,1e4009)", "exponent beyond"),
    ("uniform(__import__('os'),5)", "is not a number"),
    ("discrete()", "at least one atom"),
    ("discrete(2,3)", "atom '2' of 'discrete.2,3.' has no weight"),
    ("discrete(2:1/2,)", "atom '' of .* has no weight"),
    ("discrete(2:1/2,2:1/2)", "is given twice"),
    ("discrete(2:1/2,2.0:1/2)", "atom 2 is given twice"),
    ("discrete(2:1/2,3:0.6)", "weights sum to 11/10"),
    ("discrete(2:3/2,3:-1/2)", "weights must be positive"),
    ("discrete(2:1/2:1/2)", "is not a number"),
    ("discrete(2:1e400,3:1)", "weights sum to"),
    ("beta(2,5,1/25,1)", "denominator above 24"),
    ("beta(2,5,3.14159,1)", "denominator above 24"),
    ("beta(2,5,1e400,1)", "too concentrated"),
    ("ball(99999999999999999999,5)", "too concentrated"),
    ("empirical()", "cannot read"),
    ("empirical(\0)", "cannot read .*null byte"),
    ("empirical(no/such/file)", "cannot read no/such/file: No such file"),
    ("empirical(" + "a" * 5000 + ")", "cannot read"),
]


@pytest.mark.parametrize(
    ("text", "why"), REFUSED, ids=[text[:24].replace("\0", "0") for text, _ in REFUSED]
)
def test_refused(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        parse_law(text)


@pytest.mark.parametrize("text", [b"uniform(2,5)", None, 5, Uniform(2, 5)])
def test_only_texts_are_parsed(text: Any) -> None:
    with pytest.raises(InputError, match="a law is a text"):
        parse_law(text)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 10**6,
        "x" * 10**6 + "(2,5)",
        "uniform(" + "9" * 10**6 + ",5)",
        "uniform(" + "2," * 10**5 + "5)",
        "discrete(" + "2" * 10**6 + ")",
        "discrete(2:" + "1" * 10**6 + ")",
        "((((((" * 10**5,
        "beta(2,5," + "1" * 999 + "/7,1)",
    ],
    ids=range(8),
)
def test_no_message_repeats_a_huge_text(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_law(text)
    assert len(str(caught.value)) < 600


# -- files -------------------------------------------------------------------------------------


def test_a_file_of_values(tmp_path: Path) -> None:
    path = tmp_path / "values.txt"
    path.write_bytes("\ufeff# Z, measured\n2.5, 3;1e1\n\n  # more\n7/2\t2.50\r\n".encode())
    law = parse_law(f"empirical( {path} )")
    assert isinstance(law, Empirical)
    assert law.atoms == {
        Fraction(5, 2): Fraction(2, 5),
        Fraction(3): Fraction(1, 5),
        Fraction(7, 2): Fraction(1, 5),
        Fraction(10): Fraction(1, 5),
    }
    assert repr(law) == f"empirical({path})"
    assert law.moment(1) == Fraction(43, 10)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "holds no value"),
        (b"# only a remark\n", "holds no value"),
        (b"2.5\n3 x4\n", r"line 2: 'x4' is not a number"),
        (b"2.5\nnan\n", r"line 2: 'nan' is not a number"),
        (b"1e4009\n", r"line 1: '1e4009' is not a number"),
        (b"z" * 10**6, r"line 1: 'zzzz"),
        (b"\xff\xfe2\x00", "is not a text file of decimal numbers"),
        (b"\x80\x04\x95", "is not a text file of decimal numbers"),
    ],
    ids=range(8),
)
def test_bad_files(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "values.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=why) as caught:
        read_empirical(path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < len(str(path)) + 200


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        read_empirical(tmp_path)


def test_huge_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "values.txt"
    path.write_text("2 3\n" * 30)
    monkeypatch.setattr(law_grammar, "_MAX_ATOMS", 50)
    with pytest.raises(InputError, match="holds more than 50 values"):
        read_empirical(path)
    monkeypatch.setattr(law_grammar, "_MAX_FILE_BYTES", 2_000_000)
    path.write_bytes(b"2\n" * 1_000_001)
    with pytest.raises(InputError, match="is larger than 2 MB"):
        read_empirical(path)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless device here")
def test_an_endless_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(law_grammar, "_MAX_FILE_BYTES", 2_000_000)
    with pytest.raises(InputError, match="is larger than 2 MB"):
        parse_law("empirical(/dev/zero)")
