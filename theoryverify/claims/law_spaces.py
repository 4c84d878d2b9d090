"""Spaces of laws with exact parameters: few atoms, uniform."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np

from theoryverify.claims.spaces import Integers, Rationals, Space
from theoryverify.errors import InputError
from theoryverify.exact.densities import Uniform
from theoryverify.exact.laws import Discrete


@dataclass(frozen=True)
class DiscreteLaws(Space):
    """Laws with ``least`` to ``most`` atoms in ``places``, of rational weights.

    Weights are integers from 1 to ``rarest``, divided by their sum, and drawn log-uniformly: atoms
    that hardly ever occur are common in this space, as they are in counterexamples.
    """

    places: Rationals
    least: int = 1
    most: int = 4
    rarest: int = 10**6

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.most:
            raise InputError(f"no law has {self.least} to {self.most} atoms")

    def sample(self, rng: np.random.Generator) -> Discrete:
        count, atoms = int(rng.integers(self.least, self.most + 1)), set[Fraction]()
        while len(atoms) < count:
            atoms.add(self.places.sample(rng))
        shares = Integers(1, self.rarest) if rng.random() < 0.7 else Integers(1, 5)
        return _law({z: shares.sample(rng) for z in sorted(atoms)})

    def near(self, point: Discrete, rng: np.random.Generator, scale: float) -> Discrete:
        shares = _shares(point)
        atoms = list(shares)
        one = atoms[int(rng.integers(len(atoms)))]
        kind = rng.random()
        if kind < 0.08 and len(atoms) < self.most:
            shares.setdefault(self.places.sample(rng), int(max(1, min(shares.values()))))
        elif kind < 0.16 and len(atoms) > self.least:
            del shares[one]
        elif kind < 0.6:
            shares[one] = max(1, round(shares[one] * 2.0 ** (rng.normal() * 6 * scale)))
        else:
            moved = self.places.near(one, rng, scale)
            if moved not in shares:
                shares[moved] = shares.pop(one)
        return _law({z: min(n, self.rarest) for z, n in sorted(shares.items())})

    def smaller(self, point: Discrete) -> Iterator[Discrete]:
        shares = _shares(point)
        if len(shares) > self.least:
            for z in shares:
                yield _law({other: n for other, n in shares.items() if other != z})
        yield _law(dict.fromkeys(shares, 1))
        for divisor in (1000, 100, 10, 3, 2):
            yield _law({z: max(1, round(n / divisor)) for z, n in shares.items()})
        for z, n in shares.items():
            for less in (1, _rounded(n), n // 2, n - 1):
                if 1 <= less < n:
                    yield _law({**shares, z: less})
            for moved in self.places.smaller(z):
                if moved not in shares:
                    yield _law({(moved if other == z else other): m for other, m in shares.items()})

    def size(self, point: Discrete) -> int:
        return sum(
            12 + self.places.size(z) + 2 * n.bit_length() + len(str(n).rstrip("0"))
            for z, n in _shares(point).items()
        )

    def contains(self, point: Any) -> bool:
        return isinstance(point, Discrete) and all(map(self.places.contains, point.atoms))

    def __str__(self) -> str:
        return (
            f"laws with {self.least} to {self.most} atoms at {self.places}, "
            f"weights in ratios up to 1:{self.rarest}"
        )


@dataclass(frozen=True)
class UniformLaws(Space):
    """Uniform laws on an interval with both ends in ``places``."""

    places: Rationals

    def sample(self, rng: np.random.Generator) -> Uniform:
        low, high = self.places.sample(rng), self.places.sample(rng)
        return self._law(low, high)

    def near(self, point: Uniform, rng: np.random.Generator, scale: float) -> Uniform:
        low, high = point.lower, point.upper
        if rng.random() < 0.5:
            low = self.places.near(low, rng, scale)
        else:
            high = self.places.near(high, rng, scale)
        return self._law(low, high)

    def smaller(self, point: Uniform) -> Iterator[Uniform]:
        for low in self.places.smaller(point.lower):
            if low < point.upper:
                yield Uniform(low, point.upper)
        for high in self.places.smaller(point.upper):
            if high > point.lower:
                yield Uniform(point.lower, high)

    def size(self, point: Uniform) -> int:
        return self.places.size(point.lower) + self.places.size(point.upper)

    def contains(self, point: Any) -> bool:
        return isinstance(point, Uniform)

    def _law(self, low: Fraction, high: Fraction) -> Uniform:
        if low == high:
            low, high = self.places.low, self.places.high
        return Uniform(min(low, high), max(low, high))

    def __str__(self) -> str:
        return f"uniform laws with ends at {self.places}"


def _shares(law: Discrete) -> dict[Fraction, int]:
    """The weights as integers in lowest terms."""
    common = lcm(*(w.denominator for w in law.atoms.values()))
    return {z: int(w * common) for z, w in law.atoms.items()}


def _law(shares: dict[Fraction, int]) -> Discrete:
    common = gcd(*shares.values())
    total = sum(shares.values()) // common
    return Discrete({z: Fraction(n // common, total) for z, n in shares.items()})


def _rounded(n: int) -> int:
    """``n`` to one significant digit."""
    text = str(n)
    return int(text[0] + "0" * (len(text) - 1))
