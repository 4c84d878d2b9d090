"""The evidence ladder: rungs, verdicts, evidence, hypotheses, and how verdicts combine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeVar

from theoryverify.errors import InputError


class Rung(StrEnum):
    """How strong a piece of evidence is, strongest first."""

    PROVED = "proved"
    CERTIFIED = "certified"
    COMPUTED = "computed"
    SIMULATED = "simulated"

    @property
    def height(self) -> int:
        return len(Rung) - list(Rung).index(self)


class Verdict(StrEnum):
    """What a check or a claim comes to.

    ``OUTSIDE`` means that the hypotheses are not met; ``ERROR`` that a check broke or ran out of
    time, which is never a refutation.
    """

    HOLDS = "holds"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"
    OUTSIDE = "outside"
    ERROR = "error"

    @property
    def decided(self) -> bool | None:
        """Whether it holds, as a step of an examination notes it; ``None`` where nothing is known."""
        return {"holds": True, "refuted": False}.get(self.value)


_Kind = TypeVar("_Kind", bound=StrEnum)

PROVED, CERTIFIED, COMPUTED, SIMULATED = Rung
HOLDS, REFUTED, INCONCLUSIVE, OUTSIDE, ERROR = Verdict


@dataclass(frozen=True)
class Step:
    """One thing that was decided on the way, as a reader should see it."""

    name: str
    holds: bool | None
    shown: str = ""
    by: Any = field(default=None, compare=False, repr=False)
    """Formal statements it rests on; see :mod:`theoryverify.claims.statements`."""


@dataclass(frozen=True)
class Evidence:
    """What one run of a check found.

    Attributes
    ----------
    verdict : Verdict
    scope : str
        For which parameters it speaks.
    reason : str
        Why, in a sentence; for a refutation it names the step or the case that fails.
    assumes : tuple of str
        Cited facts that are not mechanised.
    steps : tuple of Step

    Raises
    ------
    InputError
        For a verdict that is none, or a scope, a reason or an assumption that is no text.
    """

    verdict: Verdict
    scope: str = ""
    reason: str = ""
    assumes: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        # Verdicts are compared by identity, so text that spells one becomes it.
        object.__setattr__(self, "verdict", member(Verdict, self.verdict, "the verdict"))
        for what, value in (("scope", self.scope), ("reason", self.reason)):
            if not isinstance(value, str):
                raise InputError(f"the {what} of evidence must be text, not {value!r}")
        if not isinstance(self.assumes, (tuple, list)) or not all(
            isinstance(fact, str) for fact in self.assumes
        ):
            raise InputError(f"what evidence assumes is a tuple of texts, not {self.assumes!r}")


def member(kind: type[_Kind], value: Any, what: str) -> _Kind:
    """The member of an enumeration that a value is or spells.

    Raises
    ------
    InputError
        If it is none of them; ``what`` says whose value it is.
    """
    try:
        return kind(value)
    except ValueError:
        raise InputError(f"{what} must be one of {', '.join(kind)}, not {value!r}") from None


@dataclass(frozen=True)
class Hypothesis:
    """A condition that a statement needs, as an object: it can be tested, and dropped.

    Parameters
    ----------
    name, statement : str
        The paper's name for it, and the condition in TeX.
    failure : callable
        From a case (a law, a link, a point of parameters) to the reason why it breaks the
        hypothesis, or ``None`` if it does not. Calling it raises a ``TypeError`` where it answers
        anything else: ``True`` could be meant either way.
    """

    name: str
    statement: str
    failure: Callable[[Any], str | None] = field(default=lambda case: None, repr=False)

    def __post_init__(self) -> None:
        for what, value in (("name", self.name), ("statement", self.statement)):
            if not isinstance(value, str):
                raise InputError(f"the {what} of a hypothesis must be text, not {value!r}")
        if not callable(self.failure):
            raise InputError(
                f"hypothesis {self.name!r}: its predicate must be a function of a case, "
                f"not {self.failure!r}"
            )
        own = self.failure.__wrapped__ if isinstance(self.failure, _Predicate) else self.failure
        object.__setattr__(self, "failure", _Predicate(self.name, own))


@dataclass(frozen=True)
class _Predicate:
    """The predicate of a hypothesis, with its answer looked at."""

    name: str
    __wrapped__: Callable[[Any], str | None]

    def __call__(self, case: Any) -> str | None:
        reason = self.__wrapped__(case)
        if not (reason is None or isinstance(reason, str)):
            raise TypeError(
                f"the predicate of hypothesis {self.name!r} must return None for a case that meets "
                f"it and otherwise the reason as text, not {reason!r}"
            )
        return reason


def merged(evidences: Iterable[tuple[str, Evidence]]) -> Evidence:
    """The evidence of a check that looked at several cases: it holds if it holds in each.

    One refuted case refutes. Cases outside the hypotheses do not count, unless all are outside.
    """
    found = list(evidences)
    order = (ERROR, REFUTED, INCONCLUSIVE)
    for verdict in order:
        for name, evidence in found:
            if evidence.verdict is verdict:
                return _named(evidence, name)
    inside = [(name, e) for name, e in found if e.verdict is HOLDS]
    if not inside:
        name, evidence = found[0]
        return _named(evidence, name)
    scopes = [e.scope for _, e in inside]
    scope = scopes[0] if len(set(scopes)) == 1 else "; ".join(dict.fromkeys(scopes))
    names = [name for name, _ in inside if name]
    if names:
        scope = f"{scope}: {', '.join(names)}" if scope else ", ".join(names)
    return Evidence(
        HOLDS,
        scope,
        "",
        tuple(dict.fromkeys(fact for _, e in inside for fact in e.assumes)),
        tuple(
            replace(step, name=f"{name}: {step.name}") if name else step
            for name, e in inside
            for step in e.steps
        ),
    )


def _named(evidence: Evidence, name: str) -> Evidence:
    if not name:
        return evidence
    reason = f"at {name}: {evidence.reason}" if evidence.reason else f"at {name}"
    return Evidence(evidence.verdict, evidence.scope, reason, evidence.assumes, evidence.steps)
