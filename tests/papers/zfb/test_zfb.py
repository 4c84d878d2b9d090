"""The third paper: its numbers by independent routes, its verb, and what it may import."""

from __future__ import annotations

import ast
import json
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy

from theoryverify.claims import Context
from theoryverify.claims.discovery import paper_named
from theoryverify.claims.examine import run_check
from theoryverify.claims.ladder import INCONCLUSIVE
from theoryverify.claims.registry import claims_of
from theoryverify.cli import main
from theoryverify.errors import InputError
from theoryverify.papers.zfb import literal
from theoryverify.papers.zfb.flow import CASES, Case, flow_end
from theoryverify.papers.zfb.risk import literal_errors, trained_risk, variance_bound

CLAIMS = claims_of([paper_named("zfb")])


@pytest.mark.parametrize(
    ("claim", "check"),
    [(claim.id, check.name) for claim in CLAIMS.values() for check in claim.checks],
)
def test_every_check_is_sound(claim: str, check: str) -> None:
    found = next(c for c in CLAIMS[claim].checks if c.name == check)
    result = run_check(CLAIMS[claim], found, Context())
    assert result.verdict is CLAIMS[claim].expected, result.why
    assert result.sound, [(control.name, control.verdict) for control in result.controls]


@pytest.mark.parametrize(
    ("claim", "check", "missing", "said"),
    [
        ("zfb.4.1", "the flow, integrated", "scipy.integrate", "SciPy is not there: pip install"),
        ("zfb.4.1.scale", "the flow, integrated", "scipy.integrate", "SciPy is not there"),
        ("zfb.4.3", "literal network", "torch", "Torch is not there: pip install"),
    ],
)
def test_without_an_extra_a_check_is_inconclusive_and_says_so(
    monkeypatch: pytest.MonkeyPatch, claim: str, check: str, missing: str, said: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    found = next(c for c in CLAIMS[claim].checks if c.name == check)
    result = run_check(CLAIMS[claim], found, Context())
    assert result.verdict is INCONCLUSIVE
    assert said in result.why


@pytest.mark.parametrize(("spectrum", "n"), [((1, 3), 1), ((2, "1/2"), 2), ((5,), 3)])
def test_the_risk_is_twice_the_literal_loss(spectrum: tuple[str | int, ...], n: int) -> None:
    """Multiply the network out at V = Γ⁻¹ and take exact moments: no formula of the paper."""
    values = [Fraction(value) for value in spectrum]
    d, trace = len(values), sum(values, Fraction(0))
    gamma = [(1 + Fraction(1, n)) * value + trace / n for value in values]
    W_PV, W_KQ = sympy.zeros(d + 1, d + 1), sympy.zeros(d + 1, d + 1)
    W_PV[d, d] = 1
    for i, g in enumerate(gamma):
        W_KQ[i, i] = sympy.Rational(1 / g)
    exact = 2 * literal.loss(values, n, W_PV, W_KQ)
    assert sympy.Rational(trained_risk(spectrum, n, n).total) == exact


def test_risk_behaves() -> None:
    shorter, longer = trained_risk((1, 2), 10, 5), trained_risk((1, 2), 10, 500)
    assert shorter.bias == longer.bias
    assert shorter.variance == 100 * longer.variance
    # Λ = I, d = 1: Γ = 1 + 2/N; variance 2/(MΓ²), bias 4/(N²Γ²).
    risk = trained_risk((1,), 4, 3)
    assert risk.variance == Fraction(2, 3) / Fraction(3, 2) ** 2
    assert risk.bias == Fraction(4, 16) / Fraction(3, 2) ** 2


def test_the_variance_bound_bounds_and_is_not_idle() -> None:
    values, n, m = np.array([1.0, 2.0]), 5, 8
    gamma = (1 + 1 / n) * values + values.sum() / n
    draws = literal_errors(values, np.diag(1 / gamma), m)(40_000, np.random.default_rng(0))
    bound = variance_bound(values, gamma, m)
    assert draws.var() < bound < 20 * draws.var()


def test_the_flow_conserves_and_ends_for_any_scale() -> None:
    for sigma in (0.1, 1.0, 20.0):
        case = Case((1.0, 2.0), 5, sigma, 7)
        u, V, _ = flow_end(case)
        assert u**2 == pytest.approx(np.linalg.norm(V) ** 2, rel=1e-6)
        assert np.allclose(u * V, np.linalg.inv(case.gamma), atol=1e-8)
    assert CASES[0].condition < 2 < CASES[3].condition


def test_verb(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--spectrum", "1,2,1/2", "--train-length", "20", "--test-length", "40"]
    assert main(["lsa-risk", *options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert Fraction(found["risk"]["exact"]) == trained_risk((1, 2, "1/2"), 20, 40).total
    assert main(["lsa-risk", *options]) == 0
    assert "order 1/N²" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("spectrum", "n", "m", "words"),
    [
        ("1,-2", "5", "5", "eigenvalue -2 of Λ must be positive"),
        ("1,x", "5", "5", "eigenvalue of Λ = 'x' is not a number"),
        ("1", "0", "5", "train length N"),
        ("1", "5", "1.5", "test length M"),
    ],
)
def test_bad_input(
    capsys: pytest.CaptureFixture[str], spectrum: str, n: str, m: str, words: str
) -> None:
    arguments = ["lsa-risk", "--spectrum", spectrum, "--train-length", n, "--test-length", m]
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1


def test_an_empty_spectrum() -> None:
    with pytest.raises(InputError, match="spectrum of Λ is empty"):
        trained_risk((), 1, 1)


def test_it_touches_nothing_outside_its_folder() -> None:
    """A third paper imports the rooms below it, no other paper; nothing else names it."""
    root = Path(__file__).parents[3] / "theoryverify"
    for file in (root / "papers" / "zfb").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                parts = node.module.split(".")
                assert parts[:2] != ["theoryverify", "papers"] or parts[2] == "zfb", file
    others = [f for f in root.rglob("*.py") if "zfb" not in f.parts and "zfb" in f.read_text()]
    assert others == []


@pytest.mark.parametrize("sigma", [0.03, 0.7, 2.0, 30.0])
def test_the_barrier_is_not_crossed(sigma: float) -> None:
    """The region of zfb.4.1.scale along integrated orbits, and the bound of zfb.4.1.start."""
    from scipy.integrate import solve_ivp

    rng = np.random.default_rng(3)
    for d, rank, n in ((1, 1, 2), (2, 1, 1), (3, 2, 4)):
        values = np.exp(rng.normal(size=d))
        theta = rng.normal(size=(d, rank))
        square = theta @ theta.T / np.linalg.norm(theta @ theta.T)
        gamma = (1 + 1 / n) * values + values.sum() / n
        weight = np.outer(gamma * values, values)
        k, K, c = weight.max(), (gamma * values**2).max(), (values**4).sum()
        excess = 0.5 * (weight * (sigma**2 * square - np.diag(1 / gamma)) ** 2).sum()
        U = np.sqrt(np.linalg.norm(1 / gamma) + np.sqrt(2 * excess / weight.min()))
        s_0 = min(0.999 * c / (K * U), sigma * (values**2 * np.diag(square)).sum())
        u_0 = min((0.999 * s_0 / k) ** (1 / 3), sigma)

        def field(
            _: float,
            at: np.ndarray,
            weight: np.ndarray = weight,
            values: np.ndarray = values,
            d: int = d,
        ) -> np.ndarray:
            u, V = at[0], at[1:].reshape(d, d)
            slope = (values**2 * np.diag(V)).sum() - u * (weight * V * V).sum()
            rest = u * np.diag(values**2) - u**2 * weight * V
            return np.concatenate([[slope], rest.ravel()]) / (1 + u * u)

        start = np.concatenate([[sigma], sigma * square.ravel()])
        orbit = solve_ivp(field, (0, 60 / weight.min()), start, "LSODA", rtol=1e-9, atol=1e-12).y
        u, V = orbit[0], orbit[1:].reshape(d, d, -1)
        assert np.einsum("iit->it", V).min() >= -1e-9
        assert (np.einsum("i,iit->t", values**2, V) >= s_0 * (1 - 1e-7)).all()
        assert (u >= u_0 * (1 - 1e-7)).all()
        assert (u <= U * (1 + 1e-7)).all()
        below = sigma**2 * (values**2 * np.diag(square)).sum()
        below -= sigma**4 * (weight * square**2).sum() / 2
        if sigma**2 * gamma.max() < 2:
            assert below > 0
        if below > 0:
            assert (u**2 >= below / np.linalg.norm(values**2) * (1 - 1e-7)).all()
