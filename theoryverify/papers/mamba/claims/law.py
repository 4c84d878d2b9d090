"""The layer's feature in any dimension from the support alone: a reduction that is exact in law."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from theoryverify.budget import SHARE
from theoryverify.claims import (
    CERTIFIED,
    PROVED,
    REFUTED,
    SIMULATED,
    Claim,
    Context,
    Evidence,
    Examination,
)
from theoryverify.claims.statements import equals, gaussian_over
from theoryverify.errors import InputError
from theoryverify.exact.gate import Gate
from theoryverify.exact.links import link
from theoryverify.papers.mamba import theory
from theoryverify.papers.mamba.claims.embedding import gaussian_mean
from theoryverify.papers.mamba.claims.layer import torch_or_undecided
from theoryverify.simulate.mamba_law import Offsets, SymmetricGamma, sample_features
from theoryverify.simulate.two_sample import law_distance

Floats = NDArray[np.float64]

t, x2, q2 = sympy.symbols("t x2 q2", real=True)
p = sympy.Symbol("p", integer=True, nonnegative=True)

LAW = Claim(
    "mamba.law",
    "ours: the one-layer feature in any dimension, reduced without a change of law",
    r"\sum_i\tfrac{(x_i^2-1)(q_i^2-1)}2+\sum_{i<j}x_ix_jq_iq_j=\tfrac12\big(\langle x,q\rangle^2-|x|^2"
    r"-|q|^2+p\big),\quad\langle x,q\rangle=|q|G,\ |x|^2=G^2+\chi^2_{p-1}",
    title="γ symmetric off the support: r + 2 random numbers a token, for any d",
    depends_on=("mamba.T2", "mamba.T4"),
    note="γ is free on the support: the 3:2 of a population γ*, which is 0 off it, is no obstacle.",
)


def kernel(
    inner: sympy.Expr = t, length: sympy.Expr = x2, query: sympy.Expr = q2, size: sympy.Expr = p
) -> sympy.Expr:
    """``(⟨x,q⟩² - |x|² - |q|² + p)/2``."""
    return (inner**2 - length - query + size) / 2


@LAW.check(
    "one coordinate more, by induction",
    PROVED,
    formula=kernel(),
    controls={
        "without + p": kernel() - p / 2,
        "without |q|²": kernel() + q2 / 2,
        "t² for t²/2": kernel() + t**2 / 2,
        "p + 1": kernel() + sympy.Rational(1, 2),
    },
)
def one_more(formula: sympy.Expr, examination: Examination) -> Evidence:
    x, q = sympy.symbols("x q", real=True)
    none = {t: 0, x2: 0, q2: 0, p: 0}
    examination.identity("p = 0", sympy.Integer(0), formula.subs(none))
    # The new coordinate brings its diagonal entry and a pair with each older one.
    more = formula.subs({t: t + x * q, x2: x2 + x**2, q2: q2 + q**2, p: p + 1}, simultaneous=True)
    gain = (x**2 - 1) * (q**2 - 1) / 2 + x * q * t
    examination.identity("p to p + 1", formula + gain, more)
    return examination.evidence("every p, x, q")


_Reduced = Callable[[int], tuple[int, int]]
"""From p to the degrees of freedom of the rest, and the share of G² in |x|²."""


@LAW.check(
    "exact moments of the kernel",
    CERTIFIED,
    formula=lambda size: (size - 1, 1),
    controls={
        "χ²_p": lambda size: (size, 1),
        "χ²_{p-2}": lambda size: (max(size - 2, 0), 1),
        "without G² in |x|²": lambda size: (size - 1, 0),
    },
)
def exact_moments(formula: _Reduced, examination: Examination) -> Evidence:
    """Every coordinate a normal variable, moments term by term, against (G, χ²)."""
    g, c = sympy.symbols("g c", real=True)
    for size in range(1, 5):
        x = sympy.symbols(f"x1:{size + 1}", real=True)
        query = [
            sympy.Rational(2, 3),
            sympy.Rational(-1, 2),
            sympy.Integer(2),
            sympy.Rational(1, 5),
        ]
        query = query[:size]
        keys, values = theory.embedding(x), theory.embedding(query)
        literal = sum(
            (a * b for a, b in zip(keys[1 + size :], values[1 + size :], strict=True)),
            start=sympy.Integer(0),
        )
        degrees, share = formula(size)
        square = sum((e**2 for e in query), start=sympy.Integer(0))
        # ⟨x,q⟩² = |q|²G²: powers of the kernel are even in G.
        reduced = (square * g**2 - share * g**2 - c - square + size) / 2
        for power in range(1, 5):
            left = gaussian_mean(sympy.expand(literal) ** power, x)
            right = sympy.Integer(0)
            for (i, k), value in sympy.Poly(sympy.expand(reduced**power), g, c).terms():
                moment = sympy.factorial2(i - 1) if i % 2 == 0 else 0
                rising = sympy.prod([degrees + 2 * m for m in range(k)])
                right += value * moment * rising
            same = examination.decide(
                f"E κ^{power} at p = {size}",
                bool(left == right),
                f"{left}, {right}",
                by=equals(gaussian_over(literal**power, x), right),
            )
            if same is False:
                return examination.evidence("")
    examination.assume("|g|² ~ χ²_f is independent of g/|g| for g ~ N(0, I_f)")
    return examination.evidence("p <= 4, powers <= 4, in rationals")


@dataclass(frozen=True)
class Setting:
    """A γ of two values, a gate and sizes; small, so that a wrong law is seen."""

    link: str
    d: int
    r: int
    tokens: int
    queries: int

    def __str__(self) -> str:
        return f"d = {self.d}, r = {self.r}, N = {self.tokens}, Q = {self.queries}"


_PROMPTS, _MARGIN, _OUTSIDE = 200_000, 0.022, 3.0
# Links of mean 2 and an open gate: what is off the support is then a large part of the feature.
_SETTINGS = (Setting("z+2", 3, 1, 4, 1), Setting("He2(z)/sqrt(2)+2", 6, 2, 3, 2))
_GATE = Gate(1, 1, "1/4")


@lru_cache(maxsize=4)
def _literal(setting: Setting, seed: int) -> Floats:
    """Features of the layer on whole prompts: (n, Q)."""
    torch = torch_or_undecided()
    from theoryverify.models.mamba_layer import MambaLayer, supported_gamma

    rng = Context(seed=seed, name=f"mamba.law literal {setting}").rng()
    gamma = supported_gamma(setting.d, range(setting.r), outside=_OUTSIDE)
    layer = MambaLayer(gamma, rho=float(_GATE.rho), b=float(_GATE.b))
    g, found = link(setting.link), []
    for _ in range(10):
        n = _PROMPTS // 10
        beta = rng.standard_normal((n, setting.r, 1))
        beta /= np.linalg.norm(beta, axis=1, keepdims=True)
        X = rng.standard_normal((n, setting.tokens, setting.d))
        y = np.asarray(g((X[..., : setting.r] @ beta)[..., 0]))
        y = y + float(_GATE.noise) * rng.choice((-1.0, 1.0), y.shape)
        x_q = rng.standard_normal((n, setting.queries, setting.d))
        with torch.no_grad():
            found.append(layer(*map(torch.from_numpy, (X, y, x_q))).numpy())
    return np.concatenate(found)


@LAW.check(
    "in law, against the layer",
    SIMULATED,
    formula=Offsets(),
    cases=_SETTINGS,
    controls={
        "χ² with one degree more": Offsets(rest=1),
        "without G² in |x|²": Offsets(along=0.0),
        "the query one degree longer": Offsets(length=1),
    },
    mutate=False,
)
def in_law(offsets: Offsets, case: Setting, examination: Examination, context: Context) -> Evidence:
    literal = _literal(case, context.seed)
    gamma = SymmetricGamma.two_values(case.d, case.r, outside=_OUTSIDE)
    draws = sample_features(
        gamma,
        case.link,
        _GATE,
        case.tokens,
        _PROMPTS,
        queries=case.queries,
        rng=context.rng(),
        offsets=offsets,
    ).feature
    for name, left, right in (
        ("f", literal[:, 0], draws[:, 0]),
        ("f₁ - f₂", literal[:, 0] - literal[:, -1], draws[:, 0] - draws[:, -1]),
    ):
        if case.queries == 1 and name != "f":
            continue
        distance = law_distance(left, right, error=SHARE)
        holds = examination.decide(
            f"law of {name} at {case}",
            distance.within(_MARGIN),
            f"distance {distance.seen:.4f} ± {distance.radius:.4f}, margin {_MARGIN}",
        )
        if holds is False:
            break
    return examination.evidence(
        f"Kolmogorov distance within {_MARGIN}; error at most {3 * SHARE:.0e}"
    )


# -- where it is refused ------------------------------------------------------------------------

BROKEN = Claim(
    "mamba.law.three-to-two",
    "ours: the same with diagonal and pair coordinates in the ratio 3:2 off the support "
    "(counterexample)",
    r"\sum_i\tfrac{3(x_i^2-1)(q_i^2-1)}2+\sum_{i<j}2x_ix_jq_iq_j\text{ depends on }"
    r"\langle x,q\rangle,|x|^2,|q|^2\text{ alone}",
    title="the reduction with a 3:2 γ off the support: false",
    expected=REFUTED,
    depends_on=("mamba.T4",),
)


def _weighted(x: Any, q: Any, diagonal: sympy.Expr, pair: sympy.Expr) -> sympy.Expr:
    size = len(x)
    own = sum(
        ((a**2 - 1) * (b**2 - 1) / 2 for a, b in zip(x, q, strict=True)), start=sympy.Integer(0)
    )
    mixed = sum(
        (x[i] * x[j] * q[i] * q[j] for i in range(size) for j in range(i + 1, size)),
        start=sympy.Integer(0),
    )
    return sympy.expand(diagonal * own + pair * mixed)


@BROKEN.check(
    "a rotation of both vectors",
    PROVED,
    formula=(sympy.Integer(3), sympy.Integer(2)),
    controls={
        "2:3": (sympy.Integer(2), sympy.Integer(3)),
        "1001:1000": (sympy.Integer(1001), sympy.Integer(1000)),
    },
    mutate=False,
)
def rotation(formula: tuple[sympy.Expr, sympy.Expr], examination: Examination) -> Evidence:
    # A rotation by (3/5, 4/5) keeps ⟨x,q⟩, |x|², |q|².
    x, q = sympy.symbols("x1:3", real=True), sympy.symbols("q1:3", real=True)
    c, s = sympy.Rational(3, 5), sympy.Rational(4, 5)

    def turn(v: Any) -> list[sympy.Expr]:
        return [c * v[0] - s * v[1], s * v[0] + c * v[1]]

    examination.lemma(
        "equal weights do not see the rotation",
        sympy.expand(_weighted(turn(x), turn(q), 1, 1) - _weighted(x, q, 1, 1)) == 0,
    )
    refused = False
    values = np.array([1.0, *[1.0] * 3, *[float(formula[0])] * 3, *[float(formula[1])] * 3])
    try:
        SymmetricGamma.of_vector(values, [0])
    except InputError:
        refused = True
    examination.lemma("the sampler refuses such a γ", refused)
    examination.identity(
        "the kernel before and after",
        _weighted(x, q, *formula),
        _weighted(turn(x), turn(q), *formula),
    )
    return examination.evidence("p = 2")


claims = [LAW, BROKEN]
