"""Linear cross-attention with a part taken out: Appendix B's ablations, on the scalar weights.

Two parts can be taken out of ``F_t = F_{t-1} + A_{t-1} + S_{t-1}``, (5.2) with (5.5):

* the injection ``S_{t-1} = W^S X`` of every layer but the first: since ``F ≡ 0`` without any, the state
  then starts at ``F_0 = W^S X`` and gets no more of X;
* cross-attention to the raw X: keys and values then come from the state, ``A = W^V F Fᵀ F/L``.

With ``W^S = αI``, ``W^V = βI`` every state is a polynomial of the context's covariance,
``F_t = p_t(Σ̂) X``: ``p_t = p_{t-1} + β s p_{t-1} + α`` for the whole model; ``β s p_{t-1}³`` in place of
``β s p_{t-1}`` for self-attention; ``p_0 = α`` and no ``+ α`` without injection (:func:`state`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from theoryverify.exact.rationals import positive_integer

if TYPE_CHECKING:
    from theoryverify.models.lca import LCA


@dataclass(frozen=True)
class Parts:
    """What is left in: cross-attention to X (else self-attention), injection in every layer."""

    cross: bool = True
    injection: bool = True


ARMS = {
    "full": Parts(),
    "injected once": Parts(injection=False),
    "self-attention": Parts(cross=False),
    "both": Parts(cross=False, injection=False),
}


def state(parts: Parts, s: Any, alpha: Any, beta: Any, depth: int) -> Any:
    """``p_T(s)``, on any numbers: floats, NumPy arrays of eigenvalues, SymPy expressions.

    Raises
    ------
    InputError
        For a depth that is no positive integer.
    """
    p = 0 * s if parts.injection else alpha + 0 * s
    for _ in range(positive_integer(depth, "depth")):
        p = p + beta * s * (p if parts.cross else p**3) + (alpha if parts.injection else 0)
    return p


def ablated(parts: Parts, d: int, depth: int, alpha: float, beta: float) -> LCA:
    """The literal model, on d x L tokens, with the frozen readout (E.1)."""
    from theoryverify.models.ablated_stack import AblatedLCA
    from theoryverify.models.lca import ScalarWeights

    return AblatedLCA(ScalarWeights(d, depth, alpha, beta), parts)
