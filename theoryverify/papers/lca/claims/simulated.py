"""The theorems down to the running model: literal Torch models on random prompts.

Every interval below is a confidence sequence with error 1e-9, and there are fewer than 50 of them in
both presets together; so the probability of any wrong ``holds`` or ``refuted`` here, summed, is at
most 5e-8. Formula and controls of one check are judged on the same draws. Torch is imported when a
check runs; without it the checks are ``inconclusive``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from theoryverify.budget import SHARE
from theoryverify.claims import REFUTED, SIMULATED, Claim, Context, Evidence, Examination
from theoryverify.errors import UndecidedError
from theoryverify.exact.balls import Enclosure, bits_for, precision
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Law
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.claims.setting import IN_UNITS
from theoryverify.papers.lca.laws import ATOMS, TWO_POINT, UNIFORM
from theoryverify.papers.lca.loss import excess_loss
from theoryverify.papers.lca.one_layer import best_one_layer
from theoryverify.papers.lca.simulated import literal_draws
from theoryverify.papers.lca.theory import T, alpha, beta
from theoryverify.papers.lca.wishart import mean_excess, second_moment_about_limit
from theoryverify.stats import BoundedMean, Equivalence, VarianceMean, equivalence

Floats = NDArray[np.float64]

ERROR = SHARE
_TOTAL = "all simulated checks of lca together: at most 5e-8"
_W = (Z - 1) / Z


def require_torch() -> Any:
    """Torch, on one thread; or the reason why the check cannot say anything."""
    try:
        import torch
    except ImportError as error:
        raise UndecidedError('Torch is not there: pip install "theoryverify[simulate]"') from error
    torch.set_num_threads(1)
    return torch


def generator(context: Context, what: str) -> np.random.Generator:
    """The same for a formula and its controls: they are judged on the same draws."""
    return Context(seed=context.seed, name=what).rng()


class Replay:
    """Draws that are made once and handed out again to every formula that is judged."""

    def __init__(self, draw: Callable[[int, np.random.Generator], Floats]) -> None:
        self.draw = draw
        self.chunks: list[Floats] = []

    def reader(self) -> Callable[[int, np.random.Generator], Floats]:
        position = iter(range(10**9))

        def read(n: int, rng: np.random.Generator) -> Floats:
            index = next(position)
            if index == len(self.chunks):
                self.chunks.append(self.draw(n, rng))
            return self.chunks[index]

        return read


@dataclass(frozen=True)
class Point:
    """One experiment: a law, the sizes, the weights. ``beta=None`` ties ``β = -α``."""

    law: Law
    dim: int
    context: int
    depth: int
    alpha: Fraction
    beta: Fraction | None = None

    def __str__(self) -> str:
        mix = "" if self.beta is None else f", β = {self.beta}"
        return (
            f"{self.law}, d = {self.dim}, L = {self.context}, T = {self.depth}, "
            f"α = {self.alpha}{mix}"
        )

    def keywords(self) -> dict[str, Any]:
        return {
            "dim": self.dim,
            "context": self.context,
            "depth": self.depth,
            "alpha": self.alpha,
            "beta": self.beta,
        }


@dataclass(frozen=True)
class Spread:
    """Of the excess risk of a prompt: its mean at L = ∞ and at this L, and a bound of the variance
    of a draw (less its control variate)."""

    limit: float
    finite: float
    variance: float

    @property
    def bias(self) -> float:
        return abs(self.finite - self.limit)


@lru_cache(maxsize=16)
def spread(point: Point) -> Spread:
    """By exact moments (:mod:`theoryverify.papers.lca.wishart`), enclosed."""
    finite = float(mean_excess(point.law, **point.keywords()))
    limit = float(
        excess_loss(point.law, point.alpha, point.beta, depth=point.depth, digits=20).excess
    )
    second = second_moment_about_limit(point.law, **point.keywords())
    return Spread(limit, finite, float(second.upper) * (1 + 1e-12))


def _expected(law: Law, integrand: sympy.Expr) -> float:
    """``E[f(Z)]`` by balls, as a float."""
    with precision(bits_for(25) + 64):
        found = Enclosure.of(law.expect(integrand))
    if found.digits < 14:
        raise UndecidedError(f"E[{integrand}] is only known to lie in {found}")
    return float(found)


def note(examination: Examination, name: str, found: Equivalence, shown: str = "") -> bool | None:
    return examination.decide(name, found.verdict.decided, str(found) + shown)


# -- the loss -----------------------------------------------------------------------------------

LOSS = Claim(
    "lca.loss.simulated",
    "(E.7), (E.10); Section 6, for the literal model of Section 5",
    r"\mathbb E(y_q-\hat y_q)^2/\mathbb E[\zeta^2] = \ell_T(\alpha,\beta)+\mathbb E[1/Z]\ "
    r"\text{ as } L\to\infty,"
    r"\quad \hat y_q \text{ of the literal } \mathrm{LCA}_T",
    title="literal LCA_T on random prompts has the risk ℓ_T(α,β) + E[1/Z]",
    hypotheses=IN_UNITS,
    depends_on=("lca.loss", "lca.H.T3"),
)


@dataclass(frozen=True)
class Stated:
    """A loss per Z, and how many margins its expectation is moved."""

    integrand: sympy.Expr
    margins: int = 0


_LOSS = theory.loss_integrand()
_WRONG_LOSSES: dict[str, sympy.Expr] = {
    "without W": _LOSS / _W,
    "T+1 layers": _LOSS.subs(T, T + 1),
    "α and β 5% off": _LOSS.subs(
        {alpha: alpha * sympy.Rational(21, 20), beta: beta * sympy.Rational(21, 20)},
        simultaneous=True,
    ),
}
_LOSS_CONTROLS: dict[str, Stated] = {
    **{name: Stated(wrong) for name, wrong in _WRONG_LOSSES.items()},
    "three margins above": Stated(_LOSS, 3),
    "three margins below": Stated(_LOSS, -3),
}
_POINTS = (
    Point(UNIFORM, 2, 4096, 1, Fraction(1, 8)),
    Point(ATOMS, 3, 4096, 2, Fraction(1, 8)),
    Point(UNIFORM, 2, 4096, 3, Fraction(1, 10)),
    Point(TWO_POINT, 2, 4096, 2, Fraction(1, 5), Fraction(-1, 8)),
)
_MORE_POINTS = (
    Point(ATOMS, 5, 16384, 3, Fraction(1, 8)),
    Point(UNIFORM, 8, 16384, 2, Fraction(1, 5)),
    Point(TWO_POINT, 4, 16384, 3, Fraction(1, 6), Fraction(-1, 10)),
)


def _value(integrand: sympy.Expr, point: Point) -> float:
    mix = -point.alpha if point.beta is None else point.beta
    at = {T: point.depth, alpha: sympy.Rational(point.alpha), beta: sympy.Rational(mix)}
    return _expected(point.law, integrand.subs(at))


def _margin(point: Point) -> float:
    """A quarter of the distance to the nearest wrong formula."""
    right = _value(_LOSS, point)
    return min(abs(_value(wrong, point) - right) for wrong in _WRONG_LOSSES.values()) / 4


@lru_cache(maxsize=16)
def _stack_draws(point: Point, device: str) -> Replay:
    return Replay(literal_draws(point.law, device=device, **point.keywords()))


def _judge_loss(
    stated: Stated, point: Point, examination: Examination, context: Context
) -> Evidence:
    require_torch()
    theirs = spread(point)
    margin = _margin(point)
    examination.lemma(
        "the bias of the finite context is within the margin",
        theirs.bias < margin / 2,
        f"{theirs.bias:.3g} < {margin:.3g}/2",
    )
    # Enough that an interval around the mean at this L fits into the margin beside the bias.
    needed = 2 * math.log(2 / ERROR) * 1.25 * theirs.variance / (margin - theirs.bias) ** 2
    horizon = max(200, math.ceil(1.5 * needed))
    found = equivalence(
        _stack_draws(point, context.device).reader(),
        _value(stated.integrand, point) + stated.margins * margin,
        margin,
        sequence=VarianceMean(theirs.variance, error=ERROR, horizon=horizon),
        budget=4 * horizon,
        rng=generator(context, f"lca.loss.simulated {point}"),
        batch=50,
    )
    note(examination, "excess risk", found, f"; bias at this L {theirs.bias:.2g}")
    examination.assume("the variance of a draw is that of the exact finite-context moments")
    return examination.evidence(
        f"equivalence, error {ERROR:.0e} each; margin a quarter of the way to α 5% off, "
        f"bias of finite L computed and inside; {_TOTAL}"
    )


@LOSS.check(
    "literal model", SIMULATED, formula=Stated(_LOSS), controls=_LOSS_CONTROLS, cases=_POINTS,
    mutate=False, timeout=300,
)  # fmt: skip
def literal(stated: Stated, case: Point, examination: Examination, context: Context) -> Evidence:
    return _judge_loss(stated, case, examination, context)


@LOSS.check(
    "longer contexts", SIMULATED, formula=Stated(_LOSS), controls=_LOSS_CONTROLS,
    cases=_MORE_POINTS, mutate=False, timeout=1800, preset="full",
)  # fmt: skip
def longer(stated: Stated, case: Point, examination: Examination, context: Context) -> Evidence:
    return _judge_loss(stated, case, examination, context)


# -- Theorem 6.2, trained -----------------------------------------------------------------------

TRAINED = Claim(
    "lca.6.2.trained",
    "Theorem 6.2, with stochastic gradients on prompts instead of the flow",
    r"\mathrm{SGD\ on\ prompts}:\quad R_T(\hat\alpha) \approx R_T(\alpha^*_T)=\min_\alpha R_T",
    title="the one-parameter model trained on prompts reaches R_T(α*_T)",
    depends_on=("lca.F.1", "lca.loss"),
    note="A run that does not arrive is inconclusive: it says nothing about the theorem.",
)


@dataclass(frozen=True)
class Target:
    """The loss that training is said to reach, in terms of T layers."""

    layers: int = 0
    factor: Fraction = Fraction(1)
    weighted: bool = True
    margins: int = 0


_TARGETS: dict[str, Target] = {
    "one layer more": Target(layers=1),
    "without W": Target(weighted=False),
    "α* 20% off": Target(factor=Fraction(6, 5)),
}
_TARGET_CONTROLS = {
    **_TARGETS,
    "three margins above": Target(margins=3),
    "three margins below": Target(margins=-3),
}


def _rounded(value: Enclosure) -> Fraction:
    return ((value.lower + value.upper) / 2).limit_denominator(10**30)


def _target(target: Target, depth: int) -> float:
    depth += target.layers
    best = target.factor * _rounded(alpha_star(UNIFORM, depth, 30).enclosure)
    if target.weighted:
        return float(excess_loss(UNIFORM, best, depth=depth).excess)
    step = sympy.Rational(best.numerator, best.denominator)
    return _expected(UNIFORM, (1 - step * Z) ** (2 * depth))


_SIZES: dict[str, Any] = {"context": 1024, "steps": 150, "batch": 48}
_DEEP_SIZES: dict[str, Any] = {"context": 2048, "steps": 600, "batch": 96}


@lru_cache(maxsize=8)
def _trained_alpha(depth: int, optimizer: Any, seed: int, device: str) -> float:
    from theoryverify.models.lca import LCA
    from theoryverify.models.precision import require_device
    from theoryverify.simulate.training import train

    stack = LCA.one_parameter(2, depth, 0.1).to(require_device(device))
    rng = Context(seed=seed, name=f"lca.6.2.trained {depth} {optimizer}").rng()
    sizes = _SIZES if depth < 3 else _DEEP_SIZES
    rate = 0.01 if optimizer == "adam" else 0.02
    found = train(stack, UNIFORM, **sizes, rate=rate, optimizer=optimizer, zeta="one", rng=rng)
    return float(found.average["weights.alpha"])


def _judge_trained(
    target: Target, depth: int, optimizer: str, examination: Examination, context: Context
) -> None:
    require_torch()
    best = _target(Target(), depth)
    margin = min(abs(_target(wrong, depth) - best) for wrong in _TARGETS.values()) / 4
    claimed = _target(target, depth) + target.margins * margin
    found = Fraction(_trained_alpha(depth, optimizer, context.seed, context.device))
    reached = float(excess_loss(UNIFORM, found, depth=depth).excess)
    # R_T(α̂) and min R_T are certified, so nothing is left to chance in a refutation: either a
    # run went below what is claimed to be the least, or the claim is below what is possible.
    holds: bool | None = abs(reached - claimed) <= margin
    if not holds:
        refuted = reached < claimed - margin or claimed + margin < best
        holds = False if refuted else None
    examination.decide(
        f"T = {depth}, {optimizer}",
        holds,
        f"α̂ = {float(found):.5f}: R_T(α̂) = {reached:.6g}, claimed {claimed:.6g} ± {margin:.2g}",
    )


_TRAINED_SCOPE = (
    "Z ~ U[2,5], d = 2, from α = 0.1; R_T(α̂) is certified, "
    "a run that does not arrive is inconclusive"
)


@TRAINED.check(
    "trained on prompts", SIMULATED, formula=Target(), controls=_TARGET_CONTROLS, mutate=False,
    timeout=300,
)  # fmt: skip
def trained(target: Target, examination: Examination, context: Context) -> Evidence:
    for depth, optimizer in ((1, "sgd"), (2, "adam")):
        _judge_trained(target, depth, optimizer, examination, context)
    return examination.evidence(
        f"T = 1 by SGD, T = 2 by Adam, 7200 prompts of L = 1024; {_TRAINED_SCOPE}"
    )


@TRAINED.check(
    "deeper", SIMULATED, formula=Target(), controls=_TARGET_CONTROLS, mutate=False, timeout=900,
    preset="full",
)  # fmt: skip
def trained_deeper(target: Target, examination: Examination, context: Context) -> Evidence:
    _judge_trained(target, 3, "adam", examination, context)
    return examination.evidence(f"T = 3 by Adam, 57600 prompts of L = 2048; {_TRAINED_SCOPE}")


# -- Theorem 4.1, trained -----------------------------------------------------------------------

FLOOR = Claim(
    "lca.4.1.trained",
    "Theorem 4.1 and its consequence for Z ~ U[2,5], for trained literal layers",
    r"\text{LSA, multi-head softmax SA}:\quad \mathbb E(\hat y_q-\langle w,x_q\rangle)^2 \ge "
    r"0.036675\ldots\,\mathbb E[\zeta^2]",
    title="trained LSA and multi-head softmax attention do not beat the one-layer floor",
    hypotheses=IN_UNITS,
    depends_on=("lca.4.1.excess",),
    note="The floor is for L = ∞. For LSA it also holds at every finite L (its slope is linear in "
    "the context's second moments, so the fluctuations of the context only add; ζ is symmetric); "
    "for softmax at finite L it is an observation.",
)

_FLOOR_MARGIN = 0.012
_CLIP = 8.0
_SECOND_MOMENT = 0.25


@dataclass(frozen=True)
class Floor:
    """A lower bound of the risk, made from the law."""

    of: Callable[[], float]
    margins: int = 0

    @property
    def value(self) -> float:
        return self.of() + self.margins * _FLOOR_MARGIN


def _floor() -> float:
    return float(best_one_layer(UNIFORM, 20).excess)


_FLOORS: Mapping[str, Floor] = {
    "three margins above": Floor(_floor, 3),
    "three times the floor": Floor(lambda: 3 * _floor()),
    "a layer that learns nothing: E[W]": Floor(lambda: _expected(UNIFORM, _W)),
}
_LAYERS = ("LSA", "softmax, 4 heads (D.11)", "softmax SA, 2 heads (4.3)")


@lru_cache(maxsize=8)
def _layer_draws(kind: str, steps: int, seed: int, device: str) -> Replay:
    torch = require_torch()
    from theoryverify.models.attention import LSA, SA, SoftmaxPredictor
    from theoryverify.simulate.layers import layer_errors, train_layer
    from theoryverify.simulate.prompts import sample_prompts

    generator = torch.Generator().manual_seed(0)
    layer: Any
    if kind == _LAYERS[0]:
        layer = LSA.random(2, generator=generator, scale=0.5)
    elif kind == _LAYERS[1]:
        layer = SoftmaxPredictor.random(2, 4, generator=generator, scale=0.5)
    else:
        layer = SA.random(2, 2, generator=generator, scale=0.5)
    rng = Context(seed=seed, name=f"lca.4.1.trained {kind}").rng()
    train_layer(
        layer, UNIFORM, 2, context=256, steps=steps, batch=64, rate=0.03, rng=rng, device=device
    )

    def draw(n: int, rng: np.random.Generator) -> Floats:
        with torch.no_grad():
            errors = layer_errors(layer, sample_prompts(UNIFORM, 2, 256, n, rng=rng))
            return np.asarray(errors.cpu().numpy() ** 2, dtype=np.float64)

    return Replay(draw)


def _judge_floor(
    floor: Floor, kind: str, steps: int, examination: Examination, context: Context
) -> None:
    require_torch()
    replay = _layer_draws(kind, steps, context.seed, context.device)
    sequence = BoundedMean(
        0, _CLIP, error=ERROR, horizon=40_000, clip=True, bias=(0, _SECOND_MOMENT / (4 * _CLIP))
    )
    found = equivalence(
        replay.reader(),
        floor.value,
        (_FLOOR_MARGIN, math.inf),
        sequence=sequence,
        budget=120_000,
        rng=generator(context, f"lca.4.1.trained {kind} draws"),
    )
    note(examination, kind, found)


_FLOOR_ASSUMES = (
    f"to refute a floor: the squared error of a trained layer has a second moment of at most "
    f"{_SECOND_MOMENT} (E(x-c)⁺ <= E[x²]/4c); to hold, nothing is assumed of its tails"
)
_FLOOR_SCOPE = (
    f"one-sided, margin {_FLOOR_MARGIN}, error {ERROR:.0e} each; d = 2, L = 256, ζ ~ N(0,1), "
    f"trained by Adam on fresh prompts; {_TOTAL}"
)


@FLOOR.check(
    "trained layers", SIMULATED, formula=Floor(_floor), controls=_FLOORS, mutate=False, timeout=300
)
def one_layer(floor: Floor, examination: Examination, context: Context) -> Evidence:
    for kind in _LAYERS[:2]:
        _judge_floor(floor, kind, 400, examination, context)
    examination.assume(_FLOOR_ASSUMES)
    return examination.evidence(f"LSA and four softmax heads; {_FLOOR_SCOPE}")


@FLOOR.check(
    "trained self-attention, residual and projections", SIMULATED, formula=Floor(_floor),
    controls=_FLOORS, mutate=False, timeout=1800, preset="full",
)  # fmt: skip
def self_attention(floor: Floor, examination: Examination, context: Context) -> Evidence:
    _judge_floor(floor, _LAYERS[2], 3000, examination, context)
    examination.assume(_FLOOR_ASSUMES)
    return examination.evidence(f"two softmax heads as in (4.3); {_FLOOR_SCOPE}")


# -- softmax is linear only where the context is long enough ------------------------------------

TILTING = Claim(
    "lca.softmax.tilting",
    "Lemma D.3 and (5.3), at a finite context (ours)",
    r"X\,\mathrm{softmax}(X^\top a)\approx\Sigma a\ \text{ needs } L\gg e^{a^\top\Sigma a}",
    title="softmax attention averages to Σa where exp(aᵀΣa) is small beside L, and not beyond",
    depends_on=("lca.D.3",),
)
_TILT_LENGTH = 512
_TILT_MARGIN = 0.08


def _tilt(share: float) -> float:
    """``aᵀΣa = share · log L``."""
    return share * math.log(_TILT_LENGTH)


@lru_cache(maxsize=8)
def _tilt_draws(share: float, device: str) -> Replay:
    torch = require_torch()
    from theoryverify.models.lca import CA, Layer
    from theoryverify.simulate.prompts import sample_prompts

    stack = CA.one_parameter(2, 1, 1.0)
    eye = torch.eye(2, dtype=torch.float64, device=device)
    tau = _tilt(share)

    def draw(n: int, rng: np.random.Generator) -> Floats:
        prompts = sample_prompts(UNIFORM, 2, _TILT_LENGTH, n, zeta="one", rng=rng)
        unit = prompts.m / np.linalg.norm(prompts.m, axis=1, keepdims=True)
        a = torch.as_tensor(unit * np.sqrt(tau / prompts.Z)[:, None], device=device)
        X = torch.as_tensor(prompts.X, device=device)
        with torch.no_grad():
            average = stack.attention(X, a[:, :, None], Layer(eye, eye, eye, eye))[:, :, 0]
            ratio = (average * a).sum(1) / tau
        return np.asarray(ratio.cpu().numpy(), dtype=np.float64)

    return Replay(draw)


@TILTING.check(
    "literal attention", SIMULATED, formula=0.25, mutate=False,
    controls={"aᵀΣa = log L": 1.0, "aᵀΣa = 2 log L": 2.0, "aᵀΣa = 4 log L": 4.0},
)  # fmt: skip
def tilting(share: float, examination: Examination, context: Context) -> Evidence:
    require_torch()
    # |aᵀ(average)| <= max_j |aᵀx_j|, and aᵀx_j ~ N(0, aᵀΣa): beyond √(2 log L) + 6 standard
    # deviations the mean is below L·2φ(t)/t² of one.
    tau = _tilt(share)
    reach = math.sqrt(2 * math.log(_TILT_LENGTH)) + 6
    bias = 2 * _TILT_LENGTH * math.exp(-(reach**2) / 2) / reach**2 / math.sqrt(tau)
    bound = reach / math.sqrt(tau)
    found = equivalence(
        _tilt_draws(share, context.device).reader(),
        1.0,
        _TILT_MARGIN,
        sequence=BoundedMean(
            -bound, bound, error=ERROR, horizon=6000, clip=True, bias=(bias, bias)
        ),
        budget=20_000,
        rng=generator(context, f"lca.softmax.tilting {share}"),
        batch=500,
    )
    note(examination, f"aᵀ(average)/(aᵀΣa) is 1 at aᵀΣa = {share} log L", found)
    return examination.evidence(
        f"aᵀΣa = (log L)/4, L = {_TILT_LENGTH}, Z ~ U[2,5], d = 2, margin {_TILT_MARGIN}, error "
        f"{ERROR:.0e}; {_TOTAL}"
    )


# -- softmax CA_T against depth -----------------------------------------------------------------

SMALL_STEPS = Claim(
    "lca.softmax.small-steps",
    "Section 5: softmax CA_T, for which the paper proves nothing (ours)",
    r"\text{softmax } \mathrm{CA}_T,\ \alpha=-\beta=\tfrac18,\ L=256:\quad "
    r"\mathbb E(y_q-\hat y_q)^2/\mathbb E[\zeta^2] \approx \ell_T(\alpha,\beta)+\mathbb E[1/Z]",
    title="with small steps softmax CA_T has about the risk of the linear model",
    hypotheses=IN_UNITS,
    depends_on=("lca.softmax.tilting", "lca.loss.simulated"),
    note="A simulation at this L, not a theorem; see lca.softmax.depth for larger steps.",
)
_SMALL_POINTS = (
    Point(UNIFORM, 2, 256, 1, Fraction(1, 8)),
    Point(UNIFORM, 2, 256, 2, Fraction(1, 8)),
)
_SMALL_WRONG: dict[str, sympy.Expr] = {
    "without W": _LOSS / _W,
    "T+1 layers": _LOSS.subs(T, T + 1),
}
_SMALL_FACTOR = 2


@lru_cache(maxsize=8)
def _softmax_draws(point: Point, device: str, controlled: bool) -> Replay:
    from theoryverify.models.lca import CA
    from theoryverify.simulate.monte_carlo import torch_slope

    step = float(point.alpha)
    mix = -step if point.beta is None else float(point.beta)
    model = CA.two_parameter(point.dim, point.depth, step, mix)
    slope = torch_slope(model, device=device, context=point.context)
    draws = replace(literal_draws(point.law, **point.keywords()), slope=slope)
    return Replay(draws if controlled else replace(draws, control=None, control_mean=0.0))


@SMALL_STEPS.check(
    "literal softmax", SIMULATED, formula=Stated(_LOSS), mutate=False, timeout=300,
    cases=_SMALL_POINTS,
    controls={
        **{name: Stated(wrong) for name, wrong in _SMALL_WRONG.items()},
        "three margins above": Stated(_LOSS, 3),
        "three margins below": Stated(_LOSS, -3),
    },
)  # fmt: skip
def small_steps(
    stated: Stated, case: Point, examination: Examination, context: Context
) -> Evidence:
    require_torch()
    right = _value(_LOSS, case)
    margin = min(abs(_value(wrong, case) - right) for wrong in _SMALL_WRONG.values()) / 4
    found = equivalence(
        _softmax_draws(case, context.device, True).reader(),
        _value(stated.integrand, case) + stated.margins * margin,
        margin,
        sequence=VarianceMean(_SMALL_FACTOR * spread(case).variance, error=ERROR, horizon=1500),
        budget=4000,
        rng=generator(context, f"lca.softmax.small-steps {case}"),
        batch=50,
    )
    note(examination, "excess risk of softmax CA_T", found)
    examination.assume(
        f"a draw of softmax CA_T has at most {_SMALL_FACTOR} times the exact second moment of the "
        "linear model's"
    )
    return examination.evidence(
        f"equivalence, error {ERROR:.0e} each, margin a quarter of the way to the nearest of "
        f"'without W' and 'T+1 layers'; {_TOTAL}"
    )


SOFTMAX = Claim(
    "lca.softmax.depth",
    "Section 5: softmax CA_T, for which the paper proves nothing (ours, expected to fail)",
    r"\text{softmax } \mathrm{CA}_3,\ \alpha=-\beta=\tfrac14,\ L=128:\quad "
    r"\text{excess} \le \tfrac32\,\text{excess of } \mathrm{LCA}_3 \text{ at the same } L",
    title="softmax CA_T gains from depth as the linear model does (false at L = 128, α = 1/4)",
    depends_on=("lca.softmax.tilting", "lca.H.T3"),
    expected=REFUTED,
    note="The states grow with depth until exp(aᵀΣa) is no longer small beside L. The paper's "
    "theorem is about the linear model.",
)
_DEEP = Point(UNIFORM, 2, 128, 3, Fraction(1, 4))
_ROOM = 0.5


@SOFTMAX.check(
    "literal softmax", SIMULATED, formula=Fraction(3, 2), mutate=False, timeout=300,
    controls={"no more than the linear model": Fraction(1), "half of it": Fraction(1, 2)},
)  # fmt: skip
def softmax_depth(multiple: Fraction, examination: Examination, context: Context) -> Evidence:
    require_torch()
    linear = spread(_DEEP).finite
    found = equivalence(
        _softmax_draws(_DEEP, context.device, False).reader(),
        0.0,
        (math.inf, float(multiple) * linear),
        sequence=BoundedMean(0, _ROOM, error=ERROR, horizon=4000, clip=True, bias=(0.0, math.inf)),
        budget=8000,
        rng=generator(context, "lca.softmax.depth"),
        batch=250,
    )
    note(examination, "excess risk of softmax CA_3", found, f"; LCA_3 exactly {linear:.6g}")
    return examination.evidence(f"one-sided, error {ERROR:.0e}, no assumption on tails; {_TOTAL}")


claims = [LOSS, TRAINED, FLOOR, TILTING, SMALL_STEPS, SOFTMAX]
