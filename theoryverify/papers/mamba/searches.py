"""What can be searched of the Mamba paper: links and gates that break its lemmas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import factorial, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from theoryverify.claims import CERTIFIED, Evidence, Examination
from theoryverify.claims.search import Search
from theoryverify.claims.spaces import Rationals, Record, SparseVectors
from theoryverify.exact.gate import Gate
from theoryverify.exact.gate_law import gate_law
from theoryverify.exact.generative import generative_exponent
from theoryverify.exact.hermite import raw_coefficients
from theoryverify.exact.links import link
from theoryverify.exact.surds import Surds, hermite, root_factorial
from theoryverify.papers.mamba.claims.exponents import EVEN
from theoryverify.papers.mamba.claims.gate import BIAS, D
from theoryverify.papers.mamba.placed import DEGREE

Terms = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class HermiteSum:
    """The link ``g = Σ c_i he_i`` with integers ``c_i``, as pairs ``(i, c_i)``."""

    terms: Terms

    @property
    def text(self) -> str:
        """In the grammar of links, with monic ``He_i``."""
        return _text(self.terms)

    @property
    def degree(self) -> int:
        return max(i for i, _ in self.terms)

    def __str__(self) -> str:
        return _shown(self.terms)


@dataclass(frozen=True)
class GatedSum:
    """A link ``Σ c_i he_i`` and the bias of its gate; the statement is about all large scales."""

    terms: Terms
    b: Fraction

    @property
    def link(self) -> str:
        return _text(self.terms)

    def __str__(self) -> str:
        return f"g = {_shown(self.terms)}, b = {self.b}"


def _text(terms: Terms) -> str:
    return " + ".join(f"({c})*He{i}(z)/sqrt({factorial(i)})" for i, c in terms)


def _shown(terms: Terms) -> str:
    parts = [f"{'' if c == 1 else '-' if c == -1 else c}he_{i}" for i, c in terms]
    return " + ".join(parts).replace("+ -", "- ")


# -- Lemma D: every bias ------------------------------------------------------------------------

_NODES = np.linspace(-12.0, 12.0, 401)
_SCALES = (2.0, 8.0, 32.0)
_ROUNDING = 1e-10


@lru_cache(maxsize=1)
def _basis() -> npt.NDArray[np.float64]:
    """``he_0, ..., he_6`` on the trapezoid's nodes."""
    rows = [np.ones_like(_NODES), _NODES]
    for i in range(1, 6):
        rows.append(_NODES * rows[i] - i * rows[i - 1])
    return np.stack([row / sqrt(factorial(i)) for i, row in enumerate(rows)])


def gate_margin(case: GatedSum) -> float:
    """The largest ``|c_ge(ρ,b)|`` over three scales, in units of the link's norm, less rounding.

    An isolated zero at one ρ is no violation of a statement about all large ρ, so the largest counts.
    """
    basis = _basis()
    size = sqrt(sum(c * c for _, c in case.terms))
    g = sum(c / size * basis[i] for i, c in case.terms)
    order = 1 if any(i % 2 for i, _ in case.terms) else 2
    weight = np.exp(-(_NODES**2) / 2) / sqrt(2 * np.pi) * (_NODES[1] - _NODES[0])
    largest = 0.0
    for rho in _SCALES:
        opening = 0.5 * (1 + np.tanh((g / rho + float(case.b)) / 2))
        largest = max(largest, abs(float(np.sum(weight * g * opening * basis[order]))) * rho)
    return largest - _ROUNDING


def gate_order(exponent: Callable[[str], int], case: Any, examination: Examination) -> Evidence:
    """Decide ``ie(gated link) = exponent(link)`` for every large ρ, in exact arithmetic.

    Each coefficient vanishes by parity; or, for odd g and b = 0, is half of g's own for every ρ
    (claim ``mamba.D.odd``); or follows its leading law with Lagrange's remainder below it.
    """
    value = exponent(case.link)
    for k in range(1, value + 1):
        vanishes, reason = _vanishes(case.link, k, case.b)
        wanted = "≠" if k == value else "="
        examination.decide(f"c_{k} {wanted} 0", vanishes is (k < value), reason)
        if vanishes is not (k < value):
            break
    return examination.evidence("every ρ >= ρ₀")


def _vanishes(text: str, k: int, b: Any) -> tuple[bool, str]:
    g = link(text)
    polynomial = g.polynomial
    assert polynomial is not None
    if k % 2 and g.parity == "even":
        return True, "zero by parity: g is even"
    if k % 2 and g.parity == "odd" and Fraction(b) == 0:
        own = raw_coefficients(polynomial)[k].is_zero
        found = Gate(4, 0).coefficient(text, k, digits=15)
        return own, f"half of g's own for every ρ; at ρ = 4 it is {found.enclosure}"
    law = gate_law(text, k, b)
    return False, f"{law} for every ρ >= {law.valid_from('9/10')}"


GATE = Search(
    D.id,
    "every bias",
    "a polynomial link g, a gate of bias b: ie(g·σ(g/ρ+b)) = ge(g) for every large ρ",
    Record(
        GatedSum,
        terms=SparseVectors(indices=(1, 2, 3, 4, 5), most=6),
        b=Rationals(-6, 6, 1000),
    ),
    gate_margin,
    gate_order,
    CERTIFIED,
    formula=lambda text: int(generative_exponent(text)),
    controls={
        "ge + 2": lambda text: int(generative_exponent(text)) + 2,
        "always 5": lambda text: 5,
    },
    hypotheses=(BIAS,),
    budget=4000,
)

# -- even links ---------------------------------------------------------------------------------


def second_moment_margin(case: HermiteSum) -> float:
    """``E[g² He_2]/E[g²] = (Σ 2i c_i² + 2 Σ √((i+1)(i+2)) c_i c_{i+2})/Σ c_i²``."""
    values = dict(case.terms)
    norm = sum(c * c for c in values.values())
    form = sum(2 * i * c * c for i, c in values.items())
    cross = sum(sqrt((i + 1) * (i + 2)) * c * values.get(i + 2, 0) for i, c in values.items())
    return (form + 2 * cross) / norm


def second_moment(share: Fraction, case: HermiteSum, examination: Examination) -> Evidence:
    """The sign of ``E[g² He_2] - share·E[g²]``, exactly in Q(√2, √3, ...), in two ways."""
    values = dict(case.terms)
    by_form = Surds.of(0)
    for i, c in values.items():
        by_form = by_form + Surds.of((2 * i - share) * c * c)
        pair = Surds.root((i + 1) * (i + 2)) * Surds.of(2 * c * values.get(i + 2, 0))
        by_form = by_form + pair
    sign = by_form.real_sign()
    shown = f"{float(by_form.number().real.mid()):.6g}" if sign else "0"
    right = f"{share}·E[g²]" if share else "0"
    examination.decide(f"E[g² He_2] > {right}", sign > 0, f"the difference is {shown}")
    # By the definition: raw coefficients a_i of g in He_i are c_i/√(i!), and the mean of a
    # polynomial is its He_0 coefficient.
    g = Surds.of(0)
    for i, c in values.items():
        g = g + hermite(i) * root_factorial(i).inverse() * Surds.of(c)
    literal = Surds.of(0)
    for i, c in values.items():
        part = hermite(i) * root_factorial(i).inverse() * Surds.of(c)
        literal = literal + raw_coefficients(part * g * (hermite(2) - Surds.of(share)))[0]
    examination.lemma("by expanding g² He_2", literal.real_sign() == sign)
    return examination.evidence("this link, exactly")


EVEN_LINKS = Search(
    EVEN.id,
    "any degree",
    "an even polynomial g with ie(g) >= 4: E[g² He_2] > 0, so that squaring shows the exponent 2",
    Record(HermiteSum, terms=SparseVectors(indices=tuple(range(4, 27, 2)), most=99)),
    second_moment_margin,
    second_moment,
    CERTIFIED,
    formula=Fraction(0),
    # Wrong at every link of the domain: the largest eigenvalue of the form is below 4·26.
    controls={"E[g² He_2] > 104·E[g²]": Fraction(104), "E[g² He_2] > 200·E[g²]": Fraction(200)},
    hypotheses=(DEGREE,),
    budget=6000,
)

searches = [GATE, EVEN_LINKS]
