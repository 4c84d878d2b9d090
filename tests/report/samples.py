"""Reports made by hand: a plain one, and one full of what a page must not believe."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from theoryverify.claims.ladder import (
    CERTIFIED,
    ERROR,
    HOLDS,
    INCONCLUSIVE,
    OUTSIDE,
    PROVED,
    REFUTED,
    SIMULATED,
    Rung,
    Verdict,
)
from theoryverify.claims.results import (
    CheckResult,
    ClaimResult,
    ControlResult,
    MutantResult,
    Report,
)

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'`&|</style>{{7*7}}\x00\x0b"


def check(
    claim: str,
    name: str = "identity",
    rung: Rung = PROVED,
    found: Verdict = HOLDS,
    control: Verdict = REFUTED,
    **changes: Any,
) -> CheckResult:
    steps = ({"name": "left = right", "holds": found is HOLDS, "shown": "0.2784[51, 52]"},)
    result = CheckResult(
        claim,
        name,
        rung,
        found,
        "every T",
        "" if found is HOLDS else "left = right: they differ",
        ("a strong law",),
        steps,
        0.25,
        (ControlResult("twice", control, "left = right: 1 and 2"),),
        MutantResult(2, 1, ("2(x) (holds)",), (("-(x)", "they differ at x = 1"),)),
    )
    return replace(result, **changes)


def claim(
    name: str,
    *checks: CheckResult,
    verdict: Verdict = HOLDS,
    expected: Verdict = HOLDS,
    **changes: Any,
) -> ClaimResult:
    checks = checks or (check(name),)
    rungs = [item.rung for item in checks if item.verdict in (HOLDS, REFUTED)]
    result = ClaimResult(
        name,
        name.partition(".")[0],
        f"title of {name}",
        "Theorem 1",
        r"\alpha^*_T \to \frac{2}{\underline Z + \overline Z}",
        expected,
        verdict,
        verdict,
        "" if verdict is HOLDS else "as found",
        max(rungs, key=lambda rung: rung.height) if rungs else None,
        ("a strong law",),
        tuple(checks),
        (("Assumption 6.1", r"\underline Z < \overline Z"),),
    )
    return replace(result, **changes)


def plain() -> Report:
    """All five verdicts, all as expected but for what the names say."""
    simulated = check(
        "toy.C",
        "model",
        SIMULATED,
        steps=(
            {
                "name": "risk",
                "holds": True,
                "shown": "mean in [0.21, 0.22] (error 1e-09, n = 378), allowed [0.2, 0.23]",
            },
            *({"name": f"step {i}", "holds": True, "shown": ""} for i in range(14)),
        ),
        controls=(
            ControlResult(
                "close",
                REFUTED,
                "risk: mean in [0.24, 0.25] (error 1e-09, n = 50), allowed [0.2, 0.23]",
            ),
        ),
    )
    return Report(
        (
            claim("toy.A"),
            claim("toy.B", depends_on=("toy.A",), note="mind the gap"),
            claim("toy.C", simulated, depends_on=("toy.A", "toy.B", "other.X")),
            claim(
                "toy.C.atom",
                check("toy.C.atom", found=REFUTED, rung=CERTIFIED),
                verdict=REFUTED,
                expected=REFUTED,
                depends_on=("toy.C",),
            ),
            claim("toy.D", verdict=OUTSIDE, expected=OUTSIDE, rung=None),
        ),
        "quick",
        0,
        {"python": "3.11", "theoryverify": "0.1.0"},
    )


def troubled() -> Report:
    """An undecided claim, an accepted control, a broken check, a wrong verdict."""
    return Report(
        (
            claim("toy.A", check("toy.A", found=INCONCLUSIVE), verdict=INCONCLUSIVE),
            claim("toy.B", check("toy.B", control=HOLDS), verdict=INCONCLUSIVE),
            claim("toy.C", check("toy.C", found=ERROR), verdict=ERROR, rung=None),
            claim("toy.D", check("toy.D", found=REFUTED), verdict=REFUTED),
        ),
        "quick",
        7,
        {"python": "3.11"},
    )


def hostile() -> Report:
    """Markup wherever a paper's file can put text."""
    bad = check(
        "toy.A",
        HOSTILE,
        scope=HOSTILE,
        reason=HOSTILE,
        assumes=(HOSTILE,),
        steps=({"name": HOSTILE, "holds": False, "shown": HOSTILE * 4},),
        controls=(ControlResult(HOSTILE, HOLDS, HOSTILE),),
        mutants=MutantResult(2, 1, (HOSTILE,), ((HOSTILE, HOSTILE),)),
    )
    statements = (
        HOSTILE,
        r"\text{" + HOSTILE + "}",
        r"\href{javascript:alert(1)}{x}",
        r"\unicode{x3C}script\unicode{x3E}",
        r"\frac{1",
        r"\nosuchcommand{x}",
        "{" * 3000,
    )
    return Report(
        tuple(
            claim(
                f"toy.A{i}",
                replace(bad, claim=f"toy.A{i}"),
                statement=tex,
                title=HOSTILE,
                place=HOSTILE,
                note=HOSTILE,
                reason=HOSTILE,
                assumes=(HOSTILE,),
                hypotheses=((HOSTILE, tex),),
                depends_on=(HOSTILE,),
            )
            for i, tex in enumerate(statements)
        ),
        "quick",
        0,
        {HOSTILE: HOSTILE},
    )
