"""``lca.fig4``: both landscapes, their flow lines, labels and axes."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import log10
from typing import Any

import numpy as np
import pytest

from tests.figure_checks import assert_captioned, assert_tidy, axes_of, canvas_of, enclosed
from theoryverify.exact.balls import precision
from theoryverify.figures import Plan, Table
from theoryverify.papers.lca.experiments import fig4 as experiments
from theoryverify.papers.lca.experiments.cells_fig4 import GROUPS, angles, rays
from theoryverify.papers.lca.figures.fig4 import FIG4
from theoryverify.papers.lca.landscape_flow import STARTS, ExactLoss, half_plane_line, line
from theoryverify.papers.lca.landscape_norm import Rays, bootstrapped, mean_rays, standard_error
from theoryverify.papers.lca.laws import UNIFORM
from theoryverify.papers.lca.loss import excess_loss

pytest.importorskip("matplotlib")
torch = pytest.importorskip("torch")


@lru_cache
def landscape_tables() -> Mapping[str, Table]:
    return experiments.landscape_tables(experiments.LANDSCAPE_DEPTHS, 31)


SMALL = experiments.Sizes(31, 21, 41, GROUPS, 32, 10)


@lru_cache
def tables() -> Mapping[str, Table]:
    rows = [row for T in (3, 10) for row in experiments.flow_rows(T, line, ExactLoss(UNIFORM, T))]
    return {
        **landscape_tables(),
        "flow": Table.of(("T", "line", "step", "alpha", "beta"), rows),
        **experiments.normed_tables(Plan(), SMALL),
    }


def test_landscape_is_the_loss() -> None:
    table = landscape_tables()["loss"]
    assert len(table.rows) == 2 * 31 * 31
    for depth in (3, 10):
        rows = table.where(T=depth)
        columns = ("alpha", "beta", "log10_loss_lower", "log10_loss_upper")
        numbers = np.stack([rows.numbers(name) for name in columns], axis=1)
        for at_alpha, at_beta, low, high in numbers[:: len(numbers) // 12]:
            alpha, beta = (Fraction(round(x * 300), 300) for x in (at_alpha, at_beta))
            exact = excess_loss(UNIFORM, alpha, beta, depth=depth, digits=15).excess
            assert low - 1e-9 <= log10(float(exact)) <= high + 1e-9
    best = landscape_tables()["minimiser"]
    assert enclosed(best.where(T=3), "loss", "4.86949255924464351e-4")
    assert enclosed(best.where(T=10), "beta", "-0.28212926058379541929157")


def test_landscape_has_no_hole_at_beta_zero() -> None:
    with precision(128):
        A, B, mean = experiments.quadratic(UNIFORM, Fraction(0), 4)
        loss = A / 100 - 2 * B / 10 + mean
    near = excess_loss(UNIFORM, "0.1", 0, depth=4, digits=15).excess
    assert abs(float(loss.mid()) - float(near)) < 1e-12


# -- the loss of the flow lines -----------------------------------------------------------------


def differences(jet: Any, x: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and Hessian by central differences of value and gradient."""
    step = 1e-5
    gradient, hessian = [], []
    for k in range(2):
        up, down = ([v + s * step * (i == k) for i, v in enumerate(x)] for s in (1, -1))
        gradient.append((jet(up).loss() - jet(down).loss()) / (2 * step))
        rise = np.subtract(jet(up).gradient, jet(down).gradient)
        hessian.append(rise / (2 * step))
    return np.array(gradient), np.array(hessian)


@pytest.mark.parametrize("depth", [1, 2, 7])
def test_exact_loss_and_its_derivatives(depth: int) -> None:
    loss = ExactLoss(UNIFORM, depth)
    for alpha, beta in (("0.28", "-0.35"), ("0.1", "0.05"), ("0.3", "0")):
        jet = loss([float(alpha), float(beta)])
        exact = excess_loss(UNIFORM, alpha, beta, depth=depth, digits=12)
        assert jet.loss() == pytest.approx(float(exact.excess), rel=1e-9)
        assert jet.gradient == pytest.approx(
            [float(g) for g in exact.gradient], rel=1e-8, abs=1e-12
        )
        gradient, hessian = differences(loss, [float(alpha), float(beta)])
        np.testing.assert_allclose(jet.gradient, gradient, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(jet.hessian, hessian, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("depth", [3, 10])
def test_every_flow_line_ends_at_the_certified_minimiser(depth: int) -> None:
    (alpha,) = landscape_tables()["minimiser"].where(T=depth).numbers("alpha_lower")
    (beta,) = landscape_tables()["minimiser"].where(T=depth).numbers("beta_lower")
    loss = ExactLoss(UNIFORM, depth)
    table = tables()["flow"].where(T=depth)
    for number, start in enumerate(STARTS):
        path = table.where(line=number)
        points = list(zip(path.numbers("alpha"), path.numbers("beta"), strict=True))
        assert points[0] == start
        np.testing.assert_allclose(points[-1], (alpha, beta), atol=3e-5)
        values = [loss(point).loss() for point in points]
        assert all(after <= before * (1 + 1e-6) for before, after in pairwise(values))


# -- layer normalisation ------------------------------------------------------------------------


def test_rays_are_the_literal_loss() -> None:
    """At two points off the rays' unit circle, on the same prompts, by the model itself."""
    from theoryverify.models.layer_norm import NormedLCA
    from theoryverify.simulate.prompts import sample_prompts

    theta = np.array([-0.9, -0.3, 0.2])
    found = mean_rays(
        theta, rays(UNIFORM, 3, 20, 3, theta, GROUPS, "cpu", np.random.default_rng(4))
    )
    rng = np.random.default_rng(4)
    prompts = sample_prompts(UNIFORM, 3, 20, GROUPS, zeta="one", rng=rng)
    for k, rho in ((0, 0.4), (1, 0.15)):
        alpha, beta = rho * np.cos(theta[k]), rho * np.sin(theta[k])
        model = NormedLCA.two_parameter(3, 3, float(alpha), float(beta))
        with torch.no_grad():
            slopes = model.slope(torch.from_numpy(prompts.X), torch.from_numpy(prompts.y))
        literal = prompts.excess(slopes.numpy()).mean()
        at = found.loss(np.array(alpha), np.array(beta))
        assert float(at) == pytest.approx(float(literal), rel=1e-4)


THETA = angles(81)
CONE = Rays(THETA, 1 + np.sin(THETA) ** 2, np.cos(THETA + 0.4), 1.0)


def test_minimum_valley_and_jet_of_a_known_landscape() -> None:
    alpha, beta, loss = CONE.minimum()
    gain = np.cos(np.arctan2(beta, alpha) + 0.4) ** 2 / (1 + np.sin(np.arctan2(beta, alpha)) ** 2)
    fine = np.linspace(-np.pi / 2, np.pi / 2, 100_001)
    assert loss == pytest.approx(
        1 - np.max(np.cos(fine + 0.4) ** 2 / (1 + np.sin(fine) ** 2)), abs=1e-6
    )
    assert loss == pytest.approx(1 - gain, abs=1e-6)
    assert float(CONE.loss(np.array(alpha), np.array(beta))) == pytest.approx(loss, abs=1e-9)
    # α² + 2β² - 2(α cos.4 - β sin.4) + 1: the best α is cos 0.4 for every β.
    alphas = np.linspace(0, 1.5, 1501)
    np.testing.assert_allclose(CONE.valley(np.array([-0.3, 0.2]), alphas), np.cos(0.4), atol=2e-3)
    jet = CONE.jet([0.7, -0.2])
    gradient, hessian = differences(CONE.jet, [0.7, -0.2])
    np.testing.assert_allclose(jet.gradient, gradient, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jet.hessian, hessian, rtol=1e-4, atol=1e-6)


def test_a_line_of_the_half_plane_ends_at_its_minimum_or_at_the_edge() -> None:
    end = half_plane_line(CONE.jet, (0.2, 0.3))[-1]
    np.testing.assert_allclose(end, (np.cos(0.4), -np.sin(0.4) / 2), atol=1e-5)
    away = Rays(THETA, CONE.a, -CONE.b, 1.0)  # its minimum is at α < 0
    alpha, beta = half_plane_line(away.jet, (0.2, 0.3))[-1]
    assert alpha == 0.0
    assert 0.1 < beta < 0.4


def test_groups_give_errors_and_bootstrap_samples() -> None:
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((GROUPS, 1))
    groups = {
        "a": np.tile(CONE.a, (GROUPS, 1)),
        "b": np.tile(CONE.b, (GROUPS, 1)),
        "c": 1 + noise[:, 0],
    }
    error = standard_error(THETA, groups, np.array([0.3]), np.array([0.1]))
    assert float(error[0]) == pytest.approx(float(noise.std(ddof=1)) / GROUPS**0.5)
    again = bootstrapped(THETA, groups, 200, np.random.default_rng(1))
    assert np.std([r.c for r in again]) == pytest.approx(float(error[0]), rel=0.25)
    assert len({r.minimum()[:2] for r in again}) == 1


def test_tables_of_the_normalised_half() -> None:
    loss = tables()["normed_loss"]
    assert len(loss.rows) == 2 * 21 * 21
    assert np.all(np.isfinite(loss.numbers("log10_loss")))
    assert np.all(loss.numbers("log10_error") >= 0)
    for depth in (3, 10):
        kinds = tables()["normed_minimiser"].where(T=depth).column("kind")
        assert kinds.count("estimate") == 1
        assert kinds.count("bootstrap") == SMALL.bootstrap
        (least,) = tables()["normed_minimiser"].where(T=depth, kind="estimate").numbers("loss")
        assert least <= 10 ** np.min(loss.where(T=depth).numbers("log10_loss")) + 1e-9
        valley = tables()["normed_valley"].where(T=depth)
        assert np.all(valley.numbers("alpha_lower") <= valley.numbers("alpha_upper"))


def test_the_seed_decides() -> None:
    theta = angles(3)

    def cell(seed: int) -> np.ndarray:
        rng = Plan(seed=seed).rng("lca.fig4")
        return rays(UNIFORM, 3, 8, 2, theta, GROUPS, "cpu", rng)["a"]

    assert np.array_equal(cell(0), cell(0))
    assert not np.array_equal(cell(0), cell(1))


def test_picture() -> None:
    canvas = canvas_of(FIG4, tables())
    assert axes_of(canvas) == [
        ("", r"$\beta$", "linear", "linear"),
        ("", "", "linear", "linear"),
        (r"$\alpha$", r"$\beta$", "linear", "linear"),
        (r"$\alpha$", "", "linear", "linear"),
        ("", r"$\log_{10}$ of the excess loss $\ell(\alpha,\beta)$", "linear", "function"),
    ]
    for axis in canvas.axes[:4]:
        assert axis.get_xlim() == (0, 0.5)
        assert axis.get_ylim() == (-0.5, 0.1)
        stars = [li for li in axis.lines if li.get_marker() == "*"]
        assert len(stars) == 1
    (alpha,) = landscape_tables()["minimiser"].where(T=3).numbers("alpha_lower")
    assert next(li for li in canvas.axes[0].lines if li.get_marker() == "*").get_xdata() == [alpha]
    assert_tidy(canvas)
    assert_captioned(FIG4, tables())
