"""How claims, results and steps of derivations show themselves in a notebook.

HTML for the screen, LaTeX for print. Everything is escaped, and nothing here needs a notebook or a
template engine; a statement stands between dollars, which the notebook typesets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from theoryverify.claims.claim import Claim
    from theoryverify.claims.paper import DerivationStep
    from theoryverify.claims.results import CheckResult, ClaimResult, Report

_ROWS = 200
_MARKS = {"holds": "✓", "refuted": "✗", "inconclusive": "?", "outside": "○", "error": "!"}
_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def tex_text(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return "".join(_TEX.get(letter, letter) for letter in " ".join(text.split()))


def mathematics(tex: str) -> str:
    """TeX as displayed mathematics; a dollar in it cannot end it."""
    return "$\\displaystyle " + re.sub(r"(?<!\\)\$", r"\\$", " ".join(tex.split())) + "$"


def claim_html(claim: Claim) -> str:
    """Id, title, place, statement, hypotheses, dependencies, and which rungs its checks stand on."""
    rows = [
        ("place", claim.place),
        ("hypotheses", ", ".join(hypothesis.name for hypothesis in claim.hypotheses)),
        ("rests on", ", ".join(claim.depends_on)),
        ("checks", ", ".join(f"{check.name} ({check.rung})" for check in claim.checks)),
        ("not checked", claim.not_checked),
        ("note", claim.note),
    ]
    return _card(claim.id, claim.title, claim.statement, rows)


def result_html(claim: ClaimResult) -> str:
    """The standing of a claim, check by check."""
    rows = [
        ("verdict", _verdict(claim)),
        ("reason", claim.reason),
        ("given", "; ".join(claim.assumes)),
        *((f"check {check.name}", _check(check)) for check in claim.checks),
    ]
    return _card(claim.id, claim.title, claim.statement, rows)


def check_html(check: CheckResult) -> str:
    """One check: verdict, scope, and how each control came out."""
    rows = [
        (f"control {control.name}", f"{control.verdict}: {control.reason}")
        for control in check.controls
    ]
    return f"<b>{escape(check.name)}</b>: {escape(_check(check))}" + _table(rows)


def report_html(report: Report) -> str:
    """A line of counts and a table of claims."""
    cells = [
        (claim.id, claim.title, claim.place, _verdict(claim), _rung(claim))
        for claim in report.claims[:_ROWS]
    ]
    head = "".join(
        f"<th>{name}</th>" for name in ("claim", "statement", "place", "verdict", "rung")
    )
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in cells
    )
    rest = len(report.claims) - _ROWS
    more = f"<p>and {rest} more</p>" if rest > 0 else ""
    return f"<p>{escape(_counts(report))}</p><table><tr>{head}</tr>{body}</table>{more}"


def report_latex(report: Report) -> str:
    """The same as a tabular."""
    rows = [
        " & ".join(map(tex_text, (claim.id, claim.place, str(claim.verdict), _rung(claim))))
        for claim in report.claims[:_ROWS]
    ]
    body = " \\\\\n".join(["claim & place & verdict & rung", *rows])
    return f"{tex_text(_counts(report))}\n\n\\begin{{tabular}}{{llll}}\n{body}\n\\end{{tabular}}"


def step_latex(step: DerivationStep) -> str:
    """The formula of a step; empty without one."""
    from theoryverify.claims.derive import shown

    if step.formula is None:
        return ""
    if isinstance(step.formula, str):
        return tex_text(step.formula)
    return mathematics(shown(step.formula, latex=True))


def step_html(step: DerivationStep) -> str:
    """Mark, text and formula."""
    mark = {True: "✓ ", False: "✗ ", None: ""}[step.holds]
    formula = step.formula if isinstance(step.formula, str) else step_latex(step)
    return f"<p>{mark}{escape(step.text)}</p>" + (f"<p>{escape(formula)}</p>" if formula else "")


def _card(name: str, title: str, statement: str, rows: Iterable[tuple[str, str]]) -> str:
    head = f"<b>{escape(name)}</b>" + (f": {escape(title)}" if title != statement else "")
    return f"<div><p>{head}</p><p>{escape(mathematics(statement))}</p>{_table(rows)}</div>"


def _table(rows: Iterable[tuple[str, str]]) -> str:
    body = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows if text
    )
    return f"<table>{body}</table>" if body else ""


def _verdict(claim: ClaimResult) -> str:
    text = f"{_MARKS[claim.verdict]} {claim.verdict}"
    if claim.verdict is not claim.expected:
        return f"{text}, expected {claim.expected}"
    return text


def _rung(claim: ClaimResult) -> str:
    return f"{claim.rung}{' given' if claim.assumes else ''}" if claim.rung else ""


def _check(check: CheckResult) -> str:
    refuted = sum(control.verdict == "refuted" for control in check.controls)
    text = (
        f"{check.verdict} ({check.rung}); {check.scope}; controls {refuted}/{len(check.controls)}"
    )
    return text + (f"; mutants {check.mutants}" if check.mutants.tried else "")


def _counts(report: Report) -> str:
    fine = sum(claim.as_expected for claim in report.claims)
    run = f"preset {report.preset}, seed {report.seed}"
    return f"{fine} of {len(report.claims)} claims as expected; {run}"
