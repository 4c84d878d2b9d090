"""What the page shows, gathered from a report and from the papers that are installed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from markupsafe import Markup

from theoryverify.claims.derive import DerivationFailed, decided_steps, shown
from theoryverify.claims.discovery import options_for
from theoryverify.claims.ladder import HOLDS, OUTSIDE, REFUTED
from theoryverify.claims.paper import Derivation, DerivationStep
from theoryverify.claims.results import CheckResult, ClaimResult, Report
from theoryverify.claims.runner import no_check_runs, runs
from theoryverify.report.commands import rerun
from theoryverify.report.html.graph import Node, graph
from theoryverify.report.html.mathml import Formula, formula


@dataclass(frozen=True)
class DerivationView:
    """A derivation, recomputed; ``steps`` are text, formula or ``None``, and whether it holds."""

    name: str
    title: str
    claims: tuple[str, ...]
    steps: tuple[tuple[str, Formula | None, bool | None], ...]
    command: str
    broken: str = ""


@dataclass(frozen=True)
class Unchecked:
    """A statement of the paper that no check covers, or none that was run."""

    id: str
    title: str
    place: str
    statement: Formula
    reason: str
    depends_on: tuple[str, ...]


@dataclass(frozen=True)
class ClaimView:
    """A claim with its links to the others."""

    result: ClaimResult
    statement: Formula
    hypotheses: tuple[tuple[str, Formula], ...]
    needed_by: tuple[str, ...]
    counterexamples: tuple[str, ...]
    derivations: tuple[str, ...]
    command: str


@dataclass(frozen=True)
class PaperView:
    """A section of the page."""

    name: str
    title: str
    source: str
    claims: tuple[ClaimView, ...]
    unchecked: tuple[Unchecked, ...]
    derivations: tuple[DerivationView, ...]
    graph: Markup
    tally: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Source:
    """What an installed paper says of itself; empty for a report of a paper that is not here."""

    title: str = ""
    source: str = ""
    claims: tuple[Any, ...] = ()
    derivations: tuple[Derivation, ...] = ()


def gather(report: Report) -> list[PaperView]:
    """One view a paper, in the report's order. Its derivations are run again."""
    names = dict.fromkeys(claim.paper for claim in report.claims)
    return [_paper(name, report) for name in names]


def _paper(name: str, report: Report) -> PaperView:
    results = [claim for claim in report.claims if claim.paper == name]
    known = {claim.id for claim in report.claims}
    here = _installed(name)
    unchecked = _unchecked(here, known, report)
    derivations = _derivations(name, here, {claim.id for claim in results})
    needed: dict[str, list[str]] = {}
    for claim in report.claims:
        for other in claim.depends_on:
            needed.setdefault(other, []).append(claim.id)
    views = tuple(
        ClaimView(
            claim,
            formula(claim.statement),
            tuple((label, formula(tex)) for label, tex in claim.hypotheses),
            tuple(needed.get(claim.id, ())),
            counterexamples(claim, results),
            tuple(d.name for d in derivations if claim.id in d.claims),
            rerun(claim.id, report),
        )
        for claim in results
    )
    return PaperView(
        name,
        here.title,
        here.source,
        views,
        unchecked,
        derivations,
        graph(_nodes(results, unchecked, name), here.title or name),
        dict(Counter(str(claim.verdict) for claim in results)),
    )


def counterexamples(claim: ClaimResult, others: Sequence[ClaimResult]) -> tuple[str, ...]:
    """Claims below this one in the order of ids that show where it fails.

    They say "counterexample" in their place, or are expected to fail or not to speak.
    """
    below = [c for c in others if c.id.startswith(f"{claim.id}.")]
    return tuple(
        c.id
        for c in below
        if "counterexample" in c.place.lower() or c.expected in (REFUTED, OUTSIDE)
    )


def refuted_controls(check: CheckResult) -> str:
    """``3/3``: how many controls came out refuted."""
    return f"{sum(c.verdict is REFUTED for c in check.controls)}/{len(check.controls)}"


def _installed(name: str) -> _Source:
    from theoryverify.claims.discovery import papers
    from theoryverify.claims.registry import own_claims
    from theoryverify.errors import InputError

    paper = papers().get(name)
    if paper is None:
        return _Source()
    try:
        claims = tuple(own_claims(paper).values())
    except InputError:
        return _Source(paper.title, paper.source)
    try:
        derivations = tuple(paper.load("derivations"))
    except InputError as error:  # said on the page, as that of a broken derivation is
        derivations = (Derivation("derivations", "Its derivations", partial(_raised, error)),)
    return _Source(paper.title, paper.source, claims, derivations)


def _raised(error: Exception) -> Iterator[DerivationStep]:
    raise error


def _unchecked(here: _Source, known: set[str], report: Report) -> tuple[Unchecked, ...]:
    """Statements of which no check was run, where the whole paper was."""
    wanted = [
        claim.id
        for claim in here.claims
        if any(runs(check, report.preset, report.rung) for check in claim.checks)
    ]
    if not set(wanted) <= known:
        return ()
    left = f"not run: {no_check_runs(report.preset, report.rung)}"
    return tuple(
        Unchecked(
            claim.id,
            claim.title,
            claim.place,
            formula(claim.statement),
            claim.not_checked or left,
            tuple(claim.depends_on),
        )
        for claim in here.claims
        if claim.id not in known
    )


def _derivations(paper: str, here: _Source, known: set[str]) -> tuple[DerivationView, ...]:
    """Those that derive a claim of the report, and those that name none, if any of theirs ran."""
    return tuple(
        _derivation(derivation, f"theoryverify derive{options_for(paper)} {derivation.name}")
        for derivation in here.derivations
        if not derivation.claims or known.intersection(derivation.claims)
    )


def _derivation(derivation: Derivation, command: str) -> DerivationView:
    steps: list[tuple[str, Formula | None, bool | None]] = []
    broken = ""
    try:
        for step in decided_steps(derivation):
            steps.append((step.text, _typeset(step.formula), step.holds))
    except DerivationFailed as error:  # shown as such; it stops no page
        broken = str(error)
    claims = tuple(derivation.claims)
    return DerivationView(derivation.name, derivation.title, claims, tuple(steps), command, broken)


def _typeset(value: Any) -> Formula | None:
    if isinstance(value, str):
        return Formula(Markup("<code>{}</code>").format(value))
    return None if value is None else formula(shown(value, latex=True))


def _nodes(
    results: Sequence[ClaimResult], unchecked: Sequence[Unchecked], paper: str
) -> list[Node]:
    def label(name: str) -> str:
        return name.removeprefix(f"{paper}.")

    nodes = [
        Node(
            claim.id,
            label(claim.id),
            claim.title,
            str(claim.verdict),
            "" if claim.rung is None else str(claim.rung),
            claim.as_expected,
            claim.depends_on,
        )
        for claim in results
    ]
    nodes += [
        Node(row.id, label(row.id), row.title, "unchecked", "", True, row.depends_on)
        for row in unchecked
    ]
    return nodes


def summary_counts(report: Report) -> dict[str, str]:
    """The figures at the top of the page."""
    checks = [check for claim in report.claims for check in claim.checks]
    controls = [control for check in checks for control in check.controls]
    refuted = sum(control.verdict is REFUTED for control in controls)
    tried = sum(check.mutants.tried for check in checks)
    killed = sum(check.mutants.killed for check in checks)
    fine = sum(claim.as_expected for claim in report.claims)
    holding = sum(claim.verdict is HOLDS for claim in report.claims)
    return {
        "claims as expected": f"{fine}/{len(report.claims)}",
        "claims that hold": str(holding),
        "checks": str(len(checks)),
        "controls refuted": f"{refuted}/{len(controls)}" if controls else "–",
        "mutants killed": f"{killed}/{tried}" if tried else "–",
    }
