"""Stage I's gradient: coordinate by coordinate, its query factors, and the starts that cannot work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import factorial
from typing import Any

import numpy as np
import sympy
from flint import acb, arb

from theoryverify.claims import (
    CERTIFIED,
    COMPUTED,
    PROVED,
    REFUTED,
    Claim,
    Evidence,
    Examination,
    Hypothesis,
)
from theoryverify.claims.statements import Evaluated, same
from theoryverify.exact.balls import Enclosure, ball, bits_for, precision
from theoryverify.exact.gate import Gate
from theoryverify.exact.growth import Envelope, tail
from theoryverify.exact.hermite import raw_coefficients
from theoryverify.exact.links import link
from theoryverify.exact.quadrature import integrate
from theoryverify.papers.mamba import theory
from theoryverify.papers.mamba.claims.exponents import NUMBERING
from theoryverify.papers.mamba.claims.layer import torch_or_undecided
from theoryverify.papers.mamba.links import HE3, HE4, HE5, MIX, NAMES
from theoryverify.papers.mamba.population import Population
from theoryverify.papers.mamba.stage_one import (
    ALL_ONES,
    CONSTANT_AND_LINEAR,
    LINEAR_ONLY,
    QUADRATIC_ONLY,
    QueryFactor,
    StageOne,
    Start,
    orthonormal,
    positive_set,
)
from theoryverify.papers.mamba.theory import K0, K1, K2, c0, c1, c2, r

# -- the gradient -------------------------------------------------------------------------------

GRADIENT = Claim(
    "mamba.E.gradient",
    "lemma on Stage I, population form",
    r"-\partial L/\partial\gamma_\alpha=F\big(c_0K_0,\ \tfrac{c_1K_1}{r},\ "
    r"\tfrac{3c_2K_2}{r(r+2)},\ \tfrac{2c_2K_2}{r(r+2)}\big)\text{ on the support},\ 0\text{ off it}",
    title="the population gradient of Stage I on the support; 0 off it",
    depends_on=("mamba.T5", "mamba.T6", "mamba.T16"),
    note=f"{NUMBERING} The context is replaced by its mean; γ^(0) has one value for each degree.",
)

_WEIGHTS = theory.one_step_weights()
_WRONG_WEIGHTS = {
    "diagonal as pairs, 2:2": (*_WEIGHTS[:2], _WEIGHTS[3], _WEIGHTS[3]),
    "√2 for 2": (*_WEIGHTS[:3], _WEIGHTS[3] / sympy.sqrt(2)),
    "r² for r(r+2)": (*_WEIGHTS[:2], *(w * (r + 2) / r for w in _WEIGHTS[2:])),
    "1/√r for 1/r": (_WEIGHTS[0], _WEIGHTS[1] * sympy.sqrt(r), *_WEIGHTS[2:]),
}


def _sphere_mean(expression: sympy.Expr, beta: Sequence[sympy.Symbol]) -> sympy.Expr:
    """``E`` of a polynomial of degree at most 4 in coordinates of β, by the moments of the sphere."""
    second, fourth, mixed = theory.sphere_moments()
    known = {(): sympy.Integer(1), (2,): second, (4,): fourth, (2, 2): mixed}
    total = sympy.Integer(0)
    for powers, coefficient in sympy.Poly(sympy.expand(expression), *beta).terms():
        if all(power % 2 == 0 for power in powers):
            total += coefficient * known[tuple(sorted(p for p in powers if p))]
    return total


@GRADIENT.check(
    "context times query, averaged over the sphere",
    PROVED,
    formula=_WEIGHTS,
    controls=_WRONG_WEIGHTS,
)
def averaged(formula: tuple[sympy.Expr, ...], examination: Examination) -> Evidence:
    # -∂L/∂γ_α = E_β[E[Tφ_α] E[hφ_α]], h = (g - ReLU(M)) 1{M>0} a function of z: both factors are
    # of the form of mamba.T5, with c_k for T and K_k for h.
    b1, b2 = sympy.symbols("beta1 beta2", real=True)
    context = theory.first_order_signal((b1, b2))
    query = [e.subs({c0: K0, c1: K1, c2: K2}, simultaneous=True) for e in context]
    names = ("constant", "linear", "diagonal", "pair")
    for name, index, stated in zip(names, (0, 1, 3, 5), formula, strict=True):
        found = _sphere_mean(context[index] * query[index], (b1, b2))
        examination.identity(f"{name} coordinate", found, stated)
    outside = [e.subs(b2, 0) for e in context]  # coordinate 2 off the support: β_2 = 0
    for index, name in ((2, "linear"), (4, "diagonal"), (5, "mixed pair")):
        examination.lemma(
            f"{name} coordinate off the support",
            outside[index] == 0,
            by=same(Evaluated(context[index], {b2: 0}), 0),
        )
    return examination.evidence("every r, link, gate, label noise and start of this kind")


_Case = tuple[str, str, str, str]


@lru_cache(maxsize=16)
def _population(text: str, rho: str, bias: str, noise: str = "0") -> Population:
    return Population(text, Gate(rho, bias, noise))


_Numbers = Callable[[list[float], list[float], int], list[float]]


def _evaluated(formula: tuple[sympy.Expr, ...]) -> _Numbers:
    function = sympy.lambdify((c0, c1, c2, K0, K1, K2, r), formula, "math")
    return lambda c, K, size: [float(v) for v in function(*c, *K, size)]


@GRADIENT.check(
    "automatic differentiation of the layer's loss",
    COMPUTED,
    formula=_WEIGHTS,
    cases=((MIX, "4", "-2", "1/2"), (HE4, "8", "-3", "0")),
    controls=_WRONG_WEIGHTS
    | {"one part in 10⁷": tuple(w * (1 + sympy.Rational(1, 10**7)) for w in _WEIGHTS)},
    mutate=False,
)
def differentiated(
    formula: tuple[sympy.Expr, ...], case: _Case, examination: Examination
) -> Evidence:
    """r = 2 in d = 3: quadrature over β and the query, Torch's gradient at γ^(0) = 1."""
    torch = torch_or_undecided()
    from theoryverify.models.mamba_layer import Moments, embed, feature

    step = StageOne(_population(*case), ALL_ONES, tokens=50)
    factor = float(step.factor)
    c = [float(value) for value in step.context_factors]
    K = [float(step.query_factor(k).total) for k in range(3)]
    # Angles: trapezoid rule, exact for trigonometric polynomials of degree < 16. Across β and off
    # the support: polynomials of degree <= 8, by Gauss-Hermite. Along β: Legendre between the kinks.
    angles = 2 * np.pi * (np.arange(16) + 0.25) / 16
    with precision(step.bits):
        # Disjoint intervals of a quadratic's positive set: its finite ends are the kinks.
        kinks = sorted(
            float(end.mid())
            for pair in positive_set(step.output())
            for end in pair
            if end is not None
        )
    ends = [-14.0, *kinks, 14.0]
    unit, heights = np.polynomial.legendre.leggauss(80)
    z = np.concatenate([(b - a) / 2 * unit + (a + b) / 2 for a, b in pairwise(ends)])
    w = np.concatenate([(b - a) / 2 * heights for a, b in pairwise(ends)])
    w *= np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    nodes, weights = np.polynomial.hermite_e.hermegauss(6)
    weights = weights / weights.sum()
    along, across, off = (a.ravel() for a in np.meshgrid(z, nodes, nodes, indexing="ij"))
    mass = np.einsum("i,j,k->ijk", w, weights, weights).ravel()
    beta = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    normal = np.stack([-np.sin(angles), np.cos(angles), 0 * angles], axis=1)
    x = along[None, :, None] * beta[:, None, :] + across[None, :, None] * normal[:, None, :]
    x[..., 2] = off[None, :]
    # Moments of a context whose sums are at their means: Σ Gyφ_diag = c_2 β_i² is (square-constant)/√2.
    size = len(angles)
    square = factor * (c[2] * np.sqrt(2) * beta[:, :, None] * beta[:, None, :] + c[0] * np.eye(3))
    moments = Moments(
        torch.full((size,), factor * c[0], dtype=torch.float64),
        torch.from_numpy(factor * c[1] * beta),
        torch.from_numpy(square),
    )
    queries = torch.from_numpy(x)
    gamma = torch.ones(embed(queries[:1, :1]).shape[-1], dtype=torch.float64, requires_grad=True)
    g = torch.from_numpy(np.asarray(link(case[0])(along)))
    f = torch.relu(feature(moments, queries, gamma))
    loss = (torch.from_numpy(mass) * (f - g) ** 2).sum() / (2 * size)
    found = -torch.autograd.grad(loss, gamma)[0].numpy()
    stated = [factor * value for value in _evaluated(formula)(c, K, 2)]
    # Order of φ for d = 3: 1; x; diagonal; pairs 12, 13, 23.
    places = {"constant": [0], "linear": [1, 2], "diagonal": [4, 5], "pair": [7]}
    scale = max(abs(value) for value in found)
    for (name, where), value in zip(places.items(), stated, strict=True):
        error = max(abs(found[i] - value) for i in where)
        examination.decide(
            f"{name}", bool(error <= 3e-9 * scale), f"{found[where[0]]:.12g} and {value:.12g}"
        )
    outside = max(abs(found[i]) for i in (3, 6, 8, 9))
    examination.decide("off the support", bool(outside <= 1e-12 * scale), f"{outside:.1e}")
    return examination.evidence("two gates, r = 2, d = 3, N = 50, to 3e-9")


# -- the query factors --------------------------------------------------------------------------

QUERY = Claim(
    "mamba.E.query",
    "lemma on Stage I: the query's factors",
    r"K_k=\mathbb E\big[(g-\mathrm{ReLU}(M))\,1\{M>0\}\,\mathrm{he}_k\big],\quad "
    r"M=F(\gamma_0c_0+\gamma_1c_1z+\gamma_2c_2\mathrm{he}_2(z))",
    title="the query factors K_k, enclosed",
    depends_on=("mamba.T5", "mamba.T8"),
    note=NUMBERING,
)

_Factor = Callable[[StageOne, int], Enclosure]


def _total(step: StageOne, k: int) -> Enclosure:
    return step.query_factor(k).total


def _raw(step: StageOne, k: int) -> Enclosure:
    with precision(step.bits):
        return Enclosure.of(_total(step, k).ball() * (arb(2).sqrt() if k == 2 else 1))


_STEPS: tuple[tuple[_Case, Start], ...] = (
    ((MIX, "16", "-9", "0"), ALL_ONES),
    ((HE4, "60", "-9", "0"), ALL_ONES),
    ((HE3, "24", "-9", "1/2"), ALL_ONES),
    ((HE5, "4", "-2", "0"), QUADRATIC_ONLY),
    ((MIX, "4", "-2", "0"), LINEAR_ONLY),
    ((HE3, "4", "-1", "0"), Start(1, 1, -1)),
)


@QUERY.check(
    "rigorous quadrature between the kinks",
    CERTIFIED,
    formula=_total,
    cases=_STEPS,
    controls={
        "without the model's own output": lambda step, k: step.query_factor(k).label,
        "the output added": lambda step, k: _sum(step.query_factor(k)),
        "raw for orthonormal, K_2": _raw,
    },
)
def between_the_kinks(
    formula: _Factor, case: tuple[_Case, Start], examination: Examination
) -> Evidence:
    """The integrand as it stands, on a cut line, with a bound for what is beyond the cut."""
    step = StageOne(_population(*case[0]), case[1])
    polynomial = step.population.link.polynomial
    assert polynomial is not None
    cut = 16
    for k in (0, 1, 2):
        weight = orthonormal(k)
        with precision(bits_for(40)):
            output = step.output()
            g, he = ([c.real for c in p.coefficients()] for p in (polynomial, weight))

            def value(z: acb, coefficients: list[arb]) -> acb:
                total = acb(0)
                for coefficient in reversed(coefficients):
                    total = total * z + coefficient
                return total

            def integrand(
                z: acb,
                analytic: bool,
                g: list[arb] = g,
                he: list[arb] = he,
                output: list[arb] = output,
            ) -> acb:
                inner = value(z, g) - value(z, output)
                return inner * value(z, he) * (-z * z / 2).exp()

            total = arb(0)
            for left, right in positive_set(output):
                # Cut the half-lines; the kinks are balls, over which the integrand is bounded.
                low = arb(-cut) if left is None else left
                high = arb(cut) if right is None else right
                total += integrate(integrand, low, high)
            size = sum(map(abs, [*g, *output]), arb(0)) * sum(map(abs, he), arb(0))
            degree = max(len(g), len(output)) + len(he) - 2
            beyond = 2 * tail(Envelope(size.upper(), degree), 0, cut)
            total = total / (2 * arb.pi()).sqrt() + arb(0, beyond.upper())
            direct = Enclosure.of(total)
        at = f"K_{k} of {NAMES[case[0][0]]} at ρ = {case[0][1]}, b = {case[0][2]}"
        stated = formula(step, k)
        width = max(e.upper - e.lower for e in (direct, stated))
        narrow = True if width < Fraction(1, 10**12) else None
        same = narrow if direct.overlaps(stated) else False
        examination.decide(at, same, f"{direct} and {stated}")
    return examination.evidence("six links, gates and starts, to 12 decimals")


def _sum(factor: QueryFactor) -> Enclosure:
    with precision(bits_for(40)):
        return Enclosure.of(factor.label.ball() + factor.own.ball())


_TABLE = {
    ("all ones", HE3, "24", 1): "0.132",
    ("all ones", HE3, "100", 1): "0.127",
    ("all ones", HE5, "200", 1): "-0.148",
    ("all ones", HE4, "60", 2): "0.141",
    ("all ones", MIX, "16", 1): "0.124",
    ("quadratic only", HE3, "24", 1): "0.198",
    ("quadratic only", HE5, "200", 1): "-0.177",
    ("constant and linear", HE3, "24", 1): "-0.164",
    ("constant and linear", HE5, "200", 1): "-0.005",
    ("linear only", MIX, "16", 1): "0.199",
}
_SHOWN = {
    "all ones": ALL_ONES,
    "quadratic only": QUADRATIC_ONLY,
    "constant and linear": CONSTANT_AND_LINEAR,
    "linear only": LINEAR_ONLY,
}


@QUERY.check(
    "which start leaves what",
    CERTIFIED,
    formula=_TABLE,
    controls={
        "one sign for he_5": {**_TABLE, ("all ones", HE5, "200", 1): "0.148"},
        "no constant for all ones": {**_TABLE, ("all ones", HE3, "24", 1): "0.199"},
        "one digit": {**_TABLE, ("all ones", HE4, "60", 2): "0.142"},
    },
)
def which_start(table: dict[tuple[str, str, str, int], str], examination: Examination) -> Evidence:
    for (start, text, rho, k), shown in table.items():
        found = StageOne(_population(text, rho, "-9"), _SHOWN[start]).query_factor(k).total
        stated = Fraction(shown)
        near = found.lower - Fraction(1, 2000) <= stated <= found.upper + Fraction(1, 2000)
        examination.decide(f"{start}, {NAMES[text]}, ρ = {rho}: K_{k}", near, str(found))
    return examination.evidence("b = -9, to three decimals")


# -- what cannot work ---------------------------------------------------------------------------


def _odd_and_high(case: Any) -> str | None:
    g = link(case if isinstance(case, str) else case[0])
    polynomial = g.polynomial
    assert polynomial is not None
    if g.parity != "odd":
        return f"{g} is not odd"
    return None if raw_coefficients(polynomial)[1].is_zero else f"{g} has E[g z] ≠ 0"


HIGH = Hypothesis("odd, ie >= 3", r"g(-z)=-g(z),\ \mathbb E[gz]=0", _odd_and_high)

LINEAR_START = Claim(
    "mamba.E.linear-start",
    "ours: a linear start fails for odd links with ie >= 3",
    r"\gamma^{(0)}\text{ linear only}:\quad \mathbb E[g\,1\{M>0\}z]=\tfrac12\mathbb E[gz]=0",
    title="γ^(0) on the linear coordinates alone: K_1 holds nothing of the label",
    hypotheses=(HIGH,),
    depends_on=("mamba.E.query",),
    note="What is left of K_1 is -F c_1/2, the model's own output, of the size of the gate: it says "
    "nothing of g beyond c_1, and has the sign against it.",
)


def _absent(zero: bool, found: Enclosure) -> bool | None:
    """Whether a number vanishes: ``zero`` is a proof of it, an enclosure off 0 the contrary."""
    return True if zero else None if found.contains(0) else False


@LINEAR_START.check(
    "half-lines",
    CERTIFIED,
    formula=LINEAR_ONLY,
    cases=(HE3, HE5, "(He3(z)+He7(z)/100)"),
    controls={
        "all ones": ALL_ONES,
        "quadratic only": QUADRATIC_ONLY,
        "a tenth of the constant": Start("1/10", 1, 0),
        "a millionth of the curvature": Start(0, 1, "1/1000000"),
    },
    mutate=False,
)
def half_lines(start: Start, case: str, examination: Examination) -> Evidence:
    step = StageOne(_population(case, "24", "-9"), start)
    found = step.query_factor(1)
    polynomial = step.population.link.polynomial
    assert polynomial is not None
    none = raw_coefficients(polynomial)[1].is_zero
    with precision(step.bits):
        low, slope, high = step.output()
    # If M = F c_1 z, its positive set is a half-line from 0, and g(z)z is even: half of E[g z].
    odd = (polynomial + polynomial.reflect()).is_zero
    half_line = low.is_zero() and high.is_zero() and not slope.contains(0)
    zero = _absent(bool(half_line and odd and none), found.label)
    examination.decide("E[g 1{M>0} z] = 0", zero, str(found.label))
    if zero:
        # On either half-line E[ReLU(M) z] = F c_1 E[z²]/2.
        half = step.context_factors[1]
        with precision(step.bits):
            stated = Enclosure.of(step.factor.ball() * half.ball() / 2)
        examination.equal("E[ReLU(M) z] = F c_1/2", found.own, stated, 10)
    examination.lemma("E[g z] = 0", none)
    return examination.evidence("three odd links; g(z)z is even, so every odd link with E[gz] = 0")


LINEAR_HEAD = Claim(
    "mamba.E.linear-head",
    "ours: without the rectifier's kink the query sees the raw label only",
    r"1\{M>0\}\equiv1:\quad K_k=\mathbb E[g\,\mathrm{he}_k]-F\gamma_kc_k,\quad "
    r"\mathbb E[g\,\mathrm{he}_k]=0\ (k<\mathrm{ie}(g))",
    title="with a linear head K_k holds nothing of the label below the information exponent",
    depends_on=("mamba.E.query", "mamba.hermite"),
    note="What is left, -F γ_k c_k, is of the size of the gate.",
)

_Own = Callable[[arb, arb, arb], arb]  # of F, γ_k, c_k
_OWN: _Own = lambda factor, weight, c: factor * weight * c  # noqa: E731
_CONSTANT = Start(1000, 2, 3)
"""So large a constant that M > 0 everywhere: the rectifier is the identity on all queries."""


@LINEAR_HEAD.check(
    "against the kink",
    CERTIFIED,
    formula=(_CONSTANT, _OWN),
    cases=(HE3, HE4, HE5),
    controls={
        "all ones": (ALL_ONES, _OWN),
        "half as much constant as needed": (Start("1/2", 0, 1), _OWN),
        "the output added": (_CONSTANT, lambda factor, weight, c: -factor * weight * c),
        "without F": (_CONSTANT, lambda factor, weight, c: weight * c),
        "without γ": (_CONSTANT, lambda factor, weight, c: factor * c),
        "half, as on a half-line": (
            _CONSTANT,
            lambda factor, weight, c: factor * weight * c / 2,
        ),
    },
    mutate=False,
)
def against_the_kink(stated: tuple[Start, _Own], case: str, examination: Examination) -> Evidence:
    start, own = stated
    step = StageOne(_population(case, "24", "-9"), start, tokens=10**4)
    polynomial = step.population.link.polynomial
    assert polynomial is not None
    raw = raw_coefficients(polynomial)
    for k in (1, 2):
        found = step.query_factor(k)
        with precision(step.bits):
            everywhere = positive_set(step.output()) == [(None, None)]
            plain = raw[k].number().real / arb(factorial(k)).sqrt()
            left = own(step.factor.ball(), ball(step.start[k]), step.context_factors[k].ball())
            total = Enclosure.of(plain - left)
        zero = _absent(bool(everywhere and raw[k].is_zero), found.label)
        examination.decide(f"K_{k} of {NAMES[case]} holds no label", zero, str(found.label))
        examination.equal(f"K_{k} = E[g he_{k}] - F γ_{k} c_{k}", found.total, total, 10)
    return examination.evidence("he_3, he_4, he_5: ie > 2; ρ = 24, b = -9, N = 10^4; k = 1, 2")


RAW_IS_ENOUGH = Claim(
    "mamba.E.gate-alone",
    "ours: does the gate alone lower the exponent of pretraining? (counterexample)",
    r"\text{linear head}:\quad K_{\mathrm{ge}(g)}\text{ holds a fixed share of the label}",
    title="the gate alone lowers the exponent of pretraining: false, the kink is needed",
    expected=REFUTED,
    depends_on=("mamba.E.query",),
)


@RAW_IS_ENOUGH.check(
    "he_3 with a linear head",
    CERTIFIED,
    formula=(Start(1000, 0, 1), Fraction(1, 100)),
    controls={
        "a millionth": (Start(1000, 0, 1), Fraction(1, 10**6)),
        "he_3 and a linear start": (LINEAR_ONLY, Fraction(1, 10**6)),
    },
    mutate=False,
)
def linear_head(stated: tuple[Start, Fraction], examination: Examination) -> Evidence:
    start, share = stated
    found = StageOne(_population(HE3, "24", "-9"), start).query_factor(1).label
    large = found.lower >= share or found.upper <= -share
    small = found.upper < share and found.lower > -share
    examination.decide(
        f"|E[g 1{{M>0}} z]| >= {share}", True if large else False if small else None, str(found)
    )
    return examination.evidence("he_3, ρ = 24, b = -9")


claims = [GRADIENT, QUERY, LINEAR_START, LINEAR_HEAD, RAW_IS_ENOUGH]
