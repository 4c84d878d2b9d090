"""The generative exponent: the least ``k >= 1`` with ``E[He_k(z) | g(z)]`` not almost surely 0.

*Nonzero* is shown by a witness, a transformation ``T`` with ``E[T(g) He_k] != 0``: exactly, or
with a ball that excludes zero. *Zero* is shown

* for odd ``k`` and even ``g``, by parity;
* for ``g`` with finitely many values, by ``E[g^j He_k] = 0`` for ``j`` below their number;
* by a pairing of branches: with ``ψ = He_{k-1} e^{-z²/2}``, so that ``He_k φ`` is the derivative of
  ``-ψ/√(2π)``, if ``ψ^m = c g^n`` between neighbouring zeros of ``ψ``, then on each such interval
  ``ψ`` is a function of ``g`` alone and ``g`` ends where it began, and ``∫ T(g) dψ = 0``.

For polynomials a theorem decides: 1 unless ``g`` is even, then 2. Injective functions of a link
have the exponent of the link, since they generate the same σ-algebra.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.forms import Form
from theoryverify.exact.hermite import (
    Coefficient,
    exact_coefficient,
    hermite_coefficient,
    raw_coefficients,
)
from theoryverify.exact.injective import core
from theoryverify.exact.link_tree import Call, power
from theoryverify.exact.links import Link, link
from theoryverify.exact.normal_form import at, vanishes
from theoryverify.exact.pieces import Piece
from theoryverify.exact.rationals import positive_integer
from theoryverify.exact.surds import ONE, Surds, TooHardError, hermite

PAIRING = "identity: the branches of the inverse cancel in pairs"
_POWERS = 6
_POLYNOMIAL_POWERS = 80
_POLYNOMIAL_DEGREE = 8_000
_DIGITS = 20


@dataclass(frozen=True)
class Witness:
    """A transformation of the label with ``E[T(g) He_k] != 0``.

    Parameters
    ----------
    transformation : str
        ``g**j`` or ``tanh(g)**j``.
    power : int
        The ``j``.
    coefficient : Coefficient
        The raw coefficient ``E[T(g) He_k]``, excluded from zero.
    """

    transformation: str
    power: int
    coefficient: Coefficient

    def __str__(self) -> str:
        value = self.coefficient.exact or self.coefficient.enclosure
        return f"E[{self.transformation} He{self.coefficient.k}] = {value}, not zero"


@dataclass(frozen=True)
class GenerativeExponent:
    """The least ``k >= 1`` at which the label knows something of ``He_k(z)``.

    Parameters
    ----------
    link : str
        The link, in the grammar.
    value : int or None
        The exponent; ``None`` where it is undecided.
    status : {"decided", "undecided"}
    reasons : tuple of str
        Why it is not smaller, then why it is not larger. ``g`` is the link, or what is left of
        it without injective functions, as the first reason then says.
    witness : Witness or None
        The transformation that shows the second; ``None`` where a theorem does it alone.
    """

    link: str
    value: int | None
    status: str
    reasons: tuple[str, ...]
    witness: Witness | None

    def __int__(self) -> int:
        if self.value is None:
            raise UndecidedError(f"the generative exponent of {self.link} is undecided")
        return self.value

    __index__ = __int__


def generative_exponent(g: str | Link, *, limit: int = 12) -> GenerativeExponent:
    """The least ``k >= 1`` with ``E[He_k(z) | g(z)]`` not almost surely 0, ``z ~ N(0, 1)``.

    Parameters
    ----------
    g : str or Link
    limit : int
        The largest order tried for links that are not polynomials.

    Raises
    ------
    InputError
        For a constant link, which has no exponent, or a bad one.

    Examples
    --------
    >>> generative_exponent("He3(z)/sqrt(6)").value
    1
    """
    g = link(g)
    if g.constant:
        raise InputError(f"the link '{g.text[:60]}' is constant: it has no generative exponent")
    limit = positive_integer(limit, "limit", most=100)
    if g.polynomial is not None:
        return _of_polynomial(g, g.polynomial, [])
    inner, reasons = core(g), []
    if inner is not g:
        reasons.append(f"the link is an injective function of g = {inner.text}")
    if inner.polynomial is not None:
        return _of_polynomial(g, inner.polynomial, reasons)
    for k in range(1, limit + 1):
        why = _vanishes(inner, k)
        if why is not None:
            reasons.append(f"E[He{k} | g] = 0, {why}")
            continue
        witness = next(_witnesses(inner, k), None)
        if witness is None:
            reasons.append(f"E[He{k} | g]: neither shown to vanish nor not to")
            break
        reasons.append(str(witness))
        return GenerativeExponent(g.text, k, "decided", tuple(reasons), witness)
    return GenerativeExponent(g.text, None, "undecided", tuple(reasons), None)


# Polynomials.


def _of_polynomial(g: Link, polynomial: Surds, reasons: list[str]) -> GenerativeExponent:
    even = (polynomial - polynomial.reflect()).is_zero
    k = 2 if even else 1
    if even:
        reasons.append("E[He1 | g] = 0, parity: the link is even")
    reasons.append(f"theorem: a polynomial that is {'' if even else 'not '}even has exponent {k}")
    witness = polynomial_witness(polynomial, k)
    if witness is not None:
        reasons.append(str(witness))
    return GenerativeExponent(g.text, k, "decided", tuple(reasons), witness)


def polynomial_witness(polynomial: Surds, k: int) -> Witness | None:
    """The least ``j`` with ``E[g^j He_k] != 0`` for a polynomial ``g``, exactly.

    Notes
    -----
    For ``k = generative exponent`` one exists: large powers (of the right parity) weigh the ends
    of the line so much that the sign of ``g(z)^j - g(-z)^j`` there decides.
    """
    total = ONE
    for j in range(1, _POLYNOMIAL_POWERS + 1):
        if j > 1 and j * polynomial.degree > _POLYNOMIAL_DEGREE:
            return None
        total = total * polynomial
        raw = raw_coefficients(total)[k]
        if not raw.is_zero:
            return Witness(_raised("g", j), j, exact_coefficient(k, raw, _DIGITS, ""))
    return None


def _raised(text: str, j: int) -> str:
    return text if j == 1 else f"{text}**{j}"


# Other links.


def _witnesses(g: Link, k: int) -> Iterator[Witness]:
    """Powers of the link, then of its hyperbolic tangent, whose moments always suffice."""
    for base, text in ((g.node, "g"), (Call("tanh", g.node), "tanh(g)")):
        for j in range(1, _POWERS + 1):
            try:
                transformed = Link(power(base, Fraction(j)))
                value = hermite_coefficient(transformed, k, norm="raw", digits=_DIGITS, patience=1)
            except (InputError, UndecidedError):
                break  # higher powers grow even faster
            if value.zero is False:
                yield Witness(_raised(text, j), j, value)


def _vanishes(g: Link, k: int) -> str | None:
    """Why ``E[He_k | g] = 0``, if that is proved."""
    if k % 2 and g.parity == "even":
        return "parity: the link is even"
    if _vanishes_on_values(g, k):
        return "exact arithmetic on its finitely many values"
    if paired(g, k):
        return PAIRING
    return None


def _vanishes_on_values(g: Link, k: int) -> bool:
    forms = [p.form for p in g.pieces]
    if any(f is None or not f.is_number for f in forms):
        return False
    try:
        powers = [Link(power(g.node, Fraction(j))) for j in range(1, len(set(forms)))]
        return all(hermite_coefficient(h, k, norm="raw").zero is True for h in powers)
    except (InputError, UndecidedError):
        return False


def paired(g: Link, k: int) -> bool:
    """Whether ``E[He_k | g] = 0`` is proved by pairing the branches of the inverse of ``g``."""
    return all(_paired(piece, k) for piece in g.pieces)


def _paired(piece: Piece, k: int) -> bool:
    """Whether ``ψ^m = c g^n`` on a piece at whose finite ends ``ψ`` vanishes; see the module."""
    g, plain = piece.form, hermite(k - 1)
    if g is None or len(g.terms) != 1 or not g.is_plain:
        return False
    for end in (piece.lower, piece.upper):
        if end is not None and (end.value is None or not plain(end.value).is_zero):
            return False
    half = Surds.of(Fraction(-1, 2)) * hermite(1) ** 2
    psi = Form({(half, ()): plain})
    point = Surds.of(Fraction(1, 7))  # not a zero of any He_k, nor of most links
    for m, n in ((1, 1), (2, 1), (1, 2), (3, 2), (2, 3), (4, 1), (1, 4), (4, 3), (3, 4)):
        try:
            left, right = psi**m, g**n
            scaled = left * at(right, point) - right * at(left, point)
            if at(right, point).terms and vanishes(scaled):
                return True
        except TooHardError:
            continue
    return False
