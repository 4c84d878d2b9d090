"""Hermite coefficients of links: exact where they can be, enclosed where they cannot.

``raw = E[g(z) He_k(z)]``, ``series = raw/k!``, ``orthonormal = raw/√(k!)`` with monic
probabilists' ``He_k`` and ``z ~ N(0, 1)``. Three routes, the best one first:

* polynomials, exactly: ``raw_k = Σ_m g_{k+2m} (k+2m)! / (2^m m!)``, one product of polynomials;
* parity, and closed forms of what is left (:mod:`~theoryverify.exact.gaussian`), each of them
  checked against
* rigorous quadrature on ``[-R, R]``, cut at the break points, with a proved bound on the tails.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from math import factorial, isqrt
from typing import Any

from flint import acb, arb, fmpq, fmpq_poly, fmpz

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.ball_functions import ball_function, hermite_function
from theoryverify.exact.balls import Enclosure, accuracy, bits_for, precision
from theoryverify.exact.forms import Form
from theoryverify.exact.gaussian import integral
from theoryverify.exact.growth import UnboundedError, tail
from theoryverify.exact.link_domain import envelope
from theoryverify.exact.links import Link, link
from theoryverify.exact.quadrature import integrate
from theoryverify.exact.rationals import positive_integer
from theoryverify.exact.surds import Surds, TooHardError, hermite, root_factorial

NORMS = ("orthonormal", "raw", "series")
MAX_ORDER = 1_000
_CHECK_BITS = 64
_LONGEST_EXACT = 400
_ANY_ACCURACY = -(2**60)
_EFFORT = 400
_MOST_ROUNDS = 6
_COARSE_BITS = 30


@dataclass(frozen=True)
class Coefficient:
    """One Hermite coefficient.

    Parameters
    ----------
    k : int
        Its order.
    enclosure : Enclosure
        Two dyadic numbers around it; both zero where it is proved to vanish.
    zero : bool or None
        Proved to be zero, proved not to be, or undecided.
    exact : str or None
        The number in closed form (``Phi`` is the Gaussian distribution function, ``i`` is √-1).
    reason : str
        Why it is zero, or not.
    """

    k: int
    enclosure: Enclosure
    zero: bool | None
    exact: str | None
    reason: str

    def to_json(self, digits: int | None = None) -> dict[str, Any]:
        """The entry of the JSON contract."""
        ends = self.enclosure.to_json(digits)
        return {"k": self.k, **ends, "exact": self.exact, "reason": self.reason}


def hermite_coefficients(
    g: str | Link, terms: int, *, norm: str = "orthonormal", digits: int = 30
) -> tuple[Coefficient, ...]:
    """The Hermite coefficients of order ``0, ..., terms - 1``.

    Parameters
    ----------
    g : str or Link
    terms : int
        How many, at most 1001.
    norm : {"orthonormal", "raw", "series"}
        ``E[g he_k]``, ``E[g He_k]``, or the coefficient of ``He_k`` in the series of ``g``.
    digits : int
        Correct decimal digits of each nonzero coefficient. Where a coefficient cannot be told
        from zero, digits beyond the point.

    Raises
    ------
    InputError
        For a bad link, norm or number.
    UndecidedError
        If a coefficient has no finite enclosure.

    Examples
    --------
    >>> [c.exact for c in hermite_coefficients("z**4", 5, norm="raw")]
    ['3', '0', '12', '0', '24']
    """
    g = link(g)
    terms = positive_integer(terms, "terms", most=MAX_ORDER + 1)
    return tuple(hermite_coefficient(g, k, norm=norm, digits=digits) for k in range(terms))


def hermite_coefficient(
    g: str | Link, k: int, *, norm: str = "orthonormal", digits: int = 30, patience: int = 3
) -> Coefficient:
    """One Hermite coefficient; see :func:`hermite_coefficients`.

    Parameters
    ----------
    g, k, norm, digits
        As there.
    patience : int
        At how many precisions, each ``digits`` digits finer, a ball may contain zero before the
        answer is "not separated from zero".
    """
    g = link(g)
    k = positive_integer(k, "k", least=0, most=MAX_ORDER)
    digits = positive_integer(digits, "digits", most=10_000)
    if norm not in NORMS:
        raise InputError(f"norm = {norm!r} is not known; it is one of {', '.join(NORMS)}")
    scale = _scale(k, norm)
    if g.polynomial is not None:
        return _from_polynomial(g, k, scale, digits)
    smooth = _polynomial_part(g, k)
    if smooth is not None and not smooth.is_zero:
        exact = raw_coefficients(smooth)[k] * scale
        parity = "odd" if k % 2 else "even"
        why = f"exact arithmetic: the {parity} part of the link is the polynomial {smooth}"
        return exact_coefficient(k, exact, digits, why)
    closed = closed_form(g, k)
    if closed is not None:
        return _from_closed_form(g, k, closed, scale, digits)

    def compute(bits: int) -> arb:
        return quadrature(g, k, bits) * scale.number().real

    value = to_digits(compute, digits, patience)
    zero = None if value.contains(0) else False
    reason = "excluded from zero by a ball" if zero is False else "not separated from zero"
    return Coefficient(k, Enclosure.of(value), zero, None, reason)


def _scale(k: int, norm: str) -> Surds:
    if norm == "raw":
        return Surds.of(1)
    whole = Surds.of(fmpq(1, fmpz(factorial(k))))
    return whole if norm == "series" else root_factorial(k) * whole


# Polynomials.


@lru_cache(maxsize=64)
def raw_coefficients(polynomial: Surds) -> Surds:
    """The polynomial ``Σ_k E[g He_k] t^k``, exactly.

    Notes
    -----
    ``E[g He_k] = E[g^{(k)}]`` is a correlation of ``n! g_n`` with ``1/(2^m m!)``, hence one
    product after reversing the order.
    """
    degree = max(polynomial.degree, 0)
    weights = [fmpq(0)] * (degree + 1)
    factorials = [fmpz(1)] * (degree + 1)
    for n in range(1, degree + 1):
        factorials[n] = factorials[n - 1] * n
    for m in range(degree // 2 + 1):
        weights[2 * m] = fmpq(1, fmpz(2) ** m * factorials[m])
    kernel = fmpq_poly(weights)
    parts = {}
    for n, p in polynomial.parts.items():
        backward = fmpq_poly([p[degree - j] * factorials[degree - j] for j in range(degree + 1)])
        product = backward * kernel
        parts[n] = fmpq_poly([product[degree - k] for k in range(degree + 1)])
    return Surds(parts)


def _from_polynomial(g: Link, k: int, scale: Surds, digits: int) -> Coefficient:
    assert g.polynomial is not None
    value = raw_coefficients(g.polynomial)[k] * scale
    return exact_coefficient(k, value, digits, zero_reason(g, k))


def exact_coefficient(k: int, value: Surds, digits: int, why_zero: str) -> Coefficient:
    """The coefficient that an exact number is."""
    if value.is_zero:
        return Coefficient(k, Enclosure.exactly(0), True, "0", why_zero)
    ball = to_digits(lambda bits: value.number().real, digits)
    return Coefficient(k, Enclosure.of(ball), False, _shown(str(value)), "exact arithmetic")


def _polynomial_part(g: Link, k: int) -> Surds | None:
    """The even or odd part of a smooth link, where that is a polynomial."""
    part = g.part(k)
    return part[0][2].polynomial if part is not None and len(g.pieces) == 1 else None


def zero_reason(g: Link, k: int) -> str:
    """Why an exact coefficient may vanish: parity, if that is enough."""
    if g.part_vanishes(k):
        return f"parity: the link is {'odd' if k % 2 == 0 else 'even'}"
    return "exact arithmetic"


# Closed forms.


def closed_form(g: Link, k: int) -> Form | None:
    """``E[g He_k]`` as an exact number, where there is a closed form."""
    part = g.part(k)
    if part is None:
        return None
    weight, total = Form.of(hermite(k)), Form({})
    try:
        for lower, upper, form in part:
            total += integral(form * weight, lower, upper)
    except TooHardError:
        # Parity needs no closed form.
        return Form({}) if g.part_vanishes(k) else None
    return total


def _from_closed_form(g: Link, k: int, value: Form, scale: Surds, digits: int) -> Coefficient:
    scaled = value * Form.of(scale)
    if not value.terms and g.part_vanishes(k):
        return Coefficient(k, Enclosure.exactly(0), True, "0", zero_reason(g, k))
    with precision(_CHECK_BITS):
        beside, here = quadrature(g, k, _CHECK_BITS), value.number().real
        if not beside.overlaps(here):
            raise ArithmeticError(f"E[g He{k}]: closed form {here}, quadrature {beside}")
    if not value.terms:
        return Coefficient(k, Enclosure.exactly(0), True, "0", "identity: the closed form is 0")
    ball = to_digits(lambda bits: scaled.number().real, digits)
    zero = None if ball.contains(0) else False
    reason = (
        "closed form, excluded from zero by a ball"
        if zero is False
        else ("closed form not separated from zero")
    )
    return Coefficient(k, Enclosure.of(ball), zero, _shown(str(scaled)), reason)


def _shown(text: str) -> str | None:
    return text if len(text) <= _LONGEST_EXACT else None


# Quadrature.


def quadrature(g: Link, k: int, bits: int) -> arb:
    """A ball around ``E[g He_k]`` by rigorous integration at ``bits`` bits.

    Raises
    ------
    UndecidedError
        If no finite ball comes out, as at a singularity.
    """
    with precision(bits):
        R, beyond = cut_off(g, k, bits)
        weight, root = hermite_function(k), (2 * arb.pi()).sqrt()
        total = arb(0)
        for piece in g.pieces:
            left = arb(-R) if piece.lower is None else arb(-R).max(piece.lower.ball()).min(arb(R))
            right = arb(R) if piece.upper is None else arb(R).min(piece.upper.ball()).max(arb(-R))
            function = ball_function(piece.node)

            def integrand(z: acb, analytic: bool, function: Any = function) -> acb:
                return function(z, analytic) * weight(z) * (-z * z / 2).exp()

            middle = [arb(0)] if left < 0 and right > 0 else []
            try:
                total += integrate(
                    integrand,
                    left,
                    right,
                    points=middle,
                    minimum_accuracy=_ANY_ACCURACY,
                    effort=_EFFORT * bits,
                )
            except UndecidedError:
                raise UndecidedError(
                    f"E[g He{k}] has no finite enclosure for g = {g}; is there a singularity?"
                ) from None
        return total / root + arb(0, beyond)


def cut_off(g: Link, k: int, bits: int) -> tuple[int, arb]:
    """``R`` and a bound, at most about ``2^-bits``, of ``E[|g He_k|; |z| > R]``.

    Beyond ``√(4k+2)`` lie no zeros of ``He_k``, and there ``0 < He_k(z) <= z^k``.
    """
    with precision(64):
        try:
            sides = [envelope(g.pieces, side) for side in (1, -1)]
        except UnboundedError:
            raise UndecidedError(f"no bound on the growth of {g}") from None
        R = max(isqrt(4 * k + 2) + 1, 4, *(start for _, start in sides))
        while True:
            beyond = sum((tail(bound, k, R) for bound, _ in sides), arb(0)).upper()
            if beyond < arb(2) ** -bits:
                return R, beyond
            R += 1 + R // 16


def to_digits(compute: Callable[[int], arb], digits: int, patience: int = 3) -> arb:
    """The ball ``compute(bits)`` at a precision that makes ``digits`` digits correct.

    A ball that contains zero ``patience`` times, at growing precision, is returned as it is, and
    so is one that stays too wide.
    """
    wanted = bits_for(digits)
    bits, tries, radius = wanted + 24, 0, arb("inf")
    for _ in range(_MOST_ROUNDS):
        value = _at(compute, bits)
        reached = accuracy(value)
        tries += value.contains(0)
        if reached >= wanted or tries >= patience or not 256 * value.rad() <= radius:
            break
        radius = value.rad()
        bits += 24 + (wanted if value.contains(0) else wanted - reached)
    if reached < wanted and not value.rad() < arb(2) ** -_COARSE_BITS:
        # Finer does not help: a fast oscillation. Coarser has shorter tails to follow.
        with suppress(UndecidedError):
            coarse = _at(compute, _COARSE_BITS)
            return coarse if coarse.rad() < value.rad() else value
    return value


def _at(compute: Callable[[int], arb], bits: int) -> arb:
    with precision(bits):
        value = compute(bits)
    if not value.is_finite():
        raise UndecidedError("no finite enclosure")
    return value
