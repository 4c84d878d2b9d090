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

from theoryverify.claims import Claim
from theoryverify.claims.claim import Context
from theoryverify.claims.examination import Examination
from theoryverify.claims.ladder import REFUTED, SIMULATED, Evidence
from theoryverify.papers.mamba.claims.icl_given import (
    NOTE,
    OPPOSITE,
    PLACE,
    REST,
    require_learned,
    trained_models,
)
from theoryverify.simulate.icl_curves import CLIP
from theoryverify.simulate.icl_gates import gate

if TYPE_CHECKING:
    from theoryverify.papers.mamba.experiments.icl_stored import Stored

Floats = NDArray[np.float64]
Map = Callable[[Floats], Floats]


GATES: dict[str, Map] = {
    "turned": lambda y: gate(-y, 1, -2),
    "bent": lambda y: 1 / (1 + np.abs(y) / 20),
}
"""Two gates that lack the signs: times y, the first has ``c_0 < 0`` and the second ``c_1 < 0``."""
MAPS: dict[str, Map] = {
    "bent": lambda y: y * GATES["bent"](y),
    "bounded": np.tanh,
    "odd": lambda y: y - 0.5 * np.tanh(2 * y) - 0.01 * np.abs(y),
    "turned": lambda y: y * GATES["turned"](y),
}
"""Two maps with ``c_1 < 0``; and two with ``c_1, c_3 > 0`` and ``c_0, c_2 < 0``: one that is odd but for
a hundredth, and the gated label whose gate opens to negative labels."""
SMALLEST = 0.05
"""Of ``c_1/c_3`` of a layer's gated label; yσ(y-2) has 0.26, and y times a constant has 0."""
CUT = "means of contributions cut at six standard deviations of a pilot"
_SIZE = math.sqrt(CLIP)
_INSIDE = math.erf(_SIZE / math.sqrt(2))
NOTHING_READ = (
    _INSIDE - 2 * _SIZE * math.exp(-CLIP / 2) / math.sqrt(2 * math.pi) + CLIP * (1 - _INSIDE)
)
"""``E min(z², c²) = P - 2cφ(c) + c²(1-P)`` with ``P = P(|z| < c)``: the clipped error of predicting 0."""
REMAINS = 0.75
"""Of it, what a read-out may leave that has found something."""

_CUT = (
    "c_k is the mean over prompts of their contributions, those beyond six standard deviations of a "
    "pilot cut there; the evidence says how many. Between 39 labels up to ±32 the map is taken as linear."
)
_RESPONSE = (
    f"{NOTE} Said of each trained model. T̂ is measured from outside: by what it does to later "
    "predictions that the label of an example at a quarter of the context is replaced and its x stays. "
    "To first order that gives (T(y)-T(0))/c_1 for predictions that are a function of Σ T(y_j)⟨x_j,x⟩, "
    "so c_1 > 0 says that the model works by such a feature; the other signs are relative to c_1. "
    f"{_CUT}"
)
_OPENING = (
    f"{NOTE} O_l(y) is how far layer l opens to a token with the label y: for Mamba the mean of "
    "1-exp(ΔA), for GPT-2 the attention that later positions pay to it. Each trained model must have "
    "such a layer; it is refuted if one has none. The 1/20 is ours, set when trained models had been "
    "seen, and keeps out gates that are all but constant. One of several layers may have these signs by "
    f"chance. {_CUT}"
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
    f"{NOTE} Said of each trained model. ẑ is read linearly, after N_pt-1 examples, from the residual "
    "stream behind the last layer; the read-out was fitted by ridge on other tasks. The three quarters "
    "are ours, set when R² of two of the models was known (0.41 and 0.71). Before the first layer "
    "nothing can be read."
)
_FIRST = r"c_1=\mathbb E[\hat T(g(z))z]>0\ \text{although}\ \mathbb E[g(z)z]=0"
_ALL = r"c_0,c_1,c_2,c_3>0,\quad c_k=\mathbb E[\hat T(g(z))\,\mathrm{he}_k(z)]"
_LAYER = (
    r"\exists l:\ c_0,c_2,c_3>0,\ c_1>c_3/20,\quad "
    r"c_k=\mathbb E[y\,O_l(y)\,\mathrm{he}_k(z)],\ y=g(z)"
)
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
    expected=REFUTED,
    note=f"{_OPENING} {OPPOSITE} {_SIGNS}",
)
ALIGNMENT = Claim(
    "mamba.exp.alignment",
    PLACE,
    _ALIGNED,
    title="⟨β,x⟩ can be read from a trained Mamba: a linear read-out leaves less than 3/4",
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
    expected=REFUTED,
    note=f"{_OPENING} {OPPOSITE} (One of two trainings had such a layer.) {_SOFTMAX} {_SIGNS}",
)
GPT2_ALIGNMENT = Claim(
    "mamba.exp.gpt2.alignment",
    PLACE,
    _ALIGNED,
    title="⟨β,x⟩ can be read from a trained GPT-2: a linear read-out leaves less than 3/4",
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


def _models(stated: Stated, examination: Examination, context: Context) -> list[Stored]:
    """The trained models of the base, each alone, if they have learned."""
    (found,) = trained_models([("base", stated.kind)], context, probed=True)
    require_learned(found.each(), examination)
    return found.each()


def _scope(models: Sequence[Stored], rest: str) -> str:
    return f"{models[0].budget.replace('1 seed', f'each of {len(models)} seeds')}; {rest}"


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
    return _coefficients(stated, (0, 1, 2, 3), examination, context)


def _coefficients(
    stated: Stated, degrees: Sequence[int], examination: Examination, context: Context
) -> Evidence:
    models = _models(stated, examination, context)
    from theoryverify.papers.mamba.icl_response import coefficient, responses

    instead = MAPS[stated.instead] if stated.instead else None
    for seed, model in enumerate(models):
        parts = responses(model.probes[0], model.settings.task, instead=instead)
        for k in degrees:
            c = coefficient(parts, k, error=REST / (len(models) * len(degrees)))
            examination.decide(f"seed {seed}: c_{k} > 0", c.positive, f"c_{k}/|c| in {c}")
    return examination.evidence(_scope(models, CUT))


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
    models = _models(stated, examination, context)
    from theoryverify.papers.mamba.icl_response import DEGREES, coefficient, gated_labels

    instead = GATES[stated.instead] if stated.instead else None
    for seed, model in enumerate(models):
        layers = gated_labels(model.probes[0], model.settings.task, instead=instead)
        share = REST / (len(models) * len(layers) * len(DEGREES))
        signs, shown = [], []
        for number, parts in enumerate(layers, 1):
            parts[:, 1] -= SMALLEST * parts[:, 3]
            c = [coefficient(parts, k, error=share) for k in DEGREES]
            signs.append(_all([each.positive for each in c]))
            shown.append(f"layer {number}: " + ", ".join(map(str, c)))
        examination.decide(
            f"seed {seed}: a layer with c_0, c_1 - c_3/20, c_2, c_3 > 0",
            _any(signs),
            "; ".join(shown),
        )
    return examination.evidence(_scope(models, CUT))


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
    models = _models(stated, examination, context)
    from theoryverify.papers.mamba.experiments.icl_stored import level

    place, most = 0 if stated.instead == "input" else 1, REMAINS * NOTHING_READ
    for seed, model in enumerate(models):
        seen = model.probes[0]
        guess, target = (
            a.astype(np.float64) for a in (seen["read"][place, -1], seen["to_read"][-1])
        )
        if stated.instead == "other":
            target = np.roll(target, 1)
        error = level((guess - target) ** 2, error=REST / len(models))
        examination.decide(f"seed {seed}: error below {most:.3f}", error.below(most), f"in {error}")
    size = int(models[0].probes[0]["alignment_sizes"][-1])
    return examination.evidence(
        _scope(models, f"{size} examples, errors clipped at {CLIP:g}, models and read-outs fixed")
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
