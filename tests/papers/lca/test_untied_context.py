"""The exact loss of untied stacks at a finite context, by routes that share nothing with it."""

from __future__ import annotations

import numpy as np
import pytest

from theoryverify.errors import InputError
from theoryverify.exact.densities import Uniform
from theoryverify.exact.laws import Discrete, TwoPoint
from theoryverify.papers.lca.loss import excess_loss
from theoryverify.papers.lca.untied import untied_optimum
from theoryverify.papers.lca.untied_context import context_form, descend, flow, layer_states
from theoryverify.papers.lca.wishart import mean_excess

LAW = Uniform(2, 5)
RNG = np.random.default_rng(7)


def weights(depth: int, spread: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    return RNG.normal(0.28, spread, depth), RNG.normal(-0.28, spread, depth)


@pytest.mark.parametrize(("depth", "context"), [(1, 20), (3, 40), (8, 1024)])
def test_tied_weights_have_the_mean_excess(depth: int, context: int) -> None:
    form = context_form(LAW, 4, context, depth)
    exact = mean_excess(LAW, dim=4, context=context, depth=depth, alpha="0.25", beta="-0.3")
    found = form.excess(np.full(depth, 0.25), np.full(depth, -0.3))
    assert found == pytest.approx(float(exact), rel=1e-11)


@pytest.mark.parametrize("depth", [1, 2, 5, 8])
def test_infinite_context_by_quadrature(depth: int) -> None:
    """``E[W(1-g_T)²]`` with the gains layer by layer, by Gauss and Legendre; and the tied loss."""
    alpha, beta = weights(depth)
    x, w = np.polynomial.legendre.leggauss(60)
    z = 3.5 + 1.5 * x
    gain = np.zeros_like(z)
    for a, b in zip(alpha, beta, strict=True):
        gain = (1 + b * z) * gain + a * z
    wanted = float((w / 2 * (z - 1) / z * (1 - gain) ** 2).sum())
    form = context_form(LAW, 3, None, depth)
    assert form.excess(alpha, beta) == pytest.approx(wanted, rel=1e-9)
    tied = excess_loss(LAW, "0.2", "-0.25", depth=depth, digits=15).excess
    at = form.excess(np.full(depth, 0.2), np.full(depth, -0.25))
    assert at == pytest.approx(float(tied), rel=1e-9)


def test_infinite_context_has_the_christoffel_optimum() -> None:
    for law in (LAW, Uniform("1.5", 3), Discrete({2: "1/4", 3: "1/4", 5: "1/4", 7: "1/4"})):
        form, best = context_form(law, 2, None, 3), untied_optimum(law, 3)
        assert form.best_excess.overlaps(best.excess)
        assert form.mean_trace.overlaps(best.mean_step)
        off = np.prod([1 - float(step) for step in best.steps])
        assert float(form.off_task) == pytest.approx(off, rel=1e-12)


def test_optimum_at_depth_one_by_hand() -> None:
    """d excess = E[W(1-αZ)²] + (α²/L)(d-1+E[2Z²-Z]): E Z = 7/2, E Z² = 13 for U[2,5]."""
    d, L = 5, 40
    form = context_form(LAW, d, L, 1)
    noise = (d - 1 + 2 * 13 - 3.5) / L
    best = 2.5 / (13 - 3.5 + noise)  # E[WZ] over E[WZ²] + noise
    assert float(form.mean_trace) == pytest.approx(best, rel=1e-13)
    for alpha in (0.1, 2 / 7):
        signal = 1 - np.log(2.5) / 3 - 2 * alpha * 2.5 + alpha**2 * 9.5
        found = form.excess(np.array([alpha]), np.array([-7.0]))
        assert found == pytest.approx(signal + alpha**2 * noise, rel=1e-12)


def test_gradients_by_differences() -> None:
    form = context_form(LAW, 4, 100, 4)
    alpha, beta = weights(4)
    _, d_alpha, d_beta = form.gap(alpha, beta)
    for t in range(4):
        step = 1e-6 * np.eye(4)[t]
        for gradient, up, down in (
            (d_alpha[t], (alpha + step, beta), (alpha - step, beta)),
            (d_beta[t], (alpha, beta + step), (alpha, beta - step)),
        ):
            slope = (form.gap(*up)[0] - form.gap(*down)[0]) / 2e-6
            assert gradient == pytest.approx(slope, abs=1e-8)
    assert d_beta[0] == 0  # F_0 = 0


def test_whitening() -> None:
    """At T = 1 from E tr Σ̂² = (1+1/L) tr Σ² + (tr Σ)²/L; at L = ∞ from the eigenvalues of Σ."""
    d, L, alpha = 4, 30, 0.3
    z, z2 = 3.5, 13.0
    second = (1 + 1 / L) * (d - 1 + z2) + ((d - 1) ** 2 + 2 * (d - 1) * z + z2) / L
    wanted = 1 - 2 * alpha * (d - 1 + z) / d + alpha**2 * second / d
    found = context_form(LAW, d, L, 1).whitening(np.array([alpha]), np.array([0.0]))
    assert found[0] ** 2 == pytest.approx(wanted, rel=1e-12)
    x, w = np.polynomial.legendre.leggauss(40)
    for t, white in enumerate(
        context_form(LAW, d, None, 5).whitening(np.full(5, alpha), np.full(5, -alpha)), 1
    ):
        on_task = float((w / 2 * (1 - alpha * (3.5 + 1.5 * x)) ** (2 * t)).sum())
        wanted = ((d - 1) * (1 - alpha) ** (2 * t) + on_task) / d
        assert white**2 == pytest.approx(wanted, rel=1e-9)


def test_layer_states() -> None:
    alpha, beta = np.array([[0.5, 2.0], [1.0, 1.0]]), np.array([[9.0, -3.0], [9.0, 0.0]])
    states = layer_states(alpha, beta)
    assert states[0].tolist() == [[0, 0], [0.5, 0], [2.5, -1.5]]
    assert states[1].tolist() == [[0, 0], [1, 0], [2, 0]]


def test_the_flow_is_the_limit_of_descent_and_ends_at_the_optimum() -> None:
    pytest.importorskip("scipy")
    form = context_form(LAW, 5, 200, 3)
    alpha, beta = np.full(3, 0.15), np.full(3, -0.15)
    times = np.array([0.0, 1.0, 10.0, 1e7])
    a, b = flow(form, alpha, beta, times)
    assert a[0] == pytest.approx(alpha)
    errors = []
    for steps in (400, 800):
        near = descend(form, alpha, beta, rate=10 / steps, steps=steps)
        errors.append(np.abs(near[0] - a[2]).max())
    assert errors[1] < 0.6 * errors[0] < 1e-3  # of first order in the rate
    excess = form.excess(a, b)
    assert np.all(np.diff(excess) < 0)
    assert excess[-1] == pytest.approx(float(form.best_excess), rel=1e-9)
    assert a[-1].mean() == pytest.approx(float(form.mean_trace), abs=1e-6)


def test_at_a_finite_context_the_best_deep_stack_does_not_whiten() -> None:
    infinite = context_form(LAW, 10, None, 8)
    assert float(infinite.off_task) == pytest.approx(0.0467152918, abs=1e-9)
    form = context_form(LAW, 10, 1024, 8)
    assert form.off_task.greater_than("0.6")
    assert form.mean_trace.less_than(0)
    assert infinite.best_excess.less_than(form.best_excess)


def test_bad_input() -> None:
    with pytest.raises(InputError, match="depth"):
        context_form(LAW, 3, 100, 9)
    with pytest.raises(InputError, match="context"):
        context_form(LAW, 3, 0, 2)
    with pytest.raises(InputError, match="2 atoms"):
        context_form(TwoPoint(2, 5, "1/2"), 3, None, 2)
    assert context_form(TwoPoint(2, 5, "1/2"), 3, 50, 2).best_excess.greater_than(0)
