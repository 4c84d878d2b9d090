"""How the checks' cases are made from ``--link``, ``--rho`` and ``--b``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from theoryverify.claims.ladder import Hypothesis
from theoryverify.claims.parameters import At
from theoryverify.exact.exponents import information_exponent
from theoryverify.exact.gate import Gate
from theoryverify.exact.gate_law import gate_law
from theoryverify.exact.generative import generative_exponent
from theoryverify.exact.hermite import hermite_coefficient
from theoryverify.exact.links import link
from theoryverify.papers.mamba.links import NAMES


@dataclass(frozen=True)
class Gated:
    """A polynomial link, a bias, and a scale or ``None`` for all large ones."""

    link: str
    b: str
    rho: str | None = None

    def __str__(self) -> str:
        name = NAMES.get(self.link, self.link)
        return f"{name} at b = {self.b}" + (f", ρ = {self.rho}" if self.rho else "")


@dataclass(frozen=True)
class GatedHere(Gated):
    """A gate that a user named: the lemma speaks of it only if its scale is large enough."""


def least_scale(text: str, b: str) -> int:
    """``ρ_0(g,b)``: from there on Lagrange's remainder is below 9/10 of the leading term of c_ge."""
    return gate_law(text, int(generative_exponent(text)), b).valid_from("9/10")


def _small(case: object) -> str | None:
    if not isinstance(case, GatedHere) or case.rho is None:
        return None
    if Fraction(case.b) == 0:
        return None  # there may be no ρ_0: the hypothesis on b says so
    least = least_scale(case.link, case.b)
    return None if Fraction(case.rho) >= least else f"ρ = {case.rho} is below ρ₀(g,b) = {least}"


SCALE = Hypothesis("large scale", r"\rho\ge\rho_0(g,b)", _small)


def _off_centre(case: object) -> str | None:
    text = getattr(case, "link", None)
    mean = None if text is None else hermite_coefficient(text, 0)
    if mean is None or mean.zero is True:
        return None
    return f"E[g] = {mean.exact or mean.enclosure} for g = {text}"


def _text(case: object) -> str | None:
    """The link that a case is, or has."""
    text = case if isinstance(case, str) else getattr(case, "text", None)
    return text if isinstance(text, str) else None


def _high(case: object) -> str | None:
    text = _text(case)
    polynomial = None if text is None else link(text).polynomial
    degree = getattr(case, "degree", None) if polynomial is None else polynomial.degree
    return f"the degree is {degree}" if degree is not None and degree > 18 else None


def _not_even(case: object) -> str | None:
    text = _text(case)
    return None if text is None or link(text).parity == "even" else f"{text} is not even"


def _low_exponent(case: object) -> str | None:
    text = _text(case)
    order = None if text is None else information_exponent(text).value
    return f"ie(g) = {order}" if order is not None and order < 4 else None


DEGREE = Hypothesis("degree", r"\deg g\le18", _high)
EVENNESS = Hypothesis("even", r"g(-z)=g(z)", _not_even)
HIGH_EXPONENT = Hypothesis("exponent", r"\mathrm{ie}(g)\ge4", _low_exponent)
CENTRED = Hypothesis("centred", r"\mathbb E[g]=0", _off_centre)


def _polynomial(text: str) -> bool:
    polynomial = link(text).polynomial
    return polynomial is not None and polynomial.degree >= 1


def _facts(case: Gated, values: Mapping[str, Any]) -> dict[str, str]:
    order = generative_exponent(case.link)
    found = {"ie(g)": str(information_exponent(case.link).value), "ge(g)": str(order.value)}
    if Fraction(case.b) != 0:
        found["ρ₀(g,b)"] = str(least_scale(case.link, case.b))
    if case.rho is not None:
        found["ie(g·σ(g/ρ+b))"] = str(Gate(case.rho, case.b).information_exponent(case.link).value)
    return found


POLYNOMIAL = At(lambda link: link if _polynomial(link) else None, needs=("link",))
LINK = At(lambda link: link, needs=("link",))
ALL_SCALES = At(
    lambda link, b: Gated(link, str(b)) if _polynomial(link) else None,
    needs=("link", "b"),
    facts=_facts,
)
GATE = At(
    lambda link, b, rho: GatedHere(link, str(b), str(rho)) if _polynomial(link) else None,
    needs=("link", "b", "rho"),
    facts=_facts,
)
ANY_GATE = At(lambda link, b, rho: Gated(link, str(b), str(rho)), needs=("link", "b", "rho"))


def _odd(link_: str, rho: Fraction) -> Gated | None:
    odd = _polynomial(link_) and link(link_).parity == "odd"
    return Gated(link_, "0", str(rho)) if odd else None


ODD_AT_ZERO = At(lambda link, rho: _odd(link, rho), needs=("link", "rho"))
