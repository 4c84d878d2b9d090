"""A normal form for links: sums of ``polynomial · exp(polynomial) · atoms``.

Two links are compared by bringing their difference to this form. Without atoms the form is
canonical: the functions ``z^n exp(P(z))`` with different ``(n, P)`` are linearly independent over
numbers ``Σ a_j e^{b_j}``, and such a number with algebraic ``a_j != 0`` and different algebraic
``b_j`` is never zero (Lindemann-Weierstrass). Atoms (``tanh``, ``erf``, reciprocals, ...) stand
for themselves, so with them an empty form still proves "zero" while a non-empty one proves
nothing. Sines and cosines become complex exponentials.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from flint import acb, arb

from theoryverify.exact.surds import ONE, ZERO, Surds, TooHardError, signed_sum

_MAX_TERMS = 600
_MAX_POWER = 60


@dataclass(frozen=True)
class Atom:
    """A function of a form that the form does not look into."""

    name: str
    argument: Form

    def __str__(self) -> str:
        return "1/sqrt(2*pi)" if self.name == "phi" else f"{self.name}({self.argument})"


Key = tuple[Surds, tuple[tuple[Atom, int], ...]]
"""The exponent ``P`` and the powers of the atoms of one term."""

PLAIN: Key = (ZERO, ())


class Form:
    """An immutable sum ``Σ A(z) exp(P(z)) Π atom^power``; see the module."""

    def __init__(self, terms: Mapping[Key, Surds]) -> None:
        self.terms = {key: a for key, a in terms.items() if not a.is_zero}
        if len(self.terms) > _MAX_TERMS:
            raise TooHardError(f"more than {_MAX_TERMS} terms")

    @classmethod
    def of(cls, value: Surds) -> Form:
        return cls({PLAIN: value})

    @classmethod
    def atom(cls, name: str, argument: Form) -> Form:
        return cls({(ZERO, ((Atom(name, argument), 1),)): ONE})

    def __add__(self, other: Form) -> Form:
        terms = dict(self.terms)
        for key, a in other.terms.items():
            terms[key] = terms[key] + a if key in terms else a
        return Form(terms)

    def __neg__(self) -> Form:
        return Form({key: -a for key, a in self.terms.items()})

    def __sub__(self, other: Form) -> Form:
        return self + (-other)

    def __mul__(self, other: Form) -> Form:
        if len(self.terms) * len(other.terms) > 50 * _MAX_TERMS:
            raise TooHardError("a product of long sums")
        terms: dict[Key, Surds] = {}
        for (p, atoms), a in self.terms.items():
            for (q, more), b in other.terms.items():
                coefficient, merged = _merge(a * b, atoms, more)
                key = (p + q, merged)
                terms[key] = terms[key] + coefficient if key in terms else coefficient
        return Form(terms)

    def __pow__(self, exponent: int) -> Form:
        if (plain := self.polynomial) is not None:
            return Form.of(plain**exponent)
        if exponent > _MAX_POWER:
            raise TooHardError(f"the power {exponent} of a sum")
        result = Form.of(ONE)
        for _ in range(exponent):
            result = result * self
        return result

    # What kind of form it is.

    @property
    def polynomial(self) -> Surds | None:
        """The form as a polynomial, where it has no exponentials and no atoms."""
        if not self.terms:
            return ZERO
        return self.terms.get(PLAIN) if len(self.terms) == 1 else None

    @property
    def is_plain(self) -> bool:
        """Whether there are no atoms, so that the form is canonical."""
        return all(not atoms for _, atoms in self.terms)

    @property
    def is_number(self) -> bool:
        return all(
            a.is_constant and p.is_constant and all(atom.argument.is_number for atom, _ in atoms)
            for (p, atoms), a in self.terms.items()
        )

    def number(self) -> acb:
        """A ball around a number, at the current precision."""
        total = acb(0)
        for (p, atoms), a in self.terms.items():
            term = a.number() * p.number().exp()
            for atom, power in atoms:
                term *= numeric(atom.name, atom.argument.number()) ** power
            total += term
        return total

    # As keys and text.

    @cached_property
    def _frozen(self) -> frozenset[tuple[Key, Surds]]:
        return frozenset(self.terms.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and self._frozen == other._frozen

    def __hash__(self) -> int:
        return hash(self._frozen)

    def __str__(self) -> str:
        return signed_sum(sorted(_shown(key, a) for key, a in self.terms.items()))

    def __repr__(self) -> str:
        return f"Form({self})"


def _merge(
    coefficient: Surds, left: tuple[tuple[Atom, int], ...], right: tuple[tuple[Atom, int], ...]
) -> tuple[Surds, tuple[tuple[Atom, int], ...]]:
    powers = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + power
    for atom in list(powers):
        if atom.name == "sign" and powers[atom] > 1:  # sign² = 1 almost everywhere
            powers[atom] %= 2
        inner = atom.argument.polynomial
        if atom.name.startswith("root") and inner is not None:
            whole, powers[atom] = divmod(powers[atom], int(atom.name[4:]))
            coefficient = coefficient * inner**whole
        divisor = inner if atom.name == "inverse" else None
        while divisor is not None and powers[atom] and coefficient.degree >= divisor.degree:
            quotient, rest = coefficient.divide(divisor)
            if not rest.is_zero:
                break
            coefficient, powers[atom] = quotient, powers[atom] - 1
    kept = ((atom, power) for atom, power in powers.items() if power)
    return coefficient, tuple(sorted(kept, key=lambda item: (str(item[0]), item[1])))


def _shown(key: Key, coefficient: Surds) -> str:
    exponent, atoms = key
    factors = [str(coefficient)]
    if " " in factors[0] and (atoms or not exponent.is_zero):
        factors[0] = f"({factors[0]})"
    if not exponent.is_zero:
        factors.append(f"exp({exponent})")
    factors += [str(atom) if power == 1 else f"{atom}**{power}" for atom, power in atoms]
    text = "*".join(factors).replace("*1/sqrt", "/sqrt")
    return text.replace("1*", "", 1) if factors[0] in ("1", "-1") and len(factors) > 1 else text


def numeric(name: str, value: acb) -> acb:
    """The value of an atom at a real number in a ball, at the current precision."""
    if name.startswith("root"):
        return acb(value.real.root(int(name[4:])))
    return _NUMERIC[name](value)


_NUMERIC: dict[str, Callable[[acb], acb]] = {
    "exp": lambda u: u.exp(),
    "log": lambda u: acb(u.real.log()),
    "sin": lambda u: u.sin(),
    "cos": lambda u: u.cos(),
    "tanh": lambda u: u.tanh(),
    "erf": lambda u: u.erf(),
    "abs": lambda u: acb(abs(u.real)),
    "sign": lambda u: acb(u.real.sgn()),
    "inverse": lambda u: 1 / u,
    # The Gaussian distribution function (of complex numbers too), and 1/√(2π).
    "Phi": lambda u: (-u / arb(2).sqrt()).erfc() / 2,
    "phi": lambda u: acb(1 / (2 * arb.pi()).sqrt()),
}
