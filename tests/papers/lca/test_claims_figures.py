"""The claims about the figures: margins, errors, and numbers by another route."""

from __future__ import annotations

import numpy as np
import pytest

from theoryverify.budget import SHARE
from theoryverify.claims import SIMULATED
from theoryverify.papers.lca.claims import figures, untied_context
from theoryverify.papers.lca.laws import UNIFORM
from theoryverify.papers.lca.untied_context import context_form


def test_the_errors_of_all_intervals_are_few() -> None:
    intervals = sum(
        1 + len(check.controls)
        for claim in figures.claims
        for check in claim.checks
        if check.rung is SIMULATED
    )
    assert 0 < intervals * SHARE < 3e-8


def test_margins_are_a_quarter_of_the_way_and_hold_the_bias() -> None:
    right = figures._white_value(figures._ERROR)
    margin = figures.white_margin()
    for wrong in figures._WRONG.values():
        assert abs(figures._white_value(wrong) - right) >= 4 * margin * (1 - 1e-12)
    finite, square = figures._white_moments()
    assert abs(finite - right) < margin / 2
    assert finite**2 < square


def test_whitening_by_another_route() -> None:
    d, T, step = figures._WHITE_D, figures._WHITE_T, 2 / 7
    weights = np.full(T, step), np.full(T, -step)
    infinite = context_form(UNIFORM, d, None, T).whitening(*weights)[-1] ** 2
    assert figures._white_value(figures._ERROR) == pytest.approx(infinite, rel=1e-10)
    finite = context_form(UNIFORM, d, figures._WHITE_L, T).whitening(*weights)[-1] ** 2
    assert figures._white_moments()[0] == pytest.approx(finite, rel=1e-10)
    x, w = np.polynomial.legendre.leggauss(20)
    on_task = float((w / 2 * (1 - step * (3.5 + 1.5 * x)) ** (2 * T)).sum())
    assert infinite == pytest.approx(((d - 1) * (1 - step) ** (2 * T) + on_task) / d, rel=1e-12)


def test_the_variance_of_the_literal_untied_model_is_no_guess() -> None:
    """The exact variance against a sample: a sanity check of its size, not a test."""
    pytest.importorskip("torch")
    draws = untied_context._literal("cpu").draw(2000, np.random.default_rng(1))
    assert 0.2 < draws.var() / untied_context._variance() < 3


def test_six_digits() -> None:
    close = untied_context._close
    form = context_form(UNIFORM, 10, 1024, 4)
    assert close(form.mean_trace, "0.216231") is True
    assert close(form.mean_trace, "0.216232") is False  # the last digit
    assert close(form.mean_trace, "0.216241") is False
