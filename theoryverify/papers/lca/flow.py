"""The one-parameter gradient flow ``dα/dt = -R_T'(α)`` of Theorem 6.2, followed to its end.

The coordinate is ``x = α - α*`` with ``α* = 2/(Z_lower+Z_upper)``: then ``1-αz = (1-α*z) - xz``,
where the two end terms ``±r - xz`` that balance at α*_T come out to full relative accuracy. All of
``R_T``, ``R_T'``, ``R_T''`` share the scale ``φ^{2T}``, ``φ = max |1-αz|`` over the support, which
the clocks cancel; so T = 1000 is no harder than T = 1.

Two integrators with two clocks are run: Radau in float64 on the flow of ``(1/2T) log R_T``, and
collocation in multiple precision on the clock ``ds = R_T'' dt``. Neither proves anything; both
ends are judged by the enclosure of α*_T.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import ctx

from theoryverify.exact.balls import Enclosure, accuracy, arb, ball, precision
from theoryverify.exact.densities import Uniform
from theoryverify.exact.integrands import LinearPower
from theoryverify.exact.laws import Discrete, Law, Mixture
from theoryverify.exact.rationals import Exact, positive_integer, rational
from theoryverify.flow import (
    CURVATURE,
    TIME,
    Clock,
    Coordinates,
    FlowResult,
    Jet,
    Method,
    log_loss_clock,
)
from theoryverify.flow import gradient_flow as follow
from theoryverify.papers.lca import assumptions
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.kernels import weight_polynomial
from theoryverify.papers.lca.training_time import TrainingTime, time_to_level

MAX_DEPTH = 100_000
DEFAULT_START = "0.02"
FLOAT_DIGITS = 10
"""Digits of the collocation run for laws without elementary expectations."""


@dataclass(frozen=True)
class OneParameterFlow:
    """Gradient flow on R_T from one start.

    Attributes
    ----------
    limit : Enclosure
        Contains α*_T, the limit from every start (Lemma F.2).
    runs : tuple of FlowResult
        The float64 and the multiple-precision run, in α.
    errors : tuple of float
        Relative distance of the end of each run from the enclosure.
    arrived : bool
        Whether both runs converged and ended within ``1e-10`` of α*_T, relatively.
    time : TrainingTime or None
        The certified time to the level, if one was asked for.
    """

    law: Law
    depth: int
    alpha0: Fraction
    limit: Enclosure
    runs: tuple[FlowResult, ...]
    errors: tuple[float, ...]
    arrived: bool
    time: TrainingTime | None

    @property
    def clock(self) -> str:
        """The reparametrisations of the runs."""
        return "; ".join(f"{run.method}: {run.clock}" for run in self.runs)


def gradient_flow(
    law: Law,
    depth: int,
    alpha0: Exact = DEFAULT_START,
    *,
    level: Exact | None = None,
    digits: int = 20,
) -> OneParameterFlow:
    """Follow ``dα/dt = -R_T'(α)`` from ``alpha0`` to α*_T, by two integrators.

    Parameters
    ----------
    law : Law
        The law of Z, meeting Assumption 6.1.
    depth : int
        T, from 1 to 100 000.
    alpha0 : exact number
        Any real start: Theorem 6.2 speaks of them all.
    level : exact number, optional
        F: also enclose the time to reach ``F·α*_T``.
    digits : int
        Digits of the multiple-precision run (see :func:`run`), of the limit and of the time; 5 to
        100.

    Raises
    ------
    HypothesisError
        If the law breaks Assumption 6.1.
    InputError
        For numbers out of range, or a level that the flow never reaches.

    Examples
    --------
    >>> from theoryverify.exact.densities import Uniform
    >>> flow = gradient_flow(Uniform(2, 5), depth=10, digits=12)
    >>> flow.arrived, str(flow.limit)
    (True, '0.281797528706[17, 32]')
    """
    law = assumptions.require(law)
    depth = positive_integer(depth, "depth", most=MAX_DEPTH)
    digits = positive_integer(digits, "digits", least=5, most=100)
    begin = rational(alpha0, "alpha0")
    time = time_to_level(law, depth, begin, level, digits) if level is not None else None
    limit = alpha_star(law, depth, digits).enclosure
    precise = run(law, depth, begin, method="collocation", digits=digits, watch_time=False)
    runs = (run(law, depth, begin), precise)
    errors = tuple(_distance(result, limit) for result in runs)
    arrived = all(error <= 1e-10 for error in errors)
    return OneParameterFlow(law, depth, begin, limit, runs, errors, arrived, time)


def run(
    law: Law,
    depth: int,
    alpha0: Exact,
    *,
    method: Method = "radau",
    clock: Clock | None = None,
    until: Any = None,
    tolerance: float = 1e-8,
    digits: int = 30,
    loss: Callable[[Sequence[Any]], Jet] | None = None,
    watch_time: bool = True,
    max_steps: int = 3_000,
) -> FlowResult:
    """One run of the flow, by one integrator and clock.

    Parameters
    ----------
    clock : Clock, optional
        Default: the flow of ``(1/2T) log R_T`` for ``"radau"``, ``ds = R_T'' dt`` for
        ``"collocation"``. ``theoryverify.flow.TIME`` is the flow's own time, in which T above
        about 20 stalls.
    until : number, optional
        Where to stop on that clock.
    loss : callable, optional
        Another loss in the same coordinate, such as one without W: the negative controls.
    digits : int
        Of a ``"collocation"`` run; at most 10 for a law without elementary expectations, whose loss
        is then evaluated in float64.

    Returns
    -------
    FlowResult
        With ``parameters`` ``[α]``.
    """
    law = assumptions.require(law)
    depth = positive_integer(depth, "depth", most=MAX_DEPTH)
    begin = rational(alpha0, "alpha0")
    centre = 2 / (law.lower + law.upper)
    rest = float(centre)
    if method == "radau":
        used = clock or log_loss_clock(2 * depth)
        start: list[Any] = [float(begin - centre)]
        target = loss or FloatLoss(law, depth)
        coordinates = Coordinates(lambda x: [rest + x[0]])
    else:
        used = clock or CURVATURE
        if closed_form(law):
            target = loss or BallLoss(law, depth)
        else:  # thousands of rigorous integrals would be slow: float64 values, and fewer digits
            target = loss or _lifted(FloatLoss(law, depth, third=True))
            digits = min(digits, FLOAT_DIGITS)
        coordinates = Coordinates(lambda x: [(ball(centre) + x[0]).mid()])
        with precision(4 * digits + 64):
            start = [ball(begin - centre).mid()]
    return follow(
        target,
        start,
        clock=used,
        coordinates=coordinates,
        until=until,
        method=method,
        tolerance=tolerance,
        digits=digits,
        scale=rest,
        watch_time=watch_time,
        max_steps=max_steps,
    )


@dataclass
class FloatLoss:
    """R_T and two derivatives at ``x = α - α*`` in float64, divided by ``φ^{2T}``.

    Attributes
    ----------
    weighted : bool
        ``False`` leaves ``W`` out of the loss: a different flow, with a different limit.
    third : bool
        Whether the third derivative is computed as well.
    """

    law: Law
    depth: int
    weighted: bool = True
    third: bool = False

    def __call__(self, x: Sequence[float]) -> Jet:
        T, total = self.depth, float(self.law.lower + self.law.upper)
        shift = x[0]

        def q(z: Any) -> Any:
            # 1 - α*z = (a + b - 2z)/(a + b), which keeps its digits near the zero.
            return (total - 2 * z) / total - shift * z

        # q is linear in z, so |q| is largest at an end.
        largest = max(abs(q(float(self.law.lower))), abs(q(float(self.law.upper))))
        if not (math.isfinite(largest) and largest > 0):
            return Jet(math.nan, [math.nan], [[math.nan]])

        def mean(power_of_z: int, power_of_q: int) -> float:
            def integrand(z: Any) -> Any:
                return self._w(z) * z**power_of_z * _signed_power(q(z) / largest, power_of_q)

            return float(self.law.expect(integrand, "float64"))

        gradient = -2 * T * mean(1, 2 * T - 1) / largest
        hessian = 2 * T * (2 * T - 1) * mean(2, 2 * T - 2) / largest**2
        third = None
        if self.third and T > 1:
            third = [-2 * T * (2 * T - 1) * (2 * T - 2) * mean(3, 2 * T - 3) / largest**3]
        log_scale = 2 * T * math.log(largest)
        return Jet(mean(0, 2 * T), [gradient], [[hessian]], log_scale, third)

    def _w(self, z: Any) -> Any:
        return LinearPower(weight_polynomial(), 1, 0, 0, pole=1)(z) if self.weighted else 0 * z + 1


@dataclass
class BallLoss:
    """R_T and two derivatives at ``x = α - α*``, as balls at the current precision."""

    law: Law
    depth: int
    weighted: bool = True

    def __call__(self, x: Sequence[arb]) -> Jet:
        alpha = (ball(2 / (self.law.lower + self.law.upper)) + x[0]).mid()
        T, weight = self.depth, weight_polynomial() if self.weighted else (0, 1)
        n = 2 * T
        value, first, second, third = (
            LinearPower((*(0,) * power, *(factor * entry for entry in weight)), 1, -alpha, exponent)
            for power, factor, exponent in (
                (0, 1, n),
                (0, -n, n - 1),
                (1, n * (n - 1), n - 2),
                (2, -n * (n - 1) * (n - 2), max(n - 3, 0)),
            )
        )
        # The weight above is WZ: only the value itself has the pole 1/Z.
        value = LinearPower(value.polynomial, 1, -alpha, n, pole=1)
        return Jet(
            lambda: self._mean(value),
            [self._mean(first)],
            [[self._mean(second)]],
            trace_gradient=[self._mean(third)],
        )

    def _mean(self, integrand: LinearPower) -> arb:
        """The expectation to nearly all bits: near α = 0 the uniform law's closed form cancels."""
        wanted = bits = ctx.prec
        for _ in range(6):
            with precision(bits):
                result = self.law.expect(integrand)
            if result.is_zero() or accuracy(result) >= wanted - 16:
                break
            bits *= 2
        return result.mid()


def closed_form(law: Law) -> bool:
    """Whether expectations of polynomials under the law are elementary, so that balls are cheap."""
    if isinstance(law, Mixture):
        return all(closed_form(part) for _, part in law.parts)
    return isinstance(law, (Uniform, Discrete))


def _lifted(loss: FloatLoss) -> Callable[[Sequence[Any]], Jet]:
    """A float64 loss for an integrator that works on balls."""

    def jet(x: Sequence[arb]) -> Jet:
        low = loss([float(entry) for entry in x])
        gradient = [arb(entry) for entry in low.gradient]
        hessian = [[arb(entry) for entry in row] for row in low.hessian]
        third = low.trace_gradient and [arb(entry) for entry in low.trace_gradient]
        return Jet(arb(low.loss()), gradient, hessian, low.log_scale, third)

    return jet


def without_w(law: Law, depth: int, method: Method = "radau") -> Callable[[Sequence[Any]], Jet]:
    """The loss ``E[(1-αZ)^{2T}]``: what the flow would minimise if W were forgotten."""
    return FloatLoss(law, depth, False) if method == "radau" else BallLoss(law, depth, False)


def ascent(loss: Callable[[Sequence[Any]], Jet]) -> Callable[[Sequence[Any]], Jet]:
    """The same loss with the sign of its derivatives changed, so that descent on it is ascent."""

    def turned(x: Sequence[Any]) -> Jet:
        jet = loss(x)
        return Jet(
            jet.value,
            [-entry for entry in jet.gradient],
            [[-entry for entry in row] for row in jet.hessian],
            jet.log_scale,
        )

    return turned


def _signed_power(base: Any, exponent: int) -> Any:
    """``base**exponent`` for ``|base| <= 1``; NumPy's own power is slow for negative bases."""
    if exponent < 5:
        return base**exponent
    with np.errstate(divide="ignore"):
        size = np.exp(exponent * np.log(np.abs(base)))
    return np.copysign(size, base) if exponent % 2 else size


def _distance(result: FlowResult, limit: Enclosure) -> float:
    """How far the end lies outside the enclosure, relative to it; infinite unless it converged."""
    if result.status.name != "CONVERGED":
        return math.inf
    with precision(512):
        end = result.end[0]
        value = arb(end) if isinstance(end, (float, np.floating)) else end
        low, high = ball(limit.lower), ball(limit.upper)
        if not value.is_finite():
            return math.inf
        gap = (low - value).max(value - high).max(arb(0))
        return float((gap / abs(low)).upper())


__all__ = [
    "DEFAULT_START",
    "TIME",
    "BallLoss",
    "FloatLoss",
    "OneParameterFlow",
    "ascent",
    "gradient_flow",
    "run",
    "without_w",
]
