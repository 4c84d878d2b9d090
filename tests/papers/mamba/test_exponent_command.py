"""The verb ``exponent`` as scripts see it."""

import json
import time
from fractions import Fraction

import pytest

from theoryverify.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["exponent", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    code, out, error = run(capsys, *arguments, "--json")
    assert (code, error) == (0, "")
    return json.loads(out)


def test_bare_link(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "He3(z)/sqrt(6)")
    assert found["information_exponent"] == 3
    assert found["generative_exponent"] == 1
    assert found["information_status"] == found["generative_status"] == "decided"
    assert [c["k"] for c in found["coefficients"]] == [0, 1, 2, 3]
    assert found["coefficients"][3]["exact"] == "1"
    assert all(c["reason"] for c in found["coefficients"])


def test_gated_link(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "He3(z)/sqrt(6)", "--gate", "--rho", "4", "--b", "-2", "--terms", "8")
    assert found["information_exponent"] == 1
    assert found["link"]["information_exponent"] == 3
    assert found["link"]["generative_exponent"] == 1
    assert len(found["coefficients"]) == 8
    first = found["coefficients"][1]
    low, high = Fraction(first["lower"]), Fraction(first["upper"])
    assert low < high < low + Fraction(1, 10**28)
    assert abs(low - Fraction("0.031750997244147")) < Fraction(1, 10**15)


def test_text_shows_exponents_and_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        capsys, "He3(z)/sqrt(6)", "--gate", "--rho", "4", "--b", "-2", "--terms", "8"
    )
    assert code == 0
    assert "information exponent  3\n" in out
    assert "generative exponent   1" in out
    assert "information exponent  1 of the gated link" in out
    assert "c_1   0.031750997244147" in out
    code, out, _ = run(capsys, "z**2*exp(-z**2)")
    assert "information exponent  4" in out
    assert "branches of the inverse cancel" in out


@pytest.mark.parametrize("link", ["-z**3", "-1/2*z + z**2", "-abs(z)"])
def test_links_that_begin_with_a_minus(capsys: pytest.CaptureFixture[str], link: str) -> None:
    assert document(capsys, link)["information_status"] == "decided"


def test_zero_bias_and_negative_values(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "z**3-3*z", "--gate", "--rho", "1", "--b", "0")
    assert found["information_exponent"] == 2
    assert "odd part" in found["coefficients"][1]["reason"]
    noisy = document(capsys, "z", "--gate", "--rho", "1/2", "--b", "-1e-3", "--noise", "0.1")
    assert noisy["gate"]["noise"] == "1/10"


def test_undecided_is_exit_three(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "log(1+exp(z)) - log(1+exp(-z)) - z", "--json")
    assert code == 3
    found = json.loads(out)
    assert found["information_exponent"] is None
    assert found["information_status"] == "undecided"
    code, _, error = run(capsys, "sin(z)/z")
    assert code == 3
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("5",),
        ("sin(z)**2+cos(z)**2",),
        ("exp(z**2/4)",),
        ("1/z",),
        ("log(z)",),
        ("sqrt(z)",),
        ("foo(z)",),
        ("z**100000",),
        ("__import__('os').system('true')",),
        ("",),
        ("(" * 10_000 + "z" + ")" * 10_000,),
        ("z", "--gate"),
        ("z", "--rho", "1"),
        ("z", "--gate", "--rho", "0", "--b", "1"),
        ("z", "--gate", "--rho", "x", "--b", "1"),
        ("z", "--terms", "0"),
        ("z", "--terms", "1e3"),
        ("z", "--digits", "-1"),
        ("z", "--gate", "--rho", "1", "--b", "nan"),
        ("z", "y"),
    ],
)
def test_bad_input_is_one_line_and_exit_two(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    start = time.process_time()
    code, out, error = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert error.count("\n") == 1
    assert len(error) < 400
    assert time.process_time() - start < 3
