"""The gated link ``g·σ(g/ρ + b)`` with the logistic ``σ``, and its exponents.

The gate multiplies the label by a function of the label, so the gated link knows nothing that
``g`` does not: where ``E[He_k | g] = 0`` its coefficient of order ``k`` vanishes. For large ``ρ``
and ``b != 0`` its information exponent is the generative exponent of ``g``
(:mod:`~theoryverify.exact.gate_law`); for ``b = 0`` and odd ``g`` it is not, because
``σ(u) - 1/2`` is odd and the odd part of the gated link is ``g/2``.

Source: the gate of a one-layer Mamba in "Mamba can learn low-dimensional targets in-context via
test-time feature learning" (arXiv 2510.12026).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure
from theoryverify.exact.exponents import (
    Exponents,
    InformationExponent,
    coefficient_through,
    exponents,
    information_exponent,
    list_coefficients,
    refuse_constant,
)
from theoryverify.exact.hermite import Coefficient, hermite_coefficient
from theoryverify.exact.link_tree import Call, Node, Number, add, multiply, power
from theoryverify.exact.links import Link, link
from theoryverify.exact.rationals import Exact, positive_integer, rational


class OutsideClaimWarning(UserWarning):
    """The numbers are right, but the paper's claims do not speak there."""


@dataclass(frozen=True)
class Gate:
    """The gate ``y → σ(y/ρ + b)``, averaged over label noise ``±τ``.

    Parameters
    ----------
    rho : Exact
        The scale ``ρ > 0``.
    b : Exact
        The bias.
    noise : Exact
        The size ``τ >= 0`` of the noise; the label is ``g + τ`` or ``g - τ``, equally likely.

    Raises
    ------
    InputError
        For floats, ``ρ <= 0`` or ``τ < 0``.
    """

    rho: Fraction
    b: Fraction
    noise: Fraction = Fraction(0)

    def __init__(self, rho: Exact, b: Exact, noise: Exact = 0) -> None:
        values = {"rho": rational(rho, "rho"), "b": rational(b, "b")}
        values["noise"] = rational(noise, "noise")
        if values["rho"] <= 0:
            raise InputError(f"rho = {rho} must be positive")
        if values["noise"] < 0:
            raise InputError(f"noise = {noise} must not be negative")
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def link(self, g: str | Link) -> Link:
        """``E[y σ(y/ρ + b) | z]`` for ``y = g(z) ± τ``: the link ``g·σ(g/ρ + b)`` without noise."""
        return self.weighted(g, labels=1, openings=1)

    def opening(self, g: str | Link) -> Link:
        """``E[σ(y/ρ + b) | z]``, how far the gate opens."""
        return self.weighted(g, openings=1)

    def weighted(
        self, g: str | Link, *, labels: int = 0, openings: int = 0, closings: int = 0
    ) -> Link:
        """``E[y^i σ(y/ρ+b)^j (1-σ(y/ρ+b))^k | z]`` with ``i, j, k`` labels, openings, closings."""
        for name, value in (("labels", labels), ("openings", openings), ("closings", closings)):
            positive_integer(value, name, least=0)

        def product(y: Node) -> Node:
            # 1-σ(u) = σ(-u), which does not cancel where the gate is open.
            parts = [(y, labels), (self._opening(y, 1), openings), (self._opening(y, -1), closings)]
            return multiply(*[power(node, Fraction(times)) for node, times in parts])

        return Link(self._averaged(link(g).node, product))

    def _opening(self, label: Node, sign: int) -> Node:
        scaled = multiply(Number(sign / self.rho), label)
        return Call("logistic", add(scaled, Number(sign * self.b)))

    def _averaged(self, g: Node, function: Any) -> Node:
        if self.noise == 0:
            return function(g)  # type: ignore[no-any-return]
        both = (function(add(g, Number(sign * self.noise))) for sign in (1, -1))
        return multiply(Number(Fraction(1, 2)), add(*both))

    def warn_if_flat(self, g: str | Link) -> None:
        """Warn of ``b = 0`` and an odd link: there the gate lowers no exponent.

        Warns
        -----
        OutsideClaimWarning
        """
        bare = link(g)
        if self.b == 0 and bare.parity == "odd":
            warnings.warn(
                f"b = 0 and the link {bare} is odd: its gated odd coefficients are half of its own, "
                "so the gate lowers nothing and the paper's claims do not speak (take b < 0)",
                OutsideClaimWarning,
                stacklevel=3,
            )

    def coefficients(
        self, g: str | Link, terms: int, *, norm: str = "orthonormal", digits: int = 30
    ) -> tuple[Coefficient, ...]:
        """Hermite coefficients ``c_0, ..., c_{terms-1}`` of the gated link.

        Parameters
        ----------
        g : str or Link
        terms : int
        norm : {"orthonormal", "raw", "series"}
        digits : int
            See :func:`~theoryverify.exact.hermite.hermite_coefficients`.
        """
        bare = link(g)
        return list_coefficients(self.link(bare), bare, terms, digits, norm)

    def coefficient(self, g: str | Link, k: int, *, digits: int = 30) -> Coefficient:
        """The orthonormal coefficient ``c_k = E[g σ(g/ρ+b) he_k]`` of the gated link."""
        return coefficient_through(self.link(g), link(g), k, digits)

    def opening_rate(self, g: str | Link, *, digits: int = 30) -> Enclosure:
        """``μ_s = E[σ(y/ρ + b)]``."""
        return hermite_coefficient(self.opening(g), 0, digits=digits).enclosure

    def information_exponent(self, g: str | Link, *, digits: int = 30) -> InformationExponent:
        """The information exponent of the gated link, with reasons.

        Raises
        ------
        InputError
            For a constant link.
        """
        bare = link(g)
        refuse_constant(bare, "information")
        return information_exponent(self.link(bare), of=bare, digits=digits)


@dataclass(frozen=True)
class GatedExponents:
    """What the command ``exponent --gate`` shows.

    Parameters
    ----------
    gate : Gate
    bare : Exponents
        Of the link without its gate.
    information : InformationExponent
        Of the gated link.
    coefficients : tuple of Coefficient
        Orthonormal, of the gated link, from order 0 on.
    opening_rate : Enclosure
        ``μ_s``
    """

    gate: Gate
    bare: Exponents
    information: InformationExponent
    coefficients: tuple[Coefficient, ...]
    opening_rate: Enclosure

    def to_json(self) -> dict[str, Any]:
        """The JSON contract of ``exponent --gate``: the gated link, and the bare one beside it."""
        return {
            "information_exponent": self.information.value,
            "information_status": self.information.status,
            "gate": {
                "rho": str(self.gate.rho),
                "b": str(self.gate.b),
                "noise": str(self.gate.noise),
                "opening_rate": self.opening_rate.to_json(),
            },
            "coefficients": [c.to_json() for c in self.coefficients],
            "link": self.bare.to_json(),
        }


def gated_exponents(
    g: str | Link, gate: Gate, terms: int | None = None, *, digits: int = 30
) -> GatedExponents:
    """Exponents and coefficients of a link, bare and gated.

    Parameters
    ----------
    g : str or Link
    gate : Gate
    terms : int, optional
        How many coefficients to list; by default up to the exponents.
    digits : int

    Raises
    ------
    InputError
        For a constant or bad link.
    """
    bare_link = link(g)
    bare = exponents(bare_link, terms, digits=digits)
    information = gate.information_exponent(bare_link, digits=digits)
    listed = len(information.coefficients) + 1 if terms is None else terms
    coefficients = list_coefficients(gate.link(bare_link), bare_link, listed, digits)
    rate = gate.opening_rate(bare_link, digits=digits)
    return GatedExponents(gate, bare, information, coefficients, rate)
