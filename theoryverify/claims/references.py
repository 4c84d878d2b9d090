"""What a run rests on beside its own work, as BibTeX: papers, cited theorems, methods, libraries."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from theoryverify.claims.ladder import CERTIFIED, COMPUTED, PROVED, SIMULATED, Rung
from theoryverify.claims.results import Report
from theoryverify.errors import InputError


@dataclass(frozen=True)
class Reference:
    """A work, and what makes a run cite it. Any one trigger suffices.

    Parameters
    ----------
    key, kind : str
        BibTeX's key and entry type.
    fields : mapping
        BibTeX's fields.
    used_for : str
        In a few words.
    always : bool
        Cited whenever a claim of its paper was looked at.
    facts : tuple of str
        Words of assumed facts (:attr:`Evidence.assumes`) that are this work's theorem.
    claims : tuple of str
        Ids of claims that use it.
    rungs : tuple of Rung
        Rungs whose checks use it.
    """

    key: str
    kind: str
    fields: Mapping[str, str]
    used_for: str
    always: bool = False
    facts: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    rungs: tuple[Rung, ...] = ()

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[\w:.-]+", self.key):
            raise InputError(f"reference key {self.key!r} may have letters, digits and : . - _")

    def speaks_of(self, fact: str) -> bool:
        """Whether an assumed fact is this work's."""
        return any(word in fact for word in self.facts)

    def bibtex(self) -> str:
        """The entry."""
        width = max(map(len, self.fields), default=0)
        body = ",\n".join(
            f"  {name:<{width}} = {{{_balanced(value)}}}" for name, value in self.fields.items()
        )
        return f"@{self.kind}{{{self.key},\n{body}\n}}"


def _balanced(value: str) -> str:
    """A field's text, which must not end the entry."""
    depth = 0
    for letter in value:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if depth < 0:
            break
    text = " ".join(value.split())
    return text if depth == 0 else text.replace("{", "").replace("}", "")


@dataclass(frozen=True)
class Used:
    """What was looked at: claims, the rungs of their checks, and the facts that were assumed."""

    claims: frozenset[str]
    rungs: frozenset[Rung]
    facts: tuple[str, ...] = ()

    @classmethod
    def by(cls, report: Report) -> Used:
        """What a run used."""
        checks = [check for claim in report.claims for check in claim.checks]
        facts = dict.fromkeys(fact for claim in report.claims for fact in claim.assumes)
        return cls(
            frozenset(claim.id for claim in report.claims),
            frozenset(check.rung for check in checks),
            tuple(facts),
        )

    @property
    def papers(self) -> frozenset[str]:
        return frozenset(name.partition(".")[0] for name in self.claims)


def cited(references: Iterable[Reference], used: Used) -> list[Reference]:
    """Those of one paper's (or the tool's) references that were used."""
    return [
        reference
        for reference in references
        if reference.always
        or used.claims.intersection(reference.claims)
        or used.rungs.intersection(reference.rungs)
        or any(reference.speaks_of(fact) for fact in used.facts)
    ]


def without_reference(facts: Collection[str], references: Collection[Reference]) -> list[str]:
    """Assumed facts that no reference speaks of: textbook facts, and the paper's own lemmas."""
    return [fact for fact in facts if not any(r.speaks_of(fact) for r in references)]


OWN: tuple[Reference, ...] = (
    Reference(
        "theoryverify",
        "software",
        {
            "title": "theoryverify: checking the theory in machine-learning papers by machine",
            "author": "{The theoryverify developers}",
        },
        "the checks",
        always=True,
    ),
    Reference(
        "demillo1978hints",
        "article",
        {
            "author": "DeMillo, Richard A. and Lipton, Richard J. and Sayward, Frederick G.",
            "title": "Hints on Test Data Selection: Help for the Practicing Programmer",
            "journal": "Computer",
            "volume": "11",
            "number": "4",
            "pages": "34--41",
            "year": "1978",
        },
        "mutants",
        rungs=(PROVED,),
    ),
    Reference(
        "meurer2017sympy",
        "article",
        {
            "author": "Meurer, Aaron and Smith, Christopher P. and Paprocki, Mateusz and others",
            "title": "{SymPy}: symbolic computing in {Python}",
            "journal": "PeerJ Computer Science",
            "volume": "3",
            "pages": "e103",
            "year": "2017",
            "doi": "10.7717/peerj-cs.103",
        },
        "formulas and identities",
        rungs=(PROVED, CERTIFIED),
    ),
    Reference(
        "johansson2017arb",
        "article",
        {
            "author": "Johansson, Fredrik",
            "title": "{Arb}: Efficient Arbitrary-Precision Midpoint-Radius Interval Arithmetic",
            "journal": "IEEE Transactions on Computers",
            "volume": "66",
            "number": "8",
            "pages": "1281--1292",
            "year": "2017",
            "doi": "10.1109/TC.2017.2690633",
        },
        "balls",
        rungs=(CERTIFIED,),
    ),
    Reference(
        "flint",
        "software",
        {
            "author": "{The FLINT team}",
            "title": "{FLINT}: Fast Library for Number Theory",
            "url": "https://flintlib.org",
        },
        "exact polynomials and balls",
        rungs=(PROVED, CERTIFIED),
    ),
    Reference(
        "mpmath",
        "software",
        {
            "author": "{The mpmath development team}",
            "title": "mpmath: a {Python} library for arbitrary-precision floating-point arithmetic",
            "url": "https://mpmath.org",
        },
        "high precision",
        rungs=(COMPUTED,),
    ),
    Reference(
        "harris2020numpy",
        "article",
        {
            "author": "Harris, Charles R. and Millman, K. Jarrod and others",
            "title": "Array programming with {NumPy}",
            "journal": "Nature",
            "volume": "585",
            "pages": "357--362",
            "year": "2020",
            "doi": "10.1038/s41586-020-2649-2",
        },
        "arrays and random numbers",
        rungs=(COMPUTED, SIMULATED),
    ),
    Reference(
        "paszke2019pytorch",
        "inproceedings",
        {
            "author": "Paszke, Adam and Gross, Sam and Massa, Francisco and others",
            "title": "{PyTorch}: An Imperative Style, High-Performance Deep Learning Library",
            "booktitle": "Advances in Neural Information Processing Systems",
            "volume": "32",
            "year": "2019",
        },
        "literal models",
        rungs=(SIMULATED,),
    ),
    Reference(
        "waudbysmith2024estimating",
        "article",
        {
            "author": "Waudby-Smith, Ian and Ramdas, Aaditya",
            "title": "Estimating Means of Bounded Random Variables by Betting",
            "journal": "Journal of the Royal Statistical Society Series B",
            "volume": "86",
            "number": "1",
            "pages": "1--27",
            "year": "2024",
        },
        "confidence sequences of bounded draws",
        rungs=(SIMULATED,),
    ),
    Reference(
        "wang2023catoni",
        "article",
        {
            "author": "Wang, Hongjian and Ramdas, Aaditya",
            "title": "{Catoni}-Style Confidence Sequences for Heavy-Tailed Mean Estimation",
            "journal": "Stochastic Processes and their Applications",
            "volume": "163",
            "pages": "168--202",
            "year": "2023",
        },
        "confidence sequences of draws with a bounded variance",
        rungs=(SIMULATED,),
    ),
    Reference(
        "darling1967confidence",
        "article",
        {
            "author": "Darling, D. A. and Robbins, Herbert",
            "title": "Confidence Sequences for Mean, Variance, and Median",
            "journal": "Proceedings of the National Academy of Sciences",
            "volume": "58",
            "number": "1",
            "pages": "66--68",
            "year": "1967",
        },
        "confidence sequences",
        rungs=(SIMULATED,),
    ),
)
"""The tool's methods and libraries, by the rungs that use them."""
