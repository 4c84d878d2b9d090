"""Two ways to take a step of a stiff flow: SciPy's Radau in float64, collocation in any precision.

Both are given the velocity, its Jacobian (which need not be exact) and the slowness ``dt/ds``, and
keep the elapsed time ``t`` beside the state.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from flint import arb_mat, ctx, fmpq_poly

from theoryverify.exact.balls import arb, ball, precision

Number = Any
Vector = list[Number]
Matrix = list[list[Number]]

_TIME_TAIL = arb(1) / 10_000
"""Legendre tail of ``dt/ds`` over a step, relative to the time so far."""


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
    """SciPy's implicit Runge-Kutta method of order 5, stepped by hand so no failure is lost."""

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
                0.0,
                np.array(start),
                self._until,
                rtol=rtol,
                atol=atol,
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


class Collocation(Stepper):
    """Radau IIA of any order, on balls of which midpoints are kept.

    The K stages at the right Radau points solve ``X_i = x + h Σ_j a_ij v(X_j)`` by Newton's method
    with the Jacobian at every stage; the result ``X_K`` is of order 2K-1 and L-stable (Hairer and
    Wanner II, IV.5). The step is chosen so that the last Legendre coefficients of ``v`` over a step
    are below the *root* of the tolerance: inside a step the collocation polynomial errs by about
    those, at its end by about their square. That is a heuristic, so no bound is claimed. The time
    is summed with the same nodes and kept to about eight digits: it may run over hundreds of
    decades, and no orbit should be slow for the sake of its first ones.
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
        watch_time: bool,
    ) -> None:
        self._velocity, self._linear, self._slowness = velocity, linear, slowness
        self.s, self.x = arb(0), [_number(entry).mid() for entry in start]
        self._time = arb(0)
        self._until = None if until is None else _number(until)
        self._stages = max(5, min(40, 3 + digits // 2))
        self._rule = radau_rule(self._stages, ctx.prec)
        self._tolerance = arb(10) ** (-digits - 1)
        self._scale = _number(scale)
        self._watch_time = watch_time
        self._step = self._first_step()

    def _first_step(self) -> arb:
        rates = [
            abs(v) / (self._scale + abs(x))
            for v, x in zip(self._velocity(self.x), self.x, strict=True)
        ]
        rates += [abs(entry) for row in self._linear(self.x) for entry in row]
        fastest = max(rates, key=float)
        return (1 / (4 * fastest)).mid() if fastest > 0 else arb(1)

    def advance(self) -> Failure | None:
        reason = ""
        for _ in range(80):
            step = self._step
            last = self._until is not None and bool(self.s + step >= self._until)
            if last:
                step = (self._until - self.s).mid()
            try:
                states, velocities, slownesses = self._stages_of(step)
            except (ArithmeticError, ValueError) as error:
                reason = str(error)
                self._step = (step / 4).mid()
                continue
            end = states[-1]
            time = self._time + step * sum(
                (w * v for w, v in zip(self._rule.matrix[-1], slownesses, strict=True)), arb(0)
            )
            columns = [[row[i] for row in velocities] for i in range(len(end))]
            root = self._tolerance.sqrt()
            sizes = [root * (self._scale + abs(entry)) for entry in end]
            if self._watch_time:
                columns.append(slownesses)
                sizes.append(_TIME_TAIL * abs(time))
            worst = self._tail(columns, sizes, step)
            if not worst.is_finite():
                reason = "the error estimate is not finite"
                self._step = (step / 4).mid()
                continue
            factor = _clip(
                (arb("0.9") / (worst + arb(2) ** -200).root(self._stages)).mid(), arb("0.1"), arb(4)
            )
            if worst <= 1:
                self.s = self._until if last else (self.s + step).mid()
                self.x, self._time = end, time.mid()
                self.log_time = float(self._time.log()) if self._time > 0 else -math.inf
                self.arrived = last
                if not last:
                    self._step = (step * factor).mid()
                return None
            self._step = (step * factor).mid()
            reason = "the tolerance was not met"
        return Failure(f"eighty step sizes were refused; {reason}", not_finite="finite" in reason)

    def _stages_of(self, step: arb) -> tuple[list[Vector], list[Vector], Vector]:
        """The stages, and the velocities and ``dt/ds`` there (one Newton step behind)."""
        states = self._guess(step)
        previous: arb | None = None
        for _ in range(30):
            velocities = [self._velocity(state) for state in states]
            slownesses = [self._real_slowness(state) for state in states]
            moved = self._newton(states, velocities, step)
            # The next step would be smaller by at least the factor of the last one.
            ahead = moved if previous is None else moved * moved / previous
            if ahead <= self._tolerance / 10:
                return states, velocities, slownesses
            if previous is not None and moved > previous / 2:
                raise ArithmeticError("the stages do not converge")
            previous = moved
        raise ArithmeticError("the stages do not converge")

    def _guess(self, step: arb) -> list[Vector]:
        """Linearly implicit Euler to each node: right to first order, however stiff."""
        velocity, jacobian = self._velocity(self.x), self._linear(self.x)
        size = len(self.x)
        guess = []
        for node in self._rule.nodes:
            h = step * node
            matrix = [
                [(1 if i == j else 0) - h * jacobian[i][j] for j in range(size)]
                for i in range(size)
            ]
            move = solve(matrix, [h * entry for entry in velocity])
            guess.append([(x + d).mid() for x, d in zip(self.x, move, strict=True)])
        return guess

    def _newton(self, states: list[Vector], velocities: list[Vector], step: arb) -> arb:
        """Improve the stages in place; returns how far they moved, relative to their size."""
        size, count, matrix = len(self.x), self._stages, self._rule.matrix
        jacobians = [self._linear(state) for state in states]
        residual = [
            [
                self.x[k]
                - states[i][k]
                + step * sum((matrix[i][j] * velocities[j][k] for j in range(count)), arb(0))
            ]
            for i in range(count)
            for k in range(size)
        ]
        system = [
            [
                (1 if i == j and k == m else 0) - step * matrix[i][j] * jacobians[j][k][m]
                for j in range(count)
                for m in range(size)
            ]
            for i in range(count)
            for k in range(size)
        ]
        change = arb_mat(system).mid().solve(arb_mat(residual).mid())
        moved = arb(0)
        for i in range(count):
            for k in range(size):
                delta = change[i * size + k, 0].mid()
                if not delta.is_finite():
                    raise ArithmeticError("a stage is not finite")
                states[i][k] = (states[i][k] + delta).mid()
                relative = abs(delta) / (self._scale + abs(states[i][k]))
                moved = relative.mid() if relative > moved else moved
        return moved

    def _real_slowness(self, x: Vector) -> arb:
        slowness, log_scale = self._slowness(x)
        return slowness * arb(log_scale).exp() if log_scale else arb(1) * slowness

    def _tail(self, columns: list[Vector], sizes: Vector, step: arb) -> arb:
        """The largest of the last two Legendre coefficients over a step, each against its size."""
        worst = arb(0)
        for column, size in zip(columns, sizes, strict=True):
            for row in self._rule.legendre_tail:
                coefficient = abs(sum((p * v for p, v in zip(row, column, strict=True)), arb(0)))
                ratio = step * coefficient / size if size > 0 else arb(0)
                if not ratio.is_finite():
                    return arb("nan")
                worst = ratio.mid() if ratio > worst else worst
        return worst


@dataclass(frozen=True)
class RadauRule:
    """Radau IIA: the right Radau points ``c_i`` on [0, 1] and the matrix ``a_ij``.

    The two rows of ``legendre_tail`` give the Legendre coefficients of degree K-1 and K-2 of a
    function from its values at the points.
    """

    nodes: list[arb]
    matrix: list[list[arb]]
    legendre_tail: list[list[arb]]


@lru_cache(maxsize=32)
def radau_rule(stages: int, bits: int) -> RadauRule:
    """Radau IIA with ``stages`` stages; the points are the roots of ``P_K - P_{K-1}``."""
    with precision(2 * bits + 8 * stages):  # the Vandermonde system loses some bits a stage
        roots = (_legendre(stages) - _legendre(stages - 1)).complex_roots()
        nodes = sorted((((root.real + 1) / 2).mid() for root, _ in roots), key=float)
        powers = arb_mat([[c**k for k in range(stages)] for c in nodes])
        integrals = arb_mat([[c ** (k + 1) / (k + 1) for k in range(stages)] for c in nodes])
        # a V = C row by row, so Vᵀ aᵀ = Cᵀ.
        solved = powers.transpose().solve(integrals.transpose())
        matrix = [[solved[j, i].mid() for j in range(stages)] for i in range(stages)]
        tail = []
        for degree in (stages - 1, stages - 2):
            polynomial = _legendre(degree)
            tail.append(
                [
                    ((2 * degree + 1) * weight * _at(polynomial, 2 * c - 1)).mid()
                    for c, weight in zip(nodes, matrix[-1], strict=True)
                ]
            )
    return RadauRule(nodes, matrix, tail)


def _legendre(degree: int) -> fmpq_poly:
    """The Legendre polynomial, by its three-term recurrence."""
    below, here = fmpq_poly([1]), fmpq_poly([0, 1])
    if degree == 0:
        return below
    for n in range(1, degree):
        below, here = here, (fmpq_poly([0, 2 * n + 1]) * here - n * below) / (n + 1)
    return here


def _at(polynomial: fmpq_poly, point: arb) -> arb:
    total = arb(0)
    for coefficient in reversed(polynomial.coeffs()):
        total = total * point + coefficient
    return total


def _clip(value: arb, low: arb, high: arb) -> arb:
    if value < low:
        return low
    return high if value > high else value


def _number(value: Any) -> arb:
    return arb(value) if isinstance(value, float) else ball(value)
