"""A claim at the parameters that a user names: ``--law``, ``--depth``, ``--link``, ``--rho``, ...

A check with cases says through :class:`At` which of these a case is made from. Placed at the user's
parameters, it looks at that one case; its hypotheses are tested there first. Proofs without cases
speak for all parameters and stay as they are, but are asked only where the hypotheses are met.
Enclosures and numbers without cases are of places of their own, and say nothing there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from theoryverify.claims.claim import Claim
from theoryverify.claims.ladder import PROVED
from theoryverify.errors import InputError


def _law(text: str) -> Any:
    from theoryverify.exact.law_grammar import parse_law

    return parse_law(text)


def _depth(text: str) -> int:
    from theoryverify.exact.rationals import positive_integer

    return positive_integer(text, "depth", most=10**9)


def _link(text: str) -> str:
    from theoryverify.exact.links import link

    if link(text).constant:  # what is no link is refused with a message of its own
        raise InputError(f"the link {text[:60]!r} is constant: it has no exponents")
    return text


def _number(name: str) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        from theoryverify.exact.rationals import rational

        return rational(text, name)

    return read


def _scale(text: str) -> Any:
    value = _number("rho")(text)
    if value <= 0:
        raise InputError(f"rho = {value} must be positive")
    return value


OPTIONS: dict[str, tuple[str, str, Callable[[str], Any]]] = {
    "law": ("LAW", "law of Z, such as 'uniform(2,5)'", _law),
    "depth": ("T", "depth", _depth),
    "beta0": ("B0", "where the two-parameter flow starts (-1/Zmax)", _number("beta0")),
    "link": ("LINK", "link function, such as 'He3(z)/sqrt(6)'", _link),
    "rho": ("R", "scale of the gate", _scale),
    "b": ("B", "bias of the gate", _number("b")),
}
"""Name to placeholder, help and parser."""


@dataclass(frozen=True)
class At:
    """How a check's case is made from named parameters.

    Parameters
    ----------
    build : callable
        From the parameters, as keywords, to a case; ``None`` where the check cannot be asked there
        (a law without rational moments, say).
    needs, takes : tuple of str
        Parameters that must be there, and those that may be. A check reads a depth that is no part
        of its case from :meth:`theoryverify.claims.claim.Context.depths`.
    facts : callable, optional
        From the case and the parameters to numbers that a reader wants beside the verdict, such as
        ``T'(β_0)``.
    """

    build: Callable[..., Any]
    needs: tuple[str, ...]
    takes: tuple[str, ...] = ()
    facts: Callable[[Any, Mapping[str, Any]], dict[str, str]] = lambda case, values: {}

    @property
    def accepts(self) -> tuple[str, ...]:
        return (*self.needs, *self.takes)


@dataclass(frozen=True)
class Placed:
    """A claim placed at parameters: its checks there, and what they look at."""

    claim: Claim
    cases: tuple[Any, ...]
    facts: tuple[Callable[[], dict[str, str]], ...]

    def hypotheses(self) -> list[dict[str, Any]]:
        """Each hypothesis, whether it is met at every case, and if not, why."""
        rows = []
        for hypothesis in self.claim.hypotheses:
            reasons = [reason for case in self.cases if (reason := hypothesis.failure(case))]
            rows.append(
                {
                    "name": hypothesis.name,
                    "met": not reasons,
                    "reason": reasons[0] if reasons else "",
                }
            )
        return rows

    def known(self) -> dict[str, str]:
        """The facts of its checks."""
        found: dict[str, str] = {}
        for facts in self.facts:
            found |= facts()
        return found


def parsed(given: Mapping[str, str]) -> dict[str, Any]:
    """The values of parameters given as text.

    Raises
    ------
    InputError
        For an unknown name or a text that its parser refuses.
    """
    for name in given:
        if name not in OPTIONS:
            raise InputError(f"parameter {name!r} is unknown; there are {', '.join(OPTIONS)}")
    return {name: OPTIONS[name][2](text) for name, text in given.items()}


def understood(claim: Claim) -> tuple[str, ...]:
    """The parameters that some check of the claim takes."""
    names = [name for check in claim.checks if check.at for name in check.at.accepts]
    return tuple(dict.fromkeys(names))


def placed(claim: Claim, given: Mapping[str, str]) -> Placed:
    """The claim at these parameters.

    Raises
    ------
    InputError
        If a parameter means nothing to any of its checks, one is missing, or no check can be put
        there.
    """
    values = parsed(given)
    known = understood(claim)
    strange = [name for name in values if name not in known]
    if strange:
        takes = f"takes {_options(known)}" if known else "takes none: its checks have no such cases"
        raise InputError(f"claim {claim.id} has no use for {_options(strange)}; it {takes}")
    here: dict[str, Any] = {}
    facts = []
    for check in claim.checks:
        at = check.at
        if at is None or not set(at.needs) <= set(values) <= set(at.accepts):
            continue  # a check that ignores a parameter does not look at this point
        case = at.build(**values)
        if case is not None:
            here[check.name] = case
            facts.append(partial(at.facts, case, values))
    if not here:
        raise InputError(_cannot(claim, given))
    first = next(iter(here.values()))
    there = []
    for check in claim.checks:
        general = check.at is None and not check.cases and check.rung is PROVED
        if check.name in here or general:
            # What speaks for all parameters speaks here too, if the hypotheses are met.
            case = here.get(check.name, first)
            there.append(replace(check, cases=(case,), spare=check.cases, mutate=False))
    return Placed(replace(claim, checks=there), tuple(dict.fromkeys(here.values())), tuple(facts))


def _cannot(claim: Claim, given: Mapping[str, str]) -> str:
    needs = [set(c.at.needs) for c in claim.checks if c.at and set(given) <= set(c.at.accepts)]
    missing = [sorted(names - set(given)) for names in needs if names - set(given)]
    if missing and len(missing) == len(needs):
        return f"claim {claim.id} also needs {_options(min(missing, key=len))} beside {_options(given)}"
    shown = ", ".join(f"--{name} {text}" for name, text in given.items())
    kinds = {_options(check.at.accepts) for check in claim.checks if check.at}
    return (
        f"no check of claim {claim.id} can be put at {shown} (its checks take {'; '.join(kinds)})"
    )


def _options(names: Collection[str]) -> str:
    return ", ".join(f"--{name}" for name in names)


def placed_selection(
    claims: Mapping[str, Claim], asked: Collection[str], given: Mapping[str, str], strict: bool
) -> tuple[dict[str, Claim], dict[str, Placed]]:
    """The asked claims at the parameters, and what they rest on, left unexamined.

    Parameters
    ----------
    claims : mapping
        With all that they depend on.
    asked : collection of str
    given : mapping
    strict : bool
        Whether a claim that cannot be placed is refused (it was named) or left out (its paper was).

    Returns
    -------
    claims : dict
        For the runner: what they rest on has no checks, and is named under ``assumes``.
    placed : dict
        By id.
    """
    found: dict[str, Placed] = {}
    parsed(given)  # bad values are refused, whatever is asked
    for name in [key for key in claims if key in asked]:
        try:
            found[name] = placed(claims[name], given)
        except InputError:
            if strict:
                raise
    if not found:
        raise InputError(f"no claim of the paper can be placed at {_options(given)}")
    rest = "not examined at these parameters"
    every = {
        key: found[key].claim
        if key in found
        else replace(claim, checks=[], not_checked=claim.not_checked or rest)
        for key, claim in claims.items()
    }
    return every, found
