"""The population loss ``ℓ_T(α,β) = E[W(1-αS_T)²]`` of one law, enclosed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from theoryverify.exact.balls import Enclosure, accuracy, ball, bits_for, precision
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import Exact, positive_integer, rational
from theoryverify.papers.lca import assumptions, theory
from theoryverify.papers.lca.alpha_star import MAX_DEPTH, MAX_DIGITS
from theoryverify.papers.lca.kernels import (
    LossIntegrands,
    residual_form,
    tied_integrands,
    untied_integrands,
)


@dataclass(frozen=True)
class Loss:
    """The loss at one point, in units of ``E[ζ²]``.

    Attributes
    ----------
    excess : Enclosure
        ``ℓ_T(α,β) = E[W(1-αS_T)²]``, the risk above the Bayes risk.
    bayes_risk : Enclosure
        ``E[1/Z]``.
    gradient : tuple of Enclosure
        ``(∂ℓ/∂α, ∂ℓ/∂β)``, or ``(R_T'(α),)`` where ``β = -α`` is tied.
    """

    excess: Enclosure
    bayes_risk: Enclosure
    gradient: tuple[Enclosure, ...]


def excess_loss(
    law: Law, alpha: Exact, beta: Exact | None = None, *, depth: int, digits: int = 30
) -> Loss:
    """Enclose the loss, its gradient and the Bayes risk at ``(α, β)``.

    Parameters
    ----------
    law : Law
        The law of Z, meeting Assumption 6.1.
    alpha, beta : exact numbers
        ``beta=None`` is the one-parameter model ``β = -α``.
    depth : int
        T, at least 1.
    digits : int
        Relative digits that each number should have. A number that is exactly zero has none, and
        is enclosed to that many digits of the terms that cancel.

    Raises
    ------
    HypothesisError, InputError
        For a law outside Assumption 6.1, or numbers out of range.

    Examples
    --------
    >>> from theoryverify.exact.densities import Uniform
    >>> print(excess_loss(Uniform(2, 5), "0.25", depth=5, digits=10).excess)
    0.000031767156291731857114[28, 32]
    """
    law = assumptions.require(law)
    depth = positive_integer(depth, "depth", most=MAX_DEPTH)
    digits = positive_integer(digits, "digits", most=MAX_DIGITS)
    at_alpha = rational(alpha, "alpha")
    at_beta = None if beta is None else rational(beta, "beta")
    target = bits_for(digits)
    bits = target + 2 * depth.bit_length() + 32
    for _ in range(4):
        with precision(bits):
            integrands = _integrands(at_alpha, at_beta, depth)
            parts = [integrands.excess, integrands.d_alpha]
            if integrands.d_beta is not None:
                parts.append(integrands.d_beta)
            values = [law.expect(part) for part in parts]
            bayes = law.expect(theory.noise_share())
            # The loss is positive, so it must gain digits; a vanishing gradient never does.
            if min(accuracy(values[0]), accuracy(bayes)) >= target:
                break
        bits *= 2
    return Loss(
        Enclosure.of(values[0]), Enclosure.of(bayes), tuple(Enclosure.of(v) for v in values[1:])
    )


def _integrands(alpha: Fraction, beta: Fraction | None, depth: int) -> LossIntegrands:
    if beta is None:
        return tied_integrands(ball(alpha), depth)
    return untied_integrands(ball(alpha), ball(beta), depth, residual_form(alpha, beta))
