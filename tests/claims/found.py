"""Shared by the tests of searches: what was found is written to a file, and the file is run."""

from theoryverify.claims.claim import Context
from theoryverify.claims.counterexample import counterexample_source
from theoryverify.claims.runner import run_here
from theoryverify.claims.search import Found, Outcome


def certified(outcome: Outcome) -> Found:
    """What was found, after its file has been run and came out as expected."""
    found = outcome.found
    assert found is not None
    assert str(found.result.verdict) == "refuted"
    names: dict[str, object] = {}
    exec(compile(counterexample_source(outcome), "found", "exec"), names)  # our own text
    claims = names["paper"].claims  # type: ignore[attr-defined]
    results = run_here(claims, Context())
    for claim in claims:
        result = results[claim.id, claim.checks[0].name]
        assert result.verdict is claim.expected
        assert result.sound
    assert len(claims) == 2  # the counterexample, and a case where the statement holds
    return found
