"""The searches of the cross-attention paper find what is known to fail, and nothing against F.3.

Every find is confirmed here by arithmetic that the search does not use.
"""

import re
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sympy import Integer

from tests.claims.found import certified
from theoryverify.claims.claim import Claim, Context
from theoryverify.claims.examine import examine
from theoryverify.claims.search import falsify
from theoryverify.cli import main
from theoryverify.exact.densities import Uniform
from theoryverify.exact.laws import Discrete, TwoPoint
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.placed import LARGE_DEPTH, Point, depth_bound
from theoryverify.papers.lca.searches.limit import LIMIT, alpha_star_float, limit_margin
from theoryverify.papers.lca.searches.one_layer import (
    ATOM,
    DIRECTIONS,
    Directions,
    Layer,
    Part,
    bayes_margin,
    best_excess,
    excess,
)
from theoryverify.papers.lca.searches.window import ODD, WINDOW, turns_margin, window_margin


@pytest.mark.parametrize("seed", [0, 1])
def test_the_windows_failure_at_small_depth(seed: int) -> None:
    """No stationary point in the window: F_T' has one sign on a fine grid, in exact rationals."""
    found = certified(falsify(WINDOW, without=["large depth"], seed=seed))
    law, depth = found.case.law, found.case.depth
    assert len(law.atoms) >= 3  # with two atoms the window never fails
    assert depth < depth_bound(law, -1 / law.upper)
    share = {z: w * (z - 1) / z for z, w in law.atoms.items()}

    def loss(t: Fraction) -> Fraction:
        """``F_T/E[W]``-free of roots: 1 - E[w]²/(E[W]E[w²]) under W dP."""
        w = {z: 1 - (1 - t * z) ** depth for z in share}
        first = sum(share[z] * w[z] for z in share)
        second = sum(share[z] * w[z] ** 2 for z in share)
        return -(first**2) / second

    grid = [Fraction(k, 200) * 2 / law.upper for k in range(1, 201)]
    values = [loss(t) for t in grid]
    assert all(left > right for left, right in pairwise(values))


def test_what_a_judge_says_can_be_read_without_its_source() -> None:
    """What was claimed stands beside what was found, and one is one."""
    point = Point(Discrete({2: "15/17", 19: "3/34", 27: "1/34"}), 2)
    window = WINDOW.statement_claim("toy.window", point, without=["large depth"])
    limit = LIMIT.statement_claim(
        "toy.limit", Discrete({1: "1/2", 3: "1/2"}), without=["Assumption 6.1"]
    )
    uniform = LIMIT.statement_claim("toy.uniform", Uniform(2, 5))
    odd = ODD.statement_claim("toy.odd", Point(Discrete({2: "1/2", 5: "1/4", 9: "1/4"}), 3))

    def said(claim: Claim, formula: object) -> str:
        return examine(claim, claim.checks[0], formula, Context()).reason

    assert said(window, 1).endswith(
        "stationary points in (-2/Z̄, 0): claimed 1, found 0, by a cover of 1 cell"
    )
    assert said(limit, LIMIT.formula).endswith("for every T: claimed 0.5, found 1/3")
    assert re.search(r"every T >= \d+: claimed 2, found 0.28\d*", said(uniform, Integer(2)))
    assert said(odd, 3).endswith("zeros of I on (0, ∞): claimed 3, found 2")


def test_the_window_under_its_hypotheses() -> None:
    outcome = falsify(WINDOW, budget=150)
    assert outcome.found is None
    assert outcome.nearest_margin > 0
    assert LARGE_DEPTH.failure(outcome.nearest) is None


def test_the_known_law_is_a_violation_before_depth_22_only() -> None:
    law = Discrete({2: "0.5", 3: "0.499999", 20: "0.000001"})
    for depth in range(2, 30):
        assert (window_margin(Point(law, depth)) < 0) == (depth < 22)


def test_an_atom_against_theorem_4_1() -> None:
    found = certified(falsify(ATOM, without=["atomless"]))
    case = found.case
    assert found.breaks
    # Literally: d = 3, random directions, LSA's slope against ζm/(1+|m|²), on the atom.
    rng = np.random.default_rng(0)
    gain, q, p, b = (float(x) for x in (case.gain, case.q, case.p, case.b))
    A, e1 = gain * np.eye(2), np.array([1.0, 0.0])
    hits = 0.0
    for z, weight in case.law.atoms.items():
        gaps = []
        for _ in range(20):
            m = rng.standard_normal(2)
            m *= np.sqrt(float(z) - 1) / np.linalg.norm(m)
            zeta = rng.standard_normal()
            slope = A.T @ (np.eye(2) + np.outer(m, m)) @ (p * e1)
            slope += zeta * (q * A.T + b * p * np.outer(e1, e1)) @ m + zeta**2 * q * b * e1
            gaps.append(np.linalg.norm(slope - zeta * m / float(z)))
        hits += float(weight) * (max(gaps) < 1e-12)
    assert hits > 0


def test_without_atoms_no_layer_is_near_bayes() -> None:
    outcome = falsify(ATOM, budget=300)
    assert outcome.found is None
    assert isinstance(outcome.nearest.law, Uniform)
    layer = Layer(TwoPoint(2, 5), Fraction(1, 2), Fraction(1), Fraction(0), Fraction(0))
    assert bayes_margin(layer) < 0 < bayes_margin(Layer(Uniform(2, 5), *[Fraction(1)] * 4))


@pytest.mark.parametrize("seed", [0, 1])
def test_directions_against_the_one_layer_formula(seed: int) -> None:
    found = certified(falsify(DIRECTIONS, without=["isotropy"], seed=seed))
    assert any(not part.ring for part in found.case.parts)
    readme = (Path(__file__).parents[3] / "README.md").read_text("utf-8")
    assert (found.shown in readme and found.why in readme) == (seed == 0)
    # The minimum over C by brute force, from random samples of m.
    law = found.case.law
    values = [(float(z), float(w)) for z, w in law.atoms.items()]
    first = sum(w * (z - 1) for z, w in values)
    stated = sum(w * (z - 1) / z for z, w in values) - first**2 / sum(
        w * z * (z - 1) for z, w in values
    )
    total = sum(part.weight for part in found.case.parts)
    samples = []
    for part in found.case.parts:
        angles = (
            np.arange(60) * 2 * np.pi / 60
            if part.ring
            else [np.arctan2(float(part.y), float(part.x))]
        )
        for angle in angles:
            m = np.sqrt(float(part.square)) * np.array([np.cos(angle), np.sin(angle)])
            samples.append((part.weight / total / len(angles), m))

    def risk(entries: np.ndarray) -> float:
        C = entries.reshape(2, 2)
        value = 0.0
        for weight, m in samples:
            gap = C @ m - m / (1 + m @ m)
            value += weight * (gap @ gap + (m @ gap) ** 2)
        return value

    exact = float(best_excess(found.case))
    start = np.zeros(4)
    for _ in range(400):  # coordinate descent on a convex quadratic
        for i in range(4):
            step = np.eye(4)[i]
            low, mid, high = risk(start - step), risk(start), risk(start + step)
            if low - 2 * mid + high > 1e-12:
                start = start + step * (low - high) / (2 * (low - 2 * mid + high))
    assert risk(start) == pytest.approx(exact, abs=1e-6)
    assert abs(stated - exact) > 1e-4


def test_the_command_writes_where_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["falsify", "lca.4.1.excess", "--without", "isotropy"]) == 1
    shown = capsys.readouterr().out
    for words in ("counterexample: ", "refuted (certified)", "breaks      isotropy", "but holds"):
        assert words in shown
    written = tmp_path / "out" / "falsify" / "found_lca_4_1_excess.py"
    assert "DIRECTIONS.statement_claim(" in written.read_text("utf-8")
    assert main(["falsify", "lca.4.1.excess", "--budget", "20"]) == 0
    assert "nothing found: 20 cases looked at" in capsys.readouterr().out


def test_isotropic_directions_obey_the_formula_exactly() -> None:
    outcome = falsify(DIRECTIONS, budget=60)
    assert outcome.found is None
    assert outcome.nearest_verdict == "holds"
    ring = Directions(
        (Part(1, Fraction(1), Fraction(0), True), Part(3, Fraction(0), Fraction(2), True))
    )
    # The known minimiser is C = s I with s = E[Z-1]/E[Z(Z-1)].
    z = ring.law.atoms
    gain = sum(w * (v - 1) for v, w in z.items()) / sum(w * v * (v - 1) for v, w in z.items())
    assert excess(ring, [gain, 0, 0, gain]) == best_excess(ring)


def test_an_atom_at_one_against_the_limit() -> None:
    found = certified(falsify(LIMIT, without=["Assumption 6.1"]))
    law = found.case
    assert law.atom(Fraction(1)) > 0
    rest = [z for z in law.atoms if z > 1]
    assert len(rest) == 1  # minimised to the law of the claim lca.F.3.needs-no-atom-at-1
    assert found.breaks


def test_nothing_against_the_limit_in_the_stated_budget() -> None:
    outcome = falsify(LIMIT)
    assert outcome.found is None
    assert outcome.trials == LIMIT.budget
    assert (outcome.unconfirmed, outcome.void) == (0, 0)
    assert outcome.nearest_verdict == "holds"
    assert "2 to 4 atoms" in str(LIMIT.space)


@pytest.mark.parametrize(
    "law",
    [Uniform(2, 5), Uniform(1, 20), TwoPoint("3/2", 4, "9/10"), Discrete({2: "1/2", 9: "1/2"})],
)
def test_the_float_minimiser_is_alpha_star(law: Uniform) -> None:
    for depth in (1, 50, 10**6):
        exact = float(alpha_star(law, depth, 15).enclosure)
        assert alpha_star_float(law, depth) == pytest.approx(exact, rel=1e-9)
    assert limit_margin(law) > 0.4


def test_odd_depths_beyond_the_window_are_open_and_nothing_is_found() -> None:
    outcome = falsify(ODD, budget=200)
    assert outcome.found is None
    assert outcome.unconfirmed == 0
    assert outcome.nearest_verdict == "holds"


def test_the_turns_margin_sees_a_third_sign_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a made-up function with four zeros it is negative, and small where two are about to open."""
    from theoryverify.papers.lca.searches import window

    case = Point(Discrete({2: "1/3", 3: "1/3", 5: "1/3"}), 3)
    assert turns_margin(case) > 1
    for dip, expected in ((0.02, 0.02), (-0.1, -1.0)):

        def bumpy(case: Point, t: np.ndarray, dip: float = dip) -> np.ndarray:
            x = np.linspace(0, 1, len(t))
            return np.interp(x, [0, 0.2, 0.4, 0.6, 0.7, 0.8, 1], [1, -1, -1, 0.5, dip, 0.6, 1])

        monkeypatch.setattr(window, "scaled_pairs", bumpy)
        assert turns_margin(case) == pytest.approx(expected, abs=5e-3)
