"""Scalar laws with bounded support: exact moments, rigorous expectations, samples.

A :class:`Law` knows the exact ends of its support and answers one question, ``expect(f)``, on
three kinds of numbers: balls (rigorous), mpmath (high precision, no bound) and float64. Laws with
atoms live here, laws with a density in :mod:`theoryverify.exact.densities`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from fractions import Fraction
from html import escape
from typing import Any, Literal

import mpmath
import numpy as np
import numpy.typing as npt
from flint import arb

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.balls import ball
from theoryverify.exact.evaluate import BALL, FLOAT64, mpmath_arithmetic
from theoryverify.exact.integrands import as_function
from theoryverify.exact.rationals import Exact, rational, shown

Backend = Literal["ball", "mpmath", "float64"]
Interval = tuple[Fraction | None, Fraction | None]
Draws = npt.NDArray[np.float64]


class Law(ABC):
    """The law of a bounded scalar.

    Attributes
    ----------
    lower, upper : Fraction
        The ends of the support (essential infimum and supremum).
    """

    lower: Fraction
    upper: Fraction

    def expect(
        self,
        integrand: Any,
        backend: Backend = "ball",
        *,
        on: tuple[Exact | None, Exact | None] = (None, None),
        digits: int = 30,
    ) -> Any:
        """``E[f(Z); low < Z <= high]``.

        Parameters
        ----------
        integrand : callable, sympy.Expr or LinearPower
            A rational function, written with arithmetic that every backend has, or an expression
            in :data:`theoryverify.exact.integrands.Z`.
        backend : {"ball", "mpmath", "float64"}
            ``"ball"`` gives an ``arb`` at the current precision that contains the value,
            ``"mpmath"`` an ``mpf`` with about ``digits`` digits and no bound, ``"float64"`` a
            float.
        on : pair of exact numbers or None
            Restrict to the half-open ``(low, high]``; ``None`` is no restriction.
        digits : int
            For ``"mpmath"`` only.

        Raises
        ------
        UndecidedError
            If the ball is not finite, or an integral in it fixes no digit.
        InputError
            If the law cannot do this backend, or numbers are beyond the range of a float64.
        """
        region = (
            None if on[0] is None else rational(on[0], "the lower end"),
            None if on[1] is None else rational(on[1], "the upper end"),
        )
        if backend == "ball":
            value = self._expect_ball(integrand, region)
            if not value.is_finite():
                raise UndecidedError(f"the expectation under {self} has no finite enclosure")
            return value
        if backend == "mpmath":
            context = mpmath.mp.clone()
            context.dps = digits + 15
            function = as_function(integrand, mpmath_arithmetic(context))
            return +self._expect_mpmath(lambda z: function(z, False), region, context)
        if backend == "float64":
            function = as_function(integrand, FLOAT64)
            try:
                return float(self._expect_float64(lambda z: function(z, False), region))
            except OverflowError as error:
                raise InputError(f"{self} is beyond the range of a float64: {error}") from error
        raise InputError(f"backend {backend!r} is unknown; choose 'ball', 'mpmath' or 'float64'")

    @abstractmethod
    def _expect_ball(self, integrand: Any, on: Interval) -> arb: ...

    @abstractmethod
    def _expect_mpmath(self, function: Any, on: Interval, context: Any) -> Any: ...

    @abstractmethod
    def _expect_float64(self, function: Any, on: Interval) -> float: ...

    @abstractmethod
    def moment(self, order: int) -> Fraction | None:
        """``E[Z^order]`` exactly for ``order >= 0``, or ``None`` where it is not rational."""

    @abstractmethod
    def atom(self, point: Fraction) -> Fraction:
        """``P(Z = point)``."""

    @property
    @abstractmethod
    def end_exponents(self) -> tuple[Fraction, Fraction]:
        """``(k_lower, k_upper)``: the mass within ``ε`` of an end is of order ``ε^{k+1}``.

        An atom at the end has ``k = -1``.
        """

    @abstractmethod
    def sample(self, size: int, *, rng: np.random.Generator | int | None = None) -> Draws:
        """Independent draws, float64 of shape ``(size,)``."""

    @property
    def degenerate(self) -> bool:
        """Whether the law is a point mass."""
        return self.lower == self.upper

    def _repr_html_(self) -> str:
        """In a notebook: its name, support, mean, and how its mass thins out at the ends."""
        mean, ends = self.moment(1), self.end_exponents
        rows = {
            "support": f"[{shown(self.lower)}, {shown(self.upper)}]",
            "mean": "" if mean is None else shown(mean),
            "end exponents": f"{shown(ends[0])}, {shown(ends[1])}",
        }
        cells = "".join(f"<tr><th>{k}</th><td>{escape(v)}</td></tr>" for k, v in rows.items() if v)
        return f"<div><code>{escape(repr(self))}</code><table>{cells}</table></div>"

    def _repr_latex_(self) -> str:
        name = re.sub(r"([_&%#${}])", r"\\\1", repr(self)).replace("^", r"\hat{\ }")
        return rf"$Z \sim \mathtt{{{name}}},\ Z \in [{shown(self.lower)}, {shown(self.upper)}]$"


class Discrete(Law):
    """Finitely many atoms.

    Parameters
    ----------
    weights : mapping
        From points to probabilities, all exact; the probabilities are positive and sum to 1.

    Examples
    --------
    >>> Discrete({2: "1/4", 3: "1/4", 5: "1/2"}).moment(1)
    Fraction(15, 4)
    """

    def __init__(self, weights: Mapping[Exact, Exact]) -> None:
        if not weights:
            raise InputError("a discrete law needs at least one atom")
        atoms: dict[Fraction, Fraction] = {}
        for point, weight in weights.items():
            place = rational(point, "atom")
            mass = rational(weight, f"the weight of {shown(place)}")
            if mass <= 0:
                raise InputError(
                    f"the weight of atom {shown(place)} is {shown(mass)}; weights must be positive"
                )
            if place in atoms:
                raise InputError(f"atom {shown(place)} is given twice")
            atoms[place] = mass
        total = sum(atoms.values())
        if total != 1:
            raise InputError(f"the weights sum to {shown(total)}; they must sum to 1")
        self.atoms = dict(sorted(atoms.items()))
        self.lower, self.upper = min(atoms), max(atoms)

    def _inside(self, on: Interval) -> list[tuple[Fraction, Fraction]]:
        low, high = on
        return [
            (z, w)
            for z, w in self.atoms.items()
            if (low is None or z > low) and (high is None or z <= high)
        ]

    def _expect_ball(self, integrand: Any, on: Interval) -> arb:
        function = as_function(integrand, BALL)
        total = arb(0)
        for z, w in self._inside(on):
            total += ball(w) * function(ball(z), False)
        return total

    def _expect_mpmath(self, function: Any, on: Interval, context: Any) -> Any:
        number = mpmath_arithmetic(context).constant
        return context.fsum(number(w) * function(number(z)) for z, w in self._inside(on))

    def _expect_float64(self, function: Any, on: Interval) -> float:
        inside = self._inside(on)
        points = np.array([float(z) for z, _ in inside])
        values = function(points) + 0 * points  # a constant function returns one number
        return float(np.dot([float(w) for _, w in inside], values))

    def moment(self, order: int) -> Fraction:
        return sum((w * z**order for z, w in self.atoms.items()), Fraction(0))

    def atom(self, point: Fraction) -> Fraction:
        return self.atoms.get(point, Fraction(0))

    @property
    def end_exponents(self) -> tuple[Fraction, Fraction]:
        return Fraction(-1), Fraction(-1)

    def sample(self, size: int, *, rng: np.random.Generator | int | None = None) -> Draws:
        points = np.array([float(z) for z in self.atoms])
        weights = np.array([float(w) for w in self.atoms.values()])
        return np.random.default_rng(rng).choice(points, size=size, p=weights / weights.sum())

    def __repr__(self) -> str:
        atoms = [f"{shown(z)}:{shown(w)}" for z, w in self.atoms.items()]
        return "discrete(" + ",".join(atoms) + ")"


class TwoPoint(Discrete):
    """Two atoms: ``P(Z = lower) = weight``, ``P(Z = upper) = 1 - weight``."""

    def __init__(self, lower: Exact, upper: Exact, weight: Exact = "1/2") -> None:
        low, high = rational(lower, "lower"), rational(upper, "upper")
        if low >= high:
            raise InputError(
                f"a two-point law needs lower < upper, not {shown(low)} and {shown(high)}"
            )
        first = rational(weight, "weight")
        if not 0 < first < 1:
            raise InputError(f"weight = {shown(first)} must lie strictly between 0 and 1")
        super().__init__({low: first, high: 1 - first})
        self.weight = first

    def __repr__(self) -> str:
        return f"two-point({shown(self.lower)},{shown(self.upper)},{shown(self.weight)})"


class Empirical(Discrete):
    """The law that gives each of the listed exact values the same weight."""

    def __init__(self, values: Iterable[Exact], source: str = "values") -> None:
        values = list(values)
        if not values:
            raise InputError(f"{source} holds no value")
        counts: dict[Fraction, int] = {}
        for value in values:
            point = rational(value, f"value in {source}")
            counts[point] = counts.get(point, 0) + 1
        super().__init__({z: Fraction(n, len(values)) for z, n in counts.items()})
        self.source = source

    def __repr__(self) -> str:
        return f"empirical({self.source})"


class Mixture(Law):
    """``sum_i weight_i law_i``, such as an atom beside a density.

    Parameters
    ----------
    parts : list of (weight, Law)
        Exact positive weights that sum to 1.
    """

    def __init__(self, parts: list[tuple[Exact, Law]]) -> None:
        if not parts:
            raise InputError("a mixture needs at least one part")
        self.parts = [(rational(weight, "weight"), law) for weight, law in parts]
        if any(weight <= 0 for weight, _ in self.parts):
            raise InputError("the weights of a mixture must be positive")
        total = sum(weight for weight, _ in self.parts)
        if total != 1:
            raise InputError(
                f"the weights of the mixture sum to {shown(total)}; they must sum to 1"
            )
        self.lower = min(law.lower for _, law in self.parts)
        self.upper = max(law.upper for _, law in self.parts)

    def _expect_ball(self, integrand: Any, on: Interval) -> arb:
        total = arb(0)
        for weight, law in self.parts:
            total += ball(weight) * law._expect_ball(integrand, on)
        return total

    def _expect_mpmath(self, function: Any, on: Interval, context: Any) -> Any:
        number = mpmath_arithmetic(context).constant
        return context.fsum(
            number(w) * p._expect_mpmath(function, on, context) for w, p in self.parts
        )

    def _expect_float64(self, function: Any, on: Interval) -> float:
        return sum(float(w) * law._expect_float64(function, on) for w, law in self.parts)

    def moment(self, order: int) -> Fraction | None:
        moments = [(w, law.moment(order)) for w, law in self.parts]
        if any(moment is None for _, moment in moments):
            return None
        return sum((w * m for w, m in moments if m is not None), Fraction(0))

    def atom(self, point: Fraction) -> Fraction:
        return sum((w * law.atom(point) for w, law in self.parts), Fraction(0))

    @property
    def end_exponents(self) -> tuple[Fraction, Fraction]:
        laws = [law for _, law in self.parts]
        return (
            min(law.end_exponents[0] for law in laws if law.lower == self.lower),
            min(law.end_exponents[1] for law in laws if law.upper == self.upper),
        )

    def sample(self, size: int, *, rng: np.random.Generator | int | None = None) -> Draws:
        generator = np.random.default_rng(rng)
        weights = np.array([float(w) for w, _ in self.parts])
        which = generator.choice(len(self.parts), size=size, p=weights / weights.sum())
        draws = np.empty(size)
        for index, (_, law) in enumerate(self.parts):
            chosen = which == index
            draws[chosen] = law.sample(int(chosen.sum()), rng=generator)
        return draws

    def __repr__(self) -> str:
        return "mixture(" + ",".join(f"{shown(w)}*{law!r}" for w, law in self.parts) + ")"
