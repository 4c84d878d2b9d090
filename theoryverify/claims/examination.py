"""The notebook of a check: it notes what was decided, step by step, and comes to a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import sympy

from theoryverify.claims.ladder import (
    HOLDS,
    INCONCLUSIVE,
    REFUTED,
    Evidence,
    Step,
    Verdict,
)
from theoryverify.claims.statements import By, Statement
from theoryverify.errors import InputError
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
        """Decide that a polynomial is >= 0 for all values >= 0 of its symbols (``strict``: > 0 for
        all values > 0). They must be declared nonnegative."""
        return self._decision(name, decide_nonnegative(expression, symbols, strict=strict))

    def decide(
        self, name: str, holds: bool | None, shown: str = "", *, by: By = None
    ) -> bool | None:
        """Note a decision that was taken elsewhere, by exact or rigorous means.

        ``by`` says what was decided in terms that a certificate can hold.

        Raises
        ------
        InputError
            If ``holds`` is anything but ``True``, ``False``, ``None``, or one of the first two as NumPy
            and SymPy write them; or if ``name`` or ``shown`` is no text.
        """
        holds = outcome(name, holds)
        self._note(name, holds, shown, by)
        return holds

    def equal(
        self, name: str, left: Enclosure, right: Enclosure, digits: int, *, by: By = None
    ) -> bool | None:
        """Two enclosures of what should be one number: disjoint refutes; to hold, they overlap
        and each fixes ``digits`` digits, one or more.

        Raises
        ------
        InputError
            For anything but enclosures, or other digits.
        """
        _refuse_bare(name, left, right)
        if isinstance(digits, bool) or not (isinstance(digits, int) and digits >= 1):
            raise InputError(f"step {name!r}: digits must be an integer >= 1, not {digits!r}")
        shown = f"{left} and {right}"
        if not left.overlaps(right):
            return self.decide(name, False, shown, by=by)
        narrow = min(left.digits, right.digits) >= digits
        return self.decide(name, True if narrow else None, shown, by=by)

    def less(self, name: str, left: Enclosure, right: Enclosure, *, by: By = None) -> bool | None:
        """``left < right``, decided by the enclosures."""
        _refuse_bare(name, left, right)
        return self.decide(name, left.less_than(right), f"{left} < {right}", by=by)

    def lemma(
        self, name: str, decision: Decision | bool | None, shown: str = "", *, by: By = None
    ) -> None:
        """A step of our proof that does not involve the formula under examination.

        Raises
        ------
        AssertionError
            If it fails: then the check itself is broken.
        InputError
            For what :meth:`decide` refuses.
        """
        holds = outcome(name, decision.holds if isinstance(decision, Decision) else decision)
        if isinstance(decision, Decision):
            shown, by = decision.reason, by or _statement(decision)
        if holds is False:
            raise AssertionError(f"the lemma {name!r} of this check fails: {shown}")
        self._note(name, holds, shown, by)

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

    def _note(self, name: str, holds: bool | None, shown: str, by: By) -> None:
        for what, value in (("its name", name), ("what it shows", shown)):
            if not isinstance(value, str):
                raise InputError(f"step {name!r}: {what} must be text, not {value!r}")
        self._steps.append(Step(name, holds, shown, by))

    def _decision(self, name: str, decision: Decision) -> bool | None:
        witness = ", ".join(f"{key} = {value}" for key, value in decision.witness.items())
        return self.decide(
            name,
            decision.holds,
            decision.reason + (f" ({witness})" if witness else ""),
            by=_statement(decision),
        )


def outcome(name: str, found: Any) -> bool | None:
    """What a step comes to; only ``False`` would refute, so nothing else may stand for it."""
    if found is None or isinstance(found, bool):
        return found
    with suppress(sympy.SympifyError):  # NumPy's booleans are SymPy's there, numbers and text not
        decided = sympy.sympify(found, strict=True)
        if decided in (sympy.true, sympy.false):
            return bool(decided)
    hint = "; a Verdict has .decided" if isinstance(found, Verdict) else ""
    raise InputError(f"step {name!r}: it must come to True, False or None, not {found!r}{hint}")


def _refuse_bare(name: str, *values: object) -> None:
    for value in values:
        if not isinstance(value, Enclosure):
            raise InputError(
                f"step {name!r}: {value!r} is not an Enclosure, and only bounds on both sides can "
                "say that two numbers are equal or in order"
            )


def _statement(decision: Decision) -> Statement | None:
    return Statement(decision.kind, decision.parts) if decision.kind else None
