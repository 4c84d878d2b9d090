"""The finite-context claims: what they need, at laws that are not their own."""

import math
from fractions import Fraction

import pytest

from theoryverify.claims import HOLDS, Claim, Context
from theoryverify.claims.discovery import paper_named
from theoryverify.claims.examine import run_check
from theoryverify.claims.parameters import placed
from theoryverify.claims.registry import claims_of
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Discrete
from theoryverify.papers.lca.claims.explosion import DIVERGES
from theoryverify.papers.lca.claims.setting import IN_UNITS, SIGNAL
from theoryverify.papers.lca.finite_scalar import gamma_moment

CLAIMS = claims_of([paper_named("lca")])


@pytest.mark.parametrize(
    "name",
    ["lca.loss", "lca.4.1.excess", "lca.H.diverges", "lca.H.gamma", "lca.H.T1", "lca.H.limits"],
)
def test_a_risk_in_units_of_the_labels_names_what_the_units_need(name: str) -> None:
    assert set(IN_UNITS) <= set(CLAIMS[name].hypotheses)


def test_signal() -> None:
    assert SIGNAL.failure(Discrete({1: "1/2", 3: "1/2"})) is None
    assert SIGNAL.failure(Discrete({1: 1})) is not None


def _placed(name: str, law: str) -> Claim:
    return placed(CLAIMS[name], {"law": law}).claim


@pytest.mark.parametrize(
    "law", ["uniform(1,30)", "uniform(2,50)", f"uniform(1,{10**15})", "uniform(7,9)"]
)
def test_the_window_of_appendix_h_at_other_laws(law: str) -> None:
    """Ends far apart; and ``(7,9)``, where the threshold is the integer 9000."""
    (check,) = _placed("lca.H.window", law).checks
    result = run_check(CLAIMS["lca.H.window"], check, Context(parameters={"law": law}))
    assert result.verdict is HOLDS, result.why
    assert result.sound


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 9, 10])
def test_the_bound_of_the_divergence_at_d_1(depth: int) -> None:
    """L = 2: s is exponential, so the event has probability ``e^{-g/αZ}``."""
    z, step, level = Fraction(5), Fraction(2, 5), 3
    scale = step * z
    terms = (
        math.comb(2 * depth, k) * (-scale) ** k * gamma_moment(k, 2) for k in range(2 * depth + 1)
    )
    risk = (z - 1) / z * sum(terms, Fraction(0))  # the noise only adds
    _, even, odd = DIVERGES.checks[0].formula
    weight = (odd if depth % 2 else even).subs(Z, 5)
    bound = float(weight) * math.exp(-level / float(scale)) * (level - 1) ** (2 * depth)
    assert float(risk) >= bound
