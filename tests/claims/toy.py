"""A small paper that breaks in every way that a paper can break."""

import os
import time

import sympy

from theoryverify.claims import (
    CERTIFIED,
    HOLDS,
    INCONCLUSIVE,
    PROVED,
    REFUTED,
    Claim,
    Context,
    Evidence,
    Examination,
    Hypothesis,
    Paper,
)

x = sympy.Symbol("x", real=True)
POSITIVE = Hypothesis("positivity", "n > 0", lambda case: None if case > 0 else f"{case} <= 0")


def square(name: str = "toy.square", **more: object) -> Claim:
    """(x+1)² = x² + 2x + 1, which is true."""
    claim = Claim(name, "Lemma 1", "(x+1)^2=x^2+2x+1", **more)  # type: ignore[arg-type]

    @claim.check("expand", PROVED, formula=x**2 + 2 * x + 1, controls={"without 2x": x**2 + 1})
    def expand(formula: sympy.Expr, examination: Examination) -> Evidence:
        examination.identity("square", (x + 1) ** 2, formula)
        return examination.evidence("every x")

    return claim


def wrong(name: str = "toy.wrong", **more: object) -> Claim:
    """(x+1)² = x² + 1, which is false."""
    claim = Claim(name, "Lemma 2", "(x+1)^2=x^2+1", **more)  # type: ignore[arg-type]

    @claim.check("expand", PROVED, formula=x**2 + 1, controls={"x²": x**2})
    def expand(formula: sympy.Expr, examination: Examination) -> Evidence:
        examination.identity("square", (x + 1) ** 2, formula)
        return examination.evidence("every x")

    return claim


def gullible(name: str = "toy.gullible") -> Claim:
    """A check that accepts whatever it is given."""
    claim = Claim(name, "Lemma 3", "1=1")

    @claim.check("nod", PROVED, formula=x, controls={"anything": 2 * x})
    def nod(formula: sympy.Expr) -> Evidence:
        return Evidence(HOLDS, "everything")

    return claim


def undecided(name: str = "toy.undecided", **more: object) -> Claim:
    claim = Claim(name, "Lemma 4", "?", **more)  # type: ignore[arg-type]

    @claim.check("shrug", CERTIFIED, formula=1, controls={"two": 2})
    def shrug(formula: int) -> Evidence:
        return Evidence(
            INCONCLUSIVE if formula == 1 else REFUTED, "nothing", "the ball is too wide"
        )

    return claim


def broken(name: str = "toy.broken") -> Claim:
    claim = Claim(name, "Lemma 5", "?")

    @claim.check("raise", PROVED, formula=1, controls={"two": 2})
    def fail(formula: int) -> Evidence:
        raise ZeroDivisionError("on purpose")

    return claim


def slow(name: str = "toy.slow") -> Claim:
    claim = Claim(name, "Lemma 6", "?")

    @claim.check("sleep", PROVED, formula=1, controls={"two": 2}, timeout=1.0)
    def sleep(formula: int) -> Evidence:
        time.sleep(60)
        return Evidence(HOLDS)

    return claim


def dying(name: str = "toy.dying") -> Claim:
    claim = Claim(name, "Lemma 7", "?")

    @claim.check("exit", PROVED, formula=1, controls={"two": 2})
    def leave(formula: int) -> Evidence:
        os._exit(7)

    return claim


def greedy(name: str = "toy.greedy") -> Claim:
    claim = Claim(name, "Lemma 10", "?")

    @claim.check("fill", PROVED, formula=1, controls={"two": 2})
    def fill(formula: int) -> Evidence:
        return Evidence(HOLDS if len(bytearray(3 * 2**30)) else REFUTED)

    return claim


def cases(name: str = "toy.cases", *numbers: int, **more: object) -> Claim:
    """n > formula, for each case n."""
    claim = Claim(name, "Lemma 8", "n>0", hypotheses=(POSITIVE,), **more)  # type: ignore[arg-type]

    @claim.check("each", CERTIFIED, formula=0, controls={"ten": 10}, cases=numbers)
    def each(formula: int, case: int, examination: Examination) -> Evidence:
        examination.decide("n > formula", case > formula, f"{case}, {formula}")
        return examination.evidence("one number")

    return claim


def noisy(name: str = "toy.noisy") -> Claim:
    """Shows which random numbers a check gets, and prints on standard output."""
    claim = Claim(name, "Lemma 9", "?")

    @claim.check("draw", CERTIFIED, formula=1, controls={"two": 2})
    def draw(formula: int, context: Context) -> Evidence:
        print("this must not break the protocol")
        number = context.rng().integers(2**62)
        return Evidence(HOLDS if formula == 1 else REFUTED, f"drew {number}")

    return claim


paper = Paper(
    name="toy",
    title="A toy",
    source="nowhere",
    claims=[
        square(),
        wrong(expected=REFUTED),
        undecided(),
        broken(),
        slow(),
        dying(),
        noisy(),
        greedy(),
        square("toy.rests-on-wrong", depends_on=("toy.wrong",)),
        square("toy.rests-on-undecided", depends_on=("toy.undecided",)),
    ],
)
