"""Re-verify the certificates of ``theoryverify check --certificates DIR``, by other means.

This file needs nothing but Python: no other part of theoryverify, no SymPy, no FLINT. Copy it alone
and run ``python certify.py DIR``. It does its own polynomial arithmetic on integers, its own
interval arithmetic on integers, its own quadrature (Taylor series with the remainder enclosed) and
its own Sturm sequences. What a certificate holds and what is trusted is in ``docs/certificates.md``.

Every file is read as hostile: its size, depth, digits, exponents and work are bounded.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

FORMAT = 1
MAX_BYTES = 64 * 2**20
MAX_DEPTH = 150
MAX_TEXT = 400_000
MAX_EXPONENT = 20_000
MAX_WORK = 30_000_000
MAX_BITS = 2_000_000
MAX_PRIME = 10_000
_SHIFT = 28
"""Bits of one exponent in a packed monomial; degrees stay far below 2^28."""
_MAX_DEGREE = 2**26

Tree = Any
"""A number ``"p/q"``, or ``[operation, ...]``; see docs/certificates.md."""
_NUMBER = re.compile(r"-?(\d{1,4000}|0x[0-9a-f]+)(/(\d{1,4000}|0x[0-9a-f]+))?", re.ASCII)


class Rejected(Exception):
    """The certificate is malformed, or says something that is not so."""


class Unverified(Exception):
    """Neither confirmed nor contradicted: beyond what this checker can do."""


def require(condition: bool, message: str) -> None:
    if not condition:
        raise Rejected(message)


def number(text: Any) -> Fraction:
    """``"3"``, ``"-1/2"`` or, for long ones, ``"0x..."`` with a hexadecimal denominator."""
    require(isinstance(text, str) and len(text) <= MAX_TEXT, "a number must be a short text")
    require(_NUMBER.fullmatch(text) is not None, f"{text[:40]!r} is not a number")
    sign, body = (-1, text[1:]) if text.startswith("-") else (1, text)
    top, _, bottom = body.partition("/")
    denominator = int(bottom or "1", 0 if bottom.startswith("0x") else 10)
    require(denominator != 0, "a denominator is zero")
    return Fraction(sign * int(top, 0 if top.startswith("0x") else 10), denominator)


def whole(value: Any, name: str, low: int, high: int) -> int:
    good = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
    require(good, f"{name} must be an integer between {low} and {high}")
    return int(value)


def items(value: Any, name: str) -> list[Any]:
    require(isinstance(value, list), f"{name} must be a list")
    return list(value)


def text(value: Any, name: str) -> str:
    require(isinstance(value, str) and len(value) <= MAX_TEXT, f"{name} must be a text")
    return str(value)


# -- polynomials over the integers -------------------------------------------------------------

Poly = dict[int, int]
"""From packed monomials (``_SHIFT`` bits an atom) to nonzero coefficients."""


def p_add(left: Poly, right: Poly, factor: int = 1) -> Poly:
    result = dict(left)
    for monomial, coefficient in right.items():
        total = result.get(monomial, 0) + factor * coefficient
        if total:
            result[monomial] = total
        else:
            result.pop(monomial, None)
    return result


def p_scale(poly: Poly, factor: int) -> Poly:
    return {m: c * factor for m, c in poly.items()} if factor else {}


def exponents(monomial: int) -> Iterator[tuple[int, int]]:
    """``(atom, exponent)`` of a packed monomial."""
    atom, mask = 0, (1 << _SHIFT) - 1
    while monomial:
        if monomial & mask:
            yield atom, monomial & mask
        monomial >>= _SHIFT
        atom += 1


def p_degree(poly: Poly) -> int:
    return max((e for m in poly for _, e in exponents(m)), default=0)


def p_content(poly: Poly) -> int:
    return math.gcd(*poly.values()) if poly else 0


Key = tuple[Any, ...]


@dataclass(frozen=True)
class Rat:
    """``num / (q * product of den[i]^e)``: a rational function of atoms."""

    num: Poly
    q: int = 1
    den: dict[int, int] = field(default_factory=dict)

    def constant(self) -> Fraction | None:
        """The value where there is no atom in it."""
        if self.den or any(self.num):
            return None
        return Fraction(self.num.get(0, 0), self.q)


class Field:
    """Rational functions of symbols, of powers with symbolic exponents, of roots and constants.

    A power ``b^(nT+k)`` is ``(b^T)^n b^k`` with an atom for ``b^T``; products under an integer
    exponent are split first, along factors that division confirms. Atoms are independent but for
    the relations noted (``√2² = 2``), so what is zero here is zero.
    """

    def __init__(self, symbols: dict[str, frozenset[str]], factors: Sequence[Tree] = ()) -> None:
        self.symbols = symbols
        self.keys: list[Key] = []
        self.index: dict[Key, int] = {}
        self.relations: dict[int, tuple[int, Rat]] = {}
        self.denominators: list[Poly] = []
        self.denominator_index: dict[frozenset[tuple[int, int]], int] = {}
        self.work, self.patience = 0, MAX_WORK
        self.hints: list[Poly] = []
        for tree in factors:
            self.hints.append(self.primitive(self.rat(tree).num)[1])

    # -- arithmetic --------------------------------------------------------------------------

    def atom(self, key: Key) -> int:
        if key not in self.index:
            if len(self.keys) > 400:
                raise Unverified("too many different powers and functions")
            self.index[key] = len(self.keys)
            self.keys.append(key)
        return self.index[key]

    def generator(self, key: Key) -> Rat:
        return Rat({1 << (_SHIFT * self.atom(key)): 1})

    def p_mul(self, left: Poly, right: Poly) -> Poly:
        bits = sum(max((abs(c).bit_length() for c in p.values()), default=0) for p in (left, right))
        self.work += len(left) * len(right) * (1 + bits // 256)
        if self.work > self.patience:
            raise Unverified("more work than this checker does for one step")
        if p_degree(left) + p_degree(right) > _MAX_DEGREE:
            raise Unverified("a degree is too large")
        result: Poly = {}
        for m, c in left.items():
            for n, d in right.items():
                key = m + n
                result[key] = result.get(key, 0) + c * d
        big = max((abs(c).bit_length() for c in result.values()), default=0)
        self.work += (big // 64) * len(result) // 8
        if big > MAX_BITS:
            raise Unverified("a coefficient is too long")
        return {m: c for m, c in result.items() if c}

    def p_power(self, base: Poly, exponent: int) -> Poly:
        result: Poly = {0: 1}
        while exponent:
            if exponent & 1:
                result = self.p_mul(result, base)
            exponent >>= 1
            base = self.p_mul(base, base) if exponent else base
        return result

    def primitive(self, poly: Poly) -> tuple[int, Poly]:
        """``(c, p)`` with ``poly = c p``, coprime coefficients and a positive leading one."""
        content = p_content(poly)
        if content and poly[max(poly)] < 0:
            content = -content
        return content, {m: c // content for m, c in poly.items()} if content else {}

    def divisor(self, poly: Poly) -> tuple[int, dict[int, int]]:
        """``poly`` as an integer times known denominators."""
        content, rest = self.primitive(poly)
        common, rest = monomial_content(rest)
        found: dict[int, int] = {}
        parts = [({1 << (_SHIFT * atom): 1}, power) for atom, power in exponents(common)]
        if rest != {0: 1}:
            parts.append((rest, 1))
        for part, power in parts:
            frozen = frozenset(part.items())
            if frozen not in self.denominator_index:
                self.denominator_index[frozen] = len(self.denominators)
                self.denominators.append(part)
            place = self.denominator_index[frozen]
            found[place] = found.get(place, 0) + power
        return content, found

    def multiplied(self, poly: Poly, den: dict[int, int]) -> Poly:
        for place, power in den.items():
            if power:
                poly = self.p_mul(poly, self.p_power(self.denominators[place], power))
        return poly

    def add(self, left: Rat, right: Rat) -> Rat:
        common: dict[int, int] = {
            i: max(left.den.get(i, 0), right.den.get(i, 0)) for i in {*left.den, *right.den}
        }
        q = math.lcm(left.q, right.q)
        parts = [
            p_scale(
                self.multiplied(side.num, {i: e - side.den.get(i, 0) for i, e in common.items()}),
                q // side.q,
            )
            for side in (left, right)
        ]
        return reduced(p_add(parts[0], parts[1]), q, common)

    def mul(self, left: Rat, right: Rat) -> Rat:
        den = dict(left.den)
        for i, e in right.den.items():
            den[i] = den.get(i, 0) + e
        return reduced(self.p_mul(left.num, right.num), left.q * right.q, den)

    def inverse(self, value: Rat) -> Rat:
        require(bool(value.num), "a division by zero")
        content, den = self.divisor(value.num)
        num = self.multiplied({0: value.q}, value.den)
        return reduced(p_scale(num, -1) if content < 0 else num, abs(content), den)

    def power(self, base: Rat, exponent: int) -> Rat:
        hurried = self.patience < MAX_WORK and abs(exponent) > 200 and len(base.num) > 1
        if hurried or abs(exponent) > MAX_EXPONENT:
            raise Unverified(f"an exponent beyond {MAX_EXPONENT}")
        if exponent < 0:
            base, exponent = self.inverse(base), -exponent
        den = {i: e * exponent for i, e in base.den.items()}
        if max(base.q.bit_length(), 1) * exponent > MAX_BITS:
            raise Unverified("a number is too long")
        return reduced(self.p_power(base.num, exponent), base.q**exponent, den)

    def negative(self, value: Rat) -> Rat:
        return Rat(p_scale(value.num, -1), value.q, value.den)

    # -- trees -------------------------------------------------------------------------------

    def rat(self, tree: Tree, at: dict[str, Rat] | None = None) -> Rat:
        if isinstance(tree, str):
            return constant(number(tree))
        require(isinstance(tree, list) and bool(tree), "an expression is a text or a list")
        kind, *rest = tree
        if kind == "s":
            name = text(rest[0] if rest else None, "a symbol")
            if at and name in at:
                return at[name]
            require(name in self.symbols, f"the symbol {name!r} is not declared")
            return self.generator(("s", name))
        if kind in ("+", "*"):
            values = [self.rat(part, at) for part in rest]
            require(bool(values), "an empty sum or product")
            total = values[0]
            for value in values[1:]:
                total = self.add(total, value) if kind == "+" else self.mul(total, value)
            return total
        if kind == "^":
            require(len(rest) == 2, "a power has a base and an exponent")
            return self.raised(self.rat(rest[0], at), self.rat(rest[1], at))
        if kind == "pi":
            return self.generator(("pi",))
        if kind == "i":
            return self.root(Rat({0: -1}), Fraction(1, 2))
        if kind == "f":
            return self.function(text(rest[0] if rest else None, "a function"), rest[1:], at)
        if kind == "G":
            return self.gaussian(rest, at)
        if kind == "E":
            return self.expectation(rest, at)
        if kind == "X":
            return self.chi_square(rest, at)
        if kind == "o":
            if at:
                raise Unverified("an argument within an expression that is not opened")
            return self.generator(("o", text(rest[0] if rest else None, "a name")))
        raise Unverified(f"no exact form of {str(kind)[:40]!r}")

    def function(self, name: str, arguments: list[Tree], at: dict[str, Rat] | None) -> Rat:
        values = [self.rat(part, at) for part in arguments]
        if name == "exp" and len(values) == 1:
            return self.raised(self.generator(("e",)), values[0])
        if name == "log" and len(values) == 1:
            return self.logarithm(values[0])
        return self.generator(("f", name, *(self.canonical(value) for value in values)))

    def logarithm(self, value: Rat) -> Rat:
        """A sum over the factors where all of them are positive."""
        parts = self.factored(value)
        if not all(self.positive(key) for key, _ in parts):
            return self.generator(("f", "log", self.canonical(value)))
        total = Rat({})
        for key, multiplicity in parts:
            factor = Rat({0: multiplicity})
            if key[0] in ("p", "r"):
                inner = self.exponent_of(key)
                factor, key = self.mul(factor, inner), key[1]
            term = Rat({0: 1}) if key == ("e",) else self.generator(("f", "log", key))
            total = self.add(total, self.mul(factor, term))
        return total

    def canonical(self, value: Rat) -> Key:
        value = self.normal(value)
        return frozenset(value.num.items()), value.q, frozenset(value.den.items())

    # -- powers ------------------------------------------------------------------------------

    def raised(self, base: Rat, exponent: Rat) -> Rat:
        exponent = self.normal(exponent)
        constant = exponent.constant()
        if constant is not None and constant.denominator == 1:
            return self.power(base, int(constant))
        if not base.num:
            raise Unverified("a power of zero with an open exponent")
        if constant is not None:
            return self.root(base, constant)
        result = Rat({0: 1})
        integer = self.integer(exponent)
        parts = self.factored(base) if integer else self.split_positive(base)
        for key, multiplicity in parts:
            scaled = self.mul(exponent, Rat({0: multiplicity}))
            result = self.mul(result, self.single(key, scaled, integer))
        return result

    def single(self, key: Key, exponent: Rat, integer: bool) -> Rat:
        """``key^exponent``, a term of the exponent at a time."""
        if key[0] in ("p", "r") and (integer or self.positive(key[1])):
            inner = self.mul(exponent, self.exponent_of(key))
            return self.single(key[1], inner, self.integer(inner))
        if key == ("n", 1):
            return Rat({0: 1})
        if exponent.den:
            if exponent.num[max(exponent.num)] < 0:  # e^{-u} is the inverse of e^u
                positive = self.single(key, self.negative(exponent), integer)
                return self.inverse(positive)
            return self.generator(("p", key, ("any", self.canonical(exponent))))
        result = Rat({0: 1})
        for monomial, coefficient in exponent.num.items():
            ratio = Fraction(coefficient, exponent.q)
            if monomial == 0:
                base = self.value_of(key)
                term = (
                    self.power(base, int(ratio))
                    if ratio.denominator == 1
                    else self.root(base, ratio)
                )
            else:
                term = self.unit_power(key, monomial, ratio, integer)
            result = self.mul(result, term)
        return result

    def unit_power(self, key: Key, monomial: int, ratio: Fraction, integer: bool) -> Rat:
        count = ratio.numerator
        if key == ("n", -1) and integer:
            require(ratio.denominator == 1, "a sign with half an exponent")
            names = [self.keys[atom] for atom, _ in exponents(monomial)]
            if any("even" in self.declared(name) for name in names):
                return Rat({0: 1})
            count %= 2
        unit = ("unit", self.named(monomial), ratio.denominator)
        power = self.generator(("p", key, unit))
        if key == ("n", -1) and integer:
            self.relations[self.atom(("p", key, unit))] = (2, Rat({0: 1}))
        return self.power(power, count)

    def named(self, monomial: int) -> Key:
        return tuple((self.keys[atom], power) for atom, power in exponents(monomial))

    def exponent_of(self, key: Key) -> Rat:
        """The exponent of a power's atom."""
        if key[0] == "r":
            return Rat({0: 1}, key[2])
        if key[2][0] == "any":
            raise Unverified("a power of a power with a fraction as its exponent")
        _, named, q = key[2]
        monomial = sum(power << (_SHIFT * self.atom(part)) for part, power in named)
        return Rat({monomial: 1}, q)

    def value_of(self, key: Key) -> Rat:
        if key[0] == "n":
            return Rat({0: key[1]})
        if key[0] == "poly":
            return Rat(dict(key[1]))
        if key[0] == "quotient":
            return self.mul(self.value_of(key[1]), self.inverse(self.value_of(key[2])))
        return self.generator(key)

    def root(self, base: Rat, exponent: Fraction) -> Rat:
        """``base^exponent`` for a constant fraction: roots of positive factors, then the rest."""
        result = Rat({0: 1})
        for key, multiplicity in self.split_positive(base):
            total = exponent * multiplicity
            if key[0] in ("p", "r") and self.positive(key[1]):
                part = self.mul(self.exponent_of(key), Rat({0: total.numerator}, total.denominator))
                result = self.mul(result, self.single(key[1], part, False))
                continue
            floor = math.floor(total)
            left = total - floor
            value = self.value_of(key)
            result = self.mul(result, self.power(value, floor))
            if left and key != ("n", 1):
                name = ("r", key, left.denominator)
                generator = self.generator(name)
                self.relations[self.atom(name)] = (left.denominator, value)
                result = self.mul(result, self.power(generator, left.numerator))
        return result

    def factored(self, value: Rat) -> list[tuple[Key, int]]:
        """Factors and multiplicities: integers' primes, atoms, known polynomials, the rest."""
        value = self.normal(value)
        found: dict[Key, int] = {}

        def put(key: Key, power: int) -> None:
            found[key] = found.get(key, 0) + power

        for key, power in self.factored_poly(value.num):
            put(key, power)
        for key, power in self.factored_poly({0: value.q}):
            put(key, -power)
        for place, e in value.den.items():
            for key, power in self.factored_poly(self.denominators[place]):
                put(key, -power * e)
        return [(key, power) for key, power in found.items() if power]

    def factored_poly(self, poly: Poly) -> list[tuple[Key, int]]:
        content, rest = self.primitive(poly)
        result: list[tuple[Key, int]] = [(("n", prime), power) for prime, power in primes(content)]
        common, rest = monomial_content(rest)
        result += [(self.keys[atom], power) for atom, power in exponents(common)]
        for hint in self.hints:
            power = 0
            while len(hint) > 1 and len(rest) > 1:
                quotient = self.divided(rest, hint)
                if quotient is None:
                    break
                rest, power = quotient, power + 1
            if power:
                result.append((("poly", tuple(sorted(hint.items()))), power))
        if rest != {0: 1}:
            sign, rest = self.primitive(rest)
            result += [(("n", prime), power) for prime, power in primes(sign)]
            if rest != {0: 1}:
                result.append((("poly", tuple(sorted(rest.items()))), 1))
        return result

    def divided(self, poly: Poly, by: Poly) -> Poly | None:
        """The exact quotient over the integers, or ``None``."""
        lead = max(by)
        quotient: Poly = {}
        rest = dict(poly)
        while rest:
            top = max(rest)
            if rest[top] % by[lead] or not divides(lead, top):
                return None
            term = {top - lead: rest[top] // by[lead]}
            quotient = p_add(quotient, term)
            rest = p_add(rest, self.p_mul(term, by), -1)
        return quotient

    def split_positive(self, value: Rat) -> list[tuple[Key, int]]:
        """Positive factors apart; what is not known to be positive stays one factor."""
        parts = self.factored(value)
        good = [(key, power) for key, power in parts if self.positive(key)]
        rest = [(key, power) for key, power in parts if not self.positive(key)]
        if not rest:
            return good
        top, bottom = Rat({0: 1}), Rat({0: 1})
        for key, power in rest:
            part = self.power(self.value_of(key), abs(power))
            top, bottom = (
                (self.mul(top, part), bottom)
                if power > 0
                else (
                    top,
                    self.mul(bottom, part),
                )
            )
        if len(rest) == 1 and rest[0] == (("n", -1), 1):
            return [*good, (("n", -1), 1)]
        upper: Key = ("poly", tuple(sorted(top.num.items())))
        if bottom.num == {0: 1}:
            return [*good, (upper, 1)]
        return [*good, (("quotient", upper, ("poly", tuple(sorted(bottom.num.items())))), 1)]

    def declared(self, key: Key) -> frozenset[str]:
        return self.symbols.get(key[1], frozenset()) if key[0] == "s" else frozenset()

    def positive(self, key: Key) -> bool:
        if key[0] == "n":
            return bool(key[1] > 0)
        if key[0] in ("pi", "e"):
            return True
        if key[0] == "s":
            return "positive" in self.declared(key)
        if key[0] == "poly":
            return self.positive_poly(dict(key[1]))
        return key[0] in ("p", "r") and self.positive(key[1])

    def positive_poly(self, poly: Poly) -> bool:
        """Nonnegative coefficients in atoms that are >= 0, one term of positive atoms alone."""
        strict = False
        for monomial, coefficient in poly.items():
            keys = [self.keys[atom] for atom, _ in exponents(monomial)]
            sure = all(self.positive(key) for key in keys)
            even = all(
                self.nonnegative(self.keys[a]) or (e % 2 == 0 and self.keys[a][0] == "s")
                for a, e in exponents(monomial)
            )
            if coefficient < 0 or not even:
                return False
            strict = strict or sure
        return strict

    def nonnegative(self, key: Key) -> bool:
        return self.positive(key) or "nonnegative" in self.declared(key)

    def integer(self, value: Rat) -> bool:
        return (
            not value.den
            and all(c % value.q == 0 for c in value.num.values())
            and all(
                "integer" in self.declared(self.keys[atom])
                for monomial in value.num
                for atom, _ in exponents(monomial)
            )
        )

    # -- zero --------------------------------------------------------------------------------

    def normal(self, value: Rat) -> Rat:
        """With ``a^q = v`` used for every root, the newest first."""
        for atom in sorted(self.relations, reverse=True):
            q, relation = self.relations[atom]
            place = 1 << (_SHIFT * atom)
            parts: dict[int, Poly] = {}
            for monomial, coefficient in value.num.items():
                power = (monomial >> (_SHIFT * atom)) & ((1 << _SHIFT) - 1)
                key = monomial - (power - power % q) * place
                part = parts.setdefault(power // q, {})
                part[key] = part.get(key, 0) + coefficient
            if set(parts) <= {0}:
                continue
            total = Rat({})
            for count, part in parts.items():
                clean = {m: c for m, c in part.items() if c}
                total = self.add(total, self.mul(Rat(clean), self.power(relation, count)))
            value = self.mul(total, Rat({0: 1}, value.q, value.den))
        return value

    def is_zero(self, value: Rat) -> bool:
        if self.normal(value).num:
            return False
        for place in value.den:
            require(bool(self.normal(Rat(self.denominators[place])).num), "a denominator vanishes")
        return True

    def equal(self, left: Rat, right: Rat) -> bool:
        return self.is_zero(self.add(left, self.negative(right)))

    # -- means -------------------------------------------------------------------------------

    def powers_of(self, rest: list[Any], at: dict[str, Rat] | None) -> tuple[Rat, dict[int, Rat]]:
        """``(1, coefficients)`` of the integrand as a polynomial in the variable."""
        name, tree = text(rest[0], "a variable"), rest[1]
        symbols = dict(self.symbols)
        self.symbols = symbols | {name: frozenset(("real",))}
        try:
            inner = {key: value for key, value in (at or {}).items() if key != name}
            value = self.normal(self.rat(tree, inner))
            atom = self.atom(("s", name))
        finally:
            self.symbols = symbols
        for other, key in enumerate(self.keys):
            if other != atom and mentions(key, ("s", name), self.keys):
                used = any((m >> (_SHIFT * other)) & ((1 << _SHIFT) - 1) for m in value.num)
                if used:
                    raise Unverified("the mean of a function that is no polynomial")
            if key[0] == "o" and any(
                (m >> (_SHIFT * other)) & ((1 << _SHIFT) - 1) for m in value.num
            ):
                raise Unverified("the mean of an expression that is not opened")
        found: dict[int, Poly] = {}
        for monomial, coefficient in value.num.items():
            power = (monomial >> (_SHIFT * atom)) & ((1 << _SHIFT) - 1)
            found.setdefault(power, {})[monomial - (power << (_SHIFT * atom))] = coefficient
        den = dict(value.den)
        shift = 0
        for place in list(den):
            poly = self.denominators[place]
            if poly == {1 << (_SHIFT * atom): 1}:
                shift = den.pop(place)
            elif any((m >> (_SHIFT * atom)) & ((1 << _SHIFT) - 1) for m in poly):
                raise Unverified("the mean of a function with a denominator")
        return Rat({0: 1}, value.q, den), {k - shift: Rat(p) for k, p in found.items()}

    def averaged(
        self, rest: list[Any], at: dict[str, Rat] | None, moment: Callable[[int], Rat]
    ) -> Rat:
        scale, found = self.powers_of(rest, at)
        total = Rat({})
        for power, coefficient in found.items():
            total = self.add(total, self.mul(moment(power), coefficient))
        return self.mul(total, scale)

    def gaussian(self, rest: list[Any], at: dict[str, Rat] | None) -> Rat:
        """The mean over a standard normal variable."""
        require(len(rest) == 2, "a Gaussian mean has a variable and an integrand")

        def moment(order: int) -> Rat:
            if order < 0:
                raise Unverified("a Gaussian mean of a pole")
            return constant(0 if order % 2 else math.prod(range(1, order, 2)))

        return self.averaged(rest, at, moment)

    def chi_square(self, rest: list[Any], at: dict[str, Rat] | None) -> Rat:
        """The mean over ``s = chi-square_L / L``: ``E s^k = prod_(i<k) (L+2i)/L``."""
        require(len(rest) == 3, "a mean has a number, a variable and an integrand")
        degrees = whole_number(rest[0])
        require(degrees > 0, "degrees of freedom")

        def moment(order: int) -> Rat:
            if order < 0:
                raise Unverified("the mean of a pole")
            return constant(
                Fraction(math.prod(degrees + 2 * i for i in range(order)), degrees**order)
            )

        return self.averaged(rest[1:], at, moment)

    def expectation(self, rest: list[Any], at: dict[str, Rat] | None) -> Rat:
        require(len(rest) == 3, "an expectation has a law, a variable and an integrand")
        law, name, tree = Law.read(rest[0]), text(rest[1], "a variable"), rest[2]
        atoms = law.atoms()
        if atoms is not None:
            total = Rat({})
            for point, weight in atoms:
                value = Rat({0: point.numerator} if point else {}, point.denominator)
                term = self.rat(tree, (at or {}) | {name: value})
                mass = Rat({0: weight.numerator}, weight.denominator)
                total = self.add(total, self.mul(mass, term))
            return total
        return self.averaged(rest[1:], at, lambda order: law.exact_moment(self, order))


def constant(value: Fraction | int) -> Rat:
    value = Fraction(value)
    return Rat({0: value.numerator} if value else {}, value.denominator)


def mentions(key: Any, wanted: Key, keys: list[Key]) -> bool:
    """Whether an atom's name contains another atom, in a canonical form or a power."""
    if key == wanted:
        return True
    if isinstance(key, frozenset) or (isinstance(key, tuple) and key and key[0] == "poly"):
        pairs = key if isinstance(key, frozenset) else key[1]
        return any(
            mentions(keys[atom], wanted, keys)
            for pair in pairs
            for atom, _ in exponents(pair[0])
            if atom < len(keys) and keys[atom] != key
        )
    return isinstance(key, tuple) and any(mentions(part, wanted, keys) for part in key)


def reduced(num: Poly, q: int, den: dict[int, int]) -> Rat:
    if not num:
        return Rat({})
    common = math.gcd(p_content(num), q)
    if common > 1:
        num, q = {m: c // common for m, c in num.items()}, q // common
    return Rat(num, q, {i: e for i, e in den.items() if e})


def monomial_content(poly: Poly) -> tuple[int, Poly]:
    """The largest monomial that divides, and the quotient."""
    if not poly:
        return 0, poly
    least: dict[int, int] | None = None
    for monomial in poly:
        here = dict(exponents(monomial))
        least = (
            here if least is None else {a: min(e, here[a]) for a, e in least.items() if a in here}
        )
        if not least:
            return 0, poly
    common = sum(e << (_SHIFT * a) for a, e in (least or {}).items())
    return common, {m - common: c for m, c in poly.items()}


def divides(lower: int, upper: int) -> bool:
    available = dict(exponents(upper))
    return all(available.get(atom, 0) >= e for atom, e in exponents(lower))


def primes(value: int) -> list[tuple[int, int]]:
    """Signed trial division; what is left beyond the bound stays one factor."""
    result = [(-1, 1)] if value < 0 else []
    value = abs(value)
    candidate = 2
    while candidate <= MAX_PRIME and candidate * candidate <= value:
        power = 0
        while value % candidate == 0:
            value, power = value // candidate, power + 1
        if power:
            result.append((candidate, power))
        candidate += 1 if candidate == 2 else 2
    if value > 1:
        result.append((value, 1))
    return result


# -- real numbers between two others -----------------------------------------------------------


@dataclass(frozen=True)
class Between:
    """``[low * 2^exponent, high * 2^exponent]``."""

    low: int
    high: int
    exponent: int = 0

    @property
    def sign(self) -> int | None:
        if self.low > 0:
            return 1
        if self.high < 0:
            return -1
        return 0 if self.low == self.high == 0 else None

    def ends(self) -> tuple[Fraction, Fraction]:
        if abs(self.exponent) > 40 * MAX_BITS:
            raise Unverified("a number is too large or too small")
        scale = Fraction(2) ** self.exponent
        return self.low * scale, self.high * scale


class Reals:
    """Interval arithmetic with ``bits`` bits, every operation rounded outward."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.work = 0
        self._constants: dict[str, tuple[int, int]] = {}

    def rounded(self, low: int, high: int, exponent: int) -> Between:
        excess = max(low.bit_length(), high.bit_length()) - self.bits
        if excess > 0:
            low, high, exponent = low >> excess, -(-high >> excess), exponent + excess
        return Between(low, high, exponent)

    def of(self, value: Fraction | int) -> Between:
        value = Fraction(value)
        if value.denominator == 1:
            return self.rounded(value.numerator, value.numerator, 0)
        up = max(0, self.bits + value.denominator.bit_length() - value.numerator.bit_length() + 2)
        low, rest = divmod(value.numerator << up, value.denominator)
        return self.rounded(low, low + (rest != 0), -up)

    def add(self, x: Between, y: Between) -> Between:
        self.work += 1
        if x.low == x.high == 0:
            return y
        if y.low == y.high == 0:
            return x
        if x.exponent < y.exponent:
            x, y = y, x
        gap = x.exponent - y.exponent
        if gap > 4 * self.bits:  # the small one is rounded to a unit far below the other
            drop = gap - 4 * self.bits
            y = Between(y.low >> drop, -(-y.high >> drop), y.exponent + drop)
            gap = 4 * self.bits
        return self.rounded((x.low << gap) + y.low, (x.high << gap) + y.high, y.exponent)

    def negative(self, x: Between) -> Between:
        return Between(-x.high, -x.low, x.exponent)

    def sub(self, x: Between, y: Between) -> Between:
        return self.add(x, self.negative(y))

    def mul(self, x: Between, y: Between) -> Between:
        self.work += 1
        if x.low >= 0 and y.low >= 0:
            low, high = x.low * y.low, x.high * y.high
        else:
            products = (x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high)
            low, high = min(products), max(products)
        return self.rounded(low, high, x.exponent + y.exponent)

    def times(self, x: Between, n: int) -> Between:
        low, high = (x.low * n, x.high * n) if n >= 0 else (x.high * n, x.low * n)
        return Between(low, high, x.exponent)

    def over(self, x: Between, n: int) -> Between:
        """Divided by an integer > 0."""
        up = n.bit_length() + self.bits
        return self.rounded((x.low << up) // n, -((-x.high << up) // n), x.exponent - up)

    def inverse(self, x: Between) -> Between:
        if x.sign in (None, 0):
            raise Unverified("a division by an interval that contains zero")
        if x.high < 0:
            return self.negative(self.inverse(self.negative(x)))
        up = self.bits + x.high.bit_length() + 2
        return self.rounded((1 << up) // x.high, -(-(1 << up) // x.low), -up - x.exponent)

    def div(self, x: Between, y: Between) -> Between:
        return self.mul(x, self.inverse(y))

    def power(self, x: Between, n: int) -> Between:
        if n < 0:
            return self.inverse(self.power(x, -n))
        if n % 2 == 0 and x.low < 0:
            size = max(-x.low, x.high)
            x = (
                Between(-x.high, -x.low, x.exponent)
                if x.high <= 0
                else Between(0, size, x.exponent)
            )
        result = Between(1, 1)
        while n:
            if n & 1:
                result = self.mul(result, x)
            n >>= 1
            x = self.mul(x, x) if n else x
        return result

    def sqrt(self, x: Between) -> Between:
        if x.low < 0:
            raise Unverified("the root of an interval with negative numbers")
        up = 2 * self.bits + (x.exponent % 2)
        high = x.high << up
        top = math.isqrt(high)
        return self.rounded(
            math.isqrt(x.low << up), top + (top * top != high), (x.exponent - up) // 2
        )

    # Series on fixed-point integers: every division errs by less than one unit, there are fewer
    # than 2^30 of them, and the slack of 2^40 units is far above their sum.

    @property
    def _guard(self) -> int:
        return self.bits + 96

    def _artanh_inverse(self, n: int) -> int:
        """``artanh(1/n) * 2^guard`` to within 2^20 units."""
        term, total, k = (1 << self._guard) // n, 0, 1
        while term:
            total += term // k
            term //= n * n
            k += 2
        return total

    def log2(self) -> Between:
        value = 2 * self._artanh_inverse(3)
        return Between(value - (1 << 40), value + (1 << 40), -self._guard)

    def pi(self) -> Between:
        def arctan(n: int) -> int:
            term, total, k, sign = (1 << self._guard) // n, 0, 1, 1
            while term:
                total += sign * (term // k)
                term //= n * n
                k, sign = k + 2, -sign
            return total

        value = 16 * arctan(5) - 4 * arctan(239)
        return self.rounded(value - (1 << 40), value + (1 << 40), -self._guard)

    def log(self, x: Between) -> Between:
        if x.low <= 0:
            raise Unverified("the logarithm of an interval that is not positive")
        return self._hull(self._log_of(x.low, x.exponent), self._log_of(x.high, x.exponent))

    def _log_of(self, mantissa: int, exponent: int) -> Between:
        guard = self._guard
        bits = mantissa.bit_length()
        k = bits + exponent
        m = (mantissa << guard) >> bits if bits <= guard else mantissa >> (bits - guard)
        # m/2^guard in [1/2, 1), off by one unit at most; y = (m-1)/(m+1)
        one = 1 << guard
        if 4 * m < 3 * one:
            m, k = 2 * m, k - 1
        y = ((m - one) << guard) // (m + one)
        square = (y * y) >> guard
        term, total, n = y, 0, 1
        while abs(term) > 1:
            total += term // n
            term = (term * square) >> guard
            n += 2
        scaled = Between(2 * total - (1 << 40), 2 * total + (1 << 40), -guard)
        wide = Reals(guard)
        value = wide.add(scaled, wide.mul(Between(k, k), self.log2()))
        return self.rounded(value.low, value.high, value.exponent)

    def exp(self, x: Between) -> Between:
        return self._hull(self._exp_of(x.low, x.exponent), self._exp_of(x.high, x.exponent))

    def _exp_of(self, mantissa: int, exponent: int) -> Between:
        if mantissa and mantissa.bit_length() + exponent > 28:
            raise Unverified("the exponential of a huge number")
        guard = self._guard
        shift = exponent + guard
        x = mantissa << shift if shift >= 0 else mantissa >> -shift
        log2 = 2 * self._artanh_inverse(3)
        k = x // log2
        rest = x - k * log2  # off by at most |k| 2^20 units
        term, total, n = 1 << guard, 0, 1
        while term:
            total += term
            term = ((term * rest) >> guard) // n
            n += 1
        slack = 1 << 56
        return self.rounded(total - slack, total + slack, k - guard)

    def _hull(self, x: Between, y: Between) -> Between:
        exponent = min(x.exponent, y.exponent)
        a, b = x.exponent - exponent, y.exponent - exponent
        if max(a, b) > 64 * MAX_BITS:
            raise Unverified("an interval that is too wide")
        return self.rounded(min(x.low << a, y.low << b), max(x.high << a, y.high << b), exponent)

    def hull(self, low: Fraction, high: Fraction) -> Between:
        return self._hull(self.of(low), self.of(high))


# -- Taylor series, for quadrature -------------------------------------------------------------

Series = list[Between]


class Taylor:
    """Truncated power series with interval coefficients, up to a fixed order."""

    def __init__(self, reals: Reals, order: int) -> None:
        self.reals, self.order = reals, order

    def constant(self, value: Between) -> Series:
        return [value] + [Between(0, 0)] * self.order

    def add(self, x: Series, y: Series) -> Series:
        return [self.reals.add(a, b) for a, b in zip(x, y, strict=True)]

    def _dot(self, x: Sequence[Between], y: Sequence[Between]) -> Between:
        r = self.reals
        total = Between(0, 0)
        for a, b in zip(x, y, strict=True):
            if (a.low or a.high) and (b.low or b.high):
                total = r.add(total, r.mul(a, b))
        return total

    def mul(self, x: Series, y: Series) -> Series:
        r = self.reals
        places = [[i for i, c in enumerate(s) if c.low or c.high] for s in (x, y)]
        if len(places[1]) < len(places[0]):
            x, y, places = y, x, places[::-1]
        if len(places[0]) > 3:
            return [self._dot(x[: k + 1], y[k::-1]) for k in range(self.order + 1)]
        result = [Between(0, 0)] * (self.order + 1)
        for i in places[0]:  # a factor such as Z - 1 has two terms
            for k in places[1]:
                if i + k <= self.order:
                    result[i + k] = r.add(result[i + k], r.mul(x[i], y[k]))
        return result

    def inverse(self, x: Series) -> Series:
        r = self.reals
        first = r.inverse(x[0])
        result = [first]
        for k in range(1, self.order + 1):
            result.append(r.mul(r.negative(first), self._dot(x[1 : k + 1], result[::-1])))
        return result

    def power(self, x: Series, n: int) -> Series:
        if n < 0:
            return self.inverse(self.power(x, -n))
        if n > 2 and not any(c.low or c.high for c in x[2:]):
            return self._linear_power(x, n)
        if n > 4 and x[0].sign not in (None, 0):
            return self._real_power(x, Fraction(n), self.reals.power(x[0], n))
        result = self.constant(Between(1, 1))
        while n:
            if n & 1:
                result = self.mul(result, x)
            n >>= 1
            x = self.mul(x, x) if n else x
        return result

    def _linear_power(self, x: Series, n: int) -> Series:
        """``(a + bt)^n`` by the binomial theorem: tight also where a is around zero."""
        r = self.reals
        count = min(n, self.order)
        slope = [Between(1, 1)]
        for _ in range(count if self.order else 0):
            slope.append(r.mul(slope[-1], x[1]))
        base = r.power(x[0], n - count)
        powers = [base]
        for k in range(count - 1, -1, -1):
            even = (n - k) % 2 == 0 and x[0].sign is None
            powers.append(r.power(x[0], n - k) if even else r.mul(powers[-1], x[0]))
        powers.reverse()
        result = [r.times(r.mul(powers[k], slope[k]), math.comb(n, k)) for k in range(count + 1)]
        return [r.rounded(c.low, c.high, c.exponent) for c in result] + [Between(0, 0)] * (
            self.order - count
        )

    def _real_power(self, x: Series, exponent: Fraction, first: Between) -> Series:
        """``y' x = exponent y x'``, coefficient by coefficient."""
        r = self.reals
        inverse = r.inverse(x[0])
        top, bottom = exponent.numerator, exponent.denominator
        present = [j for j in range(1, self.order + 1) if x[j].low or x[j].high]
        result = [first]
        for k in range(1, self.order + 1):
            total = Between(0, 0)
            for j in present:
                if j > k:
                    break
                weight = top * j - bottom * (k - j)
                if weight:
                    total = r.add(total, r.times(r.mul(x[j], result[k - j]), weight))
            result.append(r.over(r.mul(total, inverse), bottom * k))
        return result

    def real_power(self, x: Series, exponent: Fraction) -> Series:
        r = self.reals
        if exponent.denominator == 1:
            return self.power(x, exponent.numerator)
        if exponent.denominator == 2:
            first = r.power(r.sqrt(x[0]), exponent.numerator)
        else:
            first = r.exp(r.mul(r.of(exponent), r.log(x[0])))
        return self._real_power(x, exponent, first)

    def exp(self, x: Series) -> Series:
        r = self.reals
        result = [r.exp(x[0])]
        for k in range(1, self.order + 1):
            scaled = [r.times(x[j], j) for j in range(1, k + 1)]
            result.append(r.over(self._dot(scaled, result[::-1]), k))
        return result

    def log(self, x: Series) -> Series:
        r = self.reals
        if not self.order:
            return [r.log(x[0])]
        slope = [r.times(x[j], j) for j in range(1, self.order + 1)]
        quotient = Taylor(r, self.order - 1)
        ratio = quotient.mul(slope, quotient.inverse(x[:-1]))
        return [r.log(x[0])] + [r.over(c, k) for k, c in enumerate(ratio, 1)]


class Evaluator:
    """Trees as numbers, and as series in one variable."""

    def __init__(self, reals: Reals, given: dict[str, Between] | None = None) -> None:
        self.reals, self.given = reals, given or {}

    def _integrated(self, rest: list[Any]) -> Between:
        return Law.read(rest[0]).mean(self, text(rest[1], "a variable"), rest[2])

    def _closed(self, rest: list[Any]) -> Between | None:
        """By moments, where they are rational and the integrand is a short polynomial."""
        exact = Field({})
        exact.patience = MAX_WORK // 100
        try:
            return self.exact_value(exact, exact.rat(["E", *rest]))
        except (Unverified, Rejected):  # a given symbol is not known there
            return None

    def kept(self, name: str, make: Callable[[], Between]) -> Between:
        """A number that depends on its name and the bits alone, computed once."""
        key = name, self.reals.bits
        if key not in _MEANS:
            _MEANS[key] = make()
        return _MEANS[key]

    def value(self, tree: Tree) -> Between:
        return self.series(tree, Taylor(self.reals, 0), {})[0]

    def series(self, tree: Tree, on: Taylor, at: dict[str, Series]) -> Series:
        r = self.reals
        if r.work > MAX_WORK:
            raise Unverified("more work than this checker does for one step")
        if isinstance(tree, str):
            return on.constant(r.of(number(tree)))
        require(isinstance(tree, list) and bool(tree), "an expression is a text or a list")
        kind, *rest = tree
        if kind == "s":
            name = text(rest[0] if rest else None, "a symbol")
            if name in at:
                return at[name]
            if name in self.given:
                return on.constant(self.given[name])
            raise Rejected(f"the symbol {name!r} has no value")
        if kind in ("+", "*"):
            parts = [self.series(part, on, at) for part in rest]
            require(bool(parts), "an empty sum or product")
            total = parts[0]
            for part in parts[1:]:
                total = on.add(total, part) if kind == "+" else on.mul(total, part)
            return total
        if kind == "^":
            require(len(rest) == 2, "a power has a base and an exponent")
            return self._raised(rest[0], rest[1], on, at)
        if kind == "pi":
            return on.constant(r.pi())
        if kind == "E":
            return on.constant(self._mean(rest))
        if kind == "f" and len(rest) == 2 and rest[0] in ("exp", "log", "sqrt"):
            inner = self.series(rest[1], on, at)
            if rest[0] == "exp":
                return on.exp(inner)
            return on.log(inner) if rest[0] == "log" else on.real_power(inner, Fraction(1, 2))
        if kind == "f" and len(rest) == 3 and rest[0] == "Q" and not on.order:
            return [self.gamma_share(whole_number(rest[1]), self.series(rest[2], on, at)[0])]
        if kind in ("G", "X"):
            exact = Field({})
            return on.constant(self.exact_value(exact, exact.rat(tree)))
        raise Unverified(f"no numerical form of {str(kind)[:40]!r}")

    def gamma_share(self, n: int, x: Between) -> Between:
        """``Γ(n,x)/Γ(n) = e^{-x} sum_{k<n} x^k/k!`` for an integer n."""
        require(0 < n <= 10**5 and x.low >= 0, "an incomplete Gamma function")
        r = self.reals
        term = total = Between(1, 1)
        for k in range(1, n):
            term = r.over(r.mul(term, x), k)
            total = r.add(total, term)
        return r.mul(total, r.exp(r.negative(x)))

    def exact_value(self, on: Field, value: Rat) -> Between:
        """A rational function of roots of integers, as an interval."""
        r = self.reals

        def atom(place: int) -> Between:
            key = on.keys[place]
            if key == ("pi",):
                return r.pi()
            if key[:2] == ("f", "log") and key[2][0] == "n" and key[2][1] > 0:
                return r.log(r.of(key[2][1]))
            if key[0] == "r" and key[1][0] == "n" and key[1][1] > 0:
                inner = Taylor(r, 0)
                return inner.real_power([r.of(key[1][1])], Fraction(1, key[2]))[0]
            raise Unverified("a number with no numerical form")

        def poly(part: Poly) -> Between:
            total = Between(0, 0)
            for monomial, coefficient in part.items():
                term = r.of(coefficient)
                for place, power in exponents(monomial):
                    term = r.mul(term, r.power(atom(place), power))
                total = r.add(total, term)
            return total

        result = r.div(poly(value.num), r.of(value.q))
        for place, power in value.den.items():
            result = r.div(result, r.power(poly(on.denominators[place]), power))
        return result

    def _raised(self, base: Tree, exponent: Tree, on: Taylor, at: dict[str, Series]) -> Series:
        inner = self.series(base, on, at)
        if isinstance(exponent, str):
            power = number(exponent)
            if abs(power) <= 10**7 and power.denominator <= 10**4:
                return on.real_power(inner, power)
        up = self.series(exponent, on, at)
        return on.exp(on.mul(up, on.log(inner)))

    def _mean(self, rest: list[Any]) -> Between:
        require(len(rest) == 3, "an expectation has a law, a variable and an integrand")
        if within_tree(rest[2], "X"):
            exact = Field({})  # a product of laws has no quadrature here
            return self.exact_value(exact, exact.rat(["E", *rest]))
        used = {name: ends for name, ends in self.given.items() if occurs(rest[2], name)}
        key = json.dumps(rest) + repr(used), self.reals.bits
        if key not in _MEANS:
            if len(_MEANS) >= 512:
                _MEANS.clear()
            _MEANS[key] = self._closed(rest) or self._integrated(rest)
        return _MEANS[key]


_MEANS: dict[tuple[str, int], Between] = {}
"""Expectations seen before, by law, integrand, given numbers and bits: pure functions of these."""


# -- laws --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Piece:
    """A density proportional to ``((z-l)/(r-l))^p ((r-z)/(r-l))^q h(z)`` on ``[l, r]``."""

    l: Fraction  # noqa: E741 - the letters of the definition
    r: Fraction
    p: Fraction
    q: Fraction
    h: Tree


class Law:
    """Atoms, densities on intervals, and mixtures of them, with weights that sum to 1."""

    PANELS = 3000

    def __init__(self, parts: list[tuple[Fraction, Fraction | list[Piece]]]) -> None:
        self.parts = parts

    @classmethod
    def read(cls, data: Any) -> Law:
        law = cls(list(cls._read(data, Fraction(1), 0)))
        require(sum(weight for weight, _ in law.parts) == 1, "the weights of a law sum to 1")
        return law

    @classmethod
    def _read(
        cls, data: Any, mass: Fraction, depth: int
    ) -> Iterator[tuple[Fraction, Fraction | list[Piece]]]:
        kind, *rest = items(data, "a law") or [None]
        require(len(rest) == 1 and depth < 4, "a law has a kind and its parts")
        if kind == "pieces":
            pieces = [cls._piece(entry) for entry in items(rest[0], "pieces")]
            require(bool(pieces), "a density without a piece")
            yield mass, pieces
            return
        require(kind in ("atoms", "mixture"), f"there is no law {str(kind)[:40]!r}")
        for entry in items(rest[0], "atoms"):
            require(isinstance(entry, list) and len(entry) == 2, "a weight and what it weighs")
            weight = number(entry[0])
            require(weight > 0, "a weight that is not positive")
            if kind == "atoms":
                yield mass * weight, number(entry[1])
            else:
                yield from cls._read(entry[1], mass * weight, depth + 1)

    @staticmethod
    def _piece(entry: Any) -> Piece:
        require(isinstance(entry, list) and len(entry) == 5, "a piece has five parts")
        l, r, p, q = (number(part) for part in entry[:4])  # noqa: E741
        require(l < r and min(p, q) > -1, "a piece needs l < r and exponents above -1")
        require(max(p.denominator, q.denominator) <= 24, "an exponent's denominator")
        require(max(p, q) <= 1000, "an exponent of a density is at most 1000")
        return Piece(l, r, p, q, entry[4])

    def atoms(self) -> list[tuple[Fraction, Fraction]] | None:
        """``(point, weight)``, where there is nothing else."""
        found = [(part, weight) for weight, part in self.parts if isinstance(part, Fraction)]
        return found if len(found) == len(self.parts) else None

    def exact_moment(self, on: Field, order: int) -> Rat:
        """``E Z^order``; with a logarithm where a uniform density meets ``1/Z``."""
        if order != -1:
            return constant(self.moment(order))
        total = Rat({})
        for weight, part in self.parts:
            if isinstance(part, Fraction):
                require(part != 0, "a pole at an atom")
                term = constant(1 / part)
            else:
                piece = part[0]
                flat = len(part) == 1 and piece.p == piece.q == 0 and piece.h == "1"
                if not flat or piece.l <= 0:
                    raise Unverified("the mean of 1/Z in closed form")
                logs = [on.logarithm(constant(end)) for end in (piece.r, piece.l)]
                term = on.mul(
                    on.add(logs[0], on.negative(logs[1])), constant(1 / (piece.r - piece.l))
                )
            total = on.add(total, on.mul(constant(weight), term))
        return total

    def moment(self, order: int) -> Fraction:
        """``E Z^order`` exactly, where atoms and polynomial densities allow it."""
        total = Fraction(0)
        for weight, part in self.parts:
            if isinstance(part, Fraction):
                total += weight * part**order
            else:
                top, mass = self._raw(part, order), self._raw(part, 0)
                total += weight * top / mass
        return total

    @staticmethod
    def _raw(pieces: list[Piece], order: int) -> Fraction:
        total = Fraction(0)
        for piece in pieces:
            if piece.p.denominator != 1 or piece.q.denominator != 1:
                return Law._beta_moment(pieces, order)
            field_ = Field({"Z": frozenset(("real",))})
            z = field_.generator(("s", "Z"))
            shift = Rat({0: -piece.l.numerator} if piece.l else {}, piece.l.denominator)
            end = Rat({0: piece.r.numerator} if piece.r else {}, piece.r.denominator)
            value = field_.mul(
                field_.rat(piece.h),
                field_.mul(
                    field_.power(field_.add(z, shift), int(piece.p)),
                    field_.power(field_.add(end, field_.negative(z)), int(piece.q)),
                ),
            )
            scale = (piece.r - piece.l) ** int(piece.p + piece.q)
            if value.den or max(value.num, default=0) >= 1 << _SHIFT:  # Z is the first atom
                raise Unverified("a density that is no polynomial")
            for monomial, coefficient in value.num.items():
                power = monomial + order
                if power == -1:
                    raise Unverified("a mean with a logarithm")
                span = piece.r ** (power + 1) - piece.l ** (power + 1)
                total += Fraction(coefficient, value.q) * span / (power + 1) / scale
        return total

    @staticmethod
    def _beta_moment(pieces: list[Piece], order: int) -> Fraction:
        """Of one Beta piece, relative to its mass: ``E U^k = prod (p+1+i)/(p+q+2+i)``."""
        if len(pieces) != 1 or pieces[0].h != "1" or order < 0:
            raise Unverified("an exact moment of a density with fractional ends")
        piece = pieces[0]
        total, raw = Fraction(0), Fraction(1)
        for k in range(order + 1):
            total += math.comb(order, k) * piece.l ** (order - k) * (piece.r - piece.l) ** k * raw
            raw *= (piece.p + 1 + k) / (piece.p + piece.q + 2 + k)
        return total

    # -- rigorous quadrature -------------------------------------------------------------------

    def mean(self, on: Evaluator, name: str, tree: Tree) -> Between:
        r = on.reals
        total = Between(0, 0)
        for weight, part in self.parts:
            if isinstance(part, Fraction):
                value = on.series(tree, Taylor(r, 0), {name: [r.of(part)]})[0]
            else:
                top = self._integral(part, on, name, tree)
                mass = on.kept(repr(part), partial(self._integral, part, on, "Z", "1"))
                value = r.div(top, mass)
            total = r.add(total, r.mul(r.of(weight), value))
        return total

    def _integral(self, pieces: list[Piece], on: Evaluator, name: str, tree: Tree) -> Between:
        r = on.reals
        total = Between(0, 0)
        for piece in pieces:
            # A fractional end gets z = l + s^N, which makes the integrand analytic in s.
            n, m = piece.p.denominator, piece.q.denominator
            width = piece.r - piece.l
            left = self._simple(width / 2, n) if n > 1 else Fraction(0)
            right = self._simple(width / 2, m) if m > 1 else Fraction(0)
            spans = [
                (0, piece.l + left**n, piece.r - right**m),
                (1, Fraction(0), left),
                (-1, Fraction(0), right),
            ]
            for side, low, high in spans:
                if low < high:
                    part = self._panels(piece, side, low, high, on, name, tree)
                    total = r.add(total, part)
        return total

    @staticmethod
    def _simple(bound: Fraction, n: int) -> Fraction:
        """A rational ``s > 0`` with ``s^n`` below the bound, within a few per cent."""
        value = Fraction(int(float(bound) ** (1 / n) * 64), 64) or Fraction(1, 64)
        while value**n >= bound:
            value = value * 7 / 8
        return value

    def _panels(
        self,
        piece: Piece,
        side: int,
        low: Fraction,
        high: Fraction,
        on: Evaluator,
        name: str,
        tree: Tree,
    ) -> Between:
        r = on.reals
        total, waiting, done = Between(0, 0), [(low, high)], 0
        size: int | None = None  # the binary exponent of the largest panel so far
        while waiting:
            start, end = waiting.pop()
            done += 1
            value, error = self._panel(piece, side, start, end, on, name, tree)
            scale = magnitude(value)
            if scale is not None:
                size = scale if size is None else max(size, scale)
            if error is not None and negligible(error, size, r.bits * 3 // 4):
                total = r.add(total, r.add(value, error))
                continue
            if done + len(waiting) > self.PANELS:
                raise Unverified("the quadrature needs too many panels")
            middle = (start + end) / 2
            waiting += [(middle, end), (start, middle)]
        return total

    def _panel(
        self,
        piece: Piece,
        side: int,
        start: Fraction,
        end: Fraction,
        on: Evaluator,
        name: str,
        tree: Tree,
    ) -> tuple[Between, Between | None]:
        """The Taylor polynomial's integral, and an enclosure of the remainder's."""
        r = on.reals
        order = 2 * (r.bits // 12) + 8  # even: the remainder's integral has one sign
        half, centre = (end - start) / 2, (start + end) / 2
        taylor = Taylor(r, order)
        step = r.of(half)
        at_centre = self._integrand(piece, side, r.of(centre), step, taylor, on, name, tree)
        value = Between(0, 0)
        for k in range(0, order, 2):
            value = r.add(value, r.mul(at_centre[k], r.of(2 * half / (k + 1))))
        try:
            whole = self._integrand(piece, side, r.hull(start, end), step, taylor, on, name, tree)
        except Unverified:
            return value, None
        return value, r.mul(whole[order], r.of(2 * half / (order + 1)))

    @staticmethod
    def _integrand(
        piece: Piece,
        side: int,
        point: Between,
        step: Between,
        taylor: Taylor,
        on: Evaluator,
        name: str,
        tree: Tree,
    ) -> Series:
        """Series in ``t`` of the integrand at ``point + step t``, the chart's Jacobian included."""
        r = on.reals
        s = taylor.constant(point)
        if taylor.order:
            s[1] = step

        def plus(a: Series, b: Fraction) -> Series:
            return [r.add(a[0], r.of(b)), *a[1:]]

        def times(a: Series, b: Fraction | int) -> Series:
            return [r.mul(x, r.of(b)) for x in a]

        width = piece.r - piece.l
        if side == 0:
            z = s
            weight = taylor.constant(Between(1, 1))
            for base, exponent in (
                (times(plus(z, -piece.l), 1 / width), piece.p),
                (times(plus(times(z, -1), piece.r), 1 / width), piece.q),
            ):
                if exponent:
                    weight = taylor.mul(weight, taylor.real_power(base, exponent))
        else:
            own, other = (piece.p, piece.q) if side == 1 else (piece.q, piece.p)
            n = own.denominator
            moved = taylor.power(s, n)
            z = plus(moved, piece.l) if side == 1 else plus(times(moved, -1), piece.r)
            # ((s^n)/w)^own n s^(n-1) ds = n w^-own s^(n own + n - 1) ds; n own is an integer
            weight = taylor.power(s, int(n * own) + n - 1)
            scale = taylor.real_power(taylor.constant(r.of(width)), -own)
            weight = times(taylor.mul(weight, scale), n)
            if other:
                base = times(plus(times(moved, -1), width), 1 / width)
                weight = taylor.mul(weight, taylor.real_power(base, other))
        value = on.series(piece.h, taylor, {"Z": z})
        return taylor.mul(weight, taylor.mul(value, on.series(tree, taylor, {name: z})))


def negligible(error: Between, size: int | None, bits: int) -> bool:
    found = magnitude(error)
    return found is None or (size is not None and found < size - bits)


def magnitude(value: Between) -> int | None:
    """``k`` with the whole interval below ``2^k`` in size; ``None`` for zero."""
    size = max(abs(value.low), abs(value.high))
    return size.bit_length() + value.exponent if size else None


# -- real roots --------------------------------------------------------------------------------


def strip(poly: list[int]) -> list[int]:
    while poly and poly[-1] == 0:
        poly.pop()
    return poly


def primitive_list(poly: list[int]) -> list[int]:
    common = math.gcd(*poly) if poly else 0
    return [c // common for c in poly] if common > 1 else poly


def remainder(left: list[int], right: list[int]) -> list[int]:
    """A positive multiple of ``left mod right``."""
    left, lead = list(left), right[-1]
    sign = 1 if lead > 0 else -1
    while len(left) >= len(right):
        top, shift = left[-1] * sign, len(left) - len(right)
        left = [c * abs(lead) for c in left]
        for index, c in enumerate(right):
            left[index + shift] -= top * c
        strip(left)
        if len(left) > len(right):  # a long division: keep its numbers short on the way
            left = primitive_list(left)
    return left


def sturm_roots(poly: list[int], low: Fraction | None, high: Fraction | None) -> int:
    """Distinct roots in ``(low, high]``; ``None`` is infinite. Sturm's theorem.

    The sequence of ``p`` itself serves, also with multiple roots, as long as neither end is a root
    of the common divisor: then it is divided out first.
    """
    poly = primitive_list(strip(list(poly)))
    require(len(poly) > 0, "the zero polynomial has no isolated roots")
    chain = [poly, strip([k * c for k, c in enumerate(poly)][1:])]
    while chain[-1]:
        rest = remainder(chain[-2], chain[-1])
        chain.append(primitive_list([-c for c in rest]))
    chain.pop()
    divisor = chain[-1]
    if len(divisor) > 1:
        return sturm_roots(exact_quotient(poly, divisor), low, high)
    return variations(chain, low, -1) - variations(chain, high, 1)


def exact_quotient(poly: list[int], by: list[int]) -> list[int]:
    rest = [Fraction(c) for c in poly]
    result = [Fraction(0)] * (len(poly) - len(by) + 1)
    for shift in range(len(result) - 1, -1, -1):
        factor = rest[shift + len(by) - 1] / by[-1]
        result[shift] = factor
        for index, c in enumerate(by):
            rest[shift + index] -= factor * c
    require(not any(rest), "an inexact division")
    common = math.lcm(*(c.denominator for c in result))
    return primitive_list([int(c * common) for c in result])


def variations(chain: list[list[int]], point: Fraction | None, side: int) -> int:
    signs = []
    for poly in chain:
        if point is None:
            value: Fraction | int = poly[-1] * (side if len(poly) % 2 == 0 else 1)
        else:
            value = evaluated(poly, point)
        if value:
            signs.append(value > 0)
    return sum(1 for x, y in pairwise(signs) if x != y)


def evaluated(poly: list[int], point: Fraction) -> int:
    """A positive multiple of the value: ``d^n p(n/d)``."""
    total, scale = 0, 1
    for c in reversed(poly):
        total = total * point.numerator + c * scale
        scale *= point.denominator
    return total


# -- Bernstein coefficients --------------------------------------------------------------------


def shifted(poly: list[int]) -> list[int]:
    """``p(x+1)``, by Horner's triangle."""
    result = list(poly)
    for start in range(len(result)):
        for index in range(len(result) - 2, start - 1, -1):
            result[index] += result[index + 1]
    return result


def bernstein(poly: list[int]) -> list[int]:
    """``C(n,i) b_i`` on [0,1]."""
    return shifted(poly[::-1])[::-1]


def nonnegative_on_square(rows: list[list[int]], budget: int = 4096) -> bool | None:
    """Whether the Bernstein coefficients on boxes that cover the unit square are all >= 0."""
    waiting, looked = [(rows, 0)], 0
    while waiting:
        current, depth = waiting.pop()
        looked += 1
        if looked > budget:
            return None
        inner = [bernstein(row) for row in current]
        columns = [bernstein(list(column)) for column in zip(*inner, strict=True)]
        flat = [entry for column in columns for entry in column]
        corners = (columns[0][0], columns[0][-1], columns[-1][0], columns[-1][-1])
        if min(corners) < 0:
            return False
        if min(flat) >= 0:
            continue
        across = len(current) > 1 and (depth % 2 == 0 or len(current[0]) == 1)
        turned = [list(c) for c in zip(*current, strict=True)] if across else current
        halves: tuple[list[list[int]], list[list[int]]] = ([], [])
        for row in turned:
            degree = len(row) - 1
            first = [c << (degree - i) for i, c in enumerate(row)]
            halves[0].append(first)
            halves[1].append(shifted(first))
        for half in halves:
            back = [list(c) for c in zip(*half, strict=True)] if across else half
            waiting.append((back, depth + 1))
    return True


# -- theorems: signs that follow from signs ----------------------------------------------------


@dataclass(frozen=True)
class Sign:
    tree: Tree
    strict: bool

    @classmethod
    def read(cls, data: Any) -> Sign:
        require(isinstance(data, list) and len(data) == 2, "a sign has an expression and a flag")
        require(isinstance(data[1], bool), "a sign is strict or not")
        return cls(data[0], data[1])


class Kernel:
    """The rules of ``theoryverify.exact.facts``, on derivations that are written out."""

    def __init__(self, field_: Field) -> None:
        self.field = field_
        self.theorems: list[tuple[list[Sign], Sign]] = []

    def same(self, left: Tree, right: Tree) -> bool:
        return self.field.equal(self.field.rat(left), self.field.rat(right))

    def learn(self, data: Any) -> tuple[list[Sign], Sign]:
        require(isinstance(data, dict), "a theorem is an object")
        hypotheses = [Sign.read(entry) for entry in items(data.get("hypotheses"), "hypotheses")]
        if "induction" in data:
            theorem = self._induction(data["induction"], hypotheses)
        else:
            facts: list[Sign] = list(hypotheses)
            for step in items(data.get("steps"), "steps"):
                facts.append(self._step(step, facts))
            last = whole(data.get("conclusion"), "a conclusion", 0, len(facts) - 1)
            theorem = hypotheses, facts[last]
        stated = Sign.read(data.get("states"))
        require(
            self.same(stated.tree, theorem[1].tree) and (theorem[1].strict or not stated.strict),
            "the theorem is not what was derived",
        )
        self.theorems.append((theorem[0], stated))
        return self.theorems[-1]

    def _step(self, data: Any, facts: list[Sign]) -> Sign:
        require(isinstance(data, dict), "a step is an object")
        rule = data.get("rule")
        chosen = [
            facts[whole(place, "a fact", 0, len(facts) - 1)]
            for place in items(data.get("facts"), "facts")
        ]
        if rule == "square":
            require(self._real(data.get("of")), "what is squared is not known to be real")
            self._no_pole(data.get("of"), facts)
            return Sign(["^", data.get("of"), "2"], False)
        if rule == "power":
            require(len(chosen) == 1 and chosen[0].strict, "a power needs a positive base")
            require(self._real(data.get("exponent")), "the exponent is not known to be real")
            self._no_pole(data.get("exponent"), facts)
            return Sign(["^", chosen[0].tree, data.get("exponent")], True)
        if rule == "combination":
            return self._combination(data, chosen, facts)
        require(rule == "use", f"there is no rule {str(rule)[:40]!r}")
        return self._use(data, chosen, facts)

    def _combination(self, data: dict[str, Any], chosen: list[Sign], facts: list[Sign]) -> Sign:
        """A rational function with nonnegative coefficients of the facts."""
        formal, tree = data.get("formal"), data.get("expression")
        names = [f"_{index}" for index in range(len(chosen))]
        inner = Field({name: frozenset(("positive",)) for name in names})
        value = inner.rat(formal)
        strict = [
            inner.atom(("s", name)) for name, fact in zip(names, chosen, strict=True) if fact.strict
        ]

        def signs(poly: Poly) -> bool:
            require(all(c >= 0 for c in poly.values()), "a coefficient is negative")
            return any(
                c > 0 and all(atom in strict for atom, _ in exponents(m)) for m, c in poly.items()
            )

        sure = signs(value.num)
        for place in value.den:
            require(signs(inner.denominators[place]), "a denominator is not known to be positive")
        at = {n: self.field.rat(fact.tree) for n, fact in zip(names, chosen, strict=True)}
        actual = self.field.rat(formal, at)
        require(self.field.equal(self.field.rat(tree), actual), "the combination is another one")
        self._no_pole(tree, facts)
        return Sign(tree, sure)

    def _use(self, data: dict[str, Any], chosen: list[Sign], facts: list[Sign]) -> Sign:
        place = whole(data.get("theorem"), "a theorem", 0, len(self.theorems) - 1)
        hypotheses, conclusion = self.theorems[place]
        require(len(hypotheses) == len(chosen), "the number of hypotheses")
        table = data.get("at")
        require(isinstance(table, dict), "the arguments of a theorem")
        assert isinstance(table, dict)
        require(all(map(self._real, table.values())), "an argument is not known to be real")
        at = {str(name): self.field.rat(tree) for name, tree in table.items()}
        for name, value in at.items():
            kinds = self.field.symbols.get(name, frozenset())
            require(
                all(
                    self._has(value, kind)
                    for kind in kinds & {"integer", "positive", "nonnegative", "nonzero"}
                ),
                f"{name} was declared more than is known",
            )
        for hypothesis, fact in zip(hypotheses, chosen, strict=True):
            require(fact.strict or not hypothesis.strict, "a hypothesis is strict")
            wanted = self.field.rat(hypothesis.tree, at)
            require(
                self.field.equal(wanted, self.field.rat(fact.tree)), "a hypothesis is another one"
            )
            self._no_pole(replaced(hypothesis.tree, table), facts)
        tree = replaced(conclusion.tree, table)
        self._no_pole(tree, facts)
        return Sign(tree, conclusion.strict)

    def _real(self, tree: Tree) -> bool:
        """Sums, products and integer powers of symbols, which are real, and rational numbers."""
        if isinstance(tree, str):
            return True
        head, *parts = items(tree, "an expression") or [""]
        if head in ("+", "*"):
            return all(map(self._real, parts))
        if head == "^" and len(parts) == 2:
            return self._real(parts[0]) and self.field.integer(self.field.rat(parts[1]))
        return bool(head == "s")

    def _has(self, value: Rat, kind: str) -> bool:
        """Whether a polynomial of declared symbols is known to be of a kind."""
        if kind == "integer":
            return self.field.integer(value)
        sure = not value.den and self.field.positive_poly(value.num)
        if kind in ("positive", "nonzero"):
            return sure
        return sure or not value.num or (not value.den and self._nonnegative(value.num))

    def _nonnegative(self, poly: Poly) -> bool:
        keys = self.field.keys
        return all(
            c > 0 and all(self.field.nonnegative(keys[a]) for a, _ in exponents(m))
            for m, c in poly.items()
        )

    def _induction(self, data: Any, hypotheses: list[Sign]) -> tuple[list[Sign], Sign]:
        require(isinstance(data, dict), "an induction is an object")
        name = text(data.get("symbol"), "a symbol")
        require("integer" in self.field.symbols.get(name, frozenset()), f"{name} is no integer")
        start = whole(data.get("start"), "a start", -(10**6), 10**6)
        base, step = (
            self.theorems[whole(data.get(part), part, 0, len(self.theorems) - 1)]
            for part in ("base", "step")
        )
        kinds = self.field.symbols[name]
        require(start >= 1 or not kinds & {"positive", "nonzero"}, "the symbol is declared more")
        require(start >= 0 or "nonnegative" not in kinds, "the symbol is declared more")
        *common, bound, induction = step[0]
        require(common == base[0] and [*common, bound] == hypotheses, "the hypotheses differ")
        require(not any(occurs(sign.tree, name) for sign in common), "a hypothesis on the symbol")
        symbol = self.field.rat(["s", name])
        least = self.field.add(symbol, Rat({0: -start} if start else {}))
        require(
            not bound.strict and self.field.equal(self.field.rat(bound.tree), least),
            "the induction's start",
        )
        begin = Rat({0: start} if start else {})
        after = self.field.add(symbol, Rat({0: 1}))
        for found, value in ((base[1], begin), (step[1], after)):
            wanted = self.field.rat(induction.tree, {name: value})
            require(self.field.equal(self.field.rat(found.tree), wanted), "the induction's chain")
        strict = base[1].strict and step[1].strict
        require(strict or not induction.strict, "the step uses more than is shown")
        return hypotheses, Sign(induction.tree, strict)

    def _no_pole(self, tree: Tree, facts: list[Sign]) -> None:
        """Every denominator is nonzero by declaration, or up to sign a positive fact."""
        for base in denominators(tree):
            value = self.field.normal(self.field.rat(base))
            if self._nonzero(value):
                continue
            known = [self.field.rat(fact.tree) for fact in facts if fact.strict]
            square = self.field.mul(value, value)
            candidates = (value, self.field.negative(value), square)
            require(
                any(self.field.equal(entry, c) for entry in known for c in candidates),
                "a denominator is not known to be different from zero",
            )

    def _nonzero(self, value: Rat) -> bool:
        if self.field.positive_poly(value.num):
            return True
        if len(value.num) != 1:
            return False
        return all(
            self.field.positive(self.field.keys[a])
            or "nonzero" in self.field.declared(self.field.keys[a])
            for m in value.num
            for a, _ in exponents(m)
        )


def replaced(tree: Tree, table: dict[str, Tree]) -> Tree:
    if not isinstance(tree, list):
        return tree
    if len(tree) == 2 and tree[0] == "s" and tree[1] in table:
        return table[tree[1]]
    return [replaced(part, table) for part in tree]


def occurs(tree: Tree, name: str) -> bool:
    if not isinstance(tree, list):
        return False
    return tree[:2] == ["s", name] or any(occurs(part, name) for part in tree)


def within_tree(tree: Tree, kind: str) -> bool:
    """Whether a node of this kind stands in a tree."""
    return isinstance(tree, list) and (
        tree[:1] == [kind] or any(within_tree(part, kind) for part in tree)
    )


def denominators(tree: Tree) -> Iterator[Tree]:
    """The bases of powers whose exponent is not a nonnegative number or plainly a sum of such."""
    if not isinstance(tree, list):
        return
    if tree and tree[0] == "^" and len(tree) == 3 and not plain_exponent(tree[2]):
        yield tree[1]
    for part in tree:
        yield from denominators(part)


def plain_exponent(tree: Tree) -> bool:
    """Not negative where the statement makes sense: no leading minus sign, as SymPy would have it."""
    if isinstance(tree, str):
        return number(tree) >= 0
    if isinstance(tree, list) and tree and tree[0] == "*":
        return not (isinstance(tree[1], str) and number(tree[1]) < 0)
    if isinstance(tree, list) and tree and tree[0] == "+":
        return any(plain_exponent(part) and not isinstance(part, str) for part in tree[1:])
    return True


# -- statements --------------------------------------------------------------------------------


def symbols_of(data: Any) -> dict[str, frozenset[str]]:
    require(isinstance(data, dict) and len(data) <= 200, "symbols are an object")
    return {
        text(name, "a symbol"): frozenset(text(k, "a kind") for k in items(kinds, "kinds"))
        for name, kinds in data.items()
    }


class Statement:
    """One statement of a step, re-verified by :meth:`verify`."""

    def __init__(self, data: Any) -> None:
        require(isinstance(data, dict), "a statement is an object")
        self.data: dict[str, Any] = data

    def verify(self) -> None:
        """Return if it is so; :class:`Rejected` if not, :class:`Unverified` if not known."""
        kind = self.data.get("kind")
        method = KINDS.get(kind) if isinstance(kind, str) else None
        if method is None:
            raise Rejected(f"there is no statement {str(kind)[:40]!r}")
        method(self)

    def field(self) -> Field:
        factors = items(self.data.get("factors", []), "factors")
        return Field(symbols_of(self.data.get("symbols", {})), factors)

    def identity(self) -> None:
        """Both sides are one rational function of their atoms."""
        self._equal("both sides differ")

    def _equal(self, message: str) -> None:
        on = self.field()
        left, right = on.rat(self.data.get("left")), on.rat(self.data.get("right"))
        difference = on.normal(on.add(left, on.negative(right)))
        if on.is_zero(difference):
            return
        raise (Rejected if plain(on, difference) else Unverified)(message)

    def nonnegative(self) -> None:
        """Every coefficient of a polynomial in nonnegative symbols is >= 0."""
        on = self.field()
        names = [text(name, "a symbol") for name in items(self.data.get("over"), "symbols")]
        require(all(name in on.symbols for name in names), "a symbol is not declared")
        value = on.normal(on.rat(self.data.get("tree")))
        allowed = {on.atom(("s", name)) for name in names}
        used = {atom for m in value.num for atom, _ in exponents(m)}
        require(not value.den and used <= allowed, "it is not a polynomial in these symbols")
        require(all(c > 0 for c in value.num.values()), "a coefficient is negative")
        strict = self.data.get("strict")
        require(isinstance(strict, bool), "strict is true or false")
        require(not strict or bool(value.num), "it is zero")

    def degree(self) -> None:
        """A polynomial in one symbol has at most this degree."""
        on = self.field()
        value = on.normal(on.rat(self.data.get("tree")))
        most = whole(self.data.get("most"), "a degree", 0, MAX_EXPONENT)
        atom = on.atom(("s", text(self.data.get("symbol"), "a symbol")))
        mask = (1 << _SHIFT) - 1
        polys = [on.denominators[place] for place in value.den]
        name = on.keys[atom]
        touched = [
            key
            for a, key in enumerate(on.keys)
            if a != atom and (key[0] == "o" or mentions(key, name, on.keys))
        ]
        require(not touched, "the symbol stands within a power or a function")
        require(
            not any((m >> (_SHIFT * atom)) & mask for poly in polys for m in poly),
            "the symbol stands in a denominator",
        )
        found = max(((m >> (_SHIFT * atom)) & mask for m in value.num), default=0)
        require(found <= most, f"the degree is {found}")

    def compare(self) -> None:
        """``left op right`` between two numbers."""
        op = self.data.get("op")
        require(op in ("<", "<=", "=", "!="), "an unknown comparison")
        left, right = self.data.get("left"), self.data.get("right")
        exact = self._exact(left, right)
        if exact is not None:
            true = {"<": exact > 0, "<=": exact >= 0, "=": exact == 0, "!=": exact != 0}[str(op)]
            require(true, "the comparison is false")
            return
        if op == "=":
            self._equal("the two numbers were not shown to be equal")
            return
        sign = self._sign(left, right)
        if sign is None:
            raise Unverified("the two numbers are too close to tell")
        require(sign > 0 if op != "!=" else sign != 0, "the comparison is false")

    def _exact(self, left: Tree, right: Tree) -> Fraction | None:
        """``right - left`` where it is rational and cheap to see."""
        try:
            on = self.field()
            on.patience = MAX_WORK // 100  # where it takes longer, intervals are quicker
            a, b = on.rat(left), on.rat(right)
            return on.normal(on.add(b, on.negative(a))).constant()
        except Unverified:
            return None

    def _sign(self, left: Tree, right: Tree) -> int | None:
        return signed(["+", right, ["*", "-1", left]], self._given)

    def _given(self, reals: Reals) -> dict[str, Between]:
        table = self.data.get("given", {})
        require(isinstance(table, dict), "given numbers are an object")
        found = {}
        for name, ends in table.items():
            low, high = (number(end) for end in items(ends, "ends"))
            require(low <= high, "an empty interval")
            found[str(name)] = reals.hull(low, high)
        return found

    def within(self) -> None:
        """A number lies in an interval with rational ends."""
        low, high = number(self.data.get("lower")), number(self.data.get("upper"))
        require(low <= high, "an empty interval")
        tree = self.data.get("number")
        value = self._exact("0", tree)
        if value is not None:
            require(low <= value <= high, "the number lies elsewhere")
            return
        for bits in (80, 160, 320, 640, 1280):
            reals = Reals(bits)
            left, right = Evaluator(reals, self._given(reals)).value(tree).ends()
            if low <= left and right <= high:
                return
            require(not (right < low or high < left), "the number lies elsewhere")
        raise Unverified("the number is enclosed too loosely")

    def roots(self) -> None:
        """How many distinct roots a polynomial has in ``(lower, upper]``."""
        values = [number(c) for c in items(self.data.get("coefficients"), "coefficients")]
        require(0 < len(values) <= 400, "a polynomial of moderate degree")
        common = math.lcm(*(c.denominator for c in values))
        ends = [
            None if self.data.get(end) is None else number(self.data[end])
            for end in ("lower", "upper")
        ]
        low, high = ends
        require(low is None or high is None or low <= high, "an empty interval")
        count = whole(self.data.get("count"), "a count", 0, 400)
        found = sturm_roots([int(c * common) for c in values], low, high)
        require(found == count, f"there are {found} roots, not {count}")

    def bernstein(self) -> None:
        """``sum rows[i][j] X^i r^j >= 0`` on the unit square."""
        rows = [
            [whole_number(c) for c in items(row, "a row")]
            for row in items(self.data.get("rows"), "rows")
        ]
        width = len(rows[0]) if rows else 0
        require(0 < width <= 600 and len(rows) <= 600, "a polynomial of moderate degree")
        require(all(len(row) == width for row in rows), "the rows differ in length")
        found = nonnegative_on_square(rows)
        require(found is not False, "it is negative at a corner")
        if found is None:
            raise Unverified("too many boxes")

    def theorem(self) -> None:
        """A chain of theorems, each derived from the ones before."""
        kernel = Kernel(self.field())
        chain = items(self.data.get("theorems"), "theorems")
        require(0 < len(chain) <= 400, "a theorem or more")
        for entry in chain:
            kernel.learn(entry)

    def matrices(self) -> None:
        """Equal matrix expressions, whatever the matrices: the words of both sides agree."""
        reader = Matrices(self.field())
        left, right = reader.read(self.data.get("left")), reader.read(self.data.get("right"))
        require(reader.equal(left, right), "the two sides differ")

    def pair(self) -> None:
        """``D + cP`` at one depth, multiplied out from the sums that define it."""
        depth = whole(self.data.get("depth"), "a depth", 2, 200)
        constant = number(self.data.get("constant"))
        what = self.data.get("what")
        shifted_pair = pair_combination(depth, constant)
        if what == "identity":
            wanted = {k: constant.denominator * c for k, c in pair_sum(depth).items()}
            require(shifted_pair == wanted, "D + cP is not Q")
            return
        require(what in ("square", "ray"), "a kind of region")
        for rows in pair_cells(depth, shifted_pair, what == "ray"):
            found = nonnegative_on_square(rows)
            require(found is not False, "D + cP is negative at a corner")
            if found is None:
                raise Unverified("too many boxes")


def plain(on: Field, value: Rat) -> bool:
    """Whether only symbols stand in it: then what is not zero is not an identity."""
    used = {atom for m in value.num for atom, _ in exponents(m)}
    return all(on.keys[atom][0] == "s" for atom in used)


def whole_number(value: Any) -> int:
    found = number(value)
    require(found.denominator == 1, "an integer")
    return int(found)


def signed(tree: Tree, given: Callable[[Reals], dict[str, Between]]) -> int | None:
    for bits in (80, 160, 320, 640, 1280):
        reals = Reals(bits)
        sign = Evaluator(reals, given(reals)).value(tree).sign
        if sign is not None:
            return sign
    return None


# -- the pair kernel of the uniqueness theorem -------------------------------------------------

Two = dict[tuple[int, int], int]
"""A polynomial in x and y: ``(i, j) -> coefficient`` of ``x^i y^j``."""


def two_add(target: Two, i: int, j: int, c: int) -> None:
    if c:
        total = target.get((i, j), 0) + c
        if total:
            target[i, j] = total
        else:
            del target[i, j]


def complete(order: int) -> list[tuple[int, int]]:
    """The terms of ``h_n = sum x^i y^(n-i)``."""
    return [(i, order - i) for i in range(order + 1)]


def pair_times(left: list[tuple[int, int]], shift: int, order: int, c: int, into: Two) -> None:
    """``into += c * left * (xy)^shift * h_order``."""
    for i, j in left:
        for k, n in complete(order):
            two_add(into, i + k + shift, j + n + shift, c)


def pair_combination(depth: int, constant: Fraction) -> Two:
    """``D + cP``, times c's denominator: ``P = h_(T-1) sum_(j<=T-2) (xy)^j h_(T-2-j)`` and
    ``D = (1-x) dP/dx + (1-y) dP/dy``."""
    kernel: Two = {}
    for j in range(depth - 1):
        pair_times(complete(depth - 1), j, depth - 2 - j, 1, kernel)
    result: Two = {}
    scale = constant.denominator
    for (i, j), c in kernel.items():
        two_add(result, i - 1, j, scale * i * c)
        two_add(result, i, j - 1, scale * j * c)
        two_add(result, i, j, c * (constant.numerator - scale * (i + j)))
    return result


def pair_sum(depth: int) -> Two:
    """``Q = T h_(T-2) B + (T-1) h_(T-1) C``, from the sums B and C."""
    result: Two = {}
    for j in range(depth - 1):
        pair_times(complete(depth - 2), j, depth - 2 - j, depth, result)
    for j in range(depth - 2):
        pair_times(complete(depth - 1), j, depth - 3 - j, depth - 1, result)
    for i, k in complete(depth - 1):
        two_add(result, i + depth - 2, k + depth - 2, 1 - depth)
    return result


def pair_cells(depth: int, poly: Two, ray: bool) -> Iterator[list[list[int]]]:
    """The polynomial on cells that cover the region, each as rows in ``X`` and ``r`` of [0,1]².

    It is symmetric, so ``|y| <= |x|``: ``x = sX, y = sqrX`` covers the square (a factor
    ``X^(2T-4)`` is divided out), ``x = -1/X, y = qr`` and ``x = -1/(Xr), y = -1/X`` the rest.
    """
    require(all(poly.get((j, i), 0) == c for (i, j), c in poly.items()), "it is not symmetric")
    low = min(i + j for i, j in poly)
    high = max(i + j for i, j in poly)
    wide = max(i for i, _ in poly)

    def table(terms: Iterator[tuple[int, int, int]], height: int) -> list[list[int]]:
        rows = [[0] * (wide + 1) for _ in range(height + 1)]
        for i, j, c in terms:
            rows[i][j] += c
        return rows

    for s in (1, -1):
        for q in (1, -1):
            yield table(
                ((i + j - low, j, s ** (i + j) * q**j * c) for (i, j), c in poly.items()),
                high - low,
            )
    if not ray:
        return
    for q in (1, -1):
        yield table(((wide - i, j, (-1) ** i * q**j * c) for (i, j), c in poly.items()), wide)
    yield table(
        ((high - i - j, wide - i, (-1) ** (i + j) * c) for (i, j), c in poly.items()), high - low
    )


# -- matrices of any size ----------------------------------------------------------------------

Word = tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]
"""1 x 1 stretches in order, and the letters that are left."""


class Matrices:
    """Matrix expressions as sums of words; a block matrix is a table of such sums.

    A maximal 1 x 1 stretch of letters is a number: it commutes, and is its own transpose.
    """

    def __init__(self, on: Field) -> None:
        self.on = on
        self.sizes: dict[str, tuple[str, str]] = {}

    def read(self, data: Any) -> list[list[dict[Word, Rat]]]:
        require(isinstance(data, list) and bool(data), "a matrix is a list")
        kind, *rest = data
        if kind == "block":
            rows = [[self.read(c) for c in items(row, "a row")] for row in items(rest[0], "rows")]
            require(len({len(row) for row in rows}) == 1, "rows of one length")
            flat = [entry for row in rows for entry in row]
            require(all(len(e) == 1 and len(e[0]) == 1 for e in flat), "a block within a block")
            return [[entry[0][0] for entry in row] for row in rows]
        if kind == "letter":
            name, shape = text(rest[0], "a letter"), (text(rest[1], "n"), text(rest[2], "n"))
            require(self.sizes.setdefault(name, shape) == shape, "a letter of two sizes")
            self.sizes[name + "'"] = shape[::-1]
            return self._one([(name,)])
        if kind == "eye":
            return self._one([()])
        if kind == "nought":
            return [[{}]]
        if kind == "scalar":
            return [[{((), ()): self.on.rat(rest[0])}]]
        values = [self.read(part) for part in rest]
        require(bool(values), "an empty sum or product")
        if kind == "T":
            return [
                list(c) for c in zip(*[map(self._turned, row) for row in values[0]], strict=True)
            ]
        require(kind in ("sum", "product"), f"there is no matrix {str(kind)[:40]!r}")
        total = values[0]
        for value in values[1:]:
            total = self._sum(total, value) if kind == "sum" else self._product(total, value)
        return total

    def _one(self, letters: list[tuple[str, ...]]) -> list[list[dict[Word, Rat]]]:
        return [[{self._word((), letters[0]): Rat({0: 1})}]]

    def _word(self, scalars: tuple[tuple[str, ...], ...], letters: tuple[str, ...]) -> Word:
        found, rest, start = list(scalars), [], 0
        while start < len(letters):
            stop = start
            if self.sizes[letters[start]][0] == "1":
                while stop < len(letters) and self.sizes[letters[stop]][1] != "1":
                    stop += 1
                if stop < len(letters):
                    stretch = letters[start : stop + 1]
                    found.append(min(stretch, turned(stretch)))
                    start = stop + 1
                    continue
            rest.append(letters[start])
            start += 1
        return tuple(sorted(found)), tuple(rest)

    def _turned(self, value: dict[Word, Rat]) -> dict[Word, Rat]:
        return {self._word(scalars, turned(rest)): c for (scalars, rest), c in value.items()}

    def _add(self, into: dict[Word, Rat], word: Word, c: Rat) -> None:
        into[word] = self.on.add(into.get(word, Rat({})), c)

    def _sum(self, x: Any, y: Any) -> list[list[dict[Word, Rat]]]:
        require(len(x) == len(y) and len(x[0]) == len(y[0]), "sums of one size")
        result = []
        for left_row, right_row in zip(x, y, strict=True):
            row = []
            for left, right in zip(left_row, right_row, strict=True):
                cell = dict(left)
                for word, c in right.items():
                    self._add(cell, word, c)
                row.append(cell)
            result.append(row)
        return result

    def _product(self, x: Any, y: Any) -> list[list[dict[Word, Rat]]]:
        if len(x) == len(x[0]) == 1 and all(not word[1] for word in x[0][0]):
            x = [[x[0][0] if i == j else {} for j in range(len(y))] for i in range(len(y))]
        elif len(y) == len(y[0]) == 1 and all(not word[1] for word in y[0][0]):
            n = len(x[0])
            y = [[y[0][0] if i == j else {} for j in range(n)] for i in range(n)]
        require(len(x[0]) == len(y), "a product of blocks that do not fit")
        result = []
        for row in x:
            line = []
            for column in zip(*y, strict=True):
                cell: dict[Word, Rat] = {}
                for left, right in zip(row, column, strict=True):
                    for (s, u), c in left.items():
                        for (t, v), e in right.items():
                            self._add(cell, self._word(s + t, u + v), self.on.mul(c, e))
                line.append(cell)
            result.append(line)
        return result

    def equal(self, x: Any, y: Any) -> bool:
        if len(x) != len(y) or len(x[0]) != len(y[0]):
            return False
        return all(
            self.on.equal(left.get(word, Rat({})), right.get(word, Rat({})))
            for left_row, right_row in zip(x, y, strict=True)
            for left, right in zip(left_row, right_row, strict=True)
            for word in {*left, *right}
        )


def turned(letters: tuple[str, ...]) -> tuple[str, ...]:
    """The transpose of a word; ``A'`` is the transpose of the letter A."""
    return tuple(x[:-1] if x.endswith("'") else x + "'" for x in reversed(letters))


KINDS: dict[str, Callable[[Statement], None]] = {
    "identity": Statement.identity,
    "nonnegative": Statement.nonnegative,
    "degree": Statement.degree,
    "compare": Statement.compare,
    "within": Statement.within,
    "roots": Statement.roots,
    "bernstein": Statement.bernstein,
    "theorem": Statement.theorem,
    "pair": Statement.pair,
    "matrices": Statement.matrices,
}


# -- files -------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """What was found of one certificate."""

    name: str
    status: str
    """``re-verified``, ``partly``, ``not`` or ``rejected``."""
    rung: str = ""
    verified: int = 0
    steps: int = 0
    assumes: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    """Each step that was not re-verified, with the reason."""
    reason: str = ""


KEYS = {
    "format", "claim", "check", "rung", "place", "statement", "formula", "hypotheses", "scope",
    "verdict", "assumes", "preset", "versions", "source", "steps", "sha256",
}  # fmt: skip


def digest(document: dict[str, Any]) -> str:
    """SHA-256 of the canonical JSON of everything but the digest itself."""
    body = {key: value for key, value in document.items() if key != "sha256"}
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def loaded(raw: bytes) -> dict[str, Any]:
    """The JSON object, with its nesting bounded before anything recurses."""
    depth = deepest = 0
    inside = escaped = False
    for byte in raw:
        if inside:
            inside = escaped or byte != 0x22
            escaped = byte == 0x5C and not escaped
        elif byte == 0x22:
            inside = True
        elif byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    require(deepest <= MAX_DEPTH, f"it is nested deeper than {MAX_DEPTH}")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        require(len({key for key, _ in pairs}) == len(pairs), "a key is given twice")
        return dict(pairs)

    def refuse(value: str) -> Any:
        raise Rejected(f"the number {value[:20]} is not exact")

    def small(value: str) -> int:
        require(len(value) <= 18, "an integer is too long")
        return int(value)

    try:
        data = json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=unique,
            parse_float=refuse,
            parse_constant=refuse,
            parse_int=small,
        )
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise Rejected(f"it is not JSON: {str(error)[:80]}") from None
    require(isinstance(data, dict), "it is not an object")
    return dict(data)


def read(path: Path) -> dict[str, Any]:
    try:
        require(path.stat().st_size <= MAX_BYTES, f"it is larger than {MAX_BYTES} bytes")
        document = loaded(path.read_bytes())
    except OSError as error:
        raise Rejected(f"it cannot be read: {error.strerror}") from None
    require(document.get("format") == FORMAT, f"its format is not {FORMAT}")
    unknown = sorted({*document} ^ KEYS)
    require(not unknown, f"keys that are missing or unknown: {', '.join(unknown)[:80]}")
    require(digest(document) == document["sha256"], "its contents do not match its checksum")
    return document


def verify(document: dict[str, Any]) -> Outcome:
    """Re-verify every step of a certificate that was read.

    Raises
    ------
    Rejected
        For a false or malformed statement.
    """
    name = f"{text(document['claim'], 'a claim')}/{text(document['check'], 'a check')}"
    outcome = Outcome(name, "not", text(document["rung"], "a rung"))
    outcome.assumes = [text(fact, "a fact") for fact in items(document["assumes"], "facts")]
    require(document["verdict"] == "holds", "a certificate is of a check that holds")
    for step in items(document["steps"], "steps"):
        require(isinstance(step, dict), "a step is an object")
        require({*step} <= {"name", "holds", "shown", "statements", "reason"}, "a step's keys")
        title = text(step.get("name"), "the name of a step")
        require(step.get("holds") is True, f"{title}: the step does not hold")
        outcome.steps += 1
        statements = items(step.get("statements", []), "statements")
        reason = "" if statements else text(step.get("reason"), "a reason")
        for data in statements:
            try:
                Statement(data).verify()
            except Unverified as error:
                reason = str(error)
            except Rejected as error:
                raise Rejected(f"{title}: {error}") from None
            except (RecursionError, OverflowError, MemoryError, ZeroDivisionError) as error:
                reason = f"beyond this checker ({type(error).__name__})"
            except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
                raise Rejected(f"{title}: malformed ({type(error).__name__})") from None
        if reason:
            outcome.open.append(f"{title}: {reason}")
        else:
            outcome.verified += 1
    if outcome.steps and outcome.verified == outcome.steps:
        outcome.status = "re-verified"
    elif outcome.verified:
        outcome.status = "partly"
    if not outcome.steps:
        outcome.reason = "no step was recorded"
    return outcome


def check_file(path: Path) -> Outcome:
    try:
        return verify(read(path))
    except Rejected as error:
        return Outcome(path.name, "rejected", reason=str(error))


def summary(outcomes: Sequence[Outcome]) -> dict[str, int]:
    names = ("re-verified", "partly", "not", "rejected")
    return {name: sum(outcome.status == name for outcome in outcomes) for name in names}


def lines(outcomes: Sequence[Outcome], every: bool) -> Iterator[str]:
    for outcome in outcomes:
        count = f" ({outcome.verified} of {outcome.steps} steps)" if outcome.steps else ""
        reason = f": {outcome.reason}" if outcome.reason else ""
        yield f"{outcome.status:<12} {outcome.name}{count}{reason}"
        shown = outcome.open if every else outcome.open[:3]
        for entry in shown:
            yield f"               not re-verified: {entry[:160]}"
        if len(outcome.open) > len(shown):
            yield f"               and {len(outcome.open) - len(shown)} more (--steps shows them)"
        for fact in outcome.assumes:
            yield f"               given: {fact[:160]}"
    counts = summary(outcomes)
    total = len(outcomes)
    share = f", {100 * counts['re-verified'] / total:.0f}% re-verified in full" if total else ""
    yield ", ".join(f"{value} {name}" for name, value in counts.items()) + f" of {total}{share}"


class _Parser(argparse.ArgumentParser):
    """One line on standard error instead of the usage and a line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see --help)\n")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _Parser(
        prog="certify", description="re-verify certificates with the standard library alone"
    )
    parser.add_argument("path", metavar="DIR or FILE")
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument("--steps", action="store_true", help="show every step that stays open")
    args = parser.parse_args(arguments)
    place = Path(args.path)
    paths = sorted(place.glob("*.json")) if place.is_dir() else [place]
    if not paths or not all(path.is_file() for path in paths):
        print(f"certify: there is no certificate in {args.path}", file=sys.stderr)
        return 2
    outcomes = [check_file(path) for path in paths]
    if args.json:
        document = {"total": summary(outcomes), "checks": [vars(o) for o in outcomes]}
        shown = json.dumps(document, ensure_ascii=False)
    else:
        shown = "\n".join(lines(outcomes, args.steps))
    try:
        print(shown, flush=True)
    except BrokenPipeError:  # whoever read has read enough: `... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1 if any(outcome.status == "rejected" for outcome in outcomes) else 0


if __name__ == "__main__":
    raise SystemExit(main())
