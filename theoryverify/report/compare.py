"""What changed since an earlier report: verdicts, rungs and checks, gained and lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from theoryverify.claims.ladder import HOLDS, REFUTED, Rung, Verdict
from theoryverify.claims.results import ClaimResult, Report
from theoryverify.errors import InputError

_DECIDED = (HOLDS, REFUTED)


@dataclass(frozen=True)
class Change:
    """One difference; ``kind`` is ``lost``, ``gained`` or ``changed``."""

    claim: str
    kind: str
    text: str

    def to_json(self) -> dict[str, Any]:
        return {"claim": self.claim, "kind": self.kind, "text": self.text}


def require_comparable(
    old: Report, preset: str, rung: Rung | None, parameters: Mapping[str, str]
) -> None:
    """Like with like, before long work.

    Raises
    ------
    InputError
        If the earlier report is of another preset, of other rungs, or at other parameters.
    """
    if dict(old.parameters) != dict(parameters):
        raise InputError(
            f"the earlier report is at {_at(old.parameters)} and this run at {_at(parameters)}; "
            "compare like with like"
        )
    if old.preset != preset:
        raise InputError(
            f"the earlier report is of preset {old.preset!r} and this run of {preset!r}; compare "
            "runs of one preset"
        )
    if old.rung != rung:
        raise InputError(
            f"the earlier report has {_rungs(old.rung)} and this run {_rungs(rung)}; compare like "
            "with like"
        )


def _at(parameters: Mapping[str, str]) -> str:
    named = ", ".join(f"{name} {value}" for name, value in parameters.items())
    return named or "the claims' own parameters"


def _rungs(rung: Rung | None) -> str:
    return "every rung" if rung is None else f"only rung {rung!s}"


def changes(old: Report, new: Report, gone: frozenset[str] = frozenset()) -> list[Change]:
    """Claim by claim, in the order of the new report.

    Parameters
    ----------
    old, new : Report
        Only claims that the new run covers are compared.
    gone : frozenset of str
        Claims of the old report that the new run should have covered but that exist no more.
    """
    before = {claim.id: claim for claim in old.claims}
    found = [
        Change(name, "lost", f"the claim is gone; it was {_standing(before[name])}")
        for name in before
        if name in gone
    ]
    for claim in new.claims:
        if claim.id not in before:
            found.append(Change(claim.id, "gained", f"new: {_standing(claim)}"))
        else:
            found += _between(before[claim.id], claim)
    return found


def lost(found: list[Change]) -> bool:
    """Whether a verdict or a rung was lost."""
    return any(change.kind == "lost" for change in found)


def _standing(claim: ClaimResult) -> str:
    return str(claim.verdict) + (f", {claim.rung}" if claim.rung else "")


def _between(old: ClaimResult, new: ClaimResult) -> list[Change]:
    found = []

    def note(kind: str, text: str) -> None:
        found.append(Change(new.id, kind, text))

    if old.statement != new.statement:
        note("changed", "its statement reads differently")
    if old.expected is not new.expected:
        note("changed", f"expected was {old.expected}, is {new.expected}")
    if old.verdict is not new.verdict:
        why = f" ({new.reason})" if new.reason else ""
        kind = _kind(old.verdict in _DECIDED, new.verdict in _DECIDED)
        if old.as_expected and not new.as_expected:
            kind = "lost"
        elif new.as_expected and not old.as_expected:
            kind = "gained"
        note(kind, f"verdict was {old.verdict}, is {new.verdict}{why}")
    before, after = _rungs_reached(old), _rungs_reached(new)
    for rung in Rung:
        if (rung in before) != (rung in after):
            kind = "lost" if rung in before else "gained"
            note(kind, f"rung {rung} {'no longer reached' if kind == 'lost' else 'reached'}")
    for fact in new.assumes:
        if fact not in old.assumes:
            note("changed", f"now given: {fact}")
    for fact in old.assumes:
        if fact not in new.assumes:
            note("changed", f"no longer needed: {fact}")
    found += _controls(old, new)
    return found


def _kind(was: bool, now: bool) -> str:
    return {(True, False): "lost", (False, True): "gained"}.get((was, now), "changed")


def _rungs_reached(claim: ClaimResult) -> set[Rung]:
    """The rungs of the checks that decided something and count."""
    return {check.rung for check in claim.checks if check.verdict in _DECIDED}


def _controls(old: ClaimResult, new: ClaimResult) -> list[Change]:
    def bad(claim: ClaimResult) -> dict[str, Verdict]:
        return {
            f"{check.name}/{control.name}": control.verdict
            for check in claim.checks
            for control in check.controls
            if control.verdict is not REFUTED
        }

    before, after = bad(old), bad(new)
    lost_ones = [
        Change(new.id, "lost", f"control {name} was refuted, is {verdict}")
        for name, verdict in after.items()
        if name not in before
    ]
    regained = [
        Change(new.id, "gained", f"control {name} is refuted")
        for name in before
        if name not in after
    ]
    return lost_ones + regained


def changes_text(found: list[Change], since: str) -> str:
    """Lines for a terminal."""
    if not found:
        return f"since {since}: no verdict, rung, control or assumption changed"
    signs = {"lost": "-", "gained": "+", "changed": "~"}
    lines = [f"since {since}:"]
    lines += [f"  {signs[change.kind]} {change.claim}: {change.text}" for change in found]
    return "\n".join(lines)
