"""Prompts through their moments, and descent on them: the law, the gradients, a rerun."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from theoryverify.errors import InputError  # noqa: E402
from theoryverify.exact.densities import Uniform  # noqa: E402
from theoryverify.models.untied import KINDS, UntiedWeights  # noqa: E402
from theoryverify.papers.lca.untied_context import context_form  # noqa: E402
from theoryverify.simulate.prompts import sample_prompts  # noqa: E402
from theoryverify.simulate.two_sample import law_distance  # noqa: E402
from theoryverify.simulate.untied import mean_excess, sample_moments, train_untied  # noqa: E402

LAW, D = Uniform(2, 5), 3


def test_moments_have_the_law_of_literal_prompts() -> None:
    """A statistic that knows directions, m and the labels; error 1e-9 a comparison."""
    axes = np.array([1.0, -0.5, 0.2])

    def statistic(covariance, correlation, m):
        w = covariance @ (axes * correlation)[:, :, None]
        return (w[:, :, 0] * axes * m).sum(1) + (correlation * m).sum(1)

    n, L = 20_000, 8
    prompts = sample_prompts(LAW, D, L, n, zeta="one", rng=1)
    X = prompts.X
    literal = statistic(X @ X.transpose(0, 2, 1) / L, (X @ prompts.y[:, :, None])[:, :, 0] / L,
                        prompts.m)  # fmt: skip

    def seen(context: int, turn: bool = True):
        drawn = sample_moments(LAW, D, context, n, rng=2)
        m = drawn.m if turn else np.linalg.norm(drawn.m, axis=1)[:, None] * np.eye(D)[0]
        return statistic(drawn.covariance, drawn.correlation, m)

    assert law_distance(literal, seen(L)).within(0.06) is True
    assert law_distance(literal, seen(8 * L)).within(0.06) is False
    assert law_distance(literal, seen(L, turn=False)).within(0.06) is False


def test_directions_are_isotropic_and_m_has_the_length_of_the_law() -> None:
    drawn = sample_moments(LAW, D, 10, 4000, rng=4)
    z = 1 + (drawn.m**2).sum(1)
    assert z.min() >= 2
    assert z.max() <= 5
    unit = drawn.m / np.linalg.norm(drawn.m, axis=1, keepdims=True)
    # A coordinate of a uniform direction in R^3 is uniform on [-1, 1].
    uniform = np.random.default_rng(0).uniform(-1, 1, 4000)
    for axis in range(D):
        assert law_distance(unit[:, axis], uniform).within(0.2) is True


def test_the_gradient_of_a_matrix_is_that_of_its_trace() -> None:
    """At ``W = αI``: Σ over the diagonal of ∂ℓ/∂W is ∂ℓ/∂α, on the same prompts."""
    drawn = sample_moments(LAW, D, 20, 50, rng=6)
    moments = [torch.from_numpy(a) for a in (drawn.covariance, drawn.correlation, drawn.m)]
    alpha, beta = np.array([0.2, 0.3]), np.array([-0.1, -0.3])
    slopes = []
    for kind in KINDS:
        weights = UntiedWeights.around(kind, alpha, beta, D)
        mean_excess(weights, *moments).backward()
        for gradient in (weights.S.grad, weights.V.grad):
            whole = gradient.numpy().reshape(2, -1)
            if kind == "full":
                whole = np.trace(gradient.numpy(), axis1=1, axis2=2)[:, None]
            slopes.append(whole.sum(1))
    for pair in (slopes[0::2], slopes[1::2]):
        assert pair[1] == pytest.approx(pair[0], rel=1e-12)
        assert pair[2] == pytest.approx(pair[0], rel=1e-12)


def run(kind: str, seed: int, **changes):
    weights = UntiedWeights.around(kind, np.full(2, 0.1), np.full(2, -0.1), D)
    sizes = {"context": 50, "steps": 30, "batch": 16, "rate": 0.02, **changes}
    return train_untied(weights, LAW, rng=seed, **sizes)


@pytest.mark.parametrize("kind", KINDS)
def test_training_is_reproducible_and_lowers_the_risk(kind: str) -> None:
    one, two, other = run(kind, 1), run(kind, 1), run(kind, 2)
    assert np.array_equal(one.observed["alpha"], two.observed["alpha"])
    assert not np.array_equal(one.observed["alpha"], other.observed["alpha"])
    assert one.observed_at[0] == 0
    assert one.observed_at[-1] == 30
    form = context_form(LAW, D, 50, 2)
    at = [form.excess(one.observed["alpha"][i], one.observed["beta"][i]) for i in (0, -1)]
    assert at[1] < at[0] / 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"steps": 0}, "steps"), ({"batch": 0}, "batch"), ({"context": 0}, "context"),
     ({"rate": -1}, "rate"), ({"rate": float("nan")}, "rate")],
)  # fmt: skip
def test_bad_input(changes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        run("full", 0, **changes)


def test_a_diverged_run_is_no_result() -> None:
    with pytest.raises(FloatingPointError):
        run("scalar", 0, rate=1e6)


def test_adam() -> None:
    found = run("full", 1, optimizer="adam", rate=1e-3, steps=1)
    # Adam's first step is the rate times the sign of the gradient.
    assert np.abs(found.observed["alpha"][1] - 0.1) == pytest.approx(np.full(2, 1e-3), rel=1e-3)
    with pytest.raises(InputError, match="'rmsprop' is unknown"):
        run("full", 1, optimizer="rmsprop")
