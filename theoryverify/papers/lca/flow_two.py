"""The two-parameter gradient flow of Theorem 6.3, from ``(α_0, β_0)`` to ``(α*_T, β*_T)``.

**Where it ends** is certified, not integrated: the loss decreases, so if
``ℓ(α_0,β_0) < min(F_T(-2/Z̄), F_T(0))`` the flow cannot leave the window, where ``F_T`` has one stationary
point and α stays bounded (claims ``lca.uniqueness``, ``lca.G.2``); its limit is that point. For even T
``ℓ(α_0,β_0) < F_T(∞)`` is enough, which is more than ``F_T(0)`` (``lca.uniqueness.even``): ``F_T`` lies
below that level on one interval of β, which may reach beyond the window, and has one stationary point
there.

**The orbit** is integrated besides, in float64. In ``(α,β)`` it stalls from T of about 20, because
``1-αS`` cancels and the valley floor is ``r^{2T}`` deep. So the coordinates are β and η with
``α = α*(β) + Φη``, ``Φ = E[W]Q = E[W(1+βZ)^{2T}]``, where ``ℓ = F_T + AΦ²η²``, and the clock is
``ds = Φ dt``:

    dβ/ds = -(F'/Φ - 2Aη α*' + A'Φη²),   dη/ds = (-2Aη - α*' dβ/ds)/Φ - (Q'/Q) η dβ/ds.

Nothing here is small or large but the rate ``A/Φ`` at which η relaxes, which a stiff integrator takes;
beyond 10^9 it is taken as 10^9, and η follows β to nine digits all the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure, ball, precision
from theoryverify.exact.integrands import LinearPower
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import Exact, positive_integer, rational
from theoryverify.flow import FlowError
from theoryverify.papers.lca import assumptions
from theoryverify.papers.lca.kernels import weight_polynomial
from theoryverify.papers.lca.two import BetaStar, beta_star, loss_over, profile

CLOCK = "ds = E[W(1+beta Z)^(2T)] dt, in (eta, beta) with alpha = alpha*(beta) + E[W(1+beta Z)^(2T)] eta"
MAX_DEPTH = 2000


@dataclass(frozen=True)
class TwoParameterFlow:
    """Gradient flow on ``ℓ(α,β)`` from one start.

    Attributes
    ----------
    limit : BetaStar
        Enclosures of ``(α*_T, β*_T)``.
    certified : bool
        Whether the start is certified to lie below ``barrier``, so that the flow from it converges to
        ``limit``.
    in_window : bool
        Whether it is certified below both ends of the window, so that the flow cannot leave it.
    start_loss, barrier : Enclosure
        ``ℓ(α_0,β_0)`` and ``min(F_T(-2/Z̄), F_T(0))``; for even T and a start that is not below that,
        ``F_T(∞)``.
    end : (float, float) or None
        Where the float64 run ended; ``None`` for a start far above the valley, or an orbit that leaves
        the window, which are not followed.
    error : float
        Relative distance of that end from ``limit``.
    steps : int
    """

    law: Law
    depth: int
    alpha0: Enclosure
    beta0: Fraction
    limit: BetaStar
    certified: bool
    in_window: bool
    start_loss: Enclosure
    barrier: Enclosure
    end: tuple[float, float] | None
    error: float
    steps: int
    clock: str = CLOCK


def gradient_flow(
    law: Law,
    depth: int,
    beta0: Exact,
    alpha0: Exact | None = None,
    *,
    digits: int = 20,
) -> TwoParameterFlow:
    """Follow the flow from ``(α_0, β_0)``; ``α_0 = α*(β_0)`` unless given.

    Parameters
    ----------
    law : Law
        Meeting Assumption 6.1.
    depth : int
        T from 2 to 2000.
    beta0 : exact number
        In the window ``(-2/Z̄, 0)``, where Theorem 6.3 starts.

    Raises
    ------
    HypothesisError, InputError
        For a law outside Assumption 6.1, a start outside the window, a depth out of range.
    UndecidedError
        If the window holds no stationary point at this depth.
    """
    law = assumptions.require(law)
    depth = positive_integer(depth, "depth", least=2, most=MAX_DEPTH)
    start = rational(beta0, "beta0")
    if not -2 / law.upper < start < 0:
        raise InputError(f"beta0 = {start} is outside the window ({-2 / law.upper}, 0)")
    given = None if alpha0 is None else rational(alpha0, "alpha0")
    return _flow(law, depth, start, given, positive_integer(digits, "digits", most=200))


@lru_cache(maxsize=64)
def _flow(
    law: Law, depth: int, start: Fraction, alpha0: Fraction | None, digits: int
) -> TwoParameterFlow:
    at = profile(law, start, depth, 30)
    begin = at.alpha if alpha0 is None else Enclosure.exactly(alpha0, 60)
    limit, barrier = beta_star(law, depth, digits), _ends_of_window(law, depth)
    with precision(256):
        gap = ball(0) if alpha0 is None else begin.ball() - at.alpha.ball()
        loss = Enclosure.of(at.loss.ball() + at.A.ball() * gap**2)
        scale = ball(Fraction(_valley(law, depth, float(start)).log_scale)).exp()
        eta = gap / scale
        far = not abs(eta) < _FAR
    certified = in_window = loss.less_than(barrier) is True
    if depth % 2 == 0 and not in_window:
        barrier = _at_infinity(law, depth)
        certified = loss.less_than(barrier) is True
    end, steps = None, 0
    if not far:
        try:
            end, steps = _follow(law, depth, float(start), float(eta.mid()))
        except FlowError:
            if in_window or not certified:
                raise
    error = math.inf
    if end is not None:
        reached = (float(limit.alpha), float(limit.beta))
        error = max(abs(x / y - 1) for x, y in zip(end, reached, strict=True))
    return TwoParameterFlow(
        law, depth, begin, start, limit, certified, in_window, loss, barrier, end, error, steps
    )


def _ends_of_window(law: Law, depth: int) -> Enclosure:
    """``min(F_T(-2/Z̄), F_T(0))``."""
    with precision(128 + 4 * depth.bit_length()):
        left = profile(law, -2 / law.upper, depth, 15).loss.ball()
        right = loss_over(law, ball(0), depth)
        return Enclosure.of(left.min(right))


def _at_infinity(law: Law, depth: int) -> Enclosure:
    """``F_T(∞) = E[W] - E[WZ^T]²/E[WZ^{2T}]``, with Z in units of Z̄."""

    def moment(power: int) -> Any:
        return law.expect(LinearPower(weight_polynomial(), 0, 1 / law.upper, power, pole=1))

    with precision(128 + 4 * depth.bit_length()):
        return Enclosure.of(moment(0) - moment(depth) ** 2 / moment(2 * depth))


@dataclass(frozen=True)
class _Valley:
    """What the right side needs at one β, in float64; scales of size ``φ^{2T}`` are divided out."""

    pull: float
    """``F'/Φ``."""
    newton: float
    """``g``, scaled: it vanishes where F' does, to first order."""
    growth: float
    """``Q'/Q``."""
    A: float
    A_slope: float
    slope: float
    log_scale: float
    alpha: float

    @property
    def scale(self) -> float:
        return max(math.exp(max(self.log_scale, -690.0)), 1 / _FASTEST)


_FASTEST = 1e9
_FAR = 1e3
_MOST_STEPS = 3000


def _valley(law: Law, depth: int, beta: float) -> _Valley:
    phi = max(abs(1 + beta * float(law.lower)), abs(1 + beta * float(law.upper)))
    weight = LinearPower(weight_polynomial(), 1, 0, 0, pole=1)

    def mean(times: int, power: int) -> float:
        """``E[W Z^times (q/φ)^power]``."""

        def integrand(z: Any) -> Any:
            return weight(z) * z**times * ((1 + beta * z) / phi) ** power

        return float(law.expect(integrand, "float64"))

    total = mean(0, 0)
    small = phi**depth  # φ^T: may underflow to 0, and is negligible then
    m, Q = mean(0, depth) / total, mean(0, 2 * depth) / total
    zq1, zq2 = mean(1, depth - 1) / total / phi, mean(1, 2 * depth - 1) / total / phi
    D = 1 - 2 * m * small + Q * small**2
    g = zq2 * (1 - m * small) - zq1 * (m - Q * small)
    dm, dQ = depth * zq1 * small, 2 * depth * zq2 * small**2
    A = total * D / beta**2
    alpha = -beta * (1 - m * small) / D
    return _Valley(
        pull=2 * depth * (1 - m * small) * g / (D**2 * Q),
        newton=g / Q,
        growth=2 * depth * zq2 / Q,
        A=A,
        A_slope=total * (dQ - 2 * dm) / beta**2 - 2 * A / beta,
        slope=-(1 - m * small) / D + beta * dm / D - alpha * (dQ - 2 * dm) / D,
        log_scale=math.log(total * Q) + 2 * depth * math.log(phi),
        alpha=alpha,
    )


def _follow(law: Law, depth: int, beta: float, eta: float) -> tuple[tuple[float, float], int]:
    """Radau until β's own Newton step is below 1e-10; a small gradient is no reason to stop."""
    import numpy as np
    from scipy.integrate import Radau

    window = 2 / float(law.upper)

    def velocity(_: float, state: Any) -> list[float]:
        if not -1.5 * window < state[1] < 0:
            return [math.nan, math.nan]
        at = _valley(law, depth, state[1])
        scale = at.scale
        speed = -(at.pull - 2 * at.A * state[0] * at.slope + at.A_slope * scale * state[0] ** 2)
        relax = (-2 * at.A * state[0] - at.slope * speed) / scale
        return [relax - at.growth * state[0] * speed, speed]

    with np.errstate(all="ignore"):
        solver = Radau(
            velocity,
            0.0,
            [eta, beta],
            t_bound=math.inf,
            rtol=1e-5,
            atol=1e-9,
            first_step=1e-10 / depth,
        )
        for step in range(1, _MOST_STEPS + 1):
            here = float(solver.y[1])
            try:
                message = solver.step()
            except ValueError as problem:  # SciPy's, of numbers that are not finite
                raise FlowError(f"the integrator failed near beta = {here}: {problem}") from problem
            here = float(solver.y[1])
            if solver.status == "failed":
                raise FlowError(f"the integrator failed near beta = {here}: {message}")
            if abs(_newton_step(law, depth, here)) < 1e-10 * abs(here):
                final = _valley(law, depth, here)
                return (
                    final.alpha + math.exp(max(final.log_scale, -690.0)) * float(solver.y[0]),
                    here,
                ), step
    raise FlowError(f"{_MOST_STEPS} steps did not reach the limit; the last beta is {here}")


def _newton_step(law: Law, depth: int, beta: float) -> float:
    """``-g/g'`` by a difference quotient; infinite where g does not rise with β."""
    width = 1e-6 * abs(beta)
    rise = _valley(law, depth, beta + width).newton - _valley(law, depth, beta - width).newton
    return _valley(law, depth, beta).newton * 2 * width / rise if rise > 0 else math.inf
