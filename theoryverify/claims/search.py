"""Looking for counterexamples: at random, then downhill, then certified, then made small.

A :class:`Search` says what can be searched of a claim: a space of cases, a *margin* (a float that is
negative where the statement looks violated, and falls towards a violation), and a *judge*: a check
function that decides a case on its rung, in exact arithmetic or balls. Only the judge refutes; the
float margin merely points. Hypotheses restrict the cases, and each can be dropped by name.

Finding nothing is no evidence that the statement holds: a result says how many cases of which
domain were looked at, and no more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from theoryverify.claims.claim import Claim, Context
from theoryverify.claims.discovery import paper_named, unknown_claim
from theoryverify.claims.examine import examine, run_check
from theoryverify.claims.ladder import ERROR, HOLDS, REFUTED, Evidence, Hypothesis, Rung
from theoryverify.claims.paper import Paper
from theoryverify.claims.registry import own_claims, require_claims
from theoryverify.claims.results import CheckResult
from theoryverify.claims.spaces import Space
from theoryverify.errors import InputError, UndecidedError

_BATCH = 16
"""Cases drawn before the best of them is followed downhill."""
_PATIENCE = 40
"""Moves without gain after which a descent ends."""
_REPAIRS = 300
"""Moves that may mend a shrunken case that is no violation any more."""
_DRAWS = 500
"""Draws for one case that meets the hypotheses."""
_KEPT = 12
"""Simple cases without a violation that are remembered."""
_SHRINKING = 6000
"""Cases looked at, at most, to make a found one smaller."""


@dataclass(frozen=True)
class Search:
    """How a claim can be searched for a violation.

    Parameters
    ----------
    claim : str
        Id of the claim.
    name : str
        Of this search, unique for the claim.
    statement : str
        What is searched, in plain words: it may be one consequence of the claim.
    space : Space
        The cases. ``str(space)`` is shown to the reader.
    margin : callable
        From a case to a float: negative where the statement looks violated, small near that. NaN,
        or a raised ``InputError`` or ``UndecidedError``, where it cannot be evaluated.
    judge : callable
        A check function ``(formula, case, examination) -> Evidence``; see
        :class:`theoryverify.claims.claim.Check`. It alone decides.
    rung : Rung
        Of the judge.
    formula, controls
        What the judge examines, and wrong versions of it that it must refute at a counterexample.
    hypotheses : sequence of Hypothesis
        Those whose predicate can be tested on a case; each can be dropped.
    budget : int
        Cases looked at unless the user says otherwise.
    """

    claim: str
    name: str
    statement: str
    space: Space
    margin: Callable[[Any], float]
    judge: Callable[..., Evidence]
    rung: Rung
    formula: Any
    controls: Mapping[str, Any]
    hypotheses: Sequence[Hypothesis] = ()
    budget: int = 2000

    def kept(self, without: Collection[str] = ()) -> tuple[Hypothesis, ...]:
        """The hypotheses that stand when some are dropped.

        Raises
        ------
        InputError
            If a name is none of them.
        """
        names = [hypothesis.name for hypothesis in self.hypotheses]
        for name in without:
            if name not in names:
                known = ", ".join(map(repr, names)) or "none"
                raise InputError(
                    f"hypothesis {name!r} cannot be dropped from the search "
                    f"{self.claim}/{self.name}; it can drop: {known}"
                )
        return tuple(h for h in self.hypotheses if h.name not in without)

    def statement_claim(
        self, id: str, case: Any, *, without: Collection[str] = (), **more: Any
    ) -> Claim:
        """The statement at one case, as a claim with one check: the judge."""
        claim = Claim(
            id,
            more.pop("place", f"{self.claim}, searched"),
            more.pop("statement", _as_tex(self.statement)),
            hypotheses=self.kept(without),
            **more,
        )
        claim.check(
            self.name,
            self.rung,
            formula=self.formula,
            controls=self.controls,
            cases=(case,),
            mutate=False,
        )(self.judge)
        return claim


def _as_tex(words: str) -> str:
    """Plain words as the TeX that a claim's statement is."""
    plain = words.replace("\\", "").replace("{", "(").replace("}", ")")
    return rf"\text{{{plain}}}"


@dataclass(frozen=True)
class Found:
    """A certified violation.

    Attributes
    ----------
    case, shown
        The minimised case, and its text.
    first : str
        The case as it was first found.
    result : CheckResult
        The judge's evidence with its controls; ``refuted``, and the controls too.
    breaks : tuple of str
        Which dropped hypotheses the case breaks, with the reason; empty if it meets them all.
    holds_at : object or None
        Another case of the space, meeting every hypothesis, at which the same judge says ``holds``:
        without one, a judge that refutes whatever it sees would go unnoticed.
    """

    case: Any
    first: str
    result: CheckResult
    margin: float
    breaks: tuple[str, ...]
    holds_at: Any | None

    @property
    def shown(self) -> str:
        return str(self.case)

    @property
    def why(self) -> str:
        """The judge's reason, without the case, which stands beside it."""
        return self.result.why.removeprefix(f"at {self.shown}: ")


@dataclass(frozen=True)
class Outcome:
    """What a search did and found.

    Attributes
    ----------
    budget : int
        Cases that it could look at.
    trials : int
        Cases whose margin was evaluated until something was found, or the budget spent.
    shrinking : int
        Cases looked at afterwards, to make what was found smaller.
    rejected : int
        Draws that broke a hypothesis that stands.
    void : int
        Cases whose margin could not be evaluated.
    unconfirmed : int
        Cases that the float margin called violations and the judge did not.
    nearest : object or None
        The case of least margin that is no violation, with the judge's verdict on it.
    """

    search: Search
    without: tuple[str, ...]
    seed: int
    budget: int
    trials: int
    shrinking: int
    rejected: int
    void: int
    unconfirmed: int
    found: Found | None
    nearest: Any | None
    nearest_margin: float
    nearest_verdict: str


@dataclass
class _Walk:
    """One run: its counters, and what is admitted."""

    search: Search
    without: tuple[str, ...]
    budget: int
    rng: np.random.Generator
    trials: int = 0
    rejected: int = 0
    void: int = 0
    unconfirmed: int = 0
    why_void: str = ""
    broken: str = ""
    refused: set[str] = field(default_factory=set)
    held: list[Any] = field(default_factory=list)
    nearest: tuple[float, Any] = (math.inf, None)

    @property
    def spent(self) -> bool:
        return self.trials >= self.budget

    def admitted(self, case: Any, hypotheses: Sequence[Hypothesis]) -> bool:
        try:
            return all(hypothesis.failure(case) is None for hypothesis in hypotheses)
        except (InputError, UndecidedError):
            return False

    def draw(self) -> Any:
        """A case that meets the hypotheses that stand."""
        kept = self.search.kept(self.without)
        for _ in range(_DRAWS):
            case = self.search.space.sample(self.rng)
            if self.admitted(case, kept):
                return case
            self.rejected += 1
        raise UndecidedError(
            f"none of {_DRAWS} cases drawn meets the hypotheses of {self.search.claim}/"
            f"{self.search.name}: {', '.join(h.name for h in kept)}"
        )

    def value(self, case: Any) -> float:
        """The margin; infinite where it is void or the judge has already said no."""
        self.trials += 1
        try:
            margin, why = _number(self.search.margin(case)), "the margin is NaN"
        except (InputError, UndecidedError, ZeroDivisionError, OverflowError) as error:
            margin, why = math.nan, str(error)
        if math.isnan(margin):
            self.void += 1
            self.why_void = self.why_void or f"at {case}: {why}"
            return math.inf
        if str(case) in self.refused:
            return math.inf
        if margin >= 0:
            self.nearest = min(self.nearest, (margin, case), key=lambda pair: pair[0])
            self.held.append(case)
            if len(self.held) >= 8 * _KEPT:
                self._keep_the_simplest()
        return margin

    def _keep_the_simplest(self) -> None:
        self.held.sort(key=self.search.space.size)
        whole, kept = self.search.hypotheses, list[Any]()
        for case in self.held:
            if len(kept) < _KEPT and self.admitted(case, whole):
                kept.append(case)
        self.held = kept

    def judged(self, case: Any) -> Evidence:
        claim = self.search.statement_claim("search.case", case, without=self.without)
        check = claim.checks[0]
        evidence = examine(claim, check, check.formula, Context(name=f"{claim.id}/{check.name}"))
        if evidence.verdict is ERROR and not self.broken:
            self.broken = f"at {case}: {evidence.reason}"
        return evidence

    def confirmed(self, case: Any) -> bool:
        if self.judged(case).verdict is REFUTED:
            return True
        self.unconfirmed += 1
        self.refused.add(str(case))
        return False

    def descend(
        self, case: Any, margin: float, moves: int, fits: Callable[[Any], bool] = lambda case: True
    ) -> tuple[Any, float]:
        """Downhill from a case by random moves that shrink while nothing is gained."""
        kept = self.search.kept(self.without)
        scale, stalled = 0.5, 0
        for _ in range(moves):
            if margin < 0 or stalled >= _PATIENCE:
                break
            moved = self.search.space.near(case, self.rng, scale)
            if not fits(moved) or not self.admitted(moved, kept):
                stalled += 1
                continue
            found = self.value(moved)
            if found < margin:
                case, margin, scale, stalled = moved, found, min(1.0, 1.3 * scale), 0
            else:
                scale, stalled = max(1e-4, 0.85 * scale), stalled + 1
        return case, margin


def _number(margin: Any) -> float:
    try:
        return float(margin)
    except (TypeError, ValueError):
        raise TypeError(f"a margin must be a number, not {margin!r}") from None


def falsify(
    search: Search,
    *,
    without: Collection[str] = (),
    budget: int | None = None,
    seed: int = 0,
) -> Outcome:
    """Look for a violation, and for the smallest form of what is found.

    Parameters
    ----------
    search : Search
    without : collection of str
        Hypotheses that are dropped.
    budget : int, optional
        Cases to look at; the search's own unless given. What is found may be shrunk beyond it.
    seed : int
        The result depends on it, on the search and on ``without`` alone.

    Returns
    -------
    Outcome

    Raises
    ------
    InputError
        For an unknown hypothesis or a budget below 1.
    UndecidedError
        If no case of the space meets the hypotheses, if the margin of none could be evaluated, if
        the judge broke and nothing was found, or if it does not refute its controls where it
        refutes the statement.
    """
    search.kept(without)
    dropped = tuple(dict.fromkeys(without))
    name = f"{search.claim}/{search.name}/without {','.join(sorted(dropped))}"
    total = search.budget if budget is None else budget
    if total < 1:
        raise InputError(f"budget = {total} must be at least 1")
    walk = _Walk(search, dropped, total, Context(seed=seed, name=name).rng())
    found = _violation(walk)
    if found is None and walk.broken:
        raise UndecidedError(f"the judge of {search.claim}/{search.name} broke {walk.broken}")
    if walk.void == walk.trials:
        raise UndecidedError(
            f"none of {walk.trials} cases of {search.claim}/{search.name} could be evaluated; "
            f"the first {walk.why_void}"
        )
    margin, case = walk.nearest
    verdict = "" if found is not None or case is None else str(walk.judged(case).verdict)
    trials = walk.trials
    finished = None if found is None else _finished(walk, *found)
    return Outcome(
        search,
        dropped,
        seed,
        total,
        trials,
        walk.trials - trials,
        walk.rejected,
        walk.void,
        walk.unconfirmed,
        finished,
        case,
        margin,
        verdict,
    )


def _violation(walk: _Walk) -> tuple[Any, float] | None:
    while not walk.spent:
        drawn: list[tuple[float, Any]] = []
        while len(drawn) < _BATCH and not walk.spent:
            case = walk.draw()
            drawn.append((walk.value(case), case))
            if drawn[-1][0] < 0:
                break
        margin, case = min(drawn, key=lambda pair: pair[0])
        if math.isinf(margin):
            continue
        case, margin = walk.descend(case, margin, walk.budget - walk.trials)
        if margin < 0 and walk.confirmed(case):
            return case, margin
    return None


def _finished(walk: _Walk, case: Any, margin: float) -> Found:
    search, first = walk.search, str(case)
    smallest, at = _minimised(walk, case, margin)
    breaks = tuple(
        f"{hypothesis.name}: {reason}"
        for hypothesis in search.hypotheses
        if hypothesis.name in walk.without and (reason := hypothesis.failure(smallest)) is not None
    )
    result = _decided(walk, smallest)
    if result.verdict is not REFUTED:
        stand = ", ".join(c.name for c in result.controls if c.verdict is not REFUTED)
        raise UndecidedError(
            f"the judge of {search.claim}/{search.name} refutes the statement at {smallest}, but not "
            f"its wrong versions ({stand}): it may say nothing there"
        )
    return Found(smallest, first, result, at, breaks, _where_it_holds(walk))


def _minimised(walk: _Walk, case: Any, margin: float) -> tuple[Any, float]:
    space, kept = walk.search.space, walk.search.kept(walk.without)
    shrinking, last = True, walk.trials + _SHRINKING
    while shrinking and walk.trials < last:
        shrinking, limit = False, space.size(case)

        def smaller(candidate: Any, limit: int = limit) -> bool:
            return space.size(candidate) < limit

        for candidate in space.smaller(case):
            if not smaller(candidate) or not walk.admitted(candidate, kept):
                continue
            value = walk.value(candidate)
            if value >= 0 and math.isfinite(value):
                candidate, value = walk.descend(candidate, value, _REPAIRS, smaller)
            if value < 0 and smaller(candidate) and walk.confirmed(candidate):
                case, margin, shrinking = candidate, value, True
                break
    return case, margin


def _where_it_holds(walk: _Walk) -> Any | None:
    """A case that meets every hypothesis and at which the judge says ``holds``."""
    whole = replace(walk, without=())
    walk._keep_the_simplest()
    cases = list(walk.held)
    with suppress(UndecidedError):  # nothing in the space may meet them all
        cases += [whole.draw() for _ in range(_KEPT)]
    return next((case for case in cases if _decided(whole, case).verdict is HOLDS), None)


def _decided(walk: _Walk, case: Any) -> CheckResult:
    """The judge's verdict on a case, its controls taken in."""
    claim = walk.search.statement_claim("search.case", case, without=walk.without)
    return run_check(claim, claim.checks[0], Context())


# -- which searches there are --------------------------------------------------------------------


def declared(paper: Paper) -> list[Search]:
    """All searches of a paper.

    Raises
    ------
    InputError
        If something else is among them, or one of a claim that the paper does not have.
    """
    found = list(paper.load("searches"))
    for one in found:
        if not isinstance(one, Search):
            raise InputError(f"{one!r} in the searches of paper {paper.name!r} is no Search")
        require_claims(paper, [one.claim], f"search {one.name!r}")
    return found


def searches_of(claim: str) -> list[Search]:
    """The searches that a claim's paper declares for it.

    Raises
    ------
    InputError
        If the paper or the claim is unknown, or has none; the message lists the claims that have.
    """
    paper = paper_named(claim.partition(".")[0])
    every = declared(paper)
    found = [search for search in every if search.claim == claim]
    if not found:
        if claim != paper.name and claim not in own_claims(paper):
            raise unknown_claim(claim)
        known = ", ".join(dict.fromkeys(search.claim for search in every)) or "none"
        raise InputError(f"no search is declared for {claim!r}; paper {paper.name!r} has: {known}")
    return found


def search_named(claim: str, name: str) -> Search:
    """One search of a claim, by its name."""
    found = [search for search in searches_of(claim) if search.name == name]
    if not found:
        raise InputError(f"claim {claim!r} has no search called {name!r}")
    return found[0]
