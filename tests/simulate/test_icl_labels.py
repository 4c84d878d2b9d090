"""The labels at which a transformation is measured: how much of it they tell."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from theoryverify.exact.gate import Gate
from theoryverify.papers.mamba.score import score
from theoryverify.simulate import icl_labels as labels
from theoryverify.simulate.icl_gates import gate
from theoryverify.simulate.in_context import Task

TASK = Task(d=3, r=2)
TURN = (2 / 3) ** 0.5


def test_coefficients_are_the_exact_ones() -> None:
    gate = Gate(4, -2)
    raw = labels.hermite_raw(TASK, lambda y: y / (1 + np.exp(2 - y / 4)), 3)
    for k in range(4):
        exact = float(gate.coefficient(TASK.g, k).enclosure)
        assert raw[k] == pytest.approx(exact, rel=1e-10, abs=1e-14)
    assert np.allclose(labels.hermite_profile(TASK, lambda y: y), [0, 0, 0, 1, 0], atol=1e-12)


def test_labels_of_the_cubic() -> None:
    """Dense on both sides of the turning values, as far as g reaches for |z| up to 4.5."""
    values = labels.label_values(TASK)
    assert len(values) == 39
    assert np.allclose(values, -values[::-1], atol=1e-6)
    assert values[-1] == pytest.approx((4.5**3 - 3 * 4.5) / 6**0.5)
    near = np.abs(np.abs(values) - TURN)
    assert (near < 0.0021).sum() == 4
    assert near.min() > 0.0019
    assert 0 in np.round(values, 9)


@pytest.mark.parametrize(
    ("g", "low", "high"),
    [
        ("z", -4.5, 4.5),
        ("He2(z)/sqrt(2)", -(0.5**0.5), (4.5**2 - 1) / 2**0.5),
        ("He4(z)/sqrt(24)", -6 / 24**0.5, (4.5**4 - 6 * 4.5**2 + 3) / 24**0.5),
        ("relu(z)", 0.0, 4.5),
    ],
)
def test_labels_lie_in_the_range_of_the_link(g: str, low: float, high: float) -> None:
    task = Task(g=g, d=2, r=1)
    values = labels.label_values(task)
    assert (np.diff(values) > 0).all()
    assert low <= values[0] < low + 0.01 or g == "z"
    assert values[-1] == pytest.approx(high, abs=0.01)
    masses = labels.label_masses(task, values)
    assert masses.sum() == pytest.approx(1)
    assert masses.max() < 0.2 or g == "relu(z)"  # which is 0 with probability 1/2


def test_masses_are_those_of_draws() -> None:
    values = np.array([-1.0, 0.0, 2.0])
    z = np.random.default_rng(0).standard_normal(400_000)
    y = (z**3 - 3 * z) / 6**0.5
    shares = [np.mean(y < -0.5), np.mean((y > -0.5) & (y < 1)), np.mean(y > 1)]
    assert labels.label_masses(TASK, values) == pytest.approx(shares, abs=0.006)


@pytest.mark.parametrize(
    ("T", "within"),
    [
        (lambda y: y, 1e-9),
        (lambda y: y * gate(y, 1, -2), 0.001),
        (lambda y: y * gate(y, 4, -3), 0.007),
        (np.tanh, 0.001),
        (lambda y: np.tanh(5 * y), 0.005),
        # falls within the turning values and jumps at 0.9, steeply: its c_3 is -0.067
        (
            lambda y: -np.tanh(2 * y) + 1.5 * np.sign(y) * (1 + np.tanh(10 * (np.abs(y) - 0.9))),
            0.012,
        ),
        (score(TASK), 0.06),  # jumps at the turning values, between two labels
    ],
)
def test_coefficients_from_the_labels_are_those_of_the_map(
    T: Callable[[np.ndarray], np.ndarray], within: float
) -> None:
    values = labels.label_values(TASK)
    exact = labels.hermite_raw(TASK, T, 3)
    found = labels.hermite_raw(TASK, labels.continued(values, T(values)), 3)
    assert np.abs(found - exact).max() < within


def test_a_map_is_continued_in_a_line() -> None:
    values = np.array([-1.0, 0.0, 1.0])
    T = labels.continued(values, np.array([2.0, 0.0, 1.0]))
    assert T(np.array([-3.0, -0.5, 0.5, 4.0])) == pytest.approx([6, 1, 0.5, 4])
