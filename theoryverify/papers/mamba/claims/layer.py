"""The one-layer Mamba: the recurrence, its closed form, the sum of the gates, three forms in floats."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import sympy

from theoryverify.claims import CERTIFIED, COMPUTED, PROVED, Claim, Context, Evidence, Examination
from theoryverify.claims.statements import Statement, Traced, equals, matrices
from theoryverify.errors import UndecidedError
from theoryverify.papers.mamba import recurrence, theory
from theoryverify.papers.mamba.claims.exponents import NUMBERING
from theoryverify.papers.mamba.recurrence import Gate, L, b, gate, j, kept, opening, rest

CLOSED = Claim(
    "mamba.T2",
    "one-layer Mamba: closed form",
    r"o_{N+1}=\sum_jG_{j,N+1}z_jz_j^\top W_B^\top W_Cz_{N+1},\quad "
    r"G_{j,L}=\sigma(u_j)\prod_{k=j+1}^{L}(1-\sigma(u_k))",
    title="the recurrence equals its closed form, for any number of tokens",
    depends_on=("mamba.T1",),
    note=NUMBERING,
)

_WRONG_GATES: dict[str, Gate] = {
    "Euler: softplus(u_j) for σ(u_j)": lambda i, last: (
        -sympy.log(1 - opening(i)) * kept(last) / kept(i)  # softplus(u) = -log(1-σ(u))
    ),
    "the product includes j": lambda i, last: opening(i) * kept(last) / kept(i - 1),
    "the product stops at L-1": lambda i, last: opening(i) * kept(last - 1) / kept(i),
    "the product starts at j+2": lambda i, last: opening(i) * kept(last) / kept(i + 1),
    "the next token's gate": lambda i, last: opening(i + 1) * kept(last) / kept(i),
    "nothing is forgotten": lambda i, last: opening(i),
}


@CLOSED.check("induction on the number of tokens", PROVED, formula=gate, controls=_WRONG_GATES)
def by_induction(formula: Gate, examination: Examination) -> Evidence:
    # h_0 = 0 is the empty sum. If h_L = Σ_{j<=L} G_{j,L} v_j, then (1-s_{L+1}) h_L + s_{L+1} v_{L+1}
    # is Σ_{j<=L+1} G_{j,L+1} v_j exactly if the coefficients agree, v_j = z_j ⊗ W_B z_j being free.
    new = L + 1
    examination.identity("coefficient of the new token", opening(new), formula(new, new))
    examination.identity(
        "coefficient of token j <= L", (1 - opening(new)) * formula(j, L), formula(j, new)
    )
    # Read out: h_L W_C z_L, with h_L = Σ G_j z_j (W_B z_j)ᵀ; words in matrices.
    z_j, z_l = sympy.MatrixSymbol("z_j", theory.d, 1), sympy.MatrixSymbol("z_L", theory.d, 1)
    states = sympy.Symbol("S", integer=True, positive=True)
    W_B, W_C = (sympy.MatrixSymbol(name, states, theory.d) for name in ("W_B", "W_C"))
    examination.lemma(
        "z_j (W_B z_j)ᵀ W_C z_L = z_j z_jᵀ W_Bᵀ W_C z_L",
        (z_j * (W_B * z_j).T * W_C * z_l).doit() == z_j * z_j.T * W_B.T * W_C * z_l,
        by=matrices(z_j * (W_B * z_j).T * W_C * z_l, z_j * z_j.T * W_B.T * W_C * z_l),
    )
    return examination.evidence("every number of tokens, every u, z, W_B, W_C")


@CLOSED.check("written out", PROVED, formula=gate, controls=_WRONG_GATES)
def written_out(formula: Gate, examination: Examination) -> Evidence:
    for count in range(1, 6):
        values = sympy.symbols(f"v1:{count + 1}")
        literal = recurrence.stored(count, values)
        for k, value in enumerate(values, 1):
            same = examination.identity(
                f"N = {count}, token {k}", literal.coeff(value), formula(k, count)
            )
            if same is False:
                return examination.evidence("")
    return examination.evidence("N <= 5, the recurrence multiplied out")


def _rational_gates(openings: list[Fraction]) -> list[Fraction]:
    """``G_{j,L}`` by the definition."""
    gates = []
    for index, value in enumerate(openings):
        for later in openings[index + 1 :]:
            value *= 1 - later
        gates.append(value)
    return gates


def _shifted(openings: list[Fraction]) -> list[Fraction]:
    return [gate * (1 - s) for gate, s in zip(_rational_gates(openings), openings, strict=True)]


def _one_in_a_billion(openings: list[Fraction]) -> list[Fraction]:
    return [gate * (1 + Fraction(1, 10**9)) for gate in _rational_gates(openings)]


@CLOSED.check(
    "in exact rationals, all channels",
    CERTIFIED,
    formula=_rational_gates,
    controls={
        "the product includes j": _shifted,
        "reversed order": lambda openings: _rational_gates(openings[::-1])[::-1],
        "one part in 10⁹": _one_in_a_billion,
    },
)
def in_rationals(
    gates: Callable[[list[Fraction]], list[Fraction]], examination: Examination
) -> Evidence:
    generator = random.Random(1)

    def matrix(rows: int, columns: int) -> recurrence.Matrix:
        return [[_small(generator) for _ in range(columns)] for _ in range(rows)]

    for tokens, width, states in ((1, 2, 1), (4, 3, 2), (7, 2, 5), (12, 4, 3)):
        Z, W_B, W_C = matrix(tokens, width), matrix(states, width), matrix(states, width)
        openings = [Fraction(generator.randint(1, 12), 13) for _ in range(tokens)]
        left = recurrence.rational_output(Z, W_B, W_C, openings)
        right = recurrence.rational_closed_form(Z, W_B, W_C, gates(openings))
        examination.decide(
            f"{tokens} tokens of width {width}",
            left == right,
            f"{left[0]}",
            by=partial(_retraced, gates, Z, W_B, W_C, openings),
        )
    return examination.evidence("four random cases, equal as rationals")


def _retraced(gates: Any, *inputs: Any) -> list[Statement]:
    """Recurrence and closed form once more, on numbers that remember how they were made."""
    matrices_: list[Any] = [[[Traced.of(e) for e in row] for row in part] for part in inputs[:3]]
    Z, W_B, W_C = matrices_
    openings: list[Any] = [Traced.of(s) for s in inputs[3]]
    left = recurrence.rational_output(Z, W_B, W_C, openings)
    right = recurrence.rational_closed_form(Z, W_B, W_C, gates(openings))
    return [equals(x, y) for x, y in zip(left, right, strict=True)]


def _small(generator: random.Random) -> Fraction:
    return Fraction(generator.randint(-9, 9), generator.randint(1, 9))


SUM = Claim(
    "mamba.T3",
    "one-layer Mamba: the gates",
    r"\sum_{j\le N}G_{j,N+1}=(1-\sigma(b))\big(1-\prod_{k\le N}(1-s_k)\big)",
    title="the sum of the gates",
    depends_on=("mamba.T2",),
    note=NUMBERING,
)

_SUM = recurrence.gate_sum()


@SUM.check(
    "telescoping",
    PROVED,
    formula=_SUM,
    controls={
        "without the query's factor": 1 - rest,
        "σ(b) for 1-σ(b)": theory.sigmoid(b) * (1 - rest),
        "the product alone": (1 - theory.sigmoid(b)) * rest,
        "product over k < N": (1 - theory.sigmoid(b)) * (1 - rest / (1 - opening(L))),
    },
)
def telescoping(formula: sympy.Expr, examination: Examination) -> Evidence:
    query, s = 1 - theory.sigmoid(b), opening(L + 1)
    examination.identity("N = 0: an empty sum", sympy.Integer(0), formula.subs(rest, 1))
    # Σ_{j<=N+1} G_{j,N+2}: the old gates shrink by 1-s_{N+1}, the new one is s_{N+1}(1-σ(b)).
    examination.identity(
        "N to N+1", (1 - s) * formula + query * s, formula.subs(rest, rest * (1 - s))
    )
    return examination.evidence("every N, b and labels")


# -- floats -------------------------------------------------------------------------------------


class Numerics(NamedTuple):
    """What the forms are made of: how a step is discretised, and the logarithms of the gates."""

    discretise: Callable[[Any], tuple[Any, Any]] | None = None
    gates: Callable[[Any], Any] | None = None


def torch_or_undecided() -> Any:
    """Torch, on one thread; or the reason why the check cannot say anything."""
    try:
        import torch
    except ImportError as error:
        raise UndecidedError('Torch is not there: pip install "theoryverify[simulate]"') from error
    torch.set_num_threads(1)
    return torch


def _euler(step: Any) -> tuple[Any, Any]:
    return (-step).exp(), step


def _changed_gates(change: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    def gates(u: Any) -> Any:
        from theoryverify.models.mamba_layer import log_gates

        return change(log_gates(u), u)

    return gates


FORMS = Claim(
    "mamba.T2.forms",
    "ours: the layer without φ",
    r"N^{-1}\mathrm{Mamba}(Z;\gamma)=\sum_\alpha\gamma_\alpha S_\alpha\varphi_\alpha(x),\quad "
    r"S \text{ from } \textstyle\sum G_jy_j,\ \sum G_jy_jx_j,\ \sum G_jy_jx_jx_j^\top",
    title="recurrence, closed form and the form without φ agree to round-off",
    depends_on=("mamba.T2", "mamba.T4"),
)

_ROUND_OFF = 5e-15
"""Beside the sum of the sizes of all terms; some twenty roundings of float64."""


@FORMS.check(
    "three programs",
    COMPUTED,
    formula=Numerics(),
    controls={
        "Euler's step": Numerics(discretise=_euler),
        "the product includes j": Numerics(gates=_changed_gates(lambda g, u: g - u.exp().log1p())),
        "gates of the next token": Numerics(gates=_changed_gates(lambda g, u: g.roll(-1, -1))),
        "gates larger by 2e-14": Numerics(gates=_changed_gates(lambda g, u: g + 2e-14)),
    },
    mutate=False,
)
def three_programs(numerics: Numerics, examination: Examination, context: Context) -> Evidence:
    torch = torch_or_undecided()
    from theoryverify.models import mamba_layer as model

    rng = Context(seed=context.seed, name="mamba.T2.forms").rng()
    for n, N, d, Q, rho, bias in ((3, 1, 2, 2, 4, -2), (2, 60, 5, 3, 8, -4), (1, 400, 8, 2, 2, 0)):
        X, x_q = (torch.from_numpy(rng.standard_normal(s)) for s in ((n, N, d), (n, Q, d)))
        y = (X[..., 0] ** 3 - 3 * X[..., 0]) / 6**0.5
        gamma = torch.from_numpy(rng.standard_normal(model.embedding_dimension(d)))
        layer = model.MambaLayer(gamma, rho=rho, b=bias, device=context.device)
        place = layer.gamma.device
        prompt = X.to(place), y.to(place), x_q.to(place)
        with torch.no_grad():
            fast = layer(*prompt)
            literal = layer.literal(
                *prompt, discretise=numerics.discretise or model.zero_order_hold
            )
            closed = layer.closed(*prompt, gates=numerics.gates or model.log_gates)
            # Errors are judged beside Σ_j G_j |y_j| Σ_α |γ_α φ_α(x_j) φ_α(x_q)|.
            gates = model.label_gates(prompt[1], rho, bias).exp() * prompt[1].abs() / N
            keys = model.embed(prompt[0]).abs() * layer.gamma.abs()
            queries = model.embed(prompt[2]).abs()
            size = torch.einsum("nj,nja,nqa->nq", gates, keys, queries)
        for name, other in (("recurrence", literal), ("closed form", closed)):
            error = float(((other - fast).abs() / size).max())
            at = f"{name} and fast form at d = {d}, N = {N}, ρ = {rho}, b = {bias}"
            examination.decide(at, bool(error <= _ROUND_OFF), f"{error:.1e} of the terms' size")
    return examination.evidence("three shapes in float64, to 5e-15 of the size of the terms")


claims = [CLOSED, SUM, FORMS]
