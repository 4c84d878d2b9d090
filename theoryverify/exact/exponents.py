"""The information exponent of a link, with a reason for every coefficient below it.

``information_exponent(g)`` is the least ``k >= 1`` with ``E[g(z) He_k(z)] != 0``. No threshold
decides anything here: a coefficient is zero by parity, by exact arithmetic or by an identity, it
is nonzero where a ball excludes zero, and otherwise the answer is "undecided".

Source: Ben Arous, Gheissari, Jagannath, "Online stochastic gradient descent on non-convex losses
from high-dimensional inference" (2021); for the generative exponent Damian, Pillaud-Vivien, Lee,
Bruna, "Computational-statistical gaps in Gaussian single-index models" (2024).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.balls import Enclosure
from theoryverify.exact.generative import GenerativeExponent, generative_exponent, paired
from theoryverify.exact.hermite import (
    MAX_ORDER,
    Coefficient,
    hermite_coefficient,
    raw_coefficients,
)
from theoryverify.exact.injective import core
from theoryverify.exact.links import Link, link
from theoryverify.exact.rationals import positive_integer

DECIDED, UNDECIDED = "decided", "undecided"


@dataclass(frozen=True)
class InformationExponent:
    """The least ``k >= 1`` with a nonzero Hermite coefficient.

    Parameters
    ----------
    link : str
        The link, in the grammar.
    value : int or None
        The exponent; ``None`` where it is undecided.
    status : {"decided", "undecided"}
    coefficients : tuple of Coefficient
        Orthonormal coefficients of order ``1, 2, ...`` up to the one that decides, or the first
        that could not be told from zero.
    """

    link: str
    value: int | None
    status: str
    coefficients: tuple[Coefficient, ...]

    def __int__(self) -> int:
        if self.value is None:
            raise UndecidedError(f"the information exponent of {self.link} is undecided")
        return self.value

    __index__ = __int__


def information_exponent(
    g: str | Link, *, of: Link | None = None, limit: int = 40, digits: int = 30
) -> InformationExponent:
    """The least ``k >= 1`` with ``E[g(z) He_k(z)] != 0``, ``z ~ N(0, 1)``.

    Parameters
    ----------
    g : str or Link
    of : Link, optional
        A link that ``g`` is a function of, as a gated link is one of the bare link; where
        ``E[He_k | of] = 0`` is proved, the coefficient of ``g`` vanishes too.
    limit : int
        The largest order tried for links that are not polynomials.
    digits : int
        Digits of the coefficients that are listed.

    Raises
    ------
    InputError
        For a constant link, which has no exponent, or a bad one.

    Examples
    --------
    >>> information_exponent("He3(z)/sqrt(6)").value
    3
    """
    g = link(g)
    refuse_constant(g, "information")
    limit = positive_integer(limit, "limit", most=1_000)
    if g.polynomial is not None:
        raw = raw_coefficients(g.polynomial)
        limit = next(k for k in range(1, raw.degree + 1) if not raw[k].is_zero)
    base = of or core(g)
    found: list[Coefficient] = []
    for k in range(1, limit + 1):
        try:
            coefficient = coefficient_through(g, base, k, digits)
        except UndecidedError:
            break
        found.append(coefficient)
        if coefficient.zero is False:
            return InformationExponent(g.text, k, DECIDED, tuple(found))
        if coefficient.zero is None:
            break
    return InformationExponent(g.text, None, UNDECIDED, tuple(found))


def coefficient_through(
    g: Link, base: Link, k: int, digits: int, norm: str = "orthonormal"
) -> Coefficient:
    """A Hermite coefficient of ``g``, using that ``g`` is a function of ``base``."""
    if k and g.polynomial is None and not g.part_vanishes(k) and paired(base, k):
        reason = f"identity: E[He{k} | {base.text}] = 0"
        return Coefficient(k, Enclosure.exactly(0), True, "0", reason)
    return hermite_coefficient(g, k, norm=norm, digits=digits)


def refuse_constant(g: Link, kind: str) -> None:
    """Raise InputError for a link that is proved to be constant."""
    if g.constant:
        raise InputError(f"the link '{g.text[:60]}' is constant: it has no {kind} exponent")


@dataclass(frozen=True)
class Exponents:
    """Both exponents of a link and its first coefficients, as the command ``exponent`` shows them.

    Parameters
    ----------
    information : InformationExponent
    generative : GenerativeExponent
    coefficients : tuple of Coefficient
        Orthonormal coefficients from order 0 on.
    """

    information: InformationExponent
    generative: GenerativeExponent
    coefficients: tuple[Coefficient, ...]

    def to_json(self) -> dict[str, Any]:
        """The JSON contract of the command ``exponent``, and the reasons."""
        return {
            "expression": self.information.link,
            "information_exponent": self.information.value,
            "information_status": self.information.status,
            "generative_exponent": self.generative.value,
            "generative_status": self.generative.status,
            "generative_reasons": list(self.generative.reasons),
            "coefficients": [c.to_json() for c in self.coefficients],
        }


def exponents(g: str | Link, terms: int | None = None, *, digits: int = 30) -> Exponents:
    """Information and generative exponent of a link, with its Hermite coefficients.

    Parameters
    ----------
    g : str or Link
    terms : int, optional
        How many coefficients to list, from order 0. Default: up to the information exponent.
    digits : int
        Digits of the coefficients.

    Raises
    ------
    InputError
        For a constant or bad link, or a bad number.
    """
    g = link(g)
    information = information_exponent(g, digits=digits)
    if terms is None:
        terms = len(information.coefficients) + 1
    coefficients = list_coefficients(g, core(g), terms, digits)
    return Exponents(information, generative_exponent(g), coefficients)


def list_coefficients(
    g: Link, base: Link, terms: int, digits: int, norm: str = "orthonormal"
) -> tuple[Coefficient, ...]:
    """Coefficients of order ``0, ..., terms - 1``, or fewer where one has no finite enclosure."""
    found: list[Coefficient] = []
    with suppress(UndecidedError):
        for k in range(positive_integer(terms, "terms", most=MAX_ORDER + 1)):
            found.append(coefficient_through(g, base, k, digits, norm))
    return tuple(found)
