"""The notebook of a check: it notes what was decided, step by step, and comes to a verdict."""

from __future__ import annotations

from collections.abc import Sequence

import sympy

from theoryverify.claims.ladder import (
    HOLDS,
    INCONCLUSIVE,
    REFUTED,
    Evidence,
    Step,
)
from theoryverify.claims.statements import By, Statement
from theoryverify.exact.balls import Enclosure
from theoryverify.exact.identities import Decision, decide_identity, decide_nonnegative


class Examination:
    """Collects steps; every step holds, fails or is undecided, and says what was seen.

    A failed step refutes the statement under examination, so only put steps here that the
    statement implies. Auxiliary facts that must hold whatever the formula (a lemma of the proof)
    go through :meth:`lemma`, whose failure is an error of ours, not a refutation.
    """

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._assumes: list[str] = []

    def identity(self, name: str, left: sympy.Expr, right: sympy.Expr) -> bool | None:
        """Decide ``left == right`` for all values of their symbols."""
        return self._decision(name, decide_identity(left, right))

    def nonnegative(
        self,
        name: str,
        expression: sympy.Expr,
        symbols: Sequence[sympy.Symbol],
        *,
        strict: bool = False,
    ) -> bool | None:
        """Decide that a polynomial is >= 0 (``strict``: > 0) for all positive ``symbols``."""
        return self._decision(name, decide_nonnegative(expression, symbols, strict=strict))

    def decide(
        self, name: str, holds: bool | None, shown: str = "", *, by: By = None
    ) -> bool | None:
        """Note a decision that was taken elsewhere, by exact or rigorous means.

        ``by`` says what was decided in terms that a certificate can hold.
        """
        self._steps.append(Step(name, holds, shown, by))
        return holds

    def equal(
        self, name: str, left: Enclosure, right: Enclosure, digits: int, *, by: By = None
    ) -> bool | None:
        """Two enclosures of what should be one number: disjoint refutes; to hold, they overlap
        and each fixes ``digits`` digits."""
        shown = f"{left} and {right}"
        if not left.overlaps(right):
            return self.decide(name, False, shown, by=by)
        narrow = min(left.digits, right.digits) >= digits
        return self.decide(name, True if narrow else None, shown, by=by)

    def less(self, name: str, left: Enclosure, right: Enclosure, *, by: By = None) -> bool | None:
        """``left < right``, decided by the enclosures."""
        return self.decide(name, left.less_than(right), f"{left} < {right}", by=by)

    def lemma(
        self, name: str, decision: Decision | bool | None, shown: str = "", *, by: By = None
    ) -> None:
        """A step of our proof that does not involve the formula under examination.

        Raises
        ------
        AssertionError
            If it fails: then the check itself is broken.
        """
        holds = decision.holds if isinstance(decision, Decision) else decision
        if isinstance(decision, Decision):
            shown, by = decision.reason, by or _statement(decision)
        if holds is False:
            raise AssertionError(f"the lemma {name!r} of this check fails: {shown}")
        self._steps.append(Step(name, holds, shown, by))

    def assume(self, fact: str) -> None:
        """A cited fact that is not mechanised."""
        self._assumes.append(fact)

    def evidence(self, scope: str) -> Evidence:
        """The verdict: refuted by one failed step, held up by one undecided step."""
        steps, assumes = tuple(self._steps), tuple(self._assumes)
        for verdict, outcome in ((REFUTED, False), (INCONCLUSIVE, None)):
            for step in steps:
                if step.holds is outcome:
                    return Evidence(verdict, scope, f"{step.name}: {step.shown}", assumes, steps)
        if not steps:
            return Evidence(INCONCLUSIVE, scope, "nothing was examined", assumes, steps)
        return Evidence(HOLDS, scope, "", assumes, steps)

    def _decision(self, name: str, decision: Decision) -> bool | None:
        witness = ", ".join(f"{key} = {value}" for key, value in decision.witness.items())
        return self.decide(
            name,
            decision.holds,
            decision.reason + (f" ({witness})" if witness else ""),
            by=_statement(decision),
        )


def _statement(decision: Decision) -> Statement | None:
    return Statement(decision.kind, decision.parts) if decision.kind else None
