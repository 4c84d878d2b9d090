"""Figure 3 (ours): untied layers at a finite context, where descent leads, and from where."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np
import sympy
from flint import fmpq_poly

from theoryverify.budget import SHARE, draws_for
from theoryverify.claims import (
    CERTIFIED,
    COMPUTED,
    PROVED,
    REFUTED,
    SIMULATED,
    Claim,
    Context,
    Evidence,
    Examination,
)
from theoryverify.claims.statements import Statement, agree, mean
from theoryverify.errors import UndecidedError
from theoryverify.exact.balls import Enclosure
from theoryverify.exact.densities import Uniform
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Discrete, Law
from theoryverify.exact.rationals import rational, to_fmpq
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.claims.simulated import Replay, generator, note, require_torch
from theoryverify.papers.lca.laws import ASSUMPTION_6_1, UNIFORM
from theoryverify.papers.lca.stated import is_optimal, residual_polynomial
from theoryverify.papers.lca.theory import alpha, beta, s
from theoryverify.papers.lca.untied import untied_optimum
from theoryverify.papers.lca.untied_context import ContextForm, context_form, flow
from theoryverify.papers.lca.wishart import Excess, Moments, expected_quotient
from theoryverify.stats import BoundedMean, VarianceMean, equivalence

_LIMIT = Fraction(2, 7)
_D, _L, _T = 10, 1024, 8
"""The sizes of the figure."""

# -- the loss ---------------------------------------------------------------------------------------

LOSS = Claim(
    "lca.untied.context",
    "ours: untied layers at a finite context",
    r"\mathbb E[\text{excess}]=\mathbb E[W]-2B^\top p+p^\top Mp,\quad P_T(s)=\sum_kp_ks^k,\ "
    r"P_t=(1+\beta_ts)P_{t-1}+\alpha_t",
    title="untied scalars at finite L: the loss is a quadratic form in the state polynomial",
    hypotheses=(ASSUMPTION_6_1,),
    depends_on=("lca.untied.span", "lca.H.2"),
)


def _least(law: Law, depth: int, found: tuple[Enclosure, Enclosure]) -> list[Statement]:
    """The two enclosures hold ``E[Wπ²]``, π the orthogonal polynomial with ``π(0) = 1``."""
    number = mean(law, theory.signal_share() * residual_polynomial(law, depth) ** 2)
    return [*is_optimal(law, depth), agree(number, *found, 15)]


def _mean_step(law: Law, depth: int, found: tuple[Enclosure, Enclosure]) -> list[Statement]:
    """... and these ``-π'(0)/T``."""
    slope = sympy.diff(residual_polynomial(law, depth), Z).subs(Z, 0)
    return [*is_optimal(law, depth), agree(-slope / depth, *found, 15)]


# At L = ∞ the form's least value is that of orthogonal polynomials: two routes.
@LOSS.check(
    "infinite context",
    CERTIFIED,
    formula=0,
    controls={"a layer more": 1, "a layer less": -1},
    cases=(UNIFORM, Uniform("1.5", 3), Discrete({2: "1/8", 3: "1/4", 4: "1/8", 5: "1/4", 7: "1/4"})),
)  # fmt: skip
def infinite_context(more: int, case: Law, examination: Examination) -> Evidence:
    depths = (2, 3)
    for depth in depths:
        form, best = context_form(case, 3, None, depth), untied_optimum(case, depth + more)
        examination.equal(
            f"T = {depth}: least excess", form.best_excess, best.excess, 15,
            by=partial(_least, case, depth + more, (form.best_excess, best.excess)),
        )  # fmt: skip
        examination.equal(
            f"T = {depth}: P_T(0)/T", form.mean_trace, best.mean_step, 15,
            by=partial(_mean_step, case, depth + more, (form.mean_trace, best.mean_step)),
        )  # fmt: skip
    return examination.evidence(f"T in {depths}")


_ALPHAS = (Fraction(1, 5), Fraction(1, 4), Fraction(3, 10))
_BETAS = (Fraction(-1), Fraction(-1, 5), Fraction(-3, 10))
_DIM, _CONTEXT = 3, 64

Value = Callable[[], float]


def _form_value(context: int | None, reverse: bool = False) -> Value:
    def value() -> float:
        step, mix = (np.array([float(x) for x in side]) for side in (_ALPHAS, _BETAS))
        if reverse:
            step, mix = step[::-1], mix[::-1]
        return float(context_form(UNIFORM, _DIM, context, 3).excess(step, mix))

    return value


_WRONG: dict[str, Value] = {
    "L = ∞": _form_value(None),
    "half the context": _form_value(_CONTEXT // 2),
    "the layers in reverse": _form_value(_CONTEXT, reverse=True),
}


@dataclass(frozen=True)
class Stated:
    """A value of the loss, and how many margins it is moved."""

    value: Value
    margins: int = 0


@lru_cache(maxsize=1)
def _variance() -> float:
    """Of the excess of a prompt, by exact moments."""
    state = fmpq_poly([0])
    for step, mix in zip(_ALPHAS, _BETAS, strict=True):
        state = state + fmpq_poly([0, to_fmpq(mix)]) * state + fmpq_poly([to_fmpq(step)])
    excess, moments = Excess(state.coeffs()), Moments(_DIM, _CONTEXT)
    square = float(expected_quotient(UNIFORM, excess.second(moments), 4, 20).upper)
    return square * (1 + 1e-9) - float(_form_value(_CONTEXT)()) ** 2


@lru_cache(maxsize=2)
def _literal(device: str) -> Replay:
    from theoryverify.models.lca import LCA
    from theoryverify.models.untied import UntiedWeights
    from theoryverify.simulate.monte_carlo import ExcessDraws, torch_slope

    weights = UntiedWeights.around(
        "scalar", np.array([float(x) for x in _ALPHAS]), np.array([float(x) for x in _BETAS]), _DIM
    )
    slope = torch_slope(LCA(weights), device=device, context=_CONTEXT)
    return Replay(ExcessDraws(slope, UNIFORM, _DIM, _CONTEXT))


@LOSS.check(
    "literal model",
    SIMULATED,
    formula=Stated(_form_value(_CONTEXT)),
    controls={
        **{name: Stated(wrong) for name, wrong in _WRONG.items()},
        "three margins above": Stated(_form_value(_CONTEXT), 3),
        "three margins below": Stated(_form_value(_CONTEXT), -3),
    },
    mutate=False,
)
def literal(stated: Stated, examination: Examination, context: Context) -> Evidence:
    require_torch()
    right, variance = _form_value(_CONTEXT)(), _variance()
    margin = min(abs(wrong() - right) for wrong in _WRONG.values()) / 4
    horizon = draws_for(margin / 2, math.sqrt(variance))
    found = equivalence(
        _literal(context.device).reader(),
        stated.value() + stated.margins * margin,
        margin,
        sequence=VarianceMean(variance, error=SHARE, horizon=horizon),
        budget=2 * horizon,
        rng=generator(context, "lca.untied.context"),
        batch=500,
    )
    note(examination, "excess risk of three untied layers", found)
    examination.assume("the variance of a draw is that of the exact Wishart moments")
    return examination.evidence(
        f"T = 3, d = {_DIM}, L = {_CONTEXT}, Z ~ U[2,5], α = 1/5, 1/4, 3/10; margin a quarter "
        f"of the way to L = ∞ or half of L; error {SHARE:.0e}"
    )


# -- its minimum ------------------------------------------------------------------------------------

OPTIMUM = Claim(
    "lca.fig3.optimum",
    "Figure 3 and (6.1), for the optimum at a finite context (ours)",
    r"T=8,\ d=10,\ Z\sim U[2,5]:\ \text{the least excess has } \tfrac1T\sum_t\alpha_t<0,\ "
    r"|1-P_T(1)|>\tfrac12\ \text{ for } L=2^{10},2^{14};\quad L=\infty:\ 0.31074,\ 0.0467",
    title="at L = 2^10, 2^14 the best eight untied layers do not whiten; their mean trace is negative",
    depends_on=("lca.untied.context",),
    note="Only the order L → ∞ first, then training, whitens. Across m the error of (α*, -α*) is "
    "(5/7)⁸ = 0.068. The least excess at L = 1024 is 0.001249, at (α*, -α*) it is 0.002641.",
)


@dataclass(frozen=True)
class Best:
    """What is said of the optimum at one context: the mean trace, the error across m, the excess."""

    context: int | None
    mean_trace: str
    off_task: str
    excess: str


_BEST = (
    Best(1024, "-0.325958", "0.634114", "1.24862e-3"),
    Best(2**14, "-0.697239", "0.654587", "7.63260e-5"),
    Best(None, "0.310739", "0.0467153", "3.82613e-11"),
)


def _close(found: Enclosure, value: str) -> bool | None:
    """Whether it rounds to these digits: within half a unit of the last one."""
    wanted = rational(value)
    exponent = Decimal(value).as_tuple().exponent
    assert isinstance(exponent, int)
    slack = Fraction(10) ** exponent / 2
    low, high = found.greater_than(wanted - slack), found.less_than(wanted + slack)
    return None if None in (low, high) else bool(low and high)


@OPTIMUM.check(
    "enclosures",
    CERTIFIED,
    formula=_BEST,
    controls={
        "(α*, -α*) at L = 1024": (Best(1024, "0.285714", "0.0677604", "2.64064e-3"),),
        "the optimum at L = ∞": (Best(1024, "0.310739", "0.0467153", "3.82613e-11"),),
        "1/√(Z̲Z̄) at L = ∞": (Best(None, "0.316228", "0.0467153", "3.82613e-11"),),
        "0.1% off": (Best(1024, "-0.326284", "0.634748", "1.24987e-3"),),
        "the last digit": (Best(1024, "-0.325959", "0.634114", "1.24862e-3"),),
    },
    mutate=False,
    preset="full",
)
def optimum(stated: tuple[Best, ...], examination: Examination) -> Evidence:
    for best in stated:
        form = context_form(UNIFORM, _D, best.context, _T)
        where = f"L = {best.context or '∞'}"
        for name, found, value in (
            ("mean trace", form.mean_trace, best.mean_trace),
            ("error across m", form.off_task, best.off_task),
            ("least excess", form.best_excess, best.excess),
        ):
            examination.decide(f"{where}: {name}", _close(found, value), f"{found} and {value}")
    return examination.evidence(f"d = {_D}, T = {_T}, six digits")


@OPTIMUM.check(
    "four layers",
    CERTIFIED,
    formula=(Best(1024, "0.216231", "0.355284", "1.74652e-3"),),
    controls={
        "(α*, -α*)": (Best(1024, "0.285714", "0.260308", "1.74652e-3"),),
        "the optimum at L = ∞": (Best(1024, "0.304714", "0.225549", "5.60528e-6"),),
    },
    mutate=False,
)
def four_layers(stated: tuple[Best, ...], examination: Examination) -> Evidence:
    for best in stated:
        form = context_form(UNIFORM, _D, best.context, 4)
        for name, found, value in (
            ("mean trace", form.mean_trace, best.mean_trace),
            ("error across m", form.off_task, best.off_task),
            ("least excess", form.best_excess, best.excess),
        ):
            examination.decide(name, _close(found, value), f"{found} and {value}")
    return examination.evidence(f"T = 4, d = {_D}, L = 1024: worse than (5/7)⁴ across m already")


# -- the flow ---------------------------------------------------------------------------------------


def _scipy() -> None:
    try:
        import scipy  # noqa: F401
    except ImportError as error:
        raise UndecidedError('SciPy is not there: pip install "theoryverify[simulate]"') from error


_FIG_TIME = 10.0
_NEAR = 0.05
_SCOPE = f"L = {_L}, d = {_D}, T = 4, t = {_FIG_TIME:g}; two integrators"


@lru_cache(maxsize=32)
def _flowed(multiple: Fraction, context: int | None, depth: int, time: float) -> Any:
    """The traces at the end of the exact flow, from ``(cα*, -cα*)``; and by another method."""
    from scipy.integrate import solve_ivp

    form = context_form(UNIFORM, _D, context, depth)
    step = np.full(depth, float(multiple * _LIMIT))
    a, b = flow(form, step, -step, np.array([0.0, time]))

    def velocity(_t: float, at: np.ndarray) -> np.ndarray:
        _, d_alpha, d_beta = form.gap(at[:depth], at[depth:])
        return -np.concatenate([d_alpha, d_beta])

    other = solve_ivp(
        velocity, (0.0, time), np.concatenate([step, -step]), method="DOP853",
        rtol=1e-9, atol=1e-11,
    ).y[:, -1]  # fmt: skip
    return np.concatenate([a[-1], b[-1]]), other


def _near_the_limit(multiple: Fraction, examination: Examination) -> None:
    found, other = _flowed(multiple, _L, 4, _FIG_TIME)
    agree = float(np.abs(found - other).max())
    examination.lemma("two integrators agree", agree < 1e-5, f"{agree:.2g}")
    far = float(np.abs(found - np.repeat([float(_LIMIT), -float(_LIMIT)], 4)).max())
    examination.decide(
        f"from {multiple} of (α*, -α*)", far <= _NEAR, f"the farthest trace is {far:.4f} away"
    )


STAYS = Claim(
    "lca.fig3.stays",
    "Figure 3, left: from the paper's start (our sizes)",
    r"\text{flow from }(\alpha^*,-\alpha^*),\ t=10,\ T=4:\quad "
    r"\max_t|\alpha_t-\alpha^*|,\ \max_t|\beta_t+\alpha^*|\le0.05",
    title="four untied layers that start at (α*, -α*) are still within 0.05 of it at t = 10",
    depends_on=("lca.untied.context",),
    note="Evidence for the traces in Figure 3, and no more: see lca.fig3.any-start, lca.fig3.end.",
)


@STAYS.check(
    "exact flow", COMPUTED, formula=Fraction(1), mutate=False,
    controls={"from three quarters": Fraction(3, 4), "from five quarters": Fraction(5, 4)},
)  # fmt: skip
def stays(multiple: Fraction, examination: Examination) -> Evidence:
    _scipy()
    _near_the_limit(multiple, examination)
    return examination.evidence(_SCOPE)


ANY_START = Claim(
    "lca.fig3.any-start",
    "Figure 3, left: if the traces clustered because of training",
    r"\text{flow from }\tfrac12(\alpha^*,-\alpha^*),\ t=10,\ T=4:\quad "
    r"\max_t|\alpha_t-\alpha^*|,\ \max_t|\beta_t+\alpha^*|\le0.05",
    title="untied layers cluster around (α*, -α*) wherever they start (false)",
    depends_on=("lca.untied.context",),
    expected=REFUTED,
    note="From half of it the traces stay near half of it. The figure's clustering is its start.",
)


@ANY_START.check(
    "exact flow", COMPUTED, formula=Fraction(1, 2), mutate=False,
    controls={"a quarter of it": Fraction(1, 4), "two thirds of it": Fraction(2, 3)},
)  # fmt: skip
def any_start(multiple: Fraction, examination: Examination) -> Evidence:
    _scipy()
    _near_the_limit(multiple, examination)
    return examination.evidence(_SCOPE)


END = Claim(
    "lca.fig3.end",
    "Figure 3, left: where untied layers end (ours)",
    r"P_T(0)=\sum_t\alpha_t:\ \text{at every optimum }\tfrac1T\sum_t\alpha_t=p^*_0/T;\ "
    r"\text{the flow from }(c\alpha^*,-c\alpha^*)\text{ reaches it}",
    title="the mean trace at the flow's end is P(0)/T of the optimum, not α*",
    depends_on=("lca.untied.context", "lca.fig3.optimum"),
)


@END.check(
    "invariance", PROVED, formula=alpha,
    controls={"β": beta, "α + β": alpha + beta, "α/2": alpha / 2},
)  # fmt: skip
def invariance(added: sympy.Expr, examination: Examination) -> Evidence:
    state = sympy.Symbol("P")
    following = theory.layer(state)
    examination.identity("P_t(0) - P_{t-1}(0)", (following - state).subs(s, 0), added)
    return examination.evidence("every T, α_t, β_t")


def _end(which: int, form: ContextForm) -> float:
    return (float(form.mean_trace), float(_LIMIT), 10**-0.5)[which]


@END.check(
    "integrated to the end", COMPUTED, formula=0, mutate=False, preset="full",
    controls={"α*": 1, "1/√(Z̲Z̄)": 2},
)  # fmt: skip
def integrated(which: int, examination: Examination) -> Evidence:
    _scipy()
    for context in (_L, None):
        form = context_form(UNIFORM, _D, context, _T)
        for multiple in (Fraction(1), Fraction(1, 2)):
            step = np.full(_T, float(multiple * _LIMIT))
            a, b = flow(form, step, -step, np.array([0.0, 1e9]))
            gap, _, _ = form.gap(a[-1], b[-1])
            done = float(gap) < 1e-6 * float(form.best_excess)
            mean = float(a[-1].mean())
            near = abs(mean - _end(which, form)) < 1e-4
            examination.decide(
                f"from {multiple} of α*, L = {context or '∞'}", near if done else None,
                f"mean trace {mean:.6f}, {float(gap):.1g} above the least excess",
            )  # fmt: skip
    return examination.evidence(f"T = {_T}, d = {_D}, L = {_L} and ∞, to t = 10⁹")


# -- trained on prompts -------------------------------------------------------------------------------

TRAINED = Claim(
    "lca.fig3.trained",
    "Figure 3, left, trained on prompts (our sizes)",
    r"\mathbb E\min(\max_t|\widehat\alpha_t-\alpha^*|,0.2)\le0.075\ \text{ after SGD from }"
    r"(\alpha^*,-\alpha^*)+0.02\,g",
    title="trained on prompts from there, α_t stays near α*: scalar, diagonal, full layers averaged",
    depends_on=("lca.fig3.stays",),
    note="The mean is over kinds, starts and prompts. From half of α* the same training does not get "
    "there.",
)
_RUNS, _CAP, _ALLOWED = 900, 0.2, 0.075
_NOISE = 0.02
_SGD: dict[str, Any] = {"context": _L, "steps": 100, "batch": 32, "rate": 0.02}
_ADAM: dict[str, Any] = {
    "context": _L, "steps": 250, "batch": 64, "rate": 3e-3, "optimizer": "adam",
}  # fmt: skip


@lru_cache(maxsize=8)
def _distances(multiple: Fraction, adam: bool, device: str) -> Replay:
    """``min(max_t |α̂_t - α*|, 0.2)`` after training from noise around ``c(α*, -α*)``."""
    from theoryverify.models.precision import require_device
    from theoryverify.models.untied import KINDS, UntiedWeights
    from theoryverify.simulate.untied import train_untied

    centre, place = float(multiple * _LIMIT), require_device(device)

    def one(kind: str, rng: np.random.Generator) -> float:
        alphas, betas = _NOISE * rng.standard_normal((2, _T))
        weights = UntiedWeights.around(
            kind, centre + alphas, -centre + betas, _D, noise=_NOISE, rng=rng
        ).to(place)
        train_untied(weights, UNIFORM, rng=rng, **(_ADAM if adam else _SGD))
        return min(float(np.abs(weights.traces()[0] - float(_LIMIT)).max()), _CAP)

    def draw(n: int, rng: np.random.Generator) -> np.ndarray:
        kinds = KINDS[:1] if adam else KINDS
        return np.array([one(kinds[int(rng.integers(len(kinds)))], rng) for _ in range(n)])

    return Replay(draw)


def _judge_trained(
    multiple: Fraction, adam: bool, examination: Examination, context: Context
) -> Evidence:
    require_torch()
    found = equivalence(
        _distances(multiple, adam, context.device).reader(),
        0.0,
        (math.inf, _ALLOWED),
        sequence=BoundedMean(0, _CAP, error=SHARE, horizon=_RUNS),
        budget=_RUNS,
        rng=generator(context, f"lca.fig3.trained {multiple} {adam}"),
        batch=20,
    )
    note(examination, f"from {multiple} of (α*, -α*)", found)
    sizes = _ADAM if adam else _SGD
    return examination.evidence(
        f"T = {_T}, d = {_D}, L = {_L}, {sizes['steps']} steps of {sizes['batch']} prompts, rate "
        f"{sizes['rate']}, {'scalars' if adam else 'a kind at random each run'}; error "
        f"{SHARE:.0e}, nothing assumed of the tails"
    )


@TRAINED.check(
    "trained on prompts", SIMULATED, formula=Fraction(1), mutate=False, preset="full",
    timeout=3600, controls={"from half of it": Fraction(1, 2), "from five quarters": Fraction(5, 4)},
)  # fmt: skip
def trained(multiple: Fraction, examination: Examination, context: Context) -> Evidence:
    return _judge_trained(multiple, False, examination, context)


ADAM = Claim(
    "lca.fig3.adam",
    "Figure 3, left, trained by Adam on prompts (our sizes)",
    r"\mathbb E\min(\max_t|\widehat\alpha_t-\alpha^*|,0.2)\le0.075\ \text{ after Adam from }"
    r"(\alpha^*,-\alpha^*)+0.02\,g",
    title="the α_t of untied scalars trained by Adam on prompts stay near α* (false)",
    depends_on=("lca.untied.context",),
    expected=REFUTED,
    note="Adam does not wait for large gradients: 250 steps of 0.003 lead from the paper's own start "
    "toward the optimum of lca.fig3.optimum, which does not whiten.",
)


@ADAM.check(
    "trained on prompts", SIMULATED, formula=Fraction(1), mutate=False, preset="full",
    timeout=3600, controls={"from half of it": Fraction(1, 2), "from a quarter of it": Fraction(1, 4)},
)  # fmt: skip
def trained_by_adam(multiple: Fraction, examination: Examination, context: Context) -> Evidence:
    return _judge_trained(multiple, True, examination, context)


claims: list[Claim] = [LOSS, OPTIMUM, STAYS, ANY_START, END, TRAINED, ADAM]
