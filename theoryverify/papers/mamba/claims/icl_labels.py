"""What trained models do with labels, and what they know of ``⟨β,x⟩``, beside the theory's gate.

Each statement is made of Mamba and of GPT-2. Controls put made-up maps into the place of what was
measured, so that they are wrong whatever the runs show.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from theoryverify.budget import SHARE
from theoryverify.claims import Claim
from theoryverify.claims.claim import Context
from theoryverify.claims.examination import Examination
from theoryverify.claims.ladder import REFUTED, SIMULATED, Evidence
from theoryverify.papers.mamba.claims.icl_given import (
    NOTE,
    OPPOSITE,
    PLACE,
    require_learned,
    trained_models,
)
from theoryverify.simulate.icl_curves import CLIP

if TYPE_CHECKING:
    from theoryverify.papers.mamba.experiments.icl_stored import Stored

Floats = NDArray[np.float64]
Map = Callable[[Floats], Floats]


def _gate(y: Floats) -> Floats:
    """The theory's gate at ρ = 1, b = -2."""
    return np.asarray(1 / (1 + np.exp(2 - y)))


MAPS: dict[str, Map] = {
    "bent": lambda y: y / (1 + np.abs(y) / 20),
    "bounded": np.tanh,
    "odd": lambda y: y - 0.5 * np.tanh(2 * y) - 0.01 * np.abs(y),
    "turned": lambda y: y * _gate(-y),
}
"""Two maps with ``c_1 < 0``; and two with ``c_1, c_3 > 0`` and ``c_0, c_2 < 0``: one that is odd but for
a hundredth, and the gated label whose gate opens to negative labels."""

GATES: dict[str, Map] = {
    "turned": lambda y: _gate(-y),
    "bent": lambda y: 1 / (1 + np.abs(y) / 20),
}
"""Two gates that lack the signs: times y, the first has ``c_0 < 0`` and the second ``c_1 < 0``."""
DEGREES = (0, 1, 2, 3)
CUT = "means of contributions cut at six standard deviations of a pilot"
_INSIDE = math.erf(math.sqrt(2))
NOTHING_READ = _INSIDE - 4 * math.exp(-2) / math.sqrt(2 * math.pi) + 4 * (1 - _INSIDE)
"""``E min(z², 4) = P - 4φ(2) + 4(1-P)`` with ``P = P(|z| < 2)``, z normal: the error of predicting 0."""
LEFT = 0.75
"""Of it, what a read-out may leave that has found something."""

_CUT = (
    "c_k is the mean over prompts of their contributions, those beyond six standard deviations of a "
    "pilot cut there; the evidence says how many."
)
_RESPONSE = (
    f"{NOTE} T̂ is measured from outside, by what the change of one label does to later predictions. "
    f"{_CUT}"
)
_OPENING = (
    f"{NOTE} O_l(y) is how far layer l opens to a token with the label y: for Mamba the mean of "
    "1-exp(ΔA), for GPT-2 the attention that later positions pay to it. Each trained model must have "
    f"such a layer; it is refuted if one has none. {_CUT}"
)
_SIGNS = (
    "For He₃ the gated label yσ(y/ρ+b), ρ > 0 > b, has these signs. The even degrees tell it from an "
    "odd map. That it is of this form is not said."
)
_SOFTMAX = (
    "Under softmax attention a weight e^{y/ρ} stands in the gate's place; for a cubic its coefficients "
    "do not exist (E e^{y/ρ} = ∞), so it is held to the gate's signs."
)
_READ = (
    f"{NOTE} ẑ is read linearly, after N_pt-1 examples, from the residual stream behind the last layer; "
    "the read-out was fitted by ridge on other tasks. Errors are clipped at 4; that of predicting 0 is "
    "then 0.92. Before the first layer nothing can be read."
)
_FIRST = r"c_1=\mathbb E[\hat T(g(z))z]>0\ \text{although}\ \mathbb E[g(z)z]=0"
_ALL = r"c_0,c_1,c_2,c_3>0,\quad c_k=\mathbb E[\hat T(g(z))\,\mathrm{he}_k(z)]"
_LAYER = r"\exists l:\ c_0,c_1,c_2,c_3>0,\quad c_k=\mathbb E[y\,O_l(y)\,\mathrm{he}_k(z)],\ y=g(z)"
_ALIGNED = (
    r"\mathbb E\min\{(\hat z-\langle\beta,x\rangle)^2,4\}"
    r"<\tfrac34\,\mathbb E\min\{\langle\beta,x\rangle^2,4\}"
)

TRANSFORMATION = Claim(
    "mamba.exp.transformation",
    PLACE,
    _FIRST,
    title="a trained Mamba transforms labels so that degree 1 shows",
    note=_RESPONSE,
)
GATE = Claim(
    "mamba.exp.gate",
    PLACE,
    _ALL,
    title="its transformation has the signs of the theory's gated label in degrees 0 to 3",
    expected=REFUTED,
    note=f"{_RESPONSE} {OPPOSITE} (It has c_3 < 0; of E[z|y] it is 0.) {_SIGNS}",
)
OPENING = Claim(
    "mamba.exp.opening",
    PLACE,
    _LAYER,
    title="some layer's gate, times y, has the signs of the theory's gated label",
    note=f"{_OPENING} {_SIGNS}",
)
ALIGNMENT = Claim(
    "mamba.exp.alignment",
    PLACE,
    _ALIGNED,
    title="⟨β,x⟩ can be read from a trained Mamba: a linear read-out explains a quarter of it",
    note=_READ,
)
GPT2_TRANSFORMATION = Claim(
    "mamba.exp.gpt2.transformation",
    PLACE,
    _FIRST,
    title="a trained GPT-2 transforms labels so that degree 1 shows",
    note=_RESPONSE,
)
GPT2_GATE = Claim(
    "mamba.exp.gpt2.gate",
    PLACE,
    _ALL,
    title="its transformation has the signs of a gated label in degrees 0 to 3",
    expected=REFUTED,
    note=f"{_RESPONSE} {OPPOSITE} {_SOFTMAX} {_SIGNS}",
)
GPT2_OPENING = Claim(
    "mamba.exp.gpt2.opening",
    PLACE,
    _LAYER,
    title="some layer's attention, times y, has the signs of a gated label",
    note=f"{_OPENING} {_SOFTMAX} {_SIGNS}",
)
GPT2_ALIGNMENT = Claim(
    "mamba.exp.gpt2.alignment",
    PLACE,
    _ALIGNED,
    title="⟨β,x⟩ can be read from a trained GPT-2: a linear read-out explains a quarter of it",
    note=_READ,
)


@dataclass(frozen=True)
class Stated:
    """What is said of one of the two models.

    Attributes
    ----------
    kind : {"mamba", "gpt2"}
    instead : str
        What is put into the place of what was measured; "" for nothing.
    """

    kind: str
    instead: str = ""


_Check = Callable[[Stated, Examination, Context], Evidence]


def _of_both(
    mamba: Claim, gpt2: Claim, name: str, controls: Mapping[str, str]
) -> Callable[[_Check], _Check]:
    """One function as the check of two claims; ``controls`` says what is put in, by its description."""

    def add(function: _Check) -> _Check:
        for claim, kind in ((mamba, "mamba"), (gpt2, "gpt2")):
            claim.check(
                name,
                SIMULATED,
                formula=Stated(kind),
                controls={said: Stated(kind, instead) for said, instead in controls.items()},
                mutate=False,
                timeout=600,
                preset="full",
            )(function)
        return function

    return add


def _base(stated: Stated, examination: Examination, context: Context) -> Stored:
    """The runs of the base, if they have learned."""
    trained = trained_models([("base", stated.kind)], context)
    require_learned(trained, examination)
    return trained[0]


# -- what is done to labels -------------------------------------------------------------------------


@_of_both(
    TRANSFORMATION,
    GPT2_TRANSFORMATION,
    "degree one",
    {
        "y/(1+|y|/20), nearly labels as they are": "bent",
        "labels bounded by tanh": "bounded",
    },
)
def degree_one(stated: Stated, examination: Examination, context: Context) -> Evidence:
    return _coefficients(stated, (1,), examination, context)


@_of_both(
    GATE,
    GPT2_GATE,
    "signs",
    {
        "y/(1+|y|/20), nearly labels as they are": "bent",
        "y - tanh(2y)/2 - |y|/100, odd but for a hundredth": "odd",
        "a gate that opens to negative labels": "turned",
    },
)
def gate_signs(stated: Stated, examination: Examination, context: Context) -> Evidence:
    return _coefficients(stated, DEGREES, examination, context)


def _coefficients(
    stated: Stated, degrees: Sequence[int], examination: Examination, context: Context
) -> Evidence:
    found = _base(stated, examination, context)
    from theoryverify.papers.mamba.icl_response import coefficient, responses

    parts = responses(found, instead=MAPS[stated.instead] if stated.instead else None)
    for k in degrees:
        c = coefficient(parts, k, error=SHARE / len(degrees))
        examination.decide(f"c_{k} > 0", c.positive, f"c_{k}/|c| in {c}")
    return examination.evidence(f"{found.budget}; {CUT}")


# -- what layers do ---------------------------------------------------------------------------------


@_of_both(
    OPENING,
    GPT2_OPENING,
    "signs of a layer",
    {
        "gates that open to negative labels": "turned",
        "gates 1/(1+|y|/20), nearly open to all alike": "bent",
    },
)
def opening_signs(stated: Stated, examination: Examination, context: Context) -> Evidence:
    found = _base(stated, examination, context)
    from theoryverify.papers.mamba.icl_response import coefficient, gated_labels

    layers = range(found.runs[0]["opening"].shape[1])
    share = SHARE / (len(found.runs) * len(layers) * len(DEGREES))
    gate = GATES[stated.instead] if stated.instead else None
    for seed in range(len(found.runs)):
        signs: list[bool | None] = []
        shown = []
        for layer in layers:
            parts = gated_labels(found, seed, layer, instead=gate)
            c = [coefficient(parts, k, error=share) for k in DEGREES]
            signs.append(_all([each.positive for each in c]))
            shown.append(f"layer {layer + 1}: " + ", ".join(str(each.interval) for each in c))
        examination.decide(
            f"seed {seed}: a layer with c_0, ..., c_3 > 0", _any(signs), "; ".join(shown)
        )
    return examination.evidence(f"{found.budget}; {CUT}")


def _all(decisions: Sequence[bool | None]) -> bool | None:
    """And, in three values."""
    return False if False in decisions else None if None in decisions else True


def _any(decisions: Sequence[bool | None]) -> bool | None:
    """Or, in three values."""
    return True if True in decisions else None if None in decisions else False


# -- what they know of ⟨β,x⟩ ------------------------------------------------------------------------


@_of_both(
    ALIGNMENT,
    GPT2_ALIGNMENT,
    "read-out",
    {
        "read before the first layer": "input",
        "read for another task": "other",
    },
)
def read_out(stated: Stated, examination: Examination, context: Context) -> Evidence:
    found = _base(stated, examination, context)
    from theoryverify.papers.mamba.experiments import icl_stored as runs

    place = 0 if stated.instead == "input" else 1
    parts = []
    for run in found.runs:
        guess = run["read"][place, -1].astype(np.float64)
        target = run["to_read"][-1].astype(np.float64)
        if stated.instead == "other":
            target = np.roll(target, 1)
        parts.append(np.minimum((guess - target) ** 2, CLIP))
    error = runs.level(np.mean(parts, axis=0))
    most = LEFT * NOTHING_READ
    below = True if error.upper < most else False if error.lower > most else None
    size = int(found.runs[0]["alignment_sizes"][-1])
    examination.decide("error below 3/4 of that of predicting 0", below, f"{error} < {most:.3f}")
    return examination.evidence(
        f"{found.budget}; {size} examples, errors clipped at {CLIP:g}, mean over seeds, trained models "
        "and read-outs fixed"
    )


claims = (
    TRANSFORMATION,
    GATE,
    OPENING,
    ALIGNMENT,
    GPT2_TRANSFORMATION,
    GPT2_GATE,
    GPT2_OPENING,
    GPT2_ALIGNMENT,
)
