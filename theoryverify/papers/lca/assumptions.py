"""Assumption 6.1 as objects: what the paper's Section 6 asks of the law of Z."""

from __future__ import annotations

from fractions import Fraction

from theoryverify.errors import HypothesisError, InputError
from theoryverify.exact.laws import Law

ASSUMPTION = "Assumption 6.1"


def failure(law: Law) -> str | None:
    """Why the law breaks Assumption 6.1, or ``None`` if it meets it.

    The assumption is used through four facts: ``Z = 1+|m|² >= 1``, ``P(m = 0) = 0``, bounded
    support (every :class:`Law` has one), and a law of ``|m|`` that is not a point mass.
    """
    if law.lower < 1:
        return f"{law} has mass below 1, but Z = 1+|m|² is at least 1"
    if law.atom(Fraction(1)) > 0:
        return f"{law} has an atom at Z = 1, so P(m = 0) = {law.atom(Fraction(1))} is not 0"
    if law.degenerate:
        return f"{law} is a point mass: ess inf |m|² < ess sup |m|² is needed"
    return None


def require(law: object) -> Law:
    """The law itself, if it meets Assumption 6.1.

    Raises
    ------
    HypothesisError
        With the reason, otherwise. InputError if it is no law.
    """
    if not isinstance(law, Law):
        raise InputError(f"expected a law such as Uniform(2, 5), not {law!r}")
    reason = failure(law)
    if reason is not None:
        raise HypothesisError(ASSUMPTION, reason)
    return law
