"""Exact Gaussian integrals of normal forms without atoms.

``∫_a^b A(z) e^{qz² + αz + β} φ(z) dz`` with ``q < 1/2`` becomes, with ``s² = 1/(1-2q)``,
``m = αs²`` and ``z = sw + m``, the integral of the polynomial ``A(sw+m)`` against ``φ(w)``, times
``s e^{β + α²s²/2}``. Integrating by parts,
``∫ B φ = M (Φ(b) - Φ(a)) + [Q φ]``, where ``B = M + Q' - wQ``.
"""

from __future__ import annotations

from fractions import Fraction

from theoryverify.exact.forms import Form
from theoryverify.exact.points import Point
from theoryverify.exact.surds import ONE, ZERO, Surds, TooHardError, Z

_HALF = Surds.of(Fraction(1, 2))
_DENSITY = Form.atom("phi", Form({}))
"""``φ(0) = 1/√(2π)``"""


def integral(form: Form, lower: Point | None, upper: Point | None) -> Form:
    """``∫_lower^upper form(z) φ(z) dz`` as an exact number.

    Parameters
    ----------
    form : Form
        Without atoms that depend on ``z``; exponents of degree at most 2 and growth below that of
        ``1/φ``.
    lower, upper : Point or None
        The ends; ``None`` is infinite.

    Returns
    -------
    Form
        A number made of square roots, exponentials, ``Phi`` and ``phi(0)``. An empty form is
        zero; whether another one is not is for a ball to say.

    Raises
    ------
    TooHardError
        Where there is no such closed form.
    """
    factors = [Form({(ZERO, atoms): ONE}) for _, atoms in form.terms]
    if not all(factor.is_number for factor in factors):
        raise TooHardError("atoms of z have no closed integral here")
    total = Form({})
    for ((exponent, _), coefficient), factor in zip(form.terms.items(), factors, strict=True):
        total += _integral_of_term(coefficient, exponent, lower, upper) * factor
    return total


def _integral_of_term(
    coefficient: Surds, exponent: Surds, lower: Point | None, upper: Point | None
) -> Form:
    if exponent.degree > 2:
        raise TooHardError("the exponential of a cubic has no closed Gaussian integral")
    precision = (ONE - Surds.of(2) * exponent[2]).as_fraction()  # 1/s²
    if precision is None:
        raise TooHardError("the width of the Gaussian is not rational")
    if precision <= 0:
        raise TooHardError("the Gaussian integral diverges")
    width = Surds.root(1 / precision)
    shift = exponent[1] * Surds.of(1 / precision)
    outer = exponent[0] + _HALF * exponent[1] * shift
    inner = coefficient(width * Z + shift) if not exponent.is_zero else coefficient
    mean, boundary = _by_parts(inner)
    value = Form({})
    for end, sign, beyond in ((upper, ONE, ONE), (lower, -ONE, ZERO)):
        if end is None:
            value += Form.of(sign * beyond * mean)
            continue
        t = _standardised(end, shift, width)
        density = Form({(-(_HALF * t * t), ()): sign * boundary(t)}) * _DENSITY
        value += Form.of(sign * mean) * distribution(t) + density
    return Form({(outer, ()): width}) * value


def _by_parts(polynomial: Surds) -> tuple[Surds, Surds]:
    """``(M, Q)`` with ``B = M + Q' - wQ``; ``M = E[B(w)]``."""
    boundary = [ZERO] * (polynomial.degree + 2)
    for power in range(polynomial.degree, 0, -1):
        above = boundary[power + 1] * Surds.of(power + 1)
        boundary[power - 1] = above - polynomial[power]
    total = ZERO
    for power, value in enumerate(boundary):
        total = total + value * Z**power
    first = boundary[1] if len(boundary) > 1 else ZERO
    return polynomial[0] - first, total


def distribution(t: Surds) -> Form:
    """``Φ(t)``, with ``Φ(0) = 1/2`` and ``Φ(-t) = 1 - Φ(t)`` so that equal values look equal."""
    if t.is_zero:
        return Form.of(_HALF)
    first = next(iter(t.parts.values()))
    if first[0] < 0:
        return Form.of(ONE) - distribution(-t)
    return Form.atom("Phi", Form.of(t))


def _standardised(end: Point, shift: Surds, width: Surds) -> Surds:
    if end.value is None:
        raise TooHardError("the break point is not made of square roots")
    return (end.value - shift) * width.inverse()
