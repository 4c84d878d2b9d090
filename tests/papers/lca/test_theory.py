"""The derivation: every formula of the paper's setting, and what follows when the setting changes."""

import pytest
import sympy

from theoryverify.exact.integrands import Z
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.theory import M, Setting, T, alpha, beta, zeta
from theoryverify.testing import TheoremViolation, assert_identity


def test_the_setting_gives_the_papers_formulas() -> None:
    assert_identity(theory.regression_weight(), zeta / (1 + M))
    assert_identity(theory.residual_variance(), zeta**2 / (1 + M))
    assert_identity(theory.signal_share(), (Z - 1) / Z)
    assert_identity(theory.noise_share(), 1 / Z)


def test_changing_the_variance_of_u_changes_the_derived_loss() -> None:
    v = sympy.Symbol("v", positive=True)
    setting = Setting(variance_u=v)
    gain = 1 - alpha * theory.S()
    assert_identity(theory.signal_share(setting), v * (Z - 1) / Z)
    assert_identity(theory.loss_integrand(setting), v * (Z - 1) / Z * gain**2)
    assert_identity(theory.noise_share(setting), v / Z)
    with pytest.raises(TheoremViolation):
        assert_identity(theory.loss_integrand(setting), theory.loss_integrand())


def test_noise_of_another_size_moves_the_spike_eigenvalue() -> None:
    setting = Setting(variance_noise=sympy.Integer(3))
    assert theory.covariance_x(setting).on_spike == 3 + M
    assert_identity(theory.signal_share(setting), (Z - 3) / Z)


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_the_spiked_algebra_is_that_of_matrices(dimension: int) -> None:
    m = sympy.Matrix(dimension, 1, list(range(1, dimension + 1)))
    norm = (m.T * m)[0, 0]

    def literal(matrix: theory.SpikedMatrix) -> sympy.Matrix:
        dense = matrix.iso * sympy.eye(dimension) + matrix.spike * m * m.T
        return dense.subs(M, norm)

    first = theory.SpikedMatrix(sympy.Rational(2), sympy.Rational(1, 3))
    second = theory.SpikedMatrix(sympy.Rational(5, 7), sympy.Rational(-1, 2))
    assert literal(first @ second) == literal(first) * literal(second)
    assert literal(first.inverse()) == literal(first).inv()
    assert literal(first) * m == first.on_spike.subs(M, norm) * m


def test_depth_one_does_not_know_beta() -> None:
    # S_1(Z, β) = Z for every β.
    assert_identity(theory.S(sympy.Integer(1)), Z)
    loss = theory.loss_integrand(depth=sympy.Integer(1))
    assert_identity(sympy.diff(sympy.expand(loss), beta), sympy.Integer(0))


def test_odd_powers_keep_their_sign() -> None:
    # The gradient's factor (1-αZ)^{2T-1} at α = 2/5, Z = 4, T = 2 is -27/125, not 27/125.
    factor = theory.stationarity() / (Z - 1)
    at = {alpha: sympy.Rational(2, 5), Z: 4, T: 2}
    assert factor.subs(at) == sympy.Rational(-27, 125)


def test_the_hessian_of_the_tied_model_is_the_second_derivative() -> None:
    direction = sympy.Matrix([1, -1])
    along = (direction.T * theory.hessian() * direction)[0, 0]
    assert_identity(theory.tied(along), theory.one_parameter_hessian())
