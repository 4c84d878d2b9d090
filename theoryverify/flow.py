"""Gradient flow of any loss: its orbit, where it ends, and how long it takes.

``dθ/dt = -∇ℓ(θ)`` for a loss such as ``E[W (1-αZ)^{2T}]`` cannot be integrated in its own time: it
needs time exponential in T, and its right side drowns in round-off long before the end. Two
changes leave the *orbit* as it is and cure that.

* A **clock** ``ds = pace(θ) dt``. With ``pace = ℓ`` this is the flow of ``log ℓ``, whose speed does
  not fade; gradient and pace share a scale that cancels, so nothing under- or overflows.
* **Coordinates** ``θ = θ(x)`` in which the loss does not cancel. Steepest descent stays that of the
  parameters: with ``J = ∂θ/∂x`` and the loss written in ``x``, ``dx/dt = -(JᵀJ)⁻¹ ∇_x ℓ``.

A run ends by the length of Newton's step, which estimates the distance to the critical point in the
coordinates themselves. A small gradient is no reason to stop. The end of a run is never more than
a computed number; the caller judges it against an enclosure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

from theoryverify.errors import InputError
from theoryverify.exact.balls import bits_for, precision
from theoryverify.exact.rationals import positive_integer
from theoryverify.steppers import Collocation, Radau, Stepper, solve

Number = Any
Vector = list[Number]
Matrix = list[list[Number]]
Method = Literal["radau", "collocation"]

_MAX_DIGITS = 1000


@dataclass(frozen=True)
class Jet:
    """A loss and its derivatives at a point, all divided by ``exp(log_scale)``.

    Attributes
    ----------
    value : number, or a function of no arguments
        ``ℓ``; a function where the value is dearer than the derivatives and not always needed.
    gradient, hessian
        In the coordinates, of shapes ``(n,)`` and ``(n, n)``.
    log_scale : float
        Natural logarithm of the common scale.
    trace_gradient : list of numbers or None
        ``∇ tr(∇²ℓ)``, if it is known: it makes :data:`CURVATURE` take fewer steps.
    """

    value: Number | Callable[[], Number]
    gradient: Vector
    hessian: Matrix
    log_scale: float = 0.0
    trace_gradient: Vector | None = None

    def loss(self) -> Number:
        return self.value() if callable(self.value) else self.value


@dataclass(frozen=True)
class Clock:
    """``ds = pace dt``.

    Attributes
    ----------
    name : str
        The relation in words, for reports.
    pace : callable
        From a :class:`Jet` to a positive number in the jet's own scale.
    pace_gradient : callable
        ``∇ pace`` in the coordinates, for the Jacobian; where it is ``None`` it is left out, which
        costs steps but never accuracy.
    """

    name: str
    pace: Callable[[Jet], Number]
    pace_gradient: Callable[[Jet], Vector | None] = lambda jet: None


TIME = Clock("ds = dt", lambda jet: math.exp(-jet.log_scale) if jet.log_scale else 1)
"""The flow's own time."""

CURVATURE = Clock(
    "ds = tr(∇²ℓ) dt",
    lambda jet: sum(row[index] for index, row in enumerate(jet.hessian)),
    lambda jet: jet.trace_gradient,
)
"""Relaxation takes one unit of this clock in one dimension (it is Newton's flow there)."""


def log_loss_clock(rate: int = 1) -> Clock:
    """``ds = rate·ℓ dt``: the flow of ``(1/rate) log ℓ``, for a loss that stays positive."""
    return Clock(
        f"ds = {rate} ℓ dt" if rate != 1 else "ds = ℓ dt",
        lambda jet: rate * jet.loss(),
        lambda jet: [rate * entry for entry in jet.gradient],
    )


@dataclass(frozen=True)
class Coordinates:
    """``θ = to_parameters(x)``, ``J = jacobian(x)`` of shape ``(n, n)``; ``None`` means J = I."""

    to_parameters: Callable[[Sequence[Number]], Vector] = list
    jacobian: Callable[[Sequence[Number]], Matrix] | None = None


class Status(Enum):
    """How a run ended."""

    CONVERGED = "Newton's step is below the tolerance and the Hessian is positive definite"
    STOPPED = "the asked value of the clock is reached"
    STEP_LIMIT = "the allowed number of steps is spent"
    STEP_TOO_SMALL = "the integrator could not meet its tolerance with any step"
    NOT_FINITE = "the loss, its derivatives or the clock are not finite"


class FlowError(ArithmeticError):
    """A flow did not arrive; the message says how it ended. Never a refutation."""


@dataclass(frozen=True)
class FlowResult:
    """A run of the flow.

    Attributes
    ----------
    status : Status
    message : str
        What the integrator said, if anything.
    clock, method : str
    s : list of float
        The clock at the recorded points.
    x, parameters : list of lists of numbers
        Coordinates and parameters there.
    log_loss, log_time : list of float
        Natural logarithms of the loss and of the elapsed time ``t`` (``-inf`` at the start), which
        may exceed the range of a float.
    distance : float
        Length of Newton's step at the end, in the coordinates.
    evaluations : int
        How often the loss was evaluated.
    """

    status: Status
    message: str
    clock: str
    method: str
    s: list[float]
    x: list[Vector]
    parameters: list[Vector]
    log_loss: list[float]
    log_time: list[float]
    distance: float
    evaluations: int

    @property
    def end(self) -> Vector:
        """The parameters at the last recorded point."""
        return self.parameters[-1]

    def require(self, *allowed: Status) -> FlowResult:
        """The result itself if it ended in one of ``allowed`` (default: converged or stopped).

        Raises
        ------
        FlowError
            Otherwise: a failed integration is an error, never a value.
        """
        if self.status in (allowed or (Status.CONVERGED, Status.STOPPED)):
            return self
        raise FlowError(
            f"the flow ended after {len(self.s) - 1} steps at {self.clock.split('=')[0]}"
            f"-clock {self.s[-1]:.6g}: {self.status.value}"
            + (f" ({self.message})" if self.message else "")
        )


def gradient_flow(
    loss: Callable[[Sequence[Number]], Jet],
    start: Sequence[Number],
    *,
    clock: Clock = TIME,
    coordinates: Coordinates | None = None,
    until: Number | None = None,
    method: Method = "radau",
    tolerance: float = 1e-9,
    close: float = 1e-11,
    digits: int = 30,
    scale: float = 1.0,
    watch_time: bool = True,
    max_steps: int = 10_000,
) -> FlowResult:
    """Follow ``dθ/dt = -∇ℓ(θ)`` from ``start`` to a minimum, or to ``until`` on the clock.

    Parameters
    ----------
    loss : callable
        ``x -> Jet`` in the coordinates; on floats for ``"radau"``, on balls (``arb``, of which only
        midpoints are kept) for ``"collocation"``.
    start : sequence
        Coordinates of the start, numbers of that same kind.
    clock : Clock
    coordinates : Coordinates, optional
        Default: the coordinates are the parameters.
    until : number, optional
        Where to stop on the clock. Without it the run ends at a minimum.
    method : {"radau", "collocation"}
        SciPy's Radau IIA of order 5 in float64 with the Jacobian given; or Radau IIA
        of an order that grows with ``digits``, in multiple precision.
    tolerance : float
        Relative tolerance of the ``"radau"`` steps.
    close : float
        Length of Newton's step, in units of ``scale``, at which a ``"radau"`` run has converged.
    digits : int
        Both of these for ``"collocation"``, as decimal digits.
    scale : float
        Typical size of a coordinate, below which absolute errors count.
    watch_time : bool
        Whether ``"collocation"`` chooses its steps so that ``log_time`` is good to about eight
        digits too. Far from the end a time that runs over thousands of decades costs most steps.
    max_steps : int

    Returns
    -------
    FlowResult
        Its ``status`` says how the run ended; ``result.require()`` raises unless it arrived.

    Raises
    ------
    InputError
        For an empty or non-finite start or tolerances out of range.

    Examples
    --------
    >>> bowl = lambda x: Jet(x[0] ** 2 / 2, [x[0]], [[1.0]])
    >>> round(gradient_flow(bowl, [1.0], until=1.0).end[0], 9)
    0.367879441
    """
    if not start:
        raise InputError("a flow needs at least one coordinate to start from")
    if not all(_finite(entry) for entry in start):
        raise InputError(f"the start {list(start)} is not finite")
    if not 1e-13 <= tolerance <= 1e-2:
        raise InputError(f"tolerance = {tolerance} is out of range; it must be in [1e-13, 1e-2]")
    if not 1e-15 <= close <= 1:
        raise InputError(f"close = {close} is out of range; it must be in [1e-15, 1]")
    if not (math.isfinite(scale) and scale > 0):
        raise InputError(f"scale = {scale} must be positive and finite")
    if until is not None and not until > 0:
        raise InputError(f"until = {until} must be positive")
    positive_integer(max_steps, "max_steps")
    digits = positive_integer(digits, "digits", least=5, most=_MAX_DIGITS)
    motion = _Motion(loss, clock, coordinates or Coordinates())
    if method == "radau":
        begin = [float(entry) for entry in start]
        stepper: Stepper = Radau(
            motion.velocity,
            motion.linear,
            motion.slowness,
            begin,
            until,
            tolerance,
            tolerance * scale,
        )
        return _run(motion, stepper, close * scale, until is None, max_steps, method)
    if method == "collocation":
        with precision(bits_for(digits) + 32):
            stepper = Collocation(
                motion.velocity,
                motion.linear,
                motion.slowness,
                list(start),
                until,
                digits,
                scale,
                watch_time,
            )
            return _run(motion, stepper, scale * 10.0**-digits, until is None, max_steps, method)
    raise InputError(f"method {method!r} is unknown; choose 'radau' or 'collocation'")


@dataclass
class _Motion:
    """``dx/ds`` and its Jacobian, from the loss, the clock and the coordinates."""

    loss: Callable[[Sequence[Number]], Jet]
    clock: Clock
    coordinates: Coordinates
    evaluations: int = 0
    _last: tuple[Vector, Jet] | None = field(default=None, repr=False)

    def jet(self, x: Sequence[Number]) -> Jet:
        key = list(x)
        if self._last is None or not _same(self._last[0], key):
            self._last = (key, self.loss(key))
            self.evaluations += 1
        return self._last[1]

    def velocity(self, x: Sequence[Number]) -> Vector:
        """``-(JᵀJ)⁻¹ ∇ℓ / pace``."""
        jet = self.jet(x)
        pace = self.clock.pace(jet)
        return [-entry / pace for entry in self._raise(x, jet.gradient)]

    def linear(self, x: Sequence[Number]) -> Matrix:
        """Its Jacobian, up to terms that vanish with the gradient where ``J`` is not constant."""
        jet = self.jet(x)
        pace = self.clock.pace(jet)
        rows = [list(row) for row in jet.hessian]
        drift = self.clock.pace_gradient(jet)
        if drift is not None:
            rows = [
                [h - g * p / pace for h, p in zip(row, drift, strict=True)]
                for row, g in zip(rows, jet.gradient, strict=True)
            ]
        columns = [self._raise(x, list(column)) for column in zip(*rows, strict=True)]
        return [[-entry / pace for entry in row] for row in zip(*columns, strict=True)]

    def slowness(self, x: Sequence[Number]) -> tuple[Number, float]:
        """``dt/ds`` as a number and the natural logarithm of its scale."""
        jet = self.jet(x)
        return 1 / self.clock.pace(jet), -jet.log_scale

    def log_loss(self, x: Sequence[Number]) -> float:
        jet = self.jet(x)
        return _log(jet.loss()) + jet.log_scale

    def distance(self, x: Sequence[Number]) -> float:
        """The larger of Newton's steps for ``ℓ`` and for ``log ℓ`` where ``ℓ > 0``.

        For ``ℓ = q^{2T}`` the first is ``q/(2T)`` times a constant anywhere on the way, the second
        ``q`` times it: the first alone would look like an arrival for large T.
        """
        jet = self.jet(x)
        if not _positive_definite(jet.hessian):
            return math.inf
        plain = solve(jet.hessian, jet.gradient)
        lengths = [abs(float(entry)) for entry in plain]
        value = jet.loss()
        if value > 0:
            rows = [
                [h - g * k / value for h, k in zip(row, jet.gradient, strict=True)]
                for row, g in zip(jet.hessian, jet.gradient, strict=True)
            ]
            try:
                lengths += [abs(float(entry)) for entry in solve(rows, jet.gradient)]
            except ZeroDivisionError:
                return math.inf
        return max(lengths) if all(math.isfinite(entry) for entry in lengths) else math.inf

    def _raise(self, x: Sequence[Number], covector: Vector) -> Vector:
        if self.coordinates.jacobian is None:
            return covector
        jacobian = self.coordinates.jacobian(x)
        transposed = [list(row) for row in zip(*jacobian, strict=True)]
        return solve(jacobian, solve(transposed, covector))


def _run(
    motion: _Motion, stepper: Stepper, close: float, to_minimum: bool, max_steps: int, method: str
) -> FlowResult:
    s, x = [0.0], [list(stepper.x)]
    parameters = [motion.coordinates.to_parameters(stepper.x)]
    log_time, log_loss = [-math.inf], [_safe(lambda: motion.log_loss(stepper.x))]
    status, message = Status.STEP_LIMIT, ""
    distance = math.inf
    for _ in range(max_steps):
        if to_minimum:
            distance = motion.distance(stepper.x)
            if distance <= close:
                status = Status.CONVERGED
                break
        failure = stepper.advance()
        if failure is not None:
            status = Status.NOT_FINITE if failure.not_finite else Status.STEP_TOO_SMALL
            message = failure.message
            break
        s.append(float(stepper.s))
        x.append(list(stepper.x))
        parameters.append(motion.coordinates.to_parameters(stepper.x))
        log_loss.append(_safe(lambda: motion.log_loss(stepper.x)))
        log_time.append(stepper.log_time)
        if stepper.arrived:
            status = Status.STOPPED
            break
    if not all(_finite(entry) for entry in x[-1]):
        status = Status.NOT_FINITE
    return FlowResult(
        status,
        message,
        motion.clock.name,
        method,
        s,
        x,
        parameters,
        log_loss,
        log_time,
        distance,
        motion.evaluations,
    )


def _same(left: Vector, right: Vector) -> bool:
    return len(left) == len(right) and all(bool(a == b) for a, b in zip(left, right, strict=True))


def _finite(value: Number) -> bool:
    return bool(value.is_finite()) if hasattr(value, "is_finite") else math.isfinite(value)


def _log(value: Number) -> float:
    if not value > 0:
        return -math.inf if value == 0 else math.nan
    return float(value.log()) if hasattr(value, "is_finite") else math.log(value)


def _safe(compute: Callable[[], float]) -> float:
    try:
        return compute()
    except (ArithmeticError, ValueError):
        return math.nan


def _positive_definite(matrix: Matrix) -> bool:
    """Whether all pivots of Gaussian elimination are positive; NaN is not."""
    rows = [list(row) for row in matrix]
    for index, row in enumerate(rows):
        if not row[index] > 0:
            return False
        for below in rows[index + 1 :]:
            factor = below[index] / row[index]
            for column in range(index, len(rows)):
                below[column] = below[column] - factor * row[column]
    return True
