"""Domains that a search walks through: numbers, choices, lists, records.

A space can draw a point, move a little way from one, and propose simpler ones. That is all a search
needs to look for a counterexample at random, to go downhill from there, and to shrink what it found.
Points are exact (integers, fractions, dataclasses of these), so that what a float merely suggested
can be certified afterwards. Spaces of laws are in :mod:`theoryverify.claims.law_spaces`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from inspect import signature
from math import ceil, exp, floor, log
from typing import Any

import numpy as np

from theoryverify.errors import InputError
from theoryverify.exact.rationals import Exact, rational

_DENOMINATORS = (1, 1, 1, 2, 3, 4, 5, 10, 100)
_SIMPLE = (1, 2, 3, 4, 5, 8, 10)


class Space(ABC):
    """A set of points to search. ``str(space)`` says which, for the reader of the result."""

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> Any:
        """A point at random; simple ones are likely, odd ones possible."""

    @abstractmethod
    def near(self, point: Any, rng: np.random.Generator, scale: float) -> Any:
        """A point near ``point``; ``scale`` in (0, 1] says how near."""

    @abstractmethod
    def smaller(self, point: Any) -> Iterator[Any]:
        """Points simpler than ``point``, the boldest first."""

    @abstractmethod
    def size(self, point: Any) -> int:
        """How much there is to read in ``point``: about the bits it takes to write it."""

    @abstractmethod
    def contains(self, point: Any) -> bool: ...


@dataclass(frozen=True)
class Integers(Space):
    """The integers from ``low`` to ``high``; drawn log-uniformly where that spans a factor of 100."""

    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise InputError(f"there is no integer from {self.low} to {self.high}")

    def sample(self, rng: np.random.Generator) -> int:
        if self.low >= 1 and self.high >= 100 * self.low:
            return self._clipped(round(exp(rng.uniform(log(self.low), log(self.high)))))
        return int(rng.integers(self.low, self.high + 1))

    def near(self, point: int, rng: np.random.Generator, scale: float) -> int:
        reach = max(1.0, scale * (self.high - self.low) / 4)
        step = ceil(abs(rng.normal()) * reach) * (1 if rng.random() < 0.5 else -1)
        return self._clipped(point + step)

    def smaller(self, point: int) -> Iterator[int]:
        least = self._clipped(0)
        for value in (least, (point + least) // 2, point - (1 if point > least else -1)):
            if abs(value) < abs(point) and self.contains(value):
                yield value

    def size(self, point: int) -> int:
        return abs(point)

    def contains(self, point: Any) -> bool:
        return type(point) is int and self.low <= point <= self.high

    def _clipped(self, value: int) -> int:
        return min(max(value, self.low), self.high)

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"


@dataclass(frozen=True, init=False)
class Rationals(Space):
    """Rationals in ``[low, high]`` with denominators up to ``finest``.

    Moves often land on simple numbers: an equation that holds at ``1/3`` alone is met by a descent
    that tries ``1/3`` when it is close, and never by floats.
    """

    low: Fraction
    high: Fraction
    finest: int

    def __init__(self, low: Exact, high: Exact, finest: int = 1000) -> None:
        object.__setattr__(self, "low", rational(low, "low"))
        object.__setattr__(self, "high", rational(high, "high"))
        object.__setattr__(self, "finest", finest)
        if self.low >= self.high or finest < 1:
            raise InputError(f"[{low}, {high}] with denominators up to {finest} is no interval")

    def sample(self, rng: np.random.Generator) -> Fraction:
        denominator = self._denominator(rng)
        low, high = ceil(self.low * denominator), floor(self.high * denominator)
        if low > high:
            return self.low
        return Fraction(int(rng.integers(low, high + 1)), denominator)

    def near(self, point: Fraction, rng: np.random.Generator, scale: float) -> Fraction:
        if rng.random() < 0.3:
            return self._clipped(point.limit_denominator(int(rng.choice(_SIMPLE))))
        moved = float(point) + rng.normal() * scale * float(self.high - self.low) / 4
        return self._clipped(Fraction(moved).limit_denominator(self._denominator(rng)))

    def smaller(self, point: Fraction) -> Iterator[Fraction]:
        near_zero = self._clipped(Fraction(0))
        for value in (near_zero, *(point.limit_denominator(q) for q in _SIMPLE)):
            if self.contains(value) and self.size(value) < self.size(point):
                yield value
        if point.denominator == 1:
            for whole in (int(point) // 2, int(point) - (1 if point > 0 else -1)):
                if self.contains(Fraction(whole)) and abs(whole) < abs(point):
                    yield Fraction(whole)

    def size(self, point: Fraction) -> int:
        sign = 1 if point < 0 else 0
        return (
            sign + 2 * abs(point.numerator).bit_length() + 3 * (point.denominator.bit_length() - 1)
        )

    def contains(self, point: Any) -> bool:
        return isinstance(point, Fraction) and self.low <= point <= self.high

    def _denominator(self, rng: np.random.Generator) -> int:
        return min(int(rng.choice((*_DENOMINATORS, self.finest))), self.finest)

    def _clipped(self, value: Fraction) -> Fraction:
        return min(max(value, self.low), self.high)

    def __str__(self) -> str:
        return f"rationals in [{self.low}, {self.high}] with denominators up to {self.finest}"


@dataclass(frozen=True)
class Choice(Space):
    """One of some values, simplest first."""

    values: tuple[Any, ...]

    def sample(self, rng: np.random.Generator) -> Any:
        return self.values[int(rng.integers(len(self.values)))]

    def near(self, point: Any, rng: np.random.Generator, scale: float) -> Any:
        return self.sample(rng)

    def smaller(self, point: Any) -> Iterator[Any]:
        yield from self.values[: self.values.index(point)]

    def size(self, point: Any) -> int:
        return self.values.index(point)

    def contains(self, point: Any) -> bool:
        return point in self.values

    def __str__(self) -> str:
        return "one of " + ", ".join(map(str, self.values))


@dataclass(frozen=True)
class OneOf(Space):
    """The union of some spaces that have no point in common."""

    spaces: tuple[Space, ...]

    def sample(self, rng: np.random.Generator) -> Any:
        return self.spaces[int(rng.integers(len(self.spaces)))].sample(rng)

    def near(self, point: Any, rng: np.random.Generator, scale: float) -> Any:
        return self._of(point).near(point, rng, scale)

    def smaller(self, point: Any) -> Iterator[Any]:
        yield from self._of(point).smaller(point)

    def size(self, point: Any) -> int:
        return self._of(point).size(point)

    def contains(self, point: Any) -> bool:
        return any(space.contains(point) for space in self.spaces)

    def _of(self, point: Any) -> Space:
        return next(space for space in self.spaces if space.contains(point))

    def __str__(self) -> str:
        return " or ".join(map(str, self.spaces))


@dataclass(frozen=True)
class ListOf(Space):
    """Tuples of ``least`` to ``most`` points of one space."""

    space: Space
    least: int
    most: int

    def sample(self, rng: np.random.Generator) -> tuple[Any, ...]:
        length = int(rng.integers(self.least, self.most + 1))
        return tuple(self.space.sample(rng) for _ in range(length))

    def near(self, point: tuple[Any, ...], rng: np.random.Generator, scale: float) -> Any:
        kind = rng.random()
        if kind < 0.1 and len(point) < self.most:
            return (*point, self.space.sample(rng))
        at = int(rng.integers(len(point))) if point else 0
        if kind < 0.2 and len(point) > self.least:
            return point[:at] + point[at + 1 :]
        if not point:
            return point
        return (*point[:at], self.space.near(point[at], rng, scale), *point[at + 1 :])

    def smaller(self, point: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        if len(point) > self.least:
            for at in range(len(point)):
                yield point[:at] + point[at + 1 :]
        for at, entry in enumerate(point):
            for value in self.space.smaller(entry):
                yield (*point[:at], value, *point[at + 1 :])

    def size(self, point: tuple[Any, ...]) -> int:
        return sum(10 + self.space.size(entry) for entry in point)

    def contains(self, point: Any) -> bool:
        return (
            isinstance(point, tuple)
            and self.least <= len(point) <= self.most
            and all(self.space.contains(entry) for entry in point)
        )

    def __str__(self) -> str:
        return f"{self.least} to {self.most} of ({self.space})"


@dataclass(frozen=True, init=False)
class Record(Space):
    """A dataclass (or any callable with keyword arguments) whose fields have spaces of their own.

    Raises
    ------
    InputError
        If it cannot be built from fields of these names, or one of them is no :class:`Space`.
    """

    build: Callable[..., Any]
    fields: dict[str, Space] = field(hash=False)

    def __init__(self, build: Callable[..., Any], **fields: Space) -> None:
        for name, space in fields.items():
            if not isinstance(space, Space):
                raise InputError(f"field {name!r} of a Record needs a Space, not {space!r}")
        try:
            signature(build).bind(**fields)
        except ValueError:  # it says nothing of what it takes
            pass
        except TypeError as error:
            names = ", ".join(fields) or "no fields"
            raise InputError(f"{build!r} cannot be built from {names}: {error}") from error
        object.__setattr__(self, "build", build)
        object.__setattr__(self, "fields", fields)

    def sample(self, rng: np.random.Generator) -> Any:
        return self.build(**{name: space.sample(rng) for name, space in self.fields.items()})

    def near(self, point: Any, rng: np.random.Generator, scale: float) -> Any:
        values = {name: getattr(point, name) for name in self.fields}
        names = list(self.fields)
        first = names[int(rng.integers(len(names)))]
        for name in names:
            if name == first or rng.random() < 0.15:
                values[name] = self.fields[name].near(values[name], rng, scale)
        return self.build(**values)

    def smaller(self, point: Any) -> Iterator[Any]:
        values = {name: getattr(point, name) for name in self.fields}
        for name, space in self.fields.items():
            for value in space.smaller(values[name]):
                yield self.build(**{**values, name: value})

    def size(self, point: Any) -> int:
        return sum(space.size(getattr(point, name)) for name, space in self.fields.items())

    def contains(self, point: Any) -> bool:
        return all(
            hasattr(point, name) and space.contains(getattr(point, name))
            for name, space in self.fields.items()
        )

    def __str__(self) -> str:
        return "; ".join(f"{name}: {space}" for name, space in self.fields.items())


@dataclass(frozen=True)
class SparseVectors(Space):
    """Integer vectors ``((index, value), ...)`` on some indices, at least one entry not zero.

    Parameters
    ----------
    indices : sequence of int
        In increasing order.
    most : int
        Entries lie in ``-most..most``.
    """

    indices: Sequence[int]
    most: int

    def sample(self, rng: np.random.Generator) -> Any:
        count = int(rng.integers(1, len(self.indices) + 1))
        dense = rng.random() < 0.5
        chosen = (
            list(self.indices[:count])
            if dense
            else sorted(int(i) for i in rng.choice(self.indices, size=count, replace=False))
        )
        reach = max(1, min(self.most, int(rng.choice((1, 3, 10, self.most)))))
        return self._vector({i: int(rng.integers(-reach, reach + 1)) for i in chosen}, rng)

    def near(self, point: Any, rng: np.random.Generator, scale: float) -> Any:
        values = dict(point)
        if rng.random() < 0.1 and 2 * max(map(abs, values.values())) <= self.most:
            return tuple((i, 2 * v) for i, v in point)  # room for finer ratios
        for _ in range(1 if rng.random() < 0.7 else 2):
            index = int(rng.choice(self.indices))
            reach = max(1.0, scale * max(map(abs, values.values())) / 2)
            step = ceil(abs(rng.normal()) * reach) * (1 if rng.random() < 0.5 else -1)
            values[index] = min(max(values.get(index, 0) + step, -self.most), self.most)
        return self._vector(values, rng)

    def smaller(self, point: Any) -> Iterator[Any]:
        for at in reversed(range(len(point))):
            if len(point) > 1:
                yield point[:at] + point[at + 1 :]
        if point[-1][1] < 0:
            yield tuple((i, -v) for i, v in point)
        for divisor in (10, 5, 3, 2):
            divided = tuple((i, round(v / divisor)) for i, v in point if round(v / divisor))
            if divided:
                yield divided
        for at, (index, value) in enumerate(point):
            for less in (1 if value > 0 else -1, value - (1 if value > 0 else -1)):
                if less and abs(less) < abs(value):
                    yield (*point[:at], (index, less), *point[at + 1 :])

    def size(self, point: Any) -> int:
        # The top index first: a lower degree is worth larger coefficients.
        top, last = point[-1]
        entries = sum(20 + abs(int(value)) for _, value in point)
        return 1000 * int(top) + entries + (1 if last < 0 else 0)

    def contains(self, point: Any) -> bool:
        return isinstance(point, tuple) and all(
            isinstance(pair, tuple) and pair[0] in self.indices and abs(pair[1]) <= self.most
            for pair in point
        )

    def _vector(self, values: dict[int, int], rng: np.random.Generator) -> Any:
        kept = tuple((i, v) for i, v in sorted(values.items()) if v)
        return kept or ((int(rng.choice(self.indices)), 1),)

    def __str__(self) -> str:
        return (
            f"integers in -{self.most}..{self.most} on the indices "
            f"{', '.join(map(str, self.indices))}"
        )
