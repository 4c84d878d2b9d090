"""Steps of a derivation that are decided before they are shown."""

from __future__ import annotations

import sympy

from theoryverify.claims.paper import DerivationStep
from theoryverify.exact.identities import decide_identity


def asserted(text: str, left: sympy.Expr, right: sympy.Expr) -> DerivationStep:
    """The step ``left = right``, decided exactly.

    Raises
    ------
    AssertionError
        If it is not proved: a derivation never shows what it could not decide.
    """
    decision = decide_identity(left, right)
    if decision.holds is not True:
        raise AssertionError(f"{text}: {decision.reason} {decision.witness}")
    return DerivationStep(text, sympy.Eq(left, right, evaluate=False), True)


def checked(text: str, holds: bool, shown: object = None) -> DerivationStep:
    """A step that was decided in exact arithmetic, or by balls.

    Raises
    ------
    AssertionError
        If it does not hold.
    """
    if not holds:
        raise AssertionError(f"{text}: {shown}")
    return DerivationStep(text, shown, True)
