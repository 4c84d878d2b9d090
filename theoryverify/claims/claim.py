"""Claims and checks, as a paper's ``claims.py`` writes them.

F3 = Claim(
    "lca.F.3", "Theorem F.3", r"\\alpha^*_T \\to 2/(\\underline Z + \\overline Z)",
    title="α*_T → 2/(Z̲+Z̄)", hypotheses=(ASSUMPTION_6_1,), depends_on=("lca.F.1",),
)

@F3.check("squeeze", PROVED, formula=theory.alpha_limit(), controls={"1/Z̄": 1 / b})
def squeeze(limit, examination):
    examination.identity("(1+r)/b = α*", (1 + r) / b, limit)
    return examination.evidence("every law, every T")
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from theoryverify.claims.ladder import HOLDS, Evidence, Hypothesis, Rung, Verdict, member
from theoryverify.errors import InputError
from theoryverify.seeds import named_rng

if TYPE_CHECKING:
    import numpy as np

    from theoryverify.claims.parameters import At

Preset = Literal["quick", "full"]

OFFERED = ("case", "examination", "context")
"""What a check function may ask for, by the names of its parameters after the formula."""

_REST = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True)
class Context:
    """What a run grants its checks: the preset, the seed, the device."""

    preset: Preset = "quick"
    seed: int = 0
    device: str = "cpu"
    name: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """What the user named on the command line, as text; see :mod:`theoryverify.claims.parameters`."""

    def depths(self, own: Sequence[int]) -> tuple[int, ...]:
        """The depth that the user named, or the check's own."""
        return (int(self.parameters["depth"]),) if "depth" in self.parameters else tuple(own)

    def rng(self) -> np.random.Generator:
        """A generator that depends on the seed and the check's name alone.

        So a result depends neither on which other checks ran nor on how many processes ran them.
        """
        return named_rng(self.seed, self.name)


@dataclass(frozen=True)
class Check:
    """One way to examine a claim, with wrong formulas that it must refute.

    Attributes
    ----------
    name, rung
    function : callable
        Takes the formula, and by name what it asks for among ``case``, ``examination`` and
        ``context``; returns :class:`Evidence`.
    formula
        What the claim states: the thing under examination.
    controls : mapping
        From names to wrong formulas. At least one.
    cases : sequence
        What to look at one by one (laws, say); empty for a check that speaks for all at once.
    mutate : bool
        Whether the formula is a SymPy expression that faces automatic mutants.
    timeout : float
        Seconds after which a run is stopped, as an error.
    preset : "quick" or "full"
        The least preset that runs it.
    at : At, optional
        How a case is made from parameters that a user names.
    spare : sequence
        Cases at which its controls may be refuted instead, where ``cases`` are the user's: there a
        wrong formula can happen to be right.
    """

    name: str
    rung: Rung
    function: Callable[..., Evidence]
    formula: Any
    controls: Mapping[str, Any]
    cases: tuple[Any, ...] = ()
    mutate: bool = True
    timeout: float = 120.0
    preset: Preset = "quick"
    at: At | None = None
    spare: tuple[Any, ...] = ()

    @property
    def wants(self) -> frozenset[str]:
        return frozenset(inspect.signature(self.function).parameters)


@dataclass
class Claim:
    """One statement of a paper.

    Parameters
    ----------
    id : str
        ``"paper.place"``, such as ``"lca.F.3"``.
    place : str
        Where it stands in the paper; a claim without a source is refused.
    statement : str
        In TeX.
    title : str
        A short plain-text form for tables.
    hypotheses : sequence of Hypothesis
        Tested on each case; a case that breaks one is ``outside``.
    depends_on : sequence of str
        Ids of claims that this one rests on.
    expected : Verdict
        ``refuted`` for statements known to be false, ``outside`` for those asked where they do
        not speak.
    not_checked : str
        For a statement that no check covers: why.
    note : str
        What a reader should know beside the verdict.

    Raises
    ------
    InputError
        For an id of another form, an empty place or statement, or a value of another kind.
    """

    id: str
    place: str
    statement: str
    title: str = ""
    hypotheses: Sequence[Hypothesis] = ()
    depends_on: Sequence[str] = ()
    expected: Verdict = HOLDS
    not_checked: str = ""
    note: str = ""
    checks: list[Check] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("id", "place", "statement", "title", "not_checked", "note"):
            if not isinstance(value := getattr(self, name), str):
                raise InputError(f"claim {self.id}: {name} must be text, not {value!r}")
        if not re.fullmatch(r"[A-Za-z][\w-]*(\.[\w*()-]+)+", self.id):
            raise InputError(
                f"claim id {self.id!r} is not of the form paper.place, such as 'lca.F.3'"
            )
        if not self.place.strip():
            raise InputError(f"claim {self.id} names no place in its paper")
        if not self.statement.strip():
            raise InputError(f"claim {self.id} has no statement")
        for name, kind in (("hypotheses", Hypothesis), ("depends_on", str)):
            values = getattr(self, name)
            if not (_listed(values) and all(isinstance(value, kind) for value in values)):
                what = "Hypothesis objects" if kind is Hypothesis else "ids"
                raise InputError(
                    f"claim {self.id}: {name} must be a tuple of {what}, not {values!r}"
                )
        self.expected = member(Verdict, self.expected, f"claim {self.id}: expected")
        self.title = self.title or self.statement

    def check(
        self,
        name: str,
        rung: Rung,
        *,
        formula: Any,
        controls: Mapping[str, Any],
        cases: Sequence[Any] | None = None,
        mutate: bool = True,
        timeout: float = 120.0,
        preset: Preset = "quick",
        at: At | None = None,
    ) -> Callable[[Callable[..., Evidence]], Callable[..., Evidence]]:
        """Decorator that makes a function a check of this claim. See :class:`Check`.

        Raises
        ------
        InputError
            For a check without a control, a second one of the same name, a value of another kind
            than :class:`Check` says, cases that are none, or a function that asks for what no check
            gets.
        """
        where = f"check {self.id}/{name}"
        if not controls:
            raise InputError(f"{where} has no negative control")
        if any(check.name == name for check in self.checks):
            raise InputError(f"claim {self.id} has two checks called {name!r}")
        rung = member(Rung, rung, f"{where}: rung")
        _refuse_other_kinds(where, controls, cases, timeout, preset, at)

        def add(function: Callable[..., Evidence]) -> Callable[..., Evidence]:
            _refuse_other_wishes(where, function, cases)
            self.checks.append(
                Check(
                    name,
                    rung,
                    function,
                    formula,
                    dict(controls),
                    tuple(cases or ()),
                    mutate,
                    timeout,
                    preset,
                    at,
                )
            )
            return function

        return add

    def _repr_html_(self) -> str:
        from theoryverify.claims.display import claim_html

        return claim_html(self)

    def _repr_latex_(self) -> str:
        from theoryverify.claims.display import mathematics

        return mathematics(self.statement)

    @property
    def paper(self) -> str:
        return self.id.partition(".")[0]

    @property
    def rungs(self) -> list[Rung]:
        """The rungs of its checks, highest first."""
        return sorted({check.rung for check in self.checks}, key=lambda rung: -rung.height)


def _listed(values: object) -> bool:
    """Whether they stand one beside the other; text would be read letter by letter."""
    return isinstance(values, Sequence) and not isinstance(values, str)


def _refuse_other_kinds(
    where: str, controls: object, cases: object, timeout: object, preset: object, at: object
) -> None:
    """What would only fail, or pass unnoticed, when the check runs."""
    if not isinstance(controls, Mapping):
        raise InputError(f"{where}: controls must map names to wrong formulas, not {controls!r}")
    if cases is not None and not (_listed(cases) and cases):
        raise InputError(
            f"{where}: cases must be a tuple of one or more, not {cases!r}; leave them out where it "
            "speaks for all at once"
        )
    if isinstance(timeout, bool) or not (isinstance(timeout, int | float) and timeout > 0):
        raise InputError(f"{where}: timeout must be a number of seconds > 0, not {timeout!r}")
    if preset not in get_args(Preset):
        raise InputError(
            f"{where}: preset must be one of {', '.join(get_args(Preset))}, not {preset!r}"
        )
    if at is not None and not hasattr(at, "accepts"):  # its module loads all laws: not for this
        raise InputError(f"{where}: at must be an At, not {at!r}")


def _refuse_other_wishes(where: str, function: Callable[..., Evidence], cases: object) -> None:
    """A check function takes the formula, then by name what it asks for."""
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or parameters[0].name in OFFERED:
        raise InputError(f"{where}: its function must take the formula first")
    needed = [p for p in parameters[1:] if p.default is p.empty and p.kind not in _REST]
    for parameter in needed:
        if parameter.name not in OFFERED:
            raise InputError(
                f"{where}: its function asks for {parameter.name!r}; "
                f"after the formula it may ask for {', '.join(OFFERED)}"
            )
        if parameter.name == "case" and cases is None:
            raise InputError(f"{where}: its function asks for a case, and it has no cases")
