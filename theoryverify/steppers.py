"""Two ways to take a step of a stiff flow: SciPy's Radau in float64, extrapolation in any precision.

Both are given the velocity, its Jacobian (which need not be exact) and the slowness ``dt/ds``, and
keep the elapsed time ``t`` beside the state.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from theoryverify.exact.balls import arb, ball

Number = Any
Vector = list[Number]
Matrix = list[list[Number]]


@dataclass(frozen=True)
class Failure:
    """Why a step could not be taken."""

    message: str
    not_finite: bool = False


class Stepper(ABC):
    """The state ``x`` at ``s`` on the clock; :meth:`advance` moves both."""

    s: Number
    x: Vector
    log_time: float = -math.inf
    arrived: bool = False

    @abstractmethod
    def advance(self) -> Failure | None:
        """Take one step, or say why not."""


def solve(matrix: Sequence[Sequence[Number]], right: Sequence[Number]) -> Vector:
    """Gaussian elimination with pivoting, on any numbers; for the few dimensions of our flows.

    Raises
    ------
    ZeroDivisionError
        For a singular matrix.
    """
    size = len(right)
    rows = [[*row, entry] for row, entry in zip(matrix, right, strict=True)]
    for index in range(size):
        pivot = index
        for candidate in range(index + 1, size):
            if abs(rows[candidate][index]) > abs(rows[pivot][index]):
                pivot = candidate
        rows[index], rows[pivot] = rows[pivot], rows[index]
        if rows[index][index] == 0:
            raise ZeroDivisionError("singular matrix")
        for row in rows[index + 1 :]:
            factor = row[index] / rows[index][index]
            for column in range(index, size + 1):
                row[column] = row[column] - factor * rows[index][column]
    result: Vector = [None] * size
    for index in reversed(range(size)):
        total = rows[index][size]
        for column in range(index + 1, size):
            total = total - rows[index][column] * result[column]
        result[index] = total / rows[index][index]
    return result


class Radau(Stepper):
    """SciPy's implicit Runge-Kutta method of order 5, stepped by hand so that no failure is lost."""

    def __init__(
        self,
        velocity: Callable[[Sequence[Number]], Vector],
        linear: Callable[[Sequence[Number]], Matrix],
        slowness: Callable[[Sequence[Number]], tuple[Number, float]],
        start: Vector,
        until: Number | None,
        rtol: float,
        atol: float,
    ) -> None:
        import numpy as np
        from scipy.integrate import Radau as ScipyRadau

        self._slowness = slowness
        self.s, self.x = 0.0, start
        # Four Gauss points a step: the error of the clock stays below that of the orbit.
        self._nodes, self._weights = np.polynomial.legendre.leggauss(4)
        self._until = math.inf if until is None else float(until)
        with np.errstate(all="ignore"):
            self._solver = ScipyRadau(
                lambda s, x: np.array(velocity(x.tolist())),
                0.0, np.array(start), self._until, rtol=rtol, atol=atol * 1e-3,
                jac=lambda s, x: np.array(linear(x.tolist())),
            )

    def advance(self) -> Failure | None:
        import numpy as np

        before = self.s
        try:
            with np.errstate(all="ignore"):
                message = self._solver.step()
        except (ArithmeticError, ValueError) as error:
            return Failure(str(error), not_finite=True)
        if self._solver.status == "failed":
            return Failure(message or "step size below the spacing of floats")
        if not np.all(np.isfinite(self._solver.y)):
            return Failure("the state is not finite", not_finite=True)
        self.s, self.x = float(self._solver.t), self._solver.y.tolist()
        self.arrived = self._solver.status == "finished"
        self._add_time(before)
        return None

    def _add_time(self, before: float) -> None:
        dense = self._solver.dense_output()
        half = (self.s - before) / 2
        terms = [self.log_time]
        for node, weight in zip(self._nodes, self._weights, strict=True):
            value, log_scale = self._slowness(dense(before + half * (1 + node)).tolist())
            if value > 0:
                terms.append(math.log(value * weight * half) + log_scale)
        top = max(terms)
        self.log_time = top + math.log(sum(math.exp(term - top) for term in terms))


class Extrapolation(Stepper):
    """Linearly implicit Euler, extrapolated in the number of substeps 1, 2, ..., K.

    ``(I - hA)(x_{i+1} - x_i) = h v(x_i)`` with ``A`` the Jacobian at the start of the step has an
    expansion in powers of ``h`` for *any* ``A``, so Aitken-Neville raises the order to K even with
    an inexact Jacobian (Deuflhard, Hairer and Zugck 1987, Hairer and Wanner II, IV.9). On balls,
    midpoints are kept. The time ``t`` is one more component of the state.
    """

    def __init__(
        self,
        velocity: Callable[[Sequence[Number]], Vector],
        linear: Callable[[Sequence[Number]], Matrix],
        slowness: Callable[[Sequence[Number]], tuple[Number, float]],
        start: Vector,
        until: Number | None,
        digits: int,
        scale: float,
    ) -> None:
        self._velocity, self._linear, self._slowness = velocity, linear, slowness
        self.s, self.x = arb(0), [_number(entry).mid() for entry in start]
        self._time = arb(0)
        self._until = None if until is None else _number(until)
        self._order = max(6, min(24, 4 + (2 * digits) // 5))
        self._tolerance = arb(10) ** (-digits - 1)
        self._scale = _number(scale)
        self._step = self._first_step()

    def _first_step(self) -> arb:
        rates = [abs(v) / (self._scale + abs(x)) for v, x in
                 zip(self._velocity(self.x), self.x, strict=True)]
        rates += [abs(entry) for row in self._linear(self.x) for entry in row]
        fastest = rates[0]
        for rate in rates[1:]:
            if rate > fastest:
                fastest = rate
        return (1 / (4 * fastest)).mid() if fastest > 0 else arb(1)

    def advance(self) -> Failure | None:
        for _ in range(60):
            step = self._step
            last = self._until is not None and self.s + step >= self._until
            if last:
                step = (self._until - self.s).mid()
            try:
                state, error = self._attempt(step)
            except (ArithmeticError, ValueError):
                state, error = [], arb("nan")
            if not error.is_finite():
                self._step = (step / 8).mid()
                continue
            # Elementary step control: the error is of order step^{K}.
            growth = (1 / (error + arb(2) ** -200)).root(self._order) * arb("0.8")
            factor = _clip(growth, arb("0.2"), arb(5))
            if error <= 1:
                self.s = self._until if last else (self.s + step).mid()
                self.x, self._time = state[:-1], state[-1]
                self.log_time = float(self._time.log()) if self._time > 0 else -math.inf
                self._step = self._step if last else (step * factor).mid()
                self.arrived = last
                return None
            self._step = (step * factor).mid()
        return Failure("sixty step sizes were refused", not_finite=not error.is_finite())

    def _full_velocity(self, x: Vector) -> Vector:
        slowness, log_scale = self._slowness(x)
        if log_scale != 0:
            slowness = slowness * arb(log_scale).exp()
        return [*self._velocity(x), slowness]

    def _attempt(self, step: arb) -> tuple[Vector, arb]:
        size = len(self.x)
        jacobian = self._linear(self.x)
        begin = self._full_velocity(self.x)
        previous: list[Vector] = []
        for count in range(1, self._order + 1):
            h = step / count
            matrix = [
                [(1 if i == j else 0) - h * jacobian[i][j] for j in range(size)]
                for i in range(size)
            ]
            x, time = list(self.x), self._time
            for index in range(count):
                *velocity, slowness = begin if index == 0 else self._full_velocity(x)
                move = solve(matrix, [h * entry for entry in velocity])
                x = [(entry + change).mid() for entry, change in zip(x, move, strict=True)]
                time = (time + h * slowness).mid()
            row = [[*x, time]]
            for k, older in enumerate(previous):
                weight = arb(count) / (count - 1 - k) - 1
                row.append([
                    (new + (new - old) / weight).mid()
                    for new, old in zip(row[-1], older, strict=True)
                ])
            previous = row
        best, second = previous[-1], previous[-2]
        worst = arb(0)
        for index, (left, right) in enumerate(zip(best, second, strict=True)):
            size_here = abs(left) + (self._scale if index < size else arb(0))
            ratio = abs(left - right) / size_here if size_here > 0 else arb(0)
            if not ratio.is_finite():
                return best, arb("nan")
            worst = ratio if ratio > worst else worst
        return best, (worst / self._tolerance).mid()


def _clip(value: arb, low: arb, high: arb) -> arb:
    if value < low:
        return low
    return high if value > high else value


def _number(value: Any) -> arb:
    return arb(value) if isinstance(value, float) else ball(value)
