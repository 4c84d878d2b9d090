"""Appendix D and Theorem 4.1: what one layer of attention can do, and by how much it fails.

At infinite context a layer of self-attention, linear or softmax, predicts ``⟨ŵ(m,ζ), x_q⟩ + k`` with
``ŵ = w_0(m) + ζ Bᵀm + ζ² w_2`` and a *fixed* matrix B (Proposition D.2, D.4). Where the law is
symmetric under ``m -> -m`` the even parts only add risk, so the best layer is the best ``ŵ = ζ C m``:

    excess(C)/E[ζ²] = E[(Cm - m/Z)ᵀ (I + mmᵀ) (Cm - m/Z)],

a convex quadratic in C with the linear system ``C E[mmᵀ] + E[mmᵀ C mmᵀ] = E[mmᵀ]`` for its minimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure, ball, bits_for, precision
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import Exact, positive_integer, rational
from theoryverify.papers.lca import assumptions, theory


@dataclass(frozen=True)
class OneLayer:
    """The best one-layer attention: its gain ``s`` in ``ŵ = ζ s m`` and its excess risk, in units of
    ``E[ζ²]``."""

    gain: Enclosure
    excess: Enclosure


def best_one_layer(law: Law, digits: int = 30) -> OneLayer:
    """The best single layer for isotropic directions, symmetric in m.

    ``s* = E[Z-1]/E[Z(Z-1)]`` and ``E[W] - E[Z-1]²/E[Z(Z-1)]``: the depth-one stack's numbers, and
    ``F_T(0)`` of Appendix G.

    Raises
    ------
    HypothesisError
        If the law breaks Assumption 6.1.
    """
    law = assumptions.require(law)
    digits = positive_integer(digits, "digits", most=2000)
    share, z = theory.signal_share(), Z
    with precision(bits_for(digits) + 64):
        first, second = law.expect(share * z), law.expect(share * z**2)
        excess = law.expect(share) - first**2 / second
        return OneLayer(Enclosure.of(first / second), Enclosure.of(excess))


def best_by_direction(parts: list[tuple[Exact, Law]], digits: int = 30) -> Enclosure:
    """The best single layer where m lies on orthogonal axes, ``±``, each with its own law of Z.

    The linear system splits: on axis i the gain is ``E_i[Z-1]/E_i[Z(Z-1)]``, so the excess is the
    weighted sum of the axes' own. With equal laws this is :func:`best_one_layer`; with unequal ones it
    is smaller than the isotropic formula for the mixture of the laws.
    """
    if not parts:
        raise InputError("at least one axis is needed")
    weights = [rational(weight, "weight") for weight, _ in parts]
    if min(weights) <= 0 or sum(weights) != 1:
        raise InputError(
            f"the weights {', '.join(map(str, weights))} must be positive and sum to 1"
        )
    with precision(bits_for(digits) + 64):
        total = ball(0)
        for weight, (_, law) in zip(weights, parts, strict=True):
            total += ball(weight) * best_one_layer(law, digits).excess.ball()
        return Enclosure.of(total)


def atom_slope(radius: Exact) -> Fraction:
    """With an atom of ``|m|`` at ``radius``, LSA with ``A = I/(1+radius²)``, ``q = 1`` is Bayes there:
    its gain, ``1/(1+radius²)``."""
    r = rational(radius, "radius")
    return 1 / (1 + r**2)
