"""What a run found, as plain data that turns into JSON and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from theoryverify.claims.ladder import (
    ERROR,
    HOLDS,
    INCONCLUSIVE,
    OUTSIDE,
    REFUTED,
    Rung,
    Verdict,
)

FORMAT = 1
"""The version of a report's JSON form: raised when a key changes its meaning, not when one is added."""


@dataclass(frozen=True)
class ControlResult:
    """How a check judged a wrong formula. Anything but ``refuted`` disqualifies the check."""

    name: str
    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True)
class MutantResult:
    """How a check fared against the automatic mutants of its formula."""

    tried: int = 0
    killed: int = 0
    survived: tuple[str, ...] = ()
    refuted: tuple[tuple[str, str], ...] = ()
    """Of those that were killed: name, and how the check refuted it."""

    def __str__(self) -> str:
        return f"{self.killed}/{self.tried}" if self.tried else "-"


@dataclass(frozen=True)
class CheckResult:
    """The outcome of one check, with its controls."""

    claim: str
    name: str
    rung: Rung
    found: Verdict
    scope: str
    reason: str
    assumes: tuple[str, ...]
    steps: tuple[dict[str, Any], ...]
    seconds: float
    controls: tuple[ControlResult, ...]
    mutants: MutantResult = field(default_factory=MutantResult)

    @property
    def sound(self) -> bool:
        """Whether every control came out refuted."""
        return all(control.verdict is REFUTED for control in self.controls)

    @property
    def verdict(self) -> Verdict:
        """What the check may say: without sound controls, nothing."""
        if self.found in (HOLDS, REFUTED) and not self.sound:
            broken = any(control.verdict is ERROR for control in self.controls)
            return ERROR if broken else INCONCLUSIVE
        return self.found

    @property
    def why(self) -> str:
        """The reason for the verdict, the controls taken in."""
        if self.verdict is not self.found:
            bad = next(c for c in self.controls if c.verdict is not REFUTED)
            return f"control {bad.name!r} came out {bad.verdict}, so the check does not count"
        return self.reason

    def _repr_html_(self) -> str:
        from theoryverify.claims.display import check_html

        return check_html(self)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "rung": str(self.rung),
            "verdict": str(self.verdict),
            "found": str(self.found),
            "scope": self.scope,
            "reason": self.why,
            "assumes": list(self.assumes),
            "steps": [dict(step) for step in self.steps],
            "seconds": round(self.seconds, 4),
            "controls": [asdict(control) for control in self.controls],
            "mutants": {
                "tried": self.mutants.tried,
                "killed": self.mutants.killed,
                "survived": list(self.mutants.survived),
                "refuted": [{"name": name, "reason": why} for name, why in self.mutants.refuted],
            },
        }

    @classmethod
    def from_json(cls, claim: str, data: dict[str, Any]) -> CheckResult:
        return cls(
            claim,
            data["name"],
            Rung(data["rung"]),
            Verdict(data["found"]),
            data["scope"],
            data["reason"],
            tuple(data["assumes"]),
            tuple(data["steps"]),
            data["seconds"],
            tuple(
                ControlResult(c["name"], Verdict(c["verdict"]), c["reason"])
                for c in data["controls"]
            ),
            MutantResult(
                data["mutants"]["tried"],
                data["mutants"]["killed"],
                tuple(data["mutants"]["survived"]),
                tuple((m["name"], m["reason"]) for m in data["mutants"].get("refuted", ())),
            ),
        )


@dataclass(frozen=True)
class ClaimResult:
    """The standing of one claim: its own verdict, and with what it rests on.

    Attributes
    ----------
    own_verdict : Verdict
        From its checks alone.
    verdict : Verdict
        A refuted dependency puts it ``outside``, an undecided one makes it ``inconclusive``.
    hypotheses : tuple of (str, str)
        Names and statements in TeX.
    depends_on : tuple of str
    note : str
    """

    id: str
    paper: str
    title: str
    place: str
    statement: str
    expected: Verdict
    own_verdict: Verdict
    verdict: Verdict
    reason: str
    rung: Rung | None
    assumes: tuple[str, ...]
    checks: tuple[CheckResult, ...]
    hypotheses: tuple[tuple[str, str], ...] = ()
    depends_on: tuple[str, ...] = ()
    note: str = ""

    @property
    def as_expected(self) -> bool:
        return self.verdict is self.expected

    @property
    def seconds(self) -> float:
        return sum(check.seconds for check in self.checks)

    def _repr_html_(self) -> str:
        from theoryverify.claims.display import result_html

        return result_html(self)

    def _repr_latex_(self) -> str:
        from theoryverify.claims.display import mathematics

        return mathematics(self.statement)

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "paper": self.paper,
            "title": self.title,
            "place": self.place,
            "statement": self.statement,
            "verdict": str(self.verdict),
            "own_verdict": str(self.own_verdict),
            "expected": str(self.expected),
            "reason": self.reason,
            "rung": None if self.rung is None else str(self.rung),
            "assumes": list(self.assumes),
            "hypotheses": [{"name": name, "statement": tex} for name, tex in self.hypotheses],
            "depends_on": list(self.depends_on),
            "note": self.note,
            "checks": [check.to_json() for check in self.checks],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ClaimResult:
        return cls(
            data["id"],
            data["paper"],
            data["title"],
            data["place"],
            data["statement"],
            Verdict(data["expected"]),
            Verdict(data["own_verdict"]),
            Verdict(data["verdict"]),
            data["reason"],
            None if data["rung"] is None else Rung(data["rung"]),
            tuple(data["assumes"]),
            tuple(CheckResult.from_json(data["id"], check) for check in data["checks"]),
            tuple((h["name"], h["statement"]) for h in data.get("hypotheses", ())),
            tuple(data.get("depends_on", ())),
            data.get("note", ""),
        )


@dataclass(frozen=True)
class Report:
    """A whole run."""

    claims: tuple[ClaimResult, ...]
    preset: str
    seed: int
    versions: dict[str, str]
    rung: Rung | None = None
    """Where only the checks of one rung were run: which."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Where the claims were put at a user's own parameters: which, as text."""

    @property
    def exit_code(self) -> int:
        """0 all as expected; 4 a check broke; 1 a verdict or control is wrong; 3 only undecided."""
        checks = [check for claim in self.claims for check in claim.checks]
        controls = [control for check in checks for control in check.controls]
        verdicts = [item.verdict for group in (checks, controls, self.claims) for item in group]
        if ERROR in verdicts:
            return 4
        wrong = [c for c in self.claims if not c.as_expected]
        loose = [c for c in controls if c.verdict is not REFUTED]
        if any(c.verdict is not INCONCLUSIVE for c in loose):
            return 1
        if any(c.verdict is not INCONCLUSIVE for c in wrong):
            return 1
        return 3 if wrong or loose else 0

    def _repr_html_(self) -> str:
        from theoryverify.claims.display import report_html

        return report_html(self)

    def _repr_latex_(self) -> str:
        from theoryverify.claims.display import report_latex

        return report_latex(self)

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "seed": self.seed,
            "preset": self.preset,
            "only_rung": None if self.rung is None else str(self.rung),
            "parameters": dict(self.parameters),
            "versions": self.versions,
            "exit_code": self.exit_code,
            "claims": [claim.to_json() for claim in self.claims],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Report:
        """The report that :meth:`to_json` wrote; KeyError, TypeError or ValueError for others."""
        rung = data.get("only_rung")
        return cls(
            tuple(ClaimResult.from_json(claim) for claim in data["claims"]),
            data["preset"],
            data["seed"],
            dict(data["versions"]),
            None if rung is None else Rung(rung),
            dict(data.get("parameters", {})),
        )


def own_verdict(checks: tuple[CheckResult, ...]) -> tuple[Verdict, str]:
    """A claim's verdict from its checks: every one of them must hold for it to hold."""
    for verdict in (ERROR, REFUTED, INCONCLUSIVE):
        for check in checks:
            if check.verdict is verdict:
                return verdict, f"{check.name}: {check.why}"
    if any(check.verdict is HOLDS for check in checks):
        return HOLDS, ""
    return OUTSIDE, checks[0].reason if checks else "not examined"
